"""Every public call refuses wrong arguments by name, and never fails inside.

Each public function, class, class method and method is called with wrong values for each of its
arguments in turn, next to valid ones. It may succeed if the annotation allows the value;
otherwise it raises one of our errors, which names the argument.
"""

import asyncio
import datetime as dt
import enum
import inspect
import re
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

import attrs
import pytest
from needs import need_installed

import cooperbench_eval as ce
from cooperbench_eval.errors import ArgumentError, CooperBenchEvalError

BASE = ce.Snapshot.from_files({"f": b"1\n"})
DIFF = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+{}\n"
FEATURES = [ce.Feature(number=n, patch=DIFF.format(n)) for n in (2, 3)]
PAIR = ce.FeaturePair(
    repo_name="r", task_id=0, base=BASE, feature1=FEATURES[0], feature2=FEATURES[1]
)
TEAM = ce.FeatureTeam(repo_name="r", task_id=0, base=BASE, features=FEATURES)
EVALUATOR = ce.Evaluator(strategies=["naive"])
REPORT = EVALUATOR.evaluate(PAIR)
TEAM_REPORT = EVALUATOR.evaluate_team(TEAM)
PLAN = ce.land(BASE, FEATURES, strategy="naive")
PLAN_OF_ONE = ce.land(BASE, [attrs.evolve(FEATURES[0], number=1)], strategy="naive")
BRANCH = ce.reporting.ProbedBranch(number=1, name="a", kind="branch", state="clean")
CONFLICT = REPORT.conflicts[0]
AUDIT = ce.audit(BASE, FEATURES, FEATURES[0].patch)
PROVENANCE = ce.provenance(BASE, FEATURES, FEATURES[0].patch)


class Runs:
    """A runner of another kind, which runs nothing."""

    def __init__(self, *_):
        """Take anything, as a function may."""

    def run(self, *_, **__):
        """Return a result without a run."""
        return ce.TestResult(status="no_tests")


def merge_input():
    """Return what a strategy gets."""
    found = []

    class Keeps:
        name = "keeps"

        def merge(self, given):
            found.append(given)
            return ce.MergeOutcome(changes=given.merge.changes, conflicts=given.conflicts)

    ce.merge(BASE, *(each.patch for each in FEATURES), strategy=Keeps())
    return found[0]


INPUT = merge_input()

MODULES = ["errors", "models", "patching", "running", "reporting", "analysis", "llm", "testing"]
MODULES += ["strategies", "batch", "runlogs", "plots"]

INSTANCES = {
    "Audit": AUDIT,
    "Changes": INPUT.ours,
    "Dataset": ce.Dataset("nowhere"),
    "Evaluator": EVALUATOR,
    "LandingPlan": PLAN,
    "MergeReport": REPORT,
    "Provenance": PROVENANCE,
    "Patch": ce.Patch.parse(DIFF.format(5)),
    "ReportStore": ce.ReportStore("store"),
    "Snapshot": BASE,
    "Task": ce.Task(repo_name="r", task_id=0, directory=Path("nowhere"), features=(1, 2)),
    "TeamReport": TEAM_REPORT,
    "TestRunner": ce.TestRunner(sandbox="local"),
    "ThreeWayMerge": INPUT.merge,
    "TestSuite": ce.TestSuite(command=["true"], framework="exit"),
    "MergeInput": INPUT,
    "Sandbox": ce.LocalSandbox(),
    "Summary": ce.summarize([REPORT]),
    "Conflict": CONFLICT,
    "Prompts": ce.llm.Prompts.built_in(),
}
"""Valid objects by their class; those of other classes are made of valid arguments."""

ARGUMENTS = {
    "FeaturePair": {"base": BASE, "feature1": FEATURES[0], "feature2": FEATURES[1]},
    "FeatureTeam": {"base": BASE, "features": FEATURES},
    "LLMStrategy": {"model": "m"},
    "MergeReport": {
        "timestamp": REPORT.timestamp,
        "feature1": REPORT.feature1,
        "feature2": REPORT.feature2,
    },
    "MergeReport.attempt": {"strategy": "naive"},
    "MergeReport.blame": {"strategy": "naive"},
    "MergeReport.from_dict": {"data": REPORT.to_dict()},
    "MergeReport.from_json": {"text": REPORT.to_json()},
    "MergeReport.resolutions": {"strategy": "naive"},
    "TeamReport": {"timestamp": REPORT.timestamp, "features": TEAM_REPORT.features},
    "TeamReport.attempt": {"strategy": "naive"},
    "TeamReport.blame": {"strategy": "naive"},
    "Policy": {"strategies": ["naive"]},
    "Snapshot.from_files": {"files": {"a": b"x"}},
    "ThreeWayMerge.takes_text": {"conflict": CONFLICT},
    "check_sandbox": {"sandbox": "nowhere"},
    "check_strategy": {"strategy": "nowhere"},
    "compare": {"first_reports": [REPORT], "second_reports": [REPORT], "decider": "naive"},
    "rank": {"summaries": {"a": [REPORT], "b": [REPORT]}, "decider": "naive"},
    "ResultCache.get_or_make": {"make": Runs().run},
    "Snapshot": {"store": INPUT.base._store},
    "Prompts": attrs.asdict(ce.llm.Prompts.built_in()),
    "TestSuite": {"command": ["true"]},
    "cascade": {"members": ["naive", "union"]},
    "evaluate": {"setting": "coop"},
    "explain": {"runner": Runs(), "report": attrs.evolve(REPORT), "pair": PAIR},
    "get_sandbox": {"name": "local"},
    "get_strategy": {"name": "naive"},
    "gold_teams": {"size": 2},
    "land": {"patches": FEATURES},
    "merge": {"ours": INPUT.ours, "theirs": INPUT.theirs},
    "Provenance.annotate": {"path": "f"},
    "Provenance.origin_of": {"path": "f", "line": 1},
    "Probe": {"branches": [BRANCH], "plan": PLAN_OF_ONE},
    "Probe.branch": {"name": "a"},
    "Probe.pair": {"one": "a"},
    "probe": {"repo": "nowhere", "refs": ["main"]},
    "plot_tries": {"deciders": "naive"},
    "Audit.from_dict": {"data": AUDIT.to_dict()},
    "Audit.from_json": {"text": AUDIT.to_json()},
    "Audit.file": {"feature": 2, "path": "f"},
    "audit": {"features": FEATURES, "integrated": FEATURES[0].patch, "strategies": ["naive"]},
    "provenance": {"sides": FEATURES, "merged": FEATURES[0].patch},
    "repository_from_image": {"pull": False},
    "solved_within": {"decider": "naive"},
    "to_pandas": {"level": "pairs"},
}
"""Valid arguments where the type alone does not give one."""

OPTIONS = {
    "evaluate_many": {"executor": None},
    "check_sandbox": {"parallel_runs": 1},
    "repository_from_image": {"pull": False},
}

BY_NAME = {
    "reports": [REPORT],
    "report": REPORT,
    "pair": PAIR,
    "team": TEAM,
    "runner": Runs(),
    "conflicts": (),
    "dataset_dir": "nowhere",
    "repo_dir": "nowhere",
    "evals": [],
    "pairs": [],
}

WRONG = {
    "None": None,
    "zero": 0,
    "minus one": -1,
    "a float": 0.5,
    "not a number": float("nan"),
    "a text": "x",
    "bytes": b"x",
    "an object": object(),
    "an empty list": [],
    "a list of objects": [object()],
    "an empty dictionary": {},
    "a dictionary": {1: object()},
    "a function": lambda *_: None,
    "a class": Runs,
}

NOT_CALLED = {
    "aevaluate": "its arguments are those of `evaluate`",
    "Changes.get": "the method of a dictionary",
    "ChatClient": "a protocol",
    "MergeStrategy": "a protocol",
    "Sandbox": "a protocol",
    "SandboxLaws": "pytest makes and calls it",
    "StrategyLaws": "pytest makes and calls it",
    "LLMStrategy.merge": "`merge` calls it",
    "BubblewrapSandbox.run": "a runner calls it",
    "BubblewrapSandbox.facts_about": "a runner calls it",
    "ContainerSandbox.run": "a runner calls it",
    "LocalSandbox.run": "a runner calls it",
    "LocalSandbox.facts_about": "a runner calls it",
}

OTHER_NAMES = {
    "data": "is not",
    "strategies": "strategy",
    "members": "strategy",
    "level": "table",
    "levels": "table",
}
"""What an error may call an argument instead: one of several strategies is a strategy."""


def public_objects():
    """Yield every public function and class with its name, once."""
    seen = set()
    for module in (ce, *(getattr(ce, each) for each in MODULES)):
        for name in module.__all__:
            found = getattr(module, name)
            if id(found) in seen or isinstance(found, types.ModuleType) or not callable(found):
                continue
            if isinstance(found, type) and issubclass(found, enum.Enum | BaseException):
                continue
            seen.add(id(found))
            yield name, found


def public_calls():
    """Yield every public call with its name: functions, classes and their methods."""
    for name, found in public_objects():
        if name in NOT_CALLED:
            continue
        yield name, found
        for method in sorted(dir(found)) if isinstance(found, type) else ():
            static = inspect.getattr_static(found, method)
            own = not method.startswith("_") and f"{name}.{method}" not in NOT_CALLED
            if own and isinstance(static, types.FunctionType | classmethod | staticmethod):
                yield f"{name}.{method}", getattr(found, method)


CALLS = dict(public_calls())


def hints_of(call):
    """Return the annotations of the arguments, with the names of `**options`."""
    owner = call.__init__ if isinstance(call, type) else call
    try:
        return typing.get_type_hints(owner)
    except NameError:
        return {k: v for k, v in owner.__annotations__.items() if not isinstance(v, str)}


def arguments_of(call):
    """Yield each argument that a caller may pass: its name, kind and annotation."""
    hints = hints_of(call)
    for name, each in inspect.signature(call).parameters.items():
        if name == "self":
            continue
        if each.kind is not inspect.Parameter.VAR_KEYWORD:
            yield name, each.kind, hints.get(name, typing.Any)
            continue
        for options in typing.get_args(hints.get(name)):
            for option, hint in typing.get_type_hints(options).items():
                yield option, inspect.Parameter.KEYWORD_ONLY, hint


def valid(hint):  # noqa: C901, PLR0911 - one line for each kind
    """Return a value that an annotation allows."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in {typing.Union, types.UnionType}:
        return valid(args[0])
    if origin is typing.Literal:
        return args[0]
    kind = origin or hint
    if kind in {typing.Any, object}:
        return "x"
    if kind is Callable:
        return lambda *_: None
    for simple, value in {bool: True, int: 1, float: 0.5, str: "x", bytes: b"x"}.items():
        if kind is simple:
            return value
    if kind is dt.datetime:
        return REPORT.timestamp
    if kind.__name__ in INSTANCES:
        return INSTANCES[kind.__name__]
    if issubclass(kind, enum.Enum):
        return next(iter(kind))
    if issubclass(kind, Mapping):
        return {}
    if issubclass(kind, Collection | Iterable | Iterator):
        return ()
    return Path("x") if kind is Path else made(kind)


def made(kind):
    """Return an object of a public class."""
    return kind(**required(kind.__name__, kind)[1])


def required(name, call):
    """Return valid values for the required arguments: those by place, and those by name."""
    by_place, by_name = [], {}
    given, hints = ARGUMENTS.get(name, {}), hints_of(call)
    for each, parameter in inspect.signature(call).parameters.items():
        kind = parameter.kind
        is_needed = parameter.default is parameter.empty or each in given
        if kind is kind.VAR_POSITIONAL:
            by_place += given.get(each, [])
        if each == "self" or not is_needed or kind in {kind.VAR_POSITIONAL, kind.VAR_KEYWORD}:
            continue
        value = given[each] if each in given else BY_NAME.get(each, ...)
        value = valid(hints[each]) if value is ... else value
        if kind is kind.POSITIONAL_ONLY:
            by_place.append(value)
        else:
            by_name[each] = value
    return by_place, by_name | OPTIONS.get(name, {})


def is_allowed(hint, value):
    """Return whether an annotation may allow a value, by the words in it."""
    text = str(hint)
    words = set(re.findall(r"\w+", text))
    if words & {"Any", "object", "MergeStrategy", "Sandbox", "HasFacts", "TypeVar"}:
        return True
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return value in [each.value for each in hint]
    wanted = {
        type(None): {"None", "NoneType", "Optional"},
        int: {"int", "float"},
        float: {"float"},
        str: {"str"},
        bytes: {"bytes"},
        list: {"Iterable", "Sequence", "Collection", "list", "tuple", "frozenset"},
        dict: {"Iterable", "Collection", "Mapping", "dict"},
        types.FunctionType: {"Callable"},
        type: {"Callable", "type"},
    }
    return bool(words & wanted.get(type(value), set()))


def is_made_by_the_library(call):
    """Return whether a class is a record whose types are not checked."""
    name = call.__name__
    return name not in CHECKED


CHECKED = {
    *("ApplyPolicy", "BubblewrapSandbox", "Changes", "ChatRequest", "ConflictScorer"),
    *("ContainerSandbox", "Dataset", "Entry", "Evaluator", "Feature", "FeatureContext"),
    *("FeaturePair", "FeatureTeam", "LLMStrategy", "Labels", "LocalSandbox"),
    *("MergeOutcome", "Patch", "Policy", "Prompts", "ReportStore", "Resolution", "ResultCache"),
    *("Task", "TestFileFilter", "TestRunner", "TestSuite"),
}
"""The records that callers make."""


def run(call, owner, by_place, by_name):
    """Call it, and use a result that is lazy."""
    if owner is not None:
        by_place = [owner, *by_place]
    result = call(*by_place, **by_name)
    if inspect.iscoroutine(result):
        result = asyncio.run(result)
    if isinstance(result, Iterator):
        list(islice(result, 3))


def owner_of(name, call):
    """Return the object whose method is called; `None` for functions and class methods."""
    kind, _, _ = name.rpartition(".")
    if not kind or not isinstance(call, types.FunctionType):
        return None
    return INSTANCES[kind] if kind in INSTANCES else made(CALLS[kind])


def problem_of(name, argument, kind, hint, value):
    """Return what is wrong with the way in which a call takes a value; empty if nothing is."""
    call = CALLS[name]
    by_place, by_name = required(name, call)
    if kind is inspect.Parameter.POSITIONAL_ONLY:
        by_place = [value, *by_place[1:]]
    elif kind is inspect.Parameter.VAR_POSITIONAL:
        by_place = [*by_place, value]
    else:
        by_name[argument] = value
    try:
        run(call, owner_of(name, call), by_place, by_name)
    except ArgumentError as exc:
        named = exc.argument.partition("[")[0]
        return "" if named in {argument, f"{argument}s"} else f"names {exc.argument}: {exc}"
    except CooperBenchEvalError as exc:
        told = OTHER_NAMES.get(argument, argument) in str(exc) or argument in str(exc)
        return "" if told or is_allowed(hint, value) else f"does not name it: {exc!r}"
    except ImportError as exc:
        package, *_ = str(exc).split(" is missing: pip install ")
        need_installed(package)
        return f"fails inside: {exc!r}"
    except Exception as exc:  # noqa: BLE001 - that is the point
        return f"fails inside: {exc!r}"
    is_free = isinstance(call, type) and is_made_by_the_library(call)
    return "" if is_free or is_allowed(hint, value) else "succeeds"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """What a call writes is in a folder of its own, and there is no container engine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nowhere")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_wrong_argument_is_refused_by_name(name):
    """Whatever comes for one argument, no call fails inside, and every error names it."""
    call = CALLS[name]
    problems = [
        f"{argument}={described}: {problem}"
        for argument, kind, hint in arguments_of(call)
        for described, value in WRONG.items()
        if (problem := problem_of(name, argument, kind, hint, value))
    ]

    assert not problems, "\n".join([name, *problems])

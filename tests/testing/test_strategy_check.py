"""The check finds strategies that break a law, shows how, and survives whatever they do."""

import importlib
import pickle
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import broken_strategies as broken
import pytest
from generators import odd_file_strategies
from scheduling import RUNS_LONG_TESTS

import cooperbench_eval as ce
from cooperbench_eval.git.merging.locating_resolutions import find_between
from cooperbench_eval.testing import STRATEGY_LAWS, LawStatus, check_strategy
from cooperbench_eval.testing.laws import check_in_fork
from cooperbench_eval.testing.strategy_check import check_law

LAWS = {law.name: law for law in STRATEGY_LAWS}
NAMES = tuple(LAWS)

# Which law each strategy breaks, and a part of its counterexample.
CULPRITS = {
    broken.ForgetsASide: ("identity", "no open conflict, and"),
    broken.AddsUp: ("same_change", "no open conflict, and"),
    broken.TakesOurFiles: ("disjoint_files", "no open conflict, and"),
    broken.SignsFiles: ("untouched_bytes", "outside of what both sides changed"),
    broken.TakesOneSideWhole: ("untouched_bytes", "outside of what both sides changed"),
    broken.MakesAllExecutable: ("untouched_bytes", "the mode that the three-way merge gives it"),
    broken.WritesIntoTheMerge: ("no_mutation", "the three-way merge"),
    broken.SetsAVariable: ("no_mutation", "no change of the environment variable ASKED"),
    broken.Counts: ("determinism", "and then"),
    broken.ReadsTheClock: ("determinism", "and then"),
    broken.OrdersByHash: ("determinism", "and in another"),
    broken.Pretends: ("markers", "with markers for only 0 open conflicts"),
    broken.Apologises: ("markers", "because that conflict is open"),
    broken.WritesANumber: ("no_invention", "no new text in"),
    broken.CallsItselfSymmetric: ("symmetry", "with the sides swapped"),
    broken.KnowsOnlyUtf8: ("survival", "which no version has"),
    broken.RaisesOnLatin1: ("survival", "UnicodeDecodeError"),
    broken.KnowsOnlyLineFeeds: ("survival", "at the end of lines"),
    broken.NamesFilesInAscii: ("survival", "UnicodeEncodeError"),
}


# Other strategies that break the same law in the same way are quicker to check.
LONG = {
    broken.TakesOneSideWhole,
    broken.SignsFiles,
    broken.ReadsTheClock,
    broken.RaisesOnLatin1,
    broken.KnowsOnlyLineFeeds,
    broken.WritesIntoTheMerge,
    broken.Counts,
    broken.Apologises,
}


EXAMPLES_OF_OTHERS = 6 if RUNS_LONG_TESTS else 3  # for each law that the strategy keeps


def culprits():
    """Yield the strategies, and mark the long ones."""
    for kind in CULPRITS:
        marks = [pytest.mark.long] if kind in LONG else []
        yield pytest.param(kind, id=kind.__name__, marks=marks)


def statuses(results):
    """Return the status of each law."""
    return {result.law.name: result.status.value for result in results}


def culprit_of(results):
    """Return the only result that is not ok."""
    (result,) = [result for result in results if not result.is_ok]
    return result


@pytest.mark.parametrize("kind", [*culprits()])
def test_only_the_law_that_a_strategy_breaks_is_reported(kind):
    """The counterexample shows the input, the outcome and the expected outcome."""
    name, words = CULPRITS[kind]

    results = [
        check_law(
            kind(),
            law,
            files={},
            examples=150 if law.name == name else EXAMPLES_OF_OTHERS,
        )
        for law in STRATEGY_LAWS
        if law.name == name or law.name not in {"symmetry", "determinism"}
    ]

    result = culprit_of(results)
    assert (result.law.name, result.status) == (name, LawStatus.BROKEN)
    shown = str(result)
    assert words in shown
    assert result.law.asks in shown
    assert all(f"\n  {word} " in shown for word in ("given", "came", "wanted"))
    assert len(shown) < 2500


def test_a_change_of_an_earlier_outcome_is_found():
    """Another law is broken by it too, and its check still ends."""
    law, other = LAWS["no_mutation"], LAWS["disjoint_files"]

    found, _ = (
        check_law(broken.ReusesItsTable(), each, files={}, examples=6) for each in (law, other)
    )

    assert "the first outcome changed during the second merge" in str(found)


def test_every_law_is_broken_by_some_strategy():
    """No law is without a test."""
    assert {name for name, _ in CULPRITS.values()} == set(NAMES)


def test_a_strategy_that_keeps_the_laws_passes():
    """The results count the cases, and those in which a conflict was resolved."""
    results = check_strategy(broken.Strategy(), examples=15)

    assert statuses(results) == dict.fromkeys(NAMES, "held") | {"symmetry": "opted_out"}
    by_name = {result.law.name: result for result in results}
    assert by_name["identity"].cases == 15
    assert by_name["identity"].answered == 0
    assert 1 <= by_name["untouched_bytes"].answered <= by_name["untouched_bytes"].cases <= 15
    assert by_name["symmetry"].reason == "the strategy does not declare `is_symmetric`"
    assert str(by_name["identity"]) == "identity: held in 15 cases, 0 with a conflict resolved"


def test_a_counterexample_is_small():
    """It has one file of a few bytes."""
    result = check_law(broken.Pretends(), LAWS["markers"], files={}, examples=20)

    given = result.counterexample.given
    assert given.count("\n") <= 2
    assert len(given) < 200


@pytest.mark.parametrize(
    ("runs", "data", "is_there"),
    [
        ([b"a", b"b"], b"a-b", True),
        ([b"a", b"b"], b"ab", True),
        ([b"a", b"b"], b"-ab", False),
        ([b"a", b"b"], b"ab-", False),
        ([b"a", b"c", b"b"], b"a-c-b", True),
        ([b"a", b"c", b"b"], b"ab", False),
        ([b"", b"c", b""], b"--c--", True),
        ([b"", b"c", b"c"], b"-c", False),
        ([b"ab", b"b"], b"ab", False),
    ],
)
def test_settled_text_must_occur_in_order(runs, data, is_there):
    """The runs reach from the first byte to the last, with anything between, and do not overlap."""
    assert (find_between(data, runs, anywhere=True) is not None) is is_there


# --- what a strategy may do to the check ------------------------------------------------------


@pytest.fixture(scope="module")
def results_of_one_that_raises():
    """Return the results of a strategy that raises, of a few laws."""
    laws = tuple(LAWS[name] for name in ("identity", "symmetry", "survival"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cooperbench_eval.testing.strategy_check.STRATEGY_LAWS", laws)
        return check_strategy(broken.Raises(), examples=20)


RAISED = "ZeroDivisionError('division by zero') (broken_strategies.py, line"


class AlwaysRaises:
    """Has one mistake, whose message depends on the input."""

    name = "always-raises"

    def merge(self, given, /):
        """Raise in a function that it calls."""
        return self.resolve(given)

    def resolve(self, given):
        """Raise."""
        raise ValueError(str(given.ours))


class ReturnsNothing(AlwaysRaises):
    """Has another one."""

    def merge(self, given, /):
        """Forget to return the outcome."""


@pytest.mark.parametrize(
    ("kind", "came", "place"),
    [
        (AlwaysRaises, "it failed: ValueError(", ", in resolve)"),
        (ReturnsNothing, "it returned NoneType instead of a MergeOutcome (", ", in merge)"),
    ],
)
def test_one_mistake_is_shown_once_with_the_authors_line(kind, came, place):
    """Each further law that it breaks names the first one, and the line again."""
    function = kind.resolve if kind is AlwaysRaises else kind.merge
    line = function.__code__.co_firstlineno + (2 if kind is AlwaysRaises else 0)
    where = f"({Path(__file__).name}, line {line}{place}"

    first, *others = [each for each in check_strategy(kind(), examples=4) if not each.is_ok]

    assert first.counterexample.came.startswith(came)
    assert first.counterexample.came.endswith(where)
    assert str(first).count(where) == 1
    assert len(others) == len(NAMES) - 2
    for other in others:
        assert str(other).startswith(
            f"{other.law.name}: broken (the same mistake as in the law identity: "
        )
        assert where in str(other)
        assert len(str(other).splitlines()) == 1
        assert other.counterexample is not None


def test_an_exception_becomes_a_result(results_of_one_that_raises):
    """The result names the line of the strategy that raised."""
    results = results_of_one_that_raises

    assert statuses(results)["survival"] == "broken"
    assert all(RAISED in str(result) for result in results if not result.is_ok)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (broken.Exits, "it raised SystemExit (broken_strategies.py, line"),
        (broken.ReportsAFailure, "it reported a failure: no key"),
    ],
)
def test_a_strategy_without_an_outcome_becomes_a_result(kind, words):
    """The result is the same in this process and in a fork."""

    def check(report):
        return check_law(kind(), LAWS["survival"], files={}, report=report)

    here = check(lambda _: None)
    there = check_in_fork(LAWS["survival"], check, patience_seconds=20, wanted="an outcome")

    assert here == there
    assert here.status == "broken"
    assert words in str(here)


def test_a_strategy_that_ends_its_process_ends_only_the_fork():
    """The result shows the exit status and the case."""
    results = check_strategy(broken.Dies(), examples=8)

    assert statuses(results)["markers"] == "broken"
    shown = [str(result) for result in results if not result.is_ok]
    assert all("its process ended with exit status 3" in text for text in shown)
    assert ["theirs '" in text for text in shown] == [True] + [False] * (len(shown) - 1)


@pytest.mark.long
def test_a_strategy_that_hangs_is_stopped_at_the_deadline(tmp_path):
    """This holds even if it blocks the interpreter; the other laws are still checked."""
    started = time.monotonic()
    strategy = broken.LoopsOnce(tmp_path / "note")

    results = check_strategy(strategy, examples=6, deadline_seconds=2)

    assert time.monotonic() - started < 20
    kept = dict.fromkeys(NAMES, "held") | {"symmetry": "opted_out"}
    assert statuses(results) == kept | {"untouched_bytes": "broken"}
    result = culprit_of(results)
    assert result.counterexample.came == "no answer within 2 seconds"
    assert "theirs '" in result.counterexample.given


@pytest.mark.parametrize("answer", [pytest.param(None, marks=pytest.mark.long), b""])
def test_a_wrong_return_value_becomes_a_result(answer):
    """It breaks the protocol."""

    class Answers(broken.Strategy):
        is_symmetric = True  # so that every law applies

        def merge(self, _given, /):
            return answer

    laws = STRATEGY_LAWS if answer is None else STRATEGY_LAWS[:1]

    results = [check_law(Answers(), law, files={}, examples=3) for law in laws]

    assert {each.status.value for each in results} == {"broken"}
    assert f"returned {type(answer).__name__} instead of a MergeOutcome" in str(results[0])


def test_a_failed_service_leaves_laws_unchecked():
    """The laws count neither as kept nor as broken, and the service is not called again."""
    strategy = broken.WaitsForAService()

    results = check_strategy(strategy, examples=4, deadline_seconds=None)

    found = statuses(results)
    assert found.pop("symmetry") == "opted_out"
    assert set(found.values()) == {"not_checked"}
    assert not results[0].is_ok
    assert str(results[0]) == "identity: not checked (no answer)"
    assert strategy.asked == len(NAMES) - 1  # once for each law


def test_a_law_without_a_case_is_not_checked():
    """In a single case, the sides may have changed no file in common."""
    results = check_strategy("naive", examples=1)

    found = statuses(results)
    assert (found["identity"], found["untouched_bytes"]) == ("held", "not_checked")
    assert "(no case was found to which it applies)" in str(results[3])


def test_a_strategy_that_does_not_pickle_is_compared_only_in_this_process():
    """The result gives the reason."""

    class Local(broken.Strategy):
        """Has an attribute that cannot be pickled."""

        def __init__(self):
            self.lock = threading.Lock()

    result = check_law(Local(), LAWS["determinism"], files={}, examples=20)

    assert result.status == "held"
    assert re.match(
        "only in this process: cannot be sent to a process of its own .*pickle", result.reason
    )


def test_a_strategy_that_a_script_defines_is_compared_with_another_process():
    """Its class is pickled by value."""

    class Local(broken.Strategy):
        """Unknown to other processes."""

    class OrdersByHash(broken.OrdersByHash):
        """Unknown to other processes."""

    kept, caught = (
        check_law(kind(), LAWS["determinism"], files={}, examples=40)
        for kind in (Local, OrdersByHash)
    )

    assert (kept.status, kept.reason) == ("held", "")
    assert "and in another" in str(caught)


# --- arguments -----------------------------------------------------------------------


def test_a_registered_name_is_accepted():
    """The strategy is built by its name."""
    results = check_strategy("naive", examples=8, deadline_seconds=None)

    assert statuses(results) == dict.fromkeys(NAMES, "held")


def test_an_opt_out_keeps_its_reason():
    """The reason is shown whether or not the law is broken."""
    reasons = {
        "determinism": "it numbers its answers",
        "no_invention": "it writes the numbers",
        "identity": "to be safe",
    }

    results = check_strategy(broken.Counts(), opt_out=reasons, examples=20, deadline_seconds=None)

    assert all(result.is_ok for result in results)
    by_name = {result.law.name: result for result in results}
    assert by_name["determinism"].status == by_name["identity"].status == "opted_out"
    assert by_name["determinism"].reason == "it numbers its answers"
    assert by_name["determinism"].counterexample is not None
    assert str(by_name["identity"]) == (
        "identity: opted out (to be safe; it was not broken in any case tried)"
    )


@pytest.mark.parametrize(
    ("opt_out", "words"),
    [
        ({"idendity": "typo"}, "no law is called 'idendity'; laws: identity, same_change"),
        ({"identity": ""}, "say why 'identity' need not be kept"),
        ({"identity": " \n"}, "say why"),
        ({"identity": None}, "opt_out must be .*, but the value of 'identity' is NoneType"),
    ],
)
def test_an_opt_out_names_a_law_and_a_reason(opt_out, words):
    """A typing error must not hide a law that is not checked."""
    with pytest.raises(ValueError, match=words):
        check_strategy("naive", opt_out=opt_out)


class Nameless:
    """Has no name."""

    def merge(self, given, /):
        """Merge like a strategy."""
        return ce.MergeOutcome(changes=given.merge.changes)


class Numbered(Nameless):
    """Has a number as its name."""

    name = 5


class Unnameable(Nameless):
    """Raises when its name is read."""

    @property
    def name(self):
        """Raise."""
        raise RuntimeError("no name today")


class Asynchronous:
    """Has an asynchronous merge."""

    name = "asynchronous"

    async def merge(self, given, /):
        """Do nothing yet."""


@pytest.mark.parametrize(
    ("candidate", "words"),
    [
        (None, "pass an instance"),
        (broken.Strategy, r"is a class; pass an instance, as Strategy\(\)"),
        (Nameless(), "it needs a name"),
        (Numbered(), "it needs a name"),
        (Unnameable(), r"cannot be inspected: RuntimeError\('no name today'\)"),
        (Asynchronous(), "its merge is asynchronous"),
    ],
)
def test_an_object_that_is_not_a_strategy_is_refused(candidate, words):
    """No law is checked then."""
    with pytest.raises(ce.errors.StrategyLoadError, match=words):
        check_strategy(candidate)


def test_an_unknown_name_is_refused():
    """The error is that of `get_strategy`."""
    with pytest.raises(ce.errors.UnknownStrategyError):
        check_strategy("nonsense")


def test_the_callers_files_are_used():
    """A strategy for one kind of file is checked on that kind."""
    lines = [b"a==1\n", b"b==2\n", b"pinned==3\n", b"\n"]

    without, found = (
        check_law(broken.DropsVersions(), LAWS["untouched_bytes"], files=files, examples=25)
        for files in ({}, {"pins.txt": lines})
    )

    assert without.status == "held"
    assert found.status == "broken"
    assert "'pins.txt'" in str(found)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a": b"x\n"}, "files must be .*, but the value of 'a' is bytes"),
        ({"a": [b"x\n"]}, "two lines of bytes or more"),
        ({"a": ["x\n", "y\n"]}, "files must be .*, but the value of 'a' is list"),
        ({"a": [b"x\n", b"y"]}, "two lines of bytes or more"),
        ({"../a": [b"x\n", b"y\n"]}, "leaves the tree"),
        ({"a": odd_file_strategies()["nothing"]}, "is a strategy without examples: nothing"),
    ],
)
def test_invalid_files_are_refused(files, words):
    """The error says what is expected."""
    with pytest.raises(ValueError, match=words):
        check_strategy("naive", files=files)


NO_TUPLES = r"must make tuples \(base, ours, theirs\) of bytes, not \d+"
RAISED_IN_FILES = r"ZeroDivisionError\('in the file strategy'\)"


@pytest.mark.parametrize(
    ("kind", "words", "deadline_seconds"),
    [
        pytest.param("numbers", NO_TUPLES, None, marks=pytest.mark.long),
        ("numbers", NO_TUPLES, 30.0),
        ("raises", RAISED_IN_FILES, None),
        pytest.param("raises", RAISED_IN_FILES, 30.0, marks=pytest.mark.long),
    ],
)
def test_files_that_raise_leave_laws_unchecked(kind, words, deadline_seconds):
    """Every result gives the reason, and no law counts as broken."""
    files = {"a.py": odd_file_strategies()[kind]}

    results = check_strategy("union", files=files, examples=3, deadline_seconds=deadline_seconds)

    found = [each for each in results if each.law.name != "symmetry"]
    assert {each.status for each in found} == {LawStatus.NOT_CHECKED}
    assert all(re.search(f"the check failed: .*{words}", each.reason) for each in found)


@pytest.mark.parametrize(
    "wrong", [{"examples": 0}, {"examples": -1}, {"deadline_seconds": 0}, {"deadline_seconds": -1}]
)
def test_arguments_must_be_positive(wrong):
    """Otherwise it would look as if the strategy had done nothing."""
    with pytest.raises(ValueError, match=next(iter(wrong))):
        check_strategy("union", **wrong)


def test_a_check_that_raises_breaks_no_law():
    """The exception leaves the fork as text, because it need not pickle."""

    def check(_report):
        raise RuntimeError("a fault of the check", threading.Lock())

    result = check_in_fork(STRATEGY_LAWS[0], check, patience_seconds=20, wanted="an outcome")

    assert result.status == "not_checked"
    assert result.reason.startswith("the check failed: RuntimeError('a fault of the check', <")


def test_a_law_that_held_by_doing_nothing_has_a_caveat():
    """It is given if the caller has files of its own, and says what to do."""
    lines = [b"a\n", b"b\n"]

    made = {"a.txt": odd_file_strategies()["one conflict"]}

    reasons = {
        each.law.name: each.reason
        for each in check_strategy(
            broken.LeavesAllOpen(), files={"a.txt": lines}, examples=5, deadline_seconds=None
        )
    }
    others, tried = (
        check_law(kind(), LAWS["markers"], files=made, examples=5).reason
        for kind in (broken.LeavesAllOpen, broken.Strategy)
    )

    assert reasons["identity"] == ""
    helps = "give files as a Hypothesis strategy of (base, ours, theirs)"
    assert (
        reasons["markers"]
        == f"nothing was tried, because the strategy resolved no conflict: {helps}"
    )
    assert others == "nothing was tried: the files have no conflict that the strategy resolves"
    assert tried == ""


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (broken.Shuffles, "no change of the state of the module `random`"),
        (broken.HandlesSignals, "no change of the handler of SIGTERM"),
        (broken.SetsUpLogging, "no change of the handlers and level of the root logger"),
        (broken.LeavesAThread, "no thread left running, such as busy"),
    ],
)
def test_a_change_of_the_process_is_found(monkeypatch, kind, words):
    """The check runs in a fork, so that this process does not change."""
    monkeypatch.setattr("cooperbench_eval.testing.strategy_laws._SECONDS_TO_END", 0.05)
    law = LAWS["no_mutation"]

    def check(report):
        return check_law(kind(), law, files={}, examples=2, report=report)

    result = check_in_fork(law, check, patience_seconds=20, wanted="an outcome")

    assert words in str(result)


def test_a_check_can_be_repeated():
    """The same seed gives the same cases and the same counterexample."""
    first, again = (
        check_law(broken.Pretends(), LAWS["markers"], files={}, examples=30, seed=7)
        for _ in range(2)
    )

    assert first.status == "broken"
    assert first == again


@pytest.mark.parametrize(
    "law", {law.cases: law for law in STRATEGY_LAWS}.values(), ids=lambda law: law.cases
)
def test_loaded_modules_do_not_change_the_cases(tmp_path, monkeypatch, law):
    """Hypothesis draws constants of loaded modules, so the generators must prevent it."""

    def cases():
        found = []
        check_law(broken.Strategy(), law, files={}, examples=25, report=found.append)
        return found

    before = cases()
    texts = [bytes([number]) * size for number in (1, 200) for size in range(1, 51)]
    module = tmp_path / f"constants_for_{law.cases}.py"
    module.write_text(f"CONSTANTS = {[*range(100, 256), *texts]!r}")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module(module.stem)

    assert cases() == before


def test_results_pickle(results_of_one_that_raises):
    """They can be stored or sent to another process."""
    results = results_of_one_that_raises

    assert {each.status.value for each in results} == {"held", "broken", "opted_out"}
    assert pickle.loads(pickle.dumps(results)) == results  # noqa: S301 - our own


def test_hypothesis_and_pytest_are_imported_where_they_are_used():
    """Importing the package or checking sandboxes does not import them."""
    script = """
import sys
import cooperbench_eval.testing as kit
kit.SANDBOX_LAWS, kit.check_sandbox, kit.LawResult
print({"hypothesis", "pytest"} & set(sys.modules))
assert kit.__all__ == dir(kit)
assert all(getattr(kit, name) is not None for name in kit.__all__)
print(hasattr(kit, "nonsense"), "hypothesis" in sys.modules, "pytest" in sys.modules)
"""

    done = subprocess.run((sys.executable, "-c", script), capture_output=True, check=True)

    assert done.stdout == b"set()\nFalse True False\n"

"""Errors carry facts, derive from one base, and cross process pools."""

import inspect
import pickle

import pytest

from cooperbench_eval import errors

EXAMPLES = [
    errors.CooperBenchEvalError("anything"),
    errors.PatchError("contains no diff", "a.patch", 3),
    errors.RepositoryError("/repo", "has no commit 'x'"),
    errors.DatasetError("is not a directory", "/dataset"),
    errors.StrategyError("anything"),
    errors.UnknownStrategyError("best", ("naive", "union"), ("cooperbench-eval 1",)),
    errors.DuplicateStrategyError("best", ("one 1", "two 2")),
    errors.StrategyLoadError("best", "one 1 (one:Best)", "cannot be imported"),
    errors.StrategyFailedError("best", "ZeroDivisionError()"),
    errors.TestRunError("cannot be started", ("pytest", "-q"), "target"),
    errors.SandboxError("the engine does not answer", ("pytest", "-q")),
    errors.ReportError("is not JSON", "report.json"),
    errors.PluginError("anything"),
    errors.UnknownPluginError("best", ("one", "two"), ("one 1",)),
    errors.DuplicatePluginError("best", ("one 1", "two 2")),
    errors.PluginLoadError("best", "one 1 (one:Best)", "cannot be imported"),
    errors.UnknownSandboxError("cage", ("local",), ("one 1",)),
    errors.DuplicateSandboxError("cage", ("one 1", "two 2")),
    errors.SandboxLoadError("cage", "one 1 (one:Cage)", "cannot be built"),
    errors.BatchError("cannot be pickled", "evaluator"),
    errors.AnalysisError("no policy is called 'lax'", ("paper", "strict")),
    errors.UnknownAttemptError("best", ("naive", "union")),
    errors.WorkerError("its process was killed by signal 9", -9),
    errors.ArgumentError("base", "must be Snapshot, not str: 'tree'"),
]


def classes():
    """Every exception class of the module."""
    return {c for _, c in inspect.getmembers(errors, inspect.isclass)}


def test_every_error_has_an_example_here():
    """A new error class must be added to these tests."""
    assert {type(example) for example in EXAMPLES} == classes()


def test_every_error_is_exported_and_of_one_family():
    """One `except` catches everything the library raises on purpose."""
    assert {c.__name__ for c in classes()} == set(errors.__all__)
    assert all(issubclass(c, errors.CooperBenchEvalError) for c in classes())
    assert all(f" {c.__name__}" in errors.__doc__ or c.__base__ is Exception for c in classes())


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_an_error_survives_pickling(error, protocol):
    """Its attributes and its message stay the same."""
    copy = pickle.loads(pickle.dumps(error, protocol))  # noqa: S301 - made just above

    assert type(copy) is type(error)
    assert copy.args == error.args
    assert vars(copy) == vars(error)
    assert str(copy) == str(error)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_an_errors_facts_are_its_arguments(error):
    """All are in `args`, in order, because errors are rebuilt from `args`."""
    facts = tuple(vars(error).values())

    assert facts in {(), error.args}


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (errors.BatchError("takes no work", "executor"), "executor: takes no work"),
        (errors.BatchError("takes no work"), "takes no work"),
        (EXAMPLES[20], "no policy is called 'lax'; available: paper, strict"),
        (errors.AnalysisError("compares nothing"), "compares nothing"),
        (EXAMPLES[21], "the report has no attempt of 'best'; available: naive, union"),
        (errors.UnknownAttemptError("x"), "the report has no attempt of 'x'; available: none"),
        (EXAMPLES[22], "its process was killed by signal 9"),
        (EXAMPLES[1], "a.patch, line 3: contains no diff"),
        (errors.PatchError("contains no diff"), "patch: contains no diff"),
        (errors.PatchError("contains no diff", "a.patch"), "a.patch: contains no diff"),
        (errors.PatchError("contains no diff", None, 3), "patch, line 3: contains no diff"),
        (EXAMPLES[2], "/repo: has no commit 'x'"),
        (EXAMPLES[3], "/dataset: is not a directory"),
        (
            EXAMPLES[5],
            "no merge strategy is called 'best'; available: naive, union (from cooperbench-eval 1)",
        ),
        (errors.UnknownStrategyError("x"), "no merge strategy is called 'x'; available: none"),
        (EXAMPLES[6], "merge strategy 'best' is registered by one 1 and two 2; uninstall one"),
        (EXAMPLES[7], "merge strategy 'best' from one 1 (one:Best): cannot be imported"),
        (EXAMPLES[8], "merge strategy 'best' failed: ZeroDivisionError()"),
        (EXAMPLES[9], "cannot be started; the command: pytest -q"),
        (errors.TestRunError("no sandbox"), "no sandbox"),
        (errors.TestRunError("too long", ("x" * 9999,)), f"too long; the command: {'x' * 500}..."),
        (EXAMPLES[11], "report.json: is not JSON"),
        (errors.ReportError("is not JSON"), "is not JSON"),
        (EXAMPLES[13], "no plug-in is called 'best'; available: one, two (from one 1)"),
        (EXAMPLES[16], "no sandbox is called 'cage'; available: local (from one 1)"),
        (EXAMPLES[17], "sandbox 'cage' is registered by one 1 and two 2; uninstall one"),
        (EXAMPLES[18], "sandbox 'cage' from one 1 (one:Cage): cannot be built"),
    ],
)
def test_an_error_says_its_facts(error, sentence):
    """The sentence names the file or value and what is wrong with it."""
    assert str(error) == sentence


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (errors.PatchError, ValueError),
        (errors.ReportError, ValueError),
        (errors.DatasetError, LookupError),
        (errors.UnknownAttemptError, KeyError),
        (errors.UnknownStrategyError, LookupError),
        (errors.UnknownSandboxError, LookupError),
    ],
)
def test_an_error_doubles_as_the_builtin_it_is(error, builtin):
    """Code that does not know this library can still catch it."""
    assert issubclass(error, builtin)


@pytest.mark.parametrize("pattern", ["Unknown{}Error", "Duplicate{}Error", "{}LoadError"])
def test_the_errors_of_a_plug_in_are_of_one_family(pattern):
    """One `except` catches missing plug-ins of any kind, another all errors of strategies."""
    strategy, sandbox, plugin = (
        getattr(errors, pattern.format(kind)) for kind in ("Strategy", "Sandbox", "Plugin")
    )

    assert issubclass(strategy, plugin)
    assert issubclass(strategy, errors.StrategyError)
    assert issubclass(sandbox, plugin)

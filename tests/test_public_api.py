"""The front door: what it exports, and what walking through it costs."""

import subprocess
import sys
import types

import cooperbench_eval

CONTRACT = {
    "Attempt",
    "Changes",
    "Conflict",
    "ConflictDetails",
    "ConflictScorer",
    "Evaluator",
    "Feature",
    "FeaturePair",
    "LocalSandbox",
    "MergeInput",
    "MergeOutcome",
    "MergeReport",
    "MergeStatus",
    "MergeStrategy",
    "Patch",
    "PatchError",
    "Snapshot",
    "TestResult",
    "TestRunner",
    "TestSuite",
    "apply_patch",
    "available_strategies",
    "evaluate",
    "get_strategy",
    "merge",
    "resolve_conflicts",
    "write_report",
}

WATCH = """
import sys
sockets = []
sys.addaudithook(lambda event, args: sockets.append(event) if event.startswith("socket") else None)
import cooperbench_eval
heavy = {"litellm", "docker", "huggingface_hub", "pygit2", "matplotlib"} & set(sys.modules)
assert not heavy, heavy
assert not sockets, sockets
"""


def test_all_is_sorted_and_holds_every_public_name():
    """What is exported is what `__all__` says, in order."""
    names = {
        name
        for name, value in vars(cooperbench_eval).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }

    assert sorted(cooperbench_eval.__all__) == cooperbench_eval.__all__
    assert set(cooperbench_eval.__all__) == names


def test_the_contract_is_there():
    """Names that people outside of the repository rely on are exported."""
    assert set(cooperbench_eval.__all__) >= CONTRACT


def test_importing_is_light_and_silent():
    """A fresh import loads no heavy library, opens no socket and prints nothing."""
    done = subprocess.run([sys.executable, "-c", WATCH], capture_output=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_classes_named_test_are_not_collected():
    """Users' suites import `TestRunner` and its kind without a warning of pytest's."""
    named = [n for n in cooperbench_eval.__all__ if n.startswith("Test") and "Error" not in n]

    assert named
    assert all(getattr(cooperbench_eval, name).__test__ is False for name in named)

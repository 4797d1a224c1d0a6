"""The public names, and what importing the library costs."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

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
from cooperbench_eval import *
heavy = {
    "docker",
    "huggingface_hub",
    "litellm",
    "matplotlib",
    "numpy",
    "pandas",
    "polars",
    "pygit2",
    "pygments",
    "scipy",
} & set(sys.modules)
assert not heavy, heavy
assert not sockets, sockets
"""


def static_exports():
    """Return what a type checker sees: each name with its module."""
    stub = Path(cooperbench_eval.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    return {
        alias.asname: f"cooperbench_eval.{node.module}"
        for node in ast.walk(ast.parse(stub))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_type_checkers_and_programs_see_the_same_names():
    """`__all__` and `dir` list what the stub exports, sorted."""
    assert sorted(static_exports()) == cooperbench_eval.__all__ == dir(cooperbench_eval)


@pytest.mark.parametrize("name", cooperbench_eval.__all__)
def test_a_name_is_the_one_of_its_module(name):
    """The package and the module give the same object."""
    module = importlib.import_module(static_exports()[name])

    assert getattr(cooperbench_eval, name) is getattr(module, name)


def test_another_name_is_an_attribute_error():
    """`hasattr` and tab completion work as with any module."""
    with pytest.raises(AttributeError, match="nonesuch"):
        cooperbench_eval.nonesuch  # noqa: B018


def test_the_contract_is_there():
    """Names that code outside of the repository relies on are exported."""
    assert set(cooperbench_eval.__all__) >= CONTRACT


def test_importing_is_light_and_silent():
    """A fresh import loads no heavy library, opens no socket and prints nothing."""
    done = subprocess.run([sys.executable, "-c", WATCH], capture_output=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_classes_named_test_are_not_collected():
    """Users' suites import `TestRunner` and the like without a pytest warning."""
    named = [n for n in cooperbench_eval.__all__ if n.startswith("Test") and "Error" not in n]

    assert named
    assert all(getattr(cooperbench_eval, name).__test__ is False for name in named)

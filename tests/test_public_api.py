"""The public names, and what importing the library costs."""

import ast
import importlib
import pydoc
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

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
} & set(sys.modules)
assert not heavy, heavy
assert not sockets, sockets
"""


def stub_of(package):
    """Return the file from which type checkers read a package's names."""
    return Path(package.__file__).with_suffix(".pyi")


MODULES = {
    name: each
    for name in cooperbench_eval.__all__
    if isinstance(each := getattr(cooperbench_eval, name), ModuleType)
}
LAZY = [cooperbench_eval, *(each for each in MODULES.values() if stub_of(each).exists())]


def static_exports(package):
    """Return what a type checker sees: each name with the module that has it."""
    return {
        alias.asname: ".".join(filter(None, (package.__name__, node.module)))
        for node in ast.parse(stub_of(package).read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@pytest.mark.parametrize("package", LAZY, ids=lambda each: each.__name__)
def test_type_checkers_and_programs_see_the_same_names(package):
    """`__all__` and `dir` list what the stub exports, sorted."""
    assert sorted(static_exports(package)) == package.__all__ == dir(package)


@pytest.mark.parametrize("package", LAZY, ids=lambda each: each.__name__)
def test_a_name_is_the_one_of_its_module(package):
    """The package and the module give the same object."""
    for name, module in static_exports(package).items():
        assert getattr(package, name) is getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_of_names_is_available_without_its_own_import(name):
    """This is tested in a new process, where nothing has imported it."""
    code = f"import cooperbench_eval as ce; print(*dir(ce.{name}))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)

    assert set(done.stdout.split()) >= set(MODULES[name].__all__)


def test_help_says_where_to_start_and_names_every_module():
    """Each name in it that could be a class is public."""
    shown = pydoc.plain(pydoc.render_doc(cooperbench_eval)).splitlines()
    text = cooperbench_eval.__doc__

    assert shown[3].strip().startswith("cooperbench_eval - Start here: ")
    assert re.findall(r"- `ce\.(\w+)`:", text) == list(MODULES)
    named = set(re.findall(r"`([A-Z]\w+)", text))
    assert {"MergeReport", "Dataset", "ReportStore"} <= named <= set(cooperbench_eval.__all__)


def test_the_top_level_has_few_names():
    """About sixty, and a dozen modules with the rest."""
    assert len(set(cooperbench_eval.__all__) - MODULES.keys()) <= 70
    assert len(MODULES) <= 12


def test_another_name_is_an_attribute_error():
    """`hasattr` and tab completion work as with any module."""
    with pytest.raises(AttributeError, match="nonesuch"):
        cooperbench_eval.nonesuch  # noqa: B018
    with pytest.raises(AttributeError, match="nonesuch"):
        cooperbench_eval.errors.nonesuch  # noqa: B018


def test_the_contract_is_there():
    """Names that code outside of the repository relies on are exported."""
    assert set(cooperbench_eval.__all__) >= CONTRACT


def test_importing_is_light_and_silent():
    """A fresh import loads no heavy library, opens no socket and prints nothing."""
    done = subprocess.run([sys.executable, "-c", WATCH], capture_output=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_classes_named_test_are_not_collected():
    """Users' suites import `TestRunner` and the like without a pytest warning."""
    named = {
        name: getattr(package, name)
        for package in (cooperbench_eval, *MODULES.values())
        for name in package.__all__
        if name.startswith("Test") and "Error" not in name
    }

    assert set(named) >= {"TestRunner", "TestCase", "TestFileFilter"}
    assert all(each.__test__ is False for each in named.values())

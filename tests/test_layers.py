"""Imports point one way, and each third-party library has one door."""

import ast
import functools
from pathlib import Path

import pytest

import cooperbench_eval

PACKAGE = Path(cooperbench_eval.__file__).parent

# Each room with the rooms it may import from, its own included where it has several modules.
KNOWS = {
    "errors": set(),
    "display": {"display"},
    "models": {"display", "models"},
    "memo": set(),
    "plugins": {"errors"},
    "objects": {"errors", "models"},
    "repository": {"errors", "memo", "objects"},
    "gitdiff": {"models", "objects", "repository"},
    "snapshot": {"errors", "gitdiff", "memo", "models", "objects", "repository"},
    "merging": {"errors", "merging", "models", "objects", "snapshot"},
    "symbols": set(),
    "patching": {
        "errors",
        "gitdiff",
        "merging",
        "models",
        "objects",
        "patching",
        "snapshot",
        "symbols",
    },
    "structure": {"merging", "structure", "symbols"},
    "llm": {"llm", "models"},
    "scoring": {"models"},
    "running": {"errors", "models", "patching", "plugins", "running", "snapshot"},
    "reporting": {"display", "errors", "models", "patching", "reporting", "snapshot"},
    "analysis": {"analysis", "display", "errors", "models", "patching", "peer", "reporting"},
    "plots": {"analysis", "display", "errors", "plots", "reporting"},
    "page": {"analysis", "display", "errors", "models", "page", "reporting"},
    "strategies": {
        "errors",
        "llm",
        "merging",
        "models",
        "plugins",
        "snapshot",
        "strategies",
        "structure",
    },
    "apart": {"apart", "errors", "running"},
    "evaluator": {
        "apart",
        "errors",
        "memo",
        "merging",
        "models",
        "patching",
        "reporting",
        "running",
        "scoring",
        "snapshot",
        "strategies",
    },
    "runlogs": {"errors", "patching", "runlogs"},
    "peer": {"errors", "runlogs"},
    "taskscripts": set(),
    "dataset": {"errors", "patching", "runlogs", "running", "taskscripts"},
    "benchmark": {
        "apart",
        "dataset",
        "errors",
        "evaluator",
        "patching",
        "reporting",
        "runlogs",
        "running",
        "snapshot",
        "strategies",
    },
    "batch": {
        "analysis",
        "apart",
        "batch",
        "errors",
        "evaluator",
        "memo",
        "patching",
        "reporting",
        "running",
    },
    "testing": {
        "apart",
        "errors",
        "merging",
        "models",
        "running",
        "snapshot",
        "strategies",
        "testing",
    },
    "sweeps": {
        "batch",
        "benchmark",
        "dataset",
        "errors",
        "evaluator",
        "patching",
        "reporting",
        "runlogs",
        "running",
        "snapshot",
    },
}

DOORS = {
    "pygit2": {"repository"},
    "cattrs": {"reporting.serialization"},
    "defusedxml": {"running.readers.junit"},
    "pygments": {"analysis.languages"},
    "scipy": {"analysis.rates"},
    "pandas": {"analysis.pandas_frames"},
    "polars": {"analysis.polars_frames"},
    "matplotlib": {"plots.canvas"},
    "rich": {"display.terminal"},
    "huggingface_hub": {"runlogs.hub"},
    "diff_match_patch": {"symbols"},
    "tree_sitter": {"structure.grammars"},
    "tree_sitter_go": {"structure.grammars"},
    "tree_sitter_javascript": {"structure.grammars"},
    "tree_sitter_rust": {"structure.grammars"},
    "tree_sitter_typescript": {"structure.grammars"},
    "litellm": {"llm.litellm_client"},
    "filelock": {"batch.claims"},
    "hypothesis": {"testing.generators.hypothesis_strategies", "testing.search"},
    "pytest": {"testing.pytest_laws"},
    "tqdm": {"batch.progress"},
    "cloudpickle": {"apart.pickling"},
    "docker": {"running.sandboxes.containers.engine"},
}


def modules():
    """Every module of the package but the front door, as `room.module`."""
    for file in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
        if name != "__init__":
            yield name.removesuffix(".__init__"), file


@functools.cache
def imports(file):
    """Every module that *file* imports, wherever in it."""
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively"
            found.append(node.module)
    return found


MODULES = list(modules())


@pytest.mark.parametrize(("name", "file"), MODULES, ids=[name for name, _ in MODULES])
def test_a_room_knows_only_the_rooms_before_it(name, file):
    """No module imports from a room that its own may not know."""
    room = name.partition(".")[0]

    known = {m.split(".")[1] for m in imports(file) if m.startswith("cooperbench_eval.")}

    assert known <= KNOWS[room]


@pytest.mark.parametrize("library", DOORS)
def test_a_library_has_one_door(library):
    """A third-party library is imported by the one module that wraps it."""
    users = {
        name
        for name, file in MODULES
        if any(module.partition(".")[0] == library for module in imports(file))
    }

    assert users == DOORS[library]


def test_strategies_know_neither_each_other_nor_the_registry():
    """A built-in strategy is written as anybody's plug-in would be."""
    own = {"naive", "union"}

    for name in own:
        found = set(imports(PACKAGE / "strategies" / f"{name}.py"))
        within = {m for m in found if m.startswith("cooperbench_eval.strategies.")}
        assert within == {"cooperbench_eval.strategies.protocol"}

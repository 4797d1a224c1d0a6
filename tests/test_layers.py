"""Imports point one way, without cycles, and one module wraps each third-party library."""

import ast
import functools
import graphlib
import importlib.metadata
from pathlib import Path

import pytest

import cooperbench_eval

PACKAGE = Path(cooperbench_eval.__file__).parent

# Each package or module with those that it may import from; a package of several modules
# may import from itself.
KNOWS = {
    "errors": set(),
    "arguments": set(),
    "display": {"display"},
    "models": {"display", "models"},
    "memo": set(),
    "moved": set(),
    "pythonsource": set(),
    "minimizing": set(),
    "plugins": {"errors"},
    "ancestry": set(),
    "objects": {"errors", "models"},
    "repository": {"ancestry", "errors", "memo", "models", "objects"},
    "gitdiff": {"models", "objects", "repository"},
    "treepaths": {"models"},
    "snapshot": {"errors", "gitdiff", "memo", "models", "objects", "repository", "treepaths"},
    "refs": {"memo", "models", "objects", "refs", "repository", "snapshot", "suggestions"},
    "merging": {"memo", "errors", "merging", "models", "objects", "snapshot"},
    "history": {"ancestry", "errors", "memo", "merging", "repository", "snapshot"},
    "staging": set(),
    "symbols": set(),
    "patching": {
        "memo",
        "errors",
        "gitdiff",
        "merging",
        "models",
        "objects",
        "patching",
        "processes",
        "snapshot",
        "symbols",
        "treepaths",
    },
    "structure": {"memo", "merging", "pythonsource", "structure", "symbols"},
    "judge": {"judge", "structure"},
    "hazards": {"hazards", "merging", "models", "snapshot", "structure"},
    "tracing": {"hazards", "models", "pythonsource", "snapshot", "structure", "tracing"},
    "llm": {"llm", "models", "staging"},
    "scoring": {"models"},
    "processes": {"errors", "processes"},
    "running": {
        "errors",
        "memo",
        "models",
        "objects",
        "patching",
        "plugins",
        "processes",
        "pythonsource",
        "running",
        "snapshot",
        "structuring",
        "treepaths",
    },
    "structuring": {"errors"},
    "reporting": {
        "display",
        "errors",
        "merging",
        "models",
        "patching",
        "reporting",
        "snapshot",
        "staging",
        "structuring",
        "suggestions",
    },
    "analysis": {
        "analysis",
        "display",
        "errors",
        "models",
        "moved",
        "patching",
        "reporting",
        "runlogs",
        "staging",
        "structuring",
    },
    "views": {"analysis", "display", "models", "reporting", "views"},
    "plots": {"analysis", "display", "errors", "plots", "reporting", "views"},
    "page": {
        "analysis",
        "display",
        "errors",
        "models",
        "origins",
        "page",
        "patching",
        "reporting",
        "snapshot",
        "staging",
        "views",
    },
    "strategies": {
        "errors",
        "judge",
        "llm",
        "merging",
        "models",
        "patching",
        "plugins",
        "snapshot",
        "strategies",
        "structure",
        "tracebacks",
    },
    "pairs": {"errors", "history", "models", "patching", "running", "snapshot"},
    "suiteruns": {"models", "pairs", "patching", "running", "snapshot"},
    "sides": {"history", "merging", "pairs", "patching", "snapshot", "strategies"},
    "versions": set(),
    "alone": {
        "memo",
        "models",
        "pairs",
        "patching",
        "reporting",
        "running",
        "sides",
        "snapshot",
        "suiteruns",
    },
    "landing": {
        "alone",
        "errors",
        "landing",
        "merging",
        "minimizing",
        "models",
        "objects",
        "pairs",
        "patching",
        "reporting",
        "running",
        "scoring",
        "sides",
        "snapshot",
        "strategies",
        "suiteruns",
        "versions",
    },
    "probing": {
        "history",
        "landing",
        "memo",
        "models",
        "pairs",
        "probing",
        "refs",
        "reporting",
        "running",
        "sides",
        "snapshot",
        "strategies",
        "suggestions",
        "tracing",
    },
    "evaluator": {
        "alone",
        "hazards",
        "landing",
        "merging",
        "models",
        "pairs",
        "patching",
        "processes",
        "reporting",
        "running",
        "scoring",
        "sides",
        "snapshot",
        "strategies",
        "suiteruns",
        "tracing",
        "versions",
    },
    "explaining": {
        "errors",
        "evaluator",
        "explaining",
        "gitdiff",
        "merging",
        "minimizing",
        "models",
        "pairs",
        "patching",
        "reporting",
        "running",
        "sides",
        "snapshot",
        "strategies",
    },
    "origins": {
        "errors",
        "memo",
        "merging",
        "models",
        "origins",
        "pairs",
        "patching",
        "reporting",
        "running",
        "sides",
        "snapshot",
        "strategies",
        "suggestions",
        "suiteruns",
        "tracing",
    },
    "runlogs": {"errors", "models", "patching", "runlogs", "structuring"},
    "tracebacks": set(),
    "suggestions": set(),
    "counted": set(),
    "clones": {"errors", "memo", "snapshot", "suggestions"},
    "taskscripts": {"errors"},
    "tasks": {
        "arguments",
        "clones",
        "counted",
        "errors",
        "models",
        "pairs",
        "patching",
        "running",
        "snapshot",
        "suggestions",
        "taskscripts",
    },
    "dataset": {
        "arguments",
        "clones",
        "counted",
        "errors",
        "pairs",
        "runlogs",
        "suggestions",
        "tasks",
        "taskscripts",
    },
    "benchmark": {
        "clones",
        "dataset",
        "errors",
        "evaluator",
        "models",
        "pairs",
        "processes",
        "reporting",
        "runlogs",
        "running",
        "strategies",
        "tasks",
    },
    "batch": {
        "analysis",
        "batch",
        "display",
        "errors",
        "evaluator",
        "memo",
        "models",
        "pairs",
        "patching",
        "processes",
        "reporting",
        "running",
        "structuring",
        "tracebacks",
    },
    "testing": {
        "errors",
        "merging",
        "models",
        "processes",
        "running",
        "snapshot",
        "strategies",
        "testing",
    },
    "sweeps": {
        "batch",
        "benchmark",
        "clones",
        "counted",
        "dataset",
        "errors",
        "evaluator",
        "models",
        "pairs",
        "reporting",
        "runlogs",
        "running",
        "sweeps",
        "tasks",
    },
}

ADAPTERS = {
    "pygit2": {"refs.checkout", "refs.index", "refs.names", "refs.settings", "repository"},
    "cattrs": {"structuring"},
    "defusedxml": {"running.readers.junit"},
    "pygments": {"analysis.languages"},
    "pandas": {"analysis.pandas_frames"},
    "polars": {"analysis.polars_frames"},
    "matplotlib": {"plots.canvas"},
    "rich": {"display.terminal"},
    "huggingface_hub": {"runlogs.paper"},
    "diff_match_patch": {"symbols"},
    "tree_sitter": {"structure.readers.grammars"},
    "tree_sitter_go": {"structure.readers.grammars"},
    "tree_sitter_java": {"structure.readers.grammars"},
    "tree_sitter_javascript": {"structure.readers.grammars"},
    "tree_sitter_rust": {"structure.readers.grammars"},
    "tree_sitter_typescript": {"structure.readers.grammars"},
    "litellm": {"llm.litellm_client"},
    "httpx": {"llm.http_limits"},
    "httpcore": {"llm.http_limits"},
    "filelock": {"batch.claims"},
    "hypothesis": {"testing.generators", "testing.search"},
    "pytest": {"testing.pytest_laws"},
    "tqdm": {"batch.progress"},
    "cloudpickle": {"processes.pickling"},
    "docker": {"running.sandboxes.containers.engine"},
}


def modules():
    """Yield the name and the file of every module except the package's `__init__`."""
    for file in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
        if name != "__init__":
            yield name.removesuffix(".__init__"), file


MODULES = dict(modules())

# Modules of the standard library that only some systems have, or that are of use only there,
# with the modules that may import them. Everything else works on every system.
ONLY_SOME_SYSTEMS = {
    "fcntl": {"processes.locks", "processes.supervision"},
    "msvcrt": {"processes.locks"},
    "resource": {"processes.supervisor", "running.sandboxes.hosting"},
    "ctypes": {
        "processes.supervisor",
        "running.folder_moves",
        "running.sandboxes.overlay_mounts",
    },
}
ONLY_SOME_SYSTEMS |= {
    name: set()
    for name in ("grp", "posix", "pty", "pwd", "readline", "syslog", "termios", "tty", "winreg")
}
# What `os` has only on some systems, with the modules that may name it.
ONLY_SOME_OS = {
    "fork": {"processes.supervisor", "running.sandboxes.containers.watchdog"},
    "getegid": {"running.sandboxes.overlay_mounts"},
    "geteuid": {"running.sandboxes.overlay_mounts"},
    "getuid": {"processes.temporary", "running.sharing"},
    "killpg": {"processes.plain", "testing.checking"},
    "memfd_create": {"running.sandboxes.bubblewrap"},
    "pidfd_open": {"batch.workers", "processes.supervisor"},
    "register_at_fork": {"processes.systems"},
    "sched_getaffinity": {"batch.workers"},
    "O_CLOEXEC": {"running.folder_moves"},
    "O_NONBLOCK": {"running.folder_moves"},
    "setsid": {"processes.supervisor", "testing.checking"},
    "uname": {"processes.supervisor"},
    "sysconf": {"processes.supervisor", "running.sandboxes.default"},
}
ONLY_SOME_OS |= {name: set() for name in ("getgid", "getgroups", "chown", "fchmod", "pipe2")}


@functools.cache
def imports(file):
    """Return the modules that *file* imports, including late and type-only imports."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively"
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            found |= {each if own_name(each) in MODULES else node.module for each in names}
    return found | lazy_imports(file)


def lazy_imports(file):
    """Return what a package imports on the first use of a name: what its stub lists."""
    stub = file.with_suffix(".pyi")
    if not stub.exists():
        return set()
    package = ".".join(("cooperbench_eval", *stub.relative_to(PACKAGE).parent.parts))
    nodes = ast.parse(stub.read_text(encoding="utf-8")).body
    return {f"{package}.{node.module}" for node in nodes if isinstance(node, ast.ImportFrom)}


@functools.cache
def used_of_os(file):
    """Return the names that *file* uses of `os`."""
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    found = (node for node in nodes if isinstance(node, ast.Attribute))
    return {
        each.attr for each in found if isinstance(each.value, ast.Name) and each.value.id == "os"
    }


def own_name(module):
    """Return a module's name without that of this package."""
    return module.removeprefix("cooperbench_eval.")


def own_imports(name):
    """Return the modules of this package that the module *name* imports."""
    return {own_name(each) for each in imports(MODULES[name])} & MODULES.keys()


@pytest.mark.parametrize("name", MODULES)
def test_a_layer_imports_only_from_the_layers_before_it(name):
    """No module imports from a package that its own package may not know."""
    known = {each.partition(".")[0] for each in own_imports(name)}
    known -= {"arguments", "errors"}  # every layer checks what callers pass

    assert known <= KNOWS[name.partition(".")[0]]


def test_modules_import_in_no_cycle():
    """Every module can be loaded before those that import it; late imports count too."""
    sorter = graphlib.TopologicalSorter({name: own_imports(name) for name in MODULES})

    try:
        sorter.prepare()
    except graphlib.CycleError as exc:
        pytest.fail(" -> ".join(exc.args[1]))


@pytest.mark.parametrize("library", ADAPTERS)
def test_a_library_has_one_adapter(library):
    """Only the module that wraps a third-party library imports it."""
    users = {
        name
        for name, file in MODULES.items()
        if any(module.partition(".")[0] == library for module in imports(file))
    }

    assert users == ADAPTERS[library]


@pytest.mark.parametrize("library", ONLY_SOME_SYSTEMS)
def test_few_modules_import_what_only_some_systems_have(library):
    """The library can be imported and used elsewhere; `tests/systems` tries that."""
    users = {name for name, file in MODULES.items() if library in imports(file)}

    assert users == ONLY_SOME_SYSTEMS[library]


@pytest.mark.parametrize("name", ONLY_SOME_OS)
def test_few_modules_name_what_only_some_systems_have_in_os(name):
    """A module that names it runs only on Linux, or asks first whether `os` has it."""
    users = {module for module, file in MODULES.items() if name in used_of_os(file)}

    assert users == ONLY_SOME_OS[name]


STRATEGY_HELPERS = {"blocks", "judge", "judging", "protocol", "run"}


def strategies():
    """Each built-in strategy with its module, from the entry points that register them."""
    points = importlib.metadata.entry_points(group="cooperbench_eval.strategies")
    return {p.name: p.module for p in points if p.module.startswith("cooperbench_eval.")}


@pytest.mark.parametrize("name", sorted(strategies()))
def test_strategies_know_neither_each_other_nor_the_registry(name):
    """A built-in strategy is written as a plug-in would be.

    Only a cascade takes the names of strategies from its user, so only a cascade looks
    names up, in the same registry as every caller.
    """
    prefix = "cooperbench_eval.strategies."
    file = PACKAGE / "strategies" / f"{strategies()[name].removeprefix(prefix)}.py"
    allowed = STRATEGY_HELPERS | ({"registry"} if name == "cascade" else set())

    known = {m.removeprefix(prefix) for m in imports(file) if m.startswith(prefix)}

    assert known <= allowed

"""Imports point one way, without cycles, and few modules import each third-party library."""

import ast
import functools
import graphlib
import importlib.metadata
from pathlib import Path

import pytest

import cooperbench_eval

PACKAGE = Path(cooperbench_eval.__file__).parent

# The packages from the bottom up. A package imports only its own modules and packages of earlier
# rows; two packages of one row do not import each other.
LAYERS = [
    {"errors"},
    {"support"},
    {"git"},
    {"languages"},
    {"strategies", "running"},
    {"reporting"},
    {"analysis"},
    {"evaluation", "testing"},
    {"presentation"},
    {"cooperbench"},
]
LAYER_OF = {package: number for number, row in enumerate(LAYERS) for package in row}

ADAPTERS = {
    "pygit2": {
        "git.worktrees.names",
        "git.worktrees.scratch",
        "git.worktrees.worktree",
        "git.trees.loose_objects",
        "git.trees.repository",
    },
    "cattrs": {"support.json_records"},
    "defusedxml": {"running.readers.result_files"},
    "pygments": {"analysis.languages"},
    "pandas": {"analysis.pandas_frames"},
    "polars": {"analysis.polars_frames"},
    "matplotlib": {"presentation.plots.canvas"},
    "rich": {"support.rendering.terminal"},
    "huggingface_hub": {"cooperbench.runlogs.pair_files"},
    "diff_match_patch": {"support.symbols"},
    "tree_sitter": {"languages.readers.grammars"},
    "yaml": {"languages.readers.yaml"},
    "litellm": {"strategies.llm.litellm_client"},
    "httpx": {"strategies.llm.http_limits"},
    "filelock": {"evaluation.batch.store", "running.cache"},
    "hypothesis": {"testing.generators"},
    "pytest": {"testing.pytest_laws"},
    "tqdm": {"evaluation.batch.progress"},
    "cloudpickle": {"running.processes.worker"},
    "docker": {"running.sandboxes.containers.engine"},
}


def modules():
    """Yield the name and the file of every module except the package's `__init__`."""
    for file in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
        if name != "__init__":
            yield name.removesuffix(".__init__"), file


MODULES = dict(modules())

# Modules of the standard library that exist or are useful only on some systems, with the modules
# that may import them. Everything else works on every system.
ONLY_SOME_SYSTEMS = {
    "fcntl": {"running.processes.temporary", "running.processes.supervision"},
    "resource": {"running.processes.supervisor", "running.sandboxes.local"},
    "ctypes": {
        "running.processes.supervisor",
        "running.file_watch",
        "running.sandboxes.overlay_mounts",
    },
}
ONLY_SOME_SYSTEMS |= {
    name: set()
    for name in (
        *("grp", "msvcrt", "posix", "pty", "pwd"),
        *("readline", "syslog", "termios", "tty", "winreg"),
    )
}
# What `os` has only on some systems, with the modules that may name it.
ONLY_SOME_OS = {
    "fork": {"running.processes.supervisor", "running.sandboxes.containers.watchdog"},
    "getegid": {"running.sandboxes.overlay_mounts"},
    "geteuid": {"running.disk_watch", "running.sandboxes.overlay_mounts"},
    "getuid": {"running.processes.temporary", "running.cache"},
    "killpg": {"running.processes.unsupervised", "testing.laws"},
    "memfd_create": {"running.sandboxes.bubblewrap"},
    "pidfd_open": {"evaluation.batch.workers", "running.processes.supervisor"},
    "register_at_fork": {"support.systems"},
    "sched_getaffinity": {"evaluation.batch.workers"},
    "statvfs": {"running.disk_watch"},
    "O_CLOEXEC": {"running.file_watch"},
    "O_NONBLOCK": {"running.file_watch"},
    "setsid": {"running.processes.supervisor", "testing.laws"},
    "uname": {"running.processes.supervisor"},
    "sysconf": {"running.processes.supervisor", "running.sandboxes.registry"},
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


def named_modules(file):
    """Return the modules of this package that *file* names in strings, to be imported later."""
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    texts = (node.value for node in nodes if isinstance(node, ast.Constant))
    places = (text.partition(":")[0] for text in texts if isinstance(text, str))
    return {own_name(each) for each in places if own_name(each) != each} & MODULES.keys()


@pytest.mark.parametrize("package", sorted(LAYER_OF))
def test_a_package_imports_only_from_the_layers_below(package):
    """Late imports count, and so do modules that are named in strings."""
    upwards = [
        f"{name} -> {known}"
        for name, file in MODULES.items()
        if name.partition(".")[0] == package
        for known in sorted(own_imports(name) | named_modules(file))
        if (other := known.partition(".")[0]) != package
        if LAYER_OF[other] >= LAYER_OF[package]
    ]

    assert not upwards


def test_the_top_of_the_package_holds_the_layers_and_nothing_else():
    """The top holds the packages, the errors, and the list of the public names."""
    entries = {each.name for each in PACKAGE.iterdir()} - {"__pycache__"}

    files = {"__init__.py", "__init__.pyi", "errors.py", "py.typed"}
    assert entries == files | LAYER_OF.keys() - {"errors"}


def test_modules_import_in_no_cycle():
    """Every module can be loaded before those that import it; late imports count too."""
    sorter = graphlib.TopologicalSorter({name: own_imports(name) for name in MODULES})

    try:
        sorter.prepare()
    except graphlib.CycleError as exc:
        pytest.fail(" -> ".join(exc.args[1]))


@pytest.mark.parametrize("library", ADAPTERS)
def test_only_its_adapters_import_a_library(library):
    """Only the modules that wrap a third-party library import it."""
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


STRATEGY_HELPERS = {"blocks", "judge", "judging", "protocol", "refusals", "run"}


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
    module = own_name(strategies()[name])
    allowed = STRATEGY_HELPERS | ({"registry"} if name == "cascade" else set())

    files = [
        file for each, file in MODULES.items() if each == module or each.startswith(f"{module}.")
    ]
    known = {own_name(each) for file in files for each in imports(file)}
    known = {each.removeprefix("strategies.") for each in known if each.startswith("strategies.")}
    known = {each for each in known if not f"strategies.{each}.".startswith(f"{module}.")}

    assert known <= allowed

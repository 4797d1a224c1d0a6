"""Finds changed files that control a test run, and restores the base's version of them.

The author of `conftest.py` can decide the verdict. The benchmark's tests patch may do so,
and is applied afterwards; an agent may not.
"""

import configparser
import json
import posixpath
import re
import shlex
import sys
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import PurePosixPath
from types import MappingProxyType

from cooperbench_eval.git.patching.path_kinds import PathKind, classify_path
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot


class ControlFiles(StrEnum):
    """What to do with changed files that control test runs."""

    RESTORE = "restore"
    """Run with the base's version of them."""
    KEEP = "keep"
    """Run with the changed files, and trust their authors."""


def put_back(
    base: Snapshot,
    changes: Changes,
    *,
    roots: Iterable[str] = (),
    words: Sequence[str] = (),
    tests: Iterable[str] = (),
    installed: Collection[str] = frozenset(),
) -> tuple[Changes, tuple[str, ...]]:
    """Return *changes* without the files that control a test run, and the removed paths, sorted.

    The removed files are:

    - the files that `classify_path` calls runner control;
    - files with other contents too (`pyproject.toml`, `package.json`, `Cargo.toml` …), if
      a part about tests is changed;
    - new modules, and links, that would be imported in place of a module of the standard
      library, of an *installed* package, of the *tests* of the suite's own patch or of a
      `conftest.py`;
    - files and links in place of one of *roots*, the folders of the tree that Python imports
      from, or of a folder above it: Python also imports from zip files;
    - scripts that the *words* of the suite's commands name, directly or through the scripts of
      `package.json`.
    """
    places = {PurePosixPath(posixpath.normpath(root)) for root in (".", *roots)}
    scripts = _scripts(base, words)
    brought = frozenset(tests)
    taken = tuple(
        path
        for path, entry in changes.items()
        if _controls_a_run(path, base.get(path), entry)
        or _replaces_a_root(path, entry, places)
        or _shadows(path, entry, base, places, installed)
        or (path in scripts and classify_path(path) is not PathKind.TESTS)
        or (path not in brought and _hides_a_test(path, entry, base, brought))
    )
    if not taken:
        return changes, ()
    return Changes({path: changes[path] for path in changes if path not in taken}), taken


def _scripts(base: Snapshot, words: Sequence[str]) -> set[str]:
    """Return the paths that *words* name, directly or through `package.json`."""
    named = list(words)
    if _PACKAGE_RUNNERS.intersection(words):
        entry = base.get("package.json")
        with suppress(ValueError, RecursionError, AttributeError):
            scripts = json.loads(_text(entry) or "{}").get("scripts", {})
            named += [word for line in scripts.values() for word in shlex.split(str(line))]
    return {str(PurePosixPath(word)) for word in named}


def _controls_a_run(path: str, before: Entry | None, after: Entry | None) -> bool:
    part = _PARTS.get(PurePosixPath(path).name)
    if part is None:
        return classify_path(path) is PathKind.RUNNER_CONTROL
    if after is not None and not after.mode.is_regular:
        return True
    try:
        return part(_text(before)) != part(_text(after))
    # A file that cannot be parsed may mean anything.
    except (ValueError, RecursionError, AttributeError, configparser.Error):
        return True


def _replaces_a_root(path: str, entry: Entry | None, roots: set[PurePosixPath]) -> bool:
    """Whether *path* is an import root, or a folder above one, that becomes something else.

    It may become an archive, or a link to a folder that was not searched for modules.
    """
    pure = PurePosixPath(path)
    return entry is not None and any(root.is_relative_to(pure) for root in roots)


def _may_be_a_module(path: PurePosixPath, entry: Entry | None) -> bool:
    # A link may lead to a module or to the folder of a package.
    is_link = entry is not None and entry.mode is FileMode.SYMLINK
    return is_link or path.suffix in _MODULE_SUFFIXES


def _hides_a_test(path: str, entry: Entry | None, base: Snapshot, brought: frozenset[str]) -> bool:
    """Whether *path* would be imported in place of a test file or of a `conftest.py`.

    Python prefers a package or an extension module to a file with the same name.
    """
    pure = PurePosixPath(path)
    if not _may_be_a_module(pure, entry):
        return False
    files = (str(each.with_name(f"{_module(each)}.py")) for each in (pure, *pure.parents[:-1]))
    return any(file != path and (file in brought or _is_test(file, base)) for file in files)


def _is_test(path: str, base: Snapshot) -> bool:
    kinds = {PathKind.TESTS, PathKind.RUNNER_CONTROL}
    return classify_path(path) in kinds and base.get(path) is not None


def _module(path: PurePosixPath) -> str:
    return path.name.partition(".")[0]


def _text(entry: Entry | None) -> str:
    return entry.data.decode() if entry is not None else ""


def _pyproject(text: str) -> object:
    data = tomllib.loads(text)
    tools = data.get("tool", {})
    plugins = (
        data.get("project", {}).get("entry-points", {}).get("pytest11"),
        tools.get("poetry", {}).get("plugins", {}).get("pytest11"),
    )
    return tools.get("pytest"), tools.get("coverage"), plugins


def _setup_cfg(text: str) -> object:
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    entry_points = parser.get("options.entry_points", "pytest11", fallback="")
    tools = {
        name: dict(parser[name])
        for name in parser.sections()
        if name in {"aliases", "pytest"} or name.startswith(("tool:", "coverage:"))
    }
    return tools, entry_points


def _package_json(text: str) -> object:
    data = json.loads(text or "{}")
    return [data.get(key) for key in _PACKAGE_KEYS]


def _cargo(text: str) -> object:
    data = tomllib.loads(text)
    package, library = data.get("package", {}), data.get("lib", {})
    return (
        [package.get(key) for key in ("build", "autotests", "links")],
        [library.get(key) for key in ("test", "harness", "doctest", "path")],
        [data.get(key) for key in ("test", "patch", "replace")],
    )


def _go_mod(text: str) -> object:
    # One on each line, or in brackets after the word.
    return re.findall(r"^module\b.*|.*=>.*", text, re.MULTILINE)


_PARTS: Mapping[str, Callable[[str], object]] = MappingProxyType(
    {
        "Cargo.toml": _cargo,
        "go.mod": _go_mod,
        "package.json": _package_json,
        "pyproject.toml": _pyproject,
        "setup.cfg": _setup_cfg,
    }
)

_PACKAGE_KEYS = (
    *("name", "scripts", "jest", "vitest", "mocha", "babel", "imports"),
    *("workspaces", "overrides", "resolutions", "pnpm"),
)
_PACKAGE_RUNNERS = frozenset({"npm", "npx", "pnpm", "yarn"})
_MODULE_SUFFIXES = frozenset({".py", ".pyc", ".so", ".pyd"})
_FRAMEWORKS = frozenset(
    {"pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "xmlrunner", "exceptiongroup"}
)


def _shadows(
    path: str,
    entry: Entry | None,
    base: Snapshot,
    roots: set[PurePosixPath],
    installed: Collection[str],
) -> bool:
    """Whether *path* belongs to a new module that hides a standard or installed module."""
    pure = PurePosixPath(path)
    if not _may_be_a_module(pure, entry):
        return False
    modules = (
        (root, _module(PurePosixPath(pure.relative_to(root).parts[0])))
        for root in roots
        if pure != root and pure.is_relative_to(root)
    )
    return any(
        any(name in needed for needed in (sys.stdlib_module_names, _FRAMEWORKS, installed))
        and not _has_module(base, root, name)
        for root, name in modules
    )


def _has_module(base: Snapshot, root: PurePosixPath, name: str) -> bool:
    module = str(root / name)
    return any(base.get(file) for file in (f"{module}.py", f"{module}/__init__.py"))

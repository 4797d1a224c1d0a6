"""Finds the file that an import means."""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from posixpath import normpath

from cooperbench_eval.languages.hazards.project import File, Project
from cooperbench_eval.languages.model import Import
from cooperbench_eval.languages.readers.grammars import Grammar

__all__ = ["imported_units"]


def imported_units(
    found: Import, rest: Sequence[str], file: File, project: Project
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the units that an imported name with its attributes may lead to.

    Args:
        found: The import.
        rest: The attributes after the name.
        file: The file with the import.
        project: The files that the merge touches; others are not found.

    Yields:
        The unit, and what is looked up in it.
    """
    match file.language.grammar:
        case None:
            yield from _python(found, rest, file, project)
        case Grammar.GO:
            folder = _go_folder(found.module, project)
            for unit in project.units if folder is not None else ():
                start, _, package = unit.rpartition(":")
                if start == folder and not package.endswith("_test"):
                    yield unit, rest
        case Grammar.RUST:
            parts = [*found.module.split("::"), *filter(None, [found.attribute]), *rest]
            for size in range(1, len(parts) + 1):
                if unit := _rust_file(parts[:size], file.path, project):
                    yield unit, parts[size:]
        case _:
            if unit := _script_file(found.module, file.path, project):
                yield unit, [*filter(None, [found.attribute]), *rest]


def _python(
    found: Import, rest: Sequence[str], file: File, project: Project
) -> Iterator[tuple[str, Sequence[str]]]:
    module = found.module
    if found.attribute:
        if unit := _python_file(module, file.path, project):
            yield unit, [found.attribute, *rest]
        module += found.attribute if module.endswith(".") else f".{found.attribute}"
    for size in range(len(rest) + 1):
        if unit := _python_file(".".join([module, *rest[:size]]), file.path, project):
            yield unit, rest[size:]


def _python_file(module: str, importer: str, project: Project) -> str:
    """Return the file of a module; dots in front of its name make it relative."""
    name = module.lstrip(".")
    level = len(module) - len(name)
    parts = tuple(name.split(".")) if name else ()
    folders = PurePosixPath(importer).parent.parts
    if level:
        if level - 1 > len(folders):
            return ""
        return project.modules.get((*folders[: len(folders) - level + 1], *parts), "")
    for root in _roots(folders):
        if (path := project.modules.get((*root, *parts))) and _is_root(root, parts[0], project):
            return path
    return ""


def _roots(folders: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the folders in which Python may look for absolute imports."""
    yield ()
    yield ("src",)
    yield ("lib",)
    for size in range(len(folders), 0, -1):
        yield folders[:size]


def _is_root(root: tuple[str, ...], first: str, project: Project) -> bool:
    if not root:
        return True
    if first in sys.stdlib_module_names and root[0] not in {"src", "lib"}:
        return False
    return project.merged.tree.get("/".join([*root, "__init__.py"])) is None


def _script_file(module: str, importer: str, project: Project) -> str:
    """Return the file of JavaScript or TypeScript that a relative path means."""
    if not module.startswith("."):
        return ""
    path = normpath(f"{PurePosixPath(importer).parent}/{module}")
    stem = re.sub(r"\.[cm]?jsx?$", "", path)
    names = [
        path,
        *(f"{start}{suffix}" for start in (path, stem, f"{path}/index") for suffix in _SUFFIXES),
    ]
    return next((name for name in names if name in project.files), "")


_SUFFIXES = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")


def _go_folder(module: str, project: Project) -> str | None:
    """Return the folder of a package; `None` if it is not of the tree's own module."""
    found = project.merged.tree.get("go.mod")
    name = re.search(rb"(?m)^module\s+(\S+)", found.data) if found else None
    if name is None:
        return None
    root = name[1].decode("utf-8", "replace")
    if module != root and not module.startswith(f"{root}/"):
        return None
    return module.removeprefix(root).lstrip("/") or "."


def _rust_file(parts: Sequence[str], importer: str, project: Project) -> str:
    """Return the file of a module of the importer's crate."""
    path = PurePosixPath(importer)
    if "src" not in path.parts:
        return ""
    start = len(path.parts) - path.parts[::-1].index("src")
    root, inner = path.parts[:start], list(path.parts[start:-1])
    if path.stem not in {"mod", "lib", "main"}:
        inner.append(path.stem)
    names = list(parts)
    if names[0] == "crate":
        inner = []
    elif names[0] == "super":
        inner = inner[:-1]
    elif names[0] != "self":
        return ""
    there = "/".join([*root, *inner, *names[1:]])
    candidates = [f"{there}.rs", f"{there}/mod.rs", f"{there}/lib.rs", f"{there}/main.rs"]
    return next((name for name in candidates if name in project.files), "")

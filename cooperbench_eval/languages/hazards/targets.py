"""Finds which definition a use of a name refers to."""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from posixpath import normpath

from attrs import frozen

from cooperbench_eval.languages.hazards.project import Project, TouchedFile
from cooperbench_eval.languages.hazards.versions import MERGED
from cooperbench_eval.languages.model import Import, Use
from cooperbench_eval.languages.readers.grammars import Grammar

_RUST_ROOTS = frozenset({"crate", "self", "super"})


@frozen(kw_only=True)
class Target:
    """A name that a use may refer to.

    Attributes:
        unit: The unit that defines it; empty if it is a method of an unknown class.
        name: The name there; empty if the unit itself is meant.
        is_whole: Whether the use ends with this name, so that its arguments go to it.
        has_instance: Whether it is called on an instance, which fills its first parameter.
    """

    unit: str = ""
    name: str
    is_whole: bool = True
    has_instance: bool = False


def targets(use: Use, file: TouchedFile, project: Project) -> Iterator[Target]:
    """Yield what a use may refer to, among the files that the merge touches."""
    first, *rest = use.chain
    source = file.sources[MERGED]
    if use.owner:
        yield from _member(file.unit, use.owner, rest, has_instance=use.is_instance)
        for each in source.imported.get(use.owner, ()) if source else ():
            yield from _imported(each, rest, file, project, has_instance=use.is_instance)
        known = len(rest) == 1
    elif use.via:
        yield from _imported(use.via, rest, file, project)
        known = True
    elif not first or source is None:
        known = False
    else:
        imports = source.imported.get(first, [])
        if first in _RUST_ROOTS and file.grammar is Grammar.RUST:
            imports = [Import(name=first, module=first, line=use.line)]
        for each in imports:
            yield from _imported(each, rest, file, project)
        if not imports or first in source.by_name:
            yield Target(unit=file.unit, name=first, is_whole=not rest)
            yield from _member(file.unit, first, rest)
        known = bool(imports) or any(each.is_class for each in source.by_name.get(first, ()))
    # In Java, libraries have many methods with the same names.
    if not known and rest and file.grammar is not Grammar.JAVA:
        yield Target(name=rest[-1], has_instance=True)


def _member(
    unit: str, owner: str, rest: Sequence[str], *, has_instance: bool = False
) -> Iterator[Target]:
    if rest:
        name, whole = f"{owner}.{rest[0]}", len(rest) == 1
        yield Target(unit=unit, name=name, is_whole=whole, has_instance=has_instance)


def _imported(
    found: Import,
    rest: Sequence[str],
    file: TouchedFile,
    project: Project,
    *,
    has_instance: bool = False,
) -> Iterator[Target]:
    """Yield what attributes of an imported name refer to."""
    for unit, names in _units(found, rest, file, project):
        yield Target(unit=unit, name=names[0] if names else "", is_whole=len(names) <= 1)
        if names:
            yield from _member(unit, names[0], names[1:], has_instance=has_instance)


def _units(
    found: Import, rest: Sequence[str], file: TouchedFile, project: Project
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the units that an imported name may lead to, and what is looked up in each."""
    match file.grammar:
        case Grammar.PYTHON:
            yield from _python(found, rest, file, project)
        case Grammar.GO:
            yield from ((unit, rest) for unit in _go(found, project))
        case Grammar.JAVA:
            yield from _java(found, rest, project)
        case Grammar.RUST:
            parts = [*found.module.split("::"), *filter(None, [found.attribute]), *rest]
            for size in range(1, len(parts) + 1):
                if unit := _rust_file(parts[:size], file.path, project):
                    yield unit, parts[size:]
        case _:
            if unit := _script_file(found.module, file.path, project):
                yield unit, [*filter(None, [found.attribute]), *rest]


def _go(found: Import, project: Project) -> Iterator[str]:
    """Yield the units of a package."""
    folder = _go_folder(found.module, project)
    for unit in project.units if folder is not None else ():
        start, _, package = unit.rpartition(":")
        if start == folder and not package.endswith("_test"):
            yield unit


def _java(
    found: Import, rest: Sequence[str], project: Project
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the package of a class, or of a member of a class."""
    parts = [*found.module.split("."), found.attribute]
    for size in range(len(parts) - 1, 0, -1):
        if (unit := ".".join(parts[:size])) in project.units:
            yield unit, [*parts[size:], *rest]


def _python(
    found: Import, rest: Sequence[str], file: TouchedFile, project: Project
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
    """Return the file of a module; leading dots make its name relative."""
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
    """Return the JavaScript or TypeScript file that a relative path refers to."""
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

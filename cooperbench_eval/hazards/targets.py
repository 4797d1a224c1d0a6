"""Finds which definition a use refers to."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from attrs import frozen

from cooperbench_eval.hazards.project import File, Project
from cooperbench_eval.hazards.records import Import, Use
from cooperbench_eval.hazards.versions import Version

__all__ = ["Target", "targets"]


@frozen(kw_only=True)
class Target:
    """A name that a use may refer to.

    Attributes:
        unit: The unit that defines it; empty if it is a method of an unknown class.
        name: The name there; empty if the unit itself is meant.
        is_whole: Whether the use ends with this name, so that its arguments are those of a
            call of it.
        has_instance: Whether it is called on an instance, which fills its first parameter.
    """

    unit: str = ""
    name: str
    is_whole: bool = True
    has_instance: bool = False


def targets(use: Use, file: File, project: Project) -> Iterator[Target]:
    """Yield what a use may refer to, among the files that the merge touches."""
    first, *rest = use.chain
    source = file.sources[Version.MERGED]
    if use.owner:
        yield from _member(file.unit, use.owner, rest, has_instance=use.is_instance)
        known = len(rest) == 1
    elif use.via:
        yield from _imported(use.via, rest, file, project)
        known = True
    elif not first or source is None:
        known = False
    else:
        imports = source.imported.get(first, [])
        for each in imports:
            yield from _imported(each, rest, file, project)
        if not imports or first in source.by_name:
            yield Target(unit=file.unit, name=first, is_whole=not rest)
            yield from _member(file.unit, first, rest)
        known = bool(imports) or any(each.is_class for each in source.by_name.get(first, ()))
    if not known and rest:
        yield Target(name=rest[-1], has_instance=True)


def _member(
    unit: str, owner: str, rest: Sequence[str], *, has_instance: bool = False
) -> Iterator[Target]:
    if rest:
        name, whole = f"{owner}.{rest[0]}", len(rest) == 1
        yield Target(unit=unit, name=name, is_whole=whole, has_instance=has_instance)


def _imported(found: Import, rest: Sequence[str], file: File, project: Project) -> Iterator[Target]:
    """Yield what attributes of an imported name refer to."""
    module = found.module
    if found.attribute:
        if unit := find_module(module, file.path, project):
            yield Target(unit=unit, name=found.attribute, is_whole=not rest)
            yield from _member(unit, found.attribute, rest)
        module += found.attribute if module.endswith(".") else f".{found.attribute}"
    for i in range(len(rest) + 1):
        if unit := find_module(".".join([module, *rest[:i]]), file.path, project):
            name = rest[i] if i < len(rest) else ""
            yield Target(unit=unit, name=name, is_whole=i + 1 >= len(rest))
            yield from _member(unit, name, rest[i + 1 :])


def find_module(module: str, importer: str, project: Project) -> str:
    """Return the touched file that a module's name stands for; empty if there is none.

    Args:
        module: The name; dots in front make it relative to the importer.
        importer: The path of the file with the import.
        project: The touched files.
    """
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

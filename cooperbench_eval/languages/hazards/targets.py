"""Finds which definition a use refers to."""

from collections.abc import Iterator, Sequence

from attrs import frozen

from cooperbench_eval.languages.hazards.modules import imported_units
from cooperbench_eval.languages.hazards.project import File, Project
from cooperbench_eval.languages.hazards.versions import Version
from cooperbench_eval.languages.model import Import, Use
from cooperbench_eval.languages.readers.grammars import Grammar

__all__ = ["Target", "targets"]

_RUST_ROOTS = frozenset({"crate", "self", "super"})


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
        if first in _RUST_ROOTS and file.language.grammar is Grammar.RUST:
            imports = [Import(name=first, module=first, line=use.line)]
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
    for unit, names in imported_units(found, rest, file, project):
        yield Target(unit=unit, name=names[0] if names else "", is_whole=len(names) <= 1)
        if names:
            yield from _member(unit, names[0], names[1:])

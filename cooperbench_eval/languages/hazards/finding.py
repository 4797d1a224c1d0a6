"""Finds the hazards of a merged tree."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.languages.data import DataFormat, find_format
from cooperbench_eval.languages.faults.faults import show_syntax_fault
from cooperbench_eval.languages.files import SyntaxFault, find_syntax_fault
from cooperbench_eval.languages.hazards.broken_uses import (
    names_removed,
    names_unbound,
    signatures_changed,
)
from cooperbench_eval.languages.hazards.kinds import Hazard, HazardKind
from cooperbench_eval.languages.hazards.migrations import migrations_split
from cooperbench_eval.languages.hazards.numbers import numbers_shared
from cooperbench_eval.languages.hazards.packages import versions_shared
from cooperbench_eval.languages.hazards.project import Project
from cooperbench_eval.languages.hazards.repeated import declared_twice, keys_repeated
from cooperbench_eval.languages.hazards.versions import Merged

_MOST = 100


def find_hazards(
    base: Snapshot, sides: Mapping[int, Changes], merged: Changes
) -> tuple[Hazard, ...]:
    """Find what looks wrong in a merged tree that has no open conflict.

    Hardly any files are read except those that the changes touch. No contents of a file
    make it raise.

    Args:
        base: The tree from which all sides start.
        sides: The changes of each feature alone, by its number.
        merged: The changes of the merge.

    Returns:
        The hazards by path and line, without duplicates, at most 100.

    Raises:
        RepositoryError: The base lists a file, but its contents are absent.
    """
    tree = Merged.of(base, sides, merged)
    found = set[Hazard]()
    for find in (files_broken, migrations_split, numbers_shared, versions_shared):
        found.update(find(tree))
    project = Project.of(tree)
    found.update(find_misfits(project))
    known = {(each.path, each.name) for each in found}
    found.update(each for each in names_unbound(project) if (each.path, each.name) not in known)
    in_order = sorted(
        found, key=lambda each: (each.path, each.line or 0, each.kind, each.name, each.message)
    )
    return tuple(in_order[:_MOST])


def find_misfits(project: Project) -> Iterator[Hazard]:
    """Yield hazards for definitions and uses that do not fit together, also across files."""
    for look in (declared_twice, names_removed, signatures_changed):
        yield from look(project)


def files_broken(merged: Merged) -> Iterator[Hazard]:
    """Yield hazards for each file that repeats keys or does not parse only after the merge."""
    for file in merged.files.values():
        fault = _fault(file.path, file.merged) if file.is_mixed and file.merged else None
        if fault is None:
            continue
        keys = [*keys_repeated(file, merged)]
        yield from keys
        is_list = find_format(file.path, file.merged or b"") in _LISTS
        if not (keys or is_list) and not any(_fault(file.path, each) for each in file.before):
            yield Hazard(
                kind=HazardKind.PARSE_ERROR,
                path=file.path,
                line=fault.line,
                message=f"{file.path} parses {merged.with_each}, but not {merged.with_all}: "
                f"{show_syntax_fault(fault)}",
                features=merged.features_in([file.path]),
            )


_LISTS = frozenset({DataFormat.CHECKSUMS, DataFormat.REQUIREMENTS})
"""Formats in which any line is valid, and a line may be repeated."""


@lru_cache(maxsize=256)
def _fault(path: str, text: bytes) -> SyntaxFault | None:
    return find_syntax_fault(path, text)

"""Finds the hazards of a merged tree."""

from collections.abc import Iterator
from functools import lru_cache

from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.languages.files import SyntaxFault, find_syntax_fault
from cooperbench_eval.languages.hazards.broken_uses import (
    names_removed,
    names_unbound,
    signatures_changed,
)
from cooperbench_eval.languages.hazards.kinds import Hazard, HazardKind
from cooperbench_eval.languages.hazards.project import Project
from cooperbench_eval.languages.hazards.twice import declared_twice
from cooperbench_eval.languages.hazards.versions import FileVersions, Merged

__all__ = ["find_hazards"]


_MOST = 100


def find_hazards(
    base: Snapshot,
    ours: Changes,
    theirs: Changes,
    merged: Changes,
    *,
    ours_feature: int,
    theirs_feature: int,
) -> tuple[Hazard, ...]:
    """Find what looks wrong in a merged tree that has no open conflict.

    Only the files that one of the three changes touches are read. The result depends only on
    their contents, and it never raises because of them.

    Args:
        base: The tree from which both sides start.
        ours: The changes of the side that theirs was merged into.
        theirs: The changes of the other side.
        merged: The changes of the merge.
        ours_feature: The number of ours' feature, for the messages.
        theirs_feature: The number of theirs' feature.

    Returns:
        The hazards by path and line, without duplicates, at most 100.

    Raises:
        RepositoryError: The base lists a file, but its contents are absent.
    """
    tree = Merged.of(base, (ours, theirs), merged, (ours_feature, theirs_feature))
    found = set(parse_errors(tree))
    project = Project.of(tree)
    for find in (declared_twice, names_removed, signatures_changed):
        found.update(find(project))
    known = {(each.path, each.name) for each in found}
    found.update(each for each in names_unbound(project) if (each.path, each.name) not in known)
    return tuple(sorted(found, key=_order)[:_MOST])


def _order(hazard: Hazard) -> tuple[str, int, str, str, str]:
    return hazard.path, hazard.line or 0, hazard.kind, hazard.name, hazard.message


def parse_errors(merged: Merged) -> Iterator[Hazard]:
    """Yield a hazard for each file that parses in every version but the merged one."""
    first, second = merged.numbers
    for file in merged.files.values():
        if fault := _new_fault(file):
            yield Hazard(
                kind=HazardKind.PARSE_ERROR,
                path=file.path,
                line=fault.line,
                message=f"{file.path} parses with feature {first} alone and with feature "
                f"{second} alone, but not with both: {_problem(fault)}",
                features=(first, second),
            )


def _problem(fault: SyntaxFault) -> str:
    """Return the problem with its line, but without the name that the compiler was given."""
    problem = fault.problem.removesuffix(f" (<merged>, line {fault.line})")
    return problem if fault.line is None or "line" in problem else f"{problem}, line {fault.line}"


def _new_fault(file: FileVersions) -> SyntaxFault | None:
    if file.merged is None or file.merged in file.before:
        return None
    fault = _fault(file.path, file.merged)
    return None if fault and any(_fault(file.path, each) for each in file.before) else fault


_fault = lru_cache(maxsize=256)(find_syntax_fault)

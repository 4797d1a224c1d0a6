"""Finds the hazards of a merged tree."""

from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.languages.hazards.kinds import Hazard
from cooperbench_eval.languages.hazards.parsing import parse_errors
from cooperbench_eval.languages.hazards.project import Project
from cooperbench_eval.languages.hazards.removed import names_removed
from cooperbench_eval.languages.hazards.signatures import signatures_changed
from cooperbench_eval.languages.hazards.twice import declared_twice
from cooperbench_eval.languages.hazards.unbound import names_unbound
from cooperbench_eval.languages.hazards.versions import Merged

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

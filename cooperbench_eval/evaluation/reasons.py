"""Says why a merge leaves a feature out, for queues and for plans."""

from collections.abc import Callable, Collection, Iterable

from cooperbench_eval.evaluation.sides import Side
from cooperbench_eval.reporting.landings import LeftOut, LeftOutReason

__all__ = ["not_merged"]


def not_merged(
    number: int,
    landed: Iterable[Side],
    *,
    files: Collection[str],
    failure: str,
    files_with: Callable[[int], Collection[str]],
    otherwise: Iterable[int],
    is_unreadable: bool = False,
) -> LeftOut:
    """Return why a feature is left out that does not merge into the landed ones together.

    It conflicts with each of them with which it conflicts separately too, because of the same
    files. If there is none, it conflicts with those that change the files.

    Args:
        number: The feature.
        landed: The landed features, each without the others.
        files: The files in which conflicts are left open.
        failure: Why the strategy failed, or what it needs cannot be read; empty if neither.
        files_with: Returns the files in which the feature conflicts with one landed feature.
        otherwise: With which features it conflicts if this cannot be told from the files.
        is_unreadable: Whether what the merge needs cannot be read.
    """
    if failure:
        return LeftOut(
            number=number,
            reason=LeftOutReason.MISSING_INPUT if is_unreadable else LeftOutReason.STRATEGY_FAILED,
            features=otherwise,
            problem=failure,
        )
    changes = {each.numbers[0]: each.changes for each in landed}
    found = [other for other in changes if not set(files).isdisjoint(files_with(other))]
    found = found or [other for other in changes if not set(files).isdisjoint(changes[other])]
    return LeftOut(
        number=number,
        reason=LeftOutReason.CONFLICT,
        features=found or otherwise,
        files=sorted(files),
    )

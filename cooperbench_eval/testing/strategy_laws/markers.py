"""The law of conflict markers."""

import re
from typing import Final

from cooperbench_eval.models import Conflict
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome
from cooperbench_eval.testing.cases import MergeCase, has_line_conflicts
from cooperbench_eval.testing.outcomes import broken
from cooperbench_eval.testing.strategy_laws.law import StrategyLaw
from cooperbench_eval.testing.strategy_trial import StrategyTrial

__all__ = ["LAWS"]

_MARKER_LINE = re.compile(rb"^(?:<{7}|>{7})(?: |\r?$)", re.MULTILINE)


def _marks_open_conflicts_alone(trial: StrategyTrial, case: MergeCase) -> None:
    given = case.fresh_input()
    outcome = trial.merge(case, given)
    wanted = _unmarked(given, outcome) or _marked_without_conflict(case, given, outcome)
    if wanted:
        raise broken(case, came=outcome, wanted=wanted)


def _unmarked(given: MergeInput, outcome: MergeOutcome) -> str:
    """Say which conflict is said to be open and does not show; nothing if all is right."""
    known = [_identity(conflict) for conflict in given.conflicts if not conflict.has_lines]
    for conflict in outcome.conflicts:
        path, entry = conflict.path, outcome.changes.get(conflict.path)
        if not conflict.has_lines:
            if _identity(conflict) not in known:
                wanted = f"no conflict of kind {conflict.kind.value} at {path!r}: "
                return wanted + "the three-way merge has none"
        elif entry is None or not _stands_in(entry.data, conflict):
            wanted = f"{path!r} with markers around both sides in line {conflict.line}"
            return f"{wanted}, for that conflict is open"
    return ""


def _marked_without_conflict(case: MergeCase, given: MergeInput, outcome: MergeOutcome) -> str:
    """Say which file has other markers than its open conflicts'; nothing if none has."""
    stages = {stage.path for stage in given.merge.stages}
    for path, entry in outcome.changes.items():
        texts = [version.get(path) for version in (case.base, case.ours, case.theirs)]
        if any(text and _MARKER_LINE.search(text.data) for text in texts):
            continue  # markers of its own
        left = [c for c in outcome.conflicts if c.path == path and c.has_lines]
        marks = len(_MARKER_LINE.findall(entry.data)) if entry and entry.mode.is_regular else 0
        is_renamed = path in stages and not has_line_conflicts(given, path)
        if marks != 2 * len(left) and not is_renamed:
            return f"{path!r} with markers for {len(left)} open conflicts alone"
    return ""


def _identity(conflict: Conflict) -> tuple[object, ...]:
    return conflict.path, conflict.kind, conflict.base, conflict.ours, conflict.theirs


def _stands_in(data: bytes, conflict: Conflict) -> bool:
    """Whether git's rendering of *conflict* stands in the line that it names."""
    lines = data.split(b"\n")[(conflict.line or 1) - 1 :]
    ours, theirs = (_lines(side or b"") for side in (conflict.ours, conflict.theirs))
    middle, end = 1 + len(ours), 2 + len(ours) + len(theirs)
    if len(lines) <= end or (conflict.line or 0) < 1:
        return False
    marks = zip((b"<", b"=", b">"), (lines[0], lines[middle], lines[end]), strict=True)
    if not all(line.startswith(7 * mark) for mark, line in marks):
        return False
    shown = [*lines[1:middle], *lines[middle + 1 : end]]
    return [line.removesuffix(b"\r") for line in shown] == [
        line.removesuffix(b"\r") for line in (*ours, *theirs)
    ]


def _lines(text: bytes) -> list[bytes]:
    return text.removesuffix(b"\n").split(b"\n") if text else []


LAWS: Final[tuple[StrategyLaw, ...]] = (
    StrategyLaw(
        name="markers",
        asks="Conflict markers stand around what it left open, and nowhere else.",
        check=_marks_open_conflicts_alone,
    ),
)

"""Measures conflicts."""

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter

from attrs import field, frozen, validators

from cooperbench_eval.models import Conflict, ConflictDetails, FileConflicts, Severity

__all__ = ["ConflictScorer"]

# Upper bounds, inclusive, of the severities below CRITICAL.
_SEVERITIES = (
    (0, Severity.NONE),
    (20, Severity.LOW),
    (50, Severity.MEDIUM),
    (100, Severity.HIGH),
)


@frozen(kw_only=True)
class ConflictScorer:
    r"""Measures how far two sides are from agreeing.

    `conflict_score = sections * per_section + lines * per_line`, the formula of
    CooperBench's evaluation page with its weights as defaults.

    Attributes:
        per_section: Cost of each conflict region, however small, and of each
            conflict that has no lines of its own.
        per_line: Cost of each line between the markers, on either side.

    Example:
        >>> clash = Conflict(path="app.py", base=b"", ours=b"a = 1\n", theirs=b"a = 2\n", line=1)
        >>> ConflictScorer().score([clash]).conflict_score
        24
    """

    per_section: int = field(default=20, validator=validators.ge(0))
    per_line: int = field(default=2, validator=validators.ge(0))

    def score(self, conflicts: Iterable[Conflict]) -> ConflictDetails:
        """Measure *conflicts*, such as the ones a merge left open.

        No conflict scores 0; adding one never lowers the score. Test results
        do not matter.
        """
        by_path = sorted(conflicts, key=attrgetter("path"))
        files = tuple(
            self._file(path, tuple(group)) for path, group in groupby(by_path, attrgetter("path"))
        )
        score = sum(file.score for file in files)
        return ConflictDetails(
            conflict_sections=sum(file.sections for file in files),
            conflict_lines=sum(file.lines for file in files),
            conflict_score=score,
            severity=_severity(score),
            files=files,
        )

    def _file(self, path: str, conflicts: tuple[Conflict, ...]) -> FileConflicts:
        sections = len(conflicts)
        lines = sum(
            _count_lines(side)
            for conflict in conflicts
            if conflict.has_lines
            for side in (conflict.ours, conflict.theirs)
        )
        score = sections * self.per_section + lines * self.per_line
        return FileConflicts(path=path, sections=sections, lines=lines, score=score)


def _count_lines(text: bytes | None) -> int:
    """Count lines; a last one without newline counts."""
    if not text:
        return 0
    return text.count(b"\n") + (not text.endswith(b"\n"))


def _severity(score: int) -> Severity:
    for bound, severity in _SEVERITIES:
        if score <= bound:
            return severity
    return Severity.CRITICAL

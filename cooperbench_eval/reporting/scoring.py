"""Measures conflicts by their sections and lines."""

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter

from attrs import field, frozen, validators

from cooperbench_eval.git.merging.conflicts import (
    Conflict,
    ConflictDetails,
    FileConflicts,
    Severity,
)
from cooperbench_eval.support.arguments import checked, checked_fields

# Upper bounds, inclusive, of the severities below CRITICAL.
_SEVERITIES = (
    (0, Severity.NONE),
    (20, Severity.LOW),
    (50, Severity.MEDIUM),
    (100, Severity.HIGH),
)


@frozen(kw_only=True, field_transformer=checked_fields)
class ConflictScorer:
    r"""Measures the size of the conflicts between two sides.

    The score is `sections * per_section + lines * per_line`. The formula and the default
    weights are those of CooperBench's evaluation page.

    Attributes:
        per_section: The cost of each conflict region, and of each conflict without lines.
        per_line: The cost of each line between the markers, on either side.

    Example:
        >>> clash = Conflict(path="app.py", base=b"", ours=b"a = 1\n", theirs=b"a = 2\n", line=1)
        >>> ConflictScorer().score([clash]).conflict_score
        24
    """

    per_section: int = field(default=20, validator=validators.ge(0))
    per_line: int = field(default=2, validator=validators.ge(0))

    @checked
    def score(self, conflicts: Iterable[Conflict]) -> ConflictDetails:
        """Measure *conflicts*, such as those that a merge left open.

        Without conflicts, the score is 0. Another conflict never lowers it. Test results
        do not affect it.
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
    """Count lines, including a last one without a newline."""
    if not text:
        return 0
    return text.count(b"\n") + (not text.endswith(b"\n"))


def _severity(score: int) -> Severity:
    for bound, severity in _SEVERITIES:
        if score <= bound:
            return severity
    return Severity.CRITICAL

"""What stands in the places of a file's conflicts in another merge of it.

To find a conflict's answer in a resolved file is known as localizing a resolution
(DeepMerge, arXiv 2105.07569). Here the settled text around conflicts finds it: where
the other merge has all of that, what stands between is in the conflicts' places. Text
between two conflicts that may stand at several places tells nothing; the two are then
told as one.

Where settled text is changed, *anchors* part the file: lines of the base that both
merges keep outside of conflicts, as the stable chunks of a three-way merge are. Each
window between two anchors is told for itself, and none of it is exact: two diffs of a
file that repeats itself may keep different ones of equal lines. Where settled text is
changed within a window as well, its conflicts are told as one, with all that differs
around them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise, takewhile
from operator import eq

from attrs import evolve, frozen

from cooperbench_eval.patching import FileChange, FilePatch
from cooperbench_eval.reporting.resolutions.blocks import Block
from cooperbench_eval.reporting.resolutions.occurrences import find_in_order, lines_of
from cooperbench_eval.reporting.resolutions.partial import Chunk, PartialBase, PartialText
from cooperbench_eval.reporting.resolutions.records import UndeterminedError

__all__ = ["Place", "find_places"]


@frozen(kw_only=True)
class Place:
    """What stands in the place of a conflict, or of several.

    Attributes:
        text: The text; `None` if it holds lines that no diff shows.
        blocks: Which conflicts it stands for.
        lines_before: Settled lines before them that it stands for as well.
        lines_after: Settled lines behind them, likewise.
        is_as_before: Whether it is the one conflict between its markers, unchanged.
        is_exact: Whether all settled lines of the file are known to stand as they were.
    """

    text: bytes | None
    blocks: range
    lines_before: int = 0
    lines_after: int = 0
    is_as_before: bool = False
    is_exact: bool = True


def find_places(
    blocks: Sequence[Block], before: Sequence[FilePatch], after: Sequence[FilePatch]
) -> list[Place | None]:
    """Say for each of *blocks* what stands in its place, `None` where the file is gone.

    Args:
        blocks: The conflicts of the file, in order.
        before: What the diff with the conflicts says of the file.
        after: What the other diff says of it; nothing if it leaves it as the base has it.

    Raises:
        UndeterminedError: The diffs do not say it.
    """
    if not blocks:
        return []
    if _is_gone(before, after):
        return [None] * len(blocks)
    base = PartialBase()
    edits = base.read_edits(before[-1])
    other_edits = base.read_edits(after[-1]) if after else []
    base.note_conflicts(blocks, edits)
    chunks = base.cut([*edits, *other_edits])
    naive, other = PartialText.of(chunks, edits), PartialText.of(chunks, other_edits)
    spans = [naive.span_of(block) for block in blocks]
    if any(one.stop > two.start for one, two in pairwise(spans)):
        raise UndeterminedError("the conflicts overlap")
    gaps = {chunk.text: chunk.count for chunk in chunks if chunk.is_gap}
    placer = _Placer(naive.text, other.text, spans, _anchors(chunks, naive, other, spans), gaps)
    return [place for place in placer.places() for _ in place.blocks]


def _is_gone(before: Sequence[FilePatch], after: Sequence[FilePatch]) -> bool:
    """Whether the other merge does not have the file."""
    if not before or before[-1].change is FileChange.DELETE:
        raise UndeterminedError("the naive merge's diff does not have the file")
    is_new = before[-1].change is FileChange.ADD
    if after:
        if after[-1].change is FileChange.DELETE:
            return True
        if is_new != any(file.change is FileChange.ADD for file in after):
            raise UndeterminedError("the two diffs do not start from the same file")
        return False
    if before[0].change is FileChange.DELETE:
        raise UndeterminedError("the base's entry stands there, which is of another type")
    return is_new


@frozen
class _Window:
    """A part of the file with the conflicts, and the part of the other one in its place."""

    naive: slice
    other: slice


def _anchors(
    chunks: Iterable[Chunk], naive: PartialText, other: PartialText, spans: Sequence[slice]
) -> list[_Window]:
    """List what both files have of the base, outside of conflicts, between their ends."""
    starts = [span.start for span in spans]
    anchors = [_Window(slice(0, 0), slice(0, 0))]
    for chunk in chunks:
        one, two = naive.chunks.get(chunk.start), other.chunks.get(chunk.start)
        if one is not None and two is not None:
            span = bisect_right(starts, one) - 1
            if span < 0 or spans[span].stop <= one:
                size = len(chunk.text)
                anchors.append(_Window(slice(one, one + size), slice(two, two + size)))
    ends = len(naive.text), len(other.text)
    return [*anchors, _Window(slice(ends[0], ends[0]), slice(ends[1], ends[1]))]


class _Placer:
    """The search for what stands in the places of conflicts.

    Args:
        naive: The file with the conflicts.
        other: The file without them.
        spans: Where the conflicts stand in the first one.
        anchors: What both files have of the base, in order, between their ends.
        gaps: What stands for lines that no diff shows, with how many these are.
    """

    def __init__(
        self,
        naive: str,
        other: str,
        spans: Sequence[slice],
        anchors: Sequence[_Window],
        gaps: Mapping[str, int],
    ) -> None:
        self._naive = naive
        self._other = other
        self._spans = spans
        self._anchors = anchors
        self._gaps = gaps

    def places(self) -> Iterator[Place]:
        """Yield the places in order, each conflict in one of them."""
        every = range(len(self._spans))
        whole = _Window(slice(0, len(self._naive)), slice(0, len(self._other)))
        if (found := self._between(every, whole)) is not None:
            yield from found
            return
        for window, numbers in groupby(every, self._window_of):
            inside = list(numbers)
            blocks = every[inside[0] : inside[-1] + 1]
            for place in self._between(blocks, window) or [self._in_one(blocks, window)]:
                yield evolve(place, is_exact=False)

    def _window_of(self, block: int) -> _Window:
        """Return what stands between the anchors around a conflict."""
        end = self._spans[block].stop
        behind = bisect_left(self._anchors, end, key=lambda anchor: anchor.naive.start)
        one, two = self._anchors[behind - 1], self._anchors[behind]
        return _Window(
            slice(one.naive.stop, two.naive.start), slice(one.other.stop, two.other.start)
        )

    def _settled(self, blocks: range, window: _Window) -> list[str]:
        """Return what stands before, between and behind conflicts."""
        spans = [self._spans[block] for block in blocks]
        starts = [window.naive.start, *(span.stop for span in spans)]
        ends = [*(span.start for span in spans), window.naive.stop]
        return [self._naive[start:end] for start, end in zip(starts, ends, strict=True)]

    def _between(self, blocks: range, window: _Window) -> list[Place] | None:
        """Tell conflicts by what stands settled around them; `None` if that is changed."""
        lead, *between, tail = self._settled(blocks, window)
        text = self._other[window.other]
        if not (text.startswith(lead) and text.endswith(tail, len(lead))):
            return None
        text = text[len(lead) : len(text) - len(tail)]
        fixed = find_in_order(between, text, self._gaps)
        if fixed is None:
            return None
        found = []
        first = start = 0
        for i, (settled, at) in enumerate(zip([*between, ""], [*fixed, len(text)], strict=True)):
            if at is not None:
                found.append(self._place(blocks[first : i + 1], text[start:at]))
                first, start = i + 1, at + len(settled)
        return found

    def _in_one(self, blocks: range, window: _Window) -> Place:
        """Tell conflicts in one piece, with what is changed around them."""
        settled = self._settled(blocks, window)
        lead, tail = lines_of(settled[0]), lines_of(settled[-1])
        lines = lines_of(self._other[window.other])
        kept_before = _count_common(lead, lines)
        lines = lines[kept_before:]
        kept_after = _count_common(reversed(tail), reversed(lines))
        return self._place(
            blocks,
            "".join(lines[: len(lines) - kept_after]),
            lines_before=len(lead) - kept_before,
            lines_after=len(tail) - kept_after,
        )

    def _place(
        self, blocks: range, text: str, *, lines_before: int = 0, lines_after: int = 0
    ) -> Place:
        try:
            data = text.encode("latin-1")
        except UnicodeEncodeError:  # a gap
            data = None
        is_alone = len(blocks) == 1 and not lines_before and not lines_after
        return Place(
            text=data,
            blocks=blocks,
            lines_before=lines_before,
            lines_after=lines_after,
            is_as_before=is_alone and text == self._naive[self._spans[blocks[0]]],
        )


def _count_common(one: Iterable[str], two: Iterable[str]) -> int:
    """Count the lines that both begin with."""
    return sum(takewhile(bool, map(eq, one, two)))

"""A file as far as diffs show it, as a text that can be compared.

A diff shows the lines that it changes and some around them. All diffs of a report
start from one base, so what none of them shows stands in every merge as it does in the
base. A *gap* is a run of such lines, and a placeholder will do for it: where two texts
with placeholders are equal, the files are. Where they differ, the files may still be
equal, for a gap's lines may be any; `occurrences` minds that.

Each byte is a character, by Latin-1; a gap is a character beyond these, and a newline.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, groupby, pairwise
from typing import Final

from attrs import frozen

from cooperbench_eval.patching import FileChange, FilePatch
from cooperbench_eval.reporting.resolutions.blocks import Block
from cooperbench_eval.reporting.resolutions.records import UndeterminedError

__all__ = ["Chunk", "Edit", "PartialBase", "PartialText"]

_FIRST_GAP: Final = 0x100
_LAST_GAP: Final = 0x10FFFF


@frozen
class Edit:
    """Lines of the base from *start* to before *end*, and what stands there instead."""

    start: int
    end: int
    lines: tuple[bytes, ...]


@frozen
class Chunk:
    """A line of the base that is known, or a gap.

    Attributes:
        start: Its first line in the base, from 0.
        count: How many lines it has; 0 for the gap at the end, of which nobody knows.
        text: The line, or the gap's placeholder.
        is_gap: Whether *text* only stands for it.
    """

    start: int
    count: int
    text: str
    is_gap: bool


class PartialBase:
    """The base of a file: the lines of it that were shown so far."""

    def __init__(self, lines: Iterable[bytes] = ()) -> None:
        """Take the lines that it begins with, if they are known."""
        self._known = dict(enumerate(lines))

    def read_edits(self, file: FilePatch) -> list[Edit]:
        """Return the edits of a diff, and note the lines that it shows.

        Raises:
            UndeterminedError: It shows no lines, or other ones than were shown before.
        """
        is_text = file.change in {FileChange.ADD, FileChange.MODIFY}
        if file.binary or file.lacks_contents or not is_text:
            raise UndeterminedError("a diff does not show the file as lines")
        edits: list[Edit] = []
        for hunk in file.hunks:
            at = hunk.old_start - (1 if hunk.old else 0)
            if at < (edits[-1].end if edits else 0):
                raise UndeterminedError("a diff's hunks overlap")
            for is_kept, run in groupby(hunk.lines, lambda line: line[:1] == b" "):
                lines = list(run)
                old = [line[1:] for line in lines if line[:1] != b"+"]
                self._note(at, old)
                if not is_kept:
                    new = tuple(line[1:] for line in lines if line[:1] == b"+")
                    edits.append(Edit(at, at + len(old), new))
                at += len(old)
        return edits

    def _note(self, start: int, lines: Iterable[bytes]) -> None:
        for at, line in enumerate(lines, start):
            if self._known.setdefault(at, line) != line:
                raise UndeterminedError("the two diffs do not start from the same file")

    def note_conflicts(self, blocks: Iterable[Block], edits: Sequence[Edit]) -> None:
        """Note the lines of the base that conflicts show.

        Args:
            blocks: The conflicts.
            edits: What makes of the base the file that they stand in.

        Raises:
            UndeterminedError: They do not stand in that file.
        """
        grown = accumulate((len(e.lines) - (e.end - e.start) for e in edits), initial=0)
        starts = [edit.start + by for edit, by in zip(edits, grown, strict=False)]
        for block in blocks:
            for place, line in enumerate(block.lines):
                is_marker = place in block.markers
                found = _line_of(block.start + place, edits, starts)
                if isinstance(found, int):
                    known = self._known
                    found = known.get(found, b"") if is_marker else known.setdefault(found, line)
                if not (found.startswith(line) if is_marker else found == line):
                    raise UndeterminedError("the naive merge's diff does not show the conflict")

    def cut(self, edits: Iterable[Edit]) -> list[Chunk]:
        """Cut the base into lines that are known and gaps, so that no edit cuts a gap.

        Raises:
            UndeterminedError: There are more gaps than placeholders.
        """
        cuts = {0, *self._known, *(line + 1 for line in self._known)}
        cuts.update(cut for edit in edits for cut in (edit.start, edit.end))
        chunks = []
        gap = _FIRST_GAP
        last = max(cuts)
        for start, end in pairwise([*sorted(cuts), last]):
            is_gap = start not in self._known
            if gap > _LAST_GAP and is_gap:
                raise UndeterminedError("the file has too many parts")
            text = chr(gap) + "\n" if is_gap else self._known[start].decode("latin-1")
            gap += is_gap
            chunks.append(Chunk(start, end - start, text, is_gap))
        return chunks


def _line_of(number: int, edits: Sequence[Edit], starts: Sequence[int]) -> bytes | int:
    """Return a line of the edited file if an edit put it there, else its number in the base.

    Args:
        number: Its number in the edited file.
        edits: The edits.
        starts: At which lines of the edited file they begin.
    """
    i = bisect_right(starts, number) - 1
    if i < 0:
        return number
    within, lines = number - starts[i], edits[i].lines
    return lines[within] if within < len(lines) else edits[i].end + within - len(lines)


@frozen
class PartialText:
    """A file: its text, and where in that things stand.

    Attributes:
        text: The text.
        chunks: Where the base's chunks stand, by their start; without those that are
            deleted.
        lines: Where each line stands, by its number, and each gap by that of its first.
    """

    text: str
    chunks: Mapping[int, int]
    lines: Mapping[int, int]

    @classmethod
    def of(cls, chunks: Iterable[Chunk], edits: Iterable[Edit]) -> "PartialText":
        """Put a file together: the chunks of the base that it keeps, and its own lines."""
        gone = {line for edit in edits for line in range(edit.start, edit.end)}
        parts = [
            *((e.start, False, line.decode("latin-1"), 1) for e in edits for line in e.lines),
            *((c.start, True, c.text, c.count) for c in chunks if c.start not in gone),
        ]
        parts.sort(key=lambda part: part[:2])  # an edit's lines go before what they start at
        kept, lines = {}, {}
        offset = number = 0
        for start, is_kept, text, count in parts:
            lines[number] = offset
            if is_kept:
                kept[start] = offset
            offset += len(text)
            number += count
        return cls("".join(text for _, _, text, _ in parts), kept, lines)

    def span_of(self, block: Block) -> slice:
        """Return where a conflict stands whose lines are known."""
        first = self.lines[block.start]
        last = self.lines[block.start + len(block.lines) - 1]
        return slice(first, self.text.find("\n", last) + 1 or len(self.text))

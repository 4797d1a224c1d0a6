"""The records of a merged text: settled bytes, and conflicts that can be rendered or resolved.

Markers are added only by `render`.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Self

from attrs import evolve, field, frozen

from cooperbench_eval.git.merging.regions import Refinement

__all__ = ["ConflictStyle", "TextBlock", "TextConflict", "TextMerge", "joined_chunks"]


class ConflictStyle(StrEnum):
    """The versions that git shows for a conflict, named as in `merge.conflictStyle`."""

    MERGE = "merge"
    """Ours and theirs."""
    DIFF3 = "diff3"
    """Ours, base and theirs."""
    ZDIFF3 = "zdiff3"
    """Ours, base and theirs, as in `DIFF3`; only the refinement differs."""

    @property
    def refinement(self) -> Refinement:
        """How `git merge` refines conflicts that it shows in this style."""
        return _REFINEMENTS[self]


_REFINEMENTS = {
    ConflictStyle.MERGE: Refinement.ZEALOUS,
    ConflictStyle.DIFF3: Refinement.NONE,
    ConflictStyle.ZDIFF3: Refinement.TRIM,
}


@frozen(kw_only=True)
class TextConflict:
    """Lines on which the sides disagree.

    Attributes:
        base: The lines of the base; `merge_text` explains which ones a refined conflict has.
        ours: The lines of ours.
        theirs: The lines of theirs.
        newline: The line ending of its markers and of the lines around it.
    """

    base: bytes
    ours: bytes
    theirs: bytes
    newline: bytes = b"\n"

    def union(self) -> bytes:
        """Return the lines of ours, then those of theirs."""
        return self._closed(self.ours) + self.theirs

    def render(
        self,
        *,
        style: ConflictStyle = ConflictStyle.MERGE,
        marker_size: int = 7,
        labels: tuple[bytes, bytes, bytes] = (b"", b"", b""),
    ) -> bytes:
        """Return the conflict between markers.

        Args:
            style: Whether the base is shown.
            marker_size: The number of characters of each marker.
            labels: The names of ours, base and theirs; empty for a marker without a name.
        """
        ours, base, theirs = labels
        parts = [self._marker(b"<", marker_size, ours), self._closed(self.ours)]
        if style is not ConflictStyle.MERGE:
            parts += [self._marker(b"|", marker_size, base), self._closed(self.base)]
        parts += [self._marker(b"=", marker_size, b""), self._closed(self.theirs)]
        parts.append(self._marker(b">", marker_size, theirs))
        return b"".join(parts)

    def count_lines(self, style: ConflictStyle = ConflictStyle.MERGE) -> int:
        """Count the lines of the rendered conflict, markers included."""
        shown = [self.ours, self.theirs]
        if style is not ConflictStyle.MERGE:
            shown.append(self.base)
        ends = sum(lines.count(b"\n") for lines in shown)
        unended = sum(bool(lines) and not lines.endswith(b"\n") for lines in shown)
        return ends + unended + len(shown) + 1

    def _marker(self, character: bytes, size: int, label: bytes) -> bytes:
        return character * size + (b" " + label if label else b"") + self.newline

    def _closed(self, lines: bytes) -> bytes:
        """Add the newline that a file's last line may lack."""
        return lines + self.newline if lines and not lines.endswith(b"\n") else lines


@frozen(kw_only=True)
class TextBlock:
    """A region that both sides changed, as it was before git split it.

    Git splits a conflict at lines that both sides have, often by chance: if each side
    adds a function, the two may share a `return`. A resolver that considers more than
    single lines needs the whole region.

    Attributes:
        base: The lines of the base.
        ours: The lines of ours.
        theirs: The lines of theirs.
        newline: The line ending of the lines around it.
        lead: The settled lines of the block before its first conflict.
        tail: The settled lines of the block after its last conflict.
        conflicts: The indexes of its conflicts among those of the file.
    """

    base: bytes
    ours: bytes
    theirs: bytes
    newline: bytes
    lead: bytes
    tail: bytes
    conflicts: range


@frozen(kw_only=True)
class TextMerge:
    r"""A merged text: runs of settled bytes with conflicts between them.

    Attributes:
        chunks: Settled bytes and conflicts, in order. No chunk is empty, and no
            two runs of bytes are adjacent.

    Example:
        >>> conflict = TextConflict(base=b"a\n", ours=b"A\n", theirs=b"aa\n")
        >>> merge = TextMerge(chunks=(conflict, b"b\n"))
        >>> merge.union(), merge.marker_lines()
        (b'A\naa\nb\n', (1,))
    """

    chunks: tuple[bytes | TextConflict, ...] = field(converter=tuple[bytes | TextConflict, ...])

    @property
    def conflicts(self) -> tuple[TextConflict, ...]:
        """The conflicts without the settled bytes."""
        return tuple(chunk for chunk in self.chunks if isinstance(chunk, TextConflict))

    def render(
        self,
        *,
        style: ConflictStyle = ConflictStyle.MERGE,
        marker_size: int = 7,
        ours: bytes | str = b"",
        base: bytes | str = b"",
        theirs: bytes | str = b"",
    ) -> bytes:
        """Return the text, with each conflict between markers.

        Args:
            style: Whether a conflict's base is shown.
            marker_size: The number of characters of each marker.
            ours: The name of ours; empty for a marker without a name.
            base: The name of the base.
            theirs: The name of theirs.
        """
        labels = _label(ours), _label(base), _label(theirs)
        return b"".join(
            chunk
            if isinstance(chunk, bytes)
            else chunk.render(style=style, marker_size=marker_size, labels=labels)
            for chunk in self.chunks
        )

    def union(self) -> bytes:
        """Return the text with both sides' lines for each conflict, those of ours first.

        The result is that of `git merge-file --union`.
        """
        return b"".join(
            chunk if isinstance(chunk, bytes) else chunk.union() for chunk in self.chunks
        )

    def resolve(self, choose: Callable[[TextConflict], bytes | None]) -> Self:
        """Replace conflicts by text.

        Args:
            choose: Returns a conflict's resolution, or `None` to leave it open.
        """
        return evolve(
            self,
            chunks=joined_chunks(
                chunk if isinstance(chunk, bytes) or (text := choose(chunk)) is None else text
                for chunk in self.chunks
            ),
        )

    @property
    def settled(self) -> tuple[bytes, ...]:
        """The text before, between and after the conflicts."""
        runs = [b""]
        for chunk in self.chunks:
            if isinstance(chunk, bytes):
                runs[-1] = chunk
            else:
                runs.append(b"")
        return tuple(runs)

    def around(self, blocks: Sequence[TextBlock]) -> list[Self]:
        """Return the parts before, between and after whole blocks.

        Args:
            blocks: The blocks, in order. All of their conflicts must be open, and each
                block's `conflicts` must index the conflicts of this merge.
        """
        rest = list(self.chunks)
        places = [i for i, chunk in enumerate(rest) if not isinstance(chunk, bytes)]
        parts = []
        for block in reversed(blocks):  # from the end, so that earlier indexes stay valid
            first, last = places[block.conflicts.start], places[block.conflicts.stop - 1]
            after, rest = rest[last + 1 :], rest[:first]
            after[:1] = [_cut_settled(chunk, len(block.tail), None) for chunk in after[:1]]
            rest[-1:] = [_cut_settled(chunk, 0, -len(block.lead) or None) for chunk in rest[-1:]]
            parts.append(evolve(self, chunks=joined_chunks(after)))
        parts.append(evolve(self, chunks=joined_chunks(rest)))
        return parts[::-1]

    def replace(self, answers: Iterable[tuple[TextBlock, bytes]]) -> Self:
        """Replace whole blocks by text.

        Args:
            answers: Blocks as for `around`, each with its resolution.
        """
        given = tuple(answers)
        first, *others = self.around([block for block, _ in given])
        pieces = list(first.chunks)
        for (_, text), part in zip(given, others, strict=True):
            pieces += [text, *part.chunks]
        return evolve(self, chunks=joined_chunks(pieces))

    def marker_lines(self, style: ConflictStyle = ConflictStyle.MERGE) -> tuple[int, ...]:
        """Return the line of the rendered text on which each conflict starts.

        Args:
            style: The style it is rendered in.

        Returns:
            The line of each conflict's opening marker, counted from 1.
        """
        found = []
        line = 1
        for chunk in self.chunks:
            if isinstance(chunk, bytes):
                line += chunk.count(b"\n")
            else:
                found.append(line)
                line += chunk.count_lines(style)
        return tuple(found)


def _cut_settled(chunk: bytes | TextConflict, start: int, end: int | None) -> bytes | TextConflict:
    return chunk[start:end] if isinstance(chunk, bytes) else chunk


def _label(text: bytes | str) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def joined_chunks(pieces: Iterable[bytes | TextConflict]) -> tuple[bytes | TextConflict, ...]:
    """Return the chunks of a merged text: adjacent bytes are joined, and empty ones left out."""
    chunks: list[bytes | TextConflict] = []
    settled: list[bytes] = []
    for piece in pieces:
        if isinstance(piece, bytes):
            settled.append(piece)
            continue
        if text := b"".join(settled):
            chunks.append(text)
        settled.clear()
        chunks.append(piece)
    if text := b"".join(settled):
        chunks.append(text)
    return tuple(chunks)

"""Three-way merge of one file's text, byte for byte as git merges it.

The merge diffs the base with each side (`line_diff`), groups both lists of changes into
regions (`regions`), and puts the lines of the regions together as settled bytes and conflicts,
which can be rendered or resolved. Markers are added only by `render`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Self

from attrs import evolve, field, frozen

from cooperbench_eval.git.merging.line_diff import DiffAlgorithm, DiffCache, Text
from cooperbench_eval.git.merging.regions import Block, Origin, Region, find_blocks, find_regions


@frozen(kw_only=True)
class TextConflict:
    """Lines on which the sides disagree.

    Attributes:
        base: The lines of the base; `merge_text` explains which ones a refined conflict has.
        newline: The line ending of its markers and of the lines around it.
    """

    base: bytes
    ours: bytes
    theirs: bytes
    newline: bytes = b"\n"

    def union(self) -> bytes:
        """Return the lines of ours, then those of theirs."""
        return self._closed(self.ours) + self.theirs

    def render(self, marker_size: int = 7, ours: bytes = b"", theirs: bytes = b"") -> bytes:
        """Return the conflict between markers of a size, with the names of ours and theirs.

        A marker with an empty name has none.
        """

        def marker(character: bytes, name: bytes = b"") -> bytes:
            return character * marker_size + (b" " + name if name else b"") + self.newline

        mine, others = self._closed(self.ours), self._closed(self.theirs)
        return marker(b"<", ours) + mine + marker(b"=") + others + marker(b">", theirs)

    def count_lines(self) -> int:
        """Count the lines of the rendered conflict, markers included."""
        return sum(self._closed(each).count(b"\n") for each in (self.ours, self.theirs)) + 3

    def _closed(self, lines: bytes) -> bytes:
        """Add the newline that a file's last line may lack."""
        return lines + self.newline if lines and not lines.endswith(b"\n") else lines


class Place(NamedTuple):
    """Where a text replaces conflicts of a file that follow one another.

    Attributes:
        conflicts: Their indexes among the open conflicts of the file.
        lead: The number of settled bytes before the first conflict that it also replaces.
        tail: The number of settled bytes after the last conflict that it also replaces.
    """

    conflicts: range
    lead: int = 0
    tail: int = 0


class Answer(NamedTuple):
    """A text for some conflicts of a file; the other attributes are those of a `Place`."""

    conflicts: range
    text: bytes
    lead: int = 0
    tail: int = 0


@frozen(kw_only=True)
class TextMerge:
    r"""A merged text: runs of settled bytes with conflicts between them.

    Attributes:
        chunks: Settled bytes and conflicts, in order. No chunk is empty, and no
            two runs of bytes are adjacent.

    Example:
        >>> conflict = TextConflict(base=b"a\n", ours=b"A\n", theirs=b"aa\n")
        >>> merge = TextMerge(chunks=(conflict, b"b\n"))
        >>> merge.replace([Answer(range(1), conflict.union())]).chunks, merge.marker_lines()
        ((b'A\naa\nb\n',), (1,))
    """

    chunks: tuple[bytes | TextConflict, ...] = field(converter=tuple[bytes | TextConflict, ...])

    @property
    def conflicts(self) -> tuple[TextConflict, ...]:
        """The conflicts without the settled bytes."""
        return tuple(chunk for chunk in self.chunks if isinstance(chunk, TextConflict))

    def render(self, *, marker_size: int = 7, ours: str = "", theirs: str = "") -> bytes:
        """Return the text, with each conflict between markers: see `TextConflict.render`."""
        names = [name.encode("utf-8", "surrogateescape") for name in (ours, theirs)]
        return b"".join(
            chunk if isinstance(chunk, bytes) else chunk.render(marker_size, *names)
            for chunk in self.chunks
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

    def around(self, places: Iterable[Place | Answer]) -> list[Self]:
        """Return the parts before, between and after some places, which are in order."""
        rest = list(self.chunks)
        at = [i for i, chunk in enumerate(rest) if not isinstance(chunk, bytes)]
        parts = []
        for each in reversed([*places]):  # from the end, so that earlier indexes stay valid
            first, last = at[each.conflicts.start], at[each.conflicts.stop - 1]
            after, rest = rest[last + 1 :], rest[:first]
            after[:1] = [_cut_settled(chunk, each.tail, None) for chunk in after[:1]]
            rest[-1:] = [_cut_settled(chunk, 0, -each.lead or None) for chunk in rest[-1:]]
            parts.append(evolve(self, chunks=_joined_chunks(after)))
        parts.append(evolve(self, chunks=_joined_chunks(rest)))
        return parts[::-1]

    def replace(self, answers: Sequence[Answer]) -> Self:
        """Replace conflicts by answers, which are in order."""
        first, *others = self.around(answers)
        pieces = list(first.chunks)
        for answer, part in zip(answers, others, strict=True):
            pieces += [answer.text, *part.chunks]
        return evolve(self, chunks=_joined_chunks(pieces))

    def marker_lines(self) -> tuple[int, ...]:
        """Return the line of each conflict's opening marker in the rendered text, from 1."""
        found = []
        line = 1
        for chunk in self.chunks:
            if isinstance(chunk, bytes):
                line += chunk.count(b"\n")
            else:
                found.append(line)
                line += chunk.count_lines()
        return tuple(found)


def _cut_settled(chunk: bytes | TextConflict, start: int, end: int | None) -> bytes | TextConflict:
    return chunk[start:end] if isinstance(chunk, bytes) else chunk


def _joined_chunks(pieces: Iterable[bytes | TextConflict]) -> tuple[bytes | TextConflict, ...]:
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


def merge_text(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    *,
    refine: bool = True,
    algorithm: DiffAlgorithm = DiffAlgorithm.HISTOGRAM,
    cache: DiffCache | None = None,
) -> TextMerge:
    r"""Merge two sides' changes of one text.

    By default the result is that of `git merge`. Without refinement, it is that of
    `git -c merge.conflictStyle=diff3 merge`, or with the `MYERS` algorithm that of
    `git merge-file --diff3`. For a file that both sides added, the base is empty. The caller
    decides which contents are text: git does not merge files with a NUL byte in the first
    8,000 bytes.

    When a conflict is split at lines that ours and theirs share, git does not define
    which base lines belong to which part. Here, each part gets the base lines that
    correspond to its lines in ours: inside a change, the n-th line of ours corresponds to
    the n-th line of the base. The base lines of the parts are therefore disjoint and in
    order. Parts that are joined again include the base lines between them.

    Args:
        base: The common ancestor.
        ours: One side; lines that both sides changed in the same way are taken from it.
        theirs: The other side.
        refine: Whether to split conflicts at the lines that both sides share.
        algorithm: How to diff.
        cache: Stores lines and diffs, for reuse by other merges of the same texts.

    Example:
        >>> merge_text(b"a\nb\nc\n", b"A\nb\nc\n", b"a\nb\nC\n").render()
        b'A\nb\nC\n'
    """
    if theirs in {ours, base}:
        return TextMerge(chunks=_joined_chunks([ours]))
    if base == ours:
        return TextMerge(chunks=_joined_chunks([theirs]))
    cache = DiffCache() if cache is None else cache
    old, one, other = texts = cache.text(base), cache.text(ours), cache.text(theirs)
    regions = find_regions(
        (old.lines, one.lines, other.lines),
        cache.changes(old, one, algorithm=algorithm),
        cache.changes(old, other, algorithm=algorithm),
        refine=refine,
        algorithm=algorithm,
    )
    return TextMerge(chunks=_joined_chunks(_assemble(texts, regions)))


def find_text_blocks(
    base: bytes, ours: bytes, theirs: bytes, *, cache: DiffCache | None = None
) -> tuple[tuple[TextConflict, Place], ...]:
    """Return the regions that both sides changed, as they were before git split them.

    Git splits a conflict at lines that both sides have, often by chance: if each side adds a
    function, the two may share a `return`. A resolver that considers more than single lines needs
    the whole region. Each is returned with the place of the conflicts that `merge_text` finds in
    it by default.
    """
    texts, blocks = _blocks((base, ours, theirs), cache)
    found = []
    number = 0
    for whole, conflicts in blocks:
        lead = len(texts[1].cut(whole.ours_start, conflicts[0].ours_start))
        tail = len(texts[1].cut(conflicts[-1].ours_end, whole.ours_end))
        place = Place(range(number, number + len(conflicts)), lead, tail)
        found.append((_conflict(texts, whole), place))
        number += len(conflicts)
    return tuple(found)


def find_conflict_lines(
    base: bytes, ours: bytes, theirs: bytes, *, cache: DiffCache | None = None
) -> tuple[tuple[range, range, range], ...]:
    r"""Return the lines, in all three texts, of the conflicts that `merge_text` finds by default.

    Returns:
        For each conflict its lines in base, ours and theirs, counted from 0. A range without
        lines starts at the line before which the version lacks them.

    Example:
        >>> find_conflict_lines(b"a\nb\n", b"a\nB\n", b"a\n")
        ((range(1, 2), range(1, 2), range(1, 1)),)
    """
    _, blocks = _blocks((base, ours, theirs), cache)
    return tuple(
        (
            range(each.base_start, each.base_end),
            range(each.ours_start, each.ours_end),
            range(each.theirs_start, each.theirs_end),
        )
        for block in blocks
        for each in block.conflicts
    )


_Versions = tuple[Text, Text, Text]
"""Base, ours and theirs."""


def _blocks(
    versions: tuple[bytes, bytes, bytes], cache: DiffCache | None
) -> tuple[_Versions, list[Block]]:
    cache = DiffCache() if cache is None else cache
    base, ours, theirs = map(cache.text, versions)
    lines = base.lines, ours.lines, theirs.lines
    blocks = find_blocks(lines, cache.changes(base, ours), cache.changes(base, theirs))
    return (base, ours, theirs), blocks


def _assemble(texts: _Versions, regions: Iterable[Region]) -> Iterator[bytes | TextConflict]:
    """Take each region's lines from the side that has them."""
    _, ours, theirs = texts
    done = 0
    for each in regions:
        if each.origin in {Origin.THEIRS, Origin.DISPUTED}:
            yield ours.cut(done, each.ours_start)
            if each.origin is Origin.DISPUTED:
                yield _conflict(texts, each)
            else:
                yield theirs.cut(each.theirs_start, each.theirs_end)
            done = each.ours_end
    yield ours.cut(done, len(ours.lines))


def _conflict(texts: _Versions, region: Region) -> TextConflict:
    base, ours, theirs = texts
    return TextConflict(
        base=base.cut(region.base_start, region.base_end),
        ours=ours.cut(region.ours_start, region.ours_end),
        theirs=theirs.cut(region.theirs_start, region.theirs_end),
        newline=_newline(texts, region.ours_start, region.theirs_start),
    )


def _newline(texts: _Versions, ours_start: int, theirs_start: int) -> bytes:
    r"""Return how the markers of a conflict end: `\r\n` if all lines around it do.

    The line endings that count are those of the line before the conflict in ours and in
    theirs (the first line, if the conflict starts there) and of the first line of the
    base. If the base is empty, the result is therefore `\n`.
    """
    base, ours, theirs = (text.lines for text in texts)
    if (
        _ends_crlf(ours, max(ours_start - 1, 0)) is not False
        and _ends_crlf(theirs, max(theirs_start - 1, 0)) is not False
        and _ends_crlf(base, 0)
    ):
        return b"\r\n"
    return b"\n"


def _ends_crlf(lines: Sequence[bytes], i: int) -> bool | None:
    """Whether line *i* ends in CR LF.

    If it is a last line without a newline, the line before it decides. The result is
    `None` if no line has a newline.
    """
    if not lines:
        return None
    if not lines[i].endswith(b"\n"):
        if not i:
            return None
        i -= 1
    return lines[i].endswith(b"\r\n")

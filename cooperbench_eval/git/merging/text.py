"""Three-way merge of one file's text, byte for byte as git merges it.

The merge diffs the base with each side (`linediff`), groups both lists of changes into
regions (`regions`), and puts the lines of the regions together (this module), as settled bytes
and conflicts (`textmerge`).
"""

from collections.abc import Iterable, Iterator, Sequence

from cooperbench_eval.git.merging.linediff import DiffAlgorithm, DiffCache, Text
from cooperbench_eval.git.merging.regions import (
    Origin,
    Refinement,
    Region,
    find_blocks,
    find_regions,
)
from cooperbench_eval.git.merging.textmerge import TextBlock, TextConflict, TextMerge, joined_chunks

__all__ = ["find_conflict_lines", "find_text_blocks", "merge_text"]


def merge_text(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    *,
    refinement: Refinement = Refinement.ZEALOUS,
    algorithm: DiffAlgorithm = DiffAlgorithm.HISTOGRAM,
    cache: DiffCache | None = None,
) -> TextMerge:
    r"""Merge two sides' changes of one text.

    By default the result is that of `git merge`. With the `MYERS` algorithm and
    `Refinement.ZEALOUS_ALNUM`, it is that of `git merge-file`. With `MYERS` and
    `Refinement.NONE`, it is that of `git merge-file --diff3`, and with `MYERS` and
    `Refinement.TRIM` that of `git merge-file --zdiff3`. For a file that both sides added,
    the base is empty. The caller decides which contents are text: git does not merge files
    with a NUL byte in the first 8,000 bytes.

    When a conflict is split at lines that ours and theirs share, git does not define
    which base lines belong to which part. Here, each part gets the base lines that
    correspond to its lines in ours: inside a change, the n-th line of ours corresponds to
    the n-th line of the base. The base lines of the parts are therefore disjoint and in
    order. Parts that are joined again include the base lines between them.

    Args:
        base: The common ancestor.
        ours: One side; lines that both sides changed in the same way are taken from it.
        theirs: The other side.
        refinement: How to refine conflicts.
        algorithm: How to diff.
        cache: Stores lines and diffs, for reuse by other merges of the same texts.

    Example:
        >>> merge_text(b"a\nb\nc\n", b"A\nb\nc\n", b"a\nb\nC\n").render()
        b'A\nb\nC\n'
    """
    if theirs in {ours, base}:
        return TextMerge(chunks=joined_chunks([ours]))
    if base == ours:
        return TextMerge(chunks=joined_chunks([theirs]))
    cache = DiffCache() if cache is None else cache
    old, one, other = texts = _read((base, ours, theirs), cache)
    regions = find_regions(
        (old.lines, one.lines, other.lines),
        cache.changes(old, one, algorithm=algorithm),
        cache.changes(old, other, algorithm=algorithm),
        refinement=refinement,
        algorithm=algorithm,
    )
    return TextMerge(chunks=joined_chunks(_assemble(texts, regions)))


def find_text_blocks(
    base: bytes, ours: bytes, theirs: bytes, *, cache: DiffCache | None = None
) -> tuple[TextBlock, ...]:
    """Group the conflicts that `merge_text` finds by default into blocks."""
    cache = DiffCache() if cache is None else cache
    texts = _read((base, ours, theirs), cache)
    of_base, of_ours, of_theirs = texts
    found = []
    number = 0
    for whole, conflicts in find_blocks(
        (of_base.lines, of_ours.lines, of_theirs.lines),
        cache.changes(of_base, of_ours),
        cache.changes(of_base, of_theirs),
    ):
        found.append(
            TextBlock(
                base=of_base.cut(whole.base_start, whole.base_end),
                ours=of_ours.cut(whole.ours_start, whole.ours_end),
                theirs=of_theirs.cut(whole.theirs_start, whole.theirs_end),
                newline=_newline(texts, whole.ours_start, whole.theirs_start),
                lead=of_ours.cut(whole.ours_start, conflicts[0].ours_start),
                tail=of_ours.cut(conflicts[-1].ours_end, whole.ours_end),
                conflicts=range(number, number + len(conflicts)),
            )
        )
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
    cache = DiffCache() if cache is None else cache
    of_base, of_ours, of_theirs = _read((base, ours, theirs), cache)
    blocks = find_blocks(
        (of_base.lines, of_ours.lines, of_theirs.lines),
        cache.changes(of_base, of_ours),
        cache.changes(of_base, of_theirs),
    )
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


def _read(versions: tuple[bytes, bytes, bytes], cache: DiffCache) -> _Versions:
    base = cache.text(versions[0])
    return base, cache.text(versions[1], base), cache.text(versions[2], base)


def _assemble(texts: _Versions, regions: Iterable[Region]) -> Iterator[bytes | TextConflict]:
    """Take each region's lines from the side that has them."""
    base, ours, theirs = texts
    done = 0
    for origin, base_start, base_end, ours_start, ours_end, theirs_start, theirs_end in regions:
        if origin is Origin.THEIRS:
            yield ours.cut(done, ours_start)
            yield theirs.cut(theirs_start, theirs_end)
        elif origin is Origin.DISPUTED:
            yield ours.cut(done, ours_start)
            yield TextConflict(
                base=base.cut(base_start, base_end),
                ours=ours.cut(ours_start, ours_end),
                theirs=theirs.cut(theirs_start, theirs_end),
                newline=_newline(texts, ours_start, theirs_start),
            )
        else:
            continue
        done = ours_end
    yield ours.cut(done, len(ours.lines))


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

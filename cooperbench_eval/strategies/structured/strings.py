"""Merges strings that both sides changed: docstrings by lines, others by their parts."""

import re
from itertools import chain

from cooperbench_eval.git.merging.linediff import diff_lines, split_lines
from cooperbench_eval.git.merging.regions import Refinement
from cooperbench_eval.git.merging.text import merge_text
from cooperbench_eval.git.merging.textmerge import TextConflict
from cooperbench_eval.languages.token_merge import TokenMergeError, merge_tokens

__all__ = ["merge_lines", "merge_literals", "merge_strings"]

_MOST_TOKENS = 4000
_QUOTES = (b'"""', b"'''")


def merge_strings(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Merge a multi-line string line by line; both sides' insertions at one place are kept.

    Returns:
        The merged string; `None` if it does not have several lines, or if both sides
        changed the same lines.
    """
    if not all(word.endswith(_QUOTES) and b"\n" in word for word in (ours, theirs)):
        return None
    return merge_lines(base, ours, theirs)


def merge_lines(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Merge text for people line by line, and the same line word by word.

    Returns:
        The merged text; `None` if both sides changed the same words.
    """
    versions = (text + b"\n" for text in (base, ours, theirs))
    merged = merge_text(*versions, refinement=Refinement.NONE)
    try:
        parts = [_settled(chunk) for chunk in merged.chunks]
    except TokenMergeError:
        return None
    return b"".join(parts)[:-1]


def _settled(chunk: bytes | TextConflict) -> bytes:
    if isinstance(chunk, bytes):
        return chunk
    if not chunk.base:
        shorter, longer = sorted((split_lines(chunk.ours), split_lines(chunk.theirs)), key=len)
        if shorter in (longer[: len(shorter)], longer[len(longer) - len(shorter) :]):
            return b"".join(longer)
        return chunk.union()
    return merge_tokens(chunk.base, chunk.ours, chunk.theirs, max_tokens=_MOST_TOKENS)


# --- strings that programs use

_OPENING = re.compile(rb"[A-Za-z]{0,3}(?:\"\"\"|\'\'\'|[\"\'`])")
_HOLE = re.compile(rb"\$?\{(?:[^{}]|\{[^{}]*\})*\}|%[-+#0-9.*]*[A-Za-z]")
"""Where a value is inserted: `{x}`, `${x}` or `%s`."""
_PIECE = re.compile(
    rb"(?s)" + _HOLE.pattern + rb"|\\.|[A-Za-z0-9_\x80-\xff]+|\s+|.",
)


def merge_literals(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Merge a string in quotes by its parts: words, punctuation and inserted values.

    A program may depend on every character. So between two edits there must be white
    space, an inserted value or a quote that neither side changed. An inserted value is
    one part.

    Returns:
        The merged string; `None` if it is not a string in the same quotes in all versions,
        if the edits are not apart, or if both sides changed how many values are inserted.
    """
    versions = base, ours, theirs
    opened = [_OPENING.match(word) for word in versions]
    if len({match and match.group() for match in opened}) != 1 or None in opened:
        return None
    if max(map(len, versions)) > _MOST_TOKENS:
        return None
    holes = [len(_HOLE.findall(word)) for word in versions]
    if holes[0] not in holes[1:] or any(b"{" in _HOLE.sub(b"", word) for word in versions):
        return None
    before, *sides = (_PIECE.findall(word) for word in versions)
    edits = sorted(
        (change.a_start, change.a_end, i, side[change.b_start : change.b_end])
        for i, side in enumerate(sides)
        for change in diff_lines(before, side)
    )
    out: list[bytes] = []
    at, last = 0, -1
    for start, end, i, new in edits:
        kept = before[at:start]
        if last not in {-1, i} and not any(map(_SEPARATOR.match, kept)):
            return None
        out += chain(kept, new)
        at, last = end, i
    return b"".join([*out, *before[at:]])


_SEPARATOR = re.compile(rb"[\s\"\'{%]|\$\{")

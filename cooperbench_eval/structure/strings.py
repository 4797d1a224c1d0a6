"""Merges multi-line strings, such as docstrings."""

from cooperbench_eval.merging.linediff import split_lines
from cooperbench_eval.merging.regions import Refinement
from cooperbench_eval.merging.text import TextConflict, merge_text
from cooperbench_eval.structure.tokenmerge import TokenMergeError, merge_tokens

__all__ = ["merge_strings"]

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
    versions = (word + b"\n" for word in (base, ours, theirs))
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

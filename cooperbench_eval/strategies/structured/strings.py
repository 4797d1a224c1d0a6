"""Merges strings and comments that both sides changed, by their lines, words or parts."""

import re
from itertools import chain

from cooperbench_eval.git.merging.line_diff import diff_lines
from cooperbench_eval.git.merging.text_merge import TextConflict, merge_text
from cooperbench_eval.languages.sequences import join_lines
from cooperbench_eval.languages.token_merge import TokenMergeError, merge_tokens
from cooperbench_eval.languages.tree import Elements, Token
from cooperbench_eval.languages.words import DIVIDED, TEXT

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
    merged = merge_text(*versions, refine=False)
    try:
        parts = [_settled(chunk) for chunk in merged.chunks]
    except TokenMergeError:
        return None
    kept = [part for part in parts if part is not None]
    return b"".join(kept)[:-1] if len(kept) == len(parts) else None


def _settled(chunk: bytes | TextConflict) -> bytes | None:
    if isinstance(chunk, bytes):
        return chunk
    if not chunk.base:
        return join_lines(chunk.ours, chunk.theirs)
    versions = chunk.base, chunk.ours, chunk.theirs
    return merge_tokens(*versions, words=TEXT, max_tokens=_MOST_TOKENS)


_OPENING = re.compile(rb"[A-Za-z]{0,3}(?:\"\"\"|\'\'\'|[\"\'`])")
_HOLE = re.compile(rb"\$?\{(?:[^{}]|\{[^{}]*\})*\}|%[-+#0-9.*]*[A-Za-z]")
"""Where a value is inserted: `{x}`, `${x}` or `%s`."""
_PIECE = re.compile(b"|".join((_HOLE.pattern, rb"\s+", TEXT.pattern)), re.VERBOSE)


def merge_literals(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Merge a string in quotes by its parts: words, punctuation and inserted values.

    A program may depend on every character. So between two edits there must be white
    space, an inserted value in braces or a quote that neither side changed. An inserted
    value is one part, and so is a string without white space and inserted values.

    Returns:
        The merged string; `None` if it is not a string in the same quotes in all versions,
        if the edits are not apart, or if both sides changed how many values are inserted.
    """
    versions = base, ours, theirs
    opening = _OPENING.match(base)
    if not opening or not all(word.startswith(opening[0]) for word in versions):
        return None
    if max(map(len, versions)) > _MOST_TOKENS:
        return None
    holes = [len(_HOLE.findall(word)) for word in versions]
    if holes[0] not in holes[1:] or any(b"{" in _HOLE.sub(b"", word) for word in versions):
        return None
    inside = opening.end()
    before, *sides = (
        _PIECE.findall(word) if DIVIDED.search(word, inside, len(word) - 1) else [word]
        for word in versions
    )
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


_SEPARATOR = re.compile(rb"[\s\"'{]|\$\{")


_SIGNS = (b"///", b"//!", b"//", b"#")
"""What a comment that ends with its line begins with; longer signs first."""
_DIRECTIVE = re.compile(
    rb"(?://|/\*+|#)\s*(?:[+!@]|[a-z]+:|(?:biome|eslint|istanbul|mypy|noqa|pragma|prettier)\b)"
)
"""A comment for a tool, such as `//go:build linux` or `# type: ignore`."""


def merge_comments(base: Elements, ours: Elements, theirs: Elements) -> Elements | None:
    """Merge comments line by line, and the same line word by word.

    Returns:
        The merged comments; `None` if not all are comments of one kind for people, or if
        both sides changed the same words.
    """
    versions = base, ours, theirs
    every = [each for version in versions for each in version]
    if not all(versions) or any(each.kind != "comment" for each in every):
        return None
    if any(_DIRECTIVE.match(each.plain) for each in every):
        return None
    if all(len(version) == 1 and version[0].plain.startswith(b"/*") for version in versions):
        text = merge_lines(base[0].plain, ours[0].plain, theirs[0].plain)
        if text is None or not text.startswith(b"/*") or text.find(b"*/") != len(text) - 2:
            return None
        return (Token(ours[0].space, text, "comment"),)
    sign = next((each for each in _SIGNS if base[0].plain.startswith(each)), b"")
    if not sign or not all(each.plain.startswith(sign) for each in every):
        return None
    return _merge_block(base, ours, theirs, sign)


def _merge_block(base: Elements, ours: Elements, theirs: Elements, sign: bytes) -> Elements | None:
    """Merge comments of which each ends with its line."""
    versions = base, ours, theirs
    merged = merge_lines(*(b"\n".join(each.plain for each in version) for version in versions))
    lines = [] if merged is None else merged.split(b"\n")
    if not lines or not all(line.startswith(sign) for line in lines):
        return None
    spaces = {each.plain: each.space for version in (theirs, ours) for each in version[1:]}
    head = ours[0].space
    usual = b"\n" + head.rpartition(b"\n")[2]
    following = (Token(spaces.get(line, usual), line, "comment") for line in lines[1:])
    return (Token(head, lines[0], "comment"), *following)

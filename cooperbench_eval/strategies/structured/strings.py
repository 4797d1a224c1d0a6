"""Merges strings and comments that both sides changed, by their lines or words."""

import re
from collections.abc import Sequence
from itertools import pairwise

from cooperbench_eval.git.merging.line_diff import diff_lines
from cooperbench_eval.git.merging.text_merge import TextConflict, merge_text
from cooperbench_eval.languages.sequences import join_lines
from cooperbench_eval.languages.token_merge import TokenMergeError, merge_tokens
from cooperbench_eval.languages.tree import RELATIVE, Elements, Token
from cooperbench_eval.languages.words import TEXT
from cooperbench_eval.strategies.structured.flow.facts import names_inserted
from cooperbench_eval.strategies.structured.one_sided import changed

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


def join_docstrings(one: bytes, other: bytes) -> bytes | None:
    """Return a docstring with the texts of two, one after the other.

    A docstring that contains the other's text is returned as it is. `None` if the quotes differ,
    or are not triple.
    """
    quote = one[:3]
    if quote not in _QUOTES or other[:3] != quote:
        return None
    texts = [word[3:-3].strip() for word in (one, other)]
    longer = max((one, other), key=len)
    if all(_in_one_line(text) in _in_one_line(longer) for text in texts):
        return longer
    return quote + texts[0] + b"\n\n" + RELATIVE + texts[1] + b"\n" + RELATIVE + quote


def _in_one_line(text: bytes) -> bytes:
    return b" ".join(text.split())


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


_FORMATTED = re.compile(rb"(?s)([A-Za-z]*+)(\"{3}|'{3}|[\"'`])(.*)\2")
_PLACEHOLDER = re.compile(rb"\$?\{(?!\{)")
_PIECE = re.compile(rb"(?s)\{\{|\}\}|\$?\{(?:[^{}]|\{[^{}]*\})*+\}|\\.|\w++|.")


def merge_formatted(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Merge strings with placeholders, such as `f"{one} {other}"`; each placeholder is one value.

    Returns:
        The merged string; `None` if a version is not such a string, if their prefixes differ, or
        if both sides changed one placeholder or its surroundings.
    """
    versions = [_FORMATTED.fullmatch(word) for word in (base, ours, theirs)]
    found = [each.groups() for each in versions if each]
    if len(found) < len(versions) or not all(map(names_inserted, (base, ours, theirs))):
        return None
    (prefix, *others), quotes, texts = zip(*found, strict=True)
    pieces = [_PIECE.findall(text) for text in texts]
    if {*others} != {prefix} or max(map(len, pieces)) > _MOST_TOKENS or _blends(*pieces):
        return None
    lines = (b"".join(b"%b\n" % each.hex().encode() for each in side) for side in pieces)
    merged = merge_text(*lines)
    settled = [chunk for chunk in merged.chunks if isinstance(chunk, bytes)]
    text, quote = bytes.fromhex(b"".join(settled).decode()), changed(*quotes)
    if len(settled) < len(merged.chunks) or quote in re.sub(rb"\\.", b"", text):
        return None
    return b"%b%b%b%b" % (prefix, quote, text, quote)


def _blends(base: Sequence[bytes], ours: Sequence[bytes], theirs: Sequence[bytes]) -> bool:
    """Whether a side changed text that belongs to what the other side changed.

    Text belongs to the placeholders beside it, as a unit does to its number.
    """
    edits = sorted(
        (each.a_start, each.a_end, at, _has_placeholder(base[each.a_start : each.a_end]))
        for at, side in enumerate((ours, theirs))
        for each in diff_lines(base, side)
    )
    return any(
        one[2] != other[2] and one[3] + other[3] + _has_placeholder(base[one[1] : other[0]]) <= 1
        for one, other in pairwise(edits)
    )


def _has_placeholder(pieces: Sequence[bytes]) -> bool:
    return any(map(_PLACEHOLDER.match, pieces))


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

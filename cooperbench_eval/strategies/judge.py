"""Judges a merged file without running it.

What is asked needs no test: does it parse, is a name defined twice, no longer bound or
no longer defined, is something gone that both sides kept or one side added? A merge that
fails here is not offered at all, for abstaining is better than being wrong.

Most of a file stands alike in base, ours, theirs and merged. What is asked compares how
often something stands in each, so pieces that stand equally often in all four say nothing;
only where the others leave a suspicion is all of the file looked at.
"""

import builtins
import codecs
import io
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import TypeVar

from cooperbench_eval.strategies.pythonfacts import Attributes, Facts, UnreadableError, cut, slips
from cooperbench_eval.structure.languages import count_definitions, find_syntax_fault
from cooperbench_eval.structure.tokenmerge import count_tokens

__all__ = ["find_fault", "find_parse_fault"]


def find_fault(
    path: str, versions: tuple[bytes, bytes, bytes], merged: bytes, *, is_whole: bool = True
) -> str:
    """Say what is wrong with a merged file, empty if nothing is.

    Args:
        path: The file, whose ending says its language.
        versions: Base, ours and theirs.
        merged: The file as it would be.
        is_whole: Whether all of it is merged. If ours still stands where the sides
            conflict, nothing is said of what is missing.
    """
    if is_whole and (fault := _lost_token(versions, merged)):
        return fault
    if merged.count(codecs.BOM_UTF8, 1) > max(each.count(codecs.BOM_UTF8, 1) for each in versions):
        return "a byte order mark would stand in the middle"
    if path.endswith(_PYTHON):
        return _python_fault(versions, merged, is_whole=is_whole)
    return find_parse_fault(path, versions, merged) or _syntax_double(path, versions, merged)


_PYTHON = (".py", ".pyi")


def find_parse_fault(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Say why a merged file would not parse, empty if it does or a version does not."""
    if not path.endswith(_PYTHON):
        if any(_syntax_fault(path, source) for source in versions):
            return ""
        return find_syntax_fault(path, merged)
    try:
        for source in versions:
            cut(source)
    except UnreadableError:
        return ""
    try:
        cut(merged)
    except UnreadableError as exc:
        return f"it would not parse ({exc})"
    return ""


@lru_cache(maxsize=64)
def _syntax_fault(path: str, source: bytes) -> str:
    """Judge one of the versions, which many pairs share."""
    return find_syntax_fault(path, source)


@lru_cache(maxsize=64)
def _definitions(path: str, source: bytes) -> Counter[str]:
    """Read one of the versions, which many pairs share."""
    return count_definitions(path, source)


def _syntax_double(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Find what another language's merged file defines more often than any version."""
    before = [_definitions(path, source) for source in versions]
    for name, number in count_definitions(path, merged).items():
        if number > max(1, *(each[name] for each in before)):
            return f"{name} would be defined {number} times"
    return ""


_Piece = TypeVar("_Piece", bound=Hashable)


def _differing(files: Sequence[Counter[_Piece]]) -> list[list[_Piece]]:
    """Return the pieces of each file that do not stand equally often in all of them."""
    alike = set(files[0].items()).intersection(*(file.items() for file in files[1:]))
    return [
        [
            piece
            for piece, count in file.items()
            if (piece, count) not in alike
            for _ in range(count)
        ]
        for file in files
    ]


def _lost_token(versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Find a token of which fewer are left than the sides' changes account for.

    What both added alike may be there once, so the least is what is left if the sides'
    additions were one, or if their removals were two. No token spans lines, and a line
    that stands equally often in all files raises the least by as much as what is there.
    """
    paragraphs = _differing([*map(_paragraphs, versions), Counter(merged.split(b"\n\n"))])
    lines = _differing([Counter(b"\n".join(each).split(b"\n")) for each in paragraphs])
    base, ours, theirs, there = (count_tokens(b"\n".join(each)) for each in lines)
    for token in dict.fromkeys((*base, *ours, *theirs)):
        least = min(max(ours[token], theirs[token]), ours[token] + theirs[token] - base[token])
        if there[token] < least and token not in _SEPARATORS:
            return f"{token.decode('utf-8', 'replace')!r} is lost"
    return ""


_SEPARATORS = frozenset({b",", b";"})


@lru_cache(maxsize=64)
def _paragraphs(source: bytes) -> Counter[bytes]:
    """Count the paragraphs of one of the versions, which many pairs share."""
    return Counter(source.split(b"\n\n"))


def _python_fault(versions: tuple[bytes, bytes, bytes], merged: bytes, *, is_whole: bool) -> str:
    try:
        before = [cut(source) for source in versions]
    except UnreadableError:
        return ""  # nothing can be asked of a file that never was Python
    try:
        now = cut(merged)
    except UnreadableError as exc:
        return f"it would not parse ({exc})"
    files = [*before, now]
    if fault := _slip(files):
        return fault
    if not _is_suspect(files, is_whole=is_whole):
        return ""
    facts = [Facts.of(chunks) for chunks in files]
    fault = _double(facts)
    if is_whole:
        fault = fault or _unbound(facts) or _undefined(files, facts)
    return fault


def _slip(files: Sequence[Sequence[str]]) -> str:
    """Find what is hardly ever meant more often than the sides account for."""
    counts = [
        sum((slips(chunk) for chunk in chunks), Counter())
        for chunks in _differing([Counter(chunks) for chunks in files])
    ]
    base, ours, theirs, now = counts
    for slip, count in now.items():
        if count > max(
            base[slip], ours[slip], theirs[slip], ours[slip] + theirs[slip] - base[slip]
        ):
            return slip
    return ""


def _is_suspect(files: Sequence[Sequence[str]], *, is_whole: bool) -> bool:
    """Say whether all of the files must be read, base first and merged last.

    A fault that reading all of them finds is never passed over here. What the common
    chunks hold counts for each file alike, so that only this is left to see:

    - A name defined more often in merged than in any version is so by the others.
    - A name unbound in merged alone is used by merged's others, and then each version
      whose others use it binds it there; or it is used by all, and each version's others
      bind it. A star import may stand for any binding.
    - A name that a version alone defines is defined by its others, not by merged's.
    """
    facts = [Facts.of(chunks) for chunks in _differing([Counter(chunks) for chunks in files])]
    *before, now = facts
    if _more_often(facts):
        return True
    if not is_whole:
        return False
    if not now.has_star and (
        any(each.has_star for each in before)
        or _unbound(facts)
        or set.intersection(*(each.bound for each in before)) - now.bound
    ):
        return True
    gone = _gone(facts)
    return bool(gone) and any(gone.intersection(_NAME.findall(chunk)) for chunk in files[-1])


_NAME = re.compile(r"\w+")


def _more_often(facts: Sequence[Facts]) -> list[str]:
    """Return what merged defines more often than any version."""
    *before, now = facts
    return [
        name
        for name, count in now.definitions.items()
        if count > max(each.definitions[name] for each in before)
    ]


def _double(facts: Sequence[Facts]) -> str:
    for name in _more_often(facts):
        if (count := facts[-1].definitions[name]) > 1:
            return f"{name} would be defined {count} times"
    return ""


def _unbound(facts: Sequence[Facts]) -> str:
    *before, now = facts
    unbound = now.unbound.difference(*(each.unbound for each in before))
    return f"{min(unbound)} would not be bound" if unbound else ""


def _gone(facts: Sequence[Facts]) -> set[str]:
    """Return what a version defines and merged no longer does."""
    *before, now = facts
    return set().union(*(each.defined for each in before)) - now.known - _OF_BUILTINS


_OF_BUILTINS = frozenset(
    name
    for kind in (*vars(builtins).values(), *vars(io).values())
    if isinstance(kind, type)
    for name in dir(kind)
)
"""What may be an attribute of anything, whoever else defines it."""


def _undefined(files: Sequence[Sequence[str]], facts: Sequence[Facts]) -> str:
    """Find an attribute that is read but lost its definition.

    If a side that does not define it reads it too, it comes from elsewhere.
    """
    now = facts[-1]
    gone = _gone(facts)
    if not gone or "__getattr__" in now.known:
        return ""
    sides = [(each, Attributes.of(chunks)) for each, chunks in zip(facts, files, strict=True)][1:]
    read = sides.pop()[1]
    for name in sorted(gone & read.used - read.stored):
        if not any(
            name in there.used for side, there in sides if name not in side.known | there.stored
        ):
            return f"{name} is used, but would no longer be defined"
    return ""

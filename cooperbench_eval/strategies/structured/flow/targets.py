"""Finds the variables that a statement sets."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from cooperbench_eval.languages.tree import Construct, Element
from cooperbench_eval.strategies.structured.flow.words import ACCESS, is_name

__all__ = ["Target", "parameters_of", "pattern", "targets_of"]

_SIGNS = frozenset({b"=", b":="})
_CHANGING = frozenset(
    b"+= -= *= /= %= &= |= ^= @= **= //= <<= >>= >>>= &&= ||= ??= &^= ++ --".split()
)
_NAMING = frozenset({"with", "except", "import"})


class Target(NamedTuple):
    """What a part of a statement sets.

    Attributes:
        place: The index of the part.
        names: The variables; `a.b` for an attribute.
        is_read: Whether the part is read as well.
    """

    place: int
    names: tuple[bytes, ...]
    is_read: bool


def targets_of(kind: str, children: Sequence[Element]) -> Iterator[Target]:
    """Yield what a statement sets, without its suites and the functions inside it."""
    words = [child.plain for child in children]
    if kind in {"def", "class"}:
        at = next((i for i, word in enumerate(words) if is_name(word)), None)
        if at is not None:
            yield Target(at, (words[at],), is_read=False)
        return
    start = 0
    for i, (child, word) in enumerate(zip(children, words, strict=True)):
        if word in _SIGNS or word in _CHANGING:
            for target in _assigned(children, start, i):
                yield target._replace(is_read=target.is_read or word not in _SIGNS)
            start = i + 1
        elif word == b";" or (word == b"," and kind in {"declaration", "spec"}):
            start = i + 1
        elif span := _named(kind, words, i):
            yield from _assigned(children, *span)
        if isinstance(child, Construct):
            yield from _inside(kind, i, child)


def _named(kind: str, words: Sequence[bytes], i: int) -> tuple[int, int] | None:
    """Return the span of names that a word such as `in`, `as` or `catch` belongs to."""
    word = words[i]
    if word in {b"in", b"of"} and kind == "for":
        return words.index(b"for") + 1, i
    if word == b"as" and kind in _NAMING:
        return i + 1, i + 2
    return (i + 1, len(words)) if word in {b"catch", b"del"} else None


def _inside(kind: str, i: int, child: Construct) -> Iterator[Target]:
    """Yield what a part sets: in the head of a loop, in a pattern, or by a walrus."""
    if child.kind in {"assignment", "declaration", "spec"}:
        for target in targets_of(child.kind, child.children):
            yield Target(i, target.names, is_read=True)
        return
    if kind in {"case", "arm"}:
        yield Target(i, tuple(pattern(child)), is_read=True)
    if kind == "import" and child.kind == "items":
        names = [_name_imported(item) for item in child.children]
        yield Target(i, tuple(filter(is_name, names)), is_read=False)
    for each in child.walk():
        parts = [part.plain for part in each.children]
        names = [one for one, sign in pairwise(parts) if sign == b":="]
        if names and kind != "def":
            yield Target(i, tuple(filter(is_name, names)), is_read=True)


def _name_imported(item: Element) -> bytes:
    words = [child.plain for child in item.children]
    return words[-1] if b"as" in words else words[0] if words else b""


def _assigned(children: Sequence[Element], start: int, end: int) -> Iterator[Target]:
    """Yield the targets in a span: names, attributes, and names in brackets."""
    for i in range(start, end):
        word = children[i].plain
        before = children[i - 1].plain if i > start else b""
        after = children[i + 1] if i + 1 < end else None
        if word == b":":  # an annotation follows
            return
        if before in ACCESS:
            continue
        child = children[i]
        if isinstance(child, Construct):
            is_first = not is_name(before) and before not in {b")", b"]"}
            if is_first or (child.kind == "group" and _binds(children, start)):
                yield Target(i, tuple(pattern(child)), is_read=False)
        elif not is_name(word) or isinstance(after, Construct):
            continue
        elif after is not None and after.plain in ACCESS:
            if i + 3 == end:
                yield Target(i, (word + b"." + children[i + 2].plain,), is_read=False)
        else:
            yield Target(i, (word,), is_read=False)


def _binds(children: Sequence[Element], start: int) -> bool:
    """Whether a span is a pattern, as in `if let Some(x) = found`."""
    return any(child.plain == b"let" for child in children[: start + 2])


def pattern(element: Element) -> Iterator[bytes]:
    """Yield the names that a pattern in brackets binds."""
    words = [child.plain for child in element.children]
    for i, child in enumerate(element.children):
        if words[i - 1 : i] == [b"="]:
            return  # a default
        after = element.children[i + 1] if i + 1 < len(words) else None
        if isinstance(child, Construct):
            yield from pattern(child)
        elif is_name(words[i]) and (after is None or _ends_name(after)):
            yield words[i]


def _ends_name(after: Element) -> bool:
    return not isinstance(after, Construct) and after.plain not in ACCESS | {b":"}


def parameters_of(function: Construct) -> set[bytes]:
    """Return the names of a function's parameters."""
    found: set[bytes] = set()
    for part in function.children:
        if part.plain in {b"=>", b"{", b":"}:
            break
        if isinstance(part, Construct) and part.kind == "def":
            found |= parameters_of(part)
        elif isinstance(part, Construct) and part.kind == "group":
            lists = [each for each in part.children if each.kind == "parameters"]
            items = [item for each in lists for item in each.children]
            found |= {name for item in items for name in _parameter(item)}
    words = [part.plain for part in function.children]
    if b"=>" in words:
        found |= set(filter(is_name, words[: words.index(b"=>")][-1:]))
    return found


def _parameter(item: Element) -> Iterator[bytes]:
    for part in item.children:
        if part.plain in {b":", b"="}:
            return
        if isinstance(part, Construct):
            yield from pattern(part)
        elif is_name(part.plain):
            yield part.plain
            return

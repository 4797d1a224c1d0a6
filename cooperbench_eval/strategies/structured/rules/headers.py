"""Aligns a statement inside the header of another with the same statement before it.

Go writes `if value := find(); value != nil {`, or the assignment on a line of its own;
Python writes `if (value := find()):`, or the assignment on a line of its own. If one
side changed the form, the other side's edits are made in the form with two statements.
"""

from collections.abc import Collection, Iterator

from attrs import evolve

from cooperbench_eval.languages.tree import Construct, Element, Elements, Mode, Token
from cooperbench_eval.strategies.structured.rules.merger import Merger

__all__ = ["merge_headers"]

_SHORTEST = 3
"""The fewest parts of a header: its keyword, a condition, and what follows."""


def merge_headers(
    merger: Merger, base: Elements, ours: Elements, theirs: Elements
) -> Elements | None:
    """Merge versions of which one has the first part of a header as a statement of its own."""
    versions = base, ours, theirs
    alone = [{each.plain for each in version} for version in versions]
    inside = [set(_first_parts(version)) for version in versions]
    moved = set().union(*alone) & set().union(*inside)
    if not moved:
        return None
    before, mine, other = (
        _split_all(version, moved - there) for version, there in zip(versions, alone, strict=True)
    )
    return merger.merge_children(before, mine, other, Mode.MEMBERS)


def _first_parts(statements: Elements) -> Iterator[bytes]:
    for each in statements:
        if parts := _split(each):
            yield parts[0].plain


def _split_all(statements: Elements, moved: Collection[bytes]) -> Elements:
    out: list[Element] = []
    for each in statements:
        parts = _split(each)
        out += parts if parts and parts[0].plain in moved else (each,)
    return tuple(out)


def _split(statement: Element) -> tuple[Construct, Construct] | None:
    """Split a statement into the first part of its header, and the rest."""
    if not isinstance(statement, Construct) or statement.mode is not Mode.MEMBERS:
        return None
    head, *clauses = statement.children
    if not isinstance(head, Construct) or head.kind not in {"if", "switch"}:
        return None
    if len(head.children) < _SHORTEST:
        return None
    found = _split_semicolon(head.children) or _split_walrus(head.children)
    if found is None:
        return None
    first, rest = found
    word = head.children[0].with_space(b"\n")
    head = evolve(head, children=(word, *rest))
    return first.with_space(statement.space), evolve(statement, children=(head, *clauses))


def _split_semicolon(header: Elements) -> tuple[Construct, Elements] | None:
    """Split `if first; rest`."""
    _, first, sign, *rest = header
    if not isinstance(first, Construct) or sign.plain != b";":
        return None
    return first, tuple(rest)


def _split_walrus(header: Elements) -> tuple[Construct, Elements] | None:
    """Split `if (name := value) rest` into `name = value` and `if name rest`.

    The brackets are evaluated first, so nothing moves across another expression.
    """
    group = header[1]
    items = group.children[1].children if group.kind == "group" else ()
    words = items[0].children if len(items) == 1 else ()
    name, sign, *_ = (*words, None, None)
    if not isinstance(name, Token) or not isinstance(sign, Token) or sign.word != b":=":
        return None
    if _continues(header[2]):
        return None
    first = Construct(
        kind="assignment",
        key=name.plain,
        children=(name, sign._replace(word=b"="), *words[2:]),
    )
    return first, (name.with_space(group.space), *header[2:])


def _continues(element: Element) -> bool:
    """Whether the element continues the operand before it."""
    return element.kind == "group" or element.plain == b"."

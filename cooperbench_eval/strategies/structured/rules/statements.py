"""Parts of statements: the value, the variable that gets it, and the names in them."""

import re
from collections.abc import Iterable
from typing import Protocol

from attrs import evolve

from cooperbench_eval.languages.tree import (
    ASSIGNING,
    DECLARING,
    Construct,
    DisagreementError,
    Element,
    Elements,
    Mode,
    Token,
)
from cooperbench_eval.languages.words import WORD

_NAME = re.compile(rb"[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*\Z")
PLACEHOLDERS = frozenset({b"pass", b"..."})
"""Statements of suites that do nothing."""
_QUOTES = frozenset({b'"', b"'", b"`"})
_ENDS = frozenset({b";"})


def is_name(word: bytes) -> bool:
    """Whether a word may be the name of a variable."""
    return _NAME.match(word) is not None


def value_of(statement: Element) -> Construct:
    """Return the value that a statement assigns, returns or evaluates."""
    start, end = _value_span(statement)
    return Construct(kind="value", children=statement.children[start:end])


def with_value(statement: Construct, value: Elements) -> Construct:
    """Return a statement with another value."""
    start, end = _value_span(statement)
    children = (*statement.children[:start], *value, *statement.children[end:])
    return evolve(statement, children=children)


def _value_span(statement: Element) -> tuple[int, int]:
    children = statement.children
    start, end = int(children[:1] != () and children[0].plain == b"return"), len(children)
    if statement.kind == "assignment":
        places = (i for i, child in enumerate(children, 1) if child.plain in ASSIGNING)
        start = next(places, 0)
    while end > start and (children[end - 1].plain in _ENDS or children[end - 1].kind == "comment"):
        end -= 1
    return start, end


def suite_of(clause: Element) -> Construct:
    """Return the suite of a clause.

    Raises:
        DisagreementError: It has none.
    """
    for child in clause.parts if isinstance(clause, Construct) else ():
        if child.kind == "suite":
            return child
    raise DisagreementError.at(clause)


def with_body(clause: Construct, body: Elements) -> Construct:
    """Return a clause with other statements in its suite."""
    return clause.with_parts(lambda e: evolve(e, children=body) if e.kind == "suite" else e)


def target_of(assignment: Element) -> bytes:
    """Return the words to which an assignment assigns; empty for other statements."""
    if assignment.kind != "assignment":
        return b""
    start, _ = _value_span(assignment)
    words = [child.plain for child in assignment.children[: max(start - 1, 0)]]
    return b" ".join(word for word in words if word not in DECLARING)


def count_name(elements: Iterable[Element], name: bytes) -> int:
    """Count how often a variable occurs, not as an attribute or as an argument's name."""
    count = 0
    for each in elements:
        if isinstance(each, Token):
            count += each.word == name
            continue
        for i, child in enumerate(each.children):
            if isinstance(child, Construct):
                count += count_name((child,), name)
            else:
                count += child.word == name and _is_variable(each, i)
    return count


def _is_variable(parent: Construct, index: int) -> bool:
    """Whether the name at an index is a variable, not an attribute or an argument's name."""
    children = parent.children
    before = children[index - 1].plain if index else b""
    after = children[index + 1].plain if index + 1 < len(children) else b""
    names_item = parent.kind == "item" and not index and after in {b"=", b":"}
    return before not in {b".", b"?."} and not names_item


def may_be_formatted(element: Element, name: bytes) -> bool:
    """Whether a string in an element may read a variable, as Python's `f"{name}"` does."""
    return any(
        word[-1:] in _QUOTES and name in WORD.findall(word) and (b"{" in word or b"$" in word)
        for word in element.words()
    )


def replaced(element: Element, old: Construct, new: Construct) -> Element:
    """Return an element with *new* in the place of the construct *old* within it."""
    if element is old:
        return new
    if isinstance(element, Token) or not any(each is old for each in element.walk()):
        return element
    return element.with_parts(lambda child: replaced(child, old, new))


class Merger(Protocol):
    """The three-way merge that the rules use for the parts of statements."""

    @property
    def theirs_first(self) -> bool:
        """Whether theirs comes first where both orders are allowed."""

    def merge(self, base: Element, ours: Element, theirs: Element) -> Element:
        """Merge two versions of a construct."""

    def merge_children(
        self, base: Elements, ours: Elements, theirs: Elements, mode: Mode, kind: str = "suite"
    ) -> Elements:
        """Merge two versions of the children of a construct of some kind."""

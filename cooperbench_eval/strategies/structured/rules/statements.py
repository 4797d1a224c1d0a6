"""Parts of statements: the value, and the variable that gets it."""

from typing import Protocol

from attrs import evolve

from cooperbench_eval.languages.tree import (
    ASSIGNING,
    DECLARING,
    Construct,
    Element,
    Elements,
    Mode,
    Token,
)

PLACEHOLDERS = frozenset({b"pass", b"..."})
"""Statements of suites that do nothing."""
_ENDS = frozenset({b";"})


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


def target_of(assignment: Element) -> bytes:
    """Return the words to which an assignment assigns; empty for other statements."""
    if assignment.kind != "assignment":
        return b""
    start, _ = _value_span(assignment)
    words = [child.plain for child in assignment.children[: max(start - 1, 0)]]
    return b" ".join(word for word in words if word not in DECLARING)


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

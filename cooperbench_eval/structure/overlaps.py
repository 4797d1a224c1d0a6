"""Combines the edits of both sides where they changed the same statements."""

from typing import Protocol

from attrs import evolve, frozen

from cooperbench_eval.structure.alignment import align, similarity
from cooperbench_eval.structure.ordering import may_leave
from cooperbench_eval.structure.tree import (
    ASSIGNING,
    DECLARING,
    Construct,
    Element,
    Elements,
    Mode,
    StructureError,
    Token,
)

__all__ = ["Merger", "combine"]

_LEAST_WRAPPED = 0.5
_LEAST_REPEATED = 0.8
_LEAST_ALIKE = 0.5
_PLACEHOLDERS = frozenset({b"pass", b"..."})


class Merger(Protocol):
    """The three-way merge that the rules use for the parts of statements."""

    @property
    def theirs_first(self) -> bool:
        """Whether theirs comes first where both orders are allowed."""

    def merge(self, base: Element, ours: Element, theirs: Element) -> Element:
        """Merge two versions of a construct."""

    def merge_children(
        self, base: Elements, ours: Elements, theirs: Elements, mode: Mode
    ) -> Elements:
        """Merge two versions of a construct's children."""


def combine(merger: Merger, base: Elements, ours: Elements, theirs: Elements) -> Elements | None:
    """Apply the first rule that fits statements which both sides changed.

    Returns:
        The combined statements; `None` if no rule fits.
    """
    for rule in (_fill, _wrap, _return):
        found = rule(merger, base, ours, theirs)
        if found is not None:
            return found
    return None


def _fill(merger: Merger, base: Elements, ours: Elements, theirs: Elements) -> Elements | None:
    """Both sides replaced a placeholder: keep both replacements."""
    if any(each.plain not in _PLACEHOLDERS for each in base):
        return None
    return merger.merge_children((), ours, theirs, Mode.MEMBERS)


def _wrap(merger: Merger, base: Elements, ours: Elements, theirs: Elements) -> Elements | None:
    """One side moved the statements into a new suite: apply the other side's edits in it."""
    for one, other, is_theirs in ((ours, theirs, False), (theirs, ours, True)):
        suite = _suite_around(base, _new(base, one))
        if suite is None:
            continue
        inner = (other, suite.children) if is_theirs else (suite.children, other)
        try:
            children = merger.merge_children(base, *inner, Mode.MEMBERS)
        except StructureError:
            continue
        new = evolve(suite, children=children)
        return tuple(_replaced(each, suite, new) for each in one)
    return None


def _suite_around(base: Elements, statements: Elements) -> Construct | None:
    """Find the suite, inside a new statement, that keeps the most words of *base*.

    If two branches both keep these words, the edit would have to be made in both branches,
    so the result is `None`.
    """
    total = sum(len(each.words()) for each in base)
    best, most = None, total * _LEAST_WRAPPED
    copies: list[Construct] = []
    suites = (found for each in statements for found in each.walk() if found.kind == "suite")
    for suite in suites:
        places = align(base, suite.children, Mode.MEMBERS)
        there = [
            (each.words(), suite.children[place].words())
            for each, place in zip(base, places, strict=True)
            if place is not None
        ]
        kept = sum(len(before) for before, _ in there)
        if kept > most or (best is None and kept == most and kept):
            best, most = suite, kept
        repeated = [len(words) for words, now in there if similarity(words, now) >= _LEAST_REPEATED]
        if there and sum(repeated) >= total * _LEAST_WRAPPED:
            copies.append(suite)
    if best and not all(_is_within(best, each) or _is_within(each, best) for each in copies):
        return None
    return best


def _is_within(one: Construct, other: Construct) -> bool:
    return any(each is one for each in other.walk())


def _new(base: Elements, statements: Elements) -> Elements:
    places = align(base, statements, Mode.MEMBERS)
    return tuple(each for i, each in enumerate(statements) if i not in places)


def _replaced(element: Element, old: Construct, new: Construct) -> Element:
    if element is old:
        return new
    if isinstance(element, Token) or not any(each is old for each in element.walk()):
        return element
    children = tuple(_replaced(child, old, new) for child in element.children)
    return evolve(element, children=children)


def _return(merger: Merger, base: Elements, ours: Elements, theirs: Elements) -> Elements | None:
    """Combine two sides that turned `return value` into work on a named value.

    One side's work is done first, then the other side's work on its result. A side that
    may return early comes second.
    """
    if len(base) != 1 or base[0].kind != "return":
        return None
    mine, other = (_Return.of(_value(base[0]), side) for side in (ours, theirs))
    if mine is None or other is None or (mine.leaves_early and other.leaves_early):
        return None
    value = merger.merge(_value(base[0]), mine.value, other.value)
    if not isinstance(value, Construct):
        return None
    theirs_first = (
        merger.theirs_first if mine.leaves_early == other.leaves_early else mine.leaves_early
    )
    first, second = (other, mine) if theirs_first else (mine, other)
    return first.then(second, value)


@frozen(kw_only=True)
class _Return:
    """Statements that compute a value, name it, work on it, and return a result.

    Attributes:
        before: The statements before the value is computed.
        value: The value.
        naming: The assignment of the value; `None` if it is returned directly.
        work: The statements between the assignment and the `return`.
        last: The `return`.
    """

    before: Elements
    value: Construct
    naming: Construct | None
    work: Elements
    last: Construct

    @classmethod
    def of(cls, value: Construct, statements: Elements) -> "_Return | None":
        """Match the statements into which a side turned `return value`, or return `None`."""
        if not statements:
            return None
        last = statements[-1]
        if not isinstance(last, Construct) or last.kind != "return":
            return None
        if _are_alike(_value(last), value):
            return cls(before=statements[:-1], value=_value(last), naming=None, work=(), last=last)
        for i, each in enumerate(statements):
            if isinstance(each, Construct) and each.kind == "assignment":
                found = _value(each)
                if _are_alike(found, value):
                    before, work = statements[:i], statements[i + 1 : -1]
                    return cls(before=before, value=found, naming=each, work=work, last=last)
        return None

    @property
    def leaves_early(self) -> bool:
        return any(map(may_leave, self.work))

    def then(self, other: "_Return", value: Construct) -> Elements:
        """Return statements for this side's work on *value*, then the other's on the result."""
        before = (*self.before, *other.before)
        if self.naming is None or other.naming is None:
            one = other if self.naming is None else self
            return (*before, *one.named(value), *one.work, one.last)
        handed = _value(self.last)
        words = [word for word in handed.words() if word != b";"]
        is_named = words == [_target(other.naming).plain]
        passing = () if is_named else (_assigned(other.naming, handed),)
        return (*before, *self.named(value), *self.work, *passing, *other.work, other.last)

    def named(self, value: Construct) -> Elements:
        return () if self.naming is None else (_assigned(self.naming, value),)


def _value(statement: Element) -> Construct:
    children = statement.children
    at = int(children[:1] != () and children[0].plain == b"return")
    if statement.kind == "assignment":
        at = next(i for i, child in enumerate(children, 1) if child.plain in ASSIGNING)
    return Construct(kind="value", children=children[at:])


def _target(assignment: Construct) -> Element:
    return next(child for child in assignment.children if child.plain not in DECLARING)


def _assigned(assignment: Construct, value: Construct) -> Construct:
    kept = len(assignment.children) - len(_value(assignment).children)
    return evolve(assignment, children=(*assignment.children[:kept], *value.children))


def _are_alike(one: Construct, other: Construct) -> bool:
    return similarity(one.words(), other.words()) >= _LEAST_ALIKE

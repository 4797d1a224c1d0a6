"""Makes one side's edits of statements in the suite into which the other side moved them."""

from collections.abc import Iterator
from itertools import pairwise

from attrs import evolve, frozen

from cooperbench_eval.languages.alignment import align, similarity
from cooperbench_eval.languages.tree import (
    Construct,
    Element,
    Elements,
    Mode,
    OrderError,
    StructureError,
)
from cooperbench_eval.strategies.structured.flow.facts import facts_of, is_call, parameters_of
from cooperbench_eval.strategies.structured.rules.statements import (
    PLACEHOLDERS,
    Merger,
    replaced,
)

_LEAST_WRAPPED = 0.5
_LEAST_REPEATED = 0.8
_ACTING = frozenset({b"await", b"delete", b"new", b"yield"})
"""Words of an expression that does more than read values."""


def merge_wrapped(
    merger: Merger, base: Elements, ours: Elements, theirs: Elements
) -> Elements | None:
    """One side moved the statements into a new suite: apply the other side's edits in it.

    If both sides moved them, the order in which the suites nest must not matter. A side that
    moved only some of them does not take the other's edits of the rest, and nothing is left to
    move where the other side removed all of them. What the other side inserted beside its own
    new suite stays beside it. If both suites are kept, one with new work is the outer one, so that
    the other side's condition does not apply to that work. A function counts as new work: a
    condition is put into it, so that it is checked when the statements are executed.
    """
    first, second = (_Wrap.of(base, side) for side in (ours, theirs))
    sides = [(ours, theirs, False), (theirs, ours, True)]
    if first and second:
        if not (first.may_nest(second) or second.may_nest(first)):
            return None
        sides = [
            each for each, inner in zip(sides, (second, first), strict=True) if not inner.has_work
        ]
    for one, other, is_theirs in sides:
        suite = _suite_around(base, _new(base, one))
        if suite is None or _keeps_beside(base, one) or _is_empty(other):
            continue
        lead, core, tail = _parted(base, other)
        if len(one) > 1 and (lead or tail):
            continue
        inner = (core, suite.children) if is_theirs else (suite.children, core)
        try:
            children = merger.merge_children(base, *inner, Mode.MEMBERS)
        except OrderError:
            raise
        except StructureError:
            continue
        new = evolve(suite, children=children)
        return (*lead, *(replaced(each, suite, new) for each in one), *tail)
    return None


def _keeps_beside(base: Elements, statements: Elements) -> bool:
    """Whether a side left some of the statements where they were."""
    return any(place is not None for place in align(base, statements, Mode.MEMBERS))


def _is_empty(statements: Elements) -> bool:
    return all(each.kind == "comment" or each.plain in PLACEHOLDERS for each in statements)


def _has_one_of(base: Elements, statement: Element) -> bool:
    """Whether a statement of the base is in a suite of a statement."""
    known = {each.plain for each in base if isinstance(each, Construct)}
    suites = (each for each in statement.walk() if each.kind == "suite")
    return any(each.plain in known for suite in suites for each in suite.children)


def _parted(base: Elements, statements: Elements) -> tuple[Elements, Elements, Elements]:
    """Split a side with a new suite into what precedes it, the suite, and what follows.

    The middle is all that has statements of the base, and everything if none has a new suite.
    """
    places = {place for place in align(base, statements, Mode.MEMBERS) if place is not None}
    new = [i for i in range(len(statements)) if i not in places]
    around = [i for i in new if _has_one_of(base, statements[i])]
    if not around:
        return (), statements, ()
    start, end = min(*places, *around, around[0]), max(*places, *around, around[0]) + 1
    while start and statements[start - 1].kind == "comment":
        start -= 1
    return statements[:start], statements[start:end], statements[end:]


@frozen(kw_only=True)
class _Wrap:
    """The suite into which a side moved statements.

    Attributes:
        around: The statement that contains the suite.
        suite: The suite.
        function: The new function to which it belongs, if any.
        has_work: Whether the suite is in a function, or *around* has other new statements.
        known: The names in the statements of the base.
    """

    around: Construct
    suite: Construct
    function: Construct | None
    has_work: bool
    known: frozenset[bytes]

    @classmethod
    def of(cls, base: Elements, statements: Elements) -> "_Wrap | None":
        suite = _suite_around(base, _new(base, statements))
        if suite is None:
            return None
        around = next(
            each for each in statements if isinstance(each, Construct) and _has(each, suite)
        )
        functions = [part for part in around.walk() if part.kind == "def" and _has(part, suite)]
        return cls(
            around=around,
            suite=suite,
            function=functions[-1] if functions else None,
            has_work=bool(functions) or any(_new_work(base, around, suite)),
            known=frozenset(word for each in base for word in each.words()),
        )

    def may_nest(self, other: "_Wrap") -> bool:
        """Whether this is an `if` that may be around or in the other side's suite.

        Its conditions must call nothing and set nothing. If the other side's suite is in a
        function, their names must mean the same there.
        """
        if self.around.kind != "if" or self.function:
            return False
        headers = [_without_suite(each) for each in self.around.parts]
        if not all(map(_calls_nothing, headers)):
            return False
        names = {word for each in headers for word in each.words()} - self.known
        return names.isdisjoint(_bound_in(other.function)) if other.function else True


def _new_work(base: Elements, around: Construct, suite: Construct) -> Iterator[Element]:
    """Yield the statements in *around* that were not moved there, apart from comments."""
    beside = (part for part in around.walk() if part.kind == "suite" and not _has(suite, part))
    statements = (each for part in beside for each in part.children if not _has(each, suite))
    yield from (
        each for each in (*_new(base, suite.children), *statements) if each.kind != "comment"
    )


def _without_suite(clause: Construct) -> Construct:
    return evolve(clause, children=tuple(e for e in clause.children if e.kind != "suite"))


def _calls_nothing(header: Construct) -> bool:
    """Whether the condition of a clause neither calls a function nor sets a variable."""
    parts = list(header.walk())
    pairs = (pair for each in parts for pair in pairwise(each.children))
    is_acting = any(is_call(part, before) for before, part in pairs)
    is_acting = is_acting or any(facts_of(each).sets for each in parts)
    return not (is_acting or _ACTING.intersection(header.words()))


def _bound_in(function: Construct) -> set[bytes]:
    """Return the names that have a meaning of their own in a function."""
    found = {b"this", b"arguments"}
    for each in function.walk():
        found |= parameters_of(each) if each.kind == "def" else facts_of(_without_suite(each)).sets
    return found


def _has(element: Element, part: Construct) -> bool:
    return any(each is part for each in element.walk())


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
    if best and not all(_has(each, best) or _has(best, each) for each in copies):
        return None
    return best


def _new(base: Elements, statements: Elements) -> Elements:
    places = align(base, statements, Mode.MEMBERS)
    return tuple(each for i, each in enumerate(statements) if i not in places)

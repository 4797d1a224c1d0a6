"""Makes one side's edits of statements in the suite into which the other side moved them."""

from attrs import evolve

from cooperbench_eval.languages.alignment import align, similarity
from cooperbench_eval.languages.tree import (
    Construct,
    Element,
    Elements,
    Mode,
    OrderError,
    StructureError,
)
from cooperbench_eval.strategies.structured.rules.statements import (
    PLACEHOLDERS,
    Merger,
    replaced,
)

_LEAST_WRAPPED = 0.5
_LEAST_REPEATED = 0.8


def merge_wrapped(
    merger: Merger, base: Elements, ours: Elements, theirs: Elements
) -> Elements | None:
    """One side moved the statements into a new suite: apply the other side's edits in it.

    If both sides moved them, the order in which the suites nest must not matter. A side that
    moved only some of them does not take the other's edits of the rest, and nothing is left to
    move where the other side removed all of them. What the other side inserted beside its own
    new suite stays beside it.
    """
    around = [(side, _suite_around(base, _new(base, side))) for side in (ours, theirs)]
    if all(suite and not _is_guarded(side, suite) for side, suite in around):
        return None
    for one, other, is_theirs in ((ours, theirs, False), (theirs, ours, True)):
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


def _is_guarded(statements: Elements, suite: Construct) -> bool:
    """Whether a suite belongs to an `if` whose conditions call nothing."""
    around = next(each for each in statements if any(part is suite for part in each.walk()))
    heads = [child for clause in around.children for child in clause.children]
    return around.kind == "if" and not any(
        isinstance(child, Construct) and child.kind != "suite" for child in heads
    )


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

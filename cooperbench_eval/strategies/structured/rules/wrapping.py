"""Applies one side's edits inside a suite into which the other side moved the statements."""

from attrs import evolve

from cooperbench_eval.languages.alignment import align, similarity
from cooperbench_eval.languages.tree import Construct, Elements, Mode, OrderError, StructureError
from cooperbench_eval.strategies.structured.rules.absorbing import find_move
from cooperbench_eval.strategies.structured.rules.merger import Merger
from cooperbench_eval.strategies.structured.rules.statements import replaced

__all__ = ["merge_wrapped"]

_LEAST_WRAPPED = 0.5
_LEAST_REPEATED = 0.8


def merge_wrapped(
    merger: Merger, base: Elements, ours: Elements, theirs: Elements
) -> Elements | None:
    """One side moved the statements into a new suite: apply the other side's edits in it.

    If both sides moved them, the order in which the suites nest must not matter.
    """
    around = [(side, _suite_around(base, _new(base, side))) for side in (ours, theirs)]
    if all(suite and not _is_guarded(side, suite) for side, suite in around):
        return None
    for one, other, is_theirs in ((ours, theirs, False), (theirs, ours, True)):
        suite = _suite_taking(base, _new(base, one))
        if suite is None:
            continue
        inner = (other, suite.children) if is_theirs else (suite.children, other)
        try:
            children = merger.merge_children(base, *inner, Mode.MEMBERS)
        except OrderError:
            raise
        except StructureError:
            continue
        new = evolve(suite, children=children)
        return tuple(replaced(each, suite, new) for each in one)
    return None


def _is_guarded(statements: Elements, suite: Construct) -> bool:
    """Whether a suite belongs to an `if` whose conditions call nothing."""
    around = next(each for each in statements if any(part is suite for part in each.walk()))
    heads = [child for clause in around.children for child in clause.children]
    return around.kind == "if" and not any(
        isinstance(child, Construct) and child.kind != "suite" for child in heads
    )


def _suite_taking(base: Elements, statements: Elements) -> Construct | None:
    """Return the suite into which the statements moved, also if one is in a header there.

    Only one suite is tried, because each try may take as long as the whole merge.
    """
    suites = (each for one in statements for each in one.walk() if each.kind == "suite")
    moved = next((each for each in suites if find_move(base, each.children)), None)
    return moved or _suite_around(base, statements)


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

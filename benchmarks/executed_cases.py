"""Makes cases: a program, the edits of two sides, and what their merge must do.

The programs that have the edits of both sides say what is right. They are run in Python, which
also shows that each edit can be seen: without it, the program runs differently.
"""

import random
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from attrs import field, frozen
from executed_authors import Author, Place
from executed_bases import Builder
from executed_edits import REFACTORING, ContradictionError, Edit, Insert, combine, insert
from executed_inventing import INPUTS
from executed_programs import Do, Program
from executed_rendering import render
from executed_runs import FAILS, Event, Run, run_all

ALL_INPUTS = (0, 1, 2, 3, *(each for pair in INPUTS.values() for each in pair))


SUITES = 0.6
"""The share of cases in which the sides edit statements, and not lists."""


class Order(StrEnum):
    """Whether the edits of the sides can be combined."""

    FREE = "commute"
    SENSITIVE = "order matters"
    IMPOSSIBLE = "contradict"


@frozen(kw_only=True)
class Case:
    """Three versions, and the programs with both sides' edits, in both orders.

    Attributes:
        order: If it is not `FREE`, a conflict must stay open.
        merged: Ours before theirs, and theirs before ours; empty if they contradict.
    """

    number: int
    base: Program = field(repr=False)
    ours: tuple[Edit, ...]
    theirs: tuple[Edit, ...]
    order: Order
    merged: tuple[Program, ...] = field(repr=False)

    @property
    def kinds(self) -> str:
        """The kinds of the edits; those that both sides make are named once."""
        both = [each for each in self.ours if each in self.theirs]
        names = [
            "+".join(each.kind for each in side if each not in both) or "nothing"
            for side in (self.ours, self.theirs)
        ]
        shared = "".join(f" (both: {each.kind})" for each in both)
        return " | ".join(sorted(names)) + shared

    def texts(self, language: str) -> tuple[bytes, bytes, bytes]:
        """Return base, ours and theirs in a language."""
        sides = [combine(self.base, side) for side in (self.ours, self.theirs)]
        base, ours, theirs = (render(each, language) for each in (self.base, *sides))
        return base, ours, theirs

    def references(self, language: str) -> list[bytes]:
        """Return the merged programs in a language."""
        return [render(each, language) for each in self.merged]


def make_case(seed: int, number: int) -> Case:
    """Return the case of a number: the first random one whose edits can all be seen."""
    attempt = 0
    while True:
        chance = random.Random(f"{seed} {number} {attempt}")  # noqa: S311 - no secret
        base = Builder(chance).program()
        if case := judged(number, base, *_sides(chance, base)):
            return case
        attempt += 1


def _sides(chance: random.Random, base: Program) -> tuple[tuple[Edit, ...], tuple[Edit, ...]]:
    """Return the edits of both sides, at places that are close together."""
    place = _place(chance, base)
    both = chance.randrange(3) == 0
    sides = []
    for name in "ot":
        author = Author(chance, base, name)
        count = chance.randrange(0 if both else 1, 3)
        sides.append([author.edit(place) for _ in range(count)])
        if chance.randrange(5) == 0 and (edit := author.refactoring(place)):
            sides[-1].append(edit)
    if both:
        author = Author(chance, base, "s")
        # If there are two, the sides may have them in different orders.
        shared = [author.edit(place) for _ in range(chance.choice([1, 1, 1, 2]))]
        for side in sides:
            for edit in shared:
                side.insert(chance.randrange(len(side) + 1), edit)
        if chance.randrange(4) == 0 and sides[1] == shared[:1]:
            sides[0].extend(_again(shared[0]))
    return tuple(sides[0]), tuple(sides[1])


def _again(edit: Edit) -> list[Edit]:
    """Return an edit that inserts once more what an edit inserts, where that can be repeated."""
    if edit.kind != "insert log" or not isinstance(edit.steps[0], Insert):
        return []
    step = edit.steps[0]
    statements = [each for each in step.new if isinstance(each, Do)]
    repeated = [Do(f"{each.key}-again", each.call) for each in statements]
    return [Edit("insert again", (insert(step.what, step.after, *repeated),))]


def _place(chance: random.Random, base: Program) -> Place:
    if chance.random() < SUITES:
        suite = chance.choice(list(base.suites()))
        return Place(suite=suite.key, index=chance.randrange(len(suite.statements) + 1))
    names = ["imports", "constants", "table", "steps", "functions"]
    if base.box:
        names += ["fields", "methods"]
    return Place(list_name=chance.choice([*names, *(each.name for each in base.functions[:-1])]))


def judged(
    number: int, base: Program, ours: tuple[Edit, ...], theirs: tuple[Edit, ...]
) -> Case | None:
    """Return the case of two sides' edits, or `None` if an edit cannot be seen in a run."""
    if _is_unclear(ours, theirs) or _is_unclear(theirs, ours):
        return None
    if not all(_is_sound(base, side) for side in (ours, theirs)):
        return None
    try:
        merged = combine(base, ours, theirs), combine(base, theirs, ours)
    except ContradictionError:
        return Case(
            number=number, base=base, ours=ours, theirs=theirs,
            order=Order.IMPOSSIBLE, merged=(),
        )  # fmt: skip
    one, other = _run(merged)
    if _fails(one) or _fails(other) or not _all_seen(base, ours, theirs):
        return None
    order = Order.SENSITIVE if difference(other, one) else Order.FREE
    return Case(number=number, base=base, ours=ours, theirs=theirs, order=order, merged=merged)


def _is_unclear(side: Sequence[Edit], other: Sequence[Edit]) -> bool:
    """Whether nobody can say if what a side inserts belongs into what the other side wraps.

    It replaces the first statement there, or it returns before a cleanup of the other side.
    """
    kinds = {each.kind for each in side}
    others = {each.kind for each in other}
    if "protect the rest" in others and "insert guard" in kinds:
        return True
    is_replaced = "delete log" in kinds and len(kinds) > 1
    return is_replaced and any(each.startswith(("wrap in", "protect")) for each in others)


def _is_sound(base: Program, side: Sequence[Edit]) -> bool:
    """Whether the edits of one side can be combined, and each one can be seen."""
    try:
        before, after = _run([base, combine(base, side)])
    except ContradictionError:
        return False
    return not _fails(after) and after != before and _all_seen(base, side)


def _fails(run: Run | str) -> bool:
    return isinstance(run, str) or any(result == FAILS for _, result in run)


def _all_seen(base: Program, *sides: Sequence[Edit]) -> bool:
    """Whether the program with the edits of the sides runs differently without any of them.

    Refactorings are never seen.
    """
    without = []
    for edit in dict.fromkeys(each for side in sides for each in side):
        if edit.kind in REFACTORING:
            continue
        rest = ([each for each in side if each is not edit] for side in sides)
        try:
            without.append(combine(base, *rest))
        except ContradictionError:
            return False
    full, *others = _run([combine(base, *sides), *without])
    return full not in others


def _run(programs: Sequence[Program]) -> list[Run | str]:
    return run_all("python", [render(each, "python") for each in programs], ALL_INPUTS)


def difference(found: Run | str, expected: Run | str) -> str:
    """Return how a program runs differently from what both sides intend; empty if it does not.

    Events of one side may stand in any order beside those of the other side. Apart from that,
    each side sees the events of the base, of both and of its own in the expected order.
    """
    if isinstance(found, str) or isinstance(expected, str):
        return "" if found == expected else f"does not run ({found})"
    for x, (events, result), (wanted, wanted_result) in zip(
        ALL_INPUTS, found, expected, strict=True
    ):
        if problem := _events_problem(events, wanted):
            return f"{problem}, for input {x}"
        if result != wanted_result:
            return f"result {result} instead of {wanted_result}, for input {x}"
    return ""


def _events_problem(events: Sequence[Event], wanted: Sequence[Event]) -> str:
    tags, wanted_tags = (Counter(tag for tag, _ in each) for each in (events, wanted))
    if lost := wanted_tags - tags:
        return f"event lost ({next(iter(lost))})"
    if more := tags - wanted_tags:
        return f"event repeated ({next(iter(more))})"
    if Counter(events) != Counter(wanted):
        tag, value = next(iter(Counter(events) - Counter(wanted)))
        return f"value changed ({tag}: {value})"
    for other in "ot":
        seen, order = ([each for each in one if each[0][0] != other] for one in (events, wanted))
        if seen != order:
            return "order changed"
    return ""

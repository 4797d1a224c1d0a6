"""Finds expressions to which a side gave a name, and names them in another version.

`return f(a, b)` becomes `found = f(a, b)` and `return found`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from attrs import evolve, frozen

from cooperbench_eval.languages.alignment import align, similarity
from cooperbench_eval.languages.tree import Construct, Element, Elements, Mode, same
from cooperbench_eval.languages.words import PART
from cooperbench_eval.strategies.structured.flow.facts import is_name
from cooperbench_eval.strategies.structured.refactorings.changed import (
    Changed,
    ChangedFunction,
    Changes,
)
from cooperbench_eval.strategies.structured.refactorings.renaming import names_in
from cooperbench_eval.strategies.structured.rules.statements import target_of, value_of, with_value

_LEAST_ALIKE = 0.5
_APART = frozenset({"class", "def", "lambda", "suite"})


def name_expressions(function: ChangedFunction) -> Changes:
    """Give expressions the names that a side gave them."""
    taken = names_in(function.other)
    changed: tuple[Changed, Changed] = ({}, {})
    for suite, naming in namings_in(function.base, function.side):
        there = statement_like(suite, naming.statement, function.other)
        if there is None or target_of(naming.naming) in taken:
            continue
        if found := naming.in_other(there):
            changed[0][id(naming.statement)] = naming.in_base()
            changed[1][id(there)] = found
    return changed


class _Run(NamedTuple):
    """Where an expression is in a statement.

    Attributes:
        path: The index of the child at each step from the statement to the expression's parent.
        start: The index of the expression's first element in the parent.
        after: How many elements of the parent follow the expression.
    """

    path: tuple[int, ...]
    start: int
    after: int


@frozen
class Naming:
    """An expression of a statement in the base to which a side gave a name.

    Attributes:
        statement: The statement in the base.
        naming: The side's assignment.
        run: Where the expression is.
    """

    statement: Construct
    naming: Construct
    run: _Run

    def in_base(self) -> Elements:
        """Return the assignment and the statement that uses the name."""
        return self._named(self.statement)

    def in_other(self, statement: Construct) -> Elements:
        """Return the same for another version of the statement; empty if the place differs."""
        found = _at(statement, self.statement, self.run)
        is_there = found and similarity(_words(found), _words(self._value)) >= _LEAST_ALIKE
        return self._named(statement) if is_there else ()

    @property
    def _value(self) -> Elements:
        return _at(self.statement, self.statement, self.run)

    def _named(self, statement: Construct) -> Elements:
        name = next(each for each in self.naming.children if is_name(each.plain))
        value = _at(statement, self.statement, self.run)
        naming = with_value(self.naming, (value[0].with_space(b" "), *value[1:]))
        used = _replaced(statement, self.run, name.with_space(value[0].space))
        return naming.with_space(statement.space), used.with_space(b"\n")


def namings_in(base: Construct, side: Construct) -> Iterator[tuple[Construct, Naming]]:
    """Yield the expressions of a function in the base that a side named, each with its suite."""
    old = names_in(base)
    for before, after in _suites(base, side):
        places = align(before.children, after.children, Mode.MEMBERS)
        last = -1
        for each, place in zip(before.children, places, strict=True):
            if place is None:
                continue
            for new in after.children[last + 1 : place]:
                found = _naming(each, new, after.children[place])
                if found and target_of(new) not in old:
                    yield before, found
            last = place


def _naming(statement: Element, naming: Element, used: Element) -> Naming | None:
    """Match a statement of the base with a side's assignment and its use."""
    name = target_of(naming)
    if not is_name(name) or not isinstance(naming, Construct):
        return None
    if not isinstance(statement, Construct) or not isinstance(used, Construct):
        return None
    run = _run_of(statement, used, name)
    if run is None:
        return None
    value = value_of(naming).children
    is_alike = similarity(_words(_at(statement, statement, run)), _words(value)) >= _LEAST_ALIKE
    return Naming(statement, naming, run) if is_alike else None


def _run_of(base: Construct, side: Construct, name: bytes) -> _Run | None:
    """Find where a side's statement has a name and that of the base has an expression."""
    if base.kind != side.kind or base.mode is not side.mode or base.kind in _APART:
        return None
    words = [each.plain for each in side.children]
    if words.count(name) == 1 and base.mode is not Mode.LIST:
        start = words.index(name)
        after = len(words) - start - 1
        old = [each.plain for each in base.children]
        is_there = old[:start] == words[:start] and start + after < len(old)
        is_there = is_there and old[len(old) - after :] == words[start + 1 :]
        return _Run((), start, after) if is_there and b"for" not in old else None
    inside = [i for i, each in enumerate(side.children) if name in each.words()]
    if len(inside) != 1 or inside[0] >= len(base.children):
        return None
    at = inside[0]
    one, other = base.children[at], side.children[at]
    if not isinstance(one, Construct) or not isinstance(other, Construct):
        return None
    if b"for" in (each.plain for each in base.children):
        return None  # a comprehension computes it again for each item
    found = _run_of(one, other, name)
    return found and found._replace(path=(at, *found.path))


def _at(statement: Element, base: Element, run: _Run) -> Elements:
    """Return the expression at a place of a statement; empty if the statement differs there."""
    for at in run.path:
        if statement.kind != base.kind or at >= len(statement.children):
            return ()
        if not all(map(same, statement.children[:at], base.children[:at])):
            return ()
        statement, base = statement.children[at], base.children[at]
    words, old = statement.children, base.children
    end, last = len(words) - run.after, len(old) - run.after
    if statement.kind != base.kind or end <= run.start:
        return ()
    is_same = all(map(same, words[: run.start], old[: run.start]))
    is_same = is_same and all(map(same, words[end:], old[last:]))
    return words[run.start : end] if is_same else ()


def _replaced(statement: Construct, run: _Run, name: Element) -> Construct:
    children = statement.children
    if run.path:
        at, *path = run.path
        inner = children[at]
        if not isinstance(inner, Construct):
            raise TypeError(inner)
        changed = _replaced(inner, run._replace(path=tuple(path)), name)
        return evolve(statement, children=(*children[:at], changed, *children[at + 1 :]))
    end = len(children) - run.after
    return evolve(statement, children=(*children[: run.start], name, *children[end:]))


def _words(elements: Elements) -> list[bytes]:
    """Return the words of an expression; a string counts as the words in it."""
    return [word for each in elements for part in each.words() for word in PART.findall(part)]


def _suites(base: Construct, side: Construct) -> Iterator[tuple[Construct, Construct]]:
    """Yield the suites of a function that are in both versions."""
    if base.kind == side.kind == "suite":
        yield base, side
    mode = base.mode if base.mode is Mode.MEMBERS else Mode.SEQUENCE
    places = align(base.children, side.children, mode)
    for one, place in zip(base.children, places, strict=True):
        other = None if place is None else side.children[place]
        if isinstance(one, Construct) and isinstance(other, Construct):
            yield from _suites(one, other)


def statement_like(suite: Construct, statement: Construct, function: Construct) -> Construct | None:
    """Return what a statement of a suite became in another version of its function."""
    at = next(i for i, each in enumerate(suite.children) if each is statement)
    best: tuple[int, Construct | None] = (0, None)
    for each in function.walk():
        if each.kind == "suite":
            places = align(suite.children, each.children, Mode.MEMBERS)
            place = places[at]
            kept = sum(place is not None for place in places)
            there = None if place is None else each.children[place]
            if isinstance(there, Construct) and kept > best[0]:
                best = kept, there
    return best[1]

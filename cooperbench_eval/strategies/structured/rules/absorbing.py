"""Combines an edit of a statement with the header into which the other side moved it.

In Python, `v = f(x)` becomes `with f(x) as v:`, and `f(x)` becomes `with f(x):`. The statements
after it move into the new suite. The value, the statements that moved and those around them are
merged one by one with the other side's versions.
"""

from collections.abc import Iterator

from attrs import evolve, frozen

from cooperbench_eval.languages.alignment import align, similarity
from cooperbench_eval.languages.tree import (
    Construct,
    DisagreementError,
    Element,
    Elements,
    Mode,
    OrderError,
    StructureError,
    has_suite,
    same,
)
from cooperbench_eval.strategies.structured.rules.statements import (
    PLACEHOLDERS,
    Merger,
    count_name,
    is_name,
    may_be_formatted,
    replaced,
    suite_of,
    target_of,
    value_of,
    with_body,
)

_LEAST_ALIKE = 0.8
_SIMPLE = frozenset({"assignment", "expression"})


def merge_absorbed(
    merger: Merger, base: Elements, ours: Elements, theirs: Elements
) -> Elements | None:
    """One side moved a statement into the header of a new suite, and the other edited it."""
    mine, other = (find_move(base, side) for side in (ours, theirs))
    if mine and not other:
        return _Merge(merger, base, ours, theirs, mine, is_theirs=False).run()
    if other and not mine:
        return _Merge(merger, base, theirs, ours, other, is_theirs=True).run()
    return None


@frozen(kw_only=True)
class _Header:
    """The first clause of a statement with a suite, and the place of a value in it.

    Attributes:
        clause: The clause.
        start: Where the value starts among the clause's children.
        end: Where it ends.
        target: The words that get the value; empty if there are none.
    """

    clause: Construct
    start: int
    end: int
    target: tuple[bytes, ...]

    @property
    def value(self) -> Construct:
        return Construct(kind="value", children=self.clause.children[self.start : self.end])


@frozen(kw_only=True)
class Move:
    """A statement of the base that a side moved into a header.

    Attributes:
        start: Its index in the base.
        statement: The statement.
        place: The index of the new statement on the side.
        header: Where the header has the value.
    """

    start: int
    statement: Element
    place: int
    header: _Header

    @property
    def names(self) -> set[bytes]:
        """The variables that the statement or the header give the value."""
        return set(filter(is_name, {*self.header.target, target_of(self.statement)}))


def find_move(base: Elements, side: Elements) -> Move | None:
    """Find a statement that a side moved into a header; `None` if none or if it is unclear."""
    gone = [i for i, each in enumerate(base) if each.kind in _SIMPLE]
    if not gone or not any(map(_has_header, side)):
        return None
    places = align(base, side, Mode.MEMBERS)
    for place, statement in enumerate(side):
        if place in places:
            continue
        moved = [
            Move(start=i, statement=base[i], place=place, header=header)
            for header in _headers(statement)
            for i in gone
            if places[i] is None and _is_moved(base[i], header)
        ]
        if moved:
            return moved[0] if len(moved) == 1 else None
    return None


def names_moved(base: Elements, side: Elements) -> set[bytes]:
    """Return the variables whose values a side moved into headers, also into nested ones."""
    if not any(map(_has_header, side)):
        return set()
    inner = (found for each in side for found in each.walk() if found.kind == "suite")
    moves = (find_move(base, children) for children in (side, *(each.children for each in inner)))
    return {name for move in moves if move for name in move.names}


def _has_header(statement: Element) -> bool:
    """Whether a statement has a value in a header, or a statement in it has."""
    return any(next(_headers(each), None) is not None for each in statement.walk())


def _headers(statement: Element) -> Iterator[_Header]:
    """Yield the context managers in the first clause of a `with` statement."""
    clause = statement
    if isinstance(statement, Construct) and statement.mode is Mode.MEMBERS:
        clause = next(iter(statement.parts), statement)
    if not isinstance(clause, Construct) or not has_suite(clause):
        return
    words = [child.plain for child in clause.children]
    if next((word for word in words if word != b"async"), b"") != b"with" or b":" not in words:
        return
    start, last = words.index(b"with") + 1, words.index(b":")
    while start < last:
        end = next((i for i in range(start, last) if words[i] == b","), last)
        name = next((i for i in range(start, end) if words[i] == b"as"), end)
        yield _Header(
            clause=clause, start=start, end=name, target=_flat(clause.children[name + 1 : end])
        )
        start = end + 1


def _flat(elements: Elements) -> tuple[bytes, ...]:
    return tuple(word for each in elements for word in each.words())


def _is_moved(statement: Element, header: _Header) -> bool:
    """Whether a header has the value of a statement: the same words or a call of the same."""
    old, new = value_of(statement), header.value
    if same(old, new):
        return bool(old.children)
    callee = _callee(old)
    if not callee or callee != _callee(new):
        return False
    keeps_name = target_of(statement) in {b"", *header.target}
    return keeps_name or similarity(old.words(), new.words()) >= _LEAST_ALIKE


def _callee(value: Construct) -> bytes:
    """Return the words before the first brackets of a call."""
    children = value.children
    at = next((i for i, child in enumerate(children) if child.kind == "group"), 0)
    return b" ".join(child.plain for child in children[:at])


@frozen
class _Merge:
    """Merges a side that moved a statement into a header with the other side.

    Attributes:
        merger: Merges the parts.
        base: The statements in the base.
        one: The side that moved some of them.
        other: The other side.
        move: The statement and the header.
        is_theirs: Whether *one* is theirs.
    """

    merger: Merger
    base: Elements
    one: Elements
    other: Elements
    move: Move
    is_theirs: bool

    def run(self) -> Elements:
        base, one, other, move = self.base, self.one, self.other, self.move
        places = align(base, other, Mode.MEMBERS)
        first = self._place_of_moved(places)
        old = move.header.clause
        end = self._end_of_moved()
        last = self._end_on(other, places, end)
        before = self._members(base[: move.start], one[: move.place], other[:first])
        within = self._within(
            base[move.start + 1 : end], suite_of(old).children, other[first + 1 : last]
        )
        self._check_after(base[end:], other[last:])
        after = self._members(base[end:], one[move.place + 1 :], other[last:])
        new = with_body(self._clause(other[first]), within)
        return (*before, replaced(one[move.place], old, new), *after)

    def _place_of_moved(self, places: list[int | None]) -> int:
        """Return where the other side has the statement that moved into the header.

        Raises:
            DisagreementError: It changed its kind or its target.
        """
        old, place = self.move.statement, places[self.move.start]
        new = old if place is None else self.other[place]
        if place is None or new.kind != old.kind or target_of(new) != target_of(old):
            raise DisagreementError.at(old)
        return place

    def _end_of_moved(self) -> int:
        """Return the index of the first statement of the base that stayed after the suite."""
        places = align(self.base, self.one, Mode.MEMBERS)
        later = (
            i
            for i, place in enumerate(places)
            if i > self.move.start and place is not None and place > self.move.place
        )
        return next(later, len(self.base))

    def _end_on(self, other: Elements, places: list[int | None], end: int) -> int:
        """Return where the other side's statements end that belong in the suite.

        A new statement after the last one that moved belongs there if it uses the variable.
        """
        kept = [at for at in places[self.move.start : end] if at is not None]
        last = max(kept) + 1
        limit = min((at for at in places[end:] if at is not None), default=len(other))
        names = names_moved(self.base, self.one)
        for i in range(last, limit):
            if any(count_name(other[i : i + 1], name) for name in names):
                last = i + 1
        return last

    def _members(self, base: Elements, one: Elements, other: Elements) -> Elements:
        sides = (other, one) if self.is_theirs else (one, other)
        return self.merger.merge_children(base, *sides, Mode.MEMBERS)

    def _clause(self, statement: Element) -> Construct:
        """Merge the value in the header with the other side's value."""
        header, children = self.move.header, self.move.header.clause.children
        space = header.value.space
        old, new = (value_of(e).with_space(space) for e in (self.move.statement, statement))
        sides = (new, header.value) if self.is_theirs else (header.value, new)
        value = self.merger.merge(old, *sides).children
        children = (*children[: header.start], *value, *children[header.end :])
        return evolve(header.clause, children=children)

    def _within(self, base: Elements, one: Elements, other: Elements) -> Elements:
        """Merge the statements that moved.

        Raises:
            DisagreementError: The other side's new ones use a name that the header does not give.
        """
        old = target_of(self.move.statement)
        if old and old not in self.move.header.target and uses_more(base, other, old):
            raise DisagreementError.at(*other)
        return self._members(base, one, other)

    def _check_after(self, base: Elements, other: Elements) -> None:
        """Refuse new uses of the variable after the suite, where its value may be closed.

        Raises:
            DisagreementError: There are such uses.
        """
        if any(uses_more(base, other, name) for name in self.move.names):
            raise DisagreementError.at(*other)


def uses_more(base: Elements, other: Elements, name: bytes) -> bool:
    """Whether a side's statements use a variable more often than the base's."""
    if not is_name(name):
        return not (len(base) == len(other) and all(map(same, base, other)))
    places = align(base, other, Mode.MEMBERS)
    before = {at: old for old, at in zip(base, places, strict=True) if at is not None}
    return any(
        may_be_formatted(each, name)
        or count_name((each,), name) > count_name((before[i],) if i in before else (), name)
        for i, each in enumerate(other)
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
        suite = _suite_taking(base, _new(base, one))
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
    """Part a side that has a new suite into what is before it, itself, and what is after it.

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

"""What to do where both sides changed the same statements."""

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from cooperbench_eval.structure.alignment import align, similarity
from cooperbench_eval.structure.tree import (
    ASSIGNING,
    DECLARING,
    DisagreementError,
    Element,
    Mode,
    Node,
    OrderError,
    StructureError,
)

if TYPE_CHECKING:
    from cooperbench_eval.structure.merge import TreeMerge

__all__ = ["Leaving", "arrange", "has_position", "leaves", "may_leave", "resolve"]

Run = tuple[Element, ...]

_LEAVING = frozenset({"return", "raise", "break", "continue"})
_LEAST_WRAPPED = 0.5
_LEAST_REPEATED = 0.8
_LEAST_ALIKE = 0.5


def may_leave(element: Element) -> bool:
    """Whether control may leave the suite at a statement."""
    if not isinstance(element, Node) or element.kind in {"def", "class"}:
        return False
    return element.kind in _LEAVING or any(map(may_leave, element.children))


class Leaving(IntEnum):
    """Whether control goes on behind some statements."""

    NEVER = 0
    MAYBE = 1
    ALWAYS = 2


def leaves(run: Run) -> Leaving:
    """Say whether control may or must leave the suite in some statements."""
    if run and run[-1].kind in _LEAVING:
        return Leaving.ALWAYS
    return Leaving(any(map(may_leave, run)))


_LAST_CLAUSES = {b"except": 1, b"case _": 1, b"else": 2, b"finally": 3}
_SLASH, _REQUIRED, _DEFAULTED, _STAR, _KEYWORD, _STARS = range(6)
_POSITIONAL = frozenset({_SLASH, _REQUIRED, _DEFAULTED})
_Ranked = tuple[int, Element]


def arrange(kind: str, before: Run, first: Run, second: Run, new: Run) -> Run:
    """Put in order what both sides insert at one place of a *kind* of construct.

    Clauses that must be the last are that, and parameters and arguments stand as the
    language wants it.

    Args:
        kind: What they are inserted into.
        before: What stands before them there.
        first: What is to come first, if that makes no difference.
        second: What the other side inserts.
        new: The part of it that is not in *first*.

    Raises:
        OrderError: The other order is right. Arguments in calls follow parameters, so
            the whole file must have it.
        DisagreementError: There is no order of them.
    """
    rank = {"parameters": _parameter_ranks, "arguments": _argument_ranks}.get(kind, _clause_ranks)
    one = list(zip(rank(before, first), first, strict=True))
    kept = set(map(id, new))
    both = zip(rank(before, second), second, strict=True)
    other = [(place, each) for place, each in both if id(each) in kept]
    if rank is _parameter_ranks:
        _check_parameters(one, other)
    in_order = sorted(one + other, key=_rank)
    is_swapped = in_order != one + other and in_order == other + one
    if is_swapped and rank is not _clause_ranks:
        raise OrderError.at(*first, *new)
    return tuple(each for _, each in in_order)


def _rank(ranked: _Ranked) -> int:
    return ranked[0]


def _clause_ranks(_before: Run, run: Run) -> list[int]:
    """Rank clauses; comments go with what follows them."""
    ranks: list[int] = []
    following = 0
    for each in reversed(run):
        if isinstance(each, Node):
            following = _LAST_CLAUSES.get(each.key, 0)
        ranks.append(following)
    return ranks[::-1]


def _argument_ranks(_before: Run, run: Run) -> list[int]:
    """Rank arguments: those with a keyword go behind those without; dicts stay as they are."""
    words = [[child.plain for child in _children(each)[:2]] for each in run]
    if any(each[1:] == [b":"] for each in words):
        return [1] * len(words)
    return [int(each[:1] == [b"**"] or each[1:] == [b"="]) for each in words]


def has_position(run: Sequence[Element]) -> bool:
    """Whether one of some arguments is told by where it stands."""
    return 0 in _argument_ranks((), tuple(run))


def _parameter_ranks(before: Run, run: Run) -> list[int]:
    signs = [_sign(each) for each in run]
    slash = signs.index(b"/") if b"/" in signs else -1
    is_keyword = any(_sign(each) == b"*" for each in before)
    ranks = []
    for i, (sign, each) in enumerate(zip(signs, run, strict=True)):
        if sign == b"**":
            ranks.append(_STARS)
        elif sign == b"*":
            ranks.append(_STAR)
            is_keyword = True
        elif is_keyword:
            ranks.append(_KEYWORD)
        elif i <= slash:
            ranks.append(_SLASH)
        else:
            has_default = any(child.plain == b"=" for child in _children(each))
            ranks.append(_DEFAULTED if has_default else _REQUIRED)
    return ranks


def _sign(parameter: Element) -> bytes:
    return parameter.children[0].plain if isinstance(parameter, Node) else parameter.plain


def _check_parameters(first: Sequence[_Ranked], second: Sequence[_Ranked]) -> None:
    """Refuse two of a kind, and new positions beside any number of arguments."""
    ranks = [rank for rank, _ in (*first, *second)]
    is_double = any(ranks.count(only) > 1 for only in (_STAR, _STARS))
    for one, other in ((first, second), (second, first)):
        takes_any = any(rank == _STAR and len(_children(each)) > 1 for rank, each in one)
        if is_double or (takes_any and any(rank in _POSITIONAL for rank, _ in other)):
            raise DisagreementError.at(*(each for _, each in (*first, *second)))


def _children(element: Element) -> Run:
    return element.children if isinstance(element, Node) else ()


def resolve(merge: "TreeMerge", base: Run, ours: Run, theirs: Run) -> Run | None:
    """Try each rule on statements that both sides changed; `None` if none fits."""
    for rule in (_filled, _wrapped, _returned):
        found = rule(merge, base, ours, theirs)
        if found is not None:
            return found
    return None


def _filled(merge: "TreeMerge", base: Run, ours: Run, theirs: Run) -> Run | None:
    """Both put statements where there was but a placeholder."""
    if any(each.plain not in _PLACEHOLDERS for each in base):
        return None
    return merge.merge_runs((), ours, theirs, Mode.MEMBERS)


_PLACEHOLDERS = frozenset({b"pass", b"..."})


def _wrapped(merge: "TreeMerge", base: Run, ours: Run, theirs: Run) -> Run | None:
    """One side put the statements into a suite of a new one; the other edited them."""
    for one, other, is_theirs in ((ours, theirs, False), (theirs, ours, True)):
        suite = _suite_around(base, _new(base, one))
        if suite is None:
            continue
        inner = (base, other, suite.children) if is_theirs else (base, suite.children, other)
        try:
            children = merge.merge_runs(*inner, Mode.MEMBERS)
        except StructureError:
            continue
        new = evolve(suite, children=children)
        return tuple(_replaced(each, suite, new) for each in one)
    return None


def _suite_around(base: Run, run: Run) -> Node | None:
    """Find the suite of a new statement in which most words of *base* are kept.

    If they are kept in two branches, an edit would belong into both, and none is found.
    """
    total = sum(len(_words(each)) for each in base)
    best, most = None, total * _LEAST_WRAPPED
    copies: list[Node] = []
    for suite in _suites(run):
        places = align(base, suite.children, Mode.MEMBERS)
        there = [
            (_words(each), _words(suite.children[place]))
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


def _is_within(one: Node, other: Node) -> bool:
    return any(each is one for each in other.walk())


def _new(base: Run, run: Run) -> Run:
    """Return the statements of a run that are none of the base."""
    places = align(base, run, Mode.MEMBERS)
    return tuple(each for i, each in enumerate(run) if i not in places)


def _suites(run: Run) -> Iterator[Node]:
    for each in run:
        if isinstance(each, Node):
            yield from (node for node in each.walk() if node.kind == "suite")


def _words(element: Element) -> list[bytes]:
    return element.words() if isinstance(element, Node) else [element.word]


def _replaced(element: Element, old: Node, new: Node) -> Element:
    if element is old:
        return new
    if not isinstance(element, Node):
        return element
    children = tuple(_replaced(child, old, new) for child in element.children)
    if all(map(_is, children, element.children)):
        return element
    return evolve(element, children=children)


def _is(one: Element, other: Element) -> bool:
    return one is other


def _returned(merge: "TreeMerge", base: Run, ours: Run, theirs: Run) -> Run | None:
    """One side or both named what is returned, and worked on it before returning it.

    The work of both is done, each on what the one before would have returned. Who may
    return early comes last.
    """
    if len(base) != 1 or base[0].kind != "return":
        return None
    mine, other = (_Return.of(_value(base[0]), run) for run in (ours, theirs))
    if mine is None or other is None or (mine.leaves_early and other.leaves_early):
        return None
    value = merge.merge(_value(base[0]), mine.value, other.value)
    if not isinstance(value, Node):
        return None
    theirs_first = (
        merge.theirs_first if mine.leaves_early == other.leaves_early else mine.leaves_early
    )
    first, second = (other, mine) if theirs_first else (mine, other)
    return first.then(second, value)


@frozen(kw_only=True)
class _Return:
    """Statements that come to a value, name it, work on it, and return something.

    Attributes:
        before: What is done first.
        value: What it comes to.
        naming: The assignment of the value; `None` if it is returned at once.
        work: What is done with it.
        last: The `return`.
    """

    before: Run
    value: Node
    naming: Node | None
    work: Run
    last: Node

    @classmethod
    def of(cls, value: Node, run: Run) -> "_Return | None":
        """Understand statements that were made of `return value`; `None` if that fails."""
        if not run or not isinstance(last := run[-1], Node) or last.kind != "return":
            return None
        if _are_alike(_value(last), value):
            return cls(before=run[:-1], value=_value(last), naming=None, work=(), last=last)
        for i, each in enumerate(run):
            if (
                each.kind == "assignment"
                and isinstance(each, Node)
                and _are_alike(_value(each), value)
            ):
                work = run[i + 1 : -1]
                return cls(before=run[:i], value=_value(each), naming=each, work=work, last=last)
        return None

    @property
    def leaves_early(self) -> bool:
        """Whether it may return before its end."""
        return any(map(may_leave, self.work))

    def then(self, other: "_Return", value: Node) -> Run:
        """Do this on *value* and then the other on what this returns."""
        before = (*self.before, *other.before)
        if self.naming is None or other.naming is None:
            one = other if self.naming is None else self
            return (*before, *one.named(value), *one.work, one.last)
        handed = _value(self.last)
        words = [word for word in handed.words() if word != b";"]
        is_named = words == [_target(other.naming).plain]
        passing = () if is_named else (_assigned(other.naming, handed),)
        return (*before, *self.named(value), *self.work, *passing, *other.work, other.last)

    def named(self, value: Node) -> Run:
        """Name *value*, if it is not returned at once."""
        return () if self.naming is None else (_assigned(self.naming, value),)


def _value(statement: Element) -> Node:
    """Return what a `return` or an assignment gives."""
    children = statement.children if isinstance(statement, Node) else ()
    at = int(children[:1] != () and children[0].plain == b"return")
    if statement.kind == "assignment":
        at = next(i for i, child in enumerate(children, 1) if child.plain in ASSIGNING)
    return Node(kind="value", children=children[at:])


def _target(assignment: Node) -> Element:
    return next(child for child in assignment.children if child.plain not in DECLARING)


def _assigned(assignment: Node, value: Node) -> Node:
    """Make an assignment give another value."""
    kept = len(assignment.children) - len(_value(assignment).children)
    return evolve(assignment, children=(*assignment.children[:kept], *value.children))


def _are_alike(one: Node, other: Node) -> bool:
    return similarity(one.words(), other.words()) >= _LEAST_ALIKE

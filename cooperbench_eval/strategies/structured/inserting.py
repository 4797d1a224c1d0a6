"""Merges, as two sequences, what both sides insert at one place of a construct."""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

from cooperbench_eval.languages.faults.positions import POSITIONAL
from cooperbench_eval.languages.sequences import weave
from cooperbench_eval.languages.tree import (
    DisagreementError,
    Element,
    Elements,
    OrderError,
    excerpt,
    same,
)
from cooperbench_eval.strategies.structured import ordering
from cooperbench_eval.strategies.structured.flow.uses import calls_functions, subjects_of


class Piece(NamedTuple):
    """A member or an item of an insertion, with its comments.

    Attributes:
        elements: The comments before it, itself, and those at the end of its line.
        at: The index of the element itself.
        name: The name by which equal pieces are found.
        rank: Its place in the required order; a higher rank comes later.
        is_free: Whether it may be placed anywhere among the others.
    """

    elements: Elements
    at: int
    name: bytes
    rank: int
    is_free: bool

    @property
    def main(self) -> Element:
        """The element without its comments."""
        return self.elements[self.at]


class Insertions(NamedTuple):
    """The insertions of both sides as one.

    Attributes:
        mine: The first side's pieces, shared ones included.
        own: The pieces that only the second side has.
        both: All of them in order.
    """

    mine: list[Piece]
    own: list[Piece]
    both: list[Piece]

    def arranged(self, kind: str) -> Elements:
        """Return all elements in the order that a construct of a kind requires.

        Raises:
            OrderError: Only the other order is allowed. The arguments of calls must follow
                the order of the parameters, so the whole file has to be merged in that order.
            DisagreementError: No order is allowed.
        """
        if kind == "parameters":
            ordering.check_parameters(
                *([(each.rank, each.main) for each in side] for side in (self.mine, self.own))
            )
        in_order = sorted(self.both, key=attrgetter("rank"))
        is_swapped = in_order != self.both and in_order == [*self.own, *self.mine]
        if is_swapped and kind in ordering.RANKS:
            raise OrderError.at(*flat(self.both))
        return flat(in_order)


Unite = Callable[[Element, Element], Element]


def interleave(
    first: Elements,
    second: Elements,
    around: tuple[Elements, Element | None],
    kind: str,
    unite: Unite,
) -> Insertions:
    """Merge two insertions; what both have is kept once.

    Args:
        first: The one whose own elements come first.
        second: The other one.
        around: What precedes them in the base, and what follows the first one.
        kind: The kind of construct.
        unite: Merges two elements of one name.

    Raises:
        DisagreementError: Both have the same elements in different orders that may matter.
    """
    before, after = around
    mine, theirs = _pieces(kind, before, first), _pieces(kind, before, second)
    runs = weave(mine, theirs, attrgetter("name"), attrgetter("is_free"))
    if runs is None and kind not in _LISTS and _only_in_other_order(mine, theirs):
        return Insertions(mine, [], mine)
    if runs is None:
        shown = excerpt(*first)
        raise DisagreementError(f"both sides insert the same things in different orders: {shown!r}")
    found = Insertions([], [], [])
    for run in runs:
        shared = [] if run.shared is None else [_once(*run.shared, unite)]
        own = list(run.second)
        if run.first and own and kind not in _LISTS:
            following = shared[0].main if shared else after
            lead = (*before, *flat(found.both))
            head = ordering.spaced(lead, flat(run.first), own[0].elements, following, kind)
            own[0] = own[0]._replace(elements=head)
        found.mine.extend((*run.first, *shared))
        found.own.extend(own)
        found.both.extend((*run.first, *own, *shared))
    return found


def _only_in_other_order(first: Sequence[Piece], second: Sequence[Piece]) -> bool:
    """Whether both have the same guards, of which none is about what another one is about."""
    names = [sorted(each.name for each in side) for side in (first, second)]
    if names[0] != names[1] or any(each.main.kind != "if" for each in first):
        return False
    if any(calls_functions(each.main) for each in first):
        return False
    kinds = {part.kind for each in first for part in each.main.walk()}
    about = [subjects_of(flat([each])) for each in first]
    return kinds.isdisjoint(_ACTING) and len(set().union(*about)) == sum(map(len, about))


_ACTING = frozenset({"assignment", "break", "continue", "expression", "return"})
_LISTS = POSITIONAL | {"items", "names", "parameters"}


def flat(pieces: Iterable[Piece]) -> Elements:
    """Return the elements of some pieces."""
    return tuple(each for piece in pieces for each in piece.elements)


def _pieces(kind: str, before: Elements, insertion: Elements) -> list[Piece]:
    ranks = ordering.ranks(kind, before, insertion)
    found: list[Piece] = []
    start = 0
    for i, each in enumerate(insertion):
        following = insertion[i + 1] if i + 1 < len(insertion) else None
        if following is not None and (each.kind == "comment" or _ends_line(following)):
            continue
        elements = insertion[start : i + 1]
        at = next((k for k, e in enumerate(elements) if e.kind != "comment"), len(elements) - 1)
        main, rank = elements[at], ranks[start + at]
        is_named = bool(main.key)
        name = b"name " + main.key if is_named else main.plain
        is_value = kind == "items" and main.plain.endswith((b'"', b"'", b"`"))
        is_step = main.kind == "assignment" and main.words().count(main.key) > 1
        is_fixed = is_value or is_step or (kind in POSITIONAL and not rank)
        is_free = is_named and not is_fixed
        found.append(Piece(elements, at, name, rank, is_free))
        start = i + 1
    return found


def _ends_line(element: Element) -> bool:
    """Whether it is a comment at the end of the line of what precedes it."""
    return element.kind == "comment" and b"\n" not in element.space


def _once(one: Piece, other: Piece, unite: Unite) -> Piece:
    """Keep once what both sides insert, with the comments of both."""
    comments = (each for i, each in enumerate(other.elements) if i != other.at)
    new = tuple(e for e in comments if not any(same(e, old) for old in one.elements))
    before, after = one.elements[: one.at], one.elements[one.at + 1 :]
    elements = (*before, *new, unite(one.main, other.main), *after)
    return one._replace(elements=elements, at=len(before) + len(new))

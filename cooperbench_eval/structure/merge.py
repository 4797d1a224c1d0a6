"""Three-way merge of trees.

Children of the three versions are aligned, and the edits of either side walked
together. Edits of different children combine; children that both sides edited are
merged in their turn; what both sides insert at one place is kept twice where the
construct has room for both. A few rules know what to do where statements overlap;
anything else that both sides changed is a disagreement.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from attrs import evolve, frozen

from cooperbench_eval.structure import rules
from cooperbench_eval.structure.alignment import align
from cooperbench_eval.structure.strings import merge_strings
from cooperbench_eval.structure.tree import DisagreementError, Element, Mode, Node, Token, same

__all__ = ["TreeMerge"]

T = TypeVar("T")
Run = tuple[Element, ...]
Places = Sequence[int | None]


class Edit(NamedTuple):
    """Children *start* to *end* of the base give way to *new*."""

    start: int
    end: int
    new: Run


class Side(NamedTuple):
    """The children of a version, where those of the base are among them, and the edits."""

    children: Run
    places: Places
    edits: list[Edit]

    def run(self, start: int, end: int, edits: Sequence[Edit]) -> Run:
        """Return what stands for children *start* to *end* of the base, with *edits*."""
        inserted = {edit.start: edit.new for edit in edits}
        out = list(inserted.get(start, ()))
        for i in range(start, end):
            out += inserted.get(i, ()) if i > start else ()
            if (place := self.places[i]) is not None:
                out.append(self.children[place])
        return tuple(out)


class Hunk(NamedTuple):
    """Edits that touch the same children of the base."""

    start: int
    end: int
    ours: list[Edit]
    theirs: list[Edit]


@frozen
class TreeMerge:
    """Merges versions of a construct.

    Attributes:
        theirs_first: Whether theirs comes first where both insert at one place.
    """

    theirs_first: bool = False

    def merge(self, base: Element, ours: Element, theirs: Element) -> Element:
        """Merge two versions of a construct.

        Raises:
            DisagreementError: They cannot be combined.
        """
        if ours.source in {theirs.source, base.source}:
            return theirs
        if theirs.source == base.source:
            return ours
        if isinstance(base, Node) and isinstance(ours, Node) and isinstance(theirs, Node):
            if base.kind == ours.kind == theirs.kind:
                return self._merge_nodes(base, ours, theirs)
        elif isinstance(base, Token) and isinstance(ours, Token) and isinstance(theirs, Token):
            return _merge_tokens(base, ours, theirs)
        if same(ours, theirs) or same(base, theirs):
            return ours
        if same(base, ours):
            return theirs
        raise DisagreementError.at(base)

    def _merge_nodes(self, base: Node, ours: Node, theirs: Node) -> Node:
        children = self.merge_runs(base.children, ours.children, theirs.children, base.mode)
        if base.mode is Mode.LIST:
            children = _spread(children, base, ours, theirs)
        return evolve(
            base,
            children=children,
            key=_changed(base.key, ours.key, theirs.key),
            indent=_changed(base.indent, ours.indent, theirs.indent),
            comma=_changed(base.comma, ours.comma, theirs.comma),
            tail=_changed(base.tail, ours.tail, theirs.tail),
        )

    def merge_runs(self, base: Run, ours: Run, theirs: Run, mode: Mode) -> Run:
        """Merge the children of a construct.

        Raises:
            DisagreementError: They cannot be combined.
        """
        mine, other = (_side(base, side, mode) for side in (ours, theirs))
        out: list[Element] = []
        at = 0
        for hunk in _hunks(mine, other):
            out += self._kept(base, mine, other, range(at, hunk.start))
            out += self._changed_run(base, mine, other, hunk, mode)
            at = hunk.end
        out += self._kept(base, mine, other, range(at, len(base)))
        return tuple(out)

    def _kept(self, base: Run, ours: Side, theirs: Side, span: range) -> Iterator[Element]:
        for i in span:
            mine, other = ours.places[i], theirs.places[i]
            if mine is not None and other is not None:
                yield self.merge(base[i], ours.children[mine], theirs.children[other])

    def _changed_run(self, base: Run, ours: Side, theirs: Side, hunk: Hunk, mode: Mode) -> Run:
        before = base[hunk.start : hunk.end]
        mine = ours.run(hunk.start, hunk.end, hunk.ours)
        other = theirs.run(hunk.start, hunk.end, hunk.theirs)
        if _are_same(other, before) or _are_same(mine, other):
            return mine
        if _are_same(mine, before):
            return other
        if not before and mode is not Mode.SEQUENCE:
            return self._both(mine, other)
        if mode is Mode.MEMBERS:
            found = rules.resolve(self, before, mine, other)
            if found is not None:
                return found
        raise DisagreementError.at(*(before or mine))

    def _both(self, ours: Run, theirs: Run) -> Run:
        """Keep what both sides inserted at one place, and what is in both once."""
        first, second = (theirs, ours) if self._puts_theirs_first(ours, theirs) else (ours, theirs)
        there = {each.key: i for i, each in enumerate(first) if isinstance(each, Node) and each.key}
        out = list(first)
        for each in second:
            if not isinstance(each, Node) or each.key not in there:
                out.append(each)
                continue
            twin = out[there[each.key]]
            if same(twin, each):
                continue
            if not isinstance(twin, Node) or each.kind != "import":
                raise DisagreementError.at(each)
            empty = evolve(each, children=_without_names(each))
            out[there[each.key]] = self.merge(empty, twin, each)
        return tuple(out)

    def _puts_theirs_first(self, ours: Run, theirs: Run) -> bool:
        ours_leaves, theirs_leaves = (any(map(rules.may_leave, run)) for run in (ours, theirs))
        if ours_leaves != theirs_leaves:
            return ours_leaves
        return self.theirs_first


def _merge_tokens(base: Token, ours: Token, theirs: Token) -> Token:
    space = _changed(base.space, ours.space, theirs.space)
    if ours.word in {base.word, theirs.word}:
        return theirs._replace(space=space)
    if theirs.word == base.word:
        return ours._replace(space=space)
    word = merge_strings(base.word, ours.word, theirs.word)
    if word is None:
        raise DisagreementError.at(base)
    return ours._replace(space=space, word=word)


def _changed(base: T, ours: T, theirs: T) -> T:
    """Return what a side made of something small; ours if both did."""
    return theirs if ours == base else ours


def _are_same(one: Run, other: Run) -> bool:
    return len(one) == len(other) and all(map(same, one, other))


def _side(base: Run, children: Run, mode: Mode) -> Side:
    """Align a side with the base and list its edits."""
    places = align(base, children, mode)
    edits = []
    start = at = 0
    for i, place in enumerate([*places, len(children)]):
        if place is None:
            continue
        if start < i or at < place:
            edits.append(Edit(start, i, children[at:place]))
        start, at = i + 1, place + 1
    return Side(children, places, edits)


def _hunks(ours: Side, theirs: Side) -> Iterator[Hunk]:
    """Group the edits of both sides that touch the same children, in order."""
    edits = sorted(
        [(edit, 0) for edit in ours.edits] + [(edit, 1) for edit in theirs.edits],
        key=lambda each: (each[0].start, each[0].end, each[1]),
    )
    hunk: Hunk | None = None
    for edit, number in edits:
        if hunk and (edit.start < hunk.end or edit.start == edit.end == hunk.start == hunk.end):
            hunk = hunk._replace(end=max(hunk.end, edit.end))
        else:
            if hunk:
                yield hunk
            hunk = Hunk(edit.start, edit.end, [], [])
        (hunk.theirs if number else hunk.ours).append(edit)
    if hunk:
        yield hunk


def _without_names(node: Node) -> Run:
    """Return the children of an import, its names left out, in brackets or not."""
    left = {"items": lambda _: (), "group": _without_names}
    return tuple(
        evolve(each, children=left[each.kind](each))
        if isinstance(each, Node) and each.kind in left
        else each
        for each in node.children
    )


def _spread(items: Run, base: Node, ours: Node, theirs: Node) -> Run:
    """Write a list as the side does that changed how it is written."""
    is_ended = _changed(*(_is_ended(node.children) for node in (base, ours, theirs)))
    spread = next((node for node in (ours, theirs) if _is_spread(node.children)), None)
    out = list(items)
    for i, item in enumerate(items):
        if spread and isinstance(item, Node) and b"\n" not in item.space:
            out[i] = item.with_space(spread.children[0].space)
    if out and isinstance(last := out[-1], Node):
        comma = (last.comma or b"") if is_ended else None
        out[-1] = evolve(last, comma=comma)
    return tuple(out)


def _is_ended(items: Run) -> bool:
    return bool(items) and isinstance(items[-1], Node) and items[-1].comma is not None


def _is_spread(items: Run) -> bool:
    return bool(items) and all(b"\n" in item.space for item in items)

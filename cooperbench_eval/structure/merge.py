"""Three-way merge of trees.

Children of the three versions are aligned, and the edits of either side walked
together. Edits of different children combine; children that both sides edited are
merged in their turn; what both sides insert at one place is kept twice where the
construct has room for both. A few rules know what to do where statements overlap;
anything else that both sides changed is a disagreement.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from attrs import evolve, field, frozen

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

    def following(self, at: int) -> Element | None:
        """Return what child *at* of the base became."""
        place = self.places[at] if at < len(self.places) else None
        return None if place is None else self.children[place]


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
    _mixed: set[str] = field(factory=set, init=False, eq=False, repr=False)

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
            sides = (theirs, ours) if self.theirs_first else (ours, theirs)
            return _merge_tokens(base, *sides)
        if same(ours, theirs) or same(base, theirs):
            return ours
        if same(base, ours):
            return theirs
        raise DisagreementError.at(base)

    def _merge_nodes(self, base: Node, ours: Node, theirs: Node) -> Node:
        if base.kind == "import":
            base, ours, theirs = _bracketed(base, ours, theirs)
        runs = base.children, ours.children, theirs.children
        merge = TreeMerge(self.theirs_first) if base.kind == "import" else self
        children = merge.merge_runs(*runs, base.mode, base.kind)
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

    def merge_runs(self, base: Run, ours: Run, theirs: Run, mode: Mode, kind: str = "suite") -> Run:
        """Merge the children of a construct of a kind.

        Raises:
            DisagreementError: They cannot be combined.
        """
        mine, other = (_side(base, side, mode) for side in (ours, theirs))
        out: list[Element] = []
        at = 0
        for hunk in _hunks(mine, other):
            out += self._kept(base, mine, other, range(at, hunk.start))
            out += self._changed_run(base, (mine, other), hunk, mode, kind)
            at = hunk.end
        out += self._kept(base, mine, other, range(at, len(base)))
        return tuple(out)

    def _kept(self, base: Run, ours: Side, theirs: Side, span: range) -> Iterator[Element]:
        for i in span:
            mine, other = ours.places[i], theirs.places[i]
            if mine is not None and other is not None:
                yield self.merge(base[i], ours.children[mine], theirs.children[other])

    def _changed_run(
        self, base: Run, sides: tuple[Side, Side], hunk: Hunk, mode: Mode, kind: str
    ) -> Run:
        ours, theirs = sides
        before = base[hunk.start : hunk.end]
        mine = ours.run(hunk.start, hunk.end, hunk.ours)
        other = theirs.run(hunk.start, hunk.end, hunk.theirs)
        if _are_same(other, before) or _are_same(mine, other):
            return mine
        if _are_same(mine, before):
            return other
        if not before and mode is not Mode.SEQUENCE:
            first, second = self._in_order(mine, other)
            if mode is Mode.MEMBERS:
                side = ours if first is mine else theirs
                following = side.following(hunk.end)
                second = _apart(base[: hunk.start], first, second, following, kind)
            return self._both(first, second, base[: hunk.start], kind)
        if not before and kind == "class":
            return self._bases(mine, other)
        if mode is Mode.MEMBERS:
            found = rules.resolve(self, before, mine, other)
            if found is not None:
                return found
        raise DisagreementError.at(*(before or mine))

    def _bases(self, ours: Run, theirs: Run) -> Run:
        """Merge the bases that both sides gave a class."""
        mine, other = ours[0], theirs[0]
        if not len(ours) == len(theirs) == 1 or not isinstance(mine, Node):
            raise DisagreementError.at(*ours)
        return (self.merge(evolve(mine, children=_without_names(mine)), mine, other),)

    def _both(self, first: Run, second: Run, before: Run, kind: str) -> Run:
        """Keep what both sides inserted at one place, and what is in both once."""
        there = {each.key: i for i, each in enumerate(first) if isinstance(each, Node) and each.key}
        out = list(first)
        new = []
        for each in second:
            if not isinstance(each, Node) or each.key not in there:
                new.append(each)
                continue
            twin = out[there[each.key]]
            if same(twin, each):
                continue
            if not isinstance(twin, Node) or each.kind != "import":
                raise DisagreementError.at(each)
            empty = evolve(each, children=_without_names(each))
            out[there[each.key]] = TreeMerge().merge(empty, twin, each)
        if name := _names(out) & _names(new):
            raise DisagreementError(f"both sides import {min(name).decode('utf-8', 'replace')!r}")
        arranged = rules.arrange(kind, before, tuple(out), second, tuple(new))
        if (kind == "parameters" and arranged != (*out, *new)) or (
            kind == "arguments" and rules.has_position(out) and rules.has_position(new)
        ):
            self._mixed.add(kind)
        if len(self._mixed) > 1:
            raise DisagreementError("parameters would be in another order than arguments")
        return arranged

    def _in_order(self, ours: Run, theirs: Run) -> tuple[Run, Run]:
        """Put last what may leave the suite, and what must leave it behind that."""
        mine, other = rules.leaves(ours), rules.leaves(theirs)
        if mine is other is rules.Leaving.ALWAYS:
            raise DisagreementError("both sides leave there")
        theirs_first = self.theirs_first if mine is other else mine > other
        return (theirs, ours) if theirs_first else (ours, theirs)


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


def _bracketed(*versions: Node) -> tuple[Node, ...]:
    """Put the names of imports into brackets if those of one version are."""
    groups = [each for node in versions for each in node.children if each.kind == "group"]
    if not groups or not isinstance(groups[0], Node):
        return versions
    opener, _, closer = groups[0].children
    return tuple(
        evolve(
            node,
            children=tuple(
                evolve(groups[0], children=(opener, each, closer)) if each.kind == "items" else each
                for each in node.children
            ),
        )
        for node in versions
    )


def _names(run: Sequence[Element]) -> set[bytes]:
    """Return the names that `from` imports bind."""
    return {
        item.key
        for each in run
        if isinstance(each, Node) and each.kind == "import" and each.key.startswith(b"from ")
        for items in each.walk()
        if items.kind == "items"
        for item in items.children
    }


def _apart(before: Run, first: Run, second: Run, following: Element | None, kind: str) -> Run:
    """Leave as many empty lines between two definitions as there are around them."""
    if not first or not second:
        return second
    head, *rest = second
    is_clause = kind not in {"file", "suite"}
    if is_clause and following is not None:
        space = min(head.space, following.space, key=len)
    elif not {first[-1].kind, head.kind} & _DEFINITIONS:
        return second
    elif following is None or following.kind == "end":
        newline = b"\r\n" if any(b"\r\n" in each.source for each in second) else b"\n"
        space = first[0].space if before else newline * (3 if kind == "file" else 2)
    else:
        space = following.space
    if not is_clause and head.space.count(b"\n") >= space.count(b"\n"):
        return second
    moved = head._replace(space=space) if isinstance(head, Token) else head.with_space(space)
    return (moved, *rest)


_DEFINITIONS = frozenset({"def", "class"})


def _spread(items: Run, base: Node, ours: Node, theirs: Node) -> Run:
    """Write a list as the side does that changed how it is written."""
    is_ended = _changed(*(_is_ended(node.children) for node in (base, ours, theirs)))
    spread = next((node for node in (ours, theirs) if _is_spread(node.children)), None)
    out = list(items)
    for i, item in enumerate(items):
        if spread and isinstance(item, Node) and b"\n" not in item.space:
            out[i] = item.with_space(spread.children[0].space)
    heads = {id(node.children[0]) for node in (ours, theirs) if node.children}
    for i, item in enumerate(out):
        if not isinstance(item, Node):
            continue
        if i and not item.space and id(item) in heads:
            out[i] = item.with_space(b" ")
        elif not i and item.space == b" " and id(item) not in heads:
            out[i] = item.with_space(b"")
    if out and isinstance(last := out[-1], Node):
        comma = (last.comma or b"") if is_ended else None
        out[-1] = evolve(last, comma=comma)
    return tuple(out)


def _is_ended(items: Run) -> bool:
    return bool(items) and isinstance(items[-1], Node) and items[-1].comma is not None


def _is_spread(items: Run) -> bool:
    return bool(items) and all(b"\n" in item.space for item in items)

"""Three-way merge of trees.

The children of the three versions are aligned, and the edits of both sides are walked
together. Edits of different children combine. A child that both sides edited is merged
recursively. If both sides insert at one place, both insertions are kept where the
construct has room for both. A few rules combine statements that both sides changed;
everything else that both sides changed is a disagreement.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from attrs import evolve, field, frozen

from cooperbench_eval.structure import ordering, overlaps
from cooperbench_eval.structure.alignment import align
from cooperbench_eval.structure.strings import merge_strings
from cooperbench_eval.structure.tree import (
    Construct,
    DisagreementError,
    Element,
    Elements,
    Mode,
    Token,
    same,
)

__all__ = ["TreeMerge"]

T = TypeVar("T")

_DEFINITIONS = frozenset({"def", "class"})


class ChildEdit(NamedTuple):
    """Replaces the children *start* to *end* of the base by *new*."""

    start: int
    end: int
    new: Elements


class AlignedVersion(NamedTuple):
    """The children of a version, where the base's children are among them, and the edits."""

    children: Elements
    places: Sequence[int | None]
    edits: list[ChildEdit]

    @classmethod
    def of(cls, base: Elements, children: Elements, mode: Mode) -> "AlignedVersion":
        """Align a version with the base and list its edits."""
        places = align(base, children, mode)
        edits = []
        start = at = 0
        for i, place in enumerate([*places, len(children)]):
            if place is None:
                continue
            if start < i or at < place:
                edits.append(ChildEdit(start, i, children[at:place]))
            start, at = i + 1, place + 1
        return cls(children, places, edits)

    def between(self, start: int, end: int, edits: Sequence[ChildEdit]) -> Elements:
        """Return the children *start* to *end* of the base as *edits* leave them."""
        inserted = {edit.start: edit.new for edit in edits}
        out = list(inserted.get(start, ()))
        for i in range(start, end):
            if i > start:
                out += inserted.get(i, ())
            if (place := self.places[i]) is not None:
                out.append(self.children[place])
        return tuple(out)

    def at(self, index: int) -> Element | None:
        """Return this version of one child of the base."""
        place = self.places[index] if index < len(self.places) else None
        return None if place is None else self.children[place]


class Overlap(NamedTuple):
    """Edits that touch the same children of the base."""

    start: int
    end: int
    ours: list[ChildEdit]
    theirs: list[ChildEdit]


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
        if isinstance(base, Token) and isinstance(ours, Token) and isinstance(theirs, Token):
            sides = (theirs, ours) if self.theirs_first else (ours, theirs)
            return _merge_tokens(base, *sides)
        if (
            isinstance(base, Construct)
            and isinstance(ours, Construct)
            and isinstance(theirs, Construct)
            and base.kind == ours.kind == theirs.kind
        ):
            return self._merge_constructs(base, ours, theirs)
        if same(ours, theirs) or same(base, theirs):
            return ours
        if same(base, ours):
            return theirs
        raise DisagreementError.at(base)

    def _merge_constructs(self, base: Construct, ours: Construct, theirs: Construct) -> Construct:
        merger = self
        if base.kind == "import":
            base, ours, theirs = _bracketed(base, ours, theirs)
            merger = TreeMerge(self.theirs_first)
        versions = base.children, ours.children, theirs.children
        children = merger.merge_children(*versions, base.mode, base.kind)
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

    def merge_children(
        self, base: Elements, ours: Elements, theirs: Elements, mode: Mode, kind: str = "suite"
    ) -> Elements:
        """Merge two versions of the children of a construct.

        Args:
            base: The children in the base.
            ours: The children in ours.
            theirs: The children in theirs.
            mode: The relation of the children to each other.
            kind: The kind of the construct.

        Raises:
            DisagreementError: They cannot be combined.
        """
        mine, other = (AlignedVersion.of(base, side, mode) for side in (ours, theirs))
        out: list[Element] = []
        at = 0
        for overlap in _overlaps(mine, other):
            out += self._kept(base, mine, other, range(at, overlap.start))
            out += self._changed_children(base, (mine, other), overlap, mode, kind)
            at = overlap.end
        out += self._kept(base, mine, other, range(at, len(base)))
        return tuple(out)

    def _kept(
        self, base: Elements, ours: AlignedVersion, theirs: AlignedVersion, span: range
    ) -> Iterator[Element]:
        for i in span:
            mine, other = ours.at(i), theirs.at(i)
            if mine is not None and other is not None:
                yield self.merge(base[i], mine, other)

    def _changed_children(
        self,
        base: Elements,
        sides: tuple[AlignedVersion, AlignedVersion],
        overlap: Overlap,
        mode: Mode,
        kind: str,
    ) -> Elements:
        start, end = overlap.start, overlap.end
        before = base[start:end]
        mine = sides[0].between(start, end, overlap.ours)
        other = sides[1].between(start, end, overlap.theirs)
        if _are_same(other, before) or _are_same(mine, other):
            return mine
        if _are_same(mine, before):
            return other
        if not before and mode is not Mode.SEQUENCE:
            first, second = self._in_order(mine, other)
            if mode is Mode.MEMBERS:
                side = sides[0] if first is mine else sides[1]
                second = _spaced(base[:start], first, second, side.at(end), kind)
            return self._both(first, second, base[:start], kind)
        if not before and kind == "class":
            return self._bases(mine, other)
        if mode is Mode.MEMBERS:
            found = overlaps.combine(self, before, mine, other)
            if found is not None:
                return found
        raise DisagreementError.at(*(before or mine))

    def _bases(self, ours: Elements, theirs: Elements) -> Elements:
        """Merge the bases that both sides gave a class that had none."""
        mine, other = ours[0], theirs[0]
        if not len(ours) == len(theirs) == 1 or not isinstance(mine, Construct):
            raise DisagreementError.at(*ours)
        return (self.merge(_without_names(mine), mine, other),)

    def _both(self, first: Elements, second: Elements, before: Elements, kind: str) -> Elements:
        """Keep both insertions at one place; elements that occur in both are kept once."""
        there = {
            each.key: i for i, each in enumerate(first) if isinstance(each, Construct) and each.key
        }
        out = list(first)
        new = []
        for each in second:
            if not isinstance(each, Construct) or each.key not in there:
                new.append(each)
                continue
            twin = out[there[each.key]]
            if same(twin, each):
                continue
            if not isinstance(twin, Construct) or each.kind != "import":
                raise DisagreementError.at(each)
            out[there[each.key]] = TreeMerge().merge(_without_names(each), twin, each)
        if name := _imported(out) & _imported(new):
            raise DisagreementError(f"both sides import {min(name).decode('utf-8', 'replace')!r}")
        arranged = ordering.arrange(kind, before, tuple(out), second, tuple(new))
        if (kind == "parameters" and arranged != (*out, *new)) or (
            kind == "arguments" and ordering.has_positional(out) and ordering.has_positional(new)
        ):
            self._mixed.add(kind)
        if len(self._mixed) > 1:
            raise DisagreementError("parameters would be in another order than arguments")
        return arranged

    def _in_order(self, ours: Elements, theirs: Elements) -> tuple[Elements, Elements]:
        """Put the insertion last that is more likely to leave the suite (`return`, `break` …)."""
        mine, other = ordering.find_leaving(ours), ordering.find_leaving(theirs)
        if mine is other is ordering.Leaving.ALWAYS:
            raise DisagreementError("both sides leave the suite there")
        theirs_first = self.theirs_first if mine is other else mine > other
        return (theirs, ours) if theirs_first else (ours, theirs)


def _merge_tokens(base: Token, ours: Token, theirs: Token) -> Token:
    space = _changed(base.space, ours.space, theirs.space)
    if ours.word in {base.word, theirs.word}:
        return theirs.with_space(space)
    if theirs.word == base.word:
        return ours.with_space(space)
    word = merge_strings(base.word, ours.word, theirs.word)
    if word is None:
        raise DisagreementError.at(base)
    return ours._replace(space=space, word=word)


def _changed(base: T, ours: T, theirs: T) -> T:
    """Return the changed value; ours if both sides changed it."""
    return theirs if ours == base else ours


def _are_same(one: Elements, other: Elements) -> bool:
    return len(one) == len(other) and all(map(same, one, other))


def _overlaps(ours: AlignedVersion, theirs: AlignedVersion) -> list[Overlap]:
    """Group the edits of both sides that touch the same children, in order."""
    edits = sorted(
        [(edit, 0) for edit in ours.edits] + [(edit, 1) for edit in theirs.edits],
        key=lambda each: (each[0].start, each[0].end, each[1]),
    )
    found: list[Overlap] = []
    for edit, side in edits:
        last = found[-1] if found else None
        if last and (edit.start < last.end or edit.start == edit.end == last.start == last.end):
            found[-1] = last._replace(end=max(last.end, edit.end))
        else:
            found.append(Overlap(edit.start, edit.end, [], []))
        (found[-1].theirs if side else found[-1].ours).append(edit)
    return found


def _without_names(construct: Construct) -> Construct:
    """Return an import or a list of bases with its brackets but without its names."""
    children = tuple(
        _without_names(each)
        if isinstance(each, Construct) and each.kind in {"items", "group"}
        else each
        for each in construct.children
    )
    return evolve(construct, children=() if construct.kind == "items" else children)


def _bracketed(*versions: Construct) -> tuple[Construct, ...]:
    """If one version of an import has its names in brackets, put them in brackets in all."""
    groups = [each for version in versions for each in version.children if each.kind == "group"]
    if not groups or not isinstance(groups[0], Construct):
        return versions
    opener, _, closer = groups[0].children
    return tuple(
        evolve(
            version,
            children=tuple(
                evolve(groups[0], children=(opener, each, closer)) if each.kind == "items" else each
                for each in version.children
            ),
        )
        for version in versions
    )


def _imported(elements: Sequence[Element]) -> set[bytes]:
    """Return the names that `from` imports bind."""
    return {
        item.key
        for each in elements
        if each.kind == "import" and each.key.startswith(b"from ")
        for items in each.walk()
        if items.kind == "items"
        for item in items.children
    }


def _spaced(
    before: Elements, first: Elements, second: Elements, following: Element | None, kind: str
) -> Elements:
    """Put as many empty lines between two inserted definitions as there are around them."""
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
    return (head.with_space(space), *rest)


def _spread(items: Elements, base: Construct, ours: Construct, theirs: Construct) -> Elements:
    """Format a list like the side that changed its layout."""
    is_ended = _changed(*(_is_ended(each.children) for each in (base, ours, theirs)))
    spread = next((each for each in (ours, theirs) if _is_spread(each.children)), None)
    out = list(items)
    for i, item in enumerate(items):
        if spread and isinstance(item, Construct) and b"\n" not in item.space:
            out[i] = item.with_space(spread.children[0].space)
    heads = {id(each.children[0]) for each in (ours, theirs) if each.children}
    for i, item in enumerate(out):
        if not isinstance(item, Construct):
            continue
        if i and not item.space and id(item) in heads:
            out[i] = item.with_space(b" ")
        elif not i and item.space == b" " and id(item) not in heads:
            out[i] = item.with_space(b"")
    if out and isinstance(last := out[-1], Construct):
        comma = (last.comma or b"") if is_ended else None
        out[-1] = evolve(last, comma=comma)
    return tuple(out)


def _is_ended(items: Elements) -> bool:
    """Whether the last item of a list has a comma after it."""
    return bool(items) and isinstance(items[-1], Construct) and items[-1].comma is not None


def _is_spread(items: Elements) -> bool:
    """Whether each item of a list begins a line."""
    return bool(items) and all(b"\n" in item.space for item in items)

"""Finds the children of a construct that both sides changed."""

from collections.abc import Sequence
from typing import NamedTuple

from cooperbench_eval.languages.alignment import align
from cooperbench_eval.languages.tree import Element, Elements, Mode


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
        if start < end:
            out += inserted.get(end, ())
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


def find_overlaps(
    ours: AlignedVersion, theirs: AlignedVersion, *, joins_adjacent: bool = False
) -> list[Overlap]:
    """Group the edits of both sides that touch the same children, in order.

    With *joins_adjacent*, edits with nothing between them are grouped, too.
    """
    edits = sorted(
        [(edit, 0) for edit in ours.edits] + [(edit, 1) for edit in theirs.edits],
        key=lambda each: (each[0].start, each[0].end, each[1]),
    )
    found: list[Overlap] = []
    for edit, side in edits:
        last = found[-1] if found else None
        end = last.end + joins_adjacent if last else 0
        if last and (edit.start < end or edit.start == edit.end == last.start == last.end):
            found[-1] = last._replace(end=max(last.end, edit.end))
        else:
            found.append(Overlap(edit.start, edit.end, [], []))
        (found[-1].theirs if side else found[-1].ours).append(edit)
    return found

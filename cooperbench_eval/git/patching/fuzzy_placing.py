"""Finds a place for a hunk if the file contains most of its lines, but not all.

diff-match-patch only proposes the place (Bitap, by N. Fraser after S. Wu and U. Manber),
because its own patching can edit the wrong function and report success. A proposal must
meet all of these conditions:

- The place has every line that the hunk removes, enough of its other old lines, and the
  lines that a change is indented under.
- The place is below the line that the hunk's header names.
- Each change has one definite position at the place.
- No second place qualifies.
- Undoing the change by the same rules restores the file.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile

from attrs import evolve, frozen

from cooperbench_eval.git.patching.patch_parts import Hunk

_MOST_WORK = 12_000_000
"""The limit for one patch, as hunk lines times file lines. Work up to it takes a few seconds."""
_OTHER = "\0"
"""Stands for each line of the file that the hunk does not have or may not use."""


class NoPlaceError(Exception):
    """A hunk has no place; the message is the reason."""


@frozen
class LineEdit:
    """Replaces the lines *start* to *end* of the file by the lines *added* of the hunk."""

    start: int
    end: int
    added: tuple[int, ...]


class SearchBudget:
    """How much the remaining searches for one patch may cost."""

    def __init__(self) -> None:
        self._left = _MOST_WORK

    def spend(self, work: int) -> None:
        """Subtract the cost of one search, or raise `NoPlaceError` if too little is left."""
        if work > self._left:
            raise NoPlaceError("searching for a similar place would take too long")
        self._left -= work


def find_fuzzily(
    keys: Sequence[bytes],
    claimed: Sequence[int],
    hunk: Hunk,
    near: int,
    least_similarity: float,
    *,
    key: Callable[[bytes], bytes] = bytes,
    budget: SearchBudget | None = None,
) -> tuple[LineEdit, ...]:
    """Find the only place where a hunk's changes fit.

    Args:
        keys: The file's lines in the form in which they are compared.
        claimed: For each line whether an earlier hunk has claimed it.
        hunk: The hunk.
        near: The line that the header states, counted from 0.
        least_similarity: The share of the hunk's old lines that the place must have.
        key: Turns the hunk's lines into the form in which they are compared.
        budget: How much the search may cost.

    Raises:
        NoPlaceError: There is no such place, or more than one.
    """
    budget = budget or SearchBudget()
    budget.spend(len(keys))
    search = _HunkSearch.of(keys, claimed, hunk, key, budget)
    found = search.align(near, least_similarity)
    edits = search.edits(found)
    _require_section(keys, hunk, key, min(place for place in found if place is not None))
    if search.fits_beside(found, least_similarity) or search.without(found).has_place(
        near, least_similarity
    ):
        raise NoPlaceError("its lines are similar to those of several places")
    keyed = evolve(hunk, lines=(line[:1] + key(line[1:]) for line in hunk.lines))
    after = apply_edits(keys, edits, keyed)
    undo = _HunkSearch.of(after, bytes(len(after)), hunk.reversed, key, budget)
    try:
        changes = undo.edits(undo.align(edits[0].start, least_similarity))
    except NoPlaceError:
        changes = ()
    if apply_edits(after, changes, keyed.reversed) != list(keys):
        raise NoPlaceError("its change could not be undone at the most similar place")
    return edits


def apply_edits(lines: Sequence[bytes], edits: Iterable[LineEdit], hunk: Hunk) -> list[bytes]:
    """Return *lines* after the *edits* of *hunk*, which are in order."""
    out: list[bytes] = []
    done = 0
    for edit in edits:
        out += lines[done : edit.start]
        out += [hunk.lines[i][1:] for i in edit.added]
        done = edit.end
    out += lines[done:]
    return out


@frozen
class _HunkSearch:
    """The search for a hunk in a file; *pattern* and *text* have a character for each line."""

    hunk: Hunk
    old: list[bytes]
    pattern: str
    text: str
    budget: SearchBudget

    @classmethod
    def of(
        cls,
        keys: Sequence[bytes],
        claimed: Sequence[int],
        hunk: Hunk,
        key: Callable[[bytes], bytes],
        budget: SearchBudget,
    ) -> "_HunkSearch":
        old = list(map(key, hunk.old))
        # Surrogates are not characters, so numbering starts after them.
        names = {line: chr(0x10000 + i) for i, line in enumerate(dict.fromkeys(old))}
        pattern = "".join(map(names.__getitem__, old))
        text = "".join(
            _OTHER if taken else names.get(key, _OTHER)
            for key, taken in zip(keys, claimed, strict=True)
        )
        return cls(hunk, hunk.old, pattern, text, budget)

    def without(self, places: Sequence[int | None]) -> "_HunkSearch":
        used = set(places)
        left = (_OTHER if i in used else character for i, character in enumerate(self.text))
        return evolve(self, text="".join(left))

    def has_place(self, near: int, least: float) -> bool:
        try:
            self.edits(self.align(near, least))
        except NoPlaceError:
            return False
        return True

    def align(self, near: int, least: float) -> list[int | None]:
        """Return for each old line of the hunk the file's line that it matches, if any."""
        from cooperbench_eval.support.symbols import (  # noqa: PLC0415
            Step,
            diff_symbols,
            find_similar,
        )

        self.budget.spend(len(self.text) * len(self.pattern))
        at = find_similar(self.text, self.pattern, near, least)
        if at < 0:
            raise NoPlaceError("its lines are not there, nor similar ones")
        size = len(self.pattern)
        slack = math.ceil(size * (1 - least)) + 1
        start = max(at - slack, 0)
        window = self.text[start : at + size + slack]
        found: list[int | None] = []
        for step, characters in diff_symbols(self.pattern, window):
            if step is Step.KEEP:
                found += range(start, start + len(characters))
            elif step is Step.REMOVE:
                found += [None] * len(characters)
            if step is not Step.REMOVE:
                start += len(characters)
        if self._similarity(found) < least:
            raise NoPlaceError("its lines are not there, nor similar ones")
        places = [place for place in found if place is not None]
        if places[-1] - places[0] >= size + slack:
            raise NoPlaceError("too many other lines are between its lines")
        return found

    def _similarity(self, found: Sequence[int | None]) -> float:
        """Return the share of the old lines' characters that was found, without white space."""
        sizes = [len(b"".join(line.split())) for line in self.old]
        there = sum(size for size, place in zip(sizes, found, strict=True) if place is not None)
        return there / sum(sizes) if any(sizes) else 0.0

    def fits_beside(self, found: Sequence[int | None], least: float) -> bool:
        """Whether the hunk also fits a few lines up or down, overlapping the place *found*."""
        size = len(found)
        self.budget.spend(size * size)
        for shift in filter(None, range(-size, size + 1)):
            moved = [
                place + shift
                if place is not None
                and 0 <= place + shift < len(self.text)
                and self.text[place + shift] == self.pattern[i]
                else None
                for i, place in enumerate(found)
            ]
            if self._similarity(moved) >= least:
                return True
        return False

    def edits(self, found: Sequence[int | None]) -> tuple[LineEdit, ...]:
        edits: list[LineEdit] = []
        removed: list[int | None] = []
        added: list[int] = []
        seen = 0
        for i, line in enumerate((*self.hunk.lines, b" ")):
            if line[:1] == b"+":
                added.append(i)
            elif line[:1] == b"-":
                removed.append(found[seen])
                seen += 1
            else:
                if removed or added:
                    before, after = seen - len(removed) - 1, seen
                    self._require_scope(i, before + 1, found)
                    start, end = _span(removed, _at(found, before), _at(found, after))
                    edits.append(LineEdit(start, end, tuple(added)))
                    removed, added = [], []
                seen += 1
        return tuple(edits)

    def _require_scope(self, end: int, above: int, found: Sequence[int | None]) -> None:
        """Require the lines under which the change before line *end* is indented.

        These are among the *above* old lines before the change: the nearest one with
        less indentation, such as the head of a loop, then the next one outwards, up to
        the head of the function. A hunk that begins below such a line does not show it,
        so the line is not required.
        """
        above_end = reversed(self.hunk.lines[:end])
        changes = (line[1:] for line in takewhile(lambda line: line[:1] != b" ", above_end))
        depth = min((_indent(line) for line in changes if line.strip()), default=0)
        for i in reversed(range(above)):
            if self.old[i].strip() and _indent(self.old[i]) < depth:
                if found[i] is None:
                    raise NoPlaceError("a line that it is indented under is not there")
                depth = _indent(self.old[i])


def _require_section(
    keys: Sequence[bytes], hunk: Hunk, key: Callable[[bytes], bytes], start: int
) -> None:
    """Require that a hunk's place is below the line that its header names, if any.

    Git names the nearest line above that looks like the head of a function or class.
    """
    section = key(hunk.section.strip(b" \r\n"))
    if not section.strip():
        return
    depth = _indent(section)
    for i in reversed(range(start + 1)):
        if keys[i].startswith(section):
            return
        if i < start and keys[i].strip() and _indent(keys[i]) <= depth:
            break
    raise NoPlaceError("it is not under the line that its header names")


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip())


def _at(found: Sequence[int | None], index: int) -> int | None:
    return found[index] if 0 <= index < len(found) else None


def _span(removed: Sequence[int | None], before: int | None, after: int | None) -> tuple[int, int]:
    """Return the range of lines that a change replaces.

    For a pure addition, the range is empty, and lies between the lines *before* and *after*.
    """
    places = [place for place in removed if place is not None]
    if len(places) < len(removed):
        raise NoPlaceError("a line that it removes is not there")
    if places:
        if places[-1] - places[0] != len(places) - 1:
            raise NoPlaceError("other lines are between those that it removes")
        return places[0], places[-1] + 1
    if before is None and after is None:
        raise NoPlaceError("neither of the lines around an addition is there")
    if before is not None and after is not None and after != before + 1:
        raise NoPlaceError("other lines are where it adds some")
    place = before + 1 if before is not None else after or 0
    return place, place

"""Finds a place for a hunk of which only most lines stand in the file.

diff-match-patch proposes the place (Bitap, by N. Fraser after S. Wu and U. Manber)
and nothing more: its own patching edits the wrong function and reports success. A
proposal is taken only if every line to be removed stands there, enough of the other
old lines do, and so do those that a change is indented under; if it lies under the line
that the hunk's header names, each change has a definite place, no second place would do,
and undoing the change by the same rules gives the file back.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from attrs import evolve, frozen

from cooperbench_eval.patching.records import Hunk

__all__ = ["Edit", "Effort", "NoPlaceError", "apply_edits", "find_fuzzily"]

_MOST_WORK = 12_000_000
"""Lines of the hunks times lines of the files that are searched for a patch: some seconds."""
_OTHER = "\0"
"""Stands for every line of the file that is none of the hunk's, or that it must not use."""


class NoPlaceError(Exception):
    """A hunk has no place by these rules; the message is the reason."""


@frozen
class Edit:
    """Lines *start* to *end* of the file give way to lines *added* of the hunk."""

    start: int
    end: int
    added: tuple[int, ...]


class Effort:
    """What the searches for a patch may still cost."""

    def __init__(self) -> None:
        """Start with all of it."""
        self._left = _MOST_WORK

    def spend(self, work: int) -> None:
        """Take off the cost of one search.

        Raises:
            NoPlaceError: There is not so much left.
        """
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
    effort: Effort | None = None,
) -> tuple[Edit, ...]:
    """Find where a hunk's changes belong.

    Args:
        keys: The file's lines, as they are compared.
        claimed: For each line whether an earlier hunk has it.
        hunk: The hunk.
        near: The line where it claims to stand, counted from 0.
        least_similarity: The share of its old lines that must be there.
        key: What makes the hunk's lines comparable.
        effort: What the search may cost.

    Raises:
        NoPlaceError: There is no such place, or more than one.
    """
    effort = effort or Effort()
    effort.spend(len(keys))
    search = _Search(keys, claimed, hunk, key, effort)
    found = search.align(near, least_similarity)
    edits = search.edits(found)
    _require_section(keys, hunk, key, min(place for place in found if place is not None))
    if search.fits_beside(found, least_similarity) or search.without(found).has_place(
        near, least_similarity
    ):
        raise NoPlaceError("its lines are similar to those of several places")
    keyed = evolve(hunk, lines=(line[:1] + key(line[1:]) for line in hunk.lines))
    after = apply_edits(keys, edits, keyed)
    undo = _Search(after, bytes(len(after)), hunk.reversed, key, effort)
    try:
        changes = undo.edits(undo.align(edits[0].start, least_similarity))
    except NoPlaceError:
        changes = ()
    if apply_edits(after, changes, keyed.reversed) != list(keys):
        raise NoPlaceError("its change could not be undone at the most similar place")
    return edits


def apply_edits(lines: Sequence[bytes], edits: Iterable[Edit], hunk: Hunk) -> list[bytes]:
    """Return *lines* with the *edits* of *hunk* made; they are in order."""
    out: list[bytes] = []
    done = 0
    for edit in edits:
        out += lines[done : edit.start]
        out += [hunk.lines[i][1:] for i in edit.added]
        done = edit.end
    out += lines[done:]
    return out


class _Search:
    """A hunk and a file whose lines are characters."""

    def __init__(
        self,
        keys: Sequence[bytes],
        claimed: Sequence[int],
        hunk: Hunk,
        key: Callable[[bytes], bytes],
        effort: Effort,
    ) -> None:
        self._hunk = hunk
        self._old = hunk.old
        self._effort = effort
        old = list(map(key, self._old))
        # Above the surrogates, which are no characters.
        names = {line: chr(0x10000 + i) for i, line in enumerate(dict.fromkeys(old))}
        self._pattern = "".join(map(names.__getitem__, old))
        self._text = "".join(
            _OTHER if taken else names.get(key, _OTHER)
            for key, taken in zip(keys, claimed, strict=True)
        )

    def without(self, places: Sequence[int | None]) -> "_Search":
        """Return the search of the other lines."""
        other = object.__new__(_Search)
        other._hunk, other._old, other._pattern = self._hunk, self._old, self._pattern
        other._effort = self._effort
        used = set(places)
        other._text = "".join(
            _OTHER if i in used else character for i, character in enumerate(self._text)
        )
        return other

    def has_place(self, near: int, least: float) -> bool:
        """Whether the hunk could stand among these lines."""
        try:
            self.edits(self.align(near, least))
        except NoPlaceError:
            return False
        return True

    def align(self, near: int, least: float) -> list[int | None]:
        """Say for each old line of the hunk which line of the file it is, if any."""
        from cooperbench_eval.symbols import Step, diff_symbols, find_similar  # noqa: PLC0415

        self._effort.spend(len(self._text) * len(self._pattern))
        at = find_similar(self._text, self._pattern, near, least)
        if at < 0:
            raise NoPlaceError("its lines are not there, nor similar ones")
        size = len(self._pattern)
        slack = math.ceil(size * (1 - least)) + 1
        start = max(at - slack, 0)
        window = self._text[start : at + size + slack]
        found: list[int | None] = []
        for step, characters in diff_symbols(self._pattern, window):
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
            raise NoPlaceError("too many other lines stand between its lines")
        return found

    def _similarity(self, found: Sequence[int | None]) -> float:
        """Return the share of the old lines' characters, white space apart, that is there."""
        sizes = [len(b"".join(line.split())) for line in self._old]
        there = sum(size for size, place in zip(sizes, found, strict=True) if place is not None)
        return there / sum(sizes) if any(sizes) else 0.0

    def fits_beside(self, found: Sequence[int | None], least: float) -> bool:
        """Whether the hunk would also do a few lines up or down, over the same lines."""
        size = len(found)
        self._effort.spend(size * size)
        for shift in filter(None, range(-size, size + 1)):
            moved = [
                place + shift
                if place is not None
                and 0 <= place + shift < len(self._text)
                and self._text[place + shift] == self._pattern[i]
                else None
                for i, place in enumerate(found)
            ]
            if self._similarity(moved) >= least:
                return True
        return False

    def edits(self, found: Sequence[int | None]) -> tuple[Edit, ...]:
        """Turn the hunk's changes into edits of the lines found."""
        edits: list[Edit] = []
        removed: list[int | None] = []
        added: list[int] = []
        seen = 0
        for i, line in enumerate((*self._hunk.lines, b" ")):
            if line[:1] == b"+":
                added.append(i)
            elif line[:1] == b"-":
                removed.append(found[seen])
                seen += 1
            else:
                if removed or added:
                    before, behind = seen - len(removed) - 1, seen
                    self._require_scope(i, before + 1, found)
                    start, end = _span(removed, _at(found, before), _at(found, behind))
                    edits.append(Edit(start, end, tuple(added)))
                    removed, added = [], []
                seen += 1
        return tuple(edits)

    def _require_scope(self, end: int, above: int, found: Sequence[int | None]) -> None:
        """Require the lines that the change before line *end* is indented under.

        Of the *above* old lines before it, the nearest with less indentation, such as
        the head of a loop, and so on outwards to that of a function. A hunk may begin
        below it; then the hunk does not say.
        """
        depth = min(_indents(line[1:] for line in _changes_before(self._hunk, end)), default=0)
        for i in reversed(range(above)):
            if self._old[i].strip() and _indent(self._old[i]) < depth:
                if found[i] is None:
                    raise NoPlaceError("a line that it is indented under is not there")
                depth = _indent(self._old[i])


def _require_section(
    keys: Sequence[bytes], hunk: Hunk, key: Callable[[bytes], bytes], start: int
) -> None:
    """Require that a hunk stands under the line that its header names, if it names one.

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


def _changes_before(hunk: Hunk, end: int) -> Iterator[bytes]:
    for line in reversed(hunk.lines[:end]):
        if line[:1] == b" ":
            return
        yield line


def _indents(lines: Iterable[bytes]) -> Iterator[int]:
    return (_indent(line) for line in lines if line.strip())


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip())


def _at(found: Sequence[int | None], index: int) -> int | None:
    return found[index] if 0 <= index < len(found) else None


def _span(removed: Sequence[int | None], before: int | None, behind: int | None) -> tuple[int, int]:
    """Say which lines a change replaces, from the lines it removes or stands between."""
    places = [place for place in removed if place is not None]
    if len(places) < len(removed):
        raise NoPlaceError("a line that it removes is not there")
    if places:
        if places[-1] - places[0] != len(places) - 1:
            raise NoPlaceError("other lines stand between those that it removes")
        return places[0], places[-1] + 1
    if before is None and behind is None:
        raise NoPlaceError("neither of the lines around an addition is there")
    if before is not None and behind is not None and behind != before + 1:
        raise NoPlaceError("other lines stand where it adds some")
    place = before + 1 if before is not None else behind or 0
    return place, place

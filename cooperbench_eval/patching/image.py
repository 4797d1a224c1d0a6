"""One file being patched: its lines, and where a hunk's lines stand among them."""

import re
from io import BytesIO

from attrs import evolve, frozen

from cooperbench_eval.models import Rung
from cooperbench_eval.patching.fuzzy import Effort, NoPlaceError, apply_edits, find_fuzzily
from cooperbench_eval.patching.policy import ApplyPolicy
from cooperbench_eval.patching.records import Hunk
from cooperbench_eval.patching.search import LineSearch

__all__ = ["Image", "Placed", "Refused", "laxer"]

_LAXITY = {rung: i for i, rung in enumerate(Rung)}


def laxer(one: Rung, other: Rung) -> Rung:
    """Return the more lenient of two ways to place a hunk."""
    return max(one, other, key=_LAXITY.__getitem__)


@frozen
class Placed:
    """How a hunk was placed."""

    rung: Rung
    offset: int
    uncounted_lines: int = 0


@frozen
class Refused:
    """Why a hunk was not placed."""

    reason: str


class Image:
    """A file being patched: its lines, and which of them a hunk already claimed."""

    def __init__(self, data: bytes, policy: ApplyPolicy, effort: Effort) -> None:
        """Cut *data* into lines; the *policy* says how hunks may be placed."""
        self._policy = policy
        self._effort = effort
        self._squeezes = policy.allows(Rung.WHITESPACE)
        self._lines = BytesIO(data).readlines()  # ends lines at b"\n" and nowhere else
        self._keys = self._as_keys(self._lines)
        self._claimed = bytearray(len(self._lines))
        self._search: LineSearch | None = None

    def _as_keys(self, lines: list[bytes]) -> list[bytes]:
        """Return *lines* as they are compared: the same list where that is as they are."""
        return list(map(_squeeze, lines)) if self._squeezes else lines

    def data(self) -> bytes:
        """The file as it is now."""
        return b"".join(self._lines)

    def place(self, hunk: Hunk) -> Placed | Refused:
        """Put the hunk's new lines in place; say how, or why not."""
        recounts = self._policy.allows(Rung.RECOUNT)
        if hunk.stated:
            if recounts:
                return self._place_recounted(hunk)
            old, new = hunk.stated
            return Refused(
                f"its header counts {old} old and {new} new lines, "
                f"and it has {len(hunk.old)} and {len(hunk.new)}"
            )
        placed = self._place(hunk)
        if not hunk.uncounted:
            return placed
        if isinstance(placed, Placed):
            dropped = sum(line[:1] != b" " for line in hunk.uncounted)
            return evolve(placed, uncounted_lines=dropped)
        return self._place_recounted(hunk) if recounts else placed

    def _place_recounted(self, hunk: Hunk) -> Placed | Refused:
        # A wrong header is not believed about the file's ends either.
        for guess in dict.fromkeys((hunk.whole, hunk.whole.without_blank_end)):
            placed = self._place(guess, is_pinned=not guess.old)
            if isinstance(placed, Placed):
                return evolve(placed, rung=laxer(placed.rung, Rung.RECOUNT))
        return placed

    def _place(self, hunk: Hunk, *, is_pinned: bool = True) -> Placed | Refused:
        old = hunk.old
        stated = max(hunk.new_start - 1, 0)
        at = self._find(hunk, self._as_keys(old), stated, is_pinned=is_pinned)
        if at is None or (at != stated and not self._policy.allows(Rung.OFFSET)):
            return self._place_fuzzily(hunk, stated)
        is_same = self._lines[at : at + len(old)] == old
        self._replace(at, hunk)
        rung = Rung.EXACT if at == stated else Rung.OFFSET
        return Placed(rung if is_same else Rung.WHITESPACE, at - stated)

    def _place_fuzzily(self, hunk: Hunk, stated: int) -> Placed | Refused:
        if not self._policy.allows(Rung.FUZZY):
            return Refused("its lines are not there")
        key = _keep_indent if self._squeezes else bytes
        try:
            edits = find_fuzzily(
                list(map(key, self._lines)),
                self._claimed,
                hunk,
                stated,
                self._policy.least_similarity,
                key=key,
                effort=self._effort,
            )
        except NoPlaceError as exc:
            return Refused(str(exc))
        self._lines = apply_edits(self._lines, edits, hunk)
        self._keys = self._as_keys(self._lines)
        self._search = None
        grown = 0
        for edit in edits:
            start, size = edit.start + grown, len(edit.added)
            self._claimed[start : edit.end + grown] = b"\1" * size
            grown += size - (edit.end - edit.start)
        first = next(i for i, line in enumerate(hunk.lines) if line[:1] != b" ")
        return Placed(Rung.FUZZY, edits[0].start - first - stated)

    def _find(self, hunk: Hunk, old: list[bytes], stated: int, *, is_pinned: bool) -> int | None:
        """Find the keys *old*, nearest to *stated* first, later before earlier.

        As in `git apply`, a hunk that starts at the top of the file is pinned there,
        and one without context behind its changes at the end.
        """
        last = len(self._lines) - len(old)
        if last < 0:
            return None
        at_top = is_pinned and hunk.old_start <= 1
        at_end = is_pinned and hunk.lines[-1][:1] != b" "
        if at_top and at_end and last != 0:
            return None
        if at_top or at_end:
            place = 0 if at_top else last
            return place if self._fits(old, place) else None
        if self._fits(old, stated):
            return stated
        if self._search is None:
            self._search = LineSearch(self._keys, self._claimed)
        return self._search.find(old, min(stated, len(self._lines)))

    def _fits(self, old: list[bytes], place: int) -> bool:
        end = place + len(old)
        return self._keys[place:end] == old and not any(self._claimed[place:end])

    def _replace(self, at: int, hunk: Hunk) -> None:
        """Swap the lines; context keeps the file's own white space."""
        new: list[bytes] = []
        taken = at
        for line in hunk.lines:
            if line[:1] == b"+":
                new.append(line[1:])
                continue
            if line[:1] == b" ":
                new.append(self._lines[taken])
            taken += 1
        ends = len(new) - (taken == len(self._lines))
        for i, line in enumerate(new[: max(ends, 0)]):
            if not line.endswith(b"\n"):
                new[i] = line + b"\n"  # it is no longer the last line
        self._lines[at:taken] = new
        if self._keys is not self._lines:
            self._keys[at:taken] = self._as_keys(new)
        self._claimed[at:taken] = b"\1" * len(new)
        if self._search:
            self._search.claim(at, taken, len(new))


_SPACE = re.compile(rb"[ \t\r\n]+")


def _squeeze(line: bytes) -> bytes:
    """Take every run of white space as one space, and the line's ending as none."""
    return _SPACE.sub(b" ", line.rstrip(b"\r\n"))


def _keep_indent(line: bytes) -> bytes:
    """Squeeze white space but for the indentation, which tells one block from another."""
    body = line.lstrip(b" \t")
    return line[: len(line) - len(body)] + _squeeze(body).rstrip(b" ")

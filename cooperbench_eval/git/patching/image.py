"""One file while it is patched: its lines, and the places of hunks among them."""

import re
from io import BytesIO

from attrs import evolve

from cooperbench_eval.git.patching.fuzzy import (
    NoPlaceError,
    SearchBudget,
    apply_edits,
    find_fuzzily,
)
from cooperbench_eval.git.patching.placements import HunkPlacement, Rung
from cooperbench_eval.git.patching.policy import ApplyPolicy
from cooperbench_eval.git.patching.records import Hunk
from cooperbench_eval.git.patching.search import LineSearch

__all__ = ["FileImage", "laxer"]

_LAXITY = {rung: i for i, rung in enumerate(Rung)}


def laxer(one: Rung, other: Rung) -> Rung:
    """Return the more lenient of two ways to place a hunk."""
    return max(one, other, key=_LAXITY.__getitem__)


class FileImage:
    """The lines of a file while it is patched, and which of them a hunk has claimed."""

    def __init__(self, path: str, data: bytes, policy: ApplyPolicy, budget: SearchBudget) -> None:
        self._path = path
        self._policy = policy
        self._budget = budget
        self._squeezes = policy.allows(Rung.WHITESPACE)
        self._lines = BytesIO(data).readlines()  # ends lines at b"\n" and nowhere else
        self._keys = self._as_keys(self._lines)
        self._claimed = bytearray(len(self._lines))
        self._search: LineSearch | None = None

    def _as_keys(self, lines: list[bytes]) -> list[bytes]:
        return list(map(_squeeze, lines)) if self._squeezes else lines

    def data(self) -> bytes:
        """Return the file as it is now."""
        return b"".join(self._lines)

    def place(self, number: int, hunk: Hunk) -> HunkPlacement:
        """Apply the *number*-th hunk; the result says how it was placed, or why it was not."""
        try:
            return evolve(self._place(hunk), hunk=number)
        except NoPlaceError as exc:
            return HunkPlacement(path=self._path, hunk=number, reason=str(exc))

    def _place(self, hunk: Hunk) -> HunkPlacement:
        recounts = self._policy.allows(Rung.RECOUNT)
        if hunk.stated and recounts:
            return self._place_recounted(hunk)
        if hunk.stated:
            old, new = hunk.stated
            raise NoPlaceError(
                f"its header counts {old} old and {new} new lines, "
                f"and it has {len(hunk.old)} and {len(hunk.new)}"
            )
        try:
            placed = self._place_lines(hunk)
        except NoPlaceError:
            if recounts and hunk.uncounted:
                return self._place_recounted(hunk)
            raise
        if hunk.uncounted:
            dropped = sum(line[:1] != b" " for line in hunk.uncounted)
            placed = evolve(placed, uncounted_lines=dropped)
        return placed

    def _place_recounted(self, hunk: Hunk) -> HunkPlacement:
        """Place a hunk by its lines, and not only at the file's ends, as its header is wrong."""
        whole = hunk.whole
        shorter = whole.without_blank_end
        try:
            placed = self._place_lines(whole, is_pinned=not whole.old)
        except NoPlaceError:
            if shorter == whole:
                raise
            placed = self._place_lines(shorter, is_pinned=not shorter.old)
        return evolve(placed, rung=laxer(placed.rung or Rung.EXACT, Rung.RECOUNT))

    def _place_lines(self, hunk: Hunk, *, is_pinned: bool = True) -> HunkPlacement:
        old = hunk.old
        stated = max(hunk.new_start - 1, 0)
        at = self._find(hunk, self._as_keys(old), stated, is_pinned=is_pinned)
        if at is None or (at != stated and not self._policy.allows(Rung.OFFSET)):
            return self._place_fuzzily(hunk, stated)
        rung = Rung.EXACT if at == stated else Rung.OFFSET
        if self._lines[at : at + len(old)] != old:
            rung = Rung.WHITESPACE
        self._replace(at, hunk)
        return HunkPlacement(path=self._path, rung=rung, offset=at - stated)

    def _place_fuzzily(self, hunk: Hunk, stated: int) -> HunkPlacement:
        if not self._policy.allows(Rung.FUZZY):
            raise NoPlaceError("its lines are not there")
        key = _keep_indent if self._squeezes else bytes
        edits = find_fuzzily(
            list(map(key, self._lines)),
            self._claimed,
            hunk,
            stated,
            self._policy.least_similarity,
            key=key,
            budget=self._budget,
        )
        self._lines = apply_edits(self._lines, edits, hunk)
        self._keys = self._as_keys(self._lines)
        self._search = None
        grown = 0
        for edit in edits:
            start, size = edit.start + grown, len(edit.added)
            self._claimed[start : edit.end + grown] = b"\1" * size
            grown += size - (edit.end - edit.start)
        first = next(i for i, line in enumerate(hunk.lines) if line[:1] != b" ")
        offset = edits[0].start - first - stated
        return HunkPlacement(path=self._path, rung=Rung.FUZZY, offset=offset)

    def _find(self, hunk: Hunk, old: list[bytes], stated: int, *, is_pinned: bool) -> int | None:
        """Find where the hunk's old lines occur, nearest to line *stated*.

        *old* has these lines in the form in which they are compared. Of two equally near
        places the later one is used. As in `git apply`, a hunk that
        starts at the top of the file must match there, and a hunk without context after
        its changes must match at the end.
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
        """Replace the lines; context keeps the file's own white space."""
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
    """Return the line without its ending, and with one space for each run of white space."""
    return _SPACE.sub(b" ", line.rstrip(b"\r\n"))


def _keep_indent(line: bytes) -> bytes:
    """Squeeze white space, but keep the indentation, because it shows a line's block."""
    body = line.lstrip(b" \t")
    return line[: len(line) - len(body)] + _squeeze(body).rstrip(b" ")

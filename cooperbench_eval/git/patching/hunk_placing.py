"""Applies one file's part of a patch to the file's contents: finds a place for each hunk."""

import re
from collections.abc import Sequence
from io import BytesIO

from attrs import evolve, frozen

from cooperbench_eval.errors import PatchError
from cooperbench_eval.git.merging.entry_merge import is_binary
from cooperbench_eval.git.merging.line_diff import DiffAlgorithm
from cooperbench_eval.git.merging.text_merge import merge_text
from cooperbench_eval.git.patching.binary import apply_change
from cooperbench_eval.git.patching.fuzzy_placing import (
    NoPlaceError,
    SearchBudget,
    apply_edits,
    find_fuzzily,
)
from cooperbench_eval.git.patching.patch_parts import (
    ApplyPolicy,
    FileChange,
    FilePatch,
    Hunk,
    HunkPlacement,
    Rung,
)
from cooperbench_eval.git.trees.entries import Entry


class _LineSearch:
    """A file as one text in which each line is a code of fixed length.

    Searching bytes is fast for every file; comparing lists of lines is not.
    """

    _SIZE = 8
    _CLAIMED = b"-" * _SIZE
    _REACH = 64  # lines around the stated place that are searched first
    _GROWTH = 8  # factor by which the next search reaches further

    def __init__(self, keys: Sequence[bytes], claimed: Sequence[int]) -> None:
        """Take the lines in comparable form, and for each whether a hunk has claimed it."""
        # A code is spaces and then digits, so it cannot match across two codes.
        self._codes = {key: b"%8x" % code for code, key in enumerate(dict.fromkeys(keys))}
        codes = map(self._codes.__getitem__, keys)
        self._text = bytearray().join(
            self._CLAIMED if taken else code for code, taken in zip(codes, claimed, strict=True)
        )

    def find(self, keys: Sequence[bytes], near: int) -> int | None:
        """Find unclaimed lines nearest to *near*; of two equally near places, the later one."""
        if not self._codes.keys() >= set(keys):
            return None
        pattern = b"".join(map(self._codes.__getitem__, keys))
        start, size, reach = near * self._SIZE, len(pattern), self._REACH * self._SIZE
        while True:
            low = max(start - reach, 0)
            later = self._text.find(pattern, start, start + reach + size)
            if later >= 0:
                low = max(low, 2 * start - later + 1)
            nearer = self._text[low : start + size - 1]
            # Reversed, because `rfind` may take time proportional to the product of lengths.
            at = nearer[::-1].find(pattern[::-1])
            place = later if at < 0 else low + len(nearer) - at - size
            if place >= 0:
                return place // self._SIZE
            if reach > len(self._text):
                return None
            reach *= self._GROWTH

    def claim(self, start: int, end: int, size: int) -> None:
        """Replace the lines from *start* to *end* by *size* claimed ones."""
        self._text[start * self._SIZE : end * self._SIZE] = self._CLAIMED * size


def _laxer(one: Rung, other: Rung) -> Rung:
    return max(one, other, key=list(Rung).index)


class _FileImage:
    """The lines of a file while it is patched, and which of them a hunk has claimed."""

    def __init__(self, path: str, data: bytes, policy: ApplyPolicy, budget: SearchBudget) -> None:
        self._path = path
        self._policy = policy
        self._budget = budget
        self._squeezes = policy.allows(Rung.WHITESPACE)
        self._lines = BytesIO(data).readlines()  # ends lines at b"\n" and nowhere else
        self._keys = self._as_keys(self._lines)
        self._claimed = bytearray(len(self._lines))
        self._search: _LineSearch | None = None

    def _as_keys(self, lines: list[bytes]) -> list[bytes]:
        return list(map(_squeeze, lines)) if self._squeezes else lines

    def data(self) -> bytes:
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
        return evolve(placed, rung=_laxer(placed.rung or Rung.EXACT, Rung.RECOUNT))

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
            self._search = _LineSearch(self._keys, self._claimed)
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


_ID_LENGTH = 40  # hex digits of an object id


class FileRefusedError(Exception):
    """A file's change cannot be applied; the message is the reason."""


class MergeConflictError(FileRefusedError):
    """The patch changes lines that were changed differently since it was made."""


@frozen
class Patched:
    """Contents after a patch, and how its changes were placed."""

    data: bytes
    placements: tuple[HunkPlacement, ...]

    @property
    def is_whole(self) -> bool:
        """Whether no hunk was refused."""
        return not any(placement.reason for placement in self.placements)

    @property
    def is_void(self) -> bool:
        """Whether every hunk was refused."""
        return all(placement.reason for placement in self.placements)


def patch_contents(
    file: FilePatch, before: bytes, policy: ApplyPolicy, budget: SearchBudget
) -> Patched:
    """Apply a file's change to its contents; hunks without a place are left out.

    Raises:
        FileRefusedError: A binary change does not fit.
    """
    if file.hunks:
        image = _FileImage(file.path, before, policy, budget)
        placements = tuple(image.place(number, hunk) for number, hunk in enumerate(file.hunks, 1))
        return Patched(image.data(), placements)
    is_binary = file.binary is not None or file.lacks_contents
    after = _patch_binary(file, before) if is_binary else before
    if file.change is FileChange.DELETE:
        return Patched(after, ())
    return Patched(after, (HunkPlacement(path=file.path, rung=Rung.EXACT),))


def patch_three_way(file: FilePatch, old: bytes, before: bytes, policy: ApplyPolicy) -> Patched:
    """Apply a file's change to *old*, which it was made from, and merge that into *before*.

    The merge uses the Myers diff, as `git apply --3way` does.

    Raises:
        MergeConflictError: *before* has changes that conflict.
        FileRefusedError: The change does not fit *old*.
    """
    strict = evolve(policy, rungs=policy.rungs - {Rung.FUZZY})
    patched = patch_contents(file, old, strict, SearchBudget())
    if not patched.is_whole:
        raise FileRefusedError("its lines are not in the file it was made from")
    merged = _merge(old, before, patched.data, is_text=bool(file.hunks))
    placements = (
        evolve(placement, rung=_laxer(placement.rung or Rung.EXACT, Rung.THREE_WAY), offset=0)
        for placement in patched.placements
    )
    return Patched(merged, tuple(placements))


def _merge(old: bytes, before: bytes, after: bytes, *, is_text: bool) -> bytes:
    if before in {old, after}:
        return after
    if after == old:
        return before
    if is_text and not any(map(is_binary, (old, before, after))):
        merge = merge_text(old, before, after, algorithm=DiffAlgorithm.MYERS)
        if not merge.conflicts:
            return merge.render()
    raise MergeConflictError("it conflicts with changes made after the patch")


def _patch_binary(file: FilePatch, before: bytes) -> bytes:
    """Return the new contents; the patch's ids must match the old and the new contents."""
    if file.binary is None and file.change is not FileChange.DELETE:
        raise FileRefusedError("the patch does not contain the binary contents")
    if min(len(file.old_id or ""), len(file.new_id or "")) < _ID_LENGTH:
        raise FileRefusedError("the patch does not name the binary contents by their full ids")
    if file.old_path and Entry(before).id != file.old_id:
        raise FileRefusedError("the binary file is not the one the patch was made from")
    if file.binary is None:
        return b""  # the id says that it is the file to delete
    try:
        after = apply_change(file.binary, before)
    except PatchError as exc:
        raise FileRefusedError(exc.reason) from exc
    if file.new_path and Entry(after).id != file.new_id:
        raise FileRefusedError("the binary contents are not those the patch names")
    return after

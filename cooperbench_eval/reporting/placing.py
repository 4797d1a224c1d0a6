"""Where the conflicts of one file stand in another merge of it.

Both merges are known as diffs against one base: of the base only the lines that a diff
shows. The others are equal in both merges, so a placeholder for each run of them will
do, and both files can be compared as texts.

Where the other merge has all settled lines of the first, what stands between them is
in the conflicts' places. Settled lines between two conflicts may be found at several
places; then the two are told as one. So they are where lines that no diff shows may be
the same as lines that one does. Where settled lines are gone, the lines of the base
that both merges leave alone part the file, and each part is told for itself. The same
goes for a file that repeats itself so that two diffs cut it at different places.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby, pairwise, takewhile
from typing import Final, Self

from attrs import evolve, frozen

from cooperbench_eval.errors import PatchError
from cooperbench_eval.models import Conflict, FileMode
from cooperbench_eval.patching import FileChange, FilePatch
from cooperbench_eval.patching.binary import apply_change

__all__ = ["Block", "Place", "Untold", "contents_of", "find_places", "old_contents_of"]


class Untold(Exception):  # noqa: N818 - an answer on its way up, and no error
    """It cannot be told; the argument says why."""


def _split(text: bytes) -> list[bytes]:
    *lines, rest = text.split(b"\n")
    return [line + b"\n" for line in lines] + [rest] * bool(rest)


@frozen
class Block:
    """A conflict between lines, as the naive merge shows it.

    Attributes:
        start: The place of its opening marker among the file's lines, from 0.
        lines: Its lines; of the three markers only how they begin.
        markers: The places of the markers among *lines*.
    """

    start: int
    lines: tuple[bytes, ...]
    markers: tuple[int, int, int]

    @classmethod
    def of(cls, conflict: Conflict) -> Self:
        """Show a conflict that has lines."""
        ours, theirs = (
            _closed(side or b"", conflict.newline) for side in (conflict.ours, conflict.theirs)
        )
        middle = 1 + len(ours)
        return cls(
            start=(conflict.line or 1) - 1,
            lines=(b"<<<<<<<", *ours, b"=======", *theirs, b">>>>>>>"),
            markers=(0, middle, middle + 1 + len(theirs)),
        )


def _closed(side: bytes, newline: bytes) -> list[bytes]:
    """Split one side into lines and end the last one, as a marker follows."""
    lines = _split(side)
    if lines and not lines[-1].endswith(b"\n"):
        lines[-1] += newline
    return lines


@frozen(kw_only=True)
class Place:
    """What stands in the place of a conflict, or of several.

    Attributes:
        text: The text; `None` if it holds lines that no diff shows.
        blocks: Which conflicts it stands for.
        lines_before: Settled lines before them that it stands for as well.
        lines_after: Settled lines behind them, likewise.
        is_as_before: Whether it is the one conflict between its markers, unchanged.
        is_exact: Whether all settled lines of the file are known to stand as they were.
    """

    text: bytes | None
    blocks: range
    lines_before: int = 0
    lines_after: int = 0
    is_as_before: bool = False
    is_exact: bool = True


def find_places(
    blocks: Sequence[Block], before: Sequence[FilePatch], after: Sequence[FilePatch]
) -> list[Place | None]:
    """Say for each of *blocks* what stands in its place, `None` where the file is gone.

    Args:
        blocks: The conflicts of the file, in order.
        before: What the diff with the conflicts says of the file.
        after: What the other diff says of it; nothing if it leaves it as the base has it.

    Raises:
        Untold: The diffs do not say it.
    """
    if not blocks:
        return []
    if not before or before[-1].change is FileChange.DELETE:
        raise Untold("the naive merge's diff does not have the file")
    is_new = before[-1].change is FileChange.ADD
    if not after and before[0].change is FileChange.DELETE:
        raise Untold("the base's entry stands there, which is of another type")
    if (not after and is_new) or (after and after[-1].change is FileChange.DELETE):
        return [None] * len(blocks)
    if is_new != any(file.change is FileChange.ADD for file in after):
        raise Untold("the two diffs do not start from the same file")
    known: dict[int, bytes] = {}
    edits = _edits(before, known), _edits(after, known)
    _learn(blocks, edits[0], known)
    pieces = _pieces(known, edits)
    naive, other = (_lay(pieces, each) for each in edits)
    spans = [naive.span(block) for block in blocks]
    if any(one[1] > two[0] for one, two in pairwise(spans)):
        raise Untold("the conflicts overlap")
    anchors = _anchors(pieces, naive, other, spans)
    runs = {piece.text: piece.count for piece in pieces if piece.is_run}
    placing = _Placing(naive.text, other.text, spans, anchors, runs)
    return [place for place in placing.places() for _ in place.blocks]


# --- both files as texts -----------------------------------------------------

# Each byte is a character, and a character from this one on, with a newline, stands
# for a run of lines of the base that no diff shows.
_FIRST_RUN: Final = 0x100
_LAST_RUN: Final = 0x10FFFF


@frozen
class _Edit:
    """Lines of the base from *start* to before *end*, and what stands there instead."""

    start: int
    end: int
    lines: tuple[bytes, ...]


@frozen
class _Piece:
    """One known line of the base, or a run of unknown ones."""

    start: int
    count: int
    text: str

    @property
    def is_run(self) -> bool:
        """Whether its text only stands for it."""
        return ord(self.text[0]) >= _FIRST_RUN if self.text else False


@frozen
class _Text:
    """A file: its text, where each piece of the base stands, and where each line.

    Attributes:
        text: The text.
        at: For each piece where it stands; `None` where it does not.
        lines: Where each line stands that is no part of a run.
    """

    text: str
    at: list[int | None]
    lines: dict[int, int]

    def span(self, block: Block) -> tuple[int, int]:
        """Return where a conflict begins and ends."""
        last = self.lines[block.start + len(block.lines) - 1]
        end = self.text.find("\n", last) + 1
        return self.lines[block.start], end or len(self.text)


def _edits(files: Sequence[FilePatch], known: dict[int, bytes]) -> list[_Edit]:
    """Read the edits of the base, and note the lines of it that are shown."""
    if not files:
        return []
    file = files[-1]
    if file.binary or file.lacks_contents or file.change not in {FileChange.ADD, FileChange.MODIFY}:
        raise Untold("a diff does not show the file as lines")
    edits: list[_Edit] = []
    for hunk in file.hunks:
        base = hunk.old_start - (1 if hunk.old else 0)
        if base < (edits[-1].end if edits else 0):
            raise Untold("a diff's hunks overlap")
        for is_kept, run in groupby(hunk.lines, lambda line: line[:1] == b" "):
            lines = list(run)
            old = [line[1:] for line in lines if line[:1] != b"+"]
            for i, line in enumerate(old, base):
                if known.setdefault(i, line) != line:
                    raise Untold("the two diffs do not start from the same file")
            if not is_kept:
                new = tuple(line[1:] for line in lines if line[:1] == b"+")
                edits.append(_Edit(base, base + len(old), new))
            base += len(old)
    return edits


def _learn(blocks: Iterable[Block], edits: Sequence[_Edit], known: dict[int, bytes]) -> None:
    """Check that the conflicts stand in the edited file; note what they show of the base."""
    starts = []
    shift = 0
    for edit in edits:
        starts.append(edit.start + shift)
        shift += len(edit.lines) - (edit.end - edit.start)
    for block in blocks:
        for place, line in enumerate(block.lines):
            at = block.start + place
            i = bisect_right(starts, at) - 1
            within = at - starts[i] if i >= 0 else 0
            is_marker = place in block.markers
            if i >= 0 and within < len(edits[i].lines):
                found = edits[i].lines[within]
            else:
                base = edits[i].end + within - len(edits[i].lines) if i >= 0 else at
                found = known.get(base, b"") if is_marker else known.setdefault(base, line)
            if not (found.startswith(line) if is_marker else found == line):
                raise Untold("the naive merge's diff does not show the conflict")


def _pieces(known: dict[int, bytes], edits: Iterable[Iterable[_Edit]]) -> list[_Piece]:
    """Cut the base into lines that are known, and runs that are not."""
    cuts = {0} | {cut for each in edits for edit in each for cut in (edit.start, edit.end)}
    cuts.update(*((line, line + 1) for line in known))
    ordered = sorted(cuts)
    pieces = []
    run = _FIRST_RUN
    for start, end in zip(ordered, [*ordered[1:], None], strict=True):
        if start in known:
            text = known[start].decode("latin-1")
        elif run > _LAST_RUN:
            raise Untold("the file has too many parts")
        else:
            text, run = chr(run) + "\n", run + 1
        pieces.append(_Piece(start, end - start if end is not None else 0, text))
    return pieces


def _lay(pieces: Iterable[_Piece], edits: Iterable[_Edit]) -> _Text:
    """Put a file together: the pieces of the base that it keeps, and its own lines."""
    out: list[str] = []
    at: list[int | None] = []
    offsets: dict[int, int] = {}
    length = line = gone_until = 0
    waiting = iter(edits)
    edit = next(waiting, None)
    for piece in pieces:
        while edit and edit.start <= piece.start:
            for each in edit.lines:
                offsets[line] = length
                out.append(each.decode("latin-1"))
                length += len(each)
                line += 1
            gone_until = edit.end
            edit = next(waiting, None)
        if piece.start < gone_until:
            at.append(None)
            continue
        at.append(length)
        offsets[line] = length
        out.append(piece.text)
        length += len(piece.text)
        line += piece.count
    return _Text("".join(out), at, offsets)


# --- places ------------------------------------------------------------------

_Span = tuple[int, int]


@frozen
class _Anchor:
    """What both files have of the base, outside of conflicts, in one and the other."""

    naive: _Span
    other: _Span


def _anchors(
    pieces: Iterable[_Piece], naive: _Text, other: _Text, spans: Sequence[_Span]
) -> list[_Anchor]:
    """List the pieces of the base that both files have, those in conflicts left out."""
    starts = [start for start, _ in spans]
    anchors = []
    for piece, one, two in zip(pieces, naive.at, other.at, strict=True):
        if one is not None and two is not None:
            span = bisect_right(starts, one) - 1
            if span < 0 or spans[span][1] <= one:
                size = len(piece.text)
                anchors.append(_Anchor((one, one + size), (two, two + size)))
    return anchors


class _Placing:
    """The search for what stands in the places of conflicts.

    Args:
        naive: The file with the conflicts.
        other: The file without them.
        spans: Where the conflicts stand in the first one.
        anchors: What both files have of the base, in order.
        runs: What stands for lines that no diff shows, with how many these are.
    """

    def __init__(
        self,
        naive: str,
        other: str,
        spans: Sequence[_Span],
        anchors: Sequence[_Anchor],
        runs: Mapping[str, int],
    ) -> None:
        self._naive = naive
        self._other = other
        self._spans = spans
        self._anchors = anchors
        self._runs = runs

    def places(self) -> Iterator[Place]:
        """Yield the places in order, each conflict in one of them."""
        blocks = range(len(self._spans))
        whole = _Anchor((0, len(self._naive)), (0, len(self._other)))
        if (found := self._between(blocks, whole)) is not None:
            yield from found
            return
        for zone, numbers in groupby(blocks, self._zone):
            inside = list(numbers)
            blocks = range(inside[0], inside[-1] + 1)
            for place in self._between(blocks, zone) or [self._in_one(blocks, zone)]:
                yield evolve(place, is_exact=False)

    def _zone(self, block: int) -> _Anchor:
        """Return where both files stand between the anchors around a conflict."""
        _, end = self._spans[block]
        behind = bisect_left(self._anchors, end, key=lambda anchor: anchor.naive[0])
        last = self._anchors[behind - 1] if behind else _Anchor((0, 0), (0, 0))
        if behind < len(self._anchors):
            after = self._anchors[behind]
            ends = after.naive[0], after.other[0]
        else:
            ends = len(self._naive), len(self._other)
        return _Anchor((last.naive[1], ends[0]), (last.other[1], ends[1]))

    def _settled(self, blocks: range, zone: _Anchor) -> list[str]:
        """Return what stands before, between and behind conflicts."""
        spans = [self._spans[block] for block in blocks]
        starts = [zone.naive[0], *(end for _, end in spans)]
        ends = [*(start for start, _ in spans), zone.naive[1]]
        return [self._naive[start:end] for start, end in zip(starts, ends, strict=True)]

    def _between(self, blocks: range, zone: _Anchor) -> list[Place] | None:
        """Tell conflicts by what stands settled around them; `None` if that is changed."""
        lead, *between, tail = self._settled(blocks, zone)
        start, end = zone.other[0] + len(lead), zone.other[1] - len(tail)
        if (
            start > end
            or not self._other.startswith(lead, zone.other[0])
            or not self._other.endswith(tail, start, zone.other[1])
        ):
            return None
        inner = self._other[start:end]
        fixed = _find_fixed(between, inner, self._runs)
        if fixed is None:
            return None
        found = []
        first = begin = 0
        for i, (text, at) in enumerate([*zip(between, fixed, strict=True), ("", len(inner))]):
            if at is not None:
                found.append(self._place(blocks[first : i + 1], inner[begin:at]))
                first, begin = i + 1, at + len(text)
        return found

    def _in_one(self, blocks: range, zone: _Anchor) -> Place:
        """Tell conflicts in one piece, with what is changed around them."""
        settled = self._settled(blocks, zone)
        lead, tail = _split_text(settled[0]), _split_text(settled[-1])
        lines = _split_text(self._other[slice(*zone.other)])
        kept_before = _count_common(lead, lines)
        lines = lines[kept_before:]
        kept_after = _count_common(reversed(tail), reversed(lines))
        return self._place(
            blocks,
            "".join(lines[: len(lines) - kept_after]),
            lines_before=len(lead) - kept_before,
            lines_after=len(tail) - kept_after,
        )

    def _place(
        self, blocks: range, text: str, *, lines_before: int = 0, lines_after: int = 0
    ) -> Place:
        data: bytes | None = None
        with suppress(UnicodeEncodeError):  # else it holds lines that no diff shows
            data = text.encode("latin-1")
        is_one = len(blocks) == 1 and not lines_before and not lines_after
        return Place(
            text=data,
            blocks=blocks,
            lines_before=lines_before,
            lines_after=lines_after,
            is_as_before=is_one and text == self._naive[slice(*self._spans[blocks[0]])],
        )


def _split_text(text: str) -> list[str]:
    *lines, rest = text.split("\n")
    return [line + "\n" for line in lines] + [rest] * bool(rest)


def _count_common(one: Iterable[str], two: Iterable[str]) -> int:
    """Count the lines that both begin with."""
    return sum(
        1 for _ in takewhile(lambda lines: lines[0] == lines[1], zip(one, two, strict=False))
    )


def _find_fixed(
    needles: Sequence[str], text: str, runs: Mapping[str, int]
) -> list[int | None] | None:
    """Find texts in order, each of which must stand in *text*.

    They are sought as whole lines first, then anywhere.

    Returns:
        Where each of them stands; `None` for one that may stand at several places.
        `None` if they do not all stand there.
    """
    for edge in ("\n", ""):
        first = _find_first(needles, edge + text, before=edge)
        if first is not None:
            backwards = [needle[::-1] for needle in reversed(needles)]
            last = _find_first(backwards, text[::-1] + edge, behind=edge) or []
            ends = [len(text) - at for at in reversed(last)]
            starts = [end - len(needle) for end, needle in zip(ends, needles, strict=True)]
            stay = _cannot_move(needles, text, runs, within_lines=not edge)
            return [
                at if at == start and stays else None
                for at, start, stays in zip(first, starts, stay, strict=True)
            ]
    return None


def _find_first(
    needles: Sequence[str], text: str, *, before: str = "", behind: str = ""
) -> list[int] | None:
    found = []
    at = 0
    for needle in needles:
        at = text.find(before + needle + behind, at)
        if at < 0:
            return None
        found.append(at)
        at += len(needle)
    return found


# How many lines of a text, and comparisons of them, an answer may take.
_MOST_LINES: Final = 200_000
_MOST_STEPS: Final = 1_000_000


def _cannot_move(
    needles: Sequence[str], text: str, runs: Mapping[str, int], *, within_lines: bool
) -> list[bool]:
    """Say of each text whether it has one place, whatever the lines are that no diff shows.

    Args:
        needles: The texts, which stand in *text* in this order.
        text: Where they stand.
        runs: What stands for lines that no diff shows, with how many these are.
        within_lines: Whether any of the texts may begin within a line.
    """
    parts = [_split_text(needle) for needle in needles]
    has_run = [any(line in runs for line in part) for part in parts]
    if not any(has_run):
        return [True] * len(needles)
    lines = _split_text(text)
    if sum(runs.get(line, 1) for line in lines) > _MOST_LINES:
        return [False] * len(needles)
    seeker = _Seeker(_expand(lines, runs))
    sought = [
        (_expand(part, runs), within_lines or hides)
        for part, hides in zip(parts, has_run, strict=True)
    ]
    try:
        return seeker.have_one_place(sought)
    except Untold:
        return [False] * len(needles)


# A line; `None` is one that no diff shows.
_Lines = list[str | None]


def _expand(lines: Iterable[str], runs: Mapping[str, int]) -> _Lines:
    out: _Lines = []
    for line in lines:
        out += [line] if line not in runs else [None] * runs[line]
    return out


class _Seeker:
    """The search for lines among others, where an unknown line may be any."""

    def __init__(self, lines: _Lines) -> None:
        self._lines = lines
        self._steps = 0

    def have_one_place(self, sought: Sequence[tuple[_Lines, bool]]) -> list[bool]:
        """Say of each whether its first and its last possible place are one.

        Args:
            sought: What is sought, in order, and whether it may begin within a line.

        Raises:
            Untold: It would take too long.
        """
        size = len(self._lines)
        first, at = [], 0
        for needle, within in sought:
            at = self._seek(needle, range(at, size), within=within)
            first.append(at)
            at += len(needle)
        last, at = [], size
        for needle, within in reversed(sought):
            at = self._seek(needle, range(at - len(needle), -1, -1), within=within)
            last.append(at)
        return [one == two for one, two in zip(first, reversed(last), strict=True)]

    def _seek(self, needle: _Lines, places: range, *, within: bool) -> int:
        """Return the first of *places* where the lines may stand."""
        for at in places:
            if self._may_stand(needle, at, within=within):
                return at
        raise Untold("the lines do not stand there")

    def _may_stand(self, needle: _Lines, at: int, *, within: bool) -> bool:
        for i, line in enumerate(needle, at):
            self._steps += 1
            if self._steps > _MOST_STEPS or i >= len(self._lines):
                raise Untold("the search takes too long")
            there = self._lines[i]
            if line is None or there is None or line == there:
                continue
            if not (within and i == at and there.endswith(line)):
                return False
        return True


# --- whole files -------------------------------------------------------------


def contents_of(file: FilePatch, old: bytes | None) -> bytes:
    """Return what a file holds after its change in a diff of ours.

    Args:
        file: The change; an addition or a modification.
        old: What it held, if that is known.

    Raises:
        Untold: What it held must be known, and is not or does not fit.
    """
    if FileMode.SUBMODULE in {file.old_mode, file.new_mode}:
        return _commit_in(file)
    if file.binary:
        try:
            return apply_change(file.binary, old or b"")
        except PatchError as exc:
            raise Untold(f"a diff in the report cannot be read ({exc.reason})") from exc
    is_new = file.change is FileChange.ADD
    lines = [] if is_new else _split(old or b"")
    out = []
    done = 0
    for edit in _edits([file], dict(enumerate(lines))):
        out += lines[done : edit.start]
        out += edit.lines
        done = edit.end
    if not is_new and old is None:
        raise Untold("a diff shows the file in parts")
    return b"".join([*out, *lines[done:]])


def old_contents_of(file: FilePatch) -> bytes:
    """Return what a file held that a diff of ours deletes.

    Raises:
        Untold: The diff does not show it.
    """
    if file.binary or file.lacks_contents:
        raise Untold("the file is as the base has it, which the report does not show")
    old = b"".join(line[1:] for hunk in file.hunks for line in hunk.lines)
    return _commit_of(old) if file.old_mode is FileMode.SUBMODULE else old


def _commit_in(file: FilePatch) -> bytes:
    """Return the commit that a submodule is set to: its entry is no text, but a diff shows one."""
    new = b"".join(line[1:] for hunk in file.hunks for line in hunk.lines if line[:1] == b"+")
    return _commit_of(new)


def _commit_of(shown: bytes) -> bytes:
    if found := re.fullmatch(rb"Subproject commit ([0-9a-f]{40})\n?", shown):
        return found[1]
    raise Untold("a diff shows a submodule without its commit")

"""Adds to a reason the lines of ours and theirs that do not go together."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, product
from typing import NamedTuple

from attrs import evolve, frozen

from cooperbench_eval.git.merging.line_diff import Change, diff_lines
from cooperbench_eval.languages.tree import (
    Construct,
    DisagreementError,
    Elements,
    excerpt,
    lines_of,
    one_line,
)


@frozen
class EditPlaces:
    """Where the edits of both sides are in their files.

    Attributes:
        trees: The trees of base, ours and theirs that were merged.
        texts: Their texts. If one block was merged alone, they differ only in that block.
        files: The files of base, ours and theirs.
        around: In each version, the construct that contains what is looked for, if known.
    """

    trees: Sequence[Construct]
    texts: Sequence[bytes]
    files: Sequence[bytes]
    around: Elements = ()

    def explain(self, error: DisagreementError) -> str:
        """Say what does not go together, with the lines of both sides."""
        if error.edits is None:
            return str(error)
        here = evolve(self, around=error.around)
        base, *sides = error.edits
        for name in () if error.problem or excerpt(*base) else _shared_names(*sides)[:1]:
            sides = [tuple(each for each in side if each.key == name) for side in sides]
        return error.described(here.describe(base, *sides)) + here.show(base, *sides)

    def describe(self, base: Elements, ours: Elements, theirs: Elements) -> str:
        """Say what both sides did with elements of the base, or with the line that has them."""
        if not excerpt(*base):
            shown = b"".join(_shared_names(ours, theirs)[:1]).decode("utf-8", "replace")
            return f"both sides add {shown!r}" if shown else "both sides insert at one place"
        lines = [line for _, line in self._lines(0, base)]
        new = [{line for _, line in self._lines(i, part)} for i, part in ((1, ours), (2, theirs))]
        both = [line for line in lines if not any(line in side for side in new)]
        shown = self._shown(both[0], base) if both else excerpt(*base)
        if ours and theirs:
            what = "the part that begins with " if lines[1:] and not both else ""
            return f"both sides changed {what}{shown!r}"
        remover, other = ("theirs", "ours") if ours else ("ours", "theirs")
        return f"{remover} removes or moves {shown!r}, which {other} changes"

    def show(self, base: Elements, ours: Elements, theirs: Elements) -> str:
        """Show the first line of each side's edit, with its number; empty if none is known.

        A side that only removes has no line. A rule may have swapped the sides.
        """
        versions = [(base, ours, theirs), (base, theirs, ours)]
        found = [[self._lines(i, each) for i, each in enumerate(parts)] for parts in versions]
        parts, edits = max(
            zip(versions, found, strict=True), key=lambda each: sum(map(bool, each[1][1:]))
        )
        before, *sides = ({line for _, line in each} for each in edits)
        shown = []
        for i, name in ((1, "ours"), (2, "theirs")):
            new = [each for each in edits[i] if each[1] not in before] or edits[i]
            own = [each for each in new if each[1] not in sides[2 - i]] or new
            for number, line in own[:1]:
                text = self._shown(line, parts[i])
                shown.append(f"{name}, line {self._in_file(i, number)}: `{text}`")
        return f" ({'; '.join(shown)})" if shown else ""

    def _shown(self, line: bytes, part: Elements) -> str:
        """Show a line or, if it is too long, the part of it."""
        text = one_line(line)
        shown = excerpt(*part)
        is_part = text.endswith("…") and shown.rstrip(" …").encode() in line
        return shown if is_part else text

    def _lines(self, version: int, part: Elements) -> list[tuple[int, bytes]]:
        """Return the lines of a version that have a part of its tree, with their numbers."""
        lines = self.texts[version].split(b"\n")
        around = self.around[version] if self.around else None
        numbers = lines_of(self.trees[version], part, around) if part else ()
        return [(i, line) for i in numbers if (line := lines[i - 1].strip())]

    def _in_file(self, version: int, number: int) -> int:
        """Return the number that a line of a text has in the version's file."""
        old, new = (each[version].splitlines(keepends=True) for each in (self.files, self.texts))
        shift = 0
        for change in diff_lines(old, new) if old != new else ():
            if change.b_start >= number:
                break
            if number <= change.b_end:  # a line that the file does not have
                return max(min(change.a_end, change.a_start + number - change.b_start), 1)
            shift = change.a_end - change.b_end
        return max(number + shift, 1)


def _shared_names(ours: Elements, theirs: Elements) -> list[bytes]:
    """Return the names to which the sides give different text."""
    texts = {each.key: each.plain for each in theirs if each.key}
    return [each.key for each in ours if texts.get(each.key, each.plain) != each.plain]


def with_edits(problem: str, files: Sequence[bytes], *, is_fault: bool = True) -> str:
    """Add to a problem a line of each side's edit of what the problem quotes.

    It is the first edit of ours, and the nearest edit of theirs. If only one side edits what is
    quoted, the other side's edit beside it is shown. If neither does, and the problem is a fault
    of the merged file, the edits that touch each other are shown, if there is one such pair.
    """
    found_words = [found[1] or found[2] for found in _QUOTED.finditer(problem)]
    quoted = [words.replace("\\'", "'").rstrip(" …") for words in found_words]
    lasts = [words.rpartition(".")[2] for words in quoted]
    quoted = [
        words for words in (*quoted, *(each for each in lasts if not each.isdigit())) if words
    ]
    base, *sides = files
    edits = [
        list(islice((each for words in quoted for each in _edits_of(words, base, side)), _MOST))
        for side in sides
    ]
    pairs = product(edits[0][:1], edits[1])
    best = min(pairs, key=_fit, default=None)
    firsts = best or [next(iter(each), None) for each in edits]
    found: Sequence[Change | None] = [each and each.edit for each in firsts]
    if is_fault and not any(found):
        every = product(*(_changes(base, side)[:_MOST] for side in sides))
        met = [pair for pair in every if not _distance(pair)]
        found = met[0] if len(met) == 1 else found
    shown = []
    for name, side, own, other in zip(("ours", "theirs"), sides, found, found[::-1], strict=True):
        edit = own or (other and _beside(other, base, side))
        if edit and edit.b_start < edit.b_end:
            line = one_line(side.splitlines()[edit.b_start])
            shown.append(f"{name}, line {edit.b_start + 1}: `{line}`")
    return f"{problem} ({'; '.join(shown)})" if shown else problem


_QUOTED = re.compile(r"'((?:[^'\\]|\\.)+)'|\"([^\"]+)\"")
_MOST = 50
"""The most edits of a side that are compared."""
_NEAR = 2
"""The most lines of the base between edits that probably belong together."""


class _Edit(NamedTuple):
    """A side's edit that adds a line with certain words, from that line on, or replaces one."""

    edit: Change
    is_removal: bool


def _fit(pair: tuple[_Edit, ...]) -> tuple[bool, bool, int]:
    """Rank a pair of edits: those beside each other first, and new lines before removed ones."""
    distance = _distance(tuple(each.edit for each in pair))
    return distance > _NEAR, pair[1].is_removal, distance


def _edits_of(words: str, base: bytes, side: bytes) -> Iterator[_Edit]:
    """Yield a side's edits from a line with some words, then those that remove such a line."""
    ends = [r"\b" if end.isalnum() else "" for end in (words[0], words[-1])]
    wanted = re.compile((ends[0] + re.escape(words) + ends[1]).encode())
    old, new = (text.splitlines() for text in (base, side))
    changes = _changes(base, side)
    for change in changes:
        for i in range(change.b_start, change.b_end):
            if wanted.search(new[i]):
                yield _Edit(change._replace(b_start=i), is_removal=False)
    for change in changes:
        is_gone = any(map(wanted.search, old[change.a_start : change.a_end]))
        if is_gone and change.b_start < change.b_end:
            yield _Edit(change, is_removal=True)


def _distance(edits: tuple[Change, ...]) -> int:
    """Return how many lines of the base are between two edits."""
    one, other = edits
    return max(0, one.a_start - other.a_end, other.a_start - one.a_end)


def _beside(edit: Change, base: bytes, side: bytes) -> Change | None:
    """Return a side's edit of what the other side edits, or of lines next to it."""
    for each in _changes(base, side):
        if _distance((edit, each)) <= _NEAR and each.b_start < each.b_end:
            return each
    return None


@lru_cache(maxsize=8)
def _changes(base: bytes, side: bytes) -> Sequence[Change]:
    return diff_lines(base.splitlines(), side.splitlines())

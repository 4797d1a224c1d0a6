"""Finds statements of a merged file that the sides' edits do not explain.

Each statement must be in a version, or combine both sides' edits of one statement. A statement
that one side removed must be gone; if the other side edited it, that is a conflict.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, combinations

from cooperbench_eval.git.merging.line_diff import diff_lines
from cooperbench_eval.languages.alignment import similarity
from cooperbench_eval.languages.faults.gaps import Places, Versions, changed_by_both, gaps
from cooperbench_eval.languages.faults.losses import differing_lines
from cooperbench_eval.languages.faults.repeated import LEAVING
from cooperbench_eval.languages.files import is_code
from cooperbench_eval.languages.sequences import has_word
from cooperbench_eval.languages.tree import (
    Construct,
    Element,
    Mode,
    excerpt,
    one_line,
    render,
    same,
)
from cooperbench_eval.languages.words import WORD

_LEAST_ALIKE = 0.7
_LEAST_WORDS = 3
"""The fewest words of a line whose repetition is not taken for chance."""


def find_uncombined(
    path: str, versions: tuple[bytes, bytes, bytes], merged: bytes, *, may_invent: bool = False
) -> str:
    """Find a statement that the sides' edits do not explain.

    Args:
        path: The file.
        versions: Base, ours and theirs.
        merged: The merged file.
        may_invent: Whether it may have statements that no version has.

    Returns:
        What is wrong; empty if nothing is, or if a version cannot be read.
    """
    if not is_code(path):
        return ""
    if line := _restored(versions, merged):
        return f"the merged file would repeat or restore {one_line(line)!r}"
    changed = changed_by_both(path, versions, merged)
    found = (problem for each in changed for problem in _uncombined(*each, may_invent=may_invent))
    return next(found, "")


def _restored(versions: tuple[bytes, bytes, bytes], merged: bytes) -> bytes:
    """Return a line of the base that merged has more often than the sides' edits explain."""
    base, mine, other, now = map(_stripped, differing_lines(versions, merged))
    texts: list[bytes] = []
    for line, count in base.items():
        words = WORD.findall(line)
        is_telling = len(words) >= _LEAST_WORDS and words[0] not in LEAVING
        if now[line] > _most(count, mine[line], other[line]) and is_telling:
            # One side may have written it over several lines.
            texts = texts or [b"".join(text.split()) for text in (*versions, merged)]
            *times, found = (text.count(b"".join(line.split())) for text in texts)
            if found > _most(*times):
                return line
    return b""


def _most(base: int, ours: int, theirs: int) -> int:
    """Return how often a text may be in a merged file, by how often the versions have it."""
    if min(ours, theirs) < base and max(ours, theirs) <= base:
        return min(ours, theirs)
    return max(ours, theirs, ours + theirs - base)


def _stripped(lines: Mapping[bytes, int]) -> Counter[bytes]:
    """Count lines without the white space around them."""
    counts = Counter[bytes]()
    for line, count in lines.items():
        counts[line.strip()] += count
    return counts


def _uncombined(trees: Versions, places: Places, *, may_invent: bool) -> Iterator[str]:
    base = trees[0]
    if base.mode is Mode.SEQUENCE:
        if not any(each.kind == "suite" for tree in trees for each in tree.walk()):
            yield from _twice(*trees)
        return
    yield from _disagreeing(trees, places)
    if base.mode is Mode.MEMBERS and not may_invent:
        yield from _invented(trees, places)


def _twice(*versions: Construct | None) -> Iterator[str]:
    """Yield what both sides add to a statement of the base, if any, and merged has twice in it."""
    words = [[b"", *(each.words() if each else ()), b""] for each in versions]
    before, *sides, now = words
    for one, other in (sides, sides[::-1]):
        added = [one[each.b_start : each.b_end] for each in diff_lines(before, one)]
        for run in chain(added, *map(_calls, added)):
            times = [_count(run, words) for words in (before, one, other, now)]
            is_shared = len(run) > 1 and times[0] < times[2] and has_word(b" ".join(run))
            if is_shared and times[3] > max(times[1:3]):
                shown = one_line(_written(run, versions[-1]))
                yield f"both sides insert {shown!r}, and the merged file would have it twice"


def _written(run: Sequence[bytes], statement: Construct | None) -> bytes:
    """Return some words as a statement has them."""
    pattern = rb"\s*".join(map(re.escape, run))
    found = re.search(pattern, render(statement)) if statement else None
    return found.group() if found else b" ".join(run)


def _calls(run: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Yield the calls in the words that a side adds, with what is called and the arguments."""
    for i, word in enumerate(run[1:], 1):
        if word == b"(" and WORD.fullmatch(run[i - 1]):
            depth = list(accumulate((each == b"(") - (each == b")") for each in run[i:]))
            if 0 in depth:
                yield run[i - 1 : i + depth.index(0) + 1]


def _count(run: Sequence[bytes], words: Sequence[bytes]) -> int:
    return sum(words[i : i + len(run)] == run for i in range(len(words)))


def _disagreeing(trees: Versions, places: Places) -> Iterator[str]:
    """Yield statements that one side edited and the other removed or edited differently."""
    base, *sides, merged = trees
    there = {each.plain for each in merged.children}
    for i, child in enumerate(base.children):
        mine, other = (
            None if (k := at[i]) is None else side.children[k]
            for side, at in zip(sides, places, strict=False)
        )
        if mine is None or other is None:
            new = other if mine is None else mine
            if new is None or new.plain not in there or same(new, child):
                continue
            is_moved = any(same(each, child) for side in sides for each in side.children)
            if not is_moved:
                yield f"one side removes {excerpt(child)!r}, which the other changes"
            continue
        is_disputed = not any(same(*pair) for pair in combinations((child, mine, other), 2))
        is_joined = isinstance(child, Construct) and {mine.plain, other.plain} <= there
        if is_disputed and is_joined and child.kind != "import":
            yield f"keeping both versions of {excerpt(child)!r} would repeat or restore parts of it"


def _invented(trees: Versions, places: Places) -> Iterator[str]:
    """Yield statements that no version has, unless both sides have similar new ones."""
    base, *sides, _ = trees
    known: set[bytes] = set()
    for _, _, now, _ in gaps(trees, places):
        new = list(_statements(now))
        known = known or {each.plain for tree in trees[:3] for each in _statements(tree.children)}
        for each in new:
            if each.plain in known or _copies(each):
                continue
            old = {e.plain for e in _statements(base.children)}
            changed = (
                [e for e in _statements(side.children) if e.plain not in old] for side in sides
            )
            alike = [_alike(each, side) for side in changed]
            if None in alike:
                yield f"the merged file would have {excerpt(each)!r}, which no version has"
            else:
                yield from _twice(None, *alike, each)


def _copies(statement: Construct) -> bool:
    """Whether a statement only gives one variable the value of another."""
    words = statement.words()
    return statement.kind == "assignment" and len(words) == len(("one", "=", "other"))


def _statements(elements: Iterable[Element]) -> Iterator[Construct]:
    """Yield the statements and items without suites, also those in suites."""
    for each in elements:
        if not isinstance(each, Construct):
            continue
        suites = [found for found in each.walk() if found.kind == "suite"]
        if not suites:
            yield each
        for suite in suites:
            for child in suite.children:
                if isinstance(child, Construct) and not any(
                    e.kind == "suite" for e in child.walk()
                ):
                    yield child


def _alike(statement: Construct, others: Iterable[Construct]) -> Construct | None:
    """Return a statement that may be another version of the given one."""
    words = statement.words()
    return next(
        (
            each
            for each in others
            if (each.kind == "expression") == (statement.kind == "expression")
            and similarity(words, each.words()) >= _LEAST_ALIKE
        ),
        None,
    )

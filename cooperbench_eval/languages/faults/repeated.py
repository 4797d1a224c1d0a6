"""Finds what each side inserted once at one place and a merged file has twice.

A statement, an item of a list or an entry of a data file is compared as a whole. So two new
functions may both end with `return x`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from cooperbench_eval.languages.alignment import align, similarity
from cooperbench_eval.languages.faults.gaps import Places, Versions, changed_by_both, gaps_of_both
from cooperbench_eval.languages.faults.losses import differing_lines
from cooperbench_eval.languages.files import is_code
from cooperbench_eval.languages.sequences import has_word, is_item, split_entries
from cooperbench_eval.languages.tree import (
    Construct,
    Mode,
    Token,
    excerpt,
    head_of,
    one_line,
    same,
    suite,
)

_PROSE = (".md", ".rst")
_LEAST_ALIKE = 0.85
"""The share of equal words from which two statements with one head are versions of one."""
LEAVING = frozenset(b"return break continue pass raise throw else".split())
"""Words of lines that different new statements end with."""
_VALUE = re.compile(rb"\"[^\"\n]*\"|'[^'\n]*'|\w+")
_TWICE = "both sides insert %r, and the merged file would have it twice"


def find_repeated(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Return what merged has twice in one run of new statements, items or entries.

    Returns:
        What is wrong; empty if nothing is, or if a version cannot be read.
    """
    if not _may_repeat(versions, merged):
        return ""
    if is_code(path):
        return next(_repeated(changed_by_both(path, versions, merged)), "")
    trees = [suite(tuple(map(_line, file.splitlines()))) for file in (*versions, merged)]
    return next(_repeated_entries(trees, only_items=path.endswith(_PROSE)), "")


def _may_repeat(versions: tuple[bytes, bytes, bytes], merged: bytes) -> bool:
    """Whether a line or a value that both sides inserted occurs more often than in either."""
    lines = differing_lines(versions, merged)
    words = [Counter(_VALUE.findall(b"\n".join(each))) for each in lines]
    return any(
        count > max(mine.get(text, 0), other.get(text, 0))
        and min(mine.get(text, 0), other.get(text, 0)) > base.get(text, 0)
        for base, mine, other, now in (lines, words)
        for text, count in now.items()
        if has_word(text) and text.split(None, 1)[0].rstrip(b";:") not in LEAVING
    )


def _line(text: bytes) -> Token:
    return Token(b"", text, "line")


def _repeated(changed: Iterable[tuple[Versions, Places]]) -> Iterator[str]:
    for parts, places in changed:
        for gap in gaps_of_both(parts, places) if parts[0].mode is not Mode.SEQUENCE else ():
            mine, other, now = ([e for e in part if isinstance(e, Construct)] for part in gap[:3])
            shown = {each.plain: excerpt(each) for each in now}
            for text in _too_often(*([e.plain for e in part] for part in (mine, other, now))):
                yield _TWICE % shown[text]
            yield from _alike(mine, other, now)


def _repeated_entries(trees: Versions, *, only_items: bool) -> Iterator[str]:
    """Yield what is repeated in a text without a grammar, which consists of lines."""
    base, *sides = trees
    places = [align(base.children, side.children, Mode.LIST) for side in sides]
    for gap in gaps_of_both(trees, places):
        entries = (
            split_entries(
                [each.plain for each in part], lambda e: len(e) - len(e.lstrip()), bytes.strip
            )
            for part in gap[:3]
        )
        texts = [[b"\n".join(entry).strip() for entry in part] for part in entries]
        counted = (
            [e for e in part if has_word(e) and (is_item(e) or not only_items)] for part in texts
        )
        yield from (_TWICE % one_line(text) for text in _too_often(*counted))


def _too_often(
    mine: Sequence[bytes], other: Sequence[bytes], now: Sequence[bytes]
) -> Iterator[bytes]:
    counts = Counter(mine), Counter(other)
    for text, count in Counter(now).items():
        times = [each[text] for each in counts]
        if all(times) and count > max(times) and has_word(text):
            yield text


def _alike(
    mine: Sequence[Construct], other: Sequence[Construct], now: Sequence[Construct]
) -> Iterator[str]:
    """Yield the statements of which each side inserted its own version."""
    there = {each.plain for each in now}
    for one in mine:
        for each in other:
            is_compound = one.mode is Mode.MEMBERS and not one.key and one.kind == each.kind
            if not is_compound or same(one, each) or not {one.plain, each.plain} <= there:
                continue
            if (
                head_of(one) == head_of(each)
                and similarity(one.words(), each.words()) >= _LEAST_ALIKE
            ):
                yield f"both sides insert almost the same statement, {excerpt(one)!r}"

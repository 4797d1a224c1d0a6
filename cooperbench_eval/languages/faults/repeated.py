"""Finds what each side inserted once at one place and a merged file has twice.

Whole statements, list items and data entries are compared. So two new functions may both end
with `return x`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from cooperbench_eval.languages.alignment import similarity
from cooperbench_eval.languages.faults.gaps import (
    Alignments,
    Versions,
    changed_by_both,
    gaps_of_both,
)
from cooperbench_eval.languages.faults.losses import differing_lines, more_often
from cooperbench_eval.languages.files import find_grammar, grammar_of, is_code
from cooperbench_eval.languages.reading import read_trees
from cooperbench_eval.languages.sequences import has_word
from cooperbench_eval.languages.tree import (
    Construct,
    Mode,
    StructureError,
    excerpt,
    head_of,
    one_line,
    same,
)

_REMARKS = (b"#", b"//", b"/*", b"*")
"""How comments in source begin, which may be repeated."""
_LEAST_ALIKE = 0.85
"""The least share of equal words of two versions of a statement with one head."""
LEAVING = frozenset(b"return break continue pass raise throw else".split())
"""Words that begin lines which different statements may share."""
_VALUE = re.compile(rb"\"[^\"\n]*\"|'[^'\n]*'|\w+")
TWICE = "both sides insert %r, and the merged file would have it twice"


def find_repeated(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Return what merged has twice in one run of new statements, items or entries.

    Returns:
        What is wrong; empty if nothing is, or if a version cannot be read.
    """
    if fault := _defined_twice(path, versions, merged):
        return fault
    found = differing_lines(versions, merged)
    repeated = _too_many(found)
    if not repeated and not _too_many(
        [Counter(_VALUE.findall(b"\n".join(each))) for each in found]
    ):
        return ""
    lines = merged.split(b"\n")
    for line in repeated:
        is_remark = is_code(path) and line.lstrip().startswith(_REMARKS)
        is_annotation = is_code(path) and line.lstrip().startswith(b"@")
        if not is_remark and _is_near(lines, line, b"@" if is_annotation else b""):
            return TWICE % one_line(line)
    return next(_repeated(changed_by_both(path, versions, merged)), "") if is_code(path) else ""


def _defined_twice(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Find two definitions of one name in one place, in a language whose names are not followed."""
    if grammar_of(path) is None or find_grammar(path):
        return ""
    try:
        *before, now = map(_excess, read_trees(path, (*versions, merged)))
    except StructureError:
        return ""
    for _, key in more_often(before, now):
        return f"{one_line(key)!r} would be declared more than once"
    return ""


def _excess(tree: Construct) -> Counter[tuple[str, bytes]]:
    """Count how many definitions too many there are, by their kind and name."""
    found = Counter[tuple[str, bytes]]()
    for place in tree.walk():
        if place.kind in _PLACES:
            names = Counter(name for each in place.parts if (name := _defined(each)))
            found.update({name: count - 1 for name, count in names.items() if count > 1})
    return found


def _defined(member: Construct) -> tuple[str, bytes] | None:
    """Return what a member defines, if any; an assignment does so only after a word, as a type."""
    kind, key = member.kind, member.key
    if imported := _IMPORTED.match(key):
        name = imported[3] or imported[2]
        return imported[1].decode(), name.lower() if key.startswith(b"use") else name
    is_typed = kind in {"assignment", "declaration"} and not key.startswith(member.words()[0])
    return (_TYPES.get(kind, kind), key) if key and (is_typed or kind in _DEFINITIONS) else None


_IMPORTED = re.compile(
    rb"(use (?:function )?|import )(?:[\w.\\]*[.\\])?([A-Z]\w*|(?<=[ \\])\w+)(?: as (\w+))? ?;?\Z"
)
"""Matches the import of a name in PHP, or of a class in Kotlin."""
_TYPES = dict.fromkeys(("class", "enum", "interface", "struct"), "class")
"""The kinds of types, which share their names."""
_PLACES = frozenset({"attributes", "file", "items", "parameters", "suite"})
_DEFINITIONS = frozenset(
    {"attribute", "class", "def", "enum", "field", "interface", "item", "struct", "type"}
)


def _too_many(counts: Sequence[Mapping[bytes, int]]) -> list[bytes]:
    """Return what both sides inserted and merged has more often than either."""
    base, mine, other, now = counts
    return [
        text
        for text, count in now.items()
        if has_word(text)
        and text.split(None, 1)[0].rstrip(b";:") not in LEAVING
        and count > max(mine.get(text, 0), other.get(text, 0))
        and min(mine.get(text, 0), other.get(text, 0)) > base.get(text, 0)
    ]


def _is_near(lines: Sequence[bytes], line: bytes, start: bytes) -> bool:
    """Whether a line occurs twice, with only lines between that are as deep and start alike."""
    head = line[: _depth(line)] + start
    first = lines.index(line)
    between = takewhile(
        lambda each: each.strip() and each.startswith(head) and _depth(each) == _depth(line),
        lines[first + 1 :],
    )
    return line in between


def _depth(line: bytes) -> int:
    return len(line) - len(line.lstrip())


def _repeated(changed: Iterable[tuple[Versions, Alignments]]) -> Iterator[str]:
    for parts, places in changed:
        for gap in gaps_of_both(parts, places) if parts[0].mode is not Mode.SEQUENCE else ():
            mine, other, now = ([e for e in part if isinstance(e, Construct)] for part in gap[:3])
            shown = {each.plain: excerpt(each) for each in now}
            for text in _too_often(*([e.plain for e in part] for part in (mine, other, now))):
                yield TWICE % shown[text]
            yield from _alike(mine, other, now)


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
    """Yield faults for statements of which each side inserted its own version."""
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

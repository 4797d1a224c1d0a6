"""Finds insertions of both sides at one place of a text without a grammar whose order may matter.

The order of a set, such as ignored paths or imports, does not matter, nor does that of settings
with different names. Other lines may be commands, or override each other.
"""

import re
from collections.abc import Sequence
from itertools import takewhile
from pathlib import PurePosixPath

from cooperbench_eval.languages.alignment import align
from cooperbench_eval.languages.data import find_format
from cooperbench_eval.languages.faults.gaps import Gap, gaps_of_both
from cooperbench_eval.languages.tree import Element, Mode, Token, one_line, suite

_MOST_LINES = 20_000
"""If more lines lie between the first and the last difference, nothing is checked."""
_PROSE = frozenset({".md", ".rst", ".txt", ".adoc", ".tex", ".po", ".pot", ".csv", ".tsv"})
_ALSO_PROSE = re.compile(r"(?!CODEOWNERS)[A-Z]+\Z")
"""Names such as `CHANGES`, `AUTHORS` and `LICENSE`."""
_ORDERED = re.compile(
    r".*\.(?:sql|dockerfile|css|scss|sass|less)|(?i:dockerfile).*"
    r"|CODEOWNERS|MANIFEST\.in|CMakeLists\.txt"
)
"""Files in which a later line overrides an earlier one, or depends on it."""
ONLY_DEFINING = re.compile(
    rb"(?:ENV|ARG|LABEL|(?i:create)\s+(?i:table|view|type)(?:\s+(?i:if\s+not\s+exists))?)"
    rb"\s+([\w.\"`-]+)[\s=(;]"
)
"""Lines that only define a name, even in such files."""
_CONTINUED = re.compile(rb"[^\s\\&|;(){}]+\s*\\\Z")
"""One of several words on lines of their own, each followed by a backslash."""
_SCRIPTS = re.compile(
    r".*\.(?:[bz]?a?sh|fish|rb|pl|ps1|bat|cmd|mk|vim|lua|[rR]|jl)|(?i:makefile).*"
)
"""Files in which a single word is a command."""
_ONLY_WORD = re.compile(rb"(?!!)[^\s={}();:]+[,;]?\Z")
MAY_REPEAT = re.compile(rb"(?:#\s*include|import|use|using|from|require\w*|package|source)\b|<")
"""How lines that may be in any order begin, such as imports."""
_STYLES = frozenset({".css", ".scss", ".less"})
_PROPERTY = re.compile(rb"([a-z]+)[a-z-]*\s*:\s[^{}]*;\Z")
"""A style property, with its first word, which `margin` and `margin-left` share."""
_PART = re.compile(rb"(?<=[;{}])\s*(?!\Z)")
_RULE = re.compile(rb"[^;{}]*\{\Z|(?:[^;{}:]|:(?!\s))*,\Z|\}\Z")
"""What begins or ends a rule, or continues in the next line."""
_COVERED = {
    b"columns": {b"column"},
    b"font": {b"line"},
    b"gap": {b"column", b"grid", b"row"},
    b"height": {b"block"},
    b"inset": {b"bottom", b"left", b"right", b"top"},
    b"overflow": {b"word"},
    b"page": {b"break"},
    b"place": {b"align", b"justify"},
    b"width": {b"inline"},
}
"""The first words of other properties that a property sets, as `font` sets `line-height`."""
_SETTING = re.compile(rb"([\w.-]+)\s*(?:[:+?]?=(?!=)|:\s)|(\S+)\s+v\d\S*\Z")
"""A name with a value, or a module with a version."""


def find_misordered_lines(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Find insertions of both sides whose order may matter; empty if there are none."""
    name = PurePosixPath(path)
    is_ordered = bool(_ORDERED.fullmatch(name.name))
    is_prose = name.suffix in _PROSE or _ALSO_PROSE.match(name.name)
    if find_format(path, merged) or (is_prose and not is_ordered):
        return ""
    kinds = [_CONTINUED, *([] if is_ordered else [MAY_REPEAT])]
    is_plain = not (is_ordered or _SCRIPTS.fullmatch(name.name))
    kinds += [_ONLY_WORD] * is_plain
    files = _differing([file.splitlines() for file in (*versions, merged)])
    if max(map(len, files)) > _MOST_LINES:
        return ""
    trees = [suite(tuple(map(_line, file))) for file in files]
    places = [align(trees[0].children, side.children, Mode.LIST) for side in trees[1:]]
    for gap in gaps_of_both(trees, places):
        mine, other, now = ([each.plain for each in part] for part in gap[:3])
        both = set(mine) & set(other)
        new = [[line for line in side if line not in both] for side in (mine, other)]
        if any(set(now).isdisjoint(side) for side in new) or _are_replaced(trees, gap):
            continue
        lines = [[line.strip() for line in side if _is_filled(line)] for side in new]
        is_free = any(all(map(kind.match, [*lines[0], *lines[1]])) for kind in kinds)
        if name.suffix in _STYLES:
            is_free = is_free or _are_properties(*lines)
        if all(lines) and not is_free and not (is_plain and _are_settings(*lines)):
            first, second = (one_line(side[0]) for side in lines)
            return f"one side inserts {first!r}, the other {second!r}; their order may matter"
    return ""


def _differing(files: Sequence[list[bytes]]) -> list[list[bytes]]:
    """Remove the lines with which all files begin and end."""
    first, last = (
        sum(1 for _ in takewhile(lambda lines: len(set(lines)) == 1, zip(*each, strict=False)))
        for each in (files, [file[::-1] for file in files])
    )
    return [file[first : max(first, len(file) - last)] for file in files]


def _line(text: bytes) -> Token:
    return Token(b"", text, "line")


def _is_filled(line: bytes) -> bool:
    """Whether a line is neither empty nor a comment."""
    text = line.strip()
    is_marked = text.startswith((b"//", b"--", b"/*", b"#", b";")) or line.startswith(b" *")
    return bool(text) and (not is_marked or text.startswith((b"#define", b"#include", b"#[")))


def _are_settings(mine: Sequence[bytes], other: Sequence[bytes]) -> bool:
    """Whether each line gives a name a value, and no side mentions a name of the other."""
    for one, each in ((mine, other), (other, mine)):
        found = [_SETTING.match(line) for line in one]
        words = {word for line in each for word in re.findall(rb"[\w.-]+", line)}
        if not all(found) or any(name in words for f in found if f for name in f.groups() if name):
            return False
    return True


def _are_properties(mine: Sequence[bytes], other: Sequence[bytes]) -> bool:
    """Whether the lines set style properties, also in rules, and no side sets the other's."""
    parts = ([part for line in lines for part in _PART.split(line)] for lines in (mine, other))
    found = [[_PROPERTY.match(each) for each in side if not _RULE.match(each)] for side in parts]
    names, others = ({each[1] for each in side if each} for side in found)
    is_apart = all(
        one.isdisjoint(_covered(each)) for one, each in ((names, others), (others, names))
    )
    return all(map(all, found)) and is_apart and b"all" not in names | others


def _covered(words: set[bytes]) -> set[bytes]:
    """Return first words, with those of the properties that they set as well."""
    return words.union(*(_COVERED.get(word, set()) for word in words))


def _are_replaced(trees: Sequence[Element], gap: Gap) -> bool:
    """Whether each new line replaces one line of the base, and no two replace the same."""
    gone = [each.plain for each in gap.gone]
    new: dict[bytes, bytes] = {}
    for tree, lines in ((trees[1], gap.mine), (trees[2], gap.other)):
        there = {each.plain for each in tree.children}
        old = [line for line in gone if line not in there]
        if len(old) != len(lines) or not new.keys().isdisjoint(old):
            return False
        new |= zip(old, (each.plain for each in lines), strict=True)
    return [each.plain for each in gap.now] == [new[line] for line in gone if line in new]

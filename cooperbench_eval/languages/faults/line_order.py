"""Decides whether what both sides insert at one place of a text without a grammar has an order.

A set of lines has no order, and neither do definitions of different names that do not use each
other. Other lines may be commands, which are executed in turn.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product, takewhile
from pathlib import PurePosixPath

from cooperbench_eval.languages.alignment import align
from cooperbench_eval.languages.data import find_format
from cooperbench_eval.languages.faults.gaps import Gap, gaps_of_both
from cooperbench_eval.languages.sequences import split_entries
from cooperbench_eval.languages.tree import Element, Mode, Token, one_line, suite

_MOST_LINES = 20_000
"""The most lines between the first and the last difference that are read."""
_MOST_PAIRS = 10_000
"""The most pairs of entries of both sides at one place that are compared."""
_PROSE = frozenset({".md", ".rst", ".txt", ".adoc", ".tex", ".po", ".pot", ".csv", ".tsv"})
_ALSO_PROSE = re.compile(r"(?!CODEOWNERS)[A-Z]+\Z")
"""Names such as `CHANGES`, `AUTHORS` and `LICENSE`."""
_ORDERED = re.compile(
    r".*\.sql|(?i:dockerfile).*|.*\.dockerfile|CODEOWNERS|MANIFEST\.in|CMakeLists\.txt"
)
"""Files in which a later line overrides an earlier one, or depends on it."""
ONLY_DEFINING = re.compile(
    rb"(?:ENV|ARG|LABEL|(?i:create)\s+(?i:table|view|type)(?:\s+(?i:if\s+not\s+exists))?)"
    rb"\s+([\w.\"`-]+)[\s=(;]"
)
"""What defines a name even in such files."""
_CONTINUED = re.compile(rb"[^\s\\&|;(){}]+\s*\\\Z")
"""One of several words below each other, which a backslash separates."""
_STYLES = (".css", ".scss", ".sass", ".less")
_PROPERTY = re.compile(rb"(?m)(?:^|[{;])\s*([\w-]+)\s*:(?!\S*\s*\{)")
_SCRIPTS = re.compile(
    r".*\.(?:[bz]?a?sh|fish|rb|pl|ps1|bat|cmd|mk|vim|lua|[rR]|jl)|(?i:makefile).*"
)
"""Files in which a single word is a command."""
_ONLY_WORD = re.compile(rb"(?!!)[^\s={}();:]+[,;]?\Z")
MAY_REPEAT = re.compile(rb"(?:#\s*include|import|use|using|from|require\w*|package|source)\b|<")
"""The beginnings of lines that may be in any order, such as imports."""
_COMMAND = re.compile(
    rb"(?:case|default|when|if|elif|else|for|foreach|while|until|switch|with|try|do|return|exit|raise"
    rb"|throw|await|delete|del|export|location|server|echo|print|puts|new|yield|go|defer)\b"
)
"""Words of statements, which define nothing."""
_NUMBERED = re.compile(rb"=\s*(\d+)\s*(?:\[.*\])?\s*;\s*\Z")
_NAMES = [
    re.compile(pattern)
    for pattern in (
        rb"\[+([^\]]+)\]+\s*\Z",  # [section]
        rb"#\s*define\s+(\w+)",
        rb"(?:[\w<>*&]+ )*?[*&$]?([\w.-]+)\s*(?:[:+?]?=|:)(?!=)",  # name = value
        rb"(?:[\w:<>*&\[\]?.,]+\s+)+[*&]?(\w+)\s*(?:\(.*\)[^;{}]*;|[^;{}]*\{.*\})\s*\Z",
        rb"(\S+)\s+v\d\S*\s*\Z",  # module v1.2.3
        rb"(\w[\w ]*(?:\"[^\"]*\"\s*)+\{\s*\Z)",  # resource "a" "b" {
    )
]
_HEAD = re.compile(rb"[^={(:\n]*?([\w.~$?!-]+)\s*(?:<[^<>]*>\s*)?(?:do\s*)?(?:[({:]|\Z)")
"""The first line of a definition of several lines."""
_DEFINING = re.compile(
    rb"(?:defp?|fun|func|fn|function|sub|class|struct|enum|interface|trait|module|type|void|public"
    rb"|private|protected|internal|static|override|virtual|const|template)\b"
)


def find_misordered_lines(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Find insertions of both sides whose order may matter; empty if there are none."""
    name = PurePosixPath(path)
    is_ordered = bool(_ORDERED.fullmatch(name.name))
    is_prose = name.suffix in _PROSE or _ALSO_PROSE.match(name.name)
    if find_format(path, merged) or (is_prose and not is_ordered):
        return ""
    is_free = _order_of(name.name)
    is_plain = not (is_ordered or _SCRIPTS.fullmatch(name.name) or name.suffix in _STYLES)
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
        entries = [list(_entries(side)) for side in new]
        stripped = [each.strip() for side in entries for each in side]
        kinds = (_CONTINUED, *((_ONLY_WORD, MAY_REPEAT) if is_plain else ()))
        if any(all(map(kind.match, stripped)) for kind in kinds):
            continue
        if len(entries[0]) * len(entries[1]) > _MOST_PAIRS:
            return "both sides insert too many lines at one place to check their order"
        for one, each in product(*entries):
            if not is_free(one, each):
                first, second = map(one_line, (one, each))
                return f"one side inserts {first!r}, the other {second!r}; their order may matter"
    return ""


def _order_of(name: str) -> Callable[[bytes, bytes], bool]:
    """Return what says whether two entries of a file may stand in any order."""
    if name.endswith(_STYLES):
        return _set_different
    if _ORDERED.fullmatch(name):
        return _define_different
    return partial(_are_free, is_script=bool(_SCRIPTS.fullmatch(name)))


def _differing(files: Sequence[list[bytes]]) -> list[list[bytes]]:
    """Remove the lines with which all files begin and end."""
    first, last = (
        sum(1 for _ in takewhile(lambda lines: len(set(lines)) == 1, zip(*each, strict=False)))
        for each in (files, [file[::-1] for file in files])
    )
    return [file[first : max(first, len(file) - last)] for file in files]


def _line(text: bytes) -> Token:
    return Token(b"", text, "line")


def _entries(lines: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the entries of some lines, without their comments."""
    for entry in split_entries(lines, lambda e: len(e) - len(e.lstrip()), bytes.strip):
        kept = [line for line in entry if line.strip() and not _is_comment(line)]
        if kept:
            yield b"\n".join(kept)


def _is_comment(line: bytes) -> bool:
    text = line.strip()
    is_marked = text.startswith((b"//", b"--", b"/*", b"#", b";")) or line.startswith(b" *")
    return is_marked and not text.startswith((b"#define", b"#include", b"#["))


def _set_different(one: bytes, other: bytes) -> bool:
    """Whether two rules set different properties, so that none overrides the other's."""
    mine, theirs = map(_PROPERTY.findall, (one, other))
    return bool(mine and theirs) and not any(
        (a + b"-").startswith(b + b"-") or (b + b"-").startswith(a + b"-")
        for a, b in product(mine, theirs)
    )


def _are_free(one: bytes, other: bytes, *, is_script: bool) -> bool:
    """Whether two entries may stand in any order."""
    both = one.strip(), other.strip()
    if all(map(MAY_REPEAT.match, both)) or (not is_script and all(map(_ONLY_WORD.match, both))):
        return True
    numbers = [_NUMBERED.search(each) for each in (one, other)]
    if numbers[0] and numbers[1] and numbers[0][1] == numbers[1][1]:
        return False
    return _are_apart(one, other, [_name(each) for each in (one, other)])


def _define_different(one: bytes, other: bytes) -> bool:
    """Whether two entries of a file with an order only define different names."""
    found = [ONLY_DEFINING.match(each) for each in (one, other)]
    return _are_apart(one, other, [each[1] if each else b"" for each in found])


def _are_apart(one: bytes, other: bytes, names: Sequence[bytes]) -> bool:
    """Whether two entries define different names that neither of the entries uses."""
    if not all(names) or names[0] == names[1]:
        return False
    return not _mentions(other, names[0]) and not _mentions(one, names[1])


def _are_replaced(trees: Sequence[Element], gap: Gap) -> bool:
    """Whether each new line stands for one line of the base, and no line for two."""
    gone = [each.plain for each in gap.gone]
    new: dict[bytes, bytes] = {}
    for tree, lines in ((trees[1], gap.mine), (trees[2], gap.other)):
        there = {each.plain for each in tree.children}
        old = [line for line in gone if line not in there]
        if len(old) != len(lines) or not new.keys().isdisjoint(old):
            return False
        new |= zip(old, (each.plain for each in lines), strict=True)
    return [each.plain for each in gap.now] == [new[line] for line in gone if line in new]


def _mentions(entry: bytes, name: bytes) -> bool:
    return bool(re.search(rb"(?<![\w-])%b(?![\w-])" % re.escape(name), entry))


def _name(entry: bytes) -> bytes:
    """Return what an entry defines; empty if it may be a command."""
    first, *rest = entry.splitlines()
    text = first.strip()
    if _COMMAND.match(text):
        return b""
    for pattern in _NAMES:
        if found := pattern.match(text):
            return found[1]
    is_long = any(line[:1].isspace() for line in rest)
    is_definition = is_long and (not first[:1].isspace() or _DEFINING.match(text))
    found = _HEAD.match(text) if is_definition else None
    return found[1] if found else b""

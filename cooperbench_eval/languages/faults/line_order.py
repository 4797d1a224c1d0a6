"""Decides whether what both sides insert at one place of a text without a grammar has an order.

A set of lines has no order, and neither do definitions of different names that do not use each
other. Other lines may be commands, which are executed in turn.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import product, takewhile
from pathlib import PurePosixPath

from cooperbench_eval.languages.alignment import align
from cooperbench_eval.languages.data import find_format
from cooperbench_eval.languages.faults.gaps import gaps_of_both
from cooperbench_eval.languages.sequences import split_entries
from cooperbench_eval.languages.tree import Mode, Token, one_line, suite

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
    is_ordered, is_script = (bool(each.fullmatch(name.name)) for each in (_ORDERED, _SCRIPTS))
    is_prose = name.suffix in _PROSE or _ALSO_PROSE.match(name.name)
    if find_format(path, merged) or (is_prose and not is_ordered):
        return ""
    files = _differing([file.splitlines() for file in (*versions, merged)])
    if max(map(len, files)) > _MOST_LINES:
        return ""
    trees = [suite(tuple(map(_line, file))) for file in files]
    places = [align(trees[0].children, side.children, Mode.LIST) for side in trees[1:]]
    for gap in gaps_of_both(trees, places):
        mine, other, now = ([each.plain for each in part] for part in gap[:3])
        both = set(mine) & set(other)
        new = [[line for line in side if line not in both] for side in (mine, other)]
        if any(set(now).isdisjoint(side) for side in new):
            continue
        entries = [list(_entries(side)) for side in new]
        stripped = [each.strip() for side in entries for each in side]
        is_plain = not is_ordered and not is_script and name.suffix not in _STYLES
        if is_plain and any(all(map(e.match, stripped)) for e in (_ONLY_WORD, MAY_REPEAT)):
            continue
        if len(entries[0]) * len(entries[1]) > _MOST_PAIRS:
            return "both sides insert too many lines at one place to check their order"
        for one, each in product(*entries):
            if name.suffix in _STYLES:
                is_free = _set_different(one, each)
            else:
                is_free = not is_ordered and _are_free(one, each, is_script=is_script)
            if not is_free:
                first, second = map(one_line, (one, each))
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
    names = [_name(each) for each in (one, other)]
    if not all(names) or names[0] == names[1]:
        return False
    if numbers[0] and numbers[1] and numbers[0][1] == numbers[1][1]:
        return False
    return not _mentions(other, names[0]) and not _mentions(one, names[1])


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

"""Finds values whose place gives them another meaning than in any version.

These are the numbers of a tuple, such as a version, and the values for the placeholders of a
string.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from cooperbench_eval.languages.faults.losses import differing_lines
from cooperbench_eval.languages.files import is_code
from cooperbench_eval.languages.tree import one_line

_TUPLE = re.compile(rb"(?<![\w\])])\(\s*-?\d[\w.]*(?:\s*,\s*-?\d[\w.]*)+\s*,?\s*\)")
"""Numbers in round brackets that are not the arguments of a call."""
_STRING = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
_HOLE = re.compile(rb"\?|\$\d+|%[-+#0-9.]*[sdifgrx]|\{\d*(?::[^{}]*)?\}")
"""A placeholder for a value that follows the string."""
_VALUES = re.compile(rb"\s*(?:,|%|\.format)\s*(?=([(\[])|)")
_OPENERS, _CLOSERS = b"([{", b")]}"
_LONGEST = 2000
"""The most bytes of values that are read."""


def find_misplaced_value(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Return a tuple of numbers that no version has, or placeholders without values.

    Placeholders count only if all versions have a value for each of theirs.
    """
    if not is_code(path):
        return ""
    base, *sides, _ = differing_lines(versions, merged)
    new = [b"\n".join(each for each in side if each not in base) for side in sides]
    if all(map(_TUPLE.search, new)):
        known = {found for each in versions for found in map(_packed, _TUPLE.findall(each))}
        for found in _TUPLE.findall(merged):
            if _packed(found) not in known:
                return f"no version has the numbers {one_line(found)!r}"
    if all(map(_HOLE.search, new)) and not any(any(_unfilled(each)) for each in versions):
        for found in _unfilled(merged):
            shown = repr(one_line(found))
            return f"the placeholders of {shown} would not match the number of values after it"
    return ""


def _packed(text: bytes) -> bytes:
    return b"".join(text.split())


def _unfilled(source: bytes) -> Iterator[bytes]:
    """Yield the strings whose placeholders are more or fewer than the values after them."""
    for string in _STRING.finditer(source):
        found = _HOLE.findall(string.group())
        holes = len(found) - sum(c - 1 for h, c in Counter(found).items() if h[:1] == b"$")
        follows = _VALUES.match(source, string.end()) if holes else None
        if follows is None:
            continue
        at = follows.end() + bool(follows[1])
        count = _count(source[at : at + _LONGEST])
        if count is not None and count != holes:
            yield string.group()


def _count(values: Sequence[int]) -> int | None:
    """Count values up to the bracket that closes them; `None` if it is not found."""
    depth = count = 0
    is_empty = True
    for value in values:
        if value in _CLOSERS and not depth:
            return count + (not is_empty)
        depth += (value in _OPENERS) - (value in _CLOSERS)
        if value == ord(",") and not depth:
            count, is_empty = count + 1, True
        elif not chr(value).isspace():
            is_empty = False
    return None

"""Finds values whose place gives them another meaning than in any version.

These are neighbouring numbers of a list over several lines, the numbers of lines that count up,
and the values for the placeholders of a string.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from cooperbench_eval.languages.faults.gaps import changed_by_both
from cooperbench_eval.languages.faults.losses import differing_lines
from cooperbench_eval.languages.files import is_code
from cooperbench_eval.languages.tree import Construct, Mode, excerpt, one_line

_STRING = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`]*`")
_HOLE = re.compile(
    rb"\?|%(?:\(\w+\))?[-+#0-9.]*[sdifgrxv]|\{\d*(?::[^{}]*)?\}|\$\d|(?<![\w:]):[a-z]\w*"
)
"""A placeholder for a value that is given elsewhere."""
_NUMBER = re.compile(rb"(?<![\w.-])\d+(?![\w.])")
_NUMBER_ITEM = re.compile(rb"[ \t]*(-?\d[\w.]*),?[ \t\r]*")
_NUMBER_ITEMS = re.compile(
    rb"^[ \t]*(-?\d[\w.]*),[ \t\r]*\n(?=%b$)" % _NUMBER_ITEM.pattern, re.MULTILINE
)
"""Numbers below each other, separated by commas."""
_WORDS = re.compile(rb"\w+(?:\s+\w+)*")


def find_misplaced_value(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Find new neighbours among numbers, one number for two names, or changed placeholders."""
    base, *sides, _ = differing_lines(versions, merged)
    new = [[line for line in side if line not in base] for side in sides]
    least = 1 if is_code(path) else 2
    if found := next(_numbered(new, merged.split(b"\n"), versions[0], least), ""):
        return found
    if all(any(map(_NUMBER_ITEM.fullmatch, lines)) for lines in new):
        known = {pair for each in versions for pair in _NUMBER_ITEMS.findall(each)}
        for pair in _NUMBER_ITEMS.findall(merged):
            if pair not in known:
                shown = one_line(b", ".join(pair))
                return f"the merged file would have the numbers {shown!r}, which no version has"
    if not is_code(path):
        return ""
    if all(_HOLE.search(b"\n".join(lines)) for lines in new):
        for parts, _ in changed_by_both(path, versions, merged):
            if _is_filled_anew(parts):
                return f"both sides change the placeholders in {excerpt(parts[0])!r}"
    return ""


def _is_filled_anew(parts: Sequence[Construct]) -> bool:
    """Whether both sides changed the number of placeholders in an expression or a call."""
    if parts[0].kind != "arguments" and parts[0].mode is not Mode.SEQUENCE:
        return False
    if any(each.kind == "suite" for part in parts for each in part.walk()):
        return False
    base, mine, other, _ = map(_count_holes, parts)
    return base not in {mine, other} and parts[3].plain not in {each.plain for each in parts[1:3]}


def _count_holes(part: Construct) -> int:
    return sum(len(_HOLE.findall(string)) for string in _STRING.findall(part.plain))


def _numbered(
    sides: Sequence[Sequence[bytes]], merged: Sequence[bytes], base: bytes, least: int
) -> Iterator[str]:
    """Yield two new names for one number, where at least some lines before them count up."""
    counts = [{each: line for line in side if (each := _counted(line))} for side in sides]
    known = set(base.split(b"\n"))
    for each, line in counts[0].items():
        twin = counts[1].get(each, line)
        if twin == line or line not in merged or twin not in merged:
            continue
        shape, number = each
        first = min(merged.index(line), merged.index(twin))
        counted = filter(None, (_counted(e) for e in reversed(merged[:first]) if e in known))
        above = [n for _, n in islice((each for each in counted if each[0] == shape), least)]
        if number > 1 and above == list(range(number - 1, number - 1 - least, -1)):
            shown = one_line(line), one_line(twin)
            yield f"both sides use the number {number}, for {shown[0]!r} and {shown[1]!r}"


def _counted(line: bytes) -> tuple[bytes, int] | None:
    """Return the form of a line with one number, and the number."""
    numbers = _NUMBER.findall(line)
    if len(numbers) != 1 or len(numbers[0]) > _LONGEST:
        return None
    return _WORDS.sub(b"w", _NUMBER.sub(b"\0", line)), int(numbers[0])


_LONGEST = 18
"""The most digits of a counting number."""

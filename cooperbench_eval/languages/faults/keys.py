"""Finds keys that a merged text repeats, in files without a grammar.

If only the merged text has a key twice in one place, it has both sides' versions of one line or
entry. An entry is a line with the following lines that are indented more.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from cooperbench_eval.languages.data import find_format
from cooperbench_eval.languages.faults.line_order import MAY_REPEAT, ONLY_DEFINING
from cooperbench_eval.languages.faults.repeated import TWICE
from cooperbench_eval.languages.files import is_code, is_prose
from cooperbench_eval.languages.sequences import continues, has_word, is_item
from cooperbench_eval.languages.tree import one_line
from cooperbench_eval.languages.words import TEXT

_Entry = tuple[tuple[bytes, ...], int, bytes]
"""The lines that an entry is in, the number of the last of them, and its text."""
_Key = tuple[tuple[bytes, ...], str, bytes]
_HEAD = re.compile(rb"([^=:(]*?[^=:(\s+])\s*(?:[:?]?=(?!=)|:(?![:/]))")
"""Matches what precedes the first `=` or `:` of a line, but not `+=`, `==` or `::`."""
_VALUE = re.compile(rb"[^A-Za-z0-9\s]*[vV]?[0-9]\S*")
_QUOTES = re.compile(rb"[\"'`]")
_CLOSER = re.compile(rb"\s*</[^<>]*>\Z")
_COMMENT = re.compile(rb"#(?![A-Za-z])|//|/\*|--(?!\w)|;|%|<!--")
_SECTION = re.compile(rb"\[.*\]\Z")
_HEADING = re.compile(rb"(#{1,6})\s+(\S+)")
_LABEL = re.compile(rb"\d+[.)](?=\s)|\[[^\]]+\]:|\.\. \[[^\]]+\]|\.\. _[^:]+:|\.\. \|[^|]+\|")
"""Matches the number of an item, and what defines a link, a footnote or a substitution."""
_OPENING = re.compile(rb"<\w+>\Z|[\w.]+\(\Z")
_CALL = re.compile(rb"[\w.]+\(")
_FRONT_MATTER = re.compile(rb"---\r?\n(.*?)^---\s", re.DOTALL | re.MULTILINE)
_ROW = re.compile(rb"\|.*\|\Z")


def find_repeated_key(path: str, versions: Sequence[bytes], merged: bytes) -> str:
    """Find a key that only merged has twice in one place, or an uneven row; empty if none."""
    if is_code(path) or find_format(path, merged):
        return ""
    uneven = _uneven_row(path, merged)
    if uneven and not any(_uneven_row(path, each) for each in versions):
        return f"the rows of a table would have different numbers of cells: {one_line(uneven)!r}"
    if not is_prose(path):
        return _repeated(_entries, _keys, versions, merged)
    *matters, matter = map(_front_matter, (*versions, merged))
    fault = _repeated(_entries, _keys, matters, matter)
    return fault or _repeated(_document, _labels, versions, merged)


def _front_matter(source: bytes) -> bytes:
    """Return the data at the beginning of a document."""
    found = _FRONT_MATTER.match(source)
    return found[1] if found else b""


def _repeated(
    read: Callable[[bytes], Iterator[_Entry]],
    keys_of: Callable[[bytes], Iterator[tuple[str, bytes]]],
    versions: Sequence[bytes],
    merged: bytes,
) -> str:
    def find(entries: Iterable[_Entry]) -> set[_Key]:
        counts = Counter(
            (scope, place, *key)
            for scope, place, text in entries
            for key in {("text", text), *keys_of(text)}
        )
        return {(scope, kind, key) for (scope, _, kind, key), n in counts.items() if n > 1}

    lines = [Counter(map(bytes.strip, text.splitlines())) for text in (merged, versions[0])]
    # Most files need no closer look, because the new lines have no key in common.
    if not find(((), 0, line) for line in (lines[0] - lines[1]).elements() if has_word(line)):
        return ""
    new = find(read(merged)).difference(*map(find, map(read, versions)))
    if not new:
        return ""
    scope, kind, key = min(new)
    texts = (text for around, _, text in read(merged) if around == scope)
    text = next(each for each in texts if (kind, key) in {("text", each), *keys_of(each)})
    shown = one_line(key if key in text else text)  # some keys leave out values
    if (scope, "text", text) in new and not _SECTION.match(text):
        return TWICE % shown
    return f"both sides insert their own version of {shown!r}"


def _entries(source: bytes) -> Iterator[_Entry]:
    """Yield each entry with the less indented entries around it, and its section."""
    around: list[tuple[float, int, bytes]] = []
    for number, (depth, line, text) in enumerate(_lines(source)):
        if continues(line) or _COMMENT.match(line):
            continue
        level = depth - 0.5 if _SECTION.match(line) else depth
        while around and around[-1][0] >= level:
            around.pop()
        yield tuple(each for *_, each in around), around[-1][1] if around else -1, text
        around.append((level, number, line))


def _lines(source: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the depth of each line that has a word, the line, and its entry."""
    lines = [(len(line) - len(line.lstrip()), line.strip()) for line in source.splitlines()]
    for i, (depth, line) in enumerate(lines):
        if has_word(line):
            end = i + 1
            while end < len(lines) and (lines[end][0] > depth or not lines[end][1]):
                end += 1
            yield depth, line, b"\n".join(each for _, each in lines[i:end]).strip()


def _keys(entry: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the keys of an entry: what it shares with another version of it."""
    head, *inside = entry.split(b"\n")
    words = [word for line in (head, *inside) for _, word in TEXT.split(_CLOSER.sub(b"", line))]
    values = [word for word in words if _VALUE.fullmatch(word)]
    if values and any(has_word(word) for word in words if word not in values):
        yield "values", b" ".join(b"0" if word in values else word for word in words)
    if defined := ONLY_DEFINING.match(head):
        yield "name", b" ".join(defined[0][:-1].split())
    if inside and not _OPENING.match(head):
        yield "head", head
    if inside:
        return
    if not is_item(head):
        named = [word for _, word in TEXT.split(_QUOTES.sub(b"", _CLOSER.sub(b"", head)))]
        named = [word for word in named if has_word(word)]
        found = _HEAD.match(_QUOTES.sub(b"", head))
        if named and not (found or _CALL.match(head) or MAY_REPEAT.match(head)):
            yield "first", named[0]
        if len(named) > 2:  # noqa: PLR2004
            yield "last", b" ".join(named[:-1])
        yield "list", b" ".join(_QUOTES.sub(b"", head).partition(b",")[0].split())
        if found:
            yield "head", b" ".join(found[1].split())


def _document(source: bytes) -> Iterator[_Entry]:
    """Yield each heading, item and definition of a document, with the headings above it."""
    above: list[tuple[int, bytes]] = []
    paragraph = b""
    for depth, line, text in _lines(source):
        if found := _HEADING.match(line):
            level = len(found[1])
            while above and above[-1][0] >= level:
                above.pop()
            yield tuple(each for _, each in above), 0, line
            above.append((level, line))
        elif is_item(line):
            yield (*(each for _, each in above), paragraph), 0, text
        elif _LABEL.match(line):
            yield (), 0, text
        elif not depth:
            paragraph = line


def _labels(entry: bytes) -> Iterator[tuple[str, bytes]]:
    if found := _LABEL.match(entry):
        yield "label", found[0]
    elif (found := _HEADING.match(entry)) and _VALUE.fullmatch(found[2]):
        yield "heading", found[0]


def _uneven_row(path: str, source: bytes) -> bytes:
    """Return a row of a table with more or fewer cells than the row before it."""
    separator = b"," if path.endswith(".csv") else b"\t" if path.endswith(".tsv") else b""
    before = 0
    for line in map(bytes.strip, source.splitlines()):
        is_row = bool(line) if separator else is_prose(path) and _ROW.match(line)
        cells = line.replace(b"\\|", b"").count(separator or b"|") if is_row else 0
        if before and cells and cells != before:
            return line
        before = cells
    return b""

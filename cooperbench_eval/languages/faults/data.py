"""Finds what is wrong with a merged data file."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from cooperbench_eval.languages.data import DataFormat, check_data, find_format, why_generated
from cooperbench_eval.languages.readers.data import MAPPING, NUMBER, SEQUENCE
from cooperbench_eval.languages.reading import read_trees
from cooperbench_eval.languages.sequences import has_word
from cooperbench_eval.languages.tree import Element, StructureError, SyntaxFaultError, one_line

_MOST_BYTES = 500_000
"""The largest version that is checked; in YAML, this takes a second."""


def find_data_fault(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Return what is wrong with a merged data file; empty if nothing is, or if it is not data.

    A version that is not valid cannot be checked, and that is a fault as well. So is a lock
    file whose sides disagree.
    """
    base, ours, theirs = versions
    known = max(versions, key=len)
    if (reason := why_generated(path, known)) and base != ours != theirs != base:
        return reason
    if find_format(path, known) is None:
        return ""
    return why_unreadable(path, versions) or _broken(path, versions, merged)


def why_unreadable(path: str, versions: Sequence[bytes]) -> str:
    """Say why a merge of a data file cannot be checked; empty if it can, or if it is not data."""
    if find_format(path, max(versions, key=len)) is None:
        return ""
    if max(map(len, versions)) > _MOST_BYTES:
        return f"a version has more than {_MOST_BYTES:,} bytes, too many to check"
    for name, source in zip(("the base", "ours", "theirs"), versions, strict=True):
        # A side that adds the file has an empty base.
        if source and (fault := _fault(path, source)):
            return f"{name} {fault}, so a merge cannot be checked"
    return ""


def _broken(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    if fault := _fault(path, merged):
        return f"the merged file {fault}"
    if find_format(path, merged) is DataFormat.NOTEBOOK:
        known = set[tuple[str, str]]().union(*map(_runs, versions))
        new = _runs(merged) - known
        if {run for run, _ in new} <= {run for run, _ in known}:
            return "a cell would have the outputs of another source" if new else ""
        return "both sides ran a cell again, and its outputs cannot be combined"
    return _find_repeated_item(path, versions, merged)


@lru_cache(maxsize=64)
def _fault(path: str, source: bytes) -> str:
    """Return what is wrong with a version, as a predicate; empty if nothing is."""
    found = find_format(path, source)
    if found is None:
        return ""
    try:
        check_data(path, found, source)
    except SyntaxFaultError as exc:
        return f"does not parse ({exc})"
    except StructureError as exc:
        return f"cannot be read ({exc})"
    return ""


def _runs(source: bytes) -> set[tuple[str, str]]:
    """Return what each cell of a notebook printed, with the number of its run, and its source."""
    found = set[tuple[str, str]]()

    def keep(value: dict[str, object]) -> dict[str, object]:
        run = [value.get(key) for key in ("outputs", "execution_count", "prompt_number")]
        lines = value.get("source", value.get("input", ""))
        code = "".join(map(str, lines)) if isinstance(lines, list) else str(lines)
        found.add((json.dumps(run, sort_keys=True), code if any(run) else ""))
        return value

    json.loads(source or b"{}", object_hook=keep)
    return found


def _find_repeated_item(path: str, versions: Sequence[bytes], merged: bytes) -> str:
    """Find an item that only merged has twice in a list; a mapping of one key goes by its key."""
    try:
        trees = read_trees(path, (*versions, merged))
    except StructureError:
        return ""
    *known, now = ({(key, name) for key, name, n in _items(tree, ()) if n > 1} for tree in trees)
    new = now.difference(*known)
    if not new:
        return ""
    shown = one_line(b" ".join(min(new)[1]))
    return f"both sides insert {shown!r}, and the merged file would have it twice"


def _items(
    element: Element, keys: tuple[bytes, ...]
) -> Iterator[tuple[tuple[bytes, ...], tuple[bytes, ...], int]]:
    """Yield what names the items of each list, with the keys of the list, and how often."""
    keys = (*keys, element.key) if element.key else keys
    if element.kind == SEQUENCE:
        counts = Counter(name for each in element.children for name in _names(each))
        yield from ((keys, name, count) for name, count in counts.items())
    for each in element.children:
        yield from _items(each, keys)


def _names(item: Element) -> Iterator[tuple[bytes, ...]]:
    """Yield the words of an item and, if it is a mapping of one key, that key."""
    words = [each for each in item.words() if each != b"-"]
    if any(map(has_word, words)) and not all(map(NUMBER.fullmatch, words)):
        yield tuple(words)
    inside = [part for each in item.children for part in (each, *each.children)]
    mapping = next((each for each in inside if each.kind == MAPPING), None)
    if mapping is not None and len(mapping.children) == 1:
        yield (mapping.children[0].key,)

"""Finds names that a merged file declares twice or no longer declares.

This is for the languages that tree-sitter parses; `python.py` does the same for Python.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TypeVar

from cooperbench_eval.languages.faults.parameters import find_mixed_parameters
from cooperbench_eval.languages.languages import GRAMMARS
from cooperbench_eval.languages.readers.grammars import Grammar
from cooperbench_eval.languages.scopes.reading import read_names
from cooperbench_eval.languages.scopes.records import Names
from cooperbench_eval.languages.tree import StructureError

__all__ = ["find_name_fault"]

_Item = TypeVar("_Item", str, bytes)


def find_name_fault(
    path: str, versions: tuple[bytes, bytes, bytes], merged: bytes, *, is_whole: bool
) -> str:
    """Find a fault in the names or the blocks of a merged file; empty if there is none.

    A fault counts only if merged has it more often than the versions explain. A file that
    is not whole may lack declarations.
    """
    grammar = GRAMMARS.get(PurePosixPath(path).suffix)
    if grammar is None:
        return ""
    try:
        before = [read_names(grammar, source) for source in versions]
        now = read_names(grammar, merged)
    except StructureError:
        return ""
    fault = _double(before, now) or _skipped(before, now) or _repeated(before, now)
    if not fault and is_whole:
        fault = _unbound(grammar, before, now) or find_mixed_parameters(before, now)
    return fault


def _double(before: Sequence[Names], now: Names) -> str:
    """Find a name that a scope declares too often."""
    names = next(_more([each.excess for each in before], now.excess), "")
    for clash in now.clashes:
        if clash.name == names:
            return f"{clash.qualified} would be declared {len(clash.lines)} times"
    return ""


def _skipped(before: Sequence[Names], now: Names) -> str:
    versions = [{"": each.skipped} for each in before]
    is_more = any(True for _ in _more(versions, {"": now.skipped}))
    return "a statement would never be reached" if is_more else ""


def _repeated(before: Sequence[Names], now: Names) -> str:
    for text in _more([each.repeated for each in before], now.repeated):
        shown = text.decode("utf-8", "replace")
        return f"{shown[:60]!r} would occur twice"
    return ""


def _more(before: Sequence[Mapping[_Item, int]], now: Mapping[_Item, int]) -> Iterator[_Item]:
    """Yield what merged has more often than both sides' changes to the base explain."""
    for each, number in now.items():
        base, ours, theirs = (version.get(each, 0) for version in before)
        if number > max(base, ours, theirs, ours + theirs - base):
            yield each


def _unbound(grammar: Grammar, before: Sequence[Names], now: Names) -> str:
    """Find a name that every version declares where it uses it, and merged does not.

    Another file may declare a name of the top level, if the language or a glob import
    allows it. So such a name does not count.
    """
    missing = now.free.difference(*(each.free for each in before))
    if not missing:
        return ""
    local = frozenset[str]().union(*(each.local for each in before))
    top = frozenset[str]().union(*(each.top for each in before))
    elsewhere = {
        name
        for each in before
        for name, declaration in each.declared
        if grammar is Grammar.GO and declaration.kind != "import"
    }
    if any(each.has_glob for each in (*before, now)) or not _is_module(grammar, now):
        elsewhere |= top
    for name in sorted(missing & (local | top) - elsewhere):
        return f"{name} would not be declared where it is used"
    return ""


def _is_module(grammar: Grammar, now: Names) -> bool:
    """Whether other files cannot declare names for a file; scripts share theirs."""
    return grammar in {Grammar.GO, Grammar.RUST} or now.is_module

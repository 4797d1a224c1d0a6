"""Finds names that a merged file declares twice or no longer declares.

This is for the languages that tree-sitter parses; `python.py` does the same for Python.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from cooperbench_eval.languages.faults.losses import more_often
from cooperbench_eval.languages.files import GRAMMARS
from cooperbench_eval.languages.model import Call, NamedFunction, ScopeNames
from cooperbench_eval.languages.readers.grammars import Grammar
from cooperbench_eval.languages.scopes.reading import read_names
from cooperbench_eval.languages.tree import StructureError, one_line


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


def _double(before: Sequence[ScopeNames], now: ScopeNames) -> str:
    """Find a name that a scope declares too often."""
    names = next(more_often([each.excess for each in before], now.excess), "")
    for clash in now.clashes:
        if clash.name == names:
            return f"{clash.qualified!r} would be declared {len(clash.lines)} times"
    return ""


def _skipped(before: Sequence[ScopeNames], now: ScopeNames) -> str:
    versions = [{"": each.skipped} for each in before]
    is_more = any(True for _ in more_often(versions, {"": now.skipped}))
    return "a statement would never be reached" if is_more else ""


def _repeated(before: Sequence[ScopeNames], now: ScopeNames) -> str:
    for text in more_often([each.repeated for each in before], now.repeated):
        return f"{one_line(text)!r} would occur twice"
    return ""


def _unbound(grammar: Grammar, before: Sequence[ScopeNames], now: ScopeNames) -> str:
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
        return f"{name!r} would not be declared where it is used"
    return ""


def _is_module(grammar: Grammar, now: ScopeNames) -> bool:
    """Whether other files cannot declare names for a file; scripts share theirs."""
    return grammar in {Grammar.GO, Grammar.RUST} or now.is_module


def find_mixed_parameters(before: Sequence[ScopeNames], now: ScopeNames) -> str:
    """Find a function to which both sides add a parameter, if calls pass the wrong one.

    Each side passes its own parameter at the place where it added it. In merged, only one
    of them can have that place. So the other side's calls must have been rewritten. If a
    side has no call that passes its parameter, another file has it, unchanged.
    """
    base, ours, theirs = (_sole(each.functions) for each in before)
    for name, function in _sole(now.functions).items():
        if name in base and name in ours and name in theirs:
            versions = base[name], ours[name], theirs[name]
            if _both_add(versions, function) and not _is_rewritten(versions, function, before, now):
                return f"both sides add parameters to {name!r}, so calls may mix up its arguments"
    return ""


def _sole(functions: Iterable[NamedFunction]) -> dict[str, NamedFunction]:
    """Return the functions whose names are not repeated."""
    functions = list(functions)
    times = Counter(each.name for each in functions)
    return {each.name: each for each in functions if times[each.name] == 1}


def _both_add(
    versions: tuple[NamedFunction, NamedFunction, NamedFunction], merged: NamedFunction
) -> bool:
    base, ours, theirs = (set(each.parameters) for each in versions)
    first, second = ours - base - theirs, theirs - base - ours
    there = set(merged.parameters)
    return bool(first & there) and bool(second & there)


def _is_rewritten(
    versions: tuple[NamedFunction, NamedFunction, NamedFunction],
    merged: NamedFunction,
    before: Sequence[ScopeNames],
    now: ScopeNames,
) -> bool:
    """Whether all calls that can be seen pass what the merged function takes."""
    calls = list(_calls(now, merged))
    if not calls or not all(map(merged.fits, calls)):
        return False
    base = versions[0]
    for side, names in zip(versions[1:], before[1:], strict=True):
        moved = [
            i
            for i, name in enumerate(side.parameters)
            if name not in base.parameters and merged.parameters[i : i + 1] != (name,)
        ]
        if not moved:
            continue
        passing = {each for each in _calls(names, side) if len(each.arguments) > moved[0]}
        if not passing or not passing.isdisjoint(calls):
            return False
    return True


def _calls(names: ScopeNames, function: NamedFunction) -> Iterator[Call]:
    for call in names.calls:
        if (call.name, call.has_receiver) == function.called:
            yield call

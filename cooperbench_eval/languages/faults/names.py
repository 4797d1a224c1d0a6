"""Finds names that a merged file declares twice or no longer, and probable mistakes."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from cooperbench_eval.languages.faults.calls import find_call_fault
from cooperbench_eval.languages.faults.losses import more_often
from cooperbench_eval.languages.files import find_grammar
from cooperbench_eval.languages.model import Source
from cooperbench_eval.languages.readers.grammars import Grammar
from cooperbench_eval.languages.scopes.reading import read_source
from cooperbench_eval.languages.tree import StructureError


def find_name_fault(
    path: str, versions: tuple[bytes, bytes, bytes], merged: bytes, *, is_whole: bool
) -> str:
    """Find a fault in the names or the blocks of a merged file; empty if there is none.

    A fault counts only if merged has it more often than the versions explain. If the file is
    not whole, declarations may be missing.
    """
    read = _read(path, versions, merged)
    if read is None:
        return ""
    _, before, now = read
    fault = _double(before, now) or _slip(before, now)
    return fault or (_missing_name(*read) if is_whole else "")


def find_missing_name(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Find a name that merged uses without defining it, or a call that does not fit."""
    read = _read(path, versions, merged)
    return _missing_name(*read) if read else ""


def _read(
    path: str, versions: tuple[bytes, bytes, bytes], merged: bytes
) -> tuple[Grammar, Sequence[Source], Source] | None:
    grammar = find_grammar(path)
    if grammar is None:
        return None
    try:
        before = [read_source(grammar, source) for source in versions]
        return grammar, before, read_source(grammar, merged)
    except StructureError:
        return None


def _missing_name(grammar: Grammar, before: Sequence[Source], now: Source) -> str:
    fault = _unbound(before, now) if now.known is not None else _undeclared(grammar, before, now)
    fault = fault or (_missing(before, now) if now.known is not None else "")
    return fault or find_call_fault(before, now) or _early(before, now)


def _double(before: Sequence[Source], now: Source) -> str:
    """Find a name that a scope declares too often."""
    for clash in now.clashes:
        name = clash.qualified
        if now.excess[name] > max(each.excess[name] for each in before):
            return f"{name!r} would be declared {len(clash.lines)} times"
    return ""


def _slip(before: Sequence[Source], now: Source) -> str:
    """Find a probable mistake that no version has, not even in a function of another name."""
    versions = [each.slips for each in before]
    places = (_without_places(each) for each in versions)
    more = set(more_often(list(places), _without_places(now.slips)))
    return next((each for each in more_often(versions, now.slips) if _place_free(each) in more), "")


def _without_places(slips: Mapping[str, int]) -> Counter[str]:
    found = Counter[str]()
    for slip, number in slips.items():
        found[_place_free(slip)] += number
    return found


def _place_free(slip: str) -> str:
    return _PLACE.sub("", slip)


_PLACE = re.compile(" in '[^']*'")


def _early(before: Sequence[Source], now: Source) -> str:
    new = now.early.difference(*(each.early for each in before))
    return f"{min(new)!r} would be used above its definition" if new else ""


def _unbound(before: Sequence[Source], now: Source) -> str:
    new = now.unbound.difference(*(each.unbound for each in before))
    return f"{min(new)!r} is used, but would no longer be bound" if new else ""


def _undeclared(grammar: Grammar, before: Sequence[Source], now: Source) -> str:
    """Find a name that merged uses without declaring it, although no version does.

    A top-level name does not count if another file may declare it, as the language or a glob
    import allows.
    """
    missing = now.free.difference(*(each.free for each in before))
    if not missing:
        return ""
    local = frozenset[str]().union(*(each.local for each in before))
    top = frozenset[str]().union(*(each.declared for each in before))
    elsewhere = {
        name
        for each in before
        for name, found in each.declared.items()
        if grammar is Grammar.GO and any(one.kind != "import" for one in found)
    }
    if any(each.is_open for each in (*before, now)) or not _is_module(grammar, now):
        elsewhere |= top
    for name in sorted(missing & (local | top) - elsewhere):
        return f"{name!r} would not be declared where it is used"
    return ""


def _is_module(grammar: Grammar, now: Source) -> bool:
    """Whether other files cannot declare names for a file; scripts share their names."""
    return grammar in {Grammar.GO, Grammar.RUST} or now.is_module


def _missing(before: Sequence[Source], now: Source) -> str:
    """Find an attribute that merged reads but no longer defines or sets.

    If a side reads the attribute without defining it, another file defines it. If a version
    reads an attribute without setting it, another file may set it.
    """
    for name in sorted(_gone(before, now) & now.reads - now.members - now.common):
        if not any(name in each.reads and name not in _known(each) for each in before[1:]):
            return f"{name!r} is used, but would no longer be defined"
    gone = frozenset[str]().union(*(each.sets for each in before)) - now.sets
    for name in sorted(gone & now.reads - now.common):
        if all(name in each.sets for each in before if name in each.reads):
            return f"{name!r} is used, but would no longer be set"
    return ""


def _gone(before: Sequence[Source], now: Source) -> frozenset[str]:
    """Return the functions and classes that a version defines and merged does not."""
    known = _known(now)
    if "__getattr__" in known:
        return frozenset()
    return frozenset(_named(before)) - known


def _named(sources: Sequence[Source]) -> Iterator[str]:
    for each in sources:
        for found in each.definitions:
            if found.is_function or found.is_class:
                yield found.last_name


def _known(source: Source) -> frozenset[str]:
    """Return the names that attributes may have."""
    return source.attributes | source.declared.keys()

"""Judges a merged file without running it.

What is asked needs no test: does it parse, is a name defined twice or no longer bound,
is something gone that both sides kept or one side added? A merge that fails here is not
offered at all, for abstaining is better than being wrong.
"""

import builtins
import re
import symtable
import warnings
from collections import Counter
from functools import lru_cache

from attrs import frozen

from cooperbench_eval.strategies.tokenmerge import count_tokens

__all__ = ["find_fault"]

_ALWAYS_BOUND = frozenset(dir(builtins)) | {
    "__annotations__",
    "__builtins__",
    "__file__",
    "__name__",
    "__path__",
    "__class__",
    "__module__",
    "__qualname__",
}


def find_fault(
    path: str, versions: tuple[bytes, bytes, bytes], merged: bytes, *, is_whole: bool = True
) -> str:
    """Say what is wrong with a merged file, empty if nothing is.

    Args:
        path: The file, whose ending says its language.
        versions: Base, ours and theirs.
        merged: The file as it would be.
        is_whole: Whether all of it is merged. If ours still stands where the sides
            conflict, nothing is said of what is missing.
    """
    if is_whole and (fault := _lost_token(versions, merged)):
        return fault
    if not path.endswith((".py", ".pyi")):
        return ""
    return _python_fault(versions, merged, is_whole=is_whole)


def _lost_token(versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Find a token of which fewer are left than the sides' changes account for.

    What both added alike may be there once, so the least is what is left if the sides'
    additions were one, or if their removals were two.
    """
    base, ours, theirs = map(_counts, versions)
    there = count_tokens(merged)
    for token in dict.fromkeys((*base, *ours, *theirs)):
        least = min(max(ours[token], theirs[token]), ours[token] + theirs[token] - base[token])
        if there[token] < least and token not in _SEPARATORS:
            return f"{token.decode('utf-8', 'replace')!r} is lost"
    return ""


_SEPARATORS = frozenset({b",", b";"})


def _python_fault(versions: tuple[bytes, bytes, bytes], merged: bytes, *, is_whole: bool) -> str:
    before = [_facts(source) for source in versions]
    if not all(before):
        return ""  # nothing can be asked of a file that never was Python
    try:
        now = _Facts.of(merged)
    except _UNREADABLE as exc:
        return f"it would not parse ({exc})"
    for name, count in now.definitions.items():
        if count > 1 and count > max(facts.definitions[name] for facts in before if facts):
            return f"{name} would be defined {count} times"
    if not is_whole:
        return ""
    unbound = now.unbound.difference(*(facts.unbound for facts in before if facts))
    return f"{min(unbound)} would not be bound" if unbound else ""


_UNREADABLE = (SyntaxError, ValueError, RecursionError)


@frozen
class _Facts:
    """What a Python file defines and uses.

    Attributes:
        definitions: How often each function and class is defined, by qualified name.
        unbound: The global names that are used and not bound.
    """

    definitions: Counter[str]
    unbound: frozenset[str]

    @classmethod
    def of(cls, source: bytes) -> "_Facts":
        """Read a file; raises what `compile` raises if it is no Python."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = source.decode("utf-8")
            table = symtable.symtable(text, "<merged>", "exec")
            # Finds what a table of symbols alone does not: an argument given twice.
            compile(text, "<merged>", "exec", dont_inherit=True)
        definitions: Counter[str] = Counter()
        used: set[str] = set()
        _collect(table, "", definitions, used)
        bound = {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
        }
        has_star = re.search(rb"(?m)^from \S+ import \*", source)
        unbound = frozenset() if has_star else frozenset(used - bound - _ALWAYS_BOUND)
        return cls(definitions, unbound)


@lru_cache(maxsize=64)
def _counts(source: bytes) -> Counter[bytes]:
    """Count the tokens of one of the versions, which many pairs share."""
    return count_tokens(source)


@lru_cache(maxsize=64)
def _facts(source: bytes) -> _Facts | None:
    """Read one of the versions, which many pairs share; `None` if it is no Python."""
    try:
        return _Facts.of(source)
    except _UNREADABLE:
        return None


def _collect(
    table: symtable.SymbolTable, scope: str, definitions: Counter[str], used: set[str]
) -> None:
    """Walk the scopes of a file."""
    is_module = not scope
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (symbol.is_global() or is_module):
            used.add(symbol.get_name())
    for child in table.get_children():
        name = f"{scope}{child.get_name()}"
        if child.get_type() in {"function", "class"} and child.get_name() not in _NAMELESS:
            definitions[name] += 1
        _collect(child, name + ".", definitions, used)


_NAMELESS = frozenset({"lambda", "genexpr", "listcomp", "setcomp", "dictcomp"})

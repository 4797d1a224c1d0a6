"""Finds names that a merged Python file no longer binds or defines, and probable mistakes."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from cooperbench_eval.languages.faults.losses import Files, differing, more_often
from cooperbench_eval.languages.faults.python_binding import find_early_use, find_unordered
from cooperbench_eval.languages.faults.python_calls import find_misfit, find_moved_parameter
from cooperbench_eval.languages.faults.python_slips import count_slips
from cooperbench_eval.languages.python.facts import (
    BUILTIN_ATTRIBUTES,
    Facts,
    Function,
    attributes_of,
    cut,
    parameters,
    parse_chunk,
)
from cooperbench_eval.languages.tree import SyntaxFaultError


def find_python_fault(
    versions: tuple[bytes, bytes, bytes], merged: bytes, *, is_whole: bool
) -> str:
    """Return a fault of a merged Python file; empty if there is none.

    The checks of a file that is not whole leave out those for missing text. A version that
    is not valid Python cannot be checked.
    """
    try:
        files = [cut(source) for source in (*versions, merged)]
    except SyntaxFaultError:
        return ""  # a file that was not valid Python before cannot be checked
    try:
        return _find_fault(files, is_whole=is_whole)
    except RecursionError:
        return "it is nested too deeply to be checked"


def _find_fault(files: Files, *, is_whole: bool) -> str:
    fault = _slip(files) or find_declared_twice(files)
    if fault or not is_whole:
        return fault
    facts = [Facts.of(chunks) for chunks in files]
    fault = _unbound(facts) or _undefined(files, facts) or _unset(files)
    if fault or any(len(chunk) > _MOST_FOLLOWED for chunks in files for chunk in chunks):
        return fault
    fault = find_moved_parameter(files) or find_early_use(files) or find_unordered(files)
    return fault or find_misfit(files)


_MOST_FOLLOWED = 100_000
"""The longest chunk whose paths and calls are followed, which takes seconds for each megabyte."""


def _slip(files: Files) -> str:
    """Find a probable mistake that occurs more often than the sides' changes explain."""
    *before, merged = differing([Counter(chunks) for chunks in files])
    now = _slips(merged)
    return next(more_often([*map(_slips, before)], now), "") if now else ""


def _slips(chunks: Iterable[str]) -> Counter[str]:
    return sum(map(count_slips, chunks), Counter())


def _unbound(facts: Sequence[Facts]) -> str:
    *before, now = facts
    unbound = now.unbound.difference(*(each.unbound for each in before))
    return f"{min(unbound)!r} is used, but would no longer be bound" if unbound else ""


def _gone(facts: Sequence[Facts]) -> set[str]:
    """Return the names that a version defines and merged does not."""
    *before, now = facts
    return set().union(*(each.defined for each in before)) - now.known - BUILTIN_ATTRIBUTES


def _undefined(files: Files, facts: Sequence[Facts]) -> str:
    """Find an attribute that merged reads but no longer defines.

    If a side reads the attribute without defining it, another file defines it.
    """
    now = facts[-1]
    gone = _gone(facts)
    if not gone or "__getattr__" in now.known:
        return ""
    *sides, (read, stored) = map(attributes_of, files[1:])
    for name in sorted(gone & read - stored):
        if not any(
            name in used
            for side, (used, there) in zip(facts[1:-1], sides, strict=True)
            if name not in side.known | there
        ):
            return f"{name!r} is used, but would no longer be defined"
    return ""


def _unset(files: Files) -> str:
    """Find an attribute that merged reads but no longer sets, as after half of a renaming.

    Every version that reads it must set it; otherwise another file may set it.
    """
    *before, (read, stored) = map(attributes_of, files)
    gone = set().union(*(there for _, there in before)) - stored
    for name in sorted(gone & read - BUILTIN_ATTRIBUTES):
        if all(name in there for used, there in before if name in used):
            return f"{name!r} is used, but would no longer be set"
    return ""


Declarations = Mapping[str, Counter[str]]
"""How often a name is declared, by its qualified name and by the kind of declaration.

Equal imports of a name, and equal constants, are of one kind and harmless if repeated.
"""

_DEFINED = "def"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_TRIES = (ast.Try, ast.TryStar)


def find_declared_twice(files: Files) -> str:
    """Find a name that the last file's scopes declare more often than any of the others."""
    *others, changed = (_total(each) for each in differing([Counter(file) for file in files]))
    # A name that merged's other chunks declare as those of a version do has as many there.
    names = {
        name for name, kinds in changed.items() if all(kinds != each.get(name) for each in others)
    }
    *before, now = (_total(each, names) for each in files) if names else [{}]
    for name, kinds in now.items():
        count = _count(kinds)
        if count > max(1, *(_count(each.get(name, Counter())) for each in before)):
            return f"{name!r} would be declared {count} times"
    return ""


def _total(chunks: Iterable[str], names: AbstractSet[str] | None = None) -> Declarations:
    """Add up what chunks declare; only some names, if they are given."""
    total: dict[str, Counter[str]] = {}
    for chunk in chunks:
        found = declarations(chunk)
        _add(
            total,
            found
            if names is None
            else {each: found[each] for each in sorted(names & found.keys())},
        )
    return total


def _count(kinds: Counter[str]) -> int:
    return sum(count if kind == _DEFINED else 1 for kind, count in kinds.items())


@lru_cache(maxsize=8192)
def declarations(chunk: str) -> Declarations:
    """Return what the scopes of a chunk declare; branches that exclude each other count once.

    Definitions that extend an earlier one are not counted: overloads, accessors of a
    property, and functions that a dispatcher registers.
    """
    return _block(parse_chunk(chunk).body, "", in_class=False)


def _block(block: Iterable[ast.stmt], scope: str, *, in_class: bool) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for node in block:
        if isinstance(node, (ast.If, ast.Match, *_TRIES)):
            branches = [_block(each, scope, in_class=in_class) for each in _branches(node)]
            _add(found, _most(branches))
        elif isinstance(node, _DEFINITIONS):
            _add(found, _definition(node, scope))
        elif isinstance(node, ast.With | ast.AsyncWith | ast.For | ast.AsyncFor | ast.While):
            _add(found, _block(node.body, scope, in_class=in_class))
            _add(found, _block(getattr(node, "orelse", ()), scope, in_class=in_class))
        for name, kind in _names(node, in_class=in_class, at_top=not scope):
            if name.strip("_"):
                _add(found, {scope + name: Counter({kind: 1})})
    return found


def _branches(node: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    """Yield the blocks of which only one is executed, or one in place of another."""
    if isinstance(node, ast.If):
        while True:
            yield node.body
            if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
                break
            node = node.orelse[0]
        yield node.orelse
    elif isinstance(node, _TRIES):
        yield [*node.body, *node.orelse]
        for handler in node.handlers:
            yield handler.body
        yield node.finalbody
    elif isinstance(node, ast.Match):
        for case in node.cases:
            yield case.body


def _definition(node: Function | ast.ClassDef, scope: str) -> dict[str, Counter[str]]:
    """Return what a function or a class declares, with all that it contains."""
    if _extends(node):
        return {}
    inner = f"{scope}{node.name}."
    found = _block(node.body, inner, in_class=isinstance(node, ast.ClassDef))
    if not isinstance(node, ast.ClassDef):
        for parameter in parameters(node.args):
            _add(found, {inner + parameter: Counter({_DEFINED: 1})})
    if node.name.strip("_"):
        _add(found, {scope + node.name: Counter({_DEFINED: 1})})
    return found


_EXTENDING = frozenset({"setter", "getter", "deleter", "register", "overload", "dispatch"})


def _extends(node: Function | ast.ClassDef) -> bool:
    """Whether a decorator adds a definition to another one of the same name."""
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in _EXTENDING:
            return True
        while isinstance(called, ast.Attribute):
            called = called.value
        if isinstance(called, ast.Name) and called.id == node.name:
            return True
    return False


def _names(node: ast.stmt, *, in_class: bool, at_top: bool) -> Iterator[tuple[str, str]]:
    """Yield the names that a simple statement declares, with the kind of declaration.

    A variable that is set again is not declared again, except members of a class and
    constants of a file.
    """
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from _imported(node)
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id, _DEFINED
    elif isinstance(node, ast.Assign) and (in_class or at_top):
        for target in node.targets:
            name = target.id if isinstance(target, ast.Name) else ""
            if (in_class or name.isupper()) and not _uses(node.value, name):
                yield name, f"= {ast.dump(node.value)}"


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    for alias in node.names:
        if isinstance(node, ast.Import):
            origin = alias.name if alias.asname else alias.name.partition(".")[0]
            yield alias.asname or origin, f"import {origin}"
        elif alias.name != "*":
            origin = "." * node.level + (node.module or "")
            yield alias.asname or alias.name, f"import {origin} {alias.name}"


def _uses(value: ast.expr, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(value))


def _add(total: dict[str, Counter[str]], more: Declarations) -> None:
    for name, kinds in more.items():
        total.setdefault(name, Counter()).update(kinds)


def _most(branches: Iterable[Declarations]) -> dict[str, Counter[str]]:
    """Return, for each name, what the branch declares that declares it most often."""
    most: dict[str, Counter[str]] = {}
    for branch in branches:
        for name, kinds in branch.items():
            if name not in most or _count(kinds) > _count(most[name]):
                most[name] = kinds
    return most

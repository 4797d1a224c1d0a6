"""Finds names that a Python file would use before they are bound.

The paths through a function are followed as for definite assignment in Java (*The Java
Language Specification*, chapter 16), with two sets: the names that every path binds, and
those that some path binds. Where it depends on the values, a name counts as bound: the body
of a `with` is executed, and so is the right side of `and`. So faults are missed, not invented.
"""

import ast
import builtins
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from attrs import frozen

from cooperbench_eval.languages.faults.losses import differing
from cooperbench_eval.languages.faults.pythonpaths import Paths
from cooperbench_eval.languages.python.facts import parse_chunk
from cooperbench_eval.languages.python.names import names_of, parameters

__all__ = ["find_early_use", "find_unordered"]

_BUILTINS = frozenset(dir(builtins))


def find_early_use(files: Sequence[Sequence[str]]) -> str:
    """Find a local variable that only the last file uses where it is not bound.

    Args:
        files: The chunks of the versions and of the merged file.
    """
    changed = differing([Counter(file) for file in files])
    for unbound in (_never_bound, _not_always_bound):
        *before, now = (_together(unbound, chunks) for chunks in changed)
        if now.difference(*before):
            *before, now = (_together(unbound, chunks) for chunks in files)
        for function, name in sorted(now.difference(*before)):
            return f"{name} would be used in {function} before it is bound"
    return ""


_Uses = set[tuple[str, str]]
"""The functions and the names that they use."""


def _together(unbound: Callable[[str], _Uses], chunks: Iterable[str]) -> _Uses:
    return set().union(*map(unbound, chunks))


def _never_bound(chunk: str) -> _Uses:
    return _local_uses(chunk)[0]


def _not_always_bound(chunk: str) -> _Uses:
    return _local_uses(chunk)[1]


@lru_cache(maxsize=8192)
def _local_uses(chunk: str) -> tuple[_Uses, _Uses]:
    """Return the local variables that functions use although no path, or not each, binds them."""
    never: _Uses = set()
    maybe: _Uses = set()
    for statement in parse_chunk(chunk).body:
        foreign = _foreign(statement)
        for scope, function in _functions(statement):
            given = set(parameters(function.args))
            paths = Paths(given | names_of(function.body).bound - foreign, given)
            paths.follow(function.body)
            never.update((scope, name) for name in paths.never)
            maybe.update((scope, name) for name in paths.maybe)
    return never, maybe


def _functions(
    statement: ast.stmt,
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield each function in a statement of the top level with its qualified name."""
    stack: list[tuple[ast.AST, str]] = [(ast.Module([statement], []), "")]
    while stack:
        node, scope = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield scope + child.name, child
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                stack.append((child, f"{scope}{child.name}."))
            elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
                stack.append((child, scope))


def _foreign(tree: ast.AST) -> set[str]:
    """Return the names that any function in a tree declares to be those of an outer scope."""
    return {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Global | ast.Nonlocal)
        for name in node.names
    }


def find_unordered(files: Sequence[Sequence[str]]) -> str:
    """Find a name that only the last file uses at its top level above the name's definition.

    Args:
        files: The chunks of the versions and of the merged file.
    """
    *before, now = files
    new = _unordered(now)
    for chunks in before if new else ():
        new -= _unordered(chunks)
    return f"{min(new)} would be used above its definition" if new else ""


def _unordered(chunks: Iterable[str]) -> set[str]:
    """Return the names that are read before their first binding at the top level."""
    early: set[str] = set()
    late: set[str] = set()
    bound: set[str] = set()
    foreign: set[str] = set()
    for chunk in chunks:
        order = _order(chunk)
        late |= early & order.bound
        new = order.early - bound
        late |= new & order.bound
        early |= new
        bound |= order.bound
        foreign |= order.foreign
        if order.has_star:
            return set()
    return late - foreign


@frozen
class _Order:
    """What a chunk does at the top level of its file.

    Attributes:
        early: The names that it reads before it binds them.
        bound: The names that it binds.
        foreign: The names that functions declare to be global.
        has_star: Whether a star import may bind any name.
    """

    early: frozenset[str]
    bound: frozenset[str]
    foreign: frozenset[str]
    has_star: bool


@lru_cache(maxsize=8192)
def _order(chunk: str) -> _Order:
    tree = parse_chunk(chunk)
    body = tree.body
    names = names_of(body)
    paths = Paths(names.bound | names.reads - _BUILTINS, ())
    paths.follow(body)
    return _Order(
        early=frozenset(paths.never - _BUILTINS),
        bound=frozenset(names.bound),
        foreign=frozenset(_foreign(tree)),
        has_star="*" in names.binds,
    )

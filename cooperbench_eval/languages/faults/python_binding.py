"""Finds names that a Python file would use before they are bound.

The paths through a function are followed as for definite assignment in Java (*The Java
Language Specification*, chapter 16), with two sets: the names that every path binds, and
those that some path binds. Where it depends on the values, a name counts as bound: the body
of a `with` is executed, and so is the right side of `and`. So faults are missed, not invented.
"""

import ast
import builtins
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from cooperbench_eval.languages.faults.losses import Files, differing
from cooperbench_eval.languages.faults.python_slips import is_constant, is_endless, takes_all
from cooperbench_eval.languages.python.facts import Function, names_of, parameters, parse_chunk

_BUILTINS = frozenset(dir(builtins))


def find_early_use(files: Files) -> str:
    """Find a local variable that only the last file uses where it is not bound."""
    changed = differing([Counter(file) for file in files])
    for kind in range(2):
        *before, now = (_together(kind, chunks) for chunks in changed)
        if now.difference(*before):
            *before, now = (_together(kind, chunks) for chunks in files)
        for function, name in sorted(now.difference(*before)):
            return f"{name!r} would be used in {function!r} before it is bound"
    return ""


_Uses = set[tuple[str, str]]
"""The functions and the names that they use."""


def _together(kind: int, chunks: Iterable[str]) -> _Uses:
    return set().union(*(_local_uses(chunk)[kind] for chunk in chunks))


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


def _functions(statement: ast.stmt) -> Iterator[tuple[str, Function]]:
    """Yield each function in a statement of the top level with its qualified name."""
    stack: list[tuple[ast.AST, str]] = [(ast.Module([statement], []), "")]
    while stack:
        node, scope = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Function):
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


def find_unordered(files: Files) -> str:
    """Find a name that only the last file uses at its top level above the name's definition."""
    *before, now = files
    new = _unordered(now)
    for chunks in before if new else ():
        new -= _unordered(chunks)
    return f"{min(new)!r} would be used above its definition" if new else ""


def _unordered(chunks: Iterable[str]) -> set[str]:
    """Return the names that are read before their first binding at the top level."""
    early: set[str] = set()
    late: set[str] = set()
    bound: set[str] = set()
    foreign: set[str] = set()
    for chunk in chunks:
        read_early, now_bound, declared = _order(chunk)
        late |= early & now_bound
        new = read_early - bound
        late |= new & now_bound
        early |= new
        bound |= now_bound
        foreign |= declared
        if "*" in now_bound:
            return set()
    return late - foreign


@lru_cache(maxsize=8192)
def _order(chunk: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return what a chunk does at the top level of its file.

    Returns:
        The names that it reads before it binds them, those that it binds, with `*` if a star
        import may bind any name, and those that functions declare to be global.
    """
    tree = parse_chunk(chunk)
    names = names_of(tree.body)
    paths = Paths(names.bound | names.reads - _BUILTINS, ())
    paths.follow(tree.body)
    never = frozenset(paths.never - _BUILTINS)
    return never, frozenset(names.bound), frozenset(_foreign(tree))


class _Bound(NamedTuple):
    """The names that are bound at a point, as sets of bits.

    Attributes:
        always: Those that every path to the point binds; all, if no path leads to it.
        perhaps: Those that some path binds.
    """

    always: int
    perhaps: int

    def join(self, *others: "_Bound") -> "_Bound":
        always, perhaps = self
        for other in others:
            always &= other.always
            perhaps |= other.perhaps
        return _Bound(always, perhaps)

    def with_(self, bits: int) -> "_Bound":
        return _Bound(self.always | bits, self.perhaps | bits)

    def without(self, bits: int) -> "_Bound":
        """Return what is left after names may have been unbound."""
        return self if self.always == _ALL else _Bound(self.always & ~bits, self.perhaps)

    def left(self) -> "_Bound":
        """Return what is bound after a statement that leaves."""
        return _Bound(_ALL, self.perhaps)


_ALL = -1


class Paths:
    """The uses of a scope's names that some path, or every path, reaches too early.

    Attributes:
        never: The names that are read where no path has bound them.
        maybe: Those that are read where not every path has.
    """

    def __init__(self, names: Iterable[str], given: Iterable[str]) -> None:
        """Start with the scope's names, of which some are bound from the start."""
        self._bits = {name: 1 << i for i, name in enumerate(sorted(names))}
        self._all = (1 << len(self._bits)) - 1
        self._given = self._of(given)
        self.never: set[str] = set()
        self.maybe: set[str] = set()

    def follow(self, block: Sequence[ast.stmt]) -> None:
        """Follow the paths through all statements of the scope."""
        self._block(block, _Bound(self._given, self._given))

    def _of(self, names: Iterable[str]) -> int:
        bits = 0
        for name in names:
            bits |= self._bits.get(name, 0)
        return bits

    def _block(self, block: Iterable[ast.stmt], bound: _Bound) -> _Bound:
        for node in block:
            bound = self._statement(node, bound)
        return bound

    def _statement(self, node: ast.stmt, bound: _Bound) -> _Bound:
        match node:
            case ast.If():
                end = self._if(node, bound)
            case ast.For() | ast.AsyncFor() | ast.While():
                end = self._loop(node, bound)
            case ast.Try() | ast.TryStar():
                end = self._try(node, bound)
            case ast.Match():
                end = self._match(node, bound)
            case ast.With() | ast.AsyncWith():
                end = self._with(node, bound)
            case ast.Delete():
                gone = self._of(each.id for each in node.targets if isinstance(each, ast.Name))
                end = self._run([node], bound).without(gone)
            case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
                end = self._run([node], bound).left()
            case _:
                end = self._run([node], bound)
        return end

    def _with(self, node: ast.With | ast.AsyncWith, bound: _Bound) -> _Bound:
        for item in node.items:
            bound = self._run([item.context_expr], bound)
            bound = self._run([item.optional_vars], bound)
        return self._block(node.body, bound)

    def _run(self, nodes: Iterable[ast.AST | None], bound: _Bound) -> _Bound:
        """Note what nodes read too early, and return what is bound after them."""
        names = names_of(nodes)
        bound = bound.with_(self._of(names.walrus))
        for name in names.reads:
            bit = self._bits.get(name, 0)
            if bit & ~bound.always:
                self.maybe.add(name)
                if bit & ~bound.perhaps:
                    self.never.add(name)
        return bound.with_(self._of(names.binds))

    def _if(self, node: ast.If, bound: _Bound) -> _Bound:
        ends = []
        while True:
            bound = self._run([node.test], bound)
            ends.append(self._block(node.body, bound))
            if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
                break
            node = node.orelse[0]  # in a loop, because a chain of `elif` may be long
        return self._block(node.orelse, bound).join(*ends)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, bound: _Bound) -> _Bound:
        head = node.test if isinstance(node, ast.While) else node.iter
        bound = self._run([head], bound)
        # An earlier round may have bound whatever the body binds.
        start = after = _Bound(bound.always, self._all)
        if not isinstance(node, ast.While):
            start = self._run([node.target], start)
        self._block(node.body, start)
        if isinstance(node, ast.While) and is_constant(node.test):
            return after.left() if is_endless(node) else after.with_(self._all)
        end = self._block(node.orelse, after)
        # If its `else` leaves, `break` ended the loop; what that path binds is not followed.
        return after.with_(self._all) if node.orelse and end.always == _ALL else end

    def _try(self, node: ast.Try | ast.TryStar, bound: _Bound) -> _Bound:
        ends = [self._block(node.orelse, self._block(node.body, bound))]
        failed = _Bound(bound.always, self._all)
        for handler in node.handlers:
            start = self._run([handler.type], failed)
            name = self._of([handler.name] if handler.name else ())
            ends.append(self._block(handler.body, start.with_(name)).without(name))
        end = ends[0].join(*ends[1:])
        last = self._block(node.finalbody, failed)
        if last.always == _ALL:
            return last
        return end.with_(last.always & ~bound.always)

    def _match(self, node: ast.Match, bound: _Bound) -> _Bound:
        bound = self._run([node.subject], bound)
        ends = [] if any(map(takes_all, node.cases)) else [bound]
        for case in node.cases:
            start = self._run([case.guard], self._run([case.pattern], bound))
            ends.append(self._block(case.body, start))
        return ends[0].join(*ends[1:])

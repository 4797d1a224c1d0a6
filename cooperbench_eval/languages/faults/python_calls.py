"""Finds calls in a Python file that do not fit the function of the same file that they call.

Only certain cases count: functions, methods and constructors that the file defines once,
without decorators, under names that nothing else in the file binds.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from attrs import frozen

from cooperbench_eval.languages.faults.losses import Files, differing
from cooperbench_eval.languages.python.facts import (
    Function,
    bound_by,
    names_of,
    parameters,
    parse_chunk,
)

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@frozen
class _Signature:
    """The parameters that a caller gives.

    Attributes:
        positional: The names of those that may be given by position.
        only_positional: How many of these cannot be given by name.
        required: The names of those without a default.
        named: The names of those that are given by name only.
        takes_more: Whether there is a parameter `*args`.
        takes_any: Whether there is a parameter `**kwargs`.
    """

    positional: tuple[str, ...]
    only_positional: int
    required: frozenset[str]
    named: frozenset[str]
    takes_more: bool
    takes_any: bool

    @classmethod
    def of(cls, arguments: ast.arguments, *, is_bound: bool) -> "_Signature | None":
        """Read a signature; without the first parameter, if the function is bound."""
        every = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        if is_bound and not every:
            return None
        optional = set(every[len(every) - len(arguments.defaults) :])
        named = [each.arg for each in arguments.kwonlyargs]
        optional.update(
            name for name, default in zip(named, arguments.kw_defaults, strict=True) if default
        )
        positional = tuple(every[is_bound:])
        return cls(
            positional=positional,
            only_positional=max(0, len(arguments.posonlyargs) - is_bound),
            required=frozenset({*positional, *named} - optional),
            named=frozenset(named),
            takes_more=arguments.vararg is not None,
            takes_any=arguments.kwarg is not None,
        )

    def kinds(self) -> Iterator[tuple[str, str]]:
        """Yield each parameter with how it is given."""
        for i, name in enumerate(self.positional):
            yield name, "by position only" if i < self.only_positional else "by position"
        for name in self.named:
            yield name, "by name only"
        if self.takes_more:
            yield "*", f"after {len(self.positional)} others"

    def misfit(self, call: "_Call") -> str:
        """Return why a call does not fit; empty if it may fit."""
        filled = self.positional[: call.positions]
        for name in call.names:
            if name in filled[self.only_positional :]:
                return f"pass {name!r} twice"
            by_name = self.named.union(self.positional[self.only_positional :])
            if not self.takes_any and name not in by_name:
                return f"pass the unknown argument {name!r}"
        if not self.takes_more and call.positions > len(self.positional):
            return f"pass more than {len(self.positional)} arguments by position"
        missing = self.required.difference(filled, call.names)
        if missing and not call.is_open:
            return f"not pass {min(missing)!r}"
        return ""


@frozen
class _Call:
    """The arguments of a call.

    Attributes:
        positions: How many are given by position, at least.
        names: The names of those given by name.
        is_open: Whether `*` or `**` gives an unknown number of further ones.
    """

    positions: int
    names: tuple[str, ...]
    is_open: bool

    @classmethod
    def of(cls, node: ast.Call) -> "_Call":
        """Read a call."""
        given = [each for each in node.args if not isinstance(each, ast.Starred)]
        names = tuple(each.arg for each in node.keywords if each.arg)
        is_open = len(given) < len(node.args) or len(names) < len(node.keywords)
        return cls(len(given), names, is_open)


@frozen
class _Uses:
    """What a chunk defines and calls.

    Attributes:
        signatures: The functions that a call in this chunk, or in another one, may mean.
        calls: The calls of each function.
        bound: How often each name is bound other than as a member of a class.
    """

    signatures: dict[str, _Signature]
    calls: dict[str, set[_Call]]
    bound: Counter[str]


def find_moved_parameter(files: Files) -> str:
    """Find a parameter that is given in another way than in any version."""
    *before, now = (
        {
            (name, *kind)
            for chunk in chunks
            for name, signature in _uses(chunk).signatures.items()
            for kind in signature.kinds()
        }
        for chunks in differing([Counter(file) for file in files])
    )
    known = set[tuple[str, ...]]().union(*before)
    for name, parameter, kind in sorted(now - known):
        if any(each[:2] == (name, parameter) for each in known):
            return f"{parameter!r} of {name!r} would be given {kind}"
    return ""


def find_misfit(files: Files) -> str:
    """Find a call that fits its function in every version, but not in the last file."""
    changed = [_uses(chunk) for chunk in differing([Counter(file) for file in files])[-1]]
    names = {name for uses in changed for name in (*uses.signatures, *uses.calls)}
    *before, now = files
    new = _misfits(now, names)
    for chunks in before if new else ():
        new -= _misfits(chunks, {name for name, _ in new})
    for name, problem in sorted(new):
        return f"a call to {name!r} would {problem}"
    return ""


def _misfits(chunks: Iterable[str], names: set[str]) -> set[tuple[str, str]]:
    """Return the problems with calls of some functions."""
    every = [_uses(chunk) for chunk in chunks]
    signatures = {
        name: uses.signatures[name] for uses in every for name in names & uses.signatures.keys()
    }
    certain = {
        name
        for name in signatures
        if sum(uses.bound[name.partition(".")[0]] for uses in every) == 1
    }
    return {
        (name, problem)
        for uses in every
        for name in certain & uses.calls.keys()
        for call in uses.calls[name]
        if (problem := signatures[name].misfit(call))
    }


@lru_cache(maxsize=8192)
def _uses(chunk: str) -> _Uses:
    tree = parse_chunk(chunk)
    uses = _Uses({}, {}, Counter(_bound_names(tree)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            uses.calls.setdefault(node.func.id, set()).add(_Call.of(node))
    for node in tree.body:
        if isinstance(node, _FUNCTIONS) and not node.decorator_list:
            if signature := _Signature.of(node.args, is_bound=False):
                uses.signatures[node.name] = signature
        elif isinstance(node, ast.ClassDef) and not node.decorator_list:
            _read_class(node, uses)
    return uses


def _bound_names(tree: ast.Module) -> Iterator[str]:
    """Yield a name each time that it is bound.

    Members of classes are left out, because a function does not see them.
    """
    stack: list[tuple[ast.AST, bool]] = [(tree, False)]
    while stack:
        node, in_class = stack.pop()
        if isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
        elif isinstance(node, ast.arg):
            yield node.arg
        elif not in_class:
            yield from bound_by(node)
        inside = isinstance(node, ast.ClassDef) or (
            in_class and not isinstance(node, (*_FUNCTIONS, ast.Lambda))
        )
        stack += ((child, inside) for child in ast.iter_child_nodes(node))


def _read_class(node: ast.ClassDef, uses: _Uses) -> None:
    """Add the methods of a class, its constructor, and what its methods call of it."""
    bound = Counter(name for each in node.body for name in names_of([each]).bound)
    stored = {
        each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute) and not isinstance(each.ctx, ast.Load)
    }
    methods = [each for each in node.body if isinstance(each, _FUNCTIONS)]
    for method in methods:
        kind = _kind(method)
        if kind is None or bound[method.name] > 1 or method.name in stored:
            continue
        signature = _Signature.of(method.args, is_bound=kind != "staticmethod")
        if signature and method.name != "__init__":
            uses.signatures[f"{node.name}.{method.name}"] = signature
        elif signature and kind == "" and not node.keywords and "__new__" not in bound:
            uses.signatures[node.name] = signature
    for method in methods:
        if _kind(method) in {"", "classmethod"}:
            _read_calls(method, node.name, uses)


def _kind(method: Function) -> str | None:
    """Return the decorator that makes a method static or a class method; `None` if unknown."""
    names = [getattr(each, "id", None) for each in method.decorator_list]
    if not names:
        return ""
    return names[0] if names in (["staticmethod"], ["classmethod"]) else None


def _read_calls(method: Function, scope: str, uses: _Uses) -> None:
    """Add the calls that a method makes through its first parameter."""
    first = next(parameters(method.args), "")
    if list(_bound_names(ast.Module([method], []))).count(first) > 1:
        return
    for node in ast.walk(method):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=called)):
                if name == first:
                    uses.calls.setdefault(f"{scope}.{called}", set()).add(_Call.of(node))

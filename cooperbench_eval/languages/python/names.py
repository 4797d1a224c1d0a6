"""Finds the names that a part of a Python file reads and binds when it is executed."""

import ast
from collections.abc import Iterable, Iterator

from attrs import Factory, frozen

__all__ = ["Names", "bound_by", "names_of", "parameters"]


@frozen
class Names:
    """The names in nodes of one scope.

    Attributes:
        reads: The names that are read when the nodes are executed. Bodies of functions
            and elements of generators, which are executed later, are left out.
        binds: The names that are bound, except by `:=`.
        walrus: The names that `:=` binds.
    """

    reads: set[str] = Factory(set)
    binds: set[str] = Factory(set)
    walrus: set[str] = Factory(set)

    @property
    def bound(self) -> set[str]:
        """All names that are bound."""
        return self.binds | self.walrus


def names_of(nodes: Iterable[ast.AST | None]) -> Names:
    """Return the names that nodes read and bind in their own scope."""
    found = Names()
    stack = [node for node in nodes if node]
    while stack:
        node = stack.pop()
        found.binds.update(bound_by(node))
        stack += _executed(node, found)
    return found


def _executed(node: ast.AST, found: Names) -> Iterable[ast.AST]:
    """Return the parts of a node that are executed with it, and add the names it has itself."""
    parts: Iterable[ast.AST] = ()
    match node:
        case ast.NamedExpr():
            found.walrus.add(node.target.id)
            parts = (node.value,)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            parts = _executed_at_definition(node)
        case ast.ClassDef():
            inner = names_of(node.body)
            found.reads.update(inner.reads - inner.bound)
            parts = (*node.decorator_list, *node.bases, *node.keywords)
        case ast.GeneratorExp():
            parts = (node.generators[0].iter,)
        case ast.ListComp() | ast.SetComp() | ast.DictComp():
            inner = names_of(ast.iter_child_nodes(node))
            found.reads.update(inner.reads - inner.bound)
            found.walrus.update(inner.walrus)
        case ast.AnnAssign():
            parts = (node.target, node.value) if node.value else ()
        case _:
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                found.reads.add(node.target.id)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.reads.add(node.id)
            parts = ast.iter_child_nodes(node)
    return parts


def bound_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds itself."""
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store):
            yield node.id
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        if node.name:
            yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _executed_at_definition(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
) -> list[ast.expr]:
    """Return the decorators and defaults of a function; annotations may be left unread."""
    defaults = [*node.args.defaults, *node.args.kw_defaults]
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return [*decorators, *(each for each in defaults if each)]


def parameters(arguments: ast.arguments) -> Iterator[str]:
    """Yield the names of a function's parameters."""
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        yield each.arg
    for extra in (arguments.vararg, arguments.kwarg):
        if extra:
            yield extra.arg

"""Reads what a Python file defines, imports and uses.

A file is read in the chunks into which `pythonfacts` cuts it, and what a chunk contains is
remembered: the versions of a file share most of their chunks.
"""

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TypeVar

from attrs import evolve, frozen

from cooperbench_eval.languages.model import Definition, Import, Signature, Source
from cooperbench_eval.languages.python.facts import (
    attributes_of,
    cut,
    lines_before,
    parse_chunk,
)
from cooperbench_eval.languages.python.uses import imports_of, uses_of
from cooperbench_eval.languages.tree import SyntaxFaultError

__all__ = ["read_python"]


_Found = TypeVar("_Found", Definition, Import)


@lru_cache(maxsize=64)
def read_python(source: bytes) -> Source | None:
    """Read a file; `None` if it does not parse."""
    try:
        parts = tuple(zip(lines_before(source), cut(source), strict=True))
        each = [(before, *_declared(chunk)) for before, chunk in parts]
    except (SyntaxFaultError, RecursionError):
        return None
    definitions = tuple(_moved(one, before) for before, found, _ in each for one in found)
    imports = tuple(_moved(one, before) for before, _, found in each for one in found)
    return Source(
        definitions=definitions,
        imports=imports,
        members_of=lambda: frozenset(attributes_of(chunk for _, chunk in parts)[1]),
        is_open=any(found.name == "*" for found in imports)
        or any(found.name == "__getattr__" for found in definitions),
        parts=parts,
        uses_of=uses_of,
    )


def _moved(found: _Found, lines: int) -> _Found:
    return evolve(found, line=found.line + lines) if lines else found


@lru_cache(maxsize=8192)
def _declared(chunk: str) -> tuple[tuple[Definition, ...], tuple[Import, ...]]:
    definitions: list[Definition] = []
    imports: list[Import] = []
    stack = [_Block(body=parse_chunk(chunk).body, lines=chunk.split("\n"))]
    while stack:
        block = stack.pop()
        for node in block.body:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    definitions.append(_function(node, block))
                    stack.append(block.inner(node))
                case ast.ClassDef():
                    definitions.append(_class(node, block))
                    stack.append(block.inner(node))
                case ast.Import() | ast.ImportFrom():
                    imports += imports_of(node, is_sole=block.is_direct, is_global=not block.scope)
                case ast.Global():
                    definitions += (Definition(name=name, line=node.lineno) for name in node.names)
                case _:
                    if not block.is_function:
                        definitions += _assigned(node, block.scope)
                    stack += (block.indented(body) for body in _bodies(node))
    definitions.sort(key=lambda found: found.line)
    return tuple(definitions), tuple(imports)


_Function = ast.FunctionDef | ast.AsyncFunctionDef


@frozen(kw_only=True)
class _Block:
    """Statements of one scope.

    Attributes:
        body: The statements.
        lines: The lines of the chunk that they are in.
        scope: The names of the scopes around them, each with a dot after it.
        is_function: Whether the scope is a function.
        is_class: Whether it is a class.
        is_direct: Whether the statements are always executed, unlike those below an `if`.
    """

    body: Sequence[ast.stmt]
    lines: Sequence[str]
    scope: str = ""
    is_function: bool = False
    is_class: bool = False
    is_direct: bool = True

    def inner(self, node: _Function | ast.ClassDef) -> "_Block":
        """Return the block of a function or class."""
        is_class = isinstance(node, ast.ClassDef)
        return _Block(
            body=node.body,
            lines=self.lines,
            scope=f"{self.scope}{node.name}.",
            is_function=self.is_function or not is_class,
            is_class=is_class,
        )

    def indented(self, body: Sequence[ast.stmt]) -> "_Block":
        """Return the block of an `if`, a loop and the like."""
        return evolve(self, body=body, is_direct=False)


def _bodies(node: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    """Yield the blocks of a statement that is not a scope."""
    for name in ("body", "orelse", "finalbody"):
        if body := getattr(node, name, None):
            yield body
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def _function(node: _Function, block: _Block) -> Definition:
    words = [_words(each) for each in node.decorator_list]
    is_method = block.is_class and node.name != "__new__"
    signature = _signature(node.args) if all(each in _TRANSPARENT for each in words) else None
    if signature and is_method and "classmethod" in words:
        signature = signature.bound()
    return Definition(
        name=block.scope + node.name,
        line=node.lineno,
        is_sole=block.is_direct and node.name != "_" and all(map(_is_plain, words)),
        signature=signature,
        takes_instance=is_method and not {"staticmethod", "classmethod"}.intersection(words),
        body=_digest(node, block.lines),
    )


def _class(node: ast.ClassDef, block: _Block) -> Definition:
    words = [_words(each) for each in node.decorator_list]
    bases = [_words(each) for each in node.bases if _words(each) != "object"]
    return Definition(
        name=block.scope + node.name,
        line=node.lineno,
        is_sole=block.is_direct and all(map(_is_plain, words)),
        is_class=True,
        bases=(*bases, *(keyword.arg or "**" for keyword in node.keywords)),
        body=_digest(node, block.lines),
    )


def _words(node: ast.expr) -> str:
    """Return the dotted name of a decorator or base without its arguments; `?` if it has none."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else "?"


_TRANSPARENT = frozenset(
    f"{module}{name}"
    for name, modules in {
        "abstractmethod": ("", "abc."),
        "asynccontextmanager": ("", "contextlib."),
        "cache": ("", "functools."),
        "classmethod": ("",),
        "contextmanager": ("", "contextlib."),
        "lru_cache": ("", "functools."),
        "override": ("", "typing.", "typing_extensions."),
        "staticmethod": ("",),
    }.items()
    for module in modules
)
"""Decorators that leave the parameters as they are."""
_PLAIN = _TRANSPARENT | {
    "cached_property",
    "dataclass",
    "dataclasses.dataclass",
    "functools.cached_property",
    "functools.wraps",
    "property",
    "wraps",
}


def _is_plain(decorator: str) -> bool:
    """Whether only the last definition with this decorator and the same name takes effect."""
    return decorator in _PLAIN or decorator.startswith(("attr.", "attrs.", "pytest."))


def _signature(args: ast.arguments) -> Signature:
    positional = ("",) * len(args.posonlyargs) + tuple(each.arg for each in args.args)
    needed = (default is None for default in args.kw_defaults)
    return Signature(
        positional=positional,
        required=len(positional) - len(args.defaults),
        keywords=dict(zip((each.arg for each in args.kwonlyargs), needed, strict=True)),
        takes_more=args.vararg is not None,
        takes_any_keyword=args.kwarg is not None,
    )


def _digest(node: _Function | ast.ClassDef, lines: Sequence[str]) -> int:
    """Return a number that definitions with the same lines below their docstring share."""
    first = node.body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    start = first.end_lineno if is_text else first.lineno - 1
    return hash(tuple(line.strip() for line in lines[start : node.end_lineno]))


def _assigned(node: ast.stmt, scope: str) -> Iterator[Definition]:
    """Yield the names that a statement binds without defining a function or class."""
    stack: list[ast.AST] = list(_headers(node))
    while stack:
        each = stack.pop()
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield Definition(name=scope + each.id, line=each.lineno)
        elif isinstance(each, ast.expr | ast.withitem | ast.pattern):
            if isinstance(each, ast.MatchAs | ast.MatchStar) and each.name:
                yield Definition(name=scope + each.name, line=each.lineno)
            if not isinstance(each, _SCOPES):
                stack += ast.iter_child_nodes(each)


_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _headers(node: ast.stmt) -> Iterator[ast.AST]:
    """Yield the expressions of a statement without those of the statements in it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.match_case):
            yield child.pattern
        elif not isinstance(child, ast.stmt | ast.ExceptHandler):
            yield child

"""Finds what chunks of Python files define, bind and use, and reads no chunk twice.

A file is cut after an empty line that precedes a top-level definition and its comments. If
each chunk parses on its own, the file consists of the chunks' statements in order: no
string, bracket or continued line is open where a chunk ends, and the next chunk starts in
column 0 with a word that cannot continue a statement. So the facts of the file are the sum
of the facts of its chunks, with three exceptions, which `cut` handles: imports from
`__future__`, which apply to everything after them; `global` at the top level, which makes
earlier uses of the name invalid; and cuts inside a string, where the chunks do not parse.
"""

import ast
import builtins
import codecs
import io
import re
import symtable
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from threading import Lock

from attrs import Factory, frozen

from cooperbench_eval.languages.tree import SyntaxFaultError

_FILES_KEPT, _CHUNKS_KEPT = 64, 8192

Function = ast.FunctionDef | ast.AsyncFunctionDef
"""The statements that define a function."""

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

BUILTIN_ATTRIBUTES = frozenset(
    name
    for kind in (*vars(builtins).values(), *vars(io).values())
    if isinstance(kind, type)
    for name in dir(kind)
)
"""Names of attributes that built-in types also have."""

_CUT = re.compile(r"\n[ \t\r]*\n(?=(?:#[^\n]*\n)*(?:@|def |class |async def ))")


@lru_cache(maxsize=_FILES_KEPT)
def cut(source: bytes) -> tuple[str, ...]:
    """Cut a file into chunks whose facts add up to the facts of the file.

    Raises:
        SyntaxFaultError: The file does not parse.
    """
    text = _decoded(source)
    chunks = _chunks(text, _pieces(text))
    return _chunks(text, [text]) if any(map(_has_global, chunks)) else chunks


def _decoded(source: bytes) -> str:
    """Decode a file as Python does: UTF-8, unless one of its first two lines says otherwise."""
    encoding = "utf-8"
    try:
        if source.startswith(codecs.BOM_UTF8) or any(
            b"coding" in line for line in source.split(b"\n", 2)[:2]
        ):
            encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        return source.decode(encoding)
    except (SyntaxError, UnicodeDecodeError) as exc:
        raise SyntaxFaultError(str(exc)) from exc


def lines_before(source: bytes) -> tuple[int, ...]:
    """Return how many lines to add to the line numbers in each chunk of a file.

    Raises:
        SyntaxFaultError: The file does not parse.
    """
    chunks, lines = cut(source), source.count(b"\n")
    # A later chunk starts with a line that repeats the file's imports from `__future__`.
    repeated = 1 if len(chunks) > 1 and _future(chunks[0]) else 0
    before: list[int] = []
    at = 0
    for i, chunk in enumerate(chunks):
        if i and chunk.count("\n") == lines:
            before.append(0)  # empty lines replace the text before the rest of the file
            break
        extra = repeated if i else 0
        before.append(at - extra)
        at += chunk.count("\n") - extra
    return tuple(before)


def _pieces(text: str) -> list[str]:
    ends = [found.end() for found in _CUT.finditer(text)]
    if ends and "__future__" in text[ends[0] :]:
        return [text]  # such an import is invalid after the first statement
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def _chunks(text: str, pieces: list[str]) -> tuple[str, ...]:
    """Return the pieces that parse on their own, up to the first that does not, and the rest."""
    chunks: list[str] = []
    future = ""
    for i, piece in enumerate(pieces):
        if not _error(future + piece):
            chunks.append(future + piece)
            future = future if i else _future(piece)
            continue
        rest = future + "".join(pieces[i:])
        # Empty lines replace the text before it, so that an error names the right line.
        rest = "\n" * (text.count("\n") - rest.count("\n")) + rest
        if error := _error(rest):
            # Only in the whole text does the compiler find that `global` comes too late.
            raise SyntaxFaultError(*((_error(text) or error) if _GLOBAL.search(rest) else error))
        return (*chunks, rest)
    return tuple(chunks)


@lru_cache(maxsize=_CHUNKS_KEPT)
def _error(text: str) -> tuple[str, int | None] | None:
    """Return why a text is not valid Python, and in which line; `None` if it is valid."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Unlike the parser, the compiler also finds, for example, a repeated argument.
            _compile(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        problem = getattr(exc, "msg", "") or str(exc)  # without the name given to the compiler
        return problem or type(exc).__name__, getattr(exc, "lineno", None)
    return None


def _compile(text: str) -> None:
    if max(Counter(_CODE.findall(text)).values(), default=0) > _MANY_ALIKE:
        try:
            compile(_in_one_place(text), "<merged>", "exec", dont_inherit=True)
        except SyntaxError:
            pass  # it is raised again below, with the right line
        else:
            return
    compile(text, "<merged>", "exec", dont_inherit=True)


_CODE = re.compile(r"\b(?:def\s+\w+|lambda|for)\b")
_MANY_ALIKE = 1000


def _in_one_place(text: str) -> ast.Module:
    """Parse a text, and move everything in it to the same line and column.

    Otherwise CPython 3.11 takes quadratic time for functions that differ only in their
    places: their code is not equal, but has equal hashes.
    """
    tree = parse_source(text)
    for node in ast.walk(tree):
        for place in ("lineno", "end_lineno", "col_offset", "end_col_offset"):
            if hasattr(node, place):
                setattr(node, place, 1)
    return tree


def _future(text: str) -> str:
    if "__future__" not in text:
        return ""
    features = [
        alias.name
        for node in parse_chunk(text).body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        for alias in node.names
    ]
    return f"from __future__ import {', '.join(features)}\n" if features else ""


@lru_cache(maxsize=_CHUNKS_KEPT)
def _has_global(text: str) -> bool:
    return bool(_GLOBAL.search(text)) and _declares_global(parse_chunk(text))


_GLOBAL = re.compile(r"(?m)(?:^|[:;])[ \t\f]*global\b")


def _declares_global(node: ast.AST) -> bool:
    return isinstance(node, ast.Global) or any(
        _declares_global(child)
        for child in ast.iter_child_nodes(node)
        if not isinstance(child, ast.expr | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    )


@frozen
class Facts:
    """The names that a file, or some of its chunks, defines, binds and uses.

    Attributes:
        defined: The unqualified names of the functions and classes.
        used: The names used as globals.
        bound: The names bound as globals.
        members: The names that classes bind.
        has_star: Whether there is a star import, which may bind any name.
    """

    defined: set[str]
    used: set[str]
    bound: set[str]
    members: set[str]
    has_star: bool

    @classmethod
    def of(cls, chunks: Iterable[str]) -> "Facts":
        """Add up the facts of the chunks."""
        each = [_facts(chunk) for chunk in chunks]
        return cls(
            defined=set().union(*(facts.defined for facts in each)),
            used=set().union(*(facts.used for facts in each)),
            bound=set().union(*(facts.bound for facts in each)),
            members=set().union(*(facts.members for facts in each)),
            has_star=any(facts.has_star for facts in each),
        )

    @property
    def unbound(self) -> set[str]:
        """The names used as globals that nothing binds."""
        return set() if self.has_star else self.used - self.bound - _ALWAYS_BOUND

    @property
    def known(self) -> set[str]:
        """The names that attributes may have."""
        return self.defined | self.bound | self.members


@lru_cache(maxsize=_CHUNKS_KEPT)
def _facts(chunk: str) -> Facts:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = symtable.symtable(chunk, "<merged>", "exec")
    facts = Facts(set(), set(), set(), set(), bool(_STAR.search(chunk)))
    _collect(table, facts, is_module=True)
    return facts


_STAR = re.compile(r"(?m)^from \S+ import \*")


def _collect(table: symtable.SymbolTable, facts: Facts, *, is_module: bool = False) -> None:
    is_class = table.get_type() == "class"
    # `get_symbols` would search all inner scopes for each name, which takes quadratic time.
    for name, flags in table._table.symbols.items():  # type: ignore[attr-defined] # noqa: SLF001
        symbol = symtable.Symbol(name, flags)
        if symbol.is_referenced() and (is_module or symbol.is_global()):
            facts.used.add(name)
        if symbol.is_assigned() or symbol.is_imported():
            if is_module or symbol.is_declared_global():
                facts.bound.add(name)
            elif is_class:
                facts.members.add(name)
    for child in table.get_children():
        if child.get_type() in {"function", "class"} and child.get_name() not in _NAMELESS:
            facts.defined.add(child.get_name())
        _collect(child, facts)


_NAMELESS = frozenset({"lambda", "genexpr", "listcomp", "setcomp", "dictcomp"})


def attributes_of(chunks: Iterable[str]) -> tuple[set[str], set[str]]:
    """Return the names of the attributes that chunks read, and those that they set."""
    each = [_attributes(chunk) for chunk in chunks]
    return set().union(*(read for read, _ in each)), set().union(*(stored for _, stored in each))


@lru_cache(maxsize=_CHUNKS_KEPT)
def _attributes(chunk: str) -> tuple[set[str], set[str]]:
    read, stored = set[str](), set[str]()
    for node in ast.walk(parse_chunk(chunk)):
        if isinstance(node, ast.Attribute):
            (read if isinstance(node.ctx, ast.Load) else stored).add(node.attr)
    return read, stored


def parse_chunk(text: str) -> ast.Module:
    """Parse a chunk; its warnings concern only its author."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return parse_source(text)


_LOCK = Lock()


def parse_source(source: str | bytes) -> ast.Module:
    """Do what `ast.parse` does; other threads wait."""
    with _LOCK:
        return ast.parse(source)


@frozen
class NodeNames:
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


def names_of(nodes: Iterable[ast.AST | None]) -> NodeNames:
    """Return the names that nodes read and bind in their own scope."""
    found = NodeNames()
    stack = [node for node in nodes if node]
    while stack:
        node = stack.pop()
        found.binds.update(bound_by(node))
        stack += _executed(node, found)
    return found


def _executed(node: ast.AST, found: NodeNames) -> Iterable[ast.AST]:
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


def _executed_at_definition(node: Function | ast.Lambda) -> list[ast.expr]:
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

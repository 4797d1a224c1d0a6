"""Cuts a file into its functions, the heads of its classes, and its variables."""

import ast
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from attrs import field, frozen

from cooperbench_eval.languages.files import GRAMMARS, PYTHON
from cooperbench_eval.languages.python.facts import parse_source
from cooperbench_eval.languages.readers.grammars import parse_soundly
from cooperbench_eval.languages.scopes.definitions import definitions
from cooperbench_eval.languages.tree import StructureError

_CLASSES = frozenset(
    {"abstract_class_declaration", "class_declaration", "internal_module", "module", "trait_item"}
)
_MOST_NAMES = 2_000_000
"""How long the names of a file may be together; in long classes they repeat a long text."""


@frozen(kw_only=True)
class Function:
    """A function, method, class head or top-level variable of a file.

    Attributes:
        name: Its qualified name; a repeated one ends with its number, as in `f (2)`.
        first: Its first line, decorators included, counted from 1.
        last: Its last line.
        text: These lines.
    """

    name: str
    first: int
    last: int
    text: bytes = field(repr=False)

    @property
    def word(self) -> str:
        """The name under which it is used: that of the class for a constructor."""
        *scopes, last = self.name.partition(" ")[0].split(".")
        return scopes[-1] if scopes and last in {"__init__", "__new__", "constructor"} else last


class _Span(NamedTuple):
    """The lines of a definition, and whether other definitions in it are its members."""

    name: str
    first: int
    last: int
    has_members: bool


class UnreadableError(Exception):
    """A file does not parse, or its language is unknown or has no installed grammar."""


def is_known(path: str) -> bool:
    """Tell whether a file is in a language whose functions can be found."""
    suffix = PurePosixPath(path).suffix
    return suffix in PYTHON or suffix in GRAMMARS


def functions(path: str, source: bytes | None) -> Mapping[str, Function]:
    """Return the functions of a file by name, in its order; none if the file is absent.

    A function within a function is part of it.

    Raises:
        UnreadableError: The file cannot be read.
    """
    if source is None:
        return {}
    spans = sorted(_few(_spans(path, source)), key=lambda span: (span.first, -span.last))
    lines = source.splitlines(keepends=True)
    found: dict[str, Function] = {}
    counts: Counter[str] = Counter()
    for span in _cut(spans):
        counts[span.name] += 1
        number = counts[span.name]
        name = span.name if number == 1 else f"{span.name} ({number})"
        text = b"".join(lines[span.first - 1 : span.last])
        found[name] = Function(name=name, first=span.first, last=span.last, text=text)
    return found


def _few(spans: Iterable[_Span]) -> Iterator[_Span]:
    length = 0
    for span in spans:
        length += len(span.name)
        if length > _MOST_NAMES:
            raise UnreadableError("too many names")
        yield span


def _cut(spans: Iterable[_Span]) -> Iterator[_Span]:
    """Leave out what is in a function, and end each class before its first member."""
    class_: _Span | None = None
    end = 0
    for span in spans:
        if class_ is not None:
            last = min(class_.last, span.first - 1)
            if last >= class_.first:
                yield _Span(class_.name, class_.first, last, has_members=True)
            class_ = None
        if span.first <= end:
            continue
        if span.has_members:
            class_ = span
        else:
            yield span
            end = span.last
    if class_ is not None:
        yield class_


def _spans(path: str, source: bytes) -> Iterator[_Span]:
    suffix = PurePosixPath(path).suffix
    grammar = GRAMMARS.get(suffix)
    if suffix in PYTHON:
        yield from _python(source)
    elif grammar is not None:
        try:
            root = parse_soundly(grammar, source)
        except StructureError as exc:
            raise UnreadableError(str(exc)) from exc
        for name, node in definitions(root, source):
            if "{" not in name:  # a field
                first, last = node.start_point[0] + 1, node.end_point[0] + 1
                yield _Span(name, first, last, has_members=node.type in _CLASSES)
    else:
        raise UnreadableError(path)


def _python(source: bytes) -> Iterator[_Span]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parse_source(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        raise UnreadableError(str(exc)) from exc
    stack: list[tuple[ast.AST, str]] = [(tree, "")]
    while stack:
        parent, scope = stack.pop()
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, ast.Assign | ast.AnnAssign) and not scope:
                if name := _variable(node):
                    last = node.end_lineno or node.lineno
                    yield _Span(name, node.lineno, last, has_members=False)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                is_class = isinstance(node, ast.ClassDef)
                last = node.end_lineno or node.lineno
                yield _Span(f"{scope}{node.name}", first, last, has_members=is_class)
                if is_class:
                    stack.append((node, f"{scope}{node.name}."))
            elif not isinstance(node, ast.expr):
                stack.append((node, scope))


def _variable(node: ast.stmt) -> str:
    """Return the variable that a statement sets; empty if it sets none, or several."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
    return ""

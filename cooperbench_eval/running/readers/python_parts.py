"""Splits Python files, which hostile code may have written, into tests and what tests use."""

import ast
import warnings
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha1

from attrs import evolve

from cooperbench_eval.languages.readers.python_syntax import parse_source
from cooperbench_eval.running.readers.protocol import Part, remembered


def parse_python(data: bytes) -> list[ast.stmt] | None:
    """Return the statements of a file; `None` if it cannot be parsed."""
    try:
        with warnings.catch_warnings():  # a warning about a strange escape is not for our host
            warnings.simplefilter("ignore")
            return parse_source(data).body
    # Parsing deep or strange text may fail in each of these ways.
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


PASSED_ON = "*"
"""Begins the name of a test in a class without base classes; other classes may inherit it."""

# Inherited tests are listed for each class, so their number can grow fast.
_PART_LIMIT = 50_000
# Functions that run before or after other tests.
_SURROUNDINGS = frozenset(
    {
        *("setUp", "tearDown", "setUpClass", "tearDownClass", "asyncSetUp", "asyncTearDown"),
        *("setUpModule", "tearDownModule", "setup", "teardown", "load_tests"),
        *("setup_module", "teardown_module", "setup_function", "teardown_function"),
        *("setup_class", "teardown_class", "setup_method", "teardown_method"),
        *("pytestmark", "__test__", "__init__", "__new__", "pytest_generate_tests"),
    }
)
Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef


def digest_of(node: ast.AST, text: bytes) -> str:
    """Return a digest of a node that ignores layout and comments.

    The lines of the text stand for a node that is nested too deeply.
    """
    try:
        data = ast.dump(node).encode(errors="surrogatepass")
    except RecursionError:
        lines = text.splitlines()
        first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", len(lines))
        data = b"\n".join(lines[first - 1 : last])
    return sha1(data, usedforsecurity=False).hexdigest()


@remembered
def python_parts(data: bytes) -> Sequence[Part] | None:
    """Split a file; `None` if it cannot be parsed, is nested too deeply or has too many tests.

    Every function that is not a fixture counts as a test, whatever its name. A test of a
    class is named `Class::function`, also in each class of the file that inherits it.
    If the class has no base class, the test is listed again, with `PASSED_ON` before its name.
    """
    body = parse_python(data)
    if body is None:
        return None
    splitter = _Splitter(data)
    try:
        found = list(splitter.split(body, ()))
    except RecursionError:
        return None
    for part in splitter.inherited():
        found.append(part)
        if len(found) > _PART_LIMIT:
            return None
    return found


class _Splitter:
    """Splits one file, and remembers its classes."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._bases: dict[str, list[str]] = {}
        self._own: dict[str, dict[str, Part]] = {}

    def split(self, body: Iterable[ast.stmt], classes: tuple[str, ...]) -> Iterator[Part]:
        """Yield the parts of statements that are in the given classes, the outer one first."""
        for node in body:
            if isinstance(node, Function):
                yield self._function(node, classes)
            elif isinstance(node, ast.ClassDef):
                yield from self._class(node, classes)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                yield from _imports(node)
            elif any(isinstance(each, Definition) for each in ast.walk(node)):
                yield from self._block(node, classes)
            elif not _is_idle(node):
                yield self._statement(node, classes)

    def inherited(self) -> Iterator[Part]:
        """Yield the tests that classes inherit from others in the file, or may pass on."""
        for name, own in self._own.items():
            if not set(self._bases[name]) - {"object"}:
                for function, part in own.items():
                    yield evolve(part, test=f"{PASSED_ON}{name}::{function}", binds=frozenset())
            for base in self._above(name):
                for function, part in self._own[base].items():
                    if function in own:
                        continue
                    uses = part.uses | {name}
                    yield evolve(part, test=f"{name}::{function}", binds=frozenset(), uses=uses)

    def _above(self, name: str) -> list[str]:
        """Return the classes of the file that a class is derived from."""
        found: dict[str, None] = {}
        waiting = list(self._bases[name])
        while waiting:
            base = waiting.pop()
            if base in self._own and base not in found and base != name:
                found[base] = None
                waiting += self._bases[base]
        return list(found)

    def _function(self, node: Function, classes: tuple[str, ...]) -> Part:
        part = self._part(node, {node.name}, classes)
        is_fixture = any("fixture" in _called(each) for each in node.decorator_list)
        if node.name in _SURROUNDINGS or (is_fixture and "autouse" in part.uses):
            return evolve(part, binds=frozenset(classes[-1:]))
        if is_fixture:
            return part
        name = "::".join((*classes, node.name))
        part = evolve(part, test=name, uses=part.uses | {*classes, node.name})
        if classes:
            self._own.setdefault("::".join(classes), {})[node.name] = part
        return part

    def _class(self, node: ast.ClassDef, classes: tuple[str, ...]) -> Iterator[Part]:
        name = "::".join((*classes, node.name))
        self._bases[name] = [base for base in map(_called, node.bases) if base]
        self._own.setdefault(name, {})
        keywords = [each.value for each in node.keywords]
        heading = ast.Tuple(elts=[*node.decorator_list, *node.bases, *keywords])
        yield self._part(heading, {node.name}, classes)
        yield from self.split(node.body, (*classes, node.name))

    def _block(self, node: ast.stmt, classes: tuple[str, ...]) -> Iterator[Part]:
        """Yield the parts of an `if`, a loop, a `with` or a `try`, and one for its conditions."""
        heads, bodies = _heads_and_bodies(node)
        parts = list(self.split(bodies, classes))
        yield from parts
        binds = frozenset(name for part in parts for name in part.binds)
        yield self._part(ast.Tuple(elts=heads), binds, classes)

    def _statement(self, node: ast.stmt, classes: tuple[str, ...]) -> Part:
        # Classes in other files may use the attributes of this one.
        part = self._part(node, bound_names(node) | set(classes[-1:]), classes)
        # A function may be made by a call.
        is_made = isinstance(node, ast.Assign) and isinstance(node.value, ast.Call | ast.Lambda)
        names = bound_names(node)
        if is_made and len(names) == 1:
            return evolve(part, test="::".join((*classes, *names)))
        return part

    def _part(self, node: ast.AST, binds: Iterable[str], classes: tuple[str, ...]) -> Part:
        names = frozenset(binds)
        # What surrounds a class's tests concerns all of them.
        if not names or names & _SURROUNDINGS:
            names = frozenset(classes[-1:])
        return Part(text=digest_of(node, self._text), binds=names, uses=_words(node))


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[Part]:
    source = f"{node.level} {node.module} " if isinstance(node, ast.ImportFrom) else ""
    for each in node.names:
        name = each.asname or each.name.partition(".")[0]
        yield Part(text=f"import {source}{each.name}", binds=frozenset({name}))


def _is_idle(node: ast.stmt) -> bool:
    """Whether a statement is a docstring, or does nothing when the file is imported."""
    if isinstance(node, ast.If):
        words = _words(node.test)
        return "__name__" in words and "__main__" in words
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def _heads_and_bodies(node: ast.stmt) -> tuple[list[ast.expr], list[ast.stmt]]:
    heads: list[ast.expr] = []
    bodies: list[ast.stmt] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ExceptHandler | ast.match_case):
            bodies += child.body
        elif isinstance(child, ast.stmt):
            bodies.append(child)
        elif isinstance(child, ast.expr):
            heads.append(child)
        elif isinstance(child, ast.withitem):
            heads.append(child.context_expr)
    return heads, bodies


def bound_names(node: ast.AST) -> frozenset[str]:
    """Return the names that a statement assigns to, deletes or imports."""
    names = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
            names.add(each.id)
        elif isinstance(each, ast.alias):
            names.add(each.asname or each.name.partition(".")[0])
    return frozenset(names)


def _words(node: ast.AST) -> frozenset[str]:
    """Return the names in a node, also those in strings: a fixture can be named by one."""
    words = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            words.add(each.id)
        elif isinstance(each, ast.Attribute):
            words.add(each.attr)
        elif isinstance(each, ast.arg | ast.keyword):
            words.add(each.arg or "")
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            words.add(each.value)
    return frozenset(word for word in words if word.isidentifier())


def _called(node: ast.expr) -> str:
    if isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""

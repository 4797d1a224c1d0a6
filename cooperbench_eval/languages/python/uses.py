"""Reads what a Python file defines, imports and uses.

A file is read in the chunks into which `cut` divides it, and what a chunk contains is
remembered: the versions of a file share most of their chunks.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TypeVar

from attrs import evolve, field, frozen

from cooperbench_eval.languages.model import Arguments, Definition, Import, Signature, Source, Use
from cooperbench_eval.languages.python.facts import (
    Function,
    attributes_of,
    bound_by,
    cut,
    lines_before,
    parse_chunk,
)
from cooperbench_eval.languages.tree import SyntaxFaultError

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

    def inner(self, node: Function | ast.ClassDef) -> "_Block":
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


def _function(node: Function, block: _Block) -> Definition:
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


def _digest(node: Function | ast.ClassDef, lines: Sequence[str]) -> int:
    """Return a number that definitions with the same lines below their docstring share."""
    first = node.body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    start = first.end_lineno if is_text else first.lineno - 1
    return hash(tuple(line.strip() for line in lines[start : node.end_lineno]))


def _assigned(node: ast.stmt, scope: str) -> Iterator[Definition]:
    """Yield the names that a statement binds without defining a function or class."""
    children = ast.iter_child_nodes(node)
    stack = [each.pattern if isinstance(each, ast.match_case) else each for each in children]
    while stack:
        each = stack.pop()
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield Definition(name=scope + each.id, line=each.lineno)
        elif isinstance(each, ast.expr | ast.withitem | ast.pattern):
            if isinstance(each, ast.MatchAs | ast.MatchStar) and each.name:
                yield Definition(name=scope + each.name, line=each.lineno)
            if not isinstance(each, _OWN_SCOPE):
                stack += ast.iter_child_nodes(each)


def imports_of(
    node: ast.Import | ast.ImportFrom, *, is_sole: bool = False, is_global: bool = False
) -> Iterator[Import]:
    """Yield the names that a statement imports; those from `__future__` are not names."""
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            module, attribute = "." * node.level + (node.module or ""), alias.name
            name = alias.asname or alias.name
        else:
            attribute = ""
            # `import a.b` binds `a`, and `import a.b as c` binds the module `a.b`.
            module = alias.name if alias.asname else alias.name.partition(".")[0]
            name = alias.asname or module
        yield Import(
            name=name,
            module=module,
            attribute=attribute,
            line=node.lineno,
            is_sole=is_sole,
            is_global=is_global,
        )


_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

_OWN_SCOPE = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
# Most nodes are none of these, and matching a node against a dozen patterns is slow.
_MATCHED = frozenset((*_OWN_SCOPE, ast.Call, ast.Name, ast.Attribute, ast.Import, ast.ImportFrom))
_BINDING = frozenset(
    (
        *(*_OWN_SCOPE, ast.Name, ast.Import, ast.ImportFrom, ast.ExceptHandler),
        *(ast.MatchAs, ast.MatchStar, ast.MatchMapping),
    )
)


_Receiver = tuple[str, bool]
"""The class that the first parameter of a method belongs to, and whether it is an instance."""
_Bindings = dict[str, Import | _Receiver | None]
"""The names that a scope binds, each with its import or receiver if it is known to be one."""


@frozen(eq=False)
class _Scope:
    """A scope with the names that it binds.

    Attributes:
        names: The names.
        outer: The scope around it; `None` for the file itself.
        owner: The qualified name of the class, if it is one.
        prefix: The qualified name of what is defined in it, up to its last dot.
    """

    names: _Bindings = field(factory=dict)
    outer: "_Scope | None" = None
    owner: str = ""
    prefix: str = ""

    def find(self, name: str) -> tuple[bool, Import | _Receiver | None]:
        """Return whether a scope other than the file binds the name, and to what."""
        scope: _Scope | None = self
        while scope is not None and scope.outer is not None:
            if name in scope.names and (not scope.owner or scope is self):
                return True, scope.names[name]
            scope = scope.outer
        return False, None


@lru_cache(maxsize=8192)
def uses_of(chunk: str) -> tuple[Use, ...]:
    """Return the uses of names and attributes in a chunk that parses, in no particular order."""
    uses: list[Use] = []
    stack: list[tuple[ast.AST, _Scope]] = [(parse_chunk(chunk), _Scope())]
    while stack:
        node, scope = stack.pop()
        if type(node) not in _MATCHED:
            stack += [(each, scope) for each in _children(node)]
            continue
        match node:
            case ast.Call(func=ast.Name() | ast.Attribute()):
                rest = _read(node.func, scope, uses, node)
                stack += ((each, scope) for each in (*rest, *node.args, *node.keywords))
            case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()):
                stack += ((each, scope) for each in _read(node, scope, uses))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                stack += _enter_function(node, scope)
            case ast.ClassDef():
                stack += _enter_class(node, scope)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                inner = _Scope(dict.fromkeys(_targets(node)), scope, prefix=scope.prefix)
                stack += [(each, inner) for each in _children(node)]
            case ast.Import() | ast.ImportFrom():
                uses += _imported(node)
            case _:
                stack += [(each, scope) for each in _children(node)]
    return tuple(uses)


def _children(node: ast.AST) -> list[ast.AST]:
    """Return the child nodes except expression contexts; twice as fast as `iter_child_nodes`."""
    found: list[ast.AST] = []
    for value in vars(node).values():
        if isinstance(value, list):
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
            found.append(value)
    return found


def _read(
    node: ast.expr, scope: _Scope, uses: list[Use], call: ast.Call | None = None
) -> Iterable[ast.expr]:
    """Add the use of a name and its attributes; return the expression before them, if any."""
    names: list[str] = []
    root = node
    while isinstance(root, ast.Attribute):
        names.append(root.attr)
        root = root.value
    if isinstance(root, ast.Call) and isinstance(root.func, ast.Name) and root.func.id == "super":
        return ()  # the class that defines the attribute is unknown
    names.append(root.id if isinstance(root, ast.Name) else "")
    is_local, known = scope.find(names[-1])
    owner, is_instance = known if isinstance(known, tuple) else ("", False)
    via = known if isinstance(known, Import) else None
    if is_local and known is None:
        names[-1] = ""
    if len(names) > 1 or names[0]:
        uses.append(
            Use(
                chain=tuple(reversed(names)),
                line=node.lineno,
                end_line=(call or node).end_lineno or node.lineno,
                call=_arguments(call) if call else None,
                owner=owner,
                is_instance=is_instance,
                via=via,
            )
        )
    return () if isinstance(root, ast.Name) else (root,)


def _arguments(call: ast.Call) -> Arguments | None:
    """Return the arguments of a call; `None` if it unpacks any."""
    if any(isinstance(each, ast.Starred) for each in call.args):
        return None
    keywords = [each.arg for each in call.keywords]
    if None in keywords:
        return None
    return Arguments(
        positional=len(call.args), keywords=frozenset(each for each in keywords if each)
    )


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[Use]:
    """Yield a use of what each import takes; `import a.b` takes all of `a.b`."""
    end = node.end_lineno or node.lineno
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
        taken = [Import(name=name, module=name, line=node.lineno) for name in names]
    else:
        taken = [found for found in imports_of(node) if found.name != "*"]
    for found in taken:
        yield Use(chain=(found.name,), line=node.lineno, end_line=end, via=found)


def _enter_function(node: Function | ast.Lambda, scope: _Scope) -> Iterator[tuple[ast.AST, _Scope]]:
    args = node.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    every += [each for each in (args.vararg, args.kwarg) if each]
    names: _Bindings = dict.fromkeys(each.arg for each in every)
    outside = [*args.defaults, *args.kw_defaults]
    prefix = scope.prefix
    body: Sequence[ast.AST]
    if isinstance(node, ast.Lambda):
        body = [node.body]
    else:
        body, prefix = node.body, f"{scope.prefix}{node.name}."
        outside += (*node.decorator_list, node.returns, *(each.annotation for each in every))
        bound = _bound(node.body)
        names = bound | names | (_receiver(node, scope.owner, bound) if scope.owner else {})
    inner = _Scope(names, scope, prefix=prefix)
    yield from ((each, scope) for each in outside if each is not None)
    yield from ((statement, inner) for statement in body)


def _receiver(node: Function, owner: str, bound: _Bindings) -> _Bindings:
    """Return what the first parameter of a method stands for, unless the body binds it again."""
    words = {each.id for each in node.decorator_list if isinstance(each, ast.Name)}
    first = (*node.args.posonlyargs, *node.args.args)[:1]
    if not first or "staticmethod" in words or first[0].arg in bound:
        return {}
    is_class = "classmethod" in words or node.name in {"__new__", "__init_subclass__"}
    return {first[0].arg: (owner, not is_class)}


def _enter_class(node: ast.ClassDef, scope: _Scope) -> Iterator[tuple[ast.AST, _Scope]]:
    for outside in (*node.decorator_list, *node.bases, *node.keywords):
        yield outside, scope
    owner = f"{scope.prefix}{node.name}"
    inner = _Scope(_bound(node.body), scope, owner=owner, prefix=f"{owner}.")
    for statement in node.body:
        yield statement, inner


def _targets(node: _Comprehension) -> Iterator[str]:
    for generator in node.generators:
        for each in ast.walk(generator.target):
            if isinstance(each, ast.Name):
                yield each.id


def _bound(body: Iterable[ast.stmt]) -> _Bindings:
    """Return the names that a function's or class's own statements bind."""
    names: _Bindings = {}
    elsewhere: set[str] = set()
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if type(node) in _BINDING:
            for name, known in _binds(node):
                names[name] = None if name in names else known
        if isinstance(node, ast.Global | ast.Nonlocal):
            elsewhere.update(node.names)
        elif not isinstance(node, _OWN_SCOPE):
            stack += _children(node)
    return {name: known for name, known in names.items() if name not in elsewhere}


def _binds(node: ast.AST) -> Iterator[tuple[str, Import | None]]:
    """Yield the names that a node itself binds, with the imports among them."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((found.name, found) for found in imports_of(node))
    elif isinstance(node, _Comprehension):
        walruses = (each for each in ast.walk(node) if isinstance(each, ast.NamedExpr))
        yield from ((each.target.id, None) for each in walruses)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
        yield node.id, None
    elif not isinstance(node, ast.alias):  # its statement binds its name
        yield from ((name, None) for name in bound_by(node))

"""The scopes of Python."""

import builtins
import io
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import ClassVar

from cooperbench_eval.languages.model import GLOBAL, Declaration, Import, Signature
from cooperbench_eval.languages.readers.grammars import COMMENTS, SyntaxNode, by_rule, rule_names
from cooperbench_eval.languages.scopes.blocks import BlockRules
from cooperbench_eval.languages.scopes.nodes import fields, text_of, unquoted, words
from cooperbench_eval.languages.scopes.order import CLAUSES, Event
from cooperbench_eval.languages.scopes.scope import Scope
from cooperbench_eval.languages.scopes.sharing import Sharing
from cooperbench_eval.languages.scopes.walk import Walk

_VARIABLE, _ALONE, _DECORATED = "variable", "definition", "decorated"
"""The kinds of declarations that may always, never, or perhaps not share a name."""
_CLAUSES = CLAUSES | {"case_clause"}
_LITERALS = rule_names("concatenated_string false float integer none string true")
_SPLATS = rule_names("dictionary_splat_pattern list_splat_pattern")


class PythonWalk(Walk):
    """One pass over statements of Python."""

    uses = rule_names("identifier")
    paths: ClassVar = {"attribute": ("object", "attribute")}
    calls: ClassVar = {"call": ("function", "arguments")}
    assignments = rule_names("assignment augmented_assignment for_statement")
    known = frozenset(dir(builtins)) | rule_names(
        "__annotations__ __builtins__ __file__ __name__ __path__ __class__ __module__ __qualname__"
    )
    common = frozenset(
        name
        for kind in (*vars(builtins).values(), *vars(io).values())
        if isinstance(kind, type)
        for name in dir(kind)
    )
    # Equal imports and equal constants may be repeated.
    sharing = Sharing(
        with_all=frozenset({_VARIABLE, GLOBAL}),
        alone=frozenset({_ALONE, _DECORATED}),
        uncertain=frozenset({_DECORATED}),
    )
    hides_members = True
    is_ordered = True
    opaque = frozenset({"super"})
    blocks = BlockRules(
        leaving=rule_names("return_statement raise_statement continue_statement break_statement"),
        ifs=rule_names("if_statement"),
        loops=rule_names("for_statement while_statement with_statement try_statement"),
        tries=rule_names("try_statement"),
        matches=rule_names("match_statement"),
    )

    def __init__(self, nodes: Sequence[SyntaxNode], owner: str = "") -> None:
        """Prepare to read *nodes*, as any walk does."""
        super().__init__(nodes, owner)
        self._comprehensions: set[Scope] = set()

    def _bind(
        self,
        scope: Scope,
        patterns: Iterable[SyntaxNode],
        kind: str = _VARIABLE,
        *,
        is_used: bool = False,
        is_set: bool = True,
    ) -> None:
        """Declare the names in targets; attributes and items are read as expressions."""
        stack = list(patterns)
        while stack:
            node = stack.pop()
            if node.type == "identifier":
                shown = kind if text_of(node).strip("_") else _VARIABLE
                self.declare(scope, node, shown, is_used=is_used, is_set=is_set)
                if not scope.is_local:
                    self.define(scope, text_of(node), self._statement(node), line=self.line(node))
            elif node.type not in {"attribute", "subscript"}:
                stack += node.named_children

    def _statement(self, node: SyntaxNode) -> SyntaxNode:
        """Return the assignment that a target belongs to, with all that it sets."""
        around = node.parent
        is_sole = around is not None and around.type == "assignment"
        return around.parent or around if is_sole and around is not None else node

    def begin(self, nodes: Sequence[SyntaxNode]) -> None:
        """Begin with the nodes, or only with the body of a method, whose class has the rest."""
        if not self.owner:
            super().begin(nodes)
            return
        scope = Scope(self.file, self.owner, has_members=True)
        node = nodes[0].child_by_field_name("definition") or nodes[0]
        outer = self._generic(node, scope)
        inner = self.open(outer, text_of(fields(node, "name")[0]), is_function=True)
        self._parameters(node, outer, inner, self._decorators(node, scope))
        self._stack.clear()
        self._clashes.clear()
        self._body(node, inner)

    def _function(self, node: SyntaxNode, scope: Scope) -> None:
        decorators = self._decorators(node, scope)
        for name in fields(node, "name"):
            shown = text_of(name)
            self.declare(scope, name, _kind(shown, decorators))
            outer = self._generic(node, scope)
            inner = self.open(outer, shown, is_function=True)
            signature = self._parameters(
                node, outer, inner, decorators if scope.has_members else None
            )
            is_method = scope.has_members and shown != "__new__"
            is_plain = all(each in _TRANSPARENT for each in decorators)
            is_plain = is_plain and (shown != "__init__" or _is_made_plainly(node))
            if is_method and "classmethod" in decorators:
                signature = signature.bound()
            self.define(
                scope,
                shown,
                _decorated(node),
                line=self.line(name),
                is_function=True,
                signature=signature if is_plain else None,
                takes_instance=is_method and not _STATIC.intersection(decorators),
                body=_after_docstring(node),
            )
            self.push(fields(node, "return_type"), outer.later())
            if scope.has_members and scope.parent is self.file:
                self.apart.append((scope.label, _decorated(node)))
            else:
                self._body(node, inner)

    def _body(self, node: SyntaxNode, inner: Scope) -> None:
        self.push(fields(node, "body"), inner)
        self.functions += ((inner, body) for body in fields(node, "body"))

    def _generic(self, node: SyntaxNode, scope: Scope) -> Scope:
        """Return the scope of a definition's type parameters, or the one around it."""
        given = fields(node, "type_parameters")
        if not given:
            return scope
        outer = self.open(scope)
        for each in _identifiers(given):
            outer.add(text_of(each), _PARAMETER)
        self.push(given, outer)
        return outer

    def _decorators(self, node: SyntaxNode, scope: Scope) -> list[str]:
        """Return the dotted names of decorators without arguments; `?` for one without a name."""
        around = _decorated(node)
        found = [each for each in around.children if each.type == "decorator"]
        self.once(scope, (("@" + _shown(each.named_children[0]), each) for each in found))
        return [_dotted(each.named_children[0]) for each in found]

    def _parameters(
        self, node: SyntaxNode, outer: Scope, inner: Scope, decorators: list[str] | None
    ) -> Signature:
        """Declare the parameters; their annotations and defaults are read in the outer scope."""
        positional: list[str] = []
        keywords: dict[str, bool] = {}
        unnamed = required = 0
        takes_more = takes_any = is_after_star = False
        for each in [one for found in fields(node, "parameters") for one in found.named_children]:
            self.push(fields(each, "value"), outer)
            self.push(fields(each, "type"), outer.later())
            if each.type in {"keyword_separator", "positional_separator"}:
                is_after_star = each.type == "keyword_separator"
                unnamed = unnamed if is_after_star else len(positional)
                continue
            inside = () if each.type in _SPLATS else (*fields(each, "name"), *each.named_children)
            target = next(iter(inside), each)
            name = next(_identifiers([target]), None)
            if name is None or each.type in COMMENTS:
                continue
            origin = None
            if decorators is not None and not positional and "staticmethod" not in decorators:
                origin = outer.owner, not _is_for_class(inner.label, decorators)
            self.declare(inner, name, _ALONE, origin=origin)
            if target.type in _SPLATS:
                takes_any = takes_any or target.type == "dictionary_splat_pattern"
                takes_more = takes_more or target.type == "list_splat_pattern"
                is_after_star = True
            elif is_after_star:
                keywords[text_of(name)] = not fields(each, "value")
            else:
                positional.append(text_of(name))
                required = required if fields(each, "value") else len(positional)
        return Signature(
            positional=tuple(positional),
            unnamed=unnamed,
            required=required,
            keywords=keywords,
            takes_more=takes_more,
            takes_any_keyword=takes_any,
        )

    def _lambda(self, node: SyntaxNode, scope: Scope) -> None:
        inner = self.open(scope, is_function=True)
        self._parameters(node, scope, inner, None)
        self.push(fields(node, "body"), inner)

    def _class(self, node: SyntaxNode, scope: Scope) -> None:
        decorators = self._decorators(node, scope)
        for name in fields(node, "name"):
            shown = text_of(name)
            self.declare(scope, name, _kind(shown, decorators))
            outer = self._generic(node, scope)
            bases = [
                each for found in fields(node, "superclasses") for each in found.named_children
            ]
            inner = self.open(outer, shown, has_members=True)
            self.once(inner, ((f"base {_shown(each)}", each) for each in bases))
            self.define(
                scope,
                shown,
                _decorated(node),
                line=self.line(name),
                is_class=True,
                bases=tuple(_base(each) for each in bases if _base(each) != "object"),
                body=_after_docstring(node),
            )
            self.push(bases, outer)
            self.push(fields(node, "body"), inner)

    def _comprehension(self, node: SyntaxNode, scope: Scope) -> None:
        """Read a comprehension; only its first iterable is read in the scope around it."""
        # A generator is executed later.
        inner = self.open(scope, is_function=node.type == "generator_expression")
        self._comprehensions.add(inner)
        clauses = [each for each in node.children if each.type == "for_in_clause"]
        first = fields(clauses[0], "right") if clauses else []
        for each in clauses:
            self._bind(inner, fields(each, "left"))
        self.push(first, scope)
        taken = {each.id for each in first}
        for each in node.children:
            parts = each.children if each.type == "for_in_clause" else [each]
            self.push((part for part in parts if part.id not in taken), inner)

    def _walrus(self, node: SyntaxNode, scope: Scope) -> None:
        home = scope
        while home.parent is not None and home in self._comprehensions:
            home = home.parent
        self._bind(home, fields(node, "name"), is_set=False)
        for each in fields(node, "name"):
            event = Event(each.start_byte, text_of(each), binds=True, is_inner=True)
            home.events.append(event)
        self.push(fields(node, "value"), scope)

    def _assignment(self, node: SyntaxNode, scope: Scope) -> None:
        self.set_attributes(fields(node, "left"))
        left, value = fields(node, "left"), fields(node, "right")
        kind = _VARIABLE
        if fields(node, "type"):
            kind = _ALONE
        elif value and len(left) == 1 and left[0].type == "identifier":
            name = text_of(left[0])
            is_constant = scope.has_members or (scope.parent is None and name.isupper())
            if is_constant and name not in map(text_of, _identifiers(value)):
                kind = f"= {words(value[0]).decode('utf-8', 'replace')}"
        self._bind(scope, left, kind, is_set=bool(value))
        self.push((*left, *value), scope)
        self.push(fields(node, "type"), scope.later())

    def _target(self, node: SyntaxNode, scope: Scope, *, role: str, is_used: bool = False) -> None:
        """Read a statement that sets the names in one of its fields."""
        self.set_attributes(fields(node, role))
        self._bind(scope, fields(node, role), is_used=is_used)
        self.push(node.children, scope)

    def _delete(self, node: SyntaxNode, scope: Scope) -> None:
        self.set_attributes(node.named_children)
        self._bind(scope, node.named_children, is_used=True)
        self.push(node.children, scope)

    def _as(self, node: SyntaxNode, scope: Scope) -> None:
        for each in fields(node, "alias"):
            self.set_attributes(each.named_children)
            self._bind(scope, each.named_children)
        self.push(node.children, scope)

    def _pattern(self, node: SyntaxNode, scope: Scope) -> None:
        """Read a pattern of a `match` statement; it binds names, and compares with dotted ones."""
        stack = node.named_children
        while stack:
            each = stack.pop()
            if each.type == "dotted_name":
                names = each.named_children
                if len(names) == 1:
                    self._bind(scope, names)
                self.push(names[:1], scope)
            elif each.type == "class_pattern":
                self.push(each.named_children[0].named_children[:1], scope)
                stack += each.named_children[1:]
            elif each.type == "keyword_pattern":
                stack += each.named_children[1:]
            elif each.type == "identifier":
                self._bind(scope, [each])
            elif each.type in _LITERALS:
                self.push([each], scope)
            else:
                stack += each.named_children

    def _import(self, node: SyntaxNode, scope: Scope) -> None:
        """Read `import a.b`, which binds `a`, or `import a.b as c`, which binds the module."""
        for each in fields(node, "name"):
            alias, path = _aliased(each)
            first = alias or path.named_children[0]
            whole = text_of(path)
            found = self.take(
                scope, node, text_of(first), whole if alias else text_of(first), taken=whole
            )
            self._declare_import(scope, first, found)

    def _import_from(self, node: SyntaxNode, scope: Scope) -> None:
        module = "".join(map(text_of, fields(node, "module_name")))
        for each in fields(node, "name"):
            alias, path = _aliased(each)
            name = alias or path
            found = self.take(scope, node, text_of(name), module, text_of(path))
            self._declare_import(scope, name, found)
        if any(each.type == "wildcard_import" for each in node.children):
            self.may_bind_any = True
            self.take(scope, node, "*", module)

    def _declare_import(self, scope: Scope, name: SyntaxNode, found: Import) -> None:
        kind = f"import {found.module} {found.attribute}"
        self.declare(scope, name, kind, origin=None if scope.parent is None else found)

    def _foreign(self, node: SyntaxNode, scope: Scope) -> None:
        """Read `global` or `nonlocal`, which makes names those of another scope."""
        is_global = node.type == "global_statement"
        for each in node.named_children:
            name = text_of(each)
            if is_global:
                scope.foreign[name] = self.file
                self.declare(self.file, each, GLOBAL)
                self.define(self.file, name, node)
            else:
                around = scope.parent
                while around is not None and around.parent is not None and not around.is_function:
                    around = around.parent
                scope.foreign[name] = around or self.file

    def _suite(self, node: SyntaxNode, scope: Scope) -> None:
        self.statements(node.children)
        self.push(node.children, scope)

    def _compound(self, node: SyntaxNode, scope: Scope) -> None:
        """Read a statement with branches, of which at most one is executed."""
        number = 0
        parts = node.children
        if node.type == "match_statement":
            parts = [
                one for each in parts for one in (each.children if each.type == "block" else [each])
            ]
        elif node.type == "for_statement":
            self.set_attributes(fields(node, "left"))
            self._bind(scope, fields(node, "left"))
        elif node.type == "try_statement":
            self.once(scope, self._caught(node))
        for each in parts:
            is_clause = each.type in _CLAUSES
            # The `else` of a loop or of a `try` is executed as well as the body.
            is_body = each.type == "else_clause" and node.type != "if_statement"
            number += is_clause and not is_body
            at = scope
            if is_clause or each.type == "block":
                at = scope.branched(node.start_byte, 0 if is_body else number)
            self.push(each.children if is_clause else [each], at)

    def _caught(self, node: SyntaxNode) -> Iterator[tuple[str, SyntaxNode]]:
        """Yield the exceptions that a statement catches."""
        for clause in node.children:
            for kind in fields(clause, "value") if clause.type.startswith("except") else ():
                caught = kind.named_children[0] if kind.type == "as_pattern" else kind
                several = caught.named_children if caught.type == "tuple" else [caught]
                yield from ((f"except {_shown(each)}", each) for each in several)

    def _dictionary(self, node: SyntaxNode, scope: Scope) -> None:
        keys = [key for each in node.named_children for key in fields(each, "key")]
        found = [key for key in keys if key.type in _LITERALS and b"{" not in (key.text or b"")]
        self.once(scope, ((f"key {unquoted(_shown(key))}", key) for key in found))
        self.push(node.children, scope)

    def _alias(self, node: SyntaxNode, scope: Scope) -> None:
        """Read `type A[T] = ...`."""
        inner = self.open(scope)
        for left in fields(node, "left"):
            first, *parameters = _identifiers([left])
            self._bind(scope, [first])
            self._bind(inner, parameters)
        self.push(fields(node, "right"), inner)

    def _first(self, node: SyntaxNode, scope: Scope) -> None:
        self.push(node.named_children[:1], scope)

    rules: ClassVar = by_rule(
        (_function, "function_definition"),
        (_class, "class_definition"),
        (_lambda, "lambda"),
        (
            _comprehension,
            """dictionary_comprehension generator_expression list_comprehension
            set_comprehension""",
        ),
        (_walrus, "named_expression"),
        (_assignment, "assignment"),
        (partial(_target, role="left", is_used=True), "augmented_assignment"),
        (_delete, "delete_statement"),
        (_as, "as_pattern"),
        (_pattern, "case_pattern"),
        (_import, "import_statement"),
        (_import_from, "import_from_statement"),
        (_foreign, "global_statement nonlocal_statement"),
        (_suite, "block"),
        (
            _compound,
            """for_statement if_statement match_statement try_statement while_statement
            with_statement""",
        ),
        (_dictionary, "dictionary"),
        (_alias, "type_alias_statement"),
        (_first, "member_type"),
        (partial(Walk.only, role="value"), "keyword_argument"),
        (Walk.only, "future_import_statement"),
    )


_PARAMETER = Declaration(_ALONE, 1)
_STATIC = frozenset({"staticmethod", "classmethod"})
_EXTENDING = frozenset({"setter", "getter", "deleter", "register", "overload", "dispatch"})
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
    *("cached_property", "dataclass", "dataclasses.dataclass", "functools.cached_property"),
    *("functools.wraps", "property", "wraps"),
}
"""Decorators with which only the last definition of a name takes effect."""


def _kind(name: str, decorators: Iterable[str]) -> str:
    """Return the kind of the declaration of a function or a class."""
    if not name.strip("_"):
        return _VARIABLE
    for each in decorators:  # some extend another definition of the same name
        if each.rpartition(".")[2] in _EXTENDING or each.partition(".")[0] == name:
            return _VARIABLE
    is_plain = all(e in _PLAIN or e.startswith(("attr.", "attrs.", "pytest.")) for e in decorators)
    return _ALONE if is_plain else _DECORATED


def _is_for_class(label: str, decorators: Iterable[str]) -> bool:
    """Whether the first parameter of a method is the class."""
    name = label.rpartition(".")[2]
    return "classmethod" in decorators or name in {"__new__", "__init_subclass__"}


def _decorated(node: SyntaxNode) -> SyntaxNode:
    """Return a definition with its decorators."""
    around = node.parent
    return around if around is not None and around.type == "decorated_definition" else node


def _is_made_plainly(constructor: SyntaxNode) -> bool:
    """Whether a call of the class calls its constructor with the same arguments."""
    body = _decorated(constructor).parent
    made = body.parent if body is not None else None
    if made is None or made.type != "class_definition" or _decorated(made) is not made:
        return False
    bases = [each for found in fields(made, "superclasses") for each in found.named_children]
    return all(each.type not in {"keyword_argument", "dictionary_splat"} for each in bases)


def _aliased(node: SyntaxNode) -> tuple[SyntaxNode | None, SyntaxNode]:
    """Return the alias of an imported name, if it has one, and the name."""
    if node.type == "aliased_import":
        return fields(node, "alias")[0], fields(node, "name")[0]
    return None, node


def _identifiers(nodes: Iterable[SyntaxNode]) -> Iterator[SyntaxNode]:
    """Yield the identifiers in nodes, in order."""
    stack = list(nodes)[::-1]
    while stack:
        node = stack.pop()
        if node.type == "identifier":
            yield node
        stack += node.named_children[::-1]


def _shown(node: SyntaxNode) -> str:
    return words(node).decode("utf-8", "replace")


def _dotted(node: SyntaxNode) -> str:
    """Return a dotted name without the arguments after it; `?` for other expressions."""
    found: SyntaxNode | None = node
    while found is not None and found.type in {"call", "subscript"}:
        found = found.child_by_field_name("function") or found.child_by_field_name("value")
    is_path = found is not None and found.type in {"attribute", "identifier"}
    shown = _shown(found) if found is not None and is_path else "?"
    return shown if shown.replace(".", "a").isidentifier() else "?"


def _base(node: SyntaxNode) -> str:
    """Return the name of a base class, or that of a keyword."""
    if node.type == "keyword_argument":
        return _shown(fields(node, "name")[0])
    return "**" if node.type == "dictionary_splat" else _dotted(node)


def _after_docstring(node: SyntaxNode) -> bytes:
    """Return the text of a body without its docstring."""
    statements = [one for body in fields(node, "body") for one in body.named_children]
    if statements and statements[0].type == "expression_statement":
        first = statements[0].named_children[:1]
        statements = statements[any(each.type == "string" for each in first) :]
    return b" ".join(map(words, statements))

"""Reads what a file in another language than Python defines, imports and uses."""

import re
from collections.abc import Iterator
from functools import lru_cache

from attrs import evolve

from cooperbench_eval.languages.model import Arguments, Definition, Source, Use
from cooperbench_eval.languages.readers.grammars import (
    COMMENTS,
    Grammar,
    SyntaxNode,
    by_rule,
    parse_soundly,
    rule_names,
)
from cooperbench_eval.languages.scopes.definitions import (
    definitions,
    function_of,
    imports_in,
    is_import,
    is_method,
    scope_name,
    signature_of,
    text_of,
)
from cooperbench_eval.languages.scopes.rust import is_conditional
from cooperbench_eval.languages.tree import StructureError

_CLASSES = rule_names("abstract_class_declaration class_declaration")
_REPEATABLE = rule_names(
    "enum_declaration function_signature interface_declaration internal_module module"
)
"""Declarations that TypeScript lets a file repeat."""
_CONSTRAINT = re.compile(rb"(?m)^//\s*(?:go:build|\+build)\b")


@lru_cache(maxsize=64)
def read_syntax(grammar: Grammar, source: bytes) -> Source | None:
    """Read a file; `None` if it does not parse or the grammar is not installed."""
    try:
        root = parse_soundly(grammar, source)
    except StructureError:
        return None
    importing = filter(is_import, root.children)
    imports = tuple(each for node in importing for each in imports_in(grammar, node, source))
    found = [*_definitions(grammar, root, source), *_repeatable(root, source)]
    return Source(
        definitions=tuple(sorted(found, key=lambda each: each.line)),
        imports=imports,
        is_open=any(each.name == "*" for each in imports) or _may_define_more(root),
        package="" if _CONSTRAINT.search(source) else _package(root, source),
        parts=((0, (grammar, source)),),
        members_of=lambda: _occurrences(grammar, source).members,
        bound_of=lambda: _occurrences(grammar, source).bound,
        uses_of=uses_of,
    )


def _definitions(grammar: Grammar, root: SyntaxNode, source: bytes) -> Iterator[Definition]:
    for name, node in definitions(root, source):
        line, plain = node.start_point.row + 1, name.removeprefix("type ")
        yield Definition(
            name=name,
            line=line,
            is_sole=not _may_repeat(grammar, node),
            is_class=node.type in _CLASSES,
            signature=signature_of(node),
            takes_instance=is_method(node),
            body=_digest(node, source),
        )
        if plain != name:  # a value may have the same name, so the type has another one
            yield Definition(name=plain, line=line)


def _repeatable(root: SyntaxNode, source: bytes) -> Iterator[Definition]:
    """Yield the declarations that may be repeated, and the default export."""
    for node in root.children:
        if node.type == "export_statement" and any(
            each.type == "default" for each in node.children
        ):
            yield Definition(name="default", line=node.start_point.row + 1)
        inner = node.child_by_field_name("declaration") if node.type == "export_statement" else node
        for each in (inner, *(inner.children if inner else ())):
            if each is not None and each.type in _REPEATABLE:
                name = text_of(each.child_by_field_name("name"), source)
                yield Definition(name=name, line=each.start_point.row + 1)


def _may_repeat(grammar: Grammar, node: SyntaxNode) -> bool:
    if grammar is Grammar.RUST:
        return is_conditional(node)
    return node.parent is not None and node.parent.type == "variable_declaration"


def _may_define_more(root: SyntaxNode) -> bool:
    """Whether a macro at the top level may define names."""
    return any(
        "macro" in each.type
        for node in root.children
        for each in (node, *(node.children if node.type == "expression_statement" else ()))
    )


def _package(root: SyntaxNode, source: bytes) -> str:
    """Return the name of a Go file's package."""
    for node in root.children:
        if node.type == "package_clause":
            return text_of(node, source).removeprefix("package").strip()
    return ""


def _digest(node: SyntaxNode, source: bytes) -> int:
    """Return a number that definitions with the same body share."""
    body = (function_of(node) or node).child_by_field_name("body")
    return hash(tuple(text_of(body, source).split())) if body else 0


_FUNCTIONS = rule_names(
    """arrow_function closure_expression func_literal function_declaration function_expression
    function_item generator_function generator_function_declaration method_declaration
    method_definition"""
)
_OWNERS = _CLASSES | {"class", "impl_item", "trait_item"}
_BINDERS = by_rule(
    ("alias", "type_switch_statement"),
    ("left", "for_in_statement range_clause receive_statement short_var_declaration"),
    (
        "name",
        """abstract_class_declaration class class_declaration const_item const_parameter
        const_spec enum_declaration enum_item function_declaration function_expression
        function_item function_signature function_signature_item generator_function
        generator_function_declaration interface_declaration macro_definition mod_item
        parameter_declaration static_item struct_item trait_item type_alias type_alias_declaration
        type_item type_parameter type_parameter_declaration type_spec union_item var_spec
        variable_declarator variadic_parameter_declaration""",
    ),
    ("parameter", "arrow_function catch_clause"),
    (
        "pattern",
        """for_expression let_condition let_declaration match_arm optional_parameter
        parameter required_parameter""",
    ),
)
"""The rules that bind names, with the field of the names or patterns."""
_LISTS = rule_names("formal_parameters closure_parameters")
"""Rules whose children may be names or patterns without a rule of their own."""
_PATTERNS = rule_names("array_pattern assignment_pattern identifier object_pattern rest_pattern")
_PARTS = {
    "field_expression": ("value", "field"),
    "generic_type": ("", "type"),
    "member_expression": ("object", "property"),
    "nested_type_identifier": ("module", "name"),
    "qualified_type": ("package", "name"),
    "scoped_identifier": ("path", "name"),
    "scoped_type_identifier": ("path", "name"),
    "selector_expression": ("operand", "field"),
}
"""The rules that name an attribute: the fields of what it belongs to and of its name."""
_NAMES = rule_names(
    """crate identifier package_identifier self shorthand_property_identifier
    shorthand_property_identifier_pattern super this type_identifier"""
)
_MEMBERS = rule_names("field_identifier property_identifier shorthand_field_identifier")
_RECEIVERS = frozenset({"this", "self", "Self"})


def uses_of(part: tuple[Grammar, bytes]) -> tuple[Use, ...]:
    """Return the uses in a file that parses."""
    return _occurrences(*part).uses


class _Occurrences:
    """The names in a file that parses, by what they do there: one pass over its tree.

    Attributes:
        uses: The uses of names that no function of the file binds.
        members: The names of fields, properties and methods that the file defines or sets.
        bound: The names that are bound anywhere in the file.
    """

    def __init__(self, grammar: Grammar, source: bytes) -> None:
        self._grammar = grammar
        self._source = source
        self._uses: list[Use] = []
        self._members: set[str] = set()
        self._local: set[str] = set()
        self._top: set[str] = set()
        self._binding: set[int] = set()  # where the names begin that are bound, not used
        self._walk()
        self.uses = tuple(filter(None, map(self._unless_local, self._uses)))
        self.members = frozenset(self._members)
        self.bound = frozenset(self._local | self._top)

    def _walk(self) -> None:
        root = parse_soundly(self._grammar, self._source)
        stack: list[tuple[SyntaxNode, str, bool]] = [(root, "", False)]
        while stack:
            node, owner, is_inside = stack.pop()
            if is_import(node):
                self._add_imports(node)
                continue
            self._bind(node, is_inside=is_inside)
            rest = self._read(node, owner)
            if node.type in _OWNERS:
                owner = scope_name(node, self._source)
            is_inside = is_inside or node.type in _FUNCTIONS
            stack += ((each, owner, is_inside) for each in reversed(rest))

    def _unless_local(self, use: Use) -> Use | None:
        if use.via or use.owner or use.chain[0] not in self._local:
            return use
        return evolve(use, chain=("", *use.chain[1:])) if len(use.chain) > 1 else None

    def _text(self, node: SyntaxNode) -> str:
        return text_of(node, self._source)

    def _add_imports(self, node: SyntaxNode) -> None:
        for found in imports_in(self._grammar, node, self._source):
            if found.name != "*":
                chain, line = (found.name,), found.line
                self._uses.append(Use(chain=chain, line=line, end_line=line, via=found))

    def _bind(self, node: SyntaxNode, *, is_inside: bool) -> None:
        """Note the names that a node binds."""
        role = _BINDERS.get(node.type)
        found = [] if role is None else list(node.children_by_field_name(role))
        if node.type in _LISTS:
            found += (child for child in node.children if child.type in _PATTERNS)
        is_local = is_inside or role != "name"
        for leaf in _leaves(found):
            self._binding.add(leaf.start_byte)
            (self._local if is_local else self._top).add(self._text(leaf))

    def _read(self, node: SyntaxNode, owner: str) -> list[SyntaxNode]:
        """Read a node itself; return the nodes in it that are still to be read."""
        match node.type:
            case "call_expression" | "new_expression":
                callee = node.child_by_field_name("function") or node.child_by_field_name(
                    "constructor"
                )
                if callee is not None and (callee.type in _PARTS or callee.type in _NAMES):
                    rest = self._chain(callee, owner, node)
                    return rest + [each for each in node.children if each != callee]
            case "keyed_element":
                return node.children[1:]  # the key may be the name of a field
            case "token_tree":
                return []  # a macro decides what the names in it mean
            case "assignment_expression" | "augmented_assignment_expression":
                left = node.child_by_field_name("left")
                name = left.child_by_field_name("property") if left else None
                if name is not None:
                    self._members.add(self._text(name))
        if node.type in _PARTS or node.type in _NAMES:
            return self._chain(node, owner)
        if node.type in _MEMBERS:
            self._members.add(self._text(node))
        return list(node.children)

    def _chain(
        self, node: SyntaxNode, owner: str, call: SyntaxNode | None = None
    ) -> list[SyntaxNode]:
        """Add the use of a name with its attributes; return what is before an unknown part."""
        names: list[str] = []
        rest: list[SyntaxNode] = []
        root: SyntaxNode | None = node
        while root is not None and root.type in _PARTS:
            outer, inner = _PARTS[root.type]
            name = root.child_by_field_name(inner)
            if not outer:
                rest += [each for each in root.children if each != name]
                root = name
                continue
            names.append(self._text(name) if name else "")
            root = root.child_by_field_name(outer)
        if root is not None and root.type in _NAMES:
            if root.start_byte in self._binding:
                return rest
            names.append(self._text(root))
        else:
            rest += [root] if root is not None else []
            names.append("")
        if names == [""]:
            return rest
        has_receiver = bool(owner) and names[-1] in _RECEIVERS
        use = Use(
            chain=tuple(reversed(names)),
            line=node.start_point.row + 1,
            end_line=(call or node).end_point.row + 1,
            call=_arguments(call) if call else None,
            owner=owner if has_receiver else "",
            is_instance=has_receiver and names[-1] != "Self",
        )
        self._uses.append(use)
        return rest


def _leaves(nodes: list[SyntaxNode]) -> Iterator[SyntaxNode]:
    """Yield the names in patterns; the value of a default is not one of them."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if node.type in _NAMES or node.type == "shorthand_field_identifier":
            yield node
        elif node.type not in {"scoped_identifier", "scoped_type_identifier"}:
            skipped = {
                found.id
                for role in ("right", "value", "condition", "type")
                if (found := node.child_by_field_name(role))
                and not (role == "value" and node.type == "pair_pattern")
            }
            stack += (child for child in node.children if child.id not in skipped)


def _arguments(call: SyntaxNode) -> Arguments | None:
    """Return the arguments of a call; `None` if their number is not certain."""
    given = call.child_by_field_name("arguments")
    if given is None or given.type not in {"arguments", "argument_list"}:
        return None
    found = [
        each
        for each in given.children
        if each.is_named and each.type not in COMMENTS and each.type != "attribute_item"
    ]
    if any(each.type in {"spread_element", "variadic_argument"} for each in found):
        return None
    if given.type == "argument_list" and len(found) == 1 and found[0].type == "call_expression":
        return None  # in Go, the call may return several values
    return Arguments(positional=len(found))


_occurrences = lru_cache(maxsize=32)(_Occurrences)

"""The scopes of Go."""

from collections.abc import Iterator
from typing import ClassVar

from cooperbench_eval.languages.model import Declaration
from cooperbench_eval.languages.readers.grammars import SyntaxNode, by_rule, rule_names
from cooperbench_eval.languages.scopes.blocks import BlockRules
from cooperbench_eval.languages.scopes.nodes import fields, text_of
from cooperbench_eval.languages.scopes.scope import Scope
from cooperbench_eval.languages.scopes.walk import Walk

_REPEATABLE = frozenset({"_", "init"})
_LITERALS = rule_names(
    """float_literal identifier imaginary_literal int_literal interpreted_string_literal
    raw_string_literal rune_literal selector_expression"""
)


class GoWalk(Walk):
    """One pass over statements of Go."""

    uses = rule_names("identifier package_identifier type_identifier")
    paths: ClassVar = {
        "selector_expression": ("operand", "field"),
        "qualified_type": ("package", "name"),
        "generic_type": ("", "type"),
    }
    calls: ClassVar = {"call_expression": ("function", "arguments")}
    attributes = rule_names("field_identifier")
    assignments = rule_names("assignment_statement")
    may_give_several = True
    package_clause = "package_clause"
    in_order = True
    blocks = BlockRules(
        leaving=rule_names("return_statement break_statement continue_statement goto_statement"),
        hoisted=rule_names("empty_statement"),
        ifs=rule_names("if_statement"),
        loops=rule_names("for_statement"),
    )

    def _name(self, scope: Scope, node: SyntaxNode, kind: str, visible_from: int = 0) -> None:
        """Declare a name, unless Go allows it to be declared several times."""
        if text_of(node) == "_" or (scope is self.file and text_of(node) in _REPEATABLE):
            self._declaring.add(node.start_byte)
        else:
            self.declare(scope, node, kind, visible_from=visible_from)

    def _function(self, node: SyntaxNode, scope: Scope) -> None:
        for name in fields(node, "name"):
            self._name(scope, name, "function")
            self._body(node, scope, text_of(name))
            if text_of(name) not in _REPEATABLE:
                self.define_function(scope, text_of(name), node)

    def _method(self, node: SyntaxNode, scope: Scope) -> None:
        name = node.child_by_field_name("name")
        receiver = node.child_by_field_name("receiver")
        if name is None or receiver is None:
            return
        label = f"{_receiver(receiver)}.{text_of(name)}"
        if text_of(name) != "_":
            scope.add(label, Declaration("function", self.line(name)))
        self._body(node, scope, label, _receiver(receiver))
        self.define_function(scope, label, node, takes_instance=True)

    def _body(self, node: SyntaxNode, scope: Scope, label: str = "", receiver: str = "") -> None:
        """Read a function; its parameters and the variables of its body share a scope."""
        inner = self.open(scope, label, is_function=True)
        lists = fields(node, "receiver", "type_parameters", "parameters", "result")
        for each in lists:
            self._parameters(each, inner)
        for given in fields(node, "receiver"):
            for name in (name for each in given.children for name in fields(each, "name")):
                inner.names[text_of(name)] = [
                    each._replace(origin=(receiver, True)) for each in inner.names[text_of(name)]
                ]
        body = node.child_by_field_name("body")
        self.push(lists, inner)
        for each in body.children if body is not None else ():
            if each.type == "statement_list":
                self.statements(each.children)
                self.push(each.children, inner)

    def _parameters(self, node: SyntaxNode, scope: Scope) -> None:
        if node.type in {"parameter_list", "type_parameter_list"}:
            for each in node.children:
                for name in fields(each, "name"):
                    self._name(scope, name, "parameter")

    def _function_type(self, node: SyntaxNode, scope: Scope) -> None:
        inner = self.open(scope)
        for each in fields(node, "parameters", "result"):
            self._parameters(each, inner)
        self.push(node.children, inner)

    def _type(self, node: SyntaxNode, scope: Scope) -> None:
        for name in fields(node, "name"):
            self._name(scope, name, "type", name.start_byte)
            self.define(scope, text_of(name), node)
            inner = self.open(scope, text_of(name), has_members=True)
            for each in fields(node, "type_parameters"):
                self._parameters(each, inner)
            self.push((each for each in node.children if each != name), inner)

    def _fields(self, node: SyntaxNode, scope: Scope) -> None:
        """Read the fields of a struct; an embedded type is a field with its name."""
        found = []
        for each in node.children:
            if each.type == "field_declaration":
                names = fields(each, "name") or [
                    last for kind in fields(each, "type") if (last := _last_name(kind)) is not None
                ]
                found += [(text_of(name), name) for name in names if text_of(name) != "_"]
        for name, _ in found:
            self.define(scope, f"{{{name}}}", node)
        self.once(scope, found)
        self.push(node.children, scope)

    def _interface(self, node: SyntaxNode, scope: Scope) -> None:
        methods = [n for each in node.children for n in fields(each, "name")]
        self.once(scope, ((text_of(name), name) for name in methods))
        self.push(node.children, scope)

    def _import(self, node: SyntaxNode, scope: Scope) -> None:
        name, path = node.child_by_field_name("name"), node.child_by_field_name("path")
        module = text_of(path).strip('"`') if path is not None else ""
        shown = text_of(name) if name is not None else package_name(module)
        if name is not None and name.type == "dot":
            self.may_bind_any = True
            shown = "*"
        elif name is not None and name.type == "package_identifier":
            self.declare(scope, name, "import")
        elif name is None and shown != "C":
            scope.add(shown, Declaration("import", self.line(node)))
        self.take(scope, node, shown, module)

    def _variables(self, node: SyntaxNode, scope: Scope) -> None:
        for name in fields(node, "name"):
            self._name(scope, name, "variable", node.end_byte)
            if not scope.is_local and text_of(name) != "_":
                self.define(scope, text_of(name), node, line=self.line(name))
        self.push(node.children, scope)

    def _short(self, node: SyntaxNode, scope: Scope) -> None:
        """Read `:=`, which must declare at least one name that its block does not yet have."""
        left = [name for each in fields(node, "left") for name in each.children if name.is_named]
        named = [name for name in left if text_of(name) != "_"]
        new = [name for name in named if text_of(name) not in scope.names]
        for name in new or named[:1]:
            self.declare(scope, name, "variable", visible_from=node.end_byte)
        self._declaring.update(name.start_byte for name in left if text_of(name) == "_")
        self.push(node.children, scope)

    def _range(self, node: SyntaxNode, scope: Scope) -> None:
        """Read the part of a loop or of a `select` that may declare variables."""
        if any(each.type == ":=" for each in node.children):
            for left in fields(node, "left"):
                for name in left.children:
                    if name.type == "identifier":
                        self._name(scope, name, "variable", node.end_byte)
        self.push(node.children, scope)

    def _list(self, node: SyntaxNode, scope: Scope) -> None:
        self.statements(node.children)
        self.push(node.children, scope)

    def _switch(self, node: SyntaxNode, scope: Scope) -> None:
        inner = self.open(scope)
        for alias in fields(node, "alias"):
            for name in alias.children:
                self._name(inner, name, "variable", alias.end_byte)
        self.once(scope, ((f"case {text_of(value)}", value) for value in _cases(node)))
        self.push(node.children, inner)

    def _elements(self, node: SyntaxNode, scope: Scope) -> None:
        """Read a composite literal; a key may be the name of a field."""
        elements = (each for each in node.children if each.type == "keyed_element")
        found = [
            (text_of(key), key) for each in elements if (key := _literal_key(each)) is not None
        ]
        self.once(scope, found)
        self.push(node.children, scope)

    def _element(self, node: SyntaxNode, scope: Scope) -> None:
        key = _literal_key(node)
        is_name = key is not None and key.type == "identifier"
        self.push(node.children[1:] if is_name else node.children, scope)

    rules: ClassVar = by_rule(
        (_type, "type_alias type_spec"),
        (_variables, "const_spec var_spec"),
        (_range, "range_clause receive_statement"),
        (_function_type, "function_type method_elem"),
        (_switch, "expression_switch_statement type_switch_statement"),
        (
            Walk.inner,
            """block communication_case default_case expression_case for_statement
            if_statement type_case""",
        ),
        (_fields, "field_declaration_list"),
        (_body, "func_literal"),
        (_function, "function_declaration"),
        (_import, "import_spec"),
        (_interface, "interface_type"),
        (_element, "keyed_element"),
        (_elements, "literal_value"),
        (_method, "method_declaration"),
        (Walk.only, "package_clause"),
        (_short, "short_var_declaration"),
        (_list, "statement_list"),
    )


def package_name(path: str) -> str:
    """Guess the name of a package from its path."""
    parts = path.split("/")
    if len(parts) > 1 and parts[-1][:1] == "v" and parts[-1][1:].isdigit():
        parts.pop()
    return parts[-1].partition(".v")[0]


def _receiver(receiver: SyntaxNode) -> str:
    """Return the name of a receiver's type."""
    for each in receiver.children:
        for kind in fields(each, "type"):
            if (name := _last_name(kind)) is not None:
                return text_of(name)
    return ""


def _last_name(kind: SyntaxNode) -> SyntaxNode | None:
    """Return the name of a type, without its package, pointer and arguments."""
    node: SyntaxNode | None = kind
    while node is not None and node.type != "type_identifier":
        inner = node.child_by_field_name("name") or node.child_by_field_name("type")
        node = inner or next((each for each in node.children if each.is_named), None)
    return node


def _cases(switch: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield what the cases of a switch compare with."""
    for case in switch.children:
        for each in fields(case, "value", "type") if case.type.endswith("_case") else ():
            yield from each.named_children if each.type == "expression_list" else [each]


def _literal_key(node: SyntaxNode) -> SyntaxNode | None:
    """Return the key of an element, if it is a name or a constant."""
    key = node.child_by_field_name("key") or node.children[0]
    if key.type == "literal_element" and key.named_child_count:
        key = key.named_children[0]
    return key if key.type in _LITERALS else None

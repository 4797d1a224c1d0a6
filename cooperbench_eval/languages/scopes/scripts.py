"""The scopes of JavaScript and TypeScript."""

from collections.abc import Iterator
from typing import ClassVar

from cooperbench_eval.languages.model import Declaration
from cooperbench_eval.languages.readers.grammars import SyntaxNode, by_rule, rule_names
from cooperbench_eval.languages.scopes.blocks import BlockRules
from cooperbench_eval.languages.scopes.nodes import fields, text_of, unquoted, words
from cooperbench_eval.languages.scopes.scope import Scope
from cooperbench_eval.languages.scopes.sharing import Sharing, pairs
from cooperbench_eval.languages.scopes.walk import Walk

_NAMES = rule_names("identifier type_identifier shorthand_property_identifier_pattern")
_FUNCTIONS = rule_names("arrow_function function_expression generator_function")
_NAMING = rule_names("field_definition pair public_field_definition variable_declarator")
_NAMELESS = rule_names("abstract_method_signature index_signature method_signature")
"""Members that may occur several times, as overloads."""
_NAMED = {
    "enum_declaration": "enum",
    "interface_declaration": "interface",
    "internal_module": "namespace",
    "module": "namespace",
    "type_alias_declaration": "type",
}
"""Rules that declare a name for a scope, each with the kind of declaration."""
_OUTERMOST = rule_names("ambient_declaration class_static_block internal_module module")
"""Blocks in which a `var` is declared in the block itself."""
_WORDS = rule_names(
    "identifier number private_property_identifier property_identifier string type_identifier"
)


class ScriptWalk(Walk):
    """One pass over statements of JavaScript or TypeScript."""

    uses = rule_names("identifier type_identifier shorthand_property_identifier")
    paths: ClassVar = {
        "generic_type": ("", "name"),
        "member_expression": ("object", "property"),
        "nested_type_identifier": ("module", "name"),
    }
    calls: ClassVar = {
        "call_expression": ("function", "arguments"),
        "new_expression": ("constructor", "arguments"),
    }
    receivers: ClassVar = {"this": True}
    roots = rule_names("this super")
    attributes = rule_names("property_identifier")
    assignments = rule_names("assignment_expression augmented_assignment_expression")
    sharing = Sharing(
        pairs=pairs(
            """var: parameter function catch
        !function: parameter
        signature: function var
        interface: class var let function parameter catch signature namespace import enum
        !type: var let function parameter catch signature namespace import
        namespace: class function signature enum let var import type-import type
        enum:
        hoisted: var let function parameter catch class import type-import signature type
        hoisted: interface namespace enum type-parameter passing
        passing: catch
        infer: type-parameter
        !type-parameter: var let function parameter catch class import signature
        !type-import: var let function parameter catch signature
        !class: signature"""
        )
    )
    blocks = BlockRules(
        leaving=rule_names("return_statement throw_statement break_statement continue_statement"),
        hoisted=rule_names(
            """empty_statement function_declaration function_signature
            generator_function_declaration interface_declaration type_alias_declaration"""
        ),
        ifs=rule_names("if_statement"),
        loops=rule_names("do_statement for_in_statement for_statement while_statement"),
    )

    def _function(self, node: SyntaxNode, scope: Scope) -> None:
        name = node.child_by_field_name("name")
        kind = "signature" if node.type == "function_signature" else "function"
        if name is not None:
            self.declare(scope, name, kind)
            if kind == "function":
                self._hoist(scope, name, "hoisted")
                self.define_function(scope, text_of(name), node)
        self._parameters(node, scope, name)

    def _expression(self, node: SyntaxNode, scope: Scope) -> None:
        """Read a function that is a value; its variable or member may name it."""
        name = node.child_by_field_name("name")
        if name is not None:
            named = self.open(scope)
            self.declare(named, name, "function")
            scope = named
        around = node.parent
        if (
            around is not None
            and around.type in _NAMING
            and node == around.child_by_field_name("value")
        ):
            found = key_of(around)
            name = found if found is not None and found.type in _WORDS else name
        self._parameters(node, scope, name)

    def _method(self, node: SyntaxNode, scope: Scope) -> None:
        name = node.child_by_field_name("name")
        if name is not None and name.type == "computed_property_name":
            self.push([name], scope)
        elif name is not None and node.parent is not None and node.parent.type == "class_body":
            self._member(node, scope)
        self._parameters(node, scope, name)

    def _member(self, node: SyntaxNode, scope: Scope) -> None:
        """Define a method or a field of a class."""
        name = key_of(node)
        if name is None or name.type == "computed_property_name":
            return
        before = [each.type for each in node.children if each.type in {"get", "set", "static"}]
        function = _function_of(node)
        is_method = function is not None and "static" not in before
        shown = " ".join([*before, text_of(name)])
        self.members.add(text_of(name))
        if function is not None:
            self.define_function(scope, shown, node, function, takes_instance=is_method)
        else:
            self.define(scope, shown, node)

    def _field(self, node: SyntaxNode, scope: Scope) -> None:
        self._member(node, scope)
        self.push(node.children, scope)

    def _parameters(self, node: SyntaxNode, scope: Scope, name: SyntaxNode | None) -> None:
        """Read the parameters and the body of a function."""
        label = text_of(name) if name is not None else ""
        function = self.open(scope, label, is_function=True)
        found = fields(node, "parameters")
        parameters = found[0].children if found else fields(node, "parameter")
        for each in parameters:
            self._bind(function, each, "parameter")
        self.push(fields(node, "type_parameters", "parameters", "parameter"), function)
        self.push(fields(node, "return_type", "type"), function)
        body = node.child_by_field_name("body")
        if body is not None and body.type == "statement_block":
            self.statements(body.children)
            self.push(body.children, function)
        elif body is not None:
            self.push([body], function)

    def _class(self, node: SyntaxNode, scope: Scope) -> None:
        name = node.child_by_field_name("name")
        if name is not None and node.type != "class":
            self.declare(scope, name, "class", visible_from=name.start_byte)
            bases = [text_of(each) for each in node.children if each.type == "class_heritage"]
            body = b" ".join(map(words, fields(node, "body")))
            self.define(scope, text_of(name), node, is_class=True, bases=tuple(bases), body=body)
        label = text_of(name) if name else ""
        inner = self.open(scope, label, is_function=True, has_members=True)
        if name is not None and node.type == "class":
            self.declare(inner, name, "class")
        self.push((each for each in node.children if each != name), inner)

    def _members(self, node: SyntaxNode, scope: Scope) -> None:
        """Read the members of a class, an interface or an object, and the cases of a switch."""
        self.once(scope, self._named_members(node))
        self.push(node.children, scope)

    def _named_members(self, node: SyntaxNode) -> Iterator[tuple[str, SyntaxNode]]:
        for each in node.children:
            if each.type in _NAMELESS:
                continue
            name = each if each.type == "shorthand_property_identifier" else key_of(each)
            if name is not None and (name.type in _WORDS or name == each):
                accessors = [n.type for n in each.children if n.type in {"get", "set", "static"}]
                yield " ".join([*accessors, unquoted(text_of(name))]), name

    def _block(self, node: SyntaxNode, scope: Scope) -> None:
        self.statements(node.children)
        is_outermost = node.parent is not None and node.parent.type in _OUTERMOST
        self.push(
            node.children, self.open(scope, is_function=is_outermost, has_members=is_outermost)
        )

    def _switch(self, node: SyntaxNode, scope: Scope) -> None:
        self.once(
            scope,
            ((f"case {text_of(v)}", v) for each in node.children for v in fields(each, "value")),
        )
        for each in node.children:
            self.statements(each.children_by_field_name("body"))
        self.inner(node, scope)

    def _for_in(self, node: SyntaxNode, scope: Scope) -> None:
        inner = self.open(scope)
        kind = node.child_by_field_name("kind")
        left = node.child_by_field_name("left")
        if kind is not None and left is not None:
            self._variable(inner, left, "var" if kind.type == "var" else "let")
        self.push(node.children, inner)

    def _catch(self, node: SyntaxNode, scope: Scope) -> None:
        inner = self.open(scope)
        for each in fields(node, "parameter"):
            self._bind(inner, each, "catch")
        self.push(fields(node, "parameter", "type"), inner)
        for body in fields(node, "body"):
            self.statements(body.children)
            self.push(body.children, inner)

    def _variables(self, node: SyntaxNode, scope: Scope) -> None:
        kind = "var" if node.type == "variable_declaration" else "let"
        for each in node.children:
            name = each.child_by_field_name("name")
            if name is not None:
                self._variable(scope, name, kind)
                if (function := _function_of(each)) is not None:
                    self.define_function(scope, text_of(name), each, function)
                for one in bound_by(name) if function is None and not scope.is_local else ():
                    self.define(scope, text_of(one), each)
        self.push(node.children, scope)

    def _variable(self, scope: Scope, pattern: SyntaxNode, kind: str) -> None:
        for name in bound_by(pattern):
            if kind == "var":
                self._hoist(scope, name, "var")
                self._declaring.add(name.start_byte)
            else:
                self.declare(scope, name, kind, visible_from=name.start_byte)

    def _hoist(self, scope: Scope, name: SyntaxNode, kind: str) -> None:
        """Declare a name in the function around; no block between may declare it with `let`."""
        at: Scope | None = scope
        while at is not None:
            is_last = at.is_function or at.parent is None
            if kind == "var" or (is_last and at is not scope):
                shown = kind if is_last else "passing"
                at.add(text_of(name), Declaration(shown, self.line(name)))
            if is_last:
                return
            at = at.parent

    def _bind(self, scope: Scope, pattern: SyntaxNode, kind: str) -> None:
        for name in bound_by(pattern):
            self.declare(scope, name, kind)

    def _import(self, node: SyntaxNode, scope: Scope) -> None:
        self.is_module = True
        is_type = any(each.type == "type" for each in node.children)
        module = _module(node)
        stack = [each for each in node.children if each.is_named]
        while stack:
            each = stack.pop()
            if each.type == "identifier":
                self.declare(scope, each, "type-import" if is_type else "import")
                is_default = each.parent is not None and each.parent.type == "import_clause"
                attribute = "default" if is_default else ""
                self.take(scope, each, text_of(each), module, attribute)
            elif each.type == "import_specifier":
                original = each.child_by_field_name("name")
                name = each.child_by_field_name("alias") or original
                marked = is_type or any(n.type == "type" for n in each.children)
                if name is not None and original is not None and name.type != "string":
                    self.declare(scope, name, "type-import" if marked else "import")
                    self.take(scope, each, text_of(name), module, text_of(original))
            elif each.type not in {"string", "import_attribute"}:
                stack += each.children

    def _export(self, node: SyntaxNode, scope: Scope) -> None:
        self.is_module = True
        has_source = node.child_by_field_name("source") is not None
        declared = node.child_by_field_name("declaration")
        if any(each.type == "default" for each in node.children) and (
            declared is None or declared.type not in {"function_signature", "interface_declaration"}
        ):
            scope.add("export default", Declaration("export", self.line(node)))
            self.define(scope, "default", node)
        module = _module(node)
        if has_source and any(each.type == "*" for each in node.children):
            self.may_bind_any = True
            self.take(scope, node, "*", module)
        for clause in node.children:
            for each in clause.children if clause.type == "export_clause" else ():
                name = each.child_by_field_name("alias") or each.child_by_field_name("name")
                if name is not None:
                    shown = f"export {text_of(name)}"
                    scope.add(shown, Declaration("export", self.line(name)))
                    inner = each.child_by_field_name("name")
                    if inner is not None and has_source:
                        self.take(scope, each, text_of(name), module, text_of(inner))
                    elif inner is not None:
                        self.push([inner], scope)
        self.push((n for n in node.children if n.type != "export_clause"), scope)

    def _named(self, node: SyntaxNode, scope: Scope) -> None:
        """Declare a name, and read what is inside in a scope of its own."""
        name = node.child_by_field_name("name")
        if name is not None and name.type in _NAMES:
            self.declare(scope, name, _NAMED[node.type])
            is_space = _NAMED[node.type] == "namespace"
            if _NAMED[node.type] == "type":
                self.define(scope, f"type {text_of(name)}", node)
            self.define(scope, text_of(name), node, is_class=is_space)
        label = text_of(name) if name is not None else ""
        inner = self.open(scope, label, is_function=True, has_members=True)
        self.push((each for each in node.children if each != name), inner)

    def _enum_body(self, node: SyntaxNode, scope: Scope) -> None:
        names = [each if each.type in _WORDS else key_of(each) for each in node.children]
        known = [each for each in names if each is not None and each.type in _WORDS]
        self.once(scope, ((unquoted(text_of(each)), each) for each in known))
        for each in known:
            scope.add(text_of(each), Declaration("hoisted", self.line(each)))
        self.push(node.children, scope)

    def _type_function(self, node: SyntaxNode, scope: Scope) -> None:
        inner = self.open(scope, is_function=True)
        for each in fields(node, "parameters"):
            for parameter in each.children:
                self._bind(inner, parameter, "parameter")
        self.push(node.children, inner)

    def _type_name(self, node: SyntaxNode, scope: Scope) -> None:
        kind = "type-parameter" if node.type == "type_parameter" else "infer"
        for each in node.children[:2] if kind == "infer" else fields(node, "name"):
            if each.type == "type_identifier":
                self.declare(scope, each, kind)
        self.push(node.children, scope)

    def _element(self, node: SyntaxNode, scope: Scope) -> None:
        """Read a tag; a lowercase name is that of an HTML element."""
        attributes = [each for each in node.children if each.type == "jsx_attribute"]
        self.once(scope, ((text_of(each.children[0]), each) for each in attributes))
        name = node.child_by_field_name("name")
        is_html = name is not None and name.type == "identifier" and text_of(name)[:1].islower()
        self.push((each for each in node.children if not (is_html and each == name)), scope)

    rules: ClassVar = by_rule(
        (_function, "function_declaration function_signature generator_function_declaration"),
        (_expression, _FUNCTIONS),
        (_named, _NAMED),
        (_class, "abstract_class_declaration class class_declaration"),
        (_members, "class_body interface_body object object_type"),
        (_variables, "lexical_declaration variable_declaration"),
        (_type_name, "infer_type mapped_type_clause type_parameter"),
        (_element, "jsx_opening_element jsx_self_closing_element"),
        (
            _type_function,
            """abstract_method_signature call_signature construct_signature
            constructor_type function_type method_signature""",
        ),
        (Walk.inner, "conditional_type for_statement index_signature"),
        (Walk.only, "jsx_closing_element"),
        (_catch, "catch_clause"),
        (_enum_body, "enum_body"),
        (_export, "export_statement"),
        (_field, "field_definition public_field_definition"),
        (_for_in, "for_in_statement"),
        (_import, "import_statement"),
        (_method, "method_definition"),
        (_block, "statement_block"),
        (_switch, "switch_body"),
    )


def _function_of(node: SyntaxNode) -> SyntaxNode | None:
    """Return the function that a definition consists of; `None` if it is not a function."""
    if node.child_by_field_name("parameters") is not None:
        return node
    value = node.child_by_field_name("value")
    return value if value is not None and value.type in _FUNCTIONS else None


def _module(node: SyntaxNode) -> str:
    """Return the module that a statement imports from."""
    found = (words(each).decode("utf-8", "replace") for each in fields(node, "source"))
    return "".join(found).strip("\"'`")


def key_of(node: SyntaxNode) -> SyntaxNode | None:
    """Return the name of a member, if it has one."""
    return (
        node.child_by_field_name("key")
        or node.child_by_field_name("name")
        or node.child_by_field_name("property")
    )


def bound_by(pattern: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield the names that a pattern binds."""
    stack = [pattern]
    while stack:
        node = stack.pop()
        match node.type:
            case "identifier" | "shorthand_property_identifier_pattern":
                yield node
            case "required_parameter" | "optional_parameter":
                stack += fields(node, "pattern", "name")
            case "assignment_pattern" | "object_assignment_pattern":
                stack += fields(node, "left")
            case "pair_pattern":
                stack += fields(node, "value")
            case "array_pattern" | "object_pattern" | "rest_pattern":
                stack += reversed(node.children)

"""The scopes of Java."""

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import ClassVar

from cooperbench_eval.languages.model import Declaration
from cooperbench_eval.languages.readers.grammars import SyntaxNode, by_rule, rule_names
from cooperbench_eval.languages.scopes.blocks import BlockRules
from cooperbench_eval.languages.scopes.nodes import fields, text_of, words
from cooperbench_eval.languages.scopes.scope import Scope
from cooperbench_eval.languages.scopes.sharing import Sharing, pairs
from cooperbench_eval.languages.scopes.walk import Walk

_TYPE, _FIELD, _VARIABLE, _IMPORT = "type", "field", "variable", "import"

_VISIBILITY = dict.fromkeys(("public", "protected", "private"), "visibility")


class JavaWalk(Walk):
    """One pass over declarations of Java.

    Names of methods are not looked up: a method may be inherited, and most are called on values.
    """

    uses = rule_names("identifier type_identifier")
    paths: ClassVar = {
        "field_access": ("object", "field"),
        "generic_type": ("", ""),
        "method_invocation": ("object", "name"),
    }
    implicit = "this"
    calls: ClassVar = {
        "method_invocation": ("name", "arguments"),
        "object_creation_expression": ("type", "arguments"),
    }
    receivers: ClassVar = {"this": True}
    roots = rule_names("this super")
    assignments = rule_names("assignment_expression")
    package_clause = "package_declaration"
    in_order = True
    # Types and values may share a name; an import may be repeated.
    sharing = Sharing(pairs=pairs(f"!{_TYPE}: {_FIELD} {_VARIABLE}\n{_IMPORT}: {_FIELD}"))
    blocks = BlockRules(
        leaving=rule_names(
            "return_statement break_statement continue_statement throw_statement yield_statement"
        ),
        hoisted=frozenset(),
        ifs=rule_names("if_statement"),
        loops=rule_names("for_statement enhanced_for_statement while_statement do_statement"),
    )

    def _import(self, node: SyntaxNode, scope: Scope) -> None:
        """Declare the last name of an import."""
        path = next((each for each in node.children if each.is_named), None)
        whole = text_of(path) if path is not None else ""
        if any(each.type == "asterisk" for each in node.children):
            self.may_bind_any = True
            self.take(scope, node, "*", whole)
            return
        name = path.child_by_field_name("name") if path is not None else None
        if name is not None:
            self.declare(scope, name, _IMPORT)
            module, _, attribute = whole.rpartition(".")
            self.take(scope, node, attribute, module, attribute)

    def _type(self, node: SyntaxNode, scope: Scope) -> None:
        for name in fields(node, "name"):
            self.declare(scope, name, _TYPE)
            inner = self.open(scope, text_of(name), has_members=True)
            bases = tuple(text_of(each) for each in fields(node, "superclass", "interfaces"))
            self.define(scope, text_of(name), node, is_class=True, bases=bases)
            for components in fields(node, "parameters"):
                self._parameters(components, inner, _FIELD)
                self.define_function(inner, "constructor", node, takes_instance=True)
            self.push((each for each in node.children if each != name), inner)

    def _type_parameter(self, node: SyntaxNode, scope: Scope) -> None:
        for name in node.children:
            if name.type in {"type_identifier", "identifier"}:
                self.declare(scope, name, _TYPE)
        self.push(node.children, scope)

    def _body(self, node: SyntaxNode, scope: Scope) -> None:
        """Read the body of a type; that of an anonymous class has a scope of its own."""
        is_named = node.parent is not None and node.parent.type.endswith("_declaration")
        inner = scope if is_named else self.open(scope)
        inner.owner = scope.owner if is_named else ""
        self.push(node.children, inner)

    def _method(self, node: SyntaxNode, scope: Scope) -> None:
        """Read a method or a constructor; overloads differ in the types of their parameters."""
        for name in fields(node, "name"):
            given = [each for found in fields(node, "parameters") for each in found.children]
            known = _bounds(node)
            types = b", ".join(_type_of(each, known) for each in given if each.is_named)
            label = f"{text_of(name)}({types.decode('utf-8', 'replace')})"
            self._declaring.add(name.start_byte)
            scope.add(label, Declaration("method", self.line(name)))
            inner = self.open(scope, label, is_function=True)
            for parameters in fields(node, "parameters"):
                self._parameters(parameters, inner, _VARIABLE)
            is_constructor = node.type == "constructor_declaration"
            shown = "constructor" if is_constructor else text_of(name)
            words = [each.type for part in node.children for each in part.children]
            self.define_function(scope, shown, node, takes_instance="static" not in words)
            body = node.child_by_field_name("body")
            self.push((each for each in node.children if each not in {name, body}), inner)
            if body is not None:  # its variables share a scope with the parameters
                self.statements(body.children)
                self.push(body.children, inner)

    def _parameters(self, node: SyntaxNode, scope: Scope, kind: str) -> None:
        for each in node.children:
            found = fields(each, "name") or [
                name for part in each.children for name in fields(part, "name")
            ]
            for name in found[-1:] if each.type.endswith("parameter") else ():
                self.declare(scope, name, kind, origin=_instance(each))

    def _lambda(self, node: SyntaxNode, scope: Scope) -> None:
        inner = self.open(scope, is_function=True)
        for given in fields(node, "parameters"):
            if given.type == "formal_parameters":
                self._parameters(given, inner, _VARIABLE)
            else:
                names = [given] if given.type == "identifier" else given.children
                for name in names:
                    if name.type == "identifier":
                        self.declare(inner, name, _VARIABLE)
        self.push(node.children, inner)

    def _modifiers(self, node: SyntaxNode, scope: Scope) -> None:
        """Read the modifiers of a declaration; only one may set its visibility."""
        found = [(_VISIBILITY.get(each.type, each.type), each) for each in node.children]
        self.once(scope, ((word, each) for word, each in found if not each.is_named))
        self.push(node.children, scope)

    def _declarators(self, node: SyntaxNode, scope: Scope, *, kind: str) -> None:
        for each in fields(node, "declarator"):
            for name in fields(each, "name"):
                visible = name.start_byte if kind == _VARIABLE else 0
                self.declare(scope, name, kind, visible_from=visible, origin=_instance(node))
                if kind == _FIELD:
                    self.define(scope, f"{{{text_of(name)}}}", node, line=self.line(name))
        self.push(node.children, scope)

    def _constant(self, node: SyntaxNode, scope: Scope) -> None:
        for name in fields(node, "name"):
            self.define(scope, text_of(name), node)
        self.named(node, scope, kind=_FIELD)

    def _each(self, node: SyntaxNode, scope: Scope) -> None:
        self.named(node, self.open(scope), kind=_VARIABLE)

    def _pattern(self, node: SyntaxNode, scope: Scope) -> None:
        """Read a pattern, whose variable may be visible after its statement."""
        last = node.named_children[-1]
        is_name = node.type != "instanceof_expression" and last.type == "identifier"
        for name in [last] if is_name else fields(node, "name"):
            self._declaring.add(name.start_byte)
            if text_of(name) not in scope.names:
                self.declare(scope, name, _VARIABLE)
        self.push(node.children, scope)

    def _switch(self, node: SyntaxNode, scope: Scope) -> None:
        """Read the cases, which share a scope."""
        inner = self.open(scope)
        labels: list[SyntaxNode] = []
        for case in node.children:
            labels += (each for each in case.children if each.type == "switch_label")
            self.statements([each for each in case.children if each.type != "switch_label"])
        self.once(inner, ((words(label).decode("utf-8", "replace"), label) for label in labels))
        self.push(node.children, inner)

    def _after_name(self, node: SyntaxNode, scope: Scope) -> None:
        """Read what follows a label, or the name of an element of an annotation."""
        self.push([each for each in node.children if each.is_named][1:], scope)

    rules: ClassVar = by_rule(
        (
            _type,
            """annotation_type_declaration class_declaration enum_declaration
            interface_declaration record_declaration""",
        ),
        (_body, "annotation_type_body class_body enum_body interface_body"),
        (_method, "constructor_declaration method_declaration"),
        (partial(_declarators, kind=_FIELD), "constant_declaration field_declaration"),
        (Walk.block, "block compact_constructor_declaration"),
        (Walk.inner, "catch_clause for_statement try_with_resources_statement"),
        (partial(Walk.named, kind=_VARIABLE), "catch_formal_parameter resource"),
        (
            Walk.only,
            """break_statement continue_statement package_declaration scoped_identifier
            scoped_type_identifier""",
        ),
        (_after_name, "element_value_pair labeled_statement"),
        (_each, "enhanced_for_statement"),
        (_constant, "enum_constant"),
        (_import, "import_declaration"),
        (_pattern, "instanceof_expression record_pattern_component type_pattern"),
        (_lambda, "lambda_expression"),
        (partial(_declarators, kind=_VARIABLE), "local_variable_declaration"),
        (_modifiers, "modifiers"),
        (_switch, "switch_block"),
        (_type_parameter, "type_parameter"),
    )


def _instance(node: SyntaxNode) -> tuple[str, bool] | None:
    """Return the class of a variable's value, if the declared type is only a name."""
    plain = [words(each).decode("utf-8", "replace") for each in fields(node, "type")]
    dimensions = any(fields(each, "dimensions") for each in (node, *fields(node, "declarator")))
    is_plain = plain and plain[0].isidentifier() and not dimensions
    return (plain[0], True) if is_plain else None


def _bounds(node: SyntaxNode) -> Mapping[bytes, bytes]:
    """Return the type variables of a method and of the types around it, with their bounds."""
    outer = _bounds(node.parent) if node.parent is not None else {}
    found = {}
    for each in (e for given in fields(node, "type_parameters") for e in given.named_children):
        name, *bounds = words(each).replace(b" extends ", b" ").replace(b"&", b" ").split()
        found[name] = bounds[0] if bounds else b"Object"
    return {**outer, **found}


def _type_of(parameter: SyntaxNode, variables: Mapping[bytes, bytes]) -> bytes:
    """Return the erased type of a parameter, as the compiler compares it."""
    kinds: Iterable[SyntaxNode] = fields(parameter, "type") or parameter.named_children[:1]
    dots = b"..." if parameter.type == "spread_parameter" else b""
    text = b" ".join(map(words, kinds)) + dots
    while (erased := _TYPE_ARGUMENTS.sub(b"", text)) != text:
        text = erased
    return variables.get(text, text)


_TYPE_ARGUMENTS = re.compile(rb" *<[^<>]*>")

"""Finds the names that a file defines and must not define twice."""

from collections.abc import Iterator

from cooperbench_eval.languages.readers.grammars import SyntaxNode, rule_names

__all__ = ["definitions", "scope_name"]

_TRANSPARENT = rule_names(
    """const_declaration export_statement ambient_declaration expression_statement
    field_declaration_list lexical_declaration type_declaration var_declaration
    var_spec_list"""
)
"""Rules that contain definitions but are not a scope."""
_WITH_BODY = rule_names(
    """abstract_class_declaration class_declaration enum_item function_declaration
    function_item generator_function_declaration method_declaration method_definition
    trait_item"""
)
_NAMED = rule_names(
    """associated_type const_item const_spec field_definition public_field_definition
    static_item struct_item type_alias type_item type_spec union_item var_spec
    variable_declarator"""
)
_SCOPES = _WITH_BODY | _NAMED | {"module", "internal_module", "mod_item", "impl_item"}
_PATTERNS = {
    **dict.fromkeys(_WITH_BODY | _NAMED, "{scope}{name}"),
    **dict.fromkeys(("field_declaration", "enum_variant"), "{scope}{{{name}}}"),
    "type_alias_declaration": "type {scope}{name}",
}
_BODIES = rule_names(
    """block class_body declaration_list enum_variant_list field_declaration_list
    statement_block struct_type"""
)
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_ACCESSORS = frozenset({"get", "set", "static"})
_REPEATABLE = frozenset({"", "_", "init"})
"""Names that Go, and Rust for constants, let a file define more than once."""


def definitions(root: SyntaxNode, source: bytes) -> Iterator[tuple[str, SyntaxNode]]:
    """Yield the qualified name of each definition in a file, and its node; a name may repeat."""
    stack = [(root, "")]
    while stack:
        parent, scope = stack.pop()
        for node in parent.children:
            for name in _qualified(node, scope, source):
                yield name, node
            if node.type in _TRANSPARENT:
                stack.append((node, scope))
            elif node.type in _SCOPES and (body := _body(node)) is not None:
                stack.append((body, f"{scope}{scope_name(node, source)}."))


def _qualified(node: SyntaxNode, scope: str, source: bytes) -> Iterator[str]:
    """Yield the names that a node defines; a declaration without its body defines none."""
    if node.type in _WITH_BODY and _body(node) is None:
        return
    pattern = _PATTERNS.get(node.type)
    if pattern is None:
        return
    for name in _names(node, source):
        if name not in _REPEATABLE:
            yield pattern.format(scope=scope, name=name)


def _body(node: SyntaxNode) -> SyntaxNode | None:
    for role in ("body", "value", "type"):
        found = node.child_by_field_name(role)
        if found is None:
            continue
        if found.type in _FUNCTIONS:
            found = found.child_by_field_name("body") or found
        if found.type in _BODIES:
            return found
    return None


def _names(node: SyntaxNode, source: bytes) -> list[str]:
    if node.type in {"const_spec", "var_spec", "field_declaration"}:
        found = node.children_by_field_name("name")
        return [_text(each, source) for each in found if each.type != ","]
    return [name] if (name := scope_name(node, source)) else []


def scope_name(node: SyntaxNode, source: bytes) -> str:
    """Return the name of a definition or of a scope.

    It is empty if the name is computed, or if a destructuring pattern defines several.
    """
    if node.type == "impl_item":
        trait = node.child_by_field_name("trait")
        kind = _text(node.child_by_field_name("type"), source)
        return f"<{kind} as {_text(trait, source)}>" if trait else kind
    found = node.child_by_field_name("name") or node.child_by_field_name("property")
    if found is None or found.type in {"computed_property_name", "object_pattern", "array_pattern"}:
        return ""
    words = [child.type for child in node.children if child.type in _ACCESSORS]
    if node.type == "method_declaration":
        receiver = _text(node.child_by_field_name("receiver"), source)
        words = receiver.strip("()").partition("[")[0].split()
        return f"{words[-1].strip('*') if words else ''}.{_text(found, source)}"
    return " ".join([*words, _text(found, source)])


def _text(node: SyntaxNode | None, source: bytes) -> str:
    text = source[node.start_byte : node.end_byte] if node else b""
    return " ".join(text.decode("utf-8", "replace").split())

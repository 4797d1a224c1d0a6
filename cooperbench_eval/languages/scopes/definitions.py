"""Reads the definitions of a file in another language than Python, and its imports."""

from collections.abc import Iterator

from cooperbench_eval.languages.model import Import, Signature
from cooperbench_eval.languages.readers.grammars import Grammar, SyntaxNode, rule_names
from cooperbench_eval.languages.scopes.golang import package_name
from cooperbench_eval.languages.scopes.rust import is_conditional

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
_FUNCTIONS = rule_names("arrow_function function_expression generator_function")
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


_METHODS = rule_names(
    "field_definition method_declaration method_definition public_field_definition"
)
_NO_PARAMETERS = rule_names("attribute_item block_comment comment line_comment")
_OPTIONAL = rule_names("assignment_pattern optional_parameter")
_REST = rule_names("rest_pattern variadic_parameter variadic_parameter_declaration")


def function_of(node: SyntaxNode) -> SyntaxNode | None:
    """Return the function that a definition consists of; `None` if it is not a function."""
    if node.child_by_field_name("parameters") is not None:
        return node
    value = node.child_by_field_name("value")
    return value if value is not None and value.type in _FUNCTIONS else None


def is_method(node: SyntaxNode) -> bool:
    """Whether a definition is a function that is called on an instance."""
    function = function_of(node)
    if function is None:
        return False
    if node.type == "function_item":
        return any(each.type == "self_parameter" for each in _parameters(function))
    return node.type in _METHODS and not any(each.type == "static" for each in node.children)


def signature_of(node: SyntaxNode) -> Signature | None:
    """Return the parameters of a definition; `None` if it is not a function.

    The receiver of a method counts as its first parameter.
    """
    function = function_of(node)
    if function is None:
        return None
    if function.child_by_field_name("parameters") is None:
        return Signature(positional=("",), required=1)  # `x => x`
    # Only Rust writes the receiver among the other parameters.
    number = int(is_method(node) and node.type != "function_item")
    required, takes_more = number, False
    for each in _parameters(function):
        if _is_rest(each):
            takes_more = True
            continue
        number += _count(each)
        if each.type not in _OPTIONAL and each.child_by_field_name("value") is None:
            required = number
    return Signature(positional=("",) * number, required=required, takes_more=takes_more)


def _parameters(function: SyntaxNode) -> list[SyntaxNode]:
    found = function.child_by_field_name("parameters")
    children = found.children if found else []
    return [each for each in children if each.is_named and each.type not in _NO_PARAMETERS]


def _count(parameter: SyntaxNode) -> int:
    """Return how many parameters a declaration declares; in Go, `a, b int` declares two."""
    if parameter.type != "parameter_declaration":
        return 1
    return max(len([n for n in parameter.children_by_field_name("name") if n.is_named]), 1)


def _is_rest(parameter: SyntaxNode) -> bool:
    pattern = parameter.child_by_field_name("pattern")
    return parameter.type in _REST or (pattern is not None and pattern.type in _REST)


def is_import(node: SyntaxNode) -> bool:
    """Whether a statement imports names, or exports those of another file."""
    if node.type == "export_statement":
        return node.child_by_field_name("source") is not None
    return node.type in {"import_declaration", "import_statement", "use_declaration"}


def imports_in(grammar: Grammar, node: SyntaxNode, source: bytes) -> Iterator[Import]:
    """Yield the names that one statement imports."""
    if grammar is Grammar.GO:
        return _go(node, source)
    return _rust(node, source) if grammar is Grammar.RUST else _script(node, source)


def text_of(node: SyntaxNode | None, source: bytes) -> str:
    """Return the text of a node; empty if there is none."""
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace") if node else ""


def _line(node: SyntaxNode) -> int:
    return int(node.start_point.row) + 1


def _go(node: SyntaxNode, source: bytes) -> Iterator[Import]:
    stack = [node]
    while stack:
        each = stack.pop()
        if each.type != "import_spec":
            stack += reversed(each.children)
            continue
        path = text_of(each.child_by_field_name("path"), source).strip('"`')
        alias = text_of(each.child_by_field_name("name"), source)
        name = {".": "*"}.get(alias, alias) or package_name(path)
        yield Import(name=name, module=path, line=_line(each), is_sole=name not in {"*", "_", "C"})


def _script(node: SyntaxNode, source: bytes) -> Iterator[Import]:
    """Yield the imports of JavaScript or TypeScript."""
    module = text_of(node.child_by_field_name("source"), source).strip("\"'`")
    is_export = node.type == "export_statement"
    if is_export and any(child.type == "*" for child in node.children):
        yield Import(name="*", module=module, line=_line(node))
    stack = list(reversed(node.children))
    while stack:
        each = stack.pop()
        name, attribute = "", ""
        if each.type in {"import_specifier", "export_specifier"}:
            attribute = text_of(each.child_by_field_name("name"), source)
            name = text_of(each.child_by_field_name("alias"), source) or attribute
        elif each.type == "identifier":
            is_default = each.parent is not None and each.parent.type == "import_clause"
            name, attribute = text_of(each, source), "default" if is_default else ""
        else:
            stack += reversed(each.children)
        if name:
            yield Import(
                name=name,
                module=module,
                attribute=attribute,
                line=_line(each),
                is_sole=not is_export,
            )


def _rust(node: SyntaxNode, source: bytes) -> Iterator[Import]:
    is_sole = not is_conditional(node)
    argument = node.child_by_field_name("argument")
    stack: list[tuple[SyntaxNode, str]] = [(argument, "")] if argument else []
    while stack:
        each, path = stack.pop()
        alias = ""
        if each.type == "scoped_use_list":
            inner = _joined(path, text_of(each.child_by_field_name("path"), source))
            listed = each.child_by_field_name("list")
            stack += ((child, inner) for child in reversed(listed.children if listed else []))
            continue
        if each.type == "use_list":
            stack += ((child, path) for child in reversed(each.children))
            continue
        if each.type == "use_wildcard":
            yield Import(name="*", module=_joined(path, text_of(each, source)), line=_line(each))
            continue
        if each.type == "use_as_clause":
            alias = text_of(each.child_by_field_name("alias"), source)
            found = each.child_by_field_name("path")
            each = found or each
        if not each.is_named or each.type in {"line_comment", "block_comment"}:
            continue
        whole = _joined(path, text_of(each, source)).removesuffix("::self")
        module, _, attribute = whole.rpartition("::")
        name = alias or attribute
        yield Import(
            name=name,
            module=module,
            attribute=attribute,
            line=_line(each),
            is_sole=is_sole and name != "_",
        )


def _joined(path: str, name: str) -> str:
    return f"{path}::{name}" if path else name

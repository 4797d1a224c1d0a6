"""Reads the parameters of functions in other languages than Python."""

from cooperbench_eval.languages.model import Signature
from cooperbench_eval.languages.readers.grammars import SyntaxNode, rule_names

__all__ = ["function_of", "is_method", "signature_of"]

_FUNCTIONS = rule_names("arrow_function function_expression generator_function")
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

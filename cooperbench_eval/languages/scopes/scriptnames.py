"""The names in members and patterns of JavaScript and TypeScript."""

from collections.abc import Iterator

from cooperbench_eval.languages.readers.grammars import SyntaxNode
from cooperbench_eval.languages.scopes.walk import fields

__all__ = ["bound_by", "key_of", "unquoted"]


def key_of(node: SyntaxNode) -> SyntaxNode | None:
    """Return the name of a member, if it has one."""
    return (
        node.child_by_field_name("key")
        or node.child_by_field_name("name")
        or node.child_by_field_name("property")
    )


def unquoted(name: str) -> str:
    """Return a member's name without the quotes around it."""
    return name[1:-1] if name[:1] in {"'", '"'} else name


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

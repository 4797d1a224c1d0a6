"""Reads single nodes of a syntax tree."""

from cooperbench_eval.languages.readers.grammars import SyntaxNode


def text_of(node: SyntaxNode) -> str:
    """Return the text of a name."""
    return (node.text or b"").decode("utf-8", "replace")


def words(node: SyntaxNode) -> bytes:
    """Return the text of a node with single spaces."""
    return b" ".join((node.text or b"").split())


def fields(node: SyntaxNode, *roles: str) -> list[SyntaxNode]:
    """Return the named children in any of the fields, in the order of the fields."""
    return [each for role in roles for each in node.children_by_field_name(role) if each.is_named]


def innermost(declarator: SyntaxNode) -> SyntaxNode:
    """Return the name in a declarator, such as that of a pointer."""
    node: SyntaxNode | None = declarator
    while node is not None:
        declarator = node
        node = node.child_by_field_name("declarator")
    return declarator


def unquoted(name: str) -> str:
    """Return a member's name without the quotes around it."""
    return name[1:-1] if name[:1] in {"'", '"'} else name

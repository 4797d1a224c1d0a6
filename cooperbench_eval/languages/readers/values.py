"""Marks the values that functions return without a `return`, as in Rust."""

from attrs import evolve

from cooperbench_eval.languages.readers.grammars import SyntaxNode
from cooperbench_eval.languages.tree import Construct, Element

__all__ = ["returning"]


def returning(block: SyntaxNode, body: Construct) -> Construct:
    """Mark the last statement of a function's body as a `return` if its value is returned.

    Args:
        block: The node of the body.
        body: The body.
    """
    return _returning(body) if _gives_value(block) else body


def _gives_value(block: SyntaxNode) -> bool:
    """Whether a function returns the value of its last statement, as in Rust."""
    parent = block.parent if block.type == "block" else None
    return parent is not None and parent.type == "function_item" and not _is_ended(block)


def _is_ended(block: SyntaxNode) -> bool:
    """Whether a block is empty, or its last statement ends with a semicolon."""
    nodes = [node for node in block.children[1:-1] if not node.type.endswith("comment")]
    return not nodes or (nodes[-1].children[-1:] != [] and nodes[-1].children[-1].type == ";")


def _returning(body: Construct) -> Construct:
    """Mark the value of a body, also in each branch of an `if`."""
    last = body.children[-1] if body.children else None
    if not isinstance(last, Construct):
        return body
    if last.kind == "expression":
        last = evolve(last, kind="return")
    elif last.kind == "if":
        last = evolve(last, children=tuple(map(_returning_clause, last.children)))
    return evolve(body, children=(*body.children[:-1], last))


def _returning_clause(clause: Element) -> Element:
    if not isinstance(clause, Construct):
        return clause
    children = [
        _returning(each) if isinstance(each, Construct) and each.kind == "suite" else each
        for each in clause.children
    ]
    return evolve(clause, children=tuple(children))

"""Splits statements into their clauses."""

from collections.abc import Sequence

from cooperbench_eval.languages.readers.grammars import SyntaxNode
from cooperbench_eval.languages.readers.profiles import Profile
from cooperbench_eval.languages.tree import Construct, Element

__all__ = ["further_clause", "has_suite", "split_clauses"]


def split_clauses(core: SyntaxNode, profile: Profile) -> list[list[SyntaxNode]]:
    """Split a statement before each `else`, `catch` or `finally`."""
    links: list[list[SyntaxNode]] = [[]]
    stack = [core]
    while stack:
        node = stack.pop()
        is_first = not links[0]
        is_next = bool(links[-1]) and links[-1][-1].type == "else"
        if node.type in profile.clauses:
            links.append([])
        elif not (is_first and node.type in profile.wrappers) and not (
            node.type in profile.chains and (is_first or is_next)
        ):
            if node.type == "else" and links[-1]:
                links.append([])
            links[-1].append(node)
            continue
        stack += reversed(node.children)
    return links


def has_suite(node: Construct) -> bool:
    """Whether a clause has a body."""
    return any(child.kind == "suite" for child in node.children)


def further_clause(children: Sequence[Element]) -> Construct:
    """Make a clause after the first; its key lets a statement have only one `else`."""
    words = [child.plain for child in children[:2]]
    key = b"" if words == [b"else", b"if"] else words[0]
    return Construct(kind="clause", children=tuple(children), key=key)

"""Finds the functions of a file by name."""

from collections.abc import Iterator

from cooperbench_eval.languages.tree import Construct, Element, Mode

__all__ = ["functions_of"]


def functions_of(tree: Element, scope: bytes = b"") -> Iterator[tuple[bytes, Construct]]:
    """Yield each named function by its qualified name, but no nested functions."""
    for child in tree.children:
        if not isinstance(child, Construct):
            continue
        if child.kind == "def" and child.key:
            yield scope + child.key, child
        elif child.mode is Mode.MEMBERS or child.kind == "class":
            # A class consists of its decorators and a clause that has its name as well.
            is_named = child.kind == "class" and child.mode is Mode.MEMBERS
            yield from functions_of(child, scope + child.key + b"." if is_named else scope)

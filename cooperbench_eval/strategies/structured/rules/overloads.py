"""Recognises signatures of one function, of which there may be several."""

from collections.abc import Iterable

from cooperbench_eval.languages.tree import Construct, Element

__all__ = ["is_overload_of"]


def is_overload_of(element: Element, others: Iterable[Element]) -> bool:
    """Whether it says how a function may be called besides what other overloads say.

    It must have the same parameters as one of them, with other types. An overload with
    another parameter would not allow that one together with what the others allow.
    """
    if not _is_overload(element):
        return False
    alike = (each for each in others if each.key == element.key and _is_overload(each))
    return any(_parameters(each) == _parameters(element) for each in alike)


def _is_overload(element: Element) -> bool:
    """Whether it is a function without a body in TypeScript, or has `@overload` in Python."""
    if not isinstance(element, Construct) or not element.key:
        return False
    if element.kind == "signature":
        return any(each.plain == b"function" for each in element.children)
    if element.kind != "def":
        return False
    decorators = (each.words() for each in element.children if each.kind == "decorator")
    return any(words[-1] == b"overload" for words in decorators)


def _parameters(element: Element) -> list[bytes]:
    found = next((each for each in element.walk() if each.kind == "parameters"), None)
    return [] if found is None else [each.key for each in found.children]

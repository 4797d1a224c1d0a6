"""Evaluates pytest's `-k` expressions, as far as the text of a test shows their value."""

import re
from collections.abc import Callable, Sequence

__all__ = ["keyword_holds"]

_TOKEN = re.compile(r"\s*(\(|\)|[\w:+\-.\[\]/\\\\]+)")


def keyword_holds(expression: str, names: Sequence[str], text: str) -> bool | None:
    """Whether an expression selects a test; `None` if the text of the test does not show it.

    A word is true if it is in one of the names. It is false if it is nowhere in the text.
    Otherwise it may be a mark or a parameter, so its value is unknown.

    Args:
        expression: Words with `and`, `or`, `not` and parentheses.
        names: Those of the test, its classes and its file.
        text: The file's path and contents.
    """

    def value(word: str) -> bool | None:
        if any(word.lower() in name.lower() for name in names):
            return True
        return None if word.lower() in text.lower() else False

    words = _TOKEN.findall(expression)
    if "".join(words) != "".join(expression.split()):
        return None
    try:
        found = _or(words, value)
    except (IndexError, RecursionError):
        return None
    return None if words else found


_Value = Callable[[str], bool | None]


def _or(words: list[str], value: _Value) -> bool | None:
    found = _and(words, value)
    while words and words[0] == "or":
        words.pop(0)
        other = _and(words, value)
        found = True if True in (found, other) else None if None in (found, other) else False
    return found


def _and(words: list[str], value: _Value) -> bool | None:
    found = _not(words, value)
    while words and words[0] == "and":
        words.pop(0)
        other = _not(words, value)
        found = False if False in (found, other) else None if None in (found, other) else True
    return found


def _not(words: list[str], value: _Value) -> bool | None:
    word = words.pop(0)
    if word == "not":
        found = _not(words, value)
        return None if found is None else not found
    if word == "(":
        found = _or(words, value)
        return found if words.pop(0) == ")" else None
    return value(word)

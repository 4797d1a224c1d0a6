"""Divides text into phrases, which are the values that consist of several tokens.

The numbers of `date(2024, 1, 5)`, `x[1:10]` and `rgb(0, 9, 0)` are one value, although each of them
is a token, and so are neighbouring words of a sentence. If the sides change different parts of such
a value, a merge would make one that nobody wrote. Lists in square or curly brackets have more items
than a value has parts, so only neighbouring items are a phrase.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from cooperbench_eval.languages.words import DIVIDED, SCRIPT, TEXT, WORD, Words

_NUMBER = re.compile(rb"[^\w\x80-\xff\"'`]*[0-9]")
_QUOTES = (b'"', b"'", b"`")
_ELEMENT = re.compile(rb">([^<>{}()=;]+)</")
"""The text of an element in JavaScript."""
_OPENERS, _CLOSERS = frozenset({b"(", b"[", b"{"}), frozenset({b")", b"]", b"}"})
_BETWEEN = frozenset({b"|", b">"})
"""Signs after a cell of a table, or after a tag."""
_NAMING = frozenset({b":", b"="})


def phrases(words: Words, line: bytes) -> Iterator[bytes]:
    """Yield the phrases of a line, which overlap."""
    if words is TEXT:
        yield from _text_phrases([each for each in words.split(line) if each[1]])
        return
    signs: list[bytes] = []
    for _, head, _, body, tail, _, remark, word in words.read(line):
        signs.append(head + body + tail or word)
        if remark or DIVIDED.search(body):
            yield from phrases(TEXT, remark or body)
    for text in _ELEMENT.findall(line):
        yield from phrases(TEXT, text)
    yield from _code_phrases(signs, has_sets=words is SCRIPT)


def _text_phrases(tokens: Sequence[tuple[bytes, bytes]]) -> Iterator[bytes]:
    """Yield neighbouring words of text; numbers with nothing but signs between are one word.

    Words are not neighbours if they are different items of a list. In square and curly brackets,
    each comma ends an item; outside of brackets, a comma before a space does.
    """
    units: list[bytes] = []
    stack: list[bytes] = []
    before = number = b""
    for (_, token), (space, following) in pairwise((*tokens, (b"", b""))):
        _nest(stack, token)
        is_number = bool(_NUMBER.match(token))
        is_list = token == b"," and stack[-1:] != [b"("]
        if is_list and number and _NUMBER.match(following):
            number = b"" if stack else number + token
        elif (
            token.endswith(_QUOTES)
            or token in _BETWEEN
            or (is_list and (space or stack))
            or (token in {b"(", b")"} and not number)
            or (space and (token == b"}" or following == b"{"))
            or (before == b"," and following in _NAMING)
        ):
            yield from _windows(units)
            units, number = [], b""
        elif not WORD.search(token):
            number += token if number else b""
        elif is_number and number:
            units[-1] += number + token
        if WORD.search(token) and not token.endswith(_QUOTES):
            if not (is_number and number):
                units.append(token)
            number = b" " if is_number else b""
        before = token
    yield from _windows(units)


def _code_phrases(tokens: Sequence[bytes], *, has_sets: bool) -> Iterator[bytes]:
    """Yield runs of numbers, in round brackets also of strings, with no name between.

    Values that stand side by side in a Python set are not a phrase: a set has no order.
    """
    run: list[bytes] = []
    stack: list[bytes] = []
    is_list = False
    for token in (*tokens, b"end"):
        is_string = token.endswith(_QUOTES)
        is_value = stack[-1:] == [b"("] if is_string else bool(_NUMBER.match(token))
        ends = is_string or (token == b"," and b":" in run and stack[-1:] == [b"{"])
        ends = ends or bool(WORD.search(token)) or token in {b"]", b"}"}
        if is_value or (run and not ends):
            run.append(token)
            is_list |= token == b"," and stack[-1:] not in ([], [b"("])
        else:
            values = [each for each in run if WORD.search(each) or each.endswith(_QUOTES)]
            if is_list and has_sets and stack[-1:] == [b"{"] and _NAMING.isdisjoint(run):
                yield from values
            elif is_list:
                yield from _windows(values)
            elif len(values) > 1:
                yield b" ".join(run[: len(run) - run[::-1].index(values[-1])])
            run, is_list = [], False
        _nest(stack, token)


def _nest(stack: list[bytes], token: bytes) -> None:
    if token in _OPENERS:
        stack.append(token)
    elif token in _CLOSERS and stack:
        stack.pop()


def _windows(units: Sequence[bytes]) -> Iterator[bytes]:
    """Yield each word, and each two and three neighbours."""
    for size in (1, 2, 3):
        for i in range(len(units) - size + 1):
            yield b" ".join(units[i : i + size])

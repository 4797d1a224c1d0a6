"""Finds the local variables that a side renamed, and renames them in another version."""

import re
from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve

from cooperbench_eval.languages.alignment import similarity
from cooperbench_eval.languages.tree import Construct, Element, Token, words_of_head
from cooperbench_eval.strategies.structured.flow.facts import (
    ACCESS,
    is_formatted,
    names_inserted,
    parameters_of,
    targets_of,
)
from cooperbench_eval.strategies.structured.refactorings.changed import (
    ChangedFunction,
    Changes,
)

_LEAST_ALIKE = 0.6
_REFLECTING = frozenset({b"eval", b"exec", b"global", b"locals", b"nonlocal", b"vars"})
"""Words after which a variable may be used by a name that is in a string, or elsewhere."""


def rename_variables(function: ChangedFunction) -> Changes:
    """Give local variables the names that a side gave them.

    A variable that the other side renamed as well, or removed, is left alone.
    """
    words = set(function.other.words())
    found = renamed_in(function.base, function.side)
    names = {old: new for old, new in found.items() if old in words}
    base, other = (
        rename(each, names) if names else None for each in (function.base, function.other)
    )
    if base is None or other is None:
        return {}, {}
    return {id(function.base): (base,)}, {id(function.other): (other,)}


def renamed_in(base: Construct, side: Construct) -> Mapping[bytes, bytes]:
    """Return the local variables of a function that a side renamed, with their new names.

    The old name must be gone, the new one must be new, and the statements that set it must be the
    same but for few words.
    """
    old, new = names_in(base), names_in(side)
    gone = {name: found for name, found in _setting(base).items() if name not in new}
    added = {name: found for name, found in _setting(side).items() if name not in old}
    pairs = [
        (one, other)
        for one, heads in gone.items()
        for other, others in added.items()
        if _are_alike(heads, others, one, other)
    ]
    olds, news = [one for one, _ in pairs], [other for _, other in pairs]
    return {one: other for one, other in pairs if olds.count(one) == 1 and news.count(other) == 1}


def _setting(function: Construct) -> dict[bytes, list[Sequence[bytes]]]:
    """Return the local variables, each with the words of the statements that set it."""
    found: dict[bytes, list[Sequence[bytes]]] = {}
    for each in function.walk():
        if each.kind not in {"def", "class", "import", "parameters"}:
            for target in targets_of(each.kind, each.children):
                for name in target.names:
                    found.setdefault(name, []).append(words_of_head(each))
    own = parameters_of(function).union(*map(parameters_of, _functions(function)))
    return {name: heads for name, heads in found.items() if b"." not in name and name not in own}


def _are_alike(
    before: Sequence[Sequence[bytes]], after: Sequence[Sequence[bytes]], old: bytes, new: bytes
) -> bool:
    renamed = ([new if word == old else word for word in head] for head in before)
    return len(before) == len(after) and all(
        similarity(one, other) >= _LEAST_ALIKE for one, other in zip(renamed, after, strict=True)
    )


def _functions(function: Construct) -> Iterator[Construct]:
    return (each for each in function.walk() if each.kind in {"def", "lambda"})


def names_in(function: Construct) -> frozenset[bytes]:
    """Return the words of a function, and the names in its format strings."""
    words = set(function.words())
    return frozenset(words.union(*map(names_inserted, words)))


def rename(function: Construct, names: Mapping[bytes, bytes]) -> Construct | None:
    """Return a function with other names of local variables.

    `None` if that may change what it does: it has a new name already, a function inside it has a
    parameter of an old name, or a name may be used in a way that cannot be followed.
    """
    there = names_in(function)
    inner = set[bytes]().union(*map(parameters_of, _functions(function)))
    if inner & names.keys() or there & {*names.values(), *_REFLECTING}:
        return None
    try:
        return _renamed(function, names)
    except _UnclearError:
        return None


class _UnclearError(Exception):
    """It is not clear what a name stands for."""


def _renamed(element: Construct, names: Mapping[bytes, bytes]) -> Construct:
    children: list[Element] = []
    is_key = element.kind == "item" and [each.plain for each in element.children[1:2]] == [b"="]
    for i, child in enumerate(element.children):
        if isinstance(child, Construct):
            children.append(_renamed(child, names))
        elif child.kind == "comment" or (i and element.children[i - 1].plain in ACCESS):
            children.append(child)
        elif child.word in names and i == 0 and is_key:
            children.append(child)  # the name of an argument
        else:
            children.append(_token(child, names))
    if element.kind == "group" and element.children[0].plain in {b"{", b"("}:
        items = [item for part in element.parts for item in part.children]
        starts = [[each.plain for each in item.children[:2]] for item in items]
        is_braced = element.children[0].plain == b"{"
        if any(start[1:] == [b":"] and start[0] in names for start in starts) or (
            is_braced and any(item.plain in names for item in items)
        ):
            raise _UnclearError  # `{name}` and `{name: 1}` may be objects with this key
    return evolve(element, children=tuple(children))


def _token(token: Token, names: Mapping[bytes, bytes]) -> Token:
    if new := names.get(token.word):
        return token._replace(word=new)
    if not is_formatted(token.word) or names.keys().isdisjoint(names_inserted(token.word)):
        return token
    return token._replace(
        word=_INSERTED.sub(lambda found: _placeholder(found[0], names), token.word)
    )


_INSERTED = re.compile(rb"(?s)\{\{|\}\}|\{[^{}]*\}")


def _placeholder(text: bytes, names: Mapping[bytes, bytes]) -> bytes:
    if b"'" in text or b'"' in text:
        raise _UnclearError
    pattern = rb"(?<![\w.$])(?:%b)(?!\w)" % b"|".join(map(re.escape, names))
    return re.sub(pattern, lambda found: names[found[0]], text)

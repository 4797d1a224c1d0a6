"""Finds the local variables that a side renamed, and renames them in another version."""

import re
from collections.abc import Iterable, Iterator, Mapping

from attrs import evolve

from cooperbench_eval.languages.alignment import similarity
from cooperbench_eval.languages.tree import Construct, Element, Token
from cooperbench_eval.strategies.structured.flow.facts import (
    ACCESS,
    is_formatted,
    names_inserted,
    parameters_of,
    targets_of,
)
from cooperbench_eval.strategies.structured.flow.uses import statements_of
from cooperbench_eval.strategies.structured.flow.work import is_same_call
from cooperbench_eval.strategies.structured.refactorings.changed import ChangedFunction, Changes
from cooperbench_eval.strategies.structured.rules.containing import extends

_LEAST_ALIKE = 0.6
_MOST_PAIRS = 2_500
"""How many pairs of a variable that is gone and a new one are compared."""
_REFLECTING = frozenset(b"_getframe currentframe eval exec global locals nonlocal vars".split())
"""Words with which a variable may be used by a name in a string, or in another scope."""


def rename_variables(function: ChangedFunction) -> Changes:
    """Give local variables the names that a side gave them.

    A variable that the other side renamed as well, or removed, is left alone, and so is one that
    has the name of something at the top level of the file.
    """
    words = set(function.other.words())
    found = renamed_in(function.base, function.side, are_declared=function.are_declared)
    names = {
        old: new
        for old, new in found.items()
        if old in words and function.top.isdisjoint((old, new))
    }
    versions = function.base, function.other
    base, other = (rename(each, names) if names else None for each in versions)
    if base is None or other is None:
        return {}, {}
    return {id(function.base): (base,)}, {id(function.other): (other,)}


def renamed_in(base: Construct, side: Construct, *, are_declared: bool) -> Mapping[bytes, bytes]:
    """Return the local variables of a function that a side renamed, with their new names.

    The old name must be gone, and the new one must be new. With the new names, the statements
    that set the variable must be the same or have further arguments, and at least half of the
    others that have it must be the same. If one is, the arguments may also be others. If
    *are_declared*, a variable without a declaration is not local.
    """
    old, new = names_in(base), names_in(side)
    before, after = (_setting(each, are_declared=are_declared) for each in (base, side))
    gone = {name: found for name, found in before.items() if name not in new}
    added = {name: found for name, found in after.items() if name not in old}
    if len(gone) * len(added) > _MOST_PAIRS:
        return {}
    pairs = [
        (one, other)
        for one, heads in gone.items()
        for other, others in added.items()
        if len(heads) == len(others) and all(map(_are_alike, heads, others))
    ]
    olds, news = [one for one, _ in pairs], [other for _, other in pairs]
    names = {one: other for one, other in pairs if olds.count(one) == news.count(other) == 1}
    there = {each.plain for each in statements_of(side)}
    statements = [(each, _with_names(each, names)) for each in statements_of(base)]

    def is_kept(name: bytes) -> bool:
        setting = {each.plain for each in gone[name]}
        found = ((each.plain, new.plain) for each, new in statements if name in each.words())
        uses = [new for old, new in found if old not in setting]
        heads = (_with_names(each, names) for each in gone[name])
        kept = sum(use in there for use in uses)
        pairs = zip(heads, added[names[name]], strict=True)
        is_same = all(extends(*each) or (kept and is_same_call(*each)) for each in pairs)
        return is_same and 2 * kept >= len(uses)

    return {name: other for name, other in names.items() if is_kept(name)}


def _with_names(element: Construct, names: Mapping[bytes, bytes]) -> Construct:
    children = (
        _with_names(each, names)
        if isinstance(each, Construct)
        else each._replace(word=names.get(each.word, each.word))
        for each in element.children
    )
    return evolve(element, children=tuple(children))


def _setting(function: Construct, *, are_declared: bool) -> dict[bytes, list[Construct]]:
    """Return the local variables, each with the statements that set it."""
    found: dict[bytes, list[Construct]] = {}
    local = set[bytes]()
    for each in statements_of(function):
        if each.kind not in {"def", "class", "import"}:
            for target in targets_of(each.kind, each.children):
                for name in target.names:
                    found.setdefault(name, []).append(each)
                if not are_declared or target.place or b":=" in [x.plain for x in each.children]:
                    local.update(target.names)
    own = parameters_of(function).union(*map(parameters_of, _functions(function)))
    return {
        name: heads
        for name, heads in found.items()
        if b"." not in name and name in local and name not in own
    }


def _are_alike(one: Construct, other: Construct) -> bool:
    return similarity(one.words(), other.words()) >= _LEAST_ALIKE


def _functions(function: Construct) -> Iterator[Construct]:
    return (each for each in function.walk() if each.kind in {"def", "lambda"})


def names_in(function: Construct) -> frozenset[bytes]:
    """Return the words of a function, and the names in its format strings."""
    words = set(function.words())
    return frozenset(words.union(*map(names_inserted, words)))


def rename(function: Construct, names: Mapping[bytes, bytes]) -> Construct | None:
    """Return a function with other names of local variables.

    `None` if that may change what it does: it already has a new name, a function inside it has a
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
    if element.kind in _NAMING and not names.keys().isdisjoint(element.words()):
        raise _UnclearError
    children: list[Element] = []
    following = [*(_sign(each) for each in element.children[1:]), b""]
    is_key = element.kind == "attribute" or (element.kind == "item" and following[0] == b"=")
    for i, child in enumerate(element.children):
        if isinstance(child, Construct):
            children.append(_renamed(child, names))
        elif child.kind != "token" or (i and element.children[i - 1].plain in ACCESS):
            children.append(child)
        elif child.word in names and i == 0 and is_key:
            children.append(child)  # the name of an argument
        elif child.word in names and (element.kind == "element" or following[i] in _CALLING):
            raise _UnclearError  # maybe a function, a macro or a module
        else:
            children.append(_token(child, names))
    if element.kind == "group" and element.children[0].plain == b"{":
        items = (item for part in element.parts if part.kind == "items" for item in part.children)
        if any(item.words()[0] in names for item in items):
            raise _UnclearError  # `{name}` and `{name: 1}` may be objects with this key
    return evolve(element, children=tuple(children))


def _sign(element: Element) -> bytes:
    """Return a token, or the opening bracket of a group."""
    return element.children[0].plain if element.kind == "group" else element.plain


_CALLING = frozenset({b"(", b"!", b"::"})
_NAMING = frozenset({"class", "enum", "field", "impl", "import"}) | {
    *("interface", "labeled", "struct", "trait", "type")
}
"""The constructs whose names are used elsewhere."""


def _token(token: Token, names: Mapping[bytes, bytes]) -> Token:
    if new := names.get(token.word):
        return token._replace(word=new)
    word = token.word
    if is_formatted(word) and not names.keys().isdisjoint(names_inserted(word)):
        pattern = _IN_TEMPLATE if word.startswith(b"`") else _INSERTED
        word = pattern.sub(lambda found: _placeholder(found[0], names), word)
    left = names_inserted(word) or re.findall(rb"[{$]\s*(\w+)", word)
    if not names.keys().isdisjoint(left):
        raise _UnclearError
    return token._replace(word=word)


_INSERTED = re.compile(rb"(?s)\{\{|\}\}|\{[^{}]*\}")
_IN_TEMPLATE = re.compile(rb"(?s)\$\{[^{}]*\}")


def _placeholder(text: bytes, names: Mapping[bytes, bytes]) -> bytes:
    pattern = rb"(?<![\w.$])" + _any_of(names)
    _, *format_ = re.split(rb"[:!](?!=)", text, maxsplit=1)
    is_shown = text.rstrip(b" }").endswith(b"=")  # `{name=}` shows the name
    if is_shown or b"'" in text or b'"' in text or re.search(_any_of(names), b"".join(format_)):
        raise _UnclearError
    return re.sub(pattern, lambda found: names[found[0]], text)


def _any_of(names: Iterable[bytes]) -> bytes:
    return rb"(?:%b)(?!\w)" % b"|".join(map(re.escape, names))

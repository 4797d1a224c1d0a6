"""Takes one side's function as a whole where it contains what the other side adds.

Two agents may both implement both features. Then neither the lines nor the statements of
their functions can be combined, but each function alone does all that is asked for.

A side's function *contains* the other's if three things hold. The other side adds at least
one name to the function: a word that is not in the base's function, comments and docstrings
aside. The side's function has all names that the other adds. And every parameter that the
other adds or changes, in the function or in one inside it, has the same name, type and
default in the function of the same name of this side.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cooperbench_eval.languages.reading import read_trees, with_ending
from cooperbench_eval.languages.tree import (
    Construct,
    Element,
    Mode,
    StructureError,
    functions_of,
    render,
    same,
)
from cooperbench_eval.strategies.structured.merge import TreeMerge

_MOST_BYTES = 500_000

_NAME = re.compile(rb"[^\W\d]\w*\Z|[\w\x80-\xff]*[\x80-\xff][\w\x80-\xff]*\Z")
_NOTHING = Construct(kind="def", children=())


class Taken(NamedTuple):
    """Versions of a file in which functions of one side replace those of the other.

    Attributes:
        versions: Base, ours and theirs.
        rule: What was done, for a ledger.
    """

    versions: tuple[bytes, bytes, bytes]
    rule: str


_RULES = {"ours": "ours, which contains theirs", "theirs": "theirs, which contains ours"}


def take_functions(path: str, versions: tuple[bytes, bytes, bytes]) -> Iterator[Taken]:
    """Yield the versions with one side's functions where they contain the other's.

    First only functions are taken that cannot be merged, then all that both sides changed.
    Of two functions that contain each other, the longer one is taken. Nothing is yielded
    if no function contains another, or if the file cannot be read.
    """
    if max(map(len, versions)) > _MOST_BYTES:
        return
    try:
        base, ours, theirs = read_trees(path, versions)
    except StructureError:
        return
    for mine, other, sides in _take(base, ours, theirs):
        texts = [render(tree)[1:] + b"\n" for tree in (base, mine, other)]
        before, one, two = (with_ending(text, versions) for text in texts)
        yield Taken((before, one, two), "took " + " and ".join(_RULES[each] for each in sides))


def _take(
    base: Construct, ours: Construct, theirs: Construct
) -> Iterator[tuple[Construct, Construct, list[str]]]:
    """Yield ours and theirs with functions of the other, and the sides these are from."""
    before, mine, other = (_functions(tree) for tree in (base, ours, theirs))
    taken: dict[bytes, str] = {}
    for name in mine.keys() & other.keys():
        function = before.get(name, _NOTHING)
        sides = mine[name], other[name]
        pairs = ((function, sides[0]), (function, sides[1]), sides)
        if any(same(*pair) for pair in pairs):
            continue
        if side := _containing(function, *sides):
            taken[name] = side
    stuck = {name for name in taken if not _can_merge(before.get(name), mine[name], other[name])}
    for names in dict.fromkeys((frozenset(stuck), frozenset(taken))):
        if names:
            to_ours = {n: other[n] for n in names if taken[n] == "theirs"}
            to_theirs = {n: mine[n] for n in names if taken[n] == "ours"}
            yield (
                _replaced(ours, {id(mine[n]): new for n, new in to_ours.items()}),
                _replaced(theirs, {id(other[n]): new for n, new in to_theirs.items()}),
                sorted({taken[n] for n in names}),
            )


def _functions(tree: Construct) -> dict[bytes, Construct]:
    """Return the functions whose qualified names are unique."""
    found = list(functions_of(tree))
    counts = Counter(name for name, _ in found)
    return {name: function for name, function in found if counts[name] == 1}


def _containing(base: Construct, ours: Construct, theirs: Construct) -> str:
    """Return the side whose function contains the other's; empty if neither does."""
    sides = {"ours": (ours, theirs), "theirs": (theirs, ours)}
    found = [side for side, (one, other) in sides.items() if _contains(one, other, base)]

    def length(side: str) -> tuple[int, bytes]:
        function, _ = sides[side]
        return len(function.words()), function.plain

    return max(found, key=length, default="")


def _contains(one: Construct, other: Construct, base: Construct) -> bool:
    added = set(_names(other)) - set(_names(base))
    if not added or not added <= set(_names(one)):
        return False
    there, before = _signatures(one), _signatures(base)
    return all(
        parameter in there.get(name, ())
        for name, parameters in _signatures(other).items()
        for parameter in parameters
        if parameter not in before.get(name, ())
    )


def _names(element: Element) -> Iterator[bytes]:
    """Yield the names in an element, without those in comments and docstrings."""
    if isinstance(element, Construct):
        for child in element.children:
            yield from _names(child)
    elif element.kind == "token" and _NAME.match(element.word):
        yield element.word


def _signatures(function: Construct) -> Mapping[bytes, Sequence[bytes]]:
    """Return the parameters of a function and of those in it, by their names."""
    found: dict[bytes, list[bytes]] = {}
    for each in function.walk():
        if each.kind == "def" and each.mode is Mode.SEQUENCE:
            lists = (p for part in each.parts for p in part.children if p.kind == "parameters")
            names = [item.plain for parameters in lists for item in parameters.children]
            found.setdefault(each.key, []).extend(names)
    return found


def _can_merge(base: Construct | None, ours: Construct, theirs: Construct) -> bool:
    for theirs_first in (False, True):
        try:
            TreeMerge(theirs_first=theirs_first).merge(base or _NOTHING, ours, theirs)
        except StructureError:
            continue
        return True
    return False


def _replaced(element: Construct, new: Mapping[int, Construct]) -> Construct:
    """Return a tree with some of its functions replaced."""
    if id(element) in new:
        return new[id(element)].with_space(element.space)
    if not new or not (element.mode is Mode.MEMBERS or element.kind == "class"):
        return element
    return element.with_parts(lambda child: _replaced(child, new))

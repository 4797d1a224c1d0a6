"""Makes each side's refactorings in the base and on the other side as well.

A refactoring does not change what a program does. So if a side also has other changes, these are
easier to see, and to merge with the other side's, after the refactoring was made in all versions.
Ellis, Nadi and Dig compare tools that do so ("Operation-based refactoring-aware merging", 2023).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from attrs import evolve

from cooperbench_eval.languages.files import grammar_of, is_code
from cooperbench_eval.languages.readers.grammars import SCRIPTS
from cooperbench_eval.languages.reading import read_trees, with_ending
from cooperbench_eval.languages.tree import (
    Construct,
    Element,
    StructureError,
    functions_of,
    render,
    same,
)
from cooperbench_eval.strategies.structured.refactorings.changed import (
    Changed,
    ChangedFunction,
    Changes,
)
from cooperbench_eval.strategies.structured.refactorings.extracting import extract
from cooperbench_eval.strategies.structured.refactorings.following import follow
from cooperbench_eval.strategies.structured.refactorings.naming import name_expressions
from cooperbench_eval.strategies.structured.refactorings.renaming import rename_variables
from cooperbench_eval.strategies.structured.refactorings.unfolding import nest_conditions, unfold
from cooperbench_eval.support.memo import WeighedMemo

Versions = tuple[bytes, bytes, bytes]
"""Base, ours and theirs of a file."""
_Trees = tuple[Construct, Construct, Construct]

_MOST_BYTES = 500_000

_Refactoring = Callable[[ChangedFunction], Changes]
_REFACTORINGS: tuple[_Refactoring, ...] = (
    rename_variables,
    extract,
    name_expressions,
    rename_variables,  # an expression may have been named by both sides
    follow,
    nest_conditions,
)


def replay(path: str, versions: Versions) -> Versions | None:
    """Return the versions of a file in which each side's refactorings were made in all.

    `None` if no function that both sides changed was refactored, or if the file cannot be read.
    """
    key = path, versions
    found = _known.get(key)
    if found is None:
        made = _replay(path, versions) or versions
        found = _known.keep(key, made, size=2 * sum(map(len, versions)))
    return None if found == versions else found


# The judge asks for the same versions as the strategy.
_known = WeighedMemo[tuple[str, Versions], Versions](max_bytes=1 << 22)


def _replay(path: str, versions: Versions) -> Versions | None:
    if not is_code(path) or max(map(len, versions)) > _MOST_BYTES:
        return None
    try:
        base, ours, theirs = read_trees(path, versions)
    except StructureError:
        return None
    before = base, ours, theirs
    for each in (*_REFACTORINGS, *([unfold] if grammar_of(path) in SCRIPTS else [])):
        base, theirs, ours = _refactored(each, base, ours, theirs)
        base, ours, theirs = _refactored(each, base, theirs, ours)
    if all(map(same, before, (base, ours, theirs))):
        return None
    one, mine, other = (render(tree)[1:] + b"\n" for tree in (base, ours, theirs))
    return (
        with_ending(one, versions),
        with_ending(mine, versions),
        with_ending(other, versions),
    )


def _refactored(
    refactoring: _Refactoring, base: Construct, side: Construct, other: Construct
) -> tuple[Construct, Construct, Construct]:
    """Return the base, the other side and the side with the side's refactorings of one kind."""
    changed: tuple[Changed, Changed, Changed] = ({}, {}, {})
    for function in _changed_by_both(base, side, other):
        for known, found in zip(changed, refactoring(function), strict=False):
            known.update(found)
    in_base, in_other, in_side = changed
    return _rebuilt(base, in_base), _rebuilt(other, in_other), _rebuilt(side, in_side)


def _changed_by_both(
    base: Construct, side: Construct, other: Construct
) -> Iterator[ChangedFunction]:
    """Yield the functions that both sides changed, with their names in all versions."""
    old, mine, theirs = (_unique(tree) for tree in (base, side, other))
    known, there = dict(functions_of(base)), dict(functions_of(other))
    new = {name: each for name, each in functions_of(side) if name not in known}
    for name, before in old.items():
        one, two = mine.get(name), theirs.get(name)
        if one and two and not same(before, one) and not same(before, two):
            helpers = [
                (each, there.get(helper))
                for helper, each in new.items()
                if _scope(helper) == _scope(name)
            ]
            yield ChangedFunction(before, one, two, helpers)


def _scope(name: bytes) -> bytes:
    return name.rpartition(b".")[0]


def _unique(tree: Construct) -> Mapping[bytes, Construct]:
    found = list(functions_of(tree))
    names = [name for name, _ in found]
    return {name: each for name, each in found if names.count(name) == 1}


def _rebuilt(tree: Construct, changed: Changed) -> Construct:
    """Return a tree in which some of its members are replaced."""
    if not changed:
        return tree
    children: list[Element] = []
    for each in tree.children:
        new: Sequence[Element] = changed.get(id(each), ())
        if new:
            children += (new[0].with_space(each.space), *new[1:])
        else:
            children.append(_rebuilt(each, changed) if isinstance(each, Construct) else each)
    return evolve(tree, children=tuple(children))

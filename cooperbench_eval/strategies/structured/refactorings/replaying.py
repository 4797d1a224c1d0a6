"""Makes each side's refactorings in the base and on the other side as well.

A refactoring does not change what a program does. After it is made in all versions, the side's
other changes are easier to see, and to merge with those of the other side.
Ellis, Nadi and Dig compare tools that do so ("Operation-based refactoring-aware merging", 2023).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from attrs import evolve

from cooperbench_eval.languages.files import find_grammar
from cooperbench_eval.languages.readers.grammars import SCRIPTS, Grammar
from cooperbench_eval.languages.reading import read_trees, with_ending
from cooperbench_eval.languages.scopes.reading import WALKS, read_source
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
from cooperbench_eval.strategies.structured.refactorings.extracting import extract, name_of
from cooperbench_eval.strategies.structured.refactorings.following import follow
from cooperbench_eval.strategies.structured.refactorings.naming import name_expressions
from cooperbench_eval.strategies.structured.refactorings.renaming import rename_variables
from cooperbench_eval.strategies.structured.refactorings.unfolding import nest_conditions, unfold
from cooperbench_eval.support.memo import WeighedMemo

Versions = tuple[bytes, bytes, bytes]
"""Base, ours and theirs of a file."""
_Trees = tuple[Construct, Construct, Construct]

_MOST_BYTES = 500_000
_MOST_HELPERS = 20
"""How many of the new functions that a function calls are compared with it."""
_OCCURRENCES = 2
"""How often the name of a new function occurs if there is one call: there and in its head."""

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
    """Return the versions of a file after each side's refactorings are made in all of them.

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
    grammar = find_grammar(path)
    if grammar not in WALKS or max(map(len, versions)) > _MOST_BYTES:
        return None
    try:
        base, ours, theirs = read_trees(path, versions)
        sources = [read_source(grammar, version) for version in versions]
    except StructureError:
        return None
    file = _File(
        top=frozenset(name.encode() for source in sources for name in source.declared),
        are_declared=grammar is not Grammar.PYTHON,
    )
    before = base, ours, theirs
    for each in (*_REFACTORINGS, *([unfold] if grammar in SCRIPTS else [])):
        base, theirs, ours = file.refactored(each, base, ours, theirs)
        base, ours, theirs = file.refactored(each, base, theirs, ours)
    if all(map(same, before, (base, ours, theirs))):
        return None
    one, mine, other = (render(tree)[1:] + b"\n" for tree in (base, ours, theirs))
    return (
        with_ending(one, versions),
        with_ending(mine, versions),
        with_ending(other, versions),
    )


class _File(NamedTuple):
    """What is known about the names of a file.

    Attributes:
        top: Those that a version declares at its top level.
        are_declared: Whether the language has declarations of variables.
    """

    top: frozenset[bytes]
    are_declared: bool

    def refactored(
        self, refactoring: _Refactoring, base: Construct, side: Construct, other: Construct
    ) -> tuple[Construct, Construct, Construct]:
        """Return the base, the other side and the side, all with the side's refactorings."""
        changed: tuple[Changed, Changed, Changed] = ({}, {}, {})
        for function in self._changed_by_both(base, side, other):
            for known, found in zip(changed, refactoring(function), strict=False):
                known.update(found)
        in_base, in_other, in_side = changed
        return _rebuilt(base, in_base), _rebuilt(other, in_other), _rebuilt(side, in_side)

    def _changed_by_both(
        self, base: Construct, side: Construct, other: Construct
    ) -> Iterator[ChangedFunction]:
        """Yield the functions that both sides changed and that no version has twice."""
        old, mine, theirs = (_unique(tree) for tree in (base, side, other))
        known, there = dict(functions_of(base)), dict(functions_of(other))
        counts = [Counter(tree.words()) for tree in (base, side)]
        new = [(name, each) for name, each in functions_of(side) if name not in known]
        for name, before in old.items():
            one, two = mine.get(name), theirs.get(name)
            if not one or not two or same(before, one) or same(before, two):
                continue
            used = set(one.words()) if new else ()
            helpers = [
                (each, there.get(helper))
                for helper, each in new
                if name_of(each) in used and _scope(helper) == _scope(name)
                if _is_for(each, before, *counts)
            ]
            yield ChangedFunction(
                before, one, two, helpers[:_MOST_HELPERS], self.top, self.are_declared
            )


def _is_for(
    helper: Construct, function: Construct, base: Counter[bytes], side: Counter[bytes]
) -> bool:
    """Whether a new function is called only in *function*, or where *function* was called.

    Other callers would get the other side's edits, which are not meant for them.
    """
    name = name_of(function)
    return side[name_of(helper)] - _OCCURRENCES <= max(base[name] - side[name], 0)


def _scope(name: bytes) -> bytes:
    return name.rpartition(b".")[0]


def _unique(tree: Construct) -> Mapping[bytes, Construct]:
    found = list(functions_of(tree))
    counts = Counter(name for name, _ in found)
    return {name: each for name, each in found if counts[name] == 1}


def _rebuilt(tree: Construct, changed: Changed) -> Construct:
    """Return a tree in which some constructs are replaced."""
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

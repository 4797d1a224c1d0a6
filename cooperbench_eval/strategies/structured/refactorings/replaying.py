"""Makes each side's refactorings in the base and on the other side as well.

A refactoring does not change what a program does. So if a side also has other changes, these are
easier to see, and to merge with the other side's, after the refactoring was made in all versions.
Ellis, Nadi and Dig compare tools that do so ("Operation-based refactoring-aware merging", 2023).
"""

from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve

from cooperbench_eval.languages.files import grammar_of, is_code
from cooperbench_eval.languages.readers.grammars import SCRIPTS
from cooperbench_eval.languages.reading import read_trees, with_ending
from cooperbench_eval.languages.tree import (
    Construct,
    Element,
    Elements,
    StructureError,
    functions_of,
    render,
    same,
)
from cooperbench_eval.strategies.structured.refactorings.extracting import Extraction
from cooperbench_eval.strategies.structured.refactorings.naming import namings_in, statement_like
from cooperbench_eval.strategies.structured.refactorings.renaming import (
    names_in,
    rename,
    renamed_in,
)
from cooperbench_eval.strategies.structured.refactorings.unfolding import unfold
from cooperbench_eval.strategies.structured.rules.statements import target_of
from cooperbench_eval.support.memo import WeighedMemo

Versions = tuple[bytes, bytes, bytes]
"""Base, ours and theirs of a file."""
_Trees = tuple[Construct, Construct, Construct]

_MOST_BYTES = 500_000


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
    steps = [_rename, _extract, _name, _rename]
    if grammar_of(path) in SCRIPTS:
        steps.append(_unfold)
    for step in steps:
        base, ours, theirs = step(base, ours, theirs)
        base, theirs, ours = step(base, theirs, ours)
    if all(map(same, before, (base, ours, theirs))):
        return None
    one, mine, other = (render(tree)[1:] + b"\n" for tree in (base, ours, theirs))
    return (
        with_ending(one, versions),
        with_ending(mine, versions),
        with_ending(other, versions),
    )


def _rename(base: Construct, side: Construct, other: Construct) -> _Trees:
    """Give local variables the names that a side gave them."""
    changed: tuple[dict[int, Elements], dict[int, Elements]] = ({}, {})
    for _, before, mine, theirs in _changed_by_both(base, side, other):
        # A variable that the other side renamed as well, or removed, is left alone.
        words = set(theirs.words())
        names = {old: new for old, new in renamed_in(before, mine).items() if old in words}
        if names:
            found = rename(before, names), rename(theirs, names)
            if found[0] is not None and found[1] is not None:
                changed[0][id(before)] = (found[0],)
                changed[1][id(theirs)] = (found[1],)
    return _rebuilt(base, changed[0]), side, _rebuilt(other, changed[1])


def _name(base: Construct, side: Construct, other: Construct) -> _Trees:
    """Give expressions the names that a side gave them."""
    changed: tuple[dict[int, Elements], dict[int, Elements]] = ({}, {})
    for _, before, mine, theirs in _changed_by_both(base, side, other):
        taken = names_in(theirs)
        for suite, naming in namings_in(before, mine):
            there = statement_like(suite, naming.statement, theirs)
            found = (
                there is not None
                and target_of(naming.naming) not in taken
                and naming.in_other(there)
            )
            if there is not None and found:
                changed[0][id(naming.statement)] = naming.in_base()
                changed[1][id(there)] = found
    return _rebuilt(base, changed[0]), side, _rebuilt(other, changed[1])


def _extract(base: Construct, side: Construct, other: Construct) -> _Trees:
    """Move statements into the functions into which a side moved them."""
    known, there = (dict(functions_of(tree)) for tree in (base, other))
    helpers = {name: each for name, each in functions_of(side) if name not in known}
    changed: tuple[dict[int, Elements], dict[int, Elements]] = ({}, {})
    for name, before, mine, theirs in _changed_by_both(base, side, other):
        beside = (each for each in helpers if _scope(each) == _scope(name))
        made = (_made(before, mine, theirs, helpers[each], there.get(each)) for each in beside)
        for each, pair, place in zip(
            (before, theirs), next(filter(None, made), ()), changed, strict=False
        ):
            place[id(each)] = pair
    return _rebuilt(base, changed[0]), side, _rebuilt(other, changed[1])


def _unfold(base: Construct, side: Construct, other: Construct) -> _Trees:
    """Write expressions as the blocks into which a side turned them."""
    changed: tuple[dict[int, Elements], dict[int, Elements]] = ({}, {})
    for _, *versions in _changed_by_both(base, side, other):
        for known, found in zip(changed, unfold(*versions), strict=True):
            known.update(found)
    return _rebuilt(base, changed[0]), side, _rebuilt(other, changed[1])


def _made(
    base: Construct,
    side: Construct,
    other: Construct,
    helper: Construct,
    same_name: Construct | None,
) -> tuple[Elements, ...]:
    """Return what replaces a function in the base and in the other version; empty if nothing may.

    If the other version has moved the statements into a function of the same name, only the base
    is changed.
    """
    found = Extraction.of(base, side, helper)
    if found is None or (same_name and Extraction.of(base, other, same_name) is None):
        return ()
    pairs = [found.in_base()] if same_name else [found.in_base(), found.in_other(other)]
    return tuple(pair for pair in pairs if pair) if all(pairs) else ()


def _scope(name: bytes) -> bytes:
    return name.rpartition(b".")[0]


def _changed_by_both(
    base: Construct, side: Construct, other: Construct
) -> Iterator[tuple[bytes, Construct, Construct, Construct]]:
    """Yield the functions that both sides changed, with their names in all versions."""
    mine, theirs = (_unique(tree) for tree in (side, other))
    for name, before in _unique(base).items():
        one, two = mine.get(name), theirs.get(name)
        if one and two and not same(before, one) and not same(before, two):
            yield name, before, one, two


def _unique(tree: Construct) -> Mapping[bytes, Construct]:
    found = list(functions_of(tree))
    names = [name for name, _ in found]
    return {name: each for name, each in found if names.count(name) == 1}


def _rebuilt(tree: Construct, changed: Mapping[int, Elements]) -> Construct:
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

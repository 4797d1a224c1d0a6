"""Finds statements whose edits by both sides a merge by structure would refuse."""

from collections.abc import Iterator, Sequence

from cooperbench_eval.languages.faults.gaps import changed_by_both
from cooperbench_eval.languages.tree import (
    Construct,
    DisagreementError,
    Element,
    Mode,
    Token,
    excerpt,
    functions_changed_by_both,
)
from cooperbench_eval.strategies.structured.merge import TreeMerge
from cooperbench_eval.strategies.structured.places import Places


def find_disputed(
    path: str, versions: tuple[bytes, bytes, bytes], merged: bytes, trees: Sequence[Construct]
) -> str:
    """Find a statement whose edits by both sides a merge by structure would refuse.

    A merge by tokens may combine them, since it does not know what an operator or a call
    applies to. The statement may have moved into another block.

    Args:
        path: The file.
        versions: Base, ours and theirs.
        merged: The merged file.
        trees: All of them as trees.
    """
    found = (*_aligned(path, versions, merged), *_moved(trees))
    return next((f"both sides changed {excerpt(e[0])!r}" for e in found if _is_disputed(*e)), "")


def _moved(trees: Sequence[Construct]) -> Iterator[Sequence[Element]]:
    """Yield each statement of a function in all versions, wherever it is."""
    for _, before, functions, merged in functions_changed_by_both(trees[:3], trees[3]):
        known = Places.of(before)
        versions = [Places.of(each) for each in (*functions, merged)]
        places = [known.matched(each) for each in versions]
        for path in set(places[0]).intersection(*places[1:]):
            found = [side.elements[at[path]] for side, at in zip(versions, places, strict=True)]
            yield known.elements[path], *found


def _aligned(
    path: str, versions: tuple[bytes, bytes, bytes], merged: bytes
) -> Iterator[Sequence[Element]]:
    """Yield each member, in all versions, of the constructs that both sides changed."""
    for trees, places in changed_by_both(path, versions, merged):
        if trees[0].mode is not Mode.MEMBERS:
            continue
        for i, child in enumerate(trees[0].children):
            found = [
                side.children[k]
                for side, at in zip(trees[1:], places, strict=True)
                if (k := at[i]) is not None
            ]
            if len(found) == len(places):
                yield child, *found


def _is_disputed(base: Element, ours: Element, theirs: Element, merged: Element) -> bool:
    versions: Sequence[Element] = (base, ours, theirs, merged)
    is_one_kind = len({each.kind for each in versions}) == 1
    if not is_one_kind or len({each.plain for each in versions}) < len(versions):
        return False
    if any(isinstance(each, Token) or _has_suites(each) for each in versions):
        return False
    try:
        TreeMerge().merge(base, ours, theirs)
    except DisagreementError:
        return True
    return False


def _has_suites(element: Construct) -> bool:
    return any(each.kind == "suite" for each in element.walk())

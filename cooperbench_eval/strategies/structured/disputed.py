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
)
from cooperbench_eval.strategies.structured.merge import TreeMerge


def find_disputed(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Find a statement whose edits by both sides a merge by structure would refuse.

    A merge by tokens may combine them, since it does not know what an operator or a call
    applies to.
    """
    found = _aligned(path, versions, merged)
    return next((f"both sides changed {excerpt(e[0])!r}" for e in found if _is_disputed(*e)), "")


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

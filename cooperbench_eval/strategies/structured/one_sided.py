"""Decides what needs no merge, because only one side changed it or both did so alike."""

from typing import TypeVar

from cooperbench_eval.languages.tree import Element, same

T = TypeVar("T")


def taken_whole(base: Element, ours: Element, theirs: Element) -> Element | None:
    """Return the version of the side that changed an element; `None` if both sides did."""
    if ours.source in {theirs.source, base.source}:
        return theirs
    return ours if theirs.source == base.source else None


def taken_by_words(base: Element, ours: Element, theirs: Element) -> Element | None:
    """Return the version of the side that changed the words; `None` if both sides did."""
    if same(ours, theirs) or same(base, theirs):
        return ours
    return theirs if same(base, ours) else None


def changed(base: T, ours: T, theirs: T) -> T:
    """Return the changed value; ours if both sides changed it."""
    return theirs if ours == base else ours

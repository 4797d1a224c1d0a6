"""Hunks of a merge whose origin needs no search, because they are those of the features.

Most hunks of a merge are. Without them, there is little left to follow.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from attrs import evolve

from cooperbench_eval.git.patching.patch_parts import FileChange, FilePatch, Hunk
from cooperbench_eval.presentation.page.sparse import Diff

__all__ = ["Key", "Settled", "find_settled", "key_of", "without"]

Key: TypeAlias = tuple[int, tuple[bytes, ...]]
"""The place of a hunk in the base, and its lines."""
Settled: TypeAlias = Mapping[str, Mapping[Key, tuple[int, ...]]]
"""The features that have a hunk of the merge, by its path and its key."""


def key_of(hunk: Hunk) -> Key:
    """Return a key that equal changes at one place of the base share."""
    return hunk.old_start, hunk.lines


def find_settled(sides: Mapping[int, Diff], merge: Diff) -> Settled:
    """Find the hunks of a merge that features have too, and that no other feature touches."""
    files = {number: {file.path: file for file in diff} for number, diff in sides.items()}
    found: dict[str, Mapping[Key, tuple[int, ...]]] = {}
    for file in merge:
        versions = {n: each[file.path] for n, each in files.items() if file.path in each}
        if all(each.change is FileChange.MODIFY for each in (file, *versions.values())):
            found[file.path] = _settled(file, versions)
    return found


def _settled(file: FilePatch, versions: Mapping[int, FilePatch]) -> dict[Key, tuple[int, ...]]:
    known = {n: {key_of(hunk) for hunk in each.hunks} for n, each in versions.items()}
    touched = {
        n: {line for hunk in each.hunks for line in _lines(hunk)} for n, each in versions.items()
    }
    found: dict[Key, tuple[int, ...]] = {}
    for hunk in file.hunks:
        key = key_of(hunk)
        owners = tuple(n for n, keys in known.items() if key in keys)
        others = (touched[n] for n in versions if n not in owners)
        if owners and all(each.isdisjoint(_lines(hunk)) for each in others):
            found[key] = owners
    return found


def _lines(hunk: Hunk) -> range:
    """Return the numbers of the base's lines that a hunk shows."""
    return range(hunk.old_start, hunk.old_start + max(len(hunk.old), 1))


def without(diff: Diff, settled: Settled) -> Diff:
    """Return a diff without the hunks that are settled."""
    rest: list[FilePatch] = []
    for file in diff:
        keys = settled.get(file.path, {})
        hunks: Sequence[Hunk] = [hunk for hunk in file.hunks if key_of(hunk) not in keys]
        if hunks or not file.hunks:
            rest.append(file if len(hunks) == len(file.hunks) else evolve(file, hunks=hunks))
    return rest

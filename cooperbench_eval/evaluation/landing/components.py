"""Finds patches that cannot affect each other's merges, whatever their order."""

from collections.abc import Iterable, Iterator, Mapping

from cooperbench_eval.git.trees.objects import folders_above
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

__all__ = ["components"]


def components(base: Snapshot, patches: Mapping[int, Changes]) -> list[tuple[int, ...]]:
    """Split patches into groups, so that patches of different groups cannot conflict.

    Patches of different groups touch different paths, and none of these is a folder above
    another. A file that is removed may have been renamed to any file that is added, by
    whatever patch, so patches that remove or add files are in one group if any file is
    removed.

    Args:
        base: The tree from which all patches start.
        patches: The changes of each patch, by its number.

    Returns:
        The groups, each in the order of *patches*, by their first patch.
    """
    parent = {number: number for number in patches}

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    for together in _related(base, patches):
        first, *others = together
        for other in others:
            parent[root(other)] = root(first)
    groups: dict[int, list[int]] = {}
    for number in patches:
        groups.setdefault(root(number), []).append(number)
    return [tuple(group) for group in groups.values()]


def _related(base: Snapshot, patches: Mapping[int, Changes]) -> Iterator[Iterable[int]]:
    """Yield patches that may affect each other."""
    touching: dict[str, list[int]] = {}
    for number, changes in patches.items():
        for path in changes:
            touching.setdefault(path, []).append(number)
    for path, numbers in touching.items():
        above = (folder for folder in folders_above(path) if folder in touching)
        yield [*numbers, *(touching[folder][0] for folder in above)]
    kinds = {number: set(_kinds(base, changes)) for number, changes in patches.items()}
    if any("removed" in each for each in kinds.values()):
        moving = [number for number, each in kinds.items() if each]
        yield moving


def _kinds(base: Snapshot, changes: Changes) -> Iterator[str]:
    """Yield `removed` and `added` if *changes* do so to files."""
    for path, entry in changes.items():
        if entry is None:
            yield "removed"
        elif base.get(path) is None:
            yield "added"
            # A file that replaces a folder removes its files, and vice versa.
            if base.is_directory(path) or any(base.get(each) for each in folders_above(path)):
                yield "removed"

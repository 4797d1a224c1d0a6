"""Reads the branches of a probe, and finds the merge base of two of them."""

import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from attrs import frozen

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.evaluation.probing.memory import Memory, size_of_changes
from cooperbench_eval.git.merging.merge_base import History
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.git.worktrees.names import FoundCommit, Names
from cooperbench_eval.git.worktrees.records import Head, RefProblem
from cooperbench_eval.git.worktrees.worktree import read_worktree

__all__ = ["Bases", "Branch", "Ref", "merged_branch", "read_heads"]

Ref = str | os.PathLike[str]
_MOST_THREADS = 8
_SNAPSHOTS = Memory[Snapshot](32_000)
"""Trees of commits: each keeps the folders and contents that were read last."""
_BASES = Memory[Snapshot | None](4 << 20)
_CHANGES = Memory[Changes](64 << 20, size_of=size_of_changes)


@frozen(kw_only=True)
class Branch:
    """A branch that can be merged.

    Attributes:
        number: Its position among the given names, from 1; 0 for the one on which they land.
        name: Its name.
        commits: The ids of its commits: one, or several if branches were merged, in their order.
        tree: Its files.
    """

    number: int
    name: str
    commits: tuple[str, ...]
    tree: Snapshot


def read_heads(names: Names, refs: Sequence[Ref]) -> list[Head]:
    """Return what each name stands for.

    Working trees are read at the same time, because most of the time is spent waiting for the
    file system.

    Raises:
        RepositoryError: The repository does not know one of these names.
    """
    readers = [_reader(names, ref) for ref in refs]
    slow = sum(not is_fast for is_fast, _ in readers)
    if slow < 2:  # noqa: PLR2004 - nothing to do at the same time
        return [read() for _, read in readers]
    with ThreadPoolExecutor(min(slow, os.cpu_count() or 1, _MOST_THREADS)) as pool:
        return list(pool.map(lambda each: each[1](), readers))


def _reader(names: Names, ref: Ref) -> tuple[bool, Callable[[], Head]]:
    """Return a function that reads a name, and whether it is fast."""
    name = os.fspath(ref)
    found = names.find(ref)
    if isinstance(found, FoundCommit):
        return True, partial(_commit, names, name, found)
    return False, partial(read_worktree, names, name, found)


def _commit(names: Names, name: str, found: FoundCommit) -> Head:
    head = partial(Head, name=name, kind=found.kind, commit_id=found.commit_id)
    try:
        tree = _snapshot(names, found.tree_id, found.commit_id)
    except RepositoryError as exc:
        return head(problem=RefProblem.UNREADABLE, details=exc.problem)
    return head(tree=tree)


def _snapshot(names: Names, tree_id: str, commit_id: str) -> Snapshot:
    key = names.location, tree_id, commit_id
    return _SNAPSHOTS.recall(key, lambda: names.snapshot(tree_id, commit_id))


class Bases:
    """The merge bases of branches.

    Attributes:
        names: The names of the repository.
    """

    def __init__(self, names: Names) -> None:
        """Read the history of the repository of *names*."""
        self.names = names
        self._history = History(names.location)
        self._edits = names.history_edits

    def of(self, ours: Branch, theirs: Branch) -> Snapshot | None:
        """Return the merge base of two branches; `None` if they are unrelated.

        Raises:
            RepositoryError: The history cannot be read.
        """
        key: Hashable = (self.names.location, self._edits, ours.commits, theirs.commits)
        return _BASES.recall(key, lambda: self._base(ours, theirs))

    def _base(self, ours: Branch, theirs: Branch) -> Snapshot | None:
        found = self._history.merge_base(ours.commits, theirs.commits)
        if found is None:
            return None
        # One object for each tree, because merges with the same base share what is kept with it.
        key = self.names.location, found.tree_id, found.commit_id
        return _SNAPSHOTS.recall(key, lambda: found)

    def changes(self, base: Snapshot, tree: Snapshot) -> Changes:
        """Return what a branch changes in a merge base.

        Raises:
            RepositoryError: A folder of one of them cannot be read.
        """
        key = self.names.location, base.tree_id, tree.tree_id
        return _CHANGES.recall(key, lambda: Changes.between(base, tree))


def merged_branch(branches: Iterable[Branch], tree: Snapshot) -> Branch:
    """Return the branch that the merge of several branches gives."""
    parts = tuple(branches)
    return Branch(
        number=0,
        name="+".join(each.name for each in parts),
        commits=tuple(dict.fromkeys(commit for each in parts for commit in each.commits)),
        tree=tree,
    )

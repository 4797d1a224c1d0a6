"""Reads the branches of a probe, and remembers what it found for the next probe.

Each value is found by the contents that it was computed from, so a second probe costs only what
changed. All caches are bounded, and belong to the process, because a caller has no object that
two probes share. Some values keep files of their repository open, so all are forgotten when too
many repositories were probed.
"""

import gc
import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Generic, TypeVar

from attrs import frozen

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.git.worktrees.names import FoundCommit, FoundDamage, FoundWorktree, Names
from cooperbench_eval.git.worktrees.records import Head, RefProblem
from cooperbench_eval.git.worktrees.worktree import has_uncommitted, read_worktree
from cooperbench_eval.support.memo import WeighedMemo

Ref = str | os.PathLike[str]
_MOST_THREADS = 8
_Value = TypeVar("_Value")
_USUAL_BYTES = 1_000
_MOST_REPOSITORIES = 64
_entered: set[str] = set()
_memories: "list[Memory[Any]]" = []


def enter(location: str) -> None:
    """Begin to probe a repository; this may forget the others."""
    if location not in _entered and len(_entered) >= _MOST_REPOSITORIES:
        _entered.clear()
        for memory in _memories:
            memory.forget()
        gc.collect()  # trees refer to their caches, and these to them
    _entered.add(location)


class Memory(Generic[_Value]):
    """Remembers the values that were computed last, up to a total size; `None` is a value too.

    Example:
        >>> memory = Memory[int](max_bytes=2_000)
        >>> memory.recall("tea", lambda: 3), memory.recall("tea", lambda: 4)
        (3, 3)
    """

    def __init__(
        self, max_bytes: int, *, size_of: Callable[[_Value], int] = lambda _: _USUAL_BYTES
    ) -> None:
        """Keep values of up to *max_bytes* in total, as *size_of* estimates them."""
        self._max_bytes = max_bytes
        self._size_of = size_of
        self.forget()
        _memories.append(self)

    def forget(self) -> None:
        """Forget all values."""
        self._values = WeighedMemo[Hashable, tuple[_Value]](self._max_bytes)

    def recall(
        self,
        key: Hashable,
        compute: Callable[[], _Value],
        is_lasting: Callable[[_Value], bool] = lambda _: True,
    ) -> _Value:
        """Return the value of *key*; compute it if it is not remembered.

        What *compute* raises is not remembered, nor is a value that is not lasting.
        """
        found = self._values.get(key)
        if found is None:
            found = (compute(),)
            if is_lasting(found[0]):
                size = self._size_of(found[0]) + _USUAL_BYTES
                found = self._values.keep(key, found, size=size)
        return found[0]


SNAPSHOTS = Memory[Snapshot](32_000)
"""Trees of commits: each keeps the folders and contents that were read last."""


@frozen(kw_only=True)
class Branch:
    """A branch that can be merged.

    Its number is its position among the given names, from 1; 0 for the one on which they land.
    It has several commits if branches were merged, in their order.
    """

    number: int
    name: str
    commits: tuple[str, ...]
    tree: Snapshot


def read_heads(names: Names, onto: Ref, refs: Sequence[Ref]) -> list[Head]:
    """Return what *onto* and each of the *refs* stand for.

    Working trees are read in parallel, because most of the time is spent waiting for the file
    system. The worktrees of a branch are only compared with its commit.
    """
    readers = [_reader(names, onto, is_target=True), *(_reader(names, ref) for ref in refs)]
    slow = sum(not is_fast for is_fast, _ in readers)
    if slow < 2:  # noqa: PLR2004 - nothing to do at the same time
        return [read() for _, read in readers]
    with ThreadPoolExecutor(min(slow, os.cpu_count() or 1, _MOST_THREADS)) as pool:
        return list(pool.map(lambda each: each[1](), readers))


def _reader(names: Names, ref: Ref, *, is_target: bool = False) -> tuple[bool, Callable[[], Head]]:
    name = os.fspath(ref)
    found = names.find(ref)
    if isinstance(found, FoundWorktree):
        return False, partial(read_worktree, names, name, found)
    if isinstance(found, FoundDamage):
        problem = RefProblem.UNREADABLE
        return True, partial(
            Head, name=name, kind=found.kind, problem=problem, details=found.problem
        )
    trees = names.worktrees_of(found.branch) if found.branch and not is_target else []
    return not trees, partial(_commit, names, name, found, trees)


def _commit(names: Names, name: str, found: FoundCommit, trees: Iterable[FoundWorktree]) -> Head:
    states = {str(each.folder): has_uncommitted(names, each) for each in trees}
    head = partial(
        Head,
        name=name,
        kind=found.kind,
        commit_id=found.commit_id,
        uncommitted=[folder for folder, state in states.items() if state],
        unread_worktrees=[folder for folder, state in states.items() if state is None],
    )
    try:
        tree = _snapshot(names, found.tree_id, found.commit_id)
    except RepositoryError as exc:
        return head(problem=RefProblem.UNREADABLE, details=exc.problem)
    return head(tree=tree)


def _snapshot(names: Names, tree_id: str, commit_id: str) -> Snapshot:
    key = names.location, tree_id, commit_id
    return SNAPSHOTS.recall(key, lambda: names.snapshot(tree_id, commit_id))


def merged_branch(branches: Iterable[Branch], tree: Snapshot) -> Branch:
    """Return the merge of several branches as a branch."""
    parts = tuple(branches)
    return Branch(
        number=0,
        name="+".join(each.name for each in parts),
        commits=tuple(dict.fromkeys(commit for each in parts for commit in each.commits)),
        tree=tree,
    )

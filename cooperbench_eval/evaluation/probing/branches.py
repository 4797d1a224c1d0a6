"""Reads the branches of a probe, merges every two, and remembers what it found for the next probe.

Each value is found by the contents that it was computed from, so a second probe costs only what
changed. All caches are bounded, and belong to the process, because a caller has no object that
two probes share. Some values keep files of their repository open, so all are forgotten when too
many repositories were probed.
"""

import gc
import os
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any, Generic, TypeVar

from attrs import field, frozen

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.evaluation.sides import (
    Merged,
    Side,
    merge_input,
    merge_sides,
    size_of_changes,
)
from cooperbench_eval.git.merging.conflicts import Conflict, MergeStatus
from cooperbench_eval.git.merging.merge_base import History
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.git.worktrees.names import FoundCommit, FoundDamage, FoundWorktree, Names
from cooperbench_eval.git.worktrees.records import Head, RefProblem
from cooperbench_eval.git.worktrees.worktree import has_uncommitted, read_worktree
from cooperbench_eval.languages.outline import UnreadableError, functions, is_known
from cooperbench_eval.reporting.probes import ConflictedFile, ProbeState
from cooperbench_eval.strategies.protocol import FeatureContext, MergeStrategy
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
        """Return the value of *key*, or compute it; only one that is lasting is remembered."""
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


# --- two branches ---


_MERGES = Memory["Met"](8 << 20)
_BASES = Memory[Snapshot | None](4 << 20)
_CHANGES = Memory[Changes](64 << 20, size_of=size_of_changes)
_Spans = tuple[tuple[str, int, int], ...]
_SPANS = WeighedMemo[tuple[str, bytes], _Spans](16 << 20)
"""The definitions of a text with their first and last lines: an agent's file is in many pairs."""
_LONGEST = 2_000_000
"""In a text of more bytes, definitions are not looked for."""
_Place = tuple[tuple[range, bytes], ...]
"""The lines of a conflict in each side's version of the file, and the versions."""
_STATES = {
    MergeStatus.CLEAN: ProbeState.CLEAN,
    MergeStatus.RESOLVED: ProbeState.RESOLVED,
    MergeStatus.CONFLICTED: ProbeState.CONFLICTS,
    MergeStatus.FAILED: ProbeState.FAILED,
}


@frozen(kw_only=True)
class Met:
    """How two branches merge; the *problem* has details of the state, as a clause."""

    state: ProbeState
    files: tuple[ConflictedFile, ...] = field(default=(), converter=tuple[ConflictedFile, ...])
    problem: str = ""


class PairMerger:
    """Merges every two branches once; *key* identifies the strategy among the remembered merges."""

    def __init__(self, names: Names, strategy: MergeStrategy, key: Hashable) -> None:
        self.names = names
        self.strategy = strategy
        self.key = key
        self._history = History(names.location)
        self._edits = names.history_edits

    def base_of(self, ours: Branch, theirs: Branch) -> Snapshot | None:
        """Return the merge base of two branches; `None` if they are unrelated."""
        key: Hashable = (self.names.location, self._edits, ours.commits, theirs.commits)
        return _BASES.recall(key, lambda: self._base(ours, theirs))

    def _base(self, ours: Branch, theirs: Branch) -> Snapshot | None:
        found = self._history.merge_base(ours.commits, theirs.commits)
        if found is None:
            return None
        # One object for each tree, because merges with the same base share what is kept with it.
        key = self.names.location, found.tree_id, found.commit_id
        return SNAPSHOTS.recall(key, lambda: found)

    def changes(self, base: Snapshot, tree: Snapshot) -> Changes:
        """Return what a branch changes in a merge base."""
        key = self.names.location, base.tree_id, tree.tree_id
        return _CHANGES.recall(key, lambda: Changes.between(base, tree))

    def read_all(self, changes: Changes) -> None:
        """Read all files that a branch changes, so that a damaged one is noticed.

        The merge itself reads only files that both sides change, but its result contains the
        others too. A partial clone is not checked, because git fetches its absent files.
        """
        if not self.names.is_partial:
            for entry in filter(None, changes.values()):
                len(entry.data)

    def pair(self, ours: Branch, theirs: Branch) -> Met:
        """Merge two branches."""
        try:
            base = self.base_of(ours, theirs)
            if base is None:
                return Met(state=ProbeState.UNRELATED, problem=self._unrelated(ours, theirs))
            return self._met(base, ours, theirs)
        except RepositoryError as exc:
            return Met(state=ProbeState.UNREADABLE, problem=exc.problem)

    def merged(self, base: Snapshot, ours: Side, theirs: Side) -> Merged:
        """Merge two sides of a base."""
        return merge_sides(self.strategy, merge_input(base, ours, theirs))

    def _met(self, base: Snapshot, ours: Branch, theirs: Branch) -> Met:
        trees = base.tree_id, ours.tree.tree_id, theirs.tree.tree_id
        key = self.names.location, self.key, *trees

        def compute() -> Met:
            sides = (side_of(each, self.changes(base, each.tree)) for each in (ours, theirs))
            merged = self.merged(base, *sides)
            return Met(
                state=_STATES[merged.outcome.status],
                files=_conflicted_files(merged),
                problem=merged.outcome.failure,
            )

        return _MERGES.recall(key, compute, lambda met: met.state is not ProbeState.FAILED)

    def _unrelated(self, ours: Branch, theirs: Branch) -> str:
        problem = f"{theirs.name} has no commit in common with {ours.name}"
        if self.names.is_shallow:
            return (
                f"{problem} in this clone, which is shallow: `git fetch --unshallow` gets the rest"
            )
        return problem


def side_of(branch: Branch, changes: Changes) -> Side:
    """Return a branch as a side of a merge."""
    return Side((FeatureContext(number=branch.number),), changes)


def _conflicted_files(merged: Merged) -> Iterator[ConflictedFile]:
    places = _places(merged)
    conflicts = sorted(merged.outcome.conflicts, key=lambda each: each.path)
    for path, group in groupby(conflicts, key=lambda each: merged.name_on_a_side(each.path)):
        found = list(group)
        names: dict[str, None] = {}
        for conflict in found:
            for lines, text in places.get(_key(conflict), ()):
                names |= dict.fromkeys(_definitions(path, text, lines))
        yield ConflictedFile(
            path=path,
            kinds=dict.fromkeys(each.kind for each in found),
            conflicts=len(found),
            definitions=names,
        )


def _key(conflict: Conflict) -> tuple[object, ...]:
    texts = (conflict.ours, conflict.theirs) if conflict.has_lines else ()
    return conflict.path, conflict.kind, *texts


def _places(merged: Merged) -> Mapping[tuple[object, ...], _Place]:
    """Return where the conflicts of the three-way merge are.

    A strategy may open conflicts of its own, which are nowhere in the sides' files.
    """
    merge = merged.given.merge
    found: dict[tuple[object, ...], _Place] = {}
    seen: Counter[str] = Counter()
    for conflict in merge.conflicts:
        if conflict.has_lines:
            path = conflict.path
            _, ours, theirs = merge.lines_in(path)[seen[path]]
            _, our_text, their_text = merge.versions_of(path)
            seen[path] += 1
            key = _key(conflict)
            found[key] = (*found.get(key, ()), (ours, our_text), (theirs, their_text))
    return found


def _definitions(path: str, text: bytes, lines: range) -> Collection[str]:
    """Return the definitions that some lines of a text, counted from 0, are in."""
    if not is_known(path) or len(text) > _LONGEST:
        return ()
    first, last = lines.start + 1, lines.stop
    if lines:
        return [name for name, top, end in _spans(path, text) if top <= last and first <= end]
    # The side has nothing left between two lines: a definition counts if it has both of them.
    return [name for name, top, end in _spans(path, text) if top < first <= end]


def _spans(path: str, text: bytes) -> _Spans:
    key = PurePosixPath(path).suffix, text
    spans = _SPANS.get(key)
    if spans is None:
        try:
            found = functions(path, text)
        except UnreadableError:
            found = {}
        spans = tuple((name, each.first, each.last) for name, each in found.items())
        spans = _SPANS.keep(key, spans, size=2 * len(text) + 200)
    return spans

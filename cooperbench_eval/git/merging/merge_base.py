"""The tree on which two commits are merged: their merge base, found as git finds it.

The best common ancestors are those of `git merge-base --all`. Commits are visited from the
newest to the oldest. Each is marked with the sides from which it can be reached. One that both
sides reach is a common ancestor, and it marks its own ancestors as superseded. The search ends
when only superseded commits are left. If clocks were wrong, a result can still be an ancestor
of another one, so each is compared with the others.

If two commits have several merge bases, git merges these first and uses the result as the
base. Such a merge always gives a tree: text conflicts stay in it between markers, and
special rules settle everything else, mostly in favour of the base. The rules are those that
`git merge-tree` shows.
"""

import heapq
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from attrs import evolve

from cooperbench_eval.errors import ArgumentError, RepositoryError
from cooperbench_eval.git.merging.conflicts import ConflictKind
from cooperbench_eval.git.merging.entry_merge import ContentMerge, Side, Slot
from cooperbench_eval.git.merging.three_way_merge import Labels
from cooperbench_eval.git.merging.tree_merge import Merger
from cooperbench_eval.git.trees.entries import Entry, with_mode
from cooperbench_eval.git.trees.objects import Commit
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot, cache_of, is_same
from cooperbench_eval.support.arguments import checked
from cooperbench_eval.support.memo import Memo

# What a commit is marked with; plain numbers, because a walk may visit 100,000 commits.
_ONE, _OTHERS, _SUPERSEDED = 1, 2, 4
_COMMON = _ONE | _OTHERS

_Find = Callable[[str], Commit]


def merge_bases(find: _Find, one: str, others: Sequence[str]) -> list[str]:
    """Return the merge bases of *one* commit and the merge of *others*, the newest first.

    Commits of one time are in the order in which git lists them.
    """
    if one in others:
        return [one]
    walk = _Walk(find)
    found = walk.common(one, others)
    if len(found) > 1:
        found = _independent(find, found)
    return found


class _Walk:
    def __init__(self, find: _Find) -> None:
        self._find = find
        self.marks: dict[str, int] = {}
        self._queue: list[tuple[int, int, str]] = []
        self._counted = 0
        self._queued = Counter[str]()  # the commits that are not superseded

    def common(self, one: str, others: Sequence[str]) -> list[str]:
        """Return the best common ancestors; one may be superseded if clocks were wrong."""
        self._mark(one, _ONE)
        for other in others:
            self._mark(other, _OTHERS)
        found: dict[str, None] = {}
        while self._queued:
            commit = heapq.heappop(self._queue)[2]
            self._leave(commit)
            marks = self.marks[commit]
            if marks == _COMMON:
                found[commit] = None
                marks |= _SUPERSEDED
            for parent in self._find(commit).parents:
                if self.marks.get(parent, 0) & marks != marks:
                    self._mark(parent, marks)
        left = (each for each in found if not self.marks[each] & _SUPERSEDED)
        return _by_time(self._find, left)

    def _mark(self, commit: str, marks: int) -> None:
        now = self.marks[commit] = self.marks.get(commit, 0) | marks
        heapq.heappush(self._queue, (-self._find(commit).time, self._counted, commit))
        self._counted += 1
        if now & _SUPERSEDED:
            self._queued.pop(commit, None)
        else:
            self._queued[commit] += 1

    def _leave(self, commit: str) -> None:
        if commit in self._queued:
            self._queued[commit] -= 1
            if not self._queued[commit]:
                del self._queued[commit]


def _by_time(find: _Find, commits: Iterable[str]) -> list[str]:
    """Sort commits, the newest first; those of one time keep their order."""
    return sorted(commits, key=lambda each: -find(each).time)


def _independent(find: _Find, commits: Iterable[str]) -> list[str]:
    """Return those commits that are not ancestors of others among them, the newest first."""
    commits = list(commits)
    redundant: set[str] = set()
    for commit in commits:
        others = [each for each in commits if each != commit and each not in redundant]
        if commit in redundant or not others:
            continue
        walk = _Walk(find)
        walk.common(commit, others)
        if walk.marks[commit] & _OTHERS:
            redundant.add(commit)
        redundant.update(each for each in others if walk.marks[each] & _ONE)
    return _by_time(find, (each for each in commits if each not in redundant))


_LABELS = Labels(ours="Temporary merge branch 1", theirs="Temporary merge branch 2")
_LONGER = 2  # characters of a marker, for each level


class _VirtualMerger(Merger):
    """Merges two merge bases; markers are longer at each level of bases of bases."""

    is_virtual = True

    def __init__(self, base: Snapshot, ours: Changes, theirs: Changes, level: int) -> None:
        super().__init__(base, ours, theirs, _LABELS)
        self._longer = _LONGER * level

    def merge_contents(self, slot: Slot, marker_size: int = 7) -> ContentMerge:
        merge = super().merge_contents(slot, marker_size + self._longer)
        if not merge.unmergeable:
            return merge
        base = slot.versions[Side.BASE]
        if base is None or not base.mode.is_regular:
            base = Entry(b"")
        return evolve(merge, entry=with_mode(base, merge.entry.mode))

    def is_apart(self, slot: Slot) -> bool:
        base, ours, theirs = slot.versions
        is_link = ours is not None and not ours.mode.is_regular
        return super().is_apart(slot) or (is_link and ours != theirs and base not in {ours, theirs})

    def one_sided(self, slot: Slot) -> Entry | None:
        return slot.versions[Side.BASE] or super().one_sided(slot)

    def separate(self, path: str, slot: Slot) -> None:
        self.put(path, slot.versions[Side.BASE])
        self.conflict(path, ConflictKind.TYPE, slot)


_KEPT_COMMITS = 1 << 17
_KEPT_BASES = 1024
_KEPT_TREES = 8  # of up to 20 MB each
# Times of commits that exist only here. Git gives virtual merge bases the time 0; a commit that
# stands for a merge to come is later than all others.
_FIRST, _LAST = 0, 1 << 62


@checked
def merge_base(repo: str | os.PathLike[str], one: str, other: str) -> Snapshot:
    """Return the tree on which git merges two commits of a repository.

    If they have several merge bases, git first merges these into a virtual one, and so does
    this function. The virtual base has no `commit_id`.

    Args:
        repo: A working tree with its `.git`, or a bare repository.
        one: A commit, branch or tag.
        other: A commit, branch or tag.

    Raises:
        RepositoryError: *repo* is not a repository, it has no such commit, or the commits have
            no common ancestor.
    """
    history = History(os.path.abspath(repo))  # noqa: PTH100 - links are kept as given
    base = history.merge_base([history.find(one)], [history.find(other)])
    return history.required(base, one, other)


def common_base(starts: Iterable[Snapshot]) -> Snapshot:
    """Return the tree on which sides that start from several trees are merged.

    If all trees are the same, it is that tree; otherwise it is the best common ancestor of their
    commits, which must be in one repository.
    """
    found = different(starts)
    first, *others = found
    if not others:
        return first
    commits, history = _commits(found), _history_of(first)
    return history.required(history.merge_base_of_all(commits), *commits)


def step_base(ours: Iterable[Snapshot], theirs: Iterable[Snapshot]) -> Snapshot:
    """Return the merge base of two sides, by the trees from which the features of each start."""
    ours, theirs = different(ours), different(theirs)
    first, *others = different((*ours, *theirs))
    if not others:
        return first
    sides, history = (_commits(ours), _commits(theirs)), _history_of(first)
    return history.required(history.merge_base(*sides), *(side[0] for side in sides))


def different(trees: Iterable[Snapshot]) -> list[Snapshot]:
    """Return the trees, each of them once."""
    found: list[Snapshot] = []
    for tree in trees:
        if not any(is_same(tree, each) for each in found):
            found.append(tree)
    return found


def _commits(trees: Iterable[Snapshot]) -> list[str]:
    commits = []
    for tree in trees:
        if tree.commit_id is None or tree.location is None:
            problem = "must be a commit of a repository if features start from different trees"
            raise ArgumentError("base", f"{problem}, not {tree!r:.200}")
        commits.append(tree.commit_id)
    return commits


def _history_of(tree: Snapshot) -> "History":
    """Return the history of a commit's repository, which is kept with the commit's tree.

    Features share the trees from which they start, and so their pairs share merge bases.
    """
    location = str(tree.location)
    return cache_of(tree, _histories).recall(location, lambda: History(location))


def _histories() -> Memo[str, "History"]:
    return Memo(1)


class History:
    """The commits of a repository, and their merge bases."""

    def __init__(self, location: str) -> None:
        """Open the repository."""
        from cooperbench_eval.git.trees.repository import (  # noqa: PLC0415 - loads libgit2
            CommitGraph,
        )

        self.location = location
        self._graph = CommitGraph(location)
        self._commits: dict[str, Commit] = {}
        self._bases = Memo[tuple[tuple[str, ...], tuple[str, ...]], tuple[str, ...]](_KEPT_BASES)
        self._trees = Memo[tuple[str, ...], Snapshot](_KEPT_TREES)

    def find(self, revision: str) -> str:
        """Return the id of the commit that a revision names."""
        return self._graph.find(revision)

    def snapshot(self, commit_id: str) -> Snapshot:
        """Return the tree of a commit."""
        return self._merged((commit_id,))

    def merge_base(self, ours: Sequence[str], theirs: Sequence[str]) -> Snapshot | None:
        """Return the tree on which two sides are merged; `None` if no ancestor is common.

        Args:
            ours: The id of the commit that one side consists of, or of several that were merged
                into it.
            theirs: The same of the other side.
        """
        key, graph = (tuple(ours), tuple(theirs)), _Virtual(self)
        found = self._bases.recall(
            key, lambda: tuple(graph.bases(graph.merged(key[0]), graph.merged(key[1])))
        )
        return self._merged(found) if found else None

    def merge_base_of_all(self, commits: Sequence[str]) -> Snapshot | None:
        """Return the best common ancestor of several commits; `None` if they have none.

        It is that of `git merge-base --octopus`; several are merged into a virtual one.
        """
        first, *others = commits
        found = [first]
        for other in others:
            bases = (base for each in found for base in merge_bases(self.commit, each, [other]))
            found = _independent(self.commit, dict.fromkeys(bases))
        return self._merged(tuple(found)) if found else None

    def _merged(self, commits: tuple[str, ...]) -> Snapshot:
        """Return the tree of a commit, or the virtual merge base that several commits give."""
        return self._trees.recall(commits, lambda: _Virtual(self).base_of(commits, level=0))

    def read(self, commit_id: str) -> Snapshot:
        """Read the tree of a commit, without keeping it."""
        tree = self._graph.tree(commit_id)
        return Snapshot(tree, location=self.location, commit_id=commit_id)

    def commit(self, commit_id: str) -> Commit:
        """Return the parents and the time of a commit."""
        commit = self._commits.get(commit_id)
        if commit is None:
            if len(self._commits) >= _KEPT_COMMITS:  # dropping single ones would be slow
                self._commits.clear()
            commit = self._commits[commit_id] = self._graph.commit(commit_id)
        return commit

    def required(self, base: Snapshot | None, *commits: str) -> Snapshot:
        """Return the base of commits, or raise the error that they have no common ancestor."""
        if base is not None:
            return base
        problem = f"has no common ancestor of {' and '.join(commits)}"
        if self._graph.is_shallow():
            problem += "; its history is cut off, because it is a shallow clone: use a full one"
        raise RepositoryError(self.location, problem)


class _Virtual:
    """A history with further commits, which exist only while a merge base is made."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._made: dict[str, tuple[Commit, Snapshot | None]] = {}

    def merged(self, commits: Sequence[str]) -> str:
        return commits[0] if len(commits) == 1 else self._make(Commit(tuple(commits), _LAST))

    def bases(self, one: str, other: str) -> list[str]:
        """Return the merge bases of two commits, the newest first."""
        return merge_bases(self._commit, one, [other])

    def base_of(self, bases: Sequence[str], level: int) -> Snapshot:
        """Merge several merge bases, the oldest first; each of these merges has its own base."""
        *newer, together = bases
        for each in reversed(newer):
            found = self.bases(together, each)
            base = self.base_of(found, level + 1) if found else Snapshot.from_files({})
            one, other = (Changes.between(base, self._tree(commit)) for commit in (together, each))
            merged = base.overlay(_VirtualMerger(base, one, other, level + 1).run().changes)
            together = self._make(Commit((together, each), _FIRST), merged)
        return self._tree(together)

    def _make(self, commit: Commit, tree: Snapshot | None = None) -> str:
        name = f"virtual {len(self._made)}"
        self._made[name] = commit, tree
        return name

    def _commit(self, commit_id: str) -> Commit:
        made = self._made.get(commit_id)
        return made[0] if made else self._history.commit(commit_id)

    def _tree(self, commit_id: str) -> Snapshot:
        made = self._made.get(commit_id)
        tree = made[1] if made else None
        return self._history.read(commit_id) if tree is None else tree

"""The best common ancestors of commits: the merge bases, as `git merge-base --all` lists them.

Commits are visited from the newest to the oldest. Each is marked with the sides from which it
can be reached. One that both sides reach is a common ancestor, and it marks its own ancestors
as superseded. The search ends when only superseded commits are left. If clocks were wrong, a
result can still be an ancestor of another one, so each is compared with the others.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from attrs import frozen


@frozen
class Commit:
    """What the search needs to know of a commit.

    Attributes:
        parents: The ids of its parents, in their order.
        time: When it was committed, in seconds since 1970.
    """

    parents: tuple[str, ...]
    time: int


# What a commit is marked with; plain numbers, because a walk may visit 100,000 commits.
_ONE, _OTHERS, _SUPERSEDED = 1, 2, 4
_COMMON = _ONE | _OTHERS

_Find = Callable[[str], Commit]


def merge_bases(find: _Find, one: str, others: Sequence[str]) -> list[str]:
    """Return the merge bases of a commit and the merge of some others, the newest first.

    Commits of one time are in the order in which git lists them.

    Args:
        find: Returns a commit by its id.
        one: A commit.
        others: One or more commits. Several stand for a commit that merges them.
    """
    if one in others:
        return [one]
    search = _Search(find)
    found = search.common(one, others)
    if len(found) > 1:
        found = independent(find, found)
    return found


class _Search:
    """One walk through the history."""

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


def independent(find: _Find, commits: Iterable[str]) -> list[str]:
    """Return those commits that are not ancestors of others among them, the newest first."""
    commits = list(commits)
    redundant: set[str] = set()
    for commit in commits:
        others = [each for each in commits if each != commit and each not in redundant]
        if commit in redundant or not others:
            continue
        search = _Search(find)
        search.common(commit, others)
        if search.marks[commit] & _OTHERS:
            redundant.add(commit)
        redundant.update(each for each in others if search.marks[each] & _ONE)
    return _by_time(find, (each for each in commits if each not in redundant))

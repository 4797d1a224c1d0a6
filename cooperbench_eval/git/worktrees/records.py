"""Records of what a name stands for in a repository: a tree, or why there is none."""

from enum import StrEnum
from pathlib import Path

from attrs import field, frozen

from cooperbench_eval.git.trees.snapshot import Snapshot


class RefKind(StrEnum):
    """What a name of a repository stands for."""

    BRANCH = "branch"
    """A branch, local or remote."""
    TAG = "tag"
    """A tag."""
    COMMIT = "commit"
    """A commit, in any other form that `git rev-parse` accepts."""
    WORKTREE = "worktree"
    """A working tree, with its uncommitted changes."""


class RefProblem(StrEnum):
    """Why a name that the repository knows has no tree to merge."""

    UNBORN = "unborn"
    """Nothing has been committed to the worktree's branch yet."""
    IN_PROGRESS = "in_progress"
    """The worktree is in the middle of a merge, a rebase or the like, or has unmerged files."""
    MISSING = "missing"
    """The worktree's folder is missing."""
    UNREADABLE = "unreadable"
    """The worktree, or a file of it, cannot be read."""


@frozen(kw_only=True)
class Head:
    """The tree that a name stands for, or why it has none.

    Attributes:
        name: The name, as the caller gave it.
        folder: The top folder of a working tree; `None` for other names.
        commit_id: The id of the commit; that of `HEAD` for a working tree. `None` if there is none.
        tree: Its files, uncommitted changes included; `None` if there is a problem.
        is_dirty: Whether the tree differs from that of the commit.
        unfiltered: Files that git would pass through a program, such as that of Git LFS. The tree
            has their contents as on disk, or as in the index if that has their size and times.
        unsettled: What changed during the last try to read the files, if something did in each.
        uncommitted: The folders of a branch's worktrees that have uncommitted changes.
        unread_worktrees: The folders of those that cannot be read.
        problem: Why the name has no tree.
        details: The problem as a clause, such as `the worktree is in the middle of a rebase`.
    """

    name: str
    kind: RefKind
    folder: Path | None = None
    commit_id: str | None = None
    tree: Snapshot | None = None
    is_dirty: bool = False
    unfiltered: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    unsettled: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    uncommitted: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    unread_worktrees: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    problem: RefProblem | None = None
    details: str = ""

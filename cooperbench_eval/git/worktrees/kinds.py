"""What the names of a repository stand for."""

from enum import StrEnum

__all__ = ["RefKind"]


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

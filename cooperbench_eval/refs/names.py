"""Finds what a name of a repository stands for. An adapter to pygit2, which only reads."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pygit2
from attrs import frozen

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.models import Entry, RefKind
from cooperbench_eval.objects import Node
from cooperbench_eval.repository import CommitStore, opened, unfetched
from cooperbench_eval.snapshot import Snapshot
from cooperbench_eval.suggestions import it_has

__all__ = ["FoundCommit", "FoundWorktree", "Names"]

Ref = str | os.PathLike[str]


@frozen(kw_only=True)
class FoundCommit:
    """A name that stands for a commit.

    Attributes:
        kind: What it stands for.
        commit_id: The id of the commit.
        tree_id: The id of its tree.
    """

    kind: RefKind
    commit_id: str
    tree_id: str


@frozen(kw_only=True)
class FoundWorktree:
    """A name that stands for a working tree.

    Attributes:
        folder: Its top folder, which may be missing.
        is_known: Whether the repository knows it as a linked worktree.
        lock: Why it is locked; empty if it is not.
    """

    folder: Path
    is_known: bool = False
    lock: str = ""


class Names:
    """The names of a repository.

    Attributes:
        location: The path of the repository, as it appears in errors.
        is_shallow: Whether the clone lacks the older part of its history.
        common: The folder that all its worktrees share.
    """

    def __init__(self, location: str) -> None:
        """Open a repository.

        Raises:
            RepositoryError: *location* is not a repository, or it belongs to another user.
        """
        self.location = location
        self._repository = opened(location)
        self.is_shallow = self._repository.is_shallow
        self.common = _common_folder(self._repository)

    def find(self, ref: Ref) -> FoundCommit | FoundWorktree:
        """Return what *ref* stands for: first a revision, then a worktree's name, then its path.

        A path object stands for a worktree only.

        Raises:
            RepositoryError: There is nothing of that name.
        """
        name = os.fspath(ref)
        if isinstance(ref, str) and (commit := self._commit(name)):
            return commit
        worktree = self._linked(name) or self._at(Path(os.path.abspath(name)))  # noqa: PTH100
        if worktree is None:
            raise RepositoryError(self.location, self._unknown(name))
        return worktree

    def snapshot(self, tree_id: str, commit_id: str | None = None) -> Snapshot:
        """Return a tree of the repository.

        Raises:
            RepositoryError: It is absent.
        """
        store = CommitStore(self.location, tree_id, self._repository)
        return Snapshot(store, location=self.location, commit_id=commit_id)

    def entries(self, tree_id: str, nodes: Mapping[str, Node | None]) -> dict[str, Entry | None]:
        """Return the entries of nodes, whose contents are read from the repository when used."""
        store = CommitStore(self.location, tree_id, self._repository)
        return {path: node and store.entry(path, node) for path, node in nodes.items()}

    def owns(self, folder: Path, repository: pygit2.Repository) -> bool:
        """Whether a working tree at *folder*, which was opened, belongs to this repository."""
        top = repository.workdir
        is_top = top is not None and Path(top).resolve() == folder.resolve()
        return is_top and _common_folder(repository) == self.common

    @property
    def history_edits(self) -> tuple[bytes, ...]:
        """The contents of the files that cut off or change the parents of commits."""
        names = "shallow", "info/grafts"
        return tuple(_contents(self.common / name) for name in names)

    # --- commits ---

    def _commit(self, name: str) -> FoundCommit | None:
        if name == "HEAD" and self._repository.head_is_unborn:
            problem = "nothing was committed to the branch of HEAD yet"
            raise RepositoryError(self.location, problem)
        try:
            found, reference = self._repository.resolve_refish(name)
        except (KeyError, ValueError, pygit2.GitError):
            return None
        try:
            found = found.peel(pygit2.Commit)
        except (ValueError, pygit2.GitError):
            return None  # a tree or a file
        full = reference.name if reference else ""
        kind = RefKind.COMMIT
        if full.startswith(("refs/heads/", "refs/remotes/")):
            kind = RefKind.BRANCH
        elif full.startswith("refs/tags/"):
            kind = RefKind.TAG
        return FoundCommit(kind=kind, commit_id=str(found.id), tree_id=str(found.tree_id))

    # --- worktrees ---

    def _linked(self, name: str) -> FoundWorktree | None:
        if not name or "/" in name or os.sep in name or name in {".", ".."}:
            return None
        return self._registered(self.common / "worktrees" / name)

    def _registered(self, folder: Path) -> FoundWorktree | None:
        """Return the worktree that the repository describes in *folder*."""
        try:
            text = (folder / "gitdir").read_bytes()
        except OSError:
            return None
        link = Path(os.fsdecode(text.rstrip(b"\r\n")))
        lock = ""
        try:
            reason = (folder / "locked").read_bytes()
            lock = reason.decode("utf-8", "backslashreplace").strip() or "without a reason"
        except OSError:
            pass
        # A relative path starts from that folder.
        top = Path(os.path.normpath(folder / link)).parent
        return FoundWorktree(folder=top, is_known=True, lock=lock)

    def _worktrees(self) -> Iterator[tuple[str, FoundWorktree]]:
        try:
            folders = sorted((self.common / "worktrees").iterdir())
        except OSError:
            return
        for each in folders:
            if found := self._registered(each):
                yield each.name, found

    def _at(self, folder: Path) -> FoundWorktree | None:
        """Return the worktree at a path."""
        real = folder.resolve()
        known = [each for _, each in self._worktrees() if each.folder.resolve() == real]
        if known:
            return known[0]
        return FoundWorktree(folder=folder) if folder.is_dir() else None

    def _unknown(self, name: str) -> str:
        prefixes = ("refs/heads/", "refs/remotes/", "refs/tags/")
        known = {
            name.removeprefix(prefix)
            for name in self._repository.listall_references()
            for prefix in prefixes
            if name.startswith(prefix)
        }
        known |= {each for each, _ in self._worktrees()}
        instead = unfetched(self._repository) or f"; {it_has(name, known)}"
        return f"has no branch, tag, commit or worktree {name!r}{instead}"


def _common_folder(repository: pygit2.Repository) -> Path:
    """Return the folder that all worktrees of a repository share."""
    folder = Path(repository.path)
    try:
        shared = (folder / "commondir").read_bytes().rstrip(b"\r\n")
    except OSError:
        return folder.resolve()
    return (folder / os.fsdecode(shared)).resolve()


def _contents(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""

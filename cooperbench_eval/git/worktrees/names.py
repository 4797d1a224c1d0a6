"""Finds the commit or worktree that a name stands for in a repository, which it only reads."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path

import pygit2
from attrs import frozen

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.git.trees.loose_objects import common_folder, contents, guarded
from cooperbench_eval.git.trees.repository import CommitStore, is_partial, opened, unfetched
from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.git.worktrees.records import RefKind
from cooperbench_eval.support.error_texts import it_has

Ref = str | os.PathLike[str]
_PREFIXES = ("refs/heads/", "refs/remotes/", "refs/tags/")
_REPLACED = re.compile(rb" refs/replace/([0-9a-f]{40})$", re.MULTILINE)
_FULL_ID = re.compile("[0-9a-fA-F]{40}")


@frozen(kw_only=True)
class FoundCommit:
    """A name that stands for a commit.

    Attributes:
        branch: The full name of the local branch; empty if it is not one.
    """

    kind: RefKind
    commit_id: str
    tree_id: str
    branch: bytes = b""


@frozen(kw_only=True)
class FoundDamage:
    """A name that stands for a commit that cannot be read.

    Attributes:
        problem: Why it cannot be read, as a clause.
    """

    kind: RefKind
    problem: str


@frozen(kw_only=True)
class FoundWorktree:
    """A name that stands for a working tree.

    Attributes:
        folder: Its top folder, which may be missing.
        is_known: Whether the repository knows it as a linked worktree.
        lock: Why it is locked; empty if it is not.
        branches: The full names of the branches that are checked out or rebased in it.
    """

    folder: Path
    is_known: bool = False
    lock: str = ""
    branches: frozenset[bytes] = frozenset()


class Names:
    """The names of a repository.

    Attributes:
        location: The path of the repository, as it appears in errors.
        is_shallow: Whether the clone lacks the older part of its history.
        common: The folder that all its worktrees share.
    """

    def __init__(self, location: str) -> None:
        """Open a repository; raise `RepositoryError` if there is none, or it is another user's."""
        self.location = location
        self._repository = guarded(opened(location))
        self.is_shallow = self._repository.is_shallow
        self.common = common_folder(self._repository.path)

    def find(self, ref: Ref) -> FoundCommit | FoundDamage | FoundWorktree:
        """Return what *ref* stands for: first a revision, then a worktree's name, then its path.

        A path object stands for a worktree only.

        Raises:
            RepositoryError: Nothing has that name, or it stands for a file or a folder.
        """
        name = os.fspath(ref)
        try:
            commit = self._commit(name) if isinstance(ref, str) else None
            worktree = self._worktrees.get(name) or self._at(name) if commit is None else None
            found = commit or worktree or self._damaged(name)
            problem = "" if found else self._absent(name)
        except (OSError, ValueError, pygit2.GitError) as exc:
            raise RepositoryError(self.location, f"{name!r} cannot be read there ({exc})") from exc
        if found is None:
            raise RepositoryError(self.location, problem)
        return found

    def snapshot(self, tree_id: str, commit_id: str | None = None) -> Snapshot:
        """Return a tree of the repository; raise `RepositoryError` if it is absent."""
        return Snapshot(self.store(tree_id), location=self.location, commit_id=commit_id)

    def store(self, tree_id: str) -> CommitStore:
        """Return the source of a tree's contents; raise `RepositoryError` if it is absent."""
        return CommitStore(self.location, tree_id, self._for_trees)

    def worktree(self, folder: Path) -> pygit2.Repository:
        """Open the worktree at *folder*.

        Raises:
            RepositoryError: It cannot be opened, or it is not a worktree of this repository.
        """
        repository = guarded(opened(str(folder), is_top=True))
        if repository.is_bare:
            raise RepositoryError(str(folder), "is a bare repository, which has no worktree")
        top = Path(repository.workdir)
        is_ours = common_folder(repository.path) == self.common
        if is_ours and (folder / ".git").is_file() and not top.exists():
            problem = "is a worktree that was moved: run `git worktree repair` in it"
            raise RepositoryError(str(folder), problem)
        if not is_ours or top.resolve() != folder.resolve():
            raise RepositoryError(str(folder), f"is not a worktree of {self.location}")
        return repository

    def worktrees_of(self, branch: bytes) -> list[FoundWorktree]:
        """Return the worktrees in which a branch is checked out or rebased, by its full name."""
        found = [each for each in self._worktrees.values() if branch in each.branches]
        if branch in _branches_in(self.common):
            with suppress(RepositoryError):
                is_main = Path(self._repository.path).resolve() == self.common
                main = self._repository if is_main else opened(str(self.common), is_top=True)
                if main.workdir is not None and Path(main.workdir, ".git").exists():
                    found.append(FoundWorktree(folder=Path(main.workdir)))
        return found

    @property
    def is_partial(self) -> bool:
        """Whether the clone may lack objects, which git would fetch."""
        return is_partial(self._repository)

    @property
    def replaced(self) -> tuple[str, ...]:
        """The ids of the objects that git would replace by others, which is not done here."""
        with suppress(KeyError, ValueError, pygit2.GitError):
            if not self._repository.config.get_bool("core.useReplaceRefs"):
                return ()
        packed = _REPLACED.findall(contents(self.common / "packed-refs"))
        loose = (each.name for each in (self.common / "refs/replace").glob("?" * 40))
        found = {*map(os.fsdecode, packed), *loose}
        return tuple(sorted(each for each in found if _FULL_ID.fullmatch(each)))

    @property
    def history_edits(self) -> tuple[bytes, ...]:
        """The contents of the files that cut off or change the parents of commits."""
        names = "shallow", "info/grafts"
        return tuple(contents(self.common / name) for name in names)

    @cached_property
    def _for_trees(self) -> pygit2.Repository:
        return opened(self.location)  # several threads may use it, so it is not guarded

    # --- commits ---

    def _commit(self, name: str) -> FoundCommit | None:
        if name == "HEAD" and self._repository.head_is_unborn:
            problem = "nothing has been committed to the branch of HEAD yet"
            raise RepositoryError(self.location, problem)
        try:
            revision, reference = self._revision(name)
            found = revision.peel(pygit2.Commit)
        except (KeyError, ValueError, pygit2.GitError):
            return None  # there is none, or it stands for a tree or a file
        kind = _kind_of(reference.name if reference else "")
        branch = reference.resolve().raw_name if reference else b""
        return FoundCommit(
            kind=kind,
            commit_id=str(found.id),
            tree_id=str(found.tree_id),
            branch=branch if branch.startswith(b"refs/heads/") else b"",
        )

    def _revision(self, name: str) -> tuple[pygit2.Object | pygit2.Commit, pygit2.Reference | None]:
        """Return what a revision stands for, and its branch or tag, if it is one.

        If there is none, the error is a `KeyError`, `ValueError` or `pygit2.GitError`.
        """
        if not name or "\0" in name:
            raise ValueError(name)
        if _FULL_ID.fullmatch(name) and name in self._repository:
            return self._repository[name], None  # for git, a full id is never a branch
        return self._repository.resolve_refish(name)

    # --- worktrees ---

    @cached_property
    def _worktrees(self) -> Mapping[str, FoundWorktree]:
        found: dict[str, FoundWorktree] = {}
        for link in sorted((self.common / "worktrees").glob("*/gitdir")):
            folder, lock = link.parent, ""
            with suppress(OSError):
                reason = (folder / "locked").read_bytes()
                lock = reason.decode("utf-8", "backslashreplace").strip() or "without a reason"
            if text := contents(link).rstrip(b"\r\n"):
                # A relative path starts from that folder.
                top = Path(os.path.normpath(folder / os.fsdecode(text))).parent
                found[folder.name] = FoundWorktree(
                    folder=top, is_known=True, lock=lock, branches=_branches_in(folder)
                )
        return found

    def _at(self, name: str) -> FoundWorktree | None:
        folder = Path(os.path.abspath(name))  # noqa: PTH100 - links are kept as given
        real = folder.resolve()
        known = (each for each in self._worktrees.values() if each.folder.resolve() == real)
        is_other = bool(name) and folder.is_dir()
        return next(known, None) or (FoundWorktree(folder=folder) if is_other else None)

    def _damaged(self, name: str) -> FoundDamage | None:
        """Return why the commit of a name cannot be read; `None` if nothing has the name.

        If it stands for a folder or a file, raise `RepositoryError`.
        """
        kinds, problem = pygit2.enums.ObjectType, ""
        try:
            found = self._repository.revparse_single(name)
            kind = found.peel(None).type if found.type == kinds.TAG else found.type
            what = "folder" if kind == kinds.TREE else "file"
            problem = f"has no commit {name!r}: the name stands for a {what}"
            raise RepositoryError(self.location, problem)
        except (KeyError, ValueError):  # it is absent, or not the name of an object
            pass
        except pygit2.GitError as exc:
            problem = f"the commit of {name} cannot be read ({exc})"
        known = {*self._repository.listall_references()}
        full = next((f"{each}{name}" for each in ("", *_PREFIXES) if f"{each}{name}" in known), "")
        if full:
            target = self._repository.references[full].target
            problem = f"{full} refers to the object {target}, which is absent or damaged"
        return FoundDamage(kind=_kind_of(full), problem=problem) if problem else None

    def _absent(self, name: str) -> str:
        known = {
            name.removeprefix(prefix)
            for name in self._repository.listall_references()
            for prefix in _PREFIXES
            if name.startswith(prefix)
        }
        known |= self._worktrees.keys()
        instead = unfetched(self._repository) or f"; {it_has(name, known)}"
        return f"has no branch, tag, commit or worktree {name!r}{instead}"


def _kind_of(full: str) -> RefKind:
    if full.startswith(("refs/heads/", "refs/remotes/")):
        return RefKind.BRANCH
    return RefKind.TAG if full.startswith("refs/tags/") else RefKind.COMMIT


def _branches_in(folder: Path) -> frozenset[bytes]:
    """Return the branches that are checked out or rebased in the worktree with this git folder."""
    head = contents(folder / "HEAD")
    if head.startswith(b"ref:"):
        return frozenset({head.removeprefix(b"ref:").strip()})
    files = (folder / name / "head-name" for name in ("rebase-merge", "rebase-apply"))
    return frozenset(map(bytes.strip, map(contents, files)))

"""Finds how a working tree differs from its last commit. An adapter to pygit2, which only reads.

What counts is what `git add --all` would store. The index is read and never refreshed, so nothing
is written.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import pygit2
from attrs import field, frozen
from pygit2.enums import RepositoryState

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.git.trees.objects import Node, decode_path, encode_path, folders_of
from cooperbench_eval.git.trees.repository import opened
from cooperbench_eval.git.worktrees.attributes import Attributes
from cooperbench_eval.git.worktrees.contents import is_settled, stamp_of
from cooperbench_eval.git.worktrees.conversion import Conversion, line_endings
from cooperbench_eval.git.worktrees.index import (
    IndexFiles,
    differences,
    entry_of,
    has_recorded,
    id_of,
    is_intended,
    is_left_alone,
    left_alone,
    mode_of,
    paths_of,
)
from cooperbench_eval.git.worktrees.names import Names
from cooperbench_eval.git.worktrees.rulefiles import RuleFiles
from cooperbench_eval.git.worktrees.settings import Settings
from cooperbench_eval.git.worktrees.untracked import Untracked
from cooperbench_eval.support.memo import Memo

__all__ = ["Checkout", "Scan", "head_of"]

_OPERATIONS = {
    RepositoryState.MERGE: "a merge",
    RepositoryState.REVERT: "a revert",
    RepositoryState.REVERT_SEQUENCE: "a revert",
    RepositoryState.CHERRYPICK: "a cherry-pick",
    RepositoryState.CHERRYPICK_SEQUENCE: "a cherry-pick",
    RepositoryState.BISECT: "a bisection",
    RepositoryState.REBASE: "a rebase",
    RepositoryState.REBASE_INTERACTIVE: "a rebase",
    RepositoryState.REBASE_MERGE: "a rebase",
    RepositoryState.APPLY_MAILBOX: "`git am`",
    RepositoryState.APPLY_MAILBOX_OR_REBASE: "`git am` or a rebase",
}

_SEVERAL = "a cherry-pick or a revert of several commits"
_KINDS = {
    "'link'": "it has a split index, which libgit2 cannot read; "
    "run `git update-index --no-split-index` there",
    "'sdir'": "it has a sparse index, which libgit2 cannot read; "
    "run `git sparse-checkout reapply --no-sparse-index` there",
}

_LEFT_ALONE = Memo[tuple[str, tuple[int, ...]], Mapping[str, bool]](64)


@frozen(kw_only=True)
class Scan:
    """How a working tree differs from its last commit, without the contents.

    Attributes:
        commit_id: The commit of `HEAD`; `None` if it is unborn.
        tree_id: The tree of that commit.
        operation: What the worktree is in the middle of, such as `a rebase`; empty if nothing.
        unmerged: The unmerged files of the index.
        staged: The paths at which the index differs from the commit, each with the index's node;
            `None` if the index lacks the path.
        touched: The paths at which the working tree differs from the index, each with the mode
            in the index. The mode is 0 for a path that the index lacks.
        left_alone: The paths in the index at which git does not look.
        mark: Changes whenever the commit or the index does.
    """

    commit_id: str | None
    tree_id: str | None
    operation: str
    unmerged: tuple[str, ...]
    staged: Mapping[str, Node | None] = field(repr=False)
    touched: Mapping[str, int] = field(repr=False)
    left_alone: Collection[str] = field(repr=False)
    mark: object = field(repr=False)


class Checkout:
    """A working tree, opened for reading.

    Attributes:
        folder: Its top folder.
        trusts_permissions: Whether the file system says which files are executable.
        has_links: Whether the file system has links.
    """

    def __init__(self, names: Names, folder: Path) -> None:
        """Open the working tree at *folder*, which must belong to the repository of *names*.

        Raises:
            RepositoryError: It cannot be opened, or it belongs to another repository.
        """
        self.folder = folder
        self._repository = opened(str(folder), is_top=True)
        if self._repository.is_bare:
            raise RepositoryError(str(folder), "is a bare repository, which has no worktree")
        if names.has_moved(folder, self._repository):
            problem = "is a worktree that was moved: run `git worktree repair` in it"
            raise RepositoryError(str(folder), problem)
        if not names.owns(folder, self._repository):
            raise RepositoryError(str(folder), f"is not a worktree of {names.location}")
        self._settings = settings = Settings(self._repository)
        self.trusts_permissions = settings.is_on("core.filemode", default=True)
        self.has_links = settings.is_on("core.symlinks", default=True)
        self._autocrlf = settings.word("core.autocrlf")
        self._trusts_ctime = settings.is_on("core.trustctime", default=True)
        self._index = IndexFiles(self._repository)
        self._rules = RuleFiles(
            index=self._index, folder=folder, common=names.common, settings=settings
        )

    # --- the scan ---

    def scan(self) -> Scan:
        """Compare the commit, the index and the files.

        Raises:
            RepositoryError: The index cannot be read.
        """
        repository = self._repository
        mark = self.mark()
        try:
            commit = None if repository.head_is_unborn else repository.head.peel(pygit2.Commit)
            index = repository.index
            index.read(force=False)
            conflicts = index.conflicts
            unmerged = {each.path for sides in conflicts or () for each in sides if each}
            alone = self._left_alone(index)
            staged = dict(_staged(index, commit, alone)) if commit and not unmerged else {}
            touched = {} if unmerged else dict(self._touched(index))
        except (KeyError, ValueError, OSError, pygit2.GitError) as exc:
            problem = f"the index or the files cannot be compared ({exc})"
            if advice := next((_KINDS[each] for each in _KINDS if each in str(exc)), None):
                problem = f"{advice} ({exc})"
            raise RepositoryError(str(self.folder), problem) from exc
        return Scan(
            commit_id=str(commit.id) if commit else None,
            tree_id=str(commit.tree_id) if commit else None,
            operation=self._operation(),
            unmerged=tuple(sorted(unmerged)),
            staged=staged,
            touched=touched,
            left_alone=alone,
            mark=mark,
        )

    def _operation(self) -> str:
        found = _OPERATIONS.get(RepositoryState(self._repository.state()), "")
        # Between two picks there is nothing but the list of those that are left.
        is_between = not found and Path(self._repository.path, "sequencer/todo").exists()
        return _SEVERAL if is_between else found

    def mark(self) -> object:
        """Return a value that changes whenever the commit or the index does."""
        try:
            found = os.stat(Path(self._repository.path, "index"))  # noqa: PTH116
            index = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        except OSError:
            index = None
        try:
            return index, str(self._repository.head.target)
        except (KeyError, ValueError, pygit2.GitError):
            return index, None

    def _left_alone(self, index: pygit2.Index) -> Mapping[str, bool]:
        """Return the paths at which git does not look, each with whether it assumes no change."""

        def ask() -> Mapping[str, bool]:
            return {decode_path(raw): is_assumed for raw, is_assumed in left_alone(index)}

        try:
            found = os.stat(Path(self._repository.path, "index"))  # noqa: PTH116
        except OSError:
            return ask()
        if not is_settled(found):
            return ask()
        return _LEFT_ALONE.recall((self._repository.path, stamp_of(found)), ask)

    def _touched(self, index: pygit2.Index) -> Iterator[tuple[str, int]]:
        is_sparse = self._settings.is_on("core.sparsecheckout", default=False)
        untracked = self._untracked(index)
        if untracked.rules.may_match_the_top:  # libgit2 then overlooks the files in it
            yield from ((each, 0) for each in untracked.below(""))
        for delta in differences(self._repository, index).deltas:
            raw = delta.new_file.raw_path or delta.old_file.raw_path
            path = decode_path(raw)
            entry = entry_of(index, raw)
            if raw.endswith(b"/"):  # a folder, which libgit2 ignores or takes for a repository
                yield from ((each, 0) for each in untracked.below(path.rstrip("/")))
            elif entry is None:
                if untracked.counts(path):
                    yield path, 0
            # In a sparse checkout, git looks at files that are there nevertheless.
            elif not is_left_alone(entry) or (is_sparse and os.path.lexists(self.folder / path)):
                yield path, int(entry.mode)

    def _untracked(self, index: pygit2.Index) -> Untracked:
        return Untracked(
            top=self.folder,
            rules=self._rules.ignore_rules(),
            mode_of=lambda path: mode_of(index, encode_path(path)),
            tracked_folders=cache(lambda: folders_of(map(decode_path, paths_of(index)))),
        )

    def ignores_folder(self, path: str) -> bool:
        """Whether git ignores a folder, unless it tracks files there."""
        return self._rules.ignore_rules().has(path, is_folder=True)

    # --- contents ---

    @cached_property
    def _attributes(self) -> Attributes:
        return self._rules.attributes()

    def is_recorded(self, path: str, found: os.stat_result) -> bool:
        """Whether the index has the size, times and inode number that a file has."""
        entry = entry_of(self._repository.index, encode_path(path))
        return entry is not None and has_recorded(entry, found, trusts_ctime=self._trusts_ctime)

    def is_older_than_index(self, found: os.stat_result) -> bool:
        """Whether the index was written after a file; a later edit then changes the times."""
        try:
            index = os.stat(Path(self._repository.path, "index"))  # noqa: PTH116
        except OSError:
            return False
        return found.st_mtime_ns < index.st_mtime_ns

    def filter_program(self, path: str) -> str:
        """Return the driver whose program converts a file when it is added; empty if none does."""
        driver = self._attributes.of(path).get("filter")
        if not isinstance(driver, str):
            return ""
        kinds = ("clean", "process", "required")
        names = self._settings.names()
        return driver if any(f"filter.{driver}.{kind}" in names for kind in kinds) else ""

    def cleaner(self, path: str) -> Callable[[bytes], bytes] | None:
        """Return what converts a file's contents when git stores them; `None` if nothing does.

        It raises `RepositoryError` for contents that git refuses.
        """
        attributes = self._attributes.of(path)
        text, crlf, eol = (attributes.get(name) for name in ("text", "crlf", "eol"))
        encoding = attributes.get("working-tree-encoding")
        is_utf8 = not isinstance(encoding, str) or encoding.lower() in {"", "utf-8", "utf8"}
        convert = Conversion(
            line_endings=line_endings(text, crlf, eol, self._autocrlf),
            encoding="" if is_utf8 else str(encoding),
            has_keywords=attributes.get("ident") is True,
            stored=partial(self._index.contents, path),
        )
        if not convert.is_needed:
            return None

        def clean(data: bytes) -> bytes:
            try:
                return convert(data)
            except (LookupError, ValueError) as exc:
                problem = f"the file {path} cannot be converted ({exc})"
                raise RepositoryError(str(self.folder), problem) from exc

        return clean


def head_of(folder: Path) -> str | None:
    """Return the commit of another repository's `HEAD`; `None` if it has none.

    Raises:
        RepositoryError: It cannot be opened.
    """
    repository = opened(str(folder), is_top=True)
    try:
        return str(repository.head.peel(pygit2.Commit).id)
    except (KeyError, ValueError, pygit2.GitError):
        return None


def _staged(
    index: pygit2.Index, commit: pygit2.Commit, alone: Mapping[str, bool]
) -> Iterator[tuple[str, Node | None]]:
    # The diff is that from the index to the tree.
    for delta in index.diff_to_tree(commit.tree).deltas:
        raw = delta.new_file.raw_path or delta.old_file.raw_path
        yield decode_path(raw), _node_of(entry_of(index, raw))
    for path, is_assumed in alone.items():
        if is_assumed:  # libgit2 overlooks those that are new
            yield path, _node_of(entry_of(index, encode_path(path)))


def _node_of(entry: Any) -> Node | None:
    """Return an entry of the index as an entry of a tree; `None` if it is not one."""
    if entry is None or (is_intended(entry) and is_left_alone(entry)):
        return None  # git adds it to the index later, but not to a tree
    return Node(int(entry.mode), str(id_of(entry)))

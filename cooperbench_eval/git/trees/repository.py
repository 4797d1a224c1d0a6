"""Reads commits and objects of git repositories with pygit2, and never writes to them.

Loading libgit2 takes longer than the rest of this library, so this module is imported
only when a repository is opened.
"""

import functools
import os
import re
import shlex
import stat
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pygit2

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.git.trees.entries import Entry, FileMode, stored_entry
from cooperbench_eval.git.trees.loose_objects import guarded, safe_for
from cooperbench_eval.git.trees.objects import Commit, Node, Row, Rows, find_node
from cooperbench_eval.support.memo import WeighedMemo

_CONTEXT = 3  # unchanged lines around a change in a diff, as git shows by default
_ROWS = re.compile(rb"(?:[0-7]+ [^\0]+\0.{20})*+", re.DOTALL)
_PARTS = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)

# How many bytes of what it read last a snapshot keeps in memory.
_KEPT_FOLDERS = 12_000_000
_KEPT_CONTENTS = 8_000_000
_FOLDER_BYTES = 500  # for a folder, besides its entries
_ROW_BYTES = 300  # for each entry of a folder
_CONTENT_BYTES = 200  # for contents, besides their length

_MODES = {int(mode): mode for mode in FileMode}
_USUAL_MODES = frozenset(b"%o" % mode for mode in (*FileMode, stat.S_IFDIR))


class CommitStore:
    """Reads a tree of a git repository."""

    def __init__(
        self, location: str, tree_id: str, repository: pygit2.Repository | None = None
    ) -> None:
        self._location = location
        self._tree_id = tree_id
        self._repository = repository or opened(location)
        self._folders = WeighedMemo[str, Rows](_KEPT_FOLDERS)
        self._contents = WeighedMemo[str, bytes](_KEPT_CONTENTS)
        self.rows("")

    def __reduce__(self) -> tuple[object, ...]:
        return (CommitStore, (self._location, self._tree_id))

    def _object(self, object_id: str, kind: pygit2.enums.ObjectType, what: str) -> bytes:
        """Return the bytes of an object; *what* names it in errors."""
        try:
            found, data, *_ = safe_for(self._repository, object_id).read(object_id)
        except KeyError as exc:
            problem = (
                f"{what} are absent (object {object_id}){_advice(self._repository, object_id)}"
            )
            raise RepositoryError(self._location, problem) from exc
        except (ValueError, OSError, pygit2.GitError) as exc:
            problem = f"{what} cannot be read (object {object_id}: {exc})"
            raise RepositoryError(self._location, problem) from exc
        if found != kind:
            problem = f"{what} are not a {kind.name.lower()} (object {object_id})"
            raise RepositoryError(self._location, problem)
        return data

    def _parsed(self, tree_id: str, path: str) -> Rows:
        what = f"the entries of the folder {path or '/'}"
        raw = self._object(tree_id, pygit2.enums.ObjectType.TREE, what)
        if not _ROWS.fullmatch(raw):
            raise RepositoryError(self._location, f"{what} cannot be read (object {tree_id})")
        found: list[Row] = _PARTS.findall(raw)
        if not _USUAL_MODES.issuperset([mode for mode, _, _ in found]):
            found = [(b"%o" % _mode(mode), name, at) for mode, name, at in found]
        rows = {row[1]: row for row in found}
        if len(rows) < len(found):
            problem = f"the folder {path or '/'} lists a name twice"
            raise RepositoryError(self._location, problem)
        return self._folders.keep(path, rows, size=_FOLDER_BYTES + len(rows) * _ROW_BYTES)

    def node(self, path: str) -> Node | None:
        """See `Store.node`."""
        folder, _, name = path.rpartition("/")
        return find_node(self.rows(folder), name)

    def rows(self, path: str) -> Rows:
        """See `Store.rows`."""
        rows = self._folders.get(path)
        return self._read_rows(path) if rows is None else rows

    def _read_rows(self, path: str) -> Rows:
        """Read a folder, starting from the nearest folder above it that is kept."""
        folders: list[str] = []
        rows = None
        folder = path
        while folder and rows is None:  # no recursion: it may be deep
            folders.append(folder)
            folder = folder.rpartition("/")[0]
            rows = self._folders.get(folder)
        if rows is None:
            rows = self._parsed(self._tree_id, "")
        for folder in reversed(folders):
            node = find_node(rows, folder.rpartition("/")[2])
            if node is None or not node.is_directory:
                return self._folders.keep(path, {}, size=_FOLDER_BYTES)
            rows = self._parsed(node.id, folder)
        return rows

    def entry(self, path: str, node: Node) -> Entry:
        """See `Store.entry`."""
        mode = _MODES[node.mode]
        if mode is FileMode.SUBMODULE:
            return Entry(node.id.encode("ascii"), mode)
        return stored_entry(node.id, mode, partial(self._kept, path, node))

    def _kept(self, path: str, node: Node) -> bytes:
        data = self._contents.get(node.id)
        if data is None:
            data = self.read(path, node)
            self._contents.keep(node.id, data, size=_CONTENT_BYTES + len(data))
        return data

    def read(self, path: str, node: Node) -> bytes:
        """See `Store.read`."""
        return self._object(node.id, pygit2.enums.ObjectType.BLOB, f"the contents of {path}")

    def blob(self, prefix: str) -> bytes | None:
        """See `Store.blob`; this searches the whole repository."""
        try:
            found = guarded(opened(self._location))[prefix]
        except KeyError as exc:
            if is_partial(self._repository):  # nobody can tell whether there is such a file
                problem = f"a file with the object id {prefix} is absent{_PARTIAL}"
                raise RepositoryError(self._location, problem) from exc
            return None
        except (ValueError, pygit2.GitError):
            return None  # several objects start with the prefix
        return found.data if isinstance(found, pygit2.Blob) else None

    def root(self) -> str:
        """See `Store.root`."""
        return self._tree_id


@functools.lru_cache(maxsize=64)  # there are only a few, unless a tree is hostile
def _mode(raw: bytes) -> int:
    """Return the mode as git understands it; old trees have modes such as 100664."""
    mode = int(raw, 8)
    kind = stat.S_IFMT(mode)
    if stat.S_ISREG(mode):
        return FileMode.EXECUTABLE if mode & stat.S_IXUSR else FileMode.FILE
    return kind if kind in {stat.S_IFDIR, FileMode.SYMLINK} else FileMode.SUBMODULE


_PARTIAL = "; the clone is partial, and this library never fetches: use a full clone"
_UNFETCHED = (
    ": the name is unknown there; if it is right, use a full clone, because this one is partial"
)


def _advice(repository: pygit2.Repository, object_id: str) -> str:
    """Return what to do about an absent object; empty unless the clone is partial."""
    if not is_partial(repository):
        return ""
    return f"{_PARTIAL}, or run `git cat-file -e {object_id}` there, which fetches it"


def unfetched(repository: pygit2.Repository) -> str:
    """Return why a name may be unknown; empty unless the clone is partial."""
    return _UNFETCHED if is_partial(repository) else ""


def is_partial(repository: pygit2.Repository) -> bool:
    """Whether the clone may lack objects, which git would fetch."""
    with suppress(OSError):
        if any(Path(repository.path, "objects", "pack").glob("*.promisor")):
            return True
    try:
        names = [each.name for each in repository.config]
    except pygit2.GitError:
        return False
    return any(n == "extensions.partialclone" or n.endswith(".promisor") for n in names)


def open_revision(location: str, revision: str) -> tuple[CommitStore, str | None]:
    """Find a commit, tag or tree; return its store and its commit id, if any.

    Raises:
        RepositoryError: *location* is not a repository, or it has no such revision.
    """
    tree_id, commit_id = _resolved(location, revision)
    return CommitStore(location, tree_id), commit_id


def _resolved(location: str, revision: str) -> tuple[str, str | None]:
    """Return the ids of the tree and of the commit, if any, that a revision names."""
    repository = guarded(opened(location))
    try:
        found = repository.revparse_single(revision)
    except (KeyError, ValueError) as exc:
        problem = f"has no commit {revision!r}{unfetched(repository)}"
        raise RepositoryError(location, problem) from exc
    except pygit2.GitError as exc:
        raise RepositoryError(location, f"cannot read the commit {revision!r} ({exc})") from exc
    try:
        tree = found.peel(pygit2.Tree)
    except (KeyError, ValueError, pygit2.GitError) as exc:
        advice = _PARTIAL if is_partial(repository) else ""
        raise RepositoryError(location, f"has no commit {revision!r} with a tree{advice}") from exc
    try:
        commit_id = str(found.peel(pygit2.Commit).id)
    except (ValueError, pygit2.GitError):
        commit_id = None  # the revision names a bare tree
    return str(tree.id), commit_id


def opened(location: str, *, is_top: bool = False) -> pygit2.Repository:
    """Open the repository of a folder or, unless *is_top*, of one above it.

    Raises:
        RepositoryError: There is no repository, or it belongs to another user.
    """
    flags = pygit2.enums.RepositoryOpenFlag
    try:
        return pygit2.Repository(location, flags.NO_SEARCH if is_top else flags.DEFAULT)
    except (ValueError, OSError, pygit2.GitError) as exc:
        problem = f"cannot be opened as a git repository ({exc})"
        if unsupported := next((what for what in _UNSUPPORTED if what in str(exc)), None):
            problem = f"{_UNSUPPORTED[unsupported]}, which libgit2 cannot read ({exc})"
        elif not os.path.exists(location):  # noqa: PTH110 - it raises nothing
            problem = "cannot be opened as a git repository: no such folder"
        elif "not owned by current user" in str(exc):
            problem = (
                f"belongs to another user, so it is not opened ({exc}); if you trust its owner, "
                f"run `git config --global --add safe.directory {shlex.quote(location)}`"
            )
        raise RepositoryError(location, problem) from exc


_UNSUPPORTED = {
    "sha256": "is a git repository with SHA-256 ids",
    "extensions.refstorage": "is a git repository that stores its refs as tables (reftable)",
}


class CommitGraph:
    """Reads the commits of a git repository, and their trees."""

    def __init__(self, location: str) -> None:
        self.location = location
        self._repository = opened(location)

    def find(self, revision: str) -> str:
        """Return the id of a revision's commit; raise `RepositoryError` if there is none."""
        commit_id = _resolved(self.location, revision)[1]
        if commit_id is None:
            raise RepositoryError(self.location, f"has {revision!r}, which is not a commit")
        return commit_id

    def commit(self, commit_id: str) -> Commit:
        """Return the parents and the time of a commit; raise `RepositoryError` if it is absent."""
        commit = self._read(commit_id)
        return Commit(tuple(map(str, commit.parent_ids)), commit.commit_time)

    def tree(self, commit_id: str) -> CommitStore:
        """Return the tree of a commit; raise `RepositoryError` if either is absent."""
        tree_id = str(self._read(commit_id).tree_id)
        return CommitStore(self.location, tree_id, self._repository)

    def is_shallow(self) -> bool:
        """Whether the history is cut off, because the repository is a shallow clone."""
        return self._repository.is_shallow

    def _read(self, commit_id: str) -> pygit2.Commit:
        try:
            return safe_for(self._repository, commit_id)[commit_id].peel(pygit2.Commit)
        except (KeyError, ValueError) as exc:
            advice = _advice(self._repository, commit_id)
            raise RepositoryError(self.location, f"has no commit {commit_id}{advice}") from exc
        except pygit2.GitError as exc:
            problem = f"cannot read the commit {commit_id} ({exc})"
            raise RepositoryError(self.location, problem) from exc


def unified_hunks(before: bytes, after: bytes) -> bytes:
    """Return the hunks of a unified diff without its headers; both sides are read as text."""
    flags = pygit2.enums.DiffOption.FORCE_TEXT
    patch = pygit2.Patch.create_from(
        before, after, old_as_path="a", new_as_path="b", flag=flags, context_lines=_CONTEXT
    )
    data: bytes = patch.data
    start = data.find(b"\n@@ ")
    return data[start + 1 :] if start >= 0 else b""


def changed_ranges(before: bytes, after: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield the lines that `git diff` shows as removed and as added, as half-open ranges."""
    flags = pygit2.enums.DiffOption.FORCE_TEXT | pygit2.enums.DiffOption.INDENT_HEURISTIC
    for hunk in pygit2.Patch.create_from(before, after, flag=flags, context_lines=0).hunks:
        # An empty range is stated by the line before it.
        old = hunk.old_start - bool(hunk.old_lines)
        new = hunk.new_start - bool(hunk.new_lines)
        yield old, old + hunk.old_lines, new, new + hunk.new_lines

"""The only adapter to pygit2. It reads git repositories and never writes to them.

Loading libgit2 takes longer than the rest of this library, so this module is imported
only when a repository is opened.
"""

from collections.abc import Mapping

import pygit2

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.memo import Memo
from cooperbench_eval.objects import Node, decode_path

__all__ = ["CommitStore", "open_revision", "unified_hunks"]

_LISTINGS = 256  # folders kept in memory: the edits of a task touch only a few
_CONTEXT = 3  # unchanged lines around a change in a diff, as git shows by default


class CommitStore:
    """Reads a tree of a git repository."""

    def __init__(self, location: str, tree_id: str) -> None:
        self._location = location
        self._tree_id = tree_id
        self._repository = _opened(location)
        self._listings: Memo[str, Mapping[str, Node]] = Memo(_LISTINGS)
        self._tree = self._object(tree_id).peel(pygit2.Tree)

    def __reduce__(self) -> tuple[object, ...]:
        return (CommitStore, (self._location, self._tree_id))

    def _object(self, object_id: str) -> pygit2.Object:
        try:
            return self._repository[object_id]
        except (KeyError, pygit2.GitError) as exc:
            raise RepositoryError(self._location, f"object {object_id} is absent") from exc

    def node(self, path: str) -> Node | None:
        """See `Store.node`."""
        try:
            found = self._tree[path]
        except (KeyError, ValueError):
            return None
        except pygit2.GitError as exc:
            raise RepositoryError(self._location, f"cannot read the folder of {path}") from exc
        return Node(int(found.filemode), str(found.id))

    def listing(self, path: str) -> Mapping[str, Node]:
        """See `Store.listing`."""
        return self._listings.recall(path, lambda: self._listing(path))

    def _listing(self, path: str) -> Mapping[str, Node]:
        node = self.node(path) if path else None
        tree = self._object(node.id).peel(pygit2.Tree) if node else self._tree
        return {decode_path(e.raw_name or b""): Node(int(e.filemode), str(e.id)) for e in tree}

    def read(self, path: str, node: Node) -> bytes:
        """See `Store.read`."""
        try:
            return self._object(node.id).peel(pygit2.Blob).data
        except RepositoryError as exc:
            raise RepositoryError(self._location, f"the contents of {path} are absent") from exc

    def blob(self, prefix: str) -> bytes | None:
        """See `Store.blob`; this searches the whole repository."""
        try:
            found = self._repository[prefix]
        except (KeyError, ValueError, pygit2.GitError):
            return None  # no object starts with the prefix, or several do
        return found.data if isinstance(found, pygit2.Blob) else None

    def root(self) -> str:
        """See `Store.root`."""
        return str(self._tree.id)


def open_revision(location: str, revision: str) -> tuple[CommitStore, str | None]:
    """Find a commit, tag or tree; return its store and its commit id, if any.

    Raises:
        RepositoryError: *location* is not a repository, or it has no such revision.
    """
    repository = _opened(location)
    try:
        found = repository.revparse_single(revision)
        tree = found.peel(pygit2.Tree)
    except (KeyError, ValueError, pygit2.GitError) as exc:
        raise RepositoryError(location, f"has no commit {revision!r}") from exc
    try:
        commit_id = str(found.peel(pygit2.Commit).id)
    except (ValueError, pygit2.GitError):
        commit_id = None  # the revision names a bare tree
    return CommitStore(location, str(tree.id)), commit_id


def _opened(location: str) -> pygit2.Repository:
    try:
        return pygit2.Repository(location)
    except (ValueError, pygit2.GitError) as exc:
        raise RepositoryError(location, f"cannot be opened as a git repository ({exc})") from exc


def unified_hunks(before: bytes, after: bytes) -> bytes:
    """Return the hunks of a unified diff without its headers; both sides are read as text."""
    flags = pygit2.enums.DiffOption.FORCE_TEXT
    patch = pygit2.Patch.create_from(
        before, after, old_as_path="a", new_as_path="b", flag=flags, context_lines=_CONTEXT
    )
    data: bytes = patch.data
    start = data.find(b"\n@@ ")
    return data[start + 1 :] if start >= 0 else b""

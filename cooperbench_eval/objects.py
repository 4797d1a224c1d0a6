"""Git's objects as far as a tree needs them: nodes, ids, and where they are read.

The only door to pygit2. Reading goes through a store; a store of a commit asks
the repository, a store of edits lies over another one. Nothing is ever written.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Protocol

import pygit2
from attrs import frozen

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.models import Entry

__all__ = [
    "CommitStore",
    "Node",
    "OverlayStore",
    "Store",
    "encode_path",
    "folders_above",
    "listing_of",
    "open_revision",
    "unified_hunks",
]

_DIRECTORY = 0o040000
_CONTEXT = 3  # unchanged lines around a change in a diff, as git shows by default


@frozen
class Node:
    """A line of a git tree object: mode and object id."""

    mode: int
    id: str

    @property
    def is_directory(self) -> bool:
        """Whether it is a folder."""
        return self.mode == _DIRECTORY


class Store(Protocol):
    """Where a tree's nodes and contents come from."""

    def node(self, path: str) -> Node | None:
        """Return the node at *path*, a folder included, or `None`."""

    def listing(self, path: str) -> dict[str, Node]:
        """Return the nodes of the folder *path*, which is one; "" is the root."""

    def read(self, path: str, node: Node) -> bytes:
        """Return the contents of *node*, which stands at *path*."""

    def root(self) -> str:
        """Return the tree id in hex."""


def _decode_path(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def encode_path(path: str) -> bytes:
    """Return the bytes that stand for *path* in git."""
    return path.encode("utf-8", "surrogateescape")


def _tree_id(listing: Mapping[str, Node]) -> str:
    """Hash a directory as git does: directories sort as if they ended in '/'."""
    rows = sorted(
        (encode_path(name) + b"/" * node.is_directory, encode_path(name), node)
        for name, node in listing.items()
    )
    body = b"".join(
        b"%o %s\0%s" % (node.mode, name, bytes.fromhex(node.id)) for _, name, node in rows
    )
    header = b"tree %d\0" % len(body)
    return hashlib.sha1(header + body, usedforsecurity=False).hexdigest()


class CommitStore:
    """Reads a tree of a git repository; never writes to it."""

    def __init__(self, location: str, tree_id: str) -> None:
        self._location = location
        self._tree_id = tree_id
        self._repository = pygit2.Repository(location)
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

    def listing(self, path: str) -> dict[str, Node]:
        """See `Store.listing`."""
        node = self.node(path) if path else None
        tree = self._object(node.id).peel(pygit2.Tree) if node else self._tree
        return {_decode_path(e.raw_name or b""): Node(int(e.filemode), str(e.id)) for e in tree}

    def read(self, path: str, node: Node) -> bytes:
        """See `Store.read`."""
        try:
            return self._object(node.id).peel(pygit2.Blob).data
        except RepositoryError as exc:
            raise RepositoryError(self._location, f"the contents of {path} are absent") from exc

    def root(self) -> str:
        """See `Store.root`."""
        return str(self._tree.id)


class OverlayStore:
    """Edits laid over another store; rebuilds only the folders they touch.

    An entry replaces whatever stood at its path, a folder included, and brings
    the folders above it into being.
    """

    def __init__(self, below: Store | None, entries: Mapping[str, Entry | None]) -> None:
        self._below = below
        self._entries = entries
        self._listings: dict[str, dict[str, Node]] = {}

    def _touched(self) -> dict[str, dict[str, Entry | None]]:
        """Group the edits by folder, every folder above an edit included."""
        folders: dict[str, dict[str, Entry | None]] = {"": {}}
        for path, entry in self._entries.items():
            above = list(folders_above(path))
            if any(self._entries.get(folder) is not None for folder in above):
                continue  # a deletion below an entry that replaced the folder
            for folder in above:
                folders.setdefault(folder, {})
            folder, _, name = path.rpartition("/")
            folders.setdefault(folder, {})[name] = entry
        return folders

    def _build(self) -> dict[str, dict[str, Node]]:
        if not self._listings:
            folders = self._touched()
            listings: dict[str, dict[str, Node]] = {}
            for folder in sorted(folders, key=lambda f: f.count("/") + bool(f), reverse=True):
                listing = dict(listing_of(self._below, folder))
                for name, entry in folders[folder].items():
                    if entry is not None:
                        listing[name] = Node(int(entry.mode), entry.id)
                    elif name in listing and not listing[name].is_directory:
                        del listing[name]
                for name in _children(folder, listings):
                    inner = listings[f"{folder}/{name}" if folder else name]
                    if inner:
                        listing[name] = Node(_DIRECTORY, _tree_id(inner))
                    elif name in listing and listing[name].is_directory:
                        del listing[name]
                listings[folder] = listing
            self._listings = listings
        return self._listings

    def node(self, path: str) -> Node | None:
        """See `Store.node`."""
        entry = self._entries.get(path)
        if entry is not None:
            return Node(int(entry.mode), entry.id)
        folder, _, name = path.rpartition("/")
        return self.listing(folder).get(name)

    def listing(self, path: str) -> dict[str, Node]:
        """See `Store.listing`."""
        listings = self._build()
        if path in listings:
            return listings[path]
        folder, _, name = path.rpartition("/")
        node = self.listing(folder).get(name)
        return dict(listing_of(self._below, path)) if node and node.is_directory else {}

    def read(self, path: str, node: Node) -> bytes:
        """See `Store.read`."""
        entry = self._entries.get(path)
        if entry is not None:
            return entry.data
        if self._below is None:  # pragma: no cover - a node comes from one of the two
            raise RepositoryError(path, "no such entry")
        return self._below.read(path, node)

    def root(self) -> str:
        """See `Store.root`."""
        return _tree_id(self._build()[""])


def folders_above(path: str) -> Iterator[str]:
    """Yield `a`, `a/b` for `a/b/c`."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


def listing_of(store: Store | None, folder: str) -> dict[str, Node]:
    """Return the nodes of *folder*, none where it is no folder."""
    if store is None:
        return {}
    if folder:
        node = store.node(folder)
        if node is None or not node.is_directory:
            return {}
    return store.listing(folder)


def _children(folder: str, folders: Mapping[str, object]) -> list[str]:
    return [f.rpartition("/")[2] for f in folders if f and f.rpartition("/")[0] == folder]


def open_revision(location: str, revision: str) -> tuple[CommitStore, str | None]:
    """Find a commit, tag or tree; return its store and its commit id, if any.

    Raises:
        RepositoryError: *location* is no repository, or has no such revision.
    """
    try:
        repository = pygit2.Repository(location)
    except pygit2.GitError as exc:
        raise RepositoryError(location, f"is no git repository ({exc})") from exc
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


def unified_hunks(before: bytes, after: bytes) -> bytes:
    """Return the hunks of a unified diff, without its headers; both sides as text."""
    flags = pygit2.enums.DiffOption.FORCE_TEXT
    patch = pygit2.Patch.create_from(
        before, after, old_as_path="a", new_as_path="b", flag=flags, context_lines=_CONTEXT
    )
    data: bytes = patch.data
    start = data.find(b"\n@@ ")
    return data[start + 1 :] if start >= 0 else b""

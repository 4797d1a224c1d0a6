"""The git objects that a tree consists of: nodes, ids, and the stores they are read from.

A store reads a commit from its repository, or lays edits over another store. Nothing is
ever written.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.models import Entry

__all__ = [
    "Difference",
    "Node",
    "OverlayStore",
    "Store",
    "compare_listings",
    "decode_path",
    "encode_path",
    "folders_above",
    "folders_of",
]

_DIRECTORY = 0o040000


class Node(NamedTuple):
    """A line of a git tree object: mode and object id."""

    mode: int
    id: str

    @property
    def is_directory(self) -> bool:
        """Whether it is a folder."""
        return self.mode == _DIRECTORY


# A name, and the two different nodes that two stores have for it.
Difference = tuple[str, Node | None, Node | None]


class Store(Protocol):
    """The source of a tree's nodes and contents."""

    def node(self, path: str) -> Node | None:
        """Return the node of a file or folder, or `None` if there is none."""

    def listing(self, path: str) -> Mapping[str, Node]:
        """Return the nodes of a folder, "" for the root; none if it is not a folder."""

    def top(self) -> Node:
        """Return the node of the root."""

    def differences(
        self, other: "Store", path: str, mine: Node | None, others: Node | None
    ) -> Iterator[Difference]:
        """Yield how a folder differs in another store.

        Args:
            other: The other store.
            path: The folder, "" for the root.
            mine: The folder's node here; `None` if it is not a folder here.
            others: The folder's node there.
        """

    def entry(self, path: str, node: Node) -> Entry:
        """Return the entry of *node*, which is at *path*; its data may be read when it is used."""

    def read(self, path: str, node: Node) -> bytes:
        """Return the contents of *node*, which is at *path*."""

    def blob(self, prefix: str) -> bytes | None:
        """Return the contents whose id starts with *prefix*; `None` if no id or several do."""

    def root(self) -> str:
        """Return the tree id in hex."""


def decode_path(raw: bytes) -> str:
    """Return the path that git stores as *raw*; undecodable bytes are kept."""
    return raw.decode("utf-8", "surrogateescape")


def encode_path(path: str) -> bytes:
    """Return the bytes as which git stores *path*."""
    return path.encode("utf-8", "surrogateescape")


def _tree_id(listing: Mapping[str, Node]) -> str:
    """Hash a directory as git does: directories sort as if they ended in '/'."""
    rows: dict[bytes, bytes] = {}
    for name, (mode, object_id) in listing.items():
        raw = encode_path(name)
        row = b"%o %b\0%b" % (mode, raw, bytes.fromhex(object_id))
        rows[raw + b"/" if mode == _DIRECTORY else raw] = row
    body = b"".join(rows[name] for name in sorted(rows))
    header = b"tree %d\0" % len(body)
    return hashlib.sha1(header + body, usedforsecurity=False).hexdigest()


class OverlayStore:
    """Edits laid over another store; rebuilds only the folders that they touch.

    An entry replaces anything at its path, even a folder. Missing folders above it are
    created.
    """

    def __init__(self, below: Store | None, entries: Mapping[str, Entry | None]) -> None:
        self._below = below
        self._entries = entries
        self._listings: dict[str, Mapping[str, Node]] = {}
        self._root: str | None = None
        self._blobs: dict[str, Entry] | None = None
        self._blob_ids: list[str] = []

    def _touched(self) -> dict[str, dict[str, Entry | None]]:
        """Group the edits by folder; every folder above an edit is a key too."""
        folders: dict[str, dict[str, Entry | None]] = {"": {}}
        for path, entry in self._entries.items():
            above = list(folders_above(path))
            if any(self._entries.get(folder) is not None for folder in above):
                continue  # a deletion inside a folder that an entry replaces
            for folder in above:
                folders.setdefault(folder, {})
            folder, _, name = path.rpartition("/")
            folders.setdefault(folder, {})[name] = entry
        return folders

    def _build(self) -> Mapping[str, Mapping[str, Node]]:
        if not self._listings:
            folders = self._touched()
            children: dict[str, list[str]] = {}
            for folder in filter(None, folders):
                above, _, name = folder.rpartition("/")
                children.setdefault(above, []).append(name)
            listings: dict[str, Mapping[str, Node]] = {}
            for folder in sorted(folders, key=lambda f: f.count("/") + bool(f), reverse=True):
                listing = dict(self._below.listing(folder)) if self._below else {}
                for name, entry in folders[folder].items():
                    if entry is not None:
                        listing[name] = Node(int(entry.mode), entry.id)
                    elif name in listing and not listing[name].is_directory:
                        del listing[name]
                for name in children.get(folder, ()):
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

    def listing(self, path: str) -> Mapping[str, Node]:
        """See `Store.listing`."""
        listings = self._build()
        if path in listings:
            return listings[path]
        folder, _, name = path.rpartition("/")
        node = self.listing(folder).get(name)
        return self._below.listing(path) if self._below and node and node.is_directory else {}

    def entry(self, path: str, node: Node) -> Entry:
        """See `Store.entry`."""
        entry = self._entries.get(path)
        if entry is not None:
            return entry
        return self._source(path).entry(path, node)

    def read(self, path: str, node: Node) -> bytes:
        """See `Store.read`."""
        entry = self._entries.get(path)
        if entry is not None:
            return entry.data
        return self._source(path).read(path, node)

    def top(self) -> Node:
        """See `Store.top`."""
        return Node(_DIRECTORY, "")  # any id: only stores of commits compare by it

    def differences(
        self, other: Store, path: str, mine: Node | None, others: Node | None
    ) -> Iterator[Difference]:
        """See `Store.differences`."""
        return compare_listings(self, other, path, mine, others)

    def _source(self, path: str) -> Store:
        if self._below is None:  # pragma: no cover - every node is from one of the two
            raise RepositoryError(path, "no such entry")
        return self._below

    def blob(self, prefix: str) -> bytes | None:
        """See `Store.blob`."""
        if self._blobs is None:
            entries = (entry for entry in self._entries.values() if entry is not None)
            self._blobs = {e.id: e for e in entries if e.mode.is_regular}
            self._blob_ids = sorted(self._blobs)
        first = bisect_left(self._blob_ids, prefix)
        found = [i for i in self._blob_ids[first : first + 2] if i.startswith(prefix)]
        if not found:
            return self._below.blob(prefix) if self._below else None
        return self._blobs[found[0]].data if len(found) == 1 else None

    def root(self) -> str:
        """See `Store.root`."""
        if self._root is None:
            self._root = _tree_id(self._build()[""])
        return self._root


def compare_listings(
    store: Store, other: Store, path: str, mine: Node | None, others: Node | None
) -> Iterator[Difference]:
    """Yield how a folder differs between any two stores; see `Store.differences`."""
    before = store.listing(path) if mine else {}
    after = other.listing(path) if others else {}
    for name in {name for name, _ in before.items() ^ after.items()}:
        yield name, before.get(name), after.get(name)


def folders_above(path: str) -> Iterator[str]:
    """Yield `a`, `a/b` for `a/b/c`."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


def folders_of(paths: Iterable[str]) -> set[str]:
    """Return every folder above one of the *paths*, except the root."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found

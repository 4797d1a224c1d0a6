"""The git objects that a tree consists of: nodes, ids, and the stores they are read from.

A store reads a commit from its repository, or lays edits over another store. Nothing is
ever written.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from attrs import frozen

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.git.trees.entries import Entry

_DIRECTORY = 0o040000
_FOLDER = b"40000"  # the same, as a tree object has it

# A line of a tree object: the mode in octal digits as git writes it today, the name, and the
# raw id. Rows stay as they are in the object, since most of a folder's are only copied.
Row = tuple[bytes, bytes, bytes]
Rows = Mapping[bytes, Row]  # of a folder, by name


class Node(NamedTuple):
    """What a line of a git tree object says of a name: mode and object id."""

    mode: int
    id: str

    @property
    def is_directory(self) -> bool:
        """Whether it is a folder."""
        return self.mode == _DIRECTORY


@frozen
class Commit:
    """A commit, as the search for merge bases needs it.

    Attributes:
        time: When it was committed, in seconds since 1970.
    """

    parents: tuple[str, ...]
    time: int


class Store(Protocol):
    """The source of a tree's nodes and contents."""

    def node(self, path: str) -> Node | None:
        """Return the node of a file or folder, or `None` if there is none."""

    def rows(self, path: str) -> Rows:
        """Return the rows of a folder, "" for the root; none if it is not a folder."""

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


def node_of(row: Row) -> Node:
    """Return the node of a row."""
    mode, _, object_id = row
    return Node(int(mode, 8), object_id.hex())


def find_node(rows: Rows, name: str) -> Node | None:
    """Return the node of *name* in a folder, or `None` if there is none."""
    try:
        row = rows.get(encode_path(name))
    except UnicodeEncodeError:
        return None  # no tree can contain such a name
    return None if row is None else node_of(row)


def _tree_id(rows: Rows) -> str:
    """Hash a directory as git does: directories sort as if they ended in '/'."""
    places = {name + b"/" if row[0] == _FOLDER else name: row for name, row in rows.items()}
    body = b"".join([b"%b %b\0%b" % places[place] for place in sorted(places)])
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
        self._rows: dict[str, Rows] = {}
        self._root: str | None = None
        self._blobs: dict[str, Entry] | None = None
        self._blob_ids: list[str] = []

    def _touched(self) -> dict[str, dict[str, Entry | None]]:
        """Group the edits by folder; every folder above an edit is a key too."""
        inside: dict[str, dict[str, Entry | None]] = {}
        for path, entry in self._entries.items():
            folder, _, name = path.rpartition("/")
            inside.setdefault(folder, {})[name] = entry
        made = {path for path, entry in self._entries.items() if entry is not None}
        folders: dict[str, dict[str, Entry | None]] = {"": {}}
        for folder, edits in inside.items():
            above = [*folders_above(f"{folder}/")]
            if made.isdisjoint(above):  # else deletions inside a folder that an entry replaces
                for each in above:
                    folders.setdefault(each, {})
                folders[folder] = edits
        return folders

    def _build(self) -> Mapping[str, Rows]:
        if not self._rows:
            folders = self._touched()
            children: dict[str, list[str]] = {}
            for folder in filter(None, folders):
                above, _, name = folder.rpartition("/")
                children.setdefault(above, []).append(name)
            built: dict[str, Rows] = {}
            for folder in sorted(folders, key=lambda f: f.count("/") + bool(f), reverse=True):
                rows = dict(self._below.rows(folder)) if self._below else {}
                for name, entry in folders[folder].items():
                    raw = encode_path(name)
                    if entry is not None:
                        rows[raw] = (b"%o" % entry.mode, raw, bytes.fromhex(entry.id))
                    elif raw in rows and rows[raw][0] != _FOLDER:
                        del rows[raw]
                for name in children.get(folder, ()):
                    raw = encode_path(name)
                    inner = built[f"{folder}/{name}" if folder else name]
                    if inner:
                        rows[raw] = (_FOLDER, raw, bytes.fromhex(_tree_id(inner)))
                    elif raw in rows and rows[raw][0] == _FOLDER:
                        del rows[raw]
                built[folder] = rows
            self._rows = built
        return self._rows

    def node(self, path: str) -> Node | None:
        """See `Store.node`."""
        entry = self._entries.get(path)
        if entry is not None:
            return Node(int(entry.mode), entry.id)
        folder, _, name = path.rpartition("/")
        return find_node(self.rows(folder), name)

    def rows(self, path: str) -> Rows:
        """See `Store.rows`."""
        built = self._build()
        if path in built:
            return built[path]
        folder, _, name = path.rpartition("/")
        node = find_node(self.rows(folder), name)
        return self._below.rows(path) if self._below and node and node.is_directory else {}

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


def differences(
    store: Store, other: Store, path: str, *, is_here: bool, is_there: bool
) -> Iterator[tuple[str, Node | None, Node | None]]:
    """Yield each name in a folder for which two stores have different nodes, with these.

    *is_here* and *is_there* say which of the stores has the folder.
    """
    before = store.rows(path) if is_here else {}
    after = other.rows(path) if is_there else {}
    for raw in {raw for raw, _ in before.items() ^ after.items()}:
        was, now = before.get(raw), after.get(raw)
        yield decode_path(raw), was and node_of(was), now and node_of(now)


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

"""Read-only trees, and overlays with changes to them.

A `Snapshot` is the tree of a commit, a directory, or files in memory. `Changes` is a set
of edits to a snapshot. A snapshot with changes is a snapshot again, so one class answers
every question about a tree. The cost depends on what the changes touch.
"""

import os
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from attrs import frozen

from cooperbench_eval.errors import ArgumentError, RepositoryError
from cooperbench_eval.git.trees.diff_writing import render_change
from cooperbench_eval.git.trees.entries import Entry, FileMode, entry_problem, written_path_problem
from cooperbench_eval.git.trees.objects import (
    Node,
    OverlayStore,
    Store,
    decode_path,
    differences,
    folders_of,
    node_of,
)
from cooperbench_eval.support.arguments import checked
from cooperbench_eval.support.memo import KeptValues, Memo

_Cache = TypeVar("_Cache")


class Snapshot:
    r"""The files of a tree at one moment, read-only.

    Make one with `from_repo`, `from_dir` or `from_files`, or apply changes to another one
    with `overlay`. Contents are read when they are needed. A snapshot of a commit pickles
    as the repository's path and the tree's id.

    Example:
        >>> base = Snapshot.from_files({"a.txt": b"one\n"})
        >>> base.read("a.txt")
        b'one\n'
        >>> base.overlay(Changes({"b.txt": Entry(b"two\n")})).paths()
        ('a.txt', 'b.txt')
    """

    __slots__ = ("_caches", "_entries", "_overlays", "_store", "commit_id", "location")

    def __init__(
        self, store: Store, *, location: str | None = None, commit_id: str | None = None
    ) -> None:
        """Wrap a store; use one of the `from_…` constructors instead."""
        if not hasattr(store, "rows"):
            advice = "use Snapshot.from_repo(), Snapshot.from_dir() or Snapshot.from_files()"
            raise ArgumentError("store", f"is not a source of trees; {advice}")
        self._store = store
        # Kept, because all pairs of a task ask for the same few files of the base.
        self._entries: Memo[str, Entry] = Memo(1024)
        # Kept, because a merged tree is asked for its id, its diff and its files in turn.
        self._overlays: Memo[Changes, Snapshot] = Memo(16)
        self._caches = KeptValues()
        self.location = location
        self.commit_id = commit_id

    @classmethod
    @checked
    def from_repo(cls, path: str | os.PathLike[str], revision: str) -> Self:
        """Read the tree of a commit.

        Args:
            path: A working tree with its `.git`, or a bare repository.
            revision: A commit, tag or tree, in any form that `git rev-parse`
                accepts.

        Raises:
            RepositoryError: *path* is not a repository, or it has no such revision.
        """
        from cooperbench_eval.git.trees.repository import (  # noqa: PLC0415 - loads libgit2
            open_revision,
        )

        location = os.path.abspath(path)  # noqa: PTH100 - links are kept as given
        store, commit_id = open_revision(location, revision)
        return cls(store, location=location, commit_id=commit_id)

    @classmethod
    @checked
    def from_dir(cls, path: str | os.PathLike[str]) -> Self:
        """Read every file below a directory at once, except `.git`.

        Empty folders, pipes, sockets and devices are left out, since git has no entries
        for them.

        Raises:
            RepositoryError: *path* is not a directory, or a file cannot be read.
        """
        root = Path(os.path.abspath(path))  # noqa: PTH100 - links are kept as given
        if not root.is_dir():
            raise RepositoryError(str(root), "is not a directory")
        entries: dict[str, Entry] = {}
        try:
            for file in _files_below(root):
                entries[file.relative_to(root).as_posix()] = _entry_of(file)
        except OSError as exc:
            raise RepositoryError(str(root), f"cannot be read ({exc})") from exc
        return cls(OverlayStore(None, entries), location=str(root))

    @classmethod
    @checked
    def from_files(cls, files: Mapping[str, bytes | Entry]) -> Self:
        """Make a tree of *files*, which are contents, or entries with a mode, by path.

        Raises:
            ArgumentError: A tree must not contain one of the paths, or two paths clash, or the
                contents of a file are not bytes.
        """
        entries = {p: e if isinstance(e, Entry) else Entry(e) for p, e in files.items()}
        return cls(OverlayStore(None, Changes(entries)))

    @property
    def tree_id(self) -> str:
        """The git tree id in hex, as `git write-tree` would give it."""
        return self._store.root()

    def get(self, path: str) -> Entry | None:
        """Return the entry at *path*, or `None` if there is none.

        The contents of a file in a repository are only read when `data` is used, which
        raises `RepositoryError` if they are absent.

        Raises:
            RepositoryError: A folder above *path* is absent.
        """
        _check_path(path)
        return self._entries.recall(path, lambda: self._load(path))

    def _load(self, path: str) -> Entry | None:
        node = self._store.node(path)
        return None if node is None or node.is_directory else self._store.entry(path, node)

    def read(self, path: str) -> bytes:
        """Return the data of the entry at *path*.

        Raises:
            RepositoryError: There is no such entry, or its contents are absent.
        """
        entry = self.get(path)
        if entry is None:
            raise RepositoryError(self.location or "snapshot", f"has no file {path}")
        return entry.data

    @checked
    def find_blob(self, prefix: str) -> bytes | None:
        """Return the contents whose git blob id starts with *prefix*, or `None`.

        The tree's own entries are searched and, for a tree of a repository, the rest of
        the repository too.

        Raises:
            RepositoryError: The repository is a partial clone that has no such blob, which
                says nothing about the whole repository.
        """
        return self._store.blob(prefix)

    def is_directory(self, path: str) -> bool:
        """Whether *path* is a folder with something in it."""
        _check_path(path)
        node = self._store.node(path)
        return node is not None and node.is_directory

    @checked
    def paths(self, below: str = "") -> tuple[str, ...]:
        """Return the path of every entry, sorted, optionally *below* a folder."""
        return tuple(sorted(path for path, _ in self._walk(below)))

    def _walk(self, folder: str = "") -> Iterator[tuple[str, Node]]:
        folders = [folder]  # no recursion: folders may be nested too deeply for Python's stack
        while folders:
            folder = folders.pop()
            prefix = f"{folder}/" if folder else ""
            for raw, row in self._store.rows(folder).items():
                path, node = prefix + decode_path(raw), node_of(row)
                if node.is_directory:
                    folders.append(path)
                else:
                    yield path, node

    @checked
    def overlay(self, changes: "Changes") -> "Snapshot":
        """Return this tree with *changes* applied."""
        return self._overlays.recall(
            changes, lambda: Snapshot(OverlayStore(self._store, changes), location=self.location)
        )

    @checked
    def write_to(self, directory: str | os.PathLike[str]) -> None:
        """Write every file below *directory*, which must be empty or absent.

        Submodules become empty folders, as in a fresh clone. Links are made last, so no
        file is written through a link.

        Raises:
            RepositoryError: *directory* is not empty, a path leaves it, two paths collide
                there, or writing fails.
        """
        root = os.fspath(directory)
        links: list[tuple[str, bytes]] = []
        made: set[str] = set()
        try:
            if os.path.lexists(root) and not os.path.isdir(root):  # noqa: PTH112
                raise RepositoryError(root, "is not a directory")
            os.makedirs(root, exist_ok=True)  # noqa: PTH103 - fast, for many files
            if os.listdir(root):  # noqa: PTH208
                raise RepositoryError(root, "is not empty")
            for path, node in self._walk():
                if problem := written_path_problem(path):
                    raise RepositoryError(self.location or "snapshot", problem)
                target = f"{root}/{path}"
                folder = target.rpartition("/")[0]
                if folder not in made:
                    os.makedirs(folder, exist_ok=True)  # noqa: PTH103
                    made.add(folder)
                mode = FileMode(node.mode)
                data = b"" if mode is FileMode.SUBMODULE else self._store.read(path, node)
                if mode is FileMode.SYMLINK:
                    links.append((target, data))
                else:
                    write_entry(target, mode, data)
            for target, data in links:
                write_entry(target, FileMode.SYMLINK, data)
        except FileExistsError as exc:
            problem = f"cannot be written (the tree has two names for one file here: {exc})"
            raise RepositoryError(root, problem) from exc
        except (OSError, ValueError) as exc:  # a link's target may contain a NUL
            raise RepositoryError(root, f"cannot be written ({exc})") from exc

    def __reduce__(self) -> tuple[object, ...]:
        return (_restore, (self._store, self.location, self.commit_id))

    def __repr__(self) -> str:
        source = self.location or "memory"
        return f"<Snapshot of {source} at {self.commit_id or self.tree_id}>"


def _check_path(path: object) -> None:
    """Check the path by hand, because this is called for many files."""
    if not isinstance(path, str):
        raise ArgumentError("path", f"must be str, not {type(path).__qualname__}")


def cache_of(base: Snapshot, kind: Callable[[], _Cache]) -> _Cache:
    """Return the cache of this *kind* that is kept with *base*; it is empty after unpickling.

    Whatever is computed from one base for many pairs is kept with it: line diffs, placed patches,
    parsed files. *kind* makes an empty cache, and is the key too, so it must be a class or a
    function.
    """
    return base._caches.one(kind)  # noqa: SLF001 - of this module


def names_in(base: Snapshot, folder: str) -> dict[str, bool]:
    """Return the names in a folder, with whether each is a folder; none if it is not a folder."""
    rows = base._store.rows(folder)  # noqa: SLF001 - of this module
    return {decode_path(raw): node_of(row).is_directory for raw, row in rows.items()}


def walk(base: Snapshot, folder: str) -> Iterator[str]:
    """Yield the path of every entry below a folder, in any order; folders are read as needed."""
    return (path for path, _ in base._walk(folder))  # noqa: SLF001 - of this module


def is_same(one: Snapshot, other: Snapshot) -> bool:
    """Whether both are one commit or, if one is not a commit, whether their trees are equal."""
    if one is other:
        return True
    if one.commit_id and other.commit_id:
        return one.commit_id == other.commit_id
    return one.tree_id == other.tree_id


def _restore(store: Store, location: str | None, commit_id: str | None) -> Snapshot:
    return Snapshot(store, location=location, commit_id=commit_id)


def write_entry(target: str, mode: FileMode, data: bytes) -> None:
    """Write an entry to disk, at a path where nothing exists yet.

    A submodule becomes an empty folder. The file system may refuse it with an `OSError`, and a link
    whose target contains a NUL is a `ValueError`.
    """
    if mode is FileMode.SUBMODULE:
        os.mkdir(target)  # noqa: PTH102 - trees are written through plain strings, for speed
    elif mode is FileMode.SYMLINK:
        os.symlink(data, os.fsencode(target))  # noqa: PTH211 - the link's target is bytes
    else:
        permissions = 0o777 if mode is FileMode.EXECUTABLE else 0o666
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, permissions)
        with open(handle, "wb") as file:  # noqa: PTH123 - a descriptor
            file.write(data)


def _files_below(folder: Path) -> Iterator[Path]:
    for child in sorted(folder.iterdir()):
        if child.name == ".git":
            continue
        if child.is_dir() and not child.is_symlink():
            yield from _files_below(child)
        elif child.is_symlink() or child.is_file():
            yield child


def _entry_of(file: Path) -> Entry:
    if file.is_symlink():
        target = os.readlink(os.fsencode(file))  # noqa: PTH115 - as bytes
        return Entry(target, FileMode.SYMLINK)
    # Windows derives the permission from the name's end; git ignores it there too.
    executable = os.name != "nt" and file.stat().st_mode & 0o100
    return Entry(file.read_bytes(), FileMode.EXECUTABLE if executable else FileMode.FILE)


@frozen(init=False, repr=False)
class Changes(Mapping[str, Entry | None]):
    r"""Edits to a snapshot: for each touched path its new entry, or `None` to delete it.

    A mapping in the order of paths, immutable and comparable by value. Entries that equal
    those of the snapshot are allowed and change nothing.

    Example:
        >>> edit = Changes({"a.txt": Entry(b"two\n"), "gone.txt": None})
        >>> list(edit), edit["gone.txt"] is None
        (['a.txt', 'gone.txt'], True)
    """

    _entries: dict[str, Entry | None]

    def __init__(self, entries: Mapping[str, Entry | None] | None = None) -> None:
        """Make changes from the touched paths; `None` deletes an entry.

        Raises:
            ArgumentError: A tree must not contain one of the paths, or a file has the path
                of a folder that another entry needs, or a value is not an entry.
        """
        ordered = dict(sorted(_checked_entries(entries)))
        for path, entry in ordered.items():
            mode = FileMode.FILE if entry is None else entry.mode
            if problem := entry_problem(path, mode):
                raise ArgumentError("entries", f"are not a tree: {problem}")
        made = {path for path, entry in ordered.items() if entry is not None}
        if clashes := made & folders_of(made):
            folder = min(clashes)
            path = next(path for path in ordered if path in made and path.startswith(f"{folder}/"))
            problem = f"{folder!r} is a file and the folder of {path!r}"
            raise ArgumentError("entries", f"are not a tree: {problem}")
        self.__attrs_init__(ordered)

    @classmethod
    @checked
    def between(cls, old: Snapshot, new: Snapshot) -> Self:
        """Return the changes from *old* to *new*; equal folders are skipped.

        Raises:
            RepositoryError: One of them cannot be read, or has a path that no tree may contain.
        """
        try:
            return cls(dict(_differences(old, new)))
        except ArgumentError as exc:
            raise RepositoryError(new.location or "snapshot", f"its files {exc.problem}") from exc

    def __getitem__(self, path: str) -> Entry | None:
        return self._entries[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    if not TYPE_CHECKING:  # for speed; the types are those of the methods of `Mapping`

        def get(self, path: str, default: object = None) -> object:
            """Return the entry at *path*, or *default* if the path is not touched."""
            return self._entries.get(path, default)

        def items(self) -> ItemsView[str, Entry | None]:
            """Return the touched paths with their entries."""
            return self._entries.items()

    def __hash__(self) -> int:
        return hash(tuple(self._entries.items()))

    def __repr__(self) -> str:
        marks = (f"{'-' if entry is None else '+'}{path}" for path, entry in self.items())
        return f"Changes({', '.join(marks)})"

    @checked
    def tree_id(self, base: Snapshot) -> str:
        """The git tree id in hex of *base* with these changes."""
        return base.overlay(self).tree_id

    @checked
    def diff(self, base: Snapshot) -> bytes:
        """Render as a git diff against *base*.

        It has full object ids and full binary contents, so `git apply` reproduces the
        tree. Files that an entry displaces are shown as deleted.
        """
        real = Changes.between(base, base.overlay(self))
        return b"".join(render_change(path, base.get(path), new) for path, new in real.items())


def rewritten(changes: Changes, old: Snapshot, new: Snapshot) -> Changes:
    """Return the changes that turn *new* into the tree into which *changes* turns *old*."""
    return changes if new is old else Changes.between(new, old.overlay(changes))


def _differences(old: Snapshot, new: Snapshot) -> Iterator[tuple[str, Entry | None]]:
    before, after = old._store, new._store  # noqa: SLF001 - both classes are in this module
    # No recursion: folders may be nested too deeply for Python's stack.
    folders = [("", True, True)]
    while folders:
        folder, is_here, is_there = folders.pop()
        for name, was, now in differences(
            before, after, folder, is_here=is_here, is_there=is_there
        ):
            path = f"{folder}/{name}" if folder else name
            was_folder = was is not None and was.is_directory
            now_folder = now is not None and now.is_directory
            if was_folder or now_folder:
                folders.append((path, was_folder, now_folder))
            if was and not was_folder and (now is None or now_folder):
                yield path, None
            if now and not now_folder:
                yield path, after.entry(path, now)


def _checked_entries(
    entries: Mapping[str, Entry | None] | None,
) -> Iterable[tuple[str, Entry | None]]:
    if entries is None:
        return ()
    if not isinstance(entries, Mapping):
        found = type(entries).__qualname__
        raise ArgumentError("entries", f"must be a mapping from paths to entries, not {found}")
    for path, entry in entries.items():
        if not isinstance(path, str):
            raise ArgumentError("entries", f"must have paths as str, not {type(path).__qualname__}")
        if entry is not None and not isinstance(entry, Entry):
            found = type(entry).__qualname__
            advice = "; use Entry(...)" if isinstance(entry, bytes) else ""
            problem = f"must be Entry or None for each path, but {path!r:.100} has {found}{advice}"
            raise ArgumentError("entries", problem)
    return entries.items()

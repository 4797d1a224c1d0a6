"""Working trees on disk. The cost of one depends only on how much it differs from its base.

A base is written to disk once and kept. For a run, its changes are applied to that
directory; afterwards, the files whose stamps changed are restored. So no run sees what
another one left, and unchanged files are not written again.
"""

import os
import re
import stat
import tempfile
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from cooperbench_eval.errors import RepositoryError, SandboxError
from cooperbench_eval.git.trees.entries import Entry, FileMode, written_path_problem
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot, write_entry
from cooperbench_eval.running.file_watch import Stamp, stamp
from cooperbench_eval.running.processes.folders import remove
from cooperbench_eval.running.processes.temporary import discard_with, make_folder
from cooperbench_eval.support.systems import after_fork

_KEPT = 4
_PLAIN_PATH = re.compile(r"[\w./-]+", re.ASCII)


class TreeLender:
    """Lends working trees, each to one run at a time.

    The directories are removed when this object is collected, or when the interpreter
    exits. Threads may share it; a forked or unpickled copy starts without directories.
    """

    def __init__(self) -> None:
        self.start()
        # In a forked child, the lock may be held by a thread that does not exist there.
        after_fork(partial(_start_anew, weakref.ref(self)))

    def start(self) -> None:
        """Forget every directory; a forked child may not use those of its parent."""
        self._lock = threading.Lock()
        self._home: Path | None = None
        self._idle: list[_KeptTree] = []

    def __reduce__(self) -> tuple[type["TreeLender"], tuple[()]]:
        return (TreeLender, ())

    @contextmanager
    def lend(self, base: Snapshot, tree: Snapshot) -> Iterator[Path]:
        """Write *tree* to a directory, and lend the directory while the context lasts.

        The *base*, from which *tree* differs little, is kept on disk. A directory that cannot be
        written is a `SandboxError`, as in all methods.
        """
        kept = self._take(base)
        try:
            with disk_errors():
                kept.change(tree)
            yield kept.root
        finally:
            self._give_back(kept)

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """Lend a new, empty directory, and remove it afterwards."""
        with disk_errors():
            folder = Path(tempfile.mkdtemp(prefix="run-", dir=self._directory()))
        try:
            yield folder
        finally:
            remove(folder)

    @contextmanager
    def lend_patches(self, patches: Mapping[str, tuple[Snapshot, Changes]]) -> Iterator[Path]:
        """Lend a new directory with patches: by their name, the trees that they change, and how."""
        with self.scratch() as folder:
            for name, (before, changes) in patches.items():
                diff = changes.diff(before) or _idle_patch(before)
                try:
                    (folder / name).write_bytes(diff)
                except OSError as exc:
                    raise SandboxError(f"the patches cannot be written ({exc})") from exc
            yield folder

    def _directory(self) -> Path:
        with self._lock:
            # A program that cleans up temporary files may have removed it.
            if self._home is None or not self._home.is_dir():
                self._home = make_folder()
                self._idle = []
                discard_with(self, self._home)
            return self._home

    def _take(self, base: Snapshot) -> "_KeptTree":
        with disk_errors():
            home, tree_id = self._directory(), base.tree_id
            with self._lock:
                for number, kept in enumerate(self._idle):
                    if kept.tree_id == tree_id:
                        return self._idle.pop(number)
            root = Path(tempfile.mkdtemp(prefix="tree-", dir=home))
            try:
                return _KeptTree(root, base)
            except BaseException:
                remove(root)
                raise

    def _give_back(self, kept: "_KeptTree") -> None:
        try:
            kept.undo()
        # The run did something that cannot be undone file by file.
        except (OSError, RepositoryError):
            remove(kept.root)
            return
        with self._lock:
            self._idle.append(kept)
            surplus = self._idle[:-_KEPT]
            del self._idle[:-_KEPT]
        for each in surplus:
            remove(each.root)


class _KeptTree:
    """A base written to disk, and the stamps that its files had right after that."""

    def __init__(self, root: Path, base: Snapshot) -> None:
        self.root = root
        self.tree_id = base.tree_id
        self._base = base
        base.write_to(root)
        self._folders: dict[str, int] = {}
        self._stamps: dict[str, Stamp] = {}
        for path, entry in _walk(str(root)):
            found = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode):
                self._folders[path] = found.st_mode
            else:
                self._stamps[path] = stamp(found)

    def change(self, tree: Snapshot) -> None:
        changes = Changes.between(self._base, tree)
        for path, entry in changes.items():
            if entry is None:
                self._delete(path)
        for path, entry in changes.items():
            if entry is not None:
                self._check_is_free(path)
                _write(self.root / path, entry)

    def _check_is_free(self, path: str) -> None:
        """Refuse a new path that this system cannot have, or at which it has another file."""
        problem = written_path_problem(path)
        is_new = problem is None and self._base.get(path) is None
        if is_new and os.path.lexists(self.root / path):
            problem = f"another path of the tree is the same file as {path!r} on this system"
        if problem:
            raise SandboxError(f"the working tree cannot be written ({problem})")

    def _delete(self, path: str) -> None:
        file = self.root / path
        entry = self._base.get(path)
        if entry is not None and entry.mode is FileMode.SUBMODULE:
            file.rmdir()
        else:
            file.unlink()
        for folder in file.parents:
            if folder == self.root:
                break
            try:
                folder.rmdir()
            except OSError:  # not empty
                break

    def undo(self) -> None:
        """Restore the base, whatever was done to the directory."""
        root = str(self.root)
        self.root.chmod(0o700)
        _forget_attributes(self.root)
        seen: set[str] = set()
        for path, entry in _walk(root, self._folders):
            found = entry.stat(follow_symlinks=False)
            if self._is_untouched(path, found):
                seen.add(path)
            elif stat.S_ISDIR(found.st_mode):
                remove(Path(entry.path))
            else:
                os.unlink(entry.path)  # noqa: PTH108 - one of many
        for path in sorted(self._folders.keys() - seen):
            os.mkdir(f"{root}/{path}", stat.S_IMODE(self._folders[path]))  # noqa: PTH102
        for path in self._stamps.keys() - seen:
            written = self._base.get(path)
            if written is None:  # the directory has another spelling of its name
                raise RepositoryError("the base", f"has another name for the file {path!r} here")
            _write(self.root / path, written)
            self._stamps[path] = stamp(os.lstat(f"{root}/{path}"))

    def _is_untouched(self, path: str, found: os.stat_result) -> bool:
        if not stat.S_ISDIR(found.st_mode):
            return self._stamps.get(path) == stamp(found)
        if path not in self._folders:
            return False
        if self._folders[path] != found.st_mode:
            (self.root / path).chmod(stat.S_IMODE(self._folders[path]))
        _forget_attributes(self.root / path)
        return True


def _idle_patch(tree: Snapshot) -> bytes:
    """Return a patch that changes nothing, since `git apply` refuses an empty one.

    It removes the first line of a file and adds it again. It is empty if the tree has no
    suitable file.
    """
    for path in filter(_PLAIN_PATH.fullmatch, tree.paths()):
        entry = tree.get(path)
        if entry is None or not entry.mode.is_regular or b"\0" in entry.data:
            continue
        # With three lines of context, git does not require the end of the file here.
        lines = entry.data.splitlines(keepends=True)[:4]
        if lines and all(line.endswith(b"\n") for line in lines):
            hunk = b"-" + lines[0] + b"+" + b" ".join(lines)
            header = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -1,{1} +1,{1} @@\n"
            return header.format(path, len(lines)).encode() + hunk
    return b""


def _forget_attributes(folder: Path) -> None:
    """Remove extended attributes, some of which set the rights of new files in a folder."""
    if hasattr(os, "listxattr"):
        for name in os.listxattr(folder):
            os.removexattr(folder, name)


def _walk(
    root: str, known: dict[str, int] | None = None
) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    """Yield every entry below *root* with its relative path, each folder before its entries.

    If *known* is given, only the folders in it are searched.
    """
    folders = [""]
    while folders:
        folder = folders.pop()
        with os.scandir(f"{root}/{folder}") as entries:
            for entry in list(entries):
                path = f"{folder}/{entry.name}" if folder else entry.name
                yield path, entry
                if entry.is_dir(follow_symlinks=False) and (known is None or path in known):
                    folders.append(path)


def _write(file: Path, entry: Entry) -> None:
    if file.is_dir() and not file.is_symlink():
        file.rmdir()  # it was emptied before, or is a submodule's
    else:
        file.unlink(missing_ok=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_entry(str(file), entry.mode, entry.data)


@contextmanager
def disk_errors() -> Iterator[None]:
    """Report a full or missing disk as a failure of the sandbox, not of the tree."""
    try:
        yield
    except OSError as exc:
        raise SandboxError(f"the files of the run cannot be written ({exc})") from exc
    except RepositoryError as exc:
        if isinstance(exc.__cause__, OSError):
            raise SandboxError(f"the files of the run cannot be written ({exc.problem})") from exc
        raise


def _start_anew(lender: "weakref.ref[TreeLender]") -> None:
    if known := lender():
        known.start()

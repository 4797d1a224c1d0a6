"""Temporary folders of this process. If it is killed, the next process removes them.

A process holds a lock on each of its folders, which the operating system releases however the
process ends. So a folder without a lock belongs to nobody. Before a process makes its first
folder, it removes those that earlier processes of the same user left.
"""

import os
import stat
import tempfile
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cooperbench_eval.running.processes.folders import remove
from cooperbench_eval.support.systems import after_fork

_PREFIX = "cooperbench-"
_SUFFIX = "-held"
"""Distinguishes the folders from those of versions that held no locks."""
_LEAST_AGE_SECONDS = 60.0
"""A process may have made a folder and not locked it yet."""
_MOST_SECONDS = 5.0
"""When to stop removing folders; a later process will go on."""
_DIRECTORY = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)

_HELD: dict[Path, int] = {}
"""The folders of this process, with the descriptors that have their locks."""
_SWEPT: set[str] = set()
"""The places where this process has looked for folders without a lock."""


def make_folder(kind: str = "", place: Path | None = None) -> Path:
    """Make a temporary folder for this user only, to be removed with `discard_folder`.

    Its name holds the word *kind*. By default it is in the system's temporary directory. If it
    cannot be made, raise an `OSError`.
    """
    parent = str(place or tempfile.gettempdir())
    if hasattr(os, "getuid"):  # elsewhere, a folder cannot be opened and locked
        with suppress(OSError):
            _remove_leftovers(parent)
    while True:
        # Resolved, because below a link every path has two names.
        folder = Path(tempfile.mkdtemp(_SUFFIX, f"{_PREFIX}{kind}", parent)).resolve()
        if not hasattr(os, "getuid"):
            return folder
        try:
            _HELD[folder] = _hold(folder)
        except (BlockingIOError, FileNotFoundError):
            continue  # this process was suspended, and another one took it for a leftover
        except OSError:  # the file system has no locks, so nobody takes it for a leftover
            return folder
        if folder.is_dir():
            return folder
        discard_folder(folder)


def discard_folder(folder: Path) -> None:
    """Remove a folder of this process, whatever it contains."""
    remove(folder)
    descriptor = _HELD.pop(folder, None)
    if descriptor is not None:
        os.close(descriptor)


def discard_with(owner: object, folder: Path) -> None:
    """Remove a folder once *owner* is collected or the interpreter exits; not in a forked child."""
    weakref.finalize(owner, _discard_own, folder, os.getpid())


def _discard_own(folder: Path, process_id: int) -> None:
    if os.getpid() == process_id:
        discard_folder(folder)


@contextmanager
def temporary_folder(kind: str = "", place: Path | None = None) -> Iterator[Path]:
    """Make a folder as `make_folder` does, and remove it afterwards."""
    folder = make_folder(kind, place)
    try:
        yield folder
    finally:
        discard_folder(folder)


def _hold(folder: Path) -> int:
    """Lock a folder, or raise an `OSError`; return the descriptor that has the lock."""
    import fcntl  # noqa: PLC0415 - not everywhere

    descriptor = os.open(folder, os.O_RDONLY | _DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _remove_leftovers(place: str) -> None:
    """Remove the folders in *place* that processes of this user left when they were killed."""
    if place in _SWEPT:
        return
    _SWEPT.add(place)
    enough = time.monotonic() + _MOST_SECONDS
    with os.scandir(place) as entries:
        names = [e.name for e in entries if e.name.startswith(_PREFIX) and e.name.endswith(_SUFFIX)]
    for name in names:
        folder = Path(place, name)
        with suppress(OSError):
            if time.monotonic() < enough and _may_be_left(folder.lstat()):
                descriptor = _hold(folder)
                try:
                    remove(folder)
                finally:
                    os.close(descriptor)


def _may_be_left(found: os.stat_result) -> bool:
    """Whether a folder is this user's own, and not so new that its lock may be missing."""
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return is_ours and abs(time.time() - found.st_mtime) > _LEAST_AGE_SECONDS


def _release_in_child() -> None:
    """Keep a forked child from holding the locks of its parent, which it may outlive."""
    while _HELD:
        os.close(_HELD.popitem()[1])


after_fork(_release_in_child)

"""Notices that the disk on which a run works was full for a reason other than the run itself.

Only the file system is asked. What a run prints decides nothing, because code under test can
print anything.
"""

import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_NEARLY_NONE = 64 << 10
"""Free bytes with which no test framework can work."""
_FEWEST_FILES = 4
_SECONDS = 0.1
_LITTLE = 64 << 20
"""Bytes that every run may write; if the disk is full with so few, the run did not fill it."""


class DiskWatch:
    """Looks again and again whether the disk of some folders is full.

    A run that fills the disk itself is a result of its tree: the files in its folders that
    are newer than the run then hold most of the space that was free.

    Attributes:
        problem: How little space there was, when the disk was found full; empty if it never
            was, or if the run itself filled it.
    """

    def __init__(self, *folders: Path) -> None:
        """Start to watch the disks of *folders*, where the run works."""
        self.problem = ""
        self._folders = folders
        self._began = time.time()
        self._free = {folder: _free_bytes(folder) for folder in folders}
        self._stop = threading.Event()
        self._look()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Look a last time, and stop."""
        self._stop.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._stop.wait(_SECONDS):
            self._look()

    def _look(self) -> None:
        for folder in () if self.problem else self._folders:
            with suppress(OSError):
                self.problem = self._problem(folder)

    def _problem(self, folder: Path) -> str:
        lack = _lack(folder)
        if not lack:
            return ""
        own = sum(map(self._new_bytes, self._folders))
        is_its_own = own > max(_LITTLE, self._free[folder] // 2)
        return "" if is_its_own else f"the disk with the run's files was full: {lack}"

    def _new_bytes(self, folder: Path) -> int:
        return sum(
            found.st_blocks * 512
            for found in _files_below(folder)
            if found.st_mtime >= self._began - 1
        )


def _lack(folder: Path) -> str:
    """Return how little space is left for *folder*; empty if there is enough."""
    free = _free_bytes(folder)
    if free < _NEARLY_NONE:
        return f"{free:,} bytes free"
    if hasattr(os, "statvfs"):
        found = os.statvfs(folder)
        # Some file systems have no fixed number of files, and say 0.
        if found.f_files and found.f_ffree < _FEWEST_FILES:
            return f"{found.f_ffree} more files possible"
    return ""


def _free_bytes(folder: Path) -> int:
    if not hasattr(os, "statvfs"):
        return shutil.disk_usage(folder).free
    found = os.statvfs(folder)
    # Some blocks are kept for the administrator.
    blocks = found.f_bavail if os.geteuid() else found.f_bfree
    return blocks * found.f_frsize


def _files_below(folder: Path) -> Iterator[os.stat_result]:
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                yield (Path(parent) / name).lstat()

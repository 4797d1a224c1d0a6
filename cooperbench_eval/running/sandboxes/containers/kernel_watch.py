"""What the kernel shows of a container: killed processes, and changed files of the tree."""

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path, PurePosixPath

from cooperbench_eval.git.trees.objects import folders_above
from cooperbench_eval.running.file_watch import MoveWatch

_CGROUPS = Path("/sys/fs/cgroup")
_KILLS = re.compile(rb"^oom_kill (\d+)$", re.MULTILINE)


class MemoryWatch:
    """Reads the kernel's count of out-of-memory kills in a container on this machine.

    Podman 4.3's service does not report that a container ran out of memory. The kernel
    counts the kills in the container's control group, which disappears with the
    container, so the count is read while the container runs.
    """

    def __init__(self, process_id: int, container: str) -> None:
        """Find the control group of the first process of a container, given its id.

        The engine may be on another machine. So a process with that number belongs to the
        container only if its group has the container's id.
        """
        self._kills = 0
        self._file: FileIO | None = None
        with suppress(OSError):
            groups = Path(f"/proc/{process_id}/cgroup").read_text(encoding="utf-8")
            for line in groups.splitlines():
                _, controllers, group = line.split(":", 2)
                if container not in group:
                    continue
                if "memory" in controllers.split(","):
                    self._file = FileIO(f"{_CGROUPS}/memory{group}/memory.oom_control")
                elif not controllers and self._file is None:
                    with suppress(FileNotFoundError):  # no memory controller there
                        self._file = FileIO(f"{_CGROUPS}{group}/memory.events")

    def kills(self) -> int:
        """Return how many processes are known to have been killed."""
        # When the group has disappeared, the last count stays.
        with suppress(OSError):
            if self._file:
                self._file.seek(0)
                if found := _KILLS.search(self._file.read()):
                    self._kills = int(found[1])
        return self._kills

    def close(self) -> None:
        """Close the kernel's file."""
        if self._file:
            self._file.close()


_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", os.O_RDONLY)


class CopyWatch:
    """Compares the last change of each file in a container with the container's start.

    An engine's archives do not contain the time of the last change, and programs in the
    container can lie. So the files are inspected through the kernel, which shows a
    process's mounts to this machine's root user and to the owner of a rootless engine. If
    the engine runs elsewhere, or belongs to another user, nothing is noticed.
    """

    def __init__(self, tree: Path, tree_at: str) -> None:
        """Note the time, before the start of a container that has *tree* at *tree_at*."""
        self._tree = tree
        self._tree_at = PurePosixPath(tree_at)
        self._began = time.time_ns()
        self._moves = MoveWatch()
        self._root: int | None = None

    def open(self, process_id: int, container: str) -> None:
        """Open the container's copy, given its first process and its id.

        The copy then stays readable after the processes have ended.
        """
        process = f"/proc/{process_id}"
        with suppress(OSError):
            # The engine may be on another machine; on this one, another process may have
            # the number.
            if container in Path(process, "cgroup").read_text(encoding="utf-8"):
                top = os.open(f"{process}/root", _FOLDER)
                try:
                    self._root = _open_below(top, self._tree_at.parts[1:])
                    self._watch_folders(top, self._root)
                finally:
                    os.close(top)

    def _watch_folders(self, top: int, root: int) -> None:
        parts = self._tree_at.parts[1:]
        for end in range(1, len(parts) + 1):
            self._watch("", top, parts[:end])
        for folder, _, _ in os.walk(self._tree):
            place = PurePosixPath(folder).relative_to(self._tree)
            if place.parts:
                self._watch(str(place), root, place.parts)

    def _watch(self, name: str, start: int, parts: tuple[str, ...]) -> None:
        with suppress(OSError):
            folder = _open_below(start, parts)
            self._moves.add(name, f"/proc/self/fd/{folder}")
            os.close(folder)

    def changed(self) -> frozenset[str]:
        """Return the files that were changed, moved, replaced or deleted since the start."""
        if self._root is None:
            return frozenset()
        return frozenset(self._changed(self._root))

    def _changed(self, root: int) -> Iterator[str]:
        moved = self._moves.moved()
        for folder, folders, files in os.walk(self._tree):
            links = (name for name in folders if os.path.islink(f"{folder}/{name}"))  # noqa: PTH114
            place = PurePosixPath(folder).relative_to(self._tree)
            above = {"", str(place), *folders_above(str(place))}
            if not moved.isdisjoint(above):
                yield from (str(place / name) for name in (*files, *links))
                continue
            try:
                opened = _open_below(root, place.parts)
            except OSError:
                yield from (str(place / name) for name in (*files, *links))
                continue
            try:
                for name in (*files, *links):
                    if self._is_changed(opened, name):
                        yield str(place / name)
            finally:
                os.close(opened)

    def _is_changed(self, folder: int, name: str) -> bool:
        try:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            return True
        # No program can set this time.
        return found.st_ctime_ns > self._began

    def close(self) -> None:
        """Close the container's copy."""
        self._moves.close()
        if self._root is not None:
            os.close(self._root)


def _open_below(folder: int, parts: tuple[str, ...]) -> int:
    """Open a folder, or raise an `OSError`; links, which may lead to our files, are refused."""
    opened = os.open(".", _FOLDER, dir_fd=folder)
    for part in parts:
        above = opened
        try:
            opened = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=above)
        finally:
            os.close(above)
    return opened

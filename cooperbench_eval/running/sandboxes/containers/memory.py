"""Notices processes of a container that are killed because memory ran out."""

import re
from contextlib import suppress
from io import FileIO
from pathlib import Path

__all__ = ["MemoryWatch"]

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

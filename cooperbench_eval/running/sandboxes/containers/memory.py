"""Sees processes of a container die for want of memory, where the engine does not."""

import re
from contextlib import suppress
from io import FileIO
from pathlib import Path

__all__ = ["MemoryWatch"]

_CGROUPS = Path("/sys/fs/cgroup")
_KILLS = re.compile(rb"^oom_kill (\d+)$", re.MULTILINE)


class MemoryWatch:
    """Reads the kernel's count of a container that runs on this machine.

    Podman 4.3's service forgets that a container ran out of memory. The kernel
    counts it in the container's control group, for as long as that exists, so
    that it has to be asked right away.
    """

    def __init__(self, process_id: int, container: str) -> None:
        """Look for the group of a container's process.

        Args:
            process_id: What the engine calls the container's first process.
            container: The container's id, by which to know that the process of
                that number is the container's and not another machine's.
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
        """Return how many processes were killed, as far as is known."""
        # Once the group is gone, what was read before stands.
        with suppress(OSError):
            if self._file:
                self._file.seek(0)
                if found := _KILLS.search(self._file.read()):
                    self._kills = int(found[1])
        return self._kills

    def close(self) -> None:
        """Look away."""
        if self._file:
            self._file.close()

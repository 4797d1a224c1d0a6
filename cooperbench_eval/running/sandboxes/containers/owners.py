"""The owner of a container, and whether it still runs.

An owner is a process on this machine. Its label also names the boot and the process
namespace, because processes of other machines and namespaces cannot be checked.
"""

from contextlib import suppress
from pathlib import Path

__all__ = ["OWNER_LABEL", "is_gone", "owner_of", "start_of"]

OWNER_LABEL = "cooperbench_eval.owner"
"""The label of every container; its value is the owner."""

_STARTED = 19
"""The position of a process's start time in its `stat`, counted after its name."""
_ENDED = (b"Z", b"X")
"""States of a process that has ended but was not yet waited for."""


def owner_of(process_id: int) -> str:
    """Return the value of `OWNER_LABEL` that identifies a running process."""
    return f"{_machine()}/{process_id}/{start_of(process_id)}"


def is_gone(owner: str) -> bool:
    """Whether the process that a label names has ended; `False` for one of another machine."""
    machine, _, process = owner.partition("/")
    process_id, _, start = process.partition("/")
    if machine != _machine() or not process_id.isdecimal():
        return False
    return start_of(int(process_id)) != start


def start_of(process_id: int) -> str:
    """Return when a process started, in ticks since the boot; empty if it has ended."""
    with suppress(OSError):
        status = Path(f"/proc/{process_id}/stat").read_bytes()
        # The name is in parentheses, and may contain anything, even parentheses.
        fields = status.rpartition(b")")[2].split()
        return "" if fields[0] in _ENDED else fields[_STARTED].decode()
    return ""


def _machine() -> str:
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}:{Path('/proc/self/ns/pid').stat().st_ino}"
    return ""  # without /proc, no owner ever counts as ended

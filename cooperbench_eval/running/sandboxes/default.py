"""The sandbox to use where nobody chose one."""

import os

from cooperbench_eval.running.sandboxes.bubblewrap import BubblewrapSandbox, bubblewrap_problem
from cooperbench_eval.running.sandboxes.local import LocalSandbox

__all__ = ["default_sandbox"]

_GIBIBYTE = 1 << 30
_PROCESSES = 4096


def default_sandbox() -> BubblewrapSandbox | LocalSandbox:
    """Return a `BubblewrapSandbox` where it works, otherwise a `LocalSandbox`.

    The second isolates nothing. Every result names the sandbox that it comes from,
    and `bubblewrap_problem` says why the first was not to be had. A run may hold
    three quarters of the machine's memory and have 4,096 processes: a bomb ends
    as a result, and suites that need much are not in the way.

    Example:
        >>> default_sandbox().name in ("bubblewrap", "local")
        True
    """
    kind = BubblewrapSandbox if bubblewrap_problem() is None else LocalSandbox
    return kind(memory_bytes=_most_memory(), processes=_PROCESSES)


def _most_memory() -> int | None:
    """Return three quarters of the machine's memory, in whole gibibytes."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):  # not told here
        return None
    return max(1, memory * 3 // 4 // _GIBIBYTE) * _GIBIBYTE

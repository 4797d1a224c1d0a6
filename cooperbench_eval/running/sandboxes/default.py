"""The sandbox that is used by default."""

import os

from cooperbench_eval.errors import SandboxError
from cooperbench_eval.processes.systems import linux_problem
from cooperbench_eval.running.sandboxes.bubblewrap import BubblewrapSandbox, bubblewrap_problem
from cooperbench_eval.running.sandboxes.local import LocalSandbox

__all__ = ["default_sandbox"]

_GIBIBYTE = 1 << 30
_PROCESSES = 4096


def default_sandbox() -> BubblewrapSandbox | LocalSandbox:
    """Return a `BubblewrapSandbox` if it works here, otherwise a `LocalSandbox`.

    A `LocalSandbox` does not isolate. Every result names its sandbox, and
    `bubblewrap_problem` returns why bubblewrap does not work. A run may hold three
    quarters of the machine's memory and have 4,096 processes. These limits stop a
    memory or fork bomb, but not an ordinary suite.

    Raises:
        SandboxError: This system is not Linux. Run the tests in a `ContainerSandbox` instead.

    Example:
        >>> default_sandbox().name in ("bubblewrap", "local")
        True
    """
    if problem := linux_problem("running tests directly on this machine"):
        raise SandboxError(problem)
    kind = BubblewrapSandbox if bubblewrap_problem() is None else LocalSandbox
    return kind(memory_bytes=_most_memory(), processes=_PROCESSES)


def _most_memory() -> int | None:
    """Return three quarters of the machine's memory, in whole gibibytes."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):  # unknown on this system
        return None
    return max(1, memory * 3 // 4 // _GIBIBYTE) * _GIBIBYTE

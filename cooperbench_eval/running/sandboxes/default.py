"""The sandbox to use where nobody chose one."""

from cooperbench_eval.running.sandboxes.bubblewrap import BubblewrapSandbox, bubblewrap_problem
from cooperbench_eval.running.sandboxes.local import LocalSandbox

__all__ = ["default_sandbox"]


def default_sandbox() -> BubblewrapSandbox | LocalSandbox:
    """Return a `BubblewrapSandbox` where it works, otherwise a `LocalSandbox`.

    The second isolates nothing. Every result names the sandbox that it comes from,
    and `bubblewrap_problem` says why the first was not to be had.

    Example:
        >>> default_sandbox().name in ("bubblewrap", "local")
        True
    """
    return BubblewrapSandbox() if bubblewrap_problem() is None else LocalSandbox()

"""The laws of sandboxes, and how each is checked.

A module for each subject, with its laws at the end: `command`, `result`, `leftovers`,
`callers`, `isolation`. `law` says what a law is. Scripts are plain `sh` with what
busybox has, so that a bare image will do.
"""

from typing import Final

from cooperbench_eval.testing.sandbox_laws import callers, command, isolation, leftovers, result
from cooperbench_eval.testing.sandbox_laws.law import SandboxLaw

__all__ = ["SANDBOX_LAWS", "SandboxLaw"]

SANDBOX_LAWS: Final[tuple[SandboxLaw, ...]] = (
    *command.LAWS,
    *result.LAWS,
    *leftovers.LAWS,
    *callers.LAWS,
    *isolation.LAWS,
)

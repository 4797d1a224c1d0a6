"""Finds sandboxes by name among the installed distributions.

Built-in sandboxes stand in the same table as anybody's: the entry-point group
`cooperbench_eval.sandboxes`. Listing reads names only; a sandbox is imported
when it is asked for.
"""

import inspect
from typing import TypeGuard

from cooperbench_eval.errors import (
    DuplicateSandboxError,
    SandboxLoadError,
    UnknownSandboxError,
)
from cooperbench_eval.plugins import PluginGroup
from cooperbench_eval.running.sandboxes.protocol import Sandbox

__all__ = ["GROUP", "as_sandbox", "available_sandboxes", "get_sandbox"]

GROUP = "cooperbench_eval.sandboxes"


def available_sandboxes() -> tuple[str, ...]:
    """Return the names of the registered sandboxes, sorted; imports none of them.

    A sandbox that is named here may still need what this machine lacks.
    """
    return _SANDBOXES.names()


def get_sandbox(name: str, /, **options: object) -> Sandbox:
    """Build the sandbox registered as *name*, with *options* as its arguments.

    Raises:
        UnknownSandboxError: No distribution registers the name.
        DuplicateSandboxError: Several do.
        SandboxLoadError: It cannot be imported, built, or is no sandbox.

    Example:
        >>> get_sandbox("local", file_bytes=1_000_000).name
        'local'
    """
    return _SANDBOXES.build(name, options)


def as_sandbox(sandbox: str | Sandbox) -> Sandbox:
    """Return *sandbox* itself, or the one registered under that name.

    Raises:
        SandboxLoadError: The object is no sandbox; a class is none either.
    """
    needs = "is no sandbox: it needs a name, an identity and a run method; pass an instance"
    return _SANDBOXES.accept(sandbox, needs)


def _is_sandbox(candidate: object) -> TypeGuard[Sandbox]:
    return (
        not isinstance(candidate, type)
        and isinstance(getattr(candidate, "name", None), str)
        and callable(getattr(candidate, "run", None))
        # Not asked for its value, which may need an engine that is not running.
        and inspect.getattr_static(candidate, "identity", None) is not None
    )


_SANDBOXES = PluginGroup(
    group=GROUP,
    keeps=_is_sandbox,
    lacks="has no name, no identity or no run method",
    unknown=UnknownSandboxError,
    duplicate=DuplicateSandboxError,
    broken=SandboxLoadError,
)

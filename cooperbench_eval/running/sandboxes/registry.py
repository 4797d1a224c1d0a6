"""The registered sandboxes: the entry-point group `cooperbench_eval.sandboxes`."""

import inspect
from typing import TypeGuard

from cooperbench_eval.errors import DuplicateSandboxError, SandboxLoadError, UnknownSandboxError
from cooperbench_eval.running.sandboxes.protocol import Sandbox
from cooperbench_eval.support.arguments import checked
from cooperbench_eval.support.plugins import PluginGroup

__all__ = ["as_sandbox", "available_sandboxes", "get_sandbox"]


def available_sandboxes() -> tuple[str, ...]:
    """Return the names of the registered sandboxes, sorted; imports none of them.

    This machine may still lack something that a listed sandbox needs.
    """
    return _SANDBOXES.names()


@checked
def get_sandbox(name: str, /, **options: object) -> Sandbox:
    """Build the sandbox registered as *name*, with *options* as its arguments.

    Raises:
        UnknownSandboxError: No distribution registers the name.
        DuplicateSandboxError: Several distributions register it.
        SandboxLoadError: The plug-in cannot be imported or built, or is not a sandbox.

    Example:
        >>> get_sandbox("local", file_bytes=1_000_000).name
        'local'
    """
    return _SANDBOXES.build(name, options)


def as_sandbox(sandbox: str | Sandbox) -> Sandbox:
    """Return *sandbox* itself, or the one registered under that name."""
    return _SANDBOXES.accept(sandbox)


def _is_sandbox(candidate: object) -> TypeGuard[Sandbox]:
    return (
        isinstance(getattr(candidate, "name", None), str)
        and callable(getattr(candidate, "run", None))
        # Its value is not read, because computing it may need an engine that is not running.
        and inspect.getattr_static(candidate, "identity", None) is not None
    )


_SANDBOXES = PluginGroup(
    group="cooperbench_eval.sandboxes",
    is_plugin=_is_sandbox,
    needs="a name, an identity and a run method",
    errors=(UnknownSandboxError, DuplicateSandboxError, SandboxLoadError),
)

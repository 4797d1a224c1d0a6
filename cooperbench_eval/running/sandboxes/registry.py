"""The sandbox that is used by default, and those that are registered as plug-ins."""

import inspect
import os
from collections.abc import Iterable
from typing import TypeGuard, TypeVar

from attrs import evolve

from cooperbench_eval.errors import (
    DuplicateSandboxError,
    SandboxError,
    SandboxLoadError,
    TestRunError,
    UnknownSandboxError,
)
from cooperbench_eval.running.sandboxes.bubblewrap import BubblewrapSandbox, bubblewrap_problem
from cooperbench_eval.running.sandboxes.local import LocalSandbox, listed
from cooperbench_eval.running.sandboxes.overlays import CachesLike, as_caches
from cooperbench_eval.running.sandboxes.protocol import Sandbox
from cooperbench_eval.support.arguments import checked
from cooperbench_eval.support.plugins import PluginGroup
from cooperbench_eval.support.systems import linux_problem


def available_sandboxes() -> tuple[str, ...]:
    """Return the names of the registered sandboxes, sorted; imports none of them.

    This machine may still lack something that a listed sandbox needs.
    """
    return _SANDBOXES.names()


@checked
def get_sandbox(name: str, /, **options: object) -> Sandbox:
    """Build the sandbox registered as *name*, with *options* as its arguments.

    The name of a built-in sandbox always means the built-in one. If another distribution registers
    it too, a warning names that distribution.

    Raises:
        UnknownSandboxError: No distribution registers the name.
        DuplicateSandboxError: Several other distributions register it.
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


_GIBIBYTE = 1 << 30
_PROCESSES = 4096
_Kind = TypeVar("_Kind", bound=Sandbox)
_Path = str | os.PathLike[str]


@checked
def default_sandbox(
    *, readable: Iterable[_Path] = (), writable_cache: CachesLike = ()
) -> BubblewrapSandbox | LocalSandbox:
    """Return a `BubblewrapSandbox` if it works here, otherwise a `LocalSandbox`.

    A `LocalSandbox` does not isolate. Every result names its sandbox, and
    `bubblewrap_problem` returns why bubblewrap does not work. A run may hold three
    quarters of the machine's memory and have 4,096 processes. These limits stop a
    memory or fork bomb, but not an ordinary suite.

    Args:
        readable: Further paths that a command may read, such as a toolchain in a home. A
            `LocalSandbox` can read everything that the caller can.
        writable_cache: Prepared caches: directories of which each run may change a private version;
            see `BubblewrapSandbox`.

    Raises:
        SandboxError: This system is not Linux: run the tests in a `ContainerSandbox` instead.
            Or *writable_cache* is given, and bubblewrap does not work here.

    Example:
        >>> default_sandbox().name in ("bubblewrap", "local")
        True
    """
    if problem := linux_problem("running tests directly on this machine"):
        raise SandboxError(problem)
    memory_bytes, caches = _most_memory(), as_caches(writable_cache)
    problem = bubblewrap_problem()
    if problem is None:
        return BubblewrapSandbox(
            memory_bytes=memory_bytes,
            processes=_PROCESSES,
            readable=readable,
            writable_cache=caches,
        )
    if caches:
        raise SandboxError(f"writable_cache needs bubblewrap, which does not work here: {problem}")
    return LocalSandbox(memory_bytes=memory_bytes, processes=_PROCESSES)


def with_readable(sandbox: _Kind, readable: Iterable[_Path]) -> _Kind:
    """Return *sandbox* with further paths that its commands may read.

    If it is of a kind that has no such option, raise `TestRunError`.
    """
    if isinstance(sandbox, BubblewrapSandbox):
        return evolve(sandbox, readable=(*sandbox.readable, *listed(readable)))
    if listed(readable) and not isinstance(sandbox, LocalSandbox):
        raise TestRunError(f"readable: the sandbox {sandbox.name!r} has no such option")
    return sandbox


def _most_memory() -> int | None:
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):  # unknown on this system
        return None
    return max(1, memory * 3 // 4 // _GIBIBYTE) * _GIBIBYTE

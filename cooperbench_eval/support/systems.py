"""Differences between operating systems, and the versions of programs."""

import functools
import os
import platform
import sys
from collections.abc import Callable, Mapping
from typing import Final

IS_LINUX: Final[bool] = sys.platform == "linux"

OPEN_AT_ONCE: Final[int] = (
    getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)
"""Flags for `os.open`: do not wait for a pipe, do not share the descriptor, change no bytes."""

OPEN_NO_LINK: Final[int] = OPEN_AT_ONCE | getattr(os, "O_NOFOLLOW", 0)
"""Further flags: follow no link either. Windows cannot promise that."""


def linux_problem(what: str) -> str | None:
    """Return why *what*, which needs Linux, does not work here; `None` on Linux."""
    if IS_LINUX:
        return None
    name = {"darwin": "macOS", "win32": "Windows"}.get(sys.platform, sys.platform)
    return (
        f"{what} needs Linux, and this system is {name}; run the tests in containers, "
        "as with sandbox=ContainerSandbox(image=...)"
    )


def after_fork(call: Callable[[], object]) -> None:
    """Arrange that each child that this process forks runs *call*; Windows has no forks."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=call)


@functools.cache
def versions() -> Mapping[str, str]:
    """Return the versions in use; they do not change while a process runs."""
    # Imported late, because it would add much to the import time of the library.
    from importlib.metadata import version  # noqa: PLC0415

    return {
        "cooperbench_eval": version("cooperbench-eval"),
        "python": platform.python_version(),
        "pygit2": version("pygit2"),
    }

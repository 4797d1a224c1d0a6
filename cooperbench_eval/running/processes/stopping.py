"""How processes are asked to stop, and how their end is described."""

import signal
from types import FrameType
from typing import Final, NoReturn

__all__ = ["CLEANER", "Stopped", "describe_exit", "ignore_signal", "stop_on_sigterm"]

CLEANER: Final = "cooperbench-cleaner"
"""An argument that marks a process which cleans up after its parent has ended."""


class Stopped(BaseException):
    """This process was asked to stop; raised so that it cleans up on its way out."""


def stop_on_sigterm() -> None:
    """Have the first SIGTERM raise `Stopped` in the main thread."""
    signal.signal(signal.SIGTERM, _stop)


def ignore_signal(_: int = 0, __: FrameType | None = None) -> None:
    """Do nothing; unlike SIG_IGN, a handler is not inherited by programs that are started."""


def _stop(_: int, __: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGTERM, ignore_signal)  # a second one must not interrupt the clean-up
    raise Stopped


def describe_exit(code: int | None) -> str:
    """Say how a process ended, from its exit status or the negative number of a signal."""
    if code is None:
        return "did not end"
    return f"was killed by signal {-code}" if code < 0 else f"ended with exit status {code}"

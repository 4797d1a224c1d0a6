"""How a process that works for another one is told to stop, and dies with it."""

import ctypes
import signal
from contextlib import suppress
from types import FrameType
from typing import Final, NoReturn

__all__ = ["Stopped", "die_with_parent", "pass_over", "stop_when_told"]

_SET_DEATH_SIGNAL: Final = 1


class Stopped(BaseException):
    """Whoever started this process wants it to end, and to clean up."""


def die_with_parent() -> None:
    """Have the kernel kill this process when the thread that started it ends."""
    with suppress(OSError, AttributeError):  # not everywhere
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


def stop_when_told() -> None:
    """Have SIGTERM raise `Stopped` in the main thread, once."""
    signal.signal(signal.SIGTERM, _stop)


def pass_over(_: int = 0, __: FrameType | None = None) -> None:
    """Do nothing: the handler of a signal that is not ignored, since that is inherited."""


def _stop(_: int, __: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGTERM, pass_over)  # once: what is raised now cleans up
    raise Stopped

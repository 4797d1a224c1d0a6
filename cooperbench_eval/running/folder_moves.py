"""Notices folders that are moved while a command runs, even if they are moved back."""

import os
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress

from cooperbench_eval.support.systems import after_fork

__all__ = ["MoveWatch"]

_MOVED = 0x800
_OVERFLOWED = 0x4000
_ONLY_FOLDERS = 0x1000000
_HEADER = struct.Struct("iIII")
"""An event: the watch, what happened, a cookie, and the length of the name after it."""
_PIECE = 1 << 16
_MOST_KEPT = 8
_KEPT: list[int] = []
"""Open queues without watches, to be used again: closing a queue takes milliseconds."""


class MoveWatch:
    """Asks the kernel to report moves of folders.

    A moved folder has new times, but so has one in which a file was created. The kernel
    reports which folder was moved, whichever process moved it and by whichever path that
    process sees it. On systems other than Linux, and if the kernel has no more watches to
    give, nothing is reported.
    """

    def __init__(self) -> None:
        """Start without any folder."""
        self._names: dict[int, str] = {}
        self._queue = -1
        if sys.platform == "linux":
            import ctypes  # noqa: PLC0415 - only Linux has what is called here

            with suppress(OSError, AttributeError):
                self._kernel = ctypes.CDLL(None, use_errno=True)
                self._queue = self._open()

    def _open(self) -> int:
        with suppress(IndexError):
            return _KEPT.pop()
        queue: int = self._kernel.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        return queue

    def add(self, name: str, folder: str) -> None:
        """Watch *folder*, which `moved` calls *name*."""
        if self._queue >= 0:
            number = self._kernel.inotify_add_watch(
                self._queue, os.fsencode(folder), _MOVED | _ONLY_FOLDERS
            )
            if number >= 0:
                self._names[number] = name

    def moved(self) -> frozenset[str]:
        """Return the names of the folders that were moved since they were added."""
        return frozenset(self._moved())

    def _moved(self) -> Iterable[str]:
        while data := self._read():
            while data:
                number, event, _, length = _HEADER.unpack_from(data)
                data = data[_HEADER.size + length :]
                if event & _OVERFLOWED:
                    yield from self._names.values()
                elif event & _MOVED:
                    yield self._names[number]

    def _read(self) -> bytes:
        # Without events, reading fails instead of waiting.
        with suppress(OSError):
            return os.read(self._queue, _PIECE)
        return b""

    def close(self) -> None:
        """Stop watching."""
        if self._queue < 0:
            return
        for number in self._names:
            self._kernel.inotify_rm_watch(self._queue, number)
        while self._read():  # the next use must not see these events
            pass
        if len(_KEPT) < _MOST_KEPT:
            _KEPT.append(self._queue)
        else:
            os.close(self._queue)
        self._queue = -1


# A forked child would take its parent's events out of a queue that they share.
after_fork(_KEPT.clear)

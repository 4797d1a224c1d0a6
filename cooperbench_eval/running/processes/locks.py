"""Locks on open files. The operating system releases them however their process ends."""

import sys
import time

__all__ = ["is_locked", "lock", "try_lock", "unlock"]

if sys.platform == "win32":
    import msvcrt

    _PAUSE_SECONDS = 0.02

    def lock(fd: int) -> None:
        """Wait until this file descriptor has the lock of its file.

        Raises:
            OSError: The file cannot be locked.
        """
        while not _lock_now(fd):  # the C library would give up after ten seconds
            time.sleep(_PAUSE_SECONDS)

    def unlock(fd: int) -> None:
        """Release the lock."""
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

    def is_locked(fd: int) -> bool:
        """Whether another file descriptor has the lock."""
        if not _lock_now(fd):
            return True
        unlock(fd)
        return False

    def _lock_now(fd: int) -> bool:
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)  # the first byte, which need not exist
        except PermissionError:
            return False
        return True

    try_lock = _lock_now

else:
    import fcntl

    def lock(fd: int) -> None:
        """Wait until this file descriptor has the lock of its file.

        Raises:
            OSError: The file cannot be locked.
        """
        fcntl.flock(fd, fcntl.LOCK_EX)

    def try_lock(fd: int) -> bool:
        """Lock the file, unless another file descriptor has its lock; return whether it did.

        Raises:
            OSError: The file cannot be locked.
        """
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(fd: int) -> None:
        """Release the lock."""
        fcntl.flock(fd, fcntl.LOCK_UN)

    def is_locked(fd: int) -> bool:
        """Whether another file descriptor has the lock."""
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)  # several may ask at once
        except BlockingIOError:
            return True
        unlock(fd)
        return False

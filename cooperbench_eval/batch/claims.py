"""Who is at which pair: claims that processes lay on keys, and that die with them.

A claim is a lock on a file of the store. The system gives it back when its process
ends, however it ends, so nobody waits for the dead. Keys share a fixed number of
files, so that none has to be taken away while somebody else may open it; two keys
of one file are rarely worked at together, and then the second waits its turn.
"""

from collections import Counter
from pathlib import Path
from typing import Final

from filelock import BaseFileLock, FileLock, Timeout

__all__ = ["Claims"]

_DIGITS: Final = 3
"""How many digits of a key name its file: 4,096 files."""


class Claims:
    """The claims of one batch."""

    def __init__(self, directory: Path) -> None:
        """Use lock files in *directory*."""
        self._directory = directory
        self._locks: dict[str, BaseFileLock] = {}
        self._held: Counter[str] = Counter()

    def take(self, key: str) -> bool:
        """Claim *key*; `False` if another batch works at it, or at one of the same file.

        Raises:
            OSError: The lock file cannot be made.
        """
        name = key[:_DIGITS]
        if not self._held[name]:
            # Released by another thread than took it, where a generator is handed on.
            lock = FileLock(self._directory / f"{name}.lock", thread_local=False)
            try:
                lock.acquire(blocking=False)
            except Timeout:
                return False
            self._locks[name] = lock
        self._held[name] += 1
        return True

    def release(self, key: str) -> None:
        """Give *key* back."""
        name = key[:_DIGITS]
        self._held[name] -= 1
        if not self._held[name]:
            self._locks.pop(name).release()

    def release_all(self) -> None:
        """Give everything back."""
        for lock in self._locks.values():
            lock.release()
        self._locks.clear()
        self._held.clear()

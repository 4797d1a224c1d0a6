"""Claims: locks on the keys of a store, which end with the process that holds them.

A claim is a lock on a file in the store. The operating system releases the lock when its
process ends in any way, so a dead process never blocks another batch. A fixed number of
lock files serves all keys, because it is not safe to delete a file that another process
may be opening. If two batches work on keys with the same lock file, which is rare, the
second one waits.
"""

from collections import Counter
from pathlib import Path
from threading import Lock, get_ident
from typing import Final

from filelock import BaseFileLock, FileLock, Timeout

from cooperbench_eval.errors import BatchError

__all__ = ["Claims"]

_DIGITS: Final = 4
"""How many hexadecimal digits of a key name its lock file: there are 65,536 files."""
_HOLDERS: Final[dict[str, int]] = {}
"""The thread of this process that holds each lock file."""


class Claims:
    """The claims of one batch."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._locks: dict[str, BaseFileLock] = {}
        self._held: Counter[str] = Counter()
        self._lock = Lock()  # claims are released in the thread that finishes a pair

    def take(self, key: str) -> bool:
        """Claim *key*; return `False` if another batch holds its lock file.

        Raises:
            OSError: The lock file cannot be created.
            BatchError: The holder is another batch of this thread. It cannot go on while
                this batch waits.
        """
        name = key[:_DIGITS]
        with self._lock:
            if not self._held[name] and not self._acquire(name):
                return False
            self._held[name] += 1
            return True

    def _acquire(self, name: str) -> bool:
        path = self._directory / f"{name}.lock"
        # Another thread may release it, if the generator is passed to that thread.
        lock = FileLock(path, thread_local=False)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            if _HOLDERS.get(str(path)) == get_ident():
                problem = "is used by an unfinished batch of this thread; finish that one first"
                raise BatchError(problem, "store") from None
            return False
        _HOLDERS[str(path)] = get_ident()
        self._locks[name] = lock
        return True

    def leave(self) -> None:
        """End the batch; each remaining claim is released when the work on its pair ends."""
        with self._lock:
            for lock in self._locks.values():
                _HOLDERS.pop(lock.lock_file, None)

    def release(self, key: str) -> None:
        """Release *key*."""
        name = key[:_DIGITS]
        with self._lock:
            self._held[name] -= 1
            if not self._held[name]:
                lock = self._locks.pop(name)
                _HOLDERS.pop(lock.lock_file, None)
                lock.release()

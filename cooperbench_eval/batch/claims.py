"""Who is at which pair: claims that processes lay on keys, and that die with them.

A claim is a lock on a file of the store. The system gives it back when its process
ends, however it ends, so nobody waits for the dead. Keys share a fixed number of
files, so that none has to be taken away while somebody else may open it; two keys
of one file are rarely worked at together, and then the second waits its turn.
"""

from collections import Counter
from pathlib import Path
from threading import Lock, get_ident
from typing import Final

from filelock import BaseFileLock, FileLock, Timeout

from cooperbench_eval.errors import BatchError

__all__ = ["Claims"]

_DIGITS: Final = 4
"""How many digits of a key name its file: 65,536 files."""
_HOLDERS: Final[dict[str, int]] = {}
"""Which threads of this process hold which files."""


class Claims:
    """The claims of one batch."""

    def __init__(self, directory: Path) -> None:
        """Use lock files in *directory*."""
        self._directory = directory
        self._locks: dict[str, BaseFileLock] = {}
        self._held: Counter[str] = Counter()
        self._lock = Lock()  # a claim is given back in the thread that ends with a pair

    def take(self, key: str) -> bool:
        """Claim *key*; `False` if another batch works at it, or at one of the same file.

        Raises:
            OSError: The lock file cannot be made.
            BatchError: This very thread has it, in a batch that stands still meanwhile.
        """
        name = key[:_DIGITS]
        with self._lock:
            if not self._held[name] and not self._acquire(name):
                return False
            self._held[name] += 1
            return True

    def _acquire(self, name: str) -> bool:
        path = self._directory / f"{name}.lock"
        # Released by another thread than took it, where a generator is handed on.
        lock = FileLock(path, thread_local=False)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            if _HOLDERS.get(str(path)) == get_ident():
                problem = "has a pair of this batch under way in another one of this thread; end it"
                raise BatchError(problem, "store") from None
            return False
        _HOLDERS[str(path)] = get_ident()
        self._locks[name] = lock
        return True

    def leave(self) -> None:
        """End the batch: what is still held is given back by whoever works at it."""
        with self._lock:
            for lock in self._locks.values():
                _HOLDERS.pop(lock.lock_file, None)

    def release(self, key: str) -> None:
        """Give *key* back."""
        name = key[:_DIGITS]
        with self._lock:
            self._held[name] -= 1
            if not self._held[name]:
                lock = self._locks.pop(name)
                _HOLDERS.pop(lock.lock_file, None)
                lock.release()

"""Shares results of test runs between the processes of one machine, and locks runs.

Only the process that holds a run's lock on a file makes the run. The operating system releases
the lock however the process ends, so nobody waits for a dead process. A fixed number of lock
files serves all keys, because it is not safe to delete a file that another process may be
opening. If two keys have the same lock file, which is rare, one run waits for the other.
"""

import hmac
import os
import platform
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from cooperbench_eval.running.processes.temporary import discard_with, make_folder
from cooperbench_eval.running.readers.result_files import UnreadableResultError, read_result_file
from cooperbench_eval.support.staging import staged

_DIGITS = 3
"""How many hexadecimal digits of a digest name its lock file: there are 4,096 files."""
_LIMIT_BYTES = 256 << 20
_LOCK = ".lock"
_PAUSE_SECONDS = 0.01
_BOOT = Path("/proc/sys/kernel/random/boot_id")

_Identity = tuple[str, int, int]
"""A machine since its last boot, and a device and an inode there."""


@contextmanager
def lock_key(folder: Path, key: str) -> Iterator[None]:
    """Let only one thread of one process at a time work on *key*.

    Raises:
        OSError: The lock file cannot be created or locked.
    """
    from filelock import FileLock  # noqa: PLC0415 - loads slowly

    with FileLock(_lock_file(folder, key), poll_interval=_PAUSE_SECONDS):
        yield


def is_locked(folder: Path, key: str) -> bool:
    """Whether another thread or process works on *key*, as far as can be told."""
    from filelock import FileLock, Timeout  # noqa: PLC0415 - as above

    file = _lock_file(folder, key)
    try:
        if file.exists():
            with FileLock(file, blocking=False):
                pass
    except Timeout:
        return True
    except OSError:
        pass
    return False


def _lock_file(folder: Path, key: str) -> Path:
    return folder / f"{_digest(key).hex()[:_DIGITS]}{_LOCK}"


class SharedFolder:
    """A temporary folder with the results of one cache and of its copies in other processes.

    Only its owner can read it. A copy uses the folder only on the same machine and as the
    same user. The latest results are kept, up to 256 MiB. Each file is authenticated with a
    secret that is in no file, so a file that anybody else wrote there counts as absent. If
    the folder cannot be used (any more), each process keeps its own results.
    """

    def __init__(self) -> None:
        """Create the folder; it is removed when this object is collected.

        Raises:
            OSError: It cannot be created.
        """
        self._folder = make_folder("results-")
        discard_with(self, self._folder)
        self._identity = _identity_of(self._folder)
        self._secret = secrets.token_bytes()
        self._unchecked = 0

    def get(self, key: str) -> bytes | None:
        """Return what was put there under *key*, if it can be read."""
        try:
            data = read_result_file(self._file(key)) if self.folder else b""
        except UnreadableResultError:
            return None
        row = data[sha256().digest_size :]
        return row if hmac.compare_digest(self._seal(key, row), data) else None

    def put(self, key: str, row: bytes) -> None:
        """Put *row* there completely, or not at all, for example if the disk is full."""
        with suppress(OSError):
            if self.folder:
                with staged(self._file(key)) as part:
                    part.write_bytes(self._seal(key, row))
                self._unchecked += len(row)
            if self._unchecked > _LIMIT_BYTES >> 4:
                self._unchecked = 0
                self._drop_oldest()

    @property
    def folder(self) -> Path | None:
        """The folder, if it is on this machine, still exists, and belongs to nobody else."""
        with suppress(OSError):
            if _identity_of(self._folder) == self._identity:
                return self._folder
        return None

    def _file(self, key: str) -> Path:
        return self._folder / _digest(key).hex()

    def _seal(self, key: str, row: bytes) -> bytes:
        return hmac.digest(self._secret, _digest(key) + row, "sha256") + row

    def _drop_oldest(self) -> None:
        with os.scandir(self._folder) as entries:
            rows = [(e.stat(), e.path) for e in entries if not e.name.endswith(_LOCK)]
        size = sum(found.st_size for found, _ in rows)
        for found, path in sorted(rows, key=lambda row: row[0].st_mtime_ns):
            if size <= _LIMIT_BYTES:
                return
            os.unlink(path)  # noqa: PTH108 - one of many
            size -= found.st_size


def _digest(key: str) -> bytes:
    return sha256(key.encode(errors="surrogatepass")).digest()


def _identity_of(folder: Path) -> _Identity:
    """Return what distinguishes a folder from any other one under its name.

    Raises:
        OSError: There is no folder, or somebody else may write there.
    """
    found = folder.lstat()
    if not (_is_private(found) and stat.S_ISDIR(found.st_mode)):
        raise PermissionError(folder)
    return _machine(), found.st_dev, found.st_ino


def _is_private(found: os.stat_result) -> bool:
    """Whether only this user can use a folder; on Windows, temporary folders always are private."""
    if not hasattr(os, "getuid"):
        return True
    return stat.S_IMODE(found.st_mode) == stat.S_IRWXU and found.st_uid == os.getuid()


@cache
def _machine() -> str:
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return platform.node()

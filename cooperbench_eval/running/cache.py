"""Keeps results of test runs by their inputs, so that no run is repeated.

The processes of one machine may share them. Only the process that holds a run's lock on a file
makes the run. The operating system releases the lock however the process ends, so nobody waits
for a dead process. A fixed number of lock files serves all keys, because it is not safe to delete
a file that another process may be opening. If two keys have the same lock file, which is rare,
one run waits for the other.
"""

import hmac
import json
import os
import platform
import secrets
import sqlite3
import stat
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from weakref import WeakValueDictionary

import attrs
from attrs import field, frozen

from cooperbench_eval.errors import TestRunError
from cooperbench_eval.running.processes.temporary import discard_with, make_folder
from cooperbench_eval.running.readers.result_files import UnreadableResultError, read_result_file
from cooperbench_eval.running.results import TestCase, TestResult
from cooperbench_eval.support.arguments import checked, checked_fields
from cooperbench_eval.support.staging import staged

_VERSION = 2
"""Incremented when a key or a row gets a new meaning; rows of other versions are not found."""
_BUSY_SECONDS = 60.0
_PAUSE_SECONDS = 0.01
_MEMORY_LIMIT = 256 << 20
_TABLE = "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, result BLOB NOT NULL)"


def key_of(*facts: object) -> str:
    """Return a digest of all *facts* that a result depends on.

    A fact is a string, a number, `None`, or a sequence of facts.
    """
    text = json.dumps((_VERSION, facts), ensure_ascii=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


_DIGITS = 3
"""How many hexadecimal digits of a digest name its lock file: there are 4,096 files."""
_LOCK = ".lock"
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@contextmanager
def _lock_key(folder: Path, key: str) -> Iterator[None]:
    """Let one thread of one process at a time work on *key*, or raise an `OSError`."""
    from filelock import FileLock  # noqa: PLC0415 - loads slowly

    with FileLock(_lock_file(folder, key), poll_interval=_PAUSE_SECONDS):
        yield


def _is_locked(folder: Path, key: str) -> bool:
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
        """Create the folder, or raise an `OSError`; it is removed when this object is collected."""
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
            if self._unchecked > _MEMORY_LIMIT >> 4:
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
            if size <= _MEMORY_LIMIT:
                return
            os.unlink(path)  # noqa: PTH108 - one of many
            size -= found.st_size


def _digest(key: str) -> bytes:
    return sha256(key.encode(errors="surrogatepass")).digest()


def _identity_of(folder: Path) -> tuple[str, int, int]:
    """Return what distinguishes a folder from any other one under its name, on any machine.

    If there is no folder, or somebody else may write there, raise an `OSError`.
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


class _Memory:
    """The packed results that a process used last, and a lock for each key in use.

    Attributes:
        shared: The folder that copies in other processes use as well, if any.
    """

    def __init__(self) -> None:
        self.shared: SharedFolder | None = None
        self.start()

    def start(self) -> None:
        """Reset to empty.

        Also used in a forked child, where the lock may be held by a thread that does not
        exist there.
        """
        self.owner = os.getpid()
        self.lock = threading.Lock()
        self.rows: OrderedDict[str, bytes] = OrderedDict()
        self.size = 0
        self.locks: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()

    @contextmanager
    def lock_key(self, key: str) -> Iterator[None]:
        """Let one thread at a time look up *key* and make its result."""
        if self.owner != os.getpid():
            self.start()
        with self.lock:
            # It lives as long as a thread holds it or waits for it.
            lock = self.locks.setdefault(key, threading.Lock())
        with lock:
            yield

    def get(self, key: str) -> bytes | None:
        with self.lock:
            if key in self.rows:
                self.rows.move_to_end(key)
                return self.rows[key]
        row = self.shared.get(key) if self.shared else None
        if row is not None:
            self._remember(key, row)
        return row

    def put(self, key: str, row: bytes) -> None:
        self._remember(key, row)
        if self.shared:
            self.shared.put(key, row)

    def _remember(self, key: str, row: bytes) -> None:
        with self.lock:
            self.size += len(row) - len(self.rows.pop(key, b""))
            self.rows[key] = row
            while self.size > _MEMORY_LIMIT and len(self.rows) > 1:
                self.size -= len(self.rows.popitem(last=False)[1])


def _as_path(given: str | os.PathLike[str] | None) -> Path | None:
    return None if given is None else Path(given)


@frozen(field_transformer=checked_fields)
class ResultCache:
    """Results of test runs by content.

    On disk it is an SQLite file in WAL mode. Threads and processes of one machine may
    share it, but not over a network file system. A crash while a row is written loses
    only that row. A row that cannot be read counts as absent. Nothing is ever removed
    from the file; delete it to start again. Only one process at a time makes a result; the
    lock files are in the folder `<file>-locks`.

    Attributes:
        path: The file; it and its folder are created when first used. With `None`, the
            results that were used last are kept in memory, packed, up to 256 MiB and as
            long as this object lives. A cache in memory is empty after unpickling, except
            in the workers of `evaluate_many`, which share their results.

    Example:
        >>> cache = ResultCache()
        >>> cache.put("key", TestResult(status="passed"))
        >>> cache.get("key").status.value, cache.get("other")
        ('passed', None)
    """

    path: Path | None = field(default=None, converter=_as_path)
    _memory: _Memory = field(factory=_Memory, init=False, eq=False, repr=False)

    @checked
    def get(self, key: str) -> TestResult | None:
        """Return the result kept under *key*, if there is one.

        Raises:
            TestRunError: The file cannot be opened, or is not a cache.
        """
        if self.path is None:
            row = self._memory.get(key)
        else:
            with self._connection() as connection:
                rows = connection.execute("SELECT result FROM results WHERE key = ?", (key,))
                row = next((found for (found,) in rows), None)
        return None if row is None else _unpack(row)

    @checked
    def put(self, key: str, result: TestResult) -> None:
        """Keep *result* under *key*, in place of an older one.

        Raises:
            TestRunError: The file cannot be opened or written, or is not a cache.
        """
        row = zlib.compress(json.dumps(attrs.asdict(result)).encode(), 1)
        if self.path is None:
            self._memory.put(key, row)
            return
        with self._connection() as connection, connection:
            connection.execute("INSERT OR REPLACE INTO results VALUES (?, ?)", (key, row))

    @checked
    def get_or_make(
        self, key: str, make: Callable[[], TestResult], keeps: Callable[[TestResult], bool]
    ) -> TestResult:
        """Return the result kept under *key*; make it if there is none.

        A new result is kept if *keeps* returns true. If several threads or processes that
        share the cache ask for one key, the others wait for the first. If its result is
        not kept, or its process dies, the next one makes its own.

        Raises:
            TestRunError: The file cannot be opened or written, or is not a cache.
        """
        with self._memory.lock_key(key):
            if (known := self.get(key)) is not None:
                return known
            with self._locked(key):
                result = self.get(key)
                if result is None:
                    result = make()
                    if keeps(result):
                        self.put(key, result)
                return result

    @checked
    def is_taken(self, key: str) -> bool:
        """Whether another thread or process is making the result of *key*.

        Raises:
            TestRunError: The file cannot be opened, or is not a cache.
        """
        if self.get(key) is not None:
            return False
        locks = self._locks
        return key in self._memory.locks or (locks is not None and _is_locked(locks, key))

    @property
    def _locks(self) -> Path | None:
        """The folder of the lock files; `None` if no other process shares this cache."""
        if self.path is not None:
            return self.path.with_name(f"{self.path.name}-locks")
        return self._memory.shared.folder if self._memory.shared else None

    @contextmanager
    def _locked(self, key: str) -> Iterator[None]:
        """Let one of the processes that share this cache work on *key*."""
        with ExitStack() as waiting:
            # Without a lock, for example in the folder of another user, nobody waits.
            with suppress(OSError, ImportError):
                if locks := self._locks:
                    if self.path is not None:
                        locks.mkdir(parents=True, exist_ok=True)
                    waiting.enter_context(_lock_key(locks, key))
            yield

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        # Each use opens one: this takes little time compared with a test run, and a
        # connection cannot be shared between threads or survive a fork.
        assert self.path is not None  # noqa: S101 - for mypy
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=_BUSY_SECONDS)) as connection:
                _prepare(connection)
                yield connection
        except (OSError, sqlite3.Error) as exc:
            raise TestRunError(f"the cache {self.path} cannot be used ({exc})") from exc

    def __getstate__(self) -> tuple[Path | None, SharedFolder | None]:
        return self.path, self._memory.shared

    def __setstate__(self, state: tuple[Path | None, SharedFolder | None]) -> None:
        path, shared = state
        self.__init__(path)  # type: ignore[misc] # attrs made it
        self._memory.shared = shared


def share_with_copies(cache: ResultCache | None) -> None:
    """Let the copies that are unpickled from now on share their results with *cache*.

    They share them through a temporary folder, if it can be made, for as long as *cache*
    lives. A cache with a file is shared already.
    """
    if cache is None or cache.path is not None:
        return
    memory = cache._memory  # noqa: SLF001 - of this module
    with memory.lock, suppress(OSError):
        memory.shared = memory.shared or SharedFolder()


def _prepare(connection: sqlite3.Connection) -> None:
    """Make a new file a cache.

    If two processes change the mode of a new file at once, SQLite fails instead of
    waiting, so this function retries.
    """
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(_TABLE)
        except sqlite3.OperationalError as exc:
            is_busy = exc.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY  # in any of its forms
            if not is_busy or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return


def _unpack(row: object) -> TestResult | None:
    """Read a row; `None` if it is damaged or was not written by this module."""
    try:
        data = json.loads(zlib.decompress(row))  # type: ignore[arg-type] # or a TypeError
        cases = tuple(TestCase(**case) for case in data.pop("cases"))
        result = TestResult(cases=cases, **data)
    except (zlib.error, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    texts = (result.output, result.reason, result.sandbox, result.sandbox_identity)
    sound = (
        isinstance(result.exit_code, int | None)
        and isinstance(result.duration_seconds, float | int)
        and all(isinstance(text, str) for text in texts)
        and all(isinstance(case.id, str) for case in cases)
    )
    return result if sound else None

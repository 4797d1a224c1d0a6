"""Keeps results of test runs by their inputs, so that no run is repeated."""

import hashlib
import json
import os
import sqlite3
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from weakref import WeakValueDictionary

import attrs
from attrs import field, frozen

from cooperbench_eval.errors import TestRunError
from cooperbench_eval.running.results import TestCase, TestResult
from cooperbench_eval.running.shared_results import SharedFolder, is_locked, lock_key
from cooperbench_eval.support.arguments import checked, checked_fields

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
    return hashlib.sha256(text.encode()).hexdigest()


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
        return key in self._memory.locks or (locks is not None and is_locked(locks, key))

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
                    waiting.enter_context(lock_key(locks, key))
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

"""Keeps results of test runs by what went into them, so that nothing is run twice."""

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import attrs
from attrs import field, frozen

from cooperbench_eval.errors import TestRunError
from cooperbench_eval.models import TestCase, TestResult

__all__ = ["ResultCache", "key_of"]

_VERSION = 1
"""Counts the meanings of a key and of a row; rows of another one are not found."""
_PATIENCE_SECONDS = 60.0
_TABLE = "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, result TEXT NOT NULL)"


def key_of(*facts: object) -> str:
    """Return a digest of everything a result depends on.

    Facts are strings, numbers, `None`, and sequences of them.
    """
    text = json.dumps((_VERSION, facts), ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@frozen
class ResultCache:
    """Results of test runs by content.

    On disk it is an SQLite file in WAL mode: many threads and processes of one
    machine may share it (a network file system will not do), and a crash while a
    row is written loses that row alone. What cannot be read counts as absent.

    Attributes:
        path: The file, made with its folder when first used; `None` to keep
            results in memory, for as long as this object lives. Pickled, a cache
            in memory arrives empty.

    Example:
        >>> cache = ResultCache()
        >>> cache.put("key", TestResult(status="passed"))
        >>> cache.get("key").status.value, cache.get("other")
        ('passed', None)
    """

    path: Path | None = field(default=None, converter=attrs.converters.optional(Path))
    _kept: dict[str, str] = field(factory=dict, init=False, eq=False, repr=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False, eq=False, repr=False)

    def get(self, key: str) -> TestResult | None:
        """Return the result kept under *key*, if there is one.

        Raises:
            TestRunError: The file cannot be opened, or is no cache.
        """
        if self.path is None:
            text = self._kept.get(key)
        else:
            with self._connection() as connection:
                row = connection.execute("SELECT result FROM results WHERE key = ?", (key,))
                text = next((found for (found,) in row), None)
        return None if text is None else _load(text)

    def put(self, key: str, result: TestResult) -> None:
        """Keep *result* under *key*, in place of what may be there.

        Raises:
            TestRunError: The file cannot be opened or written, or is no cache.
        """
        text = json.dumps(attrs.asdict(result))
        if self.path is None:
            with self._lock:
                self._kept[key] = text
            return
        with self._connection() as connection, connection:
            connection.execute("INSERT OR REPLACE INTO results VALUES (?, ?)", (key, text))

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        # One for each use: it costs little beside a test run, and a connection
        # neither crosses threads nor survives a fork.
        assert self.path is not None  # noqa: S101 - for mypy
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=_PATIENCE_SECONDS)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute(_TABLE)
                yield connection
        except (OSError, sqlite3.Error) as exc:
            raise TestRunError(f"the cache {os.fspath(self.path)} cannot be used ({exc})") from exc

    def __getstate__(self) -> tuple[Path | None]:
        return (self.path,)

    def __setstate__(self, state: tuple[Path | None]) -> None:
        self.__init__(*state)  # type: ignore[misc] # attrs made it


def _load(text: str) -> TestResult | None:
    try:
        data: dict[str, Any] = json.loads(text)
        cases = tuple(TestCase(**case) for case in data.pop("cases"))
        return TestResult(cases=cases, **data)
    except (ValueError, TypeError, KeyError):
        return None

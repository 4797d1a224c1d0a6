"""A directory of reports; each file is written completely or not at all.

```
store.json             the schema's version
reports/ab/<key>.json  a report's head; `.retry.json` while it is not final
parts/cd/<sha256>      large texts and lists, by content
order                  keys in the order in which batches were given their pairs, one per line
claims/                locks on the pairs and teams that are being evaluated
unfinished/            files that are being written
```

A file that was changed, moved or replaced is renamed to `….damaged` and never deleted.
"""

import hashlib
import itertools
import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock, get_ident
from typing import Final, TypeVar
from uuid import uuid4

from attrs import field, frozen
from filelock import BaseFileLock, FileLock, Timeout

from cooperbench_eval.analysis.facts import GroupFacts
from cooperbench_eval.errors import BatchError, ReportError
from cooperbench_eval.evaluation.batch.packing import (
    Packed,
    Parts,
    check_seal,
    digests_in,
    facts_in,
    pack,
    seal,
    unpack,
)
from cooperbench_eval.reporting.teams import GroupReport
from cooperbench_eval.support.arguments import checked, checked_fields
from cooperbench_eval.support.systems import OPEN_AT_ONCE

STORE_SCHEMA_VERSION: Final = 1

_DIGEST: Final = re.compile("[0-9a-f]{64}")
_FINAL: Final = ".json"
_RETRY: Final = ".retry.json"
_UNFINISHED: Final = re.compile("[0-9a-f]{32}")
_UNREADABLE: Final = (ArithmeticError, LookupError, OSError, ReportError, TypeError, ValueError)
_STALE_SECONDS: Final = 24 * 3600.0
_MOST_BYTES: Final = {"reports": 1 << 26, "parts": 1 << 30, "order": 1 << 30}
"""The largest sizes of these files that are read."""
_Found = TypeVar("_Found")
_LOCK_DIGITS: Final = 4
"""How many hexadecimal digits of a key name its lock file: there are 65,536 files."""
_LOCK_HOLDERS: Final[dict[str, int]] = {}
"""The thread of this process that holds each lock file."""


class Claims:
    """The claims of one batch on the keys of a store.

    A claim is a lock on a file in the store. The operating system releases the lock when its
    process ends in any way, so a dead process never blocks another batch. A fixed number of
    lock files serves all keys, because it is not safe to delete a file that another process
    may be opening. If two batches work on keys with the same lock file, which is rare, the
    second one waits.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._locks: dict[str, BaseFileLock] = {}
        self._lock = Lock()  # claims are released in the thread that finishes a pair

    def take(self, key: str) -> bool:
        """Claim *key*; return `False` if another batch holds its lock file.

        Raises:
            OSError: The lock file cannot be created.
            BatchError: The holder is another batch of this thread. It cannot go on while
                this batch waits.
        """
        name = key[:_LOCK_DIGITS]
        path = self._directory / f"{name}.lock"
        with self._lock:
            # Another thread may release it, if the generator is passed to that thread.
            lock = self._locks.get(name) or FileLock(path, thread_local=False)
            try:
                lock.acquire(blocking=False)  # counts how often it is held
            except Timeout:
                if _LOCK_HOLDERS.get(str(path)) == get_ident():
                    problem = "is used by an unfinished batch of this thread; finish that one first"
                    raise BatchError(problem, "store") from None
                return False
            _LOCK_HOLDERS.setdefault(str(path), get_ident())
            self._locks[name] = lock
            return True

    def leave(self) -> None:
        """End the batch; each remaining claim is released when the work on its pair ends."""
        with self._lock:
            for lock in self._locks.values():
                _LOCK_HOLDERS.pop(lock.lock_file, None)

    def release(self, key: str) -> None:
        """Release *key*."""
        name = key[:_LOCK_DIGITS]
        with self._lock:
            lock = self._locks[name]
            if lock.lock_counter == 1:
                del self._locks[name]
                _LOCK_HOLDERS.pop(lock.lock_file, None)
            lock.release()


def _absolute(path: str | os.PathLike[str]) -> Path:
    return Path(path).absolute()


@frozen(field_transformer=checked_fields)
class ReportStore:
    """Reports of pairs and teams in a directory, by the key of the pair or team and evaluator.

    A file appears under its name complete or not at all, so a process may be killed at
    any point. Several processes may read and write at the same time, on one machine or on
    a shared file system. Nothing is ever deleted, but damaged files are renamed; remove
    the directory to start again.

    Iterating yields every report on disk, in the order in which their pairs were first given to a
    batch, or in which the reports were stored. `facts` yields only what statistics need, many times
    faster; `summarize` uses it.

    Attributes:
        directory: The store's directory, created when first written to. A relative path
            is resolved at once.

    Example:
        >>> store = ReportStore("no-such-folder")
        >>> store.exists
        False
    """

    directory: Path = field(converter=_absolute)

    @property
    def exists(self) -> bool:
        """Whether the directory holds a store."""
        return (self.directory / "store.json").is_file()

    def prepare(self) -> None:
        """Create the directory, or check that this version can use an existing one.

        Raises:
            ReportError: The store has a newer schema, or cannot be written to.
        """
        if not self.exists:
            self._write("store.json", json.dumps({"schema_version": STORE_SCHEMA_VERSION}).encode())
        self._check()
        self._sweep()

    def keys(self) -> frozenset[str]:
        """Return the keys of the final reports.

        Raises:
            ReportError: There is no store, or it has a newer schema.
        """
        return frozenset(key for key, file in self._heads() if not file.name.endswith(_RETRY))

    def __contains__(self, key: object) -> bool:
        """Whether the store has a final report for that key."""
        return isinstance(key, str) and self._head(key).is_file()

    def __len__(self) -> int:
        """The number of reports, including those that are not final."""
        return sum(1 for _ in self._heads())

    def __iter__(self) -> Iterator[GroupReport]:
        """Yield every report.

        Raises:
            ReportError: There is no store, or a report in it cannot be read.
        """
        parts = Parts(self._read_part)
        for path in self._in_order():
            yield _parsed(path, partial(unpack, parts=parts))

    def facts(self) -> Iterator[GroupFacts]:
        """Yield the facts of every report.

        Raises:
            ReportError: There is no store, or a report in it cannot be read.
        """
        for path in self._in_order():
            yield _parsed(path, facts_in)

    @checked
    def get(self, key: str) -> GroupReport | None:
        """Return the final report for *key*, or `None`.

        Raises:
            ReportError: The report cannot be read.
        """
        path = self._head(key)
        if not os.path.lexists(path):
            return None
        return _parsed(path, partial(unpack, parts=Parts(self._read_part)))

    @checked
    def check(self, key: str) -> bool:
        """Whether there is a final report for *key*, after reading all its bytes.

        Raises:
            ReportError: The report cannot be read: its file or one that it refers to was
                changed, belongs to another report, or is not a regular file.
        """
        path = self._head(key)
        if not os.path.lexists(path):
            return False
        _parsed(path, lambda head: [self._read_part(digest) for digest in digests_in(head)])
        return True

    @checked
    def put(self, key: str, report: GroupReport) -> None:
        """Store *report* under *key*, in place of an earlier report.

        Raises:
            ReportError: The directory cannot be written to.
        """
        is_new = not os.path.lexists(self._head(key))
        self.put_packed(key, pack(report))
        if is_new:
            self.note(key)

    @checked
    def put_packed(self, key: str, packed: Packed) -> None:
        """Store a packed report, as `put` does."""
        for digest, data in packed.parts.items():
            name = _path("parts", digest)
            if not _holds(f"{self.directory}/{name}", data):
                _rename_damaged(self.directory / name)
                self._write(name, data)
        head = _path("reports", key)
        suffix = _FINAL if packed.is_final else _RETRY
        self._write(f"{head}{suffix}", seal(packed.head, f"{key}{suffix}"))
        if packed.is_final:
            with suppress(OSError):
                (self.directory / f"{head}{_RETRY}").unlink()

    @checked
    def note(self, key: str) -> None:
        """Append the key of a pair to the order in which reports are yielded."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | OPEN_AT_ONCE
        # A report whose key is missing there is still found; writing it would notice a full disk.
        with suppress(OSError):
            file = os.open(self.directory / "order", flags, 0o666)
            with os.fdopen(file, "ab", buffering=0) as order:
                order.write(f"{key}\n".encode())

    @checked
    def set_aside(self, key: str) -> None:
        """Rename a damaged report, so that the pair is evaluated again."""
        _rename_damaged(self._head(key))

    def claims(self) -> Claims:
        """Return claims, which keep two processes from evaluating the same pair."""
        return Claims(self.directory / "claims")

    def _head(self, key: str) -> Path:
        return self.directory / f"{_path('reports', key)}{_FINAL}"

    def _in_order(self) -> Iterator[Path]:
        """Yield the file of each report: first the noted ones in order, then the others by key."""
        self._check()
        try:
            lines = _read_file(self.directory / "order", _MOST_BYTES["order"]).decode(
                "ascii", "replace"
            )
        except (OSError, ReportError):
            lines = ""
        noted = dict.fromkeys(filter(_DIGEST.fullmatch, lines.split("\n")))
        for key in noted:
            names = (self.directory / f"{_path('reports', key)}{each}" for each in (_FINAL, _RETRY))
            yield from itertools.islice(filter(os.path.lexists, names), 1)
        yield from (path for key, path in self._heads() if key not in noted)

    def _heads(self) -> Iterator[tuple[str, Path]]:
        """Yield each report's key and file, sorted by key; if it has two files, the final one."""
        self._check()
        for folder in _listed(self.directory / "reports"):
            last = ""
            for file in _listed(folder):
                key, _, suffix = file.name.partition(".")
                if f".{suffix}" not in {_FINAL, _RETRY} or not _DIGEST.fullmatch(key):
                    continue
                if key[:2] == folder.name and key != last:  # false in a copy of a folder
                    last = key
                    yield key, file

    def _read_part(self, digest: str) -> bytes:
        path = f"{self.directory}/{_path('parts', digest)}"  # as in `_write`
        data = _read_file(path, _MOST_BYTES["parts"])
        if hashlib.sha256(data).hexdigest() != digest:
            raise ReportError("has changed since it was written", path)
        return data

    def _check(self) -> None:
        file = self.directory / "store.json"
        try:
            version = json.loads(_read_file(file, _MOST_BYTES["reports"]))["schema_version"]
        except OSError as exc:
            raise ReportError(f"is not a store of reports ({exc.strerror})", str(file)) from exc
        except (RecursionError, ValueError, KeyError, TypeError) as exc:
            raise ReportError(f"does not state its schema version ({exc!r})", str(file)) from exc
        if type(version) is not int or version != STORE_SCHEMA_VERSION:
            problem = f"has schema version {version}; this version reads {STORE_SCHEMA_VERSION}"
            raise ReportError(problem, str(file))

    def _write(self, name: str, data: bytes) -> None:
        """Write a file under a temporary name, then rename it to *name*."""
        path = f"{self.directory}/{name}"  # strings, since a `Path` takes longer to make
        unfinished = f"{self.directory}/unfinished/{uuid4().hex}"
        try:
            try:
                _move_in(unfinished, data, path)
            except (FileNotFoundError, NotADirectoryError):
                for folder in (Path(unfinished).parent, *reversed(Path(path).parents)):
                    if self.directory in folder.parents:
                        _make_folder(folder)
                _move_in(unfinished, data, path)
        except BaseException as exc:  # also if the worker is stopped
            with suppress(OSError):
                Path(unfinished).unlink()
            if isinstance(exc, OSError):
                raise ReportError(f"cannot be written ({exc.strerror})", path) from exc
            raise

    def _sweep(self) -> None:
        limit = time.time() - _STALE_SECONDS
        folder = self.directory / "unfinished"
        if folder.is_symlink():  # the files may belong to somebody else
            return
        for file in _listed(folder):
            with suppress(OSError):
                if _UNFINISHED.fullmatch(file.name) and file.lstat().st_mtime < limit:
                    file.unlink()


def _move_in(unfinished: str, data: bytes, path: str) -> None:
    with open(unfinished, "wb") as file:  # noqa: PTH123 - of a string
        file.write(data)
    if not _is_absent_or_file(path):
        _rename_damaged(Path(path))
    os.replace(unfinished, path)  # noqa: PTH105 - as above


def _make_folder(folder: Path) -> None:
    """Create a folder of the store; a file in its place is renamed."""
    if os.path.lexists(folder) and not folder.is_dir():
        _rename_damaged(folder)
    folder.mkdir(parents=True, exist_ok=True)


def _rename_damaged(path: Path) -> None:
    """Rename a file, or whatever is in its place, to a name that is free; it may be missing."""
    if not os.path.lexists(path):
        return
    names = itertools.chain(["damaged"], (f"{number}.damaged" for number in itertools.count(2)))
    free = (path.with_name(f"{path.name}.{each}") for each in names)
    with suppress(OSError):
        path.rename(next(each for each in free if not os.path.lexists(each)))


def _parsed(path: Path, parse: Callable[[bytes], _Found]) -> _Found:
    """Read a stored head, check its seal, and parse it; any failure is a `ReportError`."""
    try:
        head = _read_file(path, _MOST_BYTES["reports"])
        check_seal(head, path.name)
        return parse(head)
    except _UNREADABLE as exc:
        raise ReportError(f"cannot be read: {exc}", str(path)) from exc


def _read_file(path: Path | str, most_bytes: int) -> bytes:
    """Read a regular file; anything else could block when it is opened, or never end."""
    found = os.stat(path)  # noqa: PTH116 - of a string
    if not stat.S_ISREG(found.st_mode):
        raise ReportError("is not a regular file", str(path))
    # The file may have been replaced since then, by one that blocks.
    with os.fdopen(os.open(path, os.O_RDONLY | OPEN_AT_ONCE), "rb") as file:
        # No more than needed, because memory for all of it is allocated before it is read.
        data = file.read(min(found.st_size, most_bytes) + 1)
    if len(data) > most_bytes:
        raise ReportError(f"has more than {most_bytes:,} bytes", str(path))
    return data


def _holds(path: str, data: bytes) -> bool:
    """Whether *path* is a readable regular file, not a link, that holds exactly these bytes."""
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_size != len(data):
            return False
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - of a string
            return file.read() == data
    except OSError:
        return False


def _is_absent_or_file(path: str) -> bool:
    """Whether *path* does not exist, or is a regular file and not a link."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _path(folder: str, digest: str) -> str:
    """Return where the file of *digest* belongs, without its suffix."""
    if not _DIGEST.fullmatch(digest):
        raise ReportError(f"{digest!r:.80} is not a key of 64 hexadecimal digits")
    return f"{folder}/{digest[:2]}/{digest}"


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []

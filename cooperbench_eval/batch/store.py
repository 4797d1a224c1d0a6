"""A directory of reports, each written whole or not at all.

```
store.json             the schema's version
reports/ab/<key>.json  a report's head; `.retry.json` while it is not final
parts/cd/<sha256>      large texts and lists, by content
claims/                locks: who is at which pair
```
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

from attrs import field, frozen

from cooperbench_eval.analysis.facts import PairFacts
from cooperbench_eval.batch.claims import Claims
from cooperbench_eval.batch.packing import Packed, facts_in, pack, unpack
from cooperbench_eval.errors import ReportError
from cooperbench_eval.reporting import MergeReport

__all__ = ["STORE_SCHEMA_VERSION", "ReportStore"]

STORE_SCHEMA_VERSION: Final = 1

_DIGEST: Final = re.compile("[0-9a-f]{64}")
_FINAL: Final = ".json"
_RETRY: Final = ".retry.json"
_STALE_SECONDS: Final = 24 * 3600.0


def _absolute(path: str | os.PathLike[str]) -> Path:
    return Path(path).absolute()


@frozen
class ReportStore:
    """Reports by the key of what was evaluated, in a directory.

    A file appears under its name whole or not at all, so a process may be killed at
    any point. Several processes may read and write at a time, on one machine or on a
    file system that they share. Nothing is ever taken out, but what turns out to be
    damaged is renamed; remove the directory to begin anew.

    Iterating yields every report, as it lies on disk; `facts` yields what statistics
    need, many times faster, and `summarize` uses it.

    Attributes:
        directory: The store's directory, made when first written to; a relative path is
            that of now.

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
        """Make the directory, or check that this version may use what is there.

        Raises:
            ReportError: The store is of a newer schema, or cannot be written to.
        """
        if not self.exists:
            self._write("store.json", json.dumps({"schema_version": STORE_SCHEMA_VERSION}).encode())
        self._check()
        self._sweep()

    def keys(self) -> frozenset[str]:
        """Return the keys of the reports that are final.

        Raises:
            ReportError: There is no store, or one of a newer schema.
        """
        self._check()
        return frozenset(key for key, file in self._heads() if not file.name.endswith(_RETRY))

    def __contains__(self, key: object) -> bool:
        """Whether a final report of that key is here."""
        return isinstance(key, str) and self._head(key).is_file()

    def __len__(self) -> int:
        """The number of reports, those included that are not final."""
        self._check()
        return sum(1 for _ in self._heads())

    def __iter__(self) -> Iterator[MergeReport]:
        """Yield every report.

        Raises:
            ReportError: There is no store, or a report in it cannot be read.
        """
        self._check()
        for _, path in self._heads():
            yield self._read(path)

    def facts(self) -> Iterator[PairFacts]:
        """Yield the facts of every report.

        Raises:
            ReportError: There is no store, or a report in it cannot be read.
        """
        self._check()
        for _, path in self._heads():
            try:
                yield facts_in(path.read_bytes())
            except (OSError, ReportError) as exc:
                raise _unreadable(path, exc) from exc

    def get(self, key: str) -> MergeReport | None:
        """Return the final report of *key*, if it is here.

        Raises:
            ReportError: It cannot be read.
        """
        path = self._head(key)
        return self._read(path) if path.is_file() else None

    def put(self, key: str, report: MergeReport) -> None:
        """Keep *report* under *key*, in place of what may be there.

        Raises:
            ReportError: The directory cannot be written to.
        """
        self.put_packed(key, pack(report))

    def put_packed(self, key: str, packed: Packed) -> None:
        """Keep a packed report, likewise."""
        for digest, data in packed.parts.items():
            try:
                is_there = (self.directory / _part(digest)).stat().st_size == len(data)
            except OSError:
                is_there = False
            if not is_there:
                self._write(_part(digest), data)
        self._write(f"{_folder(key)}{_FINAL if packed.is_final else _RETRY}", packed.head)
        if packed.is_final:
            with suppress(OSError):
                (self.directory / f"{_folder(key)}{_RETRY}").unlink()

    def set_aside(self, key: str) -> None:
        """Take a report that cannot be read out of the way, so that it is made anew."""
        _out_of_the_way(self._head(key))

    def claims(self) -> Claims:
        """Return the means to claim keys, so that no two processes evaluate one pair."""
        return Claims(self.directory / "claims")

    def _head(self, key: str) -> Path:
        return self.directory / f"{_folder(key)}{_FINAL}"

    def _heads(self) -> Iterator[tuple[str, Path]]:
        """Yield each report's key and file, in the order of keys, the final one first."""
        for folder in _listed(self.directory / "reports"):
            last = ""
            for file in _listed(folder):
                key, _, suffix = file.name.partition(".")
                if f".{suffix}" in {_FINAL, _RETRY} and key != last:
                    last = key
                    yield key, file

    def _read(self, path: Path) -> MergeReport:
        try:
            return unpack(path.read_bytes(), self._read_part)
        except (OSError, ReportError, TypeError, ValueError) as exc:
            raise _unreadable(path, exc) from exc

    def _read_part(self, digest: str) -> bytes:
        path = self.directory / _part(digest)
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != digest:
            _out_of_the_way(path)
            raise ReportError("is not what it was", str(path))
        return data

    def _check(self) -> None:
        file = self.directory / "store.json"
        try:
            version = json.loads(file.read_bytes())["schema_version"]
        except OSError as exc:
            raise ReportError(f"is no store of reports ({exc.strerror})", str(file)) from exc
        except (ValueError, KeyError, TypeError) as exc:
            raise ReportError(f"does not say its schema's version ({exc!r})", str(file)) from exc
        if type(version) is not int or version != STORE_SCHEMA_VERSION:
            problem = f"has schema version {version}; this version reads {STORE_SCHEMA_VERSION}"
            raise ReportError(problem, str(file))

    def _write(self, name: str, data: bytes) -> None:
        """Write a file whole under a name of its own, then give it *name*."""
        path = self.directory / name
        unfinished = self.directory / "unfinished" / uuid4().hex
        try:
            try:
                unfinished.write_bytes(data)
                unfinished.replace(path)
            except FileNotFoundError:
                for folder in (unfinished.parent, path.parent):
                    folder.mkdir(parents=True, exist_ok=True)
                unfinished.write_bytes(data)
                unfinished.replace(path)
        except OSError as exc:
            with suppress(OSError):
                unfinished.unlink()
            raise ReportError(f"cannot be written ({exc.strerror})", str(path)) from exc

    def _sweep(self) -> None:
        """Remove what killed processes left unfinished."""
        limit = time.time() - _STALE_SECONDS
        for file in _listed(self.directory / "unfinished"):
            with suppress(OSError):
                if file.stat().st_mtime < limit:
                    file.unlink()


def _out_of_the_way(path: Path) -> None:
    with suppress(OSError):
        path.replace(path.with_suffix(".damaged"))


def _folder(key: str) -> str:
    if not _DIGEST.fullmatch(key):
        raise ReportError(f"{key!r:.80} is no key")
    return f"reports/{key[:2]}/{key}"


def _part(digest: str) -> str:
    if not _DIGEST.fullmatch(digest):
        raise ReportError(f"{digest!r:.80} names no part")
    return f"parts/{digest[:2]}/{digest}"


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _unreadable(path: Path, exc: Exception) -> ReportError:
    return ReportError(f"cannot be read: {exc}", str(path))

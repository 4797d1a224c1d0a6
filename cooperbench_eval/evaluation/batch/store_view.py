"""A batch's view of its store: the reports that exist, and the claims of this batch."""

import errno
from contextlib import suppress
from enum import Enum, auto

from cooperbench_eval.errors import BatchError, ReportError
from cooperbench_eval.evaluation.batch.packing import Packed
from cooperbench_eval.evaluation.batch.store import ReportStore
from cooperbench_eval.reporting.teams import GroupReport


class Claim(Enum):
    """The result of claiming a pair."""

    TAKEN = auto()
    """This batch may evaluate the pair."""
    BUSY = auto()
    """Another batch works on the pair, or on one with the same lock file."""
    STORED = auto()
    """Another batch has stored the pair's report in the meantime."""


class StoreView:
    """A store with this batch's claims; without a store, every claim succeeds."""

    def __init__(self, store: ReportStore | None) -> None:
        if store is not None:
            store.prepare()
        self._store = store
        self._keys = store.keys() if store is not None else frozenset[str]()
        self._claims = store.claims() if store is not None else None

    def has(self, key: str) -> bool:
        """Whether the store had an intact final report when the batch began.

        A report that cannot be read only for now, for example because too many files are
        open, counts as intact.
        """
        return key in self._keys and self._is_intact(key)

    def note(self, key: str) -> None:
        """Add a pair that has no stored report to the order of the reports."""
        if self._store is not None:
            self._store.note(key)

    def claim(self, key: str) -> Claim:
        """Claim *key*."""
        if self._claims is None or self._store is None:
            return Claim.TAKEN
        try:
            if not self._claims.take(key):
                return Claim.BUSY
        except OSError as exc:
            raise ReportError(f"cannot be locked ({exc})", str(self._store.directory)) from exc
        # Only now, because the last holder of the claim may just have written the report.
        if self._is_intact(key):
            self._claims.release(key)
            return Claim.STORED
        self._store.set_aside(key)  # if there is one, it is damaged
        return Claim.TAKEN

    def _is_intact(self, key: str) -> bool:
        assert self._store is not None  # noqa: S101 - for mypy: only a store has keys
        try:
            return self._store.check(key)
        except ReportError as exc:
            return not _is_damage(exc)

    def load(self, key: str) -> GroupReport:
        """Return a stored report; a damaged one is renamed, which raises an error."""
        assert self._store is not None  # noqa: S101 - for mypy: reports come from a store
        try:
            report = self._store.get(key)
        except ReportError as exc:
            if _is_damage(exc):
                self._set_aside(key)
            raise
        if report is None:
            raise ReportError("was removed from the store during the batch", key)
        return report

    def _set_aside(self, key: str) -> None:
        """Rename a report if it is still damaged; meanwhile no other batch may write it."""
        assert self._store is not None  # noqa: S101 - for mypy: reports come from a store
        assert self._claims is not None  # noqa: S101
        with suppress(BatchError, OSError):
            if not self._claims.take(key):
                return
            try:
                self._store.get(key)
            except ReportError as exc:
                if _is_damage(exc):
                    self._store.set_aside(key)
            finally:
                self._claims.release(key)

    def keep(self, key: str, packed: Packed) -> ReportError | None:
        """Store a report and release its claim; return why storing failed, if it did."""
        try:
            if self._store is not None:
                self._store.put_packed(key, packed)
        except ReportError as exc:
            return exc
        finally:
            self.release(key)
        return None

    def leave(self) -> None:
        """End the batch; claims of pairs still in flight are released later."""
        if self._claims:
            self._claims.leave()

    def release(self, key: str) -> None:
        """Release a claim without storing a report."""
        if self._claims:
            self._claims.release(key)


_DAMAGE = {errno.ENOENT, errno.ELOOP, errno.ENOTDIR}
"""Errors of a file that is missing, or is a link that leads nowhere."""


def _is_damage(exc: ReportError) -> bool:
    """Whether the report is at fault, and not too many open files or an unreachable server."""
    cause = exc.__cause__
    return not isinstance(cause, OSError) or cause.errno in _DAMAGE

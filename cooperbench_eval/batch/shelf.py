"""What a batch does with its store, or without one."""

from enum import Enum, auto

from cooperbench_eval.batch.packing import Packed
from cooperbench_eval.batch.store import ReportStore
from cooperbench_eval.errors import ReportError
from cooperbench_eval.reporting import MergeReport

__all__ = ["Begun", "Shelf"]


class Begun(Enum):
    """Whether a batch may work at a pair."""

    YES = auto()
    """It has the claim."""
    BUSY = auto()
    """Another batch does, or works at a pair whose claim is the same file."""
    STORED = auto()
    """Another batch did: the report is there."""


class Shelf:
    """A store with this batch's claims on it; without a store everything is new."""

    def __init__(self, store: ReportStore | None) -> None:
        """Open *store*.

        Raises:
            ReportError: It is of a newer schema, or cannot be written to.
        """
        if store is not None:
            store.prepare()
        self._store = store
        self._keys = store.keys() if store is not None else frozenset[str]()
        self._claims = store.claims() if store is not None else None

    def has(self, key: str) -> bool:
        """Whether the report was there when the batch began."""
        return key in self._keys

    def begin(self, key: str) -> Begun:
        """Claim *key*.

        Raises:
            ReportError: The store cannot be written to.
        """
        if self._claims is None or self._store is None:
            return Begun.YES
        try:
            if not self._claims.take(key):
                return Begun.BUSY
        except OSError as exc:
            raise ReportError(f"cannot be locked ({exc})", str(self._store.directory)) from exc
        # Looked up last: whoever had the claim before has written it by now.
        if key in self._store:
            self._claims.release(key)
            return Begun.STORED
        return Begun.YES

    def load(self, key: str) -> MergeReport:
        """Return a report that is there; one that cannot be read is set aside.

        Raises:
            ReportError: It cannot be read.
        """
        assert self._store is not None  # noqa: S101 - for mypy: nothing is there without
        try:
            report = self._store.get(key)
        except ReportError as exc:
            cause = exc.__cause__
            # Too many open files, or a server that is away, say nothing of the report.
            if not isinstance(cause, OSError) or isinstance(cause, FileNotFoundError):
                self._store.set_aside(key)
            raise
        if report is None:
            raise ReportError("was taken out of the store meanwhile", key)
        return report

    def keep(self, key: str, packed: Packed) -> None:
        """Store a report and give its claim back, whether that works or not.

        Raises:
            ReportError: The store cannot be written to.
        """
        try:
            if self._store is not None:
                self._store.put_packed(key, packed)
        finally:
            self.drop(key)

    def leave(self) -> None:
        """End the batch; claims of what is under way are given back by `drop`."""
        if self._claims:
            self._claims.leave()

    def drop(self, key: str) -> None:
        """Give a claim back without a report."""
        if self._claims:
            self._claims.release(key)

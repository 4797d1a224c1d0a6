"""A batch's view of its store: the reports that exist, and the claims of this batch."""

from enum import Enum, auto

from cooperbench_eval.batch.packing import Packed
from cooperbench_eval.batch.store import ReportStore
from cooperbench_eval.errors import ReportError
from cooperbench_eval.reporting import MergeReport

__all__ = ["Claim", "StoreView"]


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
        """Open *store*.

        Raises:
            ReportError: The store has a newer schema, or cannot be written to.
        """
        if store is not None:
            store.prepare()
        self._store = store
        self._keys = store.keys() if store is not None else frozenset[str]()
        self._claims = store.claims() if store is not None else None

    def has(self, key: str) -> bool:
        """Whether the store had a final report when the batch began."""
        return key in self._keys

    def claim(self, key: str) -> Claim:
        """Claim *key*.

        Raises:
            ReportError: The store cannot be written to.
        """
        if self._claims is None or self._store is None:
            return Claim.TAKEN
        try:
            if not self._claims.take(key):
                return Claim.BUSY
        except OSError as exc:
            raise ReportError(f"cannot be locked ({exc})", str(self._store.directory)) from exc
        # Only now, because the last holder of the claim may just have written the report.
        if key in self._store:
            self._claims.release(key)
            return Claim.STORED
        return Claim.TAKEN

    def load(self, key: str) -> MergeReport:
        """Return a stored report; a damaged one is renamed, so that it is not found again.

        Raises:
            ReportError: The report cannot be read.
        """
        assert self._store is not None  # noqa: S101 - for mypy: reports come from a store
        try:
            report = self._store.get(key)
        except ReportError as exc:
            cause = exc.__cause__
            # Too many open files or an unreachable server do not mean a damaged report.
            if not isinstance(cause, OSError) or isinstance(cause, FileNotFoundError):
                self._store.set_aside(key)
            raise
        if report is None:
            raise ReportError("was removed from the store during the batch", key)
        return report

    def keep(self, key: str, packed: Packed) -> None:
        """Store a report and release its claim, even if storing fails.

        Raises:
            ReportError: The store cannot be written to.
        """
        try:
            if self._store is not None:
                self._store.put_packed(key, packed)
        finally:
            self.release(key)

    def leave(self) -> None:
        """End the batch; claims of pairs still in flight are released later."""
        if self._claims:
            self._claims.leave()

    def release(self, key: str) -> None:
        """Release a claim without storing a report."""
        if self._claims:
            self._claims.release(key)

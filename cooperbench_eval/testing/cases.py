"""A strategy in one case of a check: its input, its outcome, and how both are shown."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import define, evolve, field, frozen

from cooperbench_eval.errors import CooperBenchEvalError, StrategyFailedError
from cooperbench_eval.git.merging.tree_merge import merge_changes
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.strategies.protocol import (
    FeatureContext,
    MergeInput,
    MergeOutcome,
    MergeStrategy,
)
from cooperbench_eval.strategies.run import run_strategy
from cooperbench_eval.support.error_texts import describe_error
from cooperbench_eval.testing.laws import BrokenError, Counterexample, UncheckedError, mistake_of

WANTED: Final = "an outcome"
_SHOWN_BYTES = 300
_SHOWN_PATHS = 12
_FEATURES = (FeatureContext(number=2, description="Add b."), FeatureContext(number=1))


@frozen(kw_only=True)
class MergeCase:
    """One input of a strategy: a base tree, two sides, and perhaps their descriptions."""

    base: Snapshot
    ours: Changes
    theirs: Changes
    is_described: bool = False

    @property
    def swapped(self) -> "MergeCase":
        """The same case with the sides swapped."""
        return evolve(self, ours=self.theirs, theirs=self.ours)

    def fresh_input(self) -> MergeInput:
        """Return a new input for a strategy, which shares no object with earlier inputs."""
        base = Snapshot.from_files(_entries_of(self.base))
        ours, theirs = Changes(dict(self.ours)), Changes(dict(self.theirs))
        return MergeInput(
            base=base,
            ours=ours,
            theirs=theirs,
            merge=merge_changes(base, ours, theirs),
            ours_feature=_FEATURES[0] if self.is_described else None,
            theirs_feature=_FEATURES[1] if self.is_described else None,
        )

    def __str__(self) -> str:
        base = Changes(_entries_of(self.base))
        parts = (("base", base), ("ours", self.ours), ("theirs", self.theirs))
        return "\n".join(f"{name:<6} {line}" for name, side in parts for line in _rows(side))


def has_line_conflicts(given: MergeInput, path: str) -> bool:
    """Whether lines of the file at *path* conflict."""
    return any(conflict.has_lines for conflict in given.conflicts if conflict.path == path)


def broken(case: MergeCase, *, came: str | MergeOutcome, wanted: str) -> BrokenError:
    """Return the error for a law that is broken in *case*."""
    shown = came if isinstance(came, str) else shown_outcome(came, case.base)
    return BrokenError(Counterexample(given=str(case), came=shown, wanted=wanted))


def without_outcome(case: MergeCase, came: str, mistake: str = "") -> BrokenError:
    """Return the error for a strategy that gave no outcome in *case*."""
    found = Counterexample(given=str(case), came=came, wanted=WANTED, mistake=mistake or came)
    return BrokenError(found)


# The facts that must be the same each time: first the outcome as shown to a person, then the
# facts that are not shown, which are the tree's id and the ledger.
Fingerprint = tuple[str, str]


def fingerprint(outcome: MergeOutcome, base: Snapshot) -> Fingerprint:
    """Return everything about *outcome* that must be the same each time."""
    details = [outcome.tree_id(base), *map(str, outcome.ledger)]
    return shown_outcome(outcome, base), "\n".join(details)


def difference(one: Fingerprint, other: Fingerprint) -> tuple[str, str] | None:
    """Return the first part of each that differs, if any."""
    return next((pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]), None)


def shown_outcome(outcome: MergeOutcome, base: Snapshot) -> str:
    """Show the merged tree and the open conflicts."""
    lines = [shown_changes(outcome.changes, base)]
    for conflict in outcome.conflicts:
        line = f", line {conflict.line}" if conflict.has_lines else ""
        lines.append(f"an open conflict ({conflict.kind.value}) in {conflict.path!r}{line}")
    if outcome.conflicts_met and not outcome.conflicts:
        lines.append("no open conflict")
    return "\n".join(lines)


def shown_changes(changes: Changes, base: Snapshot) -> str:
    """Show the effect of *changes* on the base, file by file."""
    return "\n".join(_rows(Changes(_entries_of(base.overlay(changes)))))


def shown_bytes(data: bytes) -> str:
    """Show *data*, without the middle if it is long."""
    if len(data) <= _SHOWN_BYTES:
        return repr(data)
    half = _SHOWN_BYTES // 2
    return f"{data[:half]!r} … {data[-half:]!r} ({len(data):,} bytes)"


def _entries_of(tree: Snapshot) -> dict[str, Entry]:
    found = ((path, tree.get(path)) for path in tree.paths())
    return {path: entry for path, entry in found if entry is not None}


def _rows(changes: Changes) -> Iterator[str]:
    if not changes:
        yield "(nothing)"
    for number, (path, entry) in enumerate(changes.items()):
        if number == _SHOWN_PATHS:
            yield f"… and {len(changes) - number:,} more"
            return
        if entry is None:
            yield f"{path!r}: deleted"
            continue
        mode = "" if entry.mode is FileMode.FILE else f" ({entry.mode.name.lower()})"
        yield f"{path!r}{mode}: {shown_bytes(entry.data)}"


@define
class StrategyTrial:
    """One strategy under one law, in one case.

    Each input is shown to `report` before it is merged. A case may be `remembered` with its
    outcome, to compare it with another process.
    """

    strategy: MergeStrategy
    report: Callable[[Any], None] = lambda _: None
    has_merged: bool = field(default=False, init=False)
    has_answered: bool = field(default=False, init=False)
    remembered: tuple[MergeCase, Fingerprint] | None = field(default=None, init=False)

    def check(
        self, keeps_law: Callable[["StrategyTrial", MergeCase], None], case: MergeCase
    ) -> None:
        """Check a law in a case, and report a counterexample; `BrokenError` is raised with it."""
        try:
            keeps_law(self, case)
        except BrokenError as exc:
            self.report(exc.counterexample)
            raise
        except UncheckedError:
            raise
        # The attributes of an outcome may be computed, and raise anything.
        except Exception as exc:
            came = f"inspecting its outcome raised {describe_error(exc)}"
            raise without_outcome(case, came, mistake_of(exc)) from exc

    def merge(self, case: MergeCase, given: MergeInput | None = None) -> MergeOutcome:
        """Run the strategy on *given*, or else on a fresh input.

        Whatever it does other than to return an outcome breaks the law. If a service that it
        needs failed, `UncheckedError` is raised.
        """
        self.report(str(case))
        self.has_merged = True
        try:
            outcome = run_strategy(self.strategy, given or case.fresh_input())
        except StrategyFailedError as exc:
            if exc.__cause__ is not None:
                came, mistake = f"it failed: {exc.problem}", mistake_of(exc.__cause__)
                raise without_outcome(case, came, mistake) from exc
            raise without_outcome(case, f"it {exc.problem}{_merge_of(self.strategy)}") from exc
        except KeyboardInterrupt:
            raise
        # Nothing else that a strategy raises may end the check, not even SystemExit.
        except BaseException as exc:
            raise without_outcome(case, f"it raised {mistake_of(exc)}") from exc
        if outcome.service_failed:
            raise UncheckedError(outcome.failure or "a service that the strategy needs failed")
        if outcome.failure:
            raise without_outcome(case, f"it reported a failure: {outcome.failure}")
        self.has_answered |= len(outcome.conflicts) < outcome.conflicts_met
        return outcome


def fingerprints(strategy: MergeStrategy, cases: Sequence[MergeCase]) -> list[Fingerprint]:
    """Merge the cases, and return the facts that must be the same in every process."""
    found = []
    for case in cases:
        try:
            outcome = run_strategy(strategy, case.fresh_input())
            found.append(fingerprint(outcome, case.base))
        except CooperBenchEvalError as exc:
            found.append((str(exc), ""))
    return found


def _merge_of(strategy: MergeStrategy) -> str:
    """Return where the merge of a strategy is defined, in brackets after a space."""
    code = getattr(strategy.merge, "__code__", None)
    return f" ({Path(code.co_filename).name}, line {code.co_firstlineno}, in merge)" if code else ""

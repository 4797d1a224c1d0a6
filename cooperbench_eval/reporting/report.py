"""`MergeReport`: everything that is known of a pair, typed.

The JSON schema is imported when a report is first written or read, because
cattrs is a good part of what importing the library would cost.
"""

import datetime as dt
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeGuard

from attrs import field, frozen

from cooperbench_eval.models import (
    Conflict,
    ConflictDetails,
    HunkPlacement,
    LedgerRow,
    MergeStatus,
    ModelUsage,
    PatchStatus,
    TestResult,
    TestStatus,
)

__all__ = [
    "Attempt",
    "FeatureReport",
    "MergeReport",
    "PairStatus",
    "PatchReport",
    "Verdict",
]


class PairStatus(StrEnum):
    """How the two sides of a pair stand to each other under `git merge`."""

    CLEAN = "clean"
    """They merge."""
    CONFLICTS = "conflicts"
    """They conflict."""
    MISSING_INPUT = "missing_input"
    """A side's patch is empty or does not apply, so there was nothing to merge."""


class Verdict(StrEnum):
    """What a strategy achieved on a pair."""

    CORRECT = "correct"
    """Merged, and both features' tests pass."""
    INCORRECT = "incorrect"
    """Merged, and the tests of a feature do not pass."""
    UNHANDLED = "unhandled"
    """Conflicts are left, or the strategy failed."""
    NOT_RUN = "not_run"
    """The tests of a feature were not run, or there was nothing to merge."""


@frozen(kw_only=True)
class PatchReport:
    """What became of a feature's patch.

    Attributes:
        status: Whether it applied to the base.
        reason: Why it did not; else empty.
        dropped_files: The test files taken out of it before, by path.
        touched_runner_control: Files among the rest that steer how tests are found
            and run (conftest.py, pytest.ini, pyproject.toml, Makefile …), by path.
            Whoever writes those can write the verdict.
        hunks: How each change was placed.
    """

    status: PatchStatus = field(converter=PatchStatus)
    reason: str = ""
    dropped_files: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    touched_runner_control: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    hunks: tuple[HunkPlacement, ...] = field(
        default=(), converter=tuple[HunkPlacement, ...], repr=False
    )


@frozen(kw_only=True)
class FeatureReport:
    """One feature alone: its own patch on the base, under its own tests.

    Attributes:
        number: The feature's number in its task.
        patch: What became of its patch.
        tests: The run of its tests; `None` where they were not run.
    """

    number: int
    patch: PatchReport
    tests: TestResult | None = None

    @property
    def tests_passed(self) -> bool | None:
        """Whether its tests pass; `None` where nothing was run."""
        return self.tests.passed if _was_run(self.tests) else None

    @property
    def test_output(self) -> str:
        """What the run printed; empty where there was none."""
        return "" if self.tests is None else self.tests.output


@frozen(kw_only=True)
class Attempt:
    """One strategy's try at the pair.

    Attributes:
        strategy: The strategy's name.
        implementation: Where its class is defined, as `module:name`.
        status: How its merge ended.
        conflicts_met: Conflicts of the three-way merge.
        conflict_details: The conflicts it left open, measured.
        tree_id: The git tree id of what it merged; `None` if it failed.
        diff: The merged tree as a git diff against the base; `None` if it failed.
        failure: Why it failed; else empty.
        feature1_tests: Feature 1's tests on the merged tree; `None` if not run.
        feature2_tests: Feature 2's tests on it, likewise.
        duration_seconds: Time the strategy took, tests not counted.
        ledger: What became of each conflict or block of conflicts, if the strategy
            says so.
        usage: What asking models came to, one record a model.
    """

    strategy: str
    implementation: str
    status: MergeStatus = field(converter=MergeStatus)
    conflicts_met: int = 0
    conflict_details: ConflictDetails | None = None
    tree_id: str | None = None
    diff: bytes | None = field(default=None, repr=False)
    failure: str = ""
    feature1_tests: TestResult | None = None
    feature2_tests: TestResult | None = None
    duration_seconds: float = 0.0
    ledger: tuple[LedgerRow, ...] = field(default=(), converter=tuple[LedgerRow, ...], repr=False)
    usage: tuple[ModelUsage, ...] = field(default=(), converter=tuple[ModelUsage, ...])

    @property
    def verdict(self) -> Verdict:
        """What the strategy achieved.

        Whatever is not a pass counts against it, a deadline or an inconclusive
        run included: correctness is claimed only where it was seen.
        """
        if self.status in {MergeStatus.CONFLICTED, MergeStatus.FAILED}:
            return Verdict.UNHANDLED
        runs = [run for run in (self.feature1_tests, self.feature2_tests) if _was_run(run)]
        if not all(run.passed for run in runs):
            return Verdict.INCORRECT
        return Verdict.CORRECT if len(runs) == 2 else Verdict.NOT_RUN  # noqa: PLR2004


def _was_run(tests: TestResult | None) -> TypeGuard[TestResult]:
    """Whether a test command ran; a tests patch that was rejected says nothing."""
    return tests is not None and tests.status is not TestStatus.PATCH_REJECTED


def _own(versions: Mapping[str, str]) -> dict[str, str]:
    return dict(versions)


@frozen(kw_only=True)
class MergeReport:
    """Everything that is known of a pair: feature 1 merged into feature 2.

    Attributes:
        repo_name: The repository's name in the benchmark.
        task_id: The task's number; 0 is a task like any other.
        timestamp: When the evaluation began, with its time zone.
        feature1: Feature 1 alone.
        feature2: Feature 2 alone.
        conflict_details: The naive merge's conflicts, measured; `None` where
            there was nothing to merge.
        conflicts: The naive merge's conflicts themselves.
        diff: The naive merge as a git diff against the base, open conflicts as
            markers; `None` where there was nothing to merge.
        attempts: One row a strategy, in the order asked for.
        base_tree_id: The git tree id of the base.
        base_commit: The base commit, if the base is one.
        model: The model whose patches these are, if named.
        setting: The benchmark's setting, if named.
        k: Which of the model's tries this is, counted from 1.
        versions: What took part, and in which version.
    """

    repo_name: str
    task_id: int
    timestamp: dt.datetime = field()
    feature1: FeatureReport
    feature2: FeatureReport
    conflict_details: ConflictDetails | None
    conflicts: tuple[Conflict, ...] = field(default=(), converter=tuple[Conflict, ...], repr=False)
    diff: bytes | None = field(default=None, repr=False)
    attempts: tuple[Attempt, ...] = field(default=(), converter=tuple[Attempt, ...])
    base_tree_id: str = ""
    base_commit: str | None = None
    model: str | None = None
    setting: str | None = None
    k: int = 1
    versions: Mapping[str, str] = field(factory=dict, converter=_own, hash=False)

    @timestamp.validator
    def _check_timestamp(self, _: object, timestamp: dt.datetime) -> None:
        if timestamp.utcoffset() is None:
            raise ValueError(f"the timestamp {timestamp} has no time zone")

    @property
    def merge_status(self) -> PairStatus:
        """How the two sides stand to each other under `git merge`."""
        if self.conflict_details is None:
            return PairStatus.MISSING_INPUT
        if self.conflict_details.conflict_sections:
            return PairStatus.CONFLICTS
        return PairStatus.CLEAN

    @property
    def conflict_score(self) -> int | None:
        """The naive merge's score; `None` where there was nothing to merge."""
        return None if self.conflict_details is None else self.conflict_details.conflict_score

    def attempt(self, strategy: str) -> Attempt:
        """Return the row of *strategy*.

        Raises:
            KeyError: The report has no such row.
        """
        for attempt in self.attempts:
            if attempt.strategy == strategy:
                return attempt
        raise KeyError(strategy)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON values, derived facts included.

        The keys of CooperBench's merge report keep their names; ours stand beside
        them. Text that is no UTF-8 becomes `{"base64": …}`.
        """
        from cooperbench_eval.reporting.serialization import dump  # noqa: PLC0415

        return dump(self)

    def to_json(self) -> str:
        """Return the report as JSON text; `from_json` gives an equal report."""
        from cooperbench_eval.reporting.serialization import dumps  # noqa: PLC0415

        return dumps(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> "MergeReport":
        """Read a report; keys that this version does not know are passed over.

        Raises:
            ReportError: The text is no report, or of a newer schema.
        """
        from cooperbench_eval.reporting.serialization import loads  # noqa: PLC0415

        return loads(text, cls)

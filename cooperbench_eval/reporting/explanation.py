"""The record `Explanation`: the hunks that are responsible for the tests that a merge lost."""

from collections.abc import Iterator
from enum import StrEnum

from attrs import field, frozen

from cooperbench_eval.reporting.identity import PairId
from cooperbench_eval.reporting.rows import UsedOptions
from cooperbench_eval.support.arguments import named_fields
from cooperbench_eval.support.plain import Plain
from cooperbench_eval.support.rendering.shown import Shown


class ExplanationStatus(StrEnum):
    """Whether it was found why a merge lost tests."""

    EXPLAINED = "explained"
    """Hunks were found without which the lost tests pass again."""
    UNEXPLAINED = "unexplained"
    """No removal of hunks is known to make the lost tests pass again."""
    NOT_REPRODUCED = "not_reproduced"
    """The lost tests pass when the same merged tree is tested again."""
    NOTHING_LOST = "nothing_lost"
    """The merge lost no tests."""
    NOT_MERGED = "not_merged"
    """The merge is not complete, so no tests could be lost."""
    NOT_RUN = "not_run"
    """A test run has no result, so it is not known which tests are lost."""
    OTHER_TREE = "other_tree"
    """The pair does not give the merged tree that the report is about."""


class HunkRole(StrEnum):
    """How a hunk takes part in the loss of tests."""

    BREAKS = "breaks"
    """Without this hunk, and the others of its feature with this role, the tests pass again."""
    NEEDED = "needed"
    """The lost tests need it: they do not pass without it, even without the other feature."""


class SuiteKind(StrEnum):
    """The suite to which lost tests belong."""

    FEATURE1 = "feature1"
    """The tests of feature 1."""
    FEATURE2 = "feature2"
    """The tests of feature 2."""
    JOINT = "joint"
    """The tests of both features together."""
    REGRESSION = "regression"
    """The repository's own tests."""


@frozen(kw_only=True, field_transformer=named_fields)
class ExplainedHunk:
    """A change of one feature that takes part in the loss of tests.

    Attributes:
        feature: The feature's number.
        path: The file.
        line: The first changed line in the feature's own version of the file, counted from
            1. If lines were only removed, this is the line that follows them.
        text: The changed lines with their signs, as in a diff; for a change of the file as
            a whole, such as a new mode, the headers of its diff.
        role: How it takes part.
    """

    feature: int
    path: str
    line: int
    text: str = field(repr=False)
    role: HunkRole = field(converter=HunkRole)


@frozen(kw_only=True, field_transformer=named_fields)
class Finding:
    """What was found about the lost tests of one suite.

    Attributes:
        suite: The suite.
        tests: The lost tests that failed again when the merged tree was tested again; empty if
            it is not known which ones are lost, for example because the suite timed out.
        status: Whether the loss is explained.
        hunks: The hunks that take part in it, feature 1's first.
        is_minimal: Whether it was verified for each hunk that it cannot be left out of
            its set.
        reason: Why there is no explanation, or why the sets may not be minimal; empty if
            neither applies.
    """

    suite: SuiteKind = field(converter=SuiteKind)
    tests: tuple[str, ...] = field(converter=tuple[str, ...])
    status: ExplanationStatus = field(converter=ExplanationStatus)
    hunks: tuple[ExplainedHunk, ...] = field(default=(), converter=tuple[ExplainedHunk, ...])
    is_minimal: bool = False
    reason: str = ""


@frozen(kw_only=True, field_transformer=named_fields)
class Explanation(Shown, Plain):
    """Why a strategy's merge of a pair lost tests.

    Attributes:
        strategy: The strategy.
        pair: The pair.
        findings: One for each suite that lost tests; empty if none did, or if the search
            could not begin.
        failure: Why the search could not begin; `None` if it did.
        problem: The same as a sentence; empty if the search began.
        runs_used: How many times a suite was run.
        budget: How many times it was allowed to be run.
        options: The options with which the report was made; `None` if they are not known.
    """

    _written = (
        *("strategy", "pair", "status", "reason", "tests", "feature1_hunks", "feature2_hunks"),
        *("is_minimal", "runs_used", "budget", "findings"),
    )

    strategy: str
    pair: PairId
    findings: tuple[Finding, ...] = field(default=(), converter=tuple[Finding, ...])
    failure: ExplanationStatus | None = None
    problem: str = ""
    runs_used: int = 0
    budget: int
    options: UsedOptions | None = field(default=None, repr=False)

    @property
    def status(self) -> ExplanationStatus:
        """Whether the loss of tests is explained, at least for one suite."""
        if self.failure is not None:
            return self.failure
        statuses = [finding.status for finding in self.findings]
        order = list(ExplanationStatus).index
        return min(statuses, key=order, default=ExplanationStatus.NOTHING_LOST)

    @property
    def reason(self) -> str:
        """Why there is no explanation, or why it may not be minimal; empty if neither applies."""
        reasons = [self.problem, *(finding.reason for finding in self.findings)]
        return "; ".join(dict.fromkeys(filter(None, reasons)))

    @property
    def tests(self) -> tuple[str, ...]:
        """The lost tests of all suites."""
        return tuple(dict.fromkeys(test for each in self.findings for test in each.tests))

    @property
    def is_minimal(self) -> bool:
        """Whether it was verified for each reported hunk that it cannot be left out."""
        return bool(self.findings) and all(finding.is_minimal for finding in self.findings)

    @property
    def feature1_hunks(self) -> tuple[ExplainedHunk, ...]:
        """The hunks of feature 1 that take part, in the order of their places."""
        return tuple(self._hunks_of(self.pair.features[0]))

    @property
    def feature2_hunks(self) -> tuple[ExplainedHunk, ...]:
        """The hunks of feature 2 that take part, in the order of their places."""
        return tuple(self._hunks_of(self.pair.features[1]))

    def _hunks_of(self, feature: int) -> Iterator[ExplainedHunk]:
        """Yield each hunk once; one that breaks tests of a suite is not repeated as needed."""
        found: dict[tuple[str, int, str], ExplainedHunk] = {}
        for hunk in (hunk for finding in self.findings for hunk in finding.hunks):
            place = hunk.path, hunk.line, hunk.text
            if hunk.feature == feature and (place not in found or hunk.role is HunkRole.BREAKS):
                found[place] = hunk
        yield from (found[place] for place in sorted(found))

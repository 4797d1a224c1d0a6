"""Finds the hunks of both sides that take part in the loss of one suite's tests.

Trees from which hunks were left out are tested, as often as the budget allows. Hunks that
probably take part come first: their names occur in the lost tests or their failures, or in the
hunks of the other feature. Names that few hunks have count more. The order never decides what is
reported; a good one only saves test runs.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, zip_longest

from attrs import evolve, frozen

from cooperbench_eval.evaluation.explaining.splitting import SideHunk, SplitSide
from cooperbench_eval.evaluation.pairs import FeaturePair
from cooperbench_eval.evaluation.sides import Side, context_of, merge_into
from cooperbench_eval.evaluation.suite_runs import BudgetSpentError, Runs
from cooperbench_eval.git.patching.path_kinds import PathKind, classify_path
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.reporting.explanation import (
    ExplainedHunk,
    ExplanationStatus,
    Finding,
    HunkRole,
    SuiteKind,
)
from cooperbench_eval.running import TestSuite
from cooperbench_eval.running.results import (
    COMPLETE,
    TestCase,
    TestCaseStatus,
    TestResult,
    TestStatus,
    lost_cases,
)
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.support.minimizing import Minimizer

_MOST_TREES_PER_RUN = 20
"""Trees that do not merge cost no run, but their number needs a limit too."""
_OWNERS = {SuiteKind.FEATURE1: 0, SuiteKind.FEATURE2: 1}
"""The side to which a suite belongs; the others belong to neither."""
_Hunks = tuple[SideHunk, ...]
_NAME = re.compile(rb"[^\W\d]\w{2,}")
_TEST_LINES = 30
"""About as many lines as a test has."""
_LONGEST = 200_000  # bytes of a text in which names are searched


def find_causes(
    losses: Iterable["LostTests"], experiments: "Experiments", merged: Changes
) -> tuple[Finding, ...]:
    """Search for the causes of all losses, the most important ones first, as the budget allows."""
    searches = [_CauseSearch(each, experiments) for each in losses]
    for search in searches:
        search.confirm(merged)
    for search in searches:
        search.find_breaking()
    for search in searches:
        search.find_own()
    return tuple(search.finding() for search in searches)


@frozen(kw_only=True)
class LostTests:
    """Tests of one suite that a merge lost.

    Attributes:
        ids: The ids of the tests; empty if it is not known which ones are lost, for example
            because the suite timed out.
        known: The ids of all cases in the suite's earlier runs.
    """

    kind: SuiteKind
    suite: TestSuite
    ids: frozenset[str]
    known: frozenset[str] = frozenset()

    def lost_in(self, run: TestResult) -> frozenset[str] | None:
        """Return the tests that do not pass in *run*; `None` if the run is not complete."""
        if run.status not in COMPLETE:
            return None
        passed, failed = TestCaseStatus.PASSED, TestCaseStatus.FAILED
        cases = [
            TestCase(id=each, status=passed if each in self.ids else failed)
            for each in sorted(self.ids | self.known)
        ]
        return frozenset(lost_cases(TestResult(status=TestStatus.FAILED, cases=cases), run))

    def pass_in(self, run: TestResult) -> bool:
        """Whether the tests pass in *run*; the whole suite, if it is not known which are lost."""
        return self.lost_in(run) == frozenset() if self.ids else run.passed


class Experiments:
    """Merges parts of the sides of a pair, as the evaluator does, and runs suites on the trees.

    A tree that was tested before costs no run.

    Attributes:
        runs: Runs the suites; it may know runs of the report.
        had_no_verdict: Whether the sandbox failed in a run, so that nothing is known about
            its tree.
    """

    def __init__(
        self,
        pair: FeaturePair,
        sides: tuple[SplitSide, SplitSide],
        strategy: MergeStrategy,
        runs: Runs,
    ) -> None:
        self.pair = pair
        self.sides = sides
        self.runs = runs
        self.had_no_verdict = False
        self._strategy = strategy
        self._trees = 0

    def merge(self, side1: Changes, side2: Changes) -> Changes | None:
        """Merge feature 1's side into feature 2's; `None` if the merge is not complete."""
        # The base of a pair is the merge base of its features, so they start from it.
        sides = zip(self.pair.features, (side1, side2), strict=True)
        theirs, ours = (Side((context_of(feature),), changes) for feature, changes in sides)
        merged, together = merge_into(self.pair.base, ours, theirs, self._strategy)
        return together.changes if merged.is_complete else None

    def passes(self, lost: LostTests, kept: Sequence[_Hunks | None]) -> bool:
        """Whether the lost tests pass if only some hunks are merged; `None` leaves out a side.

        Raises:
            BudgetSpentError: Too many trees were tried, or too many runs are needed.
        """
        self._trees += 1
        if self._trees > _MOST_TREES_PER_RUN * (self.runs.budget or 1):
            raise BudgetSpentError
        sides = zip(self.sides, kept, strict=True)
        parts = [side.with_only(frozenset(each)) for side, each in sides if each is not None]
        whole = [part for part in parts if part is not None]
        if len(whole) < len(parts):
            return False
        changes = whole[0] if len(whole) == 1 else self.merge(*whole)
        if changes is None:
            return False
        run = self.runs.run(self.pair.base, changes, lost.suite)
        if run.status is TestStatus.INFRASTRUCTURE_ERROR:
            self.had_no_verdict = True
        return lost.pass_in(run)


class _CauseSearch:
    """The search for the hunks that take part in the loss of one suite's tests."""

    def __init__(self, lost: LostTests, experiments: Experiments) -> None:
        self._lost = lost
        self._experiments = experiments
        self._hunks = tuple(side.hunks for side in experiments.sides)
        self._owner = _OWNERS.get(lost.kind)
        self._clues = names_of_tests(lost.suite, lost.ids, experiments.pair.base)
        self._stopped: ExplanationStatus | None = None
        self._reasons: list[str] = []
        self._breaking: list[_Hunks] = [(), ()]
        self._needed: _Hunks = ()
        self._is_minimal = True

    def confirm(self, merged: Changes) -> None:
        """Test the merged tree again, so that no flaky test is explained."""
        experiments = self._experiments
        with self._budget():
            run = experiments.runs.rerun(experiments.pair.base, merged, self._lost.suite)
            if not run.was_run:
                self._stopped = ExplanationStatus.NOT_RUN
                self._reasons.append(f"the merged tree cannot be tested again: {run.reason}")
                return
            lost = self._lost.lost_in(run)
            if lost is None:
                return
            again = len(self._lost.ids) - len(lost)
            if again:
                self._reasons.append(f"{again} of the lost tests passed when they were run again")
            if self._lost.pass_in(run):
                self._stopped = ExplanationStatus.NOT_REPRODUCED
                return
            self._lost = evolve(self._lost, ids=lost)
            self._clues |= names_in(
                *(case.message.encode("utf-8", "replace") for case in run.cases)
            )

    def find_breaking(self) -> None:
        """Find hunks without which the tests pass again.

        Tests of one feature pass without the other one, so they pass at the latest when all
        hunks of that feature are left out. The repository's tests may pass without either.
        """
        if self._stopped:
            return
        ranked = [self._ranked(side, self._hunks[1 - side]) for side in (0, 1)]
        if self._owner is not None:
            self._remove(1 - self._owner, ranked[1 - self._owner])
            return
        with self._budget():
            enough = [side for side in (0, 1) if self._passes_without(side, ranked[side])]
            for side in enough:
                self._remove(side, ranked[side])
            if not enough:
                self._try_parts(ranked)

    def find_own(self) -> None:
        """Find how the feature that owns the tests takes part, if one does.

        Tests that pass without any of its hunks may pass again if only some are left out.
        Other tests need some of its hunks.
        """
        owner = self._owner
        if self._stopped or owner is None:
            return
        hunks = self._ranked(owner, self._breaking[1 - owner])
        self._needed = hunks
        with self._budget():
            if self._passes_alone(owner, ()):
                self._needed = ()
                if self._passes_without(owner, hunks):
                    self._remove(owner, hunks)
                return
            self._needed = self._minimized(hunks, partial(self._passes_alone, owner))
            rest = tuple(hunk for hunk in hunks if hunk not in self._needed)
            if rest and self._passes_without(owner, rest):
                self._remove(owner, rest)

    def _try_parts(self, ranked: Sequence[_Hunks]) -> None:
        """Leave out single hunks, then all hunks of single files.

        The tests need both features, as joint tests do, so no removal is known to help. If one
        does, the tests do not need the part that was left out.
        """
        single: list[list[_Hunks]] = [[(hunk,) for hunk in hunks] for hunks in ranked]
        with self._budget():
            for part, side in chain(_in_turn(*single), _in_turn(*map(_files, ranked))):
                if not self._breaking[side] and self._passes_without(side, part):
                    self._remove(side, part)
        if self._is_minimal and not any(self._breaking):
            self._reasons.append(
                f"the {self._lost.kind.value} tests need both features, and they do not pass "
                "without any single hunk or file either"
            )

    def finding(self) -> Finding:
        status = self._stopped
        if not status:
            is_found = any(self._breaking)
            status = ExplanationStatus.EXPLAINED if is_found else ExplanationStatus.UNEXPLAINED
        if not self._is_minimal:
            self._reasons.append("the budget was spent before the search ended")
        if self._experiments.had_no_verdict:
            self._reasons.append("the sandbox failed in a run, so the result may not be minimal")
        return Finding(
            suite=self._lost.kind,
            tests=sorted(self._lost.ids),
            status=status,
            hunks=self._explained(),
            is_minimal=status is ExplanationStatus.EXPLAINED
            and self._is_minimal
            and not self._experiments.had_no_verdict,
            reason="; ".join(self._reasons),
        )

    def _explained(self) -> Iterator[ExplainedHunk]:
        for side, hunks in enumerate(self._hunks):
            needed = self._needed if side == self._owner else ()
            for hunk in hunks:
                is_breaking = hunk in self._breaking[side]
                if is_breaking or hunk in needed:
                    yield ExplainedHunk(
                        feature=self._experiments.pair.numbers[side],
                        path=hunk.path,
                        line=hunk.line,
                        text=hunk.text.decode("utf-8", "backslashreplace"),
                        role=HunkRole.BREAKS if is_breaking else HunkRole.NEEDED,
                    )

    # --- questions ---

    def _ranked(self, side: int, others: _Hunks) -> _Hunks:
        """Order the hunks of a side by what they share with the tests and with *others*."""
        return ranked(self._hunks[side], [self._clues, names_in(*(each.text for each in others))])

    def _passes_alone(self, side: int, kept: _Hunks) -> bool:
        """Whether the lost tests pass with some hunks of one side and nothing else."""
        return self._experiments.passes(self._lost, (kept, None) if side == 0 else (None, kept))

    def _passes_without(self, side: int, removed: _Hunks) -> bool:
        """Whether the lost tests pass in the merge without some hunks of a side."""
        kept = list(self._hunks)
        kept[side] = tuple(hunk for hunk in kept[side] if hunk not in removed)
        return self._experiments.passes(self._lost, kept)

    def _remove(self, side: int, hunks: _Hunks) -> None:
        """Find a smallest part of *hunks* without which the tests pass; removing all works."""
        self._breaking[side] = self._minimized(hunks, partial(self._passes_without, side))

    def _minimized(self, hunks: _Hunks, holds: Callable[[_Hunks], bool]) -> _Hunks:
        search = Minimizer(hunks, holds)
        with self._budget():
            search.run()
        return search.kept

    @contextmanager
    def _budget(self) -> Iterator[None]:
        """Note that a question was left open because the budget was spent."""
        try:
            yield
        except BudgetSpentError:
            self._is_minimal = False


def _in_turn(first: list[_Hunks], second: list[_Hunks]) -> Iterator[tuple[_Hunks, int]]:
    """Return the parts of both sides alternately, each with the place of its side."""
    sides = zip_longest(((part, 0) for part in first), ((part, 1) for part in second))
    return filter(None, chain.from_iterable(sides))


def _files(hunks: _Hunks) -> list[_Hunks]:
    found: dict[str, _Hunks] = {}
    for hunk in hunks:
        found[hunk.path] = (*found.get(hunk.path, ()), hunk)
    return [each for each in found.values() if len(each) > 1]


# --- the order of hunks ---


def names_in(*texts: bytes) -> frozenset[bytes]:
    """Return the words of *texts* that could be names in a program."""
    return frozenset(name for text in texts for name in _NAME.findall(text[:_LONGEST]))


def names_of_tests(suite: TestSuite, ids: Iterable[str], base: Snapshot) -> frozenset[bytes]:
    """Return the names in the code of some tests, if the suite's patch on *base* contains them."""
    named = (_NAME.findall(_encoded(id_.partition("[")[0])) for id_ in ids)
    tests = {names[-1] for names in named if names}
    files = suite.patch.on(base).files
    lines = [line for file in files for hunk in file.hunks for line in hunk.new]
    starts = [place for place, line in enumerate(lines) if not tests.isdisjoint(names_in(line))]
    return names_in(*(line for start in starts for line in lines[start : start + _TEST_LINES]))


def ranked(hunks: Sequence[SideHunk], clues: Iterable[frozenset[bytes]]) -> tuple[SideHunk, ...]:
    """Order *hunks* by the names that they share with each of the *clues*."""
    names = {hunk: names_in(_encoded(hunk.path), hunk.text, hunk.scope) for hunk in hunks}
    hunks_with = Counter(name for each in names.values() for name in each)
    clues = tuple(clues)

    def weight(hunk: SideHunk) -> tuple[bool, float]:
        shared = sum(1 / hunks_with[name] for clue in clues for name in clue & names[hunk])
        return classify_path(hunk.path) is PathKind.DOCS, -shared

    return tuple(sorted(hunks, key=weight))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")

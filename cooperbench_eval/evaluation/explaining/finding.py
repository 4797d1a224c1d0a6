"""Finds the hunks of both sides that take part in the loss of one suite's tests."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, zip_longest

from attrs import evolve

from cooperbench_eval.evaluation.explaining.experiments import (
    BudgetSpentError,
    Experiments,
    LostTests,
)
from cooperbench_eval.evaluation.explaining.ranking import names_in, names_of_tests, ranked
from cooperbench_eval.evaluation.explaining.splitting import SideHunk, SplitSide
from cooperbench_eval.git.trees.snapshot import Changes
from cooperbench_eval.reporting.explanation import (
    ExplainedHunk,
    ExplanationStatus,
    Finding,
    HunkRole,
    SuiteKind,
)
from cooperbench_eval.support.minimizing import Minimizer

__all__ = ["CauseSearch", "find_causes"]

_OWNERS = {SuiteKind.FEATURE1: 0, SuiteKind.FEATURE2: 1}
"""The side to which a suite belongs; the others belong to neither."""
_Hunks = tuple[SideHunk, ...]


def find_causes(searches: Iterable["CauseSearch"], merged: Changes) -> tuple[Finding, ...]:
    """Search for the causes of all losses, the most important ones first.

    A spent budget leaves the later, less important questions open.
    """
    searches = tuple(searches)
    for search in searches:
        search.confirm(merged)
    for search in searches:
        search.find_breaking()
    for search in searches:
        search.find_own()
    return tuple(search.finding() for search in searches)


class CauseSearch:
    """The search for the hunks that take part in the loss of one suite's tests."""

    def __init__(
        self,
        lost: LostTests,
        experiments: Experiments,
        sides: tuple[SplitSide, SplitSide],
        numbers: tuple[int, int],
    ) -> None:
        self._lost = lost
        self._experiments = experiments
        self._hunks = tuple(side.hunks for side in sides)
        self._numbers = numbers
        self._owner = _OWNERS.get(lost.kind)
        self._clues = names_of_tests(lost.suite, lost.ids, experiments.base)
        self._stopped: ExplanationStatus | None = None
        self._reasons: list[str] = []
        self._breaking: list[_Hunks] = [(), ()]
        self._needed: _Hunks = ()
        self._is_minimal = True

    def confirm(self, merged: Changes) -> None:
        """Test the merged tree again, so that no flaky test is explained."""
        with self._budget():
            run = self._experiments.rerun(self._lost.suite, merged)
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
            if not lost:
                self._stopped = ExplanationStatus.NOT_REPRODUCED
                return
            self._lost = evolve(self._lost, ids=lost)
            self._clues |= names_in(
                *(case.message.encode("utf-8", "replace") for case in run.cases)
            )

    def find_breaking(self) -> None:
        """Find hunks without which the tests pass again.

        Tests of one feature pass without the other one, and the repository's tests pass
        without either, so they pass at the latest when all hunks of that feature are left
        out.
        """
        if self._stopped:
            return
        if self._lost.kind is SuiteKind.JOINT:
            self._try_parts()
            return
        for side in (0, 1):
            if side != self._owner:
                self._remove(side, self._ranked(side, self._hunks[1 - side]))

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

    def _try_parts(self) -> None:
        """Leave out single hunks, then all hunks of single files.

        Joint tests need both features, so no removal is known to help. If one does, the
        tests do not need the part that was left out.
        """
        ranked = [self._ranked(side, self._hunks[1 - side]) for side in (0, 1)]
        single: list[list[_Hunks]] = [[(hunk,) for hunk in hunks] for hunks in ranked]
        with self._budget():
            for part, side in chain(_in_turn(*single), _in_turn(*map(_files, ranked))):
                if not self._breaking[side] and self._passes_without(side, part):
                    self._remove(side, part)
        if self._is_minimal and not any(self._breaking):
            self._reasons.append(
                "the joint tests need both features, and they do not pass without any single "
                "hunk or file either"
            )

    def finding(self) -> Finding:
        """Return what was found."""
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
                        feature=self._numbers[side],
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
        return self._experiments.side_passes(self._lost, side, kept)

    def _passes_without(self, side: int, removed: _Hunks) -> bool:
        """Whether the lost tests pass in the merge without some hunks of a side."""
        kept = list(self._hunks)
        kept[side] = tuple(hunk for hunk in kept[side] if hunk not in removed)
        return self._experiments.merged_passes(self._lost, kept[0], kept[1])

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
    """Yield the parts of both sides in turn, each with its side."""
    for pair in zip_longest(first, second):
        for side, part in enumerate(pair):
            if part is not None:
                yield part, side


def _files(hunks: _Hunks) -> list[_Hunks]:
    """Return the hunks of each file that has several."""
    found: dict[str, _Hunks] = {}
    for hunk in hunks:
        found[hunk.path] = (*found.get(hunk.path, ()), hunk)
    return [each for each in found.values() if len(each) > 1]

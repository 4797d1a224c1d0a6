"""`Evaluator`: the options of an evaluation, and its calls."""

from collections.abc import Iterable

from attrs import field, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.evaluation.groups import evaluate_pair, evaluate_team
from cooperbench_eval.evaluation.pairs import FeaturePair, FeatureTeam
from cooperbench_eval.evaluation.scoring import ConflictScorer
from cooperbench_eval.git.patching.paths import TestFileFilter
from cooperbench_eval.git.patching.policy import ApplyPolicy
from cooperbench_eval.reporting import MergeReport
from cooperbench_eval.reporting.teams import TeamReport
from cooperbench_eval.running import TestRunner
from cooperbench_eval.running.judgements import JudgeRule
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.strategies.registry import as_strategy
from cooperbench_eval.support.arguments import able_to, checked_fields, follows

__all__ = ["Evaluator"]


def _as_strategies(
    given: str | MergeStrategy | Iterable[str | MergeStrategy],
) -> tuple[MergeStrategy, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        if not isinstance(given, str) and not hasattr(given, "merge"):
            problem = f"must be a strategy, its name, or a list of these, not {given!r:.80}"
            raise ArgumentError("strategies", problem)
        return (as_strategy(given),)
    return tuple(map(as_strategy, given))


def _check_pair(pair: object) -> None:
    _check_group(pair, "pair", FeaturePair, "evaluate_team() takes a FeatureTeam")


def _check_group(given: object, name: str, kind: type, other: str) -> None:
    if not isinstance(given, kind):
        found = type(given).__qualname__
        raise ArgumentError(name, f"must be a {kind.__name__}, not {found}; {other}")


@frozen(kw_only=True, field_transformer=checked_fields)
class Evaluator:
    """Finds out whether a pair's patches apply, merge and pass their tests.

    Attributes:
        strategies: The merge strategies to try, independently of each other; names are
            looked up at once.
        runner: Runs the tests; `None` to merge and score only.
        scorer: Measures conflicts.
        test_filter: Removes the agents' own test files from their patches.
        apply_policy: How leniently their patches are placed.
        test_base: Whether to also run each feature's tests on the base: a test that
            passes there says nothing about the feature.
        test_other: Whether to also run each feature's tests on the base with only the
            other feature's patch: a test that passes there does not need the merge.
        judge: Which cases must pass. With `"delta"`, these are the cases that the suite's
            patch adds or changes, and those that pass on the base. With `"absolute"`, and
            for suites without a run on the base, every case must pass.
    """

    strategies: tuple[MergeStrategy, ...] = field(
        default=("naive", "union"), converter=_as_strategies
    )
    runner: TestRunner | None = field(default=None, metadata=follows(able_to("run")))
    scorer: ConflictScorer = field(factory=ConflictScorer)
    test_filter: TestFileFilter = field(factory=TestFileFilter)
    apply_policy: ApplyPolicy = field(factory=ApplyPolicy)
    test_base: bool = True
    test_other: bool = False
    judge: JudgeRule = field(default=JudgeRule.DELTA, converter=JudgeRule)

    @strategies.validator
    def _check_strategies(self, _: object, strategies: tuple[MergeStrategy, ...]) -> None:
        names = [strategy.name for strategy in strategies]
        if len(set(names)) < len(names):
            problem = f"must have different names, not {', '.join(names)}"
            raise ArgumentError("strategies", problem)

    def evaluate(self, pair: FeaturePair) -> MergeReport:
        """Evaluate *pair* in the calling thread.

        A patch that does not apply, a conflict, a failed strategy, and tests that
        fail or time out are all results, not errors.

        Raises:
            ArgumentError: *pair* is not a `FeaturePair`.
            RepositoryError: The base cannot be read.
            TestRunError: A test command cannot be started.
        """
        _check_pair(pair)
        return evaluate_pair(pair, self)

    def evaluate_team(self, team: FeatureTeam) -> TeamReport:
        """Evaluate *team* in the calling thread: find out which of its features land.

        The features are taken in their order, as in a merge queue. One that conflicts or makes
        tests fail is left out, and the next one is merged into those that have landed. The
        suites first run on the tree of all features that merge; the features are tested one
        after another only if a suite fails there. A failing suite is run a second time before
        a feature is left out because of it.

        The verdict follows from the tree of all features, as it does for a pair. For a team
        with the features 2 and 1, in this order, it is the verdict of `evaluate`, unless a
        suite is flaky: here, a case that fails and then passes on the same tree is ignored.

        Raises:
            ArgumentError: *team* is not a `FeatureTeam`.
            RepositoryError: The base cannot be read.
            TestRunError: A test command cannot be started.
        """
        _check_group(team, "team", FeatureTeam, "evaluate() takes a FeaturePair")
        return evaluate_team(team, self)

    async def aevaluate(self, pair: FeaturePair) -> MergeReport:
        """Evaluate *pair* in a process of its own, for asyncio.

        The event loop is not blocked. If the awaiting task is cancelled, everything that
        the evaluation started, tests and containers included, ends before the await
        raises `CancelledError`. The caller limits how many run at a time, for example
        with an `asyncio.Semaphore`.

        A call takes about 0.3 seconds longer than `evaluate`. Results that pairs share
        are lost when the process ends; a runner whose cache is a file keeps its own.

        Raises:
            WorkerError: The process could not be started or died, or something in the
                evaluator or the pair cannot be pickled.
            RepositoryError: The base cannot be read.
            TestRunError: A test command cannot be started.
        """
        from cooperbench_eval.running.processes.awaiting import (  # noqa: PLC0415 - imports asyncio
            await_in_process,
        )

        _check_pair(pair)
        return await await_in_process(self.evaluate, pair)

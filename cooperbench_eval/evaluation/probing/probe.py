"""`probe` finds out how live branches merge, without touching their repository."""

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.evaluation.landing.land import read_budget
from cooperbench_eval.evaluation.placing import Options
from cooperbench_eval.git.patching.path_kinds import TestFileFilter
from cooperbench_eval.reporting.probes import Probe
from cooperbench_eval.running import TestRunner, TestSuite
from cooperbench_eval.running.results import JudgeName, JudgeRule
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.strategies.registry import as_strategy
from cooperbench_eval.support.arguments import able_to, checked
from cooperbench_eval.support.error_texts import it_has, listed

Ref = str | os.PathLike[str]


@checked(runner=able_to("run"))
def probe(
    repo: str | os.PathLike[str],
    refs: Iterable[Ref],
    onto: Ref = "main",
    suites: Mapping[Ref, TestSuite] | None = None,
    strategy: str | MergeStrategy = "naive",
    *,
    joint: TestSuite | None = None,
    regression: TestSuite | None = None,
    runner: TestRunner | None = None,
    budget: int = 50,
    judge: JudgeName | JudgeRule = JudgeRule.DELTA,
    test_filter: TestFileFilter | None = None,
) -> Probe:
    """Find out how branches merge at this moment, and which of them could land together.

    Nothing is checked out, written or fetched. No program of the repository runs except the given
    tests, which run in a sandbox. What earlier calls found is remembered by its contents, so a
    call repeats only what has changed since then. The files of a worktree are compared with its
    index each time, as `git status` does.

    A string is first read as a branch, tag or commit, then as the name of a linked worktree, then
    as the path of a worktree. A path object is always a worktree. A worktree counts with its
    uncommitted changes: the tree is what `git add --all` would store. A branch stands for its last
    commit; `Probe.warnings` names its worktrees with uncommitted changes. The result has a state
    for each branch, so one that cannot be read, or is in the middle of a rebase, does not affect
    the others.

    Args:
        repo: The repository: a working tree with its `.git`, or a bare repository.
        refs: The branches, tags, commits and worktrees.
        onto: Where they are to land, in the same form.
        suites: The tests of branches, by their names in *refs*.
        strategy: A registered name, or an object with `name` and `merge`. Its result should
            depend only on the merged contents.
        joint: Tests that must pass on a tree with all branches.
        regression: Tests of the repository itself, which run on every tree.
        runner: Runs the tests. Give the same one to each call, so that it remembers results.
        budget: How many test runs are allowed.
        judge: Which cases must pass, compared with *onto*: see `Evaluator`.
        test_filter: Which test files of the agents are dropped: see `Evaluator`. Only the trees on
            which suites run lack them; the branches are merged with them.

    Raises:
        ArgumentError: An argument has the wrong type, *refs* is empty or has a name twice,
            a suite is for none of them, or the budget is negative.
        RepositoryError: The repository cannot be opened, it does not know one of these names, a
            path is not one of its worktrees, or *onto* itself cannot be read.
        StrategyError: The strategy cannot be loaded.
    """
    given = _given(refs)
    known = _suites(suites, given)
    merges = as_strategy(strategy)
    if runner is None and (known or joint or regression):
        runner = TestRunner()
    options = Options(strategies=merges, runner=runner, judge=judge, test_filter=test_filter)
    from cooperbench_eval.evaluation.probing.one_probe import Probing  # noqa: PLC0415 - loads libgit2

    location = os.path.abspath(repo)  # noqa: PTH100 - links are kept as given
    key = strategy if isinstance(strategy, Hashable) else object()  # equal to nothing else
    probing = Probing(location, given, onto, strategy=merges, key=key)
    return probing.probe(known, joint, regression, options, read_budget(budget))


def _given(refs: Iterable[Ref]) -> list[Ref]:
    found = list(refs)
    if not found:
        raise ArgumentError("refs", "must name at least one branch, commit or worktree")
    names = [os.fspath(each) for each in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ArgumentError("refs", f"has {listed(twice)} more than once")
    return found


def _suites(suites: Mapping[Ref, TestSuite] | None, refs: Sequence[Ref]) -> dict[int, TestSuite]:
    numbers = {os.fspath(ref): number for number, ref in enumerate(refs, 1)}
    found = {}
    for ref, suite in (suites or {}).items():
        name = os.fspath(ref)
        if name not in numbers:
            problem = f"has a suite for {name!r}, which is not in refs: {it_has(name, numbers)}"
            raise ArgumentError("suites", problem)
        found[numbers[name]] = suite
    return found

"""Batches of the benchmark: all pairs or teams of a task's own solutions, and of a run."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, groupby
from typing import Literal, Unpack, cast, overload

from attrs import frozen

from cooperbench_eval.cooperbench.clones import Folder
from cooperbench_eval.cooperbench.dataset import Dataset, RepoDirs, as_dataset
from cooperbench_eval.cooperbench.evaluate import Testing
from cooperbench_eval.cooperbench.runlogs import Setting
from cooperbench_eval.cooperbench.runlogs.run_folders import RunTeam, discover_run
from cooperbench_eval.cooperbench.tasks import Counted, PairOptions, SuiteOf, SuiteOptions, Task
from cooperbench_eval.errors import CooperBenchEvalError, DatasetError
from cooperbench_eval.evaluation.batch.evaluating import BatchOptions, evaluate_many
from cooperbench_eval.evaluation.batch.payloads import failure_of
from cooperbench_eval.evaluation.evaluator import Evaluator, report_failure
from cooperbench_eval.evaluation.pairs import FeaturePair, FeatureTeam
from cooperbench_eval.reporting import MergeReport
from cooperbench_eval.reporting.cooperbench_results import SettingName
from cooperbench_eval.reporting.identity import PairId
from cooperbench_eval.reporting.teams import TeamReport
from cooperbench_eval.support.arguments import able_to, checked, rule_of


class SweepOptions(BatchOptions, SuiteOptions, total=False):
    """Options that are passed on to `evaluate_many` or to `Task.suite`."""


def split(options: SweepOptions) -> tuple[SuiteOptions, BatchOptions]:
    """Return the options of `Task.suite` and those of `evaluate_many`."""
    given = dict(options)
    suite = {name: given.pop(name) for name in SuiteOptions.__annotations__ if name in given}
    return cast("SuiteOptions", suite), cast("BatchOptions", given)


@checked(executor=able_to("submit"))
def gold_matrix(
    task: Task,
    *,
    repo_dir: Folder | None = None,
    evaluator: Evaluator | None = None,
    suite_of: SuiteOf = Task.suite,
    in_image: bool = False,
    readable: Iterable[Folder] = (),
    **options: Unpack[SweepOptions],
) -> Iterator[MergeReport]:
    """Evaluate every pair of a task's features with the dataset's own solutions.

    Each solution was written for its feature only, so two of them may conflict. Pass the
    reports to `summarize` as `gold=` to compare agents with them.

    Args:
        task: The task.
        repo_dir: A clone of its repository, or a folder that holds clones. Not needed if
            the `Dataset` has `repo_dirs`, or with *in_image*.
        evaluator: Evaluates the pairs; by default with tests, run by a `TestRunner` with
            default options.
        suite_of: Returns a feature's tests; called only if the evaluator has a runner.
        in_image: Whether the tests run in the task's own image, as in `evaluate`;
            *suite_of* and the runner's sandbox are then ignored.
        readable: Further paths that the tests may read; see `BubblewrapSandbox`.
        options: Options of `evaluate_many`: *executor*, *store*, *progress*, *on_error*; and
            of `Task.suite`: *command*, *framework*, *timeout_seconds*, *env*,
            *python* and *setup*. The last two apply to the suites of any
            *suite_of*.

    Raises:
        DatasetError: The task lacks something.
        PatchError: One of its patches cannot be read.
        RepositoryError: *repo_dir* is not a repository that has the base commit.
        BatchError: See `evaluate_many`, which raises other errors as well.
    """
    suite, batch = split(options)
    testing = Testing.of(evaluator, suite_of, suite, readable=readable, in_image=in_image)
    testing = testing.for_task(task)
    clone = testing.repository(task, repo_dir)
    pairs = task.all_pairs(repo_dir=clone, suite_of=testing.suite_of)
    return evaluate_many(pairs, evaluator=testing.evaluator, **batch)


@checked(executor=able_to("submit"))
def gold_teams(
    task: Task,
    *,
    size: int,
    repo_dir: Folder | None = None,
    evaluator: Evaluator | None = None,
    suite_of: SuiteOf = Task.suite,
    in_image: bool = False,
    readable: Iterable[Folder] = (),
    **options: Unpack[SweepOptions],
) -> Iterator[TeamReport]:
    """Evaluate every team of *size* features of a task with the dataset's own solutions.

    The counterpart of `gold_matrix`. In each team, the feature with the largest number
    starts, and the others are merged into it in descending order. So a team of two is
    merged as its pair is, in which the smaller number is merged into the larger one.

    Args:
        task: The task.
        size: The number of features in each team, from two to all of the task's.
        repo_dir: As in `gold_matrix`.
        evaluator: As in `gold_matrix`.
        suite_of: As in `gold_matrix`.
        in_image: As in `gold_matrix`.
        readable: As in `gold_matrix`.
        options: As in `gold_matrix`.

    Raises:
        DatasetError: The task has no teams of this size, or lacks something.
        PatchError: One of its patches cannot be read.
        RepositoryError: *repo_dir* is not a repository that has the base commit.
        BatchError: See `evaluate_many`, which raises other errors as well.
    """
    task.teams(size)  # raises before the repository is read
    suite, batch = split(options)
    testing = Testing.of(evaluator, suite_of, suite, readable=readable, in_image=in_image)
    testing = testing.for_task(task)
    clone = testing.repository(task, repo_dir)
    teams = task.all_teams(size, repo_dir=clone, suite_of=testing.suite_of)
    return evaluate_many(teams, evaluator=testing.evaluator, **batch)


class _RunOptions(SweepOptions, total=False):
    """The optional arguments of `evaluate_run` except `teams`, for its overloads."""

    repo_dirs: RepoDirs | None
    setting: SettingName | Setting | None
    repo_name: str | None
    task_id: int | None
    subset: str | None
    evaluator: Evaluator | None
    suite_of: SuiteOf
    in_image: bool
    readable: Iterable[Folder]


@overload
def evaluate_run(
    logs_dir: Folder,
    run_name: str,
    *,
    dataset_dir: Folder | Dataset,
    teams: Literal[False] = False,
    **options: Unpack[_RunOptions],
) -> Iterator[MergeReport]: ...
@overload
def evaluate_run(
    logs_dir: Folder,
    run_name: str,
    *,
    dataset_dir: Folder | Dataset,
    teams: Literal[True],
    **options: Unpack[_RunOptions],
) -> Iterator[TeamReport]: ...
@overload
def evaluate_run(
    logs_dir: Folder,
    run_name: str,
    *,
    dataset_dir: Folder | Dataset,
    teams: bool,
    **options: Unpack[_RunOptions],
) -> Iterator[MergeReport | TeamReport]: ...
@checked(executor=able_to("submit"), setting=rule_of(str | None))
def evaluate_run(
    logs_dir: Folder,
    run_name: str,
    *,
    dataset_dir: Folder | Dataset,
    repo_dirs: RepoDirs | None = None,
    setting: SettingName | Setting | None = None,
    repo_name: str | None = None,
    task_id: int | None = None,
    subset: str | None = None,
    evaluator: Evaluator | None = None,
    suite_of: SuiteOf = Task.suite,
    in_image: bool = False,
    readable: Iterable[Folder] = (),
    teams: bool = False,
    **options: Unpack[SweepOptions],
) -> Iterator[MergeReport | TeamReport]:
    """Evaluate every pair of an agents' run, or every team.

    If three or more agents worked on a task, every two of them are a pair. If an agent
    submitted nothing, its pairs are `missing_input`. If the task or repository of a pair
    is missing, its report has a `failure` and is not stored.

    With *teams*, the agents of each folder are one team instead, and a pair is a team of
    two. The last feature in the folder's name starts, and the others are merged into it
    from the last to the first. So of any two features, the first is merged into the second,
    as in their pair. A feature without a patch is left out; the others may still land.

    Args:
        logs_dir: The folder of run logs.
        run_name: The run.
        dataset_dir: The dataset's folder, or a `Dataset`.
        repo_dirs: Where the repositories are, as in `Dataset`. Not needed if the `Dataset`
            has `repo_dirs`, or with *in_image*.
        setting: Take only the pairs of this setting.
        repo_name: Take only the pairs of this repository.
        task_id: Take only the pairs of this task; 0 is a valid number.
        subset: Take only the pairs of the dataset's subset of this name, in either order
            of their features.
        evaluator: As in `gold_matrix`.
        suite_of: As in `gold_matrix`.
        in_image: As in `gold_matrix`; each task is then a batch of its own.
        readable: As in `gold_matrix`.
        teams: Whether all agents of a folder are one team, which gives a `TeamReport`.
            A subset lists only pairs, so it selects only teams of two.
        options: As in `gold_matrix`.

    Raises:
        DatasetError: The run, setting or subset does not exist, no pair or team matches the
            arguments, or *repo_dirs* has a key that is not a folder of the dataset.
        BatchError: See `evaluate_many`, which raises other errors as well.
    """
    dataset = as_dataset(dataset_dir, repo_dirs)
    wanted = {
        "setting": setting if setting is None else Setting.of(setting),
        "repo_name": repo_name,
        "task_id": task_id,
    }
    rows = () if subset is None else dataset.subset(subset)
    listed = {(task.repo_name, task.task_id, frozenset(pair)) for task, pair in rows}
    found = [
        team
        for team in discover_run(logs_dir, run_name, teams=teams)
        if all(value in {None, getattr(team, name)} for name, value in wanted.items())
        and (subset is None or (team.repo_name, team.task_id, frozenset(team.numbers)) in listed)
    ]
    if not found:
        sought = "team" if teams else "pair"
        raise DatasetError(f"has no {sought} that matches the arguments", run_name)
    suite, batch = split(options)
    testing = Testing.of(evaluator, suite_of, suite, readable=readable, in_image=in_image)
    run = _Run(dataset, are_teams=teams)
    if not in_image:
        return run.evaluate(found, testing, batch)
    by_task = groupby(found, lambda team: (team.repo_name, team.task_id))
    batches = (run.in_image(list(of_task), testing, batch) for _, of_task in by_task)
    return chain.from_iterable(batches)


@frozen
class _Run:
    """Builds the pairs or teams of a run; one that cannot be built becomes a failure's report."""

    dataset: Dataset
    are_teams: bool

    def in_image(
        self, found: Sequence[RunTeam], testing: Testing, options: BatchOptions
    ) -> Iterator[MergeReport | TeamReport]:
        """Evaluate pairs or teams of one task in its image."""
        with suppress(DatasetError):  # each report says that the task is missing
            task = self.dataset.task(found[0].repo_name, found[0].task_id)
            testing = testing.for_task(task)
        return self.evaluate(found, testing, options)

    def evaluate(
        self, found: Sequence[RunTeam], testing: Testing, options: BatchOptions
    ) -> Iterator[MergeReport | TeamReport]:
        """Evaluate pairs or teams, each of which is built when it is needed."""
        counted = Counted((self._built(each, testing) for each in found), len(found))
        return evaluate_many(counted, evaluator=testing.evaluator, **options)

    def _built(
        self, found: RunTeam, testing: Testing
    ) -> FeaturePair | FeatureTeam | MergeReport | TeamReport:
        # CooperBench's evaluator merges the first of two into the second, and a team merges each
        # next feature into the result so far. So in a team the last feature starts, and of any two
        # features the earlier one is merged into the later one, as in their pair.
        numbers = found.numbers[::-1] if self.are_teams else found.numbers
        try:
            task = self.dataset.task(found.repo_name, found.task_id)
            task.require(*found.numbers)
            given = PairOptions(
                repo_dir=testing.repository(task, None),
                patches=dict(zip(found.numbers, found.patches(), strict=True)),
                agents=dict(zip(found.numbers, found.agents(), strict=True)),
                suite_of=testing.suite_of,
                model=found.model,
                setting=found.setting.value,
            )
            if self.are_teams:
                return task.team(*numbers, **given)
            first, second = numbers
            return task.pair(first, second, **given)
        except (CooperBenchEvalError, OSError, ValueError) as exc:
            failure = failure_of(exc)
        identity = PairId(
            repo_name=found.repo_name,
            task_id=found.task_id,
            features=numbers,
            model=found.model,
            setting=found.setting.value,
        )
        kind = TeamReport if self.are_teams else MergeReport
        return report_failure(testing.evaluator.strategies, failure, identity, kind)

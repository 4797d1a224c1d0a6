"""All pairs of an agents' run, or all its teams."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from itertools import chain, groupby
from typing import Literal, Unpack, overload

from attrs import frozen

from cooperbench_eval.batch.many import evaluate_many
from cooperbench_eval.batch.payloads import failure_of
from cooperbench_eval.benchmark import PairBuilder, landing_order
from cooperbench_eval.dataset import Dataset, Task
from cooperbench_eval.errors import CooperBenchEvalError, DatasetError
from cooperbench_eval.evaluator import Evaluator, report_failure
from cooperbench_eval.models import PairId, PairKey
from cooperbench_eval.pairs import FeaturePair, FeatureTeam
from cooperbench_eval.reporting import Failure, MergeReport
from cooperbench_eval.reporting.teams import TeamReport
from cooperbench_eval.runlogs import RunTeam, Setting, discover_run
from cooperbench_eval.running import TestSuite
from cooperbench_eval.snapshot import Snapshot
from cooperbench_eval.sweeps.batches import BatchOptions, Counted, Folder, with_tests

__all__ = ["evaluate_run"]


class _RunOptions(BatchOptions, total=False):
    """The optional arguments of `evaluate_run` except `teams`, for its overloads."""

    repo_dirs: Folder | Mapping[str, Folder] | None
    setting: str | None
    repo_name: str | None
    task_id: int | None
    subset: str | None
    evaluator: Evaluator | None
    suite_of: Callable[[Task, int], TestSuite]
    in_image: bool


@overload
def evaluate_run(
    logs_dir: Folder,
    run_name: str,
    *,
    dataset_dir: Folder,
    teams: Literal[False] = False,
    **options: Unpack[_RunOptions],
) -> Iterator[MergeReport]: ...
@overload
def evaluate_run(
    logs_dir: Folder,
    run_name: str,
    *,
    dataset_dir: Folder,
    teams: Literal[True],
    **options: Unpack[_RunOptions],
) -> Iterator[TeamReport]: ...
@overload
def evaluate_run(
    logs_dir: Folder,
    run_name: str,
    *,
    dataset_dir: Folder,
    teams: bool,
    **options: Unpack[_RunOptions],
) -> Iterator[MergeReport | TeamReport]: ...
def evaluate_run(
    logs_dir: Folder,
    run_name: str,
    *,
    dataset_dir: Folder,
    repo_dirs: Folder | Mapping[str, Folder] | None = None,
    setting: str | None = None,
    repo_name: str | None = None,
    task_id: int | None = None,
    subset: str | None = None,
    evaluator: Evaluator | None = None,
    suite_of: Callable[[Task, int], TestSuite] = Task.suite,
    in_image: bool = False,
    teams: bool = False,
    **options: Unpack[BatchOptions],
) -> Iterator[MergeReport | TeamReport]:
    """Evaluate every pair of an agents' run, or every team.

    If three or more agents worked on a task, every two of them are a pair. If an agent
    handed in nothing, its pairs are `missing_input`. If the task or repository of a pair
    is missing, its report has a `failure` and is not stored.

    With *teams*, the agents of each folder are one team instead, and a pair is a team of
    two. The last feature in the folder's name starts, and the others are merged into it
    from the last to the first. So of any two features, the first is merged into the second,
    as in their pair. A feature without a patch is left out; the others may still land.

    Args:
        logs_dir: The folder of run logs.
        run_name: The run.
        dataset_dir: The dataset.
        repo_dirs: A clone of the repository, or a mapping from the name of each
            repository's folder in the dataset to its clone. Not needed with *in_image*.
        setting: Take only the pairs of this setting.
        repo_name: Take only the pairs of this repository.
        task_id: Take only the pairs of this task; 0 is a valid number.
        subset: Take only the pairs of the dataset's subset of this name, in either order
            of their features.
        evaluator: As in `gold_matrix`.
        suite_of: As in `gold_matrix`.
        in_image: As in `gold_matrix`; each task is then a batch of its own.
        teams: Whether all agents of a folder are one team, which gives a `TeamReport`.
            A subset lists only pairs, so it selects only teams of two.
        options: Passed on to `evaluate_many`: *executor*, *store*, *progress*, *on_error*.

    Raises:
        DatasetError: The run, setting or subset does not exist, or no pair or team matches
            the arguments.
        BatchError: See `evaluate_many`, which raises other errors as well.
    """
    dataset = Dataset(dataset_dir)
    wanted = {
        "setting": setting if setting is None else Setting.of(setting),
        "repo_name": repo_name,
        "task_id": task_id,
    }
    listed = None if subset is None else frozenset(_listed(dataset, subset))
    found = [
        team
        for team in discover_run(logs_dir, run_name, teams=teams)
        if all(value in {None, getattr(team, name)} for name, value in wanted.items())
        and (listed is None or (team.repo_name, team.task_id, frozenset(team.numbers)) in listed)
    ]
    if not found:
        sought = "team" if teams else "pair"
        raise DatasetError(f"has no {sought} that matches the arguments", run_name)
    builder = PairBuilder(evaluator=evaluator or with_tests(), suite_of=suite_of)
    run = _Run(dataset, repo_dirs, are_teams=teams)
    if not in_image:
        return run.evaluate(found, builder, options)
    by_task = groupby(found, lambda team: (team.repo_name, team.task_id))
    batches = (run.in_image(list(of_task), builder, options) for _, of_task in by_task)
    return chain.from_iterable(batches)


def _listed(dataset: Dataset, subset: str) -> Iterator[PairKey]:
    for task, numbers in dataset.subset(subset):
        yield task.repo_name, task.task_id, frozenset(numbers)


@frozen
class _Run:
    """Builds the pairs or teams of a run; one that cannot be built becomes a failure's report."""

    dataset: Dataset
    repo_dirs: Folder | Mapping[str, Folder] | None
    are_teams: bool

    def in_image(
        self, found: Sequence[RunTeam], builder: PairBuilder, options: BatchOptions
    ) -> Iterator[MergeReport | TeamReport]:
        """Evaluate pairs or teams of one task in its image."""
        with suppress(DatasetError):  # each report says that the task is missing
            builder = builder.in_image_of(self.dataset.task(found[0].repo_name, found[0].task_id))
        return self.evaluate(found, builder, options)

    def evaluate(
        self, found: Sequence[RunTeam], builder: PairBuilder, options: BatchOptions
    ) -> Iterator[MergeReport | TeamReport]:
        """Evaluate pairs or teams, each of which is built when it is needed."""
        # Those of a task follow each other, and share its base.
        base_of = lru_cache(maxsize=1)(partial(self._base, builder))
        built = (self._built(each, builder, base_of) for each in found)
        counted = Counted(built, len(found))
        return evaluate_many(counted, evaluator=builder.evaluator, **options)

    def _built(
        self, found: RunTeam, builder: PairBuilder, base_of: Callable[[Task], Snapshot]
    ) -> FeaturePair | FeatureTeam | MergeReport | TeamReport:
        make = builder.team if self.are_teams else builder.pair
        try:
            task = self.dataset.task(found.repo_name, found.task_id)
            features = list(map(partial(builder.feature, task), found.numbers, found.patches()))
            base = base_of(task)
            return make(task, base, features, model=found.model, setting=found.setting.value)
        except (CooperBenchEvalError, OSError, ValueError) as exc:
            return self._failed(found, builder.evaluator, failure_of(exc))

    def _failed(
        self, found: RunTeam, evaluator: Evaluator, failure: Failure
    ) -> MergeReport | TeamReport:
        # As in the report of the pair or team that would have been built.
        numbers = landing_order(found.numbers) if self.are_teams else found.numbers
        identity = PairId(
            repo_name=found.repo_name,
            task_id=found.task_id,
            features=numbers,
            model=found.model,
            setting=found.setting.value,
        )
        kind = TeamReport if self.are_teams else MergeReport
        return report_failure(evaluator.strategies, failure, identity, kind)

    def _base(self, builder: PairBuilder, task: Task) -> Snapshot:
        given = self.repo_dirs
        if isinstance(given, Mapping):
            given = given.get(task.repo_name)
        return builder.base(task, given)

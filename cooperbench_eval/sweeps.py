"""Batches of the benchmark: all pairs of a task's own solutions, and all pairs of a run."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from functools import lru_cache, partial
from itertools import chain, groupby
from typing import Literal, TypedDict, Unpack

from attrs import frozen

from cooperbench_eval.batch.many import evaluate_many
from cooperbench_eval.batch.payloads import failure_of
from cooperbench_eval.batch.progress import Progress
from cooperbench_eval.batch.store import ReportStore
from cooperbench_eval.benchmark import PairBuilder
from cooperbench_eval.dataset import Dataset, Task
from cooperbench_eval.errors import CooperBenchEvalError, DatasetError
from cooperbench_eval.evaluator import Evaluator, report_failure
from cooperbench_eval.models import PairId, PairKey
from cooperbench_eval.pairs import FeaturePair
from cooperbench_eval.reporting import MergeReport
from cooperbench_eval.runlogs import RunTeam, Setting, discover_run
from cooperbench_eval.running import TestRunner, TestSuite
from cooperbench_eval.snapshot import Snapshot

__all__ = ["BatchOptions", "evaluate_run", "gold_matrix"]

_Folder = str | os.PathLike[str]


class BatchOptions(TypedDict, total=False):
    """Options that are passed on to `evaluate_many`."""

    executor: Executor | None
    store: ReportStore | _Folder | None
    progress: Progress | bool | None
    on_error: Literal["record", "raise"]


def gold_matrix(
    task: Task,
    *,
    repo_dir: _Folder | None = None,
    evaluator: Evaluator | None = None,
    suite_of: Callable[[Task, int], TestSuite] = Task.suite,
    in_image: bool = False,
    **options: Unpack[BatchOptions],
) -> Iterator[MergeReport]:
    """Evaluate every pair of a task's features with the dataset's own solutions.

    Each solution was written for its feature only, so two of them may conflict. Pass the
    reports to `summarize` as `gold=` to compare agents with them.

    Args:
        task: The task.
        repo_dir: A clone of its repository. Not needed with *in_image*.
        evaluator: Evaluates the pairs; by default with tests, run by a `TestRunner` with
            default options.
        suite_of: Returns a feature's tests; called only if the evaluator has a runner.
        in_image: Whether the tests run in the task's own image, as in `evaluate`;
            *suite_of* and the runner's sandbox are then ignored.
        options: Passed on to `evaluate_many`: *executor*, *store*, *progress*, *on_error*.

    Raises:
        DatasetError: The task lacks something.
        PatchError: One of its patches cannot be read.
        RepositoryError: *repo_dir* is not a repository that has the base commit.
        BatchError: See `evaluate_many`, which raises other errors as well.
    """
    builder = PairBuilder(evaluator=evaluator or _with_tests(), suite_of=suite_of)
    if in_image:
        builder = builder.in_image_of(task)
    base = builder.base(task, repo_dir)
    features = {n: builder.feature(task, n, task.gold_patch(n)) for n in task.features}
    pairs = [
        FeaturePair(
            repo_name=task.repo_name,
            task_id=task.task_id,
            base=base,
            feature1=features[first],
            feature2=features[second],
        )
        for first, second in task.pairs
    ]
    return evaluate_many(pairs, evaluator=builder.evaluator, **options)


def evaluate_run(
    logs_dir: _Folder,
    run_name: str,
    *,
    dataset_dir: _Folder,
    repo_dirs: _Folder | Mapping[str, _Folder] | None = None,
    setting: str | None = None,
    repo_name: str | None = None,
    task_id: int | None = None,
    subset: str | None = None,
    evaluator: Evaluator | None = None,
    suite_of: Callable[[Task, int], TestSuite] = Task.suite,
    in_image: bool = False,
    **options: Unpack[BatchOptions],
) -> Iterator[MergeReport]:
    """Evaluate every pair of an agents' run.

    If three or more agents worked on a task, every two of them are a pair. If an agent
    handed in nothing, its pairs are `missing_input`. If the task or repository of a pair
    is missing, its report has a `failure` and is not stored.

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
        options: Passed on to `evaluate_many`: *executor*, *store*, *progress*, *on_error*.

    Raises:
        DatasetError: The run, setting or subset does not exist, or no pair matches the
            arguments.
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
        pair
        for pair in discover_run(logs_dir, run_name)
        if all(value in {None, getattr(pair, name)} for name, value in wanted.items())
        and (listed is None or _id(pair).key in listed)
    ]
    if not found:
        raise DatasetError("has no pair that matches the arguments", run_name)
    builder = PairBuilder(evaluator=evaluator or _with_tests(), suite_of=suite_of)
    run = _Run(dataset, repo_dirs)
    if not in_image:
        return evaluate_many(run.pairs(found, builder), evaluator=builder.evaluator, **options)
    by_task = groupby(found, lambda pair: (pair.repo_name, pair.task_id))
    batches = (run.in_image(list(pairs), builder, options) for _, pairs in by_task)
    return chain.from_iterable(batches)


def _with_tests() -> Evaluator:
    return Evaluator(runner=TestRunner())


def _id(found: RunTeam) -> PairId:
    first, second = found.numbers
    return PairId(
        repo_name=found.repo_name,
        task_id=found.task_id,
        features=(first, second),
        model=found.model,
        setting=found.setting.value,
    )


def _listed(dataset: Dataset, subset: str) -> Iterator[PairKey]:
    for task, numbers in dataset.subset(subset):
        yield task.repo_name, task.task_id, frozenset(numbers)


@frozen
class _Run:
    """Builds the pairs of a run; a pair that cannot be built becomes a report of the failure."""

    dataset: Dataset
    repo_dirs: _Folder | Mapping[str, _Folder] | None

    def in_image(
        self, found: Sequence[RunTeam], builder: PairBuilder, options: BatchOptions
    ) -> Iterator[MergeReport]:
        """Evaluate pairs of one task in its image."""
        with suppress(DatasetError):  # each pair's report says that the task is missing
            builder = builder.in_image_of(self.dataset.task(found[0].repo_name, found[0].task_id))
        return evaluate_many(self.pairs(found, builder), evaluator=builder.evaluator, **options)

    def pairs(self, found: Sequence[RunTeam], builder: PairBuilder) -> "_Counted":
        """Return an iterable that builds each pair when it is needed."""
        # The pairs of a task follow each other, and share its base.
        base_of = lru_cache(maxsize=1)(partial(self._base, builder))
        return _Counted((self._pair(each, builder, base_of) for each in found), len(found))

    def _pair(
        self, found: RunTeam, builder: PairBuilder, base_of: Callable[[Task], Snapshot]
    ) -> FeaturePair | MergeReport:
        try:
            task = self.dataset.task(found.repo_name, found.task_id)
            feature1, feature2 = (
                builder.feature(task, number, patch)
                for number, patch in zip(found.numbers, found.patches(), strict=True)
            )
            return FeaturePair(
                repo_name=found.repo_name,
                task_id=found.task_id,
                base=base_of(task),
                feature1=feature1,
                feature2=feature2,
                model=found.model,
                setting=found.setting.value,
            )
        except (CooperBenchEvalError, OSError, ValueError) as exc:
            return report_failure(builder.evaluator.strategies, failure_of(exc), _id(found))

    def _base(self, builder: PairBuilder, task: Task) -> Snapshot:
        given = self.repo_dirs
        if isinstance(given, Mapping):
            given = given.get(task.repo_name)
        return builder.base(task, given)


@frozen
class _Counted:
    """An iterator that knows its length, for a progress bar."""

    pairs: Iterator[FeaturePair | MergeReport]
    count: int

    def __iter__(self) -> Iterator[FeaturePair | MergeReport]:
        return self.pairs

    def __len__(self) -> int:
        return self.count

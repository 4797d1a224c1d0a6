"""All pairs of an agents' run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from itertools import chain, groupby
from typing import Unpack

from attrs import frozen

from cooperbench_eval.batch.many import evaluate_many
from cooperbench_eval.batch.payloads import failure_of
from cooperbench_eval.benchmark import PairBuilder
from cooperbench_eval.dataset import Dataset, Task
from cooperbench_eval.errors import CooperBenchEvalError, DatasetError
from cooperbench_eval.evaluator import Evaluator, report_failure
from cooperbench_eval.models import PairId, PairKey
from cooperbench_eval.pairs import FeaturePair
from cooperbench_eval.reporting import MergeReport
from cooperbench_eval.runlogs import RunTeam, Setting, discover_run
from cooperbench_eval.running import TestSuite
from cooperbench_eval.snapshot import Snapshot
from cooperbench_eval.sweeps.batches import BatchOptions, Counted, Folder, with_tests

__all__ = ["evaluate_run"]


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
    builder = PairBuilder(evaluator=evaluator or with_tests(), suite_of=suite_of)
    run = _Run(dataset, repo_dirs)
    if not in_image:
        return evaluate_many(run.pairs(found, builder), evaluator=builder.evaluator, **options)
    by_task = groupby(found, lambda pair: (pair.repo_name, pair.task_id))
    batches = (run.in_image(list(pairs), builder, options) for _, pairs in by_task)
    return chain.from_iterable(batches)


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
    repo_dirs: Folder | Mapping[str, Folder] | None

    def in_image(
        self, found: Sequence[RunTeam], builder: PairBuilder, options: BatchOptions
    ) -> Iterator[MergeReport]:
        """Evaluate pairs of one task in its image."""
        with suppress(DatasetError):  # each pair's report says that the task is missing
            builder = builder.in_image_of(self.dataset.task(found[0].repo_name, found[0].task_id))
        return evaluate_many(self.pairs(found, builder), evaluator=builder.evaluator, **options)

    def pairs(
        self, found: Sequence[RunTeam], builder: PairBuilder
    ) -> Counted[FeaturePair | MergeReport]:
        """Return an iterable that builds each pair when it is needed."""
        # The pairs of a task follow each other, and share its base.
        base_of = lru_cache(maxsize=1)(partial(self._base, builder))
        return Counted((self._pair(each, builder, base_of) for each in found), len(found))

    def _pair(
        self, found: RunTeam, builder: PairBuilder, base_of: Callable[[Task], Snapshot]
    ) -> FeaturePair | MergeReport:
        try:
            task = self.dataset.task(found.repo_name, found.task_id)
            features = list(map(partial(builder.feature, task), found.numbers, found.patches()))
            base = base_of(task)
            setting = found.setting.value
            return builder.pair(task, base, features, model=found.model, setting=setting)
        except (CooperBenchEvalError, OSError, ValueError) as exc:
            return report_failure(builder.evaluator.strategies, failure_of(exc), _id(found))

    def _base(self, builder: PairBuilder, task: Task) -> Snapshot:
        given = self.repo_dirs
        if isinstance(given, Mapping):
            given = given.get(task.repo_name)
        return builder.base(task, given)

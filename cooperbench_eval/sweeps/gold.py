"""All pairs of a task's own solutions, and all teams of one size."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import comb
from typing import Self, Unpack

from attrs import frozen

from cooperbench_eval.batch.many import evaluate_many
from cooperbench_eval.benchmark import PairBuilder
from cooperbench_eval.dataset import Task
from cooperbench_eval.evaluator import Evaluator
from cooperbench_eval.pairs import Feature
from cooperbench_eval.reporting import MergeReport
from cooperbench_eval.reporting.teams import TeamReport
from cooperbench_eval.running import TestSuite
from cooperbench_eval.snapshot import Snapshot
from cooperbench_eval.sweeps.batches import BatchOptions, Counted, Folder, with_tests

__all__ = ["gold_matrix", "gold_teams"]


def gold_matrix(
    task: Task,
    *,
    repo_dir: Folder | None = None,
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
    gold = _Gold.of(task, repo_dir, evaluator, suite_of, in_image=in_image)
    pairs = [gold.builder.pair(task, gold.base, gold.solutions(each)) for each in task.pairs]
    return evaluate_many(pairs, evaluator=gold.builder.evaluator, **options)


def gold_teams(
    task: Task,
    *,
    size: int,
    repo_dir: Folder | None = None,
    evaluator: Evaluator | None = None,
    suite_of: Callable[[Task, int], TestSuite] = Task.suite,
    in_image: bool = False,
    **options: Unpack[BatchOptions],
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
        options: Passed on to `evaluate_many`: *executor*, *store*, *progress*, *on_error*.

    Raises:
        DatasetError: The task has no teams of this size, or lacks something.
        PatchError: One of its patches cannot be read.
        RepositoryError: *repo_dir* is not a repository that has the base commit.
        BatchError: See `evaluate_many`, which raises other errors as well.
    """
    numbers = task.teams(size)
    gold = _Gold.of(task, repo_dir, evaluator, suite_of, in_image=in_image)
    teams = (gold.builder.team(task, gold.base, gold.solutions(each)) for each in numbers)
    counted = Counted(teams, comb(len(task.features), size))
    return evaluate_many(counted, evaluator=gold.builder.evaluator, **options)


@frozen
class _Gold:
    """A task's own solutions, and how they are tested."""

    builder: PairBuilder
    base: Snapshot
    features: Mapping[int, Feature]

    @classmethod
    def of(
        cls,
        task: Task,
        repo_dir: Folder | None,
        evaluator: Evaluator | None,
        suite_of: Callable[[Task, int], TestSuite],
        *,
        in_image: bool,
    ) -> Self:
        """Read the solutions of *task*."""
        builder = PairBuilder(evaluator=evaluator or with_tests(), suite_of=suite_of)
        if in_image:
            builder = builder.in_image_of(task)
        base = builder.base(task, repo_dir)
        features = {n: builder.feature(task, n, task.gold_patch(n)) for n in task.features}
        return cls(builder, base, features)

    def solutions(self, numbers: Iterable[int]) -> Iterator[Feature]:
        """Return the features with these numbers."""
        return map(self.features.__getitem__, numbers)

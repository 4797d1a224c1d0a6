"""All pairs of a task's own solutions."""

from collections.abc import Callable, Iterator
from typing import Unpack

from cooperbench_eval.batch.many import evaluate_many
from cooperbench_eval.benchmark import PairBuilder
from cooperbench_eval.dataset import Task
from cooperbench_eval.evaluator import Evaluator
from cooperbench_eval.reporting import MergeReport
from cooperbench_eval.running import TestSuite
from cooperbench_eval.sweeps.batches import BatchOptions, Folder, with_tests

__all__ = ["gold_matrix"]


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
    builder = PairBuilder(evaluator=evaluator or with_tests(), suite_of=suite_of)
    if in_image:
        builder = builder.in_image_of(task)
    base = builder.base(task, repo_dir)
    features = {n: builder.feature(task, n, task.gold_patch(n)) for n in task.features}
    pairs = [builder.pair(task, base, map(features.__getitem__, numbers)) for numbers in task.pairs]
    return evaluate_many(pairs, evaluator=builder.evaluator, **options)

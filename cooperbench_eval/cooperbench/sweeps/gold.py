"""All pairs of a task's own solutions, and all teams of one size."""

from collections.abc import Iterable, Iterator
from typing import Unpack

from cooperbench_eval.cooperbench.clones import Folder
from cooperbench_eval.cooperbench.evaluate import Testing
from cooperbench_eval.cooperbench.sweeps.batches import SweepOptions, split, with_tests
from cooperbench_eval.cooperbench.tasks import SuiteOf, SuiteOptions, Task
from cooperbench_eval.evaluation.batch.many import evaluate_many
from cooperbench_eval.evaluation.evaluator import Evaluator
from cooperbench_eval.reporting import MergeReport
from cooperbench_eval.reporting.teams import TeamReport
from cooperbench_eval.support.arguments import able_to, checked

__all__ = ["gold_matrix", "gold_teams"]


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
    testing = _testing(task, evaluator, suite_of, suite, readable=readable, in_image=in_image)
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
    testing = _testing(task, evaluator, suite_of, suite, readable=readable, in_image=in_image)
    clone = testing.repository(task, repo_dir)
    teams = task.all_teams(size, repo_dir=clone, suite_of=testing.suite_of)
    return evaluate_many(teams, evaluator=testing.evaluator, **batch)


def _testing(
    task: Task,
    evaluator: Evaluator | None,
    suite_of: SuiteOf,
    options: SuiteOptions,
    *,
    readable: Iterable[Folder],
    in_image: bool,
) -> Testing:
    evaluator = evaluator or with_tests()
    testing = Testing.of(evaluator, suite_of, options, readable=readable, in_image=in_image)
    if not in_image:
        return testing
    return testing.in_image_of(task, timeout_seconds=options.get("timeout_seconds"))

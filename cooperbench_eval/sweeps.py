"""Whole sweeps: every pair of a task's own solutions, every pair of an agents' run."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from functools import lru_cache, partial
from itertools import chain, groupby
from typing import Literal, TypedDict, Unpack

from attrs import evolve, frozen

from cooperbench_eval.batch.jobs import failure_of
from cooperbench_eval.batch.many import evaluate_many
from cooperbench_eval.batch.progress import Progress
from cooperbench_eval.batch.store import ReportStore
from cooperbench_eval.benchmark import repository_of, sandbox_of_image
from cooperbench_eval.dataset import Dataset, Task
from cooperbench_eval.errors import CooperBenchEvalError, DatasetError
from cooperbench_eval.evaluator import Evaluator, Feature, FeaturePair, report_failure
from cooperbench_eval.patching import Patch
from cooperbench_eval.reporting import MergeReport
from cooperbench_eval.runlogs import RunPair, Setting, discover_run
from cooperbench_eval.running import TestRunner, TestSuite
from cooperbench_eval.snapshot import Snapshot

__all__ = ["BatchOptions", "evaluate_run", "gold_matrix"]

_Folder = str | os.PathLike[str]


class BatchOptions(TypedDict, total=False):
    """Options that go on to `evaluate_many`."""

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
    """Evaluate every pair of a task's features by the dataset's own solutions.

    They were written alone, and may conflict. With `gold=`, `summarize` puts what they
    reach beside what a team does.

    Args:
        task: The task.
        repo_dir: A clone of its repository. Not needed with *in_image*.
        evaluator: How to evaluate; with tests, by a `TestRunner` as it comes, if absent.
        suite_of: Makes a feature's tests, where the evaluator has a runner.
        in_image: Whether the tests run in the task's own image, as `evaluate` has it;
            *suite_of* and the runner's sandbox then say nothing.
        options: Go on to `evaluate_many`: *executor*, *store*, *progress*, *on_error*.

    Raises:
        DatasetError: The task lacks something.
        PatchError: One of its patches cannot be read.
        RepositoryError: *repo_dir* is no repository with the base commit.
        BatchError: See `evaluate_many`; so are its other errors.
    """
    setup = _Setup(evaluator=evaluator or _with_tests(), suite_of=suite_of, in_image=in_image)
    setup = setup.within(task)
    base = setup.base(task, repo_dir)
    features = {n: setup.feature(task, n, task.gold_patch(n)) for n in task.features}
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
    return evaluate_many(pairs, evaluator=setup.evaluator, **options)


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

    Of three and more agents on a task every two are a pair. Where an agent handed in
    nothing, the pair is `missing_input`. A pair whose task or repository cannot be had
    gives a report with a `failure`; what could not even be made is not stored.

    Args:
        logs_dir: The folder of run logs.
        run_name: The run.
        dataset_dir: The dataset.
        repo_dirs: A clone of the repository, or one for each repository by its folder's
            name in the dataset. Not needed with *in_image*.
        setting: Take the pairs of this setting only.
        repo_name: Take those of this repository only.
        task_id: Take those of this task only; 0 is a task like any other.
        subset: Take those of the dataset's subset of this name only, in whichever order
            their features stand.
        evaluator: As in `gold_matrix`.
        suite_of: As in `gold_matrix`.
        in_image: As in `gold_matrix`; each task is then a batch of its own.
        options: Go on to `evaluate_many`: *executor*, *store*, *progress*, *on_error*.

    Raises:
        DatasetError: There is no such run, setting or subset, or no such pair in it.
        BatchError: See `evaluate_many`; so are its other errors.
    """
    dataset = Dataset(dataset_dir)
    chosen = _Choice.of(dataset, setting, repo_name, task_id, subset)
    found = [each for each in discover_run(logs_dir, run_name) if chosen.takes(each)]
    if not found:
        raise DatasetError("holds no such pair", run_name)
    setup = _Setup(evaluator=evaluator or _with_tests(), suite_of=suite_of, in_image=in_image)
    run = _Run(dataset, setup, repo_dirs)
    if not in_image:
        return run.reports(found, options)
    by_task = groupby(found, lambda each: (each.repo_name, each.task_id))
    return chain.from_iterable(run.reports(list(pairs), options) for _, pairs in by_task)


def _with_tests() -> Evaluator:
    return Evaluator(runner=TestRunner())


@frozen(kw_only=True)
class _Choice:
    """Which pairs of a run are wanted."""

    setting: Setting | None
    repo_name: str | None
    task_id: int | None
    subset: frozenset[tuple[str, int, frozenset[int]]] | None

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        setting: str | None,
        repo_name: str | None,
        task_id: int | None,
        subset: str | None,
    ) -> "_Choice":
        return cls(
            setting=None if setting is None else Setting.of(setting),
            repo_name=repo_name,
            task_id=task_id,
            subset=None
            if subset is None
            else frozenset(
                (task.repo_name, task.task_id, frozenset(pair))
                for task, pair in dataset.subset(subset)
            ),
        )

    def takes(self, pair: RunPair) -> bool:
        place = (pair.repo_name, pair.task_id, frozenset(pair.numbers))
        return (
            self.setting in {None, pair.setting}
            and self.repo_name in {None, pair.repo_name}
            and self.task_id in {None, pair.task_id}
            and (self.subset is None or place in self.subset)
        )


@frozen(kw_only=True)
class _Setup:
    """How the pairs of a sweep are made."""

    evaluator: Evaluator
    suite_of: Callable[[Task, int], TestSuite]
    in_image: bool

    def within(self, task: Task) -> "_Setup":
        """Return the setup for one task: with its image, where tests run in it."""
        runner = self.evaluator.runner
        if not self.in_image or runner is None:
            return self
        sandbox = sandbox_of_image(task, None)
        return evolve(
            self,
            suite_of=Task.image_suite,
            evaluator=evolve(self.evaluator, runner=evolve(runner, sandbox=sandbox)),
        )

    def base(self, task: Task, repo_dir: _Folder | None) -> Snapshot:
        runner = self.evaluator.runner
        path = repository_of(repo_dir, runner.sandbox if runner and self.in_image else None)
        return Snapshot.from_repo(path, task.base_commit())

    def feature(self, task: Task, number: int, patch: Patch) -> Feature:
        task.require(number)
        return Feature(
            number=number,
            patch=patch,
            tests=self.suite_of(task, number) if self.evaluator.runner else None,
            description=task.description(number),
        )


class _Run:
    """The pairs of a run, made one by one; one that cannot be made is a report of that."""

    def __init__(
        self, dataset: Dataset, setup: _Setup, repo_dirs: _Folder | Mapping[str, _Folder] | None
    ) -> None:
        self._dataset = dataset
        self._setup = setup
        self._repo_dirs = repo_dirs

    def reports(self, found: Sequence[RunPair], options: BatchOptions) -> Iterator[MergeReport]:
        """Evaluate the pairs, of one task where its image is needed."""
        setup = self._setup
        if setup.in_image:
            with suppress(DatasetError):  # each pair will say it
                setup = setup.within(self._dataset.task(found[0].repo_name, found[0].task_id))
        base_of = lru_cache(maxsize=1)(partial(self._base, setup))
        pairs = _Counted((self._pair(each, setup, base_of) for each in found), len(found))
        return evaluate_many(pairs, evaluator=setup.evaluator, **options)

    def _pair(
        self, found: RunPair, setup: _Setup, base_of: Callable[[Task], Snapshot]
    ) -> FeaturePair | MergeReport:
        try:
            task = self._dataset.task(found.repo_name, found.task_id)
            feature1, feature2 = (
                setup.feature(task, number, patch)
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
            return report_failure(
                setup.evaluator.strategies,
                failure_of(exc),
                repo_name=found.repo_name,
                task_id=found.task_id,
                numbers=found.numbers,
                model=found.model,
                setting=found.setting.value,
            )

    def _base(self, setup: _Setup, task: Task) -> Snapshot:
        given = self._repo_dirs
        if isinstance(given, Mapping):
            given = given.get(task.repo_name)
        return setup.base(task, given)


@frozen
class _Counted:
    """An iterator that knows how much is to come, for a bar."""

    pairs: Iterator[FeaturePair | MergeReport]
    count: int

    def __iter__(self) -> Iterator[FeaturePair | MergeReport]:
        return self.pairs

    def __len__(self) -> int:
        return self.count

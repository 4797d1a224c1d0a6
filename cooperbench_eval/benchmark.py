"""The benchmark's planned command as a function, and how pairs of the dataset are built."""

import os
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, Protocol, Self, TypeVar, overload

from attrs import evolve, frozen

from cooperbench_eval.dataset import Dataset, Task
from cooperbench_eval.errors import DatasetError
from cooperbench_eval.evaluator import Evaluator
from cooperbench_eval.models import JudgeRule
from cooperbench_eval.pairs import Feature, FeaturePair, FeatureTeam
from cooperbench_eval.patching.patch import Patch
from cooperbench_eval.reporting import MergeReport
from cooperbench_eval.runlogs import PatchLocation, Setting, find_patches
from cooperbench_eval.running import Sandbox, TestRunner, TestSuite
from cooperbench_eval.running.sandboxes.containers import ContainerSandbox, repository_from_image
from cooperbench_eval.snapshot import Snapshot
from cooperbench_eval.strategies.protocol import MergeStrategy

__all__ = ["PairBuilder", "aevaluate", "evaluate", "landing_order"]

_Item = TypeVar("_Item")
_Parameters = ParamSpec("_Parameters")
_ReportCoroutine = Coroutine[Any, Any, MergeReport]


@frozen(kw_only=True)
class PairBuilder:
    """Builds pairs and teams of the dataset's tasks, with base trees, for one evaluator.

    Attributes:
        evaluator: Evaluates the pairs. Features have tests only if it has a runner.
        suite_of: Returns the tests of a task's feature.
        sandbox: Where the tests run. If it is a container, its image can provide the
            repository.
    """

    evaluator: Evaluator
    suite_of: Callable[[Task, int], TestSuite]
    sandbox: Sandbox | None = None

    def in_image_of(self, task: Task) -> Self:
        """Return a builder that runs tests, if any, in the image of *task*."""
        runner = self.evaluator.runner
        if runner is None:
            return self
        sandbox = _image_sandbox(task, None)
        evaluator = evolve(self.evaluator, runner=evolve(runner, sandbox=sandbox))
        return evolve(self, evaluator=evaluator, suite_of=Task.image_suite, sandbox=sandbox)

    def feature(self, task: Task, number: int, patch: Patch) -> Feature:
        """Return a feature of *task*, as *patch* implements it."""
        task.require(number)
        return Feature(
            number=number,
            patch=patch,
            tests=self.suite_of(task, number) if self.evaluator.runner else None,
            description=task.description(number),
        )

    def pair(
        self,
        task: Task,
        base: Snapshot,
        features: Iterable[Feature],
        *,
        model: str | None = None,
        setting: str | None = None,
        k: int = 1,
    ) -> FeaturePair:
        """Return two features of *task* as a pair; the first is merged into the second."""
        feature1, feature2 = features
        return FeaturePair(
            repo_name=task.repo_name,
            task_id=task.task_id,
            base=base,
            feature1=feature1,
            feature2=feature2,
            model=model,
            setting=setting,
            k=k,
        )

    def team(
        self,
        task: Task,
        base: Snapshot,
        features: Iterable[Feature],
        *,
        model: str | None = None,
        setting: str | None = None,
    ) -> FeatureTeam:
        """Return features of *task* as a team, given in the benchmark's order."""
        return FeatureTeam(
            repo_name=task.repo_name,
            task_id=task.task_id,
            base=base,
            features=landing_order(features),
            model=model,
            setting=setting,
        )

    def base(self, task: Task, repo_dir: str | os.PathLike[str] | None) -> Snapshot:
        """Return the base tree of *task*, from a clone or else from the sandbox's image."""
        if repo_dir is None:
            repo_dir = self._repository_of_image()
        return Snapshot.from_repo(repo_dir, task.base_commit())

    def _repository_of_image(self) -> Path:
        sandbox = self.sandbox
        if not isinstance(sandbox, ContainerSandbox):
            raise DatasetError("is needed unless the tests run in the task's image", "repo_dir")
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return repository_from_image(
            sandbox.image,
            cache / "cooperbench_eval" / "bases",
            pull=sandbox.pull,
            base_url=sandbox.base_url,
        )


def landing_order(features: Iterable[_Item]) -> tuple[_Item, ...]:
    """Return features in the order in which they land as a team, given the benchmark's order.

    The benchmark merges the first of two into the second, and a team merges each next
    feature into the result so far. So the order is reversed: the last feature starts, and of
    any two features the earlier one is merged into the later one, as in their pair.
    """
    return tuple(features)[::-1]


def evaluate(  # noqa: PLR0917 - the signature of the benchmark's planned command
    setting: str,
    repo_name: str,
    task_id: int,
    feature1_id: int,
    feature2_id: int,
    model: str,
    patch_location: str = "logs",
    *,
    dataset_dir: str | os.PathLike[str],
    repo_dir: str | os.PathLike[str] | None = None,
    logs_dir: str | os.PathLike[str] | None = None,
    run_name: str | None = None,
    k: int = 1,
    strategies: Iterable[str | MergeStrategy] = ("naive", "union"),
    runner: TestRunner | None = None,
    run_tests: bool = True,
    in_image: bool = False,
    command: Iterable[str] | None = None,
    framework: str = "pytest",
    timeout_seconds: float | None = None,
    env: Mapping[str, str] | None = None,
    judge: JudgeRule | str = JudgeRule.DELTA,
) -> MergeReport:
    """Evaluate one pair of the dataset.

    Args:
        setting: `single`, `solo`, `coop`, `coop_ablation` or `team`. In `solo`
            one patch holds both features, so both sides of the merge are equal.
        repo_name: The dataset's folder for the repository.
        task_id: The task's number.
        feature1_id: The feature that is merged.
        feature2_id: The feature that is merged into.
        model: The model whose patches are evaluated.
        patch_location: Where the patches are: `logs`, `cache`, `hf` (the
            benchmark's public results, with the extra `hf`), or `gold` for the
            dataset's own.
        dataset_dir: The dataset.
        repo_dir: A clone of the task's repository that has its base commit. Not needed
            with *in_image*: the repository is then copied out of the image once, into
            the user's cache folder.
        logs_dir: The folder of `logs` or `cache`; by default `./logs` or
            `~/.cooperbench_cache`.
        run_name: The run, needed if several runs in today's log layout have the pair.
        k: The number of the model's try.
        strategies: The merge strategies to try; their names must differ.
        runner: Runs the tests; by default a `TestRunner` with default options.
        run_tests: Whether to run the tests at all.
        in_image: Whether to run the tests in the task's own image, with the benchmark's
            script (`Task.image_suite`). *command*, *framework* and *env* are then
            ignored. The default sandbox uses the benchmark's image and has a network;
            a *runner* needs a sandbox like that of `ContainerSandbox.for_task`.
        command: The command that runs the tests; by default the one in the task's scripts.
        framework: The framework that writes the result of the tests.
        timeout_seconds: The deadline of one run. By default ten minutes, or half an
            hour in an image, where the script may install packages.
        env: Variables for the command; see `Task.suite`.
        judge: Which cases must pass; see `Evaluator`.

    Raises:
        DatasetError: The dataset or the logs lack something, the setting or the
            location is unknown, or *runner* cannot run the tests in an image.
        PatchError: A patch cannot be read.
        RepositoryError: *repo_dir* is not a repository that has the base commit.
        StrategyError: A strategy cannot be loaded.
        TestRunError: The tests cannot be started, or the image does not exist.
    """
    evaluator = Evaluator(strategies=strategies, judge=JudgeRule(judge))
    known_setting, location = Setting.of(setting), PatchLocation.of(patch_location)
    task = Dataset(dataset_dir).task(repo_name, task_id)
    numbers = (feature1_id, feature2_id)
    task.require(*numbers)
    sandbox = runner.sandbox if runner else None
    if in_image:
        sandbox = _image_sandbox(task, sandbox)
    if location is PatchLocation.GOLD:
        patches = (task.gold_patch(feature1_id), task.gold_patch(feature2_id))
    else:
        patches = find_patches(
            known_setting,
            repo_name,
            task_id,
            numbers,
            model=model,
            location=location,
            logs_dir=logs_dir,
            run_name=run_name,
            k=k,
        )
    if not run_tests:
        runner = None
    elif runner is None:
        runner = TestRunner(sandbox=sandbox) if sandbox else TestRunner()
    builder = PairBuilder(
        evaluator=evolve(evaluator, runner=runner),
        suite_of=_suite_maker(command, framework, timeout_seconds, env, in_image=in_image),
        sandbox=sandbox,
    )
    features = list(map(partial(builder.feature, task), numbers, patches))
    base = builder.base(task, repo_dir)
    pair = builder.pair(task, base, features, model=model, setting=known_setting.value, k=k)
    return builder.evaluator.evaluate(pair)


def _suite_maker(
    command: Iterable[str] | None,
    framework: str,
    timeout_seconds: float | None,
    env: Mapping[str, str] | None,
    *,
    in_image: bool,
) -> Callable[[Task, int], TestSuite]:
    """Return a function that makes a feature's suite; each kind has its own default deadline."""
    make: Callable[..., TestSuite] = Task.image_suite
    if not in_image:
        if not isinstance(command, str | None):
            command = tuple(command)  # both features need it, so it must not be an iterator
        make = partial(Task.suite, command=command, framework=framework, env=env)
    return make if timeout_seconds is None else partial(make, timeout_seconds=timeout_seconds)


class _Awaited(Protocol[_Parameters]):
    """The signature of `aevaluate`: a pair and its evaluator, or what `evaluate` takes."""

    @overload
    def __call__(self, pair: FeaturePair, /, *, evaluator: Evaluator) -> _ReportCoroutine: ...
    @overload
    def __call__(
        self, *args: _Parameters.args, **kwargs: _Parameters.kwargs
    ) -> _ReportCoroutine: ...


def _with_signature_of(
    _: Callable[_Parameters, MergeReport], /
) -> Callable[[Callable[..., _ReportCoroutine]], _Awaited[_Parameters]]:
    """Give a coroutine function the parameters of another function."""

    def decorate(function: Callable[..., _ReportCoroutine]) -> _Awaited[_Parameters]:
        return function

    return decorate


@_with_signature_of(evaluate)
async def aevaluate(*args: Any, **options: Any) -> MergeReport:
    """Evaluate one pair in a process of its own, for asyncio.

    There are two forms. One takes the arguments of `evaluate`, for a pair of the
    dataset. The other takes a `FeaturePair` and its evaluator as *evaluator*, and is the
    same as `Evaluator.aevaluate`, which documents the cost of a call and its
    cancellation.

    Args:
        args: The arguments of `evaluate`, or a pair.
        options: The arguments of `evaluate`, or *evaluator*.

    Raises:
        CooperBenchEvalError: As in `evaluate` and `Evaluator.aevaluate`.
    """
    from cooperbench_eval.processes.awaiting import await_in_process  # noqa: PLC0415 - imports asyncio

    if args and isinstance(args[0], FeaturePair):
        if "evaluator" not in options:
            raise TypeError("aevaluate() needs evaluator=... with a pair")
        return await _aevaluate_pair(*args, **options)
    return await await_in_process(evaluate, *args, **options)


async def _aevaluate_pair(pair: FeaturePair, /, *, evaluator: Evaluator) -> MergeReport:
    return await evaluator.aevaluate(pair)


def _image_sandbox(task: Task, given: Sandbox | None) -> ContainerSandbox:
    """Return *given* if it can run the script of a task's image, or the default for it."""
    if given is None:
        return ContainerSandbox.for_task(task.repo_name, task.task_id, network=True)
    # In another sandbox the script would find no patches, and report a result without them.
    if not isinstance(given, ContainerSandbox) or given.tree_at is None:
        raise DatasetError(
            "needs a sandbox like that of `ContainerSandbox.for_task`, with `in_image`; "
            f"it has {given!r:.200}",
            "runner",
        )
    return given

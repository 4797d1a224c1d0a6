"""The benchmark's planned command as a function, and how pairs of the dataset are tested."""

import os
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, Protocol, Self, overload

from attrs import evolve, frozen

from cooperbench_eval.cooperbench.clones import Folder
from cooperbench_eval.cooperbench.dataset import Dataset, as_dataset
from cooperbench_eval.cooperbench.runlogs import PatchLocation, Setting
from cooperbench_eval.cooperbench.runlogs.pair_files import find_work
from cooperbench_eval.cooperbench.tasks import SuiteOf, SuiteOptions, Task, suites_with
from cooperbench_eval.errors import ArgumentError, DatasetError
from cooperbench_eval.evaluation.evaluator import Evaluator
from cooperbench_eval.evaluation.pairs import FeaturePair
from cooperbench_eval.reporting import MergeReport
from cooperbench_eval.reporting.cooperbench_results import PatchLocationName, SettingName
from cooperbench_eval.running import Sandbox, TestRunner
from cooperbench_eval.running.preparation import Preparation
from cooperbench_eval.running.readers.frameworks import Framework
from cooperbench_eval.running.results import JudgeName, JudgeRule
from cooperbench_eval.running.sandboxes.containers import ContainerSandbox, repository_from_image
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.support.arguments import able_to, checked, rule_of

_Parameters = ParamSpec("_Parameters")
_ReportCoroutine = Coroutine[Any, Any, MergeReport]


@frozen(kw_only=True)
class Testing:
    """How the pairs of a task are tested, and where their base comes from.

    Attributes:
        suite_of: Returns the tests of a task's feature; `None` if the evaluator runs none.
        in_image: Whether they run in the image of their task.
        timeout_seconds: The deadline of one run there.
        image: The sandbox in which they run, if it is the task's image: the image has the
            repository as well.
    """

    evaluator: Evaluator
    suite_of: SuiteOf | None
    in_image: bool = False
    timeout_seconds: float | None = None
    image: ContainerSandbox | None = None

    @classmethod
    def of(
        cls,
        evaluator: Evaluator | None,
        suite_of: SuiteOf | None,
        options: SuiteOptions,
        *,
        readable: Iterable[Folder] = (),
        in_image: bool = False,
    ) -> Self:
        """Return tests as *suite_of* makes them, if the evaluator has a runner, as by default.

        Raises:
            DatasetError: An option does not go with an image, which has its own programs.
            TestRunError: The runner's sandbox cannot show the *readable* paths.
        """
        evaluator = evaluator or Evaluator(runner=TestRunner())
        given = {"readable": readable, **{name: options.get(name) for name in ("python", "setup")}}
        if in_image and (wrong := next((name for name, value in given.items() if value), "")):
            problem = "cannot be combined with in_image=True: the image has its own programs"
            raise DatasetError(problem, wrong)
        made = suites_with(suite_of, options)
        if evaluator.runner is not None:
            runner = Preparation(readable=readable).of_runner(evaluator.runner)
            evaluator = evolve(evaluator, runner=runner)
        return cls(
            evaluator=evaluator,
            suite_of=made if evaluator.runner else None,
            in_image=in_image,
            timeout_seconds=options.get("timeout_seconds"),
        )

    def for_task(self, task: Task, given: Sandbox | None = None) -> Self:
        """Return this for one task; in images, with its own, in *given* or a default sandbox."""
        if not self.in_image:
            return self
        image = _image_sandbox(task, given)
        runner = self.evaluator.runner
        if runner is None:
            return evolve(self, image=image)
        return evolve(
            self,
            evaluator=evolve(self.evaluator, runner=evolve(runner, sandbox=image)),
            suite_of=partial(Task.image_suite, timeout_seconds=self.timeout_seconds),
            image=image,
        )

    def repository(self, task: Task, repo_dir: Folder | None) -> Folder | None:
        """Return the clone that is given or that *task* knows, or else that of the image."""
        place = task.repo_dir if repo_dir is None else repo_dir
        image = self.image
        if place is not None or image is None:
            return place
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = cache / "cooperbench_eval" / "bases"
        return repository_from_image(image.image, folder, pull=image.pull, base_url=image.base_url)


@checked(runner=able_to("run"), setting=rule_of(str), patch_location=rule_of(str))
def evaluate(  # noqa: PLR0917 - the signature of the benchmark's planned command
    setting: SettingName | Setting,
    repo_name: str,
    task_id: int,
    feature1_id: int,
    feature2_id: int,
    model: str,
    patch_location: PatchLocationName | PatchLocation = "logs",
    *,
    dataset_dir: Folder | Dataset,
    repo_dir: Folder | None = None,
    logs_dir: Folder | None = None,
    run_name: str | None = None,
    k: int = 1,
    strategies: str | MergeStrategy | Iterable[str | MergeStrategy] = ("naive", "union"),
    runner: TestRunner | None = None,
    run_tests: bool = True,
    in_image: bool = False,
    command: Iterable[str] | None = None,
    framework: Framework = "pytest",
    timeout_seconds: float | None = None,
    env: Mapping[str, str] | None = None,
    python: Folder | None = None,
    setup: Iterable[str] | Iterable[Iterable[str]] = (),
    readable: Iterable[Folder] = (),
    judge: JudgeName | JudgeRule = JudgeRule.DELTA,
) -> MergeReport:
    """Evaluate one pair of the dataset.

    Args:
        setting: `single`, `solo`, `coop`, `coop_ablation`, `team` or `plan_execute`. In `solo`
            one patch holds both features, so both sides of the merge are equal.
        repo_name: The dataset's folder for the repository.
        task_id: The task's number.
        feature1_id: The feature that is merged.
        feature2_id: The feature that is merged into.
        model: The model whose patches are evaluated.
        patch_location: Where the patches are: `logs`, `cache`, `hf` (the
            benchmark's public results, with the extra `hf`), or `gold` for the
            dataset's own.
        dataset_dir: The dataset's folder, or a `Dataset`.
        repo_dir: A clone of the task's repository that has its base commit, or a folder
            that holds clones. Not needed if the `Dataset` has `repo_dirs`, or with
            *in_image*, which copies the repository out of the image once, into the user's
            cache folder.
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
        python: The interpreter that runs the tests, or the folder of its virtual
            environment; by default the one that runs this library.
        setup: Commands, or one command, that prepare the tree before the tests; see
            `TestSuite`.
        readable: Further paths that the tests may read; see `BubblewrapSandbox`.
        judge: Which cases must pass; see `Evaluator`.

    Raises:
        DatasetError: The dataset or the logs lack something, the setting or the
            location is unknown, or *runner* cannot run the tests in an image.
        PatchError: A patch cannot be read.
        RepositoryError: *repo_dir* is not a repository that has the base commit.
        StrategyError: A strategy cannot be loaded.
        ArgumentError: *python* is not an interpreter.
        TestRunError: The task's image does not exist, or the sandbox cannot show the *readable*
            paths. Tests that cannot be started are a result, not an error.
    """
    evaluator = Evaluator(strategies=strategies, judge=JudgeRule(judge))
    known_setting, location = Setting.of(setting), PatchLocation.of(patch_location)
    task = as_dataset(dataset_dir).task(repo_name, task_id)
    numbers = (feature1_id, feature2_id)
    task.require(*numbers)
    given = runner.sandbox if runner else None
    sandbox = _image_sandbox(task, given) if in_image else None
    if not run_tests:
        runner = None
    elif runner is None:
        runner = TestRunner(sandbox=sandbox) if sandbox else TestRunner()
    suite = SuiteOptions(
        command=command,
        framework=framework,
        timeout_seconds=timeout_seconds,
        env=env,
        python=python,
        setup=setup,
    )
    evaluator = evolve(evaluator, runner=runner)
    testing = Testing.of(evaluator, Task.suite, suite, readable=readable, in_image=in_image)
    testing = testing.for_task(task, sandbox)
    handed_in, agents = None, None
    if location is not PatchLocation.GOLD:
        patches, runs = find_work(
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
        handed_in = dict(zip(numbers, patches, strict=True))
        agents = dict(zip(numbers, runs, strict=True))
    pair = task.pair(
        *numbers,
        repo_dir=testing.repository(task, repo_dir),
        patches=handed_in,
        agents=agents,
        suite_of=testing.suite_of,
        model=model,
        setting=known_setting.value,
        k=k,
    )
    return testing.evaluator.evaluate(pair)


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
    from cooperbench_eval.running.processes.calls import (  # noqa: PLC0415 - imports asyncio
        await_in_process,
    )

    if args and isinstance(args[0], FeaturePair):
        if "evaluator" not in options:
            raise ArgumentError("evaluator", "is needed with a pair: evaluator=Evaluator(...)")
        return await _aevaluate_pair(*args, **options)
    return await await_in_process(evaluate, *args, **options)


@checked
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

"""CooperBench's planned command as a function."""

import os
from collections.abc import Callable, Coroutine, Iterable, Mapping
from pathlib import Path
from typing import Any, ParamSpec, Protocol, overload

from attrs import evolve

from cooperbench_eval.dataset import Dataset, Task
from cooperbench_eval.errors import DatasetError
from cooperbench_eval.evaluator import Evaluator, Feature, FeaturePair
from cooperbench_eval.patching import Patch
from cooperbench_eval.reporting import MergeReport
from cooperbench_eval.runlogs import PatchLocation, Setting, find_patches
from cooperbench_eval.running import Sandbox, TestRunner, TestSuite
from cooperbench_eval.running.sandboxes.containers import ContainerSandbox, repository_from_image
from cooperbench_eval.snapshot import Snapshot
from cooperbench_eval.strategies import MergeStrategy

__all__ = ["aevaluate", "evaluate", "repository_of", "sandbox_of_image"]

_Asked = ParamSpec("_Asked")
_Answer = Coroutine[Any, Any, MergeReport]


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
) -> MergeReport:
    """Evaluate one pair of the dataset.

    Args:
        setting: `single`, `solo`, `coop`, `coop_ablation` or `team`. In `solo`
            both features are in one patch, so both sides of the merge are equal.
        repo_name: The dataset's folder for the repository.
        task_id: The task's number.
        feature1_id: The feature that is merged.
        feature2_id: The feature that is merged into.
        model: The model whose patches are evaluated.
        patch_location: Where the patches are: `logs`, `cache`, `hf` (the
            benchmark's public results, with the extra `hf`), or `gold` for the
            dataset's own.
        dataset_dir: The dataset.
        repo_dir: A clone of the task's repository, with its base commit. Not needed
            with *in_image*: the base is taken out of the image once, and kept in
            the user's cache folder.
        logs_dir: The folder of `logs` or `cache`, if not `./logs` and
            `~/.cooperbench_cache`.
        run_name: The run in today's log layout, where several would do.
        k: Which of the model's tries.
        strategies: The merge strategies to try, no two of one name.
        runner: Runs the tests, if not a `TestRunner` as it comes.
        run_tests: Whether to run them at all.
        in_image: Whether the tests run in the task's own image, as the benchmark's
            script in it runs them (`Task.image_suite`), by default with network and
            under the benchmark's names; *command*, *framework*, *env* then say
            nothing. A *runner* of one's own has a sandbox as
            `ContainerSandbox.for_task` makes it.
        command: What runs the tests; found in the task's scripts if absent.
        framework: What reads their result.
        timeout_seconds: The deadline of one run; if absent, ten minutes, or half an
            hour in an image, which may install packages.
        env: Variables for the command; see `Task.suite`.

    Raises:
        DatasetError: The dataset or the logs lack something, the setting or the
            location is unknown, or *runner* cannot run the tests in an image.
        PatchError: A patch cannot be read.
        RepositoryError: *repo_dir* is no repository with the base commit.
        StrategyError: A strategy is not to be had.
        TestRunError: The tests cannot be started, or there is no such image.
    """
    evaluator = Evaluator(strategies=strategies)
    known_setting, location = Setting.of(setting), PatchLocation.of(patch_location)
    task = Dataset(dataset_dir).task(repo_name, task_id)
    numbers = (feature1_id, feature2_id)
    task.require(*numbers)
    sandbox = runner.sandbox if runner else None
    if in_image:
        sandbox = sandbox_of_image(task, sandbox)
    patches = _patches(
        task,
        numbers,
        known_setting,
        location,
        model=model,
        logs_dir=logs_dir,
        run_name=run_name,
        k=k,
    )
    suites: tuple[TestSuite | None, ...] = (None, None)
    if run_tests:
        runner = runner or (TestRunner(sandbox=sandbox) if sandbox else TestRunner())
        own = {} if in_image else {"command": command, "framework": framework, "env": env}
        suites = _suites(task, numbers, timeout_seconds, own)
    feature1, feature2 = (
        Feature(number=number, patch=patch, tests=suite, description=task.description(number))
        for number, patch, suite in zip(numbers, patches, suites, strict=True)
    )
    pair = FeaturePair(
        repo_name=repo_name,
        task_id=task_id,
        base=Snapshot.from_repo(repository_of(repo_dir, sandbox), task.base_commit()),
        feature1=feature1,
        feature2=feature2,
        model=model,
        setting=known_setting.value,
        k=k,
    )
    return evolve(evaluator, runner=runner if run_tests else None).evaluate(pair)


class _Awaited(Protocol[_Asked]):
    """What `aevaluate` takes: a pair and its evaluator, or all that `evaluate` takes."""

    @overload
    def __call__(self, pair: FeaturePair, /, *, evaluator: Evaluator) -> _Answer: ...
    @overload
    def __call__(self, *args: _Asked.args, **kwargs: _Asked.kwargs) -> _Answer: ...


def _twin_of(
    _: Callable[_Asked, MergeReport], /
) -> Callable[[Callable[..., _Answer]], _Awaited[_Asked]]:
    """Give a function the arguments of another, which are said once."""

    def as_twin(twin: Callable[..., _Answer]) -> _Awaited[_Asked]:
        return twin

    return as_twin


@_twin_of(evaluate)
async def aevaluate(*args: Any, **options: Any) -> MergeReport:
    """Evaluate one pair in a process of its own, for asyncio.

    Takes what `evaluate` takes, a pair of the dataset; or a `FeaturePair`, with the
    evaluator for it as *evaluator*, and is `Evaluator.aevaluate` then. That says what
    a call costs and what becomes of it when its task is cancelled.

    Args:
        args: As those of `evaluate`, or a pair.
        options: As those of `evaluate`, or *evaluator*.

    Raises:
        CooperBenchEvalError: As `evaluate` and `Evaluator.aevaluate` have it.
    """
    from cooperbench_eval.apart.run import run_apart  # noqa: PLC0415 - asyncio is not for all

    if args and isinstance(args[0], FeaturePair):
        if "evaluator" not in options:
            raise TypeError("aevaluate() needs evaluator=... with a pair")
        return await _aevaluate_pair(*args, **options)
    return await run_apart(evaluate, *args, **options)


async def _aevaluate_pair(pair: FeaturePair, /, *, evaluator: Evaluator) -> MergeReport:
    return await evaluator.aevaluate(pair)


def sandbox_of_image(task: Task, given: Sandbox | None) -> ContainerSandbox:
    """Return the sandbox that runs the image's script: *given*, if it is one that can."""
    if given is None:
        return ContainerSandbox.for_task(task.repo_name, task.task_id, network=True)
    # Elsewhere the script would find no patches, and say what it says without them.
    if not isinstance(given, ContainerSandbox) or given.tree_at is None:
        raise DatasetError(
            "needs a sandbox as `ContainerSandbox.for_task` makes it, with `in_image`; "
            f"it has {given!r:.200}",
            "runner",
        )
    return given


def _patches(
    task: Task,
    numbers: tuple[int, int],
    setting: Setting,
    location: PatchLocation,
    **options: Any,
) -> tuple[Patch, ...]:
    """Return the two patches; *options* are those of `find_patches`."""
    if location is PatchLocation.GOLD:
        return tuple(task.gold_patch(number) for number in numbers)
    return find_patches(
        setting, task.repo_name, task.task_id, numbers, location=location, **options
    )


def _suites(
    task: Task, numbers: tuple[int, int], timeout_seconds: float | None, own: Mapping[str, Any]
) -> tuple[TestSuite, ...]:
    """Return both features' suites, the image's where there are no options of *own*."""
    options = dict(own)
    if timeout_seconds is not None:
        options["timeout_seconds"] = timeout_seconds
    # An iterator serves both features.
    if not isinstance(command := options.get("command"), str | None):
        options["command"] = tuple(command)
    make = task.suite if own else task.image_suite
    return tuple(make(number, **options) for number in numbers)


def repository_of(
    repo_dir: str | os.PathLike[str] | None, sandbox: Sandbox | None
) -> str | os.PathLike[str]:
    """Return the clone, or what the image has instead."""
    if repo_dir is not None:
        return repo_dir
    if not isinstance(sandbox, ContainerSandbox):
        raise DatasetError("is needed where no image has the repository", "repo_dir")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return repository_from_image(
        sandbox.image,
        cache / "cooperbench_eval" / "bases",
        pull=sandbox.pull,
        base_url=sandbox.base_url,
    )

"""CooperBench's dataset and run logs, read as they lie on disk.

`Dataset` finds tasks, their features and pairs; `evaluate` is the benchmark's
planned command as a function. Both layouts of run logs are known, the one of
the paper's pipeline and the one of today's runner.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import combinations
from pathlib import Path

from attrs import field, frozen

from cooperbench_eval.errors import DatasetError
from cooperbench_eval.evaluator import Evaluator, Feature, FeaturePair
from cooperbench_eval.patching import Patch
from cooperbench_eval.reporting import MergeReport
from cooperbench_eval.runlogs import PatchLocation, Setting, find_patches
from cooperbench_eval.running import Delivery, Sandbox, TestRunner, TestSuite
from cooperbench_eval.running.sandboxes.containers import ContainerSandbox, repository_from_image
from cooperbench_eval.snapshot import Snapshot
from cooperbench_eval.strategies import MergeStrategy
from cooperbench_eval.taskscripts import checked_out_commit, framework_of, plain_pytest_command

__all__ = ["Dataset", "PatchLocation", "Setting", "Task", "evaluate"]

_SCRIPTS = ("runner.sh", "run_tests.sh")
_IMAGE_COMMAND = ("bash", "/usr/local/bin/runner.sh", "tests.patch", "feature.patch")


@frozen(kw_only=True)
class Task:
    """One task of the dataset: a base commit and its features.

    Attributes:
        repo_name: The folder's name, such as `pallets_click_task`.
        task_id: The task's number; 0 is a task like any other.
        directory: Where the task lies.
        features: The numbers of its features, sorted.
    """

    repo_name: str
    task_id: int
    directory: Path
    features: tuple[int, ...] = field(converter=tuple[int, ...])

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Every two of the task's features, the smaller number first."""
        return tuple(combinations(self.features, 2))

    def require(self, *features: int) -> None:
        """Make sure that the task has *features*, each named once.

        Raises:
            DatasetError: It lacks one, or one is named twice.
        """
        for feature in features:
            if feature not in self.features:
                known = ", ".join(map(str, self.features))
                raise DatasetError(
                    f"has no feature {feature!r}; it has {known}", str(self.directory)
                )
        if len(set(features)) < len(features):
            raise DatasetError("a pair is of two different features", str(features))

    def base_commit(self) -> str:
        """Return the commit that the task's Dockerfile checks out.

        Raises:
            DatasetError: There is no Dockerfile, or it names none.
        """
        file = self.directory / "Dockerfile"
        commit = checked_out_commit(_read_text(file))
        if commit is None:
            raise DatasetError("names no commit to check out", str(file))
        return commit

    def gold_patch(self, feature: int) -> Patch:
        """Return the dataset's own solution of a feature."""
        return Patch.read(self._file(feature, "feature.patch"))

    def tests_patch(self, feature: int) -> Patch:
        """Return the patch that brings a feature's tests."""
        return Patch.read(self._file(feature, "tests.patch"))

    def description(self, feature: int) -> str:
        """Return the issue text its agent works from; empty where there is none."""
        file = self.directory / f"feature{feature}" / "feature.md"
        return _read_text(file) if file.is_file() else ""

    def test_command(self) -> tuple[str, ...]:
        """Find the pytest command in the task's own scripts.

        Taken are plain words only: a line with variables, pipes or choices says
        nothing that could be run as it stands. The scripts' `python` becomes the
        interpreter that runs this library.

        Raises:
            DatasetError: No script holds such a line; give `command`.
        """
        for script in self._scripts():
            if command := plain_pytest_command(script):
                return command
        raise DatasetError(
            "holds no script with a plain pytest command; pass command=(...)", str(self.directory)
        )

    def suite(
        self,
        feature: int,
        *,
        command: Iterable[str] | None = None,
        framework: str = "pytest",
        timeout_seconds: float = 600,
        env: Mapping[str, str] | None = None,
    ) -> TestSuite:
        """Return a feature's tests as a suite.

        Args:
            feature: The feature's number.
            command: What runs the tests; found in the task's scripts if absent.
            framework: What reads the result.
            timeout_seconds: The deadline of one run.
            env: Variables for the command. If absent, `PYTHONPATH` is `src` and
                the tree's root, since the package is not installed there.
        """
        return TestSuite(
            command=self.test_command() if command is None else command,
            patch=self.tests_patch(feature),
            framework=framework,
            timeout_seconds=timeout_seconds,
            env={"PYTHONPATH": os.pathsep.join(("src", "."))} if env is None else env,
        )

    def image_suite(self, feature: int, *, timeout_seconds: float = 1800) -> TestSuite:
        """Return a feature's tests as the task's own image runs them.

        For a `ContainerSandbox.for_task`: the image's script resets its repository,
        applies the feature's patch and the tests patch, and runs what it runs. The
        framework that reads the result is told by the task's scripts.

        Args:
            feature: The feature's number.
            timeout_seconds: The deadline of one run; images may install packages.
        """
        frameworks = map(framework_of, self._scripts())
        return TestSuite(
            command=_IMAGE_COMMAND,
            patch=self.tests_patch(feature),
            framework=next((name for name in frameworks if name != "exit"), "exit"),
            timeout_seconds=timeout_seconds,
            delivery=Delivery.PATCHES,
        )

    def _scripts(self) -> Iterator[str]:
        for name in _SCRIPTS:
            file = self.directory / name
            if file.is_file():
                yield _read_text(file)

    def _file(self, feature: int, name: str) -> Path:
        self.require(feature)
        folder = self.directory / f"feature{feature}"
        if not (folder / name).is_file():
            raise DatasetError("is missing", str(folder / name))
        return folder / name


@frozen
class Dataset:
    """A folder in CooperBench's layout, `<repo>_task/task<id>/feature<n>/`.

    Attributes:
        directory: The folder that holds the repositories' folders.
    """

    directory: Path = field(converter=Path)

    def tasks(self) -> tuple[Task, ...]:
        """Return every task with a feature, by repository and number.

        Raises:
            DatasetError: The folder is missing, or holds no task.
        """
        if not self.directory.is_dir():
            raise DatasetError("is no directory", str(self.directory))
        found = [
            task
            for folder in sorted(self.directory.glob("*/task*"))
            if (number := re.fullmatch(r"task(\d+)", folder.name)) and folder.is_dir()
            for task in [_task(folder, int(number.group(1)))]
            if task.features
        ]
        if not found:
            raise DatasetError("holds no task<id> folder with features", str(self.directory))
        return tuple(sorted(found, key=lambda task: (task.repo_name, task.task_id)))

    def task(self, repo_name: str, task_id: int) -> Task:
        """Return one task.

        Raises:
            DatasetError: There is no such task.
        """
        if not self.directory.is_dir():
            raise DatasetError("is no directory", str(self.directory))
        if "/" in repo_name or repo_name in {"", ".", ".."}:
            raise DatasetError("is no repository's folder", repr(repo_name))
        folder = self.directory / repo_name / f"task{task_id}"
        if not folder.is_dir():
            raise DatasetError("is no task of the dataset", str(folder))
        return _task(folder, task_id)

    def subset(self, name: str) -> tuple[tuple[Task, tuple[int, int]], ...]:
        """Return the pairs of `subsets/<name>.json`, each with its task.

        Raises:
            DatasetError: There is no such subset, or it is not in that format.
        """
        file = self.directory / "subsets" / f"{name}.json"
        try:
            rows = json.loads(_read_text(file))["tasks"]
            return tuple(
                (self.task(row["repo"], row["task_id"]), (int(first), int(second)))
                for row in rows
                for first, second in row["pairs"]
            )
        except (KeyError, TypeError, ValueError) as exc:
            raise DatasetError(f"is no subset of the dataset ({exc!r})", str(file)) from exc


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
    timeout_seconds: float = 600,
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
        strategies: The merge strategies to try.
        runner: Runs the tests, if not a `TestRunner` as it comes.
        run_tests: Whether to run them at all.
        in_image: Whether the tests run in the task's own image, as the benchmark's
            script in it runs them (`Task.image_suite`), by default with network and
            under the benchmark's names; *command*, *framework*, *env* then say
            nothing. A *runner* of one's own has a `ContainerSandbox`.
        command: What runs the tests; found in the task's scripts if absent.
        framework: What reads their result.
        timeout_seconds: The deadline of one run.
        env: Variables for the command; see `Task.suite`.

    Raises:
        DatasetError: The dataset or the logs lack something, or the setting or
            the location is unknown.
        PatchError: A patch cannot be read.
        RepositoryError: *repo_dir* is no repository with the base commit.
        StrategyError: A strategy is not to be had.
        TestRunError: The tests cannot be started.
    """
    known_setting, location = Setting.of(setting), PatchLocation.of(patch_location)
    task = Dataset(dataset_dir).task(repo_name, task_id)
    numbers = (feature1_id, feature2_id)
    task.require(*numbers)
    if runner is None and in_image:
        runner = TestRunner(sandbox=ContainerSandbox.for_task(repo_name, task_id, network=True))
    elif runner is None:
        runner = TestRunner()
    if location is PatchLocation.GOLD:
        patches = tuple(task.gold_patch(number) for number in numbers)
    else:
        patches = find_patches(
            known_setting,
            task.repo_name,
            task_id,
            numbers,
            model=model,
            location=location,
            logs_dir=logs_dir,
            run_name=run_name,
            k=k,
        )
    if command is not None and not isinstance(command, str):
        command = tuple(command)  # an iterator serves both features
    suite_of = partial(
        task.suite, command=command, framework=framework, timeout_seconds=timeout_seconds, env=env
    )
    if in_image:
        suite_of = partial(task.image_suite, timeout_seconds=timeout_seconds)
    suites = [suite_of(number) if run_tests else None for number in numbers]
    feature1, feature2 = map(partial(_feature, task), numbers, patches, suites)
    pair = FeaturePair(
        repo_name=repo_name,
        task_id=task_id,
        base=Snapshot.from_repo(_repository(repo_dir, runner.sandbox), task.base_commit()),
        feature1=feature1,
        feature2=feature2,
        model=model,
        setting=known_setting.value,
        k=k,
    )
    evaluator = Evaluator(strategies=tuple(strategies), runner=runner if run_tests else None)
    return evaluator.evaluate(pair)


def _repository(
    repo_dir: str | os.PathLike[str] | None, sandbox: Sandbox
) -> str | os.PathLike[str]:
    """Return the clone, or what the image has instead."""
    if repo_dir is not None:
        return repo_dir
    if not isinstance(sandbox, ContainerSandbox):
        raise DatasetError("is needed where no image has the repository", "repo_dir")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return repository_from_image(sandbox.image, cache / "cooperbench_eval" / "bases")


def _feature(task: Task, number: int, patch: Patch, tests: TestSuite | None) -> Feature:
    description = task.description(number)
    return Feature(number=number, patch=patch, tests=tests, description=description)


def _task(folder: Path, task_id: int) -> Task:
    numbers = [
        int(found.group(1))
        for child in folder.iterdir()
        if (found := re.fullmatch(r"feature(\d+)", child.name)) and child.is_dir()
    ]
    return Task(
        repo_name=folder.parent.name,
        task_id=task_id,
        directory=folder,
        features=tuple(sorted(numbers)),
    )


def _read_text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8", "replace")
    except OSError as exc:
        raise DatasetError(f"cannot be read ({exc.strerror})", str(file)) from exc

"""One task of CooperBench's dataset: its features, pairs, patches and tests."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from operator import index
from pathlib import Path
from typing import Self

from attrs import field, frozen

from cooperbench_eval.errors import DatasetError
from cooperbench_eval.patching.patch import Patch
from cooperbench_eval.running import Delivery, TestSuite
from cooperbench_eval.running.readers.recognizing import framework_of
from cooperbench_eval.running.suite import DEFAULT_TIMEOUT_SECONDS
from cooperbench_eval.taskscripts import checked_out_commit, plain_pytest_command

__all__ = ["Task", "read_text"]

_SCRIPTS = ("runner.sh", "run_tests.sh")
_IMAGE_COMMAND = ("bash", "/usr/local/bin/runner.sh", "tests.patch", "feature.patch")


@frozen(kw_only=True)
class Task:
    """One task of the dataset: a base commit and its features.

    Attributes:
        repo_name: The folder's name, such as `pallets_click_task`.
        task_id: The task's number; 0 is a valid number.
        directory: The task's folder.
        features: The numbers of its features, sorted.
    """

    repo_name: str
    task_id: int
    directory: Path
    features: tuple[int, ...] = field(converter=tuple[int, ...])

    @classmethod
    def of(cls, folder: Path, task_id: int) -> Self:
        """Find the features in a task's folder."""
        numbers = [
            int(found.group(1))
            for child in folder.iterdir()
            if (found := re.fullmatch(r"feature(\d+)", child.name)) and child.is_dir()
        ]
        return cls(
            repo_name=folder.parent.name,
            task_id=task_id,
            directory=folder,
            features=tuple(sorted(numbers)),
        )

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Every two of the task's features, the smaller number first."""
        return tuple(combinations(self.features, 2))

    def teams(self, size: int) -> Iterator[tuple[int, ...]]:
        """Return every team of *size* features, in numeric order.

        Raises:
            DatasetError: *size* is less than two, or the task has fewer features.
        """
        most = len(self.features)
        if not 2 <= index(size) <= most:  # noqa: PLR2004 - the smallest team is a pair
            problem = f"is {size}, but a team has two or more features, and the task has {most}"
            raise DatasetError(problem, "size")
        return combinations(self.features, size)

    def require(self, *features: int) -> None:
        """Check that the task has all *features*, and that none is given twice.

        Raises:
            DatasetError: A feature is missing or given twice.
        """
        for feature in features:
            if feature not in self.features:
                known = ", ".join(map(str, self.features))
                raise DatasetError(
                    f"has no feature {feature!r}; it has {known}", str(self.directory)
                )
        if len(set(features)) < len(features):
            raise DatasetError("a pair needs two different features", str(features))

    def base_commit(self) -> str:
        """Return the commit that the task's Dockerfile checks out.

        Raises:
            DatasetError: There is no Dockerfile, or it checks out no commit.
        """
        file = self.directory / "Dockerfile"
        commit = checked_out_commit(read_text(file))
        if commit is None:
            raise DatasetError("checks out no commit", str(file))
        return commit

    def gold_patch(self, feature: int) -> Patch:
        """Return the dataset's own solution of a feature."""
        return Patch.read(self._file(feature, "feature.patch"))

    def tests_patch(self, feature: int) -> Patch:
        """Return the patch that adds a feature's tests."""
        return Patch.read(self._file(feature, "tests.patch"))

    def description(self, feature: int) -> str:
        """Return the issue text for the feature's agent; empty if there is none."""
        file = self.directory / f"feature{feature}" / "feature.md"
        return read_text(file) if file.is_file() else ""

    def test_command(self) -> tuple[str, ...]:
        """Find the pytest command in the task's own scripts.

        Only a line of plain words counts, because a line with variables, pipes or
        alternatives cannot be run as it is. `python` in a script becomes the interpreter
        that runs this library.

        Raises:
            DatasetError: No script has such a line; pass *command* to `suite`.
        """
        for script in self._scripts():
            if command := plain_pytest_command(script):
                return command
        raise DatasetError(
            "has no script with a plain pytest command; pass command=(...)", str(self.directory)
        )

    def suite(
        self,
        feature: int,
        *,
        command: Iterable[str] | None = None,
        framework: str = "pytest",
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        env: Mapping[str, str] | None = None,
    ) -> TestSuite:
        """Return a feature's tests as a suite.

        Args:
            feature: The feature's number.
            command: The command that runs the tests; by default `test_command`.
            framework: The framework that writes the result.
            timeout_seconds: The deadline of one run.
            env: Variables for the command. By default, `PYTHONPATH` is `src` and the
                tree's root, since the package under test is not installed.
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

        Run them in a `ContainerSandbox.for_task`. The image's script resets its
        repository, applies the feature's patch and the tests patch, and runs the tests.
        The framework that reads the result is found in the task's scripts.

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
                yield read_text(file)

    def _file(self, feature: int, name: str) -> Path:
        self.require(feature)
        folder = self.directory / f"feature{feature}"
        if not (folder / name).is_file():
            raise DatasetError("is missing", str(folder / name))
        return folder / name


def read_text(file: Path) -> str:
    """Read one of the dataset's files, as UTF-8 as far as it is."""
    try:
        return file.read_bytes().decode("utf-8", "replace")
    except OSError as exc:
        raise DatasetError(f"cannot be read ({exc.strerror})", str(file)) from exc

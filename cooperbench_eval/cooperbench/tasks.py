"""One task of CooperBench's dataset: its features, pairs, patches and tests."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, combinations
from math import comb
from operator import index
from pathlib import Path
from typing import Generic, TypedDict, TypeVar, Unpack

from attrs import field, frozen

from cooperbench_eval.cooperbench.clones import Folder, base_tree
from cooperbench_eval.cooperbench.taskscripts import (
    checked_out_commit,
    plain_pytest_command,
    read_text,
    scripts_in,
)
from cooperbench_eval.errors import ArgumentError, DatasetError
from cooperbench_eval.evaluation.pairs import Feature, FeaturePair, FeatureTeam
from cooperbench_eval.git.patching.patch import GivenPatch, Patch
from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.reporting.agent_costs import AgentRun
from cooperbench_eval.running import Delivery, TestSuite
from cooperbench_eval.running.preparation import Preparation
from cooperbench_eval.running.readers.frameworks import Framework, framework_of
from cooperbench_eval.running.suite import DEFAULT_TIMEOUT_SECONDS
from cooperbench_eval.support.arguments import checked, checked_fields
from cooperbench_eval.support.error_texts import listed

_Item = TypeVar("_Item")


@frozen
class Counted(Generic[_Item]):
    """An iterator that knows how many items it has in all, for a progress bar."""

    items: Iterator[_Item]
    count: int

    def __iter__(self) -> Iterator[_Item]:
        return self.items

    def __next__(self) -> _Item:
        return next(self.items)

    def __len__(self) -> int:
        return self.count


_IMAGE_COMMAND = ("bash", "/usr/local/bin/runner.sh", "tests.patch", "feature.patch")
_IMAGE_TIMEOUT_SECONDS = 1800.0


class SuiteOptions(TypedDict, total=False):
    """Options of `Task.suite`, which other functions pass on to it."""

    command: Iterable[str] | None
    framework: Framework
    timeout_seconds: float | None
    env: Mapping[str, str] | None
    python: Folder | None
    setup: Iterable[str] | Iterable[Iterable[str]]


class PairOptions(SuiteOptions, total=False):
    """Options of `Task.pair`, which `Task.all_pairs` and others pass on to it."""

    repo_dir: Folder | None
    patches: "Patches | None"
    agents: "Mapping[int, AgentRun | None] | None"
    suite_of: "SuiteOf | None"
    model: str | None
    setting: str | None
    k: int


class _Shared(TypedDict):
    repo_name: str
    task_id: int
    base: Snapshot
    model: str | None
    setting: str | None
    k: int


@frozen(kw_only=True, field_transformer=checked_fields)
class Task:
    """One task of the dataset: a base commit and its features.

    Attributes:
        repo_name: The folder's name, such as `pallets_click_task`.
        task_id: The task's number; 0 is a valid number.
        directory: The task's folder.
        features: The numbers of its features, sorted.
        repo_dir: A clone of its repository, or a folder that holds clones; `None` if the dataset
            has no `repo_dirs`.
    """

    repo_name: str
    task_id: int
    directory: Path
    features: tuple[int, ...] = field(converter=tuple[int, ...])
    repo_dir: Path | None = None

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Every two of the task's features, the smaller number first."""
        return tuple(combinations(self.features, 2))

    @checked
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

    @checked
    def require(self, *features: int) -> None:
        """Check that the task has all *features*, and that none is given twice.

        Raises:
            DatasetError: A feature is missing or given twice.
        """
        for feature in features:
            if feature not in self.features:
                problem = f"has no feature {feature!r}; it has {listed(self.features)}"
                raise DatasetError(problem, str(self.directory))
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

    @checked
    def gold_patch(self, feature: int) -> Patch:
        """Return the dataset's own solution of a feature."""
        return Patch.read(self._file(feature, "feature.patch"))

    @checked
    def tests_patch(self, feature: int) -> Patch:
        """Return the patch that adds a feature's tests."""
        return Patch.read(self._file(feature, "tests.patch"))

    @checked
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
        for script in scripts_in(self.directory):
            if command := plain_pytest_command(script):
                return command
        raise DatasetError(
            "has no script with a plain pytest command; pass command=(...), or suite_of=None for "
            "pairs without tests",
            str(self.directory),
        )

    @checked
    def suite(
        self,
        feature: int,
        *,
        command: Iterable[str] | None = None,
        framework: Framework = "pytest",
        timeout_seconds: float | None = None,
        env: Mapping[str, str] | None = None,
        python: Folder | None = None,
        setup: Iterable[str] | Iterable[Iterable[str]] = (),
    ) -> TestSuite:
        """Return a feature's tests as a suite.

        Args:
            feature: The feature's number.
            command: The command that runs the tests; by default `test_command`.
            framework: The framework that writes the result.
            timeout_seconds: The deadline of one run; by default ten minutes.
            env: Variables for the command. By default, `PYTHONPATH` is `src` and the
                tree's root, since the package under test is not installed.
            python: The interpreter that runs the tests, or the folder of its virtual
                environment; by default the one that runs this library. It is used where
                the command, or whatever the command starts, says `python`.
            setup: Commands, or one command, that prepare the tree before the tests; see
                `TestSuite`.

        Raises:
            ArgumentError: *python* is not an interpreter.
        """
        suite = TestSuite(
            command=self.test_command() if command is None else command,
            patch=self.tests_patch(feature),
            framework=framework,
            timeout_seconds=DEFAULT_TIMEOUT_SECONDS if timeout_seconds is None else timeout_seconds,
            env={"PYTHONPATH": "src:."} if env is None else env,
        )
        return Preparation(python=python, setup=setup).of_suite(suite)

    @checked
    def image_suite(self, feature: int, *, timeout_seconds: float | None = None) -> TestSuite:
        """Return a feature's tests as the task's own image runs them.

        Run them in a `ContainerSandbox.for_task`. The image's script resets its
        repository, applies the feature's patch and the tests patch, and runs the tests.
        The framework that reads the result is found in the task's scripts.

        Args:
            feature: The feature's number.
            timeout_seconds: The deadline of one run. By default half an hour, because
                images may install packages.
        """
        frameworks = map(framework_of, scripts_in(self.directory))
        return TestSuite(
            command=_IMAGE_COMMAND,
            patch=self.tests_patch(feature),
            framework=next((name for name in frameworks if name != "exit"), "exit"),
            timeout_seconds=_IMAGE_TIMEOUT_SECONDS if timeout_seconds is None else timeout_seconds,
            delivery=Delivery.PATCHES,
        )

    @checked
    def base(self, repo_dir: Folder | None = None) -> Snapshot:
        """Return the tree of the base commit, from a clone of the task's repository.

        Args:
            repo_dir: The clone, or a folder that holds clones, of which the one that has the
                commit is used. By default, the one that the dataset knows.

        Raises:
            DatasetError: No clone is known, or the task has no base commit.
            RepositoryError: No such clone has the commit.
        """
        place = self.repo_dir if repo_dir is None else repo_dir
        if place is None:
            problem = f"is needed: pass a clone of {self.repo_name}, or Dataset(..., repo_dirs=...)"
            raise DatasetError(problem, "repo_dir")
        owner = f"task {self.task_id} of {self.repo_name}"
        return base_tree(place, self.base_commit(), owner=owner)

    @checked
    def pair(self, first: int, second: int, **options: Unpack[PairOptions]) -> FeaturePair:
        """Return two features with their patches and tests; *first* is merged into *second*.

        Args:
            first: The number of feature 1.
            second: The number of feature 2.
            options: *repo_dir*, as in `base`. *patches*: the patch of each feature, as a
                mapping from its number, or as a function of the task and the number; `None`
                for a feature whose agent submitted nothing. By default the dataset's own
                solutions. *agents*: what the work of each feature's agent cost, by its number.
                *suite_of*: a function of the task and a number that returns the
                feature's tests, by default `Task.suite`; `None` for no tests. *model*,
                *setting* and *k*, as in `FeaturePair`. All others are options of `suite`.

        Raises:
            ArgumentError: An argument is wrong, or *patches* lacks a feature.
            DatasetError: The task lacks a feature, or something of it is missing.
            PatchError: A file with a patch cannot be read.
            RepositoryError: No clone has the base commit.
        """
        return next(self.all_pairs([(first, second)], **options))

    @checked
    def team(self, *numbers: int, **options: Unpack[PairOptions]) -> FeatureTeam:
        """Return features as a team, in the order in which they are to land; see `pair`.

        Each feature is merged into the result so far. So the team of 2 and 1 is merged as
        the pair of 1 and 2.
        """
        self.require(*numbers)
        shared, features = self._parts(numbers, **options)
        return FeatureTeam(features=features.values(), **shared)

    @checked
    def all_pairs(
        self, pairs: Iterable[tuple[int, int]] | None = None, **options: Unpack[PairOptions]
    ) -> Counted[FeaturePair]:
        """Return an iterator over pairs of the task, which share one base; see `pair`.

        Args:
            pairs: The numbers of each pair; by default `Task.pairs`.
            options: As in `pair`.

        Raises:
            CooperBenchEvalError: As in `pair`, and at once.
        """
        chosen = self.pairs if pairs is None else tuple(pairs)
        for pair in chosen:
            self.require(*pair)
        shared, features = self._parts(dict.fromkeys(chain.from_iterable(chosen)), **options)
        made = (
            FeaturePair(feature1=features[first], feature2=features[second], **shared)
            for first, second in chosen
        )
        return Counted(made, len(chosen))

    @checked
    def all_teams(self, size: int, **options: Unpack[PairOptions]) -> Counted[FeatureTeam]:
        """Return an iterator over every team of *size* features; see `pair`.

        In each team, the feature with the largest number starts, and the others are merged
        into it in descending order. So a team of two is merged as its pair is.

        Raises:
            DatasetError: As in `pair`, or the task has no teams of this size.
        """
        teams = self.teams(size)
        shared, features = self._parts(self.features, **options)
        made = (FeatureTeam(features=[features[n] for n in reversed(t)], **shared) for t in teams)
        return Counted(made, comb(len(self.features), size))

    def _parts(
        self,
        numbers: Iterable[int],
        *,
        repo_dir: Folder | None = None,
        patches: "Patches | None" = None,
        agents: Mapping[int, AgentRun | None] | None = None,
        suite_of: "SuiteOf | None" = suite,
        model: str | None = None,
        setting: str | None = None,
        k: int = 1,
        **suite_options: Unpack[SuiteOptions],
    ) -> tuple[_Shared, dict[int, Feature]]:
        """Return what pairs and teams share, and their features by number."""
        shared = _Shared(
            repo_name=self.repo_name,
            task_id=self.task_id,
            base=self.base(repo_dir),
            model=model,
            setting=setting,
            k=k,
        )
        tests_of = suites_with(suite_of, suite_options)
        features = {}
        for number in numbers:
            patch = self.gold_patch(number) if patches is None else _patch(self, patches, number)
            tests = tests_of(self, number) if tests_of else None
            try:
                features[number] = Feature(
                    number=number,
                    patch=patch,
                    tests=tests,
                    description=self.description(number),
                    agent=None if agents is None else agents.get(number),
                )
            except ArgumentError as exc:
                # The error names the argument from which the patch or the suite comes.
                source = {"patch": "patches", "tests": "suite_of"}.get(exc.argument, exc.argument)
                problem = f"is wrong for feature {number}: its value {exc.problem}"
                raise ArgumentError(source, problem) from exc
        return shared, features

    def _file(self, feature: int, name: str) -> Path:
        self.require(feature)
        folder = self.directory / f"feature{feature}"
        if not (folder / name).is_file():
            raise DatasetError("is missing", str(folder / name))
        return folder / name


SuiteOf = Callable[[Task, int], TestSuite | None]
"""Returns the tests of a task's feature."""
Patches = Mapping[int, GivenPatch | None] | Callable[[Task, int], GivenPatch | None]
"""The patches of features, by number, or as a function of the task and the number."""


def suites_with(suite_of: SuiteOf | None, options: SuiteOptions) -> SuiteOf | None:
    """Return *suite_of* with options of `Task.suite`.

    *python* and *setup* apply to the suites of any function. Only `Task.suite` takes the others.

    Raises:
        ArgumentError: *python* is not an interpreter, or options that only `Task.suite` takes are
            given with another function.
    """
    options = options.copy()
    python, setup = options.pop("python", None), options.pop("setup", ())
    preparation = Preparation(python=python, setup=setup)
    made = _with_options(suite_of, options)
    return partial(_prepared, made, preparation) if made and preparation.given else made


def _prepared(
    suite_of: SuiteOf, preparation: Preparation, task: Task, number: int
) -> TestSuite | None:
    suite = suite_of(task, number)
    return preparation.of_suite(suite) if isinstance(suite, TestSuite) else suite


def _with_options(suite_of: SuiteOf | None, options: SuiteOptions) -> SuiteOf | None:
    if not options:
        return suite_of
    if suite_of is not Task.suite:
        names = ", ".join(options)
        raise ArgumentError("suite_of", f"cannot be combined with {names}; use them in it")
    command = options.get("command")
    if command is not None:
        options["command"] = tuple(command)  # each feature needs it
    return partial(Task.suite, **options)


def _patch(task: Task, patches: Patches, number: int) -> GivenPatch:
    if callable(patches):
        found = patches(task, number)
    elif number in patches:
        found = patches[number]
    else:
        problem = f"has no patch of feature {number}; it has {listed(patches)}"
        raise ArgumentError("patches", problem)
    return b"" if found is None else found

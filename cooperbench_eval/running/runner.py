"""Runs a suite on a tree: writes the tree, runs the command, and returns the result."""

import itertools
import os
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import ClassVar, TypeVar

import attrs
from attrs import field, frozen, validators

from cooperbench_eval.errors import CooperBenchEvalError, SandboxError, TestRunError
from cooperbench_eval.git.patching.apply import apply_patch
from cooperbench_eval.git.patching.patch_parts import PatchStatus
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.running.cache import ResultCache, key_of
from cooperbench_eval.running.control_files import ControlFiles, put_back
from cooperbench_eval.running.disk_watch import DiskWatch
from cooperbench_eval.running.file_watch import FileWatch, files_to_watch
from cooperbench_eval.running.readers.frameworks import FRAMEWORKS
from cooperbench_eval.running.readers.protocol import NOT_FOUND, Launch, NewTests
from cooperbench_eval.running.readers.result_files import read_ends
from cooperbench_eval.running.results import COMPLETE, RepeatPolicy, TestResult, TestStatus
from cooperbench_eval.running.sandboxes.environments import installed_modules
from cooperbench_eval.running.sandboxes.local import search_path
from cooperbench_eval.running.sandboxes.protocol import Execution, Sandbox
from cooperbench_eval.running.sandboxes.registry import as_sandbox, default_sandbox
from cooperbench_eval.running.suite import Delivery, TestSuite
from cooperbench_eval.running.trees_on_disk import TreeLender, disk_errors
from cooperbench_eval.running.verdict import SETUP_MARK, judge, require_tests
from cooperbench_eval.support.arguments import checked, checked_fields
from cooperbench_eval.support.systems import versions

_SHOWN = 1 << 20
_RESTS_ON_FILES = COMPLETE | {TestStatus.NO_TESTS, TestStatus.INCONCLUSIVE}
_NAMED = 5
"""How many changed files a reason names."""


@frozen(kw_only=True)
class _PreparedRun:
    """A suite and the tree to run it on.

    Attributes:
        changes: What the agents, or a merge of their work, changed in it.
        untested: The base with these changes.
        tree: The untested tree with the suite's own patch, which is tested.
        require_new_tests: Whether the tests that the suite's patch adds must run.
    """

    base: Snapshot
    changes: Changes
    untested: Snapshot
    tree: Snapshot
    suite: TestSuite
    require_new_tests: bool

    def facts(self) -> tuple[object, ...]:
        """Return everything that the verdict depends on, except the sandbox."""
        suite = self.suite
        return (
            versions()["cooperbench_eval"],
            self.base.tree_id if suite.delivery is Delivery.PATCHES else None,
            (self.untested.tree_id, self.tree.tree_id),
            (suite.command, suite.setup, suite.framework, suite.delivery, suite.required),
            (sorted(suite.env.items()), suite.timeout_seconds),
            self.require_new_tests,
        )

    @cached_property
    def brought(self) -> Changes:
        """The changes that the suite's patch makes to the tree."""
        return Changes.between(self.untested, self.tree)

    @cached_property
    def watched(self) -> tuple[str, ...]:
        """The files that the run must leave unchanged; none if the command writes them."""
        if self.suite.delivery is Delivery.PATCHES:
            return ()
        return files_to_watch(self.base, self.tree, self.brought)

    @cached_property
    def new_tests(self) -> tuple[NewTests, ...]:
        """The tests that the suite's patch adds to the tree, then those it adds to the base.

        The base holds only the benchmark's own work, so an agent's changes to the
        tree cannot hide a test in it.
        """
        found = NewTests(
            before=self.untested,
            after=self.tree,
            paths=tuple(self.brought),
            command=self.suite.command,
            env=self.suite.env,
        )
        if self.untested.tree_id == self.base.tree_id:
            return (found,)
        on_base = apply_patch(self.base, self.suite.patch)
        if on_base.status is PatchStatus.FAILED:
            return (found,)
        after = self.base.overlay(on_base.changes)
        paths = tuple(Changes.between(self.base, after))
        return found, attrs.evolve(found, before=self.base, after=after, paths=paths)


def _run_once(prepared: _PreparedRun, sandbox: Sandbox, lender: TreeLender) -> TestResult:
    """Run *prepared* in *sandbox*, on a tree of *lender*.

    A `TestRunError` means that the command does not exist, or cannot be started on the base either.
    """
    suite, reader = prepared.suite, FRAMEWORKS[prepared.suite.framework]
    with (
        lender.scratch() as scratch,
        _place(prepared, lender) as place,
        closing(FileWatch(place, prepared.watched)) as watch,
    ):
        in_tree = suite.delivery is Delivery.TREE
        env = suite.environment_at(place) if in_tree else dict(suite.env)
        with disk_errors():
            launch = _with_setup(reader.launch(suite.command, env, scratch), suite, scratch)
        execution = Execution(exit_code=None)
        try:
            with _guarded(), closing(DiskWatch(place, scratch)) as disk:
                execution = sandbox.run(
                    launch.command,
                    tree=place,
                    scratch=scratch,
                    env=launch.env,
                    timeout_seconds=suite.timeout_seconds,
                )
            if not isinstance(execution, Execution):
                raise SandboxError(f"the sandbox returned {execution!r:.80}, not an Execution")
            result = judge(execution, suite, prepared.tree, scratch)
            if result.status in COMPLETE and prepared.require_new_tests:
                result = require_tests(result, reader, prepared.new_tests, suite.required)
            changed = execution.changed_files.union(watch.changed())
            result = _unless_changed(result, prepared, changed)
            if disk.problem and result.status is not TestStatus.PASSED:
                raise SandboxError(f"{disk.problem}; the run's result was: {result.status.value}")
        except TestRunError as exc:
            if isinstance(exc, SandboxError):
                raise
            # If a program is missing, or a prepared cache's place is taken in the base, the
            # caller made a mistake; if a patch removed a script or took the place, the
            # patch did.
            if not (_has_new_program(prepared) or _has_new_entry(prepared, exc.path)):
                raise
            result = TestResult(status=TestStatus.SETUP_FAILED, reason=str(exc))
        shown = b"" if launch.stdout is None else read_ends(launch.stdout, _SHOWN)
        output = shown + execution.output
    return attrs.evolve(
        result,
        exit_code=execution.exit_code,
        duration_seconds=execution.duration_seconds,
        output=output.decode(errors="backslashreplace"),
        command=suite.command,
        sandbox=sandbox.name,
    )


@contextmanager
def _guarded() -> Iterator[None]:
    """Turn any exception that a sandbox should not raise into a `SandboxError`."""
    try:
        yield
    except CooperBenchEvalError:
        raise
    # A plug-in may raise anything; the error then names the plug-in's fault.
    except Exception as exc:
        raise SandboxError(f"the sandbox raised {exc!r}") from exc


def _place(prepared: _PreparedRun, lender: TreeLender) -> AbstractContextManager[Path]:
    if prepared.suite.delivery is Delivery.TREE:
        return lender.lend(prepared.base, prepared.tree)
    feature = (prepared.base, prepared.changes)
    tests = (prepared.untested, prepared.brought)
    return lender.lend_patches({"feature.patch": feature, "tests.patch": tests})


def _with_setup(launch: Launch, suite: TestSuite, scratch: Path) -> Launch:
    """Run the set-up's commands before the launch; one that fails writes a mark."""
    if not suite.setup:
        return launch
    steps = (
        f'{shlex.join(command)} || {{ echo {number} $? > "$0"; exit 1; }}'
        for number, command in enumerate(suite.setup)
    )
    script = "\n".join((*steps, ': >"$0-not"', 'exec "$@"'))
    mark = str(scratch / SETUP_MARK)
    return attrs.evolve(launch, command=("sh", "-c", script, mark, *launch.command))


def _has_new_program(prepared: _PreparedRun) -> bool:
    """Whether the command's program is a file of the tree that differs from the base."""
    program = prepared.suite.command[0]
    if "/" not in program or PurePosixPath(program).is_absolute():
        return False
    path = str(PurePosixPath(program))
    return prepared.tree.get(path) != prepared.base.get(path)


def _has_new_entry(prepared: _PreparedRun, path: str) -> bool:
    """Whether the tested patch, not the base nor the tests patch, put an entry at *path*."""
    if prepared.changes.get(path) is None or path in prepared.suite.patch.paths:
        return False
    return prepared.base.get(path) is None


def _unless_changed(
    result: TestResult, prepared: _PreparedRun, changed: frozenset[str]
) -> TestResult:
    """Accept a result only if the run did not change the files that it depends on."""
    if result.status not in _RESTS_ON_FILES:
        return result
    named = [path for path in prepared.watched if path in changed]
    if not named:
        return result
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    reason = f"the run changed {', '.join(named[:_NAMED])}{more}, which its result depends on"
    if result.reason:
        reason = f"{reason}; {result.reason}"
    return attrs.evolve(result, status=TestStatus.INCONCLUSIVE, reason=reason)


_PAUSE_SECONDS = 0.2
_Value = TypeVar("_Value")


def _as_cache(given: ResultCache | str | os.PathLike[str] | None) -> ResultCache | None:
    return given if isinstance(given, ResultCache | None) else ResultCache(Path(given))


@frozen(kw_only=True, field_transformer=checked_fields)
class TestRunner:
    r"""Runs suites, each on a fresh working tree in a fresh sandbox.

    Attributes:
        sandbox: Where the command runs, as an object or by name. By default this is
            bubblewrap if it works here, and the local sandbox if not.
        cache: Keeps results of earlier runs: in memory by default, or in a file if a path
            is given. With `None`, every run is repeated.
        control_files: What to do with changed files that control test runs.
        require_new_tests: Whether the tests that the suite's patch adds must be
            among those that ran.
        repeats: How often to run each suite.
        repeat_policy: How many of the repeats must pass.
        retries: How often to retry if the sandbox itself fails.

    Example:
        >>> from cooperbench_eval.reporting.models import Entry
        >>> base = Snapshot.from_files({"double.py": b"def double(x): return 2 * x\n"})
        >>> test = b"from double import double\ndef test(): assert double(2) == 4\n"
        >>> suite = TestSuite(command=("python", "-m", "pytest", "-q"), env={"PYTHONPATH": "."})
        >>> result = TestRunner().run(base, Changes({"test_it.py": Entry(test)}), suite)
        >>> result.status.value, [case.id for case in result.cases]
        ('passed', ['test_it.py::test'])
    """

    __test__: ClassVar[bool] = False

    sandbox: Sandbox = field(factory=default_sandbox, converter=as_sandbox)
    cache: ResultCache | None = field(factory=ResultCache, converter=_as_cache)
    control_files: ControlFiles = field(default=ControlFiles.RESTORE, converter=ControlFiles)
    require_new_tests: bool = True
    repeats: int = field(default=1, validator=validators.ge(1))
    repeat_policy: RepeatPolicy = field(default=RepeatPolicy.ALL, converter=RepeatPolicy)
    retries: int = field(default=2, validator=validators.ge(0))
    _lender: TreeLender = field(factory=TreeLender, init=False, eq=False, repr=False)

    @checked
    def run(
        self, base: Snapshot, changes: Changes, suite: TestSuite, *, number: int = 1
    ) -> TestResult:
        """Run *suite* on *base* with *changes* and with the suite's own patch.

        A run passed if a case passed, none failed, the exit status agrees, and every
        required test ran. It is inconclusive, with a reason, if these contradict each
        other or the result cannot be read: an early `os._exit(0)` is not a pass. The run
        leaves no files, and no processes if the sandbox can prevent it. A cached result is
        returned without a run.

        Args:
            base: The tree before any change.
            changes: What the agents, or a merge of their work, changed in it.
            suite: The tests.
            number: Which of several independent results for this tree is wanted, counted
                from 1. Each has a place of its own in the cache.

        Raises:
            TestRunError: The sandbox noticed before the run that the command does not
                exist, or the cache cannot be used.
            RepositoryError: The tree cannot be read.
        """
        prepared, restored = self._prepare(base, changes, suite)
        if isinstance(prepared, str):
            result = self._without_run(suite, TestStatus.PATCH_REJECTED, prepared)
        else:
            result = self._result_of(prepared, number)
        return attrs.evolve(result, restored_files=restored)

    @checked
    def is_underway(self, base: Snapshot, changes: Changes, suite: TestSuite) -> bool:
        """Whether another thread or process that shares the cache makes this run right now.

        `run` would then wait for it. The answer may be outdated at once, so use it only to
        decide what to do first.

        Raises:
            TestRunError: The cache cannot be used.
            RepositoryError: The tree cannot be read.
        """
        prepared, _ = self._prepare(base, changes, suite)
        if self.cache is None or isinstance(prepared, str):
            return False
        try:
            return self.cache.is_taken(self._key(prepared, self._identity(suite)))
        except SandboxError:  # `run` will say so
            return False

    def _prepare(
        self, base: Snapshot, changes: Changes, suite: TestSuite
    ) -> tuple[_PreparedRun | str, tuple[str, ...]]:
        """Return the prepared run, or why there is none, and the files that were restored."""
        restored: tuple[str, ...] = ()
        if self.control_files is ControlFiles.RESTORE:
            changes, restored = put_back(
                base,
                changes,
                roots=suite.import_roots,
                words=suite.script_words,
                tests=suite.patch.paths,
                installed=installed_modules(_words(suite), suite.env.get("PATH", search_path())),
            )
        untested = base.overlay(changes)
        applied = apply_patch(untested, suite.patch)
        if applied.status is PatchStatus.FAILED:
            return f"the tests patch does not apply: {applied.reason}", restored
        prepared = _PreparedRun(
            base=base,
            changes=changes,
            untested=untested,
            tree=untested.overlay(applied.changes),
            suite=suite,
            require_new_tests=self.require_new_tests,
        )
        return prepared, restored

    def _result_of(self, prepared: _PreparedRun, number: int) -> TestResult:
        try:
            identity = self._retry(partial(self._identity, prepared.suite))
            if self.cache is None:
                result = self._repeat(prepared)
            else:
                make = partial(self._repeat, prepared)
                key = self._key(prepared, identity, number)
                result = self.cache.get_or_make(key, make, keeps=_is_lasting)
            return attrs.evolve(result, sandbox_identity=identity)
        except SandboxError as exc:
            reason = f"{exc.problem}; tried {1 + self.retries} times"
            return self._without_run(prepared.suite, TestStatus.INFRASTRUCTURE_ERROR, reason)

    def _key(self, prepared: _PreparedRun, identity: str, number: int = 1) -> str:
        which = () if number == 1 else (number,)
        return key_of(*prepared.facts(), identity, self.repeats, self.repeat_policy, *which)

    def _identity(self, suite: TestSuite) -> str:
        """Return the sandbox's identity, with the programs of the suite if it knows them."""
        with _guarded():
            identity = self.sandbox.identity
            facts_about = getattr(self.sandbox, "facts_about", None)
            if facts_about is None:
                return identity
            return f"{identity} {facts_about(_words(suite), suite.env)}".rstrip()

    def _repeat(self, prepared: _PreparedRun) -> TestResult:
        """Run the repeats; return the first one that agrees with the verdict on all of them."""
        results = [
            self._retry(lambda: _run_once(prepared, self.sandbox, self._lender))
            for _ in range(self.repeats)
        ]
        if len(results) == 1:
            return results[0]
        holds = self.repeat_policy.is_met(sum(each.passed for each in results), len(results))
        return attrs.evolve(
            next(each for each in results if each.passed is holds),
            repeats=[each.status for each in results],
            repeat_policy=self.repeat_policy,
        )

    def _retry(self, call: Callable[[], _Value]) -> _Value:
        for number in range(self.retries):
            with suppress(SandboxError):
                return call()
            time.sleep(_PAUSE_SECONDS * 2**number)
        return call()

    def _without_run(self, suite: TestSuite, status: TestStatus, reason: str) -> TestResult:
        return TestResult(
            status=status, reason=reason, command=suite.command, sandbox=self.sandbox.name
        )


def _words(suite: TestSuite) -> tuple[str, ...]:
    return (*suite.command, *itertools.chain(*suite.setup))


def _is_lasting(result: TestResult) -> bool:
    """Whether a result may be kept; a missing program may be installed later."""
    missing = result.status is TestStatus.SETUP_FAILED and result.exit_code in {None, NOT_FOUND}
    return not missing

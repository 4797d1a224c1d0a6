"""Runs a suite on a tree and returns the result."""

import itertools
import os
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import ClassVar, TypeVar

import attrs
from attrs import field, frozen, validators

from cooperbench_eval.errors import SandboxError
from cooperbench_eval.git.patching.apply import apply_patch
from cooperbench_eval.git.patching.placements import PatchStatus
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.running.cache import ResultCache, key_of
from cooperbench_eval.running.control_files import ControlFiles, put_back
from cooperbench_eval.running.prepared_run import Trial, guarded, run_once
from cooperbench_eval.running.results import RepeatPolicy, TestResult, TestStatus
from cooperbench_eval.running.sandboxes.environments import installed_modules
from cooperbench_eval.running.sandboxes.local import search_path
from cooperbench_eval.running.sandboxes.protocol import Sandbox
from cooperbench_eval.running.sandboxes.registry import as_sandbox, default_sandbox
from cooperbench_eval.running.suite import TestSuite
from cooperbench_eval.running.trees_on_disk import TreeLender
from cooperbench_eval.running.verdict import NOT_FOUND
from cooperbench_eval.support.arguments import checked, checked_fields

__all__ = ["TestRunner"]

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
        trial, restored = self._prepare(base, changes, suite)
        if isinstance(trial, str):
            result = self._without_run(suite, TestStatus.PATCH_REJECTED, trial)
        else:
            result = self._result_of(trial, number)
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
        trial, _ = self._prepare(base, changes, suite)
        if self.cache is None or isinstance(trial, str):
            return False
        try:
            return self.cache.is_taken(self._key(trial, self._identity(suite)))
        except SandboxError:  # `run` will say so
            return False

    def _prepare(
        self, base: Snapshot, changes: Changes, suite: TestSuite
    ) -> tuple[Trial | str, tuple[str, ...]]:
        """Return the trial, or why there can be none, and the files that were restored."""
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
        trial = Trial(
            base=base,
            changes=changes,
            untested=untested,
            tree=untested.overlay(applied.changes),
            suite=suite,
            require_new_tests=self.require_new_tests,
        )
        return trial, restored

    def _result_of(self, trial: Trial, number: int) -> TestResult:
        try:
            identity = self._retry(partial(self._identity, trial.suite))
            if self.cache is None:
                result = self._repeat(trial)
            else:
                make = partial(self._repeat, trial)
                key = self._key(trial, identity, number)
                result = self.cache.get_or_make(key, make, keeps=_is_lasting)
            return attrs.evolve(result, sandbox_identity=identity)
        except SandboxError as exc:
            reason = f"{exc.problem}; tried {1 + self.retries} times"
            return self._without_run(trial.suite, TestStatus.INFRASTRUCTURE_ERROR, reason)

    def _key(self, trial: Trial, identity: str, number: int = 1) -> str:
        which = () if number == 1 else (number,)
        return key_of(*trial.facts(), identity, self.repeats, self.repeat_policy, *which)

    def _identity(self, suite: TestSuite) -> str:
        """Return the sandbox's identity, with the programs of the suite if it knows them."""
        with guarded():
            identity = self.sandbox.identity
            facts_about = getattr(self.sandbox, "facts_about", None)
            if facts_about is None:
                return identity
            return f"{identity} {facts_about(_words(suite), suite.env)}".rstrip()

    def _repeat(self, trial: Trial) -> TestResult:
        """Run the repeats; return the first one that agrees with the verdict on all of them."""
        results = [
            self._retry(lambda: run_once(trial, self.sandbox, self._lender))
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
        """Call the sandbox, and retry if it fails; the last failure is raised."""
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
    """Return the words of the suite's command, then those of its set-up."""
    return (*suite.command, *itertools.chain(*suite.setup))


def _is_lasting(result: TestResult) -> bool:
    """Whether a result may be kept; a missing program may be installed later."""
    missing = result.status is TestStatus.SETUP_FAILED and result.exit_code in {None, NOT_FOUND}
    return not missing

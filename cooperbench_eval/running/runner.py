"""Runs a suite on a tree and says what it showed."""

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
from cooperbench_eval.models import PatchStatus, RepeatPolicy, TestResult, TestStatus
from cooperbench_eval.patching import apply_patch
from cooperbench_eval.running.cache import ResultCache, key_of
from cooperbench_eval.running.control import ControlFiles, put_back
from cooperbench_eval.running.sandboxes.default import default_sandbox
from cooperbench_eval.running.sandboxes.protocol import Sandbox
from cooperbench_eval.running.sandboxes.registry import as_sandbox
from cooperbench_eval.running.suite import TestSuite
from cooperbench_eval.running.trial import Trial, guarded, run_once
from cooperbench_eval.running.verdict import NOT_FOUND
from cooperbench_eval.running.worktrees import WorkTrees
from cooperbench_eval.snapshot import Changes, Snapshot

__all__ = ["TestRunner"]

_PAUSE_SECONDS = 0.2
_Answer = TypeVar("_Answer")


def _as_cache(given: ResultCache | str | os.PathLike[str] | None) -> ResultCache | None:
    return given if isinstance(given, ResultCache | None) else ResultCache(Path(given))


@frozen(kw_only=True)
class TestRunner:
    r"""Runs suites, each on a fresh work tree in a fresh sandbox.

    Attributes:
        sandbox: Where the command runs, as an object or by name: by default in
            bubblewrap where that works, else locally.
        cache: Keeps results by what went into them, in memory by default; a path for
            a file, `None` to run everything anew.
        control_files: What to do with changed files that steer test runs.
        require_new_tests: Whether the tests that the suite's patch adds must be
            among those that ran.
        repeats: How often to run each suite.
        repeat_policy: How many of the repeats have to pass.
        retries: How often to try again where the sandbox itself failed.

    Example:
        >>> from cooperbench_eval.models import Entry
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
    _work_trees: WorkTrees = field(factory=WorkTrees, init=False, eq=False, repr=False)

    def run(self, base: Snapshot, changes: Changes, suite: TestSuite) -> TestResult:
        """Run *suite* on *base* with *changes* and with the suite's own patch.

        A run is passed where a case passed, none failed, the exit status agrees, and
        every required test ran. It is inconclusive, with a reason, where these
        contradict each other or the result cannot be read: an early `os._exit(0)`
        is no pass. Nothing is left behind, neither files nor processes, as far as
        the sandbox can see to it. What was run before is taken from the cache.

        Raises:
            TestRunError: There is no such command, as far as the sandbox can tell
                before it runs; or the cache cannot be used.
            RepositoryError: The tree cannot be read.
        """
        restored: tuple[str, ...] = ()
        if self.control_files is ControlFiles.RESTORE:
            changes, restored = put_back(
                base,
                changes,
                roots=suite.import_roots,
                words=suite.script_words,
                tests=suite.patch.paths,
            )
        untested = base.overlay(changes)
        applied = apply_patch(untested, suite.patch)
        if applied.status is PatchStatus.FAILED:
            reason = f"the tests patch does not apply: {applied.reason}"
            result = self._without_run(suite, TestStatus.PATCH_REJECTED, reason)
        else:
            trial = Trial(
                base=base,
                changes=changes,
                untested=untested,
                tree=untested.overlay(applied.changes),
                suite=suite,
                require_new_tests=self.require_new_tests,
            )
            result = self._result_of(trial)
        return attrs.evolve(result, restored_files=restored)

    def _result_of(self, trial: Trial) -> TestResult:
        """Find the result in the cache, or run for it."""
        try:
            identity = self._insist(self._identity)
            if self.cache is None:
                result = self._repeat(trial)
            else:
                key = key_of(*trial.facts(), identity, self.repeats, self.repeat_policy)
                make = partial(self._repeat, trial)
                result = self.cache.get_or_make(key, make, keeps=_is_lasting)
            return attrs.evolve(result, sandbox_identity=identity)
        except SandboxError as exc:
            reason = f"{exc.problem}; tried {1 + self.retries} times"
            return self._without_run(trial.suite, TestStatus.INFRASTRUCTURE_ERROR, reason)

    def _identity(self) -> str:
        with guarded():
            return self.sandbox.identity

    def _repeat(self, trial: Trial) -> TestResult:
        """Run as often as asked for; the first run that ends as the whole does speaks for it."""
        results = [
            self._insist(lambda: run_once(trial, self.sandbox, self._work_trees))
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

    def _insist(self, ask: Callable[[], _Answer]) -> _Answer:
        """Ask the sandbox, and again where it fails; its last failure is raised."""
        for number in range(self.retries):
            with suppress(SandboxError):
                return ask()
            time.sleep(_PAUSE_SECONDS * 2**number)
        return ask()

    def _without_run(self, suite: TestSuite, status: TestStatus, reason: str) -> TestResult:
        return TestResult(
            status=status, reason=reason, command=suite.command, sandbox=self.sandbox.name
        )


def _is_lasting(result: TestResult) -> bool:
    """Whether a result may be kept; a program that is missing may be installed."""
    missing = result.status is TestStatus.SETUP_FAILED and result.exit_code in {None, NOT_FOUND}
    return not missing

"""Runs a suite on a tree and says what it showed."""

import time
from typing import ClassVar

import attrs
from attrs import field, frozen, validators

from cooperbench_eval.errors import SandboxError
from cooperbench_eval.models import PatchStatus, RepeatPolicy, TestResult, TestStatus
from cooperbench_eval.patching import apply_patch
from cooperbench_eval.running.cache import ResultCache, key_of
from cooperbench_eval.running.control import ControlFiles, put_back
from cooperbench_eval.running.job import Job, run_once
from cooperbench_eval.running.sandboxes.default import default_sandbox
from cooperbench_eval.running.sandboxes.protocol import Sandbox
from cooperbench_eval.running.suite import TestSuite
from cooperbench_eval.running.worktrees import WorkTrees
from cooperbench_eval.snapshot import Changes, Snapshot

__all__ = ["TestRunner"]

_PAUSE_SECONDS = 0.2


@frozen(kw_only=True)
class TestRunner:
    r"""Runs suites, each on a fresh work tree in a fresh sandbox.

    Attributes:
        sandbox: Where the command runs: by default in bubblewrap where that works,
            else locally.
        cache: Keeps results by what went into them; `None` to run everything anew.
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

    sandbox: Sandbox = field(factory=default_sandbox)
    cache: ResultCache | None = field(factory=ResultCache)
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
            TestRunError: There is no such command, or the cache cannot be used.
            RepositoryError: The tree cannot be read.
        """
        restored: tuple[str, ...] = ()
        if self.control_files is ControlFiles.RESTORE:
            changes, restored = put_back(base, changes, suite.import_roots)
        untested = base.overlay(changes)
        applied = apply_patch(untested, suite.patch)
        if applied.status is PatchStatus.FAILED:
            result = TestResult(
                status=TestStatus.PATCH_REJECTED,
                reason=f"the tests patch does not apply: {applied.reason}",
                command=suite.command,
                sandbox=self.sandbox.name,
            )
        else:
            job = Job(
                base=base,
                untested=untested,
                tree=untested.overlay(applied.changes),
                suite=suite,
                require_new_tests=self.require_new_tests,
            )
            result = self._result_of(job)
        return attrs.evolve(result, restored_files=restored)

    def _result_of(self, job: Job) -> TestResult:
        """Find the result in the cache, or run for it."""
        tries = range(1 + self.retries)
        for each in tries:
            try:
                return self._kept_or_new(job)
            except SandboxError as exc:
                failure = exc
            if each < self.retries:
                time.sleep(_PAUSE_SECONDS * 2**each)
        return TestResult(
            status=TestStatus.INFRASTRUCTURE_ERROR,
            reason=f"{failure}; tried {len(tries)} times",
            command=job.suite.command,
            sandbox=self.sandbox.name,
        )

    def _kept_or_new(self, job: Job) -> TestResult:
        if self.cache is None:
            return self._repeat(job)
        key = self._key(job)
        result = self.cache.get(key)
        if result is None:
            result = self._repeat(job)
            self.cache.put(key, result)
        return result

    def _key(self, job: Job) -> str:
        return key_of(*job.facts(), self.sandbox.identity, self.repeats, self.repeat_policy)

    def _repeat(self, job: Job) -> TestResult:
        """Run as often as asked for; the first run that ends as the whole does speaks for it."""
        results = [run_once(job, self.sandbox, self._work_trees) for _ in range(self.repeats)]
        if len(results) == 1:
            return results[0]
        holds = self.repeat_policy.is_met(sum(each.passed for each in results), len(results))
        return attrs.evolve(
            next(each for each in results if each.passed is holds),
            repeats=[each.status for each in results],
            repeat_policy=self.repeat_policy,
        )

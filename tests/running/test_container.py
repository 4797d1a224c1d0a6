"""The container sandbox: its options, the files that hostile code leaves, and the clean-up."""

import os
import pickle
import signal
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import attrs
import pytest
from container_images import bare_image, engine, find_containers, import_image  # noqa: F401 - fixtures
from docker.errors import APIError, NotFound

from cooperbench_eval.errors import SandboxError, TestRunError
from cooperbench_eval.running.sandboxes.containers import engine as engine_module
from cooperbench_eval.running.sandboxes.containers import guard
from cooperbench_eval.running.sandboxes.containers import run as container_run
from cooperbench_eval.running.sandboxes.containers.engine import Engine
from cooperbench_eval.running.sandboxes.containers.guard import is_gone, owner_of
from cooperbench_eval.running.sandboxes.containers.sandbox import ContainerSandbox, reap_containers

ABSENT = "unix:///no-such-folder/engine.sock"

CALLER = """
import os, sys, threading, time
from pathlib import Path
from cooperbench_eval.running.sandboxes.containers.sandbox import ContainerSandbox
folder = Path(sys.argv[2])
def run(script, name):
    for each in ("tree", "scratch"): (folder / name / each).mkdir(parents=True)
    return ContainerSandbox(image=sys.argv[1], pull=False).run(
        ("sh", "-c", script), tree=folder / name / "tree", scratch=folder / name / "scratch",
        env={}, timeout_seconds=60)
"""


@pytest.fixture
def sandbox(bare_image):  # noqa: F811
    """Return a sandbox of the bare image."""
    return ContainerSandbox(image=bare_image, pull=False)


@pytest.fixture
def places(tmp_path):
    """Return a tree and a scratch directory."""
    folders = tmp_path / "work/tree", tmp_path / "work/scratch"
    for each in folders:
        each.mkdir(parents=True)
    return folders


@pytest.fixture
def run(sandbox, places):
    """Return a function that runs a shell script, or another command, in the sandbox."""
    tree, scratch = places

    def run(*command, env=None, timeout_seconds=30.0, **options):
        parts = command if len(command) > 1 else ("sh", "-c", *command)
        return attrs.evolve(sandbox, **options).run(
            parts, tree=tree, scratch=scratch, env=env or {}, timeout_seconds=timeout_seconds
        )

    return run


@pytest.fixture
def word():
    """Return a word that identifies a test's processes."""
    return f"word-{uuid.uuid4()}"


@pytest.fixture
def leftovers(find_containers):  # noqa: F811
    """Return a function that waits a while and names the containers that are left."""

    def find(within_seconds=0.0):
        deadline = time.monotonic() + within_seconds
        while (found := find_containers()) and time.monotonic() < deadline:
            time.sleep(0.1)
        return found

    return find


@pytest.fixture
def start_caller(sandbox, tmp_path, find_containers, word):  # noqa: F811
    """Return a function that starts a process which makes containers, and awaits one."""
    callers = []

    def start(script, *, containers=1):
        folder = tmp_path / f"caller-{len(callers)}"
        caller = subprocess.Popen(
            [sys.executable, "-c", CALLER + script, sandbox.image, folder],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "WORD": word},
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        callers.append(caller)
        deadline = time.monotonic() + 60
        while len(find_containers(running=True)) < containers:
            assert caller.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return caller

    yield start
    for caller in callers:
        caller.kill()
        caller.communicate()


# --- the tree -----------------------------------------------------------------


@pytest.fixture
def slow_starts(monkeypatch):
    """Make the engine slow to answer after a container's start, as on a busy machine."""
    start = Engine.start

    def start_slowly(self, name):
        start(self, name)
        time.sleep(0.2)

    monkeypatch.setattr(Engine, "start", start_slowly)


@pytest.mark.usefixtures("slow_starts")
def test_changed_files_of_the_tree_are_reported(run, places):
    """Even if they are restored with their times; files that are new are not."""
    tree, _ = places
    for name in ("kept", "gone", "rewritten", "sub/moved", "far/away"):
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text("old")
    script = """
rm gone
printf new > rewritten; printf old > rewritten; touch -d @0 rewritten
mv sub/moved away; mv away sub/moved
mv far gone; mv gone far
touch new
"""

    assert run(script).changed_files == {"gone", "rewritten", "sub/moved", "far/away"}
    assert (tree / "gone").exists()
    assert run("cat kept; touch sub/new").changed_files == set()


# --- what the command is ------------------------------------------------------


def test_root_has_no_privileges(run):
    """No capability is left, none can be gained, and system calls are filtered."""
    execution = run("grep -E '^(Cap(Eff|Bnd)|NoNewPrivs|Seccomp):' /proc/self/status")

    words = dict(line.split() for line in execution.output.decode().splitlines())
    assert {words["CapEff:"], words["CapBnd:"]} == {"0" * 16}
    assert (words["NoNewPrivs:"], words["Seccomp:"]) == ("1", "2")


@pytest.mark.parametrize(
    "user",
    [
        "1000:1000",
        pytest.param("1000", marks=pytest.mark.long),
        pytest.param("somebody", marks=pytest.mark.long),
    ],
)
def test_another_user_may_write_where_root_may(run, places, user):
    """The tree, the scratch directory and the home; the user is a number or a name."""
    tree, scratch = places
    (tree / "sub").mkdir()
    (tree / "sub/f").write_text("x")
    script = f"id -u; echo y >sub/f; echo z >sub/new; echo h >$HOME/h; cp sub/f {scratch}/out"

    execution = run(script, user=user)

    assert (execution.exit_code, execution.output) == (0, b"1000\n")
    assert (scratch / "out").read_text() == "y\n"


@pytest.mark.long
def test_an_unknown_user_is_the_sandboxs_failure(run, leftovers):
    """The error has the engine's message, and no container is left."""
    with pytest.raises(SandboxError, match="nobody-at-all"):
        run("true", user="nobody-at-all")

    assert leftovers() == []


@pytest.mark.long
def test_there_is_a_network_only_on_request(run):
    """Otherwise there is only the loopback interface."""
    execution = run("cat /proc/net/dev", network=True)

    assert len(execution.output.splitlines()) > 3


@pytest.mark.long
def test_processors_are_bounded(run):
    """The engine limits the time of two busy processes."""
    script = """
for n in 1 2; do (while [ ! -e "$0" ]; do :; done) & done; sleep 1; : >"$0"; wait
cat /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu/cpu.cfs_quota_us 2>/dev/null
"""

    execution = run("sh", "-c", script, "stop", cpus=0.5)

    assert execution.output.split()[0] == b"50000"


def test_the_tree_may_have_another_path(run, places):
    """Its path is replaced in arguments and variables."""
    tree, _ = places
    (tree / "f").write_text("found\n")
    command = ("sh", "-c", 'pwd; cat "$0/f" "$F"; echo $P', str(tree))

    execution = run(
        *command, env={"F": f"{tree}/f", "P": f"/x:{tree}:{tree}/y"}, tree_at="/a/b", workdir="/bin"
    )

    assert execution.output.decode() == "/bin\nfound\nfound\n/x:/a/b:/a/b/y\n"


def test_files_are_copied_in_as_they_are(run, places):
    """Executables, links, empty folders, long and undecodable names; not sockets and pipes."""
    tree, _ = places
    (tree / "x").write_text("#!/bin/sh\necho ran\n")
    (tree / "x").chmod(0o755)
    (tree / "link").symlink_to("../../../../../../etc/passwd")
    (tree / "folder" / "empty").mkdir(parents=True)
    (tree / os.fsdecode(b"odd \xff\n")).write_bytes(b"odd\n")
    (tree / ("n" * 200) / ("m" * 200)).mkdir(parents=True)
    (tree / ("n" * 200) / ("m" * 200) / "deep").write_text("deep\n")
    os.mkfifo(tree / "pipe")
    script = "./x; readlink link; ls folder; cat odd*; cat */*/deep; ls -F | grep pipe"

    execution = run(script)

    assert execution.output.decode() == "ran\n../../../../../../etc/passwd\nempty\nodd\ndeep\n"


@pytest.mark.long
def test_a_patch_of_any_size_is_copied_in(run, places):
    """Defect 26: files are sent as an archive, not in an argument of 128 kB."""
    tree, _ = places
    (tree / "patch").write_bytes(os.urandom(5 << 20))

    execution = run("wc -c <patch")

    assert execution.output == b"5242880\n"


@pytest.mark.long
def test_without_a_shell_the_command_is_the_first_process(run):
    """Both streams arrive, arguments are unchanged, a missing command is an error."""
    script = 'echo $$; echo err >&2; echo "$0"; exit 3'

    execution = run("sh", "-c", script, "a 'b'", shell=None)

    assert execution.exit_code == 3
    assert sorted(execution.output.splitlines()) == [b"1", b"a 'b'", b"err"]
    for command in ("no-such-command", "/etc/passwd", "/etc"):
        with pytest.raises(TestRunError, match="cannot be started") as caught:
            run(command, "x", shell=None)
        assert not isinstance(caught.value, SandboxError)
        assert caught.value.command == (command, "x")


def test_without_a_shell_only_text_is_accepted(run):
    """Otherwise the engine would silently change it."""
    with pytest.raises(TestRunError, match="arguments must be valid text"):
        run("echo", "\udcff", shell=None)


@pytest.mark.long
def test_an_image_without_the_shell_is_an_error(run):
    """The error names the missing shell."""
    with pytest.raises(TestRunError, match="/bin/no-shell"):
        run("true", shell="/bin/no-shell")  # noqa: S604 - a path


@pytest.mark.long
@pytest.mark.parametrize("shell", ["/bin/sh", "/bin/ash"])
def test_a_started_command_cannot_pretend_that_it_did_not_start(run, shell, monkeypatch):
    """Neither its exit status nor its output can show that."""
    monkeypatch.setattr("secrets.token_hex", lambda: "secret-word")
    script = "cat /proc/*/cmdline /proc/*/environ; env; set; cat $HOME/../*; exit 127"

    execution = run(script, shell=shell)

    assert execution.exit_code == 127
    assert b"secret-word" not in execution.output


# --- what the engine is -------------------------------------------------------


@pytest.mark.long
def test_a_missing_image_is_the_callers_mistake(engine, places):  # noqa: F811
    """It is not if the image may be pulled but its registry cannot be reached."""
    tree, scratch = places
    absent = ContainerSandbox(image="localhost:1/no-such/image:1", pull=False)

    with pytest.raises(TestRunError, match="there is no image localhost:1/no-such/image:1") as own:
        _ = absent.identity
    assert not isinstance(own.value, SandboxError)
    with pytest.raises(SandboxError, match="cannot be pulled") as caught:
        attrs.evolve(absent, pull=True).run(
            ("true",), tree=tree, scratch=scratch, env={}, timeout_seconds=5
        )

    assert caught.value.command == ("true",)


class Registry:
    """Stands in for an engine's client, and counts attempts to pull a missing image."""

    def __init__(self, *steps):
        self.hooks = {"response": []}
        self.steps = steps
        self.pulls = 0

    def inspect_image(self, name):
        raise NotFound(f"no {name}")

    def pull(self, *_, **__):
        self.pulls += 1
        for step in self.steps:
            if isinstance(step, Exception):
                raise step
            yield step


@pytest.mark.parametrize(
    "step",
    [
        NotFound("pull access denied for x, repository does not exist"),
        APIError("reading manifest 1 in here/x: manifest unknown"),
        {"error": "reading manifest 1: requested access to the resource is denied"},
        {"error": 'short-name "x" did not resolve to an alias'},
        {"status": "done"},
    ],
    ids=["docker", "podman", "stream", "short", "pulled"],
)
def test_an_image_that_no_registry_has_is_the_callers_mistake(step):
    """This holds for any wording of the engine or registry: a retry is useless."""
    client = Registry({"status": "looking"}, step)

    with pytest.raises(TestRunError, match="there is no image any:1") as caught:
        Engine(client, "here").image("any:1", pull=True)

    assert not isinstance(caught.value, SandboxError)


@pytest.mark.parametrize(
    "step",
    [
        {"error": "dial tcp: lookup registry: no such host"},
        APIError("toomanyrequests: you have reached your pull rate limit"),
    ],
    ids=["stream", "refusal"],
)
def test_an_unreachable_registry_is_asked_once_a_minute(step, monkeypatch):
    """It fails slowly; other engines and images are not affected."""
    now = 1e6
    monkeypatch.setattr(engine_module, "time", SimpleNamespace(monotonic=lambda: now))
    client, word = Registry(step), uuid.uuid4().hex

    def pull(address="here", image="image"):
        with pytest.raises(SandboxError, match="cannot be pulled"):
            Engine(client, f"{word} {address}").image(f"denied/{image}", pull=True)
        return client.pulls

    assert [pull(), pull(), pull("there"), pull(image="other")] == [1, 1, 2, 3]
    now += 61
    assert [pull(), pull()] == [4, 4]


def test_an_engine_that_does_not_answer_is_the_sandboxs_failure(places):
    """This holds for every request; the error can be pickled."""
    tree, scratch = places
    sandbox = ContainerSandbox(image="any", base_url=ABSENT)

    with pytest.raises(SandboxError, match="no container engine answers") as caught:
        sandbox.run(("true",), tree=tree, scratch=scratch, env={}, timeout_seconds=5)
    with pytest.raises(SandboxError, match="no container engine answers"):
        reap_containers(base_url=ABSENT)

    assert caught.value.command == ("true",)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301 - ours


def test_a_missing_sdk_is_the_sandboxs_failure(monkeypatch):
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, "docker.constants", None)

    with pytest.raises(SandboxError, match=r"cooperbench-eval\[containers\]"):
        _ = ContainerSandbox(image="any").identity


def test_the_identity_has_the_digest_and_options_that_affect_verdicts(sandbox):
    """Names do not count; limits, the network and the user do."""
    digest = next(word for word in sandbox.identity.split() if word.startswith("sha256:"))

    assert attrs.evolve(sandbox, image=digest).identity == sandbox.identity
    for option in (
        {"network": True},
        {"memory_bytes": 1 << 30},
        {"cpus": 1},
        {"processes": 9},
        {"user": "1"},
        {"own_home": False},
        {"tree_at": "/x"},
        {"workdir": "/x"},
        {"shell": None},
    ):
        assert attrs.evolve(sandbox, **option).identity != sandbox.identity


# --- what comes back ----------------------------------------------------------


def test_only_plain_files_are_copied_back(run, places):
    """Links, pipes and empty folders are not; existing links are not followed."""
    tree, scratch = places
    outside = tree.parent / "outside"
    outside.write_text("host's")
    (scratch / "mine").symlink_to(outside)
    script = f"""
cd {scratch}; rm mine; echo theirs >mine; mkdir -p a/b c; echo r >a/b/r; ln -s / d; mkfifo p
ln -s /etc/passwd l; chmod 0 a/b/r; echo 'echo ran' >x; chmod +x x; : >"$(printf 'odd\\377\\nname')"
"""

    run(script)

    files = {os.fsencode(p.relative_to(scratch)) for p in scratch.rglob("*") if not p.is_dir()}
    assert files == {b"mine", b"a/b/r", b"x", b"odd\xff\nname"}
    assert not any(path.is_symlink() for path in scratch.rglob("*"))
    assert (outside.read_text(), (scratch / "mine").read_text()) == ("host's", "theirs\n")
    assert [os.access(scratch / name, os.X_OK) for name in ("x", "mine")] == [True, False]


@pytest.mark.long
@pytest.mark.parametrize(
    "script",
    [
        "rm -r {0}",
        "rm -r {0}; ln -s / {0}",
        "rm -r {0}; ln -s {0} {0}",
        "rm -r {0}; mkfifo {0}",
        "rm -r {0}; echo no folder >{0}",
        "cd {0}; while mkdir dddddddddddddddddddd && cd dd*; do :; done 2>/dev/null; true",
        "truncate -s 900G {0}/sparse",
        "nc -lU {0}/socket & sleep 0.2",
        "chmod 0 {0}; mount -t tmpfs x {0}; true",
    ],
    ids=["gone", "root", "loop", "pipe", "file", "deep", "sparse", "socket", "mounted"],
)
def test_files_that_confuse_an_engine_do_no_harm(run, places, leftovers, script):
    """The run has its result in time, and no file of the host changes."""
    _, scratch = places
    started = time.monotonic()

    execution = run(script.format(scratch))

    assert execution.exit_code in {0, 143}
    assert time.monotonic() - started < 15
    assert sum(each.stat().st_size for each in scratch.rglob("*") if each.is_file()) < 4 << 20
    assert leftovers() == []


@pytest.mark.long
def test_the_files_copied_back_are_bounded(run, places, monkeypatch):
    """Their number and size are limited; the others are left out."""
    _, scratch = places
    script = f"cd {scratch}; for n in 1 2 3 4 5; do head -c 1000 /dev/zero >$n; done"
    for most_files, most_bytes in ((2, 10_000), (10, 2_500)):
        monkeypatch.setattr(container_run, "_MOST_FILES", most_files)
        monkeypatch.setattr(container_run, "_MOST_BYTES", most_bytes)

        run(script)

        files = list(scratch.iterdir())
        assert len(files) == 2
        for each in files:
            each.unlink()


# --- the deadline -------------------------------------------------------------


def seconds_of(call):
    """Return how long a call takes."""
    started = time.monotonic()
    call()
    return time.monotonic() - started


def test_a_deadline_is_kept(run, leftovers):
    """Defect 25: CooperBench's evaluator ignores its deadline and kills nothing."""
    executions = []
    seconds = seconds_of(
        lambda: executions.append(run("trap '' TERM; while :; do sleep 1; done", timeout_seconds=1))
    )

    assert executions[0].timed_out
    assert 1 <= executions[0].duration_seconds < 2
    assert seconds < 5 + seconds_of(lambda: run("true")), "a busy machine is slow at both"
    assert leftovers() == []


@pytest.mark.long
def test_removal_does_not_wait(run):
    """Defect 27: a first process that ignores signals costs no five seconds."""
    seconds = seconds_of(lambda: run("trap '' TERM; sleep 30 & exit 0"))

    assert seconds < 4 + seconds_of(lambda: run("true")), "a busy machine is slow at both"


# --- what is left -------------------------------------------------------------


@pytest.mark.long
def test_a_failed_creation_leaves_no_container(run, leftovers):
    """Defect 27: no container is left."""
    with pytest.raises(SandboxError):
        run("true", workdir="not absolute")
    with pytest.raises(SandboxError):
        run("true", memory_bytes=1)

    assert leftovers() == []


@pytest.mark.long
def test_files_that_cannot_be_read_are_the_sandboxs_failure(run, places, leftovers, monkeypatch):
    """The container is removed."""
    tree, _ = places
    (tree / "f").write_text("x" * 10)

    def shrinking(path, size):
        del path, size
        raise OSError("it shrank")
        yield

    monkeypatch.setattr(
        "cooperbench_eval.running.sandboxes.containers.archives._contents", shrinking
    )

    with pytest.raises(SandboxError, match="shrank"):
        run("true")

    assert leftovers() == []


@pytest.mark.long
def test_an_interrupted_caller_leaves_no_container(start_caller, leftovers):
    """Control-C removes the container, and is raised."""
    caller = start_caller("""
try: run("sleep 60", "a")
except KeyboardInterrupt: print("interrupted")
""")

    caller.send_signal(signal.SIGINT)
    output, _ = caller.communicate(timeout=10)

    assert output == b"interrupted\n"
    assert leftovers() == []


def test_a_forked_sibling_does_not_keep_containers_alive(start_caller, leftovers, tmp_path):
    """A forked process does not hold the pipe to the watchdog."""
    caller = start_caller("""
threading.Thread(target=run, args=("sleep 60", "a"), daemon=True).start()
while not (folder / "go").exists(): time.sleep(0.02)
sibling = os.fork()
if sibling: print(sibling, flush=True)
time.sleep(60)
""")
    (tmp_path / "caller-0/go").touch()
    sibling = int(caller.stdout.readline())

    caller.kill()
    caller.wait()

    try:
        assert leftovers(within_seconds=10) == []
        os.kill(sibling, 0)
    finally:
        os.kill(sibling, signal.SIGKILL)


@pytest.mark.long
def test_a_forked_process_has_its_own_watchdog(start_caller, leftovers):
    """Its containers are removed when it ends, and not earlier."""
    caller = start_caller(
        """
run("true", "before")
child = os.fork()
if child == 0: run("sleep 60", "a")
print(child, flush=True)
run("sleep 60", "b")
""",
        containers=2,
    )
    child = int(caller.stdout.readline())

    os.kill(child, signal.SIGKILL)

    deadline = time.monotonic() + 10
    while len(leftovers()) > 1:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    caller.kill()
    caller.wait()
    assert leftovers(within_seconds=10) == []


@pytest.mark.long
def test_a_process_that_ends_does_not_wait_for_its_watchdog(start_caller, word):
    """The watchdog ends with it."""
    script = "run('true', 'a'); print('done', flush=True); run('sleep 1', 'b')"
    caller = start_caller(script, containers=0)
    assert caller.stdout.readline() == b"done\n"
    watchdogs = watchdogs_of(word)

    caller.wait(10)

    started = time.monotonic()
    assert len(watchdogs) == 1
    while alive(watchdogs):
        assert time.monotonic() - started < 3
        time.sleep(0.05)


@pytest.mark.parametrize("program", [sys.executable, "/no-such-python"])
def test_without_a_watchdog_no_container_is_created(run, leftovers, monkeypatch, program):
    """If none can be started, that is the sandbox's failure."""
    monkeypatch.setattr(container_run, "GUARD", guard.Guard())
    monkeypatch.setattr(guard, "_SCRIPT", Path("/no-such-script"))
    monkeypatch.setattr("sys.executable", program)

    with pytest.raises(SandboxError, match="watchdog cannot be started"):
        run("true")

    assert leftovers() == []


@pytest.mark.long
def test_a_killed_watchdog_is_replaced(start_caller, leftovers, tmp_path, word):
    """The new one covers later containers and those that run."""
    caller = start_caller("""
threading.Thread(target=run, args=("sleep 60", "a"), daemon=True).start()
while not (folder / "go").exists(): time.sleep(0.02)
run("true", "b")
print("ready", flush=True)
time.sleep(60)
""")
    watchdogs = watchdogs_of(word)
    assert len(watchdogs) == 1

    os.kill(watchdogs[0], signal.SIGKILL)
    (tmp_path / "caller-0/go").touch()
    assert caller.stdout.readline() == b"ready\n"
    caller.kill()
    caller.wait()

    assert leftovers(within_seconds=10) == []


@pytest.mark.long
def test_leftover_containers_are_reaped(start_caller, leftovers, word):
    """Only those of processes that have ended."""
    gone = start_caller("run('sleep 60', 'a')")
    (watchdog,) = watchdogs_of(word)
    there = start_caller("run('sleep 60', 'a')", containers=2)
    os.kill(watchdog, signal.SIGKILL)
    gone.kill()
    gone.wait()
    assert len(leftovers()) == 2

    assert reap_containers() >= 1

    assert len(leftovers()) == 1
    there.kill()
    assert leftovers(within_seconds=10) == []


def test_an_owner_is_gone_when_its_process_has_ended():
    """Its start time counts, not only its number; other machines' processes are unknown."""
    process = subprocess.Popen(["sleep", "60"])
    owner = owner_of(process.pid)
    assert not is_gone(owner)

    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    assert is_gone(owner)
    process.wait()
    assert is_gone(owner)
    assert is_gone(f"{owner_of(os.getpid())}1")
    assert not is_gone(f"another-boot:1/{process.pid}/5")
    assert not is_gone("nonsense")


def watchdogs_of(word):
    """Return the watchdogs of processes that have a word in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command, variables = ((folder / n).read_bytes() for n in ("cmdline", "environ"))
            if b"/watchdog.py" in command and word.encode() in variables:
                found.append(int(folder.name))
    return found


def alive(process_ids):
    """Return whether any of these is alive."""
    return any(Path(f"/proc/{each}").exists() for each in process_ids)


@pytest.mark.long
def test_a_request_during_the_end_of_a_process_is_retried(run, monkeypatch):
    """Podman may fail then; an error that stays is raised."""
    stumbles = [3, 1000]
    asked = engine_module.Engine._state

    def stumbling(self, name):
        if stumbles[0]:
            stumbles[0] -= 1
            raise SandboxError("no such process")
        return asked(self, name)

    monkeypatch.setattr(engine_module.Engine, "_state", stumbling)

    assert run("true").exit_code == 0
    stumbles.pop(0)
    with pytest.raises(SandboxError, match="no such process"):
        run("true")

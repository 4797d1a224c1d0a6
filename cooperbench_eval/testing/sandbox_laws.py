"""The laws of sandboxes, each with its check.

Scripts are plain `sh` with the tools of busybox, so that a bare image can run them.
"""

import itertools
import os
import pickle
import socket
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from attrs import field, frozen

from cooperbench_eval.errors import SandboxError, TestRunError, WorkerError
from cooperbench_eval.running.processes.worker import dumps, read_reply, worker_command, write_call
from cooperbench_eval.running.sandboxes.protocol import Execution, Sandbox
from cooperbench_eval.running.sandboxes.registry import as_sandbox
from cooperbench_eval.testing.laws import Law, UncheckedError, law_maker
from cooperbench_eval.testing.sandbox_bench import SandboxBench


@frozen(kw_only=True)
class SandboxLaw(Law):
    """A law of sandboxes.

    Attributes:
        isolates: Whether it applies only to sandboxes that claim to isolate.
    """

    isolates: bool = False
    check: Callable[[SandboxBench], None] = field(repr=False, eq=False)

    def __reduce__(self) -> str:
        return f"_{self.name}"  # pickled as the object of that name in this module


_LAWS: list[SandboxLaw] = []
_law = law_maker(SandboxLaw, _LAWS)


# --- the command ------------------------------------------------------------------------

_MANY_ARGUMENTS = 10_000


@_law("The identity begins with the name, never changes, and a pickled copy has the same one.")
def _protocol(bench: SandboxBench) -> None:
    sandbox = as_sandbox(bench.sandbox)
    bench.runs += 1
    try:
        first, again = sandbox.identity, sandbox.identity
        copy = pickle.loads(dumps(sandbox))  # noqa: S301 - made here
        there = copy.identity
    except SandboxError as exc:
        raise UncheckedError(str(exc)) from exc
    # Pickling, and computing an identity, may raise anything.
    except Exception as exc:  # noqa: BLE001
        bench.fail(came=f"raised {exc!r}", wanted="an identity, and a copy by pickle", cause=exc)
    wanted = f"an identity that begins with the name {sandbox.name!r}"
    is_right = bool(sandbox.name) and isinstance(first, str) and first.startswith(sandbox.name)
    bench.expect(is_right, came=repr(first), wanted=wanted)
    bench.expect(first == again, came=f"{first!r} and then {again!r}", wanted="the same again")
    bench.expect(first == there, came=f"{there!r} of a copy by pickle", wanted=repr(first))


@_law("A megabyte of arguments arrives intact, whatever characters they contain.")
def _arguments(bench: SandboxBench) -> None:
    odd = "\udcff é\n'\"$HOME\\"
    many = [f"{number:0100}" for number in range(_MANY_ARGUMENTS)]
    script = 'printf "%s|%s|" "$2" "$ODD"; shift 9999; echo $# "$2" "$3"'

    execution = bench.run(script, odd, *many, env={"ODD": odd})

    ends = f"3 {many[-2]} {many[-1]}\n".encode()
    bench.expect_output(execution, b"|".join([os.fsencode(odd)] * 2) + b"|" + ends)


@_law("The command gets its own variables, HOME and TMPDIR; the caller's do not leak or change.")
def _environment(bench: SandboxBench) -> None:
    name, secret = "COOPERBENCH_EVAL_CHECK_KEY", "s3cret-of-the-caller"
    script = (
        "env; tr '\\0' '\\n' </proc/1/environ; "
        'for d in "$HOME" "$TMPDIR"; do echo found >"$d/f" && cat "$d/f"; done'
    )
    before, folder = dict(os.environ), Path.cwd()
    os.environ[name] = secret
    try:
        execution = bench.run(script, env={"MINE": "1"})
        now = dict(os.environ)
        here = Path.cwd()
    finally:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(before)
    changed = [v for v in now | before if now.get(v) != (before | {name: secret}).get(v)]
    bench.expect(not changed, came=f"the caller's {changed} changed", wanted="none of them")
    bench.expect(here == folder, came=f"the caller is in {here}", wanted=f"in {folder} as before")
    lines = execution.output.split(b"\n")
    leaks = [line for line in lines if secret.encode() in line]
    bench.expect(not leaks, came=f"the caller's variable: {leaks}", wanted="none of these")
    bench.expect(b"MINE=1" in lines, came=execution, wanted="the variable MINE=1")
    wanted = "a writable HOME and TMPDIR"
    bench.expect(lines[-3:] == [b"found", b"found", b""], came=execution, wanted=wanted)


@_law("Standard input is empty, so a command that reads from it does not wait.")
def _input(bench: SandboxBench) -> None:
    bench.expect_output(bench.run("cat; echo end", timeout_seconds=2), b"end\n")


@_law("The command starts in its tree and may change it; scratch files go in and come back.")
def _files(bench: SandboxBench) -> None:
    tree, scratch = bench.places()
    (tree / "hello").write_bytes(b"hello\xff")
    (scratch / "in").write_bytes(b"from the caller")
    script = (
        "ls -A && cat hello && echo changed >hello && cat hello "
        """&& cat "$1/in" >"$1/out" && printf '\\377' >>"$1/out" """
    )

    execution = bench.run(script, where=(tree, scratch))

    bench.expect_output(execution, b"hello\nhello\xffchanged\n")
    out = scratch / "out"
    came = out.read_bytes() if out.is_file() else None
    wanted = "in the scratch directory, after the run, b'from the caller\\xff' as `out`"
    bench.expect(came == b"from the caller\xff", came=repr(came), wanted=wanted)


# --- the result -------------------------------------------------------------------------

_MEBIBYTE = 1 << 20
_SOME_LINES = 10_000  # about 50 kB: little enough to be kept whole
_MOST_OUTPUT = 10 * _MEBIBYTE
_MOST_MEMORY = 50 * _MEBIBYTE
_SIGNALS = {"KILL": 9, "SEGV": 11}


@_law("Exit statuses are reported unchanged, and a signal by its number.")
def _exit_status(bench: SandboxBench) -> None:
    for status in (0, 3, 126, 255):
        execution = bench.run(f"exit {status}")
        more = (execution.timed_out, execution.output, execution.reason, execution.out_of_memory)
        is_right = execution.exit_code == status and not any(more)
        bench.expect(is_right, came=execution, wanted=f"exit status {status} and nothing else")
    for name, number in _SIGNALS.items():
        execution = bench.run(f"kill -{name} $$; sleep 9")
        is_right = execution.exit_code in {-number, 128 + number}
        is_right &= not (execution.timed_out or execution.out_of_memory)
        wanted = f"exit status {-number} or {128 + number}, because SIG{name} killed it"
        bench.expect(is_right, came=execution, wanted=wanted)


@_law("A command that cannot be started raises a TestRunError that names the command.")
def _cannot_start(bench: SandboxBench) -> None:
    tree, scratch = bench.places()
    (tree / "plain").write_text("not a program")
    odd = "\ud800"  # half of a character, which has no bytes
    commands = [("no-such-command", "x"), ("./missing.sh",), ("./plain",), ("true", odd)]
    for command, env in [*((each, {}) for each in commands), (("true",), {"A": odd})]:
        bench.ask(f"(no script, but the command {command!r})", env=env)
        try:
            came: object = bench.sandbox.run(
                command, tree=tree, scratch=scratch, env=env, timeout_seconds=9
            )
        except SandboxError as exc:
            came = f"the failure of the sandbox: {exc}"
        except TestRunError as exc:
            if exc.command == command:
                continue
            came = f"a TestRunError about the command {exc.command!r}"
        # The protocol allows no other error.
        except Exception as exc:  # noqa: BLE001
            came = f"it raised {exc!r}"
        bench.fail(came=came, wanted="a TestRunError with that command")


@_law("Standard output and error arrive as one stream of bytes, in order, whole unless large.")
def _output(bench: SandboxBench) -> None:
    odd = "printf 'a\\377'; printf 'b\\200\\n' >&2; printf 'c\\0d\\r\\n\\t\\033[1m\\n'"
    execution = bench.run(f"{odd}; seq {_SOME_LINES}")

    lines = b"".join(b"%d\n" % number for number in range(1, _SOME_LINES + 1))
    bench.expect_output(execution, b"a\xffb\x80\nc\0d\r\n\t\x1b[1m\n" + lines)


@_law("Of half a gigabyte of output, the beginning and the end are kept, in little memory.")
def _large_output(bench: SandboxBench) -> None:
    is_traced = tracemalloc.is_tracing()
    tracemalloc.start()
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    try:
        execution = bench.run("echo start; yes xxxxxxx | head -c 200000000; echo end")
    finally:
        _, peak = tracemalloc.get_traced_memory()
        if not is_traced:
            tracemalloc.stop()
    kept = execution.output
    is_right = kept.startswith(b"start\nxxxxxxx\n") and kept.endswith(b"xxxxxxx\nend\n")
    bench.expect(is_right, came=execution, wanted="the first lines and the last ones")
    size = f"{len(kept):,} bytes of output, with {peak - before:,} bytes of memory for it"
    is_small = len(kept) < _MOST_OUTPUT and peak - before < _MOST_MEMORY
    wanted = f"the middle cut out: {_MOST_OUTPUT:,} bytes at most, with {_MOST_MEMORY:,}"
    bench.expect(is_small, came=size, wanted=wanted)
    bench.run_to_the_deadline("yes", timeout_seconds=0.5)


# --- what is left -----------------------------------------------------------------------

_CLOCKS_DIFFER = 0.1

# Starts a child, and a daemon that left the session by a double fork and ignores signals.
# Both hold the output open. $0 is the word that identifies them, so the script must not end
# in a program: many shells then become that program instead of waiting for it.
_DAEMONS = """
loop='while :; do sleep 1; done'
sh -c "$loop" "$0" &
(setsid sh -c "trap '' TERM INT HUP; echo daemon; : >started; $loop" "$0" &)
while [ ! -e started ]; do sleep 0.02; done
"""
_PROCESSES = 3  # the command and those two


@_law("At the deadline, near or far, all descendants are killed; the result says so, and when.")
def _deadline(bench: SandboxBench) -> None:
    execution = bench.run_to_the_deadline(_DAEMONS + "sleep 20; exit", timeout_seconds=1)
    is_right = execution.output == b"daemon\n"
    bench.expect(is_right, came=execution, wanted="the output from before the deadline")
    bench.expect_nothing_left(files=False)
    for seconds in (2.2e6, 1e12):  # beyond the range of some clocks and waits
        started = time.monotonic()
        execution = bench.run("sleep 0.1; exit 3", timeout_seconds=seconds)
        took = time.monotonic() - started
        bench.expect(execution.exit_code == 3, came=execution, wanted="exit status 3")  # noqa: PLR2004
        reported = execution.duration_seconds
        wanted = f"more than 0 and at most {took:.3f} seconds, which the call took"
        is_right = 0 < reported <= took + _CLOCKS_DIFFER
        bench.expect(is_right, came=f"{reported:.3f} seconds", wanted=wanted)


@_law("After a normal end, no descendant and no temporary file is left.")
def _nothing_left(bench: SandboxBench) -> None:
    with bench.at_most(bench.slack_seconds):
        execution = bench.run(_DAEMONS + "exit 3")
    bench.expect_output(execution, b"daemon\n", status=3)
    bench.expect_nothing_left()


# --- callers ----------------------------------------------------------------------------

_CALLER_SECONDS = 60.0


@contextmanager
def _caller(
    bench: SandboxBench, script: str, *, closed: Sequence[int] = ()
) -> Iterator[tuple["subprocess.Popen[bytes]", Path]]:
    """Yield a process that runs *script*, and the folder of its reply; finally kill it."""
    tree, scratch = bench.places()
    bench.ask(script)
    command = bench.command(script, scratch)
    try:
        write_call(tree.parent, call_sandbox, (bench.sandbox, command, tree, scratch, closed), {})
    except WorkerError as exc:
        raise UncheckedError(str(exc)) from exc
    caller = subprocess.Popen(worker_command(tree.parent))  # noqa: S603 - this interpreter
    try:
        yield caller, tree.parent
    finally:
        caller.kill()
        caller.wait()


def call_sandbox(
    sandbox: Sandbox, command: Sequence[str], tree: Path, scratch: Path, closed: Sequence[int]
) -> Execution:
    """Close some descriptors and run a command, in a process that a law starts."""
    for fd in closed:
        os.close(fd)
    return sandbox.run(command, tree=tree, scratch=scratch, env={}, timeout_seconds=_CALLER_SECONDS)


@_law("If the caller is killed, the command and all its descendants die.")
def _killed_caller(bench: SandboxBench) -> None:
    with _caller(bench, _DAEMONS + "sleep 30; exit") as (caller, _):
        deadline = time.monotonic() + _CALLER_SECONDS
        while (seen := len(bench.processes())) < _PROCESSES:
            problem = f"{seen} of the command's {_PROCESSES} processes are visible from outside"
            if caller.poll() is not None:
                raise UncheckedError(f"{problem}, and its caller ended with {caller.returncode}")
            if time.monotonic() > deadline:
                raise UncheckedError(problem)
            time.sleep(0.02)
    bench.expect_nothing_left(bench.patience_seconds, files=False)


@_law("A caller without standard streams, such as a daemon, gets the same results.")
def _no_streams(bench: SandboxBench) -> None:
    script, wanted = "cat; echo out; echo err >&2; exit 3", "exit status 3"
    with _caller(bench, script, closed=(0, 1, 2)) as (caller, folder):
        try:
            caller.wait(_CALLER_SECONDS)
        except subprocess.TimeoutExpired:
            bench.fail(came="it did not end", wanted=wanted)
        reply = read_reply(folder)
    if reply is None:
        bench.fail(came=f"the caller ended with {caller.returncode}", wanted=wanted)
    if not reply.is_value and not reply.traceback:
        raise UncheckedError(reply.problem)
    if not reply.is_value:
        bench.fail(came=reply.problem, wanted=wanted)
    bench.expect_output(reply.value(), b"out\nerr\n", status=3)


@_law("Runs in parallel threads have their own output and files, and leave nothing behind.")
def _many_at_once(bench: SandboxBench) -> None:
    script = """
(setsid sh -c 'while :; do sleep 1; done' "$0" &)
echo "$2" >"$1/result"; echo "$2"
"""
    places = [bench.places() for _ in range(bench.parallel_runs)]

    with ThreadPoolExecutor(bench.parallel_width) as pool:
        numbers = map(str, itertools.count())
        executions = list(pool.map(lambda n, w: bench.run(script, n, where=w), numbers, places))

    for number, (execution, (_, scratch)) in enumerate(zip(executions, places, strict=True)):
        printed = b"%d\n" % number
        bench.expect_output(execution, printed)
        kept = scratch / "result"
        is_right = kept.is_file() and kept.read_bytes() == printed
        wanted = f"the file of run {number} in its own scratch directory"
        bench.expect(is_right, came="another file", wanted=wanted)
    bench.expect_nothing_left()


# --- isolation --------------------------------------------------------------------------

_FEW_PROCESSES = 10
_ABSENT = "the command does not see it"


@_law("If the sandbox isolates, the command cannot reach the network.", isolates=True)
def _network(bench: SandboxBench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        execution = bench.run("cat /proc/net/dev; echo; cat /proc/net/tcp")
    devices, _, sockets = execution.output.decode(errors="replace").partition("\n\n")
    names = [line.split(":")[0].strip() for line in devices.splitlines()[2:]]
    bench.expect(names == ["lo"], came=f"the devices {names}", wanted="only lo")
    is_right = f":{port:04X} " not in sockets
    bench.expect(is_right, came="a server of the caller's machine", wanted=_ABSENT)


@_law(
    "If the sandbox isolates, the command can neither read nor replace files beside the tree.",
    isolates=True,
)
def _other_files(bench: SandboxBench) -> None:
    secret = bench.folder / "secret"
    secret.write_text("s3cret")

    execution = bench.run('cat "$2"; echo changed >"$2"; ls "${2%/*}"', str(secret))

    is_provisional = b"s3cret" not in execution.output
    bench.expect(is_provisional, came="a file beside the tree was read", wanted=_ABSENT)
    is_same = secret.read_text() == "s3cret"
    bench.expect(is_same, came="a file beside the tree was replaced", wanted=_ABSENT)


@_law(
    "If the sandbox isolates, the command can neither see nor signal other processes.",
    isolates=True,
)
def _other_processes(bench: SandboxBench) -> None:
    with subprocess.Popen((sys.executable, "-c", "input()"), stdin=subprocess.PIPE) as other:
        execution = bench.run(f"ls -d /proc/[0-9]* | wc -l; kill -9 {other.pid}; true")
        is_alive = other.poll() is None
        other.kill()
    first = (execution.output.split() or [b"?"])[0]
    is_right = first.isdigit() and int(first) < _FEW_PROCESSES
    bench.expect(is_right, came=f"{first.decode()} processes", wanted="only its own few")
    bench.expect(is_alive, came="a process of the machine was killed", wanted=_ABSENT)


@_law(
    "If the sandbox isolates, the system's folders hold nothing from an earlier run.",
    isolates=True,
)
def _clean_start(bench: SandboxBench) -> None:
    folders = 'for d in / /tmp /var/tmp /dev/shm "$HOME" "$TMPDIR"; do '
    first = bench.run(folders + f'echo x >"$d/{bench.word}"; done 2>/dev/null; true')
    # A file that is seen again may be on the machine itself, so it is removed.
    seen = f'f="$d/{bench.word}"; ls "$f" && rm -f "$f"; done 2>/dev/null; true'
    second = bench.run(folders + seen)
    bench.expect(first.exit_code == 0, came=first, wanted="exit status 0")
    bench.expect_output(second, b"")


SANDBOX_LAWS: Final[tuple[SandboxLaw, ...]] = tuple(_LAWS)

"""The laws of sandboxes, and how each is checked.

Scripts are plain `sh` with what busybox has, so that a bare image will do.
"""

import itertools
import os
import pickle
import socket
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from attrs import field, frozen

from cooperbench_eval.apart.pickling import dumps
from cooperbench_eval.errors import SandboxError, TestRunError
from cooperbench_eval.running.sandboxes.protocol import Execution
from cooperbench_eval.running.sandboxes.registry import as_sandbox
from cooperbench_eval.testing.records import Law, UncheckedError
from cooperbench_eval.testing.sandbox_bench import SandboxBench

__all__ = ["CALLER", "DAEMONS", "SANDBOX_LAWS", "SandboxLaw", "call_from_elsewhere"]

_CLOCKS_DIFFER = 0.1
_MEBIBYTE = 1 << 20
_MANY_ARGUMENTS = 10_000
_SOME_LINES = 10_000  # some 50 kB: little enough to be kept whole
_MOST_OUTPUT = 10 * _MEBIBYTE
_MOST_MEMORY = 50 * _MEBIBYTE
_CALLER_SECONDS = 60.0
_CANNOT_LOAD = 86  # of `CALLER`
_SIGNALS = {"KILL": 9, "SEGV": 11}

# One child, and one that left the session by a double fork and ignores signals;
# both hold the output open. $0 is the word by which they are known; so what follows must
# not end in a program, which many shells become instead of waiting for it.
DAEMONS = """
loop='while :; do sleep 1; done'
sh -c "$loop" "$0" &
(setsid sh -c "trap '' TERM INT HUP; echo daemon; : >started; $loop" "$0" &)
while [ ! -e started ]; do sleep 0.02; done
"""

# Reads its argument from standard input, because an argument would look like a survivor.
CALLER = """
import os, pickle, sys
try: options, closed = pickle.load(sys.stdin.buffer)
except Exception: sys.exit(86)
for fd in closed: os.close(fd)
sandbox, command, tree, scratch, result = options
execution = sandbox.run(command, tree=tree, scratch=scratch, env={}, timeout_seconds=60)
result.write_bytes(pickle.dumps(execution))
"""


@frozen(kw_only=True)
class SandboxLaw(Law):
    """A law of sandboxes.

    Attributes:
        name: What it is called in results and where somebody opts out.
        asks: What it asks, as a sentence.
        isolates: Whether it is asked of those alone that claim to isolate.
        check: Raises `BrokenError` if a sandbox breaks it.
    """

    isolates: bool = False
    check: Callable[[SandboxBench], None] = field(repr=False, eq=False)


# --- what it is, and what the command gets ---


def _keeps_the_protocol(bench: SandboxBench) -> None:
    sandbox = as_sandbox(bench.sandbox)
    bench.runs += 1
    try:
        first, again = sandbox.identity, sandbox.identity
        copy = pickle.loads(dumps(sandbox))  # noqa: S301 - made here
        there = copy.identity
    except SandboxError as exc:
        raise UncheckedError(str(exc)) from exc
    # Pickling and whatever is done for an identity may raise anything.
    except Exception as exc:  # noqa: BLE001
        bench.fail(came=f"raised {exc!r}", wanted="an identity, and a copy by pickle", cause=exc)
    wanted = f"an identity that begins with the name {sandbox.name!r}"
    is_right = bool(sandbox.name) and isinstance(first, str) and first.startswith(sandbox.name)
    bench.expect(is_right, came=repr(first), wanted=wanted)
    bench.expect(first == again, came=f"{first!r} and then {again!r}", wanted="the same again")
    bench.expect(first == there, came=f"{there!r} of a copy by pickle", wanted=repr(first))


def _passes_arguments(bench: SandboxBench) -> None:
    odd = "\udcff é\n'\"$HOME\\"
    many = [f"{number:0100}" for number in range(_MANY_ARGUMENTS)]
    script = 'printf "%s|%s|" "$2" "$ODD"; shift 9999; echo $# "$2" "$3"'

    execution = bench.run(script, odd, *many, env={"ODD": odd})

    ends = f"3 {many[-2]} {many[-1]}\n".encode()
    bench.expect_output(execution, b"|".join([os.fsencode(odd)] * 2) + b"|" + ends)


def _has_an_environment_of_its_own(bench: SandboxBench) -> None:
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
    wanted = "a HOME and a TMPDIR that can be written"
    bench.expect(lines[-3:] == [b"found", b"found", b""], came=execution, wanted=wanted)


def _has_no_input(bench: SandboxBench) -> None:
    bench.expect_output(bench.run("cat; echo end", timeout_seconds=2), b"end\n")


def _has_its_files(bench: SandboxBench) -> None:
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


# --- how it ends, and what it prints ---


def _tells_exit_statuses(bench: SandboxBench) -> None:
    for status in (0, 3, 126, 255):
        execution = bench.run(f"exit {status}")
        is_right = execution.exit_code == status and not execution.timed_out
        is_right &= not (execution.output or execution.reason or execution.out_of_memory)
        bench.expect(is_right, came=execution, wanted=f"exit status {status} and nothing else")
    for name, number in _SIGNALS.items():
        execution = bench.run(f"kill -{name} $$; sleep 9")
        is_right = execution.exit_code in {-number, 128 + number} and not execution.timed_out
        is_right &= not execution.out_of_memory
        wanted = f"exit status {-number} or {128 + number}, for it died of SIG{name}"
        bench.expect(is_right, came=execution, wanted=wanted)


def _refuses_what_cannot_start(bench: SandboxBench) -> None:
    tree, scratch = bench.places()
    (tree / "plain").write_text("no program")
    odd = "\ud800"  # half of a character: no bytes stand for it
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
        # Whatever else it raises is against the protocol.
        except Exception as exc:  # noqa: BLE001
            came = f"it raised {exc!r}"
        bench.fail(came=came, wanted="a TestRunError with that command")


def _keeps_output_as_bytes(bench: SandboxBench) -> None:
    odd = "printf 'a\\377'; printf 'b\\200\\n' >&2; printf 'c\\0d\\r\\n\\t\\033[1m\\n'"
    execution = bench.run(f"{odd}; seq {_SOME_LINES}")

    lines = b"".join(b"%d\n" % number for number in range(1, _SOME_LINES + 1))
    bench.expect_output(execution, b"a\xffb\x80\nc\0d\r\n\t\x1b[1m\n" + lines)


def _bounds_output(bench: SandboxBench) -> None:
    is_traced = tracemalloc.is_tracing()
    if not is_traced:
        tracemalloc.start()
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    try:
        execution = bench.run("echo start; yes xxxxxxx | head -c 500000000; echo end")
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
    _end_in_time(bench, "yes", timeout_seconds=0.5)


# --- what is left ---


def _end_in_time(bench: SandboxBench, script: str, *, timeout_seconds: float) -> Execution:
    """Run what does not end by itself."""
    started = time.monotonic()
    execution = bench.run(script, timeout_seconds=timeout_seconds)
    took = time.monotonic() - started
    most = timeout_seconds + bench.allowance.slack_seconds
    bench.expect(took < most, came=f"it took {took:.1f} seconds", wanted=f"at most {most:g}")
    is_right = execution.timed_out and execution.exit_code is None
    is_right &= timeout_seconds <= execution.duration_seconds < most
    came = f"{execution.duration_seconds:.1f} seconds, timed_out={execution.timed_out}, "
    came += f"exit_code={execution.exit_code}"
    wanted = f"{timeout_seconds:g} seconds or little more, timed_out=True, exit_code=None"
    bench.expect(is_right, came=came, wanted=wanted)
    return execution


def _kills_at_the_deadline(bench: SandboxBench) -> None:
    execution = _end_in_time(bench, DAEMONS + "sleep 20; exit", timeout_seconds=1)
    is_right = execution.output == b"daemon\n"
    bench.expect(is_right, came=execution, wanted="what was printed before the deadline")
    bench.expect_nothing_left()
    for seconds in (2.2e6, 1e12):  # farther than some clocks and waits can tell
        started = time.monotonic()
        execution = bench.run("sleep 0.1; exit 3", timeout_seconds=seconds)
        took = time.monotonic() - started
        bench.expect(execution.exit_code == 3, came=execution, wanted="exit status 3")  # noqa: PLR2004
        told = execution.duration_seconds
        wanted = f"more than 0 and at most {took:.3f} seconds, which the call took"
        is_right = 0 < told <= took + _CLOCKS_DIFFER
        bench.expect(is_right, came=f"{told:.3f} seconds", wanted=wanted)


def _leaves_nothing_running(bench: SandboxBench) -> None:
    started = time.monotonic()

    execution = bench.run(DAEMONS + "exit 3")

    took, most = time.monotonic() - started, bench.allowance.slack_seconds
    bench.expect(took < most, came=f"it took {took:.1f} seconds", wanted=f"at most {most:g}")
    is_right = (execution.exit_code, execution.output) == (3, b"daemon\n")
    bench.expect(is_right, came=execution, wanted="exit status 3 and b'daemon\\n'")
    bench.expect_nothing_left()
    _expect_no_files(bench)


def _expect_no_files(bench: SandboxBench) -> None:
    left = sorted(map(str, bench.temporary.iterdir()))
    came = f"left in the temporary directory: {', '.join(left[:5])}"
    bench.expect(not left, came=came, wanted="nothing")


def call_from_elsewhere(
    bench: SandboxBench, script: str, *, closed: tuple[int, ...] = ()
) -> tuple["subprocess.Popen[bytes]", Path]:
    """Start a process that runs *script* in the sandbox; return it and where it will tell.

    Args:
        bench: Has the sandbox, which goes to the process by pickle.
        script: The script.
        closed: The descriptors that the process lacks.

    Raises:
        UncheckedError: The sandbox does not pickle.
    """
    tree, scratch = bench.places()
    bench.ask(script)
    result = tree.parent / "result"
    options = (bench.sandbox, bench.command(script, scratch), tree, scratch, result)
    try:
        told = dumps((options, closed))
    # A plug-in may raise anything where it is pickled.
    except Exception as exc:
        raise UncheckedError(f"it does not pickle ({exc!r:.100})") from exc
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)  # noqa: PTH109 - as is
    caller = subprocess.Popen(  # noqa: S603 - this interpreter
        (sys.executable, "-c", CALLER),
        stdin=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": paths},
    )
    if caller.stdin:
        caller.stdin.write(told)
        caller.stdin.close()
    return caller, result


def _dies_with_its_caller(bench: SandboxBench) -> None:
    caller, _ = call_from_elsewhere(bench, DAEMONS + "sleep 30; exit")
    try:
        deadline = time.monotonic() + _CALLER_SECONDS
        while (seen := len(bench.processes())) < 3:  # noqa: PLR2004 - command and two daemons
            problem = f"{seen} of the command's 3 processes are seen from outside"
            if caller.poll() is not None:
                raise UncheckedError(f"{problem}, and its caller ended with {caller.returncode}")
            if time.monotonic() > deadline:
                raise UncheckedError(problem)
            time.sleep(0.02)
    finally:
        caller.kill()
        caller.wait()
    bench.expect_nothing_left(bench.allowance.patience_seconds)


def _needs_no_standard_streams(bench: SandboxBench) -> None:
    script = "cat; echo out; echo err >&2; exit 3"
    caller, result = call_from_elsewhere(bench, script, closed=(0, 1, 2))
    try:
        caller.wait(_CALLER_SECONDS)
    except subprocess.TimeoutExpired:
        bench.fail(came="it did not end", wanted="exit status 3")
    finally:
        caller.kill()
        caller.wait()
    if caller.returncode == _CANNOT_LOAD:
        raise UncheckedError("its copy by pickle cannot be loaded in another process")
    if not result.is_file():
        bench.fail(came=f"the caller ended with {caller.returncode}", wanted="exit status 3")
    execution = pickle.loads(result.read_bytes())  # noqa: S301 - written by our own child
    is_right = (execution.exit_code, execution.output) == (3, b"out\nerr\n")
    bench.expect(is_right, came=execution, wanted="exit status 3 and b'out\\nerr\\n'")


def _runs_many_at_once(bench: SandboxBench) -> None:
    script = """
(setsid sh -c 'while :; do sleep 1; done' "$0" &)
echo "$2" >"$1/result"; echo "$2"
"""
    allowed = bench.allowance
    places = [bench.places() for _ in range(allowed.parallel_runs)]

    with ThreadPoolExecutor(allowed.parallel_width) as pool:
        numbers = map(str, itertools.count())
        executions = list(pool.map(lambda n, w: bench.run(script, n, where=w), numbers, places))

    for number, (execution, (_, scratch)) in enumerate(zip(executions, places, strict=True)):
        told = b"%d\n" % number
        bench.expect_output(execution, told)
        wanted = f"the file of run {number} in its own scratch directory"
        kept = scratch / "result"
        is_right = kept.is_file() and kept.read_bytes() == told
        bench.expect(is_right, came="another", wanted=wanted)
    bench.expect_nothing_left()
    _expect_no_files(bench)


# --- what isolation is ---


def _has_no_network(bench: SandboxBench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        execution = bench.run("cat /proc/net/dev; echo; cat /proc/net/tcp")
    devices, _, sockets = execution.output.decode(errors="replace").partition("\n\n")
    names = [line.split(":")[0].strip() for line in devices.splitlines()[2:]]
    bench.expect(names == ["lo"], came=f"the devices {names}", wanted="lo alone")
    is_right = f":{port:04X} " not in sockets
    bench.expect(is_right, came="a server of the caller's machine", wanted="none")


def _sees_no_other_files(bench: SandboxBench) -> None:
    secret = bench.folder / "secret"
    secret.write_text("s3cret")

    execution = bench.run('cat "$2"; echo changed >"$2"; ls "${2%/*}"', str(secret))

    is_right = b"s3cret" not in execution.output
    bench.expect(is_right, came="a file beside the tree was read", wanted="it is not there")
    is_right = secret.read_text() == "s3cret"
    bench.expect(is_right, came="a file beside the tree was replaced", wanted="it is not there")


def _sees_no_other_processes(bench: SandboxBench) -> None:
    with subprocess.Popen((sys.executable, "-c", "input()"), stdin=subprocess.PIPE) as other:
        execution = bench.run(f"ls -d /proc/[0-9]* | wc -l; kill -9 {other.pid}; true")
        is_alive = other.poll() is None
        other.kill()
    first = (execution.output.split() or [b"?"])[0]
    is_right = first.isdigit() and int(first) < 10  # noqa: PLR2004 - its own few
    bench.expect(is_right, came=f"{first.decode()} processes", wanted="its own few alone")
    bench.expect(is_alive, came="a process of the machine was killed", wanted="it is not there")


def _starts_clean(bench: SandboxBench) -> None:
    folders = 'for d in / /tmp /var/tmp /dev/shm "$HOME" "$TMPDIR"; do '
    first = bench.run(folders + f'echo x >"$d/{bench.word}"; done 2>/dev/null; true')
    second = bench.run(folders + f'ls "$d/{bench.word}"; done 2>/dev/null; true')
    bench.expect(first.exit_code == 0, came=first, wanted="exit status 0")
    bench.expect_output(second, b"")


SANDBOX_LAWS: Final[tuple[SandboxLaw, ...]] = (
    SandboxLaw(
        name="protocol",
        asks="Its identity begins with its name, stays the same, and is that of a pickled copy.",
        check=_keeps_the_protocol,
    ),
    SandboxLaw(
        name="arguments",
        asks="A megabyte of arguments arrives, and so does any character.",
        check=_passes_arguments,
    ),
    SandboxLaw(
        name="environment",
        asks="The command has its own variables, HOME, TMPDIR; the caller's, and its folder, stay.",
        check=_has_an_environment_of_its_own,
    ),
    SandboxLaw(
        name="input",
        asks="Standard input is empty: who reads from it does not wait.",
        check=_has_no_input,
    ),
    SandboxLaw(
        name="files",
        asks="It starts in its tree as it is, may write there, and scratch goes in and out.",
        check=_has_its_files,
    ),
    SandboxLaw(
        name="exit_status",
        asks="Exit statuses come as they are, and a signal as its number.",
        check=_tells_exit_statuses,
    ),
    SandboxLaw(
        name="cannot_start",
        asks="What cannot be started is a TestRunError that names the command.",
        check=_refuses_what_cannot_start,
    ),
    SandboxLaw(
        name="output",
        asks="Standard output and error come as one, in order, as bytes, and whole if not large.",
        check=_keeps_output_as_bytes,
    ),
    SandboxLaw(
        name="large_output",
        asks="Of half a gigabyte of output both ends are kept, in little memory.",
        check=_bounds_output,
    ),
    SandboxLaw(
        name="deadline",
        asks="At the deadline, near or far, all descendants are killed; that, and when, is told.",
        check=_kills_at_the_deadline,
    ),
    SandboxLaw(
        name="nothing_left",
        asks="After a normal end too no descendant is left, and no temporary file.",
        check=_leaves_nothing_running,
    ),
    SandboxLaw(
        name="killed_caller",
        asks="Where the caller is killed, its command and all descendants die.",
        check=_dies_with_its_caller,
    ),
    SandboxLaw(
        name="no_streams",
        asks="A caller that lacks standard streams, as daemons do, changes nothing.",
        check=_needs_no_standard_streams,
    ),
    SandboxLaw(
        name="many_at_once",
        asks="Of many runs in threads each has its own output and files, and none leaves any.",
        check=_runs_many_at_once,
    ),
    SandboxLaw(
        name="network",
        asks="If it isolates, the network is out of reach.",
        isolates=True,
        check=_has_no_network,
    ),
    SandboxLaw(
        name="other_files",
        asks="If it isolates, files beside the tree can be neither read nor replaced.",
        isolates=True,
        check=_sees_no_other_files,
    ),
    SandboxLaw(
        name="other_processes",
        asks="If it isolates, other processes can be neither seen nor signalled.",
        isolates=True,
        check=_sees_no_other_processes,
    ),
    SandboxLaw(
        name="clean_start",
        asks="If it isolates, nothing is seen of what an earlier run left in the system's folders.",
        isolates=True,
        check=_starts_clean,
    ),
)

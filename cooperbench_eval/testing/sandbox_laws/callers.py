"""The laws about callers: one that is killed, one without streams, and many at once."""

import itertools
import os
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from cooperbench_eval.errors import WorkerError
from cooperbench_eval.processes.worker import read_reply, worker_command, write_call
from cooperbench_eval.running.sandboxes.protocol import Execution, Sandbox
from cooperbench_eval.testing.records import UncheckedError
from cooperbench_eval.testing.sandbox_bench import SandboxBench
from cooperbench_eval.testing.sandbox_laws.law import SandboxLaw
from cooperbench_eval.testing.sandbox_laws.leftovers import DAEMONS

__all__ = ["LAWS", "start_caller"]

_CALLER_SECONDS = 60.0


def start_caller(
    folder: Path,
    sandbox: Sandbox,
    command: Sequence[str],
    *,
    tree: Path,
    scratch: Path,
    closed: Sequence[int] = (),
) -> "subprocess.Popen[bytes]":
    """Start a process that runs *command* in *sandbox* and replies with the execution.

    Args:
        folder: Where the call and the reply are written.
        sandbox: The sandbox; it is pickled.
        command: The command.
        tree: Where the command starts.
        scratch: The command's scratch directory.
        closed: Descriptors that the process closes first.

    Raises:
        WorkerError: The sandbox cannot be pickled.
    """
    write_call(folder, _run, (sandbox, command, tree, scratch, closed), {})
    return subprocess.Popen(worker_command(folder))  # noqa: S603 - this interpreter


def _run(
    sandbox: Sandbox, command: Sequence[str], tree: Path, scratch: Path, closed: Sequence[int]
) -> Execution:
    for fd in closed:
        os.close(fd)
    return sandbox.run(command, tree=tree, scratch=scratch, env={}, timeout_seconds=_CALLER_SECONDS)


def _start_script(
    bench: SandboxBench, script: str, *, closed: Sequence[int] = ()
) -> tuple["subprocess.Popen[bytes]", Path]:
    """Start a caller that runs *script*; return it and the folder of its reply."""
    tree, scratch = bench.places()
    bench.ask(script)
    command = bench.command(script, scratch)
    try:
        caller = start_caller(
            tree.parent, bench.sandbox, command, tree=tree, scratch=scratch, closed=closed
        )
    except WorkerError as exc:
        raise UncheckedError(str(exc)) from exc
    return caller, tree.parent


def _dies_with_its_caller(bench: SandboxBench) -> None:
    caller, _ = _start_script(bench, DAEMONS + "sleep 30; exit")
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
    caller, folder = _start_script(bench, script, closed=(0, 1, 2))
    try:
        caller.wait(_CALLER_SECONDS)
    except subprocess.TimeoutExpired:
        bench.fail(came="it did not end", wanted="exit status 3")
    finally:
        caller.kill()
        caller.wait()
    reply = read_reply(folder)
    if reply is None:
        bench.fail(came=f"the caller ended with {caller.returncode}", wanted="exit status 3")
    if not reply.is_value and not reply.traceback:
        raise UncheckedError(reply.problem)
    if not reply.is_value:
        bench.fail(came=reply.problem, wanted="exit status 3")
    execution = reply.value()
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
        output = b"%d\n" % number
        bench.expect_output(execution, output)
        wanted = f"the file of run {number} in its own scratch directory"
        kept = scratch / "result"
        is_right = kept.is_file() and kept.read_bytes() == output
        bench.expect(is_right, came="another file", wanted=wanted)
    bench.expect_nothing_left()
    bench.expect_no_files()


LAWS: Final[tuple[SandboxLaw, ...]] = (
    SandboxLaw(
        name="killed_caller",
        asks="If the caller is killed, its command and all descendants die.",
        check=_dies_with_its_caller,
    ),
    SandboxLaw(
        name="no_streams",
        asks="A caller without standard streams, such as a daemon, gets the same result.",
        check=_needs_no_standard_streams,
    ),
    SandboxLaw(
        name="many_at_once",
        asks="Of many runs in threads, each has its own output and files, and leaves nothing.",
        check=_runs_many_at_once,
    ),
)

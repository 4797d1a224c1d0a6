"""The laws of callers: one that is killed, one without streams, and many at once."""

import itertools
import os
import pickle
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from cooperbench_eval.processes.pickling import dumps
from cooperbench_eval.testing.records import UncheckedError
from cooperbench_eval.testing.sandbox_bench import SandboxBench
from cooperbench_eval.testing.sandbox_laws.law import SandboxLaw
from cooperbench_eval.testing.sandbox_laws.leftovers import DAEMONS

__all__ = ["CALLER", "LAWS", "call_from_elsewhere"]

_CALLER_SECONDS = 60.0
_CANNOT_LOAD = 86  # of `CALLER`

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
    bench.expect_no_files()


LAWS: Final[tuple[SandboxLaw, ...]] = (
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
)

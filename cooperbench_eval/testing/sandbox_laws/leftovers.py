"""The laws of what is left behind: at a deadline, and after a normal end."""

import time
from typing import Final

from cooperbench_eval.testing.sandbox_bench import SandboxBench
from cooperbench_eval.testing.sandbox_laws.law import SandboxLaw

__all__ = ["DAEMONS", "LAWS"]

_CLOCKS_DIFFER = 0.1

# One child, and one that left the session by a double fork and ignores signals;
# both hold the output open. $0 is the word by which they are known; so what follows must
# not end in a program, which many shells become instead of waiting for it.
DAEMONS = """
loop='while :; do sleep 1; done'
sh -c "$loop" "$0" &
(setsid sh -c "trap '' TERM INT HUP; echo daemon; : >started; $loop" "$0" &)
while [ ! -e started ]; do sleep 0.02; done
"""


def _kills_at_the_deadline(bench: SandboxBench) -> None:
    execution = bench.run_to_the_deadline(DAEMONS + "sleep 20; exit", timeout_seconds=1)
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
    bench.expect_no_files()


LAWS: Final[tuple[SandboxLaw, ...]] = (
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
)

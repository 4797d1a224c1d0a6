"""The laws of how a command's end is told, and of what it printed."""

import tracemalloc
from typing import Final

from cooperbench_eval.errors import SandboxError, TestRunError
from cooperbench_eval.testing.sandbox_bench import SandboxBench
from cooperbench_eval.testing.sandbox_laws.law import SandboxLaw

__all__ = ["LAWS"]

_MEBIBYTE = 1 << 20
_SOME_LINES = 10_000  # some 50 kB: little enough to be kept whole
_MOST_OUTPUT = 10 * _MEBIBYTE
_MOST_MEMORY = 50 * _MEBIBYTE
_SIGNALS = {"KILL": 9, "SEGV": 11}


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
    bench.run_to_the_deadline("yes", timeout_seconds=0.5)


LAWS: Final[tuple[SandboxLaw, ...]] = (
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
)

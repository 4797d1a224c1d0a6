"""The laws of what a sandbox is, and of what it gives to a command."""

import os
import pickle
from pathlib import Path
from typing import Final

from cooperbench_eval.errors import SandboxError
from cooperbench_eval.processes.pickling import dumps
from cooperbench_eval.running.sandboxes.registry import as_sandbox
from cooperbench_eval.testing.records import UncheckedError
from cooperbench_eval.testing.sandbox_bench import SandboxBench
from cooperbench_eval.testing.sandbox_laws.law import SandboxLaw

__all__ = ["LAWS"]

_MANY_ARGUMENTS = 10_000


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


LAWS: Final[tuple[SandboxLaw, ...]] = (
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
)

"""The laws of isolation, which are asked of those sandboxes alone that claim it."""

import socket
import subprocess
import sys
from typing import Final

from cooperbench_eval.testing.sandbox_bench import SandboxBench
from cooperbench_eval.testing.sandbox_laws.law import SandboxLaw

__all__ = ["LAWS"]


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
    # What is seen again may be the machine's own, and is taken away.
    seen = f'f="$d/{bench.word}"; ls "$f" && rm -f "$f"; done 2>/dev/null; true'
    second = bench.run(folders + seen)
    bench.expect(first.exit_code == 0, came=first, wanted="exit status 0")
    bench.expect_output(second, b"")


LAWS: Final[tuple[SandboxLaw, ...]] = (
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

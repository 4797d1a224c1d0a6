"""Removes a process's containers when that process has ended.

A script of its own, started once by each process that creates containers. Standard input
is a socket or a pipe to that process, which ends with the process. Each line is a JSON list: the
engine's address, the path to import from, and the names of the containers that exist or
are about to exist. Only the last line counts.

It imports almost nothing until there is a container to remove.
"""

import os
import sys
import time

_LOOK_SECONDS = 5.0
"""How long a container that was being created when the process ended may take to appear."""
_GIVE_UP_SECONDS = 60.0
_PAUSE_SECONDS = 0.2
_PIECE = 1 << 16


def main() -> None:
    """Wait until the process has ended, and remove its containers."""
    # Not a child of the process, which may count or wait for its children. Windows cannot fork.
    if hasattr(os, "fork") and os.fork():
        os._exit(0)
    last, rest = b"", b""
    while piece := os.read(0, _PIECE):
        *lines, rest = (rest + piece).split(b"\n")
        last = lines[-1] if lines else last
    if last:
        _remove(last)


def _remove(line: bytes) -> None:
    import json  # noqa: PLC0415 - rarely needed, as are all imports below

    engine_url, sys.path[:], names = json.loads(line)
    if not names:
        return
    from cooperbench_eval.errors import SandboxError  # noqa: PLC0415
    from cooperbench_eval.running.sandboxes.containers.engine import connect  # noqa: PLC0415

    ended = time.monotonic()
    while (waited := time.monotonic() - ended) < _GIVE_UP_SECONDS:
        try:
            with connect(engine_url) as engine:
                for name in names:
                    engine.remove(name)
        except SandboxError:
            pass
        else:
            if waited >= _LOOK_SECONDS:
                return
        time.sleep(_PAUSE_SECONDS)


if __name__ == "__main__":
    main()

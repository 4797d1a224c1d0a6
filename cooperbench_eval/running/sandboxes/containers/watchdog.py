"""Removes a process's containers when that process has ended.

A script of its own, started once by each process that makes containers.
Standard input is a socket to that process, whose end is the process's end. The
first line is the engine's address and the path to import from, as JSON. After it
come names of containers, with `+` before they are made and `-` when they are
gone.

It sleeps, and imports nothing to speak of, until there is something to remove.
"""

import os
import sys
import time
from collections.abc import Iterator

_LOOK_SECONDS = 5.0
"""How long a container may take to appear that was being made at the end."""
_GIVE_UP_SECONDS = 60.0
_PAUSE_SECONDS = 0.2
_PIECE = 1 << 16


def main() -> None:
    """Watch, until the process has ended and its containers are gone."""
    # No child of the process: it may count its own.
    if os.fork():
        os._exit(0)
    held: set[str] = set()
    lines = _lines()
    settings = next(lines, "[]")
    for line in lines:
        (held.add if line.startswith("+") else held.discard)(line[1:])
    if held:
        _remove(held, settings)


def _lines() -> Iterator[str]:
    rest = b""
    while piece := os.read(0, _PIECE):
        *lines, rest = (rest + piece).split(b"\n")
        yield from (line.decode() for line in lines)


def _remove(names: set[str], settings: str) -> None:
    import json  # noqa: PLC0415 - rarely needed, as all below

    engine_url, sys.path[:] = json.loads(settings)
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

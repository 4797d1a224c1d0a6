"""What is visible of a strategy's input and of the process, to notice changes."""

import logging
import os
import random
import signal
import threading
import time
from pathlib import Path

from attrs import astuple

from cooperbench_eval.git.trees.snapshot import Changes
from cooperbench_eval.strategies.protocol import MergeInput

__all__ = ["ProcessState", "portrait"]

_SECONDS_TO_END = 0.5


def portrait(given: MergeInput) -> tuple[str, ...]:
    """Return everything that is visible of an input, part by part."""
    paths = given.base.paths()
    base = [(path, given.base.get(path), given.base.read(path)) for path in paths]
    return (
        f"the base\n{base}",
        f"ours\n{_contents(given.ours)}",
        f"theirs\n{_contents(given.theirs)}",
        f"the three-way merge\n{_contents(given.merge.changes)}",
        f"the conflicts\n{[astuple(conflict) for conflict in given.conflicts]}",
        f"the blocks\n{[astuple(block) for block in given.merge.blocks]}",
        f"the features\n{given.ours_feature}\n{given.theirs_feature}",
    )


def _contents(changes: Changes) -> str:
    rows = ((path, entry and (int(entry.mode), entry.data)) for path, entry in changes.items())
    return "\n".join(f"{path!r}: {row}" for path, row in rows)


class ProcessState:
    """The parts of a process's state that code often changes, and other code relies on."""

    def __init__(self) -> None:
        self._parts = _parts()
        self._threads = set(threading.enumerate())

    def change(self) -> str:
        """Return what was wanted but not kept, such as `no change of …`; empty if nothing."""
        before, now = self._parts, _parts()
        # Only the names, because the values of variables may be secrets.
        changed = sorted(name for name in before | now if before.get(name) != now.get(name))
        if changed:
            return f"no change of {' and '.join(changed)}"
        # New threads may be about to end.
        new = set(threading.enumerate()) - self._threads
        deadline = time.monotonic() + _SECONDS_TO_END
        for thread in new:
            thread.join(max(0.0, deadline - time.monotonic()))
        running = sorted(thread.name for thread in new if thread.is_alive())
        return f"no thread left running, such as {', '.join(running)}" if running else ""


def _parts() -> dict[str, object]:
    root = logging.getLogger()
    variables = {f"the environment variable {name}": os.environ[name] for name in os.environ}
    return variables | {
        "the working directory": Path.cwd(),
        "the state of the module `random`": random.getstate(),
        "the handler of SIGINT": signal.getsignal(signal.SIGINT),
        "the handler of SIGTERM": signal.getsignal(signal.SIGTERM),
        "the handlers and level of the root logger": (list(root.handlers), root.level),
    }

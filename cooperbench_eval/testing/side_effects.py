"""Notices when a strategy changes its input or the state of the process."""

import logging
import os
import random
import signal
import threading
import time
from pathlib import Path

from attrs import astuple

from cooperbench_eval.snapshot import Changes
from cooperbench_eval.strategies.protocol import MergeInput

__all__ = ["ProcessState", "portrait"]

_SECONDS_TO_END = 0.5


def portrait(given: MergeInput) -> tuple[str, ...]:
    """Return everything that is visible of an input, part by part."""
    base = "\n".join(f"{path!r}: {given.base.get(path)!r}" for path in given.base.paths())
    contents = [(path, given.base.read(path)) for path in given.base.paths()]
    return (
        f"the base\n{base}\n{contents}",
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
        """Remember the current state."""
        self._folder = Path.cwd()
        self._variables = dict(os.environ)
        self._state = _state_of_modules()
        self._threads = set(threading.enumerate())

    def change(self) -> str:
        """Return what should have stayed as it was; empty if all did."""
        before, now = self._variables, dict(os.environ)
        # Only their names, because their values may be secrets.
        if changed := [name for name in before | now if before.get(name) != now.get(name)]:
            return f"the environment as it was: {', '.join(sorted(changed))} differ"
        if Path.cwd() != self._folder:
            return f"the process still in the folder {self._folder}"
        state = _state_of_modules()
        if changed := [name for name in state if state[name] != self._state[name]]:
            return f"no change of {' and '.join(changed)}"
        if running := self._running_threads():
            return f"no thread left running, such as {', '.join(running)}"
        return ""

    def _running_threads(self) -> list[str]:
        """Name the new threads that do not end soon."""
        new = set(threading.enumerate()) - self._threads
        deadline = time.monotonic() + _SECONDS_TO_END
        for thread in new:
            thread.join(max(0.0, deadline - time.monotonic()))
        return sorted(thread.name for thread in new if thread.is_alive())


def _state_of_modules() -> dict[str, object]:
    root = logging.getLogger()
    return {
        "the state of the module `random`": random.getstate(),
        "the handler of SIGINT": signal.getsignal(signal.SIGINT),
        "the handler of SIGTERM": signal.getsignal(signal.SIGTERM),
        "the handlers and level of the root logger": (list(root.handlers), root.level),
    }

"""The law of what a strategy must not change: what it was given, and the process."""

import logging
import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Final

from attrs import astuple

from cooperbench_eval.snapshot import Changes
from cooperbench_eval.strategies.protocol import MergeInput
from cooperbench_eval.testing.cases import MergeCase
from cooperbench_eval.testing.outcomes import broken, shown_outcome
from cooperbench_eval.testing.strategy_laws.law import StrategyLaw
from cooperbench_eval.testing.strategy_trial import StrategyTrial

__all__ = ["LAWS"]

_SECONDS_TO_END = 0.5


def _changes_nothing_it_was_given(trial: StrategyTrial, case: MergeCase) -> None:
    given = case.fresh_input()
    before, process = _portrait(given), _Process()
    outcome = trial.merge(case, given)
    for was, now in zip(before, _portrait(given), strict=True):
        if was != now:
            raise broken(case, came=now, wanted=was)
    if wanted := process.wanted_back():
        raise broken(case, came=outcome, wanted=wanted)
    told = shown_outcome(outcome, case.base)
    trial.merge(case.swapped)
    if (now := shown_outcome(outcome, case.base)) != told:
        came = f"the first outcome changed when it was asked again:\n{now}"
        raise broken(case, came=came, wanted=told)


def _portrait(given: MergeInput) -> tuple[str, ...]:
    """Tell all that can be seen of an input, part by part."""
    base = "\n".join(f"{path!r}: {given.base.get(path)!r}" for path in given.base.paths())
    contents = [(path, given.base.read(path)) for path in given.base.paths()]
    return (
        f"the base\n{base}\n{contents}",
        *(
            f"{name}\n{_contents(changes)}"
            for name, changes in (
                ("ours", given.ours),
                ("theirs", given.theirs),
                ("the three-way merge", given.merge.changes),
            )
        ),
        f"the conflicts\n{[astuple(conflict) for conflict in given.conflicts]}",
        f"the blocks\n{[astuple(block) for block in given.merge.blocks]}",
        f"the features\n{given.ours_feature}\n{given.theirs_feature}",
    )


def _contents(changes: Changes) -> str:
    rows = ((path, entry and (int(entry.mode), entry.data)) for path, entry in changes.items())
    return "\n".join(f"{path!r}: {row}" for path, row in rows)


class _Process:
    """What anybody may change in a process and others rely on, as it is when this is made."""

    def __init__(self) -> None:
        self._folder = Path.cwd()
        self._variables = dict(os.environ)
        self._state = _state_of_modules()
        self._threads = set(threading.enumerate())

    def wanted_back(self) -> str:
        """Say what is no longer as it was; nothing if all is."""
        if changed := self._changed_variables():
            return f"the environment as it was: {', '.join(changed)} differ"
        if Path.cwd() != self._folder:
            return f"to stay in the folder {self._folder}"
        now = _state_of_modules()
        if changed := [name for name in now if now[name] != self._state[name]]:
            return f"to leave alone {' and '.join(changed)}"
        if running := self._running_threads():
            return f"no thread left running, as {', '.join(running)}"
        return ""

    def _changed_variables(self) -> list[str]:
        """Name the variables that differ; their values may be secrets."""
        before, now = self._variables, dict(os.environ)
        return sorted(name for name in before | now if before.get(name) != now.get(name))

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


LAWS: Final[tuple[StrategyLaw, ...]] = (
    StrategyLaw(
        name="no_mutation",
        asks="Neither what it was given nor what it answered before changes, nor the process.",
        check=_changes_nothing_it_was_given,
    ),
)

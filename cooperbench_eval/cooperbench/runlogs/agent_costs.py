"""Reads what agents' work cost, from the records that the benchmark's runner writes.

`result.json` has each agent's cost, steps and tokens, under `agents` by the agent's name, or
under `agent` if there is only one. Its numbers are the same in all published versions, but the
first ones write no tokens. `conversation.json` lists the messages, each with the feature of the
agent that sent it; `result.json` has their number. The pipeline of the paper records none of
this.

The runner writes 0 for what an agent's framework does not report, and for an agent whose run
broke down. So a cost or a number of steps of 0 is not known, and tokens are not known if none
was read or written.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import define, evolve, field

from cooperbench_eval.cooperbench.runlogs.reading import features_in, load_json
from cooperbench_eval.errors import ReportError
from cooperbench_eval.reporting.agent_costs import MOST_USAGE, AgentRun, AgentUsage
from cooperbench_eval.reporting.cooperbench_results import Setting

_RECORD: Final = "result.json"
_MESSAGES: Final = "conversation.json"
_MOST_MESSAGES: Final = 64 * 1024**2
_FEW: Final = 3
_LONGEST: Final = 100
_ROUNDED: Final = 0.01
"""Records may round a total."""
_COUNTS: Final = (
    "steps",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
)
_Json = Mapping[str, Any]


def read_agents(
    folder: Path, setting: Setting, numbers: Sequence[int]
) -> tuple[AgentRun | None, ...]:
    """Read the run of the agent that made each of the features *numbers*, in their order.

    It is `None` if the folder has no record, or is not one of the runner's. What a record
    lacks, or has in a form that no version writes, is not known; the run's `problem` then says
    why. In `solo`, the same run is returned for each feature.
    """
    if not features_in(folder.name) or not (folder / _RECORD).exists():
        return (None,) * len(numbers)
    reading = _Reading(folder)
    if setting is Setting.SOLO:
        return (reading.solo(numbers),) * len(numbers)
    return reading.agents(numbers)


@define
class _Reading:
    """Reads the records of one folder, and collects what is wrong with them."""

    folder: Path
    problems: list[str] = field(factory=list)

    def solo(self, numbers: Sequence[int]) -> AgentRun:
        """Return the run of the only agent, which made all features."""
        values = self._part(self._record(), "agent")
        run = AgentRun(
            features=numbers, status=_text(values.get("status")), usage=self._usage(values)
        )
        return evolve(run, problem=self._problem())

    def agents(self, numbers: Sequence[int]) -> tuple[AgentRun, ...]:
        """Return the run of each feature's agent."""
        record = self._record()
        found = self._by_feature(self._part(record, "agents"))
        self._check_total(record, found.values())
        for number in numbers:
            if record and number not in found:
                self._note(f"it has no agent of feature {number}")
        total = self._count(record, "messages_sent")
        sent = self._messages(total)
        runs = []
        for number in numbers:
            values, own = found.get(number, {}), None if sent is None else sent[number]
            run = AgentRun(
                features=[number],
                status=_text(values.get("status")),
                usage=evolve(self._usage(values), messages_sent=own),
                messages_together=total if sent is None and found.keys() <= {*numbers} else None,
            )
            runs.append(run)
        return tuple(evolve(run, problem=self._problem()) for run in runs)

    # --- the parts of a record ---

    def _record(self) -> _Json:
        try:
            values = load_json(self.folder / _RECORD)
        except ReportError as exc:
            self.problems.append(str(exc))
            return {}
        if isinstance(values, dict) and values:
            setting = values.get("setting")
            if setting is not None and setting not in [each.value for each in Setting]:
                self._note(f"the setting {_shown(setting)} is unknown")
            return values
        self._note("it is not an object with keys")
        return {}

    def _part(self, record: _Json, key: str) -> _Json:
        values = record.get(key)
        if isinstance(values, dict):
            return values
        if record:
            self._note(f"it has no object under {key!r}")
        return {}

    def _by_feature(self, agents: _Json) -> dict[int, _Json]:
        found: dict[int, _Json] = {}
        for name, values in agents.items():
            number = values.get("feature_id") if isinstance(values, dict) else None
            if type(number) is not int:
                self._note(f"the agent {name!r:.40} has no feature_id")
            elif number not in (features_in(self.folder.name) or ()):
                self._note(f"it has an agent of feature {number}, which the folder does not name")
            elif number in found:
                self._note(f"two agents have the feature_id {number!r:.40}")
            else:
                found[number] = values
        return found

    def _check_total(self, record: _Json, agents: Collection[_Json]) -> None:
        """Note a total that is not the sum of the agents' costs, if all of them are known."""
        numbers = [record.get("total_cost"), *(each.get("cost") for each in agents)]
        known = [each for each in map(_number, numbers) if each is not None]
        if len(known) < len(numbers):
            return
        total, added = known[0], math.fsum(known[1:])
        if not math.isclose(added, total, rel_tol=_ROUNDED, abs_tol=_ROUNDED):
            self._note(f"total_cost is {_shown(total)}, but the agents' costs are {added:.6g}")

    def _usage(self, values: _Json) -> AgentUsage:
        """Return an agent's numbers; those that the runner writes as 0 are not known."""
        cost = self._cost(values)
        counts = {name: self._count(values, name) for name in _COUNTS}
        steps = counts.pop("steps") or None
        if not counts["input_tokens"] and not counts["output_tokens"]:
            counts = {}
        return AgentUsage(cost_usd=cost or None, steps=steps, **counts)

    def _messages(self, total: int | None) -> Counter[int] | None:
        """Return how many messages the agent of each feature sent; `None` if it is not known."""
        file = self.folder / _MESSAGES
        if not file.exists():
            return None if total != 0 else Counter()
        try:
            messages = load_json(file, _MOST_MESSAGES)
        except ReportError as exc:
            self.problems.append(str(exc))
            return None
        senders = list(map(_sender, messages)) if isinstance(messages, list) else [None]
        if None in senders:
            self.problems.append(f"{_MESSAGES}: it is not a list of messages with a feature_id")
            return None
        if unknown := {*senders}.difference(features_in(self.folder.name) or ()):
            what = f"it has messages of feature {min(map(str, unknown))}, which the folder lacks"
            self.problems.append(f"{_MESSAGES}: {what}")
            return None
        if total is not None and total != len(senders):
            what = f"it has {len(senders)} messages, but {_RECORD} says {total}"
            self.problems.append(f"{_MESSAGES}: {what}")
            return None
        return Counter(each for each in senders if each is not None)

    # --- values ---

    def _count(self, values: _Json, key: str) -> int | None:
        value = values.get(key)
        if value is None or (type(value) is int and 0 <= value <= MOST_USAGE):
            return value
        self._note(f"{key} is {_shown(value)}, not a count")
        return None

    def _cost(self, values: _Json) -> float | None:
        value = values.get("cost")
        if value is None or (type(value) in {int, float} and 0 <= value <= MOST_USAGE):
            return value
        self._note(f"cost is {_shown(value)}, not an amount")
        return None

    def _note(self, problem: str) -> None:
        self.problems.append(f"{_RECORD}: {problem}")

    def _problem(self) -> str:
        """Return what is wrong as one clause, however much it is."""
        distinct = list(dict.fromkeys(self.problems))
        more = [f"and {len(distinct) - _FEW} more"] if len(distinct) > _FEW else []
        return "; ".join([*distinct[:_FEW], *more])


def _text(value: object) -> str | None:
    return value[:_LONGEST] if isinstance(value, str) else None


def _number(value: object) -> float | None:
    """Return a number that can be added up; `None` for anything else."""
    if isinstance(value, int | float) and type(value) is not bool and abs(value) <= MOST_USAGE:
        return value
    return None


def _sender(message: object) -> int | None:
    number = message.get("feature_id") if isinstance(message, dict) else None
    return number if type(number) is int else None


def _shown(value: object) -> str:
    """Return a value for a message, shortened."""
    return f"{value!r:.40}" if isinstance(value, int | float | str | None) else type(value).__name__

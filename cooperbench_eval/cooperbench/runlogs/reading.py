"""Reads the files in the folder of a pair or team: patches, models, and what agents' work cost.

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
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import define, evolve, field

from cooperbench_eval.errors import DatasetError, PatchError, ReportError
from cooperbench_eval.git.patching.patch import Patch, printable, read_file
from cooperbench_eval.reporting.agent_costs import MOST_USAGE, AgentRun, AgentUsage
from cooperbench_eval.reporting.cooperbench_results import Setting
from cooperbench_eval.support.json_records import parse_json

MOST_RECORD: Final = 8 * 1024**2
"""The bytes of the largest record that is read; real ones have a few thousand."""


def features_in(name: str) -> tuple[int, ...]:
    """Return the numbers in a folder's name like `f1_f2`; none for other names."""
    if re.fullmatch(r"f(0|[1-9][0-9]*)(_f(0|[1-9][0-9]*))+", name) is None:
        return ()
    numbers = tuple(int(part[1:]) for part in name.split("_"))
    return numbers if len(set(numbers)) == len(numbers) else ()


def patch_files(folder: Path, setting: Setting, numbers: Iterable[int]) -> tuple[Path, ...]:
    """Return where the patch of each feature is.

    Today's runner names a patch by its feature: `f1_f3` has `agent1.patch` and
    `agent3.patch`. Some published runs name it by its agent instead, the first or the second
    of the folder's name. An `agent2.patch` in `f1_f3` shows that.
    """
    if setting is Setting.SOLO:
        return tuple(folder / "solo.patch" for _ in numbers)
    features = features_in(folder.name)
    by_agent = {feature: place for place, feature in enumerate(features, start=1)}
    only_by_agent = (each for each in by_agent.values() if each not in features)
    if not any((folder / f"agent{each}.patch").is_file() for each in only_by_agent):
        by_agent = {}
    return tuple(folder / f"agent{by_agent.get(number, number)}.patch" for number in numbers)


def read_patch(file: Path) -> Patch:
    """Read a patch; a file that cannot be parsed gives a patch that fails to apply.

    If the file cannot be read, raise `DatasetError`.
    """
    try:
        data = read_file(file)
    except PatchError as exc:
        raise DatasetError(exc.reason, printable(file)) from exc.__cause__ or exc
    try:
        return Patch.parse(data, origin=printable(file))
    except PatchError as exc:
        return Patch.unreadable(exc)


def model_of(folder: Path, run: Path) -> str | None:
    """Return the model that the record of the agents or of the run names."""
    model = recorded(folder / _RECORD, "model")
    return recorded(run / "config.json", "model") if model is None else model


def recorded(file: Path, key: str) -> str | None:
    """Return the string under *key* in a JSON file; `None` if the file is broken."""
    try:
        values = load_json(file)
    except ReportError:
        return None
    value = values.get(key) if isinstance(values, dict) else None
    return value if isinstance(value, str) else None


def load_json(file: Path, most: int = MOST_RECORD) -> Any:
    """Return what a JSON file of at most *most* bytes holds, or raise `ReportError`.

    The error names the file without its folder, as in a report, which does not depend on where the
    logs are.
    """
    try:
        text = read_file(file, most)
    except PatchError as exc:
        raise ReportError(exc.reason, file.name) from exc
    return parse_json(text, file.name)


def letters(name: str) -> str:
    """Return *name* in lower case and without punctuation, because spellings differ in these."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


# --- what agents' work cost ---

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
        values = self._part(self._record(), "agent")
        status, usage = _text(values.get("status")), self._usage(values)
        return AgentRun(features=numbers, status=status, usage=usage, problem=self._problem())

    def agents(self, numbers: Sequence[int]) -> tuple[AgentRun, ...]:
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
            elif number not in features_in(self.folder.name):
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
        problem = ""
        if None in senders:
            problem = "it is not a list of messages with a feature_id"
        elif unknown := {*senders}.difference(features_in(self.folder.name)):
            problem = f"it has messages of feature {min(map(str, unknown))}, which the folder lacks"
        elif total is not None and total != len(senders):
            problem = f"it has {len(senders)} messages, but {_RECORD} says {total}"
        if problem:
            self._note(problem, _MESSAGES)
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

    def _note(self, problem: str, file: str = _RECORD) -> None:
        self.problems.append(f"{file}: {problem}")

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
    return f"{value!r:.40}" if isinstance(value, int | float | str | None) else type(value).__name__

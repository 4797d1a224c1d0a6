"""The benchmark's names for how agents worked, and the results of its evaluator."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from attrs import field, frozen

from cooperbench_eval.errors import DatasetError, ReportError
from cooperbench_eval.support.arguments import named_fields

SettingName = Literal["single", "solo", "coop", "coop_ablation", "team", "plan_execute"]
"""A `Setting` by its value, so that editors complete it."""
PatchLocationName = Literal["logs", "cache", "hf", "gold"]
"""A `PatchLocation` by its value."""


class _Choice(StrEnum):
    @classmethod
    def of(cls, word: str) -> Self:
        try:
            return cls(word)
        except ValueError:
            known = ", ".join(member.value for member in cls)
            argument = "setting" if cls is Setting else "patch_location"
            raise DatasetError(f"{word!r} is unknown; known: {known}", argument) from None


class Setting(_Choice):
    """How the benchmark let its agents work.

    These are all settings of its published versions: the first four of 0.0.1, the pipeline of
    the paper; `solo` and `coop` of every later version; `team` since 0.0.16. `plan_execute` is
    proposed for the runner and is in no release yet.
    """

    SINGLE = "single"
    """One agent implements one feature; two such runs make a pair."""
    SOLO = "solo"
    """One agent implements both features in one patch."""
    COOP = "coop"
    """Two or more agents that may talk to each other, each with a feature and a patch."""
    COOP_ABLATION = "coop_ablation"
    """Two agents that may talk while they plan, but not while they work; each has a patch."""
    TEAM = "team"
    """A lead and its members, each with a feature and a patch."""
    PLAN_EXECUTE = "plan_execute"
    """Agents plan together. Then other agents each carry out one plan and write a patch, which is
    named as in `coop`."""


class PatchLocation(_Choice):
    """Where the patches are."""

    LOGS = "logs"
    """In a folder of run logs, `./logs` by default."""
    CACHE = "cache"
    """In the benchmark's download cache, `~/.cooperbench_cache` by default."""
    HF = "hf"
    """In the benchmark's public results on the Hugging Face hub."""
    GOLD = "gold"
    """In the dataset, as its own solutions."""


# --- results ---


_Value = TypeVar("_Value")


def _own(values: Mapping[_Value, Any]) -> dict[_Value, Any]:
    return dict(values)


@frozen(kw_only=True, field_transformer=named_fields)
class CooperBenchResult:
    """The result of CooperBench's evaluator for one folder of agents' patches.

    Attributes:
        repo_name: The repository's folder in the dataset.
        task_id: The task's number.
        features: The features' numbers, as many as the agents worked on.
            CooperBench's evaluator merges and tests only the first two.
        setting: How the agents worked; `None` if unknown. The folders above the file and
            the agents' record take precedence over the file, which calls a team `coop`.
        merge_status: The file's word for the merge: `clean`, `conflicts`,
            `missing_input`, `identical`, `union` or `error`; `None` if nothing was merged.
        merge_strategy: The file's word for the merge that was tested: `naive`, `union`,
            `llm`, `solo-agent1`, `skip-merge-identical`; `None` if the file has none.
        apply_status: The file's word for each agent's patch (`applied`, `skipped`,
            `failed`, `unknown`), by `agent1`, `agent2` in the order of `features`;
            empty if the file has none.
        passed: Whether each feature's tests passed; `None` if they were not run, which
            the file calls failed.
        passed_tests: How many of each feature's tests passed; `None` if not counted.
        failed_tests: How many of each feature's tests failed; `None` if not counted.
        both_passed: The file's verdict on the first two features. The paper's reports have
            no key for it; for them it is whether one strategy's merge passed both
            features' tests, or `None` if no merge was tested.
        error: Why the evaluation has no answer; empty if it has one.
        evaluated_at: The time as written, which is local and without a time zone; empty
            if the file has none.
        path: The file.
    """

    repo_name: str
    task_id: int
    features: tuple[int, ...] = field(converter=tuple[int, ...])
    setting: Setting | None
    merge_status: str | None
    merge_strategy: str | None
    apply_status: Mapping[str, str] = field(converter=_own, hash=False)
    passed: Mapping[int, bool | None] = field(converter=_own, hash=False)
    passed_tests: Mapping[int, int | None] = field(converter=_own, hash=False)
    failed_tests: Mapping[int, int | None] = field(converter=_own, hash=False)
    both_passed: bool | None
    error: str
    evaluated_at: str
    path: Path

    @property
    def is_answer(self) -> bool:
        """Whether the evaluation has a verdict on all features, and no error.

        With more than two features it has none: CooperBench's evaluator leaves out the others.
        """
        return not self.features[2:] and not self.error and self.both_passed is not None


@frozen(kw_only=True, field_transformer=named_fields)
class CooperBenchRun:
    """The results of CooperBench's evaluator for one run.

    Attributes:
        evals: The readable evaluations, sorted by their paths.
        unreadable: Why the other files cannot be read, also sorted by path.
            CooperBench's evaluator takes an unreadable file for a result and does not try again.
    """

    evals: tuple[CooperBenchResult, ...] = field(converter=tuple[CooperBenchResult, ...])
    unreadable: tuple[ReportError, ...] = field(converter=tuple[ReportError, ...])

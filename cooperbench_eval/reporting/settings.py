"""The benchmark's names for how agents worked, and for where their patches are."""

from enum import StrEnum
from typing import Literal, Self

from cooperbench_eval.errors import DatasetError

SettingName = Literal["single", "solo", "coop", "coop_ablation", "team", "plan_execute"]
"""A `Setting` by its value, so that editors complete it."""
PatchLocationName = Literal["logs", "cache", "hf", "gold"]
"""A `PatchLocation` by its value."""


class _Choice(StrEnum):
    """The values that an argument may have."""

    @classmethod
    def of(cls, word: str) -> Self:
        """Return the member called *word*.

        Raises:
            DatasetError: There is no such member.
        """
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

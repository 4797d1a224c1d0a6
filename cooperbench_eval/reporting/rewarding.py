"""How a report or an audit finds its reward.

Rewards belong to `analysis`, which imports reports. So the function is resolved by its name
when a report is first asked for its reward, in the same way as the views of records.
"""

from pkgutil import resolve_name

__all__ = ["reward_of", "reward_of_audit"]

_RULES = "cooperbench_eval.analysis.rewards"


def reward_of(report: object, policy: object) -> dict[str, float]:
    """Return the reward of a report under a policy; see `MergeReport.reward`."""
    reward: dict[str, float] = resolve_name(f"{_RULES}:reward_of")(report, policy)
    return reward


def reward_of_audit(audit: object) -> dict[str, float]:
    """Return the reward of an audit; see `Audit.reward`."""
    reward: dict[str, float] = resolve_name(f"{_RULES}:reward_of_audit")(audit)
    return reward

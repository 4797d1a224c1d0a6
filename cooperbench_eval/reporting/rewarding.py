"""How a report finds its reward, which a policy decides.

Policies belong to `analysis`, which imports reports. So the function is resolved by its name
when a report is first asked for its reward, in the same way as the views of records.
"""

from pkgutil import resolve_name

__all__ = ["reward_of"]

_RULE = "cooperbench_eval.analysis.rewards:reward_of"


def reward_of(report: object, policy: object) -> dict[str, float]:
    """Return the reward of a report under a policy; see `MergeReport.reward`."""
    reward: dict[str, float] = resolve_name(_RULE)(report, policy)
    return reward

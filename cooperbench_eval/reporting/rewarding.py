"""How a report finds its reward, which policies decide.

Policies belong to `analysis`, which imports reports. So the function is resolved by its name
when a report is first asked for its reward, as the views of records are.
"""

from pkgutil import resolve_name

__all__ = ["reward_of"]

_RULE = "cooperbench_eval.analysis.rewards:reward_of"


def reward_of(report: object, policy: object) -> dict[str, float]:
    """Return the reward of a report under a policy; see `MergeReport.reward`."""
    reward: dict[str, float] = resolve_name(_RULE)(report, policy)
    return reward

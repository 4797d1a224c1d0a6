"""Puts agents' runs into a report that was made without them, or with older ones."""

from collections.abc import Mapping

from attrs import evolve

from cooperbench_eval.reporting.agentcosts import AgentRun
from cooperbench_eval.reporting.teams import GroupReport, TeamReport

__all__ = ["with_agents"]


def with_agents(report: GroupReport, agents: Mapping[int, AgentRun | None]) -> GroupReport:
    """Return *report* with the runs of *agents*, by the numbers of their features.

    A feature whose agent is not known keeps what the report has.
    """
    features = [
        evolve(each, agent=agents.get(each.number) or each.agent) for each in report.features
    ]
    if isinstance(report, TeamReport):
        return evolve(report, features=features)
    return evolve(report, feature1=features[0], feature2=features[1])

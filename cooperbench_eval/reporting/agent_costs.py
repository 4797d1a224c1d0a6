"""What the agents' own work cost, as the benchmark's records say."""

import math
from collections.abc import Iterable
from typing import Any

from attrs import Attribute, field, fields, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.support.arguments import checked_fields

MOST_USAGE = 10**15
"""No agent uses more than this of anything, so a greater number cannot have been measured."""


def _is_amount(_: object, attribute: "Attribute[Any]", value: float | None) -> None:
    if value is not None and not 0 <= value <= MOST_USAGE:
        raise ArgumentError(attribute.name, f"must be from 0 to {MOST_USAGE:,}, not {value!r:.40}")


@frozen(kw_only=True, field_transformer=checked_fields)
class AgentUsage:
    """What work cost; every number is `None` if it is not known.

    Attributes:
        cost_usd: What the requests to models cost, in US dollars.
        steps: The number of requests to models.
        input_tokens: The tokens that the models read, usually with those from a cache.
        output_tokens: The tokens that they wrote.
        cache_read_tokens: The tokens that were read from a cache of prompts.
        cache_write_tokens: The tokens that were written to it.
        messages_sent: The messages to other agents.

    Raises:
        ArgumentError: A number is negative, or larger than any use can be.
    """

    cost_usd: float | None = field(default=None, validator=_is_amount)
    steps: int | None = field(default=None, validator=_is_amount)
    input_tokens: int | None = field(default=None, validator=_is_amount)
    output_tokens: int | None = field(default=None, validator=_is_amount)
    cache_read_tokens: int | None = field(default=None, validator=_is_amount)
    cache_write_tokens: int | None = field(default=None, validator=_is_amount)
    messages_sent: int | None = field(default=None, validator=_is_amount)


AGENT_USAGE = tuple(each.name for each in fields(AgentUsage))
"""The names under which the cost of agents' work is reported."""


@frozen(kw_only=True, field_transformer=checked_fields)
class AgentRun:
    """One agent's work on one or several features of a task.

    Attributes:
        features: The numbers of the features that it made: both of a pair in the setting `solo`.
            Two features with equal records were made by one agent, which counts once.
        status: How its run ended, in the benchmark's word, such as `Submitted`.
        usage: What its work cost.
        messages_together: How many messages all agents of the pair or team sent, if it is not
            known which of them sent how many.
        problem: Why some of this is not known, as a clause that names the file; empty if the
            records are in order.

    Example:
        >>> run = AgentRun(features=[1, 2], usage=AgentUsage(cost_usd=0.25, steps=12))
        >>> run.usage.cost_usd, run.usage.messages_sent
        (0.25, None)
    """

    features: tuple[int, ...] = field(converter=tuple[int, ...])
    status: str | None = None
    usage: AgentUsage = field(factory=AgentUsage)
    messages_together: int | None = field(default=None, validator=_is_amount)
    problem: str = ""


def total_agents(runs: Iterable[AgentRun | None]) -> AgentUsage:
    """Add up what agents' work cost; a number that one of them lacks is not known.

    Args:
        runs: The run that made each feature; `None` if it is not known. One that made several
            features may be given several times.
    """
    distinct = tuple(dict.fromkeys(runs))
    known = [run for run in distinct if run is not None]
    if not known or len(known) < len(distinct):
        return AgentUsage()
    totals = {name: _sum([getattr(run.usage, name) for run in known]) for name in AGENT_USAGE}
    together = {run.messages_together for run in known}
    if totals["messages_sent"] is None and len(together) == 1:
        totals["messages_sent"] = together.pop()
    return AgentUsage(**totals)


def _sum(amounts: list[Any]) -> Any:
    if None in amounts:
        return None
    total = math.fsum(amounts) if float in map(type, amounts) else sum(amounts)
    return total if total <= MOST_USAGE else None

"""What agents' own work cost, as the benchmark's records say, and the totals of models' use."""

import math
from collections.abc import Iterable
from typing import Any

from attrs import Attribute, field, fields, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.git.merging.conflicts import ModelUsage
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

    There is a run for each feature, so one that made several may be given several times.
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


# --- requests to models ---


@frozen(kw_only=True)
class UsageTotals:
    """Totals over requests to models.

    Attributes:
        requests: The number of requests, answered or not.
        unpriced_requests: The number of requests without a known price.
        prompt_tokens: The number of tokens that the models read.
        completion_tokens: The number of tokens that they wrote.
        cost_usd: The cost of the requests with a known price; `None` if there were
            requests and no price is known.
    """

    requests: int = 0
    unpriced_requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: "UsageTotals") -> "UsageTotals":
        """Add the totals of more requests."""
        if not any(getattr(other, name) for name in USAGE):
            return self
        added = {name: (getattr(self, name) or 0) + (getattr(other, name) or 0) for name in USAGE}
        is_unpriced = added["requests"] and added["requests"] == added["unpriced_requests"]
        added["cost_usd"] = None if is_unpriced else float(added["cost_usd"])
        return UsageTotals(**added)


USAGE = tuple(each.name for each in fields(UsageTotals))
"""The names under which the use of models is reported."""


def total_usage(usage: Iterable[ModelUsage]) -> UsageTotals:
    """Add up the requests to each model in one merge."""
    usage = tuple(usage)
    requests = sum(each.requests for each in usage)
    unpriced = sum(each.requests for each in usage if each.cost_usd is None)
    cost = sum(each.cost_usd for each in usage if each.cost_usd is not None)
    return UsageTotals(
        requests=requests,
        unpriced_requests=unpriced,
        prompt_tokens=sum(each.prompt_tokens for each in usage),
        completion_tokens=sum(each.completion_tokens for each in usage),
        cost_usd=None if requests and requests == unpriced else float(cost),
    )

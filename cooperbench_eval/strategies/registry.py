"""Finds strategies by name among the installed distributions.

Built-in strategies stand in the same table as anybody's: the entry-point group
`cooperbench_eval.strategies`. Listing reads names only; a strategy is imported
when it is asked for.
"""

from typing import TypeGuard

from cooperbench_eval.errors import (
    DuplicateStrategyError,
    StrategyLoadError,
    UnknownStrategyError,
)
from cooperbench_eval.plugins import PluginGroup
from cooperbench_eval.strategies.protocol import MergeStrategy

__all__ = ["GROUP", "as_strategy", "available_strategies", "get_strategy"]

GROUP = "cooperbench_eval.strategies"


def available_strategies() -> tuple[str, ...]:
    """Return the names of the registered strategies, sorted; imports none of them."""
    return _STRATEGIES.names()


def get_strategy(name: str, /, **options: object) -> MergeStrategy:
    """Build the strategy registered as *name*, with *options* as its arguments.

    Raises:
        UnknownStrategyError: No distribution registers the name.
        DuplicateStrategyError: Several do.
        StrategyLoadError: It cannot be imported, built, or is no strategy.
    """
    return _STRATEGIES.build(name, options)


def as_strategy(strategy: str | MergeStrategy) -> MergeStrategy:
    """Return *strategy* itself, or the one registered under that name.

    Raises:
        StrategyLoadError: The object is no strategy; a class is none either.
    """
    needs = "is no strategy: it needs a name and a merge method; pass an instance"
    return _STRATEGIES.accept(strategy, needs)


def _is_strategy(candidate: object) -> TypeGuard[MergeStrategy]:
    return (
        not isinstance(candidate, type)
        and isinstance(candidate, MergeStrategy)
        and isinstance(candidate.name, str)
        and callable(candidate.merge)
    )


_STRATEGIES = PluginGroup(
    group=GROUP,
    keeps=_is_strategy,
    lacks="has no name or no merge method",
    unknown=UnknownStrategyError,
    duplicate=DuplicateStrategyError,
    broken=StrategyLoadError,
)

"""Merge strategies: the protocol, the registry, and the built-in ones."""

from cooperbench_eval.strategies.blocks import Resolution, resolve_blocks
from cooperbench_eval.strategies.protocol import (
    FeatureContext,
    MergeInput,
    MergeOutcome,
    MergeStrategy,
    resolve_conflicts,
)
from cooperbench_eval.strategies.registry import available_strategies, get_strategy
from cooperbench_eval.strategies.run import merge

__all__ = [
    "FeatureContext",
    "MergeInput",
    "MergeOutcome",
    "MergeStrategy",
    "Resolution",
    "available_strategies",
    "get_strategy",
    "merge",
    "resolve_blocks",
    "resolve_conflicts",
]

"""The laws of merge strategies, and how each is checked in one case.

A module for each subject, with its laws at the end: `clean_merges`, `settled_text`,
`side_effects`, `determinism`, `markers`, `symmetry`, `survival`. `law` says what a law
is.
"""

from typing import Final

from cooperbench_eval.testing.strategy_laws import (
    clean_merges,
    determinism,
    markers,
    settled_text,
    side_effects,
    survival,
    symmetry,
)
from cooperbench_eval.testing.strategy_laws.law import StrategyLaw

__all__ = ["STRATEGY_LAWS", "StrategyLaw"]

STRATEGY_LAWS: Final[tuple[StrategyLaw, ...]] = (
    *clean_merges.LAWS,
    *settled_text.LAWS,
    *side_effects.LAWS,
    *determinism.LAWS,
    *markers.LAWS,
    *symmetry.LAWS,
    *survival.LAWS,
)

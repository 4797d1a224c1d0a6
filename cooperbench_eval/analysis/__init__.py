"""Many reports: their facts, what is counted over them, and tables of them."""

from cooperbench_eval.analysis.facts import (
    AttemptFacts,
    FeatureFacts,
    PairFacts,
    RunFacts,
    facts_of,
)

__all__ = ["AttemptFacts", "FeatureFacts", "PairFacts", "RunFacts", "facts_of"]

"""Many reports: their facts, what is counted over them, and tables of them."""

from cooperbench_eval.analysis.comparing import compare
from cooperbench_eval.analysis.facts import (
    AttemptFacts,
    FeatureFacts,
    PairFacts,
    RunFacts,
    facts_of,
)
from cooperbench_eval.analysis.policies import POLICIES, Policy, PolicyRule, PolicyVerdict
from cooperbench_eval.analysis.rates import Comparison, Distribution, Rate
from cooperbench_eval.analysis.summarizing import summarize
from cooperbench_eval.analysis.summary import Summary
from cooperbench_eval.analysis.tables import to_pandas, to_polars, to_records
from cooperbench_eval.analysis.verdicts import (
    GoldSummary,
    PolicySummary,
    StrategySummary,
    Verdicts,
)

__all__ = [
    "POLICIES",
    "AttemptFacts",
    "Comparison",
    "Distribution",
    "FeatureFacts",
    "GoldSummary",
    "PairFacts",
    "Policy",
    "PolicyRule",
    "PolicySummary",
    "PolicyVerdict",
    "Rate",
    "RunFacts",
    "StrategySummary",
    "Summary",
    "Verdicts",
    "compare",
    "facts_of",
    "summarize",
    "to_pandas",
    "to_polars",
    "to_records",
]

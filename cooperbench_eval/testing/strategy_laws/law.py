"""What a law of strategies is."""

from collections.abc import Callable

from attrs import field, frozen

from cooperbench_eval.testing.cases import MergeCase
from cooperbench_eval.testing.records import Law
from cooperbench_eval.testing.strategy_trial import StrategyTrial

__all__ = ["StrategyLaw"]


@frozen(kw_only=True)
class StrategyLaw(Law):
    """A law of strategies.

    Attributes:
        name: What it is called in results and where somebody opts out.
        asks: What it asks, as a sentence.
        cases: The generator of `generators` that makes its cases.
        has_conflicts: Whether any of its cases has a conflict.
        check: Raises `BrokenError` if a case breaks it.
    """

    cases: str = "merge_cases"
    has_conflicts: bool = True
    check: Callable[[StrategyTrial, MergeCase], None] = field(repr=False, eq=False)

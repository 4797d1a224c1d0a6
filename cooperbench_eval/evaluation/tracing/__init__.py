"""Finds the code that the failures of lost tests lead to."""

from cooperbench_eval.evaluation.tracing.finding import trace_failures

__all__ = ["trace_failures"]

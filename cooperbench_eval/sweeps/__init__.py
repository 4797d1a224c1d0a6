"""Batches of the benchmark: all pairs of a task's own solutions, and all pairs of a run."""

from cooperbench_eval.sweeps.gold import gold_matrix
from cooperbench_eval.sweeps.runs import evaluate_run

__all__ = ["evaluate_run", "gold_matrix"]

"""Batches of the benchmark: all pairs or teams of a task's own solutions, and of a run."""

from cooperbench_eval.cooperbench.sweeps.gold import gold_matrix, gold_teams
from cooperbench_eval.cooperbench.sweeps.runs import evaluate_run

__all__ = ["evaluate_run", "gold_matrix", "gold_teams"]

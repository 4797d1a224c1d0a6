"""Finds the hunks that are responsible for the tests that a merge lost."""

from cooperbench_eval.evaluation.explaining.explain import explain

__all__ = ["explain"]

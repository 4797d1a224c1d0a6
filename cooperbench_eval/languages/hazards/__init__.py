"""Finds what looks wrong in a merged tree, without running it."""

from cooperbench_eval.languages.hazards.finding import find_hazards

__all__ = ["find_hazards"]

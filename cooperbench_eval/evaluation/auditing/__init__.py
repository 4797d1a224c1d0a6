"""Finds who wrote each line of a merged tree, and what became of each side's lines."""

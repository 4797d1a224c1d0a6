"""Finds whose each line of a merged tree is, and where a side's lines are in it."""

"""Finds what looks wrong in a merged tree, without running it."""

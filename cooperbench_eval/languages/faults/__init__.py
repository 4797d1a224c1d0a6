"""Checks a merged file without running it."""

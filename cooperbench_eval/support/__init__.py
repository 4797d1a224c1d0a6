"""Helpers that know nothing of git, tests or merges."""

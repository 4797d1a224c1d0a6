"""Finds the hunks that are responsible for the tests that a merge lost."""

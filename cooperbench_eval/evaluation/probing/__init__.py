"""Finds out how live branches of a repository merge, without touching the repository."""

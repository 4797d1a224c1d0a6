"""Merge strategies: the protocol, the registry, and the built-in ones."""

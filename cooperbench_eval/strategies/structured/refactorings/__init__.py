"""Finds refactorings that one side made, and makes them in the other versions as well."""

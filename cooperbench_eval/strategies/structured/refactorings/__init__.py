"""Refactorings that one side made, and how they are made in the other versions as well."""

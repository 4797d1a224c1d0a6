"""Patches: reading them, classifying their paths, and applying them to a tree."""

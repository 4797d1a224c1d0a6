"""The trees of branches, tags and commits, and of working trees with uncommitted changes."""

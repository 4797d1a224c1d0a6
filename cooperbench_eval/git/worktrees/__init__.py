"""Names to trees: branches, tags, commits, and working trees with uncommitted changes."""

"""Source text as trees of its constructs, and their three-way merge."""

"""Git's three-way merge, in memory: of lines, of files, and of trees with a common merge base."""

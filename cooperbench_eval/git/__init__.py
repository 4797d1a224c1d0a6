"""What git does, in memory: trees, merges, patches, and the working trees of branches."""

"""Trees of files as values: commits, directories, and changes to them."""

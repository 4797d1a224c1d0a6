"""The three-way merge: of lines, of a file, of two overlays."""

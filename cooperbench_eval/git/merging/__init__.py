"""The three-way merge of lines, of a file and of two overlays."""

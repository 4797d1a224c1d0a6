"""Finds what the names in a file refer to, in the languages that tree-sitter parses."""

"""pytest and unittest."""

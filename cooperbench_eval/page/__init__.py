"""A run as one HTML file: a table of pairs to filter, and each pair in detail."""

from cooperbench_eval.page.writing import write_page

__all__ = ["write_page"]

"""A run as one HTML file: a table of pairs that can be filtered, and each pair in detail."""

from cooperbench_eval.presentation.page.writing import write_page

__all__ = ["write_page"]

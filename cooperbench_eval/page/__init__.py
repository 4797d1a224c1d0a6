"""A run as one HTML file, for people: filters, pairs, conflicts, tests lost by name."""

from cooperbench_eval.page.writing import write_page

__all__ = ["write_page"]

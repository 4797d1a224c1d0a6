"""Parses Python files that hostile code may have written."""

import ast
import warnings

from cooperbench_eval.languages.python.facts import parse_source

__all__ = ["parse_python", "statements_of"]


def parse_python(data: bytes) -> list[ast.stmt] | None:
    """Return the statements of a file; `None` if it cannot be parsed."""
    try:
        with warnings.catch_warnings():  # a warning about a strange escape is not for our host
            warnings.simplefilter("ignore")
            return parse_source(data).body
    # Parsing deep or strange text may fail in each of these ways.
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def statements_of(data: bytes) -> list[ast.stmt]:
    """Return the statements of a file; none if it cannot be parsed."""
    return parse_python(data) or []

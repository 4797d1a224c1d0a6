"""Parses Python source in one thread at a time.

CPython 3.11 counts the depth of a syntax tree in one place for all threads. If a thread begins
to parse while another one is at it, `ast.parse` may raise `SystemError` (CPython issue 106905).
"""

import ast
from threading import Lock

__all__ = ["parse_source"]

_LOCK = Lock()


def parse_source(source: str | bytes) -> ast.Module:
    """Do what `ast.parse` does; other threads wait."""
    with _LOCK:
        return ast.parse(source)

"""Finds the errors of Python files with the compiler, and compiles no piece twice.

A file is cut after an empty line that precedes a top-level definition and its comments. If
each piece compiles on its own, so does the file: no string, bracket or continued line is
open where a piece ends, and the next piece starts in column 0 with a word that cannot
continue a statement. There are three exceptions: imports from `__future__`, which apply to
everything after them; `global` at the top level, which makes earlier uses of the name
invalid; and cuts inside a string, where the pieces do not compile.
"""

import ast
import codecs
import io
import re
import tokenize
import warnings
from collections import Counter
from functools import lru_cache
from threading import Lock

from cooperbench_eval.languages.tree import SyntaxFaultError

_CUT = re.compile(r"\n[ \t\r]*\n(?=(?:#[^\n]*\n)*(?:@|def |class |async def ))")


@lru_cache(maxsize=64)
def check_python(source: bytes) -> None:
    """Check that a file compiles.

    Raises:
        SyntaxFaultError: It does not.
    """
    text = _decoded(source)
    pieces = _pieces(text)
    future = ""
    for i, piece in enumerate(pieces):
        if _error(future + piece):
            rest = future + "".join(pieces[i:])
            # Empty lines replace the text before it, so that an error names the right line.
            rest = "\n" * (text.count("\n") - rest.count("\n")) + rest
            if error := _error(rest):
                # Only in the whole text does the compiler find that `global` comes too late.
                raise SyntaxFaultError(
                    *((_error(text) or error) if _GLOBAL.search(rest) else error)
                )
            pieces = [*pieces[:i], rest]
            break
        future = future if i else _future(piece)
    if any(map(_has_global, pieces)) and (error := _error(text)):
        raise SyntaxFaultError(*error)


def _decoded(source: bytes) -> str:
    """Decode a file as Python does: UTF-8, unless one of its first two lines says otherwise."""
    encoding = "utf-8"
    try:
        if source.startswith(codecs.BOM_UTF8) or any(
            b"coding" in line for line in source.split(b"\n", 2)[:2]
        ):
            encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        return source.decode(encoding)
    except (SyntaxError, UnicodeDecodeError) as exc:
        raise SyntaxFaultError(str(exc)) from exc


def _pieces(text: str) -> list[str]:
    ends = [found.end() for found in _CUT.finditer(text)]
    if ends and "__future__" in text[ends[0] :]:
        return [text]  # such an import is invalid after the first statement
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


@lru_cache(maxsize=8192)
def _error(text: str) -> tuple[str, int | None] | None:
    """Return why a text is not valid Python, and on which line; `None` if it is valid."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Unlike the parser, the compiler also finds, for example, a repeated argument.
            _compile(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        problem = getattr(exc, "msg", "") or str(exc)  # without the name given to the compiler
        return problem or type(exc).__name__, getattr(exc, "lineno", None)
    return None


def _compile(text: str) -> None:
    if max(Counter(_CODE.findall(text)).values(), default=0) > _MANY_ALIKE:
        try:
            compile(_in_one_place(text), "<merged>", "exec", dont_inherit=True)
        except SyntaxError:
            pass  # it is raised again below, with the right line
        else:
            return
    compile(text, "<merged>", "exec", dont_inherit=True)


_CODE = re.compile(r"\b(?:def\s+\w+|lambda|for)\b")
_MANY_ALIKE = 1000


def _in_one_place(text: str) -> ast.Module:
    """Parse a text, and move everything in it to the same line and column.

    Otherwise CPython 3.11 takes quadratic time for functions that differ only in their
    places: their code is not equal, but has equal hashes.
    """
    tree = parse_source(text)
    for node in ast.walk(tree):
        for place in ("lineno", "end_lineno", "col_offset", "end_col_offset"):
            if hasattr(node, place):
                setattr(node, place, 1)
    return tree


def _future(text: str) -> str:
    if "__future__" not in text:
        return ""
    features = [
        alias.name
        for node in _parse(text).body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        for alias in node.names
    ]
    return f"from __future__ import {', '.join(features)}\n" if features else ""


@lru_cache(maxsize=8192)
def _has_global(text: str) -> bool:
    return bool(_GLOBAL.search(text)) and _declares_global(_parse(text))


_GLOBAL = re.compile(r"(?m)(?:^|[:;])[ \t\f]*global\b")


def _declares_global(node: ast.AST) -> bool:
    return isinstance(node, ast.Global) or any(
        _declares_global(child)
        for child in ast.iter_child_nodes(node)
        if not isinstance(child, ast.expr | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    )


def _parse(text: str) -> ast.Module:
    """Parse a piece; its warnings concern only its author."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return parse_source(text)


_LOCK = Lock()


def parse_source(source: str | bytes) -> ast.Module:
    """Do what `ast.parse` does; other threads wait."""
    with _LOCK:
        return ast.parse(source)

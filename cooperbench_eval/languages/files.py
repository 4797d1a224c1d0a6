"""Reads files in the language that their names imply, and finds their syntax errors."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from cooperbench_eval.languages.data import (
    check_data,
    find_format,
    read_data_versions,
)
from cooperbench_eval.languages.readers.grammars import Grammar, parse_soundly
from cooperbench_eval.languages.readers.prose import read_prose
from cooperbench_eval.languages.readers.python_syntax import check_python
from cooperbench_eval.languages.readers.syntax import read_syntax
from cooperbench_eval.languages.tree import Construct, StructureError, SyntaxFaultError
from cooperbench_eval.languages.words import CURLY, SCRIPT, TEXT, Words

_PROSE = frozenset({".md", ".rst", ".txt"})
GRAMMARS: Mapping[str, Grammar] = {
    ".py": Grammar.PYTHON,
    ".pyi": Grammar.PYTHON,
    ".js": Grammar.JAVASCRIPT,
    ".jsx": Grammar.JAVASCRIPT,
    ".mjs": Grammar.JAVASCRIPT,
    ".cjs": Grammar.JAVASCRIPT,
    ".ts": Grammar.TYPESCRIPT,
    ".mts": Grammar.TYPESCRIPT,
    ".cts": Grammar.TYPESCRIPT,
    ".tsx": Grammar.TSX,
    ".go": Grammar.GO,
    ".java": Grammar.JAVA,
    ".rs": Grammar.RUST,
}
"""The grammars by the suffixes of file names."""


class SyntaxFault(NamedTuple):
    """Why a file does not parse.

    Attributes:
        problem: The error of the parser or the compiler.
        line: Its line, counted from 1; `None` if unknown.
    """

    problem: str
    line: int | None


def find_grammar(path: str) -> Grammar | None:
    """Return the grammar of a file of source; `None` if it is in no supported language."""
    return GRAMMARS.get(PurePosixPath(path).suffix)


def is_code(path: str) -> bool:
    """Whether a file is in one of the supported languages."""
    return find_grammar(path) is not None


def is_prose(path: str) -> bool:
    """Whether a file is a document for people."""
    file = PurePosixPath(path)
    return file.suffix in _PROSE and file.name != "CMakeLists.txt"


def words_of(path: str) -> Words:
    """Return how a file is divided into tokens: source in one way, all else in another."""
    grammar = find_grammar(path)
    return SCRIPT if grammar is Grammar.PYTHON else CURLY if grammar else TEXT


def read_versions(path: str, versions: Sequence[bytes]) -> list[Construct]:
    """Read versions of a file in the language that its name implies.

    Raises:
        StructureError: The language is not supported, its grammar is not installed, or a
            version cannot be read.
    """
    known = max(versions, key=len)
    if found := find_format(path, known):
        return read_data_versions(found, versions)
    grammar = find_grammar(path)
    if grammar is None and not is_prose(path):
        suffix = PurePosixPath(path).suffix
        raise StructureError(f"the structure of {suffix or 'such'} files is not known")
    if not all(version.endswith(b"\n") for version in versions):
        raise StructureError("the last line of a version has no newline")
    if grammar is None:
        return read_prose(versions)
    return list(read_syntax(grammar, tuple(versions)))


def find_syntax_fault(path: str, source: bytes) -> SyntaxFault | None:
    """Return where the syntax of a file is wrong.

    Returns:
        The fault; `None` if there is none, or if files of this kind cannot be parsed here.
    """
    grammar = find_grammar(path)
    try:
        if found := find_format(path, source):
            check_data(path, found, source)
        elif grammar is Grammar.PYTHON:
            check_python(source)
        elif grammar:
            parse_soundly(grammar, source)
    except SyntaxFaultError as exc:
        return SyntaxFault(str(exc), exc.line)
    except StructureError:
        return None
    return None

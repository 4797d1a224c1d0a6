"""Chooses the reader for a file by its name."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from cooperbench_eval.structure.definitions import definitions
from cooperbench_eval.structure.grammars import Grammar, SyntaxFaultError, parse_soundly
from cooperbench_eval.structure.python import read_python
from cooperbench_eval.structure.pythonfacts import UnreadableError, cut
from cooperbench_eval.structure.syntax import read_syntax
from cooperbench_eval.structure.tree import Construct, StructureError

__all__ = [
    "GRAMMARS",
    "SyntaxFault",
    "count_definitions",
    "find_syntax_fault",
    "is_code",
    "read_versions",
]

_PYTHON = frozenset({".py", ".pyi"})
GRAMMARS: Mapping[str, Grammar] = {
    ".js": Grammar.JAVASCRIPT,
    ".jsx": Grammar.JAVASCRIPT,
    ".mjs": Grammar.JAVASCRIPT,
    ".cjs": Grammar.JAVASCRIPT,
    ".ts": Grammar.TYPESCRIPT,
    ".mts": Grammar.TYPESCRIPT,
    ".cts": Grammar.TYPESCRIPT,
    ".tsx": Grammar.TSX,
    ".go": Grammar.GO,
    ".rs": Grammar.RUST,
}
"""The grammars by the suffixes of file names."""


def is_code(path: str) -> bool:
    """Whether a file is in one of the supported languages."""
    return PurePosixPath(path).suffix in _PYTHON | GRAMMARS.keys()


def read_versions(path: str, versions: Sequence[bytes]) -> list[Construct]:
    """Read versions of a file in the language that its name implies.

    Raises:
        StructureError: The language is not supported, its grammar is not installed, or a
            version cannot be read.
    """
    suffix = PurePosixPath(path).suffix
    grammar = GRAMMARS.get(suffix)
    if grammar is None and suffix not in _PYTHON:
        raise StructureError(f"the structure of {suffix or 'such'} files is not known")
    if not all(version.endswith(b"\n") for version in versions):
        raise StructureError("the last line of a version has no newline")
    if grammar is None:
        return read_python(versions)
    return list(read_syntax(grammar, tuple(versions)))


class SyntaxFault(NamedTuple):
    """Why a file does not parse.

    Attributes:
        problem: The error of the parser or the compiler.
        line: Its line, counted from 1; `None` if unknown.
    """

    problem: str
    line: int | None


def find_syntax_fault(path: str, source: bytes) -> SyntaxFault | None:
    """Return where the syntax of a file is wrong.

    Returns:
        The fault; `None` if there is none, or if no grammar for the file is installed.
    """
    grammar = GRAMMARS.get(PurePosixPath(path).suffix)
    try:
        if path.endswith(tuple(_PYTHON)):
            cut(source)
        elif grammar:
            parse_soundly(grammar, source)
    except (UnreadableError, SyntaxFaultError) as exc:
        return SyntaxFault(str(exc), exc.line)
    except StructureError:
        return None
    return None


def count_definitions(path: str, source: bytes) -> Counter[str]:
    """Count the definitions in a file by qualified name.

    Names that may be defined twice are not counted: signatures without a body,
    interfaces, and names that are local to an anonymous function.

    Returns:
        The counts; empty if the file does not parse or no grammar for it is installed.
    """
    grammar = GRAMMARS.get(PurePosixPath(path).suffix)
    if grammar is None:
        return Counter()
    try:
        root = parse_soundly(grammar, source)
    except StructureError:
        return Counter()
    return Counter(name for name, _ in definitions(root, source))

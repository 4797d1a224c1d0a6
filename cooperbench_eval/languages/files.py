"""Reads files in the language that their names imply, and finds their syntax errors."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from cooperbench_eval.languages.data import (
    check_data,
    find_format,
    read_data_versions,
)
from cooperbench_eval.languages.readers.grammars import Grammar
from cooperbench_eval.languages.readers.prose import Fence, FencedCode, fences, read_prose
from cooperbench_eval.languages.readers.python_syntax import check_python
from cooperbench_eval.languages.readers.regions import TOLERANT, parse_readable
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
    ".c": Grammar.C,
}
"""The grammars by the suffixes of file names, for languages whose names are analysed, too."""
_OTHERS: Mapping[str, Grammar] = {
    ".h": Grammar.CPP,
    ".cc": Grammar.CPP,
    ".cpp": Grammar.CPP,
    ".cxx": Grammar.CPP,
    ".hh": Grammar.CPP,
    ".hpp": Grammar.CPP,
    ".hxx": Grammar.CPP,
    ".cs": Grammar.CSHARP,
    ".css": Grammar.CSS,
    ".html": Grammar.HTML,
    ".kt": Grammar.KOTLIN,
    ".kts": Grammar.KOTLIN,
    ".php": Grammar.PHP,
    ".rb": Grammar.RUBY,
}
_FENCED: Mapping[bytes, str] = {
    b"golang": ".go",
    b"javascript": ".js",
    b"python": ".py",
    b"rust": ".rs",
    b"typescript": ".ts",
} | {suffix[1:].encode(): suffix for suffix in GRAMMARS}
"""The suffix of a file in the language that a fence in Markdown names."""
_LAYOUTS = frozenset({None, Grammar.CSS, Grammar.HTML})
"""No grammar, or one without statements; the order is checked line by line."""


class SyntaxFault(NamedTuple):
    """Why a file does not parse.

    Attributes:
        problem: The error of the parser or the compiler.
        line: Its line, counted from 1; `None` if unknown.
    """

    problem: str
    line: int | None


def find_grammar(path: str) -> Grammar | None:
    """Return the grammar of a file of which the names are analysed; `None` for other files."""
    return GRAMMARS.get(PurePosixPath(path).suffix)


def grammar_of(path: str) -> Grammar | None:
    """Return the grammar of a file; `None` if it is in no supported language."""
    return find_grammar(path) or _OTHERS.get(PurePosixPath(path).suffix)


def is_code(path: str) -> bool:
    """Whether a file is in one of the supported languages of statements and definitions."""
    return grammar_of(path) not in _LAYOUTS


def is_prose(path: str) -> bool:
    """Whether a file is a document for people."""
    file = PurePosixPath(path)
    return file.suffix in _PROSE and file.name != "CMakeLists.txt"


def words_of(path: str) -> Words:
    """Return how a file is divided into tokens: source in one way, all else in another."""
    grammar = grammar_of(path)
    if grammar in _LAYOUTS:
        return TEXT
    return SCRIPT if grammar in {Grammar.PYTHON, Grammar.RUBY} else CURLY


def read_versions(path: str, versions: Sequence[bytes]) -> list[Construct]:
    """Read versions of a file in the language that its name implies.

    Raises:
        StructureError: The language is not supported, its grammar is not installed, or a
            version cannot be read.
    """
    known = max(versions, key=len)
    if found := find_format(path, known):
        return read_data_versions(found, versions)
    grammar = grammar_of(path)
    if grammar is None and not is_prose(path):
        suffix = PurePosixPath(path).suffix
        raise StructureError(f"the structure of {suffix or 'such'} files is not known")
    if not all(version.endswith(b"\n") for version in versions):
        raise StructureError("the last line of a version has no newline")
    if grammar is None:
        return read_prose(versions, _read_code(path, versions))
    return list(read_syntax(grammar, tuple(versions)))


def _read_code(path: str, versions: Sequence[bytes]) -> list[list[FencedCode]]:
    """Read the code in the fences that differ between versions of a document, for each version."""
    found: list[list[FencedCode]] = [[] for _ in versions]
    for name, row in _fences_of(path, versions):
        code = tuple(text[each.code] for each, text in zip(row, versions, strict=True))
        try:
            trees = read_syntax(GRAMMARS[PurePosixPath(name).suffix], code)
        except StructureError:
            continue
        for known, fence, tree in zip(found, row, trees, strict=True):
            known.append((fence, tree))
    return found


def code_in(path: str, versions: Sequence[bytes]) -> Iterator[tuple[str, list[bytes]]]:
    """Yield the code of each fence that differs, as the name and the versions of a file.

    The lines of the code have the same numbers as in the document.
    """
    for name, row in _fences_of(path, versions):
        pairs = zip(row, versions, strict=True)
        yield name, [b"\n" * text[: e.code.start].count(b"\n") + text[e.code] for e, text in pairs]


def _fences_of(path: str, versions: Sequence[bytes]) -> Iterator[tuple[str, Sequence[Fence]]]:
    """Yield each fence whose code differs and is in a known language, as it is in all versions.

    There are none if the document is not Markdown, or if a version has more fences than another.
    """
    rows = [fences(text) if path.endswith(".md") else [] for text in versions]
    if len(set(map(len, rows))) > 1:
        return
    for row in zip(*rows, strict=True):
        suffixes = {_FENCED.get(fence.language) for fence in row}
        code = {text[fence.code] for fence, text in zip(row, versions, strict=True)}
        suffix = suffixes.pop()
        is_closed = all(fence.code.stop < fence.end for fence in row)
        if suffix and not suffixes and is_closed and len(code) > 1 and all(code):
            yield f"code{suffix}", row


def find_syntax_fault(path: str, source: bytes) -> SyntaxFault | None:
    """Return where the syntax of a file is wrong.

    Returns:
        The fault; `None` if there is none, or if files of this kind cannot be parsed here.
    """
    grammar = grammar_of(path)
    try:
        if found := find_format(path, source):
            check_data(path, found, source)
        elif grammar is Grammar.PYTHON:
            check_python(source)
        elif grammar:
            parse_readable(grammar, source)
    except SyntaxFaultError as exc:
        return SyntaxFault(str(exc), exc.line)
    except StructureError:
        return None
    return None


def opaque_regions(path: str, source: bytes) -> list[tuple[int, int]]:
    """Return where the parts of a file begin and end that its grammar does not read.

    Raises:
        StructureError: The file cannot be parsed.
    """
    grammar = grammar_of(path)
    if grammar not in TOLERANT:
        return []
    opaque = parse_readable(grammar, source).opaque
    return [(region[0].start_byte, region[-1].end_byte) for region in opaque]

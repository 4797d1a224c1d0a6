"""Reads what a file declares, defines, imports and uses, piece by piece."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from unicodedata import normalize

from cooperbench_eval.languages.model import Clash, Names, Source
from cooperbench_eval.languages.readers.grammars import COMMENTS, Grammar, SyntaxNode
from cooperbench_eval.languages.readers.regions import parse_readable
from cooperbench_eval.languages.scopes.clang import CWalk
from cooperbench_eval.languages.scopes.golang import GoWalk
from cooperbench_eval.languages.scopes.java import JavaWalk
from cooperbench_eval.languages.scopes.python import PythonWalk
from cooperbench_eval.languages.scopes.rust import RustWalk
from cooperbench_eval.languages.scopes.scripts import ScriptWalk
from cooperbench_eval.languages.scopes.walk import Walk
from cooperbench_eval.support.memo import WeighedMemo

WALKS: dict[Grammar, type[Walk]] = {
    Grammar.C: CWalk,
    Grammar.GO: GoWalk,
    Grammar.JAVA: JavaWalk,
    Grammar.JAVASCRIPT: ScriptWalk,
    Grammar.PYTHON: PythonWalk,
    Grammar.RUST: RustWalk,
    Grammar.TSX: ScriptWalk,
    Grammar.TYPESCRIPT: ScriptWalk,
}
"""The walk that reads each language."""
_PREFIXES = frozenset({"attribute_item", "line_comment", "block_comment"})
_MOST_BYTES = 2**20
_PIECES = WeighedMemo[tuple[Grammar, str, bytes], Sequence[tuple[int, Names]]](_MOST_BYTES)
_WORD = re.compile(r"\w+")
_CONSTRAINT = re.compile(rb"(?m)^//\s*(?:go:build|\+build)\b")


@lru_cache(maxsize=64)
def read_source(grammar: Grammar, source: bytes) -> Source:
    """Read what a file declares, defines, imports and uses.

    Versions of a file share most of its pieces: the statements at its top level, and the methods
    of its Python classes. Each piece is read once.

    Raises:
        StructureError: The file does not parse, or the grammar is not installed.
    """
    walk = WALKS[grammar]
    if grammar is Grammar.PYTHON and not source.isascii():
        # As the compiler compares names.
        shown = source.decode("utf-8", "surrogateescape")
        shown = _WORD.sub(lambda word: normalize("NFKC", word[0]), shown)
        source = shown.encode("utf-8", "surrogateescape")
    root = parse_readable(grammar, source).root
    pieces: list[tuple[int, Names]] = []
    for nodes in _grouped(root.children):
        row = nodes[0].start_point.row
        found = _pieces(grammar, source[nodes[0].start_byte : nodes[-1].end_byte], nodes)
        pieces += ((row + at, names) for at, names in found)
    statements = [each for each in root.children if each.is_named and each.type not in COMMENTS]
    return Source(
        pieces=tuple(pieces),
        clashes=tuple(_clashes(walk, pieces)),
        top_slips=Counter(walk.blocks.slips(statements)),
        package="" if _CONSTRAINT.search(source) else _package(walk, root),
        known=walk.known,
        common=walk.common,
        is_open=any(names.may_bind_any for _, names in pieces),
    )


def _pieces(
    grammar: Grammar, text: bytes, nodes: Sequence[SyntaxNode], owner: str = ""
) -> Sequence[tuple[int, Names]]:
    """Read a statement, or a method of a class; it is a piece, and so is each method in it."""
    key = grammar, owner, text
    found = _PIECES.get(key)
    if found is None:
        walk = WALKS[grammar](nodes, owner)
        pieces, start = [(0, walk.read())], nodes[0]
        for name, node in walk.apart:
            at = node.start_byte - start.start_byte
            inner = text[at : at + node.end_byte - node.start_byte]
            row = node.start_point.row - start.start_point.row
            pieces += ((row + i, names) for i, names in _pieces(grammar, inner, [node], name))
        found = _PIECES.keep(key, pieces, size=len(text))
    return found


def _package(walk: type[Walk], root: SyntaxNode) -> str:
    clauses = (each for each in root.children if each.type == walk.package_clause)
    names = (name.text or b"" for each in clauses for name in each.named_children)
    return next(names, b"").decode("utf-8", "replace")


def _grouped(nodes: Sequence[SyntaxNode]) -> Iterator[list[SyntaxNode]]:
    """Yield statements, each with the attributes before it."""
    before: list[SyntaxNode] = []
    for node in nodes:
        if node.type in _PREFIXES:
            before.append(node)
        elif node.is_named and node.type not in COMMENTS:
            yield [*before, node]
            before = []


def _clashes(walk: type[Walk], pieces: Sequence[tuple[int, Names]]) -> Iterator[Clash]:
    """Yield the clashes in each piece, and those between pieces."""
    declared: dict[str, list[tuple[int, int]]] = {}
    for i, (row, names) in enumerate(pieces):
        for clash in names.clashes:
            yield clash.moved(row)
        for j, (name, _) in enumerate(names.declared):
            declared.setdefault(name, []).append((i, j))
    for name, places in declared.items():
        if len(places) > 1:
            found = [
                each.in_file(i, pieces[i][0])
                for i, j in places
                for _, each in (pieces[i][1].declared[j],)
            ]
            if (between := walk.sharing.clash(name, "", found)) is not None:
                yield between

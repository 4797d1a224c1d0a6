"""Reads the names of a whole file, piece by piece."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from cooperbench_eval.languages.model import Clash, Declaration, ScopeNames
from cooperbench_eval.languages.readers.grammars import COMMENTS, Grammar, SyntaxNode, parse_soundly
from cooperbench_eval.languages.scopes.golang import GoWalk
from cooperbench_eval.languages.scopes.java import JavaWalk
from cooperbench_eval.languages.scopes.rust import RustWalk
from cooperbench_eval.languages.scopes.scripts import ScriptWalk
from cooperbench_eval.languages.scopes.walk import Walk
from cooperbench_eval.support.memo import WeighedMemo

_WALKS: dict[Grammar, type[Walk]] = {
    Grammar.GO: GoWalk,
    Grammar.JAVA: JavaWalk,
    Grammar.JAVASCRIPT: ScriptWalk,
    Grammar.RUST: RustWalk,
    Grammar.TSX: ScriptWalk,
    Grammar.TYPESCRIPT: ScriptWalk,
}
_PREFIXES = frozenset({"attribute_item", "line_comment", "block_comment"})
_MOST_BYTES = 2**20
_PIECES = WeighedMemo[tuple[Grammar, bytes], ScopeNames](_MOST_BYTES)


@lru_cache(maxsize=64)
def read_names(grammar: Grammar, source: bytes) -> ScopeNames:
    """Read what a file declares and uses.

    Merges of a file share most of its pieces, the statements at its top level. Each piece
    is read once.

    Raises:
        StructureError: The file does not parse, or the grammar is not installed.
    """
    walk = _WALKS[grammar]
    pieces: list[tuple[int, ScopeNames]] = []
    for nodes in _grouped(parse_soundly(grammar, source).children):
        text = source[nodes[0].start_byte : nodes[-1].end_byte]
        key = grammar, text
        found = _PIECES.get(key)
        if found is None:
            found = _PIECES.keep(key, walk(nodes).read(), size=len(text))
        pieces.append((nodes[0].start_point.row, found))
    return _joined(walk, pieces)


def _grouped(nodes: Sequence[SyntaxNode]) -> Iterator[list[SyntaxNode]]:
    """Yield statements, each with the attributes before it."""
    before: list[SyntaxNode] = []
    for node in nodes:
        if node.type in _PREFIXES:
            before.append(node)
        elif node.is_named and node.type not in COMMENTS:
            yield [*before, node]
            before = []


def _joined(walk: type[Walk], pieces: Sequence[tuple[int, ScopeNames]]) -> ScopeNames:
    """Add up the pieces of a file, each with its first line."""
    declared: dict[str, list[Declaration]] = {}
    clashes: list[Clash] = []
    repeated: Counter[bytes] = Counter()
    for row, piece in pieces:
        for name, each in piece.declared:
            place = each.line + row + 1
            declared.setdefault(name, []).append(each._replace(line=place))
        clashes += (clash.moved(row + 1) for clash in piece.clashes)
        repeated.update(piece.repeated)
    for name, found in declared.items():
        if len(found) > 1 and (clash := walk.clash(name, "", found)):
            clashes.append(clash)
    parts = [piece for _, piece in pieces]
    free = frozenset[str]().union(*(each.free for each in parts))
    return ScopeNames(
        declared=tuple((name, each) for name, found in declared.items() for each in found),
        clashes=tuple(clashes),
        free=free - declared.keys(),
        local=frozenset[str]().union(*(each.local for each in parts)),
        skipped=sum(each.skipped for each in parts),
        repeated=repeated,
        functions=tuple(function for each in parts for function in each.functions),
        calls=tuple(call for each in parts for call in each.calls),
        has_glob=any(each.has_glob for each in parts),
        is_module=any(each.is_module for each in parts),
    )

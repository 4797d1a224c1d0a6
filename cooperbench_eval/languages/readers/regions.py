"""Finds the smallest parts of a file around what a grammar cannot read.

The grammar of C does not expand macros, so it finds errors in files that compile. Everything
except the parts around these errors is read and merged.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import itemgetter, lt
from typing import NamedTuple

from attrs import field, frozen

from cooperbench_eval.languages.readers.grammars import (
    COMMENTS,
    Grammar,
    SyntaxNode,
    parse,
    syntax_fault,
)
from cooperbench_eval.languages.readers.profiles import PROFILES
from cooperbench_eval.languages.tree import StructureError

OPAQUE = "opaque"
"""The kind of a region that is not read."""
TOLERANT = frozenset(
    {Grammar.C, Grammar.CPP, Grammar.CSHARP, Grammar.CSS, Grammar.HTML, Grammar.KOTLIN}
)
"""The grammars that fail on some valid files; in other languages, an error is a fault."""


Region = Sequence[SyntaxNode]
"""A node that is not read, or several adjacent ones."""


class Parsed(NamedTuple):
    """The syntax tree of a file, and the regions that are not read."""

    root: SyntaxNode
    opaque: Sequence[Region]


def parse_readable(grammar: Grammar, source: bytes) -> Parsed:
    """Parse a file; if it has errors, find the smallest regions around them.

    A region is a node, or adjacent statements or definitions. All its brackets match, so what
    is around it was read correctly.

    Raises:
        SyntaxFaultError: The only such region is the whole file, or the grammar reads every
            valid file of the language.
        StructureError: The packages are not installed, or the grammar fails on such a file.
    """
    _check_open(grammar, source)
    root = parse(grammar, source).root_node
    if not root.has_error:
        return Parsed(root, ())
    if grammar not in TOLERANT or root.is_error:
        raise syntax_fault(root)
    return _around_errors(grammar, source)


def _check_open(grammar: Grammar, source: bytes) -> None:
    """Refuse many open brackets or comments: at an error, grammars look at all that are open."""
    most = max(source.count(opener) - source.count(closer) for opener, closer in _PAIRS)
    if grammar in _SLOW:
        left = source.translate(None, _NO_BRACKETS)
        for _ in range(100):
            left = left.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
        most = max(most, len(left))
    if most > _MOST_OPEN:
        raise StructureError(f"brackets nest more than {_MOST_OPEN:,} levels deep, or stay open")


_PAIRS = ((b"(", b")"), (b"[", b"]"), (b"{", b"}"), (b"/*", b"*/"))
_NO_BRACKETS = bytes({*range(256)}.difference(b"()[]{}"))
_SLOW = frozenset({Grammar.CSS, Grammar.PHP})
"""The grammars that take as long if the brackets are closed at the end."""
_MOST_OPEN, _MOST_PARTS = 1_000, 3_000


# A node keeps its whole tree in memory. So few are remembered, and only with errors.
@lru_cache(maxsize=4)
def _around_errors(grammar: Grammar, source: bytes) -> Parsed:
    root = parse(grammar, source).root_node
    brackets = _Brackets.of(root)
    found: list[Region] = []
    for fault in _faults(root):
        if found and fault.end_byte <= found[-1][-1].end_byte:
            continue
        node, region = _around(fault), None
        while node is not None and node != root and region is None:
            if node.start_byte < node.end_byte:
                region = brackets.around([node], 0) or brackets.around(*_neighbours(node))
            node = node.parent
        if region is None:
            raise syntax_fault(fault)
        if len(found) == _MOST_PARTS:
            raise StructureError(f"more than {_MOST_PARTS:,} parts of a version cannot be read")
        region = _without_whole(grammar, brackets, region)
        while found and region[0].start_byte <= found[-1][0].start_byte:
            found.pop()
        found.append(region)
    return Parsed(root, tuple(found))


def _without_whole(grammar: Grammar, brackets: "_Brackets", region: Region) -> Region:
    """Leave out whole statements and definitions at both ends of a node with an error."""
    if len(region) > 1 or not region[0].is_error:
        return region
    whole = PROFILES[grammar].kinds.keys() | COMMENTS
    inner = region[0].children
    start, stop = 0, len(inner)
    while start < stop and inner[stop - 1].type in whole and not inner[stop - 1].has_error:
        stop -= 1
    while start < stop and inner[start].type in whole and not inner[start].has_error:
        start += 1
    rest = inner[start:stop]
    return rest if rest and not any(brackets.lacking(rest)) else region


def _neighbours(node: SyntaxNode) -> tuple[Region, int]:
    """Return a node with the statements or definitions beside it, and its place there."""
    siblings = node.parent.children if node.parent else [node]
    at = siblings.index(node)
    start, stop = at, at + 1
    while start and _is_member(siblings[start - 1]):
        start -= 1
    while stop < len(siblings) and _is_member(siblings[stop]):
        stop += 1
    return siblings[start:stop], at - start


def _is_member(node: SyntaxNode) -> bool:
    """Whether a node may be a whole statement."""
    return node.is_named or node.type == ";"


def _around(fault: SyntaxNode) -> SyntaxNode | None:
    """Return the node at fault, or the one that lacks a token, such as a semicolon."""
    if not fault.is_missing:
        return fault
    before = fault.prev_sibling if fault.type == ";" else None
    return before if before is not None and before.is_named else fault.parent


def _faults(root: SyntaxNode) -> Iterator[SyntaxNode]:
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if node.is_missing and depth > _DEEPEST:  # the search for its parent recurses
            raise StructureError(f"an error is nested more than {_DEEPEST:,} levels deep")
        if node.is_error or node.is_missing:
            yield node
        elif node.has_error:
            stack += ((each, depth + 1) for each in reversed(node.children))


@frozen
class _Brackets:
    """How deep brackets and the preprocessor's conditions nest, after each place in a file.

    Each alternative of an `#if` begins at the depth at which the `#if` does.
    """

    _places: Sequence[int] = field(repr=False)
    _depths: Sequence[tuple[int, int]] = field(repr=False)

    @classmethod
    def of(cls, root: SyntaxNode) -> "_Brackets":
        places, depths = [0], [(0, 0)]
        depth, branches = 0, list[int]()
        for leaf in _leaves(root):
            kind = leaf.type
            if kind == "preproc_directive":
                kind = (leaf.text or b"").decode().replace(" ", "")
            if kind in _STEPS:
                depth += _STEPS[kind]
            elif kind.startswith("#if"):
                branches.append(depth)
            elif kind.startswith("#el") and branches:
                depth = branches[-1]
            elif kind == "#endif" and branches:
                branches.pop()
            else:
                continue
            places.append(leaf.end_byte)
            depths.append((depth, len(branches)))
        return cls(places, depths)

    def around(self, nodes: Region, at: int) -> Region | None:
        """Return the fewest *nodes* around one of them in which all brackets match.

        It is `None` if there are none.
        """
        first, last = at, at + 1
        while 0 <= first < last <= len(nodes) and last - first <= _MOST_NEIGHBOURS:
            lacks_start, lacks_end = self.lacking(nodes[first:last])
            if lacks_start:
                first -= 1
            elif lacks_end:
                last += 1
            else:
                return nodes[first:last]
        return None

    def lacking(self, region: Region) -> tuple[bool, bool]:
        """Return whether a region lacks opening brackets, and if not, whether closing ones."""
        at = region[0].start_byte, region[-1].end_byte
        start, stop = (bisect_right(self._places, place) for place in at)
        depths = self._depths[start - 1 : stop]
        lowest = [min(map(itemgetter(i), depths)) for i in (0, 1)]
        return any(map(lt, lowest, depths[0])), depths[-1] != depths[0]


_MOST_NEIGHBOURS = 100
_DEEPEST = 1_000
"""How deep a missing sign may be; tree-sitter recurses in C to find what lacks it."""
_STEPS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def _leaves(root: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield the nodes without children, in order."""
    cursor = root.walk()
    while True:
        if not cursor.goto_first_child():
            if (node := cursor.node) is not None and not node.is_missing:
                yield node
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return

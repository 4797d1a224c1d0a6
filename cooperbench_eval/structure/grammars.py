"""The door to tree-sitter, whose grammars parse the languages other than Python.

The packages are optional. Nothing of them is imported until a file is parsed.
"""

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from cooperbench_eval.structure.tree import StructureError

if TYPE_CHECKING:
    import tree_sitter

__all__ = ["Grammar", "SyntaxFaultError", "SyntaxNode", "parse_soundly"]


class Grammar(StrEnum):
    """A language that tree-sitter parses."""

    JAVASCRIPT = "JavaScript"
    TYPESCRIPT = "TypeScript"
    TSX = "TSX"
    GO = "Go"
    RUST = "Rust"


class SyntaxFaultError(StructureError):
    """A file has errors; the message is where the first is."""


class SyntaxNode(Protocol):
    """What is used of a node of tree-sitter's."""

    @property
    def id(self) -> int:
        """A number that no other node of the tree has."""

    @property
    def type(self) -> str:
        """The rule of the grammar, or the token itself."""

    @property
    def start_byte(self) -> int:
        """Where it begins."""

    @property
    def end_byte(self) -> int:
        """Where it ends."""

    @property
    def is_named(self) -> bool:
        """Whether it is more than a word or sign of the grammar."""

    @property
    def children(self) -> Sequence["SyntaxNode"]:
        """All nodes directly below it."""

    @property
    def parent(self) -> "SyntaxNode | None":
        """The node above."""

    def child_by_field_name(self, name: str, /) -> "SyntaxNode | None":
        """Return the first child in a role."""

    def children_by_field_name(self, name: str, /) -> Sequence["SyntaxNode"]:
        """Return all children in a role."""


def parse_soundly(grammar: Grammar, source: bytes) -> SyntaxNode:
    """Parse a file that has no errors.

    Raises:
        SyntaxFaultError: There is one.
        StructureError: The packages are not installed.
    """
    root = _tree(grammar, source).root_node
    if root.has_error:
        raise SyntaxFaultError(f"line {_line_of_fault(root)}")
    return root


@lru_cache(maxsize=32)
def _tree(grammar: Grammar, source: bytes) -> "tree_sitter.Tree":
    """Parse a file; versions come back for every order and every block."""
    parser = _parser(grammar)
    if grammar is not Grammar.RUST:
        return parser.parse(source)
    source = _DEFAULT.sub(b"defaul_", source)
    tree = parser.parse(source)
    if not tree.root_node.has_error:
        return tree
    return parser.parse(_ATTRIBUTE.sub(_as_comment, source))


def _as_comment(attribute: re.Match[bytes]) -> bytes:
    return b"/*" + b"_" * (len(attribute.group()) - 4) + b"*/"


_DEFAULT = re.compile(rb"\bdefault\b(?!\s+(?:async|const|extern|fn|impl|type|unsafe)\b)")
"""A name of Rust's that its grammar takes for a word of specialization's."""
_ATTRIBUTE = re.compile(
    rb"#\[[\w:]+(?:\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\))?\](?=(?:\s|//[^\n]*\n)*#\[)"
)
"""An attribute before another one: the grammar knows one only before a parameter."""


@lru_cache(maxsize=len(Grammar))
def _parser(grammar: Grammar) -> "tree_sitter.Parser":
    try:
        from tree_sitter import Language, Parser  # noqa: PLC0415 - optional

        return Parser(Language(_LANGUAGES[grammar]()))
    except ImportError as exc:
        raise StructureError(
            f"{grammar} is known with the extra `languages` only:"
            " pip install 'cooperbench-eval[languages]'"
        ) from exc


def _javascript() -> object:
    from tree_sitter_javascript import language  # noqa: PLC0415 - optional

    return language()


def _typescript() -> object:
    from tree_sitter_typescript import language_typescript  # noqa: PLC0415 - optional

    return language_typescript()


def _tsx() -> object:
    from tree_sitter_typescript import language_tsx  # noqa: PLC0415 - optional

    return language_tsx()


def _go() -> object:
    from tree_sitter_go import language  # noqa: PLC0415 - optional

    return language()


def _rust() -> object:
    from tree_sitter_rust import language  # noqa: PLC0415 - optional

    return language()


_LANGUAGES: dict[Grammar, Callable[[], object]] = {
    Grammar.JAVASCRIPT: _javascript,
    Grammar.TYPESCRIPT: _typescript,
    Grammar.TSX: _tsx,
    Grammar.GO: _go,
    Grammar.RUST: _rust,
}


def _line_of_fault(root: "tree_sitter.Node") -> int:
    """Return the line of the first thing that the grammar does not allow, or misses."""
    node = root
    while not (node.is_error or node.is_missing):
        inner = next((child for child in node.children if child.has_error), None)
        if inner is None:
            break
        node = inner
    return node.start_point.row + 1

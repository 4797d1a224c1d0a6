"""The adapter to tree-sitter, whose grammars parse source and data.

All grammars but Python's are optional, and each is imported when a file needs it.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from importlib import import_module
from typing import TypeVar

from tree_sitter import Language, Parser, Tree
from tree_sitter import Node as SyntaxNode

from cooperbench_eval.languages.tree import StructureError, SyntaxFaultError

__all__ = [
    "COMMENTS",
    "Grammar",
    "SyntaxNode",
    "by_rule",
    "parse_soundly",
    "rule_names",
    "why_missing",
]


_Value = TypeVar("_Value")


class Grammar(StrEnum):
    """A language that tree-sitter parses."""

    PYTHON = "Python"
    JAVA = "Java"
    JAVASCRIPT = "JavaScript"
    TYPESCRIPT = "TypeScript"
    TSX = "TSX"
    GO = "Go"
    RUST = "Rust"
    JSON = "JSON"
    TOML = "TOML"
    YAML = "YAML"


def rule_names(names: str) -> frozenset[str]:
    """Return the names of grammar rules, written with white space between them."""
    return frozenset(names.split())


COMMENTS = rule_names("comment line_comment block_comment html_comment")
"""The rules of comments, in any grammar."""


def by_rule(*groups: tuple[_Value, Iterable[str]]) -> dict[str, _Value]:
    """Return a value for each grammar rule, from values with the names of their rules."""
    return {
        rule: value
        for value, rules in groups
        for rule in (rules.split() if isinstance(rules, str) else rules)
    }


def parse_soundly(grammar: Grammar, source: bytes) -> SyntaxNode:
    """Parse a file that has no syntax errors.

    Raises:
        SyntaxFaultError: The file has a syntax error.
        StructureError: The packages are not installed.
    """
    root = _tree(grammar, source).root_node
    if root.has_error:
        line = _line_of_fault(root)
        raise SyntaxFaultError(f"line {line}", line)
    return root


@lru_cache(maxsize=32)
def _tree(grammar: Grammar, source: bytes) -> Tree:
    """Parse a file; cached, as merges ask for each version in both orders and for each block."""
    parser = _parser(grammar)
    if grammar is Grammar.YAML:
        _check_depth(source)
    if grammar is Grammar.PYTHON and source.count(b"#") > _MOST_COMMENTS:
        _check_comments(source)
    if grammar is not Grammar.RUST:
        return parser.parse(source)
    source = _DEFAULT.sub(b"defaul_", source)
    tree = parser.parse(source)
    if not tree.root_node.has_error:
        return tree
    return parser.parse(_ATTRIBUTE.sub(_as_comment, source))


def _check_comments(source: bytes) -> None:
    """Refuse too many comments in a row: at each, Python's grammar looks for the last of them."""
    run = 0
    for line in source.splitlines():
        text = line.lstrip()
        run = run + 1 if text.startswith(b"#") else run if not text else 0
        if run > _MOST_COMMENTS:
            raise StructureError(
                f"a version has more than {_MOST_COMMENTS:,} lines of comments in a row"
            )


def _check_depth(source: bytes) -> None:
    """Refuse deeply nested YAML: its grammar ends the process at about 250 levels."""
    columns: list[int] = []
    for line in _LINE_END.split(source):
        text = line.lstrip(b" ")
        column = len(line) - len(text)
        while text and columns and columns[-1] >= column:
            columns.pop()
        if text:
            columns.append(column)
        if len(columns) + len(_INDICATOR.findall(text)) > _MOST_LEVELS:
            raise StructureError(f"YAML nests more than {_MOST_LEVELS} levels deep")


_MOST_COMMENTS = 3000
"""How many lines of comments may follow each other in Python."""
_MOST_LEVELS = 110
"""How deep YAML may nest; a mapping and a sequence may begin at one column."""
_LINE_END = re.compile(rb"\r\n?|\n")
_INDICATOR = re.compile(rb"(?<!\S)[-?:](?!\S)")


def _as_comment(attribute: re.Match[bytes]) -> bytes:
    return b"/*" + b"_" * (len(attribute.group()) - 4) + b"*/"


_DEFAULT = re.compile(rb"\bdefault\b(?!\s+(?:async|const|extern|fn|impl|type|unsafe)\b)")
"""Matches `default` as a name in Rust, which the grammar mistakes for the keyword."""
_ATTRIBUTE = re.compile(
    rb"#\[[\w:]+(?:\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\))?\](?=(?:\s|//[^\n]*\n)*#\[)"
)
"""Matches a Rust attribute that another attribute follows.

It is turned into a comment if the file does not parse, because the grammar allows only
one attribute before a parameter.
"""


def why_missing(grammar: Grammar) -> str:
    """Return why files of a grammar cannot be parsed here; empty if they can."""
    try:
        _parser(grammar)
    except StructureError as exc:
        return str(exc)
    return ""


@lru_cache(maxsize=len(Grammar))
def _parser(grammar: Grammar) -> Parser:
    package, function = _PACKAGES[grammar]
    try:
        language = getattr(import_module(package), function)()
    except ImportError as exc:
        raise StructureError(
            f"the grammar of {grammar} is missing: pip install 'cooperbench-eval[languages]'"
        ) from exc
    return Parser(Language(language))


_PACKAGES = {
    Grammar.PYTHON: ("tree_sitter_python", "language"),
    Grammar.JAVA: ("tree_sitter_java", "language"),
    Grammar.JAVASCRIPT: ("tree_sitter_javascript", "language"),
    Grammar.TYPESCRIPT: ("tree_sitter_typescript", "language_typescript"),
    Grammar.TSX: ("tree_sitter_typescript", "language_tsx"),
    Grammar.GO: ("tree_sitter_go", "language"),
    Grammar.RUST: ("tree_sitter_rust", "language"),
    Grammar.JSON: ("tree_sitter_json", "language"),
    Grammar.TOML: ("tree_sitter_toml", "language"),
    Grammar.YAML: ("tree_sitter_yaml", "language"),
}
"""The packages of the grammars, and the functions in them that return them."""


def _line_of_fault(root: SyntaxNode) -> int:
    node = root
    while not (node.is_error or node.is_missing):
        inner = next((child for child in node.children if child.has_error), None)
        if inner is None:
            break
        node = inner
    return node.start_point.row + 1

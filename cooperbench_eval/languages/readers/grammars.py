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
    "parse",
    "parse_soundly",
    "rule_names",
    "syntax_fault",
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
    C = "C"
    CPP = "C++"
    CSHARP = "C#"
    KOTLIN = "Kotlin"
    PHP = "PHP"
    RUBY = "Ruby"
    HTML = "HTML"
    CSS = "CSS"


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
    root = parse(grammar, source).root_node
    if root.has_error:
        raise syntax_fault(root)
    return root


@lru_cache(maxsize=32)
def parse(grammar: Grammar, source: bytes) -> Tree:
    """Parse a file, which may have errors.

    It is cached: merges ask for each version in both orders and for each block.

    Raises:
        StructureError: The packages are not installed, or the grammar fails on such a file.
    """
    parser = _parser(grammar)
    if grammar is Grammar.YAML:
        _check_depth(source)
    if grammar is Grammar.PYTHON and source.count(b"#") > _MOST_COMMENTS:
        _check_comments(source)
    if grammar is Grammar.HTML and source.count(b"<") > _MOST_TAGS:
        _check_tags(source)
    if grammar is Grammar.RUST:
        source = _DEFAULT.sub(b"defaul_", source)
    if grammar in SCRIPTS:
        source = _USING.sub(lambda found: b"const".ljust(len(found[0])), source)
    tree = parser.parse(source)
    unknown = _UNKNOWN.get(grammar)
    if unknown is None or not tree.root_node.has_error:
        return tree
    return parser.parse(unknown.sub(_as_comment, source))


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


def _check_tags(source: bytes) -> None:
    """Refuse many open tags: at each tag, HTML's grammar looks at all that are open."""
    depth = 0
    for found in _TAG.finditer(source):
        depth += -1 if found[1] else 1
        if depth > _MOST_TAGS:
            raise StructureError(f"more than {_MOST_TAGS:,} tags are open in HTML")


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
_MOST_TAGS = 2000
"""How many tags may be open in HTML."""
_TAG = re.compile(
    rb"<(/?)(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)[a-zA-Z]"
)
_MOST_LEVELS = 110
"""How deep YAML may nest; a mapping and a sequence may begin at one column."""
_LINE_END = re.compile(rb"\r\n?|\n")
_INDICATOR = re.compile(rb"(?<!\S)[-?:](?!\S)")


def _as_comment(found: re.Match[bytes]) -> bytes:
    return b"/*" + re.sub(rb"[^\n]", b"_", found.group()[2:-2]) + b"*/"


_DEFAULT = re.compile(rb"\bdefault\b(?!\s+(?:async|const|extern|fn|impl|type|unsafe)\b)")
"""Matches `default` as a name in Rust, which the grammar mistakes for the keyword."""
_ATTRIBUTE = re.compile(
    rb"#\[[\w:]+(?:\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\))?\](?=(?:\s|//[^\n]*\n)*#\[)"
)
"""Matches a Rust attribute that another attribute follows.

The grammar allows only one attribute before a parameter.
"""
_EXTERN = re.compile(
    rb"#[ \t]*if(?:def[ \t]+|[ \t]+defined[ \t(]+)__cplusplus\b[^\n]*\n\s*"
    rb"(?:extern[ \t]+\"C\"[ \t]*\{|\}[^\n#]*)\s*\n[ \t]*#[ \t]*endif\b[^\n/]*"
)
"""Matches the start or the end of `extern "C"` in a header that C++ shares."""
_USING = re.compile(rb"\b(?:await +)?using(?= +[A-Za-z_$][\w$]* *(?:=[^=]|: |of ))")
"""Matches what declares a resource, which the grammar of TypeScript takes for a name."""
_WORD = re.compile(
    rb"(?<=export )type(?= \*)|(?<=import )(?:defer|source)(?= [\w*{])"
    rb"|\baccessor(?= +[#\w]+ *[=;:!?])"
)
"""Matches a word of newer JavaScript or TypeScript before what it changes."""
_UNKNOWN = {Grammar.RUST: _ATTRIBUTE, Grammar.C: _EXTERN, Grammar.CPP: _EXTERN}
SCRIPTS = frozenset({Grammar.JAVASCRIPT, Grammar.TYPESCRIPT, Grammar.TSX})
"""The grammars of JavaScript and TypeScript."""
_UNKNOWN |= dict.fromkeys(SCRIPTS, _WORD)
"""What becomes a comment if a file does not parse, because the grammar does not know it."""


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
    Grammar.C: ("tree_sitter_c", "language"),
    Grammar.CPP: ("tree_sitter_cpp", "language"),
    Grammar.CSHARP: ("tree_sitter_c_sharp", "language"),
    Grammar.KOTLIN: ("tree_sitter_kotlin", "language"),
    Grammar.PHP: ("tree_sitter_php", "language_php"),
    Grammar.RUBY: ("tree_sitter_ruby", "language"),
    Grammar.HTML: ("tree_sitter_html", "language"),
    Grammar.CSS: ("tree_sitter_css", "language"),
}
"""The packages of the grammars, and the functions in them that return them."""


def syntax_fault(root: SyntaxNode) -> SyntaxFaultError:
    """Return the first error in a file."""
    node = root
    while not (node.is_error or node.is_missing):
        inner = next((child for child in node.children if child.has_error), None)
        if inner is None:
            break
        node = inner
    line = node.start_point.row + 1
    return SyntaxFaultError(f"line {line}", line)

"""Reads what files in other languages than Python define."""

import re
from collections.abc import Iterator
from functools import lru_cache

from cooperbench_eval.languages.model import Definition, Source
from cooperbench_eval.languages.readers.grammars import (
    Grammar,
    SyntaxNode,
    parse_soundly,
    rule_names,
)
from cooperbench_eval.languages.scopes.definitions import definitions
from cooperbench_eval.languages.scopes.imports import imports_of, is_conditional, text_of
from cooperbench_eval.languages.scopes.signatures import function_of, is_method, signature_of
from cooperbench_eval.languages.scopes.uses import occurrences, uses_of
from cooperbench_eval.languages.tree import StructureError

__all__ = ["read_syntax"]

_CLASSES = rule_names("abstract_class_declaration class_declaration")
_REPEATABLE = rule_names(
    "enum_declaration function_signature interface_declaration internal_module module"
)
"""Declarations that TypeScript lets a file repeat."""
_CONSTRAINT = re.compile(rb"(?m)^//\s*(?:go:build|\+build)\b")


@lru_cache(maxsize=64)
def read_syntax(grammar: Grammar, source: bytes) -> Source | None:
    """Read a file; `None` if it does not parse or the grammar is not installed."""
    try:
        root = parse_soundly(grammar, source)
    except StructureError:
        return None
    imports = tuple(imports_of(grammar, root, source))
    found = [*_definitions(grammar, root, source), *_repeatable(root, source)]
    return Source(
        definitions=tuple(sorted(found, key=lambda each: each.line)),
        imports=imports,
        is_open=any(each.name == "*" for each in imports) or _may_define_more(root),
        package="" if _CONSTRAINT.search(source) else _package(root, source),
        parts=((0, (grammar, source)),),
        members_of=lambda: occurrences(grammar, source).members,
        bound_of=lambda: occurrences(grammar, source).bound,
        uses_of=uses_of,
    )


def _definitions(grammar: Grammar, root: SyntaxNode, source: bytes) -> Iterator[Definition]:
    for name, node in definitions(root, source):
        line, plain = node.start_point.row + 1, name.removeprefix("type ")
        yield Definition(
            name=name,
            line=line,
            is_sole=not _may_repeat(grammar, node, source),
            is_class=node.type in _CLASSES,
            signature=signature_of(node),
            takes_instance=is_method(node),
            body=_digest(node, source),
        )
        if plain != name:  # a value may have the same name, so the type has another one
            yield Definition(name=plain, line=line)


def _repeatable(root: SyntaxNode, source: bytes) -> Iterator[Definition]:
    """Yield the declarations that may be repeated, and the default export."""
    for node in root.children:
        if node.type == "export_statement" and any(
            each.type == "default" for each in node.children
        ):
            yield Definition(name="default", line=node.start_point.row + 1)
        inner = node.child_by_field_name("declaration") if node.type == "export_statement" else node
        for each in (inner, *(inner.children if inner else ())):
            if each is not None and each.type in _REPEATABLE:
                name = text_of(each.child_by_field_name("name"), source)
                yield Definition(name=name, line=each.start_point.row + 1)


def _may_repeat(grammar: Grammar, node: SyntaxNode, source: bytes) -> bool:
    if grammar is Grammar.RUST:
        return is_conditional(node, source)
    return node.parent is not None and node.parent.type == "variable_declaration"


def _may_define_more(root: SyntaxNode) -> bool:
    """Whether a macro at the top level may define names."""
    return any(
        "macro" in each.type
        for node in root.children
        for each in (node, *(node.children if node.type == "expression_statement" else ()))
    )


def _package(root: SyntaxNode, source: bytes) -> str:
    """Return the name of a Go file's package."""
    for node in root.children:
        if node.type == "package_clause":
            return text_of(node, source).removeprefix("package").strip()
    return ""


def _digest(node: SyntaxNode, source: bytes) -> int:
    """Return a number that definitions with the same body share."""
    body = (function_of(node) or node).child_by_field_name("body")
    return hash(tuple(text_of(body, source).split())) if body else 0

"""Reads the imports of files in other languages than Python."""

from collections.abc import Iterator

from cooperbench_eval.languages.model import Import
from cooperbench_eval.languages.readers.grammars import Grammar, SyntaxNode
from cooperbench_eval.languages.scopes.golang import package_name

__all__ = ["imports_of", "is_import", "text_of"]


def imports_of(grammar: Grammar, root: SyntaxNode, source: bytes) -> Iterator[Import]:
    """Yield the imports at the top level of a file."""
    for node in root.children:
        if is_import(node):
            yield from imports_in(grammar, node, source)


def is_import(node: SyntaxNode) -> bool:
    """Whether a statement imports names, or exports those of another file."""
    if node.type == "export_statement":
        return node.child_by_field_name("source") is not None
    return node.type in {"import_declaration", "import_statement", "use_declaration"}


def imports_in(grammar: Grammar, node: SyntaxNode, source: bytes) -> Iterator[Import]:
    """Yield the names that one statement imports."""
    if grammar is Grammar.GO:
        return _go(node, source)
    return _rust(node, source) if grammar is Grammar.RUST else _script(node, source)


def text_of(node: SyntaxNode | None, source: bytes) -> str:
    """Return the text of a node; empty if there is none."""
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace") if node else ""


def _line(node: SyntaxNode) -> int:
    return int(node.start_point.row) + 1


def _go(node: SyntaxNode, source: bytes) -> Iterator[Import]:
    stack = [node]
    while stack:
        each = stack.pop()
        if each.type != "import_spec":
            stack += reversed(each.children)
            continue
        path = text_of(each.child_by_field_name("path"), source).strip('"`')
        alias = text_of(each.child_by_field_name("name"), source)
        name = {".": "*"}.get(alias, alias) or package_name(path)
        yield Import(name=name, module=path, line=_line(each), is_sole=name not in {"*", "_", "C"})


def _script(node: SyntaxNode, source: bytes) -> Iterator[Import]:
    """Yield the imports of JavaScript or TypeScript."""
    module = text_of(node.child_by_field_name("source"), source).strip("\"'`")
    is_export = node.type == "export_statement"
    if is_export and any(child.type == "*" for child in node.children):
        yield Import(name="*", module=module, line=_line(node))
    stack = list(reversed(node.children))
    while stack:
        each = stack.pop()
        name, attribute = "", ""
        if each.type in {"import_specifier", "export_specifier"}:
            attribute = text_of(each.child_by_field_name("name"), source)
            name = text_of(each.child_by_field_name("alias"), source) or attribute
        elif each.type == "identifier":
            is_default = each.parent is not None and each.parent.type == "import_clause"
            name, attribute = text_of(each, source), "default" if is_default else ""
        else:
            stack += reversed(each.children)
        if name:
            yield Import(
                name=name,
                module=module,
                attribute=attribute,
                line=_line(each),
                is_sole=not is_export,
            )


def _rust(node: SyntaxNode, source: bytes) -> Iterator[Import]:
    is_sole = not is_conditional(node, source)
    argument = node.child_by_field_name("argument")
    stack: list[tuple[SyntaxNode, str]] = [(argument, "")] if argument else []
    while stack:
        each, path = stack.pop()
        alias = ""
        if each.type == "scoped_use_list":
            inner = _joined(path, text_of(each.child_by_field_name("path"), source))
            listed = each.child_by_field_name("list")
            stack += ((child, inner) for child in reversed(listed.children if listed else []))
            continue
        if each.type == "use_list":
            stack += ((child, path) for child in reversed(each.children))
            continue
        if each.type == "use_wildcard":
            yield Import(name="*", module=_joined(path, text_of(each, source)), line=_line(each))
            continue
        if each.type == "use_as_clause":
            alias = text_of(each.child_by_field_name("alias"), source)
            found = each.child_by_field_name("path")
            each = found or each
        if not each.is_named or each.type in {"line_comment", "block_comment"}:
            continue
        whole = _joined(path, text_of(each, source)).removesuffix("::self")
        module, _, attribute = whole.rpartition("::")
        name = alias or attribute
        yield Import(
            name=name,
            module=module,
            attribute=attribute,
            line=_line(each),
            is_sole=is_sole and name != "_",
        )


def _joined(path: str, name: str) -> str:
    return f"{path}::{name}" if path else name


def is_conditional(node: SyntaxNode, source: bytes) -> bool:
    """Whether an attribute before a definition of Rust says when it is compiled."""
    before = node.prev_named_sibling
    while before is not None and before.type in {"attribute_item", "line_comment", "block_comment"}:
        if before.type == "attribute_item" and "cfg" in text_of(before, source):
            return True
        before = before.prev_named_sibling
    return False

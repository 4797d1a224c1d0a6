"""Checks YAML beyond its grammar: repeated keys, aliases, and forms that few parsers read.

A file that passes can be read by parsers of YAML 1.1 and of YAML 1.2.
"""

import re
from collections.abc import Iterator, Mapping

from cooperbench_eval.languages.readers.grammars import (
    Grammar,
    SyntaxNode,
    parse_soundly,
    rule_names,
)
from cooperbench_eval.languages.tree import StructureError, SyntaxFaultError, one_line

_MOST_BYTES = 500_000
"""The largest file that is checked, which takes a second."""
_NAME = re.compile(rb"[A-Za-z0-9_-]+")
_NONE = re.compile(rb"(?!)")
_PORTABLE: Mapping[str, re.Pattern[bytes]] = {
    "anchor_name": _NAME,
    "alias_name": _NAME,
    "tag": re.compile(rb"!!?[A-Za-z0-9_.:/-]*"),
    "plain_scalar": re.compile(rb"[^\t]*"),
    "block_scalar": re.compile(rb"[|>][0-9+-]*(?: *| +#[^\n]*)(?:\r?\n.*)?", re.DOTALL),
    "yaml_directive": re.compile(rb"%YAML 1\.\d"),
    "tag_directive": _NONE,
    "reserved_directive": _NONE,
}
"""The forms of nodes, by grammar rule, on which parsers agree."""
_UNUSUAL = re.compile(rb"\A:|\?")
_BOOLEANS = dict.fromkeys((b"yes", b"on", b"true"), b"true") | dict.fromkeys(
    (b"no", b"off", b"false"), b"false"
)
"""The words that are one key in YAML 1.1."""
_SPACES = frozenset({b"", b" ", b"\n", b"\r"})
_EMPTY_KEYS = {"flow_pair": {":", "?"}, "block_mapping_pair": {":"}}
_MAPPINGS = rule_names("block_mapping flow_mapping")
_COLLECTIONS = _MAPPINGS | rule_names("block_sequence flow_sequence")
_PAIRS = rule_names("block_mapping_pair flow_pair")
_SCALARS = rule_names("plain_scalar single_quote_scalar double_quote_scalar block_scalar")


def check_yaml(source: bytes) -> None:
    """Raise an error if a file is not valid.

    Raises:
        SyntaxFaultError: It is not valid, repeats a key or an anchor, or uses an alias that
            has no anchor.
        StructureError: It is too large, or the grammar's package is not installed.
    """
    if len(source) > _MOST_BYTES:
        raise StructureError(f"YAML of more than {_MOST_BYTES:,} bytes is not checked")
    root = parse_soundly(Grammar.YAML, source)
    for i, document in enumerate(each for each in root.children if each.type == "document"):
        parts = [child.type for child in document.children]
        if parts[:1] == ["..."] or (i and "---" not in parts):
            raise _fault(document, "no '---' precedes the document")
        _check_anchors(document)
    end = 0
    for node in _walk(root):
        if not node.children or node.type in _SCALARS:
            if b"\t" in source[end : node.start_byte]:
                raise _fault(node, "a tab precedes")
            end = max(end, node.end_byte)
        if node.type == "tag" and source[node.end_byte : node.end_byte + 1] not in _SPACES:
            raise _fault(node, "not every parser reads")
        _check(node)
    if b"\t" in source[end:]:
        raise SyntaxFaultError("a tab is at the end of the file")


def _check_anchors(document: SyntaxNode) -> None:
    anchors: set[bytes] = set()
    for node in _walk(document):
        if node.type == "alias_name" and node.text not in anchors:
            raise _fault(node, "no anchor belongs to the alias")
        if node.type == "anchor_name":
            if node.text in anchors:
                raise _fault(node, "there are two anchors named")
            anchors.add(node.text or b"")


def _check(node: SyntaxNode) -> None:
    text = node.text or b""
    if (form := _PORTABLE.get(node.type)) and not form.fullmatch(text):
        raise _fault(node, "not every parser reads")
    if node.type in _MAPPINGS:
        _check_keys(node)
    signs = _EMPTY_KEYS.get(node.type)
    if signs and node.children[0].type in signs:
        raise _fault(node, "not every parser reads")
    if node.type == "plain_scalar" and _UNUSUAL.search(text) and _is_in_flow(node):
        raise _fault(node, "not every parser reads")


def _check_keys(mapping: SyntaxNode) -> None:
    keys = set()
    for pair in mapping.named_children:
        name = pair.child_by_field_name("key") if pair.type in _PAIRS else pair
        if name and any(part.type in _COLLECTIONS for part in name.children):
            raise _fault(name, "not every parser reads the key")  # nor `{{ x }}` of a template
        if pair.type in _PAIRS and (node := pair.child_by_field_name("key")):
            text = node.text or b""
            key = _BOOLEANS.get(text.lower(), unquoted(text))
            if key in keys:
                raise _fault(node, "there are two entries with the key")
            keys.add(key)


def unquoted(word: bytes) -> bytes:
    """Return a key without its quotes."""
    is_quoted = len(word) > 1 and word[:1] == word[-1:] and word[:1] in {b'"', b"'"}
    return word[1:-1] if is_quoted else word


def _is_in_flow(scalar: SyntaxNode) -> bool:
    """Whether a scalar is directly in brackets."""
    parent = scalar.parent
    while parent is not None and parent.type in {"flow_node", "flow_pair"}:
        parent = parent.parent
    return parent is not None and parent.type in {"flow_mapping", "flow_sequence"}


def _fault(node: SyntaxNode, problem: str) -> SyntaxFaultError:
    line = node.start_point.row + 1
    return SyntaxFaultError(f"{problem} {one_line(node.text or b'')!r}, line {line}", line)


def _walk(root: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield a node and the nodes in it, in the order of the text, but nothing in scalars."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if node.type not in _SCALARS:
            stack += reversed(node.children)

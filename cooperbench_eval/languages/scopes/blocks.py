"""Finds statements of a block that are never reached, or that the block repeats."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import takewhile

from attrs import frozen

from cooperbench_eval.languages.readers.grammars import SyntaxNode, rule_names

_CALLS = rule_names(
    """call_expression macro_invocation method_invocation new_expression
    object_creation_expression"""
)
_NAMES = rule_names("identifier this self shorthand_property_identifier")
_MEMBERS = {"member_expression": "object", "selector_expression": "operand"} | {
    "field_expression": "value",
    "field_access": "object",
    "array_access": "array",
    "index_expression": "operand",
    "subscript_expression": "object",
}
_WRITES = {
    "assignment_expression": "left",
    "augmented_assignment_expression": "left",
    "compound_assignment_expr": "left",
    "assignment_statement": "left",
    "short_var_declaration": "left",
    "update_expression": "argument",
    "inc_statement": "",
    "dec_statement": "",
    "variable_declarator": "name",
    "var_spec": "name",
    "let_declaration": "pattern",
}
"""The rules that give names new values, with the field of the names."""
_ANY_CALL = "()"
"""Stands for what a call without arguments may read."""
_ALL = "*"
"""Stands for everything, which a long statement may change."""
_LONGEST = 10_000
"""The most bytes of a statement that is read, since statements contain others."""


@frozen(kw_only=True)
class BlockRules:
    """How the blocks of a language are read, by the names of grammar rules.

    Attributes:
        leaving: Statements that always leave the block.
        hoisted: Statements that may follow them.
        ifs: Conditional statements.
        loops: Loops.
    """

    leaving: frozenset[str]
    hoisted: frozenset[str]
    ifs: frozenset[str]
    loops: frozenset[str]

    def count_skipped(self, nodes: Sequence[SyntaxNode]) -> int:
        """Count the statements after one that always leaves the block."""
        for i, node in enumerate(nodes):
            is_attributed = i > 0 and nodes[i - 1].type == "attribute_item"
            if _bare(node).type in self.leaving and not is_attributed:
                # Something else may jump to a label.
                rest = takewhile(lambda each: each.type != "labeled_statement", nodes[i + 1 :])
                return sum(each.type not in self.hoisted for each in rest)
        return 0

    def repeated(self, nodes: Sequence[SyntaxNode]) -> Counter[bytes]:
        """Count the repetitions of guards and loops in a block.

        A guard is an `if` that leaves the block. It is a repetition only if nothing since
        the last one may have changed what it checks.
        """
        found: Counter[bytes] = Counter()
        kinds = {_bare(node).type for node in nodes}
        if kinds.isdisjoint(self.ifs | self.loops):
            return found
        texts = [self._text(_bare(node)) for node in nodes]
        again = {text for text, times in Counter(texts).items() if text and times > 1}
        if not again:
            return found
        last: dict[bytes, int] = {}
        written: dict[str, int] = {}
        for i, (node, text) in enumerate(zip(nodes, texts, strict=True)):
            if text in again:
                bare = _bare(node)
                read = _read(bare.child_by_field_name("condition")) if bare.type in self.ifs else ()
                since = last.get(text, len(nodes))
                if since < i and all(written.get(name, -1) < since for name in (*read, _ALL)):
                    found[text] += 1
                last[text] = i
            for name in _written(node):
                written[name] = i
        return found

    def _text(self, node: SyntaxNode) -> bytes:
        """Return the text of a guard or a loop; empty for a long one and for other statements."""
        if node.end_byte - node.start_byte > _LONGEST:
            return b""
        if node.type not in self.loops and not self._is_guard(node):
            return b""
        return b" ".join((node.text or b"").split())

    def _is_guard(self, node: SyntaxNode) -> bool:
        if node.type not in self.ifs or node.child_by_field_name("alternative") is not None:
            return False
        if node.child_by_field_name("initializer") is not None:
            return False
        body = node.child_by_field_name("consequence")
        while body is not None and body.type in {"block", "statement_block", "statement_list"}:
            inner = [each for each in body.children if each.is_named]
            body = inner[-1] if inner else None
        return body is not None and _bare(body).type in self.leaving


def _bare(node: SyntaxNode) -> SyntaxNode:
    """Return the expression that a statement consists of."""
    if node.type == "expression_statement" and node.child_count:
        return node.children[0]
    return node


def _read(condition: SyntaxNode | None) -> set[str]:
    """Return the names on which a condition depends."""
    names: set[str] = set()
    stack = [condition] if condition else []
    while stack:
        node = stack.pop()
        if node.type in _NAMES:
            names.add((node.text or b"").decode("utf-8", "replace"))
        if node.type in _CALLS:
            given = node.child_by_field_name("arguments")
            if given is None or not given.named_child_count:
                names.add(_ANY_CALL)
        stack += node.children
    return names


def _written(statement: SyntaxNode) -> set[str]:
    """Return the names to which a statement may give new values or contents."""
    names: set[str] = set()
    if statement.end_byte - statement.start_byte > _LONGEST:
        return {_ALL}
    stack = [statement]
    while stack:
        node = stack.pop()
        kind = node.type
        if kind in _WRITES:
            role = _WRITES[kind]
            names |= _roots(node.children_by_field_name(role) if role else node.children[:1])
        elif kind in _CALLS:
            names.add(_ANY_CALL)
            callee = node.child_by_field_name("function")
            if callee is not None and callee.type in _MEMBERS:
                names |= _roots([callee])
            names |= _roots(node.children_by_field_name("object"))  # of a method in Java
        elif (
            kind in {"unary_expression", "reference_expression"} and (node.text or b"")[:1] == b"&"
        ):
            names |= _roots(node.children[1:])
        elif kind == "token_tree":
            names |= _read(node)
        stack += node.children
    return names


def _roots(nodes: Iterable[SyntaxNode]) -> set[str]:
    """Return the variables to which the written expressions or patterns belong."""
    names: set[str] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if node.type in _NAMES or node.type == "shorthand_property_identifier_pattern":
            names.add((node.text or b"").decode("utf-8", "replace"))
        elif node.type in _MEMBERS:
            inner = node.child_by_field_name(_MEMBERS[node.type]) or node.children[0]
            stack.append(inner)
        else:
            stack += node.children
    return names

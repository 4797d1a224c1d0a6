"""Finds probable mistakes in a block: what is never reached, repeated, or overwritten.

They may be intended. So a merged file is at fault only if it has more of them than the
versions explain.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from attrs import frozen

from cooperbench_eval.languages.readers.grammars import COMMENTS, SyntaxNode, rule_names
from cooperbench_eval.languages.tree import one_line

_CALLS = rule_names(
    """call call_expression macro_invocation method_invocation new_expression
    object_creation_expression"""
)
_NAMES = rule_names("identifier this self shorthand_property_identifier")
_MEMBERS = {"member_expression": "object", "selector_expression": "operand"} | {
    "attribute": "object",
    "field_expression": "value",
    "field_access": "object",
    "array_access": "array",
    "index_expression": "operand",
    "subscript": "value",
    "subscript_expression": "object",
}
_WRITES = {
    "assignment": "left",
    "augmented_assignment": "left",
    "assignment_expression": "left",
    "augmented_assignment_expression": "left",
    "compound_assignment_expr": "left",
    "assignment_statement": "left",
    "for_statement": "left",
    "named_expression": "name",
    "as_pattern": "alias",
    "short_var_declaration": "left",
    "update_expression": "argument",
    "inc_statement": "",
    "dec_statement": "",
    "variable_declarator": "name",
    "var_spec": "name",
    "let_declaration": "pattern",
}
"""The rules that give names new values, each with the field that holds the names."""
_BLOCKS = rule_names("block statement_block statement_list")
_ANY_CALL = "()"
"""Stands for whatever a call may change, and a call without arguments may read."""
_ALL = "*"
"""Stands for everything, which a long statement may change."""
_LONGEST = 10_000
"""Longer statements are not read, since statements contain others."""


@frozen(kw_only=True)
class BlockRules:
    """How the blocks of a language are read, by the names of grammar rules.

    Attributes:
        leaving: Statements that always leave the block.
        hoisted: Statements that may follow those.
        ifs: Conditional statements.
        loops: Loops and other statements that should not be repeated.
        tries: Statements that catch exceptions.
        matches: Statements that execute one of several cases.
    """

    leaving: frozenset[str]
    hoisted: frozenset[str] = frozenset()
    ifs: frozenset[str]
    loops: frozenset[str]
    tries: frozenset[str] = frozenset()
    matches: frozenset[str] = frozenset()

    def slips(self, nodes: Sequence[SyntaxNode]) -> Iterator[str]:
        """Yield the probable mistakes among the statements of a block."""
        yield from self._skipped(nodes)
        yield from self._repeated(nodes)
        yield from _overwritten(nodes)

    def _skipped(self, nodes: Sequence[SyntaxNode]) -> Iterator[str]:
        """Yield a mistake for each statement after one that always leaves the block."""
        for i, node in enumerate(nodes[:-1]):
            is_attributed = i > 0 and nodes[i - 1].type == "attribute_item"
            if not is_attributed and self.leaves(node):
                # Something else may jump to a label.
                rest = takewhile(lambda each: each.type != "labeled_statement", nodes[i + 1 :])
                for each in rest:
                    if each.type not in self.hoisted:
                        yield f"{one_line(each.text or b'')!r} would never be reached"
                return

    def leaves(self, node: SyntaxNode) -> bool:
        """Whether what follows a statement is certainly never reached."""
        node = _bare(node)
        kind = node.type
        if kind in self.leaving:
            return True
        if kind in self.ifs:
            return self._all_leave(node)
        if kind in self.tries:
            return self._try_leaves(node)
        if kind in self.matches:
            cases = [each for body in _bodies(node) for each in _statements(body)]
            return any(map(takes_all, cases)) and all(
                self.leaves_all(_bodies(each)) for each in cases
            )
        return kind == "while_statement" and self.is_endless(node)

    def leaves_all(self, blocks: Sequence[SyntaxNode]) -> bool:
        """Whether there are blocks, and all of them leave."""
        return bool(blocks) and all(any(map(self.leaves, _statements(each))) for each in blocks)

    def _all_leave(self, node: SyntaxNode) -> bool:
        """Whether every branch of a chain of conditions leaves, and one is always taken."""
        at: SyntaxNode | None = node
        while at is not None and at.type in self.ifs:
            if not self.leaves_all(at.children_by_field_name("consequence")):
                return False
            others = at.children_by_field_name("alternative")
            at = others[-1] if others else None
            if at is not None and at.type == "else_clause" and at.type != "block":
                inner = [each for each in at.named_children if each.type not in COMMENTS]
                at = inner[0] if len(inner) == 1 else at
            if not all(self.leaves_all(_bodies(each)) for each in others[:-1]):
                return False
        if at is None or at.type == "elif_clause":
            return False
        return self.leaves_all(_bodies(at) or [at])

    def _try_leaves(self, node: SyntaxNode) -> bool:
        parts: dict[str, list[SyntaxNode]] = {}
        for each in node.named_children:
            parts.setdefault(each.type.replace("_group", ""), []).append(each)

        def all_leave(kind: str) -> bool:
            clauses = [each for one in parts.get(kind, ()) for each in _bodies(one) or [one]]
            return self.leaves_all(clauses)

        ends = all_leave("block") or all_leave("else_clause")
        caught = all_leave("except_clause") or "except_clause" not in parts
        return all_leave("finally_clause") or (ends and caught)

    def is_endless(self, loop: SyntaxNode) -> bool:
        """Whether a loop has a constant condition and no `break` of its own."""
        if not is_always_true(loop):
            return False
        stack = _bodies(loop)
        while stack:
            node = stack.pop()
            if node.type == "break_statement":
                return False
            if node.type in {"for_statement", "while_statement"}:
                # A `break` in its body leaves only that loop.
                stack += node.children_by_field_name("alternative")
            elif not node.type.endswith("_definition"):
                stack += node.named_children
        return True

    def _repeated(self, nodes: Sequence[SyntaxNode]) -> Iterator[str]:
        """Yield the repetitions of guards and loops in a block.

        A guard is an `if` that leaves the block. It counts as repeated only if nothing since
        its last copy may have changed what it checks.
        """
        bare = [_bare(node) for node in nodes]
        if not any(node.type in self.ifs or node.type in self.loops for node in bare):
            return
        texts = list(map(self._text, bare))
        again = {text for text, times in Counter(texts).items() if text and times > 1}
        if not again:
            return
        last: dict[bytes, int] = {}
        written: dict[str, int] = {}
        for i, (node, text) in enumerate(zip(bare, texts, strict=True)):
            if text in again:
                read = _read(node.child_by_field_name("condition")) if node.type in self.ifs else ()
                since = last.get(text, len(nodes))
                if since < i and all(written.get(name, -1) < since for name in (*read, _ALL)):
                    yield f"{one_line(text)!r} would occur twice"
                last[text] = i
            for name in _written(node):
                written[name] = i

    def _text(self, node: SyntaxNode) -> bytes:
        """Return the text of a guard or a loop; empty if it is long or another statement."""
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
        while body is not None and body.type in _BLOCKS:
            inner = [each for each in body.children if each.is_named]
            body = inner[-1] if inner else None
        return body is not None and _bare(body).type in self.leaving


def _bodies(node: SyntaxNode) -> list[SyntaxNode]:
    """Return the blocks that a statement or a clause contains."""
    return [each for each in node.named_children if each.type in _BLOCKS]


def _statements(block: SyntaxNode) -> list[SyntaxNode]:
    if block.type not in _BLOCKS:
        return [block]
    found = [each for each in block.named_children if each.type not in COMMENTS]
    return _statements(found[0]) if len(found) == 1 and found[0].type in _BLOCKS else found


def is_always_true(loop: SyntaxNode) -> bool:
    """Whether the condition of a loop is a constant that is true."""
    condition = loop.child_by_field_name("condition")
    if condition is None:
        return False
    return condition.type == "true" or (condition.type == "integer" and condition.text != b"0")


def takes_all(case: SyntaxNode) -> bool:
    """Whether a case of a `match` statement takes every value."""
    patterns = [each for each in case.named_children if each.type == "case_pattern"]
    is_sole = len(patterns) == 1 and case.child_by_field_name("guard") is None
    return is_sole and (patterns[0].text or b"").decode("utf-8", "replace").isidentifier()


def _overwritten(nodes: Sequence[SyntaxNode]) -> Iterator[str]:
    """Yield the variables that simple statements set twice without a use in between."""
    targets = [_target(_bare(node)) for node in nodes]
    times = Counter(each.text for each in targets if each is not None)
    if all(count == 1 for count in times.values()):
        return
    # The unused values of variables and attributes, by the first name of each.
    unused: dict[bytes, dict[bytes, bytes]] = {}
    for node, target in zip(nodes, targets, strict=True):
        if target is None and any(node.child_by_field_name(role) for role in _COMPOUND):
            unused.clear()
            continue
        value = _bare(node).child_by_field_name("right") if target else None
        for name in _named(node if target is None else value):
            unused.pop(name, None)
        if target is None or value is None:
            continue
        written, text = target.text or b"", value.text or b""
        root = written.partition(b".")[0]
        if unused.get(root, {}).get(written, text) != text:
            yield f"{one_line(written)!r} would be set twice without being used"
        if written == root:
            unused[root] = {}
        unused.setdefault(root, {})[written] = text


_COMPOUND = ("body", "consequence", "subject", "definition")


def _target(node: SyntaxNode) -> SyntaxNode | None:
    """Return the only variable or attribute that an assignment sets."""
    if node.type not in {"assignment", "assignment_expression"}:
        return None
    if all(each.type != "=" for each in node.children):
        return None  # `+=`, in some grammars
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or right.type == node.type or node.child_by_field_name("type"):
        return None
    if left.type in _MEMBERS and left.type not in {"subscript", "array_access"}:
        inner = left.child_by_field_name(_MEMBERS[left.type])
        return left if inner is not None and inner.type in _NAMES else None
    return left if left.type == "identifier" and (left.text or b"").strip(b"_") else None


def _named(node: SyntaxNode | None) -> Iterator[bytes]:
    """Yield the names in an expression."""
    stack = [node] if node is not None else []
    while stack:
        node = stack.pop()
        if node.type in _NAMES:
            yield node.text or b""
        stack += node.named_children


def _bare(node: SyntaxNode) -> SyntaxNode:
    """Return the expression that a statement consists of."""
    if node.type == "expression_statement" and node.child_count:
        return node.children[0]
    return node


def _read(condition: SyntaxNode | None) -> set[str]:
    """Return the names that a condition reads."""
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
            names |= _roots(node.children_by_field_name("object"))  # of a method call in Java
        elif (
            kind in {"unary_expression", "reference_expression"} and (node.text or b"")[:1] == b"&"
        ):
            names |= _roots(node.children[1:])
        elif kind == "token_tree":
            names |= _read(node)
        stack += node.children
    return names


def _roots(nodes: Iterable[SyntaxNode]) -> set[str]:
    """Return the variables that written expressions or patterns begin with."""
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

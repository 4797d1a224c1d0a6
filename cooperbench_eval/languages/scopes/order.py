"""Finds names that a function or a file reads before they are bound.

The paths through the statements are followed as for definite assignment in Java (*The Java
Language Specification*, chapter 16), with two sets: the names that every path binds, and
those that some path binds. Each part of an expression or a `with` counts as executed, such
as the right side of `and`, and an expression may read anywhere what it binds. So a fault may
be missed, but none is invented.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple

from cooperbench_eval.languages.readers.grammars import COMMENTS, SyntaxNode, rule_names
from cooperbench_eval.languages.scopes.blocks import BlockRules, is_always_true, takes_all

CLAUSES = rule_names("elif_clause else_clause except_clause except_group_clause finally_clause")
"""The parts of a compound statement of Python."""


class Event(NamedTuple):
    """A place at which a scope's own statements read a name or bind it.

    Attributes:
        start: The byte at which the name begins.
        name: The name.
        binds: Whether it is bound there.
        is_inner: Whether it is bound within an expression, which may read it afterwards.
    """

    start: int
    name: str
    binds: bool
    is_inner: bool = False


class _Bound(NamedTuple):
    """The names that are bound at a point; each bit stands for a name.

    Attributes:
        always: Those that every path to the point binds; all, if no path leads to it.
        perhaps: Those that some path binds.
    """

    always: int
    perhaps: int

    def join(self, *others: "_Bound") -> "_Bound":
        always, perhaps = self
        for other in others:
            always &= other.always
            perhaps |= other.perhaps
        return _Bound(always, perhaps)

    def with_(self, bits: int) -> "_Bound":
        return _Bound(self.always | bits, self.perhaps | bits)

    def without(self, bits: int) -> "_Bound":
        """Return what is bound after names may have been deleted."""
        return self if self.always == _ALL else _Bound(self.always & ~bits, self.perhaps)

    def left(self) -> "_Bound":
        """Return what is bound after a statement that leaves."""
        return _Bound(_ALL, self.perhaps)


_ALL = -1
_DEEPEST = 100
"""How many nested blocks are followed; Python itself reads no more."""


class Paths:
    """The names of a scope that are read too early, on some path or on every path.

    Attributes:
        never: The names that are read where no path has bound them.
        maybe: Those that are read where some path has not bound them.
    """

    def __init__(self, rules: BlockRules, events: Iterable[Event], names: Iterable[str]) -> None:
        """Prepare to follow the names of a scope."""
        self._rules = rules
        self._bits = {name: 1 << i for i, name in enumerate(sorted(names))}
        self._all = (1 << len(self._bits)) - 1
        self._events = sorted(event for event in events if event.name in self._bits)
        self._starts = [event.start for event in self._events]
        self.never: set[str] = set()
        self.maybe: set[str] = set()
        self._depth = 0

    def follow(self, statements: Sequence[SyntaxNode]) -> None:
        """Follow the paths through all statements of the scope."""
        start = statements[0].start_byte if statements else 0
        given = self._binds(0, start)
        self._block(statements, _Bound(given, given))

    def _between(self, start: int, end: int) -> list[Event]:
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        return self._events[first:last]

    def _binds(self, start: int, end: int, *, is_inner: bool = False) -> int:
        bits = 0
        for event in self._between(start, end):
            counts = event.binds and (event.is_inner or not is_inner)
            bits |= self._bits[event.name] if counts else 0
        return bits

    def _run(self, node: SyntaxNode | None, bound: _Bound) -> _Bound:
        """Note what a node reads too early, and return what is bound after it."""
        if node is None:
            return bound
        bound = bound.with_(self._binds(node.start_byte, node.end_byte, is_inner=True))
        for event in self._between(node.start_byte, node.end_byte):
            bit = 0 if event.binds else self._bits[event.name]
            if bit & ~bound.always:
                self.maybe.add(event.name)
                if bit & ~bound.perhaps:
                    self.never.add(event.name)
        return bound.with_(self._binds(node.start_byte, node.end_byte))

    def _block(self, statements: Iterable[SyntaxNode], bound: _Bound) -> _Bound:
        for node in statements:
            if node.is_named and node.type not in COMMENTS:
                bound = self._statement(node, bound)
        return bound

    def _suite(self, node: SyntaxNode, bound: _Bound) -> _Bound:
        """Follow the block of a statement or a clause."""
        if self._depth == _DEEPEST:
            return bound
        self._depth += 1
        for block in (each for each in node.named_children if each.type == "block"):
            bound = self._block(block.named_children, bound)
        self._depth -= 1
        return bound

    def _statement(self, node: SyntaxNode, bound: _Bound) -> _Bound:
        if (follow := self._COMPOUND.get(node.type)) is not None:
            found: _Bound = follow(self, node, bound)
            return found
        end = self._run(node, bound)
        if node.type == "delete_statement":
            return end.without(self._binds(node.start_byte, node.end_byte))
        return end.left() if node.type in self._rules.leaving else end

    def _with(self, node: SyntaxNode, bound: _Bound) -> _Bound:
        for each in (each for each in node.named_children if each.type == "with_clause"):
            for item in each.named_children:
                bound = self._run(item, bound)
        return self._suite(node, bound)

    def _if(self, node: SyntaxNode, bound: _Bound) -> _Bound:
        ends: list[_Bound] = []
        for part in (node, *node.children_by_field_name("alternative")):
            if part.type == "else_clause":
                return self._suite(part, bound).join(*ends)
            bound = self._run(part.child_by_field_name("condition"), bound)
            ends.append(self._suite(part, bound))
        return bound.join(*ends)

    def _loop(self, node: SyntaxNode, bound: _Bound) -> _Bound:
        bound = self._run(node.child_by_field_name("condition"), bound)
        bound = self._run(node.child_by_field_name("right"), bound)
        # An earlier round may have bound whatever the body binds.
        start = after = _Bound(bound.always, self._all)
        start = self._run(node.child_by_field_name("left"), start)
        self._suite(node, start)
        if is_always_true(node):
            return after.left() if self._rules.is_endless(node) else after.with_(self._all)
        others = node.child_by_field_name("alternative")
        if others is None:
            return after
        end = self._suite(others, after)
        # If its `else` leaves, only `break` leads on; what the body bound by then is unknown.
        return after.with_(self._all) if end.always == _ALL else end

    def _try(self, node: SyntaxNode, bound: _Bound) -> _Bound:
        clauses = [each for each in node.named_children if each.type in CLAUSES]
        end = self._suite(node, bound)
        for each in clauses:
            end = self._suite(each, end) if each.type == "else_clause" else end
        ends = [end]
        failed = _Bound(bound.always, self._all)
        last = failed
        for each in clauses:
            if each.type.startswith("except"):
                kind = each.child_by_field_name("value")
                caught = self._run(kind, failed)
                name = self._binds(kind.start_byte, kind.end_byte) if kind else 0
                ends.append(self._suite(each, caught).without(name))
            elif each.type == "finally_clause":
                last = self._suite(each, failed)
        if last.always == _ALL:
            return last
        return ends[0].join(*ends[1:]).with_(last.always & ~bound.always)

    def _match(self, node: SyntaxNode, bound: _Bound) -> _Bound:
        bound = self._run(node.child_by_field_name("subject"), bound)
        cases = [
            case
            for body in node.named_children
            if body.type == "block"
            for case in body.named_children
            if case.type == "case_clause"
        ]
        ends: list[_Bound] = [] if any(map(takes_all, cases)) else [bound]
        for case in cases:
            start = bound
            for each in case.named_children:
                start = start if each.type == "block" else self._run(each, start)
            ends.append(self._suite(case, start))
        return ends[0].join(*ends[1:])

    _COMPOUND: ClassVar = {
        "for_statement": _loop,
        "if_statement": _if,
        "match_statement": _match,
        "try_statement": _try,
        "while_statement": _loop,
        "with_statement": _with,
    }

"""Writes expressions as the blocks into which a side turned them.

`() => a && b()` may become `() => { return a && b(); }`. If its value is not used, it may also
become `() => { if (a) { b(); } }`, and so may the statement `a && b();`. Where both sides turned
`else` into `else if (a)`, it is written as `else { if (a) { … } }`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from attrs import evolve

from cooperbench_eval.languages.alignment import similarity
from cooperbench_eval.languages.tree import Construct, Element, Elements, Mode, Token, suite
from cooperbench_eval.strategies.structured.refactorings.changed import (
    Changed,
    ChangedFunction,
    Changes,
)

_LEAST_ALIKE = 0.5
_LOOSER = frozenset(b"|| ?? ? : return throw yield".split())
"""Words that bind less tightly than `&&`: a statement with one is more than `a && b`."""


class _Arrow(NamedTuple):
    """A named function such as `name = () => value`, with its value or its block."""

    function: Construct
    value: Elements
    block: Construct | None

    @classmethod
    def of(cls, function: Construct) -> "_Arrow | None":
        words = [each.plain for each in function.children]
        if b"=>" not in words or not function.key:
            return None
        block = next((each for each in function.parts if each.kind == "suite"), None)
        if block:
            return cls(function, (), block)
        value = tuple(each for each in function.children[words.index(b"=>") + 1 :])
        value = value[:-1] if words[-1] == b";" else value
        is_clear = value and not any(map(_is_unclear, value))
        return cls(function, value, None) if is_clear else None

    def with_block(self, statement: Construct, indent: bytes) -> Construct:
        """Return the function with a block of one statement instead of the value."""
        at = next(i for i, each in enumerate(self.function.children) if each is self.value[0])
        block = _braces((statement,), indent)
        rest = self.function.children[at + len(self.value) :]
        return evolve(self.function, children=(*self.function.children[:at], *block, *rest))


def unfold(function: ChangedFunction) -> Changes:
    """Write expressions as the blocks into which a side turned them."""
    base, side, other = function.base, function.side, function.other
    found: tuple[Changed, Changed] = ({}, {})
    arrows, mine, theirs = (_arrows(each) for each in (base, side, other))
    for name in arrows.keys() & mine.keys() & theirs.keys():
        _unfold_body(arrows[name], mine[name], theirs[name], found)
    known = {each.plain for each in _statements(side)}
    for before in _statements(base):
        if before.plain not in known and (made := _as_condition(before, side)):
            found[0][id(before)] = (made,)
            found[1].update(_edited(before, side, other))
    return found


def _is_unclear(part: Element) -> bool:
    """Whether a part shows that there is more than one value, or hides what follows it."""
    return part.plain in {b"=>", b"=", b",", b";"} or part.kind == "comment"


def _unfold_body(
    before: _Arrow, mine: _Arrow, theirs: _Arrow, found: tuple[Changed, Changed]
) -> None:
    if before.block or not mine.block:
        return
    blocks = [each.block for each in (mine, theirs) if each.block]
    if mine.block.children and mine.block.children[-1].kind == "return":
        for arrow, changed in zip((before, theirs), found, strict=True):
            if not arrow.block:
                first, *rest = arrow.value
                words = Token(b"\n", b"return"), first.with_space(b" "), *rest, Token(b"", b";")
                statement = Construct(kind="return", children=words)
                changed[id(arrow.function)] = (arrow.with_block(statement, mine.block.indent),)
    elif len(blocks) > 1 and not any(map(_has_return, blocks)):
        first, *rest = before.value
        words = first.with_space(b"\n"), *rest, Token(b"", b";")
        statement = Construct(kind="expression", children=words)
        statement = _as_condition(statement, mine.function) or statement
        found[0][id(before.function)] = (before.with_block(statement, mine.block.indent),)


def _arrows(function: Construct) -> Mapping[bytes, _Arrow]:
    """Return the arrow functions inside a function by name, without names that occur twice."""
    found = [arrow for each in function.walk() if each.kind == "def" if (arrow := _Arrow.of(each))]
    names = [arrow.function.key for arrow in found]
    return {arrow.function.key: arrow for arrow in found if names.count(arrow.function.key) == 1}


def _has_return(element: Element) -> bool:
    """Whether a block has a `return` outside of the functions and classes in it."""
    if element.kind in {"def", "class"}:
        return False
    return element.kind == "return" or any(map(_has_return, element.children))


def _statements(function: Construct) -> Iterator[Construct]:
    for each in function.walk():
        if each.kind == "suite":
            yield from (part for part in each.parts if part.kind == "expression")


def _edited(before: Construct, side: Construct, other: Construct) -> Changed:
    """Make a condition of the other side's version of a statement as well."""
    words = before.words()
    alike = (
        (similarity(words, each.words()), each)
        for each in _statements(other)
        if each.plain == before.plain or _parted(each)
    )
    best, found = max(alike, key=lambda each: each[0], default=(0, None))
    made = _as_condition(found, side) if found and best >= _LEAST_ALIKE else None
    return {id(found): (made,)} if made else {}


def _parted(statement: Construct) -> tuple[Elements, Elements] | None:
    """Split `a && b();` before the last operand; `None` for other statements."""
    value = statement.children
    value = value[:-1] if value[-1].plain == b";" else value
    words = [each.plain for each in value]
    if b"&&" not in words or not _LOOSER.isdisjoint(words) or any(map(_is_unclear, value)):
        return None
    if any(word.endswith(b"=") and word not in _COMPARING for word in words):
        return None
    at = len(words) - 1 - words[::-1].index(b"&&")
    return value[:at], value[at + 1 :]


_COMPARING = frozenset(b"== != === !== <= >=".split())


def _as_condition(statement: Construct, side: Construct) -> Construct | None:
    """Return `if (a) { b(); }` for `a && b();` if a side has such a condition."""
    parts = _parted(statement)
    if parts is None:
        return None
    condition, action = parts
    indent = _indent_of(condition, action, side)
    if indent is None:
        return None
    first, *rest = action
    done = Construct(kind="expression", children=(first.with_space(b"\n"), *rest, Token(b"", b";")))
    asked = condition[0].with_space(b""), *condition[1:]
    group = Token(b" ", b"("), *asked, Token(b"", b")")
    head = Token(statement.space, b"if"), *group, *_braces((done,), indent)
    return Construct(kind="if", children=head)


def _indent_of(condition: Elements, action: Elements, side: Construct) -> bytes | None:
    """Return how a side indents an action in an `if`; `None` if it has no such `if`."""
    asked, done = ([word for each in part for word in each.words()] for part in (condition, action))
    for clause in side.walk():
        block = next((each for each in clause.parts if each.kind == "suite"), None)
        if clause.kind != "if" or block is None:
            continue
        heads = (each.words()[1:-1] for each in clause.parts if each.kind == "group")
        is_asked = any(similarity(asked, each) >= _LEAST_ALIKE for each in heads)
        if is_asked and any(similarity(done, e.words()) >= _LEAST_ALIKE for e in block.children):
            return block.indent
    return None


def nest_conditions(function: ChangedFunction) -> Changes:
    """Write the conditions that both sides added to an `else` as `if` statements in it."""
    found: tuple[Changed, Changed] = ({}, {})
    versions = function.base, function.other, function.side
    known, *there = ({each.plain: each for each in _last_clauses(v)} for v in versions)
    sides = [
        [each for each in side.values() if _asks(each) and each.plain not in known]
        for side in there
    ]
    for before in known.values() if all(sides) else ():
        if not _asks(before) and not any(before.plain in side for side in there):
            clauses = [_likest(before, side) for side in sides]
            for clause, changed in zip(clauses, found, strict=True):
                if all(clauses) and clause:
                    changed[id(clause)] = (_nested(clause),)
    return {}, *found


def _last_clauses(function: Construct) -> Iterator[Construct]:
    """Yield the last clause of each `if` that has several."""
    for each in function.walk():
        if each.kind == "if" and each.mode is Mode.MEMBERS and len(each.parts) > 1:
            yield each.parts[-1]


def _asks(clause: Construct) -> bool:
    return [each.plain for each in clause.children[1:2]] == [b"if"]


def _likest(before: Construct, clauses: Sequence[Construct]) -> Construct | None:
    words = _body_words(before)
    alike = ((similarity(words, _body_words(each)), each) for each in clauses)
    best, found = max(alike, key=lambda each: each[0], default=(0, None))
    return found if best >= _LEAST_ALIKE else None


def _body_words(clause: Construct) -> Sequence[bytes]:
    return [word for each in clause.parts if each.kind == "suite" for word in each.words()]


def _nested(clause: Construct) -> Construct:
    """Write `else if (a) { … }` as `else { if (a) { … } }`."""
    indent = next(each.indent for each in clause.parts if each.kind == "suite")
    word, first, *rest = clause.children
    inner = Construct(kind="if", children=(first.with_space(b"\n"), *rest))
    return evolve(clause, children=(word, *_braces((inner,), indent)))


def _braces(statements: Elements, indent: bytes) -> Elements:
    return Token(b" ", b"{"), suite(statements, indent), Token(b"\n", b"}")

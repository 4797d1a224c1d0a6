"""Merges conditions and unions operand by operand.

An expression such as `a or b` or `A | B` is a *chain* of operands. A statement's flat
sequence of tokens is cut into expressions. Each expression is split at its loosest
operator, and each operand is merged in the same way.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import evolve

from cooperbench_eval.languages.alignment import align
from cooperbench_eval.languages.tree import (
    Construct,
    DisagreementError,
    Element,
    Elements,
    Mode,
    Token,
    same,
)
from cooperbench_eval.strategies.structured.rules.statements import Merger

CHAIN = "chain"
"""The kind of a construct for an expression; it exists only during a merge."""

_LEVELS = (
    frozenset({b"or", b"||"}),
    frozenset({b"and", b"&&"}),
    frozenset({b"|"}),
    frozenset({b"&"}),
)
_OPERATORS = frozenset[bytes]().union(*_LEVELS)
_BITS = 2
"""The first level of operators that other languages rank with arithmetic."""
_LOOSER_THAN_BITS = frozenset(b"== != === !== < > <= >= is in not instanceof + - ^ !".split())
_UNCLEAR = frozenset({b"??", b"lambda"})
_CONSTANTS = frozenset(b"None True False null undefined nil true false".split())
_NEGATIONS = frozenset({b"not", b"!"})
_ENDS = frozenset(
    b"""if elif while return assert else for yield raise throw case let const var range lambda
    from with match switch async : = := , ; => -> { } ( ) ... .. ..= ** = += -= *= /= |= &= ||= &&=
    ??=""".split()
)
_AFTER_POSTFIX = frozenset({b";", b".", b",", b")", b"{", *_OPERATORS})


def has_chain(construct: Construct) -> bool:
    """Whether an operator of a chain is among the tokens of a construct."""
    return any(map(_is_operator, construct.children))


def _is_operator(element: Element) -> bool:
    return isinstance(element, Token) and element.word in _OPERATORS


def with_chains(children: Elements) -> Elements:
    """Return children in which each expression is one construct."""
    out: list[Element] = []
    zone: list[Element] = []
    loop = False  # whether the next `in` or `of` belongs to `for`
    for i, child in enumerate(children):
        if _is_end(children, i, is_first=not zone, in_loop=loop):
            loop = child.plain == b"for"
            out += _chained(zone)
            out.append(child)
            zone = []
        else:
            zone.append(child)
    return (*out, *_chained(zone))


def _is_end(children: Elements, index: int, *, is_first: bool, in_loop: bool) -> bool:
    """Whether a child does not belong to an expression."""
    child = children[index]
    if child.kind in {"suite", "comment", "def", "class"}:
        return True
    if isinstance(child, Construct):
        return False
    word = child.word
    if index and children[index - 1].plain in {b".", b"?."}:
        return False
    if word == b"?":
        return index + 1 < len(children) and children[index + 1].plain not in _AFTER_POSTFIX
    if is_first and word in {b"*", b"|"}:
        return True
    return word in _ENDS or (in_loop and word in {b"in", b"of"})


def _chained(zone: Sequence[Element]) -> list[Element]:
    return [Construct(kind=CHAIN, children=tuple(zone))] if zone else []


def flatten(children: Elements) -> Elements:
    """Return children with the parts of each expression in its place."""
    out: list[Element] = []
    for child in children:
        out += child.children if child.kind == CHAIN else (child,)
    return tuple(out)


def merge_chain(merger: Merger, base: Construct, ours: Construct, theirs: Construct) -> Construct:
    """Merge three versions of an expression.

    Raises:
        DisagreementError: They cannot be combined, or it is unclear where brackets belong.
    """
    versions = base, ours, theirs
    level = min((found for each in versions if (found := _level(each)) is not None), default=None)
    if level is None:
        sides = base.children, ours.children, theirs.children
        return evolve(ours, children=merger.merge_children(*sides, Mode.SEQUENCE))
    return evolve(ours, children=_merge_level(merger, versions, level))


def _level(chain: Construct) -> int | None:
    """Return the level of an expression's loosest operator; `None` if it cannot be split."""
    words = {child.plain for child in chain.children if isinstance(child, Token)}
    if words & _UNCLEAR:
        return None
    for level, operators in enumerate(_LEVELS):
        if words & operators:
            is_clear = level < _BITS or not words & _LOOSER_THAN_BITS
            return level if is_clear and _split(chain, level) else None
    return None


def _split(chain: Construct, level: int) -> list[Construct]:
    """Split an expression into operands; empty if one of them would be empty.

    An operand's `comma` is the white space before the operator after it.
    """
    operands: list[Construct] = []
    parts: list[Element] = []
    end = Token(b"", b"")
    for child in (*chain.children, end):
        if child is end or (isinstance(child, Token) and child.word in _LEVELS[level]):
            if not parts:
                return []
            comma = None if child is end else child.space
            key = b" ".join(each.plain for each in parts)
            operands.append(Construct(kind=CHAIN, children=tuple(parts), key=key, comma=comma))
            parts = []
        else:
            parts.append(child)
    return operands


def _merge_level(merger: Merger, versions: Sequence[Construct], level: int) -> Elements:
    base, *sides = versions
    operands = [_split(each, level) for each in versions]
    if not all(operands):
        raise DisagreementError.at(base)
    before = operands[0]
    for one, other, now in ((0, 1, operands[1]), (1, 0, operands[2])):
        if same(sides[other], base) or same(sides[one], base):
            continue
        if len(before) == 1 and len(now) > 1:
            is_there = align((*before,), (*now,), Mode.LIST)[0] is not None
            if not is_there or _is_wrapped(base, sides[other], level):
                raise DisagreementError.at(base)
        if len(before) > len(now) == 1 and not any(same(now[0], each) for each in before):
            raise DisagreementError.at(base)
    if level < _BITS:
        _check_fallbacks(*operands)
    ours, theirs = tuple(operands[1]), tuple(operands[2])
    merged = merger.merge_children(tuple(before), ours, theirs, Mode.LIST)
    token = next(
        child
        for each in versions
        for child in each.children
        if isinstance(child, Token) and child.word in _LEVELS[level]
    )
    return tuple(_joined([each for each in merged if isinstance(each, Construct)], operands, token))


def _check_fallbacks(
    before: Sequence[Construct], ours: Sequence[Construct], theirs: Sequence[Construct]
) -> None:
    """Refuse two different constants at the end, as in `x or 1` and `x or 2`.

    Raises:
        DisagreementError: Only one of them could have an effect.
    """
    lasts = {each[-1].plain for each in (before, ours, theirs)}
    if len(lasts) == len((before, ours, theirs)) and (
        _is_constant(ours[-1]) or _is_constant(theirs[-1])
    ):
        raise DisagreementError.at(ours[-1], theirs[-1])


def _is_constant(operand: Construct) -> bool:
    first = operand.children[0]
    if isinstance(first, Construct):
        return len(operand.children) == 1 and first.kind == "group" and first.plain[:1] in b"[{"
    is_quoted = first.word[-1:] in {b'"', b"'", b"`"} or first.word[:1].isdigit()
    return len(operand.children) == 1 and (is_quoted or first.word in _CONSTANTS)


def _is_wrapped(base: Construct, side: Construct, level: int) -> bool:
    """Whether a side negated the whole expression or added operands of a tighter operator."""
    words = [each.words()[:1] for each in (base, side)]
    if words[0] != words[1] and (words[0][0] in _NEGATIONS or words[1][0] in _NEGATIONS):
        return True
    tighter = _level(side)
    return tighter is not None and tighter > level and len(_split(side, tighter)) > 1


def _joined(
    merged: Sequence[Construct], operands: Sequence[list[Construct]], operator: Token
) -> Iterator[Element]:
    """Write operands with operators between them, over lines if a version does so."""
    before, after = b" ", b" "
    for version in operands:
        joints = [(one.comma or b"", two.space) for one, two in pairwise(version)]
        if joints and all(b"\n" in one + two for one, two in joints):
            before, after = joints[0]
    firsts = [version[0].space for version in operands]
    for i, each in enumerate(merged):
        if not i:
            space = firsts[2] if firsts[1] == firsts[0] else firsts[1]
            yield from each.with_space(space).children
            continue
        gap, space = merged[i - 1].comma or b"", each.space
        if b"\n" not in gap + space:
            gap, space = before, after
        yield operator.with_space(gap)
        yield from each.with_space(space).children

"""Refuses edits of both sides that together would mean what neither side chose.

If ours makes `g(x)` into `await g(x)` and theirs makes it into `g(x).strip()`, the ranks of
the operators would decide what `await g(x).strip()` means. And an item without a name means
something by its place, which the other side's edit may change.
"""

from collections.abc import Sequence

from attrs import evolve

from cooperbench_eval.languages.alignment import align
from cooperbench_eval.languages.tree import (
    Construct,
    DisagreementError,
    Element,
    Elements,
    Mode,
    same,
)
from cooperbench_eval.strategies.structured.ordering import has_positional
from cooperbench_eval.strategies.structured.overlaps import AlignedVersion, ChildEdit

_TERNARY, _NOT, _UNARY, _ACCESS = 0, 3, 11, 13
_BINARY: dict[bytes, int] = {
    word: rank
    for rank, words in {
        _TERNARY: b"if ? ??",
        1: b"or ||",
        2: b"and &&",
        4: b"== != === !== < > <= >= is in not instanceof as satisfies",
        5: b"|",
        6: b"^",
        7: b"&",
        8: b"<< >> >>>",
        9: b"+ -",
        10: b"* / // % @",
        12: b"**",
    }.items()
    for word in words.split()
}
"""The ranks of operators between operands, the loosest first."""
_PREFIXES = dict.fromkeys(b"- + ! ~ * & ** ++ -- await new typeof void delete".split(), _UNARY)
_PREFIXES |= {b"not": _NOT, b"mut": _UNARY}
_SUFFIXES = frozenset(b". ?. :: ! ++ --".split())
_SEPARATORS = frozenset(
    b"""= := , ; : => -> <- ... .. ..= += -= *= /= //= %= **= @= |= &= ^= <<= >>= ||= &&= ??=
    { } ( ) return yield raise throw assert else elif while for from let const var case""".split()
)
_FREE = frozenset({(b"+", b"+"), (b"+", b"-"), (b"*", b"*")})
"""Operators before and after an operand that give one result in either order."""
_MOST = 64
"""The longest operand, in elements, that is looked at."""


def check_blocks(base: Construct, ours: Construct, theirs: Construct) -> None:
    """Refuse a block of which one side keeps neither the condition nor a statement.

    Then it is a different block, such as `if not a: return` in place of `if a: b()`.

    Raises:
        DisagreementError: The other side changed the statements.
    """
    versions = [_head_and_body(each) for each in (base, ours, theirs)]
    (head, body), *sides = versions
    for (own_head, own), (_, other) in (sides, sides[::-1]):
        is_other_block = not same(head, own_head) and body and not _keeps_one(body, own)
        if is_other_block and [each.plain for each in other] != [each.plain for each in body]:
            raise DisagreementError.at(base).between((base,), (ours,), (theirs,))


def _head_and_body(clause: Construct) -> tuple[Construct, Elements]:
    head = tuple(each for each in clause.children if each.kind != "suite")
    suites = (each for each in clause.parts if each.kind == "suite")
    return evolve(clause, children=head), next((each.children for each in suites), ())


def _keeps_one(body: Elements, own: Elements) -> bool:
    """Whether a body has a statement of another one, possibly edited or in a block."""
    if any(place is not None for place in align(body, own, Mode.MEMBERS)):
        return True
    old = {each.plain for each in body}
    inner = (child for each in own for part in each.walk() for child in part.children)
    return any(each.plain in old for each in inner)


def check_operands(base: Elements, ours: AlignedVersion, theirs: AlignedVersion) -> None:
    """Refuse an operator before an operand and the other side's operator or access after it.

    Raises:
        DisagreementError: It is not clear which of them comes first.
    """
    for one, other in ((ours, theirs), (theirs, ours)):
        _check_calls(base, one, other)
        starts = {each.start: each for each in other.edits}
        for edit in one.edits:
            if (rank := _prefix_rank(base, edit)) is not None:
                _check_suffixes(base, edit, rank, starts)


def _check_suffixes(
    base: Elements, prefix: ChildEdit, rank: int, others: dict[int, ChildEdit]
) -> None:
    """Refuse the other side's suffixes of the operand after a prefix."""
    loosest = _ACCESS
    for end in range(prefix.end + 1, min(prefix.end + _MOST, len(base)) + 1):
        part = base[end - 1]
        if part.plain in _SEPARATORS or part.kind in {"suite", "comment"}:
            return
        is_inner = end - 1 > prefix.end
        loosest = min(loosest, _BINARY.get(part.plain, _ACCESS) if is_inner else _ACCESS)
        if loosest < rank:
            return
        suffix = others.get(end)
        after = None if suffix is None else _suffix_rank(base, suffix)
        if suffix is None or after is None or after > loosest or part.plain in _BINARY:
            continue
        signs = _parts(prefix, base)[-1].plain, _parts(suffix, base)[0].plain
        if signs not in _FREE:
            raise DisagreementError.at(*base[prefix.end : end])


def _prefix_rank(base: Elements, edit: ChildEdit) -> int | None:
    """Return the rank of the operator at the end of an edit; `None` if there is none."""
    removed, parts = base[edit.start : edit.end], _parts(edit, base)
    if removed and edit.new and _is_alike(removed[-1], edit.new[-1]):
        return None
    last = parts[-1]
    words = {each.plain for each in parts}
    if (last.plain == b"else" and b"if" in words) or (last.plain == b":" and b"?" in words):
        return _TERNARY
    if edit.new and _is_cast(parts):
        return _UNARY if _begins_operand(base[: edit.start]) else None
    if _begins_operand((*base[: edit.start], *parts[:-1])):
        return _PREFIXES.get(last.plain)
    return _BINARY.get(last.plain, _PREFIXES.get(last.plain))


def _is_cast(parts: Elements) -> bool:
    """Whether an inserted prefix is a type in round brackets."""
    first, last = parts[0], parts[-1]
    if first.kind == "group":
        return len(parts) == 1 and first.plain.startswith(b"(")
    return first.plain == b"(" and last.plain == b")"


def _begins_operand(before: Sequence[Element]) -> bool:
    """Whether an operand may begin after some elements."""
    if not before:
        return True
    last = before[-1].plain
    return last in _SEPARATORS or last in _BINARY or last in _PREFIXES


def _suffix_rank(base: Elements, edit: ChildEdit) -> int | None:
    """Return the rank of the operator or access that an edit begins with, if any."""
    removed, parts = base[edit.start : edit.end], _parts(edit, base)
    if removed and edit.new and _is_alike(removed[0], edit.new[0]):
        return None
    first = parts[0]
    if first.plain in _SUFFIXES or (first.kind == "group" and first.plain[:1] in {b"(", b"["}):
        return _ACCESS
    if first.plain == b"<" and parts[-1].plain == b">":
        return None  # the arguments of a type
    return _BINARY.get(first.plain)


def _is_alike(one: Element, other: Element) -> bool:
    rank = _BINARY.get(one.plain)
    return rank is not None and rank == _BINARY.get(other.plain)


def _parts(edit: ChildEdit, base: Elements) -> Elements:
    """Return what an edit inserts, or if it only removes something, what it removes."""
    return edit.new or base[edit.start : edit.end]


def _check_calls(base: Elements, one: AlignedVersion, other: AlignedVersion) -> None:
    """Refuse other edits of a call that one side made the argument of another call.

    Where `g(x)` becomes `h(g(x))`, the tree only shows that `g` became `h` and `x` became
    `g(x)`.

    Raises:
        DisagreementError: The other side changed the call, or put something beside it.
    """
    for edit in one.edits:
        touching = [e for e in other.edits if edit.start <= e.end and e.start <= edit.end]
        is_unclear = _is_wrapped(base, edit) or _makes_block(edit)
        if touching and (is_unclear or any(_repeats(edit, each) for each in touching)):
            raise DisagreementError.at(*base[edit.start : edit.end])
        old, new = base[edit.start : edit.end], one.at(edit.end)
        if not old or new is None or new.kind != "group":
            continue
        group = base[edit.end]
        if old[0].plain not in set(new.words()) - set(group.words()):
            continue
        theirs = other.at(edit.end)
        is_edited = theirs is None or theirs.plain not in {group.plain, new.plain}
        places = {edit.start, edit.end, edit.end + 1}
        beside = (each for each in other.edits if {each.start, each.end} & places)
        if is_edited or any(_touches(base, each, edit.start) for each in beside):
            raise DisagreementError.at(*old, group)


def _repeats(edit: ChildEdit, other: ChildEdit) -> bool:
    """Whether what replaces something ends with what the other side inserts after it."""
    new = [each.plain for each in other.new]
    is_after = edit.start < edit.end == other.start == other.end
    return is_after and [each.plain for each in edit.new[-len(new) :]] == new


def _makes_block(edit: ChildEdit) -> bool:
    """Whether an edit makes a block of an expression, as of the value of an arrow function."""
    return any(each.kind == "suite" for each in edit.new)


def _is_wrapped(base: Elements, edit: ChildEdit) -> bool:
    """Whether an edit puts what it replaces into brackets, as in `h(a + b)` for `a + b`."""
    old = b" ".join(each.plain for each in base[edit.start : edit.end])
    groups = (each for each in edit.new if each.kind == "group")
    return bool(old) and any(b" %s " % old in b" ".join(each.words()) for each in groups)


def _touches(base: Elements, edit: ChildEdit, start: int) -> bool:
    """Whether an edit beside a call belongs to the same operand."""
    ranks = _prefix_rank(base, edit), _suffix_rank(base, edit)
    return ranks[0 if edit.end <= start else 1] is not None


def check_positions(base: Elements, ours: Sequence[ChildEdit], theirs: Sequence[ChildEdit]) -> None:
    """Refuse an insertion beside an item that the other side removes.

    Raises:
        DisagreementError: The new item would take the place of the removed one.
    """
    for edits, others in ((ours, theirs), (theirs, ours)):
        places = {place for each in edits if not each.new for place in (each.start, each.end)}
        for each in others:
            if each.start == each.end and each.start in places and has_positional(each.new):
                raise DisagreementError.at(*base[max(each.start - 1, 0) : each.start], *each.new)

"""Makes a side's additions to a call or a loop where the other side moved or copied it."""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

from attrs import evolve

from cooperbench_eval.languages.tree import Construct, Element, Elements, Mode, words_of_head
from cooperbench_eval.strategies.structured.flow.facts import (
    ACCESS,
    bound_in,
    facts_of,
    is_call,
    is_name,
    parameters_of,
)
from cooperbench_eval.strategies.structured.flow.uses import Variables, is_builtin, without_suites
from cooperbench_eval.strategies.structured.refactorings.changed import (
    Changed,
    ChangedFunction,
    Changes,
)
from cooperbench_eval.strategies.structured.rules.containing import extends

_LEAST_WORDS = 6
"""The fewest words of a call, brackets included, that is found again where it moved."""
_SUSPENDING = frozenset({b"await", b"yield", b":="})
_CLAUSE_ENDS = frozenset({b"for", b"if", b"async", b":"})


class _Part(NamedTuple):
    """A call, or a `for` with its variables and items, among the tokens of a clause."""

    parts: Elements
    clause: bytes
    is_loop: bool

    @property
    def plain(self) -> bytes:
        return _plain(self.parts)

    @property
    def words(self) -> list[bytes]:
        return [word for each in self.parts for word in each.words()]

    @property
    def lead(self) -> bytes:
        """What a changed version still has: the function, or the variables of the loop."""
        return _plain(self.parts[: self._split])

    @property
    def rest(self) -> Elements:
        """What may change: the arguments, or the items of the loop."""
        return self.parts[self._split :]

    @property
    def _split(self) -> int:
        if not self.is_loop:
            return len(self.parts) - 1
        return [each.plain for each in self.parts].index(b"in") + 1

    @property
    def reads(self) -> frozenset[bytes]:
        return facts_of(Construct(kind="value", children=self.rest)).reads


def follow(function: ChangedFunction) -> Changes:
    """Make a side's additions in the base and on the other side.

    An addition is a further argument of a call, or other items of a loop. The other side must
    have copied the call or the loop, or moved it into another statement or part of one.
    """
    base, side, other = function.base, function.side, function.other
    for old, new in _additions(base, side):
        places = _of(other, old.plain)
        kept = _kept(base, other)
        moved = [each for each in places if each.clause not in kept]
        left = [each for each in _of(base, old.plain) if each.clause not in kept]
        if not moved or not _may_follow(old, new, (base, side, other)):
            continue
        is_edited = any(_adds(old, each) for each in _parts(other))
        if is_edited and len(left) > 1:
            continue
        if not is_edited:
            base = _with(base, old.plain, new.parts, kept)
        other = _with(other, old.plain, new.parts, kept)
    pairs = (function.base, base), (function.other, other)
    changed: list[Changed] = [{id(old): (new,)} if new is not old else {} for old, new in pairs]
    return changed[0], changed[1]


def _additions(base: Construct, side: Construct) -> list[tuple[_Part, _Part]]:
    """Return the parts to which a side added the same everywhere, the smallest first."""
    before, after = ({each.plain: each for each in _parts(tree)} for tree in (base, side))
    found = []
    for plain, old in before.items():
        if plain in after or (not old.is_loop and len(old.words) < _LEAST_WORDS):
            continue
        new = [each for key, each in after.items() if key not in before and _adds(old, each)]
        if len(new) == 1:
            found.append((old, new[0]))
    return sorted(found, key=lambda each: len(each[0].plain))


def _adds(old: _Part, new: _Part) -> bool:
    if old.is_loop != new.is_loop or old.lead != new.lead or old.plain == new.plain:
        return False
    return old.is_loop or extends(old.rest[0], new.rest[0])


def _may_follow(old: _Part, new: _Part, versions: tuple[Construct, Construct, Construct]) -> bool:
    """Whether an addition means the same elsewhere in the function.

    Its variables must be parameters that all versions have, or new ones, and nothing may set them.
    A loop must occur only once. The other side must not use its items more often than the base,
    and the side must not set its variables more often.
    """
    base, side, other = versions
    added = set(new.words) - set(old.words)
    if added & _SUSPENDING:
        return False
    if not old.is_loop and new.words.count(b"(") > old.words.count(b"("):
        return False
    if old.is_loop:
        counts = {len(_of(tree, old.plain)) for tree in (base, other)}
        items = _plain(old.rest)
        if counts != {1} or _count(other, items) > _count(base, items):
            return False
        if _settings(side, old) > _settings(base, old):
            return False
    before, mine, theirs = map(parameters_of, versions)
    known = (before & mine & theirs) | (mine - before - set(other.words()))
    names = new.reads - old.reads
    roots = {name.partition(b".")[0] for name in names}
    changed = _changing(side) | _changing(other)
    return changed.isdisjoint(names | roots) and all(
        root in known or is_builtin(root) for root in roots
    )


def _changing(function: Construct) -> frozenset[bytes]:
    """Return the variables that a function sets, or that a function inside it binds."""
    bound = (bound_in(each.children) for each in function.walk())
    body = [each for each in function.walk() if each.kind == "suite"]
    return Variables.of(body[0].children if body else ()).own.union(*bound)


def _settings(function: Construct, loop: _Part) -> int:
    """Return how often a function sets the variables of a loop."""
    names = {each.plain for each in loop.parts}
    return sum(
        not names.isdisjoint(facts_of(without_suites(each)).sets) for each in _clauses(function)
    )


def _count(function: Construct, plain: bytes) -> int:
    return b" ".join([b"", *function.words(), b""]).count(b" " + plain + b" ")


def _kept(base: Construct, other: Construct) -> frozenset[bytes]:
    """Return the clauses that the other side left as they were, and as often."""
    before, after = (Counter(map(_head, _clauses(tree))) for tree in (base, other))
    return frozenset(head for head, count in before.items() if after[head] == count)


def _clauses(element: Construct) -> Iterator[Construct]:
    """Yield the statements of a function, and the clauses of those that have suites."""
    for each in element.parts:
        if element.mode is Mode.MEMBERS and each.mode is Mode.SEQUENCE:
            yield each
        yield from _clauses(each)


def _head(clause: Construct) -> bytes:
    return b" ".join(words_of_head(clause))


def _of(function: Construct, plain: bytes) -> list[_Part]:
    return [each for each in _parts(function) if each.plain == plain]


def _parts(function: Construct) -> Iterator[_Part]:
    """Yield the calls and the loops of a function."""
    for clause in _clauses(function):
        head = _head(clause)
        for children in _sequences(clause):
            for start, end in _spans(children):
                parts = children[start:end]
                yield _Part(parts, head, parts[0].plain == b"for")


def _sequences(construct: Construct) -> Iterator[Elements]:
    yield construct.children
    for each in construct.parts:
        if each.kind != "suite":
            yield from _sequences(each)


def _spans(children: Elements) -> Iterator[tuple[int, int]]:
    """Yield where calls and loops begin and end among the children of a construct."""
    for i, each in enumerate(children):
        if each.plain == b"for":
            words = [child.plain for child in children]
            end = next(
                (k for k in range(i + 1, len(words)) if words[k] in _CLAUSE_ENDS), len(words)
            )
            if b"in" in words[i:end]:
                yield i, end
        elif i and is_call(each, children[i - 1]) and is_name(children[i - 1].plain):
            yield _start_of(children, i - 1), i + 1


def _start_of(children: Elements, name: int) -> int:
    """Return where the path begins that ends with the name of a called function."""
    while name > 1 and children[name - 1].plain in ACCESS:
        name -= 2
        while name and isinstance(children[name], Construct):
            name -= 1
    return name


def _plain(parts: Elements) -> bytes:
    return b" ".join(each.plain for each in parts)


def _with(
    element: Construct,
    old: bytes,
    new: Elements,
    kept: Collection[bytes],
    *,
    is_kept: bool = False,
) -> Construct:
    """Return an element with *new* in the place of a part, but not in the clauses to keep."""
    spans = () if is_kept else _spans(element.children)
    ends = {i: end for i, end in spans if _plain(element.children[i:end]) == old}
    children: list[Element] = []
    i = 0
    while i < len(element.children):
        each = element.children[i]
        if i in ends:
            children += (new[0].with_space(each.space), *new[1:])
            i = ends[i]
            continue
        if isinstance(each, Construct):
            is_clause = element.mode is Mode.MEMBERS and each.mode is Mode.SEQUENCE
            skips = is_kept and each.kind != "suite"
            skips = _head(each) in kept if is_clause else skips
            each = _with(each, old, new, kept, is_kept=skips)
        children.append(each)
        i += 1
    return evolve(element, children=tuple(children))

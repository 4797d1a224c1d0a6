"""What a side did to a function, as seen in the merged function."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import cached_property
from itertools import pairwise

from attrs import evolve, frozen

from cooperbench_eval.languages.alignment import align
from cooperbench_eval.languages.tree import ASSIGNING, Construct, Element, Mode, Token, same
from cooperbench_eval.strategies.structured.flow.facts import ACCESS, is_call, is_name
from cooperbench_eval.strategies.structured.flow.graph import Graph, Step
from cooperbench_eval.strategies.structured.rules.containing import extends
from cooperbench_eval.support.memo import WeighedMemo


class Change(Enum):
    """How a side's step differs from the base."""

    NEW = auto()
    """It was inserted."""
    EDITED = auto()
    """It was changed otherwise than by additions to lists."""
    EXTENDED = auto()
    """Only items were added to lists in brackets, such as arguments to a call, or names to
    results that had none; or an assigned call has further or partly other arguments."""
    NAMING = auto()
    """It gives a name to a value that the base computed in another statement."""


MEANT = frozenset({Change.NEW, Change.EDITED})
"""The changes that may give a value another meaning, or need a value's old meaning."""


@frozen(eq=False)
class Work:
    """A side's version of a function.

    Attributes:
        base: The function in the base.
        graph: The function on the side.
        origins: The side's step for each merged step, by its index.
        before: The base's step for each step of the side, by its index.
        gone: The steps of the base that the side removed.
        shared: The merged steps that both sides have, so that they count for neither.
    """

    base: Graph
    graph: Graph
    origins: Mapping[int, int]
    before: Mapping[int, int]
    gone: Sequence[int]
    shared: frozenset[int] = frozenset()

    @classmethod
    def of(cls, base: Graph, side: Graph, merged: Graph) -> "Work":
        """Compare a side with the base and with the merged function."""
        kept = places_in(base, side)
        return cls(
            base,
            side,
            {place: i for i, place in enumerate(places_in(side, merged)) if place is not None},
            {place: i for i, place in enumerate(kept) if place is not None},
            [i for i, place in enumerate(kept) if place is None],
        )

    @cached_property
    def changes(self) -> Mapping[int, Change]:
        """The side's changes by the index of the merged step."""
        found = {}
        for merged, own in self.origins.items():
            change = None if merged in self.shared else self._change(own)
            if change is not None:
                found[merged] = change
        return found

    @cached_property
    def always(self) -> Sequence[int]:
        """The merged steps that it changed and that need no option of its own."""
        return [i for i in self.changes if not self.is_optional(self.origins[i])]

    def without_shared(self, other: "Work") -> "Work":
        """Return it without the changes that the other side made as well, or made larger."""
        both = self.origins.keys() & other.origins.keys()
        alike = {i for i in both if same(self.step(i).header, other.step(i).header)}
        larger = {i for i in both - alike if self._is_larger(i, other, alike)}
        return evolve(self, shared=frozenset(alike | larger))

    def _is_larger(self, merged: int, other: "Work", alike: Collection[int]) -> bool:
        """Whether a change of both sides is larger on one, and the other has no use of its own."""
        mine, own = self.step(merged), other.step(merged)
        if merged not in self.changes or merged not in other.changes:
            return False
        if extends(mine.header, own.header):
            return not self.has_use(merged, alike)
        return extends(own.header, mine.header) and not other.has_use(merged, alike)

    def has_use(self, merged: int, alike: Collection[int]) -> bool:
        """Whether another change of the side depends on one of its steps."""
        at = self.origins[merged]
        uses = set[int]().union(
            *(self.graph.uses(at, name) for name in self.step(merged).facts.sets)
        )
        return any(
            self.origins[i] in uses or at in self.step(i).within
            for i in self.changes.keys() - {merged, *alike}
        )

    def step(self, merged: int) -> Step:
        """Return the side's version of a merged step."""
        return self.graph.steps[self.origins[merged]]

    @cached_property
    def places(self) -> Mapping[int, int]:
        """The merged step that each step of the side became."""
        return {own: merged for merged, own in self.origins.items()}

    def _change(self, own: int) -> Change | None:
        after = self.graph.steps[own].header
        if own not in self.before:
            return Change.NAMING if _value(after) in self._values_gone else Change.NEW
        before = self.base.steps[self.before[own]].header
        if same(before, after):
            return None
        is_kept = extends(before, after) or is_same_call(before, after)
        return Change.EXTENDED if is_kept else Change.EDITED

    @cached_property
    def _values_gone(self) -> Collection[tuple[bytes, ...]]:
        steps = self.base.steps
        return {_value(steps[i].header) for i in self.gone} - {()}

    @cached_property
    def sets_anew(self) -> frozenset[bytes]:
        """The variables that the side's new steps set."""
        new = (i for i, change in self.changes.items() if change is Change.NEW)
        return frozenset(name for i in new for name in self.step(i).facts.sets)

    def head_of(self, merged: int) -> int | None:
        """Return the merged condition under which the side executes a step, if any."""
        steps = self.graph.steps
        heads = [head for head in self.step(merged).within if steps[head].branches]
        return self.places.get(heads[-1]) if heads else None

    def changes_condition(self, merged: int) -> bool:
        """Whether the side edited a condition without asking for an option of its own."""
        is_edited = self.changes.get(merged) is Change.EDITED
        return is_edited and not self._asks(self.origins[merged])

    def is_of_other_function(self, merged: int) -> bool:
        """Whether the side only assigns what another function returns for the same arguments."""
        if self.changes.get(merged) is not Change.EDITED:
            return False
        before = self.base.steps[self.before[self.origins[merged]]].header
        return _calls_other(before, self.step(merged).header)

    def copied(self, merged: int) -> Iterator[int]:
        """Yield the merged steps of the base that one of the side's new steps repeats."""
        header = self.step(merged).header
        for place, own in self.origins.items():
            if own in self.before and same(header, self.graph.steps[own].header):
                yield place

    def rest_after(self, merged: int) -> Sequence[tuple[int, Construct]]:
        """Return the base's statements from a new step to the next exit of its suite.

        Each comes with its depth below that suite. Empty if no exit follows in the suite.
        """
        steps, start = self.graph.steps, self.origins[merged]
        around = tuple(head for head in steps[start].within if head in self.before)
        found = []
        for i in range(start + 1, len(steps)):
            if steps[i].within[: len(around)] != around:
                break
            depth = len(steps[i].within) - len(around)
            if i in self.before:
                found.append((depth, steps[i].header))
                if steps[i].is_exit and not depth:
                    return found
        return ()

    def has_moved(self, own: int) -> bool:
        """Whether a step of the base was under a condition that the side removed."""
        before = self.before.get(own, 0)
        return not set(self.gone).isdisjoint(self.base.steps[before].within)

    def is_optional(self, own: int) -> bool:
        """Whether a step is executed only if an option that the side added is used.

        That is the case if it is in the suite of a condition that the side inserted and that
        reads a new parameter or attribute of its own.
        """
        steps = self.graph.steps
        for head in steps[own].within:
            if head in self.before or not steps[head].branches:
                continue
            if self._asks(head) and not self._is_alternative(own, head):
                return True
        return False

    def _is_alternative(self, own: int, head: int) -> bool:
        """Whether a step is in a later clause of the same statement, as after `else`."""
        within = self.graph.steps[own].within
        following = within[within.index(head) + 1 :]
        return bool(following) and self.graph.steps[following[0]].is_alternative

    def _asks(self, head: int) -> bool:
        """Whether a condition holds only if an option of the side's own is used."""
        words = self.graph.steps[head].header.words()
        if not asks(words[1:]):
            return False
        reads = self.graph.steps[head].facts.reads
        return any(self._is_own(head, name) for name in reads)

    def _is_own(self, use: int, name: bytes, depth: int = 8) -> bool:
        """Whether a value comes from a parameter or attribute that the side added."""
        if b"." in name and name not in self._known:
            return True
        sources = self.graph.sources(use, name)
        if 0 in sources:
            return name not in self._known
        if depth == 0 or name in self._known:
            return False
        steps = self.graph.steps
        return any(
            self._is_own(each, other, depth - 1)
            for each in sources
            for other in steps[each].facts.reads
            if other != name
        )

    @cached_property
    def _known(self) -> frozenset[bytes]:
        """The variables of the base."""
        facts = (step.facts for step in self.base.steps)
        return frozenset(name for each in facts for name in each.sets | each.reads)


def asks(condition: Sequence[bytes]) -> bool:
    """Whether a condition may hold only if something is given or found."""
    is_negated = any(one in {b"not", b"!"} for one in condition[:2])
    return not is_negated and not asks_for_nothing(condition)


def asks_for_nothing(words: Sequence[bytes]) -> bool:
    """Whether a condition holds for a missing value, or for the usual value of an unused option."""
    pairs = pairwise(words)
    return any(sign in _EQUAL and word in _NOTHING for sign, word in pairs)


_EQUAL = frozenset({b"is", b"==", b"===", b"<=", b"<"})
_NOTHING = frozenset(b"None nil null undefined 0 1 0.0 False false \"\" ''".split())


def places_in(base: Graph, side: Graph) -> list[int | None]:
    """Return the index that each step of *base* has in *side*; `None` if it was removed."""
    headers = [tuple(step.header for step in graph.steps[1:]) for graph in (base, side)]
    found = align(headers[0], headers[1], Mode.MEMBERS)
    return [0, *(None if place is None else place + 1 for place in found)]


def is_same_call(before: Construct, after: Construct) -> bool:
    """Whether an assignment calls the same functions, and a name is still in the arguments."""
    if not before.kind == after.kind == "assignment":
        return False
    one, other = (_without_arguments(each) for each in (before, after))
    return one == other and not _arguments(before).isdisjoint(_arguments(after))


def _arguments(header: Construct) -> set[bytes]:
    """Return the names in the arguments of calls."""
    pairs = zip((None, *header.children), header.children, strict=False)
    return {
        name
        for last, each in pairs
        if is_call(each, last)
        for name in filter(is_name, each.words())
    }


def _calls_other(before: Construct, after: Construct) -> bool:
    """Whether two headers assign results of different functions, and are otherwise the same."""
    if before.kind == after.kind == "assignment":
        call = _assigned_call(before)
        return call != () and call == _assigned_call(after)
    pairs = list(zip(before.children, after.children, strict=False))
    changed = [pair for pair in pairs if not same(*pair)]
    if len(before.children) != len(after.children) or len(changed) != 1:
        return False
    one, other = changed[0]
    return isinstance(one, Construct) and isinstance(other, Construct) and _calls_other(one, other)


def _assigned_call(header: Construct) -> tuple[bytes, ...]:
    """Return the targets and the arguments of an assigned call; empty if there are none."""
    parts = [each for each in header.children if each.plain != b";"]
    words = [each.plain for each in parts]
    start = next((i + 1 for i, word in enumerate(words) if word in ASSIGNING), len(words))
    if len(words) < start + 2 or not all(
        is_name(each) or each in ACCESS for each in words[start:-1]
    ):
        return ()
    has_arguments = is_call(parts[-1], parts[-2]) and any(parts[-1].words()[1:-1])
    return (*words[:start], words[-1]) if has_arguments else ()


_ASKING = re.compile(
    rb"(?:else )?(?:if|elif) (\w+) (?:(===?|is)|!==?|is not) (?:None|nil|null|undefined)"
)
_AROUND = frozenset({b"(", b")", b":", b"{", b"}"})


def asked_for(header: Construct) -> tuple[bytes, bool]:
    """Return the variable that a condition only compares with nothing, as `x is not None`.

    An assignment may precede it, as in `if x := f(y); x != nil`. The name is empty for other
    conditions. The second value is whether the condition holds if there is nothing.
    """
    signs = [i for i, each in enumerate(header.children) if each.plain == b";"]
    test = (*header.children[:1], *header.children[signs[-1] + 1 :]) if signs else header.children
    words = (word for each in test for word in each.words() if word not in _AROUND)
    found = _ASKING.fullmatch(b" ".join(words))
    return (found[1], found[2] is not None) if found else (b"", False)


def _without_arguments(header: Construct) -> list[bytes]:
    parts = zip((None, *header.children), header.children, strict=False)
    return [b"()" if is_call(each, last) else each.plain for last, each in parts]


def _value(header: Construct) -> tuple[bytes, ...]:
    """Return the words of the value that a statement returns or assigns; empty for others."""
    words = [word for word in header.words() if word != b";"]
    if header.kind == "return":
        return tuple(words[1:])
    signs = [i for i, word in enumerate(words) if word in ASSIGNING]
    if header.kind != "assignment" or not signs:
        return ()
    return tuple(words[signs[0] + 1 :])


_LEAST_COPIED = 6
"""The fewest words of a call, brackets included, that may be a copy."""


def calls_in(graph: Graph) -> dict[bytes, list[int]]:
    """Return the calls with arguments in a function, each with its steps."""
    found: dict[bytes, list[int]] = {}
    for i, step in enumerate(graph.steps):
        for call in _calls_of(step.header):
            found.setdefault(call, []).append(i)
    return found


def _calls_of(header: Construct) -> tuple[bytes, ...]:
    found = _known_calls.get(header.plain)
    if found is None:
        calls = _calls_among(header.children)
        found = tuple(call for call in calls if call.count(b" ") + 1 >= _LEAST_COPIED)
        _known_calls.keep(header.plain, found, size=len(header.plain))
    return found


# Versions of a function share most of their statements.
_known_calls = WeighedMemo[bytes, tuple[bytes, ...]](max_bytes=1 << 20)


def _calls_among(elements: Sequence[Element]) -> Iterator[bytes]:
    before = b""
    for each in elements:
        if isinstance(each, Construct):
            if before and each.kind == "group" and each.children[0].plain == b"(":
                yield b" ".join([before, *each.words()])
            yield from _calls_among(each.children)
        before = each.word if isinstance(each, Token) else b""

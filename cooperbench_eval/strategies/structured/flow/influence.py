"""What one side's work does to the values of a merged function."""

from collections.abc import Collection, Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain
from typing import NamedTuple, Self

from attrs import frozen

from cooperbench_eval.languages.tree import Construct
from cooperbench_eval.strategies.structured.flow.graph import Graph
from cooperbench_eval.strategies.structured.flow.spread import Read, Spread
from cooperbench_eval.strategies.structured.flow.uses import hands_over
from cooperbench_eval.strategies.structured.flow.work import MEANT, Change, Work

_TAKING = frozenset({b"next", b"pop", b"popleft", b"shift", b"read", b"readline", b"len"})
"""Functions whose results depend on how often something was done."""


class Clash(NamedTuple):
    """How the sides interfere in a function, and a statement of each that takes part."""

    problem: str
    ours: Construct | None = None
    theirs: Construct | None = None


@frozen(eq=False)
class Influence:
    """The effects of one side's work, and how they meet the other's.

    Attributes:
        merged: The merged function.
        one: The work that has effects.
        other: The work that may be disturbed.
    """

    merged: Graph
    one: Work
    other: Work

    def _clash(self, problem: str, mine: int | None = None, others: int | None = None) -> Clash:
        """Make a clash of merged steps; one that its side does not have is not shown."""
        steps = [
            None if at is None or at not in work.origins else work.step(at).header
            for work, at in ((self.one, mine), (self.other, others))
        ]
        return Clash(problem, *steps)

    def cause(self, affected: AbstractSet[int]) -> int | None:
        """Return one side's change that affects some steps; `None` if it is a removal."""
        starts = sorted(self._starts, key=lambda each: each not in affected)
        found = (i for i in starts if self._spread([i], ()).steps & affected)
        return next(found, None)

    @cached_property
    def _reverse(self) -> Self:
        """The effects of the other's work."""
        return type(self)(self.merged, self.other, self.one)

    @cached_property
    def always(self) -> frozenset[int]:
        """The merged steps that are affected even if one side's new options are not used."""
        starts = [i for i in self._starts if not self._is_optional(i)]
        return self._spread(starts, list(self._orphans_in_merge())).steps

    @cached_property
    def sometimes(self) -> Spread:
        """What may be affected in the merged function."""
        return self._spread(self._starts, list(self._orphans_in_merge()))

    @cached_property
    def own(self) -> Spread:
        """What may be affected in one side's own version."""
        starts = [self.one.origins[i] for i in self._starts]
        return Spread.of(self.one.graph, starts, self._orphans, ())

    @cached_property
    def _starts(self) -> list[int]:
        changes = self.one.changes
        return [i for i, change in changes.items() if change in MEANT and not self._prepares(i)]

    def _spread(self, starts: Collection[int], orphans: Collection[Read]) -> Spread:
        # Skipping the other side's steps leaves the side's own version.
        return Spread.of(self.merged, starts, orphans, self.other.changes, self._carrying)

    @cached_property
    def _carrying(self) -> frozenset[int]:
        """The loops in which the other's changes take a value from one turn to the next."""
        steps = self.merged.steps
        return frozenset(
            head
            for i in self.other.changes
            for head in steps[i].within
            if steps[head].repeats and self._carries(i, head)
        )

    def _carries(self, at: int, head: int) -> bool:
        step = self.merged.steps[at]
        sources = set[int]().union(*(self.merged.sources(at, each) for each in step.facts.reads))
        is_later = any(i >= at and head in self.merged.steps[i].within for i in sources)
        return is_later or self._takes(at)

    def _takes(self, at: int) -> bool:
        """Whether a step calls a function whose result depends on how often it was called."""
        return not _TAKING.isdisjoint(self.merged.steps[at].header.words())

    @cached_property
    def _orphans(self) -> frozenset[Read]:
        """What one side's steps read instead of a value that it no longer computes."""
        base, work = self.one.base, self.one
        steps = base.steps
        now = {before: own for own, before in work.before.items()}
        return frozenset(
            (now[use], name)
            for gone in work.gone
            for name in steps[gone].facts.sets - work.sets_anew
            for use in base.uses(gone, name)
            if use in now
            and name in steps[use].facts.direct & work.graph.steps[now[use]].facts.reads
        )

    def _orphans_in_merge(self) -> Iterator[Read]:
        """Yield what is read instead in the merged function as well."""
        places, graph = self.one.places, self.one.graph
        for own, name in self._orphans:
            sources = {places.get(source) for source in graph.sources(own, name)}
            place = places.get(own)
            if place is not None and not self.merged.sources(place, name).isdisjoint(sources):
                yield place, name

    def _renews(self, work: Work, at: int, name: bytes) -> bool:
        """Whether a side's new step always makes a variable's new value from its old one."""
        is_own = work.changes.get(at) is Change.NEW and name in self._sets(at)
        if not is_own or name not in self.merged.steps[at].facts.reads:
            return False
        return not work.is_optional(work.origins[at])

    def _prepares(self, at: int) -> bool:
        """Whether a new step of one side prepares a value with a call, as `name = clean(name)`.

        Then later uses of the value are meant for the new one, since this side left all uses of the
        base as they were.
        """
        names = self._sets(at)
        edited = (i for i, change in self.one.changes.items() if change is Change.EDITED)
        before = {self.one.before[self.one.origins[i]] for i in edited}.union(self.one.gone)
        reads = (self.one.base.steps[i].facts.reads for i in before)
        is_new = bool(names) and all(self._renews(self.one, at, name) for name in names)
        used = chain(self.merged.steps[at].facts.direct, *reads)
        return is_new and names.isdisjoint(used) and all(map(self._goes_on, names))

    def _goes_on(self, name: bytes) -> bool:
        """Whether the other's changes only make another value from a variable, as `u = f(name)`.

        The uses in the base must take that value instead, or still pass the variable on. Errors
        may name it.
        """
        other, before = self.other, self.other.base.steps
        taken, left = set[bytes](), list[int]()
        for i, change in other.changes.items():
            facts = other.step(i).facts
            known = change is not Change.NEW and other.before.get(other.origins[i])
            if known and name in before[known].facts.reads - facts.reads:
                taken |= facts.reads
            elif name in facts.reads and other.step(i).kind != "raise":
                left.append(i)
        return all(
            hands_over(other.step(i).header, name)
            and (other.changes[i] is not Change.NEW or self._makes_one_of(i, taken))
            for i in left
        )

    def _makes_one_of(self, merged: int, taken: Collection[bytes]) -> bool:
        sets = self.other.step(merged).facts.sets
        return bool(sets) and all(name in taken for name in sets)

    def _sets(self, merged: int) -> frozenset[bytes]:
        return self.merged.steps[merged].facts.sets

    @property
    def _known(self) -> frozenset[bytes]:
        return frozenset(name for step in self.one.base.steps for name in step.facts.sets)

    def _is_optional(self, merged: int) -> bool:
        return self.one.is_optional(self.one.origins[merged])


def shown(name: bytes) -> str:
    """Return a name as a reason quotes it."""
    return repr(name.decode("utf-8", "replace"))

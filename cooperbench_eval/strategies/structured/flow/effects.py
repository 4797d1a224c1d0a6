"""What one side's changes have an effect on, in its own version and in the merge."""

from collections.abc import Collection, Iterator
from functools import cached_property

from attrs import frozen

from cooperbench_eval.strategies.structured.flow.paths import Paths
from cooperbench_eval.strategies.structured.flow.work import MEANT, Work

__all__ = ["Effects", "Read", "Spread"]

Read = tuple[int, bytes]
"""A step, and a variable whose value it works with."""


@frozen(eq=False)
class Spread:
    """The effects of some steps of a function.

    Attributes:
        steps: The affected steps.
        reads: What the affected steps read from other affected ones.
        flows: The same, each with the step that set the value before it.
    """

    steps: frozenset[int]
    reads: frozenset[Read]
    flows: frozenset[tuple[int, int, bytes]]

    @classmethod
    def of(
        cls,
        paths: Paths,
        starts: Collection[int],
        orphans: Collection[Read],
        exempt: Collection[int],
    ) -> "Spread":
        """Follow the effects of some steps.

        A step is affected if it works with a value that an affected step sets, or if it is
        in the suite of an affected condition and sets a variable. Effects do not pass
        through calls, whose results are taken to keep their meaning.

        Args:
            paths: The paths of the function.
            starts: The steps.
            orphans: Reads of values whose sources were removed.
            exempt: Steps that conditions around them do not affect.

        Raises:
            StructureError: The search would take too long.
        """
        steps, found, flows = paths.graph.steps, set[int](), set[tuple[int, int, bytes]]()
        stack = [*starts, *(step for step, _ in orphans)]
        while stack:
            at = stack.pop()
            if at in found:
                continue
            found.add(at)
            for name in steps[at].facts.sets:
                uses = [i for i in paths.uses(at, name) if name in steps[i].facts.direct]
                flows.update((at, use, name) for use in uses)
                stack += uses
            if steps[at].branches:
                stack += (i for i in _controlled(paths, at) if i not in exempt)
        reads = {(use, name) for _, use, name in flows}.union(orphans)
        return cls(frozenset(found), frozenset(reads), frozenset(flows))


def _controlled(paths: Paths, head: int) -> Iterator[int]:
    """Yield the steps that a condition may skip and that set variables."""
    steps = paths.graph.steps
    for i in range(head + 1, len(steps)):
        if head not in steps[i].within:
            return
        if steps[i].facts.sets:
            yield i


@frozen(eq=False)
class Effects:
    """The effects of one side's work.

    Attributes:
        merged: The paths of the merged function.
        work: The side's work.
        other: The other side's work.
    """

    merged: Paths
    work: Work
    other: Work

    @cached_property
    def always(self) -> frozenset[int]:
        """The merged steps that are affected even if the side's new options are not used."""
        origins = self.work.origins
        starts = [i for i in self._starts if not self.work.is_optional(origins[i])]
        return self._spread(starts).steps

    @cached_property
    def sometimes(self) -> Spread:
        """What may be affected in the merged function."""
        return self._spread(self._starts)

    @cached_property
    def own(self) -> Spread:
        """What may be affected in the side's own version."""
        starts = [self.work.origins[i] for i in self._starts]
        return Spread.of(self.work.paths, starts, self._orphans, ())

    @property
    def _starts(self) -> list[int]:
        return [i for i, change in self.work.changes.items() if change in MEANT]

    def _spread(self, starts: Collection[int]) -> Spread:
        # Skipping the other side's steps leaves the side's own version.
        return Spread.of(self.merged, starts, list(self._orphans_in_merge()), self.other.changes)

    @cached_property
    def _orphans(self) -> frozenset[Read]:
        """What steps of the side read instead of a value that the side no longer computes."""
        base, work = self.work.base, self.work
        steps = base.graph.steps
        now = {before: own for own, before in work.before.items()}
        return frozenset(
            (now[use], name)
            for gone in work.gone
            for name in steps[gone].facts.sets - work.sets_anew
            for use in base.uses(gone, name)
            if use in now and name in steps[use].facts.direct
        )

    def _orphans_in_merge(self) -> Iterator[Read]:
        """Yield what is read instead in the merged function as well."""
        places, paths = self.work.places, self.work.paths
        for own, name in self._orphans:
            sources = {places.get(source) for source in paths.sources(own, name)}
            place = places.get(own)
            if place is not None and not self.merged.sources(place, name).isdisjoint(sources):
                yield place, name

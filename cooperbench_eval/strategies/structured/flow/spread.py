"""Follows the effects of some steps of a function to what works with their values."""

from collections.abc import Collection, Iterator

from attrs import frozen

from cooperbench_eval.strategies.structured.flow.graph import Graph

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
        graph: Graph,
        starts: Collection[int],
        orphans: Collection[Read],
        exempt: Collection[int],
        carrying: Collection[int] = (),
    ) -> "Spread":
        """Follow the effects of some steps.

        A step is affected if it works with a value that an affected step sets, or if it is
        in the suite of an affected condition and sets a variable. Effects do not pass
        through calls, whose results are taken to keep their meaning.

        Args:
            graph: The function.
            starts: The steps.
            orphans: Reads of values whose sources were removed.
            exempt: Steps that conditions around them do not affect.
            carrying: Loops over items whose number or order matters.

        Raises:
            StructureError: The search would take too long.
        """
        steps, found, flows = graph.steps, set[int](), set[tuple[int, int, bytes]]()
        stack = [*starts, *(step for step, _ in orphans)]
        while stack:
            at = stack.pop()
            if at in found:
                continue
            found.add(at)
            for name in steps[at].facts.sets:
                uses = [i for i in graph.uses(at, name) if name in steps[i].facts.direct]
                flows.update((at, use, name) for use in uses)
                stack += uses
            if steps[at].decides or at in carrying:
                stack += (i for i in _controlled(graph, at) if i not in exempt)
        reads = {(use, name) for _, use, name in flows}.union(orphans)
        return cls(frozenset(found), frozenset(reads), frozenset(flows))


def _controlled(graph: Graph, head: int) -> Iterator[int]:
    """Yield the steps that a condition may skip and that set variables."""
    steps = graph.steps
    for i in range(head + 1, len(steps)):
        if head not in steps[i].within:
            return
        if steps[i].facts.sets:
            yield i

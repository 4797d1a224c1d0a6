"""Follows values and control along the paths of a function."""

from collections.abc import Sequence

from attrs import define, field

from cooperbench_eval.languages.tree import StructureError
from cooperbench_eval.strategies.structured.flow.graph import Graph

__all__ = ["Paths"]

_MOST_VISITED = 500_000


@define(eq=False)
class Paths:
    """Searches along the paths of a function; the effort of all of them together is bounded."""

    graph: Graph
    _left: int = field(default=_MOST_VISITED, init=False)
    _uses: dict[tuple[int, bytes], frozenset[int]] = field(factory=dict, init=False)
    _sources: dict[tuple[int, bytes], frozenset[int]] = field(factory=dict, init=False)

    def uses(self, start: int, name: bytes) -> frozenset[int]:
        """Return the steps that may read the value that a step gives a variable.

        Steps that overwrite it without reading it are found by `overwriting`.

        Raises:
            StructureError: The search would take too long.
        """
        key = start, name
        if key not in self._uses:
            variable = self.graph.variable(start, name)
            through = self._search(self.graph.after, [start], variable)
            self._uses[key] = frozenset(
                i for i in through if i < len(self.graph.steps) and self._reads(i, variable)
            )
        return self._uses[key]

    def overwriting(self, start: int, name: bytes) -> list[int]:
        """Return the steps that a value may reach and that set its variable."""
        variable = self.graph.variable(start, name)
        through = self._search(self.graph.after, [start], variable)
        sets = self.graph.sets
        return [i for i in through if i < len(sets) and variable in sets[i]]

    def sources(self, use: int, name: bytes) -> frozenset[int]:
        """Return the steps that may have given a variable the value that a step reads."""
        key = use, name
        if key not in self._sources:
            variable = self.graph.variable(use, name)
            through = self._search(self.graph.before, [use], variable)
            found = (i for i in through if i < len(self.graph.steps))
            self._sources[key] = frozenset(i for i in found if variable in self.graph.sets[i])
        return self._sources[key]

    def onwards(self, start: int) -> set[int]:
        """Return the steps that may be executed after a step, in the same turn of its loops.

        Raises:
            StructureError: The search would take too long.
        """
        steps, found = self.graph.steps, set[int]()
        stack = [start]
        while stack:
            at = stack.pop()
            for each in self.graph.after[at]:
                if each > at:
                    new = [each]
                else:  # back to the head of a loop, and out of it
                    ends = self.graph.after[each]
                    new = [i for i in ends if i >= len(steps) or each not in steps[i].within]
                stack += (i for i in new if i not in found and i < len(steps))
                found.update(new)
            self._spend()
        return found

    def _reads(self, step: int, variable: bytes) -> bool:
        graph = self.graph
        return any(graph.variable(step, name) == variable for name in graph.steps[step].facts.reads)

    def _search(
        self, edges: Sequence[Sequence[int]], starts: Sequence[int], variable: bytes
    ) -> set[int]:
        """Return what can be reached, without going past steps that set the variable."""
        sets = self.graph.replaces
        found: set[int] = set()
        stack = [each for at in starts if at < len(sets) for each in edges[at]]
        while stack:
            at = stack.pop()
            if at in found:
                continue
            found.add(at)
            self._spend()
            if at < len(sets) and variable not in sets[at]:
                stack += edges[at]
        return found

    def _spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise StructureError("a function has too many paths to follow its values")

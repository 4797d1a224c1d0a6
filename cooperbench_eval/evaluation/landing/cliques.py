"""Finds a largest clique: patches of which every two can land together."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

__all__ = ["largest_clique"]

_MOST_STEPS = 20_000
_Level = tuple[tuple[int, ...], list[tuple[int, int]]]


def largest_clique(
    graph: Mapping[int, AbstractSet[int]], most_steps: int = _MOST_STEPS
) -> tuple[int, ...]:
    """Return a largest clique of a graph, or a large one if the search takes too long.

    Branch and bound with a colouring as the bound, after E. Tomita and T. Seki, *An
    efficient branch-and-bound algorithm for finding a maximum clique*, DMTCS 2003.

    Args:
        graph: The neighbours of each vertex; none is its own neighbour.
        most_steps: How many vertices the search may add to cliques.

    Example:
        >>> largest_clique({1: {2, 3}, 2: {1, 3}, 3: {1, 2, 4}, 4: {3}})
        (1, 2, 3)
    """
    best: tuple[int, ...] = ()
    steps = 0
    # Each level of the branch: its clique, and its candidates, the most promising last.
    levels: list[_Level] = [((), list(_coloured(graph, frozenset(graph))))]
    while levels and steps < most_steps:
        clique, candidates = levels[-1]
        if not candidates or len(clique) + candidates[-1][1] <= len(best):
            levels.pop()
            continue
        vertex, _ = candidates.pop()
        steps += 1
        larger = (*clique, vertex)
        if len(larger) > len(best):
            best = larger
        rest = graph[vertex] & {each for each, _ in candidates}
        levels.append((larger, list(_coloured(graph, rest))))
    return tuple(sorted(best))


def _coloured(
    graph: Mapping[int, AbstractSet[int]], vertices: AbstractSet[int]
) -> Iterator[tuple[int, int]]:
    """Yield the vertices with the number of colours that they and those before them need.

    A clique has at most one vertex of each colour.
    """
    waiting = sorted(vertices, key=lambda each: (-len(graph[each]), each))
    colour = 0
    while waiting:
        colour += 1
        taken: set[int] = set()
        for vertex in waiting:
            if not graph[vertex] & taken:
                taken.add(vertex)
                yield vertex, colour
        waiting = [vertex for vertex in waiting if vertex not in taken]

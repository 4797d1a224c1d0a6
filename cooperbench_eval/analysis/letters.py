"""Letters for groups of teams that cannot be told apart: a compact letter display."""

from collections.abc import Callable, Iterator
from itertools import combinations
from string import ascii_lowercase

_Group = tuple[int, ...]


def groups_of(size: int, is_alike: Callable[[int, int], bool]) -> list[_Group]:
    """Return groups, so that two teams are in one group if and only if they are alike.

    This is a compact letter display (Piepho, An Algorithm for a Letter-Based Representation of
    All-Pairwise Comparisons, Journal of Computational and Graphical Statistics 13, 2004). The
    fewest groups are hard to find, so groups are made greedily, as Gramm et al. do (Algorithms
    for Compact Letter Displays, Computational Statistics & Data Analysis 52, 2007). There are at
    most as many as pairs of teams. If the teams that are alike follow each other in the order,
    as they mostly do, there are as few as possible.

    Args:
        size: The number of teams, which are named by their places in the order of their rates.
        is_alike: Whether the first team, which comes before the second, cannot be told apart
            from it.

    Returns:
        The places of the teams of each group, in their order. Groups are sorted by their first
        and then by their last team.
    """
    alike = {pair for pair in combinations(range(size), 2) if is_alike(*pair)}
    covered: set[tuple[int, int]] = set()
    groups: list[_Group] = []
    for first in range(size):
        others = [other for other in range(first + 1, size) if (first, other) in alike]
        for last in others:
            if (first, last) not in covered:
                groups.append(_grown(first, last, size, alike))
                covered.update(combinations(groups[-1], 2))
    alone = set(range(size)).difference(*groups)
    return sorted([*_needed(groups), *((each,) for each in alone)], key=lambda g: (g[0], g[-1], g))


def _grown(first: int, last: int, size: int, alike: set[tuple[int, int]]) -> _Group:
    """Return a group of two teams and of all others that can be added, tried in their order."""
    group = {first, last}
    for each in range(size):
        if all((min(each, one), max(each, one)) in alike for one in group - {each}):
            group.add(each)
    return tuple(sorted(group))


def _needed(groups: list[_Group]) -> Iterator[_Group]:
    """Yield the groups that have two teams which no other group has."""
    kept = list(groups)
    for group in groups:
        others = [set(each) for each in kept if each is not group]
        if all(any(set(pair) <= other for other in others) for pair in combinations(group, 2)):
            kept = [each for each in kept if each is not group]
    yield from kept


def letter(place: int) -> str:
    """Return the letters of a place that is counted from 0: a to z, then aa, ab and so on."""
    text = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, len(ascii_lowercase))
        text = ascii_lowercase[rest] + text
    return text

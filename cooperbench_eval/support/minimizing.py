"""Finds a smallest set of items that still has a property: delta debugging.

The result is 1-minimal, as that of `ddmin` (Zeller and Hildebrandt, *Simplifying and
isolating failure-inducing input*, IEEE TSE 28(2), 2002): without any single item of it, the
property does not hold. `ddmin` cuts its input into equal parts. Here, the items that
probably matter come first, and the search looks for the shortest beginning of that list
that suffices. A good order needs few questions; a bad one only costs more of them.
"""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

_Item = TypeVar("_Item")


class Minimizer(Generic[_Item]):
    """Minimizes a set of items, one question at a time.

    If a question raises, `kept` is the smallest set known so far to have the property.

    Example:
        >>> search = Minimizer("abcdef", lambda items: {"b", "e"} <= set(items))
        >>> search.run()
        >>> search.kept, search.is_minimal
        (('b', 'e'), True)
    """

    def __init__(self, items: Sequence[_Item], holds: Callable[[tuple[_Item, ...]], bool]) -> None:
        """Prepare the search among *items*, those that probably matter first.

        Together they must have the property, and the empty set must not have it. *holds* says
        whether some of the items, in their order, have the property.
        """
        self.kept = tuple(items)
        self.is_minimal = False
        self._order = {item: place for place, item in enumerate(items)}
        self._holds = holds

    def run(self) -> None:
        """Minimize the set, so that `is_minimal` is true."""
        found: tuple[_Item, ...] = ()
        rest = self.kept
        guess_few = True
        while rest and not (found and self._try(found)):
            size = self._shortest(rest, found, guess_few=guess_few)
            found, rest = (rest[size - 1], *found), rest[: size - 1]
            guess_few = False
        while any(map(self._try, self._one_less())):
            pass  # the set is one item smaller
        self.is_minimal = True

    def _shortest(
        self, rest: tuple[_Item, ...], found: tuple[_Item, ...], *, guess_few: bool
    ) -> int:
        """Return the size of the shortest beginning of *rest* that suffices with *found*.

        With one item less, it does not suffice. The search doubles its steps, from the small
        end if few items are expected, and otherwise from the large end.
        """
        low, high, step = 0, len(rest), 1  # low does not suffice, high does
        while high - low > 1:
            if step:
                middle = min(low + step, high - 1) if guess_few else max(high - step, low + 1)
            else:
                middle = (low + high) // 2
            suffices = self._try((*rest[:middle], *found))
            low, high = (low, middle) if suffices else (middle, high)
            step = 2 * step if suffices is not guess_few else 0
        return high

    def _one_less(self) -> list[tuple[_Item, ...]]:
        kept = self.kept
        return [kept[:place] + kept[place + 1 :] for place in range(len(kept) if kept[1:] else 0)]

    def _try(self, items: tuple[_Item, ...]) -> bool:
        ordered = tuple(sorted(items, key=self._order.__getitem__))
        holds = self._holds(ordered)
        if holds and len(ordered) < len(self.kept):
            self.kept = ordered
        return holds

"""What a refactoring is found in, and what it replaces."""

from collections.abc import Sequence
from typing import NamedTuple

from cooperbench_eval.languages.tree import Construct, Elements

Changed = dict[int, Elements]
"""What replaces constructs of a tree, by their ids."""


Changes = tuple[Changed, ...]
"""What is replaced in the base, on the other side and, if need be, on the side itself."""


class ChangedFunction(NamedTuple):
    """A function that both sides changed, of which one side may have refactored it.

    Attributes:
        base: The function in the base.
        side: The function on the side whose refactorings are looked for.
        other: The function on the other side.
        helpers: The side's new functions beside it, each with the other side's of the same name.
        top: The names that a version of the file declares at its top level.
        are_declared: Whether the language has declarations of variables.
    """

    base: Construct
    side: Construct
    other: Construct
    helpers: Sequence[tuple[Construct, Construct | None]]
    top: frozenset[bytes]
    are_declared: bool

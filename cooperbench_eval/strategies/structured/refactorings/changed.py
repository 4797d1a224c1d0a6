"""The function in which a refactoring is found, and what the refactoring replaces."""

from collections.abc import Sequence
from typing import NamedTuple

from cooperbench_eval.languages.tree import Construct, Elements

Changed = dict[int, Elements]
"""The elements that replace constructs of a tree, by the `id` of the construct."""


Changes = tuple[Changed, ...]
"""What is replaced in the base, on the other side and, if need be, on the side itself."""


class ChangedFunction(NamedTuple):
    """A function that both sides changed, and that one side may have refactored.

    Attributes:
        base: The function in the base.
        side: The function on the side whose refactorings are looked for.
        other: The function on the other side.
        helpers: The new functions beside it that the side calls in it, each with the other side's
            function of the same name, if there is one.
        top: The names that a version of the file declares at its top level.
        are_declared: Whether the language has declarations of variables.
    """

    base: Construct
    side: Construct
    other: Construct
    helpers: Sequence[tuple[Construct, Construct | None]]
    top: frozenset[bytes]
    are_declared: bool

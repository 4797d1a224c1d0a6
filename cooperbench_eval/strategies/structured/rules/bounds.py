"""Merges the bounds of a type in Rust, such as `T: Clone + Debug`, whose order means nothing."""

from attrs import evolve

from cooperbench_eval.languages.tree import Construct, DisagreementError, Element, Elements, Token

__all__ = ["BOUNDS", "merge_bounds"]

BOUNDS = "bounds"
"""The kind of the construct: a colon, and types with plus signs between them."""
_PLUS = Token(b" ", b"+")


def merge_bounds(base: Construct | None, ours: Construct, theirs: Construct) -> Construct:
    """Keep the bounds that both sides kept or one side added; ours come first.

    Args:
        base: The bounds in the base; `None` if there are none.
        ours: Our bounds.
        theirs: Their bounds.

    Raises:
        DisagreementError: Both sides put other bounds in the place of the same one.
    """
    before = {} if base is None else _bounds(base)
    mine, other = _bounds(ours), _bounds(theirs)
    added = [each for key, each in other.items() if key not in before and key not in mine]
    if before.keys() - mine.keys() - other.keys() and added and mine.keys() - before.keys():
        raise DisagreementError.at(ours)
    kept = [each for key, each in mine.items() if key in other or key not in before]
    bounds = [*kept, *added]
    if not bounds:
        raise DisagreementError.at(ours)
    first, *others = bounds
    children = [ours.children[0], *first]
    for each in others:
        children += [_PLUS, each[0].with_space(each[0].space or b" "), *each[1:]]
    return evolve(ours, children=tuple(children))


def _bounds(construct: Construct) -> dict[bytes, Elements]:
    """Return the bounds by their words."""
    found: list[list[Element]] = [[]]
    for each in construct.children[1:]:
        if each.plain == b"+":
            found.append([])
        else:
            found[-1].append(each)
    return {b" ".join(part.plain for part in each): tuple(each) for each in found if each}

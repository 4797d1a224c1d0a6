"""Applies an edit of a statement to every copy that the other side made of it."""

from collections.abc import Iterator, Sequence

from attrs import evolve

from cooperbench_eval.languages.alignment import align, similarity
from cooperbench_eval.languages.tree import Construct, Element, Elements, Mode, same
from cooperbench_eval.strategies.structured.rules.statements import Merger

_LEAST_ALIKE = 0.8
_LEAST_COPIES = 2
_MOST_EDITED = 40
"""The most edited statements whose copies are looked for, which takes time for each."""
_LEAST_WORDS = 7
"""The fewest words of a statement whose repetition is not taken for chance."""
_SCOPES = frozenset({"def", "class"})


def merge_copied(
    merger: Merger, base: Elements, ours: Elements, theirs: Elements
) -> Elements | None:
    """One side put copies of a statement into several suites, and the other side edited it."""
    for one, other, is_theirs in ((ours, theirs, False), (theirs, ours, True)):
        if align(base, other, Mode.MEMBERS) != list(range(len(other))):
            continue  # it also inserted or removed statements
        edited = [(old, new) for old, new in zip(base, other, strict=True) if not same(old, new)]
        if not 0 < len(edited) <= _MOST_EDITED or _is_lost(base, one):
            continue
        if all(len(list(_copies(one, old))) >= _LEAST_COPIES for old, _ in edited):
            merged = one
            for edit in edited:
                merged = _applied(merger, merged, edit, is_theirs=is_theirs)
            return merged
    return None


def with_edits_in_copies(
    merger: Merger,
    new: Elements,
    edited: Sequence[tuple[Element, Element]],
    *,
    is_theirs: bool,
) -> Elements:
    """Apply the other side's edits of statements in one side's new statements.

    Only equal copies inside of a new suite count, such as a loop: they repeat what was done
    before it. A copy that follows as a statement of its own may be there by chance.

    Args:
        merger: Merges the parts of statements.
        new: The new statements of a side.
        edited: Statements that this side kept, and the other side's versions of them.
        is_theirs: Whether the side is theirs.

    Raises:
        DisagreementError: A copy cannot take an edit.
    """
    for old, changed in edited[:_MOST_EDITED]:
        is_there = any(same(each, old) for each in _copies(new, old))
        if is_there and isinstance(old, Construct) and _calls(old):
            new = tuple(
                _applied_inside(merger, each, (old, changed), is_theirs=is_theirs) for each in new
            )
    return new


def _calls(statement: Construct) -> bool:
    """Whether a statement calls something, and is not so short that a repetition is chance."""
    is_simple = statement.mode is Mode.SEQUENCE and statement.kind not in _SCOPES
    is_long = is_simple and len(statement.words()) >= _LEAST_WORDS
    return is_long and any(child.kind == "group" for child in statement.children)


def _copies(statements: Elements, old: Element) -> Iterator[Element]:
    """Yield the copies of a statement, also in suites, but not in new functions."""
    for each in statements:
        if _is_copy(each, old):
            yield each
        elif isinstance(each, Construct) and each.kind not in _SCOPES:
            for suite in _suites(each):
                yield from _copies(suite.children, old)


def _suites(statement: Construct) -> Iterator[Construct]:
    """Yield the outermost suites of a statement."""
    for child in statement.parts:
        if child.kind == "suite":
            yield child
        elif child.kind not in _SCOPES:
            yield from _suites(child)


def _is_copy(element: Element, old: Element) -> bool:
    return element.kind == old.kind and (
        same(element, old) or similarity(old.words(), element.words()) >= _LEAST_ALIKE
    )


def _is_lost(base: Elements, side: Elements) -> bool:
    """Whether a side has no copy of one of the statements."""
    return any(next(_copies(side, each), None) is None for each in base)


def _applied(
    merger: Merger, statements: Elements, edit: tuple[Element, Element], *, is_theirs: bool
) -> Elements:
    out = []
    for each in statements:
        if _is_copy(each, edit[0]):
            sides = (edit[1], each) if is_theirs else (each, edit[1])
            space = each.space
            out.append(merger.merge(edit[0], *sides).with_space(space))
        else:
            out.append(_applied_inside(merger, each, edit, is_theirs=is_theirs))
    return tuple(out)


def _applied_inside(
    merger: Merger, element: Element, edit: tuple[Element, Element], *, is_theirs: bool
) -> Element:
    """Apply an edit in the suites of a statement."""
    if not isinstance(element, Construct) or element.kind in _SCOPES:
        return element
    if not any(True for suite in _suites(element) for _ in _copies(suite.children, edit[0])):
        return element

    def apply(part: Construct) -> Element:
        if part.kind != "suite":
            return _applied_inside(merger, part, edit, is_theirs=is_theirs)
        children = _applied(merger, part.children, edit, is_theirs=is_theirs)
        return evolve(part, children=children)

    return element.with_parts(apply)

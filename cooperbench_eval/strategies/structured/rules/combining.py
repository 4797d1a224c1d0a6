"""Combines the edits of both sides where they changed the same statements."""

from cooperbench_eval.languages.tree import Elements, Mode
from cooperbench_eval.strategies.structured.rules.absorbing import merge_absorbed
from cooperbench_eval.strategies.structured.rules.clauses import merge_tries
from cooperbench_eval.strategies.structured.rules.comments import merge_comments
from cooperbench_eval.strategies.structured.rules.copies import merge_copied
from cooperbench_eval.strategies.structured.rules.headers import merge_headers
from cooperbench_eval.strategies.structured.rules.merger import Merger
from cooperbench_eval.strategies.structured.rules.returns import merge_returns
from cooperbench_eval.strategies.structured.rules.wrapping import merge_wrapped

__all__ = ["combine"]

_PLACEHOLDERS = frozenset({b"pass", b"..."})


def combine(merger: Merger, base: Elements, ours: Elements, theirs: Elements) -> Elements | None:
    """Apply the first rule that fits statements which both sides changed.

    Returns:
        The combined statements; `None` if no rule fits.
    """
    for rule in _RULES:
        found = rule(merger, base, ours, theirs)
        if found is not None:
            return found
    return None


def _comments(_merger: Merger, base: Elements, ours: Elements, theirs: Elements) -> Elements | None:
    return merge_comments(base, ours, theirs)


def _fill(merger: Merger, base: Elements, ours: Elements, theirs: Elements) -> Elements | None:
    """Both sides replaced a placeholder: keep both replacements."""
    if any(each.plain not in _PLACEHOLDERS for each in base):
        return None
    return merger.merge_children((), ours, theirs, Mode.MEMBERS)


_RULES = (
    _fill,
    _comments,
    merge_tries,
    merge_headers,
    merge_absorbed,
    merge_copied,
    merge_wrapped,
    merge_returns,
)

"""Keeps the lines of both sides in each conflict."""

from attrs import frozen

from cooperbench_eval.git.merging.conflicts import Conflict
from cooperbench_eval.git.merging.text_merge import TextConflict
from cooperbench_eval.strategies.judging import reopen_marked
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome, resolve_conflicts


@frozen
class UnionStrategy:
    """Concatenates conflicting changes, ours before theirs, as `git merge-file --union` does.

    A conflict without lines to concatenate (modify/delete, binary, mode, submodule …)
    stays open.
    """

    name: str = "union"

    def merge(self, merge_input: MergeInput, /) -> MergeOutcome:
        """Return the three-way merge with both sides' lines in each conflict."""
        return reopen_marked(merge_input, resolve_conflicts(merge_input, _both))


def _both(conflict: Conflict) -> bytes | None:
    if not conflict.has_lines or conflict.ours is None or conflict.theirs is None:
        return None
    lines = TextConflict(
        base=b"", ours=conflict.ours, theirs=conflict.theirs, newline=conflict.newline
    )
    return lines.union()

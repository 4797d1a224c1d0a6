"""A merge strategy for import lines that both sides added."""

import re
from typing import ClassVar

from cooperbench_eval import Conflict, MergeInput, MergeOutcome, resolve_conflicts

__all__ = ["SortedImports"]

# A whole statement on one line: no bracket that goes on, no backslash, no comment.
_IMPORT = re.compile(rb"(?:import|from) [\w., ]+")


class SortedImports:
    """Keeps the import lines of both sides, sorted, where nothing else is in dispute.

    A conflict stays open if a side changed or deleted lines, if any line is more than an
    import, or if the file is not Python.
    """

    name: ClassVar[str] = "sorted-imports"

    def merge(self, merge_input: MergeInput, /) -> MergeOutcome:
        """Return the three-way merge with such conflicts resolved."""
        return resolve_conflicts(merge_input, _sorted_lines)


def _sorted_lines(conflict: Conflict) -> bytes | None:
    if not conflict.has_lines or conflict.base or not conflict.path.endswith(".py"):
        return None
    ours, theirs = (conflict.ours or b"").splitlines(), (conflict.theirs or b"").splitlines()
    lines = {*ours, *theirs}
    # What comes from the future comes first, which a conflict cannot know about its place.
    if not all(map(_IMPORT.fullmatch, lines)) or any(b"__future__" in line for line in lines):
        return None
    return b"".join(line + conflict.newline for line in sorted(lines))

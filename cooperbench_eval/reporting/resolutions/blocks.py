"""A conflict between lines, as the naive merge shows it: between markers.

Both sides stand there in full. The last line of each is ended, whatever it ended with,
for a marker follows; so `merging.text` writes it, as git does.
"""

from io import BytesIO
from typing import Self

from attrs import frozen

from cooperbench_eval.models import Conflict

__all__ = ["Block"]


@frozen
class Block:
    """A conflict's lines in the file.

    Attributes:
        start: The place of its opening marker among the file's lines, from 0.
        lines: Its lines; of the three markers only how they begin.
        markers: The places of the markers among *lines*.
    """

    start: int
    lines: tuple[bytes, ...]
    markers: tuple[int, int, int]

    @classmethod
    def of(cls, conflict: Conflict) -> Self:
        """Show a conflict that has lines."""
        ours, theirs = (
            _ended_lines(side or b"", conflict.newline) for side in (conflict.ours, conflict.theirs)
        )
        middle = 1 + len(ours)
        return cls(
            start=(conflict.line or 1) - 1,
            lines=(b"<<<<<<<", *ours, b"=======", *theirs, b">>>>>>>"),
            markers=(0, middle, middle + 1 + len(theirs)),
        )


def _ended_lines(side: bytes, newline: bytes) -> list[bytes]:
    lines = BytesIO(side).readlines()
    if lines and not lines[-1].endswith(b"\n"):
        lines[-1] += newline
    return lines

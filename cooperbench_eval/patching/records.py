"""What a patch says of one file, as records."""

from enum import StrEnum

from attrs import evolve, field, frozen

from cooperbench_eval.models import FileMode
from cooperbench_eval.patching.binary import BinaryChange

__all__ = ["FileChange", "FilePatch", "Hunk"]


class FileChange(StrEnum):
    """What a patch does to one file."""

    MODIFY = "modify"
    """Changes contents or mode in place."""
    ADD = "add"
    """Creates the file."""
    DELETE = "delete"
    """Removes the file."""
    RENAME = "rename"
    """Moves the file, perhaps changing it."""
    COPY = "copy"
    """Creates the file from another one, perhaps changing it."""


@frozen(kw_only=True)
class Hunk:
    """One run of changed lines with their context.

    Attributes:
        old_start: First line in the old file, counted from 1.
        new_start: First line in the new file, counted from 1.
        lines: Each with its sign (a space, `+` or `-`) and its newline, which
            only a last line may lack.
        section: What follows the header's second `@@`, newline included.
        stated: How many old and new lines the header claims, if not those of
            *lines*.
        uncounted: Lines that stand behind *lines* and look like more of the
            hunk, where the header does not count them.
    """

    old_start: int
    new_start: int
    lines: tuple[bytes, ...] = field(converter=tuple[bytes, ...], repr=False)
    section: bytes = b"\n"
    stated: tuple[int, int] | None = None
    uncounted: tuple[bytes, ...] = field(default=(), converter=tuple[bytes, ...], repr=False)

    @property
    def old(self) -> list[bytes]:
        """The lines the hunk expects to find, context included."""
        return [line[1:] for line in self.lines if line[:1] != b"+"]

    @property
    def new(self) -> list[bytes]:
        """The lines the hunk leaves, context included."""
        return [line[1:] for line in self.lines if line[:1] != b"-"]

    @property
    def whole(self) -> "Hunk":
        """The hunk as its lines have it, uncounted ones included."""
        return evolve(self, lines=self.lines + self.uncounted, stated=None, uncounted=())

    @property
    def without_blank_end(self) -> "Hunk":
        """The hunk without blank context at its end, which may be no part of it."""
        lines = list(self.lines)
        while lines[-1:] in ([b" \n"], [b" \r\n"]):
            lines.pop()
        return evolve(self, lines=tuple(lines))

    @property
    def reversed(self) -> "Hunk":
        """The hunk that undoes this one."""
        swapped = {b"+": b"-", b"-": b"+", b" ": b" "}
        lines = tuple(swapped[line[:1]] + line[1:] for line in self.lines)
        return evolve(self, old_start=self.new_start, new_start=self.old_start, lines=lines)


@frozen(kw_only=True)
class FilePatch:
    """What a patch does to one file.

    Attributes:
        change: The kind of change.
        old_path: The file it starts from; `None` for a new one. An addition
            that names one fills that file if it is there and empty: a header
            without git's own words leaves it open.
        new_path: The file it leaves; `None` for a deleted one.
        old_mode: The mode it expects, where the patch says so.
        new_mode: The mode it leaves, where the patch says so.
        old_id: The blob it was made from, as far as the patch abbreviates it.
        new_id: The blob it leaves, likewise.
        hunks: The changed lines of a text file.
        binary: The new contents of a binary file, or how to derive them.
        lacks_contents: The patch only says that two binary files differ.
    """

    change: FileChange
    old_path: str | None
    new_path: str | None
    old_mode: FileMode | None = None
    new_mode: FileMode | None = None
    old_id: str | None = None
    new_id: str | None = None
    hunks: tuple[Hunk, ...] = field(default=(), converter=tuple[Hunk, ...])
    binary: BinaryChange | None = None
    lacks_contents: bool = False

    @property
    def path(self) -> str:
        """The file it leaves, or the one it deletes."""
        path = self.new_path if self.new_path is not None else self.old_path
        return path or ""

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path it names, old before new, each once."""
        both = (self.old_path, self.new_path)
        return tuple(dict.fromkeys(path for path in both if path is not None))

"""What callers may pass as a patch, and how it is read."""

import os
from typing import TypeAlias

from cooperbench_eval.errors import ArgumentError, PatchError
from cooperbench_eval.git.patching.patch import Patch, printable, read_file
from cooperbench_eval.git.trees.snapshot import Changes

__all__ = ["GivenPatch", "GivenText", "as_patch", "parse_given"]

GivenText: TypeAlias = Patch | bytes | bytearray | memoryview | str | os.PathLike[str]
"""A patch, its text, or the path of its file."""
GivenPatch: TypeAlias = GivenText | Changes
"""The same, or the changes that the patch makes."""
_FIRST_WORDS = ("diff ", "--- ", "+++ ", "@@ ", "index ", "Index: ", "From ", "Binary files ")
"""A single line that begins like this may be what is left of a diff."""
_LONGEST_PATH = 4096


def as_patch(given: GivenPatch, argument: str = "patch") -> Patch:
    """Return what was given as a patch; text that is not a patch becomes one that fails to apply.

    Args:
        given: The patch.
        argument: The name of the argument that it is, for messages.

    Raises:
        ArgumentError: It is a single line, which is most likely the name of a file.
        PatchError: It is the path of a file that cannot be read.
    """
    if isinstance(given, Changes):
        return Patch.of(given)
    if isinstance(given, os.PathLike):
        text, origin = read_file(given), printable(given)
        try:
            return Patch.parse(text, origin=origin)
        except PatchError as exc:
            return Patch.unreadable(exc)
    try:
        return parse_given(given, argument)
    except PatchError as exc:
        return Patch.unreadable(exc)


def parse_given(given: GivenText, argument: str = "patch") -> Patch:
    """Return what was given as a patch; the arguments are those of `as_patch`.

    Raises:
        ArgumentError: It is a single line, which is most likely the name of a file.
        PatchError: It cannot be read or parsed.
    """
    if isinstance(given, os.PathLike):
        return Patch.read(given)
    try:
        return Patch.parse(given)
    except PatchError:
        if isinstance(given, str) and _is_likely_a_path(given):
            raise ArgumentError(
                argument,
                f"is not a diff: {given!r:.200}; if it is the path of a patch, pass Path(...) or "
                "Patch.read(...)",
            ) from None
        raise


def _is_likely_a_path(text: str) -> bool:
    line = text.strip()
    if len(line) > _LONGEST_PATH or line.startswith(_FIRST_WORDS):
        return False
    return len(line.splitlines()) == 1

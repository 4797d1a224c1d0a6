"""The patterns of `.gitignore` and `.gitattributes`, by git's documentation of `gitignore`."""

import re
from collections.abc import Callable
from typing import Self

from attrs import frozen

from cooperbench_eval.git.trees.objects import encode_path
from cooperbench_eval.git.worktrees.wildmatch import matcher

__all__ = ["PathPattern"]

_SPECIAL = re.compile(rb"[*?\[\\]")


@frozen(kw_only=True)
class PathPattern:
    """A pattern for paths below a folder.

    Attributes:
        is_match: Tells whether a path below the folder, or a name, matches.
        has_folders: Whether *is_match* takes a path.
        is_for_folders: Whether it applies to folders only.
        is_negated: Whether it begins with `!`.
        base: The length of the path to the folder, with a slash.
    """

    is_match: Callable[[bytes], bool]
    has_folders: bool
    is_for_folders: bool
    is_negated: bool
    base: int

    @classmethod
    def read(cls, pattern: bytes, folder: str, *, is_case_ignored: bool) -> Self | None:
        """Read a pattern of a file in *folder*, "" for the top; `None` if it is empty."""
        is_negated = pattern.startswith(b"!")
        pattern = pattern[is_negated:]
        is_for_folders = pattern.endswith(b"/")
        pattern = pattern.removesuffix(b"/")
        if not pattern:
            return None
        has_folders = b"/" in pattern
        matching = _path_matcher if has_folders else _name_matcher
        return cls(
            is_match=matching(pattern, is_case_ignored=is_case_ignored),
            has_folders=has_folders,
            is_for_folders=is_for_folders,
            is_negated=is_negated,
            base=len(encode_path(folder)) + 1 if folder else 0,
        )

    def matches(self, path: bytes, *, is_folder: bool) -> bool:
        """Whether it matches a path below its folder: one in lower case, if case is ignored."""
        if self.is_for_folders and not is_folder:
            return False
        return self.is_match(path[self.base :] if self.has_folders else path.rpartition(b"/")[2])


def _name_matcher(pattern: bytes, *, is_case_ignored: bool) -> Callable[[bytes], bool]:
    rest = pattern[1:].lower() if is_case_ignored else pattern[1:]
    if not _SPECIAL.search(rest):
        if pattern.startswith(b"*"):
            return lambda name: name.endswith(rest)
        if not _SPECIAL.match(pattern):
            return (pattern.lower() if is_case_ignored else pattern).__eq__
    return matcher(pattern, is_case_ignored=is_case_ignored)


def _path_matcher(pattern: bytes, *, is_case_ignored: bool) -> Callable[[bytes], bool]:
    # Git compares what comes before the first special character, and then starts anew: so `**`
    # may follow it as if it were at the beginning.
    pattern = pattern.removeprefix(b"/")
    special = _SPECIAL.search(pattern)
    prefix = pattern[: special.start()] if special else pattern
    prefix = prefix.lower() if is_case_ignored else prefix
    if special is None:
        return prefix.__eq__
    is_match = matcher(pattern[special.start() :], is_case_ignored=is_case_ignored)
    return lambda path: path.startswith(prefix) and is_match(path[len(prefix) :])

"""Which paths a tree must not contain, because some file system would misread them."""

import functools
import os
import re

from cooperbench_eval.git.trees.entries import FileMode

# NTFS and HFS+ accept other spellings of the same name. Git refuses these too.
_HFS_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_LONGEST_PATH = 1024  # bytes; this leaves space for the folder that a tree is written to
_LONGEST_NAME = 255
_DOT_GIT = re.compile(r"(?:\.git|git~1)[ .]*(?::.*)?", re.IGNORECASE | re.DOTALL)
_DOT_GITMODULES = re.compile(
    r"(?:\.gitmodules|gitmod~[1-4]|gi7eba~[1-9])[ .]*(?::.*)?", re.IGNORECASE | re.DOTALL
)
# Matches almost every path: one without anything special on any system. It only saves time.
_PLAIN = re.compile(r"(?:[A-Za-z0-9_+=,@()-][A-Za-z0-9_+=,@().-]*(?:/(?!$)|$))+")


# Windows opens a device under these names, or a hidden stream, or drops the end of the name.
_NOT_ON_WINDOWS = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])[ ]*(?:[.:].*)?"
    r"|.*[<>:\"|?*\\\x00-\x1f].*|.*[ .]",
    re.IGNORECASE | re.DOTALL,
)


@functools.lru_cache(maxsize=4096)
def path_problem(path: str) -> str | None:
    """Return why a tree must not contain *path*, or `None` if it may.

    A path must be relative. It must not have an empty, `.` or `..` part, a NUL, or a part
    that some file system reads as `.git`. It must be short enough for every file system.
    """
    if len(path) <= _LONGEST_NAME and _PLAIN.fullmatch(path):
        return None
    if not path or "\0" in path:
        return f"the path {path!r} is empty or contains a NUL"
    if path.startswith("/") or re.match(r"[A-Za-z]:[\\/]", path):
        return f"the path {path!r} is absolute"
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return f"the path {path!r} cannot be encoded"
    if len(raw) > _LONGEST_PATH or max(map(len, raw.split(b"/"))) > _LONGEST_NAME:
        return f"the path {path[:60]!r}… is too long"
    problems = (_part_problem(part) for part in path.split("/"))
    return next((f"the path {path!r} {problem}" for problem in problems if problem), None)


def _part_problem(part: str) -> str | None:
    if part in {"", ".", ".."}:
        return "leaves the tree or is not normal"
    pieces = _HFS_IGNORED.sub("", part).split("\\")
    if any(map(_DOT_GIT.fullmatch, pieces)):
        return "points into a repository's own files"
    if len(pieces) > 1 and ".." in pieces:
        return "leaves the tree on some systems"
    return None


def entry_problem(path: str, mode: FileMode) -> str | None:
    """Return why a tree must not have an entry of this *mode* at *path*, or `None`.

    Git refuses a `.gitmodules` that is a link, since reading it would follow the link.
    """
    if mode is FileMode.SYMLINK and _DOT_GITMODULES.fullmatch(
        _HFS_IGNORED.sub("", path.rpartition("/")[2])
    ):
        return f"the list of submodules {path!r} is a link"
    return path_problem(path)


def written_path_problem(path: str) -> str | None:
    """Return why no file can be written at *path* on this system, or `None` if it can.

    A tree may contain the path, and can be merged and compared everywhere.
    """
    return path_problem(path) or local_name_problem(path)


def local_name_problem(path: str) -> str | None:
    """Return why this system would misread a part of *path*, or `None`; only Windows would."""
    if os.name == "nt" and any(map(_NOT_ON_WINDOWS.fullmatch, path.split("/"))):
        return f"the path {path!r} is not a file's name on Windows"
    return None

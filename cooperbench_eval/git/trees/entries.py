"""Entries of a tree: files, links and submodules, and the paths at which none may be."""

import functools
import hashlib
import os
import re
from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING

from attrs import field, frozen

from cooperbench_eval.support.arguments import checked_fields


class FileMode(IntEnum):
    """The kind of an entry, as in git's mode bits."""

    FILE = 0o100644
    """A regular file."""
    EXECUTABLE = 0o100755
    """An executable file."""
    SYMLINK = 0o120000
    """A symbolic link; the entry's data is its target."""
    SUBMODULE = 0o160000
    """A commit of another repository; the entry's data is its id in hex."""

    @property
    def is_regular(self) -> bool:
        """Whether the entry is a file, executable or not."""
        return self in {FileMode.FILE, FileMode.EXECUTABLE}


class _Lazy:
    """The fields of an entry that stay unset until they are needed."""

    __slots__ = ("_id", "_read")
    _id: str
    _read: Callable[[], bytes]


@frozen(eq=False, field_transformer=checked_fields)
class Entry(_Lazy):
    """One file, link or submodule of a tree.

    An entry of a repository knows its id and reads its data when the data is used, so
    `data` may raise `RepositoryError`. Comparing entries reads nothing. Entries are equal
    if they have equal modes and contents. A pickled entry includes its data.

    Attributes:
        data: The contents: file bytes, link target, or submodule commit in hex.
        mode: The kind of the entry.
    """

    data: bytes = field(repr=False)
    mode: FileMode = field(default=FileMode.FILE, converter=FileMode)

    @property
    def id(self) -> str:
        """The git object id in hex: a blob's id, or the submodule's commit."""
        return self._id

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Return a field that has no value yet."""
            if name == "data":
                return self._read()
            if name == "_id":
                object_id = _object_id(self)
                object.__setattr__(self, "_id", object_id)
                return object_id
            raise AttributeError(name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Entry):
            return NotImplemented
        if self is other or self.mode is not other.mode:
            return self is other
        try:
            return bool(_held(self) == _held(other))
        except AttributeError:
            return self.id == other.id

    def __hash__(self) -> int:
        return hash((self.mode, self.id))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.data, self.mode)


# Returns the data that an entry holds; raises AttributeError if it would have to be read.
_held: Callable[[Entry], bytes] = Entry.__dict__["data"].__get__
_set_mode = Entry.__dict__["mode"].__set__
_set_id, _set_read = _Lazy.__dict__["_id"].__set__, _Lazy.__dict__["_read"].__set__


def stored_entry(object_id: str, mode: FileMode, read: Callable[[], bytes]) -> Entry:
    """Return an entry whose id is known, and whose data *read* returns when it is used.

    The entry does not keep the data, so *read* decides what stays in memory.
    """
    entry = Entry.__new__(Entry)
    _set_mode(entry, mode)
    _set_id(entry, object_id)
    _set_read(entry, read)
    return entry


def with_mode(entry: Entry, mode: FileMode) -> Entry:
    """Return the entry with another mode, without reading its contents."""
    if entry.mode is mode:
        return entry
    if is_stored(entry):
        return stored_entry(entry.id, mode, entry._read)  # noqa: SLF001 - of this module
    return Entry(entry.data, mode)


def have_same_contents(one: Entry, other: Entry) -> bool:
    """Whether two entries have equal contents; contents in a repository are not read."""
    if is_stored(one) or is_stored(other):
        return one.id == other.id
    return one.data == other.data


def is_stored(entry: Entry) -> bool:
    """Whether the entry reads its data each time, instead of holding it."""
    try:
        _held(entry)
    except AttributeError:
        return True
    return False


def _object_id(entry: Entry) -> str:
    if entry.mode is FileMode.SUBMODULE:
        return entry.data.decode("ascii", "backslashreplace")
    header = b"blob %d\0" % len(entry.data)
    return hashlib.sha1(header + entry.data, usedforsecurity=False).hexdigest()


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

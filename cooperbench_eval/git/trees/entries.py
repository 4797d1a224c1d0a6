"""Entries of a tree: files, links and submodules, with their modes and contents."""

import hashlib
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

"""Finds places and names in the message of a failed test, whatever framework wrote it."""

import re
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import PurePosixPath

__all__ = ["places", "shortened", "words"]

# `src/a.py:12: TypeError` (pytest), `File "/x/a.py", line 12` (Python), `at f (/x/a.js:12:3)`
# (Node), `a_test.go:12: got 3` (Go), `panicked at src/lib.rs:12:5` (Rust).
# A place begins where a path can, or the search would take quadratic time.
_PLACE = re.compile(
    r"""(?<![^\s"'()<>:])([^\s"'()<>:]{1,1000}\.[A-Za-z]{1,4})(?::|", line )([0-9]{1,7})\b"""
)
_WORD = re.compile(r"[^\W\d]\w{2,}")
_MOST_PLACES = 200
_END = 10_000
"""How many characters at each end of a message are read."""


def shortened(message: str) -> str:
    """Cut the middle out of a long message."""
    if len(message) <= 2 * _END:
        return message
    return f"{message[:_END]}\n{message[-_END:]}"


def places(message: str, paths: Collection[str]) -> Iterator[tuple[str, int]]:
    """Yield the files and lines of a traceback that are in *paths*, the last ones first.

    A place is given once, and of many the last 200 are looked at. A traceback may name a
    file with the folder in which the tree was tested, or without any folder, as Go does. A
    name that fits several files is left out.
    """
    found = dict.fromkeys(reversed(_PLACE.findall(message)))
    for written, line in islice(found, _MOST_PLACES):
        if path := _known(written.removeprefix("file://"), paths):
            yield path, int(line)


def _known(written: str, paths: Collection[str]) -> str | None:
    parts = PurePosixPath(written).parts  # without the dot of `./a.go`
    for start in range(len(parts)):
        if (shorter := "/".join(parts[start:])) in paths:
            return shorter
    ending = f"/{'/'.join(parts)}"
    found = [path for path in paths if path.endswith(ending)]
    return found[0] if len(found) == 1 else None


def words(text: str) -> frozenset[str]:
    """Return the names in a text; those of one or two letters say too little."""
    return frozenset(_WORD.findall(text))

"""Reads file names as diffs write them: quoted, with prefixes and dates.

Bytes that cannot be decoded become surrogate escapes.
"""

import re

from cooperbench_eval.errors import PatchError

_QUOTED = rb'"(?:[^"\\]|\\.)*"'
_TWO_NAMES = re.compile(rb"(%s) (.+)|([^\"]*) (%s)" % (_QUOTED, _QUOTED))
_EPOCH = re.compile(rb"(19(?:69-12-31|70-01-01)) (\d\d):(\d\d):00(?:\.0+)? ([-+]\d\d):?(\d\d)\s*")
_PREFIX = re.compile(r"[abciwo12]/")  # git's default and mnemonic prefixes
_ESCAPES = dict(zip('abtnvfr"\\', '\a\b\t\n\v\f\r"\\', strict=True))


def read_name(line: bytes) -> str | None:
    """Return the path of a `---` or `+++` line; `None` for /dev/null.

    As in `git apply`, the path ends before the first tab or carriage return.
    """
    text, tab, _ = line[4:].rstrip(b"\n").partition(b"\t")
    text = end_at_carriage_return(text)
    text = text if tab else text.rstrip(b" ")
    name = unquote(text)
    return None if name == "/dev/null" else _strip_prefix(name)


def end_at_carriage_return(text: bytes) -> bytes:
    """Return the part of an unquoted name that git reads."""
    return text.partition(b"\r")[0]


def split_names(line: bytes) -> tuple[str | None, str | None]:
    """Split the `a/x b/x` of a line; two `None` if the names differ: later lines repeat them.

    A carriage return after both names is part of them, as in `git apply`. After only the
    second one, it is part of the line end.
    """
    names = _split_equal(line)
    return _split_equal(line.rstrip(b"\r")) if names == (None, None) else names


def _split_equal(rest: bytes) -> tuple[str | None, str | None]:
    if rest.startswith(b'"') or rest.endswith(b'"'):
        quoted = _TWO_NAMES.fullmatch(rest)
        if not quoted:
            return None, None
        old, new = (_strip_prefix(unquote(part)) for part in quoted.groups() if part)
        return (old, new) if old == new else (None, None)
    middle = len(rest) // 2
    old, new = unquote(rest[:middle]), unquote(rest[middle + 1 :])
    if rest[middle : middle + 1] == b" " and _strip_prefix(old) == _strip_prefix(new):
        return _strip_prefix(old), _strip_prefix(new)
    return None, None


def is_of_epoch(line: bytes) -> bool:
    """Whether a name has the date that `diff -N` gives a missing file."""
    found = _EPOCH.fullmatch(line.partition(b"\t")[2])
    if not found:
        return False
    hour, minute, zone_hour, zone_minute = (int(found.group(i)) for i in range(2, 6))
    zone = zone_hour * 60 + (-zone_minute if found.group(4)[:1] == b"-" else zone_minute)
    days = 1 if found.group(1) == b"1969-12-31" else 0
    return hour * 60 + minute - zone == days * 24 * 60


def _strip_prefix(name: str) -> str:
    bare = name[2:] if _PREFIX.match(name) else name
    while bare.startswith("./"):
        bare = bare[2:]
    return bare


def unquote(text: bytes) -> str:
    """Undo git's C-style quoting of a path."""
    if not (text.startswith(b'"') and text.endswith(b'"') and len(text) > 1):
        return text.decode("utf-8", "surrogateescape")

    def byte(match: re.Match[str]) -> str:
        code = match.group(1)
        if len(code) > 1:
            return chr(int(code, 8))
        if code not in _ESCAPES:
            raise PatchError(f"a quoted name has the unknown escape \\{code}")
        return _ESCAPES[code]

    inner = text[1:-1].decode("latin-1")
    raw = re.sub(r"\\([0-3][0-7]{2}|.?)", byte, inner, flags=re.DOTALL).encode("latin-1")
    return raw.decode("utf-8", "surrogateescape")

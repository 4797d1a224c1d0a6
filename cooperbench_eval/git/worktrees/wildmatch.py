"""Matches names against the patterns of ignore rules, in time proportional to a name's length.

The rules are those of git's documentation of `gitignore` and of its `wildmatch`. A pattern becomes
an automaton whose states are the bits of one number, so that no pattern can make it slow.
"""

import string
from collections.abc import Callable

__all__ = ["matcher"]

_SLASH = ord("/")
_ALL = frozenset(range(256)) - {_SLASH}
_SPACE = b" \t\n\r"
_CLASSES = {
    b"alnum": f"{string.ascii_letters}{string.digits}".encode(),
    b"alpha": string.ascii_letters.encode(),
    b"blank": b" \t",
    b"cntrl": bytes([*range(32), 127]),
    b"digit": string.digits.encode(),
    b"graph": bytes(range(33, 127)),
    b"lower": string.ascii_lowercase.encode(),
    b"print": bytes(range(32, 127)),
    b"punct": string.punctuation.encode(),
    b"space": _SPACE,
    b"upper": string.ascii_uppercase.encode(),
    b"xdigit": string.hexdigits.encode(),
}


def matcher(pattern: bytes, *, is_case_ignored: bool = False) -> Callable[[bytes], bool]:
    """Return whether a name, which may have slashes, matches a whole pattern.

    Args:
        pattern: The pattern.
        is_case_ignored: Whether upper and lower case are the same. The names must then be in
            lower case. As in git, a quoted capital letter, and one in brackets that is not part of
            a range, then matches nothing.

    Example:
        >>> is_match = matcher(b"a/**/*.py")
        >>> is_match(b"a/x.py"), is_match(b"a/b/c/x.py"), is_match(b"ab/x.py")
        (True, True, False)
    """
    edges = [0] * 256  # for each byte: the states that it leads to their next state
    anywhere, inside, optional = (
        0,
        0,
        0,
    )  # the states that may stay at any byte, at any but a slash, or be skipped
    state, at = 1, 0
    while at < len(pattern):
        if pattern[at] == ord("*"):
            end = at + len(pattern[at:]) - len(pattern[at:].lstrip(b"*"))
            follows = pattern[end : end + 2]
            is_after = at == 0 or pattern[at - 1] == _SLASH
            if end - at > 1 and is_after and (not follows or follows.startswith((b"/", b"\\/"))):
                anywhere |= state
                optional |= state if follows.startswith(b"/") else 0
            else:
                inside |= state
            at = end
            continue
        allowed, at = _one(pattern, at, is_case_ignored=is_case_ignored)
        for each in allowed:
            edges[each] |= state
        state <<= 1

    def is_match(name: bytes) -> bool:
        states = _entered(1, optional)
        for each in name:
            stays = anywhere if each == _SLASH else anywhere | inside
            states = states & stays | _entered((states & edges[each]) << 1, optional)
        return bool(states & state)

    return is_match


def _entered(states: int, optional: int) -> int:
    """Add the states after `**/`, which may stand for nothing."""
    while (more := states | (states & optional) << 1) != states:
        states = more
    return states


def _one(pattern: bytes, at: int, *, is_case_ignored: bool) -> tuple[frozenset[int], int]:
    """Return the bytes that one part of a pattern stands for, and where the next part begins."""
    if pattern[at] == ord("?"):
        return _ALL, at + 1
    if pattern[at] == ord("["):
        return _bracket(pattern, at + 1, is_case_ignored=is_case_ignored)
    if pattern[at] == ord("\\"):
        return frozenset(pattern[at + 1 : at + 2]), at + 2  # at the end, it matches nothing
    one = pattern[at : at + 1]
    return frozenset(one.lower() if is_case_ignored else one), at + 1


def _bracket(pattern: bytes, at: int, *, is_case_ignored: bool) -> tuple[frozenset[int], int]:
    """Read what follows a bracket; a malformed one stands for no byte."""
    malformed: tuple[frozenset[int], int] = frozenset(), len(pattern)
    is_negated = pattern[at : at + 1] in {b"!", b"^"}
    at += is_negated
    found: set[int] = set()
    start, before = at, 0
    while at == start or pattern[at : at + 1] != b"]":
        if at >= len(pattern):
            return malformed
        byte = pattern[at]
        if byte == ord("[") and pattern[at + 1 : at + 2] == b":":
            end = pattern.find(b"]", at + 2)
            if end < 0:
                return malformed
            if end > at + 2 and pattern[end - 1] == ord(":"):
                name = pattern[at + 2 : end - 1]
                if name not in _CLASSES:
                    return malformed
                found.update(_with_lower(_CLASSES[name]) if is_case_ignored else _CLASSES[name])
                before, at = 0, end + 1
                continue
        is_range = byte == ord("-") and before and pattern[at + 1 : at + 2] not in {b"", b"]"}
        at += bool(is_range)
        at += pattern[at] == ord("\\")
        if at >= len(pattern):
            return malformed
        if is_range:
            every = bytes(range(before, pattern[at] + 1))
            found.update(_with_lower(every) if is_case_ignored else every)
        else:
            found.add(pattern[at])
        before, at = 0 if is_range else pattern[at], at + 1
    return frozenset(_ALL - found if is_negated else found - {_SLASH}), at + 1


def _with_lower(letters: bytes) -> bytes:
    return letters + letters.lower()

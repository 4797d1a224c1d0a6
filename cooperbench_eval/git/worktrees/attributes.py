"""Finds the attributes of files, such as `text`, by git's documentation of `gitattributes`.

Libgit2 reads a `.gitattributes` of the index even if the working tree has another version.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from attrs import frozen

from cooperbench_eval.git.trees.objects import decode_path, encode_path, folders_above
from cooperbench_eval.git.worktrees.patterns import PathPattern

__all__ = ["Attribute", "Attributes"]

Attribute = str | bool | None
"""The value of an attribute: `True` if it is set, `False` if unset, `None` if not specified."""

_BLANK = b" \t\r\n"
_MOST_BYTES = 2048
"""Lines of this length are ignored."""
_TOKEN = re.compile(rb"[^ \t\r\n]+")
_NAME = re.compile(rb"(?!-)[-A-Za-z0-9_.]+")
_QUOTED = re.compile(rb'"((?:[^"\\]|\\[abfnrtv\\"]|\\[0-3][0-7]{2})*)"', re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.)")
_ESCAPED = dict(zip(b"abfnrtv", b"\a\b\f\n\r\t\v", strict=True))
_MACRO = b"[attr]"
_BUILT_IN = b"[attr]binary -diff -merge -text"

_States = tuple[tuple[str, Attribute], ...]


@frozen
class _Rule:
    """A line: what it says of the files that match its pattern."""

    pattern: PathPattern
    states: _States


class Attributes:
    """The attributes of the files of a working tree."""

    def __init__(
        self,
        read: Callable[[str], bytes | None],
        general: Iterable[bytes] = (),
        own: bytes = b"",
        *,
        is_case_ignored: bool = False,
    ) -> None:
        """Prepare to decide.

        Args:
            read: Returns the contents of a `.gitattributes`, if any.
            general: The contents of the files for all repositories, the weakest first.
            own: The contents of the repository's `info/attributes`, the strongest.
            is_case_ignored: Whether upper and lower case are the same in paths.

        Example:
            >>> files = {".gitattributes": b"*.py text", "a/.gitattributes": b"b -text"}
            >>> attributes = Attributes(files.get)
            >>> attributes.of("a/x.py"), attributes.of("a/b")
            ({'text': True}, {'text': False})
        """
        self._read = read
        self._is_case_ignored = is_case_ignored
        self._macros: dict[str, _States] = {}
        top = read(".gitattributes") or b""
        texts = (_BUILT_IN, *general, top, own)
        # Macros count everywhere, so all of them are read before the first rule is used.
        *outer, self._own = [list(self._rules(text, "", has_macros=True)) for text in texts]
        self._folders = {"": [rule for rules in outer for rule in rules]}

    def of(self, path: str) -> dict[str, Attribute]:
        """Return the attributes of a file that are set, unset or have a value."""
        for folder in folders_above(path):
            if folder not in self._folders:
                above = self._folders[folder.rpartition("/")[0]]
                text = self._read(f"{folder}/.gitattributes")
                self._folders[folder] = [*above, *self._rules(text, folder)] if text else above
        whole = encode_path(path)
        if self._is_case_ignored:
            whole = whole.lower()
        found: dict[str, Attribute] = {}
        for rule in reversed([*self._folders[path.rpartition("/")[0]], *self._own]):
            if rule.pattern.matches(whole, is_folder=False):
                self._add(rule.states, found)
        return {name: value for name, value in found.items() if value is not None}

    def _add(self, states: _States, found: dict[str, Attribute]) -> None:
        """Add what a rule says to what stronger ones say; a macro that is set says more."""
        left = list(states)
        while left:
            name, value = left.pop()
            if name not in found:
                found[name] = value
                if value is True:
                    left.extend(self._macros.get(name, ()))

    def _rules(self, text: bytes, folder: str, *, has_macros: bool = False) -> Iterator[_Rule]:
        for line in text.split(b"\n"):
            kept = line.removesuffix(b"\r").partition(b"\0")[0]
            if len(kept) >= _MOST_BYTES or kept.lstrip(_BLANK).startswith(b"#"):
                continue
            pattern, rest = _divided(kept.strip(_BLANK))
            states = _states(rest)
            macro = pattern.removeprefix(_MACRO)
            if states is None or not pattern:
                continue
            if macro and macro != pattern:
                if has_macros and _NAME.fullmatch(macro):
                    self._macros[macro.decode()] = states
                continue
            rule = PathPattern.read(pattern, folder, is_case_ignored=self._is_case_ignored)
            if rule and not rule.is_negated:
                yield _Rule(rule, states)


def _divided(line: bytes) -> tuple[bytes, bytes]:
    """Divide a line into its pattern, which may be quoted as in C, and the rest."""
    if quoted := _QUOTED.match(line):
        return _ESCAPE.sub(_unescaped, quoted[1]).partition(b"\0")[0], line[quoted.end() :]
    pattern = _TOKEN.match(line)
    return (pattern[0], line[pattern.end() :]) if pattern else (b"", b"")


def _unescaped(found: re.Match[bytes]) -> bytes:
    escape = found[1]
    if len(escape) > 1:
        return bytes([int(escape, 8)])
    return bytes([_ESCAPED.get(escape[0], escape[0])])


def _states(text: bytes) -> _States | None:
    """Read the attributes of a line; `None` if one has an invalid name, which voids the line."""
    found = []
    for token in _TOKEN.findall(text):
        name, equals, value = token.partition(b"=")
        sign = name[:1] if name[:1] in {b"-", b"!"} else b""
        name = name.removeprefix(sign)
        if not _NAME.fullmatch(name):
            return None
        given = decode_path(value) if equals else True
        found.append((name.decode(), {b"-": False, b"!": None}.get(sign, given)))
    return tuple(found)

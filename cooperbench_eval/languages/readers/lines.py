"""Reads files in which each line has a key: requirements, and the checksums of Go."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

from cooperbench_eval.languages.readers.data import ENTRY, package_name
from cooperbench_eval.languages.tree import (
    DATA,
    RESERVED,
    Construct,
    Element,
    Mode,
    StructureError,
    SyntaxFaultError,
    Token,
)

_LINE = re.compile(rb"(\s*\n[ \t]*)((?:\\\n|[^\n])+)")
"""Matches white space and a line, which continues after a backslash."""
_REQUIREMENT = re.compile(
    rb"([A-Za-z0-9][\w.-]*)\s*(?:\Z|(?=[\[=<>~!;@#\\]))[^;]*(?:;\s*([^#]*[^#\s]))?"
)
_INDEX = re.compile(rb"--index-url\b|-i\b")

KeyOf = Callable[[bytes], bytes]
"""Returns the key of a line."""


def read_lines(kind: str, key_of: KeyOf, versions: Sequence[bytes]) -> list[Construct]:
    """Read versions of a file of lines, each with a newline at the end.

    Args:
        kind: The kind of the construct that holds the lines.
        key_of: Returns the key of a line.
        versions: The bytes of each version.

    Raises:
        StructureError: A version contains control characters.
    """
    if any(map(RESERVED.search, versions)):
        raise StructureError("the file contains control characters")
    texts = [b"\n" + version.removesuffix(b"\n") for version in versions]
    names = [Counter(_name(key_of(word)) for _, word in _LINE.findall(text)) for text in texts]
    single = {name for name in names[0] if all(each[name] <= 1 for each in names)}

    def key(line: bytes) -> bytes:
        whole = key_of(line)
        return _name(whole) if _name(whole) in single else whole

    return [_read(kind, key, text) for text in texts]


def _name(key: bytes) -> bytes:
    """Return the name of a package, of which a version may have only one line."""
    return key.partition(b"; ")[0]


def _read(kind: str, key_of: KeyOf, text: bytes) -> Construct:
    entries: list[Element] = []
    lead: list[Element] = []
    end = 0
    for found in _LINE.finditer(text):
        end = found.end()
        space, word = found.groups()
        if word.startswith(b"#"):
            lead.append(Token(space, word, "comment"))
        else:
            children = (*lead, Token(space, word))
            entries.append(Construct(kind=ENTRY, children=children, key=key_of(word)))
            lead = []
    lines = Construct(kind=kind, mode=Mode.MEMBERS, children=tuple(entries))
    return Construct(kind=DATA, children=(lines, *lead, Token(text[end:], b"", "end")))


def check_lines(key_of: KeyOf, source: bytes) -> None:
    """Raise an error if two lines have the same key.

    Raises:
        SyntaxFaultError: Two lines have the same key.
    """
    keys = set()
    for _, word in _LINE.findall(b"\n" + source):
        if word.startswith(b"#"):
            continue
        if (key := key_of(word)) in keys:
            shown = key.decode("utf-8", "replace")
            raise SyntaxFaultError(f"two lines have the key {shown!r}")
        keys.add(key)


def requirement(line: bytes) -> bytes:
    """Return the normalised name of a required package with its marker, or another line whole.

    There is only one address of an index, so its option is returned.
    """
    if option := _INDEX.match(line):
        return option[0]
    found = _REQUIREMENT.match(line)
    if found is None:
        return line
    return b"; ".join(filter(None, (package_name(found[1]), found[2])))


def checksum(line: bytes) -> bytes:
    """Return the module and version of a checksum in `go.sum`."""
    return b" ".join(line.split()[:2])

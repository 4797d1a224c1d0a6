"""Which words of a program are the names of variables."""

import re

from cooperbench_eval.languages.tree import Construct, Element

__all__ = ["ACCESS", "is_call", "is_name", "names_inserted"]

_NAME = re.compile(rb"[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*\Z")
_NAMES = re.compile(rb"(?<![.\w])[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*")
_INSERTED = re.compile(rb"(?s)\{(.*?)\}")
_FORMATTED = re.compile(rb"(?i)[rb]*f[rb]*['\"]|`")
_KEYWORDS = frozenset(
    b"""and as assert async await break case catch class const continue def default defer del do
    elif else except export False false finally fn for from func function global go goto if impl
    import in instanceof is lambda let loop match mod mut new nil None nonlocal not null of or pass
    pub raise range return select static struct switch throw true True try type typeof undefined
    use var void while with yield _""".split()
)
ACCESS = frozenset({b".", b"?.", b"::", b"->"})
"""The operators between an object and its attribute."""


def is_name(word: bytes) -> bool:
    """Whether a word may be the name of a variable."""
    return bool(_NAME.match(word)) and word not in _KEYWORDS


def names_inserted(word: bytes) -> set[bytes]:
    """Return the names in a format string or a template; empty for any other word."""
    if not _FORMATTED.match(word):
        return set()
    found = {name for part in _INSERTED.findall(word) for name in _NAMES.findall(part)}
    return {name for name in found if is_name(name)}


def is_call(element: Element, before: Element | None) -> bool:
    """Whether an element is the arguments of a call, by what precedes it."""
    if not isinstance(element, Construct) or element.kind != "group" or before is None:
        return False
    if element.children[0].plain != b"(":
        return False
    return isinstance(before, Construct) or is_name(before.plain) or before.plain == b"!"

"""Finds the variables that a statement sets and reads."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from attrs import frozen

from cooperbench_eval.languages.tree import (
    ASSIGNING,
    DECLARING,
    Construct,
    Element,
    Token,
)
from cooperbench_eval.support.memo import WeighedMemo

_CONDITIONS = frozenset({"if", "elif", "while", "do", "case", "arm", "switch", "match", "clause"})
_COMMA = Token(b"", b",")


@frozen
class StepFacts:
    """The variables of a statement, without those of its suites.

    Attributes:
        sets: The variables that it assigns. `a.b` counts as one; an item, as in `a[0] = 1`, does
            not.
        reads: The variables that it reads, also in the functions inside it.
        direct: Those whose values matter to the statement itself. It does not merely hand them to a
            call, as an argument or as the method's object.
        declares: Whether the assigned variables are new ones, which end with their block.
    """

    sets: frozenset[bytes] = frozenset()
    reads: frozenset[bytes] = frozenset()
    direct: frozenset[bytes] = frozenset()
    declares: bool = False


def facts_of(header: Construct) -> StepFacts:
    """Find the variables of a statement, which is given without its suites.

    Versions of a function share most of their statements, so the facts are remembered.
    """
    key = header.kind, header.plain
    found = _known.get(key)
    if found is None:
        facts = _facts(header.kind, header.children)
        found = _known.keep(key, facts, size=len(header.plain))
    return found


def _facts(kind: str, children: Sequence[Element]) -> StepFacts:
    targets = list(targets_of(kind, children))
    sets = {name for target in targets for name in target.names}
    reader = _Reader()
    written = {target.place for target in targets if not target.is_read}
    reader.read(children, written=written)
    reader.reads |= {name.partition(b".")[0] for name in sets if b"." in name}
    direct = reader.reads if kind in _CONDITIONS else reader.direct
    words = [child.plain for child in children]
    declares = bool({b"{", b":="}.intersection(words) or DECLARING.intersection(words[:2]))
    return StepFacts(
        frozenset(sets), frozenset(reader.reads), frozenset(direct), declares and bool(sets)
    )


# The facts of a statement of a thousand bytes take about four thousand.
_known = WeighedMemo[tuple[str, bytes], StepFacts](max_bytes=1 << 20)


class _Reader:
    """Collects the names that parts of a statement read, and what functions inside it set."""

    def __init__(self) -> None:
        self.reads: set[bytes] = set()
        self.direct: set[bytes] = set()
        self.own: set[bytes] = set()

    def read(
        self,
        parts: Sequence[Element],
        *,
        written: Iterable[int] = (),
        handed: bool = False,
        opener: bytes = b"",
    ) -> None:
        """Read parts of a statement.

        Args:
            parts: The parts.
            written: The indexes of those that are only set.
            handed: Whether they are arguments of a call.
            opener: The bracket around them, if any.
        """
        inner = _Reader()
        left = set(written)
        before: Element | None = None
        for i, part in enumerate(parts):
            if isinstance(part, Construct):
                if i not in left:
                    inner._construct(part, handed=handed or is_call(part, before))
            elif i not in left and not (opener and _is_key(parts, i, opener)):
                inner._token(parts, i, handed=handed)
            before = part
        self._add(inner, bound_in(parts) if opener else _bound_by_lambda(parts))

    def _add(self, inner: "_Reader", bound: Iterable[bytes]) -> None:
        self.reads |= inner.reads.difference(bound)
        self.direct |= inner.direct.difference(bound)
        self.own |= inner.own

    def _token(self, parts: Sequence[Element], i: int, *, handed: bool) -> None:
        word = parts[i].plain
        if names := names_inserted(word):
            self._found(names, handed=handed)
            return
        if not is_name(word) or (i and parts[i - 1].plain in ACCESS):
            return
        names, end = {word}, i + 1
        while end + 1 < len(parts) and parts[end].plain in ACCESS:
            if end == i + 1:
                names.add(word + b"." + parts[end + 1].plain)
            end += 2
        called = end < len(parts) and is_call(parts[end], parts[end - 1])
        self._found(names, handed=handed or called)

    def _found(self, names: set[bytes], *, handed: bool) -> None:
        self.reads |= names
        if not handed:
            self.direct |= names

    def _construct(self, part: Construct, *, handed: bool) -> None:
        if part.kind == "group":
            inside = list(_flat(part))
            self.read(inside, handed=handed, opener=part.children[0].plain)
        elif part.kind == "def":
            self._function(part, handed=handed)
        else:
            targets = targets_of(part.kind, part.children)
            written = [target.place for target in targets if not target.is_read]
            self.read(part.children, written=written, handed=handed)

    def _function(self, function: Construct, *, handed: bool) -> None:
        """Read what a function inside the statement takes from outside."""
        inner, own = _Reader(), parameters_of(function)
        for each in _suites(function):
            own |= {name for found in each.children for name in _own(found)}
        inner.read(function.children, handed=handed)
        inner.own |= own
        self._add(inner, inner.own)


def _suites(function: Construct) -> Iterator[Construct]:
    """Yield the suites of a function, without those of the functions inside it."""
    waiting = list(function.children)
    while waiting:
        each = waiting.pop()
        if each.kind == "suite" and isinstance(each, Construct):
            yield each
        if each.kind != "def":
            waiting += each.children


def _own(element: Element) -> Iterator[bytes]:
    """Yield the variables that a statement of a function sets."""
    clauses = [element, *element.children] if element.kind != "def" else []
    for each in clauses:
        for target in targets_of(each.kind, each.children):
            yield from target.names


def _flat(group: Construct) -> Iterator[Element]:
    """Yield what is in brackets, with commas between the items."""
    for part in group.children[1:-1]:
        if part.kind in {"items", "arguments", "parameters"}:
            for item in part.children:
                yield from item.children
                yield _COMMA
        else:
            yield part


def _is_key(parts: Sequence[Element], i: int, opener: bytes) -> bool:
    """Whether a word in brackets names an argument, an entry or a field."""
    if i and parts[i - 1].plain != b",":
        return False
    after = parts[i + 1].plain if i + 1 < len(parts) else b""
    return after == b"=" or (after == b":" and opener == b"{")


def bound_in(parts: Sequence[Element]) -> set[bytes]:
    """Return the names that comprehensions and lambdas in brackets bind."""
    words = (word for part in _between(parts, b"for", b"in") for word in part.plain.split(b"\x1f"))
    return _bound_by_lambda(parts).union(filter(is_name, words))


def _bound_by_lambda(parts: Sequence[Element]) -> set[bytes]:
    return {each.plain for each in _between(parts, b"lambda", b":") if is_name(each.plain)}


def _between(parts: Sequence[Element], first: bytes, last: bytes) -> Iterator[Element]:
    """Yield the parts that are between two words, each time that they occur."""
    is_inside = False
    for part in parts:
        if part.plain in {first, last}:
            is_inside = part.plain == first
        elif is_inside:
            yield part


_CHANGING = frozenset(
    b"+= -= *= /= %= &= |= ^= @= **= //= <<= >>= >>>= &&= ||= ??= &^= ++ --".split()
)
_NAMING = frozenset({"with", "except", "import"})


class Target(NamedTuple):
    """What a part of a statement sets.

    Attributes:
        place: The index of the part.
        names: The variables; `a.b` for an attribute.
        is_read: Whether the part is read as well.
    """

    place: int
    names: tuple[bytes, ...]
    is_read: bool


def targets_of(kind: str, children: Sequence[Element]) -> Iterator[Target]:
    """Yield what a statement sets, without its suites and the functions inside it."""
    words = [child.plain for child in children]
    if kind in {"def", "class"}:
        at = next((i for i, word in enumerate(words) if is_name(word)), None)
        if at is not None:
            yield Target(at, (words[at],), is_read=False)
        return
    start = 0
    for i, (child, word) in enumerate(zip(children, words, strict=True)):
        if word in ASSIGNING or word in _CHANGING:
            for target in _assigned(children, start, i):
                yield target._replace(is_read=target.is_read or word not in ASSIGNING)
            start = i + 1
        elif word == b";" or (word == b"," and kind in {"declaration", "spec"}):
            start = i + 1
        elif span := _named(kind, words, i):
            yield from _assigned(children, *span)
        if isinstance(child, Construct):
            yield from _inside(kind, i, child)


def _named(kind: str, words: Sequence[bytes], i: int) -> tuple[int, int] | None:
    """Return the span of names that a word such as `in`, `as` or `catch` belongs to."""
    word = words[i]
    if word in {b"in", b"of"} and kind == "for":
        return words.index(b"for") + 1, i
    if word == b"as" and kind in _NAMING:
        return i + 1, i + 2
    return (i + 1, len(words)) if word in {b"catch", b"del"} else None


def _inside(kind: str, i: int, child: Construct) -> Iterator[Target]:
    """Yield what a part sets: in the head of a loop, in a pattern, or by a walrus."""
    if child.kind in {"assignment", "declaration", "spec"}:
        for target in targets_of(child.kind, child.children):
            yield Target(i, target.names, is_read=True)
        return
    if kind in {"case", "arm"}:
        yield Target(i, tuple(pattern(child)), is_read=True)
    if kind == "import" and child.kind == "items":
        names = [_name_imported(item) for item in child.children]
        yield Target(i, tuple(filter(is_name, names)), is_read=False)
    for each in child.walk() if b":=" in child.plain else ():
        parts = [part.plain for part in each.children]
        names = [one for one, sign in pairwise(parts) if sign == b":="]
        if names and kind != "def":
            yield Target(i, tuple(filter(is_name, names)), is_read=True)


def _name_imported(item: Element) -> bytes:
    words = [child.plain for child in item.children]
    return words[-1] if b"as" in words else words[0] if words else b""


def _assigned(children: Sequence[Element], start: int, end: int) -> Iterator[Target]:
    """Yield the targets in a span: names, attributes, and names in brackets."""
    for i in range(start, end):
        word = children[i].plain
        before = children[i - 1].plain if i > start else b""
        after = children[i + 1] if i + 1 < end else None
        if word == b":":  # an annotation follows
            return
        if before in ACCESS:
            continue
        child = children[i]
        if isinstance(child, Construct):
            is_first = not is_name(before) and before not in {b")", b"]"}
            if is_first or (child.kind == "group" and _binds(children, start)):
                yield Target(i, tuple(pattern(child)), is_read=False)
        elif not is_name(word) or isinstance(after, Construct):
            continue
        elif after is not None and after.plain in ACCESS:
            if i + 3 == end:
                yield Target(i, (word + b"." + children[i + 2].plain,), is_read=False)
        else:
            yield Target(i, (word,), is_read=False)


def _binds(children: Sequence[Element], start: int) -> bool:
    """Whether a span is a pattern, as in `if let Some(x) = found`."""
    return any(child.plain == b"let" for child in children[: start + 2])


def pattern(element: Element) -> Iterator[bytes]:
    """Yield the names that a pattern in brackets binds."""
    words = [child.plain for child in element.children]
    for i, child in enumerate(element.children):
        if words[i - 1 : i] == [b"="]:
            return  # a default
        after = element.children[i + 1] if i + 1 < len(words) else None
        if isinstance(child, Construct):
            yield from pattern(child)
        elif is_name(words[i]) and (after is None or _ends_name(after)):
            yield words[i]


def _ends_name(after: Element) -> bool:
    return not isinstance(after, Construct) and after.plain not in ACCESS | {b":"}


def parameters_of(function: Construct) -> set[bytes]:
    """Return the names of a function's parameters."""
    found: set[bytes] = set()
    for part in function.children:
        if part.plain in {b"=>", b"{", b":"}:
            break
        if isinstance(part, Construct) and part.kind == "def":
            found |= parameters_of(part)
        elif isinstance(part, Construct) and part.kind == "group":
            lists = [each for each in part.children if each.kind == "parameters"]
            items = [item for each in lists for item in each.children]
            found |= {name for item in items for name in _parameter(item)}
    words = [part.plain for part in function.children]
    if b"=>" in words:
        found |= set(filter(is_name, words[: words.index(b"=>")][-1:]))
    return found


def _parameter(item: Element) -> Iterator[bytes]:
    for part in item.children:
        if part.plain in {b":", b"="}:
            return
        if isinstance(part, Construct):
            yield from pattern(part)
        elif is_name(part.plain):
            yield part.plain
            return


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


def is_formatted(word: bytes) -> bool:
    """Whether a word is a string in which names in braces stand for their values."""
    return bool(_FORMATTED.match(word))


def names_inserted(word: bytes) -> set[bytes]:
    """Return the names in a format string or a template; empty for any other word."""
    if not is_formatted(word):
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

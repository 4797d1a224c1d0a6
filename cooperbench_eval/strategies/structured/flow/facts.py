"""Finds the variables that a statement sets and reads."""

from collections.abc import Iterable, Iterator, Sequence

from attrs import frozen

from cooperbench_eval.languages.tree import DECLARING, Construct, Element, Token
from cooperbench_eval.strategies.structured.flow.targets import parameters_of, targets_of
from cooperbench_eval.strategies.structured.flow.words import (
    ACCESS,
    is_call,
    is_name,
    names_inserted,
)
from cooperbench_eval.support.memo import WeighedMemo

__all__ = ["Facts", "facts_of"]

_CONDITIONS = frozenset({"if", "elif", "while", "do", "case", "arm", "switch", "match", "clause"})
_COMMA = Token(b"", b",")


@frozen
class Facts:
    """The variables of a statement, without those of its suites.

    Attributes:
        sets: The variables that it assigns. `a.b` is one that is called `a.b`; an item, as
            in `a[0] = 1`, is none.
        reads: The variables that it reads, also in the functions inside it.
        direct: Those whose values matter to the statement itself. It does not merely hand
            them to a call, as an argument or as the object with the method.
        declares: Whether the assigned variables are new ones, which end with their block.
    """

    sets: frozenset[bytes] = frozenset()
    reads: frozenset[bytes] = frozenset()
    direct: frozenset[bytes] = frozenset()
    declares: bool = False


def facts_of(header: Construct) -> Facts:
    """Find the variables of a statement, which is given without its suites.

    Versions of a function share most of their statements, so the facts are remembered.
    """
    key = header.kind, header.plain
    found = _known.get(key)
    if found is None:
        facts = _facts(header.kind, header.children)
        found = _known.keep(key, facts, size=len(header.plain))
    return found


def _facts(kind: str, children: Sequence[Element]) -> Facts:
    targets = list(targets_of(kind, children))
    sets = {name for target in targets for name in target.names}
    reader = _Reader()
    written = {target.place for target in targets if not target.is_read}
    reader.read(children, written=written)
    reader.reads |= {name.partition(b".")[0] for name in sets if b"." in name}
    direct = reader.reads if kind in _CONDITIONS else reader.direct
    words = [child.plain for child in children]
    declares = bool({b"{", b":="}.intersection(words) or DECLARING.intersection(words[:2]))
    return Facts(
        frozenset(sets), frozenset(reader.reads), frozenset(direct), declares and bool(sets)
    )


# The facts of a statement of a thousand bytes take about four thousand.
_known = WeighedMemo[tuple[str, bytes], Facts](max_bytes=1 << 20)


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
        self._add(inner, _bound(parts) if opener else _bound_by_lambda(parts))

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


def _bound(parts: Sequence[Element]) -> set[bytes]:
    """Return the names that comprehensions and lambdas in brackets bind."""
    found = _bound_by_lambda(parts)
    is_binding = False
    for part in parts:
        if part.plain in {b"for", b"in"}:
            is_binding = part.plain == b"for"
        elif is_binding:
            found |= {word for word in part.plain.split(b"\x1f") if is_name(word)}
    return found


def _bound_by_lambda(parts: Sequence[Element]) -> set[bytes]:
    found: set[bytes] = set()
    is_binding = False
    for part in parts:
        if part.plain in {b"lambda", b":"}:
            is_binding = part.plain == b"lambda"
        elif is_binding and is_name(part.plain):
            found.add(part.plain)
    return found

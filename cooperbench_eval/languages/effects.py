"""Finds what statements do to objects, to tell whether two of them may be swapped."""

import re
from collections.abc import Collection, Iterator, Sequence
from enum import IntEnum
from itertools import accumulate
from typing import NamedTuple

from cooperbench_eval.languages.tree import ASSIGNING, Construct, Element, Mode

Path = tuple[bytes, ...]
"""A variable and its attributes."""
LOCKS = b"locks"
"""Stands for all locks, because their order matters."""
CALLS = b"()"
"""Stands for what a call changes if it has no arguments and its result is not used."""


class Action(IntEnum):
    """What a statement does to an object."""

    READ = 0
    """Reads it."""
    PASSED = 1
    """Passes it to a function whose result is not used."""
    RENEWED = 2
    """Sets the variable to a new value made from the old one."""
    ADDED = 3
    """Updates it with an operator, such as `+=`."""
    CHANGED = 4
    """Sets it or an item of it, or calls a method whose result is not used."""


class Effect(NamedTuple):
    """An action of a statement on an object.

    Attributes:
        path: The object.
        action: What it does.
        key: The item or entry that it is about, if it is a constant.
        how: The method, the function or the operator.
        is_optional: Whether it is done only under a condition.
    """

    path: Path
    action: Action
    key: bytes = b""
    how: bytes = b""
    is_optional: bool = False

    def disturbs(self, other: "Effect") -> bool:
        """Whether the order of two effects may matter."""
        least, most = sorted((self.action, other.action))
        is_optional = self.is_optional and other.is_optional and least <= Action.PASSED
        shorter = min(len(self.path), len(other.path))
        if is_optional or self.path[:shorter] != other.path[:shorter]:
            return False
        if self.path != other.path:
            # A part is affected only if the object that has it is changed, not if it is read.
            whole = self if len(self.path) == shorter else other
            return CALLS not in self.path + other.path and whole.action >= Action.RENEWED
        if least == most == Action.ADDED:
            return self.how != other.how or self.how in _ONE_BY_ONE
        if most < Action.CHANGED:
            return least >= Action.RENEWED
        if self.path[-1] == CALLS:
            return _are_about_one(self.key, other.key)
        is_alike = self.how == other.how or (b" " not in self.key + other.key)
        is_keyed = is_alike and bool(self.key and other.key) and self.key != other.key
        is_placed = all(is_positional(each.how, each.key) for each in (self, other))
        return not is_keyed or is_placed or may_match(self.key, other.key)


_OWN = frozenset({(b"self",), (b"this",), (b"cls",), (b"super",)})
_REPORTING = re.compile(rb"_*(?:log|logger|logging|console|LOG|LOGGER|warnings|t|assert|expect)\Z")
"""Objects that only report what happens."""
_GLOBAL = re.compile(rb"[sS]et[_A-Za-z]\w*|[sS]eed|chdir|umask|select_\w+|use_\w+")
"""Functions that set something that all code shares."""
_LOCKING = frozenset(b"acquire release lock unlock Lock Unlock RLock RUnlock".split())
_REMOVING = frozenset(
    b"""pop popleft popitem popall shift splice drain next read readline recv take poll""".split()
)
"""Methods that change an object although their result is used."""
_KEYED = re.compile(
    rb"_*(?:add|remove|delete|discard|pop|has|unset|on|off|register|include|enable|disable)"
    rb"(?:\Z|[_A-Z])|(?:Add|Remove|Delete|Register|Has)(?:\Z|[A-Z])"
)
"""Methods whose only argument is a key."""
_SETTING = re.compile(rb"[sS]et[_A-Z]")
_MOUNTING = frozenset({b"mount", b"Mount", b"use", b"Use"})
"""Methods whose key is the beginning of a path."""
_WRITING = frozenset(
    b"close drop free assign write writeln fprintf Fprintf Fprintln Fprint setattr delattr".split()
)
_CHANGING = frozenset(
    b"+= -= *= /= %= &= |= ^= @= **= //= <<= >>= >>>= &&= ||= ??= &^= ++ --".split()
)
_ONE_BY_ONE = frozenset(
    {b"/=", b"//=", b"%=", b"@=", b"**=", b"<<=", b">>=", b">>>=", b"&&=", b"||="}
)
_SIGNS = ASSIGNING | _CHANGING
_OPENERS, _CLOSERS = frozenset({b"(", b"[", b"{"}), frozenset({b")", b"]", b"}"})
_ACCESS = frozenset({b".", b"?.", b"::", b"->"})
_KEYWORDS = frozenset(
    b"""and as async await const def del delete defer elif else for from func function go if in is
    let mut new nil None not null or raise return throw try var while with yield lambda True False
    true false int string void final static typeof match case switch""".split()
)
_NAME = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*\Z")
_LITERAL = re.compile(rb"[bru]*([\"'`]).*\Z|-?\d[\w.]*\Z", re.DOTALL)
_HOLE = re.compile(rb"\{.*\}|<.*>|:\w.*|.*[*(].*")
"""A part of a route that stands for any value."""


def _are_about_one(one: bytes, other: bytes) -> bool:
    """Whether two functions seem to act on one thing, as `lock` and `unlock` do."""
    if one == other or _LITERAL.match(one):
        return one != other or one.startswith((b"set", b"Set"))
    if one in other or other in one:
        return True
    nouns = [set(_PARTS.findall(each)[1:]) for each in (one, other)]
    return not nouns[0].isdisjoint({each.lower() for each in nouns[1]} | nouns[1])


_PARTS = re.compile(rb"[A-Z]?[a-z0-9]+|[A-Z]+")


def route_of(element: Element) -> tuple[bytes, bytes]:
    """Return the function and the path of the route that a call or a decorator defines."""
    for part in element.parts if isinstance(element, Construct) else ():
        if part.kind == "decorator":
            return route_of(part)
    words = list(_words(element)) if isinstance(element, Construct) else []
    at = words.index(b"(") if b"(" in words else len(words)
    is_path = at + 1 < len(words) and _LITERAL.match(words[at + 1])
    return (b"".join(words[: at + 1]), words[at + 1]) if is_path else (b"", b"")


def is_positional(function: bytes, key: bytes) -> bool:
    """Whether a call declares an argument of a command that is known by its place."""
    is_option = key.strip(b"\"'`").startswith(b"-")
    return function.rstrip(b"(").lower().endswith(b"argument") and not is_option


def may_match(one: bytes, other: bytes) -> bool:
    """Whether two routes may match one path; of regular expressions, the beginnings decide."""
    texts = [each.lstrip(b"rbu").strip(b"\"'`") for each in (one, other)]
    if any(text[:1] == b"^" for text in texts):
        first, second = (_BEGINNING.match(text.lstrip(b"^")) for text in texts)
        starts = [found.group() if found else b"" for found in (first, second)]
        return starts[0].startswith(starts[1]) or starts[1].startswith(starts[0])
    mine, theirs = (text.split(b"/") for text in texts)
    for whole, part in ((mine, theirs), (theirs, mine)):
        start = whole[:-1]
        if whole[-1] in _REST and part[: len(start)] == start:
            return True
    return (
        len(mine) == len(theirs) > 1
        and mine != theirs
        and all(
            a == b or (bool(a and b) and bool(_HOLE.fullmatch(a) or _HOLE.fullmatch(b)))
            for a, b in zip(mine, theirs, strict=True)
        )
    )


_REST = frozenset({b"*", b"**", b"(.*)"})
_BEGINNING = re.compile(rb"[\w/ -]*(?![*?+{])")


def effects_of(element: Element, modules: Collection[bytes] = ()) -> Iterator[Effect]:
    """Yield what a statement and those in its suites do, but not the functions in it.

    A variable that is renewed under a condition is left to the analysis of the flow.

    Args:
        element: The statement.
        modules: The names that stand for modules, which have no state of their own.
    """
    is_always = element.mode is not Mode.MEMBERS if isinstance(element, Construct) else False
    for each in _all_effects(element, modules):
        if is_always or each.action is not Action.RENEWED:
            yield each._replace(is_optional=element.kind in {"if", "switch", "match"})


def _all_effects(element: Element, modules: Collection[bytes]) -> Iterator[Effect]:
    if not isinstance(element, Construct) or element.kind in {"def", "class", "import"}:
        return
    if element.mode is not Mode.MEMBERS:
        yield from _Statement(element.kind, list(_words(element)), modules).effects()
    for part in element.parts:
        if element.mode is Mode.MEMBERS or part.kind in _INNER:
            yield from _all_effects(part, modules)


_INNER = frozenset({"suite", "expression", "assignment", "return", "throw"})
_ACTING = frozenset({"expression", "defer", "go", "spawn"})


def _words(statement: Construct) -> Iterator[bytes]:
    """Yield the words of a statement, without its suites and the functions in it."""
    for i, part in enumerate(statement.children):
        if i and statement.mode is Mode.LIST:
            yield b","
        if isinstance(part, Construct):
            if part.kind not in {*_INNER, "def", "class"}:
                yield from _words(part)
        elif part.kind != "comment":
            yield part.word


class _Statement(NamedTuple):
    """The words of a statement outside of its suites."""

    kind: str
    words: list[bytes]
    modules: Collection[bytes]

    def effects(self) -> Iterator[Effect]:
        """Yield what it does to each object."""
        words = self.words
        depths = list(accumulate((w in _OPENERS) - (w in _CLOSERS) for w in words))
        signs = [i for i, w in enumerate(words) if w in _SIGNS and not depths[i]]
        colon = words.index(b":") if b":" in words else len(words)
        is_deleting = words[:1] in ([b"del"], [b"delete"]) and words[1:2] != [b"("]
        first = next((i for i, depth in enumerate(depths) if depth), len(words))
        is_acting = self.kind in _ACTING and not signs
        for at, path, end in self._paths():
            opener = words[end] if end < len(words) else b""
            is_set = is_deleting or (bool(signs) and at < min(signs[-1], colon))
            if is_set and not depths[at] and opener != b"(":
                how = b"del" if is_deleting else words[signs[-1]]
                yield self._set(path, end, how)
            elif opener == b"<-":
                yield Effect(path, Action.CHANGED, how=opener)
            elif opener == b"(":
                yield from self._called(path, self._arguments(end), is_acting and at <= first)
            else:
                yield Effect(path, Action.READ, _constant(self._items(end)))

    def _set(self, path: Path, end: int, how: bytes) -> Effect:
        """Return what an assignment or `del` does to a variable, an attribute or an item."""
        is_item = self.words[end : end + 1] == [b"["]
        action = Action.ADDED if how in _CHANGING else Action.CHANGED
        if how in ASSIGNING and len(path) == 1 and not is_item:
            action = Action.RENEWED if path[0] in self.words[end:] else Action.READ
        return Effect(path, action, _constant(self._items(end)), how)

    def _items(self, end: int) -> Sequence[bytes]:
        """Return the first item in square brackets that begin at an index."""
        found = self._arguments(end) if self.words[end : end + 1] == [b"["] else []
        return found[0] if found else ()

    def _called(
        self, path: Path, arguments: Sequence[Sequence[bytes]], is_acting: bool
    ) -> Iterator[Effect]:
        """Yield what a call does to the object whose method it calls, or to its first argument."""
        receiver, name = path[:-1], path[-1]
        is_unknown = receiver in _OWN or not (receiver or arguments)
        if is_acting and is_unknown:
            yield Effect((*receiver, CALLS), Action.CHANGED, name)
        if is_acting and name in _LOCKING:
            yield Effect((LOCKS,), Action.CHANGED)
        if self._is_free(path):
            value = _constant(arguments[0]) if len(arguments) == 1 else b""
            if is_acting and value and _GLOBAL.fullmatch(name):
                yield Effect((*path, CALLS), Action.CHANGED, value)
            if is_acting and arguments and (given := _path(arguments[0])):
                action = Action.CHANGED if name in _WRITING else Action.PASSED
                key = _constant(arguments[1]) if len(arguments) > 1 else b""
                yield Effect(given, action, key, name)
        elif receiver not in _OWN:
            key = _key(name, arguments)
            is_changing = is_acting or name in _REMOVING
            yield Effect(receiver, Action.CHANGED if is_changing else Action.READ, key, name)

    def _is_free(self, path: Path) -> bool:
        """Whether a call is of a function, perhaps of a module or class, not of an object."""
        first = path[0]
        is_module = first in self.modules and path[1:-1] == ()
        return len(path) == 1 or first[:1].isupper() or is_module or bool(_REPORTING.match(first))

    def _arguments(self, start: int) -> list[list[bytes]]:
        """Return what is in the brackets that begin at an index, argument by argument."""
        depth, found = 0, [list[bytes]()]
        for word in self.words[start:]:
            depth += (word in _OPENERS) - (word in _CLOSERS)
            if not depth:
                break
            if depth == 1 and word == b",":
                found.append([])
            elif depth > 1 or word not in _OPENERS:
                found[-1].append(word)
        return found if any(found) else []

    def _paths(self) -> Iterator[tuple[int, Path, int]]:
        """Yield each variable with its attributes, its index, and the index after it."""
        words, i = self.words, 0
        while i < len(words):
            is_start = _NAME.match(words[i]) and words[i] not in _KEYWORDS
            if not is_start or (i and words[i - 1] in _ACCESS):
                i += 1
                continue
            end = i + 1
            while end + 1 < len(words) and words[end] in _ACCESS:
                end += 2
            path = tuple(words[i:end:2])
            yield i, path, end + (words[end : end + 1] == [b"!"])
            i = end


def _key(method: bytes, arguments: Sequence[Sequence[bytes]]) -> bytes:
    """Return the entry that a call of a method is about; empty if it is not known."""
    if len(arguments) == 1 and _SETTING.match(method):
        return method
    if not arguments or not (len(arguments) > 1 or _KEYED.match(method)) or method == b"insert":
        return b""
    key = _constant(arguments[0])
    if not key and _KEYED.match(method) and len(arguments[0]) == 1:
        return method + b" " + arguments[0][0]
    return key.strip(b"\"'`").rstrip(b"/") + b"/*" if method in _MOUNTING and key else key


def _constant(words: Sequence[bytes]) -> bytes:
    return words[0] if len(words) == 1 and _LITERAL.match(words[0]) else b""


def _path(words: Sequence[bytes]) -> Path:
    """Return the variable that an argument is; empty if it is anything else."""
    words = [word for word in words if word not in {b"&", b"mut", b"*"}]
    is_path = bool(words) and all(w in _ACCESS for w in words[1::2])
    return tuple(words[::2]) if is_path and _NAME.match(words[0]) else ()


_PYTHON_MODULES = re.compile(rb"(?m)^[ \t]*import[ \t]+([\w., \t]+)$")
_OTHER_MODULES = re.compile(
    rb"(?m)^[ \t]*(?:import[ \t(]+)?(?:(\w+)[ \t]+)?\"(?:[\w.-]+/)*([\w.-]+)\"\)?$|\* as (\w+)"
)


def modules_of(source: bytes) -> Collection[bytes]:
    """Return the names that stand for modules in a file."""
    names = (each for line in _PYTHON_MODULES.findall(source) for each in line.split(b","))
    found = {name.split()[-1].partition(b".")[0] for name in names if name.split()}
    return found.union(*map(set, _OTHER_MODULES.findall(source))) - {b""}

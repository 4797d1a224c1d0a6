"""Reads what the alternatives of a `try`, a `match`, a `switch` or an `if` catch.

The first alternative that matches is taken. So a special one must come before a general one, and
two that may otherwise match the same value have no right order.
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from cooperbench_eval.languages.conditions import (
    NO_CLASSES,
    Classes,
    Test,
    Ways,
    read_condition,
    read_pattern,
    split_words,
)
from cooperbench_eval.languages.tree import Construct, Element, words_of_head

_KINDS = frozenset({"arm", "case", "clause", "elif", "except"})
_GUARDS = frozenset({b"if", b"when"})
_LEAVING = frozenset({"return", "break", "continue"})


class Alternative(NamedTuple):
    """An arm, a case, a branch or a handler.

    Attributes:
        head: Its words.
        ways: What it catches: a value that passes all tests of any of these.
    """

    head: bytes
    ways: Ways

    @classmethod
    def of(cls, element: Element) -> "Alternative | None":
        """Read a clause or a member; return `None` if it is not an alternative."""
        if not isinstance(element, Construct) or element.kind not in _KINDS:
            return None
        words = words_of_head(element)
        ways = None
        if words[:1] in ([b"except"], [b"catch"]):
            ways = _caught(words)
        elif element.kind in {"arm", "case"}:
            ways = _of_arm(words)
        elif words[:1] == [b"elif"] or words[:2] == [b"else", b"if"]:
            ways = read_condition([w for w in words[1 + (words[0] == b"else") :] if w not in _ENDS])
        return None if ways is None else cls(b" ".join(words), ways)

    @classmethod
    def leaving(cls, element: Element) -> "Alternative | None":
        """Read an `if` whose suite leaves, except by an error; `None` for other statements."""
        if not isinstance(element, Construct) or element.kind != "if":
            return None
        clause = element.parts[0] if element.parts and element.mode.name == "MEMBERS" else element
        suites = [each for each in clause.parts if each.kind == "suite"]
        last = suites[-1].children[-1:] if suites else clause.children[-1:]
        if not last or last[0].kind not in _LEAVING:
            return None
        words = words_of_head(clause)
        if not suites:
            words = words[: len(words) - len(last[0].words())]
        if b"!= nil" in b" ".join(words):
            return None  # it hands on an error
        return cls(b" ".join(words), read_condition([w for w in words[1:] if w not in _ENDS]))

    def excludes(self, other: "Alternative", classes: Classes = NO_CLASSES) -> bool:
        """Whether it is certain that nothing is caught by both."""
        return all(_exclude(way, each, classes) for way, each in product(self.ways, other.ways))

    def must_precede(self, other: "Alternative", classes: Classes = NO_CLASSES) -> bool:
        """Whether it may be unreachable after the other one, but not the other way round."""
        meeting = [
            (way, each)
            for way, each in product(self.ways, other.ways)
            if not _exclude(way, each, classes)
        ]
        if _is_within(self.ways, other.ways, classes):
            return bool(meeting) and not _is_within(other.ways, self.ways, classes)
        return bool(meeting) and all(
            _is_within((way,), (each,), classes) and not _is_within((each,), (way,), classes)
            for way, each in meeting
        )

    def clashes(self, other: "Alternative", classes: Classes = NO_CLASSES) -> bool:
        """Whether both may match the same, so that neither order is certainly right."""
        if self.must_precede(other, classes) or other.must_precede(self, classes):
            return False
        return not self.excludes(other, classes)


def _exclude(one: frozenset[Test], other: frozenset[Test], classes: Classes) -> bool:
    return any(test.excludes(each, classes) for test, each in product(one, other))


def _is_within(one: Ways, other: Ways, classes: Classes) -> bool:
    """Whether *other* catches all that *one* does, as far as is known."""
    return all(
        any(
            all(any(mine.may_imply(test, classes) for mine in way) for test in each)
            for each in other
        )
        for way in one
    )


_ENDS = frozenset({b":", b"{", b"}"})


def _of_arm(words: Sequence[bytes]) -> Ways | None:
    is_case = words[:1] == [b"case"]
    if words[:1] == [b"default"]:
        return None
    parts = split_words(words[is_case:], {b"=>", b"->", b":"})
    before, *guard = split_words(parts[0], _GUARDS)
    ways = tuple(
        way
        for part in split_words(before, {b"|", b","})
        if part
        for way in read_pattern(part, (), is_case=is_case)
    )
    conditions = read_condition([word for part in guard for word in part])
    return tuple(way | also for way, also in product(ways, conditions))


def _caught(words: Sequence[bytes]) -> Ways | None:
    """Return the exceptions that a handler names."""
    if words[1:2] == [b"*"]:
        return None
    is_catch = words[0] == b"catch"
    ends = {b")", b"{"} if is_catch else {b"as", b":"}
    end = next((i for i, word in enumerate(words) if word in ends and i), len(words))
    inside = [w for w in words[1 : end - 1 if is_catch else end] if w not in {b"(", b"final"}]
    names = split_words([w for w in inside if w != b")"], {b",", b"|"})
    caught = [frozenset({b"".join(name)}) for name in names if name]
    return tuple(frozenset({Test((b"error",), "type", name)}) for name in caught) or (frozenset(),)

"""Reads what the alternatives of a `try`, a `match`, a `switch` or an `if` catch.

The first alternative that matches is taken, so a general one must come after a special one.
"""

import builtins
import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cooperbench_eval.languages.tree import Construct, Element, head_of

Bound = tuple[float, int]
"""A number, and whether the bound is just below it (-1), at it (0) or just above it (1)."""
_LEAST, _GREATEST = (-math.inf, 0), (math.inf, 0)
_RANGES = frozenset({b"..=", b"..", b"..."})
_TESTS = {b"<": (_LEAST, -1), b"<=": (_LEAST, 0), b">": (_GREATEST, 1), b">=": (_GREATEST, 0)}
_EQUAL = frozenset({b"==", b"==="})
_OPENERS, _CLOSERS = frozenset({b"(", b"[", b"{"}), frozenset({b")", b"]", b"}"})
_KINDS = frozenset({"arm", "case", "clause", "elif", "except"})
_GUARDS = frozenset({b"if", b"when"})
_BINDING = re.compile(rb"(?!true\Z|false\Z|null\Z)[a-z_]\w*\Z")
_GENERAL = {"Throwable": 3, "BaseException": 3, "Exception": 2, "RuntimeException": 1}
"""Exceptions with many subclasses; a higher number is closer to the root."""


class Pattern(NamedTuple):
    """What one alternative catches.

    Attributes:
        words: The pattern, or what is compared with numbers.
        low: The least number that it catches, if it catches numbers.
        high: The greatest one.
        is_any: Whether it catches everything.
    """

    words: tuple[bytes, ...]
    low: Bound = _GREATEST
    high: Bound = _LEAST
    is_any: bool = False

    def covers(self, other: "Pattern") -> bool:
        """Whether it certainly catches all that another one does."""
        if self.is_any or self == other:
            return True
        if self.low <= self.high:
            is_inside = self.low <= other.low <= other.high <= self.high
            return is_inside and self.words == other.words
        return self._takes_all_of(other)

    def _takes_all_of(self, other: "Pattern") -> bool:
        """Whether it has the other one's name, and any values in brackets after it."""
        words, head = self.words, self.words.index(b"(") if b"(" in self.words else 0
        if not head or other.words[: head + 1] != words[: head + 1]:
            return False
        inside = [word for word in words[head + 1 : -1] if word != b","]
        return all(word in _RANGES or _BINDING.match(word) for word in inside)

    def meets(self, other: "Pattern") -> bool:
        """Whether there is certainly something that both catch."""
        if self.covers(other) or other.covers(self):
            return True
        is_numeric = self.words == other.words and self.low <= self.high
        return is_numeric and max(self.low, other.low) <= min(self.high, other.high)


class Alternative(NamedTuple):
    """An arm, a case, a branch or a handler.

    Attributes:
        head: Its words.
        patterns: What it catches; any of them is enough.
        caught: The exceptions that it names.
        is_guarded: Whether it has a condition as well.
    """

    head: bytes
    patterns: tuple[Pattern, ...]
    caught: frozenset[str] = frozenset()
    is_guarded: bool = False

    @classmethod
    def of(cls, element: Element) -> "Alternative | None":
        """Read a clause or a member; return `None` if it is not an alternative."""
        if not isinstance(element, Construct) or element.kind not in _KINDS:
            return None
        words = head_of(element).split()
        if words[:1] in ([b"except"], [b"catch"]):
            return cls(b" ".join(words), (), _caught(words))
        if element.kind in {"arm", "case"}:
            return cls._of_arm(words)
        tested = words[1:] if words[:1] == [b"elif"] else words[2:]
        if words[:1] == [b"elif"] or words[:2] == [b"else", b"if"]:
            pattern = _test([word for word in tested if word not in {b":", b"{", b"}"}])
            return cls(b" ".join(words), (pattern,) if pattern else ())
        return None

    @classmethod
    def _of_arm(cls, words: Sequence[bytes]) -> "Alternative":
        is_case = words[:1] == [b"case"]
        parts: list[list[bytes]] = [[]]
        depth = 0
        is_guarded = False
        for word in words[is_case:]:
            if not depth and word in {b"=>", b"->", b":"}:
                break
            is_guarded = is_guarded or (not depth and word in _GUARDS)
            depth += (word in _OPENERS) - (word in _CLOSERS)
            if not depth and word in {b"|", b","} and parts[-1]:
                parts.append([])
            elif not is_guarded:
                parts[-1].append(word)
        patterns = tuple(_pattern(part, binds=not is_case) for part in parts if part)
        return cls(b" ".join(words), patterns, is_guarded=is_guarded)

    def must_precede(self, other: "Alternative") -> bool:
        """Whether it would be unreachable after the other one, but not the other way round."""
        if self.caught or other.caught:
            return _reaches(other.caught, self.caught) and not _reaches(self.caught, other.caught)
        if other.is_guarded or not _cover(other.patterns, self.patterns):
            return False
        return self.is_guarded or not _cover(self.patterns, other.patterns)

    def clashes(self, other: "Alternative") -> bool:
        """Whether both may match the same, so that neither order is certainly right."""
        if self.caught & other.caught:
            return True
        if self.must_precede(other) or other.must_precede(self):
            return False
        return any(one.meets(each) for one in self.patterns for each in other.patterns)


def _cover(some: Sequence[Pattern], others: Sequence[Pattern]) -> bool:
    return bool(others) and all(any(one.covers(each) for one in some) for each in others)


def _pattern(words: Sequence[bytes], *, binds: bool) -> Pattern:
    if test := _test(words):
        return test
    only = words[0] if len(words) == 1 else b""
    if only == b"_" or (binds and _BINDING.match(only)):
        return Pattern(tuple(words), is_any=True)
    sign = next((word for word in words if word in _RANGES), b"")
    at = words.index(sign) if sign else len(words)
    ends = [_number(words[:at]), _number(words[at + 1 :])] if sign else [_number(words)] * 2
    low, high = ends
    if sign and not at:
        low = -math.inf
    if sign and at + 1 == len(words):
        high = math.inf
    if low is None or high is None:
        return Pattern(tuple(words))
    return Pattern((), (low, 0), (high, -int(sign == b"..")))


def _test(words: Sequence[bytes]) -> Pattern | None:
    """Read a comparison with a number."""
    signs = [i for i, word in enumerate(words) if word in _TESTS or word in _EQUAL]
    if len(signs) != 1 or {b"and", b"or", b"not", b"&&", b"||", b"!"}.intersection(words):
        return None
    at = signs[0]
    number, sign = _number([w for w in words[at + 1 :] if w != b")"]), words[at]
    subject = tuple(word for word in words[:at] if word != b"(")
    if number is None or not subject:
        return None
    if sign in _EQUAL:
        return Pattern(subject, (number, 0), (number, 0))
    end, side = _TESTS[sign]
    bound = number, side
    return Pattern(subject, end, bound) if end == _LEAST else Pattern(subject, bound, end)


def _number(words: Sequence[bytes]) -> float | None:
    text = b"".join(words).decode("utf-8", "replace").replace("_", "")
    if len(text) == len("'x'") and text[0] == text[-1] == "'":
        return float(ord(text[1]))
    text = re.sub(r"[iuf](?:8|16|32|64|128|size)\Z", "", text)
    try:
        return float(int(text, 0)) if "." not in text else float(text)
    except ValueError:
        return None


def _caught(words: Sequence[bytes]) -> frozenset[str]:
    """Return the exceptions that a handler names."""
    if words[1:2] == [b"*"]:
        return frozenset()
    is_catch = words[0] == b"catch"
    ends = {b")"} if is_catch else {b"as", b":"}
    end = next((i for i, word in enumerate(words) if word in ends and i), len(words))
    named = b" ".join(words[1 : end - 1 if is_catch else end]).decode("utf-8", "replace")
    return frozenset(re.sub(r"[()|,]", " ", named.replace(" . ", ".")).split())


def _reaches(some: frozenset[str], others: frozenset[str]) -> bool:
    """Whether a handler for some exceptions also catches one of the others."""
    return any(_is_subclass(each, one) for one in some for each in others)


def _is_subclass(one: str, other: str) -> bool:
    """Whether an exception is a subclass of another one, as far as it is known."""
    mine, theirs = (getattr(builtins, name, None) for name in (one, other))
    if isinstance(mine, type) and isinstance(theirs, type):
        return issubclass(mine, theirs)
    return _GENERAL.get(one, 0) < _GENERAL.get(other, 0)


def alternatives_in(elements: Sequence[Element]) -> Iterator[Alternative]:
    """Yield the alternatives among some clauses or members."""
    for each in elements:
        if (found := Alternative.of(each)) is not None:
            yield found

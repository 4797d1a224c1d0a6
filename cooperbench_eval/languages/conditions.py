"""Reads conditions and patterns as tests, and decides which of them exclude each other."""

import builtins
import math
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate, product
from typing import NamedTuple

Bound = tuple[float, int]
"""A number, and whether the bound is just below it (-1), at it (0) or just above it (1)."""
Classes = Mapping[bytes, tuple[bytes, ...]]
"""The classes of a file with their bases."""
NO_CLASSES: Classes = {}
_LEAST, _GREATEST = (-math.inf, 0), (math.inf, 0)
_RANGES = frozenset({b"..=", b"..", b"..."})
_BOUNDS = {b"<": (_LEAST, -1), b"<=": (_LEAST, 0), b">": (_GREATEST, 1), b">=": (_GREATEST, 0)}
_EQUAL = frozenset({b"==", b"===", b"is"})
_UNEQUAL = frozenset({b"!=", b"!=="})
_SIGNS = frozenset({*_BOUNDS, *_EQUAL, *_UNEQUAL, b"in", b"instanceof"})
_OPENERS, _CLOSERS = frozenset({b"(", b"[", b"{"}), frozenset({b")", b"]", b"}"})
_STRING = re.compile(rb"""[bBrRuU]{0,2}(["'`])(?P<text>.*)\1\Z""", re.DOTALL)
_SINGLES = frozenset(b"None True False null nil undefined true false".split())
_CONSTANT = re.compile(rb"(?:\w+(?:\.|::))*[A-Z]\w*\Z")
_BINDING = re.compile(rb"(?!true\Z|false\Z|null\Z|nil\Z)[a-z_]\w*\Z")
_AFFIXES = {
    b"startswith": "starts",
    b"startsWith": "starts",
    b"starts_with": "starts",
    b"HasPrefix": "starts",
    b"endswith": "ends",
    b"endsWith": "ends",
    b"ends_with": "ends",
    b"HasSuffix": "ends",
}
_CONCRETE = re.compile(rb"\*|\[|map\[|func\(|chan ")
_BASIC = re.compile(rb"(?:u?int(?:8|16|32|64)?|float(?:32|64)|string|bool|byte|rune)\Z")
"""The types of Go that have no subtypes."""
_GENERAL = {b"Throwable": 3, b"Exception": 2, b"RuntimeException": 1}
"""Exceptions of Java with many subclasses; a higher number is closer to the root."""


class Test(NamedTuple):
    """What must hold of a value.

    Attributes:
        subject: The words of the value.
        kind: `is` for constants, `range`, `type`, `starts`, `ends`, or `holds` for all else.
        values: The constants, classes or affixes; any of them is enough.
        low: The least number.
        high: The greatest one.
        is_not: Whether it must not hold.
    """

    subject: tuple[bytes, ...]
    kind: str
    values: frozenset[bytes] = frozenset()
    low: Bound = _GREATEST
    high: Bound = _LEAST
    is_not: bool = False

    def may_imply(self, other: "Test", classes: Classes) -> bool:
        """Whether the other test holds wherever this one does; for classes, whether it may."""
        if self == other or self.subject != other.subject:
            return self == other
        if other.is_not:
            positive = other._replace(is_not=False)
            if not self.is_not:
                return self.excludes(positive, classes)
            return positive.may_imply(self._replace(is_not=False), classes)
        if self.is_not:
            return False
        if self.kind == "range":
            is_one = self.low == self.high and other.kind == "type"
            is_inside = other.low <= self.low <= self.high <= other.high
            return not self.is_beside(other, classes) if is_one else is_inside
        return bool(self.values) and all(
            any(other.takes(value, each, self.kind, classes) for each in other.values or (b"",))
            for value in self.values
        )

    def takes(self, value: bytes, own: bytes, kind: str, classes: Classes) -> bool:
        """Whether *own*, one of its values, covers a *value* of a test of another *kind*."""
        if self.kind == "range":
            return kind == "is" and _is_between(value, self.low, self.high)
        if self.kind == "type":
            name = value if kind == "type" else _type_of(value) if kind == "is" else b""
            return bool(name) and may_be_under(name, own, classes)
        if self.kind == "is":
            return kind == "is" and value == own
        return kind in {"is", self.kind} and _has_affix(self.kind, value, own)

    def excludes(self, other: "Test", classes: Classes) -> bool:
        """Whether it is certain that they never both hold."""
        if self.subject != other.subject or (self.is_not and other.is_not):
            return False
        kinds = {self.kind, other.kind}
        if self.is_not or other.is_not:
            negative, positive = (self, other) if self.is_not else (other, self)
            is_sure = kinds != {"type"} or positive.values <= negative.values
            return is_sure and positive.may_imply(negative._replace(is_not=False), classes)
        if "range" in kinds:
            numeric, given = (self, other) if self.kind == "range" else (other, self)
            return numeric.is_beside(given, classes)
        return "holds" not in kinds and all(
            _differ((self.kind, one), (other.kind, each), classes)
            for one, each in product(self.values, other.values)
        )

    def is_beside(self, other: "Test", classes: Classes) -> bool:
        """Whether no number of its range meets another test."""
        if other.kind == "range":
            return max(self.low, other.low) > min(self.high, other.high)
        if other.kind == "type":
            pairs = product(_NUMBERS, other.values)
            is_number = any(may_be_under(name, each, classes) for name, each in pairs)
            return self.low == self.high and not is_number
        return other.kind == "is" and all(
            _is_literal(value) and not _is_between(value, self.low, self.high)
            for value in other.values
        )


_NUMBERS = (b"int", b"float")
Ways = tuple[frozenset[Test], ...]
"""Alternatives, each a set of tests that must all hold; empty if nothing is known."""
_ANY: Ways = (frozenset(),)
_MOST_WAYS = 32


def _differ(one: tuple[str, bytes], other: tuple[str, bytes], classes: Classes) -> bool:
    """Whether it is certain that values of two tests have nothing in common."""
    (kind, value), (sort, each) = sorted((one, other))
    if sort == "type":
        name = value if kind == "type" else _type_of(value) if kind == "is" else b""
        is_under = may_be_under(name, each, classes)
        return bool(name) and not is_under and not may_be_under(each, name, classes)
    if kind == sort == "is":
        return value != each and _is_literal(value) == _is_literal(each)
    if None in {_text(value), _text(each)} or (kind, sort) == ("ends", "starts"):
        return False
    if kind == sort:
        return not _has_affix(kind, value, each) and not _has_affix(kind, each, value)
    constant, affix = (value, each) if kind == "is" else (each, value)
    return not _has_affix(sort if kind == "is" else kind, constant, affix)


def _has_affix(kind: str, value: bytes, affix: bytes) -> bool:
    text, part = _text(value), _text(affix)
    if text is None or part is None:
        return False
    return text.startswith(part) if kind == "starts" else text.endswith(part)


def may_be_under(one: bytes, other: bytes, classes: Classes = NO_CLASSES) -> bool:
    """Whether a class may be a subclass of another one, or the same.

    The bases are known of built-in classes and of the file's own. Any other class may be a
    subclass of anything but the file's classes.
    """
    if one == other or one in classes:
        bases = classes.get(one, ())
        return one == other or any(may_be_under(e, other, _without(classes, one)) for e in bases)
    if _CONCRETE.match(other) or other in classes:
        return False
    mine, theirs = _builtin(one), _builtin(other)
    if one in _GENERAL and (other in _GENERAL or theirs is None):
        return _GENERAL[one] < _GENERAL.get(other, 0)
    if mine and theirs:
        return issubclass(mine, theirs)
    return mine is None and not (_BASIC.match(one) and _BASIC.match(other))


def _without(classes: Classes, name: bytes) -> Classes:
    return {each: bases for each, bases in classes.items() if each != name}


def _builtin(name: bytes) -> type | None:
    found = getattr(builtins, name.decode("utf-8", "replace"), None)
    return found if isinstance(found, type) else None


_CLASS = re.compile(
    rb"(?m)^[ \t]*(?:[\w ]*\b)?class[ \t]+(\w+)(?:<[^<>{]*>)?[ \t]*(?:\(([^()]*)\)|([^:{\n]*))"
)
_STRUCT = re.compile(rb"(?m)^type (\w+) struct\b")


def read_classes(source: bytes) -> Classes:
    """Find the classes of a file, each with its bases."""
    found: dict[bytes, tuple[bytes, ...]] = {}
    for name, bases, after in _CLASS.findall(source):
        listed = bases or re.sub(rb"<[^<>]*>|\b(?:extends|implements)\b", b",", after)
        names = (each.strip() for each in listed.split(b","))
        found[name] = tuple(each for each in names if each and b"=" not in each)
    return found | dict.fromkeys(_STRUCT.findall(source), ())


def split_words(words: Sequence[bytes], at: Collection[bytes]) -> list[list[bytes]]:
    """Split words at some of them that are outside of brackets."""
    parts: list[list[bytes]] = [[]]
    depth = 0
    for word in words:
        depth += (word in _OPENERS) - (word in _CLOSERS)
        if not depth and word in at:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def read_condition(words: Sequence[bytes]) -> Ways:
    """Read a condition; one that is not understood becomes a single test."""
    words = _unwrapped(words)
    if not words:
        return _ANY
    if len(parts := split_words(words, {b"or", b"||"})) > 1:
        return tuple(way for part in parts for way in read_condition(part))
    if len(parts := split_words(words, {b"and", b"&&"})) > 1:
        read = list(map(read_condition, parts))
        if math.prod(map(len, read)) <= _MOST_WAYS:
            return tuple(frozenset[Test]().union(*ways) for ways in product(*read))
    if words[0] in {b"not", b"!"}:
        [[*tests], *others] = read_condition(words[1:])
        if len(tests) == 1 and not others:
            return (frozenset({tests[0]._replace(is_not=not tests[0].is_not)}),)
    return (frozenset({_test(tuple(words))}),)


def _unwrapped(words: Sequence[bytes]) -> Sequence[bytes]:
    """Remove brackets around all of a condition."""
    while words[:1] == [b"("]:
        depths = list(accumulate((w in _OPENERS) - (w in _CLOSERS) for w in words))
        if 0 in depths[:-1]:
            break
        words = words[1:-1]
    return words


def _test(words: tuple[bytes, ...]) -> Test:
    return _compared(words) or _called(words) or Test(words, "holds")


def _compared(words: tuple[bytes, ...]) -> Test | None:
    """Read a comparison with a constant, a list of them, a number or a class."""
    depths = accumulate((w in _OPENERS) - (w in _CLOSERS) for w in words)
    signs = [i for i, depth in enumerate(depths) if not depth and words[i] in _SIGNS]
    if len(signs) != 1 or not signs[0] or signs[0] + 1 == len(words):
        return None
    sign, left, right = words[signs[0]], words[: signs[0]], words[signs[0] + 1 :]
    is_not = sign in _UNEQUAL or right[0] == b"not" or left[-1] == b"not"
    right = right[1:] if right[0] == b"not" else right
    left = left[:-1] if left[-1] == b"not" else left
    if sign not in _BOUNDS and sign in _EQUAL | _UNEQUAL and _is_constant(b"".join(left)):
        left, right = right, left
    found = _test_of(left, sign, right)
    return found._replace(is_not=is_not) if found else None


def _test_of(left: tuple[bytes, ...], sign: bytes, right: tuple[bytes, ...]) -> Test | None:
    value = frozenset({b"".join(right)})
    number = _number(right)
    if sign in _BOUNDS and number is not None:
        end, side = _BOUNDS[sign]
        bound = number, side
        return Test(left, "range", frozenset(), *((end, bound) if end == _LEAST else (bound, end)))
    if sign == b"instanceof":
        return Test(left, "type", value)
    if sign == b"in":
        inside = split_words(right[1:-1], {b","}) if right[0] in _OPENERS else []
        value = frozenset(b"".join(each) for each in inside if each)
    elif number is not None:
        return Test(left, "range", low=(number, 0), high=(number, 0))
    is_known = sign not in _BOUNDS and bool(value) and all(map(_is_constant, value))
    return Test(left, "is", value) if is_known else None


def _called(words: tuple[bytes, ...]) -> Test | None:
    """Read a call that tests for a class, a prefix, a suffix or equality."""
    if words[-1] != b")" or b"(" not in words:
        return None
    at = words.index(b"(")
    name, inside = words[at - 1] if at else b"", words[at + 1 : -1]
    parts = [tuple(part) for part in split_words(inside, {b","})]
    if name in {b"isinstance", b"issubclass"} and at == 1 and len(parts) > 1:
        named = [w for w in parts[1] if w not in {b"(", b")"}]
        classes = frozenset(b"".join(each) for each in split_words(named, {b",", b"|"}) if each)
        return Test(parts[0], "type", classes)
    if name not in {*_AFFIXES, b"equals"} or at <= 1:
        return None
    subject, given = words[: at - 2], parts[0]
    if name in {b"HasPrefix", b"HasSuffix"} and len(parts) > 1:
        subject, given = parts[0], parts[1]
    listed = split_words([w for w in given if w not in {b"(", b")"}], {b","})
    values = frozenset(b"".join(each) for each in listed)
    if not all(map(_is_constant, values)):
        return None
    return Test(subject, _AFFIXES.get(name, "is"), values)


def read_pattern(words: Sequence[bytes], subject: tuple[bytes, ...], *, is_case: bool) -> Ways:
    """Read a pattern of `match`, `case` or `switch`.

    Args:
        words: The pattern.
        subject: The value that it is for.
        is_case: Whether it follows `case`, so that a name is a constant.
    """
    words = _bare_pattern(words)
    if not words or b"".join(words) in {b"_", b".."}:
        return _ANY
    if not subject and is_case and (_SIGNS.intersection(words) or _called(tuple(words))):
        return read_condition(words)
    if len(options := split_words(words, {b"|"})) > 1:
        return tuple(w for each in options for w in read_pattern(each, subject, is_case=is_case))
    if words[0] in {b"[", b"("} and words[-1] in _CLOSERS:
        return _sequence(words[1:-1], subject, is_case=is_case)
    if words[-1] == b")" and b"(" in words:
        return _with_values(words, subject, is_case=is_case)
    return _simple(words, subject, is_case=is_case)


def _simple(words: list[bytes], subject: tuple[bytes, ...], *, is_case: bool) -> Ways:
    """Read a pattern without brackets around values: a constant, a name, a range or fields."""
    whole = b"".join(words)
    tests = {Test((*subject, *words), "holds")}
    if (found := _span(words, subject)) is not None:
        tests = {found}
    elif words[-1] == b"}" and words[0] != b"{":
        tests.add(Test(subject, "is", frozenset({b"".join(words[: words.index(b"{")])})))
    elif is_case and len(words) > 1 and _DOTTED.match(words[0]) and _BINDING.match(words[-1]):
        tests = {Test(subject, "type", frozenset({b"".join(words[:-1])}))}
    elif is_case and (_CONCRETE.match(whole) or _BASIC.match(whole) or whole in _INTERFACES):
        tests = {Test(subject, "type", frozenset({whole}))}
    elif not is_case and _BINDING.match(whole):
        return _ANY
    elif _is_constant(whole) or (is_case and _DOTTED.match(whole)):
        tests = {Test(subject, "is", frozenset({whole}))}
    return (frozenset(tests),)


_INTERFACES = frozenset({b"error", b"any"})
_DOTTED = re.compile(rb"[A-Za-z_]\w*(?:(?:\.|::)\w+)*\Z")


def _bare_pattern(words: Sequence[bytes]) -> list[bytes]:
    """Remove what only names or borrows the value."""
    words = split_words(words, {b"@"})[-1]
    words = split_words(words, {b"as"})[0]
    start = next((i for i, w in enumerate(words) if w not in {b"&", b"ref", b"mut"}), 0)
    return list(words[start:])


def _span(words: Sequence[bytes], subject: tuple[bytes, ...]) -> Test | None:
    """Read a number, or a range of them."""
    sign = next((word for word in words if word in _RANGES), b"")
    at = words.index(sign) if sign else len(words)
    low, high = [_number(words[:at]), _number(words[at + 1 :])] if sign else [_number(words)] * 2
    if sign and not at:
        low = -math.inf
    if sign and at + 1 == len(words):
        high = math.inf
    if low is None or high is None:
        return None
    return Test(subject, "range", frozenset(), (low, 0), (high, -int(sign == b"..")))


def _sequence(words: Sequence[bytes], subject: tuple[bytes, ...], *, is_case: bool) -> Ways:
    items = [each for each in split_words(words, {b","}) if each]
    open_at = next((i for i, e in enumerate(items) if e[0] == b"*" or e[-1] in _RANGES), None)
    least = float(len(items) - (open_at is not None))
    most = _GREATEST if open_at is not None else (least, 0)
    size = Test((*subject, b"len"), "range", low=(least, 0), high=most)
    known = items if open_at is None else items[:open_at]
    start = frozenset({size, Test(subject, "type", frozenset({b"list"}))})
    return _combined(start, known, subject, is_case=is_case)


def _with_values(words: list[bytes], subject: tuple[bytes, ...], *, is_case: bool) -> Ways:
    """Read a class or a variant, with patterns of its values in brackets."""
    at = words.index(b"(")
    head = b"".join(words[:at])
    items = [each for each in split_words(words[at + 1 : -1], {b","}) if each]
    start = frozenset({Test(subject, "type" if is_case else "is", frozenset({head}))})
    return _combined(start, items, (*subject, head), is_case=is_case)


def _combined(
    start: frozenset[Test],
    items: Sequence[list[bytes]],
    subject: tuple[bytes, ...],
    *,
    is_case: bool,
) -> Ways:
    ways: Ways = (start,)
    for i, item in enumerate(items):
        named = item[1:2] == [b"="]
        place = (*subject, item[0] if named else b"%d" % i)
        value = item[2:] if named else item
        is_binding = len(value) == 1 and _BINDING.match(value[0])
        inner = _ANY if is_binding else read_pattern(value, place, is_case=is_case)
        ways = tuple(one | also for one, also in product(ways, inner))
        if len(ways) > _MOST_WAYS:
            return (start,)
    return ways


def _is_constant(value: bytes) -> bool:
    return _is_literal(value) or bool(_CONSTANT.match(value))


def _is_literal(value: bytes) -> bool:
    return value in _SINGLES or _text(value) is not None or _number([value]) is not None


def _text(value: bytes) -> bytes | None:
    """Return the text of a string without inserted values."""
    found = _STRING.match(value)
    return None if found is None or (found[1] == b"`" and b"${" in value) else found["text"]


def _type_of(value: bytes) -> bytes:
    """Return the built-in class of a literal; empty for other constants."""
    if _text(value) is not None:
        return b"bytes" if value[:1] in b"bB" else b"str"
    if value in {b"True", b"False"}:
        return b"bool"
    number = _number([value])
    return b"" if number is None else b"float" if b"." in value else b"int"


def _is_between(value: bytes, low: Bound, high: Bound) -> bool:
    number = _number([value])
    return number is not None and low <= (number, 0) <= high


def _number(words: Sequence[bytes]) -> float | None:
    text = b"".join(words).decode("utf-8", "replace").replace("_", "")
    if len(text) == len("'x'") and text[0] == text[-1] == "'":
        return float(ord(text[1]))
    text = re.sub(r"[iuf](?:8|16|32|64|128|size)\Z", "", text)
    try:
        return float(int(text, 0)) if "." not in text else float(text)
    except ValueError:
        return None

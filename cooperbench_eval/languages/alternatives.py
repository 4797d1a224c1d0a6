"""Reads what the alternatives of a `try`, a `match`, a `switch` or an `if` catch.

The first alternative that matches is taken. So a special one must come before a general one, and
two that may otherwise match the same value have no right order. Constants and classes are
understood; two conditions of any other kind may both hold.
"""

import builtins
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate, product, starmap
from typing import NamedTuple

from cooperbench_eval.languages.tree import Construct, Element, words_of_head

Classes = Mapping[bytes, tuple[bytes, ...]]
"""The classes of a file with their bases."""
NO_CLASSES: Classes = {}
_KINDS = frozenset({"arm", "case", "clause", "elif", "except"})
_GUARDS = frozenset({b"if", b"when"})
_LEAVING = frozenset({"return", "break", "continue"})
_ENDS = frozenset({b":", b"{", b"}"})
_OPENERS, _CLOSERS = frozenset({b"(", b"[", b"{"}), frozenset({b")", b"]", b"}"})
_EQUAL = frozenset({b"==", b"===", b"is"})
_UNEQUAL = frozenset({b"!=", b"!=="})
_SIGNS = frozenset({*_EQUAL, *_UNEQUAL, b"in", b"instanceof"})
_LITERAL = re.compile(
    rb"[bru]?([\"'`])(?:(?!\1|\$\{).)*\1\Z|:\w+\Z|-?\d\w*(?:\.\d\w*)?\Z", re.IGNORECASE
)
_DECLARED = re.compile(rb"([\w.<>\[\] ]*[\w>\]]) (?<! as )[a-z_]\w*\Z")
"""Matches a class with the name of the value that is of it."""
_SINGLES = frozenset(b"None True False null nil undefined true false".split())
_CONSTANT = re.compile(rb"(?:\w+(?:\.|::))*[A-Z]\w*\Z")
_NAME = re.compile(rb"[a-z_]\w*\Z")
_CONCRETE = re.compile(rb"\*|\[\d*\]\w|map\[|func\(|chan ")
_BASIC = re.compile(rb"(?:u?int(?:8|16|32|64)?|float(?:32|64)|string|bool|byte|rune)\Z")
"""The types of Go that have no subtypes."""
_GENERAL = {b"Throwable": 3, b"Exception": 2, b"RuntimeException": 1}
"""Exceptions of Java with many subclasses; a higher number is closer to the root."""


class Test(NamedTuple):
    """What must hold of a value.

    Attributes:
        subject: The words of the value, or of all of the condition.
        kind: `is` for constants, `type` for classes, or `holds` for all else.
        values: The constants or classes; any of them is enough.
        is_not: Whether it must not hold.
    """

    subject: tuple[bytes, ...]
    kind: str = "holds"
    values: frozenset[bytes] = frozenset()
    is_not: bool = False

    def may_imply(self, other: "Test", classes: Classes) -> bool:
        """Whether the other test holds wherever this one does; for classes, whether it may."""
        if self == other or self[:2] != other[:2] or self.is_not or other.is_not:
            return self == other
        if self.kind == "is":
            return self.values <= other.values
        return self.kind == "type" and all(
            any(may_be_under(value, each, classes) for each in other.values)
            for value in self.values
        )

    def excludes(self, other: "Test", classes: Classes) -> bool:
        """Whether it is certain that they never both hold."""
        if self.is_not != other.is_not:
            negative, positive = (self, other) if self.is_not else (other, self)
            return positive[:2] == negative[:2] and positive.values <= negative.values
        if self[:2] != other[:2] or self.is_not or self.kind == "holds":
            return False
        pairs = product(self.values, other.values)
        if self.kind == "is":
            return all(starmap(_differ, pairs))
        return not any(
            may_be_under(one, each, classes) or may_be_under(each, one, classes)
            for one, each in pairs
        )


class Alternative(NamedTuple):
    """An arm, a case, a branch or a handler.

    Attributes:
        head: Its words.
        tests: What holds of a value that it catches.
    """

    head: bytes
    tests: frozenset[Test]

    @classmethod
    def of(cls, element: Element) -> "Alternative | None":
        """Read a clause or a member; return `None` if it is not an alternative."""
        if not isinstance(element, Construct) or element.kind not in _KINDS:
            return None
        words = words_of_head(element)
        tests = None
        if words[:1] in ([b"except"], [b"catch"]):
            tests = _caught(words)
        elif element.kind in {"arm", "case"}:
            tests = _of_arm(words)
        elif element.kind == "clause" and words[0] in {b"when", b"in"}:
            tests = _of_arm([b"when", *words[1:]])
        elif words[0] in {b"elif", b"elseif", b"elsif"} or words[:2] == [b"else", b"if"]:
            tests = _condition([w for w in words[1 + (words[0] == b"else") :] if w not in _ENDS])
        return None if tests is None else cls(b" ".join(words), tests)

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
        return cls(b" ".join(words), _condition([w for w in words[1:] if w not in _ENDS]))

    def must_precede(self, other: "Alternative", classes: Classes = NO_CLASSES) -> bool:
        """Whether it may be unreachable after the other one, but not the other way round."""
        is_within = _is_within(self, other, classes) and not _is_within(other, self, classes)
        return is_within and not self._excludes(other, classes)

    def clashes(self, other: "Alternative", classes: Classes = NO_CLASSES) -> bool:
        """Whether both may match the same, so that neither order is certainly right."""
        if self.must_precede(other, classes) or other.must_precede(self, classes):
            return False
        return not self._excludes(other, classes)

    def _excludes(self, other: "Alternative", classes: Classes) -> bool:
        return any(one.excludes(each, classes) for one, each in product(self.tests, other.tests))


def are_exclusive(one: Construct, other: Construct) -> bool:
    """Whether the conditions of two headers, of `if` or `elif`, never both hold."""
    tests: list[list[Test]] = []
    for header in (one, other):
        words = [word for word in words_of_head(header) if word not in _ENDS]
        at = next((i for i, word in enumerate(words) if word in {b"if", b"elif"}), len(words))
        # What a call returns may be another value each time.
        tests.append([e for e in _condition(words[at + 1 :]) if b"(" not in e.subject])
    return any(each.excludes(test, NO_CLASSES) for each, test in product(*tests))


def _is_within(one: Alternative, other: Alternative, classes: Classes) -> bool:
    """Whether the other one catches all that the first does, as far as is known."""
    return all(any(mine.may_imply(test, classes) for mine in one.tests) for test in other.tests)


def may_be_under(one: bytes, other: bytes, classes: Classes = NO_CLASSES) -> bool:
    """Whether a class may be a subclass of another one, or the same.

    The bases of built-in classes and of the file's own are known. Any other class may be a
    subclass of anything but the file's classes.
    """
    if one == other or one in classes:
        left = {name: bases for name, bases in classes.items() if name != one}
        return one == other or any(may_be_under(e, other, left) for e in classes[one])
    if _CONCRETE.match(other) or other in classes:
        return False
    mine, theirs = _builtin(one), _builtin(other)
    if one in _GENERAL and (other in _GENERAL or theirs is None):
        return _GENERAL[one] < _GENERAL.get(other, 0)
    if mine and theirs:
        return issubclass(mine, theirs)
    return mine is None and not (_BASIC.match(one) and _BASIC.match(other))


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


def _depths(words: Sequence[bytes]) -> list[int]:
    return list(accumulate((word in _OPENERS) - (word in _CLOSERS) for word in words))


def _split(words: Sequence[bytes], at: Collection[bytes]) -> list[list[bytes]]:
    """Split words at some of them that are outside of brackets."""
    parts: list[list[bytes]] = [[]]
    for word, depth in zip(words, _depths(words), strict=True):
        if not depth and word in at:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _condition(words: Sequence[bytes]) -> frozenset[Test]:
    """Read a condition; a part that is not understood becomes a single test."""
    while words[:1] == [b"("] and 0 not in _depths(words)[:-1]:
        words = words[1:-1]
    if not words:
        return frozenset()
    if len(_split(words, {b"or", b"||"})) > 1:
        return frozenset({Test(tuple(words))})
    if len(parts := _split(words, {b"and", b"&&"})) > 1:
        return frozenset[Test]().union(*map(_condition, parts))
    if words[0] in {b"not", b"!"}:
        tests = list(_condition(words[1:]))
        if len(tests) == 1:
            return frozenset({tests[0]._replace(is_not=not tests[0].is_not)})
    return frozenset({_compared(words) or _of_class(words) or Test(tuple(words))})


def _compared(words: Sequence[bytes]) -> Test | None:
    """Read a comparison with a constant, a list of them, or a class."""
    depths = _depths(words)
    signs = [i for i, word in enumerate(words) if not depths[i] and word in _SIGNS]
    if len(signs) != 1 or not signs[0] or signs[0] + 1 == len(words):
        return None
    sign, left, right = words[signs[0]], words[: signs[0]], words[signs[0] + 1 :]
    is_not = sign in _UNEQUAL or right[0] == b"not" or left[-1] == b"not"
    right = right[1:] if right[0] == b"not" else right
    left = left[:-1] if left[-1] == b"not" else left
    values = [b"".join(right)]
    if sign == b"instanceof":
        return Test(tuple(left), "type", frozenset(values), is_not)
    if sign == b"in":
        inside = _split(right[1:-1], {b","}) if right[0] in _OPENERS else []
        values = [b"".join(each) for each in inside if each]
    is_known = bool(values) and all(map(_is_constant, values))
    return Test(tuple(left), "is", frozenset(values), is_not) if is_known else None


def _of_class(words: Sequence[bytes]) -> Test | None:
    """Read `isinstance(x, A)` or `isinstance(x, (A, B))`."""
    if words[:2] != [b"isinstance", b"("] or words[-1] != b")":
        return None
    subject, *given = _split(words[2:-1], {b","})
    names = [word for part in given for word in part if word not in {b"(", b")"}]
    found = frozenset(b"".join(each) for each in _split(names, {b",", b"|"}) if each)
    return Test(tuple(subject), "type", found) if found else None


def _differ(one: bytes, other: bytes) -> bool:
    """Whether it is certain that two constants are not equal."""
    if not (_is_literal(one) and _is_literal(other)):
        return one != other and _is_literal(one) == _is_literal(other)
    # In JavaScript, `1 == "1"` holds.
    is_number = [each[:1].isdigit() or each[:1] == b"-" for each in (one, other)]
    is_quoted = [each[-1:] in _QUOTES for each in (one, other)]
    is_mixed = is_number == is_quoted[::-1] and any(is_number)
    return _value(one) != _value(other) and not is_mixed


_QUOTES = frozenset({b'"', b"'", b"`"})


def _value(literal: bytes) -> str | float | None:
    if literal in _SINGLES:
        return {b"true": True, b"false": False}.get(literal.lower())
    text = literal.decode("utf-8", "replace").replace("_", "")
    try:
        return float(int(text, 0))
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text.lstrip("bruBRU").strip("\"'`")


def _is_literal(value: bytes) -> bool:
    return value in _SINGLES or bool(_LITERAL.match(value))


def _is_constant(value: bytes) -> bool:
    return _is_literal(value) or bool(_CONSTANT.match(value))


def _is_value(value: bytes) -> bool:
    """Whether it is a constant of Ruby, where other capitalised names are classes."""
    return _is_literal(value) or value.rpartition(b"::")[2].isupper()


def _of_arm(words: Sequence[bytes]) -> frozenset[Test] | None:
    """Read a pattern of `match`, `case` or `switch`, with its guard."""
    is_case = words[0] in {b"case", b"when"}
    is_known = _is_value if words[0] == b"when" else _is_constant
    if words[:1] == [b"default"]:
        return None
    parts = _split(words[is_case:], {b"=>", b"->", b":", b"then"})
    pattern, *guard = _split(parts[0], _GUARDS)
    condition = _condition([word for part in guard for word in part])
    if is_case and _SIGNS.union({b"<", b">", b"<=", b">="}).intersection(pattern):
        return condition | _condition(pattern)  # a `switch` without a value
    values = [b"".join(each) for each in _split(pattern, {b"|", b","}) if each]
    if not values or b"_" in values or (not is_case and all(map(_NAME.match, values))):
        return condition
    test = Test(tuple(pattern))
    if is_case and all(_CONCRETE.match(each) or _BASIC.match(each) for each in values):
        test = Test((), "type", frozenset(values))
    elif is_case and (declared := _DECLARED.match(b" ".join(pattern))):
        test = Test((), "type", frozenset({declared[1].replace(b" ", b"")}))
    elif all(map(is_known, values)):
        test = Test((), "is", frozenset(values))
    return condition | {test}


def _caught(words: Sequence[bytes]) -> frozenset[Test] | None:
    """Return the exceptions that a handler names."""
    if words[1:2] == [b"*"]:
        return None
    is_catch = words[0] == b"catch"
    ends = {b")", b"{"} if is_catch else {b"as", b":"}
    end = next((i for i, word in enumerate(words) if word in ends and i), len(words))
    inside = [w for w in words[1 : end - 1 if is_catch else end] if w not in {b"(", b"final"}]
    names = _split([w for w in inside if w != b")"], {b",", b"|"})
    caught = frozenset(b"".join(name) for name in names if name)
    return frozenset({Test((b"error",), "type", caught)} if caught else ())

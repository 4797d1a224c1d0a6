"""Finds statements that a side moved into a new function, and moves them in another version."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from attrs import evolve, frozen

from cooperbench_eval.languages.alignment import align, similarity
from cooperbench_eval.languages.tree import Construct, Element, Elements, Mode, suite, words_of_head
from cooperbench_eval.strategies.structured.flow.facts import is_name, parameters_of
from cooperbench_eval.strategies.structured.flow.uses import Variables
from cooperbench_eval.strategies.structured.refactorings.changed import (
    ChangedFunction,
    Changes,
)
from cooperbench_eval.strategies.structured.refactorings.renaming import rename
from cooperbench_eval.strategies.structured.rules.statements import target_of, value_of, with_value

_LEAST_MOVED = 0.6
_LEAST_WORDS = 8


def extract(function: ChangedFunction) -> Changes:
    """Move statements into a function into which a side moved them.

    If the other side has moved them into a function of the same name, only the base is changed.
    """
    base, side, other, helpers = function
    for helper, same_name in helpers:
        found = Extraction.of(base, side, helper)
        made = found and found.in_base()
        if found is None or not made:
            continue
        if same_name is None and (there := found.in_other(other)):
            return {id(base): made}, {id(other): there}
        if same_name is not None and Extraction.of(base, other, same_name):
            return {id(base): made}, {}
    return {}, {}


class _Span(NamedTuple):
    """Statements of a suite, and how many of their words are elsewhere as well."""

    suite: Construct
    start: int
    end: int
    kept: float

    @property
    def statements(self) -> Elements:
        return self.suite.children[self.start : self.end]


@frozen(kw_only=True)
class Extraction:
    """Statements of a function that a side moved into a new function.

    Attributes:
        base: The function in the base.
        moved: The statements.
        helper: The new function.
        call: The statement that calls it.
        names: The parameter that stands for a variable, where their names differ.
    """

    base: Construct
    moved: _Span
    helper: Construct
    call: Construct
    names: Mapping[bytes, bytes]

    @classmethod
    def of(cls, base: Construct, side: Construct, helper: Construct) -> "Extraction | None":
        """Match a function in the base and on a side with a new function on that side."""
        calls = list(_calling(side, name_of(helper)))
        is_value = any(each.kind == "assignment" for each in calls)
        for call in calls if is_value or len(calls) == 1 else ():
            moved = _best(base, _with_results(_body(helper), call))
            names = _matched(call, helper)
            if moved and names is not None and not _remains(moved.statements, side):
                found = cls(base=base, moved=moved, helper=helper, call=call, names=names)
                if found._returning(moved.statements):
                    return found
        return None

    def in_base(self) -> tuple[Construct, Construct] | None:
        """Return the base's function with the call, and the new function with its statements."""
        return self._made(self.base, self.moved)

    def in_other(self, function: Construct) -> tuple[Construct, Construct] | None:
        """Do the same to another version of the function; `None` if that may change its result."""
        for is_wide in (False, True):
            span = self._found_in(function, is_wide=is_wide)
            if span is not None and self._may_move(function, span):
                return self._made(function, span)
        return None

    def _made(self, function: Construct, span: _Span) -> tuple[Construct, Construct] | None:
        if not span.statements:
            return None
        call = self.call.with_space(span.statements[0].space)
        children = (*span.suite.children[: span.start], call, *span.suite.children[span.end :])
        left = _with_suite(function, span.suite, children)
        there, statements = _suite_of(self.helper), self._returning(span.statements)
        body = suite(statements)
        renamed = rename(body, self.names) if self.names else body
        if there is None or renamed is None or not statements:
            return None
        first, *others = renamed.children
        if not _docstrings(there):
            first = first.with_space(there.space)
        return left, _with_suite(self.helper, there, (first, *others))

    def _returning(self, statements: Elements) -> Elements:
        """Return statements with a `return` instead of the assignment that the call makes now.

        Nothing, if they do not end with that assignment.
        """
        if self.call.kind != "assignment":
            return statements
        *others, last = statements
        result = _body(self.helper)[-1]
        if target_of(last) != target_of(self.call) or not isinstance(result, Construct):
            return ()
        value = value_of(last).children
        return (*others, with_value(result, value).with_space(last.space))

    def _found_in(self, function: Construct, *, is_wide: bool) -> _Span | None:
        """Find the statements in another version, in a wide or in the narrowest sense."""
        start, end = self.moved.start, self.moved.end
        best: _Span | None = None
        for each in _suites(function):
            there = each.children
            places = align(self.moved.suite.children, there, Mode.MEMBERS)
            inner = [place for place in places[start:end] if place is not None]
            if not inner:
                continue
            before = [place for place in places[:start] if place is not None]
            after = [place for place in places[end:] if place is not None]
            first = before[-1] + 1 if before else _docstrings(each)
            last = after[0] if after else len(there)
            if not is_wide:
                first = inner[0] if places[start] is not None else first
                last = inner[-1] + 1 if places[end - 1] is not None else last
            kept = sum(len(there[place].words()) for place in inner)
            if best is None or kept > best.kept:
                best = _Span(each, first, last, kept)
        return best

    def _may_move(self, function: Construct, span: _Span) -> bool:
        """Whether the other version's statements do the same in the new function."""
        old, new = self.moved.statements, span.statements
        more = Counter(_leaving(new)) - Counter(_leaving(old))
        if more and self.call.kind != "return":
            return False
        rest, rest_before = _around(function, span), _around(self.base, self.moved)
        before, inside = Variables.of(old), Variables.of(new)
        given = {self.names.get(name, name) for name in rest.own & inside.reads - before.reads}
        if given - parameters_of(self.helper):
            return False
        later = rest.reads - rest_before.reads - {target_of(self.call)}
        return not (inside.sets - before.sets) & (rest.reads | rest.own) | inside.sets & later


def name_of(function: Construct) -> bytes:
    """Return the name of a function without that of its receiver."""
    return function.key.rpartition(b".")[2]


def _suites(function: Construct) -> Iterator[Construct]:
    """Yield the suites of a function, without those of functions inside it."""
    for part in function.parts:
        if part.kind == "suite":
            yield part
        if part.kind != "def" or part.key == function.key:
            yield from _suites(part)


def _suite_of(function: Construct) -> Construct | None:
    return next(_suites(function), None)


def _docstrings(suite: Construct) -> int:
    return int(suite.children[:1] != () and suite.children[0].kind == "docstring")


def _body(function: Construct) -> Elements:
    suite = _suite_of(function)
    return suite.children[_docstrings(suite) :] if suite else ()


def _calling(function: Construct, name: bytes) -> Iterator[Construct]:
    """Yield the innermost statements of a function that call another one."""
    for found in _suites(function):
        yield from (each for each in found.parts if _calls(each, name))


def _calls(element: Construct, name: bytes) -> bool:
    """Whether a statement calls a function outside of its suites."""
    if any(one.plain == name and two.kind == "group" for one, two in pairwise(element.children)):
        return True
    return any(part.kind != "suite" and _calls(part, name) for part in element.parts)


def _best(base: Construct, body: Elements) -> _Span | None:
    """Find the statements of the base of which most are in another function's body."""
    best: _Span | None = None
    for there in _suites(base):
        members = there.children
        places = align(members, body, Mode.MEMBERS)
        pairs = [(i, place) for i, place in enumerate(places) if place is not None]
        if not pairs:
            continue
        start, end = pairs[0][0], pairs[-1][0] + 1
        size = sum(len(each.words()) for each in members[start:end])
        kept = sum(_words_kept(members[i], body[place]) for i, place in pairs)
        if kept >= max(_LEAST_MOVED * size, _LEAST_WORDS) and (best is None or kept > best.kept):
            best = _Span(there, start, end, kept)
    return best


def _with_results(body: Elements, call: Construct) -> Elements:
    """Return a function's body that assigns its result to what a call of it is assigned to."""
    is_assigned = call.kind == "assignment" and body and body[-1].kind == "return"
    return (*body[:-1], with_value(call, value_of(body[-1]).children)) if is_assigned else body


def _words_kept(before: Element, after: Element) -> float:
    words = before.words()
    return len(words) * similarity(words, after.words())


def _remains(statements: Elements, side: Construct) -> bool:
    """Whether a side still has one of the longer statements where it was."""
    there = {each.plain for found in _suites(side) for each in found.children}
    return any(each.plain in there and len(each.words()) >= _LEAST_WORDS for each in statements)


def _matched(call: Construct, helper: Construct) -> Mapping[bytes, bytes] | None:
    """Return the variables whose parameters have other names; `None` if that is not clear."""
    arguments = _listed(call, name_of(helper), "arguments")
    parameters = _listed(helper, name_of(helper), "parameters")
    if parameters and parameters[0].plain in {b"self", b"cls"}:
        parameters = parameters[1:]
    if any(b"*" in each.plain[:2] or len(each.children) > 1 for each in arguments):
        return None
    pairs = (
        (one.plain, other.children[0].plain)
        for one, other in zip(arguments, parameters, strict=False)
    )
    return {old: new for old, new in pairs if is_name(old) and old != new}


def _listed(element: Construct, name: bytes, kind: str) -> Elements:
    """Return the arguments or parameters in the brackets after a function's name."""
    for each in element.walk():
        for one, other in pairwise(each.children):
            if one.plain == name and isinstance(other, Construct) and other.kind == "group":
                return tuple(
                    item for part in other.parts if part.kind == kind for item in part.children
                )
    return ()


def _leaving(statements: Elements, *, in_loop: bool = False) -> Iterator[bytes]:
    """Yield what leaves statements, apart from the functions inside them."""
    for each in statements:
        if not isinstance(each, Construct) or each.kind in {"def", "class"}:
            continue
        words = each.words()
        if words[0] in _LEAVING[in_loop] or b"yield" in words_of_head(each):
            yield each.plain
        else:
            yield from _leaving(each.children, in_loop=in_loop or each.kind in _LOOPS)


_LEAVING = {False: {b"break", b"continue", b"goto", b"return"}, True: {b"goto", b"return"}}
_LOOPS = frozenset({"do", "for", "loop", "while"})


def _around(function: Construct, span: _Span) -> Variables:
    """Return the variables of a function without some of its statements."""
    left = (*span.suite.children[: span.start], *span.suite.children[span.end :])
    body = _suite_of(_with_suite(function, span.suite, left))
    found = Variables.of(body.children if body else ())
    return found._replace(own=found.own | parameters_of(function))


def _with_suite(function: Construct, there: Construct, children: Elements) -> Construct:
    """Return a function in which a suite has other children."""
    if function is there:
        return evolve(there, children=children)
    if not any(each is there for each in function.walk()):
        return function
    return function.with_parts(lambda part: _with_suite(part, there, children))

"""Finds statements that a side moved into a new function, and moves them in another version."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise, zip_longest
from typing import NamedTuple

from attrs import evolve, frozen

from cooperbench_eval.languages.alignment import align, similarity
from cooperbench_eval.languages.tree import Construct, Element, Elements, Mode, suite, words_of_head
from cooperbench_eval.strategies.structured.flow.facts import facts_of, is_name, parameters_of
from cooperbench_eval.strategies.structured.flow.uses import Variables, statements_of
from cooperbench_eval.strategies.structured.refactorings.changed import ChangedFunction, Changes
from cooperbench_eval.strategies.structured.refactorings.renaming import rename
from cooperbench_eval.strategies.structured.rules.statements import target_of, value_of, with_value

_LEAST_MOVED = 0.6
_LEAST_WORDS = 8


def extract(function: ChangedFunction) -> Changes:
    """Move statements into the new function into which a side moved them.

    If the other side moved them into a function of the same name, only the base is changed.
    """
    base, other = function.base, function.other
    for helper, same_name in function.helpers:
        found = Extraction.of(base, function.side, helper)
        made = found and found.in_base()
        if found is None or not made:
            continue
        if same_name is None and (there := found.in_other(other)):
            return {id(base): made}, {id(other): there}
        if same_name is not None and Extraction.of(base, other, same_name):
            return {id(base): made}, {}
    return {}, {}


class _Span(NamedTuple):
    """Statements of a suite, and how many words of them are found in another version."""

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
        names: The parameters of the new function by the variables that are passed to them, where
            the two have different names.
        around: What the side changed around the call.
    """

    base: Construct
    moved: _Span
    helper: Construct
    call: Construct
    names: Mapping[bytes, bytes]
    around: "_Around"

    @classmethod
    def of(cls, base: Construct, side: Construct, helper: Construct) -> "Extraction | None":
        """Match a function in the base and on a side with a new function on that side."""
        calls = list(_calling(side, name_of(helper)))
        if len(calls) != 1 or _is_deferred(calls[0], helper):
            return None
        moved = _best(base, _with_results(_body(helper), calls[0]))
        names = _matched(calls[0], helper)
        if moved is None or names is None:
            return None
        rest = _without(base, moved)
        if _remains(moved.statements, rest, side):
            return None
        around = _Around.of(rest, side, name_of(helper), _unmatched(calls[0], helper))
        return cls(base=base, moved=moved, helper=helper, call=calls[0], names=names, around=around)

    def in_base(self) -> tuple[Construct, Construct] | None:
        """Return the base's function with the call, and the new function with what it replaces."""
        return self._made(self.base, self.moved)

    def in_other(self, function: Construct) -> tuple[Construct, Construct] | None:
        """Do the same to another version of the function; `None` if that may change its result."""
        for is_wide in (False, True):
            span = self._found_in(function, is_wide=is_wide)
            if span is not None and self._may_move(function, span):
                return self._made(function, span)
        return None

    def _made(self, function: Construct, span: _Span) -> tuple[Construct, Construct] | None:
        statements = self._returning(span.statements)
        if not statements:
            return None
        call = self.call.with_space(span.statements[0].space)
        children = (*span.suite.children[: span.start], call, *span.suite.children[span.end :])
        left = _with_suite(function, span.suite, children)
        there, body = _suite_of(self.helper), suite(statements)
        renamed = rename(body, self.names) if self.names else body
        if there is None or renamed is None:
            return None
        first, *others = renamed.children
        if not _docstrings(there):
            first = first.with_space(there.space)
        return left, _with_suite(self.helper, there, (first, *others))

    def _returning(self, statements: Elements) -> Elements:
        """Return statements with a `return` instead of the assignment that the call makes now.

        If they do not end with that assignment, nothing is returned.
        """
        if self.call.kind != "assignment" or not statements:
            return statements
        *others, last = statements
        result = _body(self.helper)[-1]
        if target_of(last) != target_of(self.call) or not isinstance(result, Construct):
            return ()
        value = value_of(last).children
        return (*others, with_value(result, value).with_space(last.space))

    def _found_in(self, function: Construct, *, is_wide: bool) -> _Span | None:
        """Find the statements in another version.

        If *is_wide*, they include what that version inserted before and after them.
        """
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
        size = sum(len(each.words()) for each in self.moved.statements)
        return best if best and best.kept >= _LEAST_MOVED * size else None

    def _may_move(self, function: Construct, span: _Span) -> bool:
        """Whether the other version's statements do the same in the new function."""
        known = {each.plain for each in self._returning(self.moved.statements)}
        new = self._returning(span.statements)
        fresh = tuple(each for each in new if each.plain not in known)
        if fresh and (self.around.leaves or self.around.sets & Variables.of(fresh).reads):
            return False
        return self._may_leave(span) and self._has_variables(_without(function, span), span, fresh)

    def _may_leave(self, span: _Span) -> bool:
        """Whether what leaves the other version's statements does the same in the new function."""
        old, new = self.moved.statements, span.statements
        more = Counter(_leaving(new)) - Counter(_leaving(old))
        # In Go, a plain `return` returns named results, which the new function does not have.
        if more and (
            any(each.strip(_SIGNS) == b"return" for each in more) or not self._only_returns()
        ):
            return False
        known, words = (
            {word for each in part for word in each.words()} for part in ((*old, self.call), new)
        )
        return _OF_FUNCTION.isdisjoint(words - known)

    def _has_variables(self, outside: Construct, span: _Span, fresh: Elements) -> bool:
        """Whether the other version's variables are the same in the new function."""
        rest, before = _variables_of(outside), Variables.of(self.moved.statements)
        inside, more = Variables.of(span.statements), Variables.of(fresh)
        given = self._there(rest.own & inside.reads - before.reads)
        used = self._there(more.sets & (before.own | before.reads | rest.own))
        if given - parameters_of(self.helper) or used.difference(self.helper.words()):
            return False
        stale = inside.sets & (rest.reads - self.around.reads) - Variables.of((self.call,)).sets
        return not stale | (inside.sets - before.sets) & (rest.reads | rest.own)

    def _there(self, names: Iterable[bytes]) -> set[bytes]:
        """Return the names of variables in the new function."""
        return {self.names.get(name, name) for name in names}

    def _only_returns(self) -> bool:
        """Whether the side only returns the result of the new function."""
        words = [each.plain for each in self.call.children if each.plain != b";"]
        is_last = words[-2:-1] == [name_of(self.helper)]
        return self.call.kind == "return" and is_last and _PASSING.issuperset(words[:-2])


_SIGNS = b"\x1d\x1e\x1f;"
_PASSING = frozenset(b"return await self cls this Self . ::".split())
"""The words before a call whose result is returned as it is."""
_OF_FUNCTION = frozenset(b"arguments await defer eval exec locals this vars yield".split())
"""Words that refer to the function in which they are."""


@frozen
class _Around:
    """What a side changed around the call of a new function.

    Attributes:
        reads: The variables that the base reads around the moved statements.
        sets: The variables that changed statements there set, and the parameters that do not get
            the value of a variable.
        leaves: Whether a new statement there leaves the function before the call.
    """

    reads: frozenset[bytes]
    sets: frozenset[bytes]
    leaves: bool

    @classmethod
    def of(
        cls, rest: Construct, side: Construct, helper: bytes, unmatched: Iterable[bytes]
    ) -> "_Around":
        before, after = ({each.plain: each for each in statements_of(x)} for x in (rest, side))
        changed = [each for plain, each in after.items() if plain not in before]
        at = next((i for i, each in enumerate(changed) if helper in each.words()), 0)
        leaves = any(each.words()[0] in _LEAVING[False] for each in changed[:at])
        changed[at : at + 1] = (each for plain, each in before.items() if plain not in after)
        sets = frozenset(unmatched).union(*(facts_of(each).sets for each in changed))
        return cls(reads=_variables_of(rest).reads, sets=sets, leaves=leaves)


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
    """Find the statements of the base most of whose words are in another function's body."""
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
    """Return a function's body with the assignment of a call in place of its last `return`."""
    is_assigned = call.kind == "assignment" and body and body[-1].kind == "return"
    return (*body[:-1], with_value(call, value_of(body[-1]).children)) if is_assigned else body


def _words_kept(before: Element, after: Element) -> float:
    words = before.words()
    return len(words) * similarity(words, after.words())


def _remains(statements: Elements, rest: Construct, side: Construct) -> bool:
    """Whether a side still has one of the statements, apart from `return`, in the function."""
    before, there = (
        Counter(each.plain for found in _suites(function) for each in found.children)
        for function in (rest, side)
    )
    return any(
        there[each.plain] > before[each.plain]
        for each in statements
        if isinstance(each, Construct) and each.kind != "return"
    )


def _is_deferred(call: Construct, helper: Construct) -> bool:
    """Whether a new function may be executed at another time than when it is called."""
    decorators = (each.words()[1:] for each in helper.parts if each.kind == "decorator")
    is_plain = all(words in ([b"staticmethod"], [b"classmethod"]) for words in decorators)
    return not is_plain or not _DEFERRING.isdisjoint(words_of_head(call))


_DEFERRING = frozenset(b"=> defer go lambda".split())


def _matched(call: Construct, helper: Construct) -> Mapping[bytes, bytes] | None:
    """Return parameters by variables of other names; `None` if an argument is not one word."""
    pairs = list(_passed(call, helper))
    if any(len(item.children) > 1 or not is_name(name) for item, name in pairs):
        return None
    return {item.plain: name for item, name in pairs if is_name(item.plain) and item.plain != name}


def _unmatched(call: Construct, helper: Construct) -> set[bytes]:
    """Return the parameters that do not get the value of a variable."""
    got = {name for item, name in _passed(call, helper) if is_name(item.plain)}
    return parameters_of(helper) - got - _RECEIVERS


def _passed(call: Construct, helper: Construct) -> Iterator[tuple[Element, bytes]]:
    """Yield the arguments with the names of the parameters that get them."""
    arguments = _listed(call, name_of(helper), "arguments")
    names = [each.key for each in _listed(helper, name_of(helper), "parameters")]
    if names and names[0].split()[-1] in _RECEIVERS:
        names = names[1:]
    yield from zip_longest(arguments, names[: len(arguments)], fillvalue=b"")


_RECEIVERS = frozenset({b"self", b"&self", b"cls"})


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
    """Yield the statements that leave others, apart from those in functions inside them."""
    for each in statements:
        if not isinstance(each, Construct) or each.kind in {"def", "class"}:
            continue
        words = each.words()
        if words[0] in _LEAVING[in_loop] or not {b"?", b"yield"}.isdisjoint(words_of_head(each)):
            yield each.plain
        else:
            yield from _leaving(each.children, in_loop=in_loop or each.kind in _LOOPS)


_LEAVING = {False: {b"break", b"continue", b"goto", b"return"}, True: {b"goto", b"return"}}
_LOOPS = frozenset({"do", "for", "loop", "while"})


def _variables_of(function: Construct) -> Variables:
    body = _suite_of(function)
    found = Variables.of(body.children if body else ())
    return found._replace(own=found.own | parameters_of(function))


def _without(function: Construct, span: _Span) -> Construct:
    """Return a function without some of its statements."""
    there = span.suite.children
    return _with_suite(function, span.suite, (*there[: span.start], *there[span.end :]))


def _with_suite(function: Construct, there: Construct, children: Elements) -> Construct:
    """Return a function in which a suite has other children."""
    if function is there:
        return evolve(there, children=children)
    if not any(each is there for each in function.walk()):
        return function
    return function.with_parts(lambda part: _with_suite(part, there, children))

"""Tells what statements do with variables: read, change, hand over or look up."""

import builtins
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from attrs import evolve

from cooperbench_eval.languages.tree import Construct, Element, Elements, Mode, words_of_head
from cooperbench_eval.strategies.structured.flow.facts import (
    StepFacts,
    facts_of,
    is_call,
    is_name,
    parameters_of,
)


def changes_for(one: Elements, other: Elements) -> bool:
    """Whether some statements set a variable whose value from before *other* reads."""
    changed = {name for facts in _all_facts(one) for name in facts.sets}
    known: set[bytes] = set()
    for facts in _all_facts(other):
        if not changed.isdisjoint(facts.reads - known):
            return True
        known |= facts.sets
    return False


def subjects_of(statements: Elements) -> set[bytes]:
    """Return what statements read, apart from errors they raise: variables, and parts of `self`."""
    reads = set[bytes]().union(*(facts.reads for facts in _all_facts(statements, _RAISING)))
    found = {name if name.startswith(_OWN) else name.partition(b".")[0] for name in reads}
    return {name for name in found - _SELVES if not is_builtin(name)}


def calls_functions(statement: Element) -> bool:
    """Whether the condition of an `if` calls more than functions of Python that only look."""
    words = words_of_head(statement)
    called = {one for one, sign in pairwise(words) if sign == b"(" and is_name(one)}
    return any(name == b"next" or not is_builtin(name) for name in called)


_OWN, _SELVES = (b"self.", b"this."), frozenset({b"self", b"this"})
_RAISING = frozenset({"raise", "throw"})


def hands_over(statement: Construct, name: bytes) -> bool:
    """Whether a statement only passes a variable on, as `a.f(name)` does.

    The functions of Python itself measure or convert it, so they do not count.
    """
    return _hands_over(statement.children, name, is_handed=False)


def _hands_over(parts: Sequence[Element], name: bytes, *, is_handed: bool) -> bool:
    before = b""
    for i, part in enumerate(parts):
        if isinstance(part, Construct):
            is_inside = is_handed
            if part.kind == "group":
                is_inside = i > 0 and is_call(part, parts[i - 1]) and not is_builtin(before)
            if not _hands_over(part.children, name, is_handed=is_inside):
                return False
        elif part.plain == name:
            is_alone = i == len(parts) - 1 and before in {b"", b"="}
            if not (is_handed and is_alone):
                return False
        before = part.plain
    return True


def is_builtin(name: bytes) -> bool:
    """Whether a name is that of a built-in function of Python."""
    return name.islower() and hasattr(builtins, name.decode("utf-8", "replace"))


def _all_facts(elements: Elements, skipped: Collection[str] = frozenset()) -> Iterator[StepFacts]:
    """Yield the facts of statements and of those in their suites, in order."""
    for each in elements:
        if isinstance(each, Construct) and each.kind not in {"def", "class", *skipped}:
            if each.mode is not Mode.MEMBERS:
                parts = tuple(part for part in each.children if part.kind not in {"suite", "def"})
                yield facts_of(Construct(kind=each.kind, children=parts, key=each.key))
            inner = (
                part for part in each.parts if each.mode is Mode.MEMBERS or part.kind == "suite"
            )
            yield from _all_facts(tuple(inner), skipped)


class Variables(NamedTuple):
    """The variables of statements.

    Attributes:
        reads: Those that the statements read.
        sets: Those that they set.
        own: Those that they set, and the parameters of functions inside them.
    """

    reads: frozenset[bytes]
    sets: frozenset[bytes]
    own: frozenset[bytes]

    @classmethod
    def of(cls, statements: Elements) -> "Variables":
        """Find the variables of statements, of those in their suites, and of functions inside."""
        reads, sets, own = set[bytes](), set[bytes](), set[bytes]()
        for statement in statements:
            for header in statements_of(statement):
                facts = facts_of(header)
                reads |= facts.reads
                sets |= facts.sets
            for each in statement.walk():
                if each.kind == "def":
                    own |= parameters_of(each)
        own |= sets
        found = ({name for name in each if b"." not in name} for each in (reads, sets, own))
        return cls(*map(frozenset, found))


def statements_of(element: Element) -> Iterator[Construct]:
    """Yield the statements and clauses of an element, each without its suites."""
    for each in element.walk():
        if each.mode is Mode.SEQUENCE and each.kind not in {"group", "item"}:
            yield without_suites(each)


def without_suites(construct: Construct) -> Construct:
    """Return a statement or a clause without its suites."""
    children = tuple(each for each in construct.children if each.kind != "suite")
    return (
        construct
        if len(children) == len(construct.children)
        else evolve(construct, children=children)
    )

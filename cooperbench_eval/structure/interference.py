"""Finds data flow from one side's changes into the other's.

Two changes of one function may touch different statements and still not work together:
one side changes how a variable is computed, and the other how it is used; or both
introduce a variable with the same name. Horwitz, Prins and Reps ("Integrating
noninterfering versions of programs", 1989) call this interference. This module judges
it by the names in the statements of one function.
"""

import re
from collections.abc import Iterator, Sequence

from attrs import frozen

from cooperbench_eval.merging.linediff import diff_lines
from cooperbench_eval.structure.alignment import similarity
from cooperbench_eval.structure.tree import ASSIGNING, DECLARING, Construct, Element, Mode, same

__all__ = ["find_interference"]

_LEAST_ALIKE = 0.7
_NAME = re.compile(rb"[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*\Z")


@frozen
class _Statement:
    """A statement without its suites."""

    words: tuple[bytes, ...]
    kind: str

    @property
    def plain(self) -> bytes:
        return b" ".join(self.words)

    @property
    def sets(self) -> frozenset[bytes]:
        """The variables that it assigns, without attributes and items."""
        if self.kind != "assignment":
            return frozenset()
        signs = (*ASSIGNING, b":")
        target = self.words[: min(self.words.index(sign) for sign in signs if sign in self.words)]
        while len(target) > 1 and target[0] in DECLARING:
            target = target[1:]
        around = (b"", *target, b"")
        return frozenset(
            word
            for word, before, after in zip(target, around, around[2:], strict=False)
            if _NAME.match(word) and before != b"." and after not in {b".", b"["}
        )

    @property
    def _value_start(self) -> int:
        """The index at which the value of an assignment starts; 0 for other statements."""
        signs = [sign for sign in ASSIGNING if sign in self.words]
        if self.kind != "assignment" or not signs:
            return 0
        return min(map(self.words.index, signs)) + 1

    @property
    def value(self) -> tuple[bytes, ...]:
        return self.words[self._value_start or 1 :]

    @property
    def uses(self) -> frozenset[bytes]:
        """The names that it reads, without attributes."""
        start, words = self._value_start, self.words
        return frozenset(
            word
            for i, word in enumerate(words)
            if i >= start
            and _NAME.match(word)
            and (not i or words[i - 1] != b".")
            and (i + 1 == len(words) or words[i + 1] != b"=")
        )


def find_interference(base: Construct, ours: Construct, theirs: Construct) -> str:
    """Return where the sides interfere; empty if they do not."""
    before, mine, other = (dict(_functions(tree)) for tree in (base, ours, theirs))
    for name, function in before.items():
        sides = [found for side in (mine, other) if (found := _found(name, before, side))]
        if len(sides) < len((mine, other)) or any(same(function, side) for side in sides):
            continue
        statements = [list(_statements(each)) for each in (function, *sides)]
        if problem := _interfere(*statements):
            return f"{name.decode('utf-8', 'replace')}: {problem}"
    return ""


_Functions = dict[bytes, Construct]


def _functions(tree: Construct, scope: bytes = b"") -> Iterator[tuple[bytes, Construct]]:
    """Yield each function by its qualified name, but no nested functions."""
    for child in tree.children:
        if not isinstance(child, Construct):
            continue
        if child.kind == "def" and child.key:
            yield scope + child.key, child
        elif child.mode is Mode.MEMBERS or child.kind == "class":
            is_named = child.kind == "class" and child.mode is Mode.MEMBERS
            yield from _functions(child, scope + child.key + b"." if is_named else scope)


def _found(name: bytes, before: _Functions, side: _Functions) -> Construct | None:
    """Find a function by its name, or a new function that is similar."""
    if name in side:
        return side[name]
    words = before[name].words()
    new = (function for other, function in side.items() if other not in before)
    return next((each for each in new if similarity(words, each.words()) >= _LEAST_ALIKE), None)


def _statements(element: Element) -> Iterator[_Statement]:
    if not isinstance(element, Construct):
        return
    if element.mode is Mode.MEMBERS:
        for child in element.children:
            yield from _statements(child)
        return
    header = [child for child in element.children if child.kind not in {"suite", "comment"}]
    yield _Statement(tuple(word for child in header for word in child.words()), element.kind)
    for child in element.children:
        if child.kind == "suite":
            yield from _statements(child)


@frozen
class _Work:
    """The statements of a function that a side removed, and those that it added."""

    gone: tuple[_Statement, ...]
    new: tuple[_Statement, ...]

    @classmethod
    def of(cls, before: Sequence[_Statement], after: Sequence[_Statement]) -> "_Work":
        changes = diff_lines([s.plain for s in before], [s.plain for s in after])
        return cls(
            tuple(s for c in changes for s in before[c.a_start : c.a_end]),
            tuple(s for c in changes for s in after[c.b_start : c.b_end]),
        )

    @property
    def sets(self) -> set[bytes]:
        """The variables that its new statements assign."""
        return {name for each in self.new for name in each.sets}

    @property
    def uses(self) -> set[bytes]:
        """The names that its new statements read.

        A new statement is left out if it has the value of a removed one, as it only gives
        that value a name or returns it.
        """
        kept = {each.value for each in self.gone}
        return {name for each in self.new if each.value not in kept for name in each.uses}


def _shown(names: set[bytes]) -> str:
    return min(names).decode("utf-8", "replace")


def _interfere(
    before: Sequence[_Statement], ours: Sequence[_Statement], theirs: Sequence[_Statement]
) -> str:
    mine, other = _Work.of(before, ours), _Work.of(before, theirs)
    known = {name for each in before for name in each.sets}
    if twice := _introduced_by_both(mine, other, known):
        return f"both sides introduce {_shown(twice)}"
    for one, two in ((mine, other), (other, mine)):
        if flow := (one.sets - two.sets) & two.uses & known:
            return f"one side changes {_shown(flow)}, the other how it is used"
    return ""


def _introduced_by_both(mine: _Work, other: _Work, known: set[bytes]) -> set[bytes]:
    """Find variables that both sides introduce for different values and do not return."""
    ours, theirs = ({s for s in work.new if s.sets - known} for work in (mine, other))
    returned = {
        each.words[-1]
        for each in (*mine.new, *other.new)
        if each.kind == "return" and len(each.value) == 1
    }
    names = [
        {name for each in new - shared for name in each.sets}
        for new, shared in ((ours, theirs), (theirs, ours))
    ]
    return (names[0] & names[1]) - known - returned

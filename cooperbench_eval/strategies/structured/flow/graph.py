"""The flow of control through a function: its statements, and which may follow which."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

from attrs import define, field, frozen

from cooperbench_eval.languages.tree import Construct, StructureError
from cooperbench_eval.strategies.structured.flow.facts import StepFacts, is_name

_MOST_VISITED = 500_000
LEAVING = frozenset({"return", "raise", "break", "continue"})
LOOPS = frozenset({"for", "while", "loop", "do"})
BRANCHING = LOOPS | {"if", "elif", "case", "arm", "clause", "except", "switch", "match"}
_ALTERNATIVES = frozenset({"elif", "else", "clause"})


@frozen(eq=False)
class Step:
    """A simple statement, or the head of a compound one.

    Attributes:
        header: The statement without its suites.
        kind: Its kind; `panic(…)` is a `raise`.
        within: The indexes of the heads whose suites contain it, from the outermost.
        facts: The variables that it sets and reads.
    """

    header: Construct
    kind: str
    within: tuple[int, ...]
    facts: StepFacts = field(repr=False)

    @property
    def acts(self) -> bool:
        """Whether it is a call of which nothing uses the result."""
        header = self.header
        return header.kind == "expression" and any(e.kind == "group" for e in header.children)

    @property
    def is_exit(self) -> bool:
        """Whether it leaves its suite."""
        return self.kind in LEAVING

    @property
    def is_alternative(self) -> bool:
        """Whether it begins a clause that is executed instead of an earlier one."""
        return self.kind in _ALTERNATIVES

    @property
    def branches(self) -> bool:
        """Whether the statements in its suite may be skipped."""
        return self.kind in BRANCHING

    @property
    def repeats(self) -> bool:
        """Whether it is the head of a loop."""
        return self.kind in LOOPS

    @property
    def decides(self) -> bool:
        """Whether it is a condition. A loop over items does the same for each of them."""
        words = [word for word in self.header.words() if word != b"("]
        is_iteration = self.kind == "for" and any(map(_iterates, pairwise(words)))
        return self.branches and not (is_iteration and b";" not in words)


@define(eq=False)
class Graph:
    """The flow of control through a function, and of values along its paths.

    The first step stands for the entry, where the parameters are set. The effort of all
    searches together is bounded.

    Attributes:
        steps: The steps, in the order of the source.
        after: The indexes of the steps that may follow each step. The end of the function
            is `len(steps)`.
        names: For each step, the variables that share a name with one of an outer block.
    """

    steps: Sequence[Step]
    after: Sequence[Sequence[int]]
    names: Sequence[dict[bytes, bytes]] = field(repr=False)
    _left: int = field(default=_MOST_VISITED, init=False)
    _uses: dict[tuple[int, bytes], frozenset[int]] = field(factory=dict, init=False)
    _sources: dict[tuple[int, bytes], frozenset[int]] = field(factory=dict, init=False)

    @cached_property
    def before(self) -> Sequence[Sequence[int]]:
        """The indexes of the steps that may precede each step, and the end."""
        found: list[list[int]] = [[] for _ in range(len(self.steps) + 1)]
        for i, following in enumerate(self.after):
            for j in following:
                found[j].append(i)
        return found

    def variable(self, step: int, name: bytes) -> bytes:
        """Return the variable that a name stands for in a step."""
        return self.names[step].get(name, name)

    @cached_property
    def sets(self) -> Sequence[frozenset[bytes]]:
        """The variables that each step sets."""
        return [
            frozenset(self.variable(i, name) for name in step.facts.sets)
            for i, step in enumerate(self.steps)
        ]

    @cached_property
    def replaces(self) -> Sequence[frozenset[bytes]]:
        """The variables that have no older value after each step.

        The head of a loop sets none when the loop ends.
        """
        nothing = frozenset[bytes]()
        return [
            nothing if step.kind in LOOPS else names
            for step, names in zip(self.steps, self.sets, strict=True)
        ]

    def uses(self, start: int, name: bytes) -> frozenset[int]:
        """Return the steps that may read the value that a step gives a variable.

        Steps that overwrite it without reading it are found by `overwriting`.

        Raises:
            StructureError: The search would take too long.
        """
        key = start, name
        if key not in self._uses:
            variable = self.variable(start, name)
            through = self._search(self.after, start, variable)
            self._uses[key] = frozenset(
                i for i in through if i < len(self.steps) and self._reads(i, variable)
            )
        return self._uses[key]

    def overwriting(self, start: int, name: bytes) -> list[int]:
        """Return the steps that a value may reach and that set its variable."""
        variable = self.variable(start, name)
        through = self._search(self.after, start, variable)
        sets = self.sets
        return [i for i in through if i < len(sets) and variable in sets[i]]

    def reaches_end(self, start: int, name: bytes) -> bool:
        """Whether the value that a step gives a variable may be the last one."""
        return len(self.steps) in self._search(self.after, start, self.variable(start, name))

    def sources(self, use: int, name: bytes) -> frozenset[int]:
        """Return the steps that may have given a variable the value that a step reads."""
        key = use, name
        if key not in self._sources:
            variable = self.variable(use, name)
            through = self._search(self.before, use, variable)
            found = (i for i in through if i < len(self.steps))
            self._sources[key] = frozenset(i for i in found if variable in self.sets[i])
        return self._sources[key]

    def onwards(self, start: int) -> set[int]:
        """Return the steps that may be executed after a step, in the same turn of its loops.

        Raises:
            StructureError: The search would take too long.
        """
        steps, found = self.steps, set[int]()
        stack = [start]
        while stack:
            at = stack.pop()
            for each in self.after[at]:
                if each > at:
                    new = [each]
                else:  # back to the head of a loop, and out of it
                    ends = self.after[each]
                    new = [i for i in ends if i >= len(steps) or each not in steps[i].within]
                stack += (i for i in new if i not in found and i < len(steps))
                found.update(new)
            self._spend()
        return found

    def _reads(self, step: int, variable: bytes) -> bool:
        return any(self.variable(step, name) == variable for name in self.steps[step].facts.reads)

    def _search(self, edges: Sequence[Sequence[int]], start: int, variable: bytes) -> set[int]:
        """Return what can be reached, without going past steps that set the variable."""
        sets = self.replaces
        found: set[int] = set()
        stack = [*edges[start]]
        while stack:
            at = stack.pop()
            if at in found:
                continue
            found.add(at)
            self._spend()
            if at < len(sets) and variable not in sets[at]:
                stack += edges[at]
        return found

    def _spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise StructureError("a function has too many paths to follow its values")


def _iterates(words: tuple[bytes, bytes]) -> bool:
    """Whether two neighbouring words of a header are in `for x in xs` or `for x := range xs`."""
    before, word = words
    if word == b"range":
        return before in {b"for", b"=", b":="}
    return word in {b"in", b"of"} and (is_name(before) or before in {b")", b"]", b"}"})

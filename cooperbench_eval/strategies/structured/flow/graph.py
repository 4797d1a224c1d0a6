"""The flow of control through a function: its statements, and which may follow which."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from attrs import define, field, frozen

from cooperbench_eval.languages.tree import Construct, Element, Mode, StructureError
from cooperbench_eval.strategies.structured.flow.facts import (
    StepFacts,
    facts_of,
    is_name,
    parameters_of,
)

_MOST_STEPS = 10_000
_MOST_VISITED = 500_000
_LEAVING = frozenset({"return", "raise", "break", "continue"})
_LOOPS = frozenset({"for", "while", "loop", "do"})
_BRANCHING = _LOOPS | {"if", "elif", "case", "arm", "clause", "except", "switch", "match"}
_ALTERNATIVES = frozenset({"elif", "else", "clause"})
_COMPOUND = _BRANCHING | {"try", "with", "else", "finally", "class", "labeled"}
_KINDS_INLINE = {word.encode(): word for word in (*_LEAVING, "assert", "del", "import")}
_HANDLING = frozenset({b"except", b"catch"})
_WORDS_LEFT = frozenset({"comment", "suite"})


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
        return self.kind in _LEAVING

    @property
    def is_alternative(self) -> bool:
        """Whether it begins a clause that is executed instead of an earlier one."""
        return self.kind in _ALTERNATIVES

    @property
    def branches(self) -> bool:
        """Whether the statements in its suite may be skipped."""
        return self.kind in _BRANCHING

    @property
    def repeats(self) -> bool:
        """Whether it is the head of a loop."""
        return self.kind in _LOOPS

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
            nothing if step.kind in _LOOPS else names
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


def graph_of(function: Construct) -> Graph:
    """Build the flow of control through a function.

    Raises:
        StructureError: It has too many statements.
    """
    builder = _Builder()
    inner = function
    if function.mode is Mode.MEMBERS:
        inner = next((each for each in function.parts if each.kind == "def"), function)
    entry = Construct(kind="entry", children=())
    builder.add(entry, [], StepFacts(sets=frozenset(parameters_of(inner))))
    ends = [0]
    for part in inner.parts:
        if part.kind == "suite":
            ends = builder.members(part.children, ends)
    return builder.finish(ends)


_Jumps = tuple[list[int], int | None]
"""A construct's `break`s, which are linked when it ends, and a loop's head, for `continue`."""


class _Builder:
    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._after: list[list[int]] = []
        self._names: list[dict[bytes, bytes]] = []
        self._within: list[int] = []
        self._jumps: list[_Jumps] = []
        self._leaving: list[list[int]] = [[]]  # of the function, and of each `finally` around
        self._thrown: list[list[int]] = []
        self._scope: dict[bytes, bytes] = {}

    def finish(self, ends: Iterable[int]) -> Graph:
        end = len(self._steps)
        for i in (*ends, *self._leaving[0]):
            self._after[i].append(end)
        return Graph(self._steps, [sorted(set(each)) for each in self._after], self._names)

    def add(self, header: Construct, ends: Iterable[int], facts: StepFacts | None = None) -> int:
        """Add a step after the steps *ends*; return its index."""
        at = len(self._steps)
        if at > _MOST_STEPS:
            raise StructureError(f"a function has more than {_MOST_STEPS:,} statements")
        is_panic = header.kind == "expression" and _first_word(header) == b"panic"
        found = facts or facts_of(header)
        step = Step(header, "raise" if is_panic else header.kind, tuple(self._within), found)
        self._steps.append(step)
        self._after.append([])
        self._declare(step, at)
        for i in ends:
            self._after[i].append(at)
        for thrown in self._thrown:
            thrown.append(at)
        return at

    def _declare(self, step: Step, at: int) -> None:
        if step.facts.declares and (self._within or step.kind in _COMPOUND):
            new = {name: name + b"@%d" % at for name in step.facts.sets if b"." not in name}
            self._scope = self._scope | new
        self._names.append(self._scope)

    def members(self, members: Sequence[Element], ends: list[int]) -> list[int]:
        """Add the statements of a suite; return the steps after which it ends."""
        for each in members:
            if isinstance(each, Construct) and each.kind != "docstring":
                ends = self._statement(each, ends)
        return ends

    def _statement(self, statement: Construct, ends: list[int]) -> list[int]:
        clauses = [statement]
        if statement.mode is Mode.MEMBERS:
            clauses = [each for each in statement.parts if each.kind != "decorator"]
        if not clauses:
            return ends
        first = clauses[0]
        if first.kind in {"def", "class"}:
            return [self.add(first, ends)]
        if not any(_body(each)[1] for each in clauses):
            return self._simple(_body(first)[0], ends)
        scope = self._scope
        kind = "for" if first.kind in _LOOPS else first.kind
        build = {"for": self._loop, "try": self._try}.get(kind, self._branches)
        ends = build(clauses, ends)
        self._scope = scope
        return ends

    def _simple(self, statement: Construct, ends: list[int]) -> list[int]:
        at = self.add(statement, ends)
        if not self._steps[at].is_exit:
            return [at]
        self._leave(at)
        return []

    def _leave(self, at: int) -> None:
        kind, words = self._steps[at].kind, self._steps[at].header.words()
        if kind in {"return", "raise"} or not self._jumps:
            self._leaving[-1].append(at)
            return
        labelled = [word for word in words[1:] if word != b";"]
        loops = [head for _, head in self._jumps if head is not None]
        for breaks, head in self._jumps if labelled else self._jumps[-1:]:
            if kind == "break":
                breaks.append(at)
            else:  # in a `switch`, it continues the loop around it
                self._after[at] += loops[-1:] if head is None else [head]

    def _inside(self, head: int, body: Sequence[Element], ends: list[int]) -> list[int]:
        scope = self._scope
        self._within.append(head)
        ends = self.members(body, ends)
        self._within.pop()
        self._scope = scope
        return ends

    def _branches(self, clauses: Sequence[Construct], ends: list[int]) -> list[int]:
        """Add an `if`, a `with`, a `switch` or a block."""
        out: list[int] = []
        opened = 0
        for clause in clauses:
            header, body = _body(clause)
            head = self.add(header, ends)
            if header.kind in {"switch", "match"}:
                out += self._cases(head, body)
                ends = []
                continue
            self._within.append(head)
            opened += 1
            out += self.members(body, [head])
            ends = [head] if self._steps[head].branches and not _is_else(header) else []
        del self._within[len(self._within) - opened :]
        return out + ends

    def _cases(self, head: int, members: Sequence[Element]) -> list[int]:
        """Add the cases of a `switch`; each may be the first one that fits, or fall through."""
        breaks: list[int] = []
        self._jumps.append((breaks, None))
        self._within.append(head)
        out, through = [head], list[int]()
        for member in members:
            if not isinstance(member, Construct):
                continue
            case = member
            if member.mode is Mode.MEMBERS:
                case = next((e for e in member.parts if e.kind == member.kind), member)
            header, body = _body(case)
            at = self.add(header, [head])
            through = self._inside(at, body, [at, *through])
            out += through
        self._within.pop()
        self._jumps.pop()
        return [*out, *breaks]

    def _loop(self, clauses: Sequence[Construct], ends: list[int]) -> list[int]:
        header, body = _body(clauses[0])
        head = self.add(header, ends)
        breaks: list[int] = []
        self._jumps.append((breaks, head))
        for i in self._inside(head, body, [head]):
            self._after[i].append(head)
        self._jumps.pop()
        out = [head]
        for clause in clauses[1:]:
            header, body = _body(clause)
            at = self.add(header, out)
            out = self._inside(at, body, [at])
        return [*out, *breaks]

    def _try(self, clauses: Sequence[Construct], ends: list[int]) -> list[int]:
        last = clauses[-1] if _first_word(clauses[-1]) == b"finally" else None
        if last is not None:
            self._leaving.append([])
            self._thrown.append(list(ends))
        out = self._handled(clauses[: len(clauses) - (last is not None)], ends)
        if last is None:
            return out
        leaving, thrown = self._leaving.pop(), self._thrown.pop()
        header, body = _body(last)
        head = self.add(header, [*out, *leaving, *thrown])
        out = self._inside(head, body, [head])
        self._leaving[-1] += out  # it goes on with what was interrupted
        return out

    def _handled(self, clauses: Sequence[Construct], ends: list[int]) -> list[int]:
        """Add a `try` with its handlers and its `else`."""
        self._thrown.append(list(ends))
        header, body = _body(clauses[0])
        head = self.add(header, ends)
        ends = self._inside(head, body, [head])
        thrown = self._thrown.pop()
        out: list[int] = []
        for clause in clauses[1:]:
            header, body = _body(clause)
            handles = _first_word(clause) in _HANDLING
            at = self.add(header, thrown if handles else ends)
            found = self._inside(at, body, [at])
            if handles:
                out += found
            else:
                ends = found
        return out + ends


def _iterates(words: tuple[bytes, bytes]) -> bool:
    """Whether two neighbouring words of a header are in `for x in xs` or `for x := range xs`."""
    before, word = words
    if word == b"range":
        return before in {b"for", b"=", b":="}
    return word in {b"in", b"of"} and (is_name(before) or before in {b")", b"]", b"}"})


def _first_word(clause: Construct) -> bytes:
    return clause.children[0].plain if clause.children else b""


def _is_else(header: Construct) -> bool:
    words = [child.plain for child in header.children]
    return words[:1] == [b"else"] and b"if" not in words[:2]


def _body(clause: Construct) -> tuple[Construct, Sequence[Element]]:
    """Split a clause into its head and the statements of its suite."""
    suites = [part for part in clause.parts if part.kind == "suite"]
    parts = tuple(part for part in clause.children if part.kind not in _WORDS_LEFT)
    clause = clause if len(parts) == len(clause.children) else _header(clause, parts)
    if suites:
        return clause, [member for each in suites for member in each.children]
    if clause.kind not in _COMPOUND or not parts:
        return clause, ()
    words = [part.plain for part in parts]
    last = parts[-1]
    if isinstance(last, Construct) and last.kind not in {"group", "items", "def"}:
        return _header(clause, parts[:-1]), [last]
    if b":" not in words or words.index(b":") + 1 == len(words):
        return clause, ()
    at = words.index(b":") + 1
    return _header(clause, parts[:at]), list(_inline(parts[at:]))


def _header(clause: Construct, parts: Sequence[Element]) -> Construct:
    return Construct(kind=clause.kind, children=tuple(parts), key=clause.key)


def _inline(parts: Sequence[Element]) -> Iterator[Construct]:
    """Read statements that follow a colon on its line."""
    start = 0
    ends = [i for i, part in enumerate(parts) if part.plain == b";"]
    for end in (*ends, len(parts)):
        found = tuple(p for p in parts[start:end] if p.kind != "comment")
        start = end + 1
        if not found:
            continue
        words = [part.plain for part in found]
        kind = _KINDS_INLINE.get(words[0], "assignment" if b"=" in words else "expression")
        yield Construct(kind=kind, children=found)

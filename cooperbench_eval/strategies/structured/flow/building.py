"""Builds the flow of control through a function."""

from collections.abc import Iterable, Iterator, Sequence

from cooperbench_eval.languages.tree import Construct, Element, Mode, StructureError
from cooperbench_eval.strategies.structured.flow.facts import StepFacts, facts_of, parameters_of
from cooperbench_eval.strategies.structured.flow.graph import BRANCHING, LEAVING, LOOPS, Graph, Step

_MOST_STEPS = 10_000
_COMPOUND = BRANCHING | {"try", "with", "else", "finally", "class", "labeled"}
_KINDS_INLINE = {word.encode(): word for word in (*LEAVING, "assert", "del", "import")}
_HANDLING = frozenset({b"except", b"catch"})
_WORDS_LEFT = frozenset({"comment", "suite"})


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
        kind = "for" if first.kind in LOOPS else first.kind
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

"""Rules about the paths through a function: what one side's exits, conditions and copies skip."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise, product

from cooperbench_eval.languages.alternatives import are_exclusive
from cooperbench_eval.languages.tree import Construct, same
from cooperbench_eval.strategies.structured.flow.facts import ACCESS
from cooperbench_eval.strategies.structured.flow.influence import Clash, Influence, shown
from cooperbench_eval.strategies.structured.flow.work import MEANT, Change, calls_in
from cooperbench_eval.strategies.structured.rules.containing import extends

_SELVES = frozenset({b"self", b"this", b"cls"})


class PathRules(Influence):
    """Finds where one side's work skips the other's, or does only a part of it."""

    def _leaves(self) -> Iterator[Clash]:
        """One side leaves before what the other's work affects is done."""
        affected = self._reverse.sometimes.steps - self.one.changes.keys()
        for exit_, skipped in self._exits():
            lost = {
                at
                for at in affected & skipped
                if not (self._is_before(at, exit_) or self._are_exclusive(at, exit_))
            }
            if lost and not self._is_optional(exit_):
                done = sorted(lost & self.other.changes.keys(), key=lambda at: (at < exit_, at))
                problem = "one side leaves the function before the other's work is done"
                yield self._clash(problem, exit_, next(iter(done), None))

    def _is_before(self, at: int, exit_: int) -> bool:
        """Whether a step is always done before an exit, in a suite that contains the exit."""
        steps = self.merged.steps
        return at < exit_ and {*steps[at].within} <= {*steps[exit_].within}

    def _are_exclusive(self, at: int, exit_: int) -> bool:
        """Whether tests of one value around a step and an exit never both hold."""
        steps = self.merged.steps
        inner, outer = map(self._tests_around, (at, exit_))
        loops = (head for head in steps[at].within if steps[head].repeats)
        if steps[exit_].kind != "continue" and any(head in steps[exit_].within for head in loops):
            return False  # a later turn of the loop is skipped as well
        return any(
            are_exclusive(steps[one].header, steps[other].header)
            and not self._may_change(steps[one].facts.reads, *sorted((one, other)))
            for one, other in product(inner - outer, outer - inner)
        )

    def _tests_around(self, at: int) -> set[int]:
        """Return the conditions that hold where a step is executed, not those of other clauses."""
        steps, within = self.merged.steps, self.merged.steps[at].within
        others = {head for head, inner in pairwise(within) if steps[inner].is_alternative}
        own = {at} if steps[at].branches else set[int]()
        return {*within, *own} - others

    def _may_change(self, names: AbstractSet[bytes], start: int, end: int) -> bool:
        """Whether a step between two others sets a variable, or a call may change its value.

        Any call may change a global variable and `self`, and one that gets an object its parts.
        """
        if any(not names.isdisjoint(self._sets(i)) for i in range(start, end)):
            return True
        between = (self.merged.steps[i].header.words() for i in range(start, end))
        calls = [words for words in between if b"(" in words]
        own = {name for sets in self.merged.sets for name in sets} - _SELVES
        variables = {name.partition(b".")[0] for name in names if not name.isupper()}
        parts = {name.partition(b".")[0] for name in names if b"." in name}
        given = {one for words in calls for one, sign in pairwise(words) if sign not in ACCESS}
        return bool(calls and variables - own) or not parts.isdisjoint(given)

    def _guesses(self) -> Iterator[Clash]:
        """Both insert at one place: one side an exit, the other a call that it might skip."""
        for exit_, _ in self._exits():
            head = self.one.head_of(exit_) or 0
            if self._is_optional(exit_) or self.one.changes.get(head) is not Change.NEW:
                continue
            for at in range(head - 1, 0, -1):
                if self.other.changes.get(at) is Change.NEW:
                    acts = self.merged.steps[at].acts
                    acts = acts and not self.other.is_optional(self.other.origins[at])
                    # Of two cases of a `switch`, only one is executed.
                    is_guess = acts and not self._does_all(exit_, self.other.rest_after(at))
                    if is_guess and exit_ in self.merged.onwards(at):
                        problem = "one side may leave before what the other does at that place"
                        yield self._clash(problem, exit_, at)
                elif self.one.changes.get(at) is not Change.NEW:
                    break

    def _does_all(self, exit_: int, rest: Sequence[tuple[int, Construct]]) -> bool:
        """Whether a branch that leaves repeats the statements that follow the other's call.

        Then its condition only chooses how these are done, and the call precedes them either way.
        """
        steps, own = self.one.graph.steps, self.one.origins[exit_]
        depth = len(steps[own].within)
        head = steps[own].within[-1]
        branch = iter(each for each in steps[head + 1 : own + 1] if head in each.within)
        return len(rest) > 1 and all(
            any(len(e.within) - depth == down and same(e.header, header) for e in branch)
            for down, header in rest
        )

    def _halves(self) -> Iterator[Clash]:
        """One side's new option leaves with a value that the other changes again later."""
        always = self.other.always
        for exit_, skipped in self._exits():
            head = self.one.head_of(exit_) or 0
            for first in always if self._is_optional(exit_) else ():
                reached = self._reached(first) if first < head else frozenset[int]()
                inside = any(head in self.merged.steps[each].within for each in reached)
                rest = reached & skipped - self.one.changes.keys()
                later = [i for i in always if i in rest and self.other.changes[i] in MEANT]
                if inside and later:
                    problem = "one side leaves the function between two steps of the other's work"
                    yield self._clash(problem, exit_, min(later))

    def _reached(self, start: int) -> frozenset[int]:
        """Return the merged steps that read a step's value, or one made from it."""
        found, stack = set[int](), [start]
        while stack:
            at = stack.pop()
            uses = {use for name in self._sets(at) for use in self.merged.uses(at, name)} - found
            found |= uses
            stack += uses
        return frozenset(found)

    def _exits(self) -> Iterator[tuple[int, AbstractSet[int]]]:
        """Yield one side's new exits under conditions, and the steps that each may skip.

        An exit under a condition that the side edited counts as new. A new
        error is not expected, so a `raise` does not count.
        """
        for merged, own in self.one.origins.items():
            step = self.one.step(merged)
            if not step.is_exit or step.kind == "raise":
                continue
            head = self.one.head_of(merged)
            if head is None:
                continue
            change = self.one.changes.get(merged)
            is_new = change is Change.NEW
            if change is Change.EDITED:  # it may be another one than that of the base
                is_new = self.one.changes.get(head) is Change.NEW
            if is_new or self.one.has_moved(own) or self.one.changes_condition(head):
                yield merged, self.merged.onwards(head) - self.merged.onwards(merged)

    def _splits(self) -> Iterator[Clash]:
        """One side's new condition covers a part of the other's work, but not all of it."""
        steps, work = self.merged.steps, self.other
        for i in work.always:
            if work.changes[i] not in MEANT:
                continue
            for head in steps[i].within:
                is_new = self.one.changes.get(head) is Change.NEW and head not in work.origins
                if is_new and steps[head].branches and not self._is_copied(i, head):
                    outside = [each for each in work.always if head not in steps[each].within]
                    if any(each < head for each in outside):
                        problem = "one side's new condition covers only a part of the other's work"
                        yield self._clash(problem, head, min(outside))

    def _is_copied(self, at: int, head: int) -> bool:
        """Whether one side has a copy of the other's step outside of a condition."""
        steps = self.merged.steps
        outside = (steps[i] for i in self.one.changes if head not in steps[i].within)
        return any(extends(steps[at].header, each.header) for each in outside)

    def _copies(self) -> Iterator[Clash]:
        """The other copied a call that one side changes everywhere."""
        base, one, other, merged = (
            calls_in(graph)
            for graph in (self.one.base, self.one.graph, self.other.graph, self.merged)
        )
        for call, places in base.items():
            copies = [
                own for own in other.get(call, ()) if self.other.before.get(own) not in places
            ]
            if call in one or call not in merged or not copies:
                continue
            is_extended = all(self._is_extended(place) for place in places)
            if is_extended and all(map(self.other.is_optional, copies)):
                continue
            problem = f"one side changes a call of {shown(call.split()[0])}, the other copies it"
            own = [now for now, old in self.one.before.items() if old in places]
            yield Clash(
                problem,
                self.one.graph.steps[own[0]].header if own else None,
                self.other.graph.steps[copies[0]].header,
            )

    def _is_extended(self, before: int) -> bool:
        """Whether one side only extended a step of the base."""
        place = next((own for own, old in self.one.before.items() if old == before), None)
        merged = None if place is None else self.one.places.get(place)
        return merged is not None and self.one.changes.get(merged) is Change.EXTENDED

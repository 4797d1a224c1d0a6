"""Finds where one side's changes of a function disturb the other's."""

from collections.abc import Collection, Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain, product
from typing import NamedTuple

from attrs import frozen

from cooperbench_eval.languages.alternatives import are_exclusive
from cooperbench_eval.languages.tree import Construct
from cooperbench_eval.strategies.structured.flow.graph import Graph
from cooperbench_eval.strategies.structured.flow.spread import Read, Spread
from cooperbench_eval.strategies.structured.flow.work import MEANT, Change, Work, calls_in
from cooperbench_eval.strategies.structured.rules.containing import extends


class Clash(NamedTuple):
    """How the sides interfere in a function, and a statement of each that takes part."""

    problem: str
    ours: Construct | None = None
    theirs: Construct | None = None


_SETTING = frozenset({Change.NEW, Change.EDITED, Change.NAMING})
_ADDED = frozenset({Change.NEW, Change.NAMING})
_ELSEWHERE = "one side changes where the other's new value of %s is used"
_CONDITION = "one side changes a condition, the other what depends on it"


@frozen(eq=False)
class Disturbance:
    """The effects of one side's work, and what they do to the other's.

    Attributes:
        merged: The merged function.
        one: The work that has effects.
        other: The work that may be disturbed.
    """

    merged: Graph
    one: Work
    other: Work

    def find(self) -> Clash | None:
        """Return the first disturbance, with the one side as ours."""
        values = self._uses, self._rest, self._removes, self._overwrites, self._mixes, self._both
        rules = (
            *values,
            self._outdated,
            self._orders,
            self._leaves,
            self._guesses,
            self._splits,
            self._copies,
            self._halves,
            self._closes,
        )
        return next((found for rule in rules for found in rule()), None)

    def _clash(self, problem: str, mine: int | None = None, others: int | None = None) -> Clash:
        """Make a clash of merged steps; one that its side does not have is not shown."""
        steps = [
            None if at is None or at not in work.origins else work.step(at).header
            for work, at in ((self.one, mine), (self.other, others))
        ]
        return Clash(problem, *steps)

    def cause(self, affected: AbstractSet[int]) -> int | None:
        """Return the one side's change that affects some steps; `None` if it is a removal."""
        starts = sorted(self._starts, key=lambda each: each not in affected)
        found = (i for i in starts if self._spread([i], ()).steps & affected)
        return next(found, None)

    @cached_property
    def _reverse(self) -> "Disturbance":
        """The effects of the other's work."""
        return Disturbance(self.merged, self.other, self.one)

    @cached_property
    def always(self) -> frozenset[int]:
        """The merged steps that are affected even if the one side's new options are not used."""
        starts = [i for i in self._starts if not self._is_optional(i)]
        return self._spread(starts, list(self._orphans_in_merge())).steps

    @cached_property
    def sometimes(self) -> Spread:
        """What may be affected in the merged function."""
        return self._spread(self._starts, list(self._orphans_in_merge()))

    @cached_property
    def own(self) -> Spread:
        """What may be affected in the one side's own version."""
        starts = [self.one.origins[i] for i in self._starts]
        return Spread.of(self.one.graph, starts, self._orphans, ())

    @cached_property
    def _starts(self) -> list[int]:
        changes = self.one.changes
        return [i for i, change in changes.items() if change in MEANT and not self._prepares(i)]

    def _spread(self, starts: Collection[int], orphans: Collection[Read]) -> Spread:
        # Skipping the other side's steps leaves the side's own version.
        return Spread.of(self.merged, starts, orphans, self.other.changes)

    @cached_property
    def _orphans(self) -> frozenset[Read]:
        """What steps of the one side read instead of a value that it no longer computes."""
        base, work = self.one.base, self.one
        steps = base.steps
        now = {before: own for own, before in work.before.items()}
        return frozenset(
            (now[use], name)
            for gone in work.gone
            for name in steps[gone].facts.sets - work.sets_anew
            for use in base.uses(gone, name)
            if use in now
            and name in steps[use].facts.direct & work.graph.steps[now[use]].facts.reads
        )

    def _orphans_in_merge(self) -> Iterator[Read]:
        """Yield what is read instead in the merged function as well."""
        places, graph = self.one.places, self.one.graph
        for own, name in self._orphans:
            sources = {places.get(source) for source in graph.sources(own, name)}
            place = places.get(own)
            if place is not None and not self.merged.sources(place, name).isdisjoint(sources):
                yield place, name

    def _uses(self) -> Iterator[Clash]:
        """The value or condition that the other's new work relies on has changed."""
        for i, change in self.other.changes.items():
            if change not in MEANT:
                continue
            is_optional = self.other.is_optional(self.other.origins[i])
            affected = self.always if is_optional else self.sometimes.steps
            for name in sorted(self._needed(i)):
                sources = self.merged.sources(i, name) & affected - {i}
                if self._lacks(i, name) or any(name in self._sets(at) for at in sources):
                    problem = f"one side changes {_shown(name)}, the other how it is used"
                    yield self._clash(problem, self.cause(sources), i)
            if change is Change.NEW:
                for name, at in sorted(self._renewed(i)):
                    problem = f"one side changes {_shown(name)}, which the other passes on"
                    yield self._clash(problem, at, i)
            for head in self.merged.steps[i].within:
                is_new = self.one.changes.get(head) is Change.NEW
                if head in affected and not is_new and self.merged.steps[head].decides:
                    yield self._clash(_CONDITION, self.cause({head}), i)
            own = self.other.step(i).within
            if any(self.other.before.get(head) in self.one.gone for head in own):
                new = (at for at in self.merged.steps[i].within[::-1] if at in self.one.changes)
                yield self._clash(_CONDITION, next(new, None), i)

    def _needed(self, merged: int) -> frozenset[bytes]:
        """Return the base's variables whose values the other's step works with."""
        direct = self.merged.steps[merged].facts.direct
        return direct & self.other.step(merged).facts.direct & self._known

    def _renewed(self, merged: int) -> Iterator[tuple[bytes, int]]:
        """Yield variables whose new value a new step only passes on, and the steps that set it."""
        facts = self.merged.steps[merged].facts
        only = facts.reads & self.other.step(merged).facts.reads - facts.direct - facts.sets
        for name in only & self._known:
            sources = sorted(self.merged.sources(merged, name))
            renewed = (at for at in sources if self._renews(self.one, at, name))
            yield from ((name, at) for at in renewed if not self._prepares(at))

    def _renews(self, work: Work, at: int, name: bytes) -> bool:
        """Whether a side's new step always makes a variable's new value from its old one."""
        is_own = work.changes.get(at) is Change.NEW and name in self._sets(at)
        if not is_own or name not in self.merged.steps[at].facts.reads:
            return False
        return not work.is_optional(work.origins[at])

    def _prepares(self, at: int) -> bool:
        """Whether a new step of the one side prepares a value with a call, as `name = clean(name)`.

        Then what uses the value afterwards is meant for the new one, since the one side left all
        uses of the base as they were.
        """
        names = self._sets(at)
        edited = (i for i, change in self.one.changes.items() if change is Change.EDITED)
        before = {self.one.before[self.one.origins[i]] for i in edited}.union(self.one.gone)
        reads = (self.one.base.steps[i].facts.reads for i in before)
        is_new = bool(names) and all(self._renews(self.one, at, name) for name in names)
        used = chain(self.merged.steps[at].facts.direct, *reads)
        return is_new and names.isdisjoint(used)

    def _outdated(self) -> Iterator[Clash]:
        """The one side takes a value, to work with it, before the other makes a new one from it."""
        steps = self.merged.steps
        for i in self.other.changes:
            for name in self._sets(i) & self._known:
                if not self._renews(self.other, i, name):
                    continue
                uses = self.other.graph.uses(self.other.origins[i], name)
                places = {self.other.places.get(use, -1) for use in uses} & self.one.changes.keys()
                for at in self._taken_for(places, name):
                    if name in steps[at].facts.reads and i not in self.merged.sources(at, name):
                        problem = f"one side takes {_shown(name)} before the other changes it"
                        yield self._clash(problem, at, i)

    def _taken_for(self, places: Collection[int], name: bytes) -> Iterator[int]:
        """Yield the one side's steps that set what its steps at *places* read instead of a name."""
        steps = self.merged.steps
        for place in places:
            if name not in steps[place].facts.reads:
                for taken in steps[place].facts.reads:
                    yield from self.merged.sources(place, taken) & self.one.changes.keys()

    def _lacks(self, merged: int, name: bytes) -> bool:
        """Whether the one side no longer computes a value that the other's step reads."""
        sources = self.other.graph.sources(self.other.origins[merged], name)
        before = {self.other.before[at] for at in sources if at in self.other.before}
        return not before.isdisjoint(self.one.gone) and name not in self.one.sets_anew

    def _sets(self, merged: int) -> frozenset[bytes]:
        return self.merged.steps[merged].facts.sets

    @property
    def _known(self) -> frozenset[bytes]:
        return frozenset(name for step in self.one.base.steps for name in step.facts.sets)

    def _rest(self) -> Iterator[Clash]:
        """The other's changes reach more or less of the base's statements than in its version."""
        effects = self._reverse
        places, origins = self.other.places, self.other.origins
        mine = self.one.changes
        own = {(places.get(at), places.get(use), name) for at, use, name in effects.own.flows}
        for at, use, name in sorted(effects.sometimes.flows - own):
            if at in origins and use in origins and not {at, use} & mine.keys():
                yield self._clash(_ELSEWHERE % _shown(name), None, effects.cause({at}))
        for step, name in sorted(effects.own.reads):
            use = places.get(step, -1)
            is_lost = use >= 0 and (use, name) not in effects.sometimes.reads
            if is_lost and use not in mine and not self._passes(use, name):
                yield self._clash(_ELSEWHERE % _shown(name))
        for step, name in sorted(effects.own.reads):
            if self._drops(step, name):
                problem = f"one side changes what uses {_shown(name)}, the other its value"
                if name not in self._known:
                    problem = f"one side changes where the other uses its new {_shown(name)}"
                place = self.other.places.get(step)
                clash = self._clash(problem, place if place in self.one.changes else None)
                yield clash._replace(theirs=self.other.graph.steps[step].header)

    def _passes(self, use: int, name: bytes) -> bool:
        """Whether a step of the one side takes a value and sets the variable anew from it."""
        sources = self.merged.sources(use, name) & self.one.changes.keys()
        return any(name in self.merged.steps[at].facts.reads for at in sources)

    def _drops(self, step: int, name: bytes) -> bool:
        """Whether the one side removed the base's use of a variable in a step of the other's."""
        kept = (i for i, change in self.one.changes.items() if change in _SETTING)
        if self.other.before.get(step) in self.one.gone:
            return not any(name in self.one.step(i).facts.reads for i in kept)
        place = self.other.places.get(step, -1)
        if self.one.changes.get(place) is not Change.EDITED:
            return False
        now = self.one.step(place) if name in self._known else self.merged.steps[place]
        return name not in now.facts.reads

    def _mixes(self) -> Iterator[Clash]:
        """A statement of the base gets a value from the one side or from the other."""
        mine, other = self.always, self._reverse.always
        for use, name in sorted(self._reverse.sometimes.reads):
            sources = self.merged.sources(use, name)
            own, others = sources & mine - other, sources & other - mine
            if own and others:
                yield self._clash(f"both sides change {_shown(name)}", min(own), min(others))

    def _removes(self) -> Iterator[Clash]:
        """Both remove values of one variable, so that an older one comes through."""
        sides = (set(self.one.gone), set(self.other.gone))
        steps = self.one.base.steps
        mine, other = (
            {name for i in gone - shared for name in steps[i].facts.sets}
            for gone, shared in (sides, sides[::-1])
        )
        if both := (mine & other) - self.one.sets_anew - self.other.sets_anew:
            yield self._clash(f"both sides remove statements that set {_shown(min(both))}")

    def _overwrites(self) -> Iterator[Clash]:
        """The one side sets a variable before the value that the other gave it is used."""
        for i in sorted(self.other.changes):
            for name in sorted(self._sets(i)):
                for at in self.merged.overwriting(i, name):
                    if self._replaces(at, name) and self._loses(i, at, name):
                        problem = f"one side overwrites {_shown(name)}, which the other computes"
                        yield self._clash(problem, at, i)

    def _replaces(self, at: int, name: bytes) -> bool:
        """Whether a step of the one side always gives a variable a value of its own."""
        if self.one.changes.get(at) not in _SETTING or at in self.other.changes:
            return False
        reads = self.merged.steps[at].facts.reads
        return name not in reads and not self._is_optional(at)

    def _loses(self, computed: int, at: int, name: bytes) -> bool:
        """Whether a use that the computed value had in the other's version gets another one."""
        own, graph = self.other.origins[computed], self.other.graph
        if self.other.origins.get(at) in graph.overwriting(own, name):
            return False  # there as well
        places = (self.other.places.get(use) for use in graph.uses(own, name))
        if not self.merged.uses(at, name).isdisjoint(places):
            return True
        outlives = b"." in name and graph.reaches_end(own, name)
        return outlives and not self.merged.reaches_end(computed, name)

    def _both(self) -> Iterator[Clash]:
        """Both introduce a variable, and the other uses the one side's."""
        common = self.one.origins.keys() & self.other.origins.keys()
        shared = {name for i in common for name in self._sets(i)}
        for i in self.one.changes:
            for name in self._sets(i) - self._known - shared:
                for use in self.merged.uses(i, name):
                    is_theirs = use in self.other.changes and use not in self.one.changes
                    if is_theirs and name in self.other.step(use).facts.reads:
                        yield self._clash(f"both sides introduce {_shown(name)}", i, use)

    def _orders(self) -> Iterator[Clash]:
        """The one sets a variable anew where the other's new work reads it: in which order?"""
        for i, change in self.one.changes.items():
            # The names in a pattern are new ones, or the arguments of a call.
            is_pattern = self.merged.steps[i].kind in {"case", "arm"}
            if change is not Change.NEW or is_pattern or self._is_optional(i):
                continue
            for name in sorted(self._sets(i) & self._known):
                last = i if self._prepares(i) else len(self.merged.steps)
                uses = (
                    e for e in self.other.changes if e < last and self._reads_beside(i, e, name)
                )
                if (use := next(uses, None)) is not None:
                    problem = f"one side changes {_shown(name)} where the other's new work reads it"
                    yield self._clash(problem, i, use)

    def _reads_beside(self, setting: int, use: int, name: bytes) -> bool:
        """Whether the other's new step reads the base's value, with no step of the base between.

        If both only pass the value on and set the variable, as in `x = f(x)`, the steps are taken
        one after the other.
        """
        work, facts = self.other, self.other.step(use).facts
        is_in_turn = name in facts.sets and name not in self.merged.steps[setting].facts.direct
        if work.changes[use] not in _ADDED or name not in facts.reads or is_in_turn:
            return False
        sources = work.graph.sources(work.origins[use], name)
        between = range(min(setting, use), max(setting, use) + 1)
        return sources <= work.before.keys() and all(
            self.one.changes.get(each) in _ADDED or work.changes.get(each) in _ADDED
            for each in between
        )

    def _leaves(self) -> Iterator[Clash]:
        """The one side leaves before what the other's work affects is done."""
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
        inner, outer = ({*steps[at].within, at}, {*steps[exit_].within})
        return any(
            are_exclusive(steps[one].header, steps[other].header)
            and not self._is_set_between(steps[one].facts.reads, *sorted((one, other)))
            for one, other in product(inner - outer, outer - inner)
        )

    def _is_set_between(self, names: AbstractSet[bytes], start: int, end: int) -> bool:
        return any(not names.isdisjoint(self._sets(i)) for i in range(start, end))

    def _guesses(self) -> Iterator[Clash]:
        """Both insert at one place: the one side an exit, the other a call that it might skip."""
        for exit_, _ in self._exits():
            head = self.one.head_of(exit_) or 0
            if self._is_optional(exit_) or self.one.changes.get(head) is not Change.NEW:
                continue
            for at in range(head - 1, 0, -1):
                if self.other.changes.get(at) is Change.NEW:
                    acts = self.merged.steps[at].acts
                    acts = acts and not self.other.is_optional(self.other.origins[at])
                    # Of two cases of a `switch`, only one is executed.
                    if acts and exit_ in self.merged.onwards(at):
                        problem = "one side may leave before what the other does at that place"
                        yield self._clash(problem, exit_, at)
                elif self.one.changes.get(at) is not Change.NEW:
                    break

    def _halves(self) -> Iterator[Clash]:
        """The one side's new option leaves with a value of which the other changes more later."""
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

    def _is_optional(self, merged: int) -> bool:
        return self.one.is_optional(self.one.origins[merged])

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
        """Yield the one side's new exits under conditions, and the steps that each may skip.

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
        """The one side's new condition covers a part of the other's work, but not all of it."""
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
        """Whether the one side has a copy of a step of the other's outside of a condition."""
        steps = self.merged.steps
        outside = (steps[i] for i in self.one.changes if head not in steps[i].within)
        return any(extends(steps[at].header, each.header) for each in outside)

    def _closes(self) -> Iterator[Clash]:
        """The other uses a value that the one side's new `with` has closed by then."""
        steps = self.merged.steps
        for i, change in self.one.changes.items():
            if change is not Change.NEW or steps[i].kind != "with":
                continue
            for name in sorted(self._sets(i) & self._known):
                for use in self.merged.uses(i, name) & self.other.changes.keys():
                    if i not in steps[use].within and name in self.other.step(use).facts.reads:
                        problem = f"one side closes {_shown(name)} before the other uses it"
                        yield self._clash(problem, i, use)

    def _copies(self) -> Iterator[Clash]:
        """The other copied a call that the one side changes everywhere."""
        base, one, other, merged = (
            calls_in(graph)
            for graph in (self.one.base, self.one.graph, self.other.graph, self.merged)
        )
        for call, places in base.items():
            copies = [own for own in other.get(call, ()) if own not in self.other.before]
            if call in one or call not in merged or not copies:
                continue
            is_extended = all(self._is_extended(place) for place in places)
            if is_extended and all(map(self.other.is_optional, copies)):
                continue
            problem = f"one side changes a call of {_shown(call.split()[0])}, the other copies it"
            own = [now for now, old in self.one.before.items() if old in places]
            yield Clash(
                problem,
                self.one.graph.steps[own[0]].header if own else None,
                self.other.graph.steps[copies[0]].header,
            )

    def _is_extended(self, before: int) -> bool:
        """Whether the one side only extended a step of the base."""
        place = next((own for own, old in self.one.before.items() if old == before), None)
        merged = None if place is None else self.one.places.get(place)
        return merged is not None and self.one.changes.get(merged) is Change.EXTENDED


def _shown(name: bytes) -> str:
    return repr(name.decode("utf-8", "replace"))

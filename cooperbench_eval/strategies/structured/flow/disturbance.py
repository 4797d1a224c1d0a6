"""Finds where one side's changes to a function disturb the other's."""

from collections.abc import Collection, Iterator

from cooperbench_eval.strategies.structured.flow.influence import Clash, shown
from cooperbench_eval.strategies.structured.flow.paths import PathRules
from cooperbench_eval.strategies.structured.flow.work import MEANT, Change, asked_for

_SETTING = frozenset({Change.NEW, Change.EDITED, Change.NAMING})
_ADDED = frozenset({Change.NEW, Change.NAMING})
_ELSEWHERE = "one side changes where the other's new value of %s is used"
_CONDITION = "one side changes a condition, the other what depends on it"


class Disturbance(PathRules):
    """The effects of one side's work, and what they do to the other's."""

    def find(self) -> Clash | None:
        """Return the first disturbance, with one side as ours."""
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

    def _uses(self) -> Iterator[Clash]:
        """The value or condition that the other's new work relies on has changed."""
        for i, change in self.other.changes.items():
            if change not in MEANT and not self._takes(i):
                continue
            is_optional = self.other.is_optional(self.other.origins[i])
            affected = self.always if is_optional else self.sometimes.steps
            for name in () if self.still_asks(i) else sorted(self._needed(i)):
                sources = self.merged.sources(i, name) & affected - {i}
                if self._lacks(i, name) or any(name in self._sets(at) for at in sources):
                    problem = f"one side changes {shown(name)}, the other how it is used"
                    yield self._clash(problem, self.cause(sources), i)
            if change is Change.NEW:
                for name, at in sorted(self._renewed(i)):
                    problem = f"one side changes {shown(name)}, which the other passes on"
                    yield self._clash(problem, at, i)
            for head in self.merged.steps[i].within:
                is_new = self.one.changes.get(head) is Change.NEW
                decides = self.merged.steps[head].decides or head in self._carrying
                if head in affected and not is_new and decides and not self.still_asks(head):
                    yield self._clash(_CONDITION, self.cause({head}), i)
            own = self.other.step(i).within
            if any(self.other.before.get(head) in self.one.gone for head in own):
                new = (at for at in self.merged.steps[i].within[::-1] if at in self.one.changes)
                yield self._clash(_CONDITION, next(new, None), i)

    def still_asks(self, head: int) -> bool:
        """Whether a condition only compares a value with nothing, such as `None`.

        If one side changes the value, it must only get it from another function. What the other
        side does under the condition is meant for any such value.
        """
        facts, (name, _) = self.merged.steps[head].facts, asked_for(self.merged.steps[head].header)
        if not name or (head in self.one.changes and not self.one.is_of_other_function(head)):
            return False
        sources = {each: self.merged.sources(head, each) for each in facts.reads}
        return all(
            each == name and self.one.is_of_other_function(at)
            for each, found in sources.items()
            for at in found & self.sometimes.steps
        )

    def _needed(self, merged: int) -> frozenset[bytes]:
        """Return the base's variables whose values the other's step works with."""
        direct = self.merged.steps[merged].facts.direct
        return direct & self.other.step(merged).facts.direct & self._known

    def _renewed(self, merged: int) -> Iterator[tuple[bytes, int]]:
        """Yield variables whose new value a new step only passes on, and the steps that set it."""
        facts = self.merged.steps[merged].facts
        only = facts.reads & self.other.step(merged).facts.reads - facts.direct - facts.sets
        for name in only & self._known:
            if self._repeats(merged, name):
                continue
            sources = sorted(self.merged.sources(merged, name))
            renewed = (at for at in sources if self._renews(self.one, at, name))
            yield from ((name, at) for at in renewed if not self._prepares(at))

    def _outdated(self) -> Iterator[Clash]:
        """One side takes a value to work with before the other makes a new one from it."""
        steps = self.merged.steps
        for i in self.other.changes:
            for name in self._sets(i) & self._known:
                if not self._renews(self.other, i, name):
                    continue
                uses = self.other.graph.uses(self.other.origins[i], name)
                places = {self.other.places.get(use, -1) for use in uses} & self.one.changes.keys()
                for at in self._taken_for(places, name):
                    if name in steps[at].facts.reads and i not in self.merged.sources(at, name):
                        problem = f"one side takes {shown(name)} before the other changes it"
                        yield self._clash(problem, at, i)

    def _taken_for(self, places: Collection[int], name: bytes) -> Iterator[int]:
        """Yield one side's steps that set what it reads at *places* instead of a name."""
        steps = self.merged.steps
        for place in places:
            if name not in steps[place].facts.reads:
                for taken in steps[place].facts.reads:
                    yield from self.merged.sources(place, taken) & self.one.changes.keys()

    def _lacks(self, merged: int, name: bytes) -> bool:
        """Whether one side no longer computes a value that the other's step reads."""
        sources = self.other.graph.sources(self.other.origins[merged], name)
        before = {self.other.before[at] for at in sources if at in self.other.before}
        return not before.isdisjoint(self.one.gone) and name not in self.one.sets_anew

    def _rest(self) -> Iterator[Clash]:
        """The other's changes reach more or fewer statements of the base than in its version."""
        effects = self._reverse
        places, origins = self.other.places, self.other.origins
        mine = self.one.changes
        own = {(places.get(at), places.get(use), name) for at, use, name in effects.own.flows}
        for at, use, name in sorted(effects.sometimes.flows - own):
            if at in origins and use in origins and not {at, use} & mine.keys():
                yield self._clash(_ELSEWHERE % shown(name), None, effects.cause({at}))
        for step, name in sorted(effects.own.reads):
            use = places.get(step, -1)
            is_lost = use >= 0 and (use, name) not in effects.sometimes.reads
            if is_lost and use not in mine and not self._passes(use, name):
                yield self._clash(_ELSEWHERE % shown(name))
        for step, name in sorted(effects.own.reads):
            if self._drops(step, name):
                problem = f"one side changes what uses {shown(name)}, the other its value"
                if name not in self._known:
                    problem = f"one side changes where the other uses its new {shown(name)}"
                place = self.other.places.get(step)
                clash = self._clash(problem, place if place in self.one.changes else None)
                yield clash._replace(theirs=self.other.graph.steps[step].header)

    def _passes(self, use: int, name: bytes) -> bool:
        """Whether one side's step makes a variable's new value from its old one."""
        sources = self.merged.sources(use, name) & self.one.changes.keys()
        return any(name in self.merged.steps[at].facts.reads for at in sources)

    def _drops(self, step: int, name: bytes) -> bool:
        """Whether one side removed the base's use of a variable in a step of the other's."""
        kept = (i for i, change in self.one.changes.items() if change in _SETTING)
        if self.other.before.get(step) in self.one.gone:
            return not any(name in self.one.step(i).facts.reads for i in kept)
        place = self.other.places.get(step, -1)
        if self.one.changes.get(place) is not Change.EDITED:
            return False
        now = self.one.step(place) if name in self._known else self.merged.steps[place]
        return name not in now.facts.reads

    def _mixes(self) -> Iterator[Clash]:
        """A statement of the base may get a value from either side."""
        mine, other = self.always, self._reverse.always
        for use, name in sorted(self._reverse.sometimes.reads):
            sources = self.merged.sources(use, name)
            own, others = sources & mine - other, sources & other - mine
            asks = self.still_asks(use) or self._reverse.still_asks(use)
            if own and others and not asks:
                yield self._clash(f"both sides change {shown(name)}", min(own), min(others))

    def _removes(self) -> Iterator[Clash]:
        """Both remove assignments to one variable, so that an older value is left."""
        sides = (set(self.one.gone), set(self.other.gone))
        steps = self.one.base.steps
        mine, other = (
            {name for i in gone - shared for name in steps[i].facts.sets}
            for gone, shared in (sides, sides[::-1])
        )
        if both := (mine & other) - self.one.sets_anew - self.other.sets_anew:
            yield self._clash(f"both sides remove statements that set {shown(min(both))}")

    def _overwrites(self) -> Iterator[Clash]:
        """One side sets a variable before the value that the other gave it is used."""
        for i in sorted(self.other.changes):
            for name in sorted(self._sets(i)):
                for at in self.merged.overwriting(i, name):
                    if self._replaces(at, name) and self._loses(i, at, name):
                        problem = f"one side overwrites {shown(name)}, which the other computes"
                        yield self._clash(problem, at, i)

    def _replaces(self, at: int, name: bytes) -> bool:
        """Whether a step of one side always gives a variable a value of its own."""
        if self.one.changes.get(at) not in _SETTING or at in self.other.changes:
            return False
        step = self.merged.steps[at]
        is_default = step.within and asked_for(self.merged.steps[step.within[-1]].header)
        is_kept = name in step.facts.reads or is_default == (name, True)
        return not is_kept and not self._is_optional(at)

    def _loses(self, computed: int, at: int, name: bytes) -> bool:
        """Whether what used the computed value in the other's version gets another one."""
        own, graph = self.other.origins[computed], self.other.graph
        if self.other.origins.get(at) in graph.overwriting(own, name):
            return False  # there as well
        places = (self.other.places.get(use) for use in graph.uses(own, name))
        if not self.merged.uses(at, name).isdisjoint(places):
            return True
        outlives = b"." in name and graph.reaches_end(own, name)
        return outlives and not self.merged.reaches_end(computed, name)

    def _both(self) -> Iterator[Clash]:
        """Both introduce a variable, and the other uses one side's."""
        shared = {
            name
            for i in self.one.origins.keys() & self.other.origins.keys()
            for name in self._sets(i) - self._set_by_both(i)
        }
        for i in self.one.changes:
            for name in self._sets(i) - self._known - shared:
                for use in self.merged.uses(i, name):
                    is_theirs = use in self.other.changes and use not in self.one.changes
                    if is_theirs and name in self.other.step(use).facts.reads:
                        yield self._clash(f"both sides introduce {shown(name)}", i, use)

    def _set_by_both(self, merged: int) -> frozenset[bytes]:
        """Return the variables that both sides' changes of a step set, though not alike."""
        if merged not in self.one.changes or merged not in self.other.changes:
            return frozenset()
        return self.one.step(merged).facts.sets & self.other.step(merged).facts.sets

    def _orders(self) -> Iterator[Clash]:
        """One side sets a variable again where the other's new work reads it."""
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
                    problem = f"one side changes {shown(name)} where the other's new work reads it"
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
        if self._repeats(use, name):
            return False
        sources = work.graph.sources(work.origins[use], name)
        between = range(min(setting, use), max(setting, use) + 1)
        return sources <= work.before.keys() and all(
            self.one.changes.get(each) in _ADDED or work.changes.get(each) in _ADDED
            for each in between
        )

    def _repeats(self, use: int, name: bytes) -> bool:
        """Whether the other's new step repeats a step of the base, and both read the same value."""
        sources = self.merged.sources(use, name)
        return any(
            self.merged.sources(each, name) == sources
            for each in self.other.copied(use)
            if each not in self.one.changes
        )

    def _closes(self) -> Iterator[Clash]:
        """The other uses a value that one side's new `with` has already closed."""
        steps = self.merged.steps
        for i, change in self.one.changes.items():
            if change is not Change.NEW or steps[i].kind != "with":
                continue
            for name in sorted(self._sets(i) & self._known):
                for use in self.merged.uses(i, name) & self.other.changes.keys():
                    if i not in steps[use].within and name in self.other.step(use).facts.reads:
                        problem = f"one side closes {shown(name)} before the other uses it"
                        yield self._clash(problem, i, use)

"""Combines what both sides do with a returned value."""

from attrs import frozen

from cooperbench_eval.languages.alignment import similarity
from cooperbench_eval.languages.tree import Construct, Elements
from cooperbench_eval.strategies.structured.ordering import may_leave
from cooperbench_eval.strategies.structured.rules.merger import Merger
from cooperbench_eval.strategies.structured.rules.statements import target_of, value_of, with_value

__all__ = ["merge_returns"]

_LEAST_ALIKE = 0.5


def merge_returns(
    merger: Merger, base: Elements, ours: Elements, theirs: Elements
) -> Elements | None:
    """Combine two sides that turned `return value` into work on a named value.

    One side's work is done first, then the other side's work on its result. A side that
    may return early comes second.
    """
    if len(base) != 1 or base[0].kind != "return":
        return None
    mine, other = (_Return.of(value_of(base[0]), side) for side in (ours, theirs))
    if mine is None or other is None or (mine.leaves_early and other.leaves_early):
        return None
    value = merger.merge(value_of(base[0]), mine.value, other.value)
    if not isinstance(value, Construct):
        return None
    theirs_first = (
        merger.theirs_first if mine.leaves_early == other.leaves_early else mine.leaves_early
    )
    first, second = (other, mine) if theirs_first else (mine, other)
    return first.then(second, value)


@frozen(kw_only=True)
class _Return:
    """Statements that compute a value, name it, work on it, and return a result.

    Attributes:
        before: The statements before the value is computed.
        value: The value.
        naming: The assignment of the value; `None` if it is returned directly.
        work: The statements between the assignment and the `return`.
        last: The `return`.
    """

    before: Elements
    value: Construct
    naming: Construct | None
    work: Elements
    last: Construct

    @classmethod
    def of(cls, value: Construct, statements: Elements) -> "_Return | None":
        """Match the statements into which a side turned `return value`, or return `None`."""
        if not statements:
            return None
        last = statements[-1]
        if not isinstance(last, Construct) or last.kind != "return":
            return None
        if _are_alike(value_of(last), value):
            return cls(
                before=statements[:-1], value=value_of(last), naming=None, work=(), last=last
            )
        for i, each in enumerate(statements):
            if isinstance(each, Construct) and each.kind == "assignment":
                found = value_of(each)
                if _are_alike(found, value):
                    before, work = statements[:i], statements[i + 1 : -1]
                    return cls(before=before, value=found, naming=each, work=work, last=last)
        return None

    @property
    def leaves_early(self) -> bool:
        return any(map(may_leave, self.work))

    def then(self, other: "_Return", value: Construct) -> Elements:
        """Return statements for this side's work on *value*, then the other's on the result."""
        before = (*self.before, *other.before)
        if self.naming is None or other.naming is None:
            one = other if self.naming is None else self
            last = one.last if one.naming else with_value(one.last, value.children)
            return (*before, *one.named(value), *one.work, last)
        handed = value_of(self.last)
        is_named = [handed.plain] == target_of(other.naming).split()[:1]
        passing = () if is_named else (with_value(other.naming, handed.children),)
        return (*before, *self.named(value), *self.work, *passing, *other.work, other.last)

    def named(self, value: Construct) -> Elements:
        return () if self.naming is None else (with_value(self.naming, value.children),)


def _are_alike(one: Construct, other: Construct) -> bool:
    return similarity(one.words(), other.words()) >= _LEAST_ALIKE

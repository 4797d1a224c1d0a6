"""The record `LandingPlan`: which patches can land together, and why the others cannot."""

import operator
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.languages.hazards.kinds import Hazard
from cooperbench_eval.reporting.jsonrecord import JsonRecord
from cooperbench_eval.reporting.landings import LeftOut
from cooperbench_eval.reporting.options import UsedOptions, about_dropped
from cooperbench_eval.support.arguments import checked, named_fields
from cooperbench_eval.support.rendering.shown import Shown

_Numbers = tuple[int, ...]


class PairOutcome(StrEnum):
    """What merging one patch into another gives."""

    CLEAN = "clean"
    """The merge has no conflict."""
    RESOLVED = "resolved"
    """The strategy resolves all its conflicts."""
    CONFLICT = "conflict"
    """Conflicts are left open, or the strategy fails."""
    BREAKS_TESTS = "breaks_tests"
    """The merge is complete, but a test of one of the patches fails on its tree."""
    NOT_EXAMINED = "not_examined"
    """It was not tried."""


@frozen(kw_only=True, field_transformer=named_fields)
class PairMerge:
    """The merge of one patch into another.

    Attributes:
        into: The number of the patch into which the other one is merged.
        number: The number of the patch that is merged.
        outcome: What it gives.
    """

    into: int
    number: int
    outcome: PairOutcome = field(converter=PairOutcome)


@frozen(kw_only=True, field_transformer=named_fields)
class OrderDependence:
    """A set of patches whose order matters.

    Attributes:
        patches: The numbers of the patches.
        lands: An order in which they merge.
        fails: An order in which they do not; empty if they merge in every order.
        trees: How many different trees their orders give.
    """

    patches: _Numbers = field(converter=tuple[int, ...])
    lands: _Numbers = field(converter=tuple[int, ...])
    fails: _Numbers = field(default=(), converter=tuple[int, ...])
    trees: int


def _sets(sets: Any) -> tuple[_Numbers, ...]:
    return tuple(map(tuple, sets))


@frozen(kw_only=True, field_transformer=named_fields)
class LandingPlan(Shown, JsonRecord):
    r"""Which of several patches can land together, and in what order.

    Attributes:
        strategy: The strategy's name.
        order: The numbers of the patches that land, in the order in which they do.
        left_out: The other patches in the given order, each with the reason.
        merges: The merges of every two patches that apply and differ, in both orders.
        minimal_conflicts: The sets that cannot land, and of which no proper subset is known not
            to land, as far as they were examined: see *examined_size* and *is_exact*.
        order_dependent: The sets whose order matters, whatever their tests say: they merge
            only in some orders, or give different trees. Listed are sets of up to
            *examined_size* patches, small ones first.
        examined_size: All sets of up to so many patches were merged in all orders.
        has_tests: Whether there are tests that decide.
        is_tested: Whether the tests pass on the tree of the plan. If there are tests and this
            is false, no set has passed; the plan is then a largest set that is not known to
            fail.
        is_exact: Whether it is certain that no larger set can land.
        runs_used: How many test runs were asked for, whether or not a cache answered them.
        budget: How many were allowed.
        problem: Why the plan says less than was asked: the search ended early, for example because
            the base cannot be read any more, or tests have no answer. Else empty.
        base_tree_id: The git tree id of the base.
        base_commit: The id of the base's commit, if the base is a commit.
        tree_id: The git tree id of the base with the landed patches.
        changes: What the landed patches together change in the base.
        options: The options that were used; `None` if that is not known.
        dropped_files: The test files of the agents that were dropped, sorted.
        hazards: What looks wrong in the tree of the plan, although it merges. They decide nothing.

    Example:
        >>> from cooperbench_eval import Entry, land
        >>> base = Snapshot.from_files({"a": b"1\n", "b": b"1\n"})
        >>> edits = [("a", b"2\n"), ("a", b"3\n"), ("b", b"2\n")]
        >>> patches = [Changes({path: Entry(text)}) for path, text in edits]
        >>> plan = land(base, patches, strategy="naive")
        >>> plan.landed, plan.minimal_conflicts, plan.left_out[0].features
        ((1, 3), ((1, 2),), (1,))
    """

    _kind = "landing plan"

    strategy: str
    order: _Numbers = field(converter=tuple[int, ...])
    left_out: tuple[LeftOut, ...] = field(default=(), converter=tuple[LeftOut, ...])
    merges: tuple[PairMerge, ...] = field(default=(), converter=tuple[PairMerge, ...], repr=False)
    minimal_conflicts: tuple[_Numbers, ...] = field(default=(), converter=_sets)
    order_dependent: tuple[OrderDependence, ...] = field(
        default=(), converter=tuple[OrderDependence, ...]
    )
    examined_size: int = 0
    has_tests: bool = False
    is_tested: bool = False
    is_exact: bool = False
    runs_used: int = 0
    budget: int = field(default=0, converter=operator.index)
    problem: str = ""
    base_tree_id: str
    base_commit: str | None = None
    tree_id: str
    changes: Changes = field(factory=Changes, repr=False)
    options: UsedOptions | None = field(default=None, repr=False)
    dropped_files: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    hazards: tuple[Hazard, ...] = field(default=(), converter=tuple[Hazard, ...], repr=False)

    @left_out.validator
    def _check_numbers(self, _: object, left_out: tuple[LeftOut, ...]) -> None:
        numbers = [*self.order, *(each.number for each in left_out)]
        if twice := sorted({each for each in numbers if numbers.count(each) > 1}):
            raise ValueError(f"the plan has {', '.join(map(str, twice))} more than once")

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know about the plan, as sentences."""
        return about_dropped(self.dropped_files)

    @property
    def landed(self) -> _Numbers:
        """The numbers of the patches that land, sorted."""
        return tuple(sorted(self.order))

    @property
    def numbers(self) -> _Numbers:
        """The numbers of all patches, sorted."""
        return tuple(sorted((*self.order, *(each.number for each in self.left_out))))

    @property
    def pairs(self) -> Mapping[tuple[int, int], PairOutcome]:
        """What merging the second patch into the first gives, by their numbers."""
        return {(each.into, each.number): each.outcome for each in self.merges}

    @checked
    def diff(self, base: Snapshot) -> bytes:
        """Return the landed patches together as a git diff against *base*."""
        return self.changes.diff(base)

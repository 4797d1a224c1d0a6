"""Each law is broken by what it forbids, in one case, and kept by a strategy that does no such."""

import os
from pathlib import Path

import pytest

import cooperbench_eval as ce
from cooperbench_eval.testing import STRATEGY_LAWS
from cooperbench_eval.testing.cases import MergeCase
from cooperbench_eval.testing.records import BrokenError
from cooperbench_eval.testing.strategy_trial import StrategyTrial

LAWS = {law.name: law for law in STRATEGY_LAWS}


def case_of(base, ours, theirs):
    """A question to a strategy, of three versions of each file."""
    tree = ce.Snapshot.from_files(base)
    sides = (ce.Snapshot.from_files(side) for side in (ours, theirs))
    ours, theirs = (ce.Changes.between(tree, side) for side in sides)
    return MergeCase(base=tree, ours=ours, theirs=theirs)


CONFLICT = case_of({"f": b"1\n"}, {"f": b"a\n"}, {"f": b"b\n"})
APART = case_of({"f": b"1\n", "g": b"1\n"}, {"f": b"a\n", "g": b"1\n"}, {"f": b"1\n", "g": b"b\n"})


class By:
    """A strategy that is a function."""

    name = "by"
    is_symmetric = True

    def __init__(self, merge):
        """Take the function."""
        self.merge = merge


def leave_open(given):
    """Return the three-way merge as it is."""
    return ce.resolve_conflicts(given, lambda _: None)


def add_a_file(given):
    """Put a file of its own beside the others."""
    changes = ce.Changes({**given.merge.changes, "own": ce.Entry(b"own\n")})
    return ce.MergeOutcome(changes=changes, conflicts=given.conflicts)


def invent_a_conflict(given):
    """Return the right files, and a conflict in one of them."""
    invented = ce.Conflict(path="f", kind="binary", base=b"", ours=b"1", theirs=b"2")
    return ce.MergeOutcome(changes=given.merge.changes, conflicts=[*given.conflicts, invented])


def forget_our_g(given):
    """Return what theirs changed alone where ours changed one of the files."""
    changes = given.theirs if "g" in given.ours else given.merge.changes
    return ce.MergeOutcome(changes=changes, conflicts=given.conflicts)


def go_elsewhere(given):
    """Change the folder of the process."""
    os.chdir(Path.cwd().parent)
    return leave_open(given)


def resolve_one_order(given):
    """Resolve a conflict where one side comes first, and not the other."""
    return ce.resolve_conflicts(given, lambda c: c.ours if c.ours == b"b\n" else None)


@pytest.mark.parametrize(
    ("law", "case", "merge", "wanted"),
    [
        ("untouched_bytes", CONFLICT, add_a_file, "'own' as the three-way merge has it"),
        ("identity", CONFLICT, invent_a_conflict, "no open conflict"),
        ("disjoint_files", APART, forget_our_g, "no open conflict, and\n'f': b'a\\n'"),
        ("no_mutation", CONFLICT, go_elsewhere, "the process still in the folder"),
        ("symmetry", CONFLICT, resolve_one_order, "the outcome with the sides swapped"),
        ("markers", CONFLICT, invent_a_conflict, "no conflict of kind binary at 'f'"),
    ],
)
def test_a_law_is_broken_by_what_it_forbids(monkeypatch, law, case, merge, wanted):
    """The counterexample says what was wanted; who leaves all as it is breaks nothing."""
    monkeypatch.chdir(Path.cwd())  # back to it afterwards

    with pytest.raises(BrokenError) as caught:
        LAWS[law].check(StrategyTrial(By(merge)), case)

    assert wanted in caught.value.counterexample.wanted
    LAWS[law].check(StrategyTrial(By(leave_open)), case)


def test_where_a_strategy_raised_is_told_by_its_own_line():
    """Not by the library's, where that raised because of what it was asked."""
    strategy = By(lambda given: ce.resolve_conflicts(given, lambda _: "no bytes"))

    with pytest.raises(BrokenError) as caught:
        StrategyTrial(strategy).merge(CONFLICT)

    assert "(test_strategy_laws.py, line" in caught.value.counterexample.came

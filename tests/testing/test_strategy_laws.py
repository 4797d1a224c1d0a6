"""Each law, in one case: one strategy breaks it, and another keeps it."""

import os
from pathlib import Path

import pytest

import cooperbench_eval as ce
from cooperbench_eval.testing import STRATEGY_LAWS
from cooperbench_eval.testing.cases import MergeCase, StrategyTrial
from cooperbench_eval.testing.laws import BrokenError
from cooperbench_eval.testing.strategy_check import check_law

LAWS = {law.name: law for law in STRATEGY_LAWS}


def case_of(base, ours, theirs):
    """Return the case of three versions of each file."""
    tree = ce.Snapshot.from_files(base)
    sides = (ce.Snapshot.from_files(side) for side in (ours, theirs))
    ours, theirs = (ce.Changes.between(tree, side) for side in sides)
    return MergeCase(base=tree, ours=ours, theirs=theirs)


CONFLICT = case_of({"f": b"1\n"}, {"f": b"a\n"}, {"f": b"b\n"})
DISJOINT = case_of(
    {"f": b"1\n", "g": b"1\n"}, {"f": b"a\n", "g": b"1\n"}, {"f": b"1\n", "g": b"b\n"}
)


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
    """Add a file of its own."""
    changes = ce.Changes({**given.merge.changes, "own": ce.Entry(b"own\n")})
    return ce.MergeOutcome(changes=changes, conflicts=given.conflicts)


def invent_a_conflict(given):
    """Return the right files, and a conflict that does not exist."""
    invented = ce.Conflict(path="f", kind="binary", base=b"", ours=b"1", theirs=b"2")
    return ce.MergeOutcome(changes=given.merge.changes, conflicts=[*given.conflicts, invented])


def forget_our_g(given):
    """Return only theirs if ours changed the file g."""
    changes = given.theirs if "g" in given.ours else given.merge.changes
    return ce.MergeOutcome(changes=changes, conflicts=given.conflicts)


def go_elsewhere(given):
    """Change the folder of the process."""
    os.chdir(Path.cwd().parent)
    return leave_open(given)


def resolve_one_order(given):
    """Resolve a conflict only in one order of the sides."""
    return ce.resolve_conflicts(given, lambda c: c.ours if c.ours == b"b\n" else None)


def write_a_number(given):
    """Write a value that neither side has."""
    return ce.resolve_conflicts(given, lambda c: c.ours + b"1.5\n")


@pytest.mark.parametrize(
    ("law", "case", "merge", "wanted"),
    [
        ("untouched_bytes", CONFLICT, add_a_file, "'own' as the three-way merge has it"),
        ("identity", CONFLICT, invent_a_conflict, "no open conflict"),
        ("disjoint_files", DISJOINT, forget_our_g, "no open conflict, and\n'f': b'a\\n'"),
        ("no_mutation", CONFLICT, go_elsewhere, "no change of the working directory"),
        ("symmetry", CONFLICT, resolve_one_order, "the outcome with the sides swapped"),
        (
            "no_invention",
            CONFLICT,
            write_a_number,
            "the merged file would have '1.5', which no version has",
        ),
        ("markers", CONFLICT, invent_a_conflict, "no conflict of kind binary at 'f'"),
    ],
)
def test_a_law_is_broken_by_what_it_forbids(monkeypatch, law, case, merge, wanted):
    """The counterexample shows what was expected. Leaving the merge as it is breaks no law."""
    monkeypatch.chdir(Path.cwd())  # back to it afterwards

    with pytest.raises(BrokenError) as caught:
        LAWS[law].check(StrategyTrial(By(merge)), case)

    assert wanted in caught.value.counterexample.wanted
    LAWS[law].check(StrategyTrial(By(leave_open)), case)


def test_a_strategy_that_may_invent_need_not_keep_the_law_against_it():
    """A model may write what no version has."""
    strategy = By(write_a_number)
    strategy.may_invent = True

    result = check_law(strategy, LAWS["no_invention"], files={}, examples=5)

    assert (result.status, result.reason) == ("opted_out", "the strategy declares `may_invent`")


def test_a_failure_names_the_line_of_the_strategy():
    """It does not name the line of the library that the strategy called."""
    strategy = By(lambda given: ce.resolve_conflicts(given, lambda _: "no bytes"))

    with pytest.raises(BrokenError) as caught:
        StrategyTrial(strategy).merge(CONFLICT)

    assert "(test_strategy_laws.py, line" in caught.value.counterexample.came

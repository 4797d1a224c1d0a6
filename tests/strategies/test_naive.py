"""The standard git merge as a strategy."""

import pytest
from generators import three_way_trees
from hypothesis import given, settings

import cooperbench_eval as ce
from cooperbench_eval.git.merging.tree_merge import merge_changes

fewer = settings(max_examples=settings().max_examples // 2)  # slow cases

BASE = ce.Snapshot.from_files({"f": b"1\n2\n3\n4\n5\n", "g": b"1\n"})


def edit(**files):
    """Return changes that write text, or delete a file without text."""
    return ce.Changes({path: text and ce.Entry(text) for path, text in files.items()})


@pytest.mark.parametrize(
    ("ours", "theirs", "status", "number"),
    [
        (edit(f=b"0\n2\n3\n4\n5\n"), edit(f=b"1\n2\n3\n4\n6\n"), "clean", 0),
        (edit(f=b"0\n2\n3\n4\n5\n"), edit(g=None), "clean", 0),
        (edit(), edit(), "clean", 0),
        (edit(f=b"0\n2\n3\n4\n5\n"), edit(f=b"9\n2\n3\n4\n5\n"), "conflicts", 1),
        (edit(f=b"0\n", g=b"2\n"), edit(f=b"9\n", g=None), "conflicts", 2),
    ],
)
def test_naive_is_clean_or_conflicted(ours, theirs, status, number):
    """It resolves nothing, so it is never `resolved`."""
    outcome = ce.merge(BASE, ours, theirs, strategy="naive")

    assert outcome.status == status
    assert len(outcome.conflicts) == outcome.conflicts_met == number
    assert (outcome.strategy, outcome.failure) == ("naive", "")


def test_naive_is_the_default():
    """Without a strategy's name, the result is that of git."""
    sides = edit(g=b"2\n"), edit(g=b"3\n")

    assert ce.merge(BASE, *sides) == ce.merge(BASE, *sides, strategy="naive")


def test_open_conflicts_have_markers():
    """The tree and the diff of the outcome show them, as after `git merge`."""
    outcome = ce.merge(BASE, edit(g=b"2\n"), edit(g=b"3\n"))

    assert outcome.changes["g"].data == b"<<<<<<< ours\n2\n=======\n3\n>>>>>>> theirs\n"
    assert b"+<<<<<<< ours\n+2\n+=======\n+3\n+>>>>>>> theirs\n" in outcome.diff(BASE)
    assert outcome.tree_id(BASE) == BASE.overlay(outcome.changes).tree_id


@fewer
@given(three_way_trees())
def test_naive_adds_nothing_to_the_three_way_merge(trees):
    """Its changes and conflicts are those of the merge core."""
    merge = merge_changes(*trees)

    outcome = ce.merge(*trees, strategy="naive")

    assert (outcome.changes, outcome.conflicts) == (merge.changes, merge.conflicts)

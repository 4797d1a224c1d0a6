"""Statements are in the blocks into which both sides put them, and in no other."""

import pytest

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.strategies.structured.misplaced import find_misplaced


def problem(*versions):
    """Judge a merged function; versions are base, ours, theirs and merged, without indentation."""
    sources = [
        "".join(f"{each}\n" for each in ("def f(x):", *(f"    {line}" for line in lines))).encode()
        for lines in versions
    ]
    *before, merged = read_versions("a.py", sources)
    return find_misplaced(before, merged), find_misplaced([before[0], *before[:0:-1]], merged)


BASE = ["one(x)", "two(x)", "three(x)"]
LOOP = ["one(x)", "for i in x:", "    two(x)", "    three(x)"]
NEW = ["one(x)", "new(x)", "two(x)", "three(x)"]
INSIDE = ["one(x)", "two(x)", "new(x)", "three(x)"]


@pytest.mark.parametrize(
    ("theirs", "merged", "is_right"),
    [
        (NEW, ["one(x)", "new(x)", "for i in x:", "    two(x)", "    three(x)"], True),
        (NEW, ["one(x)", "for i in x:", "    new(x)", "    two(x)", "    three(x)"], False),
        (INSIDE, ["one(x)", "for i in x:", "    two(x)", "    new(x)", "    three(x)"], True),
        (INSIDE, ["one(x)", "for i in x:", "    two(x)", "new(x)", "three(x)"], False),
        (
            ["one(x)", "two(x)", "if x:", "    new(x)", "three(x)"],
            ["one(x)", "for i in x:", "    two(x)", "if x:", "    new(x)", "    three(x)"],
            False,
        ),
        (
            ["while x:", "    one(x)", "    two(x)", "three(x)"],
            ["while x:", "    one(x)", "for i in x:", "    two(x)", "    three(x)"],
            False,
        ),
        (LOOP, ["one(x)", "for i in x:", "    for i in x:", "        two(x)", "three(x)"], False),
    ],
)
def test_a_statement_is_in_the_blocks_of_both_sides(theirs, merged, is_right):
    """A block of one side has a new statement of the other only between its own statements."""
    found = problem(BASE, LOOP, theirs, merged)

    assert [not each for each in found] == [is_right, is_right]


def test_a_statement_may_be_in_a_block_that_sets_what_it_needs():
    """Outside of the block, its name would have no value."""
    ours = ["one(x)", "with two(x) as y:", "    three(x)"]
    theirs = ["one(x)", "y = two(x)", "three(x)", "new(y)"]
    merged = ["one(x)", "with two(x) as y:", "    three(x)", "    new(y)"]

    assert problem(BASE, ours, theirs, merged) == ("", "")


def test_a_statement_that_one_side_removes_and_the_other_changes_is_not_there():
    """Nor is an empty block that one side put around it."""
    edited = ["one(x)", "if x:", "    two(x + 1)", "three(x)"]
    removed = ["one(x)", "three(x)"]

    assert all("one side removes" in each for each in problem(BASE, edited, removed, edited))
    empty = ["one(x)", "if x:", "    pass", "three(x)"]
    assert all("one side removes" in each for each in problem(BASE, edited, removed, empty))


def test_a_block_is_not_taken_for_the_only_block_in_it():
    """Both contain nearly the same words, but they are different statements."""
    base = ["with a(x):", "    if b(x):", "        one(x)", "        two(x)"]
    longer = [f"    new(x, {i}, {i})" for i in range(2)]
    ours = ["with a(x, 1):", *longer, "    if b(x, 1):", *base[2:]]
    theirs = [base[0], "    y = x", *base[1:]]
    merged = [ours[0], "    y = x", *ours[1:]]

    assert problem(base, ours, theirs, merged) == ("", "")

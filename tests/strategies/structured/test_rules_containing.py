"""One side's change may contain the other's."""

import pytest

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import DisagreementError, render
from cooperbench_eval.strategies.structured.merge import TreeMerge


def function(*lines):
    """Write a function of some lines."""
    return "".join(f"{line}\n" for line in ("def f(a):", *(f"    {each}" for each in lines)))


def merge(base, ours, theirs):
    """Merge a function in three versions; return its lines."""
    trees = read_versions("a.py", [function(*lines).encode() for lines in (base, ours, theirs)])
    return [line[4:] for line in render(TreeMerge().merge(*trees)).decode().splitlines()[2:]]


BASE = ("one()", "v = g(a)", "return v")
LESS = ("one()", "with g(a) as v:", "    log(v)", "return v")
CONTAINING = {
    "an argument": ("one()", "with g(a, b=1) as v:", "    log(v)", "return v"),
    "a statement": ("one()", "with g(a) as v:", "    log(v)", "    check(v)", "return v"),
    "a comment": ("one()", "with g(a) as v:", "    # Why.", "    log(v)", "return v"),
    "a statement beside it": ("one()", "with g(a) as v:", "    log(v)", "two()", "return v"),
}


@pytest.mark.parametrize("more", CONTAINING.values(), ids=CONTAINING)
def test_of_two_changes_the_one_that_contains_the_other_is_taken(more):
    """Whichever side made it, and never both."""
    assert merge(BASE, more, LESS) == list(more)
    assert merge(BASE, LESS, more) == list(more)


OTHERS = {
    "a positional argument": ("one()", "with g(a, 1) as v:", "    log(v)", "return v"),
    "a changed value": ("one()", "with g(a) as v:", "    v = h(v)", "    log(v)", "return v"),
    "a call of a method": (*LESS[:2], "    v.clear()", *LESS[2:]),
    "a way out": (
        "one()",
        "with g(a) as v:",
        "    if a:",
        "        return v",
        "    log(v)",
        "return v",
    ),
    "another argument": ("one()", "with g(b) as v:", "    log(v)", "return v"),
    "an argument that the other side removed": (
        "one()",
        "with h() as v:",
        "    log(a, v)",
        "return v",
    ),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_changes_of_which_none_contains_the_other_are_refused(other):
    """They say different things."""
    with pytest.raises(DisagreementError):
        merge(BASE, other, LESS)


def test_what_one_side_removed_is_not_brought_back():
    """The other side's call has the argument still."""
    removed, extended = ("one()", "v = g()", "return v"), ("one()", "v = g(a, b)", "return v")

    with pytest.raises(DisagreementError):
        merge(BASE, removed, extended)


BLOCKS = ("if a is None:", "    raise E(1)"), ("if not b:", "    raise E(2)")


def test_blocks_that_both_insert_in_different_orders_stand_there_once():
    """In the order of ours, since no order matters."""
    first, second = (*BLOCKS[0], *BLOCKS[1]), (*BLOCKS[1], *BLOCKS[0])

    assert merge(("one()",), (*first, "one()"), (*second, "one()")) == [*first, "one()"]


@pytest.mark.parametrize(
    "steps", [("log(a)", "log(b)"), ("if a:\n        c()", "if b:\n        d()")]
)
def test_statements_whose_order_matters_are_refused_in_different_orders(steps):
    """They act."""
    with pytest.raises(DisagreementError):
        merge(("one()",), (*steps, "one()"), (*steps[::-1], "one()"))


@pytest.mark.parametrize(
    ("more", "less"),
    [
        (("def k(b: int, a):", "    return a"), ("def k(a):", "    return a")),
        (("if ok(a, least=3):", "    two(a)"), ("if ok(a):", "    two(a)")),
        (("v = d[0:3, 1]",), ("v = d[1]",)),
    ],
)
def test_what_changes_the_rest_is_not_only_more(more, less):
    """A parameter before another one, a condition, a slice."""
    with pytest.raises(DisagreementError):
        merge(("one()", "v = g(a)"), ("one()", *more), ("one()", *less))


def test_guards_of_a_value_and_of_its_part_are_refused_in_different_orders():
    """One protects the other."""
    guards = ("if a is None:", "    raise E(1)"), ("if a.name == '':", "    raise E(2)")

    with pytest.raises(DisagreementError):
        merge(("one()",), (*guards[0], *guards[1], "one()"), (*guards[1], *guards[0], "one()"))


def test_guards_of_one_value_are_refused_in_different_orders():
    """The first one that fails decides which error is raised."""
    steps = ("if a > 0:", "    raise E(1)"), ("if a > -5:", "    raise E(2)")
    first, second = (*steps[0], *steps[1]), (*steps[1], *steps[0])

    with pytest.raises(DisagreementError):
        merge(("one()",), (*first, "one()"), (*second, "one()"))

"""Both sides give a `try` statement further clauses, or put suites around the same statements."""

import pytest

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import DisagreementError, render
from cooperbench_eval.strategies.structured.merge import TreeMerge

BASE = ["a()"]
TRY = ["try:", "    a()", "except A:", "    raise"]


def merge(base, ours, theirs, *, path="a.py", theirs_first=False):
    """Merge the lines of three versions of a file."""
    texts = ["".join(f"{line}\n" for line in lines).encode() for lines in (base, ours, theirs)]
    merged = TreeMerge(theirs_first=theirs_first).merge(*read_versions(path, texts))
    return render(merged)[1:].decode().split("\n")


def test_the_clauses_of_both_are_kept():
    """Each at its place."""
    ours = [*TRY, "except KeyError:", "    b()"]
    theirs = [*TRY, "finally:", "    y.close()"]
    expected = [*ours, *theirs[-2:]]

    assert merge(TRY, ours, theirs) == merge(TRY, theirs, ours) == expected


REFUSED = {
    "two of one name": (["finally:", "    x.close()"], ["finally:", "    y.close()"]),
    "everything": (["except:", "    b()"], ["except:", "    raise"]),
}


@pytest.mark.parametrize(("ours", "theirs"), REFUSED.values(), ids=REFUSED)
def test_clauses_of_one_name_are_refused(ours, theirs):
    """In either direction."""
    for sides in ((ours, theirs), (theirs, ours)):
        with pytest.raises(DisagreementError):
            merge(TRY, *([*TRY, *side] for side in sides))


NESTED = {
    "two context managers": (["with x:"], ["with y:"]),
    "a context manager and a loop": (["with x:"], ["for y in z:"]),
    "a condition that calls something and a context manager": (["if x():"], ["with y:"]),
}


@pytest.mark.parametrize(("ours", "theirs"), NESTED.values(), ids=NESTED)
def test_two_suites_around_the_same_statements_are_refused(ours, theirs):
    """Either could be inside of the other."""
    for sides in ((ours, theirs), (theirs, ours)):
        with pytest.raises(DisagreementError):
            merge(BASE, *([*side, "    a()"] for side in sides))


def test_a_plain_condition_may_be_around_another_suite():
    """It changes nothing, so the order does not matter; it may have other branches."""
    base = ["return make(name, [one, two], key=three)"]
    ours = ["if x:", "    b()", "else:", f"    {base[0]}", "c = 1"]

    merged = merge(base, ours, ["with y:", f"    {base[0]}"])

    assert merged == ["if x:", "    b()", "else:", "    with y:", f"        {base[0]}", "c = 1"]

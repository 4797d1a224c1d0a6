"""Arguments that a merge gave to another call or parameter than their side did."""

import pytest

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.strategies.structured.handed import find_handed_elsewhere, find_shifted

BASE = "def f(a):\n    x = get(a)\n    return load(x)\n"
THEIRS = BASE.replace("get(a)", "get(a, sep=s)")


def handed(ours, merged, theirs=THEIRS):
    """Look for such an argument in a merged function."""
    *trees, after = read_versions("a.py", [t.encode() for t in (BASE, ours, theirs, merged)])
    return find_handed_elsewhere(trees, after)


def test_an_argument_of_a_call_that_the_other_side_removed_goes_to_no_other_call():
    """Words that follow the same words are not yet for the same function."""
    ours = BASE.replace("    x = get(a)\n", "").replace("load(x)", "load(a)")

    found = handed(ours, ours.replace("load(a)", "load(a, sep=s)"))

    assert found == "'sep=s' would be passed to 'load' instead of 'get'"


@pytest.mark.parametrize("callee", ["get", "fetch"])
def test_an_argument_that_stays_with_its_call_is_in_place(callee):
    """The other side may have replaced the function that is called."""
    ours = BASE.replace("get", callee).replace("load(x)", "load(x, 1)")

    assert handed(ours, ours.replace("(a)\n    return", "(a, sep=s)\n    return")) == ""


@pytest.mark.parametrize(
    ("parameters", "fault"),
    [
        ("a, b=0, c=0", "a call to 'f' would pass its argument for 'c' as 'b'"),
        ("a, c=0, b=0", ""),
        ("a, d=0", ""),
        ("a, *, b=0, c=0", ""),
    ],
)
def test_an_argument_goes_to_the_parameter_that_its_side_means(parameters, fault):
    """A side's new call gives it by position; a parameter may have been renamed."""
    base, ours, theirs = (f"def f({each}): 0\nf(1)\n" for each in ("a", "a, b=0", "a, c=0"))
    theirs, merged = (f"{each}f(1, 2)\n" for each in (theirs, f"def f({parameters}): 0\nf(1)\n"))
    *trees, after = read_versions("a.py", [t.encode() for t in (base, ours, theirs, merged)])

    assert find_shifted(trees, after) == fault

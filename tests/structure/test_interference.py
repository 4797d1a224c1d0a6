"""Where the work of one side flows into that of the other."""

import pytest
from generators import three_way_programs
from hypothesis import given

from cooperbench_eval.structure.interference import find_interference
from cooperbench_eval.structure.python import read_python

BASE = ("y = g(x)", "z = 1", "return y")


def function(*lines, name="f"):
    """Write a function."""
    return "".join(f"{line}\n" for line in (f"def {name}(x):", *(f"    {each}" for each in lines)))


def interference(base, ours, theirs):
    """Look for interference in three texts."""
    return find_interference(*read_python([text.encode() for text in (base, ours, theirs)]))


FOUND = {
    "one computes what the other works on": (
        ("y = g(x + 1)", "z = 1", "return y"),
        ("y = g(x)", "z = 1", "return h(y)"),
        "one side changes y, the other how it is used",
    ),
    "and again in a suite": (
        ("y = g(x)", "z = 1", "if x:", "    y = 0", "return y"),
        ("y = g(x)", "z = k(y)", "return y"),
        "one side changes y, the other how it is used",
    ),
    "both introduce a variable": (
        ("n = 1", *BASE, "use(n)"),
        (*BASE[:2], "n = 2", "use(n + 1)", "return y"),
        "both sides introduce n",
    ),
}


@pytest.mark.parametrize(("ours", "theirs", "problem"), FOUND.values(), ids=FOUND)
def test_interference_is_said_with_the_function_and_the_variable(ours, theirs, problem):
    """Swapping the sides makes no difference."""
    for sides in ((ours, theirs), (theirs, ours)):
        assert interference(*(function(*each) for each in (BASE, *sides))) == f"f: {problem}"


NOT_FOUND = {
    "nothing of the other": (BASE, (*BASE[:2], "return h(y)")),
    "other variables": (("y = g(x + 1)", *BASE[1:]), ("y = g(x)", "z = 2", "return y")),
    "both compute it": (("y = g(x + 1)", *BASE[1:]), ("y = g(x) + 1", "z = 1", "return h(y)")),
    "attributes": (("x.y = 1", *BASE), (*BASE[:2], "use(x.y)", "return y")),
    "the same new variable": (("n = 1", *BASE), ("n = 1", *BASE, "use(n)")),
    "keywords": ((*BASE[:1], "z = 2", *BASE[2:]), ("y = g(x, z=1)", *BASE[1:])),
}


@pytest.mark.parametrize(("ours", "theirs"), NOT_FOUND.values(), ids=NOT_FOUND)
def test_what_does_not_meet_does_not_interfere(ours, theirs):
    """Different variables, the same work, names that are no variables."""
    assert interference(*(function(*each) for each in (BASE, ours, theirs))) == ""


def test_work_on_different_functions_does_not_interfere():
    """Variables are those of one function."""
    one, two = function(*BASE), function(*BASE, name="g")
    changed = function("y = g(x + 1)", *BASE[1:])
    used = function(*BASE[:2], "return h(y)", name="g")

    assert interference(one + two, changed + two, one + used) == ""


def test_methods_go_by_their_class_and_functions_by_a_new_name():
    """Interference is found in them as well."""
    inner = [
        "".join(f"    {line}\n" for line in function(*each).splitlines())
        for each in (
            BASE,
            FOUND["both introduce a variable"][0],
            FOUND["both introduce a variable"][1],
        )
    ]
    renamed = function("y = g(x + 1)", *BASE[1:], name="renamed")

    assert interference(*("class A:\n" + each for each in inner)).startswith("A.f: ")
    assert interference(function(*BASE), renamed, function(*BASE[:2], "return h(y)")) == (
        "f: one side changes y, the other how it is used"
    )


@given(three_way_programs())
def test_one_side_does_not_interfere_with_itself(texts):
    """Nor do two sides with the same changes, unless they introduce a variable."""
    base, ours, _ = read_python(texts)

    assert find_interference(base, ours, base) == find_interference(base, base, ours) == ""
    assert find_interference(base, ours, ours) == ""

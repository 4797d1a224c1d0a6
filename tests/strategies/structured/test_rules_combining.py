"""What is done where both sides changed the same statements."""

import pytest

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import DisagreementError, render
from cooperbench_eval.strategies.structured.merge import TreeMerge


def function(*lines):
    """Write a function of some lines."""
    return "".join(f"{line}\n" for line in ("def f(a):", *(f"    {each}" for each in lines)))


def merge(base, ours, theirs, *, theirs_first=False):
    """Merge a function in three versions; return its lines."""
    trees = read_versions("a.py", [function(*lines).encode() for lines in (base, ours, theirs)])
    text = render(TreeMerge(theirs_first=theirs_first).merge(*trees)).decode()
    return [line[4:] for line in text.splitlines()[2:]]


STATEMENTS = ("one()", "two(a)", "three()")
EDITED = ("one()", "two(a, b)", "four()", "three()")


@pytest.mark.parametrize("header", ["if x:", "with x as y:", "for x in y:", "while x:", "try:"])
def test_what_one_side_wrapped_and_the_other_edited_is_wrapped_and_edited(header):
    """Whichever side wraps them, and with the statements around them."""
    ending = ["except E:", "    raise"] if header == "try:" else []
    wrapped = ["zero()", header, *(f"    {each}" for each in STATEMENTS), *ending]
    expected = ["zero()", header, *(f"    {each}" for each in EDITED), *ending]

    assert merge(STATEMENTS, wrapped, EDITED) == expected
    assert merge(STATEMENTS, EDITED, wrapped) == expected


def test_one_statement_of_several_may_be_wrapped():
    """The others stay where they are."""
    wrapped = ("one()", "if x:", "    two(a)", "three()")

    edited = ("one()", "two(a, b)", "three()")

    assert merge(STATEMENTS, wrapped, edited) == [*wrapped[:2], "    two(a, b)", "three()"]
    assert merge(STATEMENTS, edited, wrapped) == [*wrapped[:2], "    two(a, b)", "three()"]


def test_an_edit_of_what_was_put_into_two_branches_is_made_in_both():
    """What the other side put around the statement stays around all of it."""
    copied = ("if x:", "    two(a, x)", "else:", "    two(a)")
    edited = ("b = g()", "two(b)", "log(b)")
    expected = ["b = g()", "if x:", "    two(b, x)", "else:", "    two(b)", "log(b)"]

    assert merge(("two(a)",), copied, edited) == expected
    assert merge(("two(a)",), edited, copied) == expected


@pytest.mark.parametrize("other", ["slow(a)", "two(b)", "x = two(a)"])
def test_a_similar_statement_is_no_copy(other):
    """It does something else."""
    branches = ("if x:", "    two(a)", "else:", f"    {other}")
    expected = ["if x:", "    two(a, 1)", "else:", f"    {other}"]

    assert merge(("two(a)",), branches, ("two(a, 1)",)) == expected


def test_an_edit_is_not_made_in_a_copy_after_what_may_change_its_value():
    """What was computed before all copies would be old."""
    edited = ("key = s.key", "two(s, key)")
    copied = ("try:", "    two(s)", "except E:", "    s.rotate()", "    two(s)")

    with pytest.raises(DisagreementError):
        merge(("two(s)",), edited, copied)


@pytest.mark.parametrize("placeholder", ["pass", "..."])
def test_both_may_fill_in_what_was_left_out(placeholder):
    """Neither is put into the other, though it may still say `pass` somewhere."""
    ours, theirs = ("def g(x):", f"    {placeholder}"), ("def h(x):", f"    {placeholder}")

    assert merge((placeholder,), ours, theirs) == [*ours, "", *theirs]


CALL = ("return g(a)",)
RETURNED = {
    "one named it, the other edits it": (
        ("v = g(a)", "log(v)", "return v"),
        ("return g(a, b)",),
        ["v = g(a, b)", "log(v)", "return v"],
    ),
    "both named it alike": (
        ("v = g(a)", "log(v)", "return v"),
        ("v = g(a)", "check(v)", "return v"),
        ["v = g(a)", "log(v)", "check(v)", "return v"],
    ),
    "both named it differently": (
        ("v = g(a)", "log(v)", "return v"),
        ("w = g(a)", "check(w)", "return w"),
        ["v = g(a)", "log(v)", "w = v", "check(w)", "return w"],
    ),
    "both named it alike, and one edits what it is made of": (
        ("v = g(a)", "if a:", "    return h(v)", "return v"),
        ("b = k(a)", "v = g(b)", "check(v)", "return v"),
        ["b = k(a)", "v = g(b)", "check(v)", "if a:", "    return h(v)", "return v"],
    ),
    "both named it alike, one with a type": (
        ("v = g(a)", "log(v)", "return v"),
        ("v: T = g(a)", "check(v)", "return v"),
        ["v = g(a)", "log(v)", "check(v)", "return v"],
    ),
    "one returns something of it": (
        ("v = g(a)", "return h(v)"),
        ("w = g(a)", "check(w)", "return w"),
        ["v = g(a)", "w = h(v)", "check(w)", "return w"],
    ),
    "something is done before": (
        ("b = a + 1", "return g(a)"),
        ("v = g(a)", "log(v)", "return v"),
        ["b = a + 1", "v = g(a)", "log(v)", "return v"],
    ),
    "who may return early comes last": (
        ("v = g(a)", "if v:", "    return None", "return v"),
        ("w = g(a)", "check(w)", "return w"),
        ["w = g(a)", "check(w)", "v = w", "if v:", "    return None", "return v"],
    ),
    "who changes it for an option comes last": (
        ("v = g(a)", "if most is not None:", "    v = v[:most]", "return v"),
        ("w = g(a)", "w = h(w)", "return w"),
        [
            *("w = g(a)", "w = h(w)", "v = w"),
            *("if most is not None:", "    v = v[:most]", "return v"),
        ],
    ),
    "who returns something else for an option comes last": (
        ("v = g(a)", "return h(v) if deep else v"),
        ("w = g(a)", "return w[1:]"),
        ["w = g(a)", "v = w[1:]", "return h(v) if deep else v"],
    ),
}


@pytest.mark.parametrize(("ours", "theirs", "expected"), RETURNED.values(), ids=RETURNED)
def test_the_work_of_both_is_done_on_what_is_returned(ours, theirs, expected):
    """Each on what the one before would have returned; ours first unless it must be last."""
    assert merge(CALL, ours, theirs) == expected
    assert merge(CALL, theirs, ours, theirs_first=True) == expected


def test_what_precedes_the_returned_value_is_merged_as_well():
    """Here theirs replaces the statement before it."""
    base = ("load(path, mode)", "return g(a)")
    ours = ("load(path, mode)", "v = g(a)", "log(v)", "return v")
    theirs = ("with open(file):", "    read()", "v = g(a)", "check(v)", "return v")

    assert merge(base, ours, theirs) == [*theirs[:3], "log(v)", *theirs[3:]]


def test_theirs_may_work_on_it_first():
    """Then ours gets what theirs would return."""
    sides = ("v = g(a)", "log(v)", "return v"), ("v = g(a)", "check(v)", "return v")

    assert merge(CALL, *sides, theirs_first=True) == [
        *("v = g(a)", "check(v)", "log(v)", "return v"),
    ]


NOT_RETURNED = {
    "both may return early": (
        ("v = g(a)", "if v:", "    return 1", "return v"),
        ("v = g(a)", "if not v:", "    return 2", "return v"),
    ),
    "another value": (("v = g(a)", "log(v)", "return v"), ("return other.thing",)),
    "no return": (("v = g(a)", "log(v)", "return v"), ("raise g(a)",)),
    "both changed the value": (("v = g(b)", "return v"), ("v = g(c)", "return v")),
    "both make something else of it": (("v = g(a)", "return h(v)"), ("w = g(a)", "return k(w)")),
    "both may make something else of it": (
        ("v = g(a)", "if most:", "    v = v[:most]", "return v"),
        ("v = g(a)", "return h(v) if deep else v"),
    ),
    "what is not asked for comes last": (
        ("v = g(a)", "if not most:", "    v = h(v)", "return v"),
        ("v = g(a)", "return [k(e) for e in v]"),
    ),
    "what is not asked for is returned": (
        ("v = g(a)", "return h(v) if b is None else v"),
        ("v = g(a)", "return [k(e) for e in v]"),
    ),
    "something else is done in each case": (
        ("v = g(a)", "if b:", "    v = h(v)", "else:", "    v = k(v)", "return v"),
        ("v = g(a)", "return [k(e) for e in v]"),
    ),
    "more is done than for the option": (
        ("v = g(a)", "v = h(v)", "if b:", "    v = k(v)", "return v"),
        ("v = g(a)", "return [k(e) for e in v]"),
    ),
    "one may return before the option's work": (
        ("v = g(a)", "if b:", "    v = k(v)", "return v"),
        ("v = g(a)", "if not v:", "    return None", "v = h(v)", "return v"),
    ),
}


@pytest.mark.parametrize(("ours", "theirs"), NOT_RETURNED.values(), ids=NOT_RETURNED)
def test_an_unknown_overlap_is_refused(ours, theirs):
    """In either order."""
    for sides in ((ours, theirs), (theirs, ours)):
        with pytest.raises(DisagreementError):
            merge(CALL, *sides)

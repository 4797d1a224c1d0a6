"""Where one side's changes disturb the other's in a merged function."""

import os
import subprocess
import sys
import time

import pytest
from generators import three_way_programs
from hypothesis import given

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import render
from cooperbench_eval.strategies.structured.edit_lines import EditPlaces
from cooperbench_eval.strategies.structured.flow.interference import find_interference
from cooperbench_eval.strategies.structured.merge import TreeMerge

USED = "one side changes 'y', the other how it is used"
CONDITION = "one side changes a condition, the other what depends on it"
LEFT = "one side leaves the function before the other's work is done"
SPLIT = "one side's new condition covers only a part of the other's work"


_HEADS = ("if ", "for ", "else", "while ")


def function(text, head="def f(x, z):"):
    """Write a function; `/` separates statements, and each `>` before one indents it."""
    lines = [head]
    for part in text.split("/"):
        words = part.split()
        depth = next(i for i, word in enumerate(words) if word != ">")
        line = " ".join(words[depth:])
        lines.append(4 * " " * (depth + 1) + line + (":" if line.startswith(_HEADS) else ""))
    return "\n".join([*lines, ""])


def interference(base, ours, theirs):
    """Merge three texts and look for interference; the first side that it names is *one side*."""
    trees = read_versions("a.py", [text.encode() for text in (base, ours, theirs)])
    return either_way(find_interference(*trees, TreeMerge().merge(*trees)))


def either_way(problem):
    """Put *one side* and *the other* for the names of the sides."""
    names = ["ours", "theirs"]
    if "ours" in problem:
        names.sort(key=problem.index)
    for name, side in zip(names, ("one side", "the other"), strict=True):
        problem = problem.replace(f"{name}'", f"{side}'s").replace(name, side)
    return problem


FOUND = {
    "one computes what the other works on": (
        "y = x / return y",
        "y = x + 1 / return y",
        "y = x / return y * 2",
        USED,
    ),
    "through another variable": (
        "y = x / u = y / g() / return u",
        "y = x / u = y / g() / if u > 3 / > h() / return u",
        "y = x + 1 / u = y / g() / return u",
        "one side changes 'u', the other how it is used",
    ),
    "in one branch": (
        "y = x / g() / return y",
        "y = x / if z / > y = 0 / g() / return y",
        "y = x / g() / k() / return y * 2",
        USED,
    ),
    "one no longer computes it": (
        "y = x / g() / y = z / k() / return y",
        "y = x / g() / k() / return y",
        "y = x / g() / y = z / k() / if y > 2 / > h() / return y",
        USED,
    ),
    "the value is replaced": (
        "y = x / g() / return y",
        "y = x + 1 / g() / return y",
        "y = x / g() / y = 3 / return y",
        None,
    ),
    "the condition around it changes": (
        "if x / > g() / return z",
        "if x or z / > g() / return z",
        "if x / > g() / > k() / return z",
        CONDITION,
    ),
    "one returns early": (
        "g() / k() / return z",
        "g() / if x / > return None / k() / return z",
        "g() / k() / h() / return z",
        LEFT,
    ),
    "one leaves the turn of a loop": (
        "for i in z / > g(i) / > k(i)",
        "for i in z / > if not i / > > continue / > g(i) / > k(i)",
        "for i in z / > g(i) / > k(i) / > h(i)",
        LEFT,
    ),
    "a part of the work is left out": (
        "y = g(x) / k(y) / return y",
        "z = z[1:] / y = g(x) / u = k(y) + z / return y + u",
        "if not x / > return None / y = g(x) / k(y) / return y",
        LEFT,
    ),
    "a call that is copied": (
        "y = g(x, z, 1) / return y",
        "y = g(x, z, 1, k=2) / return y",
        "y = g(x, z, 1) / if not y / > u = g(x, z, 1) / > h(u) / return y",
        "one side changes a call of 'g', the other copies it",
    ),
    "one changes what the other's new work reads": (
        "y = g(x) / return y",
        "x = k(x) / y = g(x) / return y",
        "h(x) / y = g(x) / return y",
        "one side changes 'x' where the other's new work reads it",
    ),
    "both set an attribute": (
        "z.a = x / g()",
        "z.a = k(x) / g()",
        "z.a = x / g() / z.a = h(x)",
        "one side overwrites 'z.a', which the other computes",
    ),
    "both introduce a variable": (
        "g() / k() / h()",
        "n = 1 / g() / k(n) / h()",
        "g() / n = 2 / k() / h(n)",
        None,
    ),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "problem"), FOUND.values(), ids=FOUND)
def test_interference_is_said_with_the_function(base, ours, theirs, problem):
    """Swapping the sides makes no difference."""
    for sides in ((ours, theirs), (theirs, ours)):
        found = interference(*map(function, (base, *sides)))
        assert found.startswith("in 'f', ")
        assert problem is None or found == f"in 'f', {problem}"


NOT_FOUND = {
    "nothing of the other": ("y = x / return y", "y = x / return y", "y = x / return y * 2"),
    "other variables": (
        "y = x / u = z / return y + u",
        "y = x + 1 / u = z / return y + u",
        "y = x / u = z * 2 / return y + u",
    ),
    "an argument is added": (
        "y = g(x) / return k(y)",
        "y = g(x, more=1) / return k(y)",
        "y = g(x) / if y / > h() / return k(y)",
    ),
    "the value is passed on": (
        "y = x / return k(y)",
        "y = x + 1 / return k(y)",
        "y = x / h(y) / return k(y)",
    ),
    "an attribute is set": (
        "y = g(x) / k() / return y",
        "y = g(x) / y.a = 3 / k() / return y",
        "y = g(x) / k() / return y * 2",
    ),
    "an error is raised": (
        "g() / k() / return z",
        "g() / if x / > raise E / k() / return z",
        "g() / k() / h() / return z",
    ),
    "the leaving comes last": (
        "g() / k() / return z",
        "g() / k() / if x / > return None / return z",
        "g() / h() / k() / return z",
    ),
    "a comparison of the same variable": (
        "if x / > g() / return z",
        "if x / > g() / if x > 3 / > h() / return z",
        "if x / > g() / k() / return z",
    ),
    "the same new variable": ("g() / k()", "n = 1 / g() / k()", "n = 1 / g() / k() / h(n)"),
    "variables whose uses do not overlap": (
        "g() / k() / h()",
        "n = 1 / g(n) / k() / h()",
        "g() / k() / n = 2 / h(n)",
    ),
    "a name inside a function of its own": (
        "y = x / k() / return y",
        "y = x + 1 / k() / return y",
        "y = x / k(lambda y: y + 1) / return y",
    ),
}


@pytest.mark.parametrize(("base", "ours", "theirs"), NOT_FOUND.values(), ids=NOT_FOUND)
def test_what_does_not_meet_does_not_interfere(base, ours, theirs):
    """Different variables, arguments of calls, errors."""
    for sides in ((ours, theirs), (theirs, ours)):
        assert interference(*map(function, (base, *sides))) == ""


def test_what_happens_only_by_a_new_option_disturbs_nobody():
    """Neither side's tests use the other's option."""
    base = function("g() / k() / return z")
    optional = function(
        "if n is not None / > return n / g() / k() / return z", "def f(x, z, n=None):"
    )
    own = function("if self.n / > return 1 / g() / k() / return z")
    by_default = [optional.replace("is not None", each) for each in ("is None", "<= 0", "== False")]
    theirs = function("g() / k() / h() / return z")

    assert interference(base, optional, theirs) == interference(base, own, theirs) == ""
    assert [interference(base, each, theirs) for each in by_default] == 3 * [f"in 'f', {LEFT}"]


def test_an_option_that_skips_half_of_the_work_it_uses_disturbs_the_other():
    """The value that it returns would be without the repair."""
    base = function("y = g(x) / return h(y)")
    ours = function("y = g(x) / if n / > return k(y) / return h(y)", "def f(x, z, n=0):")
    theirs = function("y = g(x, 1) / u = h(y) / if not z / > u = r(u) / return u")
    elsewhere = function("y = g(x) / u = h(y) / if not z / > u = r(u) / return u")

    between = "in 'f', one side leaves the function between two steps of the other's work"
    assert interference(base, ours, theirs) == between
    assert interference(base, ours, elsewhere) == ""


HANDED = "in 'f', one side changes 'x', which the other passes on"
TAKEN = "in 'f', one side takes 'x' before the other changes it"


def test_a_value_that_a_side_always_changes_is_not_handed_over_by_the_other():
    """The other side's call was written for the old value; a new option does not count."""
    base = function("g() / k(x) / return z")
    always = function("x = q(x) / g() / m(x) / return z")
    sometimes = function("if n / > x = q(x) / g() / m(x) / return z", "def f(x, z, n=0):")
    theirs = function("g() / w(x) / k(x) / return z")

    assert interference(base, always, theirs) == HANDED
    assert interference(base, sometimes, theirs) == ""


def test_a_value_that_a_side_only_prepares_is_the_start_of_the_others_work():
    """All uses of the base stay as they were, or take what the other side makes from it."""
    base = function("g() / k(x) / return z")
    prepared = function("x = q(x) / g() / k(x) / return z")
    goes_on = function("g() / u = w(x) / k(u) / return z")
    merged = function("x = q(x) / g() / u = w(x) / k(u) / return z")
    raising = function("g() / if m / > raise E(x) / k(x) / return z")
    beside = "w(x)", "u = w(x)", "u = len(x)", "if x > 2 / > w()", "u = m[x]", "if x in m / > w()"
    changes_it = "u = len(x)", "u = w(x + 1)", "u = x.w()", "u = [x]"

    def check(ours, theirs):
        trees = read_versions("a.py", [each.encode() for each in (base, ours, theirs, merged)])
        return find_interference(*trees)

    assert check(prepared, goes_on) == ""
    assert interference(base, prepared, raising) == ""
    for each in beside:
        assert interference(base, prepared, function(f"g() / {each} / k(x) / return z"))
    for each in changes_it:
        assert interference(base, prepared, function(f"g() / {each} / k(u) / return z"))


def test_the_value_that_a_side_works_with_is_not_taken_before_the_other_changes_it():
    """The other's change would have no effect on that work."""
    base = function("g() / k(x) / return z")
    ours = function("u = q(x) / g() / k(u) / return z")
    theirs = function("g() / x = w(x) / k(x) / return z")

    assert interference(base, ours, theirs) == TAKEN
    assert interference(base, theirs, ours) == TAKEN


def test_of_two_insertions_the_one_that_reads_comes_before_the_one_that_changes():
    """So it reads what it was written for, whichever side it is from."""
    base = function("g() / k(x) / return z")
    reads = function("w(x) / g() / k(x) / return z")
    changes = function("x = q(x) / g() / k(x) / return z")
    expected = function("w(x) / x = q(x) / g() / k(x) / return z")

    for sides in ((reads, changes), (changes, reads)):
        trees = read_versions("a.py", [text.encode() for text in (base, *sides)])
        assert render(TreeMerge().merge(*trees))[1:].decode() + "\n" == expected


def test_a_value_that_both_sides_pass_on_goes_through_both():
    """The order of two such steps is open, but neither is lost."""
    steps = "x = h(x) / return g(x)", "x = k(x) / return g(x)", "x = h(x) / x = k(x) / return g(x)"
    texts = [function(each).encode() for each in ("return g(x)", *steps)]

    assert find_interference(*read_versions("a.py", texts)) == ""


def test_a_new_exit_beside_the_others_new_call_has_no_order():
    """An error is not expected, and a variable that nobody reads does not tell."""
    base, call = function("q() / r()"), function("q() / h(x) / r()")
    guarded = function("q() / if x / > return / r()")
    guess = "in 'f', one side may leave before what the other does at that place"

    assert interference(base, guarded, call) == guess
    assert interference(base, call, guarded) == guess
    assert interference(base, guarded, function("q() / y = 1 / r()")) == ""
    assert interference(base, function("q() / if x / > raise x / r()"), call) == ""


GUESS = "in 'f', one side may leave before what the other does at that place"
HANDLED = function("if z / > q(z) / > return z / r()")
LOGGED = function("if z / > h(x) / > q(z) / > return z / r()")


def test_a_call_stands_before_a_branch_that_repeats_all_that_follows_it():
    """The test only chooses how that is done; the call comes before it either way."""
    ours = function("if z / > if x / > > q(z) / > > return z / > s(x) / > q(z) / > return z / r()")
    assert interference(HANDLED, ours, LOGGED) == interference(HANDLED, LOGGED, ours) == ""
    assert interference(HANDLED, ours, LOGGED.replace("h(x)", "if g(z): h(x)")) == ""


@pytest.mark.parametrize(
    "branch",
    ["return z", "q(x) / > > return z", "q(z) / > > return x", "return z / > > q(z)"],
)
def test_a_call_has_no_place_beside_a_branch_that_does_less(branch):
    """Perhaps the branch is meant to skip the call as well."""
    ours = function(f"if z / > if x / > > {branch} / > s(x) / > q(z) / > return z / r()")

    assert interference(HANDLED, ours, LOGGED) == GUESS


def test_a_branch_that_repeats_the_rest_skips_what_the_other_does_within_it():
    """Here the other side's call belongs after the first of its statements."""
    ours = function("if z / > if x / > > q(z) / > > return z / > q(z) / > return z / r()")
    theirs = function("if z / > h(x) / > q(z) / > h(z) / > return z / r()")

    assert interference(HANDLED, ours, theirs) == f"in 'f', {LEFT}"


def test_a_copy_of_a_step_may_get_the_new_value_that_the_step_gets():
    """But not the old one."""
    base = function("g() / q(x) / return z")
    ours = function("g() / x = k(x) / q(x) / return z")
    theirs = function("g() / if z / > q(x) / > return z / s() / q(x) / return z")
    after, before = (
        function(f"g() / {text} / s() / q(x) / return z")
        for text in (
            "x = k(x) / if z / > q(x) / > return z",
            "if z / > q(x) / > return z / x = k(x)",
        )
    )
    reading = theirs.replace("        q(x)\n", "        w(x)\n")

    assert interference(base, ours, theirs) == checked(base, ours, theirs, after) == ""
    changes = "in 'f', one side changes 'x' where the other's new work reads it"
    assert checked(base, ours, theirs, before) == changes
    assert interference(base, ours, reading)


def checked(*texts):
    """Look for interference in a given merge."""
    return either_way(find_interference(*read_versions("a.py", [each.encode() for each in texts])))


def test_what_is_done_before_an_exit_is_not_skipped_by_it():
    """The other's call stands before it in the same suite."""
    base = function("y = g(x) / if y / > return q(y, z, 1) / h(x)")
    ours = function("y = g(x) / if y / > u = q(y, z, 1) / > k(u) / > return u / h(x)")
    theirs = function("y = g(x) / if y / > log(y) / > return q(y, z, 1) / h(x)")

    assert interference(base, ours, theirs) == ""


def test_an_option_must_not_leave_between_two_steps_of_the_others_work():
    """What the first one does to its value, only the second one repairs."""
    base = function("y = g(x) / q() / return y")
    leaving = "y = g(x) / if n / > return h(y) / q() / return y"
    ours = function(leaving, "def f(x, z, n=None):")
    repaired = function("y = g(x, 1) / q() / y = k(y) / return y")

    found = interference(base, ours, repaired)

    assert found == "in 'f', one side leaves the function between two steps of the other's work"
    assert interference(base, ours, function("y = g(x, 1) / q() / return y")) == ""


def test_the_reason_names_a_statement_of_each_side():
    """With its line in the side's file."""
    base = function("y = x / return y")
    texts = (
        base,
        "\n" + base.replace("y = x", "y = (x +\n         1)"),
        base.replace("rn y", "rn -y"),
    )
    trees = read_versions("a.py", [text.encode() for text in texts])

    files = [text.encode() for text in texts]
    places = EditPlaces(trees, files, files)
    found = find_interference(*trees, TreeMerge().merge(*trees), places)

    used = "in 'f', ours changes 'y', theirs how it is used"
    assert found == f"{used} (ours, line 3: `y = (x +`; theirs, line 3: `return -y`)"


def test_a_condition_must_cover_all_of_the_work_or_none():
    """The part outside would be done without the part inside."""
    base = function("y = g(x) / k(y) / return h(y)")
    wrapped = function(
        "y = g(x) / if n / > return 1 / else / > k(y) / > return h(y)", "def f(x, z, n=0):"
    )
    theirs = function("z = z[1:] / y = g(x) / k(y) / return h(z)")

    assert interference(base, wrapped, theirs) == f"in 'f', {SPLIT}"


def test_work_on_different_functions_does_not_interfere():
    """Variables are those of one function."""
    base, ours, theirs, _ = FOUND["one computes what the other works on"]
    one, two = function(base), function(base, "def g(x, z):")

    assert (
        interference(one + two, function(ours) + two, one + function(theirs, "def g(x, z):")) == ""
    )


def test_methods_go_by_their_class_and_functions_by_a_new_name():
    """Interference is found in them as well."""
    texts = [function(text) for text in FOUND["one computes what the other works on"][:3]]
    methods = [
        "class A:\n" + "".join(f"    {line}\n" for line in text.splitlines()) for text in texts
    ]
    base, ours, theirs = texts
    renamed = ours.replace("def f", "def renamed")

    assert interference(*methods) == f"in 'A.f', {USED}"
    assert interference(base, renamed, theirs) == f"in 'f', {USED}"


LANGUAGES = {
    "a.ts": (
        "function f(x, z) {\n  let y = x;\n  k();\n  return y;\n}\n",
        ("let y = x;", "let y = x + 1;"),
        ("return y;", "if (y > 2) { h(); }\n  return y;"),
    ),
    "a.go": (
        "package p\n\nfunc f(x int, z int) int {\n\ty := x\n\tk()\n\treturn y\n}\n",
        ("y := x", "y := x + 1"),
        ("return y", "if y > 2 {\n\t\th()\n\t}\n\treturn y"),
    ),
    "a.rs": (
        "fn f(x: i32, z: i32) -> i32 {\n    let y = x;\n    k();\n    return y;\n}\n",
        ("let y = x;", "let y = x + 1;"),
        ("return y;", "if y > 2 { h(); }\n    return y;"),
    ),
}


@pytest.mark.parametrize(("path", "case"), LANGUAGES.items(), ids=LANGUAGES)
def test_other_languages_have_the_same_rules(path, case):
    """Values and early returns, through trees of syntax."""
    base, (value, changed), (use, new) = case
    leaving = base.replace("k();", "if (x) { return 1; }\n  k();").replace(
        "k()\n", "if x > 1 {\n\t\treturn 1\n\t}\n\tk()\n"
    )
    texts = {
        "uses": (base, base.replace(value, changed), base.replace(use, new)),
        "leaves": (
            base,
            leaving,
            base.replace(use, "h();\n" + use).replace("h();\nreturn y\n", "h()\n\treturn y\n"),
        ),
    }
    found = {}
    for name, versions in texts.items():
        trees = read_versions(path, [text.encode() for text in versions])
        found[name] = either_way(find_interference(*trees, TreeMerge().merge(*trees)))

    assert found == {"uses": f"in 'f', {USED}", "leaves": f"in 'f', {LEFT}"}


def test_a_variable_of_an_inner_block_is_another_one():
    """In Go, `err` is declared again in most conditions."""
    base = "package p\n\nfunc f(x int) error {\n\terr := g(x)\n\tk()\n\tm()\n\treturn err\n}\n"
    ours = base.replace("\tk()", "\tif err := h(); err != nil {\n\t\tlog(err)\n\t}\n\tk()")
    theirs = base.replace("\treturn", "\tif err == nil {\n\t\tn()\n\t}\n\treturn")
    trees = read_versions("a.go", [text.encode() for text in (base, ours, theirs)])

    assert find_interference(*trees, TreeMerge().merge(*trees)) == ""


@given(three_way_programs())
def test_one_side_does_not_interfere_with_itself(texts):
    """Nor do two sides with the same changes."""
    base, ours, _ = read_versions("a.py", texts)

    assert find_interference(base, ours, base, ours) == find_interference(base, base, ours, ours)
    assert find_interference(base, ours, base, ours) == ""
    assert find_interference(base, ours, ours, ours) == ""


@pytest.mark.long
@pytest.mark.parametrize(("line", "count"), [("g(x)", 11_000), ("return x", 11_000)])
def test_a_very_long_function_is_refused_at_once(line, count):
    """Its values could not be followed in reasonable time."""
    base = function(" / ".join(["x = 1", *[line] * count, "return z"]))
    sides = base.replace("x = 1\n", "x = 2\n"), base.replace("return z\n", "return z * 2\n")
    trees = read_versions("a.py", [text.encode() for text in (base, *sides)])
    began = time.process_time()

    assert "more than 10,000 statements" in find_interference(*trees, trees[1])
    assert time.process_time() - began < 20


GO = "package a\n\nfunc f(m *M) {\n\tif _, h := m.find(); h != nil {\n\t\tuse(h)\n\t}\n}\n"


def test_a_name_for_a_further_result_is_no_change_of_a_condition():
    """In the header of an `if`, nothing depends on it yet."""
    named = GO.replace("_, h", "n, h").replace("use(h)", "use(h)\n\t\tcount(n)")
    inside = GO.replace("\t\tuse(h)", "\t\tlog(m)\n\t\tuse(h)")
    assert not found_in_go(GO, named, inside)
    assert not found_in_go(GO, inside, named)


def test_another_call_in_a_condition_is_a_change_with_a_new_name_too():
    """The name does not hide it."""
    other = GO.replace("_, h := m.find()", "n, h := m.find().next()")
    inside = GO.replace("\t\tuse(h)", "\t\tlog(m)\n\t\tuse(h)")
    assert found_in_go(GO, other, inside).endswith(CONDITION)


def test_a_condition_may_ask_for_a_value_that_another_function_returns():
    """For the same arguments; what the other side does is meant for any such value."""
    base = GO.replace("find()", "find(m.key)")
    other = base.replace("m.find", "m.all.find")
    inside = base.replace("\t\tuse(h)", "\t\tlog(m)\n\t\tuse(h)")
    assert not found_in_go(base, other, inside)
    assert not found_in_go(base, inside, other)


ASKED = "y = g(x) / k() / if y is not None / > h() / return z"


@pytest.mark.parametrize(
    ("value", "work"),
    [
        ("k.g(x)", "w()"),
        ("k.g(x)", "w(y)"),
        ("k.g(x)", "if y is None / > > y = z"),
    ],
)
def test_a_value_from_another_function_is_asked_for_alike(value, work):
    """Also by the other side's new condition, and where that gives it a default."""
    ours, theirs = ASKED.replace("g(x)", value), ASKED.replace("h()", f"{work} / > h()")

    assert interference(*map(function, (ASKED, ours, theirs))) == ""
    assert interference(*map(function, (ASKED, theirs, ours))) == ""


@pytest.mark.parametrize(
    ("condition", "value", "work"),
    [
        ("y is not None", "k(x) + 1", "w()"),
        ("y is not None", "x", "w()"),
        ("y is not None", "k(x)(x)", "w()"),
        ("y is not None", "k(x)", "u = y + 1 / > w(u)"),
        ("y is not None", "k(x)", "if y / > > w()"),
        ("y is not None and x", "k(x)", "w()"),
        ("y", "k(x)", "w()"),
        ("y == 3", "k(x)", "w()"),
    ],
)
def test_any_other_condition_or_value_may_be_another_case(condition, value, work):
    """The other side's work may be meant for the old one."""
    base = ASKED.replace("y is not None", condition)
    ours, theirs = base.replace("g(x)", value), base.replace("h()", f"{work} / > h()")

    assert interference(*map(function, (base, ours, theirs)))
    assert interference(*map(function, (base, theirs, ours)))


def test_a_default_does_not_overwrite_the_others_value():
    """It is for those who have none; under any other test it takes the value away."""
    base = GO.replace("find()", "find(m.key)").replace("use(", "run(")
    ours = base.replace("m.find", "m.all.find")
    chosen = "\t\tif m.pick {\n\t\t\th = best(h)\n\t\t}\n"
    default = "\t\tif h == nil {\n\t\t\th = m.usual()\n\t\t}\n"
    theirs = base.replace("\t\trun(h)", f"{chosen}{default}\t\trun(h)")
    assert not found_in_go(base, ours, theirs)
    assert not found_in_go(base, theirs, ours)
    assert "overwrites" in found_in_go(base, ours, theirs.replace("h == nil", "h != nil"))


def found_in_go(base, ours, theirs):
    """Merge three texts in Go and look for interference."""
    trees = read_versions("a.go", [text.encode() for text in (base, ours, theirs)])
    return either_way(find_interference(*trees, TreeMerge().merge(*trees)))


TWO_REASONS = (
    "c = 1 / if c > 0 / > b = 2 - a / > c = c + a / a = a + 3 / c = 0 * b / return c",
    "c = 1 / a = b / if c > 0 / > b = 2 - a / > c = c * c / a = a + 3 / c = 0 * b / return c",
    "c = 1 / if c > 0 / > c = c + a / a = a + 3 / c = 0 * b / return c",
)
MERGE = """
import sys
from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.strategies.structured.flow.interference import find_interference
from cooperbench_eval.strategies.structured.merge import TreeMerge

trees = read_versions("a.py", [text.encode() for text in sys.argv[1:]])
print(find_interference(*trees, TreeMerge().merge(*trees)))
"""


def test_the_reason_does_not_depend_on_the_hashes_of_strings():
    """Of two variables whose values change, every process names the same."""
    texts = [function(text, "def f(a, b):") for text in TWO_REASONS]
    found = {
        subprocess.run(
            [sys.executable, "-c", MERGE, *texts],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "1234"
    }

    assert found == {"in 'f', theirs changes where ours' new value of 'b' is used\n"}


def test_a_call_in_a_case_sets_none_of_its_arguments():
    """In Go, where a pattern in brackets could be a call."""
    frame = (
        'func f(s string) int {\n\tswitch {\n\tcase s == "":\n\t\treturn 0\n@\t}\n\treturn 9\n}\n'
    )
    new = (f'\tcase h.Has(s, "{each}"):\n\t\treturn 1\n' for each in "ab")
    texts = [frame.replace("@", each).encode() for each in ("", *new)]
    trees = read_versions("a.go", texts)

    assert find_interference(*trees, TreeMerge().merge(*trees)) == ""


@pytest.mark.parametrize("last", ["break;", "return;"])
def test_of_two_cases_none_leaves_before_what_the_other_does(last):
    """Only one of them is executed."""
    frame = "function f(k) { switch (k) {\ncase 1: a(); break;\n@default: z();\n} }\n"
    new = (f"case {n}: b{n}(); {last}\n" for n in (2, 3))
    texts = [frame.replace("@", each).encode() for each in ("", *new)]
    trees = read_versions("a.js", texts)

    assert find_interference(*trees, TreeMerge().merge(*trees)) == ""


def test_a_loop_over_other_items_does_not_disturb_what_is_done_for_each():
    """A condition of the loop would."""
    base = function("for y in g(x) / > u = h(y) / > if u / > > break / return u")
    ours = function("for y in g(x) + k(x) / > u = h(y) / > if u / > > break / return u")
    theirs = function("for y in g(x) / > u = h(y) / > if u and r(u) / > > break / return u")

    assert interference(base, ours, theirs) == ""
    assert interference(base, theirs, ours) == ""


def test_a_condition_may_get_new_values_of_both_sides():
    """Each side's own value is still part of it."""
    base = function("n = 0 / if x / > g() / return z")
    ours = function("n = 0 / m = r() / if x or m / > g() / return z")
    theirs = function("n = 0 / u = q() / if u or x / > g() / return z")

    assert interference(base, ours, theirs) == ""


CASES = (
    "for y in z / > v = 1 / > u = h(y) / return v",
    "for y in z / > v = 1 / > if y == 'a' / > > continue / > u = h(y) / return v",
    "for y in z / > v = 1 / > u = h(y) / > if y == 'b' / > > v = k(u) / return v",
)


def test_an_exit_under_a_test_that_excludes_the_others_does_not_skip_its_work():
    """Unless both may hold, the value is another one by then, or later turns are skipped."""
    base, ours, theirs = map(function, CASES)
    both = theirs.replace("'b'", "'a'")
    renewed = theirs.replace("u = h(y)", "y = u = h(y)")

    left = "in 'f', one side leaves the function before the other's work is done"
    ended, called = (
        ours.replace("continue", "break"),
        [each.replace("y ==", "h(y) ==") for each in (ours, theirs)],
    )
    assert interference(base, ours, theirs) == ""
    assert interference(base, ours, both) == left
    assert interference(base, ours, renewed) == left
    assert interference(base, ended, theirs) == left
    assert interference(base, *called) == left


def test_another_argument_of_a_range_is_another_value():
    """What was its end becomes its start, so the other side's branch may be dead."""
    base = function("for i in range(len(x)) / > g(x[i]) / return z")
    ours = function("for i in range(1, len(x)) / > g(x[i]) / return z")
    theirs = function("for i in range(len(x)) / > if i == 0 / > > z = h(z) / > g(x[i]) / return z")

    assert interference(base, ours, theirs)


def test_an_exit_under_else_is_not_under_the_test_before_it():
    """Here the other side's test may hold where it leaves."""
    base = function("g(z) / return z")
    ours = function("if x == 1 / > a() / else / > return 0 / g(z) / return z")
    theirs = function("g(z, 1) / if x == 2 / > z = h(z) / return z")

    assert interference(base, ours, theirs)


@pytest.mark.parametrize(
    ("one", "other"), [("'a'", '"a"'), ("1", "1.0"), ("1", "True"), ("1", "'1'")]
)
def test_tests_against_equal_constants_do_not_exclude_each_other(one, other):
    """However they are written."""
    base = function("g(z) / return z")
    ours = function(f"if x == {one} / > return 0 / g(z) / return z")
    theirs = function(f"g(z, 1) / if x == {other} / > z = h(z) / return z")

    assert interference(base, ours, theirs)


@pytest.mark.parametrize("value", ["state", "self.state", "x.state"])
def test_tests_of_what_a_call_may_change_do_not_exclude_each_other(value):
    """A global variable, or a part of an object that the call gets."""
    base = function("g(x) / return z")
    ours = function(f"if {value} == 1 / > return 0 / g(x) / return z")
    theirs = function(f"g(x, 1) / if {value} == 2 / > z = h(z) / return z")

    assert interference(base, ours, theirs)


CARRIED = (
    "for y in x / > r(y, z[n]) / > n += 1 / return z",
    "for y in x / > u = next(m) / > r(y, u) / return z",
    "for y in x / > r(y, next(m)) / return z",
    "for y in x / > r(y, m.pop(0)) / return z",
)


@pytest.mark.parametrize("work", CARRIED)
def test_a_loop_over_other_items_disturbs_what_goes_from_one_turn_to_the_next(work):
    """A counter would count something else."""
    base = function("n = 0 / for y in x / > r(y) / return z")
    ours = function("n = 0 / for y in x[1:] / > r(y) / return z")
    theirs = function(f"n = 0 / {work}")

    assert interference(base, ours, theirs)


def test_what_looks_like_a_loop_over_items_may_have_a_condition():
    """A variable may be called `range`, `of` or `in` in other languages."""
    loop = "for (let i = 0; i < range; i++) {\n    n += 1;\n  }"
    base = f"function f(range, ok) {{\n  let n = 0;\n  {loop}\n  return n;\n}}\n"
    ours, theirs = base.replace("i < range;", "i < range && ok;"), base.replace("+= 1", "+= 2")
    trees = read_versions("a.js", [text.encode() for text in (base, ours, theirs)])

    assert find_interference(*trees, TreeMerge().merge(*trees))


def test_a_shared_change_that_one_side_made_larger_counts_for_neither():
    """Unless the other side works with the value."""
    base = function("y = g(x) / return h(y)")
    ours = function("with g(x) as y: / > z = h(y) / return z")
    theirs = function("with g(x, n=1) as y: / > z = h(y) / return z")

    assert interference(base, ours, theirs) == ""

    base = function("z = h(x) / return z")
    ours = function("low = g(x) / z = h(x) / return low if z else x")
    theirs = function("low = g(x, last=1) / z = h(x) / return z")

    assert interference(base, ours, theirs)

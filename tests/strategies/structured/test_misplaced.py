"""New statements keep their neighbours in a merge."""

import pytest
from generators import three_way_programs
from hypothesis import given

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import StructureError
from cooperbench_eval.strategies.structured.merge import TreeMerge
from cooperbench_eval.strategies.structured.misplaced import find_misplaced


def function(*lines):
    """Write a function of some lines."""
    return "".join(f"{line}\n" for line in ("def f(a):", *(f"    {each}" for each in lines)))


def misplaced(base, ours, theirs, merged, path="a.py"):
    """Find the statement of a function that is beside the wrong neighbours."""
    sources = [each.encode() for each in (base, ours, theirs, merged)]
    *versions, result = read_versions(path, sources)
    return find_misplaced(versions, result)


BASE = function("one()", "if a:", "    two()", "three()")
OURS = function("one()", "if a:", "    new()", "    two()", "three()")
THEIRS = function("one()", "if a:", "    two()", "if b:", "    four()", "three()")


def test_a_statement_that_kept_its_neighbours_is_in_place():
    """The other side's statements may stand between them."""
    merged = function("one()", "if a:", "    new()", "    two()", "if b:", "    four()", "three()")

    assert misplaced(BASE, OURS, THEIRS, merged) == ""


WRONG = {
    "in another block": ("one()", "if a:", "    two()", "if b:", "    new()", "    four()"),
    "after instead of before": ("one()", "if a:", "    two()", "    new()", "if b:", "    four()"),
    "out of its block": ("one()", "new()", "if a:", "    two()", "if b:", "    four()"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_statement_with_other_neighbours_is_found(name):
    """Whichever side inserted it."""
    merged = function(*WRONG[name], "three()")
    problem = "in 'f', 'new()' would be in the wrong block"

    assert misplaced(BASE, OURS, THEIRS, merged) == problem
    assert misplaced(BASE, THEIRS, OURS, merged) == problem


def test_a_statement_that_both_sides_add_to_a_suite_is_there_once():
    """Or as often as one of them adds it; in another suite it is another statement."""
    ours, theirs = function("log(a)", "one()", "if a:", "    log(a)"), function("one()", "log(a)")
    once, twice = function("log(a)", "one()"), function("log(a)", "one()", "log(a)")
    base = function("one()")

    assert misplaced(base, once, theirs, twice) == (
        "in 'f', 'log(a)' would occur twice, because both sides add it"
    )
    assert misplaced(base, twice, theirs, twice) == ""
    assert misplaced(base, ours, once, ours) == ""


def test_a_block_may_be_put_around_an_edited_statement():
    """What was before it is now before the block."""
    base, ours = function("one()", "return a"), function("one()", "return a + 1")
    theirs = function("one()", "if b:", "    return a", "return 0")
    merged = function("one()", "if b:", "    return a + 1", "return 0")

    assert misplaced(base, ours, theirs, merged) == ""


def test_a_block_beside_the_only_neighbour_is_another_block():
    """The new statement stood before `two` in its block, and not deeper."""
    base, ours = function("if a:", "    two()"), function("if a:", "    new()", "    two()")
    theirs = function("if a:", "    if b:", "        three()", "    two()")
    merged = function("if a:", "    if b:", "        new()", "        three()", "    two()")

    assert "new" in misplaced(base, ours, theirs, merged)


def test_a_neighbour_that_is_gone_shows_nothing():
    """The other side removed it."""
    base, ours = function("one()", "two()"), function("one()", "new()", "two()")
    theirs, merged = function("three()", "two()"), function("two()", "new()", "three()")

    assert misplaced(base, ours, function("three()"), function("new()", "three()")) == ""
    assert misplaced(base, ours, theirs, merged) != ""


def test_neighbours_count_in_other_languages_too():
    """Here, in a method of Go."""
    base = "func (s *Set) Add(k string) {\n\tif s.ok {\n\t\ts.put(k)\n\t}\n\tdone()\n}\n"
    ours = base.replace("\t\ts.put", "\t\tcheck(k)\n\t\ts.put")
    theirs = base.replace("\tdone()", "\tif s.log {\n\t\twrite(k)\n\t}\n\tdone()")
    wrong = theirs.replace("\t\twrite", "\t\tcheck(k)\n\t\twrite")

    assert "check" in misplaced(base, ours, theirs, wrong, "a.go")


@given(three_way_programs())
def test_a_merge_of_random_edits_misplaces_nothing_that_one_side_inserts_alone(versions):
    """If theirs is the base, the result is ours, and nothing in it can be misplaced."""
    base, ours, _ = versions
    try:
        trees = read_versions("a.py", [base, ours, base])
        merged = TreeMerge().merge(*trees)
    except StructureError:
        return
    assert find_misplaced(trees, merged) == ""


def test_a_very_long_function_takes_no_long_time():
    """Twenty thousand new statements on each side, all alike."""
    lines = [f"x{i}()" for i in range(2000)]
    base = function(*lines)
    ours = function(*(each for line in lines for each in (line, "new()", "newer()")))
    theirs = function(*(each for line in lines for each in (line, "other()")))

    assert misplaced(base, ours, theirs, ours) == ""


def test_a_new_clause_stays_with_its_statement():
    """Also if the other side puts both into another statement that may have one."""
    base = function("if a:", "    one()", "two()")
    ours = function("if a:", "    one()", "else:", "    new()", "two()")
    theirs = function("if b:", "    if a:", "        one()", "two()")
    right = function("if b:", "    if a:", "        one()", "    else:", "        new()", "two()")
    wrong = function("if b:", "    if a:", "        one()", "else:", "    new()", "two()")

    assert misplaced(base, ours, theirs, right) == misplaced(base, theirs, ours, right) == ""
    for sides in ((ours, theirs), (theirs, ours)):
        assert misplaced(base, *sides, wrong) == "in 'f', 'new()' would be in the wrong block"


def test_two_versions_of_one_statement_are_not_both_there():
    """Even if the sides put them at different depths."""
    base = function("x = a + one(b)", "two()")
    ours = function("for c in d:", "    x = first(a + one(b))", "two()")
    theirs = function("x = second(a + one(b))", "two()")
    merged = function("for c in d:", "    x = first(a + one(b))", "x = second(a + one(b))", "two()")

    assert "and theirs' version would both occur" in misplaced(base, ours, theirs, merged)


def test_equal_headers_do_not_confuse_what_both_sides_add():
    """It is at one place in both, although the other side puts a statement with one around it."""
    repeated = "for a in b:", "    one()"
    base = function(*repeated, "two()", *repeated, "three()")
    ours = function(*repeated, "log(a, b)", "two()", *repeated, "three()")
    theirs = function(
        "for a in b:", *("    " + each for each in repeated), "log(a, b)", "for a in b:",
        "    two()", *repeated, "three()",
    )  # fmt: skip
    merged = function(
        "for a in b:", *("    " + each for each in repeated), "log(a, b)", "for a in b:",
        "    log(a, b)", "    two()", *repeated, "three()",
    )  # fmt: skip

    assert "occur twice" in misplaced(base, ours, theirs, merged)


def test_elements_with_different_text_are_not_the_same():
    """Each side adds an item to a list in TypeScript."""
    base, *texts = (
        "function A() {\n  return <ul>\n    <li>a</li>\n" + new + "  </ul>;\n}\n"
        for new in ("", "    <li>b</li>\n", "    <li>c</li>\n", "    <li>b</li>\n    <li>c</li>\n")
    )

    assert misplaced(base, *texts, "a.tsx") == ""


def test_what_is_deferred_does_not_depend_on_the_other_sides_condition():
    """In Go, it concerns the end of the whole function."""
    frame = "package a\n\nfunc f(x int) {\n@\tlast()\n}\n"
    bodies = (
        "\tone()\n\ttwo()\n",
        "\tone()\n\tdefer end()\n\ttwo()\n",
        "\tif x > 1 {\n\t\tone()\n\t\ttwo()\n\t}\n",
        "\tif x > 1 {\n\t\tone()\n\t\tdefer end()\n\t\ttwo()\n\t}\n",
    )
    texts = [frame.replace("@", body) for body in bodies]

    assert "'defer end()' would be in the wrong block" in misplaced(*texts, "a.go")
    assert misplaced(*(text.replace("defer ", "") for text in texts), "a.go") == ""


def test_an_edited_statement_stays_where_the_other_side_moved_its_neighbour():
    """Here into the statement itself."""
    base = function("one()", "for b in a:", "    if g(b):", "        return b", "raise E(a)")
    moved = function(
        "one()", "for b in a:", "    if g(b):", "        return b", "else:", "    raise E(a)"
    )
    edited = base.replace("in a", "in h(a)")
    merged = moved.replace("in a", "in h(a)")

    assert misplaced(base, moved, edited, merged) == misplaced(base, edited, moved, merged) == ""


def test_a_statement_of_both_sides_may_leave_a_neighbour_that_one_of_them_repeats_elsewhere():
    """The neighbour is another statement then."""
    base = function("b = g(a)", "return h(b)")
    ours = function("b = g(a)", "c = h(b)", "log(c)", "return c")
    theirs = function(
        "b = g(a, 1)", "c = h(b)", "if a:", "    b = g(a)", "    c = k(b)", "return c"
    )
    merged = function(
        "b = g(a, 1)", "c = h(b)", "if a:", "    b = g(a)", "    c = k(b)", "log(c)", "return c"
    )

    assert misplaced(base, ours, theirs, merged) == misplaced(base, theirs, ours, merged) == ""


def test_a_block_that_both_put_around_a_statement_counts_once_with_other_arguments():
    """One side's has an argument more."""
    base = function("b = g(a)", "one(b)", "two(b)")
    ours = function("with g(a) as b:", "    one(b)", "    two(b)")
    theirs = function("with g(a, c=1) as b:", "    one(b)", "    two(b)")

    assert misplaced(base, ours, theirs, theirs) == misplaced(base, theirs, ours, theirs) == ""

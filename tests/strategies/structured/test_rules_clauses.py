"""Both sides give a `try` statement further clauses, or put the same statements into one."""

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


KEPT = {
    "a superclass comes later": (
        ["except Exception:", "    b()"],
        ["except ValueError as e:", "    c(e)"],
        ["except ValueError as e:", "    c(e)", "except Exception:", "    b()"],
    ),
    "of several": (
        ["except OSError:", "    b()"],
        ["except (KeyError, FileNotFoundError):", "    c()"],
        ["except (KeyError, FileNotFoundError):", "    c()", "except OSError:", "    b()"],
    ),
    "except and finally": (
        ["except KeyError:", "    b()"],
        ["finally:", "    y.close()"],
        ["except KeyError:", "    b()", "finally:", "    y.close()"],
    ),
}


@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize("name", KEPT)
def test_the_clauses_of_both_are_kept(name, is_new):
    """If the `try` was there before, and if both sides add it."""
    ours, theirs, expected = KEPT[name]
    if is_new:
        base, head = BASE, ["try:", "    a()"]
    else:
        base = head = TRY
    expected = [*head, *expected]

    assert merge(base, [*head, *ours], [*head, *theirs]) == expected
    assert merge(base, [*head, *theirs], [*head, *ours]) == expected


def test_the_statements_in_a_new_try_take_the_edits_of_both():
    """There is one `try`, not one inside the other."""
    ours = ["try:", "    a(1)", "    b()", "finally:", "    x.close()"]
    theirs = ["zero()", "try:", "    a()", "    b(2)", "except E:", "    raise"]

    assert merge(["a()", "b()"], ours, theirs) == [
        *("zero()", "try:", "    a(1)", "    b(2)", "except E:", "    raise"),
        *("finally:", "    x.close()"),
    ]


def test_it_is_so_in_typescript():
    """With `catch`."""
    pytest.importorskip("tree_sitter_typescript")
    ours = ["try {", "  a();", "} finally {", "  x.close();", "}"]
    theirs = ["try {", "  a();", "} catch (e) {", "  b(e);", "}"]

    assert merge(["a();"], ours, theirs, path="a.ts") == [*theirs[:-1], *ours[2:]]


REFUSED = {
    "two of one name": (["finally:", "    x.close()"], ["finally:", "    y.close()"]),
    "one exception in two ways": (["except (A1, B):", "    b()"], ["except B:", "    c()"]),
    "one exception under two names": (["except B as e:", "    e"], ["except B as f:", "    f"]),
    "everything": (["except:", "    b()"], ["except:", "    raise"]),
}


@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize(("ours", "theirs"), REFUSED.values(), ids=REFUSED)
def test_clauses_that_may_take_the_same_are_refused(ours, theirs, is_new):
    """In either direction."""
    base, head = (BASE, TRY[:2]) if is_new else (TRY, TRY)

    for sides in ((ours, theirs), (theirs, ours)):
        with pytest.raises(DisagreementError):
            merge(base, *([*head, *side] for side in sides))


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

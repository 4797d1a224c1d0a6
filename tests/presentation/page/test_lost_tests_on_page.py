"""What the page shows of a pair whose merge lost tests."""

import pytest
from attrs import evolve
from page_reports import BASE, CLEAN, edited, made, pair

from cooperbench_eval.reporting.rows import FailureTrace, TracedFunction
from cooperbench_eval.running.results import TestCase

NAMES = ("t::one", "t::two")
MESSAGE = (
    "assert 1 == 2\n\n>       assert f() == 2\nE       assert 1 == 2\n\nsrc/f.py:3: AssertionError"
)
FUNCTION = TracedFunction(
    path="src/f.py",
    name="Book.total",
    line=7,
    kind="frame",
    tests=["t::one"],
    base=b"def total():\n    return 1\n",
    feature1=b"def total():\n    return 2\n",
    feature2=b"def total():\n    return 1\n",
    merged=b"def total():\n    return 2\n",
)


def losing(names=NAMES, message=MESSAGE, functions=(FUNCTION,), left_out=0, **facts):
    """A clean pair whose merges lose tests of feature 1."""
    report = pair(of=CLEAN, lost={"naive": (names, ()), "union": (names, ())}, **facts)
    rows = []
    for row in report.attempts:
        cases = [
            evolve(case, message=message) if case.status == "failed" else case
            for case in row.feature1_tests.cases
        ]
        trace = None if functions is None else FailureTrace(functions=functions, left_out=left_out)
        rows.append(
            evolve(row, feature1_tests=evolve(row.feature1_tests, cases=cases), trace=trace)
        )
    return evolve(report, attempts=rows)


def test_the_lost_tests_come_first_with_their_assertion(open_page):
    """Tests that failed for the same reason, and strategies that lost the same, share a box."""
    page = open_page([losing()], "#pair=1")

    assert page.texts("#pair h3")[0] == "Lost tests"
    assert page.text(".lead") == (
        "The clean merge of naive, union lost 2 tests that passed with a feature alone."
    )
    assert page.texts(".failed-test > summary") == ["t::one and 1 more test of feature 1: failed"]
    assert page.text(".failure").split("\n") == [each for each in MESSAGE.split("\n") if each]
    assert page.texts(".failure .error") == ["assert 1 == 2", "E       assert 1 == 2"]
    assert page.texts(".failure .at") == [">       assert f() == 2"]


def test_both_sides_of_a_function_are_shown_beside_each_other(open_page):
    """With the words that differ, and the merge's lines with the feature that they are from."""
    page = open_page([losing()], "#pair=1")

    ten = [f"t::{n}" for n in range(10)]
    assert page.text(".traced h5").endswith("goes through it; 1 lost test")
    many = open_page([losing(functions=[evolve(FUNCTION, tests=ten)])], "#pair=1")
    assert many.text(".traced h5").endswith("; at least 10 lost tests")
    heading = page.text(".traced h5")
    assert heading.startswith("Book.total src/f.py, line 7: the traceback goes through it")
    assert page.texts(".traced figcaption") == [
        "Feature 1: changed",
        "Feature 2: as in the base",
        "Merge: changed",
    ]
    boxes = page.tab.locator(".traced figure").evaluate_all(
        "all => all.map(each => each.getBoundingClientRect().top)"
    )
    assert boxes[0] == boxes[1]
    assert page.texts(".traced figure >> nth=0 >> mark") == ["1", "2"]
    margins = page.tab.locator(".traced .merge .row").evaluate_all(
        "rows => rows.map(row => row.dataset.margin.trim().replace(/ +/g, ' '))"
    )
    assert margins == ["7", "1 -", "8 1 +"]


def test_functions_that_a_side_lacks_are_named(open_page):
    """One may add a function or remove it."""
    added = evolve(FUNCTION, base=None, feature2=None)
    removed = evolve(FUNCTION, name="gone", feature1=None, merged=None, line=None)
    page = open_page([losing(functions=[added, removed], left_out=3)], "#pair=1")

    assert page.texts(".traced figcaption") == [
        *("Feature 1: added", "Feature 2: not there", "Merge: added"),
        *("Feature 1: removed", "Feature 2: as in the base", "Merge: removed"),
    ]
    assert "not in the merge" in page.texts(".traced h5")[1]
    assert "3 more functions left out." in page.text("#pair")


@pytest.mark.parametrize(
    ("functions", "words"),
    [(None, "An earlier version of the library"), ((), "lead to no function")],
)
def test_a_pair_without_traced_code_says_why(open_page, functions, words):
    """A report of an earlier version has none; other failures lead nowhere."""
    assert words in open_page([losing(functions=functions)], "#pair=1").text("#pair")


def test_a_pair_of_which_too_much_was_left_out_says_so(open_page):
    """Also if no function is shown, as files that were not read count too."""
    shown = open_page([losing(functions=(), left_out=2)], "#pair=1").text("#pair")

    assert "2 more functions left out. A file that was too much to read counts as one." in shown


def test_a_test_that_did_not_run_shows_why_its_file_did_not(open_page):
    """As pytest reports a file that cannot be imported: as one case with the file's name."""
    report = losing()
    error = TestCase(id="t", status="error", message="ImportError: no name")
    rows = [
        evolve(row, feature1_tests=evolve(row.feature1_tests, cases=[error]))
        for row in report.attempts
    ]
    page = open_page([evolve(report, attempts=rows)], "#pair=1")

    assert page.text(".failed-test > summary") == "t::one and 1 more test of feature 1: did not run"
    assert page.text(".failure") == "ImportError: no name"


def test_failures_that_differ_only_in_their_middle_are_put_together(open_page):
    """As the cases of a parametrized test do."""
    report = losing()
    rows = [
        evolve(
            row,
            feature1_tests=evolve(
                row.feature1_tests,
                cases=[
                    evolve(case, message=f"AssertionError\n{case.id}\na.py:3: AssertionError")
                    for case in row.feature1_tests.cases
                ],
            ),
        )
        for row in report.attempts
    ]
    page = open_page([evolve(report, attempts=rows)], "#pair=1")

    assert page.texts(".failed-test > summary") == ["t::one and 1 more test of feature 1: failed"]
    assert "t::one" in page.text(".failure")


def test_far_unchanged_lines_are_left_out(open_page):
    """A long function shows its changes, with eight lines around them."""
    lines = [b"    line_%d()\n" % n for n in range(100)]
    changed = [*lines[:50], b"    other()\n", *lines[51:]]
    function = evolve(FUNCTION, base=b"".join(lines), feature1=b"".join(changed))
    page = open_page([losing(functions=[function])], "#pair=1")

    rows = page.texts(".traced figure >> nth=0 >> .line")
    assert len(rows) == 8 + 2 + 8 + 2
    assert rows[0] == "42 unchanged lines left out"
    assert rows[-1] == "41 unchanged lines left out"


def test_the_keyboard_reaches_every_section(open_page):
    """A button leads to each, and code that is cut off can be scrolled."""
    page = open_page([losing()], "#pair=1")

    page.tab.locator(".sections button", has_text="Merges").focus()
    page.tab.keyboard.press("Enter")

    assert page.tab.evaluate("document.activeElement.textContent") == "Merges"
    assert page.tab.locator("#pair pre:not([tabindex='0']):not(.message)").count() == 0


def test_hostile_texts_of_lost_tests_appear_as_text(open_page):
    """In names, messages, paths and code."""
    bad = "</script><img src=x onerror=alert(1)>"
    function = evolve(
        FUNCTION, path=f"{bad}.py", name=bad, feature1=bad.encode(), merged=b"\xff\x1b", tests=[bad]
    )
    report = losing((bad,), bad, [function], alone=((bad,), ("t::three",)))
    patch = made(edited(0, bad.encode() + b"\n"), BASE).feature2.patch
    report = evolve(report, feature2=evolve(report.feature2, patch=patch))
    page = open_page([report], "#pair=1")

    for selector in (".failed-test > summary", ".failure", ".traced h5", ".traced figure", ".diff"):
        assert bad in "\n".join(page.texts(selector)), selector
    assert page.tab.locator("main :is(script, img)").count() == 0


def test_a_long_list_of_lost_tests_is_cut(open_page):
    """One failure is open, the others show their error; thirty are listed, the rest counted."""
    names = tuple(f"t::n{n}" for n in range(50))
    report = losing(names, alone=(names, ("t::three",)))
    rows = [
        evolve(
            row,
            feature1_tests=evolve(
                row.feature1_tests,
                cases=[evolve(case, message=case.id) for case in row.feature1_tests.cases],
            ),
        )
        for row in report.attempts
    ]
    page = open_page([evolve(report, attempts=rows)], "#pair=1")

    assert page.tab.locator(".failed-test").count() == 30
    assert page.tab.locator(".failed-test[open]").count() == 1
    assert page.texts(".failed-test > summary")[29] == "t::n29 of feature 1: failed t::n29"
    assert "lost 50 tests" in page.text(".lead")
    assert "20 more tests left out." in page.text("#pair")

"""The view of an explanation."""

import attrs
from fragments import by_rich, read_fragment

from cooperbench_eval.reporting.explanation import ExplainedHunk, Explanation, Finding
from cooperbench_eval.reporting.identity import PairId

PAIR = PairId(repo_name="r", task_id=0, features=(1, 2))


def a_hunk(number=1, **facts):
    """A hunk of feature 1 that breaks tests."""
    facts = {"feature": 1, "path": "a.py", "line": number, "role": "breaks"} | facts
    return ExplainedHunk(**{"text": f"-old {number}\n+new {number}\n"} | facts)


def an_explanation(*hunks, **facts):
    """An explanation of a lost test of feature 2."""
    finding = {"suite": "feature2", "tests": ["t::one"], "status": "explained", "is_minimal": True}
    return Explanation(
        strategy="naive",
        pair=PAIR,
        findings=[Finding(**finding | {"hunks": hunks} | facts)],
        runs_used=7,
        budget=60,
    )


def test_the_lines_of_both_features_are_shown():
    """With their place and how they take part."""
    shown = str(an_explanation(a_hunk(5), a_hunk(9, feature=2, path="b.py", role="needed")))

    assert shown.splitlines() == [
        "naive: found why the merge lost tests",
        "1 lost test of the second feature, explained by the hunks below: t::one",
        "7 runs of at most 60",
        "feature 1",
        "a.py:5 breaks the lost tests",
        "  -old 5",
        "  +new 5",
        "feature 2",
        "b.py:9 is needed by the lost tests",
        "  -old 9",
        "  +new 9",
    ]


def test_hunks_that_may_be_innocent_are_not_called_guilty():
    """The budget was spent, so each only may take part."""
    shown = str(an_explanation(a_hunk(5), is_minimal=False, reason="the budget was spent"))

    assert "explained by some of the hunks below" in shown
    assert "a.py:5 may break the lost tests" in shown
    assert "the budget was spent" in shown


def test_a_search_that_could_not_begin_says_why():
    """There are no findings then."""
    explanation = Explanation(
        strategy="naive", pair=PAIR, failure="not_merged", problem="a conflict", budget=9
    )

    assert str(explanation).splitlines() == [
        "naive: the merge is not complete",
        "a conflict",
        "0 runs of at most 9",
    ]


def test_many_long_hunks_are_cut():
    """Those that break tests come first, and the numbers of the others are shown."""
    long = "".join(f"+line {number}\n" for number in range(50))
    needed = [a_hunk(number, role="needed", text=long) for number in range(1, 20)]

    shown = str(an_explanation(*needed, a_hunk(99)))

    breaks = shown.index("a.py:99 breaks the lost tests")
    assert breaks < shown.index("a.py:1 is needed by the lost tests")
    assert "and 42 more lines" in shown
    assert "and 10 more hunks" in shown
    assert len(shown.splitlines()) < 120


def test_html_and_rich_show_the_same_lines():
    """Texts from outside are inert in both."""
    hunk = a_hunk(5, path="<b>.py", text="+<script>alert(1)</script>\x1b[31m\n")
    explanation = an_explanation(hunk)

    fragment = read_fragment(explanation._repr_html_())

    assert ["<b>.py:5 breaks the lost tests"] in fragment.rows
    assert ["+<script>alert(1)</script>\\x1b[31m"] in fragment.rows
    assert "<b>.py:5 breaks the lost tests" in by_rich(explanation)


def test_a_hunk_with_two_roles_is_one_that_breaks():
    """Each hunk is listed once, in the order of places."""
    explanation = an_explanation(a_hunk(9), a_hunk(5, role="needed"), a_hunk(5))

    roles = [(hunk.line, hunk.role.value) for hunk in explanation.feature1_hunks]

    assert roles == [(5, "breaks"), (9, "breaks")]


def test_a_suite_that_is_not_explained_decides_nothing_about_another():
    """The explanation is minimal only if each finding is."""
    explained = an_explanation(a_hunk())
    other = attrs.evolve(
        explained.findings[0], status="not_reproduced", is_minimal=False, hunks=(), tests=["u"]
    )

    both = attrs.evolve(explained, findings=[*explained.findings, other])

    assert (both.status, both.is_minimal, both.tests) == ("explained", False, ("t::one", "u"))
    assert attrs.evolve(both, findings=[other]).status == "not_reproduced"

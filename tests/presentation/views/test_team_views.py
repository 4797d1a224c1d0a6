"""Views of a team's report and of its parts."""

import attrs
import pytest
from fragments import by_rich, read_fragment
from generators import odd_texts, team_reports
from hypothesis import given

import cooperbench_eval as ce
from cooperbench_eval.presentation.views.plans import left_out_text

BASE = b"".join(b"%d\n" % n for n in range(12))
LONG = tuple(
    f"tests/test_of_a_module.py::TestThatItWorks::test_that_it_works[{n}]" for n in range(46)
)


def feature(number, line, text):
    """A feature that changes one line of one file."""
    lines = BASE.splitlines(keepends=True)
    lines[line] = text
    base = ce.Snapshot.from_files({"f": BASE})
    return ce.Feature(number=number, patch=ce.Changes({"f": ce.Entry(b"".join(lines))}).diff(base))


def a_team():
    """A team of three: 1 conflicts with 3 under naive, and 4 breaks 3 under union."""
    features = [feature(3, 5, b"a\n"), feature(1, 5, b"b\n"), feature(4, 11, b"c\n")]
    team = ce.FeatureTeam(
        repo_name="click", task_id=7, base=ce.Snapshot.from_files({"f": BASE}), features=features
    )
    report = ce.Evaluator(strategies=["naive", "union"]).evaluate_team(team)
    naive, union = report.attempts
    lost = ce.reporting.BrokenTests(suite="feature", feature=3, tests=LONG)
    gone = ce.reporting.LeftOut(number=4, reason="breaks", features=[3], tests=[lost])
    failed = [ce.models.TestCase(id=id_, status="failed") for id_ in LONG]
    passed = [ce.models.TestCase(id=id_, status="passed") for id_ in LONG]
    run = ce.reporting.SuiteRun(
        suite="feature", feature=3, tests=ce.TestResult(status="failed", cases=failed)
    )
    own = attrs.evolve(report.features[0], tests=ce.TestResult(status="passed", cases=passed))
    return attrs.evolve(
        report,
        features=[own, *report.features[1:]],
        attempts=[naive, attrs.evolve(union, landed=[3, 1], left_out=[gone], tests=[run])],
    )


TEAM = a_team()
NAMES = ", ".join(f"…{LONG[n][-39:]}" for n in range(3))


def parts():
    """The report and what can be shown of it alone."""
    union = TEAM.attempt("union")
    return [TEAM, union, TEAM.blame("union"), union.left_out[0], TEAM.merges[0]]


def test_a_report_says_what_lands_and_why_the_others_do_not():
    """Long names of tests keep their ends, in which they differ."""
    lines = str(TEAM).splitlines()

    assert lines[0] == "click, task 7, features 3, 1 and 4"
    assert lines[2] == "git merges the features in this order: conflicts, score 24"
    assert lines[-4:] == [
        "  naive   2 of 3 landed (3, 4)  unhandled  the conflict",
        "  union   2 of 3 landed (3, 1)  incorrect  the merge broke feature 3",
        "naive: feature 1 conflicts with feature 3 in f",
        f"union: feature 4 breaks 46 tests of feature 3: {NAMES} and 43 more",
    ]


def test_parts_of_a_report_are_short():
    """What is to blame, a feature that was left out, and one merge."""
    _, attempt, blame, left_out, step = map(str, parts())

    assert attempt.splitlines()[:2] == ["union: 2 of 3 landed (3, 1)", "verdict incorrect"]
    assert blame.splitlines() == [
        "the merge broke feature 3",
        f"46 tests of feature 3: {NAMES} and 43 more",
    ]
    assert left_out == f"feature 4 breaks 46 tests of feature 3: {NAMES} and 43 more"
    assert step.splitlines() == [
        "feature 1 into feature 3: conflicts (1 met, 1 left)",
        "left open in f",
    ]


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"reason": "missing_input", "problem": "no hunk"}, "has no usable patch (no hunk)"),
        ({"reason": "duplicate", "features": [1]}, "makes the same changes as feature 1"),
        ({"reason": "fails_own_tests"}, "fails its own tests without the others"),
        (
            {"reason": "conflict", "features": [1, 2], "files": ["a", "b", "c", "d"]},
            "conflicts with features 1 and 2 in a, b, c and 1 more",
        ),
        ({"reason": "strategy_failed"}, "could not be merged because the strategy failed"),
        ({"reason": "not_examined"}, "was not examined"),
        (
            {
                "reason": "breaks",
                "tests": [ce.reporting.BrokenTests(suite="regression", tests=["t"])] * 4,
            },
            "breaks 1 test of the repository: t; 1 test of the repository: t; and 2 more suites",
        ),
        (
            {"reason": "breaks", "tests": [ce.reporting.BrokenTests(suite="regression")]},
            "breaks the tests of the repository",
        ),
        (
            {
                "reason": "breaks",
                "tests": [
                    ce.reporting.BrokenTests(suite="feature", feature=1, tests=["one"]),
                    ce.reporting.BrokenTests(suite="feature", feature=5, tests=["own"]),
                ],
                "problem": "together with 1",
            },
            "breaks 1 test of feature 1: one and fails 1 test of its own: own (together with 1)",
        ),
        (
            {
                "reason": "fails_own_tests",
                "tests": [
                    ce.reporting.BrokenTests(suite="feature", feature=5, reason="timed out: 1 s")
                ],
            },
            "fails its own tests without the others (timed out: 1 s)",
        ),
    ],
)
def test_each_reason_is_a_clause(facts, text):
    """With the features, files and tests that it concerns."""
    assert str(ce.reporting.LeftOut(number=5, **facts)) == f"feature 5 {text}"


def test_a_failed_merge_says_why():
    """The strategy's own words come after how it ended."""
    step = ce.reporting.TeamStep(feature=2, into=[1, 3], status="failed", failure="no answer")

    assert str(step).splitlines() == [
        "feature 2 into features 1 and 3: failed (0 met, 0 left)",
        "no answer",
    ]


def test_notebooks_and_terminals_show_the_same():
    """As inert HTML, and by rich."""
    for part in parts():
        text = " ".join(read_fragment(part._repr_html_()).texts)
        for word in str(part).split():
            assert word in text
            assert word in by_rich(part, 300)


@given(team_reports())
def test_any_report_of_a_team_is_shown(report):
    """In all three ways, and each part of it."""
    attempts = report.attempts
    rest = [each for row in attempts for each in (*row.left_out, *row.steps)]
    blames = [report.blame(each.strategy) for each in attempts]
    for part in (report, *attempts, *blames, *rest):
        assert str(part)
        read_fragment(part._repr_html_())
    assert by_rich(report, 60)


def test_a_feature_that_conflicts_with_very_many_has_a_short_line():
    """However long the list in a file is."""
    left_out = ce.reporting.LeftOut(
        number=1, reason="conflict", features=range(100_000), files=["f"]
    )

    assert len(left_out_text(left_out)) < 600


@given(odd_texts())
def test_odd_texts_stay_on_their_line(text):
    """They are made visible and cut."""
    lost = ce.reporting.BrokenTests(suite="joint", tests=[text * 20])
    shown = str(ce.reporting.LeftOut(number=1, reason="breaks", tests=[lost], problem=text * 20))

    assert len(shown.splitlines()) == 1
    assert len(shown) < 400
    assert shown.isprintable()

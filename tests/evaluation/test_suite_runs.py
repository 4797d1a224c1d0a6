"""When a run counts: what fails runs twice, and what has no result anywhere says nothing."""

import pytest
from telling import Runner

import cooperbench_eval as ce

BASE = ce.Snapshot.from_files({"a.txt": b"".join(b"line %d\n" % n for n in range(20))})


def patch(place, word):
    """Return a patch that replaces a line by a word."""
    text = BASE.read("a.txt").replace(b"line %d\n" % place, word.encode() + b"\n")
    return ce.Changes({"a.txt": ce.Entry(text)}).diff(BASE)


def evaluated(one, two=("has line", "has e"), **options):
    """Evaluate a pair whose suites have these cases; return the report and the number of runs."""
    runner = Runner()
    features = [
        ce.Feature(
            number=number,
            patch=patch(5 * number, f"word{number}"),
            tests=ce.TestSuite(command=cases, framework="pytest"),
        )
        for number, cases in enumerate((one, two), 1)
    ]
    pair = ce.FeaturePair(
        repo_name="r", task_id=1, base=BASE, feature1=features[0], feature2=features[1]
    )
    report = ce.Evaluator(strategies=["naive"], runner=runner, **options).evaluate(pair)
    return report, runner.runs


def facts(report):
    """Return the verdict and the kind of blame."""
    return report.attempt("naive").verdict.value, report.blame("naive").kind.value


@pytest.mark.parametrize("base", [True, False])
@pytest.mark.parametrize(
    ("case", "reason"),
    [("silent", "no result was written"), ("raises", "there is no interpreter")],
)
def test_a_suite_without_a_result_anywhere_is_nobodys_fault(case, reason, base):
    """Also if suites do not run on the base otherwise."""
    report, _ = evaluated(("has line", case), test_base=base)

    assert facts(report) == ("not_run", "unknown")
    assert reason in report.problem
    assert report.feature1.is_right is None
    assert not report.is_final


def test_a_patch_that_keeps_its_own_tests_from_running_is_broken():
    """The same suite has a result on the base."""
    report, _ = evaluated(("has line", "silent word1"))

    assert facts(report) == ("incorrect", "broken_alone")
    assert report.blame("naive").features == (1,)


def test_a_merge_that_keeps_tests_from_running_broke_them():
    """They have a result on the base and without the other feature."""
    report, _ = evaluated(("has line", "silent word1 word2"))

    assert facts(report) == ("incorrect", "merge_broke_feature1")
    assert report.blame("naive").lost_tests1 == ("tests/t.py::has line",)


def test_a_host_that_fails_in_the_middle_is_nobodys_fault():
    """The suite had a result on the base, and has none there any more."""
    report, _ = evaluated(("has line", "full"))

    assert facts(report) == ("not_run", "unknown")
    assert report.attempt("naive").feature1_tests.reason == "no space left"


def test_a_run_that_has_a_result_the_second_time_counts():
    """The first one was an accident."""
    report, _ = evaluated(("has line", "stutters"))

    assert facts(report) == ("correct", "nobody")


def test_a_flaky_case_decides_nothing_and_is_listed():
    """It fails once on every tree, alone and merged."""
    report, _ = evaluated(("has line", "flaky"))

    assert facts(report) == ("correct", "nobody")
    assert report.feature1.judgement.flaky == ("tests/t.py::flaky",)
    assert "both failed and passed on the same tree" in " ".join(report.warnings)


def test_only_what_fails_is_run_again():
    """Two suites on the base, alone and merged are six runs."""
    assert evaluated(("has line",))[1] == 6
    assert evaluated(("has line", "without word1 word2"))[1] == 7
    assert evaluated(("has line", "without word1"))[1] == 8

"""The reason why a pair fails, found from the test runs."""

import pytest

import cooperbench_eval as ce
from cooperbench_eval.reporting.blame import find_blame
from cooperbench_eval.running.results import Judgement

GOOD = ce.TestResult(
    status="passed",
    cases=[ce.models.TestCase(id=name, status="passed") for name in ("a", "b", "c")]
    + [ce.models.TestCase(id="s", status="skipped")],
)
BAD = ce.TestResult(
    status="failed",
    cases=[
        ce.models.TestCase(id="a", status="passed"),
        ce.models.TestCase(id="b", status="failed"),
        ce.models.TestCase(id="new", status="failed"),
    ],
)
OPEN = {"merged": (None, None), "status": "conflicts"}
LATE = ce.TestResult(status="timed_out")
NOTHING = ce.TestResult(status="inconclusive", reason="no result file was written")
NO_SETUP = ce.TestResult(status="setup_failed", reason="the set-up's make failed")
PARTIAL = ce.TestResult(status="inconclusive", cases=GOOD.cases[:1])
BROKEN_SANDBOX = ce.TestResult(status="infrastructure_error")


def blame(alone=(GOOD, GOOD), merged=(GOOD, GOOD), status="clean", patches=("applied", "applied")):
    """Return the blame that a report gives for its one row."""
    feature1, feature2 = (
        ce.reporting.FeatureReport(
            number=number, patch=ce.reporting.PatchReport(status=patch), tests=tests
        )
        for number, patch, tests in zip((3, 7), patches, alone, strict=True)
    )
    row = ce.Attempt(
        strategy="s",
        implementation="m:S",
        status=status,
        feature1_tests=merged[0],
        feature2_tests=merged[1],
    )
    return find_blame(feature1, feature2, row)


@pytest.mark.parametrize(
    ("facts", "kind", "features"),
    [
        ({}, "nobody", ()),
        ({"merged": (BAD, GOOD)}, "merge_broke_feature1", (3,)),
        ({"merged": (GOOD, BAD)}, "merge_broke_feature2", (7,)),
        ({"merged": (LATE, BAD)}, "merge_broke_both", (3, 7)),
        ({"alone": (BAD, GOOD), "merged": (BAD, BAD)}, "broken_alone", (3,)),
        ({"alone": (GOOD, LATE), "merged": (GOOD, GOOD)}, "broken_alone", (7,)),
        (
            {"alone": (BAD, BAD), "merged": (None, None), "status": "conflicts"},
            "broken_alone",
            (3, 7),
        ),
        (OPEN, "conflict", ()),
        ({"merged": (None, None), "status": "failed"}, "conflict", ()),
        (
            {
                "alone": (GOOD, None),
                "merged": (None, None),
                "status": "not_tried",
                "patches": ("applied", "failed"),
            },
            "missing_side",
            (7,),
        ),
        (
            {
                "alone": (None, None),
                "merged": (None, None),
                "status": "not_tried",
                "patches": ("empty", "failed"),
            },
            "missing_side",
            (3, 7),
        ),
        ({"merged": (None, None)}, "unknown", ()),
        ({"merged": (BROKEN_SANDBOX, GOOD)}, "unknown", ()),
        ({"alone": (None, None), "merged": (BAD, GOOD)}, "unknown", ()),
        ({"alone": (None, None)}, "nobody", ()),
        ({"merged": (BROKEN_SANDBOX, BAD)}, "merge_broke_feature2", (7,)),
        ({"merged": (NOTHING, GOOD)}, "merge_broke_feature1", (3,)),
        ({"merged": (GOOD, NO_SETUP)}, "merge_broke_feature2", (7,)),
        ({"merged": (NOTHING, BAD)}, "merge_broke_both", (3, 7)),
        ({"merged": (PARTIAL, GOOD)}, "merge_broke_feature1", (3,)),
    ],
)
def test_the_first_reason_that_holds_is_the_blame(facts, kind, features):
    """From a missing side to a pair that passes."""
    found = blame(**facts)

    assert (found.kind.value, found.features) == (kind, features)


def test_no_side_is_to_blame_for_suites_that_cannot_run():
    """If the framework is missing, for example, nothing is known about the feature."""
    assert blame(alone=(BROKEN_SANDBOX, GOOD), merged=(BROKEN_SANDBOX, GOOD)).kind == "unknown"
    assert blame(alone=(BROKEN_SANDBOX, BAD), merged=(BROKEN_SANDBOX, BAD)).features == (7,)


def test_tests_that_the_merge_lost_are_named():
    """They passed alone, and fail or are gone where the merged run does not pass."""
    found = blame(merged=(BAD, LATE))

    assert found.lost_tests1 == ("b", "c")
    assert found.lost_tests2 == ("a", "b", "c")


def test_a_case_whose_parameters_differ_from_run_to_run_is_not_lost():
    """Each case that passes under a new name accounts for one missing case of that test."""
    alone, merged = (
        ce.TestResult(
            status="failed" if "t[3]" in names else "passed",
            cases=[ce.models.TestCase(id=name, status=status) for name, status in names.items()],
        )
        for names in (
            {"t[1]": "passed", "t[2]": "passed", "u[1]": "passed", "v": "passed", "w[1]": "passed"},
            {
                "t[3]": "passed",
                "u[2]": "failed",
                "v[1]": "passed",
                "w[1]": "failed",
                "w[2]": "passed",
            },
        )
    )

    found = blame(alone=(alone, GOOD), merged=(merged, GOOD))

    assert found.lost_tests1 == ("t[2]", "u[1]", "v", "w[1]")


def test_a_run_that_passes_has_lost_nothing():
    """Neither has a run whose sandbox failed, because nothing is known about it."""
    fewer = ce.TestResult(status="passed", cases=GOOD.cases[:1])

    assert blame(merged=(fewer, BROKEN_SANDBOX)).lost_tests1 == ()
    assert blame(merged=(fewer, BROKEN_SANDBOX)).lost_tests2 == ()


def test_a_run_that_was_cut_off_has_lost_the_tests_that_are_missing():
    """The suite has a result elsewhere, or the run would have no answer."""
    assert blame(merged=(NOTHING, PARTIAL)).lost_tests1 == ("a", "b", "c")
    assert blame(merged=(NOTHING, PARTIAL)).lost_tests2 == ("b", "c")


# --- files of one feature that fail beside the other ----------------------------------


def merged_with_files(merged, diffs=(b"", b""), alone=(GOOD, GOOD)):
    """Return the blame of a merge in which each feature adds a file."""
    features = [
        ce.reporting.FeatureReport(
            number=number,
            patch=ce.reporting.PatchReport(status="applied", diff=diff or None),
            tests=tests,
        )
        for number, diff, tests in zip((3, 7), diffs, alone, strict=True)
    ]
    row = ce.Attempt(
        strategy="s",
        implementation="m:S",
        status="clean",
        feature1_tests=merged[0],
        feature2_tests=merged[1],
    )
    return find_blame(*features, row)


def added(path):
    """Return a diff that adds a file."""
    return ce.Changes({path: ce.Entry(b"x\n")}).diff(ce.Snapshot.from_files({}))


def failing(*ids):
    """Return a run in which some cases fail and those of `GOOD` pass."""
    bad = [ce.models.TestCase(id=id_, status="failed") for id_ in ids]
    return ce.TestResult(status="failed", cases=[*GOOD.cases, *bad])


def test_a_file_of_one_feature_that_both_suites_run_names_that_feature():
    """Both suites collect `check_a.py`, and it fails only beside the other feature."""
    run = failing("check_a.py::test_it")

    found = merged_with_files((run, run), diffs=(added("check_a.py"), added("b.py")))

    assert (found.kind.value, found.features) == ("merge_broke_feature1", (3,))


def test_a_feature_whose_own_tests_fail_too_is_named_beside_the_owner_of_the_file():
    """One of its tests fails by itself."""
    run = failing("check_a.py::test_it", "tests/test_b.py::test_own")

    found = merged_with_files((GOOD, run), diffs=(added("check_a.py"), added("b.py")))

    assert (found.kind.value, found.features) == ("merge_broke_both", (3, 7))


def test_a_file_that_both_features_touch_names_nobody_else():
    """The suite whose case fails is that of the feature that is blamed."""
    run = failing("check.py::test_it")

    found = merged_with_files((GOOD, run), diffs=(added("check.py"), added("check.py")))

    assert (found.kind.value, found.features) == ("merge_broke_feature2", (7,))


def shared_blame(suite, diffs, *, alone=(None, None), on_base=GOOD):
    """Return the blame if only the joint or the regression suite fails on the merged tree."""
    run, judgement = failing("check_a.py::test_it"), None
    if suite == "regression":
        judgement = Judgement(broken=["check_a.py::test_it"])
    features = [
        ce.reporting.FeatureReport(
            number=number,
            patch=ce.reporting.PatchReport(status="applied", diff=diff),
            tests=GOOD,
            **{f"{suite}_tests": tests},
        )
        for number, diff, tests in zip((3, 7), diffs, alone, strict=True)
    ]
    row = ce.Attempt(
        strategy="s",
        implementation="m:S",
        status="clean",
        feature1_tests=GOOD,
        feature2_tests=GOOD,
        **{f"{suite}_tests": run, f"{suite}_judgement": judgement},
    )
    return find_blame(*features, row, on_base)


PASSING = ce.TestResult(
    status="passed", cases=[ce.models.TestCase(id="check_a.py::test_it", status="passed")]
)


@pytest.mark.parametrize("suite", ["joint", "regression"])
def test_a_file_of_one_feature_names_it_if_a_shared_suite_shows_that_it_fails(suite):
    """The file's case passes with this feature only; the other one does not have it."""
    alone = (PASSING, GOOD)

    found = shared_blame(suite, (added("check_a.py"), added("b.py")), alone=alone)
    of_both = shared_blame(suite, (added("check_a.py"), added("check_a.py")), alone=alone)

    assert (found.kind.value, found.features) == ("merge_broke_feature1", (3,))
    assert (of_both.kind.value, of_both.features) == (f"merge_broke_{suite}", (3, 7))


@pytest.mark.parametrize("other", [failing("check_a.py::test_it"), None])
def test_a_joint_test_that_no_feature_passes_alone_names_nobody_else(other):
    """It may need both features, or one of them breaks it without the merge."""
    diffs = (added("check_a.py"), added("b.py"))

    found = shared_blame("joint", diffs, alone=(PASSING if other else GOOD, other))

    assert found.kind.value == "merge_broke_joint"

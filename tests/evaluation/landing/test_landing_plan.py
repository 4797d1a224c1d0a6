"""The record of a plan: JSON, pickles, and how it is shown."""

import json
import pickle

import pytest
from rich.console import Console

import cooperbench_eval as ce

BASE = ce.Snapshot.from_files({"a": b"1\n", "b": b"1\n", "c": b"1\n"})


def overlay(**files):
    return ce.Changes({name: data and ce.Entry(data) for name, data in files.items()})


@pytest.fixture(scope="module")
def plan():
    """A plan with a file that is not text, a deletion, a conflict and a duplicate."""
    binary = ce.Changes({"b": None, "e": ce.Entry(b"\xff\0", ce.models.FileMode.EXECUTABLE)})
    patches = [overlay(a=b"2\n"), overlay(a=b"3\n"), binary, overlay(a=b"2\n"), b"not a patch"]
    return ce.land(BASE, patches, strategy="naive")


def test_a_plan_survives_json_and_pickling(plan):
    """Every attribute, and the changes with their modes and deletions."""
    text = plan.to_json()

    assert ce.LandingPlan.from_json(text) == plan
    assert ce.LandingPlan.from_json(text).changes == plan.changes
    assert pickle.loads(pickle.dumps(plan)) == plan  # noqa: S301 - made here
    assert json.loads(text)["landed"] == [1, 3]
    assert json.loads(text)["merges"][0] == {"into": 1, "number": 2, "outcome": "conflict"}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"kind": "team"}, "is not a landing plan"),
        ({"schema_version": 99}, "newer than"),
        ({"landed": [2]}, "follows from the rest"),
        ({"order": [1, 3, 2], "landed": [1, 2, 3]}, "has 2 more than once"),
        ({"order": "1"}, "expected a list"),
        ({"changes": 1}, "expected a list of changes"),
        ({"changes": [{"path": "a", "mode": "100600", "data": ""}]}, "a file mode"),
        ({"changes": [{"path": "../a", "mode": "100644", "data": ""}]}, "leaves the tree"),
        ({"merges": [{"into": 1, "number": 2, "outcome": "fine"}]}, "fine"),
    ],
)
def test_json_that_is_not_a_plan_is_refused(plan, change, problem):
    """The error says what was expected."""
    with pytest.raises(ce.errors.ReportError, match=problem):
        ce.LandingPlan.from_dict(plan.to_dict() | change)


def test_a_plan_shows_what_lands_and_why_the_others_do_not(plan):
    """In print, in a notebook and in rich."""
    console = Console(width=100)
    with console.capture() as capture:
        console.print(plan)

    for text in (str(plan), plan._repr_html_(), capture.get()):
        assert "naive: 2 of 5 patches can land: 1, 3" in text
        assert "no larger set can land" in text
        assert "cannot land together: 1+2" in text
        assert "feature 2 conflicts with feature 1 in a" in text
        assert "feature 4 makes the same changes as feature 1" in text


def test_a_plan_that_was_cut_short_says_so():
    """And why, and that no set has passed the tests."""
    suite = ce.TestSuite(command=("true",), framework="exit")
    patches = [overlay(a=b"2\n"), overlay(a=b"3\n")]
    plan = ce.land(BASE, patches, suites={1: suite}, budget=0)

    text = str(plan)

    assert (plan.is_exact, plan.is_tested, plan.has_tests, plan.runs_used) == (
        False,
        False,
        True,
        0,
    )
    assert "a larger set may be able to land" in text
    assert "no set has passed the tests; 0 test runs of at most 0" in text


def test_many_patches_are_shown_without_a_matrix():
    """The order, the sets and the reasons are cut short."""
    patches = [overlay(a=b"%d\n" % number) for number in range(2, 40)]

    text = str(ce.land(BASE, patches, strategy="naive"))

    assert "naive: 1 of 38 patches can land: 1" in text
    assert "and 683 more sets" in text
    assert "and 17 more such notes" in text
    assert "into" not in text

"""Stored results whose parts contradict each other are refused."""

import copy
import json

import pytest
from quick import QUICK

import cooperbench_eval as ce

BASE = ce.Snapshot.from_files({"a": b"1\n", "b": b"1\n"})


def feature(number, path, text, command="true"):
    """Return a feature that replaces a file, with a suite."""
    return ce.Feature(
        number=number,
        patch=ce.Changes({path: ce.Entry(text)}).diff(BASE),
        tests=ce.TestSuite(command=(command,), framework="exit"),
    )


CONFLICTING = [feature(1, "a", b"2\n"), feature(2, "a", b"3\n")]
APART = [feature(1, "a", b"2\n"), feature(2, "b", b"3\n")]


@pytest.fixture(scope="module")
def stored():
    """Return a plan, an audit and a report as JSON, each with its class."""
    runner = ce.TestRunner(sandbox=QUICK)
    plan = ce.land(BASE, CONFLICTING, strategy="naive", runner=runner)
    merged = ce.Changes({"a": ce.Entry(b"2\n"), "b": ce.Entry(b"3\n")})
    audit = ce.audit(BASE, APART, merged, runner=runner)
    pair = ce.FeaturePair(repo_name="r", task_id=1, base=BASE, feature1=APART[0], feature2=APART[1])
    report = ce.Evaluator(strategies=["naive"], runner=runner).evaluate(pair)
    records = {"plan": plan, "audit": audit, "report": report}
    return {name: (type(each), json.loads(each.to_json())) for name, each in records.items()}


@pytest.mark.parametrize("name", ["plan", "audit", "report"])
def test_what_was_written_is_read(name, stored):
    """It does not contradict itself."""
    kind, data = stored[name]

    assert json.loads(kind.from_json(json.dumps(data)).to_json()) == data


def reading(stored, name, change):
    """Read a stored result after a change of its JSON."""
    kind, data = stored[name]
    changed = copy.deepcopy(data)
    change(changed)
    assert changed != data
    return kind.from_json(json.dumps(changed))


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("plan", lambda d: d.update(left_out=[]), "no patch has the number 2"),
        ("plan", lambda d: d["left_out"][0].update(number=99), "no patch has the number 2"),
        ("plan", lambda d: d["left_out"][0].update(features=[7]), "left_out[0]"),
        ("plan", lambda d: d["merges"][0].update(number=1, into=1), "must differ"),
        ("plan", lambda d: d.update(minimal_conflicts=[]), "a set of 1 and 2 follows"),
        ("plan", lambda d: d.update(minimal_conflicts=[[1, 2], [3]]), "minimal_conflicts[1]"),
        ("plan", lambda d: d.update(has_tests=False), "is_tested"),
        ("plan", lambda d: d.update(runs_used=-1), "must not be negative"),
        ("plan", lambda d: d.update(budget=-5), "must not be negative"),
        ("audit", lambda d: d["suites"][0].update(feature=2), "suites[1]"),
        ("audit", lambda d: d.update(features=[1, -1]), "no patch has the number 2"),
        ("audit", lambda d: d.update(features=[1, 2, 2]), "must differ"),
        ("audit", lambda d: d.update(missing=[3]), "missing"),
        ("audit", lambda d: d["suites"][1]["tests"].update(passed_tests=9), "passed_tests"),
        ("report", lambda d: d["feature1"].update(number=2), "feature2.number"),
        ("report", lambda d: d["feature1"]["tests"].update(exit_code=1), "exit_code"),
        ("report", lambda d: d["options"].update(strategies=[]), "attempts[0].strategy"),
    ],
)
def test_a_contradiction_is_refused(name, change, problem, stored):
    """The error names the place."""
    with pytest.raises(ce.errors.ReportError) as caught:
        reading(stored, name, change)

    assert problem in str(caught.value)

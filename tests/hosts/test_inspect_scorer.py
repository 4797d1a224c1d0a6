"""The example that grades pairs in inspect_ai, checked by the log that inspect wrote."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from needs import need_package

import cooperbench_eval as ce

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Grade in a new process, since importing inspect_ai is slow; return its files."""
    need_package("inspect_ai")
    folder = tmp_path_factory.mktemp("inspect")
    driver = Path(__file__).with_name("inspect_driver.py")
    done = subprocess.run(
        [sys.executable, driver, folder], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def log(written):
    """Return the log."""
    [file] = written.glob("*_merged-pairs_*.json")
    return json.loads(file.read_text())


@pytest.fixture(scope="module")
def samples(log):
    """Return its samples by name."""
    assert log["status"] == "success"
    return {sample["id"]: sample for sample in log["samples"]}


@pytest.mark.parametrize(
    ("name", "values", "told"),
    [
        ("f1_f2", {"naive": "N", "union": "C"}, "naive: unhandled, conflict"),
        ("missing", {"naive": "I", "union": "I"}, "union: not_run, missing_side"),
    ],
)
def test_a_pair_has_a_value_for_each_strategy(samples, name, values, told):
    """One pair is resolved by union; another lacks a patch. Each value is explained."""
    score = samples[name]["scores"]["merged"]

    assert score["value"] == values
    assert told in score["explanation"].splitlines()


def test_the_score_contains_the_report(samples):
    """The whole report is read back from the log."""
    data = samples["f1_f2"]["scores"]["merged"]["metadata"]["report"]

    report = ce.MergeReport.from_dict(data)

    assert report.conflict_score == 80
    assert report.blame("union").kind is ce.reporting.BlameKind.NOBODY


def test_an_exception_is_the_samples_error(samples):
    """The sample has no score then."""
    assert "has the same number as feature1" in samples["error"]["error"]["message"]
    assert not samples["error"].get("scores")


def test_inspect_counts_strategy_by_strategy(log):
    """Two of three samples have a score."""
    counted = {
        score["name"]: (score["metrics"]["accuracy"]["value"], score["scored_samples"])
        for score in log["results"]["scores"]
    }

    assert counted == {"naive": (0, 2), "union": (0.5, 2)}


def test_a_failed_sandbox_is_not_a_verdict(written):
    """Inspect leaves the score out of its metrics, and the score says why."""
    score = json.loads((written / "unscored.json").read_text())

    assert math.isnan(score["value"])
    assert score["explanation"].startswith("not to be judged here")

"""Suites that cannot run say nothing about a merge, so no figure counts them against it."""

from quick import QUICK

import cooperbench_eval as ce

TEST = b"""
import os, pathlib

def test_both():
    if "2" in pathlib.Path("a").read_text() + pathlib.Path("b").read_text():
        os._exit(0)
"""
BASE = ce.Snapshot.from_files({"a": b"1\n", "b": b"1\n", "test_both.py": TEST})
QUIT_AT_2 = ("python", "-m", "pytest", "-q")
SILENT = ("sh", "-c", "echo No module named pytest; exit 1 # pytest")


def feature(number, path, command):
    """Make a feature whose tests are a command that pytest's reader reads."""
    patch = ce.Changes({path: ce.Entry(b"2\n")}).diff(BASE)
    suite = ce.TestSuite(command=command)
    return ce.Feature(number=number, patch=patch, tests=suite)


def evaluate(*commands):
    """Evaluate a pair that merges cleanly."""
    features = [
        feature(number, path, command)
        for number, path, command in zip((1, 2), "ab", commands, strict=True)
    ]
    group = {"repo_name": "r", "task_id": 1, "base": BASE}
    evaluator = ce.Evaluator(strategies=["naive"], runner=ce.TestRunner(sandbox=QUICK))
    pair = ce.FeaturePair(**group, feature1=features[0], feature2=features[1])
    return evaluator.evaluate(pair), evaluator.evaluate_team(
        ce.FeatureTeam(**group, features=features)
    )


def test_tests_that_cannot_run_leave_the_pair_unanswered():
    """The cause is the machine, so neither strategy nor policy got the pair wrong."""
    pair, team = evaluate(SILENT, SILENT)

    summary = ce.summarize([pair, team])

    assert summary.strategies["naive"].verdicts.not_run == 1
    assert summary.policies["strict"].verdicts.not_run == 1
    assert summary.teams[2].strategies["naive"].verdicts.not_run == 1
    assert summary.strategies["naive"].correct.total == 0
    assert "no module pytest" in pair.problem
    assert "no module pytest" in team.problem


def test_a_patch_that_silences_its_tests_stays_in_the_figures():
    """Where the base gives a result, a run without one counts against the merge."""
    pair, team = evaluate(QUIT_AT_2, QUIT_AT_2)

    summary = ce.summarize([pair, team])

    assert pair.feature1.base_tests.status == "passed"
    assert pair.problem == team.problem == ""
    assert summary.strategies["naive"].verdicts.incorrect == 1
    assert summary.policies["strict"].verdicts.incorrect == 1
    assert summary.teams[2].strategies["naive"].verdicts.incorrect == 1

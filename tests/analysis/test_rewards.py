"""A reward holds numbers only, follows the policy, and is never made up."""

import json
import math
import subprocess
import sys

import attrs
import pytest
from generators import reports, team_reports
from hypothesis import given
from hypothesis import strategies as st
from made_pairs import NOON

import cooperbench_eval as ce
from cooperbench_eval.analysis import POLICIES, Policy
from cooperbench_eval.errors import AnalysisError, ArgumentError, ReportError

FOUR = ("passed", "passed", "passed", "failed")


def run(*statuses):
    """A run whose cases end so; without any, its sandbox failed."""
    cases = [ce.models.TestCase(id=f"t{n}", status=each) for n, each in enumerate(statuses)]
    if not cases:
        return ce.TestResult(status="infrastructure_error", reason="the disk is full")
    return ce.TestResult(status="failed" if "failed" in statuses else "passed", cases=cases)


GOOD, BAD, BROKEN = run("passed"), run(*FOUR), run()


def feature(number, tests=GOOD, **facts):
    """A feature whose patch applies, and its own tests alone."""
    patch = ce.reporting.PatchReport(status="applied")
    return ce.reporting.FeatureReport(number=number, patch=patch, tests=tests, **facts)


def row(status="clean", first=GOOD, second=GOOD, strategy="naive", **facts):
    """A strategy's row with both features' runs on its merged tree."""
    return ce.Attempt(
        strategy=strategy,
        implementation="m:C",
        status=status,
        feature1_tests=first,
        feature2_tests=second,
        **facts,
    )


def pair(*rows, conflicts=(), **facts):
    """The report of features 3 and 7."""
    report = ce.MergeReport(
        repo_name="click",
        task_id=1,
        timestamp=NOON,
        feature1=feature(3),
        feature2=feature(7),
        conflict_details=ce.ConflictScorer().score(conflicts),
        attempts=rows,
    )
    return attrs.evolve(report, **facts)


CONFLICT = ce.Conflict(path="a.py", line=1, base=b"1\n", ours=b"2\n", theirs=b"3\n4\n")


def suite_run(number, tests):
    """A feature's tests on a team's tree."""
    return ce.reporting.SuiteRun(suite="feature", feature=number, tests=tests)


def team(*runs, left_out=(), status="clean"):
    """The report of features 1 to 3, with a row of naive."""
    gone = [ce.reporting.LeftOut(number=number, reason="conflict") for number in left_out]
    attempt = ce.reporting.TeamAttempt(
        strategy="naive",
        implementation="m:C",
        status=status,
        landed=[number for number in (1, 2, 3) if number not in left_out],
        left_out=gone,
        tests=[suite_run(number, tests) for number, tests in enumerate(runs, start=1)],
    )
    step = ce.reporting.TeamStep(feature=2, into=[1], status=status)
    return ce.TeamReport(
        repo_name="click",
        task_id=1,
        timestamp=NOON,
        features=[feature(number) for number in (1, 2, 3)],
        merges=[step],
        attempts=[attempt],
    )


def test_a_clean_merge_that_passes_is_worth_one():
    """Every number is known then, and all shares are 1."""
    assert pair(row()).reward() == {
        "reward": 1.0,
        "conflict_score": 0,
        "conflict_sections": 0,
        "conflict_lines": 0,
        "feature1_alone": 1.0,
        "feature2_alone": 1.0,
        "merged": 1.0,
        "feature1_passed": 1.0,
        "feature2_passed": 1.0,
        "feature1_pass_rate": 1.0,
        "feature2_pass_rate": 1.0,
        "pass_rate": 1.0,
    }


def test_a_failing_test_is_worth_nothing_but_is_graded():
    """The shares of passed cases are those of feature 2, and of both together."""
    reward = pair(row(second=BAD)).reward()

    assert reward["reward"] == 0.0
    assert (reward["feature1_passed"], reward["feature2_passed"]) == (1.0, 0.0)
    assert (reward["feature2_pass_rate"], reward["pass_rate"]) == (0.75, 0.8)


def test_tests_that_can_never_run_are_not_known():
    """A feature is not worse because a dependency of its tests is missing."""
    cannot = ce.TestResult(status="infrastructure_error", reason="python has no module pytest")
    report = pair(row("conflicts", None, None), conflicts=[CONFLICT])
    alone = [attrs.evolve(each, tests=cannot, base_tests=cannot) for each in report.features]

    reward = attrs.evolve(report, feature1=alone[0], feature2=alone[1]).reward()

    assert reward["reward"] == 0.0
    assert {"feature1_alone", "feature2_alone"}.isdisjoint(reward)


def test_a_run_without_cases_leaves_no_pass_rate_for_both():
    """A suite that hangs must not look better than one that fails a case."""
    hung = ce.TestResult(status="timed_out", reason="more than 60 s")

    reward = pair(row(second=hung)).reward()

    assert (reward["reward"], reward["feature1_pass_rate"]) == (0.0, 1.0)
    assert "pass_rate" not in reward


def test_an_open_conflict_is_worth_nothing():
    """Nothing is said about tests that were not run; the conflict is measured."""
    reward = pair(row("conflicts", None, None), conflicts=[CONFLICT]).reward()

    assert reward == {
        "reward": 0.0,
        "conflict_score": 26,
        "conflict_sections": 1,
        "conflict_lines": 3,
        "feature1_alone": 1.0,
        "feature2_alone": 1.0,
        "merged": 0.0,
    }


def test_a_resolver_counts_only_under_a_policy_that_names_it():
    """Strict takes git's own merge; another policy takes the first that passes."""
    report = pair(
        row("conflicts", None, None), row("resolved", strategy="union"), conflicts=[CONFLICT]
    )

    assert report.reward()["reward"] == 0.0
    mine = report.reward(Policy(name="mine", strategies=["naive", "union"]))
    assert (mine["reward"], mine["merged"], mine["feature1_passed"]) == (1.0, 1.0, 1.0)
    assert report.reward("paper") == mine


def test_a_missing_patch_is_worth_nothing():
    """An agent that hands in nothing usable has failed."""
    empty = ce.reporting.FeatureReport(
        number=3, patch=ce.reporting.PatchReport(status="empty"), tests=None
    )
    report = pair(row("not_tried", None, None), feature1=empty, conflict_details=None)

    assert report.reward() == {"reward": 0.0, "feature2_alone": 1.0, "merged": 0.0}


def test_other_suites_count_for_a_strict_reward():
    """A regression in the repository's own tests is not a correct merge."""
    reward = pair(row(joint_tests=GOOD, regression_tests=BAD)).reward()

    assert (reward["reward"], reward["joint_passed"], reward["regression_passed"]) == (0.0, 1.0, 0)


@pytest.mark.parametrize(
    ("report", "problem"),
    [
        (pair(row(second=BROKEN)), "the disk is full"),
        (pair(row(first=None, second=None)), "the tests that would decide were not run"),
        (pair(row(strategy="union")), "the report has no row of the strategy 'naive'"),
        (
            pair(failure=ce.reporting.Failure(kind="repository", problem="the commit is missing")),
            "the commit is missing",
        ),
        (team(GOOD, BROKEN, GOOD), "the disk is full"),
    ],
)
def test_a_report_without_an_answer_has_no_reward(report, problem, tmp_path):
    """It raises, and writes nothing: a zero would blame agents for a broken machine."""
    with pytest.raises(ReportError) as caught:
        report.reward()
    with pytest.raises(ReportError):
        ce.write_reward(report, tmp_path)

    assert problem in str(caught.value)
    assert "'strict'" in str(caught.value)
    assert str(caught.value).startswith("features ")
    assert not list(tmp_path.iterdir())


def test_a_failed_service_is_no_answer():
    """Conflicts that are left because a model's provider was down say nothing."""
    report = pair(row("conflicts", None, None, strategy="llm", service_failed=True))

    with pytest.raises(ReportError, match="a service that the strategy 'llm' needs failed"):
        report.reward(Policy(name="llm", strategies="llm"))


def test_a_team_is_worth_one_if_all_its_features_pass():
    """The graded numbers are shares of the features."""
    assert team(GOOD, GOOD, GOOD).reward() == {
        "reward": 1.0,
        "conflict_score": 0,
        "features_alone": 1.0,
        "merged": 1.0,
        "landed": 1.0,
        "features_passed": 1.0,
        "pass_rate": 1.0,
    }


def test_a_team_is_graded_by_the_features_that_land():
    """A feature that conflicts leaves the reward at 0 and the share at two thirds."""
    reward = team(left_out=[2], status="conflicts").reward()

    assert (reward["reward"], reward["merged"]) == (0.0, 0.0)
    assert reward["landed"] == pytest.approx(2 / 3)
    assert "features_passed" not in reward


def test_a_team_is_judged_by_a_rule_that_counts_every_case():
    """The paper's policy looks at every case of the features' tests."""
    assert team(GOOD, GOOD, GOOD).reward("paper")["reward"] == 1.0
    assert team(GOOD, GOOD, BAD).reward(attrs.evolve(POLICIES["paper"], strategies="naive")) == {
        **team(GOOD, GOOD, BAD).reward(),
        "reward": 0.0,
    }


def test_a_team_has_no_lead_to_fall_back_on():
    """A policy that judges feature 1 alone cannot judge a team that conflicts."""
    with pytest.raises(ReportError, match=r"cooperbench-0\.0\.29"):
        team(left_out=[2], status="conflicts").reward("cooperbench-0.0.29")


def test_an_unknown_policy_is_an_error():
    """The error lists the known ones; something else than a policy is refused by name."""
    with pytest.raises(AnalysisError, match="strict"):
        pair(row()).reward("lenient")
    with pytest.raises(ArgumentError, match="policy"):
        pair(row()).reward(3)


@given(report=reports() | team_reports(), policy=st.sampled_from(sorted(POLICIES)))
def test_a_reward_is_an_object_of_finite_numbers(report, policy):
    """No null, flag, text or list, whatever the report holds; and 1 only if it is correct."""
    found = POLICIES[policy].judge(report)
    try:
        reward = report.reward(policy)
    except ReportError:
        assert found.verdict is ce.Verdict.NOT_RUN
        assert not found.is_missing_input
        return

    assert all(type(value) in {int, float} and math.isfinite(value) for value in reward.values())
    assert json.loads(json.dumps(reward, allow_nan=False)) == reward
    assert reward["reward"] == (found.verdict is ce.Verdict.CORRECT)
    rates = [value for name, value in reward.items() if not name.startswith(("conflict", "agent"))]
    assert all(0 <= value <= 1 for value in rates)


@pytest.mark.parametrize(
    ("given_path", "written"),
    [
        ("", "reward.json"),
        ("verifier", "verifier/reward.json"),
        ("logs/verifier", "logs/verifier/reward.json"),
        ("logs/mine.json", "logs/mine.json"),
    ],
)
def test_the_file_has_the_reward_and_nothing_else(tmp_path, given_path, written):
    """A directory gets the name that Harbor reads; missing directories are made."""
    path = ce.write_reward(pair(row(second=BAD)), tmp_path / given_path)

    assert path == tmp_path / written
    assert json.loads(path.read_text()) == pair(row(second=BAD)).reward()
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [path]


def test_a_text_file_has_the_reward_alone(tmp_path):
    """Harbor reads one number from it."""
    path = ce.write_reward(pair(row()), tmp_path / "reward.txt")

    assert path.read_text() == "1.0\n"


def test_a_directory_may_have_a_name_with_a_suffix(tmp_path):
    """What exists decides before the name does."""
    (tmp_path / "run.1").mkdir()

    assert ce.write_reward(pair(row()), tmp_path / "run.1") == tmp_path / "run.1" / "reward.json"


def test_an_earlier_reward_is_replaced(tmp_path):
    """The whole file is replaced: an agent may have left one there, or a link to another file."""
    other = tmp_path / "other.json"
    other.write_text('{"reward": 1}')
    (tmp_path / "reward.json").symlink_to(other)

    ce.write_reward(pair(row(second=BAD)), str(tmp_path))

    assert json.loads((tmp_path / "reward.json").read_text())["reward"] == 0.0
    assert other.read_text() == '{"reward": 1}'
    assert sorted(each.name for each in tmp_path.iterdir()) == ["other.json", "reward.json"]


def test_a_reward_that_cannot_be_written_is_an_error(tmp_path):
    """The error names the file, and no part of it is left."""
    (tmp_path / "file").write_text("")

    with pytest.raises(ReportError, match="cannot be written") as caught:
        ce.write_reward(pair(row()), tmp_path / "file" / "reward.json")

    assert caught.value.location == str(tmp_path / "file" / "reward.json")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    with pytest.raises(ReportError, match="cannot be written"):
        ce.write_reward(pair(row()), tmp_path / "a\0b.json")


def test_policies_load_when_a_reward_is_first_asked_for():
    """Reports are below policies, so importing them loads no statistics."""
    script = (
        "import sys; from cooperbench_eval.reporting import MergeReport; "
        "print('cooperbench_eval.analysis.policies' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert ran.stdout == "False\n"

"""Sweeps over teams: of a task's own solutions, and of an agents' run."""

import json
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from batchparts import Terminal
from sweepparts import code, make_repository, make_run, make_task, suite_of, with_runner

import cooperbench_eval as ce


@pytest.fixture
def repo(tmp_path):
    """The task's repository."""
    return tmp_path / "repo.git"


@pytest.fixture
def task(tmp_path, repo):
    """A task of three features; 1 and 3 change the same line."""
    return make_task(tmp_path / "dataset", make_repository(repo))


@pytest.fixture
def options(repo):
    """Options of a sweep whose tests run in threads."""
    with ThreadPoolExecutor(2) as threads:
        yield {"evaluator": with_runner(), "suite_of": suite_of, "executor": threads}


@pytest.fixture
def run(tmp_path, task, repo, options):
    """Return a function that evaluates the teams of a run, without tests by default."""

    def evaluate(**choice):
        given = {"dataset_dir": tmp_path / "dataset", "repo_dirs": repo, "teams": True}
        given |= options | {"evaluator": ce.Evaluator()} | choice
        return sorted(ce.evaluate_run(tmp_path / "logs", "run", **given), key=order)

    return evaluate


def features(report):
    """The features of a team, or of a pair, in the order in which they land."""
    if isinstance(report, ce.TeamReport):
        return report.features
    return report.feature2, report.feature1


def order(report):
    """The numbers of the features in the order in which they land."""
    return tuple(each.number for each in features(report))


def merged(report, strategy="naive"):
    """What a pair's and a team's report both say about a merge and its tests."""
    attempt = report.attempt(strategy)
    alone = [each.tests_passed for each in features(report)]
    return (
        report.merge_status,
        report.conflict_score,
        attempt.status,
        attempt.verdict,
        report.blame(strategy).kind,
        alone,
    )


# --- gold -----------------------------------------------------------------------------


def test_teams_of_two_are_merged_as_the_pairs_are(task, repo, options):
    """In conflict and without one, with the same tests, verdicts and blame."""
    pairs = sorted(ce.gold_matrix(task, repo_dir=repo, **options), key=order)
    teams = sorted(ce.gold_teams(task, size=2, repo_dir=repo, **options), key=order)

    assert [team.numbers for team in teams] == [(2, 1), (3, 1), (3, 2)]
    assert list(map(order, pairs)) == list(map(order, teams))
    for pair, team in zip(pairs, teams, strict=True):
        for strategy in ("naive", "union"):
            assert merged(team, strategy) == merged(pair, strategy)
            assert team.attempt(strategy).steps[0].diff == pair.attempt(strategy).diff


def test_the_feature_with_the_largest_number_lands_first(task, repo, options):
    """Of two features that conflict, the one with the smaller number is left out."""
    [report] = ce.gold_teams(task, size=3, repo_dir=repo, **options)

    attempt = report.attempt("naive")
    assert (report.repo_name, report.task_id, report.numbers) == ("numbers_task", 0, (3, 2, 1))
    assert [each.tests_passed for each in report.features] == [True] * 3
    assert (attempt.landed, attempt.score) == ((3, 2), 2 / 3)
    assert [(each.number, each.reason, each.features) for each in attempt.left_out] == [
        (1, "conflict", (3,))
    ]
    assert report.base_commit == task.base_commit()


def test_a_size_that_the_task_does_not_have_is_an_error(task):
    """It is raised by the call, before the repository is read."""
    for size in (1, 4):
        with pytest.raises(ce.errors.DatasetError, match=f"size: is {size}, but"):
            ce.gold_teams(task, size=size, repo_dir="nonesuch")


def test_gold_teams_need_the_repository(task, tmp_path):
    """One clear error comes before anything is evaluated."""
    with pytest.raises(ce.errors.DatasetError, match="repo_dir"):
        ce.gold_teams(task, size=2, evaluator=ce.Evaluator())
    with pytest.raises(ce.errors.RepositoryError):
        ce.gold_teams(task, size=2, repo_dir=tmp_path / "dataset", evaluator=ce.Evaluator())


def test_gold_teams_continue_from_a_store(task, repo, options, tmp_path, monkeypatch):
    """They take the options of a batch, and their number is known in advance."""
    options |= {"evaluator": ce.Evaluator(), "store": tmp_path / "store", "repo_dir": repo}
    events = []
    monkeypatch.setattr(sys, "stderr", Terminal())
    first = list(ce.gold_teams(task, size=2, progress=True, **options))

    second = list(ce.gold_teams(task, size=2, progress=events.append, **options))

    assert "3/3" in sys.stderr.getvalue()
    assert {report.numbers for report in first} == {report.numbers for report in second}
    assert [event.kind.value for event in events] == ["stored"] * 3


# --- runs -----------------------------------------------------------------------------


def test_all_agents_of_a_folder_are_one_team(run, tmp_path):
    """With its setting and model, in the reverse order of the folder's name."""
    make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=2), 3: code(a=3)}, setting="team")
    make_run(tmp_path / "logs", {3: code(a=3), 1: code(a=1), 2: code(b=2)})
    make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=2)})

    pair, other, team = run()

    assert (pair.numbers, pair.setting, pair.merge_status.value) == ((2, 1), "coop", "clean")
    assert (other.numbers, other.attempt("naive").landed) == ((2, 1, 3), (2, 1))
    assert (team.numbers, team.attempt("naive").landed) == ((3, 2, 1), (3, 2))
    assert (team.setting, team.model) == ("team", "gpt-5")


def test_a_team_of_two_agrees_with_its_pair(run, tmp_path):
    """The agents' patches are tested, in any order of the folder's name."""
    make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=7)})
    make_run(tmp_path / "logs", {3: code(a=3), 1: code(a=1)})
    make_run(tmp_path / "logs", {2: code(b=2), 3: None})

    teams = run(evaluator=with_runner())
    pairs = run(evaluator=with_runner(), teams=False)

    assert list(map(order, teams)) == list(map(order, pairs)) == [(1, 3), (2, 1), (3, 2)]
    assert list(map(merged, teams)) == list(map(merged, pairs))


def test_an_agent_that_handed_in_nothing_is_left_out(run, tmp_path):
    """The file is missing or empty; the other agents' features land."""
    make_run(tmp_path / "logs", {1: code(a=1), 2: None, 3: b""})
    make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=2), 9: None})

    [report, failed] = run(evaluator=with_runner())

    attempt = report.attempt("naive")
    assert report.merge_status.value == "missing_input"
    assert [each.patch.status.value for each in report.features] == ["empty", "empty", "applied"]
    assert (attempt.landed, attempt.score) == ((1,), 1 / 3)
    assert {each.number: each.reason for each in attempt.left_out} == {
        2: "missing_input",
        3: "missing_input",
    }
    assert failed.failure.kind == "dataset"


def test_a_solo_agents_patch_is_every_feature(run, tmp_path):
    """It is merged with itself, and tested with the tests of all features."""
    make_run(tmp_path / "logs", dict.fromkeys((1, 2, 3), code(a=1, b=2)), setting="solo")

    [report] = run(evaluator=with_runner())

    outcomes = {each.feature: each.outcome for each in report.attempt("naive").tests}
    assert report.merge_status.value == "clean"
    assert outcomes == {1: True, 2: True, 3: False}


def test_a_team_whose_task_is_unknown_is_a_failure(run, tmp_path):
    """Its report has the features in the same order; the others are evaluated."""
    make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=2), 3: code(a=3)})
    make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=2), 9: code(a=3)})
    make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=2)}, repo_name="gone_task")

    found = {(r.repo_name, r.numbers): r.failure and r.failure.kind.value for r in run()}

    assert found == {
        ("numbers_task", (3, 2, 1)): None,
        ("numbers_task", (9, 2, 1)): "dataset",
        ("gone_task", (2, 1)): "dataset",
    }
    with pytest.raises(ce.errors.BatchError, match="feature 9"):
        run(on_error="raise", repo_name="numbers_task")


def test_teams_of_a_run_can_be_selected(run, tmp_path):
    """A subset lists pairs, so it selects no team of three."""
    logs, dataset = tmp_path / "logs", tmp_path / "dataset"
    shutil.copytree(dataset / "numbers_task/task0", dataset / "numbers_task/task5")
    make_run(logs, {1: code(a=1), 2: code(b=2), 3: code(a=3)})
    make_run(logs, {1: code(a=1), 2: code(b=2)})
    make_run(logs, {1: code(a=1), 3: code(b=2)}, task_id=5, setting="team")
    (dataset / "subsets").mkdir()
    row = {"repo": "numbers_task", "task_id": 0, "pairs": [[2, 1], [2, 3]]}
    (dataset / "subsets" / "few.json").write_text(json.dumps({"tasks": [row]}))

    assert [r.numbers for r in run(subset="few")] == [(2, 1)]
    assert [r.numbers for r in run(task_id=5)] == [(3, 1)]
    assert [r.numbers for r in run(setting="coop")] == [(2, 1), (3, 2, 1)]
    with pytest.raises(ce.errors.DatasetError, match="no team that matches"):
        run(task_id=5, subset="few")

"""Sweeps: every pair of a task's own solutions, and every pair of an agents' run."""

import json
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from batchparts import Terminal
from sweepparts import code, make_repository, make_run, make_task, suite_of, with_runner

import cooperbench_eval as ce
from cooperbench_eval.cooperbench import sweeps


@pytest.fixture
def threads():
    """Where tests are run at once."""
    with ThreadPoolExecutor(2) as executor:
        yield executor


@pytest.fixture
def repo(tmp_path):
    """The task's repository."""
    return tmp_path / "repo.git"


@pytest.fixture
def task(tmp_path, repo):
    """The task."""
    return make_task(tmp_path / "dataset", make_repository(repo))


@pytest.fixture
def run(tmp_path, task, repo, threads):
    """Return a function that evaluates a run."""

    def evaluate(name="run", **options):
        given = {"dataset_dir": tmp_path / "dataset", "repo_dirs": repo, "executor": threads}
        given |= {"evaluator": ce.Evaluator(), "suite_of": suite_of}
        return list(ce.evaluate_run(tmp_path / "logs", name, **given | options))

    return evaluate


def numbers(reports):
    """The pairs of reports."""
    return sorted((report.feature1.number, report.feature2.number) for report in reports)


# --- gold ---------------------------------------------------------------------------


def test_a_gold_matrix_has_every_pair_with_its_tests(task, repo, threads):
    """Each feature passes on its own; a pair that changes one line differently passes no test."""
    reports = ce.gold_matrix(
        task, repo_dir=repo, evaluator=with_runner(), suite_of=suite_of, executor=threads
    )

    found = {(r.feature1.number, r.feature2.number): r for r in reports}

    assert sorted(found) == [(1, 2), (1, 3), (2, 3)]
    assert all(r.feature1.tests_passed and r.feature2.tests_passed for r in found.values())
    assert {pair: r.attempt("naive").verdict.value for pair, r in found.items()} == {
        (1, 2): "correct",
        (1, 3): "unhandled",
        (2, 3): "correct",
    }
    assert {r.repo_name for r in found.values()} == {"numbers_task"}
    assert all(r.base_commit == task.base_commit() for r in found.values())


def test_a_gold_matrix_without_a_runner_needs_no_test_command(task, repo, threads):
    """It only merges and scores, because the evaluator has no runner."""
    (task.directory / "run_tests.sh").unlink()

    reports = list(ce.gold_matrix(task, repo_dir=repo, evaluator=ce.Evaluator(), executor=threads))

    assert numbers(reports) == [(1, 2), (1, 3), (2, 3)]
    with pytest.raises(ce.errors.DatasetError, match="pytest command"):
        ce.gold_matrix(task, repo_dir=repo, executor=threads)


def test_a_gold_matrix_continues_from_a_store(task, repo, threads, tmp_path):
    """It takes the options of a batch."""
    options = {"repo_dir": repo, "evaluator": ce.Evaluator(), "executor": threads}
    events = []
    first = list(ce.gold_matrix(task, store=tmp_path / "store", **options))

    second = list(ce.gold_matrix(task, store=tmp_path / "store", progress=events.append, **options))

    assert numbers(first) == numbers(second)
    assert {event.kind.value for event in events} == {"stored"}


def test_a_gold_matrix_needs_the_repository(task, tmp_path):
    """One clear error comes before anything is evaluated."""
    with pytest.raises(ce.errors.DatasetError, match="repo_dir"):
        ce.gold_matrix(task, evaluator=ce.Evaluator())
    with pytest.raises(ce.errors.RepositoryError):
        ce.gold_matrix(task, repo_dir=tmp_path / "dataset", evaluator=ce.Evaluator())


def test_a_summary_compares_a_team_with_gold(task, run, tmp_path, repo, threads):
    """It has the rate of the task's own solutions and that of the team."""
    make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=7)})
    make_run(tmp_path / "logs", {1: code(a=1), 3: code(a=3)})
    make_run(tmp_path / "logs", {2: code(b=2), 3: code(a=3)})
    options = {"evaluator": with_runner(), "suite_of": suite_of, "executor": threads}
    gold = list(ce.gold_matrix(task, repo_dir=repo, **options))

    summary = ce.summarize(run(evaluator=with_runner()), gold=gold, policies=["strict"])

    strict = summary.policies["strict"]
    assert (strict.correct.count, strict.correct.total) == (1, 3)
    assert (strict.gold.ceiling.count, strict.gold.ceiling.total) == (2, 3)
    assert (strict.gold.reached.count, strict.gold.reached.total) == (1, 2)


# --- runs ---------------------------------------------------------------------------


def test_every_pair_of_a_run_is_evaluated(run, tmp_path):
    """With its setting and model, for any order of the features in the folder's name."""
    make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=2)})
    make_run(tmp_path / "logs", {3: code(a=3), 1: code(a=1)})
    make_run(tmp_path / "logs", {2: code(b=2), 3: code(a=3)}, setting="team")

    reports = run()

    assert numbers(reports) == [(1, 2), (2, 3), (3, 1)]
    assert sorted((r.setting, r.model) for r in reports) == [
        ("coop", "gpt-5"),
        ("coop", "gpt-5"),
        ("team", "gpt-5"),
    ]
    assert {r.merge_status.value for r in reports} == {"clean", "conflicts"}


def test_the_agents_own_patch_is_tested(run, tmp_path):
    """Not the patch of the dataset."""
    make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=7)})

    [report] = run(evaluator=with_runner())

    assert (report.feature1.tests_passed, report.feature2.tests_passed) == (True, False)
    assert report.blame("naive").kind == "broken_alone"


def test_an_agent_that_handed_in_nothing_is_a_missing_input(run, tmp_path):
    """The file is missing or empty; the other agent's work is still tested."""
    make_run(tmp_path / "logs", {1: code(a=1), 2: None})
    make_run(tmp_path / "logs", {1: code(a=1), 3: b""})

    reports = run(evaluator=with_runner())

    assert [r.merge_status.value for r in reports] == ["missing_input"] * 2
    assert [r.feature2.patch.status.value for r in reports] == ["empty"] * 2
    assert [r.feature1.tests_passed for r in reports] == [True, True]
    assert [r.feature2.tests for r in reports] == [None, None]


def test_of_three_agents_every_two_are_a_pair(run, tmp_path):
    """No patch is left out."""
    make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=2), 3: code(a=3)})

    assert numbers(run()) == [(1, 2), (1, 3), (2, 3)]


def test_a_solo_agents_patch_is_both_sides(run, tmp_path):
    """It is merged with itself, and tested with both features' tests."""
    make_run(tmp_path / "logs", {1: code(a=1, b=2), 2: code(a=1, b=2)}, setting="solo")

    [report] = run(evaluator=with_runner())

    assert report.attempt("naive").verdict == "correct"
    assert report.setting == "solo"


def test_a_pair_whose_task_is_unknown_is_a_failure(run, tmp_path):
    """So is a pair without a repository; the others are evaluated."""
    make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=2)}, repo_name="a_task")
    make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=2)})
    make_run(tmp_path / "logs", {1: code(a=1), 9: code(b=2)})

    reports = sorted(run(), key=lambda r: (r.repo_name, r.feature2.number))

    assert [r.failure and r.failure.kind.value for r in reports] == ["dataset", None, "dataset"]
    assert "a_task" in reports[0].failure.problem
    assert "feature 9" in reports[2].failure.problem
    assert [(r.repo_name, r.setting, r.model) for r in reports] == [
        ("a_task", "coop", "gpt-5"),
        ("numbers_task", "coop", "gpt-5"),
        ("numbers_task", "coop", "gpt-5"),
    ]


def test_repositories_may_be_given_by_name(run, tmp_path, repo):
    """A task without a clone is a failure."""
    shutil.copytree(tmp_path / "dataset/numbers_task", tmp_path / "dataset/more_task")
    for repo_name in ("numbers_task", "more_task"):
        make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=2)}, repo_name=repo_name)

    some = run(repo_dirs={"numbers_task": repo})
    both = run(repo_dirs={"numbers_task": repo, "more_task": repo})
    wrong = run(repo_dirs={"numbers_task": tmp_path / "dataset", "more_task": repo})

    assert {r.repo_name: bool(r.failure) for r in some} == {
        "numbers_task": False,
        "more_task": True,
    }
    assert not any(r.failure for r in both)
    assert {r.repo_name: r.failure and r.failure.kind.value for r in wrong} == {
        "more_task": None,
        "numbers_task": "repository",
    }
    [failure] = [r.failure for r in some if r.failure]
    assert "repo_dir: is needed: pass a clone of more_task" in failure.problem


def test_a_wrong_name_of_a_repository_is_an_error(run, tmp_path, repo):
    """Otherwise every one of its pairs would be a failure, or none would be evaluated."""
    shutil.copytree(tmp_path / "dataset/numbers_task", tmp_path / "dataset/more_task")
    make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=2)})

    words = "repo_dirs: 'numbers' is not a folder of .*; it has numbers_task, more_task "
    with pytest.raises(ce.errors.DatasetError, match=words):
        run(repo_dirs={"numbers": repo})


@pytest.mark.parametrize("teams", [False, True])
def test_a_dataset_that_knows_its_repositories_is_enough(task, tmp_path, repo, threads, teams):
    """Also if it is told a folder that holds the clone."""
    make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=2)})
    options = {"evaluator": ce.Evaluator(), "executor": threads}

    for clones in (repo, tmp_path, {"numbers_task": repo}):
        dataset = ce.Dataset(tmp_path / "dataset", repo_dirs=clones)
        found = ce.evaluate_run(
            tmp_path / "logs", "run", dataset_dir=dataset, teams=teams, **options
        )
        assert [report.merge_status.value for report in found] == ["clean"]
        told = dataset.task("numbers_task", 0)
        assert len(list(ce.gold_matrix(told, **options))) == 3
        assert len(list(ce.gold_teams(told, size=2, **options))) == 3
        asked = ("coop", "numbers_task", 0, 1, 2, "gpt-5", "gold")
        assert ce.evaluate(*asked, dataset_dir=dataset, run_tests=False).merge_status == "clean"


def test_the_first_failure_may_be_raised(run, tmp_path):
    """As in other batches."""
    make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=2)}, repo_name="a_task")

    with pytest.raises(ce.errors.BatchError, match="a_task"):
        run(on_error="raise")


def test_a_pair_that_cannot_be_made_is_announced_like_others(run, tmp_path, monkeypatch):
    """There is an event, and the bar ends full; the report is not stored."""
    make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=2)}, repo_name="a_task")
    make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=2)})
    events = []

    monkeypatch.setattr(sys, "stderr", Terminal())

    run(progress=events.append, store=tmp_path / "store")
    run(progress=True)

    assert sorted(event.kind.value for event in events) == ["failed", "finished", "submitted"]
    assert "2/2" in sys.stderr.getvalue()
    assert len(ce.ReportStore(tmp_path / "store")) == 1


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"task_id": 0}, [("numbers_task", 0)]),
        ({"task_id": 5}, [("numbers_task", 5)]),
        ({"repo_name": "other"}, [("other", 7)]),
        ({"setting": "team"}, [("numbers_task", 5)]),
        ({"subset": "few"}, [("numbers_task", 0)]),
    ],
    ids=["task 0", "task 5", "repository", "setting", "subset"],
)
def test_pairs_of_a_run_can_be_selected(run, tmp_path, choice, expected):
    """By any option; task 0 is valid, and a subset may name features in any order."""
    logs = tmp_path / "logs"
    dataset = tmp_path / "dataset"
    shutil.copytree(dataset / "numbers_task/task0", dataset / "numbers_task/task5")
    shutil.copytree(dataset / "numbers_task/task0", dataset / "other/task7")
    make_run(logs, {1: code(a=1), 2: code(b=2)})
    make_run(logs, {1: code(a=1), 2: code(b=2)}, task_id=5, setting="team")
    make_run(logs, {1: code(a=1), 2: code(b=2)}, repo_name="other", task_id=7)
    subset = {"tasks": [{"repo": "numbers_task", "task_id": 0, "pairs": [[2, 1]]}]}
    (dataset / "subsets").mkdir()
    (dataset / "subsets" / "few.json").write_text(json.dumps(subset))

    reports = run(**choice)

    assert [(r.repo_name, r.task_id) for r in reports] == expected


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": "typo"}, "typo"),
        ({"task_id": 9}, "no pair that matches"),
        ({"setting": "alone"}, "'alone' is unknown"),
        ({"subset": "huge"}, "huge"),
    ],
)
def test_an_empty_selection_is_an_error(run, tmp_path, options, words):
    """It is raised by the call, not with the first report."""
    make_run(tmp_path / "logs", {1: code(a=1), 2: code(b=2)})

    with pytest.raises(ce.errors.DatasetError, match=words):
        run(**options)


@pytest.mark.parametrize("teams", [False, True])
def test_in_images_each_task_has_its_own_sandbox(run, tmp_path, monkeypatch, teams):
    """The tests are run by the image's own script."""
    logs, seen = tmp_path / "logs", []
    dataset = tmp_path / "dataset"
    shutil.copytree(dataset / "numbers_task/task0", dataset / "numbers_task/task5")
    make_run(logs, {1: code(a=1), 2: code(b=2)})
    make_run(logs, {1: code(a=1), 2: code(b=2)}, task_id=5)
    make_run(logs, {1: code(a=1), 2: code(b=2)}, repo_name="gone")

    def evaluate_many(pairs, *, evaluator, **_):
        for pair in pairs:
            if isinstance(pair, ce.MergeReport | ce.TeamReport):
                yield pair
            else:
                assert isinstance(pair, ce.FeatureTeam) is teams
                tests = pair.features[0].tests
                seen.append((pair.task_id, evaluator.runner.sandbox.image, tests))

    monkeypatch.setattr(sweeps, "evaluate_many", evaluate_many)

    reports = run(in_image=True, evaluator=with_runner(), teams=teams)

    assert [(task_id, image.rpartition(":")[2]) for task_id, image, _ in seen] == [
        (0, "task0"),
        (5, "task5"),
    ]
    assert {suite.delivery.value for _, _, suite in seen} == {"patches"}
    assert [r.failure.kind.value for r in reports] == ["dataset"]

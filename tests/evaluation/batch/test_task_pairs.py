"""From a task, or from the whole dataset, to pairs and teams."""

import gc
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pygit2
import pytest
from sweepparts import GOLD, code, make_repository, make_task, suite_of, with_runner

import cooperbench_eval as ce
from cooperbench_eval.errors import ArgumentError, DatasetError, RepositoryError


@pytest.fixture
def repo(tmp_path):
    """The task's repository, in a folder of clones."""
    return tmp_path / "clones" / "whatever.git"


@pytest.fixture
def task(tmp_path, repo):
    """A task that knows its repository."""
    make_task(tmp_path / "dataset", make_repository(repo))
    return ce.Dataset(tmp_path / "dataset", repo_dirs=repo).task("numbers_task", 0)


@pytest.fixture
def dataset(tmp_path, task):
    """A dataset of two repositories; the other one has another base."""
    other = tmp_path / "clones" / "owner" / "other"
    repository = pygit2.init_repository(other)
    author = pygit2.Signature("Bo", "bo@example.org", 0, 0)
    source = pygit2.Repository(tmp_path / "clones" / "whatever.git")
    tree = source.revparse_single("HEAD").peel(pygit2.Tree)
    builder = repository.TreeBuilder()
    for entry in tree:
        builder.insert(entry.name, repository.create_blob(entry.data), entry.filemode)
    commit = repository.create_commit("HEAD", author, author, "", builder.write(), [])
    make_task(tmp_path / "dataset", commit, "other_task", 7)
    return ce.Dataset(tmp_path / "dataset", repo_dirs=tmp_path / "clones")


def patches_of(pair):
    """The patches of a pair's or team's features, by number."""
    return {feature.number: feature.patch.data for feature in pair.features}


# --- one task ---------------------------------------------------------------------------


def test_a_pair_has_the_tasks_solutions_tests_and_texts(task):
    """Everything that a harness wrote by hand before."""
    pair = task.pair(2, 1, model="gpt-5", setting="coop", k=3)

    assert (pair.repo_name, pair.task_id, pair.numbers) == ("numbers_task", 0, (2, 1))
    assert (pair.model, pair.setting, pair.k) == ("gpt-5", "coop", 3)
    assert pair.base.commit_id == task.base_commit()
    assert patches_of(pair) == {1: code(a=1), 2: code(b=2)}
    assert pair.feature1.tests == task.suite(2)
    assert pair.feature2.description == "Make a 1.\n"


def test_pairs_and_teams_are_evaluated_as_a_sweep_does(task):
    """With the same reports, apart from the time."""
    with ThreadPoolExecutor(2) as threads:
        options = {"evaluator": with_runner(), "executor": threads}
        swept = list(ce.gold_matrix(task, suite_of=suite_of, **options))
        teams = list(ce.gold_teams(task, size=3, suite_of=suite_of, **options))
        own = list(ce.evaluate_many(task.all_pairs(suite_of=suite_of), **options))
        own_teams = list(ce.evaluate_many(task.all_teams(3, suite_of=suite_of), **options))

    def verdicts(reports):
        return {r.numbers: [(a.strategy, a.verdict) for a in r.attempts] for r in reports}

    def facts(reports):
        return {
            (r.feature1.number, r.feature2.number): [(a.strategy, a.verdict) for a in r.attempts]
            for r in reports
        }

    assert facts(own) == facts(swept)
    assert set(facts(own)) == set(task.pairs)
    assert verdicts(own_teams) == verdicts(teams)
    assert set(verdicts(teams)) == {(3, 2, 1)}


def test_pairs_of_a_task_share_their_base_and_are_counted(task):
    """Whether they are listed or made one by one; a progress bar needs the number."""
    every = task.all_pairs()
    assert len(every) == 3

    listed = list(every)
    single = [task.pair(*numbers) for numbers in task.pairs]
    teams = list(task.all_teams(2))

    assert [pair.numbers for pair in listed] == list(task.pairs)
    assert [team.numbers for team in teams] == [pair[::-1] for pair in task.pairs]
    assert {id(pair.base) for pair in (*listed, *single, *teams)} == {id(task.base())}
    assert patches_of(task.team(3, 1)) == {3: code(a=3), 1: code(a=1)}
    assert task.team(3, 1).numbers == (3, 1)
    assert [pair.numbers for pair in task.all_pairs([(3, 1)])] == [(3, 1)]


@pytest.mark.parametrize("kind", ["bytes", "str", "Patch", "Path", "function"])
def test_agents_patches_come_in_any_form(task, tmp_path, kind):
    """By number, or from a function; the dataset's solutions are not mixed in."""
    raw = code(a=9)
    file = tmp_path / "agent1.patch"
    file.write_bytes(raw)
    forms = {"bytes": raw, "str": raw.decode(), "Patch": ce.Patch.parse(raw), "Path": file}
    patches = {1: forms.get(kind, raw), 2: None}
    given = (lambda _, number: patches[number]) if kind == "function" else patches

    pair = task.pair(1, 2, patches=given)

    assert patches_of(pair) == {1: raw, 2: b""}


def test_a_feature_without_a_patch_is_an_error(task):
    """Its solution would be a silent mistake; so would be a path instead of a mapping."""
    with pytest.raises(ArgumentError, match="patches has no patch of feature 2; it has 1"):
        task.pair(1, 2, patches={1: code(a=9)})
    with pytest.raises(
        ArgumentError, match=r"^patches must be Mapping.* or None, not str: 'agents/'"
    ):
        task.pair(1, 2, patches="agents/")


@pytest.mark.parametrize("make", ["pair", "team", "all_pairs"])
def test_features_must_exist_and_differ(task, make):
    """The error is that of `Task.require`."""
    for numbers, words in (((1, 9), "has no feature 9; it has 1, 2, 3"), ((1, 1), "different")):
        with pytest.raises(DatasetError, match=words):
            task.all_pairs([numbers]) if make == "all_pairs" else getattr(task, make)(*numbers)


def test_options_of_a_suite_are_passed_on(task):
    """They are those of `Task.suite`; a function of one's own takes none."""
    pair = task.pair(1, 2, command=iter(["true"]), framework="exit", timeout_seconds=5)

    assert {feature.tests.command for feature in pair.features} == {("true",)}
    assert pair.feature1.tests.timeout_seconds == 5
    assert task.pair(1, 2, suite_of=None).feature1.tests is None
    with pytest.raises(ArgumentError, match="suite_of cannot be combined with command, env"):
        task.pair(1, 2, suite_of=suite_of, command=["true"], env={})
    with pytest.raises(TypeError, match="colour"):
        task.pair(1, 2, colour="red")


# --- where the repositories are -------------------------------------------------------------


def test_a_folder_of_clones_is_searched_for_the_commit(dataset, task, repo, tmp_path):
    """A clone's name does not matter, nor whether it lies one level deeper."""
    (tmp_path / "clones" / "a_file").write_text("")

    found = {each.repo_name: each.base().location for each in dataset.tasks()}

    assert found == {
        "numbers_task": str(repo),
        "other_task": str(tmp_path / "clones" / "owner" / "other"),
    }
    with pytest.raises(
        RepositoryError, match=r"no clone with the base of task 0 of numbers_task, .*: other$"
    ):
        task.base(tmp_path / "clones" / "owner")
    with pytest.raises(RepositoryError, match="cannot be opened"):
        task.base(tmp_path / "dataset")


def test_a_repository_that_is_given_comes_first(task, tmp_path):
    """A task that knows none needs one."""
    unknowing = ce.Dataset(tmp_path / "dataset").task("numbers_task", 0)

    assert unknowing.pair(1, 2, repo_dir=task.repo_dir).base.location == str(task.repo_dir)
    with pytest.raises(DatasetError, match="repo_dir: is needed: pass a clone of numbers_task"):
        unknowing.base()
    with pytest.raises(RepositoryError):
        task.base(tmp_path / "nowhere")


def test_wrong_keys_are_an_error_with_the_nearest_first(dataset):
    """It is raised when the dataset is made, before hours are spent."""
    words = "repo_dirs: 'othr' is not a folder of .*; it has other_task, numbers_task"
    with pytest.raises(DatasetError, match=words):
        ce.Dataset(dataset.directory, repo_dirs={"numbers_task": "x", "othr": "y"})
    with pytest.raises(DatasetError, match="is not a directory"):
        ce.Dataset("nowhere", repo_dirs={"numbers_task": "x"})


# --- the dataset ----------------------------------------------------------------------------


def test_a_whole_dataset_takes_three_lines(dataset, tmp_path):
    """Every pair of every task, from any clones."""
    pairs = dataset.all_pairs(suite_of=None)
    with ThreadPoolExecutor(2) as threads:
        options = {"evaluator": ce.Evaluator(), "executor": threads, "store": tmp_path / "store"}
        reports = list(ce.evaluate_many(pairs, **options))

    assert sorted((r.repo_name, r.task_id) for r in reports) == [
        *[("numbers_task", 0)] * 3,
        *[("other_task", 7)] * 3,
    ]
    assert all(r.failure is None for r in reports)
    assert len(ce.ReportStore(tmp_path / "store")) == 6


def test_pairs_of_a_dataset_are_made_one_by_one(dataset):
    """Only the bases of pairs that the caller keeps, and the last one, are in memory."""
    asked = []

    def patches(task, number):
        asked.append((task.repo_name, number))
        return code(**GOLD[number])

    pairs = dataset.all_pairs(patches=patches, suite_of=None)
    assert (len(pairs), asked) == (6, [])
    first = next(pairs)
    assert {name for name, _ in asked} == {first.repo_name} == {"numbers_task"}
    del first
    last = list(pairs)[-1]

    gc.collect()
    bases = [each for each in gc.get_objects() if isinstance(each, ce.Snapshot)]
    commits = {each.commit_id for each in bases if each.commit_id}
    assert last.base.commit_id in commits
    assert dataset.task("numbers_task", 0).base_commit() not in commits


def test_pairs_of_a_dataset_can_be_selected(dataset):
    """By repository and by subset, whose order of features counts."""
    (dataset.directory / "subsets").mkdir()
    rows = [
        {"repo": "other_task", "task_id": 7, "pairs": [[3, 1]]},
        {"repo": "numbers_task", "task_id": 0, "pairs": [[1, 2]]},
    ]
    (dataset.directory / "subsets" / "few.json").write_text(json.dumps({"tasks": rows}))

    def chosen(**choice):
        return [(p.repo_name, p.numbers) for p in dataset.all_pairs(**choice)]

    assert chosen(subset="few") == [("other_task", (3, 1)), ("numbers_task", (1, 2))]
    assert chosen(subset="few", repo_name="numbers_task") == [("numbers_task", (1, 2))]
    assert [name for name, _ in chosen(repo_name="other_task")] == ["other_task"] * 3
    with pytest.raises(DatasetError, match="has no pair of 'other'; it has other_task"):
        dataset.all_pairs(repo_name="other")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda folder, _: (folder / "run_tests.sh").unlink(), "pytest command"),
        (lambda folder, _: (folder / "Dockerfile").unlink(), "Dockerfile: cannot be read"),
        (lambda _, clones: shutil.rmtree(clones / "owner"), "no clone with the base of task 7"),
    ],
    ids=["no command", "no commit", "no clone"],
)
def test_what_a_task_lacks_is_found_at_once(dataset, tmp_path, damage, words):
    """Not after hours, when its turn comes."""
    damage(dataset.directory / "other_task" / "task7", tmp_path / "clones")

    with pytest.raises((DatasetError, RepositoryError), match=words):
        dataset.all_pairs()


def test_numbers_alone_do_not_name_the_patches_of_many_tasks(dataset):
    """Every task would get the same patches."""
    with pytest.raises(ArgumentError, match="patches must be a function"):
        dataset.all_pairs(patches={1: b""})
    with pytest.raises(ArgumentError, match="patches must be"):
        dataset.all_pairs(patches=Path("agents"))

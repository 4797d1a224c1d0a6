"""CooperBench's dataset on disk, and its planned command as a function."""

import inspect
import json
import sys

import attrs
import pygit2
import pytest

import cooperbench_eval as ce
from cooperbench_eval.cooperbench import evaluate as benchmark

PATCH = b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+%s\n"
TESTS = b"--- /dev/null\n+++ b/test_f.py\n@@ -0,0 +1 @@\n+def test_f(): assert open('f').read()\n"


@pytest.fixture
def make_task(tmp_path):
    """Return a function that makes a task with the given files in one dataset."""

    def make(repo_name="r_task", task_id=1, features=(1, 2), **files):
        folder = tmp_path / "dataset" / repo_name / f"task{task_id}"
        for number in features:
            (folder / f"feature{number}").mkdir(parents=True)
            (folder / f"feature{number}" / "feature.patch").write_bytes(
                PATCH % b"feature%d" % number
            )
            (folder / f"feature{number}" / "tests.patch").write_bytes(TESTS)
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name.replace("_sh", ".sh")).write_text(text)
        return ce.Dataset(tmp_path / "dataset").task(repo_name, task_id)

    return make


@pytest.fixture
def dataset(tmp_path):
    """Return the dataset that `make_task` fills."""
    return ce.Dataset(str(tmp_path / "dataset"))


# --- tasks ------------------------------------------------------------------------------


def test_tasks_are_sorted_by_repository_and_number(make_task, dataset):
    """Numbers are not compared as text; task 0 is valid."""
    for repo_name, task_id in (("b_task", 10), ("b_task", 9), ("b_task", 0), ("a_task", 7)):
        make_task(repo_name, task_id)

    found = [(task.repo_name, task.task_id) for task in dataset.tasks()]

    assert found == [("a_task", 7), ("b_task", 0), ("b_task", 9), ("b_task", 10)]
    assert dataset.task("b_task", 0).task_id == 0


def test_two_folders_with_one_number_are_an_error(make_task, dataset):
    """Only one of them would be evaluated. Another repository may use the number too."""
    task = make_task("a_task", 1)
    make_task("b_task", 1)
    assert len(dataset.tasks()) == 2

    (task.directory / "feature01").mkdir()
    with pytest.raises(ce.errors.DatasetError, match=r"task1: has both 'feature01' and 'feature1'"):
        dataset.tasks()
    (task.directory.parent / "task01").mkdir()
    for call in (dataset.tasks, lambda: dataset.task("b_task", 1)):
        with pytest.raises(ce.errors.DatasetError, match=r"a_task: has both 'task01' and 'task1'"):
            call()


def test_folders_and_files_that_are_not_tasks_are_skipped(make_task, dataset):
    """Subsets, files, other folders, and a task without features."""
    task = make_task()
    make_task(task_id=2, features=())
    for name in ("subsets/task1.json", "r_task/task3", "r_task/task1/feature9"):
        file = dataset.directory / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("")
    (dataset.directory / "r_task" / "task_x").mkdir()
    (dataset.directory / "r_task" / "task1" / "features").mkdir()

    assert dataset.tasks() == (task,)
    assert task.features == (1, 2)


def test_pairs_are_every_two_features(make_task):
    """The smaller number comes first, and pairs are sorted by number."""
    task = make_task(features=(10, 2, 9))

    assert task.features == (2, 9, 10)
    assert task.pairs == ((2, 9), (2, 10), (9, 10))


def test_teams_are_all_combinations_of_a_size(make_task):
    """Teams of two are the pairs; the numbers in a team and the teams are sorted."""
    task = make_task(features=(10, 2, 9, 1))

    assert tuple(task.teams(2)) == task.pairs
    assert list(task.teams(3)) == [(1, 2, 9), (1, 2, 10), (1, 9, 10), (2, 9, 10)]
    assert list(task.teams(4)) == [(1, 2, 9, 10)]


@pytest.mark.parametrize("size", [-1, 0, 1, 4])
def test_a_team_has_two_or_more_of_the_tasks_features(make_task, size):
    """The error is raised at once, and says how many features there are."""
    task = make_task(features=(1, 2, 3))

    with pytest.raises(ce.errors.DatasetError, match=f"size: is {size}, .* the task has 3$"):
        task.teams(size)
    with pytest.raises(TypeError):
        task.teams("2")


def test_teams_of_a_huge_task_are_not_listed_in_advance(make_task):
    """There would be 10 to the power of 17."""
    task = attrs.evolve(make_task(), features=range(60))

    assert next(task.teams(30)) == tuple(range(30))


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "is not a directory"), ("file", "is not a directory"), ("folder", "has no task")],
)
def test_a_folder_without_tasks_is_an_error(tmp_path, content, words):
    """So is a missing folder, or a file in its place."""
    place = tmp_path / "there"
    if content == "file":
        place.write_text("")
    if content == "folder":
        (place / "r_task").mkdir(parents=True)

    with pytest.raises(ce.errors.DatasetError) as caught:
        ce.Dataset(place).tasks()

    assert caught.value.location == str(place)
    assert words in caught.value.problem


def test_a_folder_around_the_dataset_is_recognized(make_task, dataset):
    """CooperBench's repository has the dataset in a folder of this name."""
    make_task()
    around = dataset.directory.parent

    words = f"has no task<id> folder; pass '{around}/dataset'"
    with pytest.raises(ce.errors.DatasetError, match=words):
        ce.Dataset(around).tasks()


def test_an_unknown_task_is_an_error(make_task, dataset):
    """The error lists the nearest names and numbers first."""
    for task_id in (2068, 2800, 2956):
        make_task("pallets_click_task", task_id)
    for other in ("dspy_task", "go_chi_task", "pallets_jinja_task"):
        make_task(other, 1)

    with pytest.raises(ce.errors.DatasetError) as caught:
        dataset.task("pallets_click_task", 2801)
    assert caught.value.location == str(dataset.directory)
    assert caught.value.problem == (
        "has no task 2801 of pallets_click_task; it has 2800, 2956, 2068 (the nearest first)"
    )
    for name in ("click", "palets_click_task", "pallets/click"):
        with pytest.raises(
            ce.errors.DatasetError, match=f"has no folder '{name}'; it has pallets_click_"
        ):
            dataset.task(name, 2068)
    with pytest.raises(ce.errors.DatasetError, match="is not a directory"):
        ce.Dataset(dataset.directory / "nowhere").task("r_task", 1)


@pytest.mark.parametrize("name", ["", ".", "..", "../dataset/r_task", "/r_task"])
def test_a_repositorys_name_is_one_folder(make_task, dataset, name):
    """It cannot lead to another folder."""
    make_task()

    with pytest.raises(ce.errors.DatasetError, match=r"has no folder .*; it has r_task"):
        dataset.task(name, 1)


# --- a task's files -----------------------------------------------------------------------

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    "line",
    [
        f"RUN git checkout {COMMIT}",
        f"RUN git clone https://example.org/r.git . && \\\n    git checkout {COMMIT} && \\\n    ls",
        f"RUN git reset --hard {COMMIT}",
        f"RUN git  checkout  --detach {COMMIT}",
        f"RUN git checkout main\nRUN git checkout {COMMIT}",
    ],
)
def test_the_base_commit_is_what_the_dockerfile_checks_out(make_task, line):
    """A branch does not count."""
    assert make_task(Dockerfile=f"FROM python\n{line}\n").base_commit() == COMMIT


@pytest.mark.parametrize("text", [None, "FROM python\n", "RUN git checkout main\n"])
def test_a_dockerfile_without_a_base_commit_is_an_error(make_task, text):
    """The error names the file."""
    task = make_task(**({} if text is None else {"Dockerfile": text}))

    with pytest.raises(ce.errors.DatasetError) as caught:
        task.base_commit()

    assert caught.value.location == str(task.directory / "Dockerfile")


def test_patches_are_read_as_bytes(make_task):
    """A CRLF or a Latin-1 letter survives."""
    task = make_task()
    raw = b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\r\n+\xe9\r\n"
    (task.directory / "feature1" / "feature.patch").write_bytes(raw)

    assert task.gold_patch(1).data == raw
    assert task.tests_patch(1).paths == ("test_f.py",)


def test_a_description_may_be_missing(make_task):
    """It is then empty; bytes that are not UTF-8 are not an error."""
    task = make_task()
    (task.directory / "feature1" / "feature.md").write_bytes(b"# Caf\xe9\n")

    assert task.description(1) == "# Caf\ufffd\n"
    assert task.description(2) == ""


def test_an_unknown_feature_is_an_error(make_task):
    """The error lists the task's features; a missing file is named."""
    task = make_task()
    (task.directory / "feature2" / "tests.patch").unlink()

    with pytest.raises(ce.errors.DatasetError, match="has no feature 3; it has 1, 2"):
        task.gold_patch(3)
    with pytest.raises(ce.errors.DatasetError, match=r"feature2/tests\.patch: is missing"):
        task.tests_patch(2)


# --- subsets ------------------------------------------------------------------------------


def test_a_subset_gives_its_pairs_with_their_tasks(make_task, dataset):
    """In the order of the file, and with features as written there."""
    tasks = [make_task(task_id=number) for number in (0, 1)]
    (dataset.directory / "subsets").mkdir()
    rows = [
        {"repo": "r_task", "task_id": 1, "pairs": [[2, 1]]},
        {"repo": "r_task", "task_id": 0, "pairs": [[1, 2], [1, 3]]},
    ]
    (dataset.directory / "subsets" / "mini.json").write_text(json.dumps({"tasks": rows}))

    assert dataset.subset("mini") == (
        (tasks[1], (2, 1)),
        (tasks[0], (1, 2)),
        (tasks[0], (1, 3)),
    )


@pytest.mark.parametrize(
    "text",
    [
        None,
        "{",
        "[]",
        "{}",
        '{"tasks": [5]}',
        '{"tasks": [{"repo": "r_task", "task_id": 1}]}',
        '{"tasks": [{"repo": "r_task", "task_id": 1, "pairs": [[1, 2, 3]]}]}',
        '{"tasks": [{"repo": "r_task", "task_id": 8, "pairs": [[1, 2]]}]}',
    ],
)
def test_a_subset_that_cannot_be_read_is_an_error(make_task, dataset, text):
    """The file is missing or broken, or names an unknown task."""
    make_task()
    (dataset.directory / "subsets").mkdir()
    if text is not None:
        (dataset.directory / "subsets" / "mini.json").write_text(text)

    with pytest.raises(ce.errors.DatasetError):
        dataset.subset("mini")


# --- the command --------------------------------------------------------------------------

PYTEST = (sys.executable, "-m", "pytest")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("python -m pytest tests/test_a.py -v", ["tests/test_a.py", "-v"]),
        ("  python3 -m pytest a.py", ["a.py"]),
        ("python3.11 -m pytest a.py", ["a.py"]),
        (".venv/bin/python -m pytest a.py", ["a.py"]),
        ("/usr/bin/python3 -m pytest a.py", ["a.py"]),
        ("pytest a.py -q", ["a.py", "-q"]),
        ("timeout 300 python -m pytest a.py", ["a.py"]),
        ("timeout 5m pytest a.py", ["a.py"]),
        (
            'python -m pytest "Tests/test image.py" -k "a or b"',
            ["Tests/test image.py", "-k", "a or b"],
        ),
        ("python -m pytest 'a.py::test[x]'", ["a.py::test[x]"]),
        ("python -m pytest a.py 2>&1", ["a.py"]),
        ("python -m pytest a.py 2>&1 | tee /tmp/pytest_output.log", ["a.py"]),
        ("python -m pytest a.py  # the feature's", ["a.py"]),
        ("python -m pytest", []),
    ],
)
def test_a_plain_pytest_line_is_the_command(make_task, line, words):
    """Python becomes our interpreter; time limits and redirections are left out."""
    task = make_task(runner_sh=f"#!/bin/bash\nset -e\npip install pytest\n\n{line}\nexit $?\n")

    assert task.test_command() == (*PYTEST, *words)


@pytest.mark.parametrize(
    "line",
    [
        "python -m pytest $TESTS",
        'python -m pytest "$file" -v',
        "python -m pytest `ls tests`",
        "python -m pytest $(ls tests)",
        "python -m pytest a.py | tee log",
        "python -m pytest a.py > log",
        "python -m pytest a.py || true",
        "python -m pytest a.py; exit 0",
        "python -m pytest a.py &",
        "python -m pytest tests/*.py",
        "python -m pytest {a,b}.py",
        "if python -m pytest a.py; then",
        "python -m pytest 'a.py",
        "python -m pytest a.py \\",
        "# python -m pytest a.py",
        "pip install pytest",
        "python -m unittest",
        "python setup.py pytest",
        "mypytest a.py",
        "timeout",
        "",
    ],
)
def test_other_lines_are_skipped(make_task, line):
    """They cannot be run as they are; the next plain line is taken."""
    task = make_task(runner_sh=f"{line}\n\npython -m pytest plain.py\n")

    assert task.test_command() == (*PYTEST, "plain.py")


def test_the_runner_is_read_before_the_other_script(make_task):
    """`run_tests.sh` is read only if `runner.sh` has no plain line."""
    both = make_task(task_id=1, runner_sh="pytest a.py\n", run_tests_sh="pytest b.py\n")
    second = make_task(task_id=2, runner_sh="pytest $X\n", run_tests_sh="pytest b.py\n")

    assert both.test_command()[-1] == "a.py"
    assert second.test_command()[-1] == "b.py"


@pytest.mark.parametrize("files", [{}, {"runner_sh": "go test ./...\n"}])
def test_a_task_without_a_plain_line_asks_for_a_command(make_task, files):
    """The error names the argument; with a command, no script is read."""
    task = make_task(**files)

    with pytest.raises(ce.errors.DatasetError, match=r"pass command=\(\.\.\.\)"):
        task.suite(1)

    assert task.suite(1, command=["go", "test"]).command == ("go", "test")


def test_a_suite_has_the_features_tests_and_the_tasks_command(make_task):
    """The package is found in the tree, because it is not installed."""
    task = make_task(runner_sh="pytest a.py\n")

    suite = task.suite(2)

    assert suite == ce.TestSuite(
        command=(*PYTEST, "a.py"),
        patch=TESTS,
        framework="pytest",
        timeout_seconds=600,
        env={"PYTHONPATH": "src:."},
    )
    assert task.suite(1, env={}).env == {}
    assert task.suite(1, framework="exit", timeout_seconds=5).timeout_seconds == 5


def test_a_command_in_one_string_is_rejected(make_task):
    """It is not split into letters."""
    with pytest.raises(TypeError, match=r"^command must be Iterable\[str\] or None, not str"):
        make_task().suite(1, command="pytest -q")


# --- evaluate -----------------------------------------------------------------------------


@pytest.fixture
def repo(tmp_path):
    """Make a repository of one file; return its path and its commit."""
    folder = tmp_path / "repo"
    repository = pygit2.init_repository(folder, bare=True)
    index = pygit2.Index()
    index.add(pygit2.IndexEntry("f", repository.create_blob(b"1\n"), pygit2.enums.FileMode.BLOB))
    who = pygit2.Signature("a", "a@example.org", 1, 0)
    tree = index.write_tree(repository)
    return folder, str(repository.create_commit("HEAD", who, who, "base", tree, []))


@pytest.fixture
def evaluate(make_task, dataset, repo):
    """Return a function that evaluates a pair of a small task."""
    folder, commit = repo
    make_task(task_id=0, Dockerfile=f"RUN git checkout {commit}\n")

    def evaluate(*arguments, **options):
        given = {"dataset_dir": dataset.directory, "repo_dir": folder, "run_tests": False} | options
        return ce.evaluate(*arguments, **given)

    return evaluate


def test_strategies_with_the_same_name_are_rejected_before_anything_is_read():
    """No dataset, repository or image is read."""
    asked = ("coop", "nowhere", 1, 1, 2, "gpt-5")

    with pytest.raises(ValueError, match="different names, not naive, naive"):
        ce.evaluate(*asked, dataset_dir="nowhere", strategies=["naive", "naive"])


def test_the_name_of_one_strategy_is_not_split_into_letters(evaluate):
    """As in an evaluator."""
    report = evaluate("coop", "r_task", 0, 1, 2, "gpt-5", "gold", strategies="union")

    assert [row.strategy for row in report.attempts] == ["union"]


def test_the_planned_commands_arguments_are_the_signature():
    """In the command's order; all other parameters are keyword-only."""
    parameters = inspect.signature(ce.evaluate).parameters.values()

    names = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]

    assert names == [
        "setting",
        "repo_name",
        "task_id",
        "feature1_id",
        "feature2_id",
        "model",
        "patch_location",
    ]


def test_gold_patches_are_evaluated(evaluate, repo):
    """For task 0, without tests; every argument is in the report."""
    report = evaluate("coop", "r_task", 0, 2, 1, "gpt-5", "gold", k=3)

    assert (report.repo_name, report.task_id, report.k) == ("r_task", 0, 3)
    assert (report.model, report.setting) == ("gpt-5", "coop")
    assert (report.feature1.number, report.feature2.number) == (2, 1)
    assert (report.merge_status, report.conflict_score) == ("conflicts", 24)
    assert [(each.ours, each.theirs) for each in report.conflicts] == [
        (b"feature1\n", b"feature2\n")
    ]
    assert report.base_commit == repo[1]
    assert [each.strategy for each in report.attempts] == ["naive", "union"]


def test_logs_are_the_default(evaluate, tmp_path):
    """Agents' patches are found and belong to the right features."""
    pair = tmp_path / "logs" / "run" / "coop" / "r_task" / "0" / "f1_f2"
    pair.mkdir(parents=True)
    (pair / "agent1.patch").write_bytes(PATCH % b"one")
    (pair / "agent2.patch").write_bytes(PATCH % b"two")

    report = evaluate("coop", "r_task", 0, 1, 2, "gpt-5", logs_dir=tmp_path / "logs")

    assert [(each.ours, each.theirs) for each in report.conflicts] == [(b"two\n", b"one\n")]


def test_a_solo_agents_patch_is_clean_with_itself(evaluate, tmp_path):
    """Both sides are equal, so they cannot conflict."""
    pair = tmp_path / "run" / "solo" / "r_task" / "0" / "f1_f2"
    pair.mkdir(parents=True)
    (pair / "solo.patch").write_bytes(PATCH % b"both")

    report = evaluate("solo", "r_task", 0, 1, 2, "gpt-5", logs_dir=tmp_path)

    assert (report.merge_status, report.setting) == ("clean", "solo")
    assert b"+both" in report.diff


def test_strategies_reach_the_evaluation_and_see_descriptions(evaluate, make_task):
    """Instances are accepted as names are, and see the issue texts."""
    seen = []

    class Watcher:
        name = "watcher"

        def merge(self, merge_input):
            seen.append(merge_input.ours_feature)
            return ce.resolve_conflicts(merge_input, lambda conflict: conflict.ours)

    folder = make_task(task_id=5).directory.parent / "task0"
    (folder / "feature2" / "feature.md").write_text("Do it.")

    report = evaluate("coop", "r_task", 0, 1, 2, "m", "gold", strategies=(s for s in [Watcher()]))

    assert [each.strategy for each in report.attempts] == ["watcher"]
    assert seen == [ce.strategies.FeatureContext(number=2, description="Do it.")]


def test_both_features_are_tested_with_the_given_command(evaluate):
    """The command may be an iterator; the caller's runner is used."""
    sandboxes = []

    class Sandbox:
        name = identity = "mine"

        def run(self, command, **options):
            sandboxes.append(command)
            return ce.LocalSandbox().run(command, **options)

    report = evaluate(
        *("coop", "r_task", 0, 1, 2, "m", "gold"),
        run_tests=True,
        command=iter(("grep", "-r", "def test_f", ".")),
        framework="exit",
        runner=ce.TestRunner(sandbox=Sandbox()),
    )

    assert report.feature1.tests_passed is report.feature2.tests_passed is True
    assert set(sandboxes) == {("grep", "-r", "def test_f", ".")}
    assert report.feature1.tests.sandbox == "mine"
    assert report.attempt("union").verdict is ce.Verdict.CORRECT


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"setting": "duet"}, ce.errors.DatasetError, "setting: 'duet' is unknown"),
        ({"patch_location": "disk"}, ce.errors.DatasetError, "patch_location: 'disk' is unknown"),
        ({"repo_name": "x_task"}, ce.errors.DatasetError, "has no folder 'x_task'"),
        ({"task_id": 3}, ce.errors.DatasetError, "has no task 3 of r_task; it has 0"),
        ({"feature2_id": 9}, ce.errors.DatasetError, "has no feature 9"),
        ({"feature2_id": 1}, ce.errors.DatasetError, "two different features"),
        (
            {"feature2_id": 9, "patch_location": "logs", "logs_dir": "."},
            ce.errors.DatasetError,
            "has no feature 9; it has 1, 2",
        ),
        ({"dataset_dir": "/nowhere"}, ce.errors.DatasetError, "/nowhere"),
        ({"repo_dir": "/nowhere"}, ce.errors.RepositoryError, "/nowhere"),
        ({"repo_dir": None}, ce.errors.DatasetError, "repo_dir: is needed"),
        ({"strategies": ["nine"]}, ce.errors.UnknownStrategyError, "'nine'"),
        ({"run_tests": True}, ce.errors.DatasetError, "pass command"),
        (
            {"patch_location": "logs", "logs_dir": "/nowhere"},
            ce.errors.DatasetError,
            "pass logs_dir",
        ),
    ],
)
def test_errors_name_what_is_missing_or_unknown(evaluate, change, error, words):
    """Each error is one of ours."""
    arguments = {
        "setting": "coop",
        "repo_name": "r_task",
        "task_id": 0,
        "feature1_id": 1,
        "feature2_id": 2,
        "model": "m",
        "patch_location": "gold",
    }

    with pytest.raises(error, match=words):
        evaluate(**(arguments | change))


@pytest.mark.parametrize(
    "sandbox",
    [ce.LocalSandbox(), ce.ContainerSandbox(image="any", pull=False)],
    ids=["no container", "the tree elsewhere"],
)
def test_an_images_script_needs_the_images_sandbox(evaluate, sandbox):
    """In another sandbox it finds no patches, and tests another tree."""
    with pytest.raises(ce.errors.DatasetError, match=r"runner: needs a sandbox like .*for_task"):
        evaluate(
            *("coop", "r_task", 0, 1, 2, "m", "gold"),
            runner=ce.TestRunner(sandbox=sandbox),
            run_tests=True,
            in_image=True,
        )


def test_the_base_comes_from_the_sandboxs_engine(evaluate, repo, monkeypatch):
    """The image is pulled only if the sandbox allows it."""
    asked = {}

    def take(image, _, **options):
        asked.update(options, image=image)
        return repo[0]

    monkeypatch.setattr(benchmark, "repository_from_image", take)
    sandbox = ce.ContainerSandbox.for_task("r_task", 0, base_url="unix:///there", pull=False)

    evaluate(
        *("coop", "r_task", 0, 1, 2, "m", "gold"),
        repo_dir=None,
        runner=ce.TestRunner(sandbox=sandbox),
        in_image=True,
    )

    assert asked == {"image": sandbox.image, "base_url": "unix:///there", "pull": False}


def test_without_tests_no_runner_is_made(evaluate, monkeypatch):
    """A runner would look for bubblewrap."""
    monkeypatch.setattr(benchmark, "TestRunner", None)

    report = evaluate("coop", "r_task", 0, 1, 2, "m", "gold")

    assert report.feature1.tests is None


@pytest.mark.parametrize(
    ("options", "seconds"),
    [({}, 600), ({"in_image": True}, 1800), ({"in_image": True, "timeout_seconds": 5}, 5)],
)
def test_the_default_deadline_is_the_suites_own(evaluate, monkeypatch, options, seconds):
    """It is longer in an image, which may install packages."""
    seen = []

    @attrs.frozen
    class Watcher:
        strategies: object
        judge: object = None
        runner: object = None

        def evaluate(self, pair):
            seen.extend([pair.feature1.tests, pair.feature2.tests])

    monkeypatch.setattr(benchmark, "Evaluator", Watcher)
    sandbox = ce.ContainerSandbox.for_task("r_task", 0)

    evaluate(
        *("coop", "r_task", 0, 1, 2, "m", "gold"),
        run_tests=True,
        runner=ce.TestRunner(sandbox=sandbox),
        **({"command": ["true"]} | options),
    )

    assert [suite.timeout_seconds for suite in seen] == [seconds] * 2

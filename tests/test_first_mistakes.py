"""The mistakes of a first hour: each error names the argument, and says what to pass."""

import subprocess
import sys

import pytest
from places import lay_task

import cooperbench_eval as ce
from cooperbench_eval.presentation.plots import plot_verdicts


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    """A task of two features, and its clone."""
    folder = tmp_path_factory.mktemp("task")
    found = lay_task(clone=str(folder / "click"), dataset=str(folder / "dataset"))
    return ce.Dataset(folder / "dataset", repo_dirs=folder / "click").task(
        found.repo_name, found.task_id
    )


def test_python_suggests_the_name_that_was_meant():
    """The message is Python's own."""
    done = subprocess.run(
        [sys.executable, "-c", "import cooperbench_eval as ce\nce.Evalutor"],
        capture_output=True,
        text=True,
        check=False,
    )

    problem = "module 'cooperbench_eval' has no attribute 'Evalutor'. Did you mean: 'Evaluator'?"
    assert done.stderr.rstrip().endswith(problem)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"foo": "x"}, r"^foo is not an argument of Task\.pair; it has first, second, .*patches"),
        ({"patches": lambda *_: 3}, "^patches is wrong for feature 1: its value must be"),
        ({"suite_of": lambda *_: 3}, "^suite_of is wrong for feature 1: its value must be"),
        ({"suite_of": lambda *_: 3, "setup": ("true",)}, "^suite_of is wrong for feature 1"),
    ],
)
def test_a_wrong_option_of_a_pair_is_named(task, options, problem):
    """So is the feature for which a function returned something else."""
    with pytest.raises(ce.errors.ArgumentError, match=problem):
        task.pair(1, 2, **options)


def test_a_folder_that_does_not_exist_is_called_that(task, tmp_path):
    """It is not described as a repository that cannot be opened."""
    with pytest.raises(ce.errors.RepositoryError, match=r"clnes.*no such folder"):
        task.pair(1, 2, repo_dir=tmp_path / "clnes")


def test_an_unknown_subset_is_answered_with_those_there_are(task):
    """They are the files of the folder `subsets`."""
    root = task.directory.parents[1]
    (root / "subsets").mkdir()
    (root / "subsets" / "lite.json").write_text('{"tasks": []}')

    with pytest.raises(ce.errors.DatasetError, match="has no subset 'lit'; it has lite"):
        ce.Dataset(root).subset("lit")


def test_in_a_partial_clone_an_unknown_commit_is_called_unknown(task):
    """That the clone is partial comes second."""
    config = task.repo_dir / ".git" / "config"
    before = config.read_text()
    config.write_text(f'{before}[remote "origin"]\n\tpromisor = true\n')
    try:
        with pytest.raises(ce.errors.RepositoryError, match=r"'deadbeef': .* unknown .* partial"):
            ce.Snapshot.from_repo(task.repo_dir, "deadbeef")
    finally:
        config.write_text(before)


def test_a_tree_is_not_written_to_a_file(tmp_path):
    """The error says so."""
    file = tmp_path / "file.py"
    file.write_text("")

    with pytest.raises(ce.errors.RepositoryError, match=r"file\.py.* is not a directory"):
        ce.Snapshot.from_files({"a": b""}).write_to(file)


def test_the_wrong_argument_of_a_call_is_named():
    """A report, a strategy or a key of another kind."""
    base = ce.Snapshot.from_files({"f": b"1\n"})
    sides = [ce.Changes({"f": ce.Entry(text)}) for text in (b"2\n", b"3\n")]
    one, two = (ce.Feature(number=n, patch=each) for n, each in enumerate(sides, 1))
    pair = ce.FeaturePair(repo_name="r", task_id=1, base=base, feature1=one, feature2=two)
    reports = [ce.Evaluator().evaluate(pair)]

    with pytest.raises(ce.errors.ArgumentError, match=r"^by must return something hashable"):
        ce.summarize(reports, by=lambda _: [])
    with pytest.raises(ce.errors.ArgumentError, match=r"^strategies must be .*, not 3$"):
        ce.Evaluator(strategies=3)
    with pytest.raises(ce.errors.ArgumentError, match=r"pass ce\.summarize\(reports\)$"):
        plot_verdicts(reports)

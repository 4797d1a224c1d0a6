"""The benchmark over a dataset's gold patches, run as a script on the sample task."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pygit2
import pytest
from needs import need_program

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "docs" / "examples" / "sample"


@pytest.fixture
def build(tmp_path):
    """Return a function that creates the sample's repository below a folder."""
    spec = importlib.util.spec_from_file_location("sample_builder", SAMPLE / "build_repo.py")
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)

    def build(place, *, bare=False):
        target = tmp_path / "repos" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        work = tmp_path / "work" if bare else target
        builder.build_repo(work)
        if bare:
            pygit2.clone_repository(str(work), str(target), bare=True)
        return tmp_path / "repos"

    return build


@pytest.fixture
def dataset(tmp_path):
    """Link the sample's task into a dataset to which other tasks can be added."""
    folder = tmp_path / "dataset"
    folder.mkdir()
    (folder / "pennybook_task").symlink_to(SAMPLE / "dataset" / "pennybook_task")
    return folder


def run(*options):
    """Run the script; return its lines, split at white space."""
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "gold_pairs.py", *options],
        capture_output=True,
        check=True,
        text=True,
    )
    return [line.split() for line in done.stdout.splitlines()]


HEADER = ["task", "pairs", "conflicts", "missing", "agreeing", "resolved", "score", "ms/pair"]
NUMBERS = ["21", "8", "0", "0/0", "8", "624"]  # the sums of the sample's table


@pytest.mark.parametrize(("place", "bare"), [("pennybook", False), ("a/b/c.git", True)])
def test_the_printed_numbers_are_the_samples(build, dataset, place, bare):
    """The repository may be bare or not, and at any depth."""
    repos = build(place, bare=bare)

    header, row, total = run("--dataset", dataset, "--repos", repos)

    assert header == HEADER
    assert row[:-1] == ["pennybook_task/1", *NUMBERS]
    assert total[:-1] == ["all", *NUMBERS]
    assert 0 < float(row[-1]) == float(total[-1])


def test_a_task_without_its_repository_is_named_and_skipped(build, dataset):
    """So is a task without a base commit; the sums cover the other tasks."""
    repos = build("pennybook")
    pygit2.init_repository(repos / "empty.git", bare=True)
    for name, text in (("lost_task", f"RUN git checkout {'1' * 40}\n"), ("vague_task", "\n")):
        folder = dataset / name / "task0"
        (folder / "feature1").mkdir(parents=True)
        (folder / "Dockerfile").write_text(text)

    _, lost, _, vague, total = run("--dataset", dataset, "--repos", repos)

    assert " ".join(lost).startswith("lost_task/0 passed over: no repository below --repos")
    assert " ".join(vague).startswith("vague_task/0 passed over")
    assert total[:-1] == ["all", *NUMBERS]


def test_one_task_can_be_chosen(build, dataset):
    """The others are not even named."""
    repos = build("pennybook")

    chosen = run("--dataset", dataset, "--repos", repos, "--task", "pennybook_task/1")
    none = run("--dataset", dataset, "--repos", repos, "--task", "pennybook_task/2")

    assert [line[0] for line in chosen] == ["task", "pennybook_task/1", "all"]
    assert [line[:2] for line in none[1:]] == [["all", "0"]]


def test_verdicts_are_compared_with_the_datasets_own(build, dataset):
    """Agreement is counted over the pairs that it judged; each disagreement is named."""
    repos = build("pennybook")
    known = {"repo": "pennybook_task", "task_id": 1}
    rows = [
        {"f1": 1, "f2": 2, "has_conflict": True} | known,
        {"f1": 3, "f2": 1, "has_conflict": False} | known,
        {"f1": 1, "f2": 4, "has_conflict": True} | known,
    ]
    (dataset / "gold_conflict_report.json").write_text(json.dumps({"all_results": rows}))

    _, odd, row, _ = run("--dataset", dataset, "--repos", repos)

    assert " ".join(odd) == "pennybook_task/1 f1+f4: clean, reported True"
    assert row[4] == "2/3"


def test_every_pair_is_printed_if_asked(build, dataset):
    """Each line has the pair's status and score."""
    repos = build("pennybook")

    lines = run("--dataset", dataset, "--repos", repos, "--verbose")

    assert len(lines) == 1 + 21 + 2
    assert ["pennybook_task/1", "f1+f2:", "conflicts", "80"] in lines
    assert ["pennybook_task/1", "f1+f3:", "clean", "0"] in lines


def test_random_trees_merge_as_in_git():
    """Some hundred merges of tiny trees differ from git's nowhere."""
    need_program("git")
    script = ROOT / "benchmarks" / "random_trees.py"

    done = subprocess.run(
        [sys.executable, script, "--count", "300", "--seed", "7"],
        capture_output=True,
        check=False,
        text=True,
    )

    counts = dict(line.rsplit(maxsplit=1) for line in done.stdout.splitlines())
    assert not done.returncode, done.stdout + done.stderr
    assert counts["trees"] == "300"
    assert int(counts["equal"]) > 290

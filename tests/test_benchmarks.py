"""The benchmark over a dataset's gold patches, run as a script on the sample task."""

import importlib.util
import json
import subprocess
import sys
import types
from pathlib import Path

import pygit2
import pytest
from needs import need_program

from cooperbench_eval import Changes, TestStatus

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


def run(*options, script="gold_pairs.py"):
    """Run a script; return its lines, split at white space."""
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / script, *options],
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


VERSIONS = {
    "kept": (b"a = 1\n", b"a = 2\n", b"a = 3\n", b"<<<<<<<\na = 2\n=======\na = 3\n>>>>>>>\n"),
    "equal": (b"f(k=a)\n", b"f(k=a, b=1)\n", b"f(x=2, k=a)\n", b"f(x=2, k=a, b=1)\n"),
    "spaced": (b"f(k=a)\n", b"f(k=a, b=1)\n", b"f(x=2, k=a)\n", b"f(x=2,  k=a, b=1,)\n\n"),
    "turned": (b"f(k=a)\n", b"f(k=a, b=1)\n", b"f(x=2, k=a)\n", b"f(k=a, b=1, x=2)\n"),
    "changed": (b"f(k=a)\n", b"f(k=a, b=1)\n", b"f(x=2, k=a)\n", b"f(k=a, b=1)\n"),
    "indented": (b"f(k=a)\n", b"f(k=a, b=1)\n", b"f(x=2, k=a)\n", b"    f(x=2, k=a, b=1)\n"),
    "refused": (b"a = 1\n", b"a = 2\n", b"a = 3\n", b"a = 2\na = 3\n"),
}


def test_scenarios_are_compared_with_their_expected_files(tmp_path):
    """Each way to agree or to differ is counted, and what differs is named."""
    for name, texts in VERSIONS.items():
        case = tmp_path / "python" / "working" / name
        case.mkdir(parents=True)
        for version, text in zip(("Base", "Left", "Right", "Expected"), texts, strict=True):
            (case / f"{version}.py").write_bytes(text)
    options = ("--scenarios", tmp_path, "--strategy", "structured")

    header, row, total, *rest = run(*options, script="scenarios.py")

    assert header[2:] == ["exact", "layout", "words", "other", "declined", "kept", "resolved"]
    assert row == ["python", "structured", "7", "1", "1", "2", "1", "1", "1", "0"]
    assert total[1:] == row[1:]
    names = ["changed", "indented", "refused", "turned"]
    assert [line[1].removeprefix("python/") for line in rest] == names
    assert [line[2] for line in rest] == ["other", "words", "declined", "words"]


def test_all_files_of_a_repository_are_read_back(build):
    """There is a row for each language."""
    repos = build("pennybook")

    header, *rows = run("--repo", repos / "pennybook", "--read", script="real_merges.py")

    assert header == ["files", "kept", "changed", "regions", "unread"]
    ((language, files, kept, *rest),) = rows
    assert (language, rest) == ("Python", ["0", "0", "0.00%"])
    assert files == kept != "0"


@pytest.fixture
def resolving(monkeypatch):
    """Make the modules of `resolve.py` importable."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module


def test_given_patches_replace_the_gold_patches(build, dataset, tmp_path):
    """Each folder that ends with the task's name gives pairs of its own."""
    gold = dataset / "pennybook_task" / "task1"
    for folder, numbers in (("a_pennybook_task_1", (1, 2)), ("pennybook_task_1", (1, 2, 5))):
        for number in numbers:
            place = tmp_path / "patches" / folder
            place.mkdir(parents=True, exist_ok=True)
            patch = (gold / f"feature{number}" / "feature.patch").read_bytes()
            (place / f"feature{number}.patch").write_bytes(patch)
    (tmp_path / "patches" / "other_task_1").mkdir()
    options = ("--dataset", dataset, "--repos", build("pennybook"), "--strategy", "union")

    shown = run(*options, "--patches", tmp_path / "patches", "--show", script="resolve.py")

    pairs = [(*line[:2], line[3]) for line in shown if len(line) > 3 and line[2] == "of"]
    task = "pennybook_task/1"
    assert (task, "f1+f2", "a_pennybook_task_1:") in pairs
    assert (task, "f1+f2", "pennybook_task_1:") in pairs
    assert ["union", str(len(pairs))] in [line[:2] for line in shown]
    assert not any("f3" in line[1] for line in shown if len(line) > 1)


def test_a_pair_is_not_judged_if_a_side_fails_alone(resolving, capsys):
    """No merge of it can show whether the resolver is right; the pair is named."""
    tables = resolving("resolving_tables")
    suites, pairs = resolving("resolving_suites"), resolving("resolving_pairs")
    results = suites.Results(None)
    ends = {(1, "one"): "passed", (2, "two"): "passed", (3, "three"): "failed"}
    ends |= {(n, "merged"): "passed" for n in (1, 2, 3)}
    task = suites.MEASURING[0]
    for (number, tree), end in ends.items():
        result = types.SimpleNamespace(status=TestStatus(end), reason="", duration_seconds=0.0)
        results.add((task, number, tree), result)

    def pair(number, tree):
        merged = pairs.Resolution(tree_id="merged")
        sides = (Changes(), Changes())
        return pairs.Pair(
            task=task,
            features=(1, number),
            sides=sides,
            alone=("one", tree),
            resolutions={"union": merged},
        )

    found = [pair(2, "two"), pair(3, "three")]
    tables.print_judged(found, ["union"], tables.Judge(results), show=True)

    left_out, shown, _, *rows = capsys.readouterr().out.splitlines()
    assert left_out == f"{task}: 1 pairs not judged; alone, f3 failed"
    assert shown == f"{task} f1+f2: union correct"
    assert {tuple(row.split()[1:4]) for row in rows if row.startswith("  ")} == {("1", "1", "0")}

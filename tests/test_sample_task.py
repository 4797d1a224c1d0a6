"""The sample task of the documentation, held against the table that git and pytest made."""

import importlib.util
import itertools
import re
from pathlib import Path

import jsonschema
import pytest

import cooperbench_eval as ce

SAMPLE = Path(__file__).parents[1] / "docs" / "examples" / "sample"
COLUMNS = ("naive", "sections", "lines", "score", "union", "first", "second")


def read_table():
    """Read the README's table of pairs: the cells of each, by column."""
    rows = re.findall(r"^\| (\d), (\d) \|(.+)\|$", (SAMPLE / "README.md").read_text(), re.MULTILINE)
    return {
        (int(first), int(second)): dict(
            zip(COLUMNS, (cell.strip() for cell in cells.split("|")), strict=False)
        )
        for first, second, cells in rows
    }


TABLE = read_table()


@pytest.fixture(scope="module")
def repo(tmp_path_factory):
    """Build the sample's repository as the documentation says; return its path."""
    spec = importlib.util.spec_from_file_location("sample_builder", SAMPLE / "build_repo.py")
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)
    folder = tmp_path_factory.mktemp("sample") / "pennybook"
    commit = builder.build_repo(folder)
    assert commit == ce.Dataset(SAMPLE / "dataset").task("pennybook_task", 1).base_commit()
    return folder


@pytest.fixture(scope="module")
def evaluate(repo):
    """Return a function that evaluates a pair of the sample's gold patches; it knows runs again."""
    runner = ce.TestRunner()

    def evaluate(first, second, **options):
        return ce.evaluate(
            setting="coop",
            repo_name="pennybook_task",
            task_id=1,
            feature1_id=first,
            feature2_id=second,
            model="gold",
            patch_location="gold",
            dataset_dir=SAMPLE / "dataset",
            repo_dir=repo,
            runner=runner,
            # Other people's pytest plug-ins cost time and say nothing about us.
            env={"PYTHONPATH": "src", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            **options,
        )

    return evaluate


def shown(result):
    """Write a result as the table does."""
    word = "pass" if result.passed else "fail"
    if not result.passed_tests:
        return f"{word}, nothing ran"
    return f"{word} {result.passed_tests}/{result.total_tests}"


def test_the_table_holds_every_pair_of_the_dataset():
    """The subset, the task and the table agree on what the pairs are."""
    task = ce.Dataset(SAMPLE / "dataset").task("pennybook_task", 1)

    pairs = [pair for _, pair in ce.Dataset(SAMPLE / "dataset").subset("all")]

    assert tuple(TABLE) == task.pairs == tuple(pairs)
    assert task.pairs == tuple(itertools.combinations(range(1, 8), 2))


@pytest.mark.parametrize("pair", TABLE, ids=str)
def test_every_pair_merges_and_scores_as_git_does(evaluate, pair):
    """Status, sections, lines and score, from either direction."""
    row = TABLE[pair]

    for first, second in (pair, pair[::-1]):
        report = evaluate(first, second, run_tests=False)

        details = report.conflict_details
        assert report.merge_status == row["naive"]
        assert str(details.conflict_sections) == row["sections"]
        assert str(details.conflict_lines) == row["lines"]
        assert str(report.conflict_score) == row["score"]
        assert report.attempt("union").status == (
            "clean" if row["naive"] == "clean" else "resolved"
        )


@pytest.mark.parametrize("pair", [(3, 5), (5, 6), (3, 4), (2, 5)], ids=str)
def test_tests_end_as_the_table_says(evaluate, pair):
    """Clean; saved by union; broken by it; clean and broken in meaning."""
    row = TABLE[pair]

    report = evaluate(*pair)

    naive, union = report.attempts
    assert report.feature1.tests_passed is report.feature2.tests_passed is True
    assert union.verdict == row["union"]
    assert (shown(union.feature1_tests), shown(union.feature2_tests)) == (
        row["first"],
        row["second"],
    )
    assert naive.verdict == (row["union"] if row["naive"] == "clean" else "unhandled")


def test_the_reports_keep_to_their_schema(evaluate):
    """Some pairs merged, and one of them tested."""
    validator = jsonschema.Draft202012Validator(ce.report_schema())

    reports = [evaluate(*pair, run_tests=False) for pair in list(TABLE)[::3]]

    for report in [*reports, evaluate(3, 5)]:
        validator.validate(report.to_dict())


def test_union_depends_on_the_direction(evaluate):
    """With 5 merged into 4 both features pass, which the table says they do not the other way."""
    report = evaluate(5, 4, strategies=["union"])

    assert report.attempt("union").verdict is ce.Verdict.CORRECT
    assert TABLE[4, 5]["union"] == "incorrect"

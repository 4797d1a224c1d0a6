"""The sample task of the documentation, compared with results of git and pytest."""

import importlib.util
import itertools
import re
from pathlib import Path

import jsonschema
import pytest
from quick import QUICK

import cooperbench_eval as ce

SAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "sample"
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
    """Return a function that evaluates a pair of gold patches; it reuses test runs."""
    runner = ce.TestRunner(sandbox=QUICK)

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
            # Installed pytest plug-ins cost time and have nothing to do with the sample.
            env={"PYTHONPATH": "src", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            **options,
        )

    return evaluate


def shown(result):
    """Format a result as the table does."""
    word = "pass" if result.passed else "fail"
    if not result.passed_tests:
        return f"{word}, nothing ran"
    return f"{word} {result.passed_tests}/{result.total_tests}"


def test_the_table_holds_every_pair_of_the_dataset():
    """The subset, the task and the table list the same pairs."""
    task = ce.Dataset(SAMPLE / "dataset").task("pennybook_task", 1)

    pairs = [pair for _, pair in ce.Dataset(SAMPLE / "dataset").subset("all")]

    assert tuple(TABLE) == task.pairs == tuple(pairs)
    assert task.pairs == tuple(itertools.combinations(range(1, 8), 2))


@pytest.mark.parametrize("pair", TABLE, ids=str)
def test_every_pair_merges_and_scores_as_git_does(evaluate, pair):
    """Status, sections, lines and score agree in both directions."""
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


@pytest.mark.parametrize(
    "pair",
    [(2, 5), *(pytest.param(p, marks=pytest.mark.long) for p in [(3, 5), (5, 6), (3, 4)])],
    ids=str,
)
def test_test_results_match_the_table(evaluate, pair):
    """Pairs are clean, resolved by union, broken by union, or clean but semantically broken."""
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


def test_the_reports_match_their_schema(evaluate):
    """Some pairs are only merged, and one is also tested."""
    validator = jsonschema.Draft202012Validator(ce.reporting.report_schema())

    reports = [evaluate(*pair, run_tests=False) for pair in list(TABLE)[::3]]

    for report in [*reports, evaluate(3, 5)]:
        validator.validate(report.to_dict())


def test_union_depends_on_the_direction(evaluate):
    """Both features pass with 5 merged into 4; the table says they fail the other way round."""
    report = evaluate(5, 4, strategies=["union"])

    assert report.attempt("union").verdict is ce.Verdict.CORRECT
    assert TABLE[4, 5]["union"] == "incorrect"

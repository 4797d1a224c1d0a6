"""Defects of CooperBench 0.0.29's batches and records, by their numbers, which ours have not."""

import collections
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import attrs
import pytest
from batchparts import BASE, Ours, noted, pair, pairs
from sweepparts import code, make_repository, make_run, make_task, suite_of, with_runner

import cooperbench_eval as ce


def evaluate(pairs_, folder=None, evaluator=None, **options):
    """Evaluate pairs in two threads."""
    with ThreadPoolExecutor(2) as executor:
        evaluator = evaluator or ce.Evaluator()
        options = {"evaluator": evaluator, "executor": executor, "store": folder} | options
        return list(ce.evaluate_many(pairs_, **options))


@pytest.fixture
def run_of(tmp_path):
    """Return a function that evaluates a run of one folder of agents' patches."""
    make_task(tmp_path / "dataset", make_repository(tmp_path / "repo"))

    def run(patches, folder=None, **options):
        folder = folder or make_run(tmp_path / "logs", patches, **options)
        with ThreadPoolExecutor(2) as executor:
            return list(
                ce.evaluate_run(
                    tmp_path / "logs",
                    "run",
                    dataset_dir=tmp_path / "dataset",
                    repo_dirs=tmp_path / "repo",
                    evaluator=with_runner(),
                    suite_of=suite_of,
                    executor=executor,
                )
            )

    return run


def test_7_an_empty_patch_counts_as_not_submitted_even_if_the_other_has_both_features(run_of):
    """The pair is missing input, not clean; the base and the other patch are still tested."""
    [report] = run_of({1: b"", 2: code(a=1, b=2)})

    assert report.merge_status == "missing_input"
    assert report.attempt("naive").verdict == "not_run"
    assert report.feature1.base_tests.status == "failed"
    assert report.feature2.tests_passed


def test_7_two_empty_patches_are_not_clean_either(run_of):
    """The tests still run on the base."""
    [report] = run_of({1: b"", 2: b""})

    assert report.merge_status == "missing_input"
    assert [f.passes_on_base for f in (report.feature1, report.feature2)] == [False, False]


def test_10_identical_patches_are_applied_merged_and_reported_like_other_patches(run_of):
    """It takes no shortcut, and its report has the same keys."""
    [same] = run_of({1: code(a=1, b=2), 2: code(a=1, b=2)})
    different = evaluate([pair(1)])[0]

    assert [same.feature1.patch.status, same.feature2.patch.status] == ["applied"] * 2
    assert same.attempt("naive").verdict == "correct"
    assert list(same.to_dict()) == list(different.to_dict())
    assert list(same.to_dict()["attempts"][0]) == list(different.to_dict()["attempts"][0])


def test_10_identical_patches_that_do_not_apply_are_reported_as_such(run_of):
    """The result for identical patches is not hard-coded."""
    broken = b"--- a/f.py\n+++ b/f.py\n@@ -1 +1 @@\n-absent\n+new\n"

    [report] = run_of({1: broken, 2: broken})

    assert [report.feature1.patch.status, report.feature2.patch.status] == ["failed"] * 2
    assert report.merge_status == "missing_input"


def test_11_a_pair_that_was_not_evaluated_is_not_clean():
    """A failure of any kind gives the status "not evaluated"."""
    evaluator = ce.Evaluator(strategies=[Ours(deadly={1}, how="exit")])

    [report] = evaluate([pair(1, clash=False)], evaluator=evaluator)

    assert report.merge_status == "not_evaluated"
    assert json.loads(report.to_json())["merge_status"] == "not_evaluated"
    assert ce.summarize([report]).clean.count == 0


def test_13_a_large_merge_is_stored_completely(tmp_path):
    """The stored diff can be applied and tested again."""
    text = b"".join(b"line %d of many\n" % n for n in range(5000))
    big = ce.Changes({"big.txt": ce.Entry(text)}).diff(BASE)
    given = pair(1, clash=False, feature1=ce.Feature(number=0, patch=big))

    evaluate([given], tmp_path)

    [report] = ce.ReportStore(tmp_path)
    assert len(report.diff) > len(text) > 50_000
    applied = ce.apply_patch(BASE, ce.Patch.parse(report.diff))
    assert applied.changes.tree_id(BASE) == report.attempt("naive").tree_id


def test_20_no_agents_patch_is_ignored(run_of):
    """If there are three agents, every two of them are merged and tested."""
    reports = run_of({1: code(a=1), 2: code(b=2), 3: code(a=3)})

    tested_features = {number for r in reports for number in (r.feature1.number, r.feature2.number)}
    assert len(reports) == 3
    assert tested_features == {1, 2, 3}


def test_30_a_result_belongs_to_its_pair_in_any_order_of_completion():
    """Results are matched by content, not by their position in a list."""

    class Slow(Ours):
        def merge(self, merge_input, /):
            first = b" of 0" in merge_input.ours["f.py"].data
            time.sleep(0.3 if first else 0)
            return super().merge(merge_input)

    given = [pair(n, repo_name=f"repo{n % 2}") for n in range(6)]

    reports = evaluate(given, evaluator=ce.Evaluator(strategies=["naive", Slow()]))

    assert reports[0].task_id != 0, "the first one ends last"
    for report in reports:
        assert b"of %d" % report.task_id in report.attempt("ours").diff
        assert report.repo_name == f"repo{report.task_id % 2}"


def test_31_missing_values_are_null_and_strategies_are_named(run_of):
    """No special text stands for a missing value."""
    [report] = run_of({1: code(a=1), 2: b""})
    data = report.to_dict()

    assert "null" not in json.dumps(list(data.values())).split('"')
    assert data["conflict_score"] is None
    assert [attempt["strategy"] for attempt in data["attempts"]] == ["naive", "union"]


def test_31_a_conflict_that_union_leaves_is_unhandled_but_not_an_error():
    """The rate counts it as a pair that was not solved."""
    gone = ce.Changes({"f.py": None}).diff(BASE)
    given = pair(1, feature1=ce.Feature(number=0, patch=gone))

    [report] = evaluate([given])

    summary = ce.summarize([report])
    assert report.attempt("union").verdict == "unhandled"
    assert summary.not_evaluated == 0
    assert summary.strategies["union"].correct == ce.analysis.Rate(0, 1)


def test_31_a_long_output_keeps_its_end():
    """Frameworks print their summary at the end."""
    program = "print('begin'); print('x\\n' * 9_000_000); print('3 passed')"
    suite = ce.TestSuite(command=(sys.executable, "-c", program), framework="exit")
    feature = attrs.evolve(pair(1).feature1, tests=suite)
    evaluator = ce.Evaluator(runner=ce.TestRunner(sandbox="local"), test_base=False)

    [report] = evaluate([pair(1, feature1=feature)], evaluator=evaluator)

    assert report.feature1.test_output.startswith("begin\n")
    assert report.feature1.test_output.endswith("3 passed\n")


def test_32_an_error_is_retried_and_an_incomplete_file_is_not_a_result(tmp_path):
    """A container engine that was down may be up the next time."""
    log, here = tmp_path / "log", tmp_path / "here"
    here.mkdir()
    strategy = Ours(log=log, deadly={0}, how="exit", once=str(here))
    evaluator = ce.Evaluator(strategies=[strategy])
    store = tmp_path / "store"
    first = evaluate(pairs(2), store, evaluator)
    torn = next(store.rglob("reports/*/*[!y].json"))
    torn.write_bytes(torn.read_bytes()[:50])

    evaluate(pairs(2), store, evaluator)
    third = evaluate(pairs(2), store, evaluator)

    assert sum(report.failure is not None for report in first) == 1
    assert all(report.failure is None for report in third)
    assert collections.Counter(noted(log)) == {0: 2, 1: 2}


def test_33_a_second_session_does_not_hide_the_first(tmp_path):
    """A summary covers the whole store."""
    evaluate(pairs(3), tmp_path)
    evaluate([pair(3)], tmp_path)

    assert ce.summarize(ce.ReportStore(tmp_path)).pairs == 4


def test_34_there_is_one_rate_and_errors_are_counted_separately(tmp_path):
    """One pair passes, and three cannot be evaluated."""
    passing = pair(0, clash=False)
    suite = ce.TestSuite(command=("true",), framework="exit")
    features = [attrs.evolve(f, tests=suite) for f in (passing.feature1, passing.feature2)]
    passing = attrs.evolve(passing, feature1=features[0], feature2=features[1])
    runner = ce.TestRunner(sandbox="local")
    strategy = Ours(deadly={1, 2, 3}, how="exit")
    evaluator = ce.Evaluator(strategies=["naive", strategy], runner=runner)

    evaluate([passing, *(pair(n) for n in (1, 2, 3))], tmp_path, evaluator)

    summary = ce.summarize(ce.ReportStore(tmp_path))
    assert (summary.pairs, summary.not_evaluated) == (4, 3)
    naive = summary.strategies["naive"]
    assert naive.correct == ce.analysis.Rate(1, 1)
    assert naive.verdicts.unanswered == 3
    assert naive.correct.low < 0.21, "one pair is little evidence, and the interval says so"


def test_36_a_pair_and_a_repository_may_have_any_name(tmp_path):
    """The larger number comes first, and the folder does not end in `_task`."""
    make_task(tmp_path / "dataset", make_repository(tmp_path / "repo"), repo_name="plain")
    make_run(tmp_path / "logs", {2: code(b=2), 1: code(a=1)}, repo_name="plain")
    with ThreadPoolExecutor(1) as executor:
        [report] = ce.evaluate_run(
            tmp_path / "logs",
            "run",
            dataset_dir=tmp_path / "dataset",
            repo_dirs=tmp_path / "repo",
            evaluator=ce.Evaluator(),
            executor=executor,
        )

    assert (report.feature1.number, report.feature2.number) == (2, 1)
    assert report.failure is None


def test_37_the_name_of_a_tasks_image_has_every_word_of_its_repository():
    """Only the suffix is removed."""
    assert "celery-task-queue:" in ce.running.task_image("celery_task_queue_task", 1)


def test_38_a_report_has_its_time_setting_versions_and_sandbox(run_of):
    """The setting is the right one, and the time has a time zone."""
    [report] = run_of({1: code(a=1), 2: code(b=2)}, setting="team")
    data = report.to_dict()

    assert data["setting"] == "team"
    assert data["timestamp"].endswith("+00:00")
    assert {"cooperbench_eval", "python", "pygit2"} <= data["versions"].keys()
    run = data["attempts"][0]["feature1_tests"]
    assert run["sandbox"] == "local"
    assert run["command"][0] == "sh"
    assert data["base_commit"]


SLIM = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent!r}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
sys.path[:0] = {path!r}
import cooperbench_eval as ce
from concurrent.futures import ThreadPoolExecutor
from batchparts import pairs
with ThreadPoolExecutor(1) as executor:
    print(len(list(ce.evaluate_many(pairs(2), evaluator=ce.Evaluator(), executor=executor,
                                    store=sys.argv[1]))))
print(len(list(ce.ReportStore(sys.argv[1]).facts())))
print(ce.write_page(ce.ReportStore(sys.argv[1]), sys.argv[1] + "/page.html").is_file())
print(f"{{ce.analysis.Rate(1, 2).low:.3f}}")
"""


def test_39_evaluating_needs_no_heavy_packages(tmp_path):
    """Neither evaluating nor a page imports packages for containers, models or tables.

    A page has intervals, but importing SciPy takes longer than writing hundreds of pairs.
    """
    absent = {"docker", "litellm", "scipy", "numpy", "pandas", "polars", "tqdm", "dask", "modal"}
    script = tmp_path / "script.py"
    script.write_text(SLIM.format(absent=absent, path=sys.path))

    done = subprocess.run(
        [sys.executable, script, tmp_path / "store"], capture_output=True, text=True, check=False
    )

    assert done.stdout == "2\n2\nTrue\n0.095\n", done.stderr

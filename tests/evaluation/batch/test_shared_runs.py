"""The workers of a batch share the results of test runs."""

import multiprocessing
import pickle
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import combinations

import pygit2
import pytest
from batchparts import BASE, by_task, patch_at

import cooperbench_eval as ce
from cooperbench_eval.evaluation.batch.workers import WorkerPool
from cooperbench_eval.running.cache import share_with_copies


def pairs_with_tests(log, *, count=4, scripts=(), script="exit 0", timeout=60):
    """Make every pair of some features; each run logs its suite and its tree."""
    features = []
    for number in range(count):
        note = f'echo "{number} $(sha1sum < f.py)" >> {log}; sleep 0.03; '
        command = ("sh", "-c", note + (scripts[number] if scripts else script))
        suite = ce.TestSuite(command=command, framework="exit", timeout_seconds=timeout)
        patch = patch_at(2 * number, b"feature %d" % number)
        features.append(ce.Feature(number=number, patch=patch, tests=suite))
    return [
        ce.FeaturePair(repo_name="lines", task_id=at, base=BASE, feature1=one, feature2=other)
        for at, (one, other) in enumerate(combinations(features, 2))
    ]


def evaluator(**options):
    """Return an evaluator that runs tests as plain processes."""
    runner = ce.TestRunner(sandbox="local", **options)
    return ce.Evaluator(strategies=["naive", "union"], runner=runner)


def runs_in(log):
    """Count the runs of each suite on each tree."""
    return Counter(log.read_text().splitlines())


EXECUTORS = {
    "own pool": lambda: WorkerPool(2),
    "processes": lambda: ProcessPoolExecutor(2, multiprocessing.get_context("spawn")),
    "threads": lambda: ThreadPoolExecutor(2),
}


@pytest.fixture(autouse=True)
def own_temporary_directory(tmp_path, monkeypatch):
    """Give each test its own temporary directory, to see what is left in it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))  # for workers


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=[pytest.mark.long] * (k != "own pool")) for k in EXECUTORS]
)
def test_no_run_is_repeated(kind, tmp_path):
    """Each suite runs once on each tree, and the reports are the same as those of one process."""
    log, alone = tmp_path / "log", tmp_path / "alone"
    pairs, judge = pairs_with_tests(log), evaluator()
    expected = list(map(evaluator().evaluate, pairs_with_tests(alone)))

    with EXECUTORS[kind]() as executor:
        reports = list(ce.evaluate_many(pairs, evaluator=judge, executor=executor))
        again = list(ce.evaluate_many(pairs, evaluator=judge, executor=executor))

    runs = runs_in(log)
    assert set(runs.values()) == {1}
    assert runs == runs_in(alone)
    for found in (reports, again):
        assert _verdicts(found) == _verdicts(expected)


def _verdicts(reports):
    """Return what the reports say, by task, except commands, which name the log, and times."""
    return [
        (data["task_id"], data["attempts"][0]["verdict"], data["attempts"][1]["verdict"])
        for data in by_task(reports)
    ]


@pytest.mark.long
def test_a_cache_of_the_caller_is_kept(tmp_path):
    """Its file holds the results afterwards; with the cache off, runs are repeated."""
    log, file = tmp_path / "log", tmp_path / "results.sqlite"
    pairs = pairs_with_tests(log, count=3)

    with WorkerPool(2) as pool:
        for cache in (file, file, None):
            judge = evaluator(cache=cache)
            reports = list(ce.evaluate_many(pairs, evaluator=judge, executor=pool))
            assert not any(report.failure for report in reports)
            counts = runs_in(log)
            assert (set(counts.values()) == {1}) is (cache is not None)

    assert not list((tmp_path / "temporary").glob("cooperbench-results-*"))


@pytest.mark.long
def test_a_run_that_removes_temporary_files_loses_nothing(tmp_path):
    """`LocalSandbox` cannot prevent this; each worker then keeps its own results."""
    log = tmp_path / "log"
    script = f"rm -rf {tmp_path}/temporary/cooperbench-results-*"
    pairs = pairs_with_tests(log, count=3, script=script)

    with WorkerPool(2) as pool:
        reports = list(ce.evaluate_many(pairs, evaluator=evaluator(), executor=pool))

    assert [report.failure for report in reports] == [None] * len(pairs)
    assert {each.verdict.value for report in reports for each in report.attempts} == {"correct"}


@pytest.mark.parametrize("kind", ["one cache", "copies", "file"])
def test_a_worker_does_not_wait_while_it_can_run_other_tests(kind, tmp_path):
    """It leaves the feature that another worker tests to the end; here, waiting never ends."""
    log, go = tmp_path / "log", tmp_path / "go"
    wait = f"until [ -e {go} ]; do sleep 0.02; done"
    scripts = [wait, "exit 0", f"touch {go}"]
    pairs = pairs_with_tests(log, count=3, scripts=scripts, timeout=5)
    cache = tmp_path / "cache" if kind == "file" else ce.ResultCache()
    judge = evaluator(cache=cache)
    if kind != "one cache":
        share_with_copies(judge.runner.cache)
        judges = [pickle.loads(pickle.dumps(judge)) for _ in range(2)]  # noqa: S301 - our own
    else:
        judges = [judge, judge]

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(judges[0].evaluate, pairs[0])
        while not log.exists():
            time.sleep(0.01)
        second = threads.submit(judges[1].evaluate, pairs[1])

        alone = [
            feature.tests.status
            for report in (first.result(), second.result())
            for feature in (report.feature1, report.feature2)
        ]
    assert alone == [ce.TestStatus.PASSED] * 4
    assert set(runs_in(log).values()) == {1}


def damage(repository, lost):
    """Return the path of a repository, or of the object of one file in it."""
    if lost == "repository":
        return repository
    object_id = str(pygit2.Repository(repository).revparse_single("HEAD:f1.txt").id)
    return repository / "objects" / object_id[:2] / object_id[2:]


@pytest.mark.parametrize("lost", ["repository", "object"])
def test_what_disappears_during_a_batch_fails_only_the_pairs_that_need_it(lost, tmp_path):
    """The first pair's tests move it away. Once it is back, the next batch finishes the rest."""
    repository, store = tmp_path / "repo", ce.ReportStore(tmp_path / "store")
    commit = lay_repository(repository, {f"f{n}.txt": b"%d\n" % n for n in range(3)})
    base = ce.Snapshot.from_repo(repository, commit)
    away = damage(repository, lost)
    hide = ce.TestSuite(command=("mv", str(away), f"{tmp_path}/away"), framework="exit")
    pairs = [pair_in(base, number, hide if number == 0 else None) for number in range(3)]
    options = {"evaluator": evaluator(), "store": store}

    with WorkerPool(1) as pool:
        reports = list(ce.evaluate_many(pairs, executor=pool, **options))

        failures = {report.task_id: report.failure for report in reports if report.failure}
        assert set(failures) == ({1, 2} if lost == "repository" else {1})
        assert {each.kind for each in failures.values()} == {ce.reporting.FailureKind.REPOSITORY}
        assert len(store.keys()) == 3 - len(failures)
        (tmp_path / "away").rename(away)
    again = list(ce.evaluate_many(pairs, executor=ThreadPoolExecutor(1), **options))

    assert not any(report.failure for report in again)
    assert len(store.keys()) == 3
    assert list((store.directory / "unfinished").iterdir()) == []


def lay_repository(folder, files):
    """Write files as a commit; return its id."""
    repository = pygit2.init_repository(folder, bare=True)
    tree = repository.TreeBuilder()
    for name, data in files.items():
        tree.insert(name, repository.create_blob(data), pygit2.enums.FileMode.BLOB)
    author = pygit2.Signature("Ann", "ann@example.org", 0, 0)
    return str(repository.create_commit("HEAD", author, author, "", tree.write(), []))


def pair_in(base, number, suite):
    """Return a pair whose features both change one file of the base."""
    name, features = f"f{number}.txt", []
    for feature in (1, 2):
        patch = b"--- a/%s\n+++ b/%s\n@@ -1 +1 @@\n-%d\n+new %d\n"
        data = patch % (name.encode(), name.encode(), number, feature)
        features.append(ce.Feature(number=feature, patch=data, tests=suite))
    return ce.FeaturePair(
        repo_name="lines", task_id=number, base=base, feature1=features[0], feature2=features[1]
    )

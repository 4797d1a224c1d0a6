"""Workers write their reports to the store themselves, and never leave a partial report."""

import os
from collections import Counter
from functools import partial

import pygit2
import pytest
from batchparts import BASE, Ours, delete_repository, die_in_a_file, fill_disk, pair, pairs, plain

import cooperbench_eval as ce
from cooperbench_eval.evaluation.batch.keys import PairKeys
from cooperbench_eval.evaluation.batch.workers import WorkerPool
from cooperbench_eval.running.processes.worker import Stopped


@pytest.fixture(scope="module")
def worker():
    """Return a pool of one process."""
    with WorkerPool(1) as executor:
        yield executor


@pytest.fixture
def victim():
    """Return a pool of one process that a test may break."""
    with WorkerPool(1) as executor:
        yield executor


def kinds(reports):
    """Count the reports by their kind of failure, or as evaluated."""
    return Counter(each.failure.kind.value if each.failure else "evaluated" for each in reports)


def test_a_stored_report_is_the_one_that_was_yielded(worker, tmp_path):
    """With and without a store, it is also what `evaluate` returns."""
    evaluator = ce.Evaluator(strategies=["naive", "union"])
    options = {"evaluator": evaluator, "executor": worker}

    yielded = list(ce.evaluate_many(pairs(6), store=tmp_path, **options))
    without = list(ce.evaluate_many(pairs(6), **options))

    def by_task(reports):
        return sorted(reports, key=lambda report: report.task_id)

    assert by_task(ce.ReportStore(tmp_path)) == by_task(yielded)
    wanted = [plain(evaluator.evaluate(each)) for each in pairs(6)]
    assert [plain(each) for each in by_task(yielded)] == wanted
    assert [plain(each) for each in by_task(without)] == wanted


def test_a_pair_is_claimed_by_nobody_once_its_report_is_yielded(worker, tmp_path):
    """A worker has stored the report; the claims of other pairs are not affected."""
    evaluator, store = ce.Evaluator(strategies=["naive"]), ce.ReportStore(tmp_path)
    keys = {each.task_id: PairKeys(evaluator).key(each) for each in pairs(6)}
    options = {"evaluator": evaluator, "executor": worker, "store": store}

    for report in ce.evaluate_many(pairs(6), **options):
        assert keys[report.task_id] in store
        assert store.claims().take(keys[report.task_id])


def test_a_worker_that_dies_in_the_middle_of_a_file_leaves_no_half_report(victim, tmp_path):
    """Its pair is retried, and the partial file has a name that nobody reads."""
    here, store = tmp_path / "here", tmp_path / "store"
    here.mkdir()
    deadly = Ours(deadly={2}, how=die_in_a_file, once=str(here))
    events = []

    reports = list(
        ce.evaluate_many(
            pairs(5),
            evaluator=ce.Evaluator(strategies=["naive", deadly]),
            executor=victim,
            store=store,
            progress=events.append,
        )
    )

    assert kinds(reports) == {"evaluated": 5}
    [retried] = [event for event in events if event.kind == "retried"]
    assert "signal 25" in retried.problem
    assert [file.stat().st_size for file in (store / "unfinished").iterdir()] == [100]
    assert sorted(each.task_id for each in ce.ReportStore(store)) == [0, 1, 2, 3, 4]


def test_a_worker_that_is_stopped_in_the_middle_of_a_file_removes_it(tmp_path, monkeypatch):
    """A caller that stops early ends its workers with a signal."""

    def stopped(*_):
        raise Stopped

    store = ce.ReportStore(tmp_path)
    store.prepare()
    report = ce.Evaluator().evaluate(pair(1))
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", stopped)
        with pytest.raises(Stopped):
            store.put("0" * 64, report)

    assert not list((tmp_path / "unfinished").iterdir())
    assert not list(store)


def test_a_disk_that_is_full_for_a_worker_is_one_clear_error(victim, tmp_path):
    """The error comes after the reports, and those stored earlier are intact."""
    evaluator = ce.Evaluator(strategies=["naive", Ours(deadly={2}, how=fill_disk)])
    batch = ce.evaluate_many(pairs(20), evaluator=evaluator, executor=victim, store=tmp_path)
    seen = []

    with pytest.raises(ce.errors.ReportError, match=r"cannot be written \(File too large\)"):
        seen.extend(batch)  # keeps what came before the error

    assert kinds(seen)["evaluated"] == len(seen) < 20
    assert {0, 1} <= {each.task_id for each in ce.ReportStore(tmp_path)} <= set(range(2))
    assert not list((tmp_path / "unfinished").iterdir())


def repository(folder, files):
    """Write a commit with loose objects; return its id."""
    repo = pygit2.init_repository(folder, bare=True)
    tree = repo.TreeBuilder()
    for name, data in files.items():
        tree.insert(name, repo.create_blob(data), pygit2.enums.FileMode.BLOB)
    author = pygit2.Signature("Ann", "ann@example.org", 0, 0)
    return str(repo.create_commit("HEAD", author, author, "", tree.write(), []))


def edit(base, path, text):
    """Make a feature's patch that replaces a file."""
    return ce.Changes({path: ce.Entry(text)}).diff(base)


def one_file_each(folder, count):
    """Make pairs that each need a different file of one repository."""
    files = {f"f{n}.py": b"%d\n" % n + BASE.read("f.py") for n in range(count)}
    commit = repository(folder, files | {"f.py": BASE.read("f.py")})
    base = ce.Snapshot.from_repo(folder, commit)
    own = {n: ce.Snapshot.from_files({f"f{n}.py": files[f"f{n}.py"]}) for n in range(count)}
    extra = [edit(own[n], f"f{n}.py", b"new\n") for n in range(count)]
    made = []
    for n in range(count):
        given = pair(n, base=base)
        patches = [bytes(each.patch) for each in given.features]
        features = [
            ce.Feature(number=number, patch=patches[number] + extra[n] * (number == 0))
            for number in (0, 1)
        ]
        made.append(pair(n, base=base, feature1=features[0], feature2=features[1]))
    return made, files


def test_an_object_that_a_worker_finds_missing_fails_only_the_pairs_that_need_it(worker, tmp_path):
    """The failure names the repository; nothing of it is stored as final."""
    given, files = one_file_each(tmp_path / "repo", 4)
    absent = str(pygit2.hash(files["f2.py"]))
    (tmp_path / "repo" / "objects" / absent[:2] / absent[2:]).unlink()
    store = tmp_path / "store"
    evaluator = ce.Evaluator(strategies=["naive"])

    reports = list(ce.evaluate_many(given, evaluator=evaluator, executor=worker, store=store))

    assert kinds(reports) == {"evaluated": 3, "repository": 1}
    [failed] = [each for each in reports if each.failure]
    assert failed.task_id == 2
    assert "f2.py" in failed.failure.problem
    assert len(ce.ReportStore(store).keys()) == 3


def test_a_repository_that_disappears_during_a_batch_is_a_failure_of_each_pair(worker, tmp_path):
    """What was evaluated before is stored; the others are tried again in the next batch."""
    folder, store = tmp_path / "repo", tmp_path / "store"
    given, _ = one_file_each(folder, 8)
    how = partial(delete_repository, str(folder))
    evaluator = ce.Evaluator(strategies=[Ours(deadly={3}, how=how)])

    reports = list(ce.evaluate_many(given, evaluator=evaluator, executor=worker, store=store))

    counts = kinds(reports)
    assert counts["repository"] == 4
    assert counts["evaluated"] == 4
    assert {each.task_id for each in reports if each.failure} == {4, 5, 6, 7}
    assert len(ce.ReportStore(store).keys()) == 4

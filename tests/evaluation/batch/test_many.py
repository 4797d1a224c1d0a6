"""Many pairs: each gives exactly one report, even if it or another one fails."""

import asyncio
import collections
import contextlib
import multiprocessing
import os
import pickle
import random
import re
import shutil
import signal
import subprocess
import sys
import termios
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import attrs
import pygit2
import pytest
from batchparts import BASE, Ours, Terminal, by_task, noted, pair, pairs, plain
from needs import need_package

import cooperbench_eval as ce
from cooperbench_eval.evaluation.batch.dispatch import Dispatcher, QueuedPair
from cooperbench_eval.evaluation.batch.keys import PairKeys
from cooperbench_eval.evaluation.batch.workers import WorkerPool

EVALUATOR = ce.Evaluator(strategies=["naive", "union"])


@pytest.fixture
def threads():
    """An executor in this process."""
    with ThreadPoolExecutor(2) as executor:
        yield executor


@pytest.fixture(scope="module")
def worker():
    """A process for all tests that leave it alive."""
    with WorkerPool(1) as executor:
        yield executor


def kinds(reports):
    """Count what became of pairs."""
    return collections.Counter(
        report.failure.kind.value if report.failure else "evaluated" for report in reports
    )


def test_every_pair_gives_the_report_that_evaluate_gives(threads):
    """The pairs come from any iterable, and the reports in order of completion."""
    given = pairs(12)

    reports = list(ce.evaluate_many(iter(given), evaluator=EVALUATOR, executor=threads))

    assert by_task(reports) == [plain(EVALUATOR.evaluate(each)) for each in given]


def test_processes_are_the_default():
    """The reports are the same as in this process."""
    given = pairs(6)

    reports = list(ce.evaluate_many(given, evaluator=EVALUATOR))

    assert by_task(reports) == [plain(EVALUATOR.evaluate(each)) for each in given]


def test_no_pairs_give_no_reports(threads, tmp_path):
    """An empty iterable is not an error, and leaves an empty store."""
    store = tmp_path / "store"

    assert list(ce.evaluate_many([], evaluator=EVALUATOR, executor=threads, store=store)) == []
    assert list(ce.ReportStore(store)) == []


def test_pairs_are_taken_as_work_proceeds(threads):
    """A few for each worker are taken from an endless iterable."""
    taken = []

    def endless():
        for number in range(10**6):
            taken.append(number)
            yield pair(number)

    reports = ce.evaluate_many(endless(), evaluator=EVALUATOR, executor=threads)
    for _ in range(5):
        next(reports)
    reports.close()

    assert len(taken) <= 20


def test_a_store_has_the_order_of_the_pairs(threads, tmp_path):
    """It does not depend on which pair finishes first; a later batch's new pairs come last."""
    options = {"evaluator": EVALUATOR, "executor": threads, "store": tmp_path}
    store = ce.ReportStore(tmp_path)

    list(ce.evaluate_many([pair(n) for n in (7, 3, 9, 1)], **options))
    list(ce.evaluate_many([pair(n) for n in (4, 9, 2, 8, 3)], **options))
    store.put("f" * 64, EVALUATOR.evaluate(pair(6)))
    store.put("0" * 64, EVALUATOR.evaluate(pair(5)))

    given = [7, 3, 9, 1, 4, 2, 8, 6, 5]
    assert [report.task_id for report in store] == given
    assert [facts.task_id for facts in store.facts()] == given
    (tmp_path / "order").write_bytes(b"torn\xff\n" + b"0" * 64 + b"\n" + b"e" * 64)
    assert next(report.task_id for report in store) == 5
    assert len(list(store)) == len(given)


def test_a_duplicate_is_reported_and_evaluated_once(threads, tmp_path):
    """Its report has a failure; the first pair's report is yielded and stored."""
    log = tmp_path / "log"
    evaluator = ce.Evaluator(strategies=["naive", Ours(log=log)])
    given = [pair(1), pair(2), pair(1)]

    reports = list(
        ce.evaluate_many(given, evaluator=evaluator, executor=threads, store=tmp_path / "store")
    )

    assert kinds(reports) == {"evaluated": 2, "duplicate": 1}
    assert sorted(noted(log)) == [1, 2]
    assert sorted(report.task_id for report in ce.ReportStore(tmp_path / "store")) == [1, 2]
    [double] = [report for report in reports if report.failure]
    assert (double.repo_name, double.task_id) == ("lines", 1)
    assert [attempt.verdict for attempt in double.attempts] == ["not_run", "not_run"]


def test_a_pair_whose_repository_vanished_is_a_recorded_failure(tmp_path, worker):
    """The worker cannot open the repository; the other pairs are evaluated."""
    folder = tmp_path / "repo"
    repository = pygit2.init_repository(folder, bare=True)
    blob = repository.create_blob(BASE.read("f.py"))
    tree = repository.TreeBuilder()
    tree.insert("f.py", blob, pygit2.enums.FileMode.BLOB)
    author = pygit2.Signature("Ann", "ann@example.org")
    commit = repository.create_commit("HEAD", author, author, "", tree.write(), [])
    lost = pair(1, base=ce.Snapshot.from_repo(folder, str(commit)))
    shutil.rmtree(folder)

    reports = list(ce.evaluate_many([lost, pair(2)], evaluator=EVALUATOR, executor=worker))

    assert kinds(reports) == {"repository": 1, "evaluated": 1}
    [report] = [each for each in reports if each.failure]
    assert str(folder) in report.failure.problem
    assert report.failure.error == "cooperbench_eval.errors:RepositoryError"
    assert (report.task_id, report.feature1.number, report.merge_status) == (1, 0, "not_evaluated")


@pytest.mark.parametrize("how", ["raise", "exit"])
def test_a_strategy_that_raises_or_exits_does_not_stop_the_batch(how, tmp_path, worker):
    """An exception is in that strategy's row; an exit is the pair's failure."""
    evaluator = ce.Evaluator(strategies=["naive", Ours(deadly={2}, how=how)])

    options = {"evaluator": evaluator, "executor": worker, "store": tmp_path}
    reports = list(ce.evaluate_many(pairs(4), **options))

    [report] = [each for each in reports if each.task_id == 2]
    if how == "raise":
        assert kinds(reports) == {"evaluated": 4}
        assert "ValueError(2)" in report.attempt("ours").failure
    else:
        assert kinds(reports) == {"evaluated": 3, "error": 1}
        assert report.failure.problem.startswith("SystemExit(3) (batchparts.py, line ")


def test_a_worker_that_dies_costs_only_its_own_pair(tmp_path):
    """The pair is tried again, then recorded; the others are evaluated once."""
    log = tmp_path / "log"
    evaluator = ce.Evaluator(strategies=["naive", Ours(log=log, deadly={3, 7})])

    reports = list(ce.evaluate_many(pairs(12), evaluator=evaluator))

    assert kinds(reports) == {"evaluated": 10, "worker_lost": 2}
    counts = collections.Counter(noted(log))
    assert counts == {number: 2 if number in {3, 7} else 1 for number in range(12)}
    [report] = [each for each in reports if each.task_id == 3]
    assert (report.failure.tries, "signal 9" in report.failure.problem) == (2, True)


def test_a_worker_that_dies_once_costs_nothing(tmp_path):
    """The second try succeeds."""
    events = []
    evaluator = ce.Evaluator(strategies=["naive", Ours(deadly={3}, once=str(tmp_path))])

    reports = list(ce.evaluate_many(pairs(6), evaluator=evaluator, progress=events.append))

    assert kinds(reports) == {"evaluated": 6}
    [retried] = [event for event in events if event.kind == "retried"]
    assert retried.pair == "lines, task 3, features 0 and 1"
    assert "signal 9" in retried.problem


def test_a_callers_pool_that_breaks_is_replaced(tmp_path):
    """All its pairs are tried again one by one; only the deadly pair is lost."""
    evaluator = ce.Evaluator(strategies=["naive", Ours(deadly={3})])
    with ProcessPoolExecutor(2) as executor:
        reports = list(ce.evaluate_many(pairs(12), evaluator=evaluator, executor=executor))

    assert kinds(reports) == {"evaluated": 11, "worker_lost": 1}


class Machine:
    """An executor that goes down with all it holds when it comes to a deadly pair."""

    def __init__(self, deadly):
        """Be up, and always so again."""
        self.deadly = deadly
        self.calls = []
        self._held = []
        self._thread = ThreadPoolExecutor(1)

    def submit(self, fn, *arguments):
        """Take a job, whose turn will come."""
        self.calls.append(arguments)
        future = Future()
        self._held.append(future)
        self._thread.submit(self._work, future, fn, arguments)
        return future

    def _work(self, future, fn, arguments):
        if future.done():
            return
        _, rest = pickle.loads(arguments[0].rest)  # noqa: S301 - ours
        if rest["task_id"] in self.deadly:
            lost, self._held = self._held, []
            for each in lost:
                each.set_exception(ConnectionError("the machine is down"))
        else:
            self._held.remove(future)
            future.set_result(fn(*arguments))


def test_a_machine_that_fails_costs_only_the_pair_that_caused_it():
    """A pair that is lost twice is tried once more without others; no two calls are equal."""
    machine = Machine(deadly={0, 5})

    reports = list(ce.evaluate_many(pairs(8), evaluator=EVALUATOR, executor=machine))

    lost = {report.task_id: report.failure for report in reports if report.failure}
    assert kinds(reports) == {"evaluated": 6, "worker_lost": 2}
    assert {task: failure.tries for task, failure in lost.items()} == {0: 3, 5: 3}
    assert {failure.problem for failure in lost.values()} == {"the machine is down"}
    assert len(set(machine.calls)) == len(machine.calls)


@pytest.mark.long
def test_a_lost_pair_is_reported_before_all_others_are_taken():
    """While a pair is tried without others, no pairs are taken; lost pairs do not pile up."""
    taken = []
    source = (taken.append(each.task_id) or each for each in pairs(1000))

    reports = ce.evaluate_many(source, evaluator=EVALUATOR, executor=Machine(deadly={0}))
    first = next(report for report in reports if report.failure)

    assert first.task_id == 0
    assert len(taken) < 700
    assert kinds(reports)["worker_lost"] == 0


class Held:
    """An executor whose jobs end when a test says so."""

    def __init__(self):
        """Hold nothing."""
        self.futures = []

    def submit(self, *_):
        """Hold a job."""
        self.futures.append(Future())
        return self.futures[-1]


def test_a_suspect_pair_is_tried_without_others():
    """There is room again when its result is known."""
    executor = Held()
    dispatcher = Dispatcher(EVALUATOR, executor, on_retry=lambda *_: None)
    dispatcher.send(QueuedPair("key", pair(0)))
    rooms = [dispatcher.has_room]
    for _ in range(3):
        executor.futures[-1].set_exception(ConnectionError("down"))
        answer = dispatcher.answer(0)
        rooms.append(dispatcher.has_room)

    assert rooms == [True, True, False, True]
    assert answer[1].tries == len(executor.futures) == 3


class Refusing:
    """An executor that loses what it takes, and at last takes no more."""

    def __init__(self, calls):
        """Take as many."""
        self.calls = calls

    def submit(self, *_):
        """Lose a job."""
        if not self.calls:
            raise RuntimeError("closed")
        self.calls -= 1
        future = Future()
        future.set_exception(ConnectionError("down"))
        return future


def refuse_to_wait(event):
    """Fail where a pair is claimed by another batch, instead of waiting for that."""
    assert event.kind != "waiting"


@pytest.mark.parametrize("calls", [0, 1, 2])
def test_a_pair_that_cannot_be_sent_is_not_claimed_any_more(calls, threads, tmp_path):
    """Another batch of this process may evaluate it, whenever the executor failed."""
    options = {"evaluator": EVALUATOR, "store": tmp_path}
    batch = ce.evaluate_many(pairs(1), executor=Refusing(calls), **options)
    with pytest.raises(ce.errors.BatchError, match="accepts no work") as kept:
        list(batch)

    options |= {"executor": threads, "progress": refuse_to_wait}
    assert kinds(ce.evaluate_many(pairs(1), **options)) == {"evaluated": 1}
    assert kept


def test_a_progress_function_that_raises_leaves_no_claim(threads, tmp_path):
    """It may also raise when a pair is tried again."""

    def listen(event):
        if event.kind == "retried":
            raise ZeroDivisionError

    options = {"evaluator": EVALUATOR, "store": tmp_path}
    with pytest.raises(ZeroDivisionError) as kept:
        list(ce.evaluate_many(pairs(1), executor=Refusing(1), progress=listen, **options))

    options |= {"executor": threads, "progress": refuse_to_wait}
    assert kinds(ce.evaluate_many(pairs(1), **options)) == {"evaluated": 1}
    assert kept


def test_an_executor_that_accepts_no_work_is_an_error():
    """Its owner has shut it down."""
    executor = ThreadPoolExecutor(1)
    executor.shutdown()

    with pytest.raises(ce.errors.BatchError, match="executor: accepts no work"):
        list(ce.evaluate_many(pairs(2), evaluator=EVALUATOR, executor=executor))


def test_a_strategy_that_cannot_be_pickled_is_named_at_once():
    """The error comes before any pair is taken; threads need no pickle."""
    strategy = Ours()
    strategy.lock = threading.Lock()
    evaluator = ce.Evaluator(strategies=["naive", strategy])

    with pytest.raises(ce.errors.BatchError, match=r"^strategy 'ours': .*lock"):
        ce.evaluate_many(iter(()), evaluator=evaluator)
    strategy.lock = multiprocessing.get_context("spawn").Lock()
    with pytest.raises(
        ce.errors.BatchError, match=r"^strategy 'ours': .*it raised RuntimeError\('Lock"
    ):
        ce.evaluate_many(iter(()), evaluator=evaluator)

    with ThreadPoolExecutor(1) as executor:
        reports = list(ce.evaluate_many([pair(1)], evaluator=evaluator, executor=executor))
    assert kinds(reports) == {"evaluated": 1}


def test_a_pair_that_cannot_be_pickled_is_a_recorded_failure(worker):
    """The others are evaluated."""

    class Odd(str):
        __slots__ = ()

        def __reduce__(self):
            raise TypeError("odd")

    given = [pair(1, model=Odd("m")), pair(2)]
    reports = list(ce.evaluate_many(given, evaluator=EVALUATOR, executor=worker))

    assert kinds(reports) == {"not_delivered": 1, "evaluated": 1}


def test_on_error_may_be_raise(threads, tmp_path):
    """The error names the pair; reports that were finished before are in the store."""
    evaluator = ce.Evaluator(strategies=[Ours(deadly={3}, how="exit")])
    reports = ce.evaluate_many(
        pairs(5), evaluator=evaluator, executor=threads, store=tmp_path, on_error="raise"
    )

    with pytest.raises(
        ce.errors.BatchError, match="lines, task 3, features 0 and 1: SystemExit"
    ) as caught:
        list(reports)

    assert caught.value.concerns == "lines, task 3, features 0 and 1"
    assert next(reports, None) is None


def test_on_error_has_two_values():
    """A misspelled value does not silently mean "record"."""
    with pytest.raises(ValueError, match="on_error"):
        ce.evaluate_many([], evaluator=EVALUATOR, on_error="ignore")


def test_an_error_of_the_iterable_is_raised_after_its_pairs_are_yielded(threads):
    """Pairs in flight are not lost."""

    def broken():
        yield from pairs(3)
        raise OSError("the list ended badly")

    seen = []

    def collect():
        for report in ce.evaluate_many(broken(), evaluator=EVALUATOR, executor=threads):
            seen.append(report)  # noqa: PERF402 - what comes before the error is wanted

    with pytest.raises(OSError, match="ended badly"):
        collect()

    assert kinds(seen) == {"evaluated": 3}


def test_an_object_that_is_not_a_pair_is_an_error(threads):
    """It is raised after the pairs before it."""
    with pytest.raises(ce.errors.BatchError, match="is not a FeaturePair"):
        list(ce.evaluate_many([pair(1), "pair"], evaluator=EVALUATOR, executor=threads))


@pytest.mark.parametrize("error", [asyncio.CancelledError, KeyboardInterrupt, GeneratorExit])
@pytest.mark.parametrize("make", [lambda: ThreadPoolExecutor(2), lambda: WorkerPool(1)])
def test_an_exception_of_a_strategy_stops_no_other_pair(error, make, capfd):
    """It need not be an `Exception`, and nothing is printed."""
    evaluator = ce.Evaluator(strategies=["naive", Ours(deadly={1}, how=error)])
    with make() as executor:
        reports = list(ce.evaluate_many(pairs(4), evaluator=evaluator, executor=executor))

    assert kinds(reports) == {"evaluated": 3, "error": 1}
    assert capfd.readouterr() == ("", "")


def test_numbers_of_other_libraries_are_accepted(threads):
    """They may come from a table."""
    np = need_package("numpy")
    given = pair(3, task_id=np.int64(7), k=np.int8(2))

    [report] = ce.evaluate_many([given], evaluator=EVALUATOR, executor=threads)

    assert (report.task_id, report.k) == (7, 2)
    assert type(report.task_id) is int
    for wrong in ({"model": b"x"}, {"setting": object()}, {"repo_name": 1}, {"task_id": 1.5}):
        with pytest.raises(TypeError):
            pair(3, **wrong)


def test_the_first_report_does_not_wait_for_all_stored_reports(threads, tmp_path):
    """Many duplicates do not wait in memory with their patches either."""
    taken = []

    def same():
        for number in range(10**6):
            taken.append(number)
            yield pair(1)

    reports = ce.evaluate_many(same(), evaluator=EVALUATOR, executor=threads, store=tmp_path)
    for _ in range(3):
        next(reports)
    reports.close()

    assert len(taken) < 50_000


def test_progress_is_a_function_or_a_boolean(threads):
    """Other values are rejected at the call."""
    with pytest.raises(TypeError, match="progress"):
        ce.evaluate_many([], evaluator=EVALUATOR, executor=threads, progress="yes")


# --- the store ---------------------------------------------------------------------


def test_a_stored_pair_is_not_evaluated_again(threads, tmp_path):
    """An equal report is yielded from the store; the other pairs are evaluated."""
    log, store = tmp_path / "log", tmp_path / "store"
    evaluator = ce.Evaluator(strategies=["naive", Ours(log=log)])
    first = list(ce.evaluate_many(pairs(5), evaluator=evaluator, executor=threads, store=store))

    second = list(ce.evaluate_many(pairs(8), evaluator=evaluator, executor=threads, store=store))

    assert sorted(noted(log)) == list(range(8))
    assert sorted(report.task_id for report in second) == list(range(8))
    assert {report.task_id: report for report in first}.items() <= {
        report.task_id: report for report in second
    }.items()


def test_stored_reports_are_yielded_while_other_pairs_are_in_flight(threads, tmp_path):
    """A slow pair does not delay them."""
    options = {"executor": threads, "store": tmp_path}
    list(ce.evaluate_many(pairs(3), evaluator=ce.Evaluator(strategies=["naive"]), **options))
    store = ce.ReportStore(tmp_path)
    [old] = [report for report in store if report.task_id == 1]
    evaluator = ce.Evaluator(strategies=[Ours(seconds=0.5)])
    store.put(PairKeys(evaluator).key(pair(1)), old)

    reports = ce.evaluate_many([pair(0), pair(1)], evaluator=evaluator, **options)

    assert [report.task_id for report in reports] == [1, 0]


def test_infrastructure_errors_are_tried_again_and_verdicts_are_not(threads, tmp_path):
    """A failure may succeed the next time."""
    log, here = tmp_path / "log", tmp_path / "here"
    here.mkdir()
    strategy = Ours(log=log, deadly={1}, how="exit", once=str(here))
    evaluator = ce.Evaluator(strategies=["naive", strategy])
    options = {"evaluator": evaluator, "executor": threads, "store": tmp_path / "store"}

    first, second, third = (list(ce.evaluate_many(pairs(3), **options)) for _ in range(3))

    assert kinds(first) == {"evaluated": 2, "error": 1}
    assert kinds(second) == kinds(third) == {"evaluated": 3}
    assert sorted(noted(log)) == [0, 1, 1, 2]
    assert len(ce.ReportStore(tmp_path / "store")) == 3


def test_a_sandbox_that_failed_is_tried_again(threads, tmp_path):
    """Its run does not say anything about the code."""
    store = ce.ReportStore(tmp_path)
    [report] = ce.evaluate_many([pair(1)], evaluator=EVALUATOR, executor=threads, store=store)
    [key] = store.keys()
    failed = ce.TestResult(status="infrastructure_error")
    broken = attrs.evolve(report, feature1=attrs.evolve(report.feature1, tests=failed))
    shutil.rmtree(tmp_path / "reports")
    store.put(key, broken)

    [again] = ce.evaluate_many([pair(1)], evaluator=EVALUATOR, executor=threads, store=store)

    assert plain(again) == plain(report)


def test_a_damaged_report_is_set_aside_and_the_pair_is_evaluated_again(threads, tmp_path):
    """In the same batch; the damaged file is kept under another name."""
    options = {"evaluator": EVALUATOR, "executor": threads, "store": tmp_path}
    [report] = ce.evaluate_many([pair(1)], **options)
    file = next(tmp_path.rglob("reports/*/*.json"))

    for name in (f"{file.name}.damaged", f"{file.name}.2.damaged"):
        file.write_bytes(b"torn")
        [again] = ce.evaluate_many([pair(1)], **options)

        assert plain(again) == plain(report)
        assert file.with_name(name).read_bytes() == b"torn"

    assert kinds(ce.evaluate_many([pair(1)], **options)) == {"evaluated": 1}
    assert len(ce.ReportStore(tmp_path)) == 1


def test_a_store_that_is_temporarily_unreadable_loses_nothing(threads, tmp_path):
    """Too many open files or an unreachable server do not mean a damaged report."""
    options = {"evaluator": EVALUATOR, "executor": threads, "store": tmp_path}
    list(ce.evaluate_many(pairs(3), **options))
    script = (
        f"import sys; sys.path[:0] = [{str(Path(__file__).parent)!r}]\n"
        "import os, resource\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "import cooperbench_eval as ce\nfrom batchparts import pairs\n"
        "import cooperbench_eval.reporting.serialization, cooperbench_eval.analysis\n"
        "evaluator = ce.Evaluator(strategies=['naive', 'union'])\n"
        "evaluator.evaluate(pairs(1)[0])  # imports what it needs\n"
        f"reports = ce.evaluate_many(pairs(3), evaluator=evaluator, store={str(tmp_path)!r},\n"
        "                           executor=ThreadPoolExecutor(1))\n"
        "limit = len(os.listdir('/proc/self/fd')) - 1\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (limit, 10000))\n"
        "print([report.failure.kind.value for report in reports])\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )

    assert done.stdout == "['not_stored', 'not_stored', 'not_stored']\n", done.stderr
    assert not list(tmp_path.rglob("*.damaged"))
    assert kinds(ce.evaluate_many(pairs(3), **options)) == {"evaluated": 3}
    assert len(ce.ReportStore(tmp_path)) == 3


def test_a_pair_is_claimed_until_work_on_it_ends(threads, tmp_path):
    """Also if the caller no longer waits for its report."""
    log, store = tmp_path / "log", tmp_path / "store"
    evaluator = ce.Evaluator(strategies=["naive", Ours(log=log, seconds=0.3)])
    options = {"evaluator": evaluator, "executor": threads, "store": store}
    next(ce.evaluate_many(pairs(3), **options))  # dropped, with a pair under way
    began = time.monotonic()

    reports = list(ce.evaluate_many(pairs(3), **options))

    assert kinds(reports) == {"evaluated": 3}
    assert time.monotonic() - began > 0.2
    assert max(collections.Counter(noted(log)).values()) == 2, "one after the other"


def test_another_evaluator_has_reports_of_its_own(threads, tmp_path):
    """Both may share a store."""
    for strategies in (["naive"], ["union"], ["naive"]):
        evaluator = ce.Evaluator(strategies=strategies)
        list(ce.evaluate_many([pair(1)], evaluator=evaluator, executor=threads, store=tmp_path))

    found = sorted(report.attempts[0].strategy for report in ce.ReportStore(tmp_path))
    assert found == ["naive", "union"]


def test_a_store_with_a_newer_schema_is_rejected_at_once(threads, tmp_path):
    """The error comes before any pair is taken."""
    (tmp_path / "store.json").write_text('{"schema_version": 2}')

    with pytest.raises(ce.errors.ReportError, match="schema version 2"):
        ce.evaluate_many(iter(()), evaluator=EVALUATOR, executor=threads, store=tmp_path)


# --- progress and the end ------------------------------------------------------------


def test_events_describe_the_batch(threads, tmp_path):
    """They come in the iterating thread; a report's event comes right before the report."""
    events, seen = [], []
    options = {"evaluator": EVALUATOR, "executor": threads, "store": tmp_path}
    list(ce.evaluate_many([pair(1)], **options))

    def tell(event):
        events.append((event.kind.value, threading.get_ident()))

    for _ in ce.evaluate_many([pair(1), pair(2), pair(2)], progress=tell, **options):
        seen.append(len(events))  # noqa: PERF401

    counts = collections.Counter(kind for kind, _ in events)
    assert counts == {"submitted": 1, "stored": 1, "finished": 1, "failed": 1}
    assert {thread for _, thread in events} == {threading.get_ident()}
    assert seen[-1] == len(events)


def test_it_is_silent_unless_asked(threads, capfd, monkeypatch):
    """With `progress=True` there is a bar in a terminal, which ends full."""
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)  # of a test with a notebook
    for progress in (False, True):
        list(ce.evaluate_many(pairs(3), evaluator=EVALUATOR, executor=threads, progress=progress))
    assert capfd.readouterr() == ("", "")

    monkeypatch.setattr(sys, "stderr", Terminal())
    list(ce.evaluate_many(pairs(3), evaluator=EVALUATOR, executor=threads, progress=True))
    err = sys.stderr.getvalue()
    assert capfd.readouterr() == ("", "")
    assert "3/3" in err
    assert "100%" in err
    assert "without a result" not in err


PRINTING = """
import sys
sys.path[:0] = [{tests!r}]
import cooperbench_eval as ce
from batchparts import Ours, pairs
from concurrent.futures import ThreadPoolExecutor

evaluator = ce.Evaluator(strategies=["naive", Ours(seconds=0.05)])
options = dict(evaluator=evaluator, executor=ThreadPoolExecutor(1), progress=True)
for report in ce.evaluate_many(pairs(4), **options):
    print(f"<task {{report.task_id}}>")
"""


def on_a_screen(written):
    """Return the lines that a terminal shows; tqdm moves only within a line."""
    lines = []
    for text in written.decode().replace("\r\n", "\n").split("\n"):
        shown = ""
        for part in text.split("\r"):
            shown = part + shown[len(part) :]
        lines.append(shown.rstrip())
    return lines


def test_the_bar_does_not_garble_what_the_caller_prints():
    """It is removed from the screen while the caller handles a report."""
    ours, its = os.openpty()
    termios.tcsetwinsize(its, (24, 100))
    script = PRINTING.format(tests=str(Path(__file__).parent))

    with subprocess.Popen([sys.executable, "-c", script], stdout=its, stderr=its) as process:
        os.close(its)
        written = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while part := os.read(ours, 1 << 16):
                written += part
    os.close(ours)

    assert process.returncode == 0
    assert b" 0/4 " in written
    *printed, bar, _ = on_a_screen(written)
    assert printed == [f"<task {n}>" for n in range(4)]
    assert " 4/4 " in bar


def test_the_bar_quotes_the_most_frequent_problem(worker, monkeypatch):
    """Whoever watches a batch fail learns why before it ends, and reads it whole at the end."""
    evaluator = ce.Evaluator(strategies=[Ours(deadly={1, 2, 3}, how="exit")])

    monkeypatch.setattr(sys, "stderr", Terminal())

    list(ce.evaluate_many(pairs(5), evaluator=evaluator, executor=worker, progress=True))

    assert re.search(
        r"\b3 without a result: SystemExit\(3\) \(batchparts.py, line \d+, in merge\)\n",
        sys.stderr.getvalue(),
    )


def test_leaving_early_ends_the_workers(tmp_path):
    """It also releases the claims."""
    evaluator = ce.Evaluator(strategies=["naive", Ours(seconds=0.05)])
    for _ in ce.evaluate_many(pairs(50), evaluator=evaluator, store=tmp_path):
        break
    began = time.monotonic()

    reports = list(ce.evaluate_many(pairs(3), evaluator=evaluator, store=tmp_path))

    assert kinds(reports) == {"evaluated": 3}
    assert time.monotonic() - began < 10


def test_a_callers_executor_is_left_open(threads):
    """Its owner shuts it down."""
    list(ce.evaluate_many(pairs(2), evaluator=EVALUATOR, executor=threads))

    assert threads.submit(int, "1").result() == 1


INTERRUPTED = """
import sys
sys.path[:0] = [{tests!r}]
import cooperbench_eval as ce
from batchparts import Ours, pairs

if __name__ == "__main__":
    evaluator = ce.Evaluator(strategies=["naive", Ours(seconds=30)])
    print("begun", flush=True)
    tell = lambda event: print(event.kind, flush=True)
    list(ce.evaluate_many(pairs(5), evaluator=evaluator, progress=tell))
"""


UNGUARDED = """
import sys
sys.path[:0] = [{tests!r}]
import cooperbench_eval as ce
from batchparts import pairs

list(ce.evaluate_many(pairs(2), evaluator=ce.Evaluator(), store={store!r}))
"""


@pytest.mark.parametrize("has_store", [False, True])
def test_a_script_without_a_guard_is_told_so(has_store, tmp_path):
    """With a store, the worker that imports the script would wait for its parent forever."""
    script = tmp_path / "script.py"
    store = str(tmp_path / "store") if has_store else None
    script.write_text(UNGUARDED.format(tests=str(Path(__file__).parent), store=store))

    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=60, check=False
    )

    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1
    assert last.startswith("cooperbench_eval.errors.BatchError: executor: worker processes do not")
    assert last.endswith('under `if __name__ == "__main__":`')


def lives(group):
    """Whether any process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_an_interrupt_ends_everything_at_once(tmp_path):
    """There is one traceback, the caller's, and no process survives."""
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED.format(tests=str(Path(__file__).parent)))
    with subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        for _ in range(2):
            process.stdout.readline()
        time.sleep(random.uniform(0, 1))  # noqa: S311 - while the workers start, or later
        began = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        try:
            _, err = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise

    assert time.monotonic() - began < 8
    assert err.count("Traceback") == 1, err
    assert "KeyboardInterrupt" in err
    deadline = time.monotonic() + 10
    while lives(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not lives(process.pid)


def test_a_worker_pool_may_be_passed(worker):
    """It may serve several batches."""
    for _ in range(2):
        reports = list(ce.evaluate_many(pairs(3), evaluator=EVALUATOR, executor=worker))
        assert kinds(reports) == {"evaluated": 3}

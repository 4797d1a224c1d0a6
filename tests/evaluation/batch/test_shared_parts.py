"""What jobs share is sent to a worker once, and the jobs of a task go to one worker."""

import os
import pickle
import random
import time
from collections import Counter
from itertools import pairwise

import pytest
from batchparts import BASE, Ours, pair, workers_by_pair
from hypothesis import given
from hypothesis import strategies as st
from workerparts import pid_and_part, pid_and_start, wait_for

import cooperbench_eval as ce
from cooperbench_eval.evaluation.batch import workers
from cooperbench_eval.evaluation.batch.payloads import PayloadMaker
from cooperbench_eval.evaluation.batch.workers import WorkerPool

EVALUATOR = ce.Evaluator(strategies=["naive"])


@pytest.fixture(scope="module")
def one():
    """Return a pool of one process."""
    with WorkerPool(1) as pool:
        yield pool


@pytest.fixture(scope="module")
def two():
    """Return a pool of two processes that have started."""
    with WorkerPool(2) as pool:
        for future in [pool.submit(time.sleep, 0.2) for _ in range(4)]:
            future.result()
        yield pool


@given(jobs=st.lists(st.lists(st.integers(0, 99), unique=True, max_size=5), max_size=60))
def test_a_worker_always_has_the_parts_of_its_job(jobs):
    """It is not sent a part that it has, and keeps a bounded number of parts and bytes."""
    sent, here = workers.SentParts(), workers.ReceivedParts()
    limits = workers._MOST, workers._MOST_BYTES
    workers._MOST, workers._MOST_BYTES = 8, 2000
    try:
        for numbers in jobs:
            parts = {str(n): pickle.dumps(bytes(8 * n)) for n in numbers}
            had = set(here._pickled) | set(here._values)
            delivery = sent.deliver(b"", parts)
            here.accept(delivery)

            assert not had & set(delivery.new)
            assert [here.value(str(n)) for n in numbers] == [bytes(8 * n) for n in numbers]
            assert len(here._values) <= 8
            kept = sum(len(pickle.dumps(value)) for value in here._values.values())
            assert kept <= max(2000, sum(map(len, parts.values())))
    finally:
        workers._MOST, workers._MOST_BYTES = limits


def test_a_part_is_sent_once_and_stays_the_same_object(one):
    """So the caches of a base serve all pairs of a task."""
    parts = {"list": pickle.dumps(["a", "b"])}

    futures = [one.submit_sharing(pid_and_part, "list", parts=parts, group="t") for _ in range(4)]
    found = [future.result() for future in futures]

    assert len({address for _, _, address in found}) == 1
    assert found[0][1] == ["a", "b"]


def test_a_new_worker_gets_the_parts_of_a_dead_one():
    """The jobs after the one that killed the worker find their part."""
    parts = {"base": pickle.dumps("base")}
    with WorkerPool(1) as pool:
        before = pool.submit_sharing(pid_and_part, "base", parts=parts, group="t").result()
        deadly = pool.submit_sharing(time.sleep, "no number", parts={}, group="t")
        killed = pool.submit_sharing(os._exit, 3, parts=parts, group="t")
        after = pool.submit_sharing(pid_and_part, "base", parts=parts, group="t").result()

        assert isinstance(deadly.exception(), TypeError)
        assert killed.exception() is not None
    assert (before[1], after[1]) == ("base", "base")
    assert before[0] != after[0]


def test_a_payload_for_our_workers_is_small():
    """After the first job, an in-memory base and the patches are sent as digests."""
    base = ce.Snapshot.from_files({"big": bytes(10**6), "f.py": BASE.read("f.py")})
    payload, parts = PayloadMaker(EVALUATOR, own_processes=True).in_parts(pair(1, base=base))
    sent = workers.SentParts()

    first, second = (pickle.dumps(sent.deliver(pickle.dumps(payload), parts)) for _ in range(2))

    assert len(first) > 10**6
    assert len(second) < 2000


def test_the_jobs_of_a_group_go_to_one_worker_while_there_are_others(two, tmp_path):
    """A worker takes jobs of the other group only when its own group has none.

    Then it keeps to that group, so that both workers together change groups a few times, not
    once in two jobs, however much faster one of them is.
    """
    gate = tmp_path / "gate"
    waiting = [two.submit(wait_for, gate) for _ in range(2)]
    groups = [*"ab" * 40]
    random.Random(0).shuffle(groups)  # noqa: S311 - neither in blocks nor alternating
    jobs = [two.submit_sharing(pid_and_start, parts={}, group=group) for group in groups]
    gate.touch()

    started = sorted((*job.result(), group) for job, group in zip(jobs, groups, strict=True))
    changes = sum(
        (pid, group) != (next_pid, next_group)
        for (pid, _, group), (next_pid, _, next_group) in pairwise(started)
    )
    assert all(job.exception() is None for job in waiting)
    assert changes <= 5, started


def test_no_job_waits_for_ever(one):
    """A job of another group is begun even if there is always one of the worker's group."""
    one.submit(time.sleep, 0.5)
    first = one.submit_sharing(time.monotonic_ns, parts={}, group="a")
    other = one.submit_sharing(time.monotonic_ns, parts={}, group="b")
    later = [one.submit_sharing(time.monotonic_ns, parts={}, group="a") for _ in range(100)]
    ended = [future.result() for future in later]

    assert first.result() < other.result()
    assert sum(when < other.result() for when in ended) == 64


def tasks(count, size):
    """Make pairs of several tasks, one task after another, each with a base of its own."""
    for task in range(count):
        base = ce.Snapshot.from_files({"f.py": BASE.read("f.py"), "task": b"%d" % task})
        for n in range(size):
            yield pair(size * task + n, base=base)


def test_the_pairs_of_a_task_go_to_one_worker(two, tmp_path):
    """For this, pairs of other tasks are taken from further along the iterable.

    Each pair takes some time in its worker, so that a busy machine delays neither worker much
    more than the other, and the pairs of the next task arrive before a worker is idle.
    """
    log = tmp_path / "log"
    evaluator = ce.Evaluator(strategies=[Ours(log=log, seconds=0.02)])
    list(ce.evaluate_many(tasks(2, 4), evaluator=evaluator, executor=two))  # imports everything
    log.unlink()

    reports = list(ce.evaluate_many(tasks(4, 30), evaluator=evaluator, executor=two))

    assert len(reports) == 120
    by = workers_by_pair(log)
    counts = [Counter(by[30 * task + n] for n in range(30)) for task in range(4)]
    together = sum(max(count.values()) for count in counts)
    assert together >= 100, counts


def test_workers_share_the_only_task(two, tmp_path):
    """No worker is idle while there is work."""
    log = tmp_path / "log"
    evaluator = ce.Evaluator(strategies=[Ours(log=log, seconds=0.02)])

    list(ce.evaluate_many(tasks(1, 24), evaluator=evaluator, executor=two))

    counts = Counter(workers_by_pair(log).values())
    assert len(counts) == 2
    assert min(counts.values()) >= 6, counts


@pytest.mark.parametrize(("pool", "most"), [("one", 4 + 2), ("two", 8 + 64 + 2)])
def test_few_pairs_are_taken_ahead(pool, most, request):
    """At most 64 besides those in flight, and none if there is one worker."""
    taken = []
    endless = (taken.append(n) or pair(n) for n in range(10**6))

    executor = request.getfixturevalue(pool)
    reports = ce.evaluate_many(endless, evaluator=EVALUATOR, executor=executor)
    next(reports)
    reports.close()

    assert len(taken) <= most


def test_pairs_of_a_slow_iterable_are_sent_at_once(two):
    """Looking for other tasks does not delay a report."""

    def slow():
        for number in range(70):
            yield pair(number)
            time.sleep(0.05)

    list(ce.evaluate_many([pair(1), pair(2)], evaluator=EVALUATOR, executor=two))
    began = time.monotonic()
    reports = ce.evaluate_many(slow(), evaluator=EVALUATOR, executor=two)
    next(reports)
    seconds = time.monotonic() - began
    reports.close()

    assert seconds < 2

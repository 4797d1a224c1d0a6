"""A cache finds results by their inputs, also from many processes and after crashes."""

import multiprocessing
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import zlib
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from generators import run_results
from hypothesis import given

import cooperbench_eval as ce
from cooperbench_eval.running.cache import key_of

RESULT = ce.TestResult(
    status="failed", cases=[ce.models.TestCase(id="t", status="failed")], exit_code=1
)


@pytest.fixture(params=["memory", "file"])
def cache(request, tmp_path):
    """Return a cache in memory and one on disk."""
    return ce.ResultCache(tmp_path / "new" / "cache.sqlite" if request.param == "file" else None)


def test_a_kept_result_is_found(cache):
    """A result is found under its key after others were added; the newest version counts."""
    cache.put("one", RESULT)
    cache.put("two", ce.TestResult(status="passed"))
    cache.put("two", ce.TestResult(status="timed_out"))

    assert cache.get("one") == RESULT
    assert cache.get("two").status is ce.TestStatus.TIMED_OUT
    assert cache.get("three") is None


@given(result=run_results())
def test_every_result_comes_back_equal(result, tmp_path_factory):
    """Repeats, policies and cases are kept."""
    for cache in (ce.ResultCache(), ce.ResultCache(tmp_path_factory.mktemp("c") / "cache")):
        cache.put("key", result)

        assert cache.get("key") == result


def test_different_inputs_have_different_keys():
    """Order, nesting and the kind of each value make a difference."""
    facts = [
        (),
        ("a",),
        ("a", "b"),
        ("b", "a"),
        (("a", "b"),),
        ("ab",),
        (None,),
        ("None",),
        (1,),
        ("1",),
        (True,),
        ("\udcff",),
    ]

    assert len({key_of(*each) for each in facts}) == len(facts)


def test_a_cache_in_memory_arrives_empty_and_one_on_disk_is_shared(tmp_path):
    """This concerns a cache that is pickled for another process."""
    memory, disk = ce.ResultCache(), ce.ResultCache(tmp_path / "cache")
    for each in (memory, disk):
        each.put("key", RESULT)

    assert pickle.loads(pickle.dumps(memory)).get("key") is None  # noqa: S301 - our own
    assert pickle.loads(pickle.dumps(disk)).get("key") == RESULT  # noqa: S301 - our own


def _fill(job):
    cache, worker = job
    for number in range(15):
        cache.put(f"{worker}-{number}", RESULT)
        cache.put("shared", RESULT)
    return all(cache.get(f"{worker}-{number}") == RESULT for number in range(15))


def test_many_processes_and_threads_share_one_file(tmp_path):
    """Each of them succeeds, and no result is lost."""
    cache = ce.ResultCache(tmp_path / "cache")
    context = multiprocessing.get_context("spawn")

    with ProcessPoolExecutor(2, mp_context=context) as pool, ThreadPoolExecutor(4) as threads:
        jobs = [(cache, worker) for worker in range(6)]
        done = [*pool.map(_fill, jobs[:2]), *threads.map(_fill, jobs[2:])]

    assert done == [True] * 6
    assert all(cache.get(f"{w}-{n}") == RESULT for w in range(6) for n in range(15))


def test_a_writer_that_is_killed_harms_no_other_row(tmp_path):
    """Whenever it is killed, the earlier rows remain and the file is intact."""
    script = """
import sys, cooperbench_eval as ce
cache = ce.ResultCache(sys.argv[1])
big = ce.TestResult(status="passed", output="x" * 100_000)
for number in range(10_000):
    cache.put(str(number), big)
    print(number, flush=True)
"""
    file = tmp_path / "cache"
    for _ in range(2):
        process = subprocess.Popen((sys.executable, "-c", script, file), stdout=subprocess.PIPE)
        known = [int(process.stdout.readline()) for _ in range(5)]
        os.kill(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.wait()

        assert all(ce.ResultCache(file).get(str(n)).status == "passed" for n in known)
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


BAD_ROWS = [
    *("", "[]", "{}", "5", "null", '"x"', "[" * 100_000, "\udcff"),
    *('{"cases": 1}', '{"cases": [], "status": "odd"}', '{"cases": [5], "status": "passed"}'),
    '{"cases": [], "status": "passed", "exit_code": {}}',
    '{"cases": [], "status": "passed", "output": 5}',
]


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("text", BAD_ROWS, ids=lambda text: repr(text[:50]))
def test_a_row_that_cannot_be_read_counts_as_absent(tmp_path, text, packed):
    """A later version of this library may have written it."""
    cache = ce.ResultCache(tmp_path / "cache")
    cache.put("key", RESULT)
    with sqlite3.connect(cache.path) as connection:
        row = text.encode(errors="surrogateescape")
        row = zlib.compress(row) if packed else row
        connection.execute("UPDATE results SET result = ?", (row,))
    connection.close()

    assert cache.get("key") is None


def test_concurrent_caches_can_create_one_file(tmp_path):
    """Each of many caches on one new file works, whichever creates the file."""
    everybody = threading.Barrier(8)

    def ask(path):
        everybody.wait()
        return ce.ResultCache(path).get("key")

    with ThreadPoolExecutor(8) as pool:
        for number in range(40):
            assert list(pool.map(ask, [tmp_path / f"{number}.sqlite"] * 8)) == [None] * 8


def test_concurrent_threads_compute_a_result_once(cache):
    """The others wait for the first; threads that ask for another key do not."""
    made = []

    def make():
        made.append(threading.get_ident())
        time.sleep(0.1)
        return RESULT

    with ThreadPoolExecutor(8) as pool:
        keys = ["one", "two"] * 4
        results = list(
            pool.map(lambda key: cache.get_or_make(key, make, keeps=lambda _: True), keys)
        )

    assert results == [RESULT] * 8
    assert len(made) == 2


def test_a_result_that_is_not_kept_is_computed_again(cache):
    """An error during the computation releases the key."""

    def fail():
        raise ce.errors.SandboxError("gone")

    with pytest.raises(ce.errors.SandboxError):
        cache.get_or_make("key", fail, keeps=lambda _: True)
    for _ in range(2):
        assert cache.get_or_make("key", lambda: RESULT, keeps=lambda _: False) == RESULT
    assert cache.get("key") is None


def test_memory_is_bounded(monkeypatch):
    """The most recently used results are kept."""
    monkeypatch.setattr("cooperbench_eval.running.cache._MEMORY_LIMIT", 2000)
    cache = ce.ResultCache()
    for number in range(50):
        cache.put(str(number), RESULT)
        assert cache.get("0") == RESULT

    kept = [number for number in range(50) if cache.get(str(number))]

    assert kept[0] == 0
    assert kept[-1] == 49
    assert len(kept) < 25


@pytest.mark.parametrize("kind", ["no database", "folder"])
def test_a_file_that_is_not_a_cache_is_an_error(tmp_path, kind):
    """The error names the file, which is not changed."""
    file = tmp_path / "cache"
    if kind == "folder":
        file.mkdir()
    else:
        file.write_text("precious text, " * 100)

    for use in (lambda c: c.get("key"), lambda c: c.put("key", RESULT)):
        with pytest.raises(ce.errors.TestRunError, match=r"cache .* cannot be used"):
            use(ce.ResultCache(file))
    assert kind == "folder" or file.read_text().startswith("precious")


def test_processes_that_cannot_lock_do_not_wait(tmp_path):
    """The lock files may belong to another user; then a run may take place twice."""
    (tmp_path / "results.sqlite-locks").write_bytes(b"")
    cache = ce.ResultCache(tmp_path / "results.sqlite")

    made = cache.get_or_make("key", lambda: RESULT, lambda _: True)

    assert (made, cache.get("key")) == (RESULT, RESULT)

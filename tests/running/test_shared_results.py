"""Processes of one machine share results, and only one at a time makes a run."""

import gc
import multiprocessing
import os
import pickle
import shutil
import signal
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest
from needs import need_bubblewrap
from sharingparts import RESULT, ask, die, fill_a_disk, made, make_noted

import cooperbench_eval as ce
from cooperbench_eval.running import cache as cache_module
from cooperbench_eval.running.cache import share_with_copies

SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture
def shared():
    """Return a cache in memory that shares its results with its copies."""
    cache = ce.ResultCache()
    share_with_copies(cache)
    return cache


def copy_of(cache):
    """Return a cache as it arrives in another process."""
    return pickle.loads(pickle.dumps(cache))  # noqa: S301 - our own


def folder_of(cache):
    """Return the folder through which a cache in memory shares its results."""
    return next(each for each in vars(cache._memory.shared).values() if isinstance(each, Path))


def rows_of(cache):
    """Return the files that hold its results."""
    return [file for file in folder_of(cache).iterdir() if file.suffix != ".lock"]


@pytest.fixture(scope="module")
def pool():
    """Return two processes."""
    with ProcessPoolExecutor(2, mp_context=SPAWN) as executor:
        yield executor


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_processes_that_need_one_result_wait_for_the_first(kind, tmp_path, shared, pool):
    """Each result is made once; a result that may not be kept is made by each process."""
    cache = shared if kind == "memory" else ce.ResultCache(tmp_path / "new" / "cache")
    kept, lost = str(tmp_path / "kept"), str(tmp_path / "lost")

    assert list(pool.map(ask, [(cache, kept, True)] * 2)) == [[RESULT] * 3] * 2
    assert made(kept) == 3
    assert cache.get("a") == RESULT
    lost_cache = ce.ResultCache(tmp_path / "lost-cache") if kind == "file" else ce.ResultCache()
    share_with_copies(lost_cache)
    assert list(pool.map(ask, [(lost_cache, lost, False)] * 2)) == [[RESULT] * 3] * 2
    assert made(lost) == 6
    assert lost_cache.get("a") is None


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_nobody_waits_for_a_process_that_died(kind, tmp_path, shared):
    """The next process makes the result, even if a child of the dead one has its files open."""
    cache = shared if kind == "memory" else ce.ResultCache(tmp_path / "cache")
    log = tmp_path / "log"
    process = SPAWN.Process(target=die, args=((cache, log),))
    process.start()
    while not log.exists():
        time.sleep(0.01)
    began = time.monotonic()

    found = cache.get_or_make("key", lambda: make_noted(log), keeps=bool)

    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert found == RESULT
    assert made(log) == 2
    assert time.monotonic() - began < 10


def test_an_error_lets_the_next_one_try(shared):
    """Nothing is cached, and the lock is released."""
    with pytest.raises(ZeroDivisionError):
        shared.get_or_make("key", lambda: 1 // 0, keeps=bool)

    assert copy_of(shared).get_or_make("key", lambda: RESULT, keeps=bool) == RESULT
    assert shared.get("key") == RESULT


def remove(folder):
    """Remove the folder, as a program does that cleans up temporary files."""
    shutil.rmtree(folder)


def replace(folder):
    """Replace the folder with another one."""
    folder.rename(f"{folder}-away")
    folder.mkdir(0o700)


def open_up(folder):
    """Let everybody write to the folder."""
    folder.chmod(0o777)


def shut(folder):
    """Let nobody write to the folder."""
    folder.chmod(0o500)


def link(folder):
    """Rename the folder, and put a link to it in its place."""
    folder.rename(folder.with_name(f"{folder.name}-away"))
    folder.symlink_to(folder.with_name(f"{folder.name}-away"))


@pytest.mark.parametrize("deed", [remove, replace, open_up, shut, link])
def test_without_its_folder_each_process_has_its_own_results(deed, shared):
    """No result is lost, and what replaced the folder is neither read nor written."""
    shared.put("before", RESULT)
    copies = copy_of(shared), copy_of(shared)
    assert copies[0].get("before") == RESULT
    folder, asked = folder_of(shared), []

    deed(folder)
    for each in copies * 2:
        each.get_or_make("after", lambda: asked.append(1) or RESULT, keeps=bool)

    assert len(asked) == 2
    assert copies[0].get("before") == RESULT
    assert copies[1].get("before") is None
    if folder.is_dir() and not folder.is_symlink():
        folder.chmod(0o700)
        assert len(rows_of(shared)) == (deed in {open_up, shut})
    if deed is link:
        folder.unlink()
        folder.with_name(f"{folder.name}-away").rename(folder)
        assert len(rows_of(shared)) == 1


def test_a_full_disk_leaves_nothing_unfinished(shared, pool):
    """The process keeps its own results."""
    assert pool.submit(fill_a_disk, shared).result() == 1
    assert rows_of(shared) == []
    assert shared.get("full") is None


def test_another_machine_does_not_use_the_folder(shared, monkeypatch):
    """On another machine, the folder with that name may be somebody else's."""
    shared.put("key", RESULT)
    monkeypatch.setattr(cache_module, "_machine", lambda: "another")

    copy = copy_of(shared)
    copy.put("other", RESULT)

    assert copy.get("key") is None
    assert len(rows_of(shared)) == 1


def test_what_somebody_else_writes_counts_as_absent(shared, tmp_path):
    """Only a copy can write a result, and only under its own key."""
    for key in ("one", "two"):
        shared.put(key, ce.TestResult(status="passed", output=key))
    one, two = (shared._memory.shared._file(key) for key in ("one", "two"))
    right, other = one.read_bytes(), two.read_bytes()

    for forged in (other, right[:-1], right[:32], b"", other[:32] + right[32:], right + b"x"):
        one.write_bytes(forged)
        assert copy_of(shared).get("one") is None
    for make in (lambda: one.symlink_to(two), lambda: os.mkfifo(one), one.mkdir):
        one.rename(tmp_path / "away")
        make()
        assert copy_of(shared).get("one") is None
        one.rename(tmp_path / make.__name__)
        (tmp_path / "away").rename(one)
    one.write_bytes(right)
    assert copy_of(shared).get("one").output == "one"


def test_the_folder_is_private_bounded_and_removed_at_the_end(monkeypatch):
    """The oldest results are dropped first."""
    cache = ce.ResultCache()
    share_with_copies(cache)
    folder = folder_of(cache)
    assert folder.stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(cache_module, "_MEMORY_LIMIT", 20_000)
    for number in range(100):
        text = os.urandom(2000).hex()  # about as many bytes when it is packed
        cache.put(str(number), ce.TestResult(status="passed", output=text))

    assert 10_000 < sum(file.stat().st_size for file in rows_of(cache)) < 25_000
    copy = copy_of(cache)
    assert copy.get("99") is not None
    assert copy.get("50") is None
    del cache
    gc.collect()
    assert not folder.exists()
    copy.put("later", RESULT)
    assert not folder.exists()


def test_one_cache_has_one_folder():
    """Each batch of a runner finds the results of the one before it; a file needs no folder."""
    cache, file = ce.ResultCache(), ce.ResultCache("never-made")
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(share_with_copies, [cache, file, None] * 8))

    first = copy_of(cache)
    share_with_copies(cache)
    copy_of(cache).put("key", RESULT)

    assert first.get("key") == RESULT
    assert file._memory.shared is None


def test_a_run_in_bubblewrap_does_not_see_the_folder(shared):
    """So a hostile test can neither read nor change the results of others."""
    need_bubblewrap()
    folder = folder_of(shared)
    suite = ce.TestSuite(command=("test", "!", "-e", str(folder)), framework="exit")
    base = ce.Snapshot.from_files({"a": b""})

    run = ce.TestRunner(sandbox="bubblewrap", cache=shared).run(base, ce.Changes(), suite)
    plain = ce.TestRunner(sandbox="local", cache=shared).run(base, ce.Changes(), suite)

    assert run.status is ce.TestStatus.PASSED
    assert plain.status is not ce.TestStatus.PASSED  # the local sandbox hides nothing

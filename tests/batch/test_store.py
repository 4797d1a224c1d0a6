"""A store of reports: each there whole or not at all, and found by its key."""

import contextlib
import json
import os
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attrs
import pytest
from batchparts import pair

import cooperbench_eval as ce
from cooperbench_eval.batch.packing import pack

KEY, OTHER = "ab" * 32, "cd" * 32
REPORT = ce.Evaluator().evaluate(pair(1))
BROKEN = attrs.evolve(REPORT, failure=ce.Failure(kind="worker_lost", problem="gone"))


@pytest.fixture
def store(tmp_path):
    """A store that is ready."""
    store = ce.ReportStore(tmp_path / "deep" / "store")
    store.prepare()
    return store


def files(store):
    """Every file of a store but the locks."""
    found = (file for file in store.directory.rglob("*") if file.is_file())
    return sorted(str(file.relative_to(store.directory)) for file in found)


def test_what_was_put_is_there(store):
    """By its key, in the list of keys, and among all reports."""
    store.put(KEY, REPORT)

    assert KEY in store
    assert OTHER not in store
    assert store.get(KEY) == REPORT
    assert store.get(OTHER) is None
    assert store.keys() == {KEY}
    assert list(store) == [REPORT]
    assert [facts.task_id for facts in store.facts()] == [1]
    assert len(store) == 1


@pytest.mark.parametrize("mask", [0o002, 0o022, 0o077])
def test_a_stores_files_have_the_mode_of_new_files(tmp_path, mask):
    """Who shares new files with a group shares a store with it, locks included."""
    store = ce.ReportStore(tmp_path / "store")
    before = os.umask(mask)
    try:
        store.prepare()
        store.put(KEY, REPORT)
        claims = store.claims()
        claims.take(KEY)
    finally:
        os.umask(before)

    modes = {file: file.stat().st_mode for file in store.directory.rglob("*")}
    claims.release(KEY)
    assert any(file.suffix == ".lock" for file in modes)
    for file, mode in modes.items():
        new = 0o777 if file.is_dir() else 0o666
        assert stat.S_IMODE(mode) == new & ~mask, file


def test_another_object_sees_the_same(store):
    """Everything is on the disk."""
    store.put(KEY, REPORT)

    assert list(ce.ReportStore(str(store.directory))) == [REPORT]


def test_a_report_that_is_not_final_is_kept_but_not_known(store):
    """Its pair is evaluated again; until then it tells what happened."""
    store.put(KEY, BROKEN)

    assert KEY not in store
    assert store.keys() == frozenset()
    assert store.get(KEY) is None
    assert list(store) == [BROKEN]
    assert [facts.failure for facts in store.facts()] == ["worker_lost"]


def test_the_final_report_takes_the_other_ones_place(store):
    """One pair, one report; also where a process died between writing and removing."""
    store.put(KEY, BROKEN)
    retry = next(store.directory.rglob("*.retry.json"))
    torn = retry.read_bytes()

    store.put(KEY, REPORT)
    assert list(store) == [REPORT]
    retry.write_bytes(torn)

    assert list(store) == [REPORT]
    assert len(store) == 1


def test_large_parts_are_shared_between_reports(store):
    """Two reports with one output take its room once."""
    loud = ce.TestResult(status="passed", output="x" * 100_000)
    feature = attrs.evolve(REPORT.feature1, tests=loud)
    for key, number in ((KEY, 1), (OTHER, 2)):
        store.put(key, attrs.evolve(REPORT, task_id=number, feature1=feature))

    sizes = [(store.directory / name).stat().st_size for name in files(store)]
    assert sum(size > 50_000 for size in sizes) == 1
    assert [report.feature1.tests for report in store] == [loud, loud]


def test_a_store_of_a_newer_schema_is_refused(store):
    """Read or written: with its version, and untouched."""
    (store.directory / "store.json").write_text('{"schema_version": 99}')
    before = files(store)

    for use in (store.prepare, store.keys, lambda: list(store), lambda: list(store.facts())):
        with pytest.raises(ce.ReportError, match="schema version 99"):
            use()

    assert files(store) == before


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema_version": ', '{"schema_version": true}']
)
def test_a_store_that_does_not_say_its_version_is_refused(store, text):
    """Nobody knows what it holds."""
    (store.directory / "store.json").write_text(text)

    with pytest.raises(ce.ReportError, match="version"):
        list(store)


def test_a_folder_that_is_no_store_is_not_an_empty_one(tmp_path):
    """A mistyped path must not give a summary of nothing."""
    for use in (list, len, lambda store: store.keys(), lambda store: list(store.facts())):
        with pytest.raises(ce.ReportError, match="not a store"):
            use(ce.ReportStore(tmp_path / "typo"))

    assert not (tmp_path / "typo").exists()


def test_a_damaged_report_is_told_by_its_file(store):
    """Torn by the machine, or edited."""
    store.put(KEY, REPORT)
    file = next(store.directory.rglob(f"{KEY}.json"))
    file.write_bytes(file.read_bytes()[:100])

    for read in (lambda: store.get(KEY), lambda: list(store), lambda: list(store.facts())):
        with pytest.raises(ce.ReportError, match=KEY):
            read()

    store.set_aside(KEY)
    assert KEY not in store
    assert list(store) == []


def test_a_part_that_is_missing_is_told(store):
    """As for a copy of a store without its parts."""
    loud = ce.TestResult(status="passed", output="x" * 100_000)
    store.put(KEY, attrs.evolve(REPORT, feature1=attrs.evolve(REPORT.feature1, tests=loud)))
    for part in (store.directory / "parts").rglob("*"):
        if part.is_file():
            part.unlink()

    with pytest.raises(ce.ReportError, match=KEY):
        store.get(KEY)


@pytest.mark.parametrize(
    "beside", [7, "diff", [7], [[]], [["diff", "x"]], [["no"]], [["attempts", 9]], [[{}]]]
)
def test_a_head_that_names_no_place_is_refused(store, beside):
    """Whatever it says instead."""
    store.put(KEY, REPORT)
    data = REPORT.to_dict() | {"beside": beside}
    next(store.directory.rglob(f"{KEY}.json")).write_text(json.dumps(data))

    with pytest.raises(ce.ReportError):
        store.get(KEY)


@pytest.mark.parametrize("digest", ["../../../secret", "x" * 64, 7, None, ""])
def test_a_head_names_no_file_outside_of_the_store(store, tmp_path, digest):
    """A store may come from somebody else."""
    (tmp_path / "secret").write_text("secret")
    data = REPORT.to_dict() | {"diff": {"text_sha256": digest}, "beside": [["diff"]]}
    store.put(KEY, REPORT)
    next(store.directory.rglob(f"{KEY}.json")).write_text(json.dumps(data))

    with pytest.raises(ce.ReportError):
        store.get(KEY)


@pytest.mark.parametrize("kind", ["text", "json"])
@pytest.mark.parametrize("damage", [b"", b"x" * 20_000_000])
def test_a_part_that_is_not_what_it_was_is_told_and_made_anew(store, kind, damage):
    """As after a power cut; its name is the digest of what it has to be."""
    cases = [ce.TestCase(id=f"test_{n}", status="passed") for n in range(100)]
    loud = ce.TestResult(status="passed", output="o" * 50_000, cases=cases)
    report = attrs.evolve(REPORT, feature1=attrs.evolve(REPORT.feature1, tests=loud))
    store.put(KEY, report)
    data = {"text": b"oooo", "json": b'[{"id"'}[kind]
    [part] = [
        file
        for file in (store.directory / "parts").rglob("*")
        if file.is_file() and file.read_bytes().startswith(data)
    ]
    part.write_bytes(damage)

    store.put(OTHER, report)
    assert store.get(OTHER) == report, "another report has mended it"

    part.write_bytes(damage)
    with pytest.raises(ce.ReportError, match="has changed since"):
        store.get(KEY)

    store.put(KEY, report)
    assert store.get(KEY) == report


def test_a_key_is_no_path(store, tmp_path):
    """Whoever makes one up."""
    for key in ("../../../escaped", "", "x", "AB" * 32):
        with pytest.raises(ce.ReportError, match="is not a key"):
            store.put(key, REPORT)
        with pytest.raises(ce.ReportError, match="is not a key"):
            store.get(key)

    assert not list(tmp_path.rglob("escaped*"))


def test_a_relative_path_is_that_of_the_moment(tmp_path, monkeypatch):
    """Whoever changes the directory later."""
    monkeypatch.chdir(tmp_path)
    store = ce.ReportStore("results")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    store.prepare()
    store.put(KEY, REPORT)

    assert (tmp_path / "results" / "store.json").exists()
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("place", [("conflict_details", "conflict_lines"), ("facts", "k")])
def test_a_number_beyond_all_bounds_is_refused(store, place):
    """By the error that readers expect, or taken as it is."""
    store.put(KEY, REPORT)
    file = next(store.directory.rglob(f"{KEY}.json"))
    data = json.loads(file.read_bytes())
    data[place[0]][place[1]] = 10**400
    data["facts"]["attempts"][0]["duration_seconds"] = 10**400
    file.write_text(json.dumps(data))

    for read in (lambda: list(store.facts()), lambda: list(store)):
        with contextlib.suppress(ce.ReportError):
            read()


def test_readers_never_see_half_a_report(store):
    """While a writer replaces it again and again."""
    reports = [attrs.evolve(REPORT, task_id=n, model=str(n) * 50_000) for n in (1, 2)]
    store.put(KEY, reports[0])
    stop = threading.Event()

    def write():
        packed = [pack(report) for report in reports]
        while not stop.is_set():
            for each in packed:
                store.put_packed(KEY, each)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        seen = {store.get(KEY).task_id for _ in range(200)}
    finally:
        stop.set()
        writer.join()

    assert seen <= {1, 2}
    assert not list((store.directory / "unfinished").iterdir())


def test_what_killed_processes_left_unfinished_goes_in_time(store):
    """Not at once: somebody may be writing it."""
    folder = store.directory / "unfinished"
    folder.mkdir(exist_ok=True)
    for name, age_hours in (("old", 48), ("new", 1)):
        (folder / name).write_bytes(b"half")
        then = time.time() - age_hours * 3600
        os.utime(folder / name, (then, then))

    store.prepare()

    assert [file.name for file in folder.iterdir()] == ["new"]


def test_a_store_that_cannot_be_written_says_so(tmp_path):
    """A file in its place."""
    (tmp_path / "store").write_text("mine")

    with pytest.raises(ce.ReportError, match="cannot be written"):
        ce.ReportStore(tmp_path / "store").prepare()

    assert (tmp_path / "store").read_text() == "mine"


# --- claims ------------------------------------------------------------------------


def elsewhere(function, *arguments):
    """Call a function in another thread."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(function, *arguments).result()


def test_a_batch_that_stands_still_in_this_thread_is_an_error(store):
    """It would be waited for without end; one in another thread goes on meanwhile."""
    mine, yours = store.claims(), store.claims()
    mine.take(KEY)

    with pytest.raises(ce.BatchError, match="of this thread"):
        yours.take(KEY)
    assert not elsewhere(yours.take, KEY)

    mine.release(KEY)
    assert yours.take(KEY)


def test_a_claim_keeps_others_off_until_it_is_given_back(store):
    """Whoever is next, in this process or another."""
    mine, yours = store.claims(), store.claims()

    assert mine.take(KEY)
    assert not elsewhere(yours.take, KEY)
    assert yours.take(OTHER)
    mine.release(KEY)
    assert yours.take(KEY)
    yours.release(OTHER)
    assert mine.take(OTHER)


def test_two_keys_of_one_file_are_held_until_both_are_given_back(store):
    """Within one batch they do not stand in each other's way."""
    near = KEY[:10] + "0" * 54
    mine, yours = store.claims(), store.claims()

    assert mine.take(KEY)
    assert mine.take(near)
    mine.release(KEY)
    assert not elsewhere(yours.take, near)
    mine.release(near)
    assert yours.take(near)


def test_a_claim_dies_with_its_process(store):
    """However it ends; nobody waits for the dead."""
    script = (
        "import sys, time, cooperbench_eval as ce\n"
        f"claims = ce.ReportStore({str(store.directory)!r}).claims()\n"
        f"print(claims.take({KEY!r}), flush=True)\ntime.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"True\n"
        assert not store.claims().take(KEY)

        process.kill()
        process.wait()

        assert store.claims().take(KEY)


def test_a_forked_child_does_not_keep_a_claim(store):
    """As that of a pool, which may outlive whoever held it."""
    claims = store.claims()
    claims.take(KEY)
    child = os.fork()
    if not child:
        time.sleep(60)
        os._exit(0)
    try:
        claims.release(KEY)
        assert store.claims().take(KEY)
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


def test_a_forked_child_does_not_keep_a_claim_of_the_dead(store):
    """The one who claimed is killed, its child lives on."""
    script = (
        "import os, time, cooperbench_eval as ce\n"
        f"claims = ce.ReportStore({str(store.directory)!r}).claims()\n"
        f"claims.take({KEY!r})\n"
        "child = os.fork()\n"
        "if child: print(child, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        child = int(process.stdout.readline())
        try:
            process.kill()
            process.wait()
            deadline = time.monotonic() + 5
            while not (taken := store.claims().take(KEY)) and time.monotonic() < deadline:
                time.sleep(0.05)

            assert taken
        finally:
            os.kill(child, 9)


def test_locks_are_files_of_the_store_and_few(store):
    """They are never more than the digits that name them allow."""
    claims = store.claims()
    for number in range(50):
        claims.take(f"{number % 5:064x}"[::-1])

    locks = list((store.directory / "claims").iterdir())
    assert 0 < len(locks) <= 5
    assert all(Path(lock).suffix == ".lock" for lock in locks)

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
from cooperbench_eval.evaluation.batch.packing import pack

KEY, OTHER = "ab" * 32, "cd" * 32
REPORT = ce.Evaluator().evaluate(pair(1))
BROKEN = attrs.evolve(REPORT, failure=ce.reporting.Failure(kind="worker_lost", problem="gone"))


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


def test_a_stored_report_is_found(store):
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
    """A group that may read the user's new files can use the store, including its locks."""
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
    """Everything is on disk."""
    store.put(KEY, REPORT)

    assert list(ce.ReportStore(str(store.directory))) == [REPORT]


def test_a_report_that_is_not_final_is_kept_without_a_key(store):
    """Its pair is evaluated again; until then the report describes the failure."""
    store.put(KEY, BROKEN)

    assert KEY not in store
    assert store.keys() == frozenset()
    assert store.get(KEY) is None
    assert list(store) == [BROKEN]
    assert [facts.failure for facts in store.facts()] == ["worker_lost"]


def test_the_final_report_replaces_the_other_one(store):
    """A pair has one report, even if a process died before it removed the other file."""
    store.put(KEY, BROKEN)
    retry = next(store.directory.rglob("*.retry.json"))
    torn = retry.read_bytes()

    store.put(KEY, REPORT)
    assert list(store) == [REPORT]
    retry.write_bytes(torn)

    assert list(store) == [REPORT]
    assert len(store) == 1


def test_large_parts_are_shared_between_reports(store):
    """Two reports with the same output store it once."""
    loud = ce.TestResult(status="passed", output="x" * 100_000)
    feature = attrs.evolve(REPORT.feature1, tests=loud)
    for key, number in ((KEY, 1), (OTHER, 2)):
        store.put(key, attrs.evolve(REPORT, task_id=number, feature1=feature))

    sizes = [(store.directory / name).stat().st_size for name in files(store)]
    assert sum(size > 50_000 for size in sizes) == 1
    assert [report.feature1.tests for report in store] == [loud, loud]


def test_a_store_with_a_newer_schema_is_rejected(store):
    """For reading and writing; the error names the version, and no file changes."""
    (store.directory / "store.json").write_text('{"schema_version": 99}')
    before = files(store)

    for use in (store.prepare, store.keys, lambda: list(store), lambda: list(store.facts())):
        with pytest.raises(ce.errors.ReportError, match="schema version 99"):
            use()

    assert files(store) == before


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema_version": ', '{"schema_version": true}']
)
def test_a_store_without_a_version_is_rejected(store, text):
    """Its format is unknown."""
    (store.directory / "store.json").write_text(text)

    with pytest.raises(ce.errors.ReportError, match="version"):
        list(store)


def test_a_folder_that_is_not_a_store_is_an_error(tmp_path):
    """A mistyped path must not give an empty summary."""
    for use in (list, len, lambda store: store.keys(), lambda store: list(store.facts())):
        with pytest.raises(ce.errors.ReportError, match="not a store"):
            use(ce.ReportStore(tmp_path / "typo"))

    assert not (tmp_path / "typo").exists()


def test_the_error_for_a_damaged_report_names_its_file(store):
    """The file may be incomplete or edited."""
    store.put(KEY, REPORT)
    file = next(store.directory.rglob(f"{KEY}.json"))
    file.write_bytes(file.read_bytes()[:100])

    for read in (lambda: store.get(KEY), lambda: list(store), lambda: list(store.facts())):
        with pytest.raises(ce.errors.ReportError, match=KEY):
            read()

    store.set_aside(KEY)
    assert KEY not in store
    assert list(store) == []


def test_a_missing_part_is_an_error(store):
    """A store may have been copied without its parts."""
    loud = ce.TestResult(status="passed", output="x" * 100_000)
    store.put(KEY, attrs.evolve(REPORT, feature1=attrs.evolve(REPORT.feature1, tests=loud)))
    for part in (store.directory / "parts").rglob("*"):
        if part.is_file():
            part.unlink()

    with pytest.raises(ce.errors.ReportError, match=KEY):
        store.get(KEY)


@pytest.mark.parametrize(
    "beside", [7, "diff", [7], [[]], [["diff", "x"]], [["no"]], [["attempts", 9]], [[{}]]]
)
def test_a_head_with_an_invalid_place_is_rejected(store, beside):
    """The place may be any JSON value."""
    store.put(KEY, REPORT)
    data = REPORT.to_dict() | {"beside": beside}
    next(store.directory.rglob(f"{KEY}.json")).write_text(json.dumps(data))

    with pytest.raises(ce.errors.ReportError):
        store.get(KEY)


@pytest.mark.parametrize("digest", ["../../../secret", "x" * 64, 7, None, ""])
def test_a_head_cannot_refer_to_a_file_outside_the_store(store, tmp_path, digest):
    """A store may come from another person."""
    (tmp_path / "secret").write_text("secret")
    data = REPORT.to_dict() | {"diff": {"text_sha256": digest}, "beside": [["diff"]]}
    store.put(KEY, REPORT)
    next(store.directory.rglob(f"{KEY}.json")).write_text(json.dumps(data))

    with pytest.raises(ce.errors.ReportError):
        store.get(KEY)


@pytest.mark.parametrize("kind", ["text", "json"])
@pytest.mark.parametrize("damage", [b"", b"x" * 20_000_000])
def test_a_changed_part_is_an_error_and_is_written_again(store, kind, damage):
    """A power cut may damage it; its name is the digest of the right contents."""
    cases = [ce.models.TestCase(id=f"test_{n}", status="passed") for n in range(100)]
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
    with pytest.raises(ce.errors.ReportError, match="has changed since"):
        store.get(KEY)

    store.put(KEY, report)
    assert store.get(KEY) == report


def test_a_key_cannot_be_a_path(store, tmp_path):
    """Callers may pass any string as a key."""
    for key in ("../../../escaped", "", "x", "AB" * 32):
        with pytest.raises(ce.errors.ReportError, match="is not a key"):
            store.put(key, REPORT)
        with pytest.raises(ce.errors.ReportError, match="is not a key"):
            store.get(key)

    assert not list(tmp_path.rglob("escaped*"))


def test_a_relative_path_is_resolved_at_once(tmp_path, monkeypatch):
    """Changing the working directory later has no effect."""
    monkeypatch.chdir(tmp_path)
    store = ce.ReportStore("results")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    store.prepare()
    store.put(KEY, REPORT)

    assert (tmp_path / "results" / "store.json").exists()
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("place", [("conflict_details", "conflict_lines"), ("facts", "k")])
def test_a_huge_number_is_rejected_or_accepted(store, place):
    """If it is rejected, the error is the one that readers expect."""
    store.put(KEY, REPORT)
    file = next(store.directory.rglob(f"{KEY}.json"))
    data = json.loads(file.read_bytes())
    data[place[0]][place[1]] = 10**400
    data["facts"]["attempts"][0]["duration_seconds"] = 10**400
    file.write_text(json.dumps(data))

    for read in (lambda: list(store.facts()), lambda: list(store)):
        with contextlib.suppress(ce.errors.ReportError):
            read()


def test_readers_never_see_an_incomplete_report(store):
    """A writer replaces the report again and again meanwhile."""
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


def test_unfinished_files_of_killed_processes_are_removed_later(store):
    """Not at once, because another process may be writing them."""
    folder = store.directory / "unfinished"
    folder.mkdir(exist_ok=True)
    for name, age_hours in (("0" * 32, 48), ("f" * 32, 1), ("notes of the owner", 48)):
        (folder / name).write_bytes(b"half")
        then = time.time() - age_hours * 3600
        os.utime(folder / name, (then, then))

    store.prepare()

    assert {file.name for file in folder.iterdir()} == {"f" * 32, "notes of the owner"}


def test_a_store_that_cannot_be_written_is_an_error(tmp_path):
    """There is a file in its place."""
    (tmp_path / "store").write_text("mine")

    with pytest.raises(ce.errors.ReportError, match="cannot be written"):
        ce.ReportStore(tmp_path / "store").prepare()

    assert (tmp_path / "store").read_text() == "mine"


# --- claims ------------------------------------------------------------------------


def elsewhere(function, *arguments):
    """Call a function in another thread."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(function, *arguments).result()


def test_waiting_for_another_batch_of_this_thread_is_an_error(store):
    """It would wait forever; a batch in another thread goes on by itself."""
    mine, yours = store.claims(), store.claims()
    mine.take(KEY)

    with pytest.raises(ce.errors.BatchError, match="of this thread"):
        yours.take(KEY)
    assert not elsewhere(yours.take, KEY)

    mine.release(KEY)
    assert yours.take(KEY)


def test_a_claim_excludes_others_until_it_is_released(store):
    """In this process and in others."""
    mine, yours = store.claims(), store.claims()

    assert mine.take(KEY)
    assert not elsewhere(yours.take, KEY)
    assert yours.take(OTHER)
    mine.release(KEY)
    assert yours.take(KEY)
    yours.release(OTHER)
    assert mine.take(OTHER)


def test_two_keys_of_one_lock_file_are_held_until_both_are_released(store):
    """Within one batch they do not exclude each other."""
    near = KEY[:10] + "0" * 54
    mine, yours = store.claims(), store.claims()

    assert mine.take(KEY)
    assert mine.take(near)
    mine.release(KEY)
    assert not elsewhere(yours.take, near)
    mine.release(near)
    assert yours.take(near)


def test_a_claim_ends_with_its_process(store):
    """A dead process does not block others, however it ended."""
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
    """A child, as of a process pool, may outlive the holder of the claim."""
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


def test_a_forked_child_does_not_keep_a_dead_parents_claim(store):
    """The parent that holds the claim is killed, and the child goes on."""
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


def test_a_store_has_few_lock_files(store):
    """A part of the key names the file, so their number is bounded."""
    claims = store.claims()
    for number in range(50):
        claims.take(f"{number % 5:064x}"[::-1])

    locks = list((store.directory / "claims").iterdir())
    assert 0 < len(locks) <= 5
    assert all(Path(lock).suffix == ".lock" for lock in locks)

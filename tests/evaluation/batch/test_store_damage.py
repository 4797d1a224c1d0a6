"""A damaged store: what cannot be trusted is set aside, and its pair is evaluated again."""

import datetime as dt
import json
import os
import shutil
import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path

import attrs
import pytest
from batchparts import Ours, by_task, noted, pair, pairs, plain

import cooperbench_eval as ce
from cooperbench_eval.evaluation.batch.packing import pack
from cooperbench_eval.evaluation.batch.workers import WorkerPool

KEY, OTHER = "ab" * 32, "cd" * 32
REPORT = ce.Evaluator().evaluate(pair(1))
LOUD = ce.TestResult(status="passed", output="what it printed\n" * 100)


def heads(folder):
    """Return the final reports' files, sorted by their tasks."""
    files = Path(folder).rglob("reports/*/*.json")
    return sorted(files, key=lambda file: json.loads(file.read_bytes())["task_id"])


def kept(folder):
    """Return what was set aside."""
    return sorted(Path(folder).rglob("*.damaged"))


@pytest.fixture
def store(tmp_path):
    """A store that is ready."""
    store = ce.ReportStore(tmp_path / "store")
    store.prepare()
    return store


# --- bytes ------------------------------------------------------------------------------------


def test_every_byte_of_a_stored_report_is_guarded(store):
    """Of its head and of its part: no changed byte goes unnoticed, whoever reads."""
    feature = attrs.evolve(REPORT.feature1, tests=LOUD)
    nothing = ce.ConflictScorer().score(())
    bare = {"conflicts": (), "conflict_details": nothing, "attempts": ()}
    store.put(KEY, attrs.evolve(REPORT, feature1=feature, **bare))
    [head], [part] = (
        [each for each in (store.directory / folder).rglob("*") if each.is_file()]
        for folder in ("reports", "parts")
    )
    assert store.check(KEY)

    for file in (head, part):
        data = file.read_bytes()
        with file.open("r+b", buffering=0) as opened:
            for at, byte in enumerate(data):
                os.pwrite(opened.fileno(), bytes([byte ^ 1]), at)
                with pytest.raises(ce.errors.ReportError):
                    store.check(KEY)
                if at % 9 == 0:
                    with pytest.raises(ce.errors.ReportError):
                        store.get(KEY)
                if at % 9 == 0 and file == head:
                    with pytest.raises(ce.errors.ReportError):
                        list(store.facts())
                os.pwrite(opened.fileno(), bytes([byte]), at)

    assert store.check(KEY)
    assert store.get(KEY).feature1.tests == LOUD


@pytest.mark.parametrize("cut", [0, 1, 100, -1, -2, -80, -200])
def test_a_head_that_was_cut_off_is_noticed(store, cut):
    """At any place, and also if what remains is JSON."""
    store.put(KEY, REPORT)
    [head] = heads(store.directory)
    head.write_bytes(head.read_bytes()[:cut])

    with pytest.raises(ce.errors.ReportError, match=KEY):
        store.check(KEY)


def test_a_head_without_its_seal_is_noticed(store):
    """Whatever keys it ends with."""
    store.put(KEY, REPORT)
    [head] = heads(store.directory)
    for missing in (["sha256"], ["stored_as", "sha256"], ["stored_as", "sha256", "beside"]):
        data = json.loads(pack(REPORT).head) | {"stored_as": head.name, "sha256": "0" * 64}
        for name in missing:
            del data[name]
        for more in ({}, {"note": 1}):
            head.write_text(json.dumps(data | more))

            with pytest.raises(ce.errors.ReportError, match="has changed"):
                store.check(KEY)


# --- names ------------------------------------------------------------------------------------


def test_a_report_under_another_name_is_refused(store):
    """Its key would promise another pair, or that a retried report is final."""
    store.put(KEY, REPORT)
    store.put(
        OTHER,
        attrs.evolve(REPORT, failure=ce.reporting.Failure(kind="worker_lost", problem="gone")),
    )
    final = heads(store.directory)[0]
    retry = next(store.directory.rglob("*.retry.json"))
    names = [final, retry, final.with_name(f"{KEY}.retry.json"), retry.with_name(f"{OTHER}.json")]
    data = {final: final.read_bytes(), retry: retry.read_bytes()}

    for file, content in data.items():
        for name in names:
            for each in names:
                each.unlink(missing_ok=True)
            name.write_bytes(content)
            if name == file:
                assert len(list(store)) == 1
                continue
            with pytest.raises(ce.errors.ReportError, match="was stored as"):
                list(store)


def test_a_copy_of_a_folder_is_not_read_as_well(store):
    """Each report is yielded once."""
    store.put(KEY, REPORT)
    folder = heads(store.directory)[0].parent
    for name in ("ab copy", "cd"):
        shutil.copytree(folder, folder.with_name(name))
    (folder / "note.json").write_text("{}")

    assert list(store) == [REPORT]
    assert store.keys() == {KEY}


# --- batches ----------------------------------------------------------------------------------


def flip(file, _other):
    """Change a byte."""
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def replaced(make):
    """Put something else in place of the file."""

    def harm(file, other):
        file.unlink()
        make(file, other)

    return harm


def unix_socket(file, _other):
    """Make a socket, whose path must be short."""
    here = Path.cwd()
    os.chdir(file.parent)
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(file.name)
    finally:
        os.chdir(here)


def folder_with_file(file, _other):
    """Make a directory that is not empty."""
    file.mkdir()
    (file / "note").write_text("mine")


HARM = {
    "flip": flip,
    "empty": lambda file, _: file.write_bytes(b""),
    "cut": lambda file, _: file.write_bytes(file.read_bytes()[:-1]),
    "longer": lambda file, _: file.write_bytes(file.read_bytes() + b"\n"),
    "copy of another": lambda file, other: shutil.copyfile(other, file),
    "folder": replaced(folder_with_file),
    "fifo": replaced(lambda file, _: os.mkfifo(file)),
    "socket": replaced(unix_socket),
    "link to nothing": replaced(lambda file, _: file.symlink_to("nothing")),
    "link to itself": replaced(lambda file, _: file.symlink_to(file)),
    "link to another": replaced(lambda file, other: file.symlink_to(other)),
    "link to a device": replaced(lambda file, _: file.symlink_to("/dev/zero")),
}


@pytest.mark.parametrize("workers", ["threads", "processes"])
def test_every_kind_of_damage_is_set_aside_in_a_batch(tmp_path, workers):
    """Two workers evaluate those pairs again; each pair is yielded once."""
    log, store = tmp_path / "log", tmp_path / "store"
    evaluator = ce.Evaluator(strategies=["naive", Ours(log=log)])
    many = [pair(number) for number in range(len(HARM) + 2)]
    with ThreadPoolExecutor(2) if workers == "threads" else WorkerPool(2) as executor:
        options = {"evaluator": evaluator, "executor": executor, "store": store}
        before = by_task(ce.evaluate_many(many, **options))
        *files, intact, other = heads(store)
        for harm, file in zip(HARM.values(), files, strict=True):
            harm(file, other)
        log.unlink()

        again = by_task(ce.evaluate_many(many, **options))
        once_more = by_task(ce.evaluate_many(many, **options))

    assert again == once_more == before
    assert sorted(noted(log)) == list(range(len(HARM))), "each once, and no intact one"
    assert sorted(each.name for each in kept(store)) == sorted(f"{f.name}.damaged" for f in files)
    assert intact.exists()
    assert by_task(ce.ReportStore(store)) == before


def test_two_reports_that_were_swapped_are_evaluated_again(tmp_path):
    """Neither is yielded for the other, and none twice."""
    with ThreadPoolExecutor(2) as threads:
        options = {"evaluator": ce.Evaluator(), "executor": threads, "store": tmp_path}
        before = by_task(ce.evaluate_many(pairs(4), **options))
        for one, two in permutations(heads(tmp_path), 2):
            one_data, two_data = one.read_bytes(), two.read_bytes()
            one.write_bytes(two_data)
            two.write_bytes(one_data)

            assert by_task(ce.evaluate_many(pairs(4), **options)) == before
            assert by_task(ce.ReportStore(tmp_path)) == before


PART_HARM = {name: HARM[name] for name in ("flip", "empty", "folder", "fifo", "link to nothing")}


@pytest.mark.parametrize("name", [*PART_HARM, "missing"])
def test_a_damaged_part_is_written_again(tmp_path, name):
    """Reports that share it are evaluated again or use the new one."""
    harm = PART_HARM.get(name, lambda file, _: file.unlink())
    base = ce.Snapshot.from_files({"f.py": b"x = 1\n" * 300})
    one, two = (
        ce.Feature(number=n, patch=ce.Changes({"f.py": ce.Entry(text * 300)}).diff(base))
        for n, text in enumerate((b"x = 2\n", b"x = 3\n"))
    )
    facts = {"base": base, "feature1": one, "feature2": two}
    many = [pair(number, **facts) for number in range(3)]
    with ThreadPoolExecutor(2) as threads:
        options = {"evaluator": ce.Evaluator(), "executor": threads, "store": tmp_path}
        before = by_task(ce.evaluate_many(many, **options))
        parts = [file for file in (tmp_path / "parts").rglob("*") if file.is_file()]
        assert parts
        for file in parts:
            harm(file, None)

        assert by_task(ce.evaluate_many(many, **options)) == before
    assert by_task(ce.ReportStore(tmp_path)) == before


def test_batches_that_find_the_same_damage_evaluate_each_pair_once(tmp_path):
    """The second one does not set aside what the first one has just written."""
    log, store = tmp_path / "log", tmp_path / "store"
    evaluator = ce.Evaluator(strategies=["naive", Ours(log=log, seconds=0.02)])
    results = []

    def run():
        with ThreadPoolExecutor(1) as threads:
            options = {"evaluator": evaluator, "executor": threads, "store": store}
            results.append(by_task(ce.evaluate_many(pairs(8), **options)))

    run()
    for file in heads(store):
        flip(file, None)
    log.unlink()
    batches = [threading.Thread(target=run) for _ in range(3)]
    for batch in batches:
        batch.start()
    for batch in batches:
        batch.join()

    assert results[1:] == results[:1] * 3
    assert Counter(noted(log)) == Counter(range(8))
    assert len(kept(store)) == 8


def test_a_file_in_place_of_a_folder_is_set_aside(tmp_path):
    """The reports below it are gone, and are evaluated again."""
    with ThreadPoolExecutor(2) as threads:
        options = {"evaluator": ce.Evaluator(), "executor": threads, "store": tmp_path}
        before = by_task(ce.evaluate_many(pairs(3), **options))
        for name in ("reports", "unfinished"):
            shutil.rmtree(tmp_path / name)
            (tmp_path / name).write_text("mine")

        assert by_task(ce.evaluate_many(pairs(3), **options)) == before
    assert [file.read_text() for file in kept(tmp_path)] == ["mine", "mine"]


def test_a_link_in_place_of_the_unfinished_files_is_not_swept(tmp_path):
    """It may lead to another person's files."""
    store = ce.ReportStore(tmp_path / "store")
    store.prepare()
    mine = tmp_path / "mine"
    mine.mkdir()
    file = mine / ("0" * 32)
    file.write_text("mine")
    then = time.time() - 48 * 3600
    os.utime(file, (then, then))
    shutil.rmtree(store.directory / "unfinished")
    (store.directory / "unfinished").symlink_to(mine)

    store.prepare()

    assert file.exists()


# --- contents ---------------------------------------------------------------------------------


def test_a_sealed_report_that_is_not_valid_is_set_aside(tmp_path):
    """Its digest is right, so only reading it shows what is wrong; the next batch mends it."""
    with ThreadPoolExecutor(1) as threads:
        options = {"evaluator": ce.Evaluator(), "executor": threads, "store": tmp_path}
        [before] = ce.evaluate_many([pair(1)], **options)
        [head] = heads(tmp_path)
        packed = pack(before)
        invalid = attrs.evolve(packed, head=packed.head.replace(b'"task_id":1', b'"task_id":"?"'))
        ce.ReportStore(tmp_path).put_packed(head.name.removesuffix(".json"), invalid)

        [failed] = ce.evaluate_many([pair(1)], **options)
        [again] = ce.evaluate_many([pair(1)], **options)

    assert failed.failure.kind == "not_stored"
    assert plain(again) == plain(before)
    assert len(kept(tmp_path)) == 1


@pytest.mark.parametrize(
    "time", ["9999-12-31T23:59:59-23:59", "9999-12-31T20:00:00-05:00", "0001-01-01T00:00:00+00:01"]
)
def test_a_time_that_utc_cannot_express_is_rejected(time):
    """Statistics convert it to UTC, long after the report was read."""
    data = REPORT.to_dict() | {"timestamp": time}
    head = json.loads(pack(REPORT).head)
    head["facts"]["timestamp"] = time

    with pytest.raises(ce.errors.ReportError, match="cannot be expressed in UTC"):
        ce.MergeReport.from_dict(data)
    with pytest.raises(ce.errors.ReportError, match="cannot be expressed in UTC"):
        ce.analysis.PairFacts.from_dict(head["facts"])
    with pytest.raises(ValueError, match="cannot be expressed in UTC"):
        attrs.evolve(REPORT, timestamp=dt.datetime.fromisoformat(time))


@pytest.mark.parametrize("time", ["9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00-23:59"])
def test_the_first_and_the_last_time_of_utc_are_accepted(time):
    """They can be converted."""
    report = ce.MergeReport.from_dict(REPORT.to_dict() | {"timestamp": time})

    assert report.timestamp.astimezone(dt.UTC).year in {1, 9999}

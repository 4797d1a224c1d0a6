"""Folders of killed processes are removed by the next one; those of live processes stay."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.processes import temporary
from cooperbench_eval.running.trees_on_disk import TreeLender

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders cannot be locked")

RUN = """
import sys, time
from cooperbench_eval.running import LocalSandbox, TestRunner, TestSuite
from cooperbench_eval.running.cache import share_with_copies
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

runner = TestRunner(sandbox=LocalSandbox())
share_with_copies(runner.cache)
suite = TestSuite(command=("sh", "-c", "echo begun >&2; sleep 60"), framework="exit")
runner.run(Snapshot.from_files({"a": b""}), Changes(), suite)
"""
CACHE = """
import sys
from pathlib import Path
from cooperbench_eval.running.sandboxes import overlays
from cooperbench_eval.running.sandboxes.bubblewrap import BubblewrapSandbox

overlays._REFUSED.update(sys.argv[2:])
place = Path(sys.argv[1])
BubblewrapSandbox(writable_cache=[place / "cache"]).run(
    ("sleep", "60"), tree=place / "tree", scratch=place / "scratch", env={}, timeout_seconds=90
)
"""
FORK = """
import os, time
from cooperbench_eval.running.processes.temporary import make_folder
make_folder()
if not os.fork():
    time.sleep(60)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def first_look(monkeypatch, own_temporary_directory):
    """Let this process look for leftovers anew, also for very new ones."""
    monkeypatch.setattr(temporary, "_LEAST_AGE_SECONDS", 0.0)
    monkeypatch.setattr(temporary, "_SWEPT", set())
    return own_temporary_directory


@pytest.fixture
def start(first_look):
    """Return a function that starts a process, and waits until it has some folders."""
    started = []

    def start(script, *arguments, folders=1):
        env = {**os.environ, "TMPDIR": str(first_look)}
        command = (sys.executable, "-c", script, *map(str, arguments))
        before = set(first_look.glob("cooperbench-*"))  # `tempfile` tries a place with a file
        process = subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL)
        started.append(process)
        while len(found := set(first_look.glob("cooperbench-*")) - before) < folders:
            assert process.poll() is None
            time.sleep(0.01)
        return process, found

    yield start
    for process in started:
        process.kill()
        process.wait()


def kill(process):
    """Kill a process, which then cannot clean up."""
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


def next_process_looks():
    """Do what the next process does first."""
    temporary._SWEPT.clear()
    with temporary.temporary_folder():
        pass


def next_processes_remove(*folders):
    """Look until the folders are gone.

    The killed process may have been starting another one, which has all its files for a moment.
    """
    deadline = time.monotonic() + 10
    while any(folder.exists() for folder in folders):
        assert time.monotonic() < deadline, folders
        next_process_looks()


def test_a_killed_runners_trees_and_results_are_removed(start, first_look):
    """They stay until the next process of the same user, and only while the runner lives."""
    process, folders = start(RUN, folders=2)
    assert {"results" in folder.name for folder in folders} == {False, True}
    (tree,) = (folder for folder in folders if "results" not in folder.name)
    while len(list(tree.iterdir())) < 2:  # the scratch directory and the tree
        time.sleep(0.01)

    next_process_looks()
    assert folders <= set(first_look.iterdir())
    kill(process)
    assert folders <= set(first_look.iterdir())

    next_processes_remove(*folders)


@pytest.mark.parametrize("way", ["overlay", "copy"])
def test_a_killed_runs_private_cache_is_removed(start, first_look, tmp_path, bubblewrap, way):
    """The prepared directory stays."""
    for name in ("cache", "tree", "scratch"):
        (tmp_path / name).mkdir()
    (tmp_path / "cache" / "entry").write_text("good")
    refused = [tmp_path / "cache"] if way == "copy" else []

    process, folders = start(CACHE, tmp_path, *refused)
    kill(process)

    next_processes_remove(*folders)
    assert (tmp_path / "cache" / "entry").read_text() == "good"


def test_a_live_child_of_a_killed_process_does_not_keep_its_folders(start, first_look):
    """A fork has its parent's descriptors, but not its folders."""
    process, folders = start(FORK)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not (child := children.read_text().split()):
        time.sleep(0.01)
    time.sleep(0.05)  # the child runs its own first steps

    kill(process)
    try:
        next_processes_remove(*folders)
        assert Path(f"/proc/{child[0]}").exists()
    finally:
        os.kill(int(child[0]), signal.SIGKILL)


def test_the_whole_content_is_removed(first_look):
    """It may be folders without permissions, made by the tests that ran there."""
    folder = first_look / "cooperbench-abc-held"
    (folder / "tree" / "locked").mkdir(parents=True)
    (folder / "tree" / "locked" / "file").write_text("")
    (folder / "tree" / "locked").chmod(0)
    outside = first_look / "precious"
    outside.mkdir()
    (folder / "link").symlink_to(outside)

    next_process_looks()

    assert list(first_look.iterdir()) == [outside]


def test_what_may_belong_to_somebody_else_stays(first_look, monkeypatch):
    """Another user's, another program's, a version's without locks, a link, a file, a new one."""
    elsewhere = first_look / "elsewhere"
    elsewhere.mkdir()
    names = ["cooperbench-abc", "another-abc-held", "cooperbench-results-abc"]
    for name in names:
        (first_look / name).mkdir()
    (first_look / "cooperbench-link-held").symlink_to(elsewhere)
    (first_look / "cooperbench-file-held").write_text("")
    if os.geteuid() == 0:
        (first_look / "cooperbench-foreign-held").mkdir()
        shutil.chown(first_look / "cooperbench-foreign-held", 65534)
    before = set(first_look.iterdir())

    next_process_looks()
    assert set(first_look.iterdir()) == before
    (first_look / "cooperbench-new-held").mkdir()
    monkeypatch.setattr(temporary, "_LEAST_AGE_SECONDS", 60.0)
    next_process_looks()
    assert (first_look / "cooperbench-new-held").is_dir()
    os.utime(first_look / "cooperbench-new-held", (1, 1))
    next_process_looks()
    assert set(first_look.iterdir()) == before


def test_folders_elsewhere_are_cleaned_up_there(first_look, tmp_path):
    """A repository is copied out of an image into the user's cache folder."""
    for place in (first_look, tmp_path):
        (place / "cooperbench-copy-abc-held").mkdir()

    with temporary.temporary_folder("copy-", tmp_path) as folder:
        assert folder.parent == tmp_path
        assert set(tmp_path.glob("cooperbench-*")) == {folder}
        assert (first_look / "cooperbench-copy-abc-held").is_dir()


def test_a_process_looks_only_once(first_look):
    """Later folders cost nothing more."""
    with temporary.temporary_folder():
        (first_look / "cooperbench-abc-held").mkdir()
    with temporary.temporary_folder():
        pass

    assert [each.name for each in first_look.iterdir()] == ["cooperbench-abc-held"]


def test_a_folder_that_was_taken_for_a_leftover_is_made_again(first_look, monkeypatch):
    """A process may be suspended between making a folder and locking it."""
    real, lost = temporary._hold, []

    def hold(folder):
        if len(lost) < 2:
            lost.append(folder)
            descriptor = None if len(lost) == 1 else real(folder)
            shutil.rmtree(folder)
            if descriptor is not None:
                return descriptor
        return real(folder)

    monkeypatch.setattr(temporary, "_hold", hold)

    with temporary.temporary_folder() as folder:
        assert folder.is_dir()
        assert folder not in lost
        assert set(temporary._HELD) >= {folder}
        assert not set(temporary._HELD) & set(lost)


def test_many_processes_may_look_at_once(start, first_look):
    """Each leftover is removed once, and nobody fails or loses a folder."""
    for number in range(30):
        (first_look / f"cooperbench-{number}-held" / "a" / "b").mkdir(parents=True)
    script = """
from cooperbench_eval.running.processes import temporary
temporary._LEAST_AGE_SECONDS = 0.0
for _ in range(20):
    temporary._SWEPT.clear()
    with temporary.temporary_folder() as folder:
        (folder / "mine").write_text("")
        temporary._SWEPT.clear()
        with temporary.temporary_folder():
            assert (folder / "mine").exists()
"""
    env = {**os.environ, "TMPDIR": str(first_look)}
    command = (sys.executable, "-c", script)
    processes = [subprocess.Popen(command, env=env) for _ in range(3)]

    assert [process.wait() for process in processes] == [0, 0, 0]
    assert list(first_look.iterdir()) == []


def test_the_folders_of_work_trees_are_held(first_look):
    """The lock is released when they are removed."""
    lender, base = TreeLender(), Snapshot.from_files({"a": b""})
    before = set(temporary._HELD)
    with lender.lend(base, base) as root:
        assert root.parent in temporary._HELD
        next_process_looks()
        assert root.is_dir()

    del lender
    gc.collect()

    assert set(temporary._HELD) <= before
    assert list(first_look.iterdir()) == []

"""A disk that is full during a run, for a reason other than the run."""

import os
import subprocess
from pathlib import Path

import pytest
from needs import Missing, need_program

import cooperbench_eval as ce

BASE = ce.Snapshot.from_files({"a": b"a\n"})
WRITE = "sleep 0.5; echo some words >out"
FILL = "head -c 9000000 /dev/zero >big; false"


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Return a disk of two megabytes, which holds the trees of runs."""
    need_program("mount")
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.call(mount):
        raise Missing("the superuser", "it mounts a small disk")
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


class FilledByAnother:
    """A local sandbox during whose runs somebody else fills the disk."""

    name = identity = "filled"

    def __init__(self, disk):
        """Fill *disk*."""
        self.other = Path(disk, "other")

    def run(self, command, **options):
        """Run the command on the full disk, which has space again afterwards."""
        with self.other.open("wb", buffering=0) as file:
            for size in (4096, 1):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError:
                    pass
        try:
            return ce.LocalSandbox().run(command, **options)
        finally:
            self.other.unlink()


def run(script, sandbox):
    """Run a script on the base, once."""
    suite = ce.TestSuite(command=("sh", "-c", script), framework="exit", timeout_seconds=20)
    return ce.TestRunner(sandbox=sandbox, retries=0).run(BASE, ce.Changes(), suite)


def test_a_failure_on_a_full_disk_is_no_answer(small):
    """The file system says so, whatever the run prints."""
    result = run(WRITE, FilledByAnother(small))

    assert result.status == "infrastructure_error"
    assert result.reason.startswith("the disk with the run's files was full: ")


def test_a_pass_on_a_full_disk_counts(small):
    """It did not need the space."""
    assert run("true", FilledByAnother(small)).passed


def test_a_run_that_says_that_the_disk_is_full_has_failed(small):
    """There is enough space, so the run itself has failed."""
    result = run("echo 'OSError: [Errno 28] No space left on device' >&2; false", "local")

    assert (small.is_dir(), result.status.value) == (True, "failed")


def test_a_run_that_fills_the_disk_itself_has_failed(small, monkeypatch):
    """Its files hold the space that was free before."""
    monkeypatch.setattr("cooperbench_eval.running.disk_watch._LITTLE", 100 << 10)

    assert run(FILL, "local").status == "failed"
    assert list(small.rglob("other")) == []


def test_a_few_bytes_of_a_run_do_not_fill_a_disk(small):
    """On a disk that is as small as this, any run does, so the run is not blamed."""
    result = run(FILL, "local")

    assert (small.is_dir(), result.status.value) == (True, "infrastructure_error")

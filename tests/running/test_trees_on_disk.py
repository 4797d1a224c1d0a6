"""Working trees contain the right files, whatever earlier runs did to them."""

import gc
import os
import pickle
import shutil
import struct
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from generators import trees
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need_program

from cooperbench_eval.errors import SandboxError
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.running.trees_on_disk import TreeLender

FILES = {
    "a": Entry(b"a\n"),
    "d/b": Entry(b"b\n", FileMode.EXECUTABLE),
    "d/e/c": Entry(b"c\n"),
    "link": Entry(b"a", FileMode.SYMLINK),
    "to-folder": Entry(b"d", FileMode.SYMLINK),
}
BASE = Snapshot.from_files({}).overlay(Changes(FILES))


def found(root):
    """Return the contents of a directory."""
    held = Snapshot.from_dir(root)
    return {path: held.get(path) for path in held.paths()}


def folders(root):
    """Return every folder below a directory."""
    return {str(p.relative_to(root)) for p in Path(root).rglob("*") if p.is_dir()}


def test_a_directory_is_reused_for_the_next_tree():
    """The second time, only the files that differ are written."""
    lender = TreeLender()
    other = BASE.overlay(Changes({"a": None, "d/e/c": None, "new/f": Entry(b"f\n")}))

    with lender.lend(BASE, BASE) as first:
        assert found(first) == FILES
    untouched = (first / "d/b").stat()
    with lender.lend(BASE, other) as second:
        expected = {p: e for p, e in FILES.items() if p not in {"a", "d/e/c"}}
        assert found(second) == expected | {"new/f": Entry(b"f\n")}
        assert folders(second) == {"d", "new", "to-folder"}
    with lender.lend(BASE, BASE) as third:
        assert found(third) == FILES
        assert folders(third) == {"d", "d/e", "to-folder"}

    assert first == second == third
    assert (third / "d/b").stat() == untouched


def dress_up(file):
    """Write into a file and restore its old times."""
    before = file.stat()
    time.sleep(0.01)
    file.write_bytes(b"x" * before.st_size)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def give_to_nobody(folder):
    """Make all later files in a folder unreadable and unwritable."""
    rights = [struct.pack("<HHI", tag, 0, 0xFFFFFFFF) for tag in (1, 4, 32)]
    os.setxattr(folder, "system.posix_acl_default", struct.pack("<I", 2) + b"".join(rights))


DEEDS = {
    "write": lambda root: (root / "a").write_text("x\n"),
    "write in its place, with its times": lambda root: dress_up(root / "a"),
    "delete": lambda root: (root / "d/b").unlink(),
    "rename": lambda root: (root / "d/b").rename(root / "z"),
    "swap": lambda root: [(root / "a").rename(root / "z"), (root / "d/b").rename(root / "a")],
    "add": lambda root: (root / "d/e/new").write_text("x"),
    "add a folder": lambda root: (root / "n/m").mkdir(parents=True),
    "delete a folder": lambda root: shutil.rmtree(root / "d"),
    "folder to file": lambda root: [shutil.rmtree(root / "d"), (root / "d").write_text("x")],
    "file to folder": lambda root: [(root / "a").unlink(), (root / "a/b").mkdir(parents=True)],
    "file to link": lambda root: [(root / "a").unlink(), (root / "a").symlink_to("/etc/passwd")],
    "folder to link": lambda root: [shutil.rmtree(root / "d"), (root / "d").symlink_to("/etc")],
    "other link": lambda root: [(root / "link").unlink(), (root / "link").symlink_to("/")],
    "rights": lambda root: [(root / "d/b").chmod(0o600), (root / "d/e").chmod(0)],
    "rights of the root": lambda root: root.chmod(0),
    "pipe": lambda root: os.mkfifo(root / "p"),
    "hard link": lambda root: os.link(root / "a", root / "d/a"),
    "odd names": lambda root: (root / "new\nline\udcff").write_text("x"),
    "rights for what will be made": lambda root: [give_to_nobody(f) for f in (root, root / "d")],
    "all gone": shutil.rmtree,
}


@pytest.mark.parametrize("deed", DEEDS)
def test_changes_of_a_run_are_undone(deed):
    """This holds even if the run tried to hide them."""
    lender = TreeLender()
    with lender.lend(BASE, BASE) as root:
        DEEDS[deed](root)

    with lender.lend(BASE, BASE) as root:
        assert found(root) == FILES
        assert folders(root) == {"d", "d/e", "to-folder"}
        assert {p.name for p in root.iterdir()} == {"a", "d", "link", "to-folder"}
        assert (root / "d/b").stat().st_mode & 0o100
        assert [os.listxattr(folder) for folder in (root, root / "d")] == [[], []]
        assert (root / "d/e").stat().st_mode & 0o700 == 0o700


def test_nothing_outside_is_touched(tmp_path):
    """A link that a run left is removed and not followed."""
    (tmp_path / "precious").write_text("x")
    lender = TreeLender()

    with lender.lend(BASE, BASE) as root:
        shutil.rmtree(root / "d")
        (root / "d").symlink_to(tmp_path)
        (root / "e").symlink_to(tmp_path)
    with lender.lend(BASE, BASE):
        pass
    del lender
    gc.collect()

    assert [p.name for p in tmp_path.iterdir() if p.name != "temporary"] == ["precious"]


@settings(max_examples=30)
@given(base=trees(), one=trees(), other=trees(), data=st.data())
def test_any_tree_can_follow_any_tree(base, one, other, data):
    """Files may become folders and back; each loan has the requested tree."""
    lender = TreeLender()
    snapshots = [Snapshot.from_files({}).overlay(Changes(each)) for each in (base, one, other)]
    for tree in (*snapshots, data.draw(st.sampled_from(snapshots))):
        with lender.lend(snapshots[0], tree) as root:
            assert Snapshot.from_dir(root).tree_id == tree.overlay(_no_submodules(tree)).tree_id


def _no_submodules(tree):
    """Return the changes that leave submodules out, since they are empty folders on disk."""
    entries = {path: tree.get(path) for path in tree.paths()}
    return Changes({p: None for p, e in entries.items() if e.mode is FileMode.SUBMODULE})


def test_concurrent_runs_have_separate_trees():
    """Only a few directories are kept afterwards."""
    lender = TreeLender()
    with lender.lend(BASE, BASE) as one, lender.lend(BASE, BASE) as other:
        assert one != other
    others = [Snapshot.from_files({"n": str(n).encode()}) for n in range(9)]
    for each in others:
        with lender.lend(each, each):
            pass

    assert len(list(one.parent.iterdir())) <= 4


def test_the_directories_are_removed_with_their_owner(own_temporary_directory):
    """A copy in another process starts without directories."""
    lender = TreeLender()
    with lender.lend(BASE, BASE), lender.scratch() as scratch:
        assert list(scratch.iterdir()) == []
        assert pickle.loads(pickle.dumps(lender)) is not lender  # noqa: S301 - our own
    assert not scratch.exists()
    assert list(own_temporary_directory.iterdir())

    del lender
    gc.collect()

    assert list(own_temporary_directory.iterdir()) == []


def test_a_forked_child_shares_no_tree(own_temporary_directory):
    """A shared tree would be written by two processes, and removed by the first that exits."""
    lender = TreeLender()
    with lender.lend(BASE, BASE) as root:
        pass
    child = os.fork()
    if child == 0:
        with lender.lend(BASE, BASE) as other:
            apart = other != root and other.parent != root.parent
        os._exit(0 if apart else 1)

    assert os.waitpid(child, 0)[1] == 0
    assert root.is_dir()


def test_folders_deeper_than_the_longest_path_are_removed():
    """A hostile run may leave such folders."""
    lender = TreeLender()
    with lender.lend(BASE, BASE) as root:
        here = os.open(root, os.O_RDONLY)
        for _ in range(1100):
            os.mkdir("deep", dir_fd=here)
            below = os.open("deep", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(here)

    assert not (root / "deep").exists()


def test_a_full_disk_is_the_sandboxs_failure(monkeypatch, tmp_path):
    """A retry may help, and the tree is not at fault."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))

    with pytest.raises(SandboxError, match="cannot be written"), TreeLender().scratch():
        pass
    with pytest.raises(SandboxError, match="cannot be written"), TreeLender().lend(BASE, BASE):
        pass


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    """A disk that is nearly full may write only a part, without an error."""
    need_program("mount")
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ("mount", "-t", "tmpfs", "-o", "size=1m", "none", small), check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted: {mounted.stderr.decode().strip()}")
    try:
        tempfile.tempdir = str(small)
        lender = TreeLender()
        big = BASE.overlay(Changes({"big": Entry(b"x" * (2 << 20))}))
        for base in (BASE, big):
            with pytest.raises(SandboxError, match="No space"), lender.lend(base, big):
                pass
        with lender.lend(BASE, BASE) as root:
            assert found(root) == FILES
        del lender
        gc.collect()
    finally:
        subprocess.run(("umount", "-l", small), check=True)


def test_a_deleted_home_is_created_again():
    """A cleaner may delete it; the trees in it are forgotten."""
    lender = TreeLender()
    with lender.lend(BASE, BASE) as root:
        pass
    shutil.rmtree(root.parent)

    with lender.lend(BASE, BASE) as root:
        assert found(root) == FILES

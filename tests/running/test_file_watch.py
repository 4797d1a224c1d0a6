"""The files that decide a verdict are known, and changes of them are noticed."""

import mmap
import os
import shutil
import time
from contextlib import closing
from pathlib import Path

import pytest

from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.running import Execution, LocalSandbox, TestRunner, TestSuite
from cooperbench_eval.running.file_watch import FileWatch, MoveWatch, files_to_watch
from cooperbench_eval.running.results import TestStatus
from cooperbench_eval.running.sandboxes.containers.kernel_watch import CopyWatch

WATCHED = "t/sub/test_a.py"
FILES = {WATCHED: b"one\n", "t/sub/other.txt": b"x\n", "top.py": b"x\n", "link": b"x\n"}


def rewrite(root):
    """Write other text of the same length, write the old text again, and restore the times."""
    file = root / WATCHED
    before = file.stat()
    for text in ("two\n", "one\n"):
        with file.open("r+") as opened:
            opened.write(text)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def append(root):
    """Write more text at the end."""
    with (root / WATCHED).open("a") as file:
        file.write("more")


def rewrite_in_memory(root):
    """Write through a mapping of the file."""
    with (root / WATCHED).open("r+b") as file, mmap.mmap(file.fileno(), 0) as held:
        held[:3] = b"two"


def move_and_back(root):
    """Put another file in its place for a while."""
    file = root / WATCHED
    file.rename(root / "away")
    file.write_text("two\n")
    (root / "away").replace(file)


def replace_by_copy(root):
    """Put a copy with the same times in its place."""
    shutil.copy2(root / WATCHED, root / "copy")
    (root / "copy").replace(root / WATCHED)


def replace_folder_by_link(root):
    """Lead to the same file through a link."""
    (root / "t").rename(root / "away")
    (root / "t").symlink_to(root / "away")


def replace_folder_by_copy(root):
    """Put a copy of the folder in its place."""
    (root / "t").rename(root / "away")
    shutil.copytree(root / "away", root / "t")


def move_folder_and_back(root, name="t"):
    """Put another folder in its place for a while."""
    folder, away = root / name, root / "away"
    folder.rename(away)
    shutil.copytree(away, folder)
    shutil.rmtree(folder)
    away.rename(folder)
    (folder / "made").touch()


CHANGES = {
    "rewrite": rewrite,
    "rewrite in memory": rewrite_in_memory,
    "truncate": lambda root: (root / WATCHED).write_text(""),
    "append": append,
    "delete": lambda root: (root / WATCHED).unlink(),
    "move and back": move_and_back,
    "replace by a copy": replace_by_copy,
    "replace by a link": lambda root: [
        (root / WATCHED).rename(root / "away"),
        (root / WATCHED).symlink_to(root / "away"),
    ],
    "another link": lambda root: os.link(root / WATCHED, root / "second"),
    "rights": lambda root: (root / WATCHED).chmod(0o600),
    "folder by a link": replace_folder_by_link,
    "folder by a copy": replace_folder_by_copy,
    "folder by a file": lambda root: [shutil.rmtree(root / "t"), (root / "t").write_text("")],
    "folder moved and back": move_folder_and_back,
    "deep folder moved and back": lambda root: move_folder_and_back(root, "t/sub"),
    "folder gone": lambda root: shutil.rmtree(root / "t"),
}
HONEST = {
    "nothing": lambda _: None,
    "read": lambda root: (root / WATCHED).read_text(),
    "list": lambda root: list(root.rglob("*")),
    "new files": lambda root: [
        (root / "t/sub/new").write_text("x"),
        (root / "t/sub/__pycache__").mkdir(),
        (root / "t/sub/new").unlink(),
    ],
    "another file": lambda root: (root / "t/sub/other.txt").write_text("y"),
    "another folder moved": lambda root: [
        (root / "t/new").mkdir(),
        (root / "t/new").rename(root / "moved"),
    ],
    "copy": lambda root: shutil.copytree(root / "t", root / "t2"),
    "rights of the folder": lambda root: (root / "t/sub").chmod(0o755),
}


@pytest.fixture
def root(tmp_path):
    """Return a directory with files."""
    folder = tmp_path / "root"
    Snapshot.from_files(FILES).write_to(folder)
    return folder


@pytest.mark.parametrize("deed", CHANGES)
def test_a_change_is_noticed(deed, root):
    """Whatever the run does to hide it."""
    with closing(FileWatch(root, [WATCHED])) as watch:
        time.sleep(0.01)
        CHANGES[deed](root)

        assert watch.changed() == (WATCHED,)


@pytest.mark.parametrize("deed", ["folder by a copy", "folder by a link", "folder gone"])
def test_a_replaced_folder_is_noticed_by_its_inode(deed, root, monkeypatch):
    """Also where the kernel reports no moves."""
    monkeypatch.setattr(MoveWatch, "moved", lambda _: frozenset())
    with closing(FileWatch(root, [WATCHED])) as watch:
        CHANGES[deed](root)

        assert watch.changed() == (WATCHED,)


@pytest.mark.parametrize("deed", HONEST)
def test_other_deeds_are_no_change(deed, root):
    """A run may read the file and write others, even beside it."""
    with closing(FileWatch(root, [WATCHED])) as watch:
        time.sleep(0.01)
        HONEST[deed](root)

        assert watch.changed() == ()


def test_a_watch_sees_nothing_of_the_one_before_it(root):
    """They reuse a queue of events, even if it overflowed before anything was read."""
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    folders = [root / name for name in ("m0", "m1")]
    with closing(MoveWatch()) as first:
        for folder in folders:
            folder.mkdir()
            first.add(folder.name, str(folder))
        for number in range(limit // 2 + 1):
            for at, folder in enumerate(folders):  # equal events in a row are merged
                folders[at] = folder.rename(root / f"{folder.name[0]}{at}-{number}")
    with closing(MoveWatch()) as second:
        second.add("t", str(root / "t"))
        assert second.moved() == frozenset()

        move_folder_and_back(root)

        assert second.moved() == {"t"}


# --- in the copy of a container ----------------------------------------------

OWN_GROUP = (
    Path("/proc/self/cgroup").read_text().strip() if Path("/proc/self/cgroup").exists() else ""
)


@pytest.fixture
def copy(root, tmp_path):
    """Return a copy of the root, which a watch on a container's processes would see."""
    return shutil.copytree(root, tmp_path / "copy")


@pytest.fixture
def watch(root, copy):
    """Return a watch that takes this process for the first one of the container."""
    time.sleep(0.01)
    with closing(CopyWatch(root, str(copy))) as watch:
        watch.open(os.getpid(), OWN_GROUP)
        time.sleep(0.01)
        yield watch


@pytest.mark.parametrize("deed", CHANGES)
def test_a_change_of_a_copy_is_noticed(deed, watch, copy):
    """Compared with the time before the start."""
    CHANGES[deed](copy)

    # Other files of the same folder may have changed too.
    assert watch.changed() - {"t/sub/other.txt"} == {WATCHED}


@pytest.mark.parametrize("deed", sorted(HONEST.keys() - {"another file"}))
def test_other_deeds_in_a_copy_are_no_change(deed, watch, copy):
    """Files that only the container has do not count."""
    HONEST[deed](copy)

    assert watch.changed() == frozenset()


@pytest.mark.parametrize("name", ["", ".."])
def test_a_move_of_the_whole_tree_is_noticed(name, root, tmp_path):
    """Another tree could be in its place for a while."""
    work = tmp_path / "home/work"
    shutil.copytree(root, work)
    moved = work.parent if name else work
    away = tmp_path / "away"
    watches = FileWatch(work, [WATCHED]), CopyWatch(root, str(work))
    with closing(watches[0]), closing(watches[1]):
        watches[1].open(os.getpid(), OWN_GROUP)
        moved.rename(away)
        away.rename(moved)

        assert watches[0].changed() == (WATCHED,)
        assert watches[1].changed() == FILES.keys()


@pytest.mark.parametrize(
    ("process", "group", "at"),
    [
        (2**22 + 1, OWN_GROUP, "copy"),
        (os.getpid(), "another container", "copy"),
        (os.getpid(), OWN_GROUP, "missing"),
        (os.getpid(), OWN_GROUP, "link"),
    ],
    ids=["no such process", "another container", "no copy", "a link"],
)
def test_a_copy_that_cannot_be_seen_tells_nothing(root, copy, process, group, at):
    """The engine may be on another machine, or a link may lead elsewhere."""
    copy.with_name("link").symlink_to(copy)
    with closing(CopyWatch(root, str(copy.with_name(at)))) as watch:
        watch.open(process, group)
        (copy / WATCHED).write_text("two")

        assert watch.changed() == frozenset()


# --- which files ---------------------------------------------------------------


def test_tests_settings_and_the_files_of_the_patch_are_watched():
    """Data only if the patch brings it; lists of dependencies, products and leftovers never."""
    before = Snapshot.from_files(
        {
            "src/product.py": b"",
            "conftest.py": b"",
            "pyproject.toml": b"",
            "tests/test_old.py": b"",
            "tests/helper.py": b"",
            "tests/old.txt": b"",
            "tests/reset.txt": b"x",
            "pkg/a_test.go": b"",
            "x.egg-info/PKG-INFO": b"",
            "node_modules/jest/package.json": b"",
            "tests/__pycache__/conftest.pyc": b"",
            "go.mod": b"",
            "go.sum": b"",
        }
    )
    brought = {
        "tests/test_new.py": Entry(b"x"),
        "tests/new.snap": Entry(b"x"),
        "docs/example.md": Entry(b"x"),
        "link": Entry(b"docs", FileMode.SYMLINK),
        "module": Entry(b"0" * 40, FileMode.SUBMODULE),
        "go.sum": Entry(b"x"),
        "tests/old.txt": None,
        "tests/reset.txt": Entry(b"x"),
    }

    changes = Changes(brought)
    of_agent = {"tests/test_agent.py": Entry(b"x"), "tests/reset.txt": Entry(b"y")}
    tree = before.overlay(Changes(of_agent | {"tests/helper.py": None}))

    assert files_to_watch(before, tree.overlay(changes), changes) == (
        "conftest.py",
        "docs/example.md",
        "link",
        "pkg/a_test.go",
        "pyproject.toml",
        "tests/new.snap",
        "tests/reset.txt",
        "tests/test_agent.py",
        "tests/test_new.py",
        "tests/test_old.py",
    )


# --- what a run is worth -------------------------------------------------------

BASE = Snapshot.from_files({"tests/test_old.py": b"old\n", "product.txt": b"x\n"})
PATCH = Changes({"tests/new.txt": Entry(b"new\n")}).diff(BASE)


def run(script, sandbox=None, **options):
    """Run a shell script as a suite that brings a file."""
    command = ("sh", "-c", script)
    suite = TestSuite(command=command, framework="exit", **{"patch": PATCH} | options)
    return TestRunner(sandbox=sandbox or LocalSandbox()).run(BASE, Changes(), suite)


@pytest.mark.parametrize("status", [0, 1])
@pytest.mark.parametrize("file", ["tests/new.txt", "tests/test_old.py"])
def test_neither_a_pass_nor_a_failure_is_believed(status, file):
    """A failing case may be excused later, so it must be the test's own failure."""
    result = run(f"echo new > {file}; exit {status}")

    assert result.status is TestStatus.INCONCLUSIVE
    assert result.reason == f"the run changed {file}, which its result depends on"
    assert result.exit_code == status


def test_a_long_list_of_files_is_cut():
    """The reason names the first five."""
    patch = Changes({f"tests/{n}.txt": Entry(b"new\n") for n in range(9)}).diff(BASE)

    assert "tests/4.txt and 4 more" in run("rm tests/*.txt", patch=patch).reason


def test_an_end_by_the_deadline_stays():
    """Nothing was judged."""
    assert run("rm -r tests; sleep 9", timeout_seconds=0.3).status is TestStatus.TIMED_OUT


def test_a_set_up_counts_as_part_of_the_run():
    """Code under test may run in it, for example a project's setup.py."""
    result = run("true", setup=[("sh", "-c", "echo new > tests/new.txt")])

    assert "tests/new.txt" in result.reason
    assert run("true", setup=[("sh", "-c", "echo y > product.txt; echo z > tests/z")]).passed


def test_a_suite_that_applies_its_patches_itself_is_not_watched():
    """Its tree is in an image, and its command writes the tests."""
    assert run("echo x > tests.patch; echo x > feature.patch", delivery="patches").passed


def test_a_sandbox_with_a_copy_reports_changes_itself():
    """Other files of the tree do not matter."""

    class Copying(LocalSandbox):
        def run(self, *_, **__):
            changed = frozenset({"tests/new.txt", "product.txt"})
            return Execution(exit_code=0, changed_files=changed)

    assert "the run changed tests/new.txt, which" in run("true", sandbox=Copying()).reason

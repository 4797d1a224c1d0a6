"""Reasons for refusal, and the files after a patch was applied."""

import tracemalloc

import pytest
from generators import forks
from hypothesis import given
from patch_texts import AT_10, AT_20, CHANGE, LINES, NAMES, add, apply, delete, move

from cooperbench_eval.errors import PatchError
from cooperbench_eval.git.patching.apply import apply_patch
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.patching.patch_parts import HunkPlacement, PatchStatus, Rung
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

# --- all or nothing ---


def test_one_hunk_without_a_place_refuses_the_whole_patch():
    """The result says which hunks had a place, and the first reason."""
    data = add(b"y") + NAMES + AT_10.replace(b"line 9", b"line nine") + AT_20 + delete(b"none")

    result, after = apply({"x": LINES}, data)

    assert after == {"x": LINES}
    assert (result.status, result.changes) == (PatchStatus.FAILED, Changes())
    assert result.reason == "x hunk 1: its lines are not there"
    assert result.hunks == (
        HunkPlacement(path="y", hunk=1, rung=Rung.EXACT),
        HunkPlacement(path="x", hunk=1, reason="its lines are not there"),
        HunkPlacement(path="x", hunk=2, rung=Rung.EXACT),
        HunkPlacement(path="none", reason="there is no such file"),
    )


@pytest.mark.parametrize(
    ("files", "data", "reason"),
    [
        ({}, NAMES + CHANGE, "x: there is no such file"),
        ({"x/y": b""}, NAMES + CHANGE, "x: there is no such file"),
        ({"x": b"other\n"}, NAMES + CHANGE, "x hunk 1: its lines are not there"),
        ({"x": b"other\n"}, add(b"x"), "x: the file already exists"),
        ({"x": b"other\n"}, delete(b"x"), "x hunk 1: its lines are not there"),
        (
            {"x": b"old\n"},
            delete(b"x")[:45],
            "x: the deleted file has more lines",
        ),
        ({"x": b"old\nmore\n"}, delete(b"x"), "x hunk 1: its lines are not there"),
        ({"x": b""}, add(b"x/y"), "x/y: a file is where its folder should be"),
        ({"x/y": b""}, add(b"x"), "x: a folder is at its path"),
        ({"x/y": b""}, NAMES + b"@@ -0,0 +1 @@\n+new\n", "x: a folder is at its path"),
        ({}, add(b"x") + add(b"x/y"), "x/y: a file is where its folder should be"),
        ({}, add(b"x/y") + add(b"x"), "x: a folder is at its path"),
        ({"x": b"1", "y": b"2"}, move(b"x", b"y"), "y: the file already exists"),
        ({"x": b"1", "y": b"2"}, move(b"x", b"y", b"copy"), "y: the file already exists"),
        ({"y": b"2"}, move(b"x", b"z"), "z: there is no such file"),
        ({"x": b"old\n"}, delete(b"x") * 2, "x: an earlier change of the patch removes the file"),
        (
            {"x": b"old\n"},
            delete(b"x") + add(b"x") + add(b"x").replace(b"+new", b"+newer"),
            "x: the file already exists",
        ),
        (
            {"x": Entry(b"old\n", FileMode.SYMLINK)},
            b"diff --git a/x b/x\nindex 1111..2222 100644\n" + NAMES + CHANGE,
            "x: the file is of another kind",
        ),
        (
            {"x": Entry(b"1" * 40, FileMode.SUBMODULE)},
            b"diff --git a/x b/x\nindex 1111..2222 120000\n" + NAMES + CHANGE,
            "x: the file is of another kind",
        ),
        (
            {"x": b"old\n"},
            b"diff --git a/x b/x\nold mode 100644\nnew mode 120000\n",
            "x: the file is of another kind",
        ),
        (
            {"x": Entry(b"1" * 40, FileMode.SUBMODULE)},
            NAMES + b"@@ -1 +1 @@\n-Subproject commit %b\n+Subproject commit 2\n" % (b"1" * 40),
            "x: the submodule's commit is not an object id",
        ),
    ],
)
def test_a_refusal_gives_its_reason(files, data, reason):
    """A patch that does not fit is a result that names the file and the problem."""
    result, _ = apply(files, data)

    assert (result.status, result.reason) == (PatchStatus.FAILED, reason)


# --- what becomes of files ---


@pytest.mark.parametrize(
    ("files", "data", "expected"),
    [
        ({"x": b"old\n"}, NAMES + CHANGE, {"x": b"new\n"}),
        ({}, add(b"x"), {"x": b"new\n"}),
        ({}, add(b"d/x"), {"d/x": b"new\n"}),
        ({"x": b"old\n", "y": b""}, delete(b"x"), {"y": b""}),
        ({}, b"diff --git a/x b/x\nnew file mode 100644\n", {"x": b""}),
        ({"x": b""}, b"diff --git a/x b/x\ndeleted file mode 100644\n", {}),
        ({"x": b"1"}, move(b"x", b"d/y"), {"d/y": b"1"}),
        ({"x": b"1"}, move(b"x", b"y", b"copy"), {"x": b"1", "y": b"1"}),
        ({"x": b"1", "y": b"2"}, move(b"x", b"y") + move(b"y", b"x"), {"x": b"2", "y": b"1"}),
        ({"x": b"old\n"}, delete(b"x") + add(b"x"), {"x": b"new\n"}),
        ({"x": b"old\n"}, delete(b"x") + add(b"x/y"), {"x/y": b"new\n"}),
        ({"x/y": b"old\n"}, delete(b"x/y") + add(b"x"), {"x": b"new\n"}),
        ({"x/y": b"old\n"}, add(b"x") + delete(b"x/y"), {"x": b"new\n"}),
        ({}, add(b"x") + delete(b"x").replace(b"-old", b"-new"), {"x": b"new\n"}),
        ({}, add(b"x") + NAMES + b"@@ -1 +1 @@\n-new\n+newer\n", {"x": b"newer\n"}),
        (
            {"x": b"old\n"},
            NAMES + CHANGE + NAMES + b"@@ -1 +1 @@\n-new\n+newer\n",
            {"x": b"newer\n"},
        ),
        ({"x": b"old\n"}, NAMES + CHANGE + move(b"x", b"y"), {"x": b"new\n", "y": b"old\n"}),
        ({}, NAMES + b"@@ -0,0 +1 @@\n+new\n", {"x": b"new\n"}),
        ({"x": b""}, NAMES + b"@@ -0,0 +1 @@\n+new\n", {"x": b"new\n"}),
        ({"x": b"old\n"}, NAMES + b"@@ -1 +0,0 @@\n-old\n", {"x": b""}),
    ],
    ids=[
        "changed",
        "added",
        "added in a new folder",
        "deleted",
        "added empty",
        "deleted empty",
        "renamed",
        "copied",
        "names swapped",
        "deleted and added",
        "made a folder",
        "folder made a file",
        "folder made a file, file first",
        "added and deleted stays, as for git",
        "added and changed",
        "changed twice",
        "changed and renamed: a rename starts from the base, as for git",
        "plain diff adds",
        "plain diff fills an empty file",
        "plain diff empties",
    ],
)
def test_files_are_changed_as_by_git(files, data, expected):
    """A patch may create, delete, rename and copy files in any order."""
    result, after = apply(files, data)

    assert result.reason == ""
    assert after == expected


@pytest.mark.parametrize(
    ("mode", "header", "expected"),
    [
        (FileMode.FILE, b"old mode 100644\nnew mode 100755\n", FileMode.EXECUTABLE),
        (FileMode.EXECUTABLE, b"old mode 100755\nnew mode 100644\n", FileMode.FILE),
        (FileMode.EXECUTABLE, b"old mode 100644\nnew mode 100755\n", FileMode.EXECUTABLE),
        (FileMode.EXECUTABLE, b"index 1111111..2222222 100644\n", FileMode.EXECUTABLE),
        (FileMode.FILE, b"index 1111111..2222222 100755\n", FileMode.FILE),
        (FileMode.EXECUTABLE, b"", FileMode.EXECUTABLE),
    ],
)
def test_modes_change_only_if_a_patch_says_so(mode, header, expected):
    """The mode after the ids is that of the author's file, not the one to set."""
    base = Snapshot.from_files({"x": Entry(b"old\n", mode)})

    result = apply_patch(base, Patch.parse(b"diff --git a/x b/x\n" + header + NAMES + CHANGE))

    assert result.changes["x"] == Entry(b"new\n", expected)


def test_links_and_submodules_are_patched():
    """A link's target is its text; a submodule's commit is on one line."""
    base = Snapshot.from_files(
        {
            "link": Entry(b"old", FileMode.SYMLINK),
            "module": Entry(b"1" * 40, FileMode.SUBMODULE),
        }
    )
    mark = b"\\ No newline at end of file\n"
    data = (
        b"diff --git a/link b/link\nindex 1111111..2222222 120000\n--- a/link\n+++ b/link\n"
        b"@@ -1 +1 @@\n-old\n" + mark + b"+new\n" + mark + b"diff --git a/module b/module\n"
        b"index 1111111..2222222 160000\n--- a/module\n+++ b/module\n@@ -1 +1 @@\n"
        b"-Subproject commit %b\n+Subproject commit %b\n" % (b"1" * 40, b"2" * 40)
    )

    result = apply_patch(base, Patch.parse(data))

    assert dict(result.changes) == {
        "link": Entry(b"new", FileMode.SYMLINK),
        "module": Entry(b"2" * 40, FileMode.SUBMODULE),
    }


@pytest.mark.parametrize("data", [b"", move(b"x", b"y") + move(b"y", b"x").replace(b"y b", b"x b")])
def test_a_patch_that_changes_nothing_is_empty(data):
    """Its status is neither applied nor failed."""
    files = {"x": b"1", "y": b"1"}

    result, after = apply(files, data)

    assert (result.status, result.changes, after) == (PatchStatus.EMPTY, Changes(), files)


def test_a_text_patch_applies_to_a_file_that_is_not_text():
    """NUL, CR and Latin-1 are ordinary contents."""
    before = b"\0\xff\nold \xe9\r\nend"

    _, after = apply(
        {"x": before}, NAMES + b"@@ -1,3 +1,3 @@\n \0\xff\n-old \xe9\r\n+new\n end\n\\ No newline\n"
    )

    assert after["x"] == b"\0\xff\nnew\nend"


@given(forks())
def test_a_refused_patch_changes_nothing_and_says_why(fork):
    """A patch that is accepted has a place for every change."""
    before, after, drifted = (Snapshot.from_files(files) for files in fork)
    patch = Patch.parse(Changes.between(before, after).diff(before))

    result = apply_patch(drifted, patch)

    if result.status is PatchStatus.FAILED:
        assert not result.changes
        assert result.reason
    else:
        assert all(not each.reason for each in result.hunks)
        assert bool(result.changes) == (result.status is PatchStatus.APPLIED)


def test_the_result_is_a_value():
    """It is compared by value, and its repr leaves out contents."""
    one, _ = apply({"x": b"old\n"}, NAMES + CHANGE)
    two, _ = apply({"x": b"old\n"}, NAMES + CHANGE)

    assert one == two
    assert "new" not in repr(one)


def test_reading_a_patch_comes_first():
    """A malformed patch is an error, not a patch that fails to apply."""
    with pytest.raises(PatchError):
        apply_patch(Snapshot.from_files({}), Patch.parse(b"garbage"))


MODIFY = b"--- a/%b\n+++ b/%b\n@@ -1 +1 @@\n-%b\n+new\n"
CREATE = b"--- /dev/null\n+++ b/%b\n@@ -0,0 +1 @@\n+made\n"


@pytest.mark.parametrize(
    ("files", "patch"),
    [
        (
            {"e/f": Entry(b"3\n")},
            CREATE % b"e"
            + MODIFY % (b"e/f", b"e/f", b"3")
            + b"diff --git a/e/f b/y\nrename from e/f\nrename to y\n",
        ),
        (
            {"d": Entry(b"1\n")},
            CREATE % b"d/x"
            + MODIFY % (b"d", b"d", b"1")
            + b"--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-new\n",
        ),
    ],
)
def test_a_file_and_a_folder_of_one_name_are_refused(files, patch):
    """This holds even if a later change would remove one of them."""
    result = apply_patch(Snapshot.from_files(files), Patch.parse(patch))

    assert result.status is PatchStatus.FAILED


def test_a_line_that_is_no_longer_the_last_gets_its_newline():
    """Otherwise the line after it would be joined to it."""
    base = Snapshot.from_files({"x": b"a\nb\nc"})
    patch = Patch.parse(b"--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n a\n b\n c\n+d\n")

    assert apply_patch(base, patch).changes["x"].data == b"a\nb\nc\nd\n"


def test_many_small_patches_are_kept_within_the_bound(monkeypatch):
    """Their objects need more memory than their texts."""
    bound = 500_000
    monkeypatch.setattr("cooperbench_eval.git.patching.apply._KEPT_BYTES", bound)
    base = Snapshot.from_files({"f": b"old\n"})
    texts = [f"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+{n}\n" for n in range(1000)]
    apply_patch(base, Patch.parse(texts[0]))

    tracemalloc.start()
    try:
        for text in texts:
            apply_patch(base, Patch.parse(text))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert bound / 4 < held < 1.3 * bound

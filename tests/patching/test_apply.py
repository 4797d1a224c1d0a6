"""Where hunks go, what is refused and why, and what becomes of files."""

import pytest
from generators import forks
from hypothesis import given

from cooperbench_eval.errors import PatchError
from cooperbench_eval.models import Entry, FileMode, HunkPlacement, PatchStatus, Rung
from cooperbench_eval.patching import Patch, apply_patch
from cooperbench_eval.snapshot import Changes, Snapshot

LINES = b"".join(b"line %d\n" % number for number in range(1, 31))
NAMES = b"--- a/x\n+++ b/x\n"
AT_10 = b"@@ -9,3 +9,3 @@\n line 9\n-line 10\n+LINE 10\n line 11\n"
AT_20 = b"@@ -19,3 +19,3 @@\n line 19\n-line 20\n+LINE 20\n line 21\n"
CHANGE = b"@@ -1 +1 @@\n-old\n+new\n"
MOVE = b"diff --git a/%b b/%b\nsimilarity index 100%%\n%b from %b\n%b to %b\n"
ADD = b"diff --git a/%b b/%b\nnew file mode 100644\n--- /dev/null\n+++ b/%b\n@@ -0,0 +1 @@\n+new\n"
DELETE = b"diff --git a/%b b/%b\ndeleted file mode 100644\n--- a/%b\n+++ /dev/null\n"
DELETE += b"@@ -1 +0,0 @@\n-old\n"


def move(old, new, verb=b"rename"):
    """Return a diff that renames or copies a file unchanged."""
    return MOVE % (old, new, verb, old, verb, new)


def add(path):
    """Return a diff that adds a file with the line `new`."""
    return ADD % (path, path, path)


def delete(path):
    """Return a diff that deletes a file with the line `old`."""
    return DELETE % (path, path, path)


def apply(files, data):
    """Apply a patch to files; return the result and the files after it."""
    base = Snapshot.from_files(files)
    result = apply_patch(base, Patch.parse(data))
    after = base.overlay(result.changes)
    return result, {path: after.read(path) for path in after.paths()}


# --- where hunks go ---


@pytest.mark.parametrize(
    ("before", "hunks", "expected"),
    [
        (LINES, AT_10, [(Rung.EXACT, 0)]),
        (LINES, AT_10 + AT_20, [(Rung.EXACT, 0), (Rung.EXACT, 0)]),
        (b"new\n" * 4 + LINES, AT_10, [(Rung.OFFSET, 4)]),
        (LINES[14:], AT_10, [(Rung.OFFSET, -2)]),
        (b"new\n" + LINES, AT_10 + AT_20, [(Rung.OFFSET, 1), (Rung.OFFSET, 1)]),
        (LINES, AT_10.replace(b"-9,3 +9,3", b"-9999,3 +9999,3"), [(Rung.OFFSET, -9990)]),
        (LINES, AT_10.replace(b"line 9", b"line \t 9"), [(Rung.WHITESPACE, 0)]),
        (b"1\n" + LINES, AT_10.replace(b"line 9", b"line\t9"), [(Rung.WHITESPACE, 1)]),
        (LINES.replace(b"\n", b"\r\n"), AT_10, [(Rung.WHITESPACE, 0)]),
        (LINES, AT_10.replace(b"line 9", b"line  9") + AT_20, [(Rung.WHITESPACE, 0), ("exact", 0)]),
    ],
    ids=[
        "stated lines",
        "two hunks",
        "later",
        "earlier",
        "both later",
        "stated far beyond the end",
        "runs of white space",
        "white space, later",
        "line endings",
        "only one in white space",
    ],
)
def test_hunks_are_placed_rung_by_rung(before, hunks, expected):
    """Each placement says how strict it was and how far from the stated line."""
    result, after = apply({"x": before}, NAMES + hunks)

    assert result.status is PatchStatus.APPLIED
    assert result.reason == ""
    assert [(each.rung, each.offset) for each in result.hunks] == expected
    assert [(each.path, each.hunk) for each in result.hunks] == [
        ("x", number) for number in range(1, len(expected) + 1)
    ]
    assert after["x"].replace(b"\r", b"") == before.replace(b"\r", b"").replace(
        b"line 10\n", b"LINE 10\n"
    ).replace(b"line 20\n", b"LINE 20\n" if AT_20 in hunks else b"line 20\n")


def test_the_nearest_place_is_taken_and_the_later_of_two():
    """Of several places with the same lines."""
    hunk = NAMES + b"@@ -%d,3 +%d,3 @@\n a\n-b\n+B\n c\n"
    block = b"a\nb\nc\n"
    before = b"0\n" + block + b"-\n" * 4 + block + b"end\n"

    for stated, offset in [(2, 0), (4, -2), (5, -3), (6, 3), (7, 2), (9, 0), (12, -3)]:
        result, _ = apply({"x": before}, hunk % (stated, stated))

        assert result.hunks[0].offset == offset, stated
    middle = b"0\n" + block + b"-\n" * 3 + block + b"end\n"
    assert apply({"x": middle}, hunk % (5, 5))[0].hunks[0].offset == 3


def test_the_stated_line_is_the_new_one():
    """It counts what the hunks before it add, so that no hunk is off by their length."""
    hunk = NAMES + b"@@ -2,3 +10,3 @@\n a\n-b\n+B\n c\n"
    block = b"a\nb\nc\n"

    result, after = apply({"x": b"0\n" + block + b"-\n" * 5 + block + b"end\n"}, hunk)

    assert (result.hunks[0].rung, result.hunks[0].offset) == (Rung.EXACT, 0)
    assert after["x"].endswith(b"a\nB\nc\nend\n")


def test_an_exact_place_far_away_beats_a_near_one_in_white_space():
    """The whole patch is tried strictly first."""
    before = b"0\n a\nb\nc\n" + b"-\n" * 9 + b"a\nb\nc\nend\n"

    result, after = apply({"x": before}, NAMES + b"@@ -2,3 +2,3 @@\n a\n-b\n+B\n c\n")

    assert (result.hunks[0].rung, result.hunks[0].offset) == (Rung.OFFSET, 12)
    assert after["x"].startswith(b"0\n a\nb\n")


def test_context_keeps_the_white_space_of_the_file():
    """Only added lines come from the patch."""
    before = b"\tfirst\r\n\told\r\n\tlast\r\nend\r\n"

    _, after = apply(
        {"x": before}, NAMES + b"@@ -1,3 +1,3 @@\n     first\n-    old\n+    new\n     last\n"
    )

    assert after["x"] == b"\tfirst\r\n    new\n\tlast\r\nend\r\n"


@pytest.mark.parametrize(
    ("line", "context"),
    [
        (b"a  b\n", b"a\tb\n"),
        (b"  a\n", b"\ta\n"),
        (b"a \n", b"a\t \n"),
        (b"a\r\n", b"a\n"),
        (b"a \r\n", b"a \n"),
    ],
)
def test_runs_of_white_space_are_equal(line, context):
    """However long, and so are line endings."""
    result, _ = apply(
        {"x": b"1\n" + line + b"old\n2\n3\n"},
        NAMES + b"@@ -2,3 +2,3 @@\n " + context + b"-old\n+new\n 2\n",
    )

    assert result.hunks[0].rung is Rung.WHITESPACE


@pytest.mark.parametrize(
    ("line", "context"),
    [
        (b"ab\n", b"a b\n"),
        (b"a\n", b" a\n"),
        (b"a\n", b"a \n"),
        (b"\n", b" \n"),
        (b"a b\n", b"a\x0cb\n"),
    ],
)
def test_no_white_space_is_not_some(line, context):
    """As for git: a space may grow, it may not appear, not even at a line's end."""
    result, _ = apply(
        {"x": b"1\n" + line + b"old\n2\n3\n"},
        NAMES + b"@@ -2,3 +2,3 @@\n " + context + b"-old\n+new\n 2\n",
    )

    assert result.reason == "x hunk 1: its lines are not there"


@pytest.mark.parametrize(
    ("before", "hunk", "rung"),
    [
        (LINES, b"@@ -1,2 +1 @@\n-line 1\n line 2\n", Rung.EXACT),
        (b"0\n" + LINES, b"@@ -1,2 +1 @@\n-line 1\n line 2\n", None),
        (LINES, b"@@ -29,2 +29 @@\n line 29\n-line 30\n", Rung.EXACT),
        (LINES + b"31\n", b"@@ -29,2 +29 @@\n line 29\n-line 30\n", None),
        (LINES[7:], b"@@ -29,2 +29 @@\n line 29\n-line 30\n", Rung.OFFSET),
        (LINES, b"@@ -10 +10 @@\n-line 10\n+LINE 10\n", None),
        (LINES, b"@@ -30 +30 @@\n-line 30\n+LINE 30\n", Rung.EXACT),
        (LINES, b"@@ -10,0 +11 @@\n+line 10.5\n", Rung.OFFSET),
        (b"old\n", b"@@ -1 +1 @@\n-old\n+new\n", Rung.EXACT),
        (b"old\nmore\n", b"@@ -1 +1 @@\n-old\n+new\n", None),
    ],
    ids=[
        "first lines",
        "no more first",
        "last lines",
        "no more last",
        "last lines of fewer",
        "-U0 amid a file",
        "-U0 at the end",
        "-U0 insertion goes to the end",
        "whole file",
        "no more the whole file",
    ],
)
def test_hunks_without_context_must_stand_at_the_edge(before, hunk, rung):
    """As for git: what has no lines before or behind it is the file's first or last.

    So diffs made with `-U0` mostly fail, and their insertions go to the end.
    """
    result, _ = apply({"x": before}, NAMES + hunk)

    assert result.hunks[0].rung is rung


def test_a_line_is_claimed_once():
    """A hunk cannot stand on lines that another hunk changed or kept."""
    first = b"@@ -9,3 +9,4 @@\n line 9\n line 10\n+new\n line 11\n"
    second = b"@@ -11,3 +12,4 @@\n line 11\n+newer\n line 12\n line 13\n"

    result, _ = apply({"x": LINES}, NAMES + first + second)

    assert [each.reason for each in result.hunks] == ["", "its lines are not there"]


def test_the_newline_at_the_end_is_kept_as_the_file_has_it():
    """A context line of the patch that lacks its newline does not take the file's."""
    hunk = b"@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n"

    for before, expected in [(b"a\nb", b"A\nb"), (b"a\nb\n", b"A\nb\n"), (b"a\nb\nc", b"A\nb\nc")]:
        assert apply({"x": before}, NAMES + hunk)[1]["x"] == expected


# --- all or nothing ---


def test_one_hunk_without_place_refuses_everything():
    """The result says which ones had a place, and the first reason."""
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
        ({"x": b""}, add(b"x"), "x: the file already exists"),
        ({"x": b"other\n"}, delete(b"x"), "x hunk 1: its lines are not there"),
        ({"x": b"old\n"}, delete(b"x")[:45], "x: the deleted file holds more lines"),
        ({"x": b"old\nmore\n"}, delete(b"x"), "x hunk 1: its lines are not there"),
        ({"x": b""}, add(b"x/y"), "x/y: a file stands where its folder should be"),
        ({"x/y": b""}, add(b"x"), "x: a folder stands at its path"),
        ({"x/y": b""}, NAMES + b"@@ -0,0 +1 @@\n+new\n", "x: a folder stands at its path"),
        ({}, add(b"x") + add(b"x/y"), "x/y: a file stands where its folder should be"),
        ({}, add(b"x/y") + add(b"x"), "x: a folder stands at its path"),
        ({"x": b"1", "y": b"2"}, move(b"x", b"y"), "y: the file already exists"),
        ({"x": b"1", "y": b"2"}, move(b"x", b"y", b"copy"), "y: the file already exists"),
        ({"y": b"2"}, move(b"x", b"z"), "z: there is no such file"),
        ({"x": b"old\n"}, delete(b"x") * 2, "x: an earlier change of the patch removes the file"),
        ({"x": b"old\n"}, delete(b"x") + add(b"x") * 2, "x: the file already exists"),
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
            "x: the submodule's commit is no object id",
        ),
    ],
)
def test_a_refusal_gives_its_reason(files, data, reason):
    """A patch that does not fit is a result, with the file and what is wrong."""
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
def test_files_become_what_git_makes_of_them(files, data, expected):
    """Creation, deletion, renames and copies, in any order."""
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
def test_modes_change_only_where_a_patch_says_so(mode, header, expected):
    """The mode behind the ids is what the patch's author had, not what to set."""
    base = Snapshot.from_files({"x": Entry(b"old\n", mode)})

    result = apply_patch(base, Patch.parse(b"diff --git a/x b/x\n" + header + NAMES + CHANGE))

    assert result.changes["x"] == Entry(b"new\n", expected)


def test_links_and_submodules_are_patched():
    """A link's target is its text; a submodule's commit stands in a line of its own."""
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
    """Neither applied nor failed."""
    files = {"x": b"1", "y": b"1"}

    result, after = apply(files, data)

    assert (result.status, result.changes, after) == (PatchStatus.EMPTY, Changes(), files)


def test_a_file_of_no_text_takes_a_text_patch():
    """Bytes are bytes: NUL, CR and Latin-1 are contents like any other."""
    before = b"\0\xff\nold \xe9\r\nend"

    _, after = apply(
        {"x": before}, NAMES + b"@@ -1,3 +1,3 @@\n \0\xff\n-old \xe9\r\n+new\n end\n\\ No newline\n"
    )

    assert after["x"] == b"\0\xff\nnew\nend"


@given(forks())
def test_a_refused_patch_changes_nothing_and_says_why(fork):
    """And one that is taken has a place for every change."""
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
    """Equal by value, and quiet about contents."""
    one, _ = apply({"x": b"old\n"}, NAMES + CHANGE)
    two, _ = apply({"x": b"old\n"}, NAMES + CHANGE)

    assert one == two
    assert "new" not in repr(one)


def test_reading_a_patch_comes_first():
    """A broken patch is no failed application."""
    with pytest.raises(PatchError):
        apply_patch(Snapshot.from_files({}), Patch.parse(b"garbage"))

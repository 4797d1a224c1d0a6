"""Every known quirk of diffs is read, or refused with its line."""

import pytest
from generators import damages, random_bytes
from hypothesis import example, given
from patch_texts import BINARY, CHANGE, DIFF, PLAIN, RENAME, git_diff, only_file

from cooperbench_eval.errors import PatchError
from cooperbench_eval.git.patching.apply import apply_patch
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.patching.patch_parts import FileChange
from cooperbench_eval.git.trees.entries import FileMode
from cooperbench_eval.git.trees.snapshot import Snapshot

# --- what a diff says ---


def test_a_change_is_read_with_its_hunks():
    """Paths without prefix, lines with their sign and newline, ids as abbreviated."""
    data = DIFF.replace(b"@@ -1 +1 @@", b"@@ -3,2 +4,3 @@ def f():").replace(
        b"+new\n", b"+new\n+er\n context\n"
    )

    file = only_file(data)

    assert (file.change, file.old_path, file.new_path) == (FileChange.MODIFY, "x", "x")
    assert (file.path, file.paths) == ("x", ("x",))
    assert (file.old_id, file.new_id) == ("3367afd", "3e75765")
    (hunk,) = file.hunks
    assert (hunk.old_start, hunk.new_start, hunk.section) == (3, 4, b" def f():\n")
    assert hunk.lines == (b"-old\n", b"+new\n", b"+er\n", b" context\n")
    assert hunk.old == [b"old\n", b"context\n"]
    assert hunk.new == [b"new\n", b"er\n", b"context\n"]


def test_the_mode_after_the_ids_is_the_old_one():
    """It is not the mode to set: another patch may have changed it since."""
    file = only_file(DIFF)

    assert (file.old_mode, file.new_mode) == (FileMode.FILE, None)


@pytest.mark.parametrize(
    ("data", "change", "paths", "modes"),
    [
        (
            b"diff --git a/x b/x\nnew file mode 100755\nindex 0000000..e69de29\n",
            FileChange.ADD,
            (None, "x"),
            (None, FileMode.EXECUTABLE),
        ),
        (
            b"diff --git a/x b/x\ndeleted file mode 120000\nindex e69de29..0000000\n",
            FileChange.DELETE,
            ("x", None),
            (FileMode.SYMLINK, None),
        ),
        (
            b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
            FileChange.MODIFY,
            ("x", "x"),
            (FileMode.FILE, FileMode.EXECUTABLE),
        ),
        (RENAME, FileChange.RENAME, ("x", "y"), (None, None)),
        (RENAME.replace(b"rename", b"copy"), FileChange.COPY, ("x", "y"), (None, None)),
        (
            b"diff --git a/v b/v\nindex 1111111..2222222 160000\n--- a/v\n+++ b/v\n" + CHANGE,
            FileChange.MODIFY,
            ("v", "v"),
            (FileMode.SUBMODULE, None),
        ),
        (
            git_diff(
                b"a/x", b"b/y", extra=b"dissimilarity index 60%\nrename from x\nrename to y\n"
            ),
            FileChange.RENAME,
            ("x", "y"),
            (None, None),
        ),
    ],
    ids=["empty added", "empty deleted", "mode", "rename", "copy", "submodule", "rename and edit"],
)
def test_gits_own_headers_are_understood(data, change, paths, modes):
    """The header of a file without hunks says what happens to it."""
    file = only_file(data)

    assert file.change is change
    assert (file.old_path, file.new_path) == paths
    assert (file.old_mode, file.new_mode) == modes


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (b"100644", FileMode.FILE),
        (b"100664", FileMode.FILE),
        (b"100600", FileMode.FILE),
        (b"100755", FileMode.EXECUTABLE),
        (b"100700", FileMode.EXECUTABLE),
        (b"120000", FileMode.SYMLINK),
        (b"160000", FileMode.SUBMODULE),
    ],
)
def test_files_are_executable_or_not(mode, expected):
    """Git knows no other permissions, whatever a mode line says."""
    file = only_file(b"diff --git a/x b/x\nnew file mode " + mode + b"\n")

    assert file.new_mode is expected


@pytest.mark.parametrize(
    ("data", "change", "paths"),
    [
        (PLAIN, FileChange.MODIFY, ("x", "x")),
        (b"--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+new\n", FileChange.ADD, (None, "x")),
        (b"--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n", FileChange.DELETE, ("x", None)),
        (b"--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+new\n", FileChange.ADD, ("x", "x")),
        (b"--- old/x\n+++ new/x\n" + CHANGE, FileChange.MODIFY, ("x", "x")),
        (b"--- x.orig\n+++ x\n" + CHANGE, FileChange.MODIFY, ("x", "x")),
        (
            b"--- a/x\t1970-01-01 01:00:00.000 +0100\n+++ b/x\t2024-05-06\n@@ -0,0 +1 @@\n+1\n",
            FileChange.ADD,
            (None, "x"),
        ),
        (
            b"--- a/x\t2024-05-06\n+++ b/x\t1969-12-31 19:00:00 -0500\n@@ -1 +0,0 @@\n-1\n",
            FileChange.DELETE,
            ("x", None),
        ),
        (
            b"--- a/x\t2024-05-06\n+++ b/x\t1970-01-01 19:00:00 -0500\n@@ -1 +0,0 @@\n-1\n",
            FileChange.MODIFY,
            ("x", "x"),
        ),
    ],
    ids=[
        "changed",
        "added",
        "deleted",
        "added or filled",
        "two folders",
        "two names",
        "added, as diff -N dates it",
        "deleted, as diff -N dates it",
        "emptied, at another time of the first day",
    ],
)
def test_diffs_without_a_git_line_are_understood(data, change, paths):
    """The names and dates that `diff -u` writes show what happens to a file."""
    file = only_file(data)

    assert (file.change, (file.old_path, file.new_path)) == (change, paths)


@pytest.mark.parametrize(
    ("extra", "old", "new", "change"),
    [
        (b"", b"/dev/null", b"b/x", FileChange.ADD),
        (b"", b"a/x", b"/dev/null", FileChange.DELETE),
        (b"", b"a/old/x", b"b/x", FileChange.RENAME),
    ],
)
def test_names_replace_missing_mode_lines(extra, old, new, change):
    """Models forget the mode lines; git would refuse the first two, or move the third."""
    data = b"diff --git a/x b/x\n%b--- %b\n+++ %b\n%b" % (extra, old, new, CHANGE)

    assert only_file(data).change is change


# --- hunks ---


@pytest.mark.parametrize(
    ("lines", "old", "new"),
    [
        (b"@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", [b"a"], [b"b\n"]),
        (b"@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n", [b"a\n"], [b"b"]),
        (b"@@ -1 +1 @@\n-a\n\\ Kein Zeilenumbruch\n+b\n\\ Kein Zeilenumbruch\n", [b"a"], [b"b"]),
        (b"@@ -1,2 +1 @@\n-a\n b\n\\ No newline at end of file\n", [b"a\n", b"b"], [b"b"]),
        (b"@@ -1,3 +1,2 @@\n a\n\n-b\n", [b"a\n", b"\n", b"b\n"], [b"a\n", b"\n"]),
        (b"@@ -1,2 +1 @@\r\n-a\r\n\r\n", [b"a\r\n", b"\r\n"], [b"\r\n"]),
        (b"@@ -1 +1 @@\n-a\r\n+b\r\n", [b"a\r\n"], [b"b\r\n"]),
        (b"@@ -1 +1 @@\n-a\rb\n+\x0c\n", [b"a\rb\n"], [b"\x0c\n"]),
        (b"@@ -1 +1 @@\n-\xff\0\n+\xe9\n", [b"\xff\0\n"], [b"\xe9\n"]),
        (b"@@ -1 +1 @@\n--- a/y\n+++ b/y\n", [b"-- a/y\n"], [b"++ b/y\n"]),
        (b"@@ -1 +1 @@\n-a\n+b", [b"a\n"], [b"b\n"]),
        (b"@@ -1 +1 @@ -9,9 +9,9 @@\n-a\n+b\n", [b"a\n"], [b"b\n"]),
        (b"@@ -1 +1 @@\n-a\n+b\n-- \n2.39.5\n", [b"a\n"], [b"b\n"]),
    ],
    ids=[
        "old lacks newline",
        "new lacks newline",
        "in another language",
        "context lacks newline",
        "blank context without its space",
        "the same in CRLF",
        "CRLF",
        "CR and form feed within",
        "no text",
        "lines that look like names",
        "final newline stripped",
        "section that looks like a header",
        "a mail's signature",
    ],
)
def test_lines_are_bytes_and_counted_by_the_header(lines, old, new):
    """Only LF ends a line, and only the header says where a hunk ends."""
    (hunk,) = only_file(b"--- a/x\n+++ b/x\n" + lines).hunks

    assert (hunk.old, hunk.new) == (old, new)


@pytest.mark.parametrize(
    ("lines", "old", "new", "stated"),
    [
        (b"@@ -1,3 +1,2 @@\n-old\n+new\n", [b"old\n"], [b"new\n"], (3, 2)),
        (b"@@ -1,0 +1 @@\n-old\n+new\n", [b"old\n"], [b"new\n"], (0, 1)),
        (b"@@ -1,3 +1,3 @@\n-old\n+new\n\n", [b"old\n"], [b"new\n"], (3, 3)),
        (b"@@ -1 +1 @@\n-old\n", [b"old\n"], [], (1, 1)),
        (b"@@ -1 +1 @@\n-old\n" + DIFF, [b"old\n"], [], (1, 1)),
        (b"@@ -1 +1 @@\n-old\n" + PLAIN, [b"old\n"], [], (1, 1)),
        (b"@@ -1 +1 @@\n-old\n-- \n2.39.5\n", [b"old\n"], [], (1, 1)),
        (b"@@ -1 +1 @@\n-old\n old\n", [b"old\n", b"old\n"], [b"old\n"], (1, 1)),
        (b"@@ -1,9 +1,9 @@\n-a\n+b\n\\ No newline\n", [b"a\n"], [b"b"], (9, 9)),
        (b"@@ -1,9 +1,9 @@\n \n-a\n\n b\n", [b"\n", b"a\n", b"\n", b"b\n"], None, (9, 9)),
    ],
    ids=[
        "too many",
        "too few old lines",
        "a blank line that ends the text is none of the hunk",
        "end of the text",
        "another file",
        "another file without git's line",
        "a mail's signature",
        "context for an added line",
        "no newline",
        "blank lines within",
    ],
)
def test_a_hunk_whose_header_miscounts_has_all_its_signed_lines(lines, old, new, stated):
    """The counts of the header are kept as well."""
    hunk = Patch.parse(b"--- a/x\n+++ b/x\n" + lines).files[0].hunks[0]

    assert (hunk.old, hunk.stated) == (old, stated)
    assert hunk.new == ([b"\n", b"\n", b"b\n"] if new is None else new)


def test_a_correct_header_leaves_no_stated_counts():
    """Only wrong counts are recorded."""
    (hunk,) = only_file(PLAIN).hunks

    assert (hunk.stated, hunk.uncounted) == (None, ())


@pytest.mark.parametrize(
    ("header", "tail", "lines", "uncounted"),
    [
        (b"-1 +1", b"+er\n", (b"-old\n", b"+new\n"), (b"+er\n",)),
        (b"-1 +1,0", b"", (b"-old\n",), (b"+new\n",)),
        (b"-1 +1", b" a\n-b\n", (b"-old\n", b"+new\n"), (b" a\n", b"-b\n")),
        (b"-1 +1", b"\n+a\n\n", (b"-old\n", b"+new\n"), (b" \n", b"+a\n")),
        (b"-1 +1", b"+a\n\\ No newline\n", (b"-old\n", b"+new\n"), (b"+a",)),
        (b"-1 +1", b"-- \n2.39.5\n", (b"-old\n", b"+new\n"), ()),
    ],
    ids=[
        "an addition",
        "a count of none",
        "context and a removal",
        "blank lines around",
        "no newline",
        "a mail's signature",
    ],
)
def test_changed_lines_beyond_the_headers_count_are_kept_separately(header, tail, lines, uncounted):
    """Only the header separates a hunk from prose that follows it."""
    (hunk,) = only_file(PLAIN.replace(b"-1 +1", header) + tail).hunks

    assert (hunk.lines, hunk.uncounted, hunk.stated) == (lines, uncounted, None)


def test_uncounted_lines_before_another_hunk_belong_to_the_hunk():
    """The header miscounts then, and its hunk gets the lines."""
    first, second = only_file(PLAIN + b"+er\n" + CHANGE).hunks

    assert (first.lines, first.stated) == ((b"-old\n", b"+new\n", b"+er\n"), (1, 1))
    assert (first.uncounted, second.stated) == ((), None)


# --- several files, and prose ---


MAIL = b"""\
From 3e75765 Mon Sep 17 00:00:00 2001
From: Ann <ann@example.org>
Date: Mon, 6 May 2024 07:08:09 +0000
Subject: [PATCH] Say new

--- is no header by itself
+++ neither
diff --git a/x b/x
---
 x | 2 +-
 1 file changed, 1 insertion(+), 1 deletion(-)

"""


@pytest.mark.parametrize("prose", [MAIL, b"Here is the patch:\n\n```diff\n", b"\xff\0\n", b"\n\n"])
def test_surrounding_prose_is_skipped(prose):
    """Mails, fences, statistics and signatures are not part of a diff."""
    patch = Patch.parse(prose + DIFF + b"-- \n2.39.5\n\n" + prose + RENAME + b"```\nThat is it.\n")

    assert [file.path for file in patch.files] == ["x", "y"]


# --- refusals ---


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"no patch at all\n", None, "holds no diff"),
        (b"diff --git a/x b/x\n", None, "holds no diff"),
        (b"+just\n-lines\n", None, "holds no diff"),
        (CHANGE, 1, "outside of any file"),
        (DIFF + b"prose\n" + CHANGE, 9, "outside of any file"),
        (PLAIN.replace(b"-old\n+new", b" old"), 5, "changes nothing"),
        (b"--- a/x\n+++ b/x\n@@ -0,0 +0,0 @@\n", 4, "changes nothing"),
        (DIFF.replace(b"@@ -1 +1 @@", b"@@ ... @@"), 5, "header cannot be read"),
        (DIFF + b"@@ def f(): @@\n-old\n+new\n", 8, "header cannot be read"),
        (DIFF + b"@@ -9 +9\n-old\n+new\n", 8, "header cannot be read"),
        (DIFF.replace(b"-1 +1", b"-12345678901 +1"), 5, "header cannot be read"),
        (DIFF[: DIFF.index(b"---")], 3, "changes nothing"),
        (DIFF[: DIFF.index(b"@@")], 5, "changes nothing"),
        (RENAME + DIFF[: DIFF.index(b"---")] + RENAME, 7, "changes nothing"),
        (b"diff --git a/x b/x\n--- a/x\n", 2, "changes nothing"),
        (b"diff --git a/x b/y\n" + CHANGE, 2, "names no file"),
        (b"diff --git x\n", 2, "names no file"),
        (b'diff --git "a/x b/x"\n', 2, "names no file"),
        (b"diff --git a/x b/y\nrename from x\n" + CHANGE, 3, "names no file"),
        (b"--- /dev/null\n+++ /dev/null\n" + CHANGE, 3, "names no file"),
        (b"diff --git a/x b/x\nnew file mode 100644\n--- a/x\n+++ /dev/null\n", 5, "two ways"),
        (RENAME + PLAIN, 7, "two ways"),
        (
            b"diff --git a/y b/y\ndeleted file mode 100644\n" + PLAIN[:8] + b"+++ /dev/null\n",
            5,
            "two",
        ),
        (b"diff --git a/x b/x\nnew file mode 040000\n", 2, "unknown file mode '040000'"),
        (b"diff --git a/x b/x\nold mode -1\n", 2, "unknown file mode '-1'"),
        (b"diff --git a/x b/x\nold mode 77777777777777777777777\n", 2, "unknown file mode"),
        (b"diff --git a/x b/x\nold mode 9\xff\n", 2, "unknown file mode"),
        (b"diff --git a/x b/x\nindex 1111..2222 777777\n", 2, "unknown file mode '777777'"),
        (b"diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1 -1 +1 @@@\n", 1, "diff of a merge"),
        (b"diff --combined x\n", 1, "diff of a merge"),
        (git_diff(b"a/../x", b"b/../x"), 7, "leaves the tree"),
        (git_diff(b"a//etc/x", b"b//etc/x"), 7, "absolute"),
        (RENAME.replace(b"to y", b"to .git/hooks/y"), 5, "own files"),
        (RENAME.replace(b"from x", b"from ../x"), 5, "leaves the tree"),
        (b"--- a/x\n+++ b/.GIT/config\n" + CHANGE, 6, "own files"),
        (git_diff(b'"a/\\056git/x"', b'"b/\\056git/x"'), 7, "own files"),
        (git_diff(b'"a/x\\000"', b'"b/x\\000"'), 7, "NUL"),
        (git_diff(b'"a/\\8"', b'"b/\\8"'), 1, "unknown escape"),
        (git_diff(b'"a/\\400"', b'"b/\\400"'), 1, "unknown escape"),
        ("--- a/x\n+++ b/\u00b2\n@@ -1 +1 @@\n-a\n+\ud800\n", None, "surrogate"),
        (BINARY.replace(b"acm", b"!cm"), 5, "states no valid length"),
        (BINARY[: BINARY.index(b"literal")], 4, "has no contents"),
    ],
)
def test_a_broken_patch_is_refused_with_its_line(data, line, words):
    """The error says where reading stopped, and in which file."""
    with pytest.raises(PatchError, match=words) as caught:
        Patch.parse(data, origin="agent1.patch")

    assert caught.value.line == line
    assert caught.value.origin == "agent1.patch"
    assert str(caught.value).startswith(
        f"agent1.patch, line {line}: " if line else "agent1.patch: "
    )


# --- any bytes ---


@given(random_bytes())
@example(b'"\\')
@example(b'diff --git "\\8" "\\9"\n')
@example(b"--- \n+++ \n@@ -0,0 +0,0 @@")
@example(b'--- "\xb2\\\xb2"\n+++ "\\\xb2"\n@@ -1 +1 @@\n')
def test_random_bytes_are_a_patch_or_a_patch_error(data):
    """No other exception is raised."""
    try:
        patch = Patch.parse(data)
    except PatchError:
        return

    assert all(file.paths for file in patch.files)


@given(damages())
def test_a_damaged_patch_is_read_or_refused_and_so_is_its_application(damage):
    """A patch that is read is applied or refused with a reason; nothing crashes."""
    base = Snapshot.from_files({"x": b"old\n", "l": b"\0one two three\n", "m": b""})
    data = damage(DIFF + RENAME + BINARY + DIFF.replace(b"/x", b"/m"))

    try:
        patch = Patch.parse(data)
    except PatchError:
        return
    result = apply_patch(base, patch)

    assert bool(result.reason) == (result.status == "failed")
    assert base.overlay(result.changes).tree_id


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"@@\n line\n+new\n", "no hunk that can be read"),
        (b"", "no hunk that can be read"),
        (b" line\n+new\n", "no hunk that can be read"),
        (b"@@ -1 +1 @@\n-old\n+new\n@@\n line\n+new\n", "has no numbers"),
        (b"@@ -1 +1 @@\n-old\n+new\n*** Begin Patch\n*** Update File: y\n+2\n", "not a diff"),
        (b"@@ -1,9 +1,9 @@\n a\n-b\n+B\n...\n-d\n+D\n", "cannot be part of a hunk"),
        (b"@@ -1,9 +1,9 @@\n a\n-b\n+B\nd\n+D\n", "cannot be part of a hunk"),
        (b"@@ -1,3 +1,4 @@\n a\n-b\n+    with open(pa", "cut off"),
    ],
)
def test_an_unreadable_diff_is_not_skipped(text, words):
    """Git skips it and then reports success without it."""
    with pytest.raises(PatchError, match=words):
        Patch.parse(b"--- a/z\n+++ b/z\n@@ -1 +1 @@\n-1\n+2\n--- a/x\n+++ b/x\n" + text)


def test_a_byte_order_mark_is_not_part_of_a_patch():
    """Some editors add one."""
    assert Patch.parse(b"\xef\xbb\xbf" + DIFF) == Patch.parse(DIFF)


@pytest.mark.parametrize("names", [b"--- ./x\n+++ ./x\n", b"--- a/./x\n+++ b/./x\n"])
def test_a_path_may_begin_with_a_dot(names):
    """`./x` is `x`."""
    assert Patch.parse(names + b"@@ -1 +1 @@\n-1\n+2\n").paths == ("x",)

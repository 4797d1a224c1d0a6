"""Patches as they come: every quirk of a diff, and what is refused with its line."""

import pytest
from generators import damages, random_bytes
from hypothesis import example, given

from cooperbench_eval.errors import PatchError
from cooperbench_eval.models import FileMode
from cooperbench_eval.patching import FileChange, Patch, apply_patch
from cooperbench_eval.snapshot import Snapshot

CHANGE = b"@@ -1 +1 @@\n-old\n+new\n"
PLAIN = b"--- a/x\n+++ b/x\n" + CHANGE
DIFF = b"diff --git a/x b/x\nindex 3367afd..3e75765 100644\n" + PLAIN
RENAME = b"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
BINARY = (
    b"diff --git a/l b/l\nindex 627fb17..55fb4f4 100644\nGIT binary patch\nliteral 19\n"
    b"acmZR`&r4M(DbH6Z$tX%q<x0yhEdl^Pss_6N\n\nliteral 15\nWcmZR`&r4M(DbH6Z$tX%q<pKaFZ3O=S\n\n"
)


def only_file(data):
    """Return the one file of a patch."""
    (file,) = Patch.parse(data).files
    return file


def git_diff(old, new=None, *, extra=b"", change=CHANGE):
    """Return a diff with these names, as they stand in its text."""
    new = old if new is None else new
    return b"diff --git %b %b\n%b--- %b\n+++ %b\n%b" % (old, new, extra, old, new, change)


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


def test_the_mode_behind_the_ids_is_what_the_file_was():
    """It is not what the file shall be: another patch may have changed it since."""
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
    """Files without hunks say in their header what becomes of them."""
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


@pytest.mark.parametrize("data", [None, 1, ["--- a/x"], object()])
def test_what_is_no_text_is_a_wrong_type(data):
    """The caller's mistake, not the patch's."""
    with pytest.raises(TypeError, match="a patch is bytes or str, not"):
        Patch.parse(data)


@pytest.mark.parametrize(
    ("data", "change", "paths"),
    [
        (PLAIN, FileChange.MODIFY, ("x", "x")),
        (b"--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+new\n", FileChange.ADD, (None, "x")),
        (b"--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n", FileChange.DELETE, ("x", None)),
        (b"--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+new\n", FileChange.ADD, ("x", "x")),
        (b"--- old/x\n+++ new/x\n" + CHANGE, FileChange.MODIFY, ("new/x", "new/x")),
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
def test_diffs_without_gits_line_are_understood(data, change, paths):
    """What `diff -u` writes says with names and dates what becomes of a file."""
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
def test_names_say_what_a_git_header_leaves_out(extra, old, new, change):
    """Models forget the mode lines; git would refuse the first two, or move the third."""
    data = b"diff --git a/x b/x\n%b--- %b\n+++ %b\n%b" % (extra, old, new, CHANGE)

    assert only_file(data).change is change


# --- names ---


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        (b"a/x", b"b/x", "x"),
        (b"a/a/x", b"b/a/x", "a/x"),
        (b"a/b c b/x", b"b/b c b/x", "b c b/x"),
        (b"a/b/x", b"b/b/x", "b/x"),
        (b"i/src/x", b"w/src/x", "src/x"),
        (b"c/src/x", b"i/src/x", "src/x"),
        (b"o/src/x", b"w/src/x", "src/x"),
        (b"1/src/x", b"2/src/x", "src/x"),
        (b"src/x", b"src/x", "src/x"),
        (b"x", b"x", "x"),
        (b'"a/caf\\303\\251"', b'"b/caf\\303\\251"', "café"),
        (b'"a/caf\\351"', b'"b/caf\\351"', "caf\udce9"),
        (
            b'"a/\\"q\\" \\\\ \\t\\n\\a\\b\\v\\f\\r"',
            b'"b/\\"q\\" \\\\ \\t\\n\\a\\b\\v\\f\\r"',
            None,
        ),
        ("a/café".encode(), "b/café".encode(), "café"),
    ],
)
def test_names_lose_their_prefix_and_quotes(old, new, path):
    """Default, mnemonic and no prefixes; names quoted as C does or plain."""
    path = '"q" \\ \t\n\a\b\v\f\r' if path is None else path

    file = only_file(git_diff(old, new))

    assert (file.old_path, file.new_path) == (path, path)
    modes = b"old mode 100644\nnew mode 100755\n"
    assert only_file(b"diff --git %b %b\n%b" % (old, new, modes)).paths == (path,)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        (b"x y\t", "x y"),
        (b"x \t", "x "),
        (b'"\\303\\251 y"\t', "é y"),
        (b"x\t2024-05-06 07:08:09.000000000 +0200", "x"),
        (b"x  ", "x"),
        (b"x\r", "x"),
    ],
    ids=["tab", "space and tab", "quotes and tab", "date", "spaces alone", "CR"],
)
def test_what_follows_a_name_is_no_part_of_it(name, path):
    """Git ends a name that holds a space with a tab; `diff` adds a date."""
    prefixed = [name.replace(b'"', b'"%b/' % side, 1) for side in (b"a", b"b")]
    if not name.startswith(b'"'):
        prefixed = [side + b"/" + name for side in (b"a", b"b")]

    assert only_file(b"--- %b\n+++ %b\n" % tuple(prefixed) + CHANGE).path == path


def test_only_one_name_may_be_quoted():
    """A file is renamed to or from an odd name."""
    quoted = b'"b/\\303\\251"'
    out = b"diff --git a/x %b\nrename from x\nrename to %b\n" % (quoted, b'"\\303\\251"')
    back = b'diff --git "a/\\303\\251" b/x\nrename from "\\303\\251"\nrename to x\n'

    assert only_file(out).paths == ("x", "é")
    assert only_file(back).paths == ("é", "x")
    assert only_file(b"diff --git a/x %b\nold mode 100644\nnew mode 100755\n" % quoted).paths == (
        "x",
        "é",
    )


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
    """Nothing but LF ends a line, and only its header says where a hunk ends."""
    (hunk,) = only_file(b"--- a/x\n+++ b/x\n" + lines).hunks

    assert (hunk.old, hunk.new) == (old, new)


def test_lines_beyond_the_count_of_the_header_are_prose():
    """As for git: only the header tells a hunk from the letter that follows it."""
    (hunk,) = only_file(PLAIN.replace(b"+1 ", b"+1,0 ")).hunks

    assert hunk.lines == (b"-old\n",)


# --- several files, and prose ---


def test_files_come_in_the_order_of_the_text():
    """One file may come twice; paths are listed sorted, each once."""
    data = DIFF + RENAME + BINARY + PLAIN

    patch = Patch.parse(data)

    assert [file.path for file in patch.files] == ["x", "y", "l", "x"]
    assert patch.paths == ("l", "x", "y")
    assert patch.data == data


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
def test_prose_around_is_passed_over(prose):
    """Letters, fences, statistics and signatures are no diff."""
    patch = Patch.parse(prose + DIFF + b"-- \n2.39.5\n\n" + prose + RENAME + b"```\nThat is it.\n")

    assert [file.path for file in patch.files] == ["x", "y"]


@pytest.mark.parametrize("data", [b"", b"\n", b" \n\t\n", ""])
def test_blank_text_is_an_empty_patch(data):
    """An agent may change nothing."""
    assert Patch.parse(data).files == ()


def test_a_patch_may_be_bytes_text_or_parsed(tmp_path):
    """All are the same patch; a file is read as bytes."""
    data = DIFF.replace(b"new", b"n\xe9w\r")
    (tmp_path / "x.diff").write_bytes(data)
    patch = Patch.parse(data)

    assert Patch.parse(patch) is patch
    assert Patch.parse(bytearray(data)) == patch
    assert Patch.parse(data.decode("utf-8", "surrogateescape")) == patch
    assert Patch.read(tmp_path / "x.diff") == patch


def test_the_text_of_a_patch_plays_no_part_in_equality():
    """Prose makes no difference; what is done to files does."""
    assert Patch.parse(MAIL + DIFF) == Patch.parse(DIFF)
    assert Patch.parse(DIFF) != Patch.parse(PLAIN)


def test_some_files_of_a_patch_are_a_patch():
    """Its text is gone, as it says more."""
    patch = Patch.parse(DIFF + RENAME)

    some = patch.select(patch.files[1:])

    assert (some.paths, some.data) == (("x", "y"), b"")


# --- refusals ---


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"no patch at all\n", None, "holds no diff"),
        (b"diff --git a/x b/x\n", None, "holds no diff"),
        (b"+just\n-lines\n", None, "holds no diff"),
        (CHANGE, 1, "outside of any file"),
        (DIFF + b"prose\n" + CHANGE, 9, "outside of any file"),
        (PLAIN[:-5], 5, "ends before its header says"),
        (PLAIN.replace(b"+new\n", DIFF), 5, "ends before its header says"),
        (PLAIN.replace(b"-1 ", b"-1,2 "), 6, "ends before its header says"),
        (PLAIN.replace(b"-1 ", b"-1,0 "), 4, "more lines than its header says"),
        (PLAIN.replace(b"+new", b" old"), 5, "more lines than its header says"),
        (PLAIN.replace(b"-old\n+new", b" old"), 5, "changes nothing"),
        (b"--- a/x\n+++ b/x\n@@ -0,0 +0,0 @@\n", 4, "changes nothing"),
        (PLAIN.replace(b"-old", b"\\ No newline at all"), 4, "ends before"),
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
        (git_diff(b'"a/\\8"', b'"b/\\8"'), 1, "stands for nothing"),
        (git_diff(b'"a/\\400"', b'"b/\\400"'), 1, "stands for nothing"),
        ("--- a/x\n+++ b/\u00b2\n@@ -1 +1 @@\n-a\n+\ud800\n", None, "surrogate"),
        (BINARY.replace(b"acm", b"!cm"), 5, "no known length"),
        (BINARY[: BINARY.index(b"literal")], 4, "has no contents"),
    ],
)
def test_a_broken_patch_is_refused_with_its_line(data, line, words):
    """Understood in full or refused; the error says where reading stopped, and in what."""
    with pytest.raises(PatchError, match=words) as caught:
        Patch.parse(data, origin="agent1.patch")

    assert caught.value.line == line
    assert caught.value.origin == "agent1.patch"
    assert str(caught.value).startswith(
        f"agent1.patch, line {line}: " if line else "agent1.patch: "
    )


def test_a_file_that_cannot_be_read_is_no_patch(tmp_path):
    """The error names the file."""
    with pytest.raises(PatchError, match="No such file") as caught:
        Patch.read(tmp_path / "none.diff")

    assert caught.value.origin == str(tmp_path / "none.diff")


def test_a_long_line_of_names_takes_no_long_time():
    """Reading is linear: a line of a megabyte is no trap."""
    for name in (b"x " * 500_000 + b'"', b'"' + b"\\\\ " * 400_000, b'"a" ' * 250_000 + b'"'):
        with pytest.raises(PatchError):
            Patch.parse(b"diff --git " + name + b"\n")


# --- any bytes ---


@given(random_bytes())
@example(b'"\\')
@example(b'diff --git "\\8" "\\9"\n')
@example(b"--- \n+++ \n@@ -0,0 +0,0 @@")
@example(b'--- "\xb2\\\xb2"\n+++ "\\\xb2"\n@@ -1 +1 @@\n')
def test_random_bytes_are_a_patch_or_a_patch_error(data):
    """Nothing else ever escapes."""
    try:
        patch = Patch.parse(data)
    except PatchError:
        return

    assert all(file.paths for file in patch.files)


@given(damages())
def test_a_damaged_patch_is_read_or_refused_and_so_is_its_application(damage):
    """What is read can be applied or is refused in words; it cannot crash."""
    base = Snapshot.from_files({"x": b"old\n", "l": b"\0one two three\n", "m": b""})
    data = damage(DIFF + RENAME + BINARY + DIFF.replace(b"/x", b"/m"))

    try:
        patch = Patch.parse(data)
    except PatchError:
        return
    result = apply_patch(base, patch)

    assert bool(result.reason) == (result.status == "failed")
    assert base.overlay(result.changes).tree_id

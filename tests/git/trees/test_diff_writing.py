"""The change of one entry is rendered as git renders it."""

import hashlib

import pytest

from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.trees.diff_writing import render_change
from cooperbench_eval.git.trees.entries import Entry, FileMode

OLD = Entry(b"old\n")
NEW = Entry(b"new\n")
ZERO = b"0" * 40
LINK = Entry(b"there", FileMode.SYMLINK)
MODULE = Entry(b"1" * 40, FileMode.SUBMODULE)


def ids(old, new, mode=b""):
    """Return the line that names both contents."""
    pair = [each.id.encode() if each else ZERO for each in (old, new)]
    return b"index %b..%b%b\n" % (*pair, mode)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (OLD, OLD, b""),
        (None, None, b""),
        (
            OLD,
            NEW,
            ids(OLD, NEW, b" 100644") + b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n",
        ),
        (
            None,
            NEW,
            b"new file mode 100644\n"
            + ids(None, NEW)
            + b"--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+new\n",
        ),
        (
            OLD,
            None,
            b"deleted file mode 100644\n"
            + ids(OLD, None)
            + b"--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n",
        ),
        (None, Entry(b""), b"new file mode 100644\n" + ids(None, Entry(b""))),
        (Entry(b""), None, b"deleted file mode 100644\n" + ids(Entry(b""), None)),
        (
            OLD,
            Entry(b"old\n", FileMode.EXECUTABLE),
            b"old mode 100644\nnew mode 100755\n",
        ),
        (
            OLD,
            Entry(b"new\n", FileMode.EXECUTABLE),
            b"old mode 100644\nnew mode 100755\n"
            + ids(OLD, NEW)
            + b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n",
        ),
        (
            Entry(b"a\r\nb"),
            Entry(b"a\r\nc"),
            ids(Entry(b"a\r\nb"), Entry(b"a\r\nc"), b" 100644")
            + b"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\r\n"
            + b"-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
        ),
        (
            MODULE,
            Entry(b"2" * 40, FileMode.SUBMODULE),
            b"index %b..%b 160000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n" % (b"1" * 40, b"2" * 40)
            + b"-Subproject commit %b\n+Subproject commit %b\n" % (b"1" * 40, b"2" * 40),
        ),
    ],
    ids=[
        "no change",
        "nothing at all",
        "change",
        "addition",
        "deletion",
        "empty addition",
        "empty deletion",
        "mode",
        "mode and change",
        "CRLF, no final newline",
        "submodule",
    ],
)
def test_a_change_is_printed_as_git_prints_it(old, new, expected):
    """With full ids and three lines of context."""
    head = b"diff --git a/x b/x\n" if expected else b""

    assert render_change("x", old, new) == head + expected


@pytest.mark.parametrize(("old", "new"), [(OLD, LINK), (LINK, MODULE), (MODULE, OLD)])
def test_a_change_of_kind_is_a_deletion_and_an_addition(old, new):
    """A hunk cannot turn a file into a link."""
    printed = render_change("x", old, new)

    assert printed == render_change("x", old, None) + render_change("x", None, new)


def test_distant_changes_get_separate_hunks():
    """Each hunk has three lines of context, and an earlier line as its section heading."""
    lines = [b"def f():\n", *(b"    %d\n" % number for number in range(30))]
    old = Entry(b"".join(lines))
    lines[5], lines[25] = b"    five\n", b"    twenty-five\n"

    (file,) = Patch.parse(render_change("x", old, Entry(b"".join(lines)))).files

    assert [(hunk.old_start, len(hunk.lines)) for hunk in file.hunks] == [(3, 8), (23, 8)]
    assert b"def f():" in file.hunks[1].section


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("x", b"a/x", b"b/x"),
        ("two words", b"a/two words\t", b"b/two words\t"),
        ("café", b'"a/caf\\303\\251"', b'"b/caf\\303\\251"'),
        ("caf\udce9 x", b'"a/caf\\351 x"\t', b'"b/caf\\351 x"\t'),
        ('"q\\', b'"a/\\"q\\\\"', b'"b/\\"q\\\\"'),
        ("\a\b\t\n\v\f\r\x01\x7f", None, b'"b/\\a\\b\\t\\n\\v\\f\\r\\001\\177"'),
    ],
)
def test_odd_names_are_quoted(path, old, new):
    """Quoting is as in C; a tab follows a name with a space, to separate it from a date."""
    printed = render_change(path, OLD, NEW)

    old = new.replace(b"b/", b"a/") if old is None else old
    assert b"\n--- %b\n+++ %b\n" % (old, new) in printed
    assert printed.startswith(b"diff --git %b %b\n" % (old.rstrip(b"\t"), new.rstrip(b"\t")))
    assert Patch.parse(printed).paths == (path,)


@pytest.mark.parametrize("size", [0, 1, *range(10, 20), *range(36, 46), 5000])
def test_binary_contents_are_printed_in_full(size):
    """Both sides are printed in lines of at most 52 bytes, each preceded by its length."""
    noise = b"".join(hashlib.sha256(b"%d" % number).digest() for number in range(160))
    old, new = Entry(b"\0"), Entry(b"\0" + noise[:size])

    printed = render_change("x", old, new if size else None)

    (file,) = Patch.parse(printed).files
    assert b"\nGIT binary patch\nliteral " in printed
    assert file.binary.data == (new.data if size else b"")
    assert printed.count(b"literal ") == 2
    lines = printed.partition(b"GIT binary patch\n")[2].splitlines()
    encoded = [line for line in lines if line and not line.startswith(b"literal ")]
    assert all(len(line) <= 66 and len(line) % 5 == 1 for line in encoded)


def test_a_mode_is_printed_with_binary_contents():
    """The id line then has no mode."""
    printed = render_change("x", Entry(b"\0"), Entry(b"\0\0", FileMode.EXECUTABLE))

    assert printed.startswith(b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\nindex ")
    assert b" 100755\nGIT" not in printed

"""A printed patch is read as the same patch."""

import pytest
from generators import damages, forks, random_bytes
from hypothesis import given
from patch_texts import (
    AT_10,
    AT_20,
    BINARY,
    CHANGE,
    DIFF,
    LINES,
    NAMES,
    PLAIN,
    RENAME,
    add,
    apply,
    delete,
    git_diff,
    move,
)

from cooperbench_eval.errors import PatchError
from cooperbench_eval.git.patching.apply import apply_patch
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

MARK = b"\\ No newline at end of file\n"
DELTA = (
    b"diff --git a/d b/d\nindex c624d3b..ccd7771 100644\nGIT binary patch\ndelta 19\n"
    b"acmZqVn!~eU4-<1<YWe01OomJwbQl3e;Rb{N\n\ndelta 33\n"
    b"rcmV++0N($c41o%;yaE)#``GkDcwaup>oW5Tkj)RzHdoWLzXCA=5?~Ly\n\n"
)
MODES = b"old mode 100644\nnew mode 100755\n"
EPOCH = b"1970-01-01 00:00:00.000000000 +0000"

PATCHES = {
    "added binary file, named only": (
        b"diff --git a/x b/x\nindex 0000000..383ba0a\n--- /dev/null\n+++ b/x\nBinary files differ\n"
    ),
    "deleted binary file, named only": (
        b"diff --git a/x b/x\nindex 383ba0a..0000000\n--- a/x\n+++ /dev/null\nBinary files differ\n"
    ),
    "nothing": b"",
    "a change": DIFF,
    "an addition": add(b"x"),
    "an addition of nothing": b"diff --git a/x b/x\nnew file mode 100755\nindex 0000000..e69de29\n",
    "an addition with ids": add(b"x").replace(b"--- ", b"index 0000000..3e75765\n--- ", 1),
    "a deletion": delete(b"x"),
    "a deletion of nothing": b"diff --git a/x b/x\ndeleted file mode 120000\n",
    "a mode": b"diff --git a/x b/x\n" + MODES,
    "a mode and lines": git_diff(b"a/x", b"b/x", extra=MODES + b"index 3367afd..3e75765\n"),
    "a link": git_diff(b"a/x", b"b/x", extra=b"index 3367afd..3e75765 120000\n"),
    "a submodule": git_diff(b"a/x", b"b/x", extra=b"index 3367afd..3e75765 160000\n"),
    "a rename": RENAME,
    "a rename with lines": git_diff(b"a/x", b"b/y", extra=b"rename from x\nrename to y\n"),
    "a rename with a mode": RENAME + MODES,
    "a rename that only names say": git_diff(b"a/old/x", b"b/new/x"),
    "a copy": move(b"x", b"y", b"copy"),
    "a copy with lines": git_diff(b"a/x", b"b/y", extra=b"copy from x\ncopy to y\n"),
    "a literal": BINARY,
    "a delta": DELTA,
    "a binary addition": BINARY.replace(b"index", b"new file mode 100644\nindex").replace(
        b"627fb17..55fb4f4 100644", b"0000000..55fb4f4"
    ),
    "a binary file without contents": DIFF[: DIFF.index(b"---")]
    + b"Binary files a/x and b/x differ\n",
    "quoted names": git_diff(b'"a/q\\"\\\\\\t\\n"', b'"b/q\\"\\\\\\t\\n"'),
    "names that are no ASCII": git_diff(b'"a/caf\\303\\251"', b'"b/caf\\303\\251"'),
    "names that are no text": git_diff(b'"a/caf\\351"', b'"b/caf\\351"'),
    "names with spaces": git_diff(b"a/ x y \t", b"b/ x y \t"),
    "a rename to an odd name": move(b"x", b'"\\303\\251 y"').replace(b'b/"', b'"b/'),
    "names like a prefix": git_diff(b"a/a/b b/x", b"b/a/b b/x"),
    "a name like none": git_diff(b"a/dev/null", b"b/dev/null"),
    "old lacks its newline": NAMES + b"@@ -1 +1 @@\n-a\n" + MARK + b"+b\n",
    "new lacks its newline": NAMES + b"@@ -1 +1 @@\n-a\n+b\n" + MARK,
    "context lacks its newline": NAMES + b"@@ -1,2 +1 @@\n-a\n b\n" + MARK,
    "one file twice": DIFF + PLAIN.replace(b"old", b"newer"),
    "several files": DIFF + RENAME + BINARY + add(b"z") + delete(b"w"),
    "no line of git's": PLAIN,
    "no line of git's, added": b"--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+new\n",
    "no line of git's, deleted": b"--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n",
    "no line of git's, added or filled": NAMES + b"@@ -0,0 +1 @@\n+new\n",
    "no line of git's, dated": b"--- x\t" + EPOCH + b"\n+++ x\t2024-05-06\n@@ -0,0 +1 @@\n+1\n",
    "no line of git's, two names": b"--- x.orig\n+++ x\n" + CHANGE,
    "CRLF throughout": DIFF.replace(b"\n", b"\r\n"),
    "CRLF in lines": NAMES + b"@@ -1,2 +1,2 @@ f()\n-a\r\n+b\r\n \r\n",
    "CRLF and no newline": (NAMES + b"@@ -1 +1 @@\n-a\n" + MARK + b"+b\n").replace(b"\n", b"\r\n"),
    "a section": NAMES + CHANGE.replace(b"1 @@", b"1 @@ @@ -1 +1 @@"),
    "lines that look like headers": NAMES + b"@@ -1,2 +1,2 @@\n--- a/y\n+++ b/y\n @@ -1 +1 @@\n",
    "counts of one in full": NAMES + b"@@ -1,1 +1,1 @@\n-old\n+new\n",
    "uncounted lines": PLAIN + b"+more\n context\n-less\n",
    "uncounted lines without newline": PLAIN + b"+more\n" + MARK,
    "a miscounted hunk": NAMES + AT_10.replace(b"-9,3", b"-9,7"),
    "two miscounted hunks": NAMES + (AT_10 + AT_20).replace(b"9,3 +", b"9,7 +"),
    "a hunk that runs into the next": PLAIN + b"+more\n" + CHANGE,
    "blank lines between hunks": NAMES + AT_10 + b"\n\n" + AT_20,
    "bullets behind": DIFF + b"\n- like this\n- and that\n",
    "prose all around": b"Dear all,\n\n" + DIFF + b"-- \nAnn\n" + RENAME + b"```\n",
}


@pytest.mark.parametrize("data", PATCHES.values(), ids=PATCHES.keys())
def test_a_patch_reads_back_the_same(data):
    """The records hold all that a patch says about files, so printing loses nothing."""
    patch = Patch.parse(data)

    printed = bytes(patch)

    assert Patch.parse(printed) == patch
    assert bytes(Patch.parse(printed)) == printed


@given(forks(max_size=6))
def test_the_diff_of_two_trees_reads_back_the_same(fork):
    """The trees have links, submodules, modes, binary files and names of any kind."""
    before, after, drifted = map(Snapshot.from_files, fork)
    patch = Patch.parse(Changes.between(before, after).diff(before))

    again = Patch.parse(bytes(patch))

    assert again == patch
    assert apply_patch(drifted, again) == apply_patch(drifted, patch)


@given(damages())
def test_a_damaged_patch_that_can_be_read_reads_back_the_same(damage):
    """This holds for odd headers too."""
    try:
        patch = Patch.parse(damage(DIFF + RENAME + BINARY + add(b"z") + NAMES + AT_10 + AT_20))
    except PatchError:
        return

    assert Patch.parse(bytes(patch)) == patch


@given(random_bytes())
def test_any_patch_from_random_bytes_reads_back_the_same(data):
    """Everything that can be read can be printed."""
    try:
        patch = Patch.parse(data)
    except PatchError:
        return

    assert Patch.parse(bytes(patch)) == patch


@pytest.mark.parametrize(
    "data",
    [
        b"diff --git a/x b/x\ndeleted file mode 100644\nnew mode 100755\n",
        b"diff --git a/x b/x\nold mode 100644\nnew file mode 100755\n",
        b'diff --git "a/x" "b/y"\nold mode 100644\nnew mode 100755\n',
    ],
    ids=["deleted and a new mode", "added and an old mode", "two names and no rename"],
)
def test_a_header_that_contradicts_itself_reads_back_the_same_or_is_refused(data):
    """Everything that is accepted can be printed."""
    try:
        patch = Patch.parse(data)
    except PatchError:
        return

    assert Patch.parse(bytes(patch)) == patch


def test_prose_is_not_printed():
    """Only changes to files are printed; the original text stays available."""
    data = b"Dear all,\n\n" + DIFF + b"-- \nAnn\n"

    assert b"Ann" not in bytes(Patch.parse(data))
    assert Patch.parse(data).data == data


def test_some_files_of_a_patch_can_be_printed():
    """A patch without its tests can therefore be passed on."""
    patch = Patch.parse(DIFF + RENAME + BINARY)

    some = patch.select(patch.files[1:2])

    assert Patch.parse(bytes(some)).files == patch.files[1:2]
    assert b"3e75765" not in bytes(some)


@pytest.mark.parametrize("rungs", [[], ["recount"]])
def test_uncounted_lines_stay_uncounted(rungs):
    """They mean the same when printed: dropped, or applied if that is allowed."""
    data = NAMES + AT_10 + b"+line 11.5\n line 12\n"

    printed = bytes(Patch.parse(data))

    assert apply({"x": LINES}, printed, rungs) == apply({"x": LINES}, data, rungs)


def test_git_accepts_a_printed_patch(git):
    """The result is that of the original patch."""
    before, after = {"x": LINES, "d": b"\0old"}, {"x y": LINES, "d": b"\0new", "e": b"no newline"}
    base = Snapshot.from_files(before)
    data = Changes.between(base, Snapshot.from_files(after)).diff(base)
    entries = {path: base.get(path) for path in before}

    tree = git.apply(entries, bytes(Patch.parse(data)))

    assert tree == Snapshot.from_files(after).tree_id

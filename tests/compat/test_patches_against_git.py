"""The same patches through `git apply`: both accept or refuse, with equal trees."""

import re

import pytest
from generators import damages, forks, git_diff_options, histories, mangles
from hypothesis import assume, given, note, settings

from cooperbench_eval.errors import PatchError
from cooperbench_eval.git.patching.apply import apply_patch
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.patching.patch_parts import ApplyPolicy, FileChange, PatchStatus, Rung
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Snapshot

fewer = settings(max_examples=settings().max_examples // 2)  # of what is dear

# A context line that lacks its newline in the patch: git takes it for the start
# of a line that has one, and then glues the next line to it.
GLUED = re.compile(rb"^ .*\n\\ No newline", re.MULTILINE)

LINES = b"".join(b"line %d\n" % number for number in range(1, 31))
AT_10 = b"--- a/x\n+++ b/x\n@@ -%d,3 +%d,3 @@\n line 9\n-line 10\n+LINE 10\n line 11\n"
AT_11 = b"@@ -11,3 +12,4 @@\n line 11\n+b\n line 12\n line 13\n"
SWAP = b"diff --git a/%b b/%b\nsimilarity index 100%%\nrename from %b\nrename to %b\n"
ADD_X = b"diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+new\n"
DELETE_X = b"diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n"
PLAIN = b"--- a/x\n+++ b/x\n"
DIFF_X = b"diff --git a/x b/x\n" + PLAIN
CHANGE = b"@@ -1 +1 @@\n-1\n+2\n"
LINK_X = b"diff --git a/x b/x\nindex 1234567..7654321 120000\n" + PLAIN


def is_beyond_git(patch, *trees):
    """Return whether git would get it wrong: see `GLUED`, or a renamed link.

    A link that is renamed to below its own name leaves no mode in the patch, so
    git thinks that the link is still there. If the last tree lost the newline at the end
    of a file, git joins what a patch adds there to the file's last line.
    """
    links = {p for files in trees for p, e in files.items() if e.mode is FileMode.SYMLINK}
    paths = {path for files in trees for path in files}
    below = any(path.startswith(f"{link}/") for link in links for path in paths)
    first, last = trees[0], trees[-1]
    lost = any(
        path in first and first[path].data.endswith(b"\n") and not entry.data.endswith(b"\n")
        for path, entry in last.items()
    )
    return below or lost or GLUED.search(patch) is not None


def overwrites(patch, files):
    """Return whether `git apply --3way` would overwrite another file.

    It lets a renamed or copied file replace one that is there, unseen, and turns a
    submodule into a file that holds its commit's name.
    """
    return any(
        file.new_path in files
        and (
            file.change in {FileChange.RENAME, FileChange.COPY}
            or files[file.new_path].mode is FileMode.SUBMODULE
        )
        for file in Patch.parse(patch).files
    )


def made_by_git(git, old, new, *options):
    """Return git's diff of two stored trees."""
    return git.run("diff-tree", "-p", "--binary", *options, old, new)


LENIENT = ApplyPolicy(rungs=list(Rung))
DIRECT = ApplyPolicy(rungs=["offset", "whitespace"])


def applied_by_git(git, files, patch, policy=DIRECT):
    """Return the tree that git's ladder leaves, or `None` if it refuses."""
    tree = git.apply(files, patch) or git.apply(files, patch, "--ignore-whitespace")
    if tree is None and policy.allows(Rung.THREE_WAY):
        return git.apply(files, patch, "--ignore-whitespace", "--3way")
    return tree


def applied_by_us(git, files, patch, policy=DIRECT):
    """Return the tree that our ladder leaves, or `None` if it refuses."""
    base = Snapshot.from_repo(git.path, git.tree(files))
    result = apply_patch(base, Patch.parse(patch), policy)
    return None if result.status is PatchStatus.FAILED else result.changes.tree_id(base)


@fewer
@given(forks(max_size=6), git_diff_options())
def test_a_patch_made_by_git_gives_its_target_tree(git, fork, options):
    """With any diff options, the old tree plus the diff is the new tree."""
    before, after, _ = fork
    old, new = git.tree(before), git.tree(after)

    patch = made_by_git(git, old, new, *(o for o in options if o != "-U0"))

    assert applied_by_us(git, before, patch) == new


@fewer
@given(forks(), git_diff_options())
def test_a_patch_is_placed_on_another_base_as_by_git(git, fork, options):
    """On a later base, our ladder and git's refuse or place the same patches."""
    before, after, drifted = fork
    patch = made_by_git(git, git.tree(before), git.tree(after), *options)
    assume(not is_beyond_git(patch, *fork))

    for policy in [DIRECT] if overwrites(patch, drifted) else [DIRECT, ApplyPolicy()]:
        ours = applied_by_us(git, drifted, patch, policy)
        assert ours == applied_by_git(git, drifted, patch, policy)


@fewer
@given(histories(), git_diff_options(), git_diff_options())
def test_two_concatenated_patches_apply_as_in_git(git, history, first, second):
    """A file may occur twice: git's odd rules of order hold."""
    one, two, three = map(git.tree, history)
    patch = made_by_git(git, one, two, *first) + made_by_git(git, two, three, *second)
    assume(not is_beyond_git(patch, *history))

    for policy in [DIRECT] if overwrites(patch, history[0]) else [DIRECT, ApplyPolicy()]:
        ours = applied_by_us(git, history[0], patch, policy)
        assert ours == applied_by_git(git, history[0], patch, policy)


@fewer
@given(forks(), damages(headers=False))
def test_a_damaged_hunk_is_refused_or_applied_as_by_git(git, fork, damage):
    """If both accept it, they agree; we refuse more, as git skips unknown lines."""
    before, after, _ = fork
    patch = damage(made_by_git(git, git.tree(before), git.tree(after)))
    note(patch.decode("latin-1"))
    assume(not is_beyond_git(patch, *fork))

    try:
        ours = applied_by_us(git, before, patch)
    except PatchError:
        return
    theirs = applied_by_git(git, before, patch)

    assert ours is None or theirs is None or ours == theirs


@fewer
@given(forks(), git_diff_options(), mangles())
def test_a_mangled_patch_is_placed_as_by_git_or_by_an_extra_rung(git, fork, options, mangle):
    """A patch that git accepts gives git's tree; others need a rung that git lacks."""
    before, after, drifted = fork
    made = made_by_git(git, git.tree(before), git.tree(after), *options)
    assume(made and b"GIT binary" not in made)  # git passes over a broken block, unseen
    patch = mangle(made)
    note(patch.decode("latin-1"))
    assume(not is_beyond_git(patch, *fork))
    base = Snapshot.from_repo(git.path, git.tree(drifted))
    try:
        assume(not overwrites(patch, drifted))
        read = Patch.parse(patch)
    except PatchError:
        assert applied_by_git(git, drifted, patch, ApplyPolicy()) is None
        return
    default, lenient = apply_patch(base, read), apply_patch(base, read, LENIENT)
    theirs = applied_by_git(git, drifted, patch, ApplyPolicy())

    if theirs is not None:
        assert default.changes.tree_id(base) == theirs
    else:
        assert default.status is PatchStatus.FAILED
    if default.status is PatchStatus.FAILED and lenient.status is PatchStatus.APPLIED:
        assert {p.rung for p in lenient.hunks} & {Rung.RECOUNT, Rung.FUZZY}


@pytest.mark.parametrize(
    ("before", "patch"),
    [
        (LINES, AT_10 % (9, 9)),
        (LINES, AT_10 % (2, 2)),
        (LINES, AT_10 % (25, 25)),
        (LINES, AT_10 % (9999, 9999)),
        (LINES, AT_10 % (1, 1)),
        (LINES, AT_10 % (0, 0)),
        (LINES * 3, AT_10 % (50, 50)),
        (LINES * 3, AT_10 % (9, 39)),
        (LINES, AT_10 % (9, 9) + AT_10[16:] % (9, 9)),
        (LINES, AT_10 % (9, 9) + AT_10 % (9, 9)),
        (LINES, PLAIN + b"@@ -9,3 +9,4 @@\n line 9\n line 10\n+a\n line 11\n" + AT_11),
        (LINES, PLAIN + b"@@ -9,2 +9,3 @@\n line 9\n+a\n line 10\n" + AT_11),
        (LINES, PLAIN.replace(b"/x", b"/d") + b"@@ -0,0 +1 @@\n+new\n"),
        (LINES, PLAIN.replace(b"/x", b"/x/y") + b"@@ -0,0 +1 @@\n+new\n"),
        (LINES, (AT_10 % (9, 9)).replace(b"line 9", b"line  9")),
        (LINES, (AT_10 % (9, 9)).replace(b"line 9", b"line 9 ")),
        (LINES, (AT_10 % (9, 9)).replace(b"\n", b"\r\n")),
        (LINES.replace(b"\n", b"\r\n"), AT_10 % (9, 9)),
        (LINES.replace(b"line 11", b"line\x0c11"), (AT_10 % (9, 9))),
        (LINES, PLAIN + b"@@ -10 +10 @@\n-line 10\n+LINE 10\n"),
        (LINES, PLAIN + b"@@ -30 +30 @@\n-line 30\n+LINE 30\n"),
        (LINES, PLAIN + b"@@ -10,0 +11 @@\n+line 10.5\n"),
        (LINES, PLAIN + b"@@ -1,0 +2 @@\n+line 1.5\n"),
        (LINES, PLAIN + b"@@ -0,0 +1 @@\n+line 0\n"),
        (LINES, PLAIN + b"@@ -1,2 +1 @@\n-line 1\n line 2\n"),
        (b"old\n" + LINES, PLAIN + b"@@ -1,2 +1 @@\n-line 1\n line 2\n"),
        (LINES, PLAIN + b"@@ -3,2 +3 @@\n line 3\n-line 4\n"),
        (LINES, PLAIN + b"@@ -29,2 +29 @@\n line 29\n-line 30\n\\ No newline at end of file\n"),
        (b"", PLAIN + b"@@ -0,0 +1 @@\n+new\n"),
        (None, PLAIN + b"@@ -0,0 +1 @@\n+new\n"),
        (None, PLAIN + b"@@ -1 +1 @@\n-old\n+new\n"),
        (b"old\n", PLAIN + b"@@ -1 +0,0 @@\n-old\n"),
        (b"old\n", PLAIN.replace(b"b/x", b"/dev/null") + b"@@ -1 +0,0 @@\n-old\n"),
        (b"old\nmore\n", PLAIN.replace(b"b/x", b"/dev/null") + b"@@ -1 +0,0 @@\n-old\n"),
        (b"old\n", b"--- a/x\n+++ b/x\t1970-01-01 00:00:00.000000000 +0000\n@@ -1 +0,0 @@\n-old\n"),
        (b"old\n", b"--- a/x\n+++ b/x\t1969-12-31 19:00:00 -0500\n@@ -1 +0,0 @@\n-old\n"),
        (b"old\n", b"--- a/x\n+++ b/x\t1970-01-01 19:00:00 -0500\n@@ -1 +0,0 @@\n-old\n"),
        (None, b"--- a/x\t1970-01-01 01:00:00 +0100\n+++ b/x\t2024\n@@ -0,0 +1 @@\n+new\n"),
        (b"", b"--- a/x\t1970-01-01 01:00:00 +0100\n+++ b/x\t2024\n@@ -0,0 +1 @@\n+new\n"),
        (b"", ADD_X),
        (None, ADD_X),
        (None, ADD_X + ADD_X),
        (None, ADD_X + DELETE_X + b"-new\n"),
        (b"new\n", DELETE_X + b"-new\n" + ADD_X),
        (b"new\n", DELETE_X + b"-new\n" + ADD_X + ADD_X),
        (b"new\n", ADD_X + DELETE_X + b"-new\n"),
        (b"new\n", DELETE_X + b"-new\n" + DELETE_X + b"-new\n"),
        (b"new\n", DELETE_X + b"-new\n" + PLAIN + b"@@ -1 +1 @@\n-new\n+newer\n"),
        (b"new\n", PLAIN + b"@@ -1 +1 @@\n-new\n+newer\n" + DELETE_X + b"-newer\n"),
        (b"new\n", DELETE_X[:45]),
        (b"", DELETE_X[:45]),
        (b"1\n", SWAP % (b"x", b"y", b"x", b"y") + SWAP % (b"y", b"x", b"y", b"x")),
        (b"1\n", SWAP % (b"x", b"y", b"x", b"y")),
        (b"1\n", SWAP % (b"x", b"z", b"x", b"z") + PLAIN + CHANGE),
        (b"1\n", PLAIN + CHANGE + SWAP % (b"x", b"z", b"x", b"z")),
        (b"1\n", SWAP % (b"x", b"x/y", b"x", b"x/y")),
        (b"1\n", SWAP % (b"none", b"z", b"none", b"z")),
        (b"1\n", SWAP % (b"x", b"y/z", b"x", b"y/z")),
        (b"1\n", SWAP % (b"x", b"d", b"x", b"d")),
        (b"1\n", LINK_X + CHANGE),
        (b"1\n", b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"),
        (b"1\n", b"diff --git a/x b/x\nold mode 100755\nnew mode 100644\n"),
        (b"1\n", b"diff --git a/x b/x\nold mode 100644\nnew mode 120000\n"),
        (b"1\n", b"diff --git a/s b/s\nindex 1..2 100644\n--- a/s\n+++ b/s\n@@ -1 +1 @@\n-1\n+2\n"),
        (b"1\n", LINK_X.replace(b"/x", b"/s").replace(b"120000", b"100644") + CHANGE),
        (b"1\n", SWAP % (b"x", b"z", b"x", b"z") + DIFF_X + CHANGE),
        (b"1\n", DIFF_X + CHANGE + SWAP % (b"x", b"z", b"x", b"z")),
        (b"1\n", b"diff --git a/y b/y\n" + ADD_X[19:]),
        (b"1\n", b"diff --git a/y b/y\n" + DELETE_X[19:] + b"-1\n"),
        (b"1\n", b"diff --git a/y b/y\n" + PLAIN + CHANGE),
        (
            b"1\n",
            b"diff --git a/m b/m\nindex 1111111..2222222 160000\n--- a/m\n+++ b/m\n@@ -1 +1 @@\n"
            + b"-Subproject commit %b\n+Subproject commit %b\n" % (b"1" * 40, b"2" * 40),
        ),
        (
            b"1\n",
            b"diff --git a/m b/m\nindex 1111111..2222222 160000\n--- a/m\n+++ b/m\n@@ -1 +1 @@\n"
            + b"-Subproject commit %b\n+Subproject commit %b\n" % (b"1" * 40, b"2" * 39),
        ),
    ],
)
def test_patches_are_accepted_and_refused_as_by_git(git, before, patch):
    """The rules for the place of a hunk and the state of a file are git's."""
    files = {
        "y": Entry(b"y\n"),
        "d/e": Entry(b"e\n"),
        "s": Entry(b"1\n", FileMode.EXECUTABLE),
        "m": Entry(b"1" * 40, FileMode.SUBMODULE),
    }
    if before is not None:
        files["x"] = Entry(before)

    try:
        ours = applied_by_us(git, files, patch)
    except PatchError:
        ours = None
    assert ours == applied_by_git(git, files, patch)
    if ours is not None:
        assert applied_by_us(git, files, patch, ApplyPolicy()) == ours


def test_the_newline_that_git_loses_is_kept(git):
    """Git 2.39 joins two lines if the patch lacks a newline that the file has."""
    files = {"x": Entry(b"a\nb\nc\n")}
    patch = PLAIN + b"@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n"
    kept, joined = git.tree({"x": Entry(b"A\nb\nc\n")}), git.tree({"x": Entry(b"A\nbc\n")})

    assert applied_by_us(git, files, patch) == kept
    assert git.apply(files, patch) in {kept, joined}


def test_a_link_renamed_to_below_itself_is_moved(git):
    """Git 2.39 refuses its own diff: it thinks that the link is still in the way."""
    before = {"link": Entry(b"there", FileMode.SYMLINK)}
    after = git.tree({"link/below": Entry(b"there", FileMode.SYMLINK)})
    patch = made_by_git(git, git.tree(before), after, "-M")

    assert applied_by_us(git, before, patch) == after
    assert git.apply(before, patch) in {None, after}


def test_a_series_from_format_patch_is_read(git):
    """Mails with their headers, prose, summary and signature are patches."""
    before = {"x": Entry(LINES), "logo": Entry(b"\0" * 99)}
    after = {"x": Entry(LINES.replace(b"line 10\n", b"line ten\n")), "logo": Entry(b"\0" * 98)}
    parent = git.commit(git.tree(before))
    message = "Count in words\n\ndiff --git a/x b/x\nis how a diff begins\n--- and goes on\n"
    commit = git.commit(git.tree(after), message, "-p", parent)

    mail = git.run("format-patch", "--stdout", "--binary", f"{parent}..{commit}")

    assert mail.startswith(b"From ")
    assert applied_by_us(git, before, mail) == git.tree(after)


@pytest.mark.parametrize("options", [(), ("-R",)], ids=["forward", "backward"])
def test_binary_deltas_are_applied_as_git_applies_them(git, options):
    """A small change to a large binary file is written as copies of the old contents."""
    old = b"\0" + bytes(range(256)) * 300
    new = old[:40_000] + b"changed" + old[40_100:] + b"\xff" * 70_000
    sides = [{"logo": Entry(old)}, {"logo": Entry(new)}]
    before, after = reversed(sides) if options else sides
    patch = made_by_git(git, *map(git.tree, sides), *options)

    assert b"\ndelta " in patch
    assert applied_by_us(git, before, patch) == git.tree(after)


def test_mnemonic_prefixes_are_read(git):
    """`diff.mnemonicPrefix` marks sides with c, i, w or o; `diff.noprefix` with nothing."""
    before, after = {"src/x": Entry(b"1\n")}, {"src/x": Entry(b"2\n")}
    ids = [git.tree(before), git.tree(after)]

    for prefixes in (["--src-prefix=c/", "--dst-prefix=w/"], ["--no-prefix"]):
        assert applied_by_us(git, before, made_by_git(git, *ids, *prefixes)) == ids[1]


def test_a_deleted_binary_file_needs_only_its_name_and_id(git):
    """`--full-index` without `--binary` is enough to know what is deleted."""
    before = {"logo": Entry(b"\0\1"), "x": Entry(b"")}
    after = {"x": Entry(b"")}
    patch = git.run("diff-tree", "-p", "--full-index", git.tree(before), git.tree(after))

    assert applied_by_us(git, before, patch) == git.apply(before, patch) == git.tree(after)
    assert applied_by_us(git, before | {"logo": Entry(b"\0\2")}, patch) is None


CR_FILES = ("x", "x\r", "x\ry", "x\r\r")
CR_NAMES = [b"x\r", b"x\r\r", b"x\ry", b"x\r y", b"x\r\t", b"x\ry\t", b"x"]
CR_HEADERS = [
    PLAIN + CHANGE,
    DIFF_X + CHANGE,
    b"diff --git a/x b/x\nindex 1234567..7654321 100644\n" + PLAIN + CHANGE,
    b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
    b"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
    b"diff --git a/x b/x\ndeleted file mode 100644\n" + PLAIN.replace(b"b/x", b"/dev/null")
    + b"@@ -1 +0,0 @@\n-1\n",
    b'diff --git "a/x\\r" "b/x\\r"\n--- "a/x\\r"\n+++ "b/x\\r"\n' + CHANGE,
]  # fmt: skip


@pytest.mark.parametrize("name", CR_NAMES)
@pytest.mark.parametrize("header", CR_HEADERS)
def test_a_name_with_a_carriage_return_is_that_of_git(git, header, name):
    """Where names with carriage returns exist, both change the same file, or neither does."""
    files = {path: Entry(b"1\n") for path in CR_FILES}
    patch = re.sub(rb"(?<=/)x(?= |\n)|(?<=from )x", lambda _: name, header)

    try:
        ours = applied_by_us(git, files, patch)
    except PatchError:
        ours = None

    assert ours == git.apply(files, patch)


@pytest.mark.parametrize(
    ("path", "strip"),
    [("src/x", "-p0"), ("x", "-p0"), ("deep/a/x", "-p0"), *((f"{c}/x", "-p1") for c in "abciwo12")],
)
def test_a_diff_without_prefixes_is_read_as_by_git_with_p0(git, path, strip):
    """Unless the path starts as a prefix does: that part is removed, as by git's default."""
    old, new = b"".join(b"%d\n" % n for n in range(9)), b"".join(b"%d\n" % n for n in range(1, 10))
    files = {path: Entry(old), "x": Entry(old), "a/x": Entry(old), path + ".new": Entry(b"9\n")}
    before, after = git.tree(files), git.tree(files | {path: Entry(new)})
    patch = made_by_git(git, before, after, "--no-prefix")

    ours = applied_by_us(git, files, patch)

    assert ours == git.apply(files, patch, strip)
    assert (ours == after) == (strip == "-p0")

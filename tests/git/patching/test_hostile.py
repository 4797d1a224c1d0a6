"""Hostile patches: each is refused, in bounded time and memory."""

import os
import resource
import subprocess
import sys
import textwrap
import tracemalloc
import unicodedata

import pytest
from patch_texts import CHANGE, add, apply, move

import cooperbench_eval as ce
from cooperbench_eval.errors import PatchError
from cooperbench_eval.git.patching.apply import apply_patch
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.patching.patch_parts import ApplyPolicy, PatchStatus
from cooperbench_eval.git.trees.diff_writing import binary_block, quote_path
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

LINK = b"diff --git a/%b b/%b\nnew file mode 120000\n--- /dev/null\n+++ b/%b\n@@ -0,0 +1 @@\n+%b\n"
LINK += b"\\ No newline at end of file\n"
BINARY = b"diff --git a/%b b/%b\nnew file mode 100644\nGIT binary patch\n"
MEGABYTE = 1_000_000


def link(path, to):
    """Return a diff that adds a symbolic link."""
    return LINK % (path, path, path, to)


def bounded(code, *, megabytes=400, seconds=12):
    """Run code in a new process with little memory and time; return what it prints.

    A run takes at most a tenth of the time limit, once Python has started.
    """

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * MEGABYTE, megabytes * MEGABYTE))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    prelude = """
        from cooperbench_eval.errors import PatchError
        from cooperbench_eval.git.trees.diff_writing import binary_block
        from cooperbench_eval.git.patching.apply import apply_patch
        from cooperbench_eval.git.patching.patch import Patch
        from cooperbench_eval.git.patching.patch_parts import ApplyPolicy
        from cooperbench_eval.git.trees.snapshot import Snapshot
        NAMES = b"--- a/x\\n+++ b/x\\n"
    """
    source = textwrap.dedent(prelude) + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", source],
        capture_output=True,
        check=False,
        preexec_fn=limit,
        text=True,
    )
    assert not done.returncode, done.stderr[-2000:] or f"it ended with {done.returncode}"
    return done.stdout.strip()


# --- paths ---

ESCAPING = ["..", "../x", "a/../x", "a/..", "a/../../x", ".", "a/./x", "a//x", "a/"]
ABSOLUTE = ["/x", "/etc/passwd", "//server/share/x", "C:/x", "c:\\x", "Z:\\..\\x"]
BACKSLASHES = ["..\\x", "a\\..\\x", "a\\..", "a\\.git\\x", ".git\\config", "a/..\\..\\x"]
GIT = [
    *(".git", ".git/config", "a/.git/hooks/x", ".GIT/x", ".gIt", ".git/", "a/.Git"),
    *(".g\u200cit/x", ".git\u200d/x", "\u202e.git", ".\ufeffgit/x", ".gi\u206at", ".g\u200fIT"),
    *("git~1", "GIT~1/config", "a/git~1/x"),
    *(".git.", ".git ", ".git . .", ".git...", "a/.git. /x", "git~1 ", "git~1."),
    *(".git::$INDEX_ALLOCATION/x", ".git:x", "git~1::$INDEX_ALLOCATION", ".git ::$DATA"),
    *("a\\git~1\\x", "a\\.git ", ".g\u200cit::$INDEX_ALLOCATION"),
]
NUL = ["x\0", "\0", "a/x\0.py", ".git\0x"]
TOO_LONG = ["x" * 256, "/".join("x" * 520), "a/" * 200_000 + "x"]


@pytest.mark.parametrize(
    "path", [*ESCAPING, *ABSOLUTE, *BACKSLASHES, *GIT, *NUL, *TOO_LONG], ids=lambda p: ascii(p)[:40]
)
def test_a_path_that_leaves_the_tree_or_enters_the_repository_is_refused(path):
    """This holds in every place where a diff can name a file."""
    old, new, bare = quote_path("a/", path), quote_path("b/", path), quote_path("", path)
    quoted = [name if name[:1] == b'"' else b'"%b"' % name for name in (old, new)]
    diffs = [
        b"--- %b\t\n+++ %b\t\n%b" % (old, new, CHANGE),
        b"--- %b\t\n+++ %b\t\n%b" % (*quoted, CHANGE),
        b"--- /dev/null\n+++ %b\t\n@@ -0,0 +1 @@\n+new\n" % new,
        b"diff --git %b %b\nold mode 100644\nnew mode 100755\n" % tuple(quoted),
        b"diff --git a/x %b\nrename from x\nrename to %b\n" % (quoted[1], bare),
        b"diff --git %b b/x\ncopy from %b\ncopy to x\n" % (quoted[0], bare),
    ]

    for data in diffs:
        with pytest.raises(PatchError):
            Patch.parse(data)


@pytest.mark.parametrize("path", ["a\\b", "\\", "..x", "x..", ".gitx", "git~10", "agit~1", ".gi"])
def test_a_path_that_only_looks_harmful_is_accepted(path):
    """A backslash is an ordinary character, and names may contain dots."""
    _, after = apply({}, b"--- /dev/null\n+++ %b\n@@ -0,0 +1 @@\n+1\n" % quote_path("b/", path))

    assert after == {path: b"1\n"}


# --- links ---


@pytest.mark.parametrize(
    ("files", "data"),
    [
        ({}, link(b"d", b"/tmp") + add(b"d/x")),
        ({}, add(b"d/x") + link(b"d", b"/tmp")),
        ({}, link(b"d", b"..") + add(b"d/x")),
        ({"d": Entry(b"/tmp", FileMode.SYMLINK)}, add(b"d/x")),
        ({"d": Entry(b"/tmp", FileMode.SYMLINK)}, b"--- a/d/x\n+++ b/d/x\n" + CHANGE),
        ({"l": Entry(b"/tmp", FileMode.SYMLINK)}, move(b"l", b"d") + add(b"d/x")),
        ({"l": Entry(b"/tmp", FileMode.SYMLINK)}, move(b"l", b"d", b"copy") + add(b"d/x/y")),
        ({"x": b"1"}, link(b"d", b"/tmp") + move(b"x", b"d/x")),
        ({"d/x": b"1"}, link(b"d", b"/tmp")),
    ],
)
@pytest.mark.parametrize("partial", [False, True])
def test_nothing_is_written_through_a_link(tmp_path, files, data, partial):
    """A link is a file, so no file can be below it."""
    base = Snapshot.from_files(files)

    result = apply_patch(base, Patch.parse(data), ApplyPolicy(partial=partial))

    assert result.reason
    assert (result.status is PatchStatus.FAILED) or partial
    base.overlay(result.changes).write_to(tmp_path / "tree")
    assert not any(p.name == "x" and p.parent.is_symlink() for p in tmp_path.rglob("*"))


@pytest.mark.parametrize("strategy", ["naive", "union"])
def test_a_link_of_one_side_does_not_lead_the_other_out(tmp_path, strategy):
    """Feature 1 makes a link where feature 2 makes a folder."""
    outside = tmp_path / "outside"
    outside.mkdir()
    base = Snapshot.from_files({"f": b""})
    sides = [link(b"d", bytes(outside)), add(b"d/x")]
    one, two = (apply_patch(base, Patch.parse(data)).changes for data in sides)

    for ours, theirs in ((one, two), (two, one)):
        outcome = ce.merge(base, ours, theirs, strategy=strategy)
        base.overlay(outcome.changes).write_to(tmp_path / f"{ours is one}")

    assert not list(outside.iterdir())


@pytest.mark.parametrize(
    "name", [b".gitmodules", b".GITMODULES", b"gitmod~1", b".gitmodules::$DATA"]
)
def test_the_list_of_submodules_cannot_be_a_link(name):
    """Git would follow the link when it reads the list, so git refuses such a tree."""
    try:
        patch = Patch.parse(link(name, b"/etc/passwd"))
    except PatchError:
        return
    result = apply_patch(Snapshot.from_files({}), patch)

    assert result.status is PatchStatus.FAILED


# --- names that are one on some file systems ---


@pytest.fixture
def one_name_for_all_spellings(monkeypatch):
    """Make the file system ignore case and Unicode form in names."""
    real = {name: getattr(os, name) for name in ("open", "mkdir", "makedirs", "symlink")}

    def folded(path):
        return unicodedata.normalize("NFD", os.fsdecode(path)).lower()

    for name in ("open", "mkdir", "makedirs"):

        def make(path, *args, _real=real[name], **options):
            return _real(folded(path), *args, **options)

        monkeypatch.setattr(os, name, make)
    monkeypatch.setattr(os, "symlink", lambda to, path: real["symlink"](to, folded(path)))


COLLIDING = [
    {"x": b"1", "X": b"2"},
    {"caf\u00e9": b"1", "cafe\u0301": b"2"},
    {"\u212a": b"1", "k": b"2"},
    {"D/x": b"1", "d/x": b"2"},
    {"D": b"1", "d/x": b"2"},
    {"x": b"1", "X": Entry(b"/tmp", FileMode.SYMLINK)},
    {"L": Entry(b"/tmp", FileMode.SYMLINK), "l/x": b"1"},
    {"l": Entry(b"/tmp", FileMode.SYMLINK), "L/x": b"1"},
    {"l": Entry(b"/tmp", FileMode.SYMLINK), "L": Entry(b"/etc", FileMode.SYMLINK)},
    {"m": b"1", "M": Entry(b"1" * 40, FileMode.SUBMODULE)},
]


@pytest.mark.usefixtures("one_name_for_all_spellings")
@pytest.mark.parametrize("files", COLLIDING, ids=lambda files: ascii(list(files)))
def test_names_that_collide_when_written_are_an_error(tmp_path, files):
    """No file is silently lost or replaced, and none is written through a link."""
    tree = Snapshot.from_files(files)

    with pytest.raises(ce.errors.RepositoryError, match="cannot be written"):
        tree.write_to(tmp_path / "tree")

    assert sorted(p.name for p in tmp_path.iterdir()) == ["tree"]


@pytest.mark.parametrize("files", COLLIDING, ids=lambda files: ascii(list(files)))
def test_names_that_differ_are_different_files(tmp_path, files):
    """This holds on file systems that distinguish them, and in every tree id."""
    tree = Snapshot.from_files(files)

    tree.write_to(tmp_path / "tree")

    written = Snapshot.from_dir(tmp_path / "tree")
    assert {path: written.get(path) for path in written.paths()} == {
        path: tree.get(path)
        for path in tree.paths()
        if tree.get(path).mode is not FileMode.SUBMODULE
    }


# --- sizes ---


def size(value):
    """Return a number as a delta writes it."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


COPY_16_MB = b"\xf0\xff\xff\xff"


@pytest.mark.parametrize(
    ("claim", "instructions"),
    [
        (4_000_000_000, COPY_16_MB * 240),
        (2**63, COPY_16_MB * 240),
        (100, COPY_16_MB * 100_000),
        (100, b"\x01x" * 100_000),
    ],
    ids=["claims gigabytes", "claims more than there is", "copies gigabytes", "inserts too much"],
)
def test_a_delta_that_expands_to_gigabytes_is_refused(claim, instructions):
    """It is refused because of its claim, or at the first instruction that exceeds it."""
    old = bytes(16 * MEGABYTE + 777_216)
    delta = size(len(old)) + size(claim) + instructions
    ids = f"index {Entry(old).id}..{'2' * 40}\n".encode()
    data = b"diff --git a/d b/d\n" + ids + b"GIT binary patch\n" + binary_block("delta", delta)
    base, patch = Snapshot.from_files({"d": old}), Patch.parse(data)

    tracemalloc.start()
    result = apply_patch(base, patch)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert "the binary delta" in result.reason
    assert peak < 60 * MEGABYTE


@pytest.mark.parametrize("claim", [10**12 - 1, 5_000_000_000, 1000])
def test_contents_that_inflate_beyond_their_claim_are_refused(claim):
    """A claim of gigabytes is not trusted either."""
    block = binary_block("literal", bytes(20 * MEGABYTE)).replace(b"20000000", b"%d" % claim)

    tracemalloc.start()
    with pytest.raises(PatchError, match="the binary patch"):
        Patch.parse(BINARY % (b"x", b"x") + block)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 10 * MEGABYTE


@pytest.mark.long
def test_many_small_blocks_may_not_inflate_to_gigabytes_together():
    """Each respects the limit of one block, but 3 MB of text would become 2 GB."""
    printed = bounded(
        """
        block = binary_block("literal", bytes(100_000_000))
        head = b"diff --git a/%d b/%d\\nnew file mode 100644\\nGIT binary patch\\n"
        try:
            Patch.parse(b"".join(head % (i, i) + block for i in range(20)))
        except PatchError as exc:
            print(exc.reason)
        """,
        megabytes=1000,
    )

    assert printed


def test_a_hunk_that_claims_a_billion_lines_is_not_trusted():
    """No memory is reserved for them; the hunk is refused or recounted."""
    data = b"--- a/x\n+++ b/x\n@@ -1,1000000000 +1,1000000000 @@\n-old\n+new\n"

    tracemalloc.start()
    refused, _ = apply({"x": b"old\n"}, data)
    _, recounted = apply({"x": b"old\n"}, data, ["recount"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert "its header counts 1000000000 old and 1000000000 new lines" in refused.reason
    assert recounted == {"x": b"new\n"}
    assert peak < MEGABYTE


@pytest.mark.long
def test_one_line_of_many_megabytes_takes_a_few_times_its_size():
    """A line of 50 MB is read, placed and printed; larger ones would strain the machine."""
    printed = bounded(
        """
        data = NAMES + b"@@ -1 +1 @@\\n-old\\n+" + b"x" * 50_000_000 + b"\\n"
        patch = Patch.parse(data)
        print(apply_patch(Snapshot.from_files({"x": b"old\\n"}), patch).status)
        print(apply_patch(Snapshot.from_files({"x": b"odd\\n"}), patch).reason)
        print(len(bytes(patch)) > 50_000_000)
        try:
            Patch.parse(data[100:])
        except PatchError as exc:
            print(exc.reason)
        """,
        megabytes=700,
    )

    assert printed.splitlines() == [
        *("applied", "x hunk 1: its lines are not there", "True", "holds no diff"),
    ]


# --- numbers ---


@pytest.mark.long
def test_a_patch_of_fifty_thousand_files_takes_linear_time():
    """Each of the files is refused."""
    printed = bounded(
        """
        text = b"--- a/%d\\n+++ b/%d\\n@@ -1 +1 @@\\n-old\\n+new\\n"
        patch = Patch.parse(b"".join(text % (i, i) for i in range(50_000)))
        result = apply_patch(Snapshot.from_files({}), patch, ApplyPolicy(rungs=[]))
        print(result.reason, len(result.hunks))
        """,
        seconds=15,
    )

    assert printed == "0: there is no such file 50000"


@pytest.mark.long
@pytest.mark.parametrize("name", ["f%d", "%d/f"], ids=["one folder", "folders of their own"])
def test_thousands_of_new_files_take_linear_time(name):
    """Files are not compared in pairs."""
    printed = bounded(
        f"""
        head = b"diff --git a/{name} b/{name}\\nnew file mode 100644\\n"
        patch = Patch.parse(b"".join(head % (i, i) for i in range(10_000)))
        base = Snapshot.from_files({{}})
        result = apply_patch(base, patch)
        print(result.status, len(base.overlay(result.changes).tree_id))
        """,
        seconds=8,
    )

    assert printed == "applied 40"


@pytest.mark.long
def test_looking_for_blobs_takes_linear_time():
    """Each of 5,000 changes names a blob, and none of them is in the tree."""
    printed = bounded(
        """
        text = b"diff --git a/%d b/%d\\nindex %07x..3e75765 100644\\n--- a/%d\\n+++ b/%d\\n"
        text += b"@@ -1 +1 @@\\n-old\\n+new\\n"
        patch = Patch.parse(b"".join(text % (i, i, i + 1, i, i) for i in range(5000)))
        base = Snapshot.from_files({str(i): b"%d\\n" % i for i in range(5000)})
        print(apply_patch(base, patch).reason)
        """
    )

    assert printed == "0 hunk 1: its lines are not there"


@pytest.mark.parametrize("line", ["l%d", ""], ids=["different lines", "blank lines"])
def test_thousands_of_tiny_hunks_of_one_file_take_linear_time(line):
    """This holds even if each would fit at every line."""
    printed = bounded(
        f"""
        line = b"{line}\\n"
        lines = [line % i if line != b"\\n" else line for i in range(20_000)]
        hunk = b"@@ -%d,3 +%d,3 @@\\n %b-%b+new\\n %b"
        hunks = [hunk % (i + 1, i + 1, *lines[i : i + 3]) for i in range(1, 19_990, 4)]
        patch = Patch.parse(NAMES + b"".join(hunks))
        base = Snapshot.from_files({{"x": b"".join(lines)}})
        result = apply_patch(base, patch)
        print(result.status, result.changes["x"].data.count(b"new"))
        """
    )

    assert printed == "applied 4998"


@pytest.mark.long
def test_the_search_for_similar_places_is_bounded_for_the_whole_patch():
    """The bound covers all hunks together."""
    printed = bounded(
        """
        import random
        pick = random.Random(0).randrange
        lines = [b"t%d\\n" % pick(60) for _ in range(20_000)]
        hunks = []
        for i in range(2, 10_000, 100):
            old = [b" t%d\\n" % pick(60) for _ in range(150)]
            old[70] = b"-" + old[70][1:]
            hunks.append(b"@@ -%d,150 +%d,149 @@\\n" % (i, i) + b"".join(old))
        patch = Patch.parse(NAMES + b"".join(hunks))
        base = Snapshot.from_files({"x": b"".join(lines)})
        print(apply_patch(base, patch, ApplyPolicy(rungs=["fuzzy"])).status)
        """
    )

    assert printed == "failed"


@pytest.mark.parametrize("head", [b"", b"--- a/x\n+++ b/x\n", b"diff --git a/x b/x\n"])
def test_a_patch_of_only_hunk_headers_is_refused(head):
    """The number of headers does not matter."""
    data = head + b"@@ -1 +1 @@\n" * 100_000

    with pytest.raises(PatchError, match=r"outside of any file|changes nothing|names no"):
        Patch.parse(data)


def test_headers_of_hunks_with_half_their_lines_are_refused():
    """Each header miscounts."""
    data = b"--- a/x\n+++ b/x\n" + b"@@ -1 +1 @@\n-old\n" * 5000

    result, _ = apply({"x": b"old\n"}, data)

    assert "its header counts" in result.reason
    assert len(result.hunks) == 5000


def test_a_deep_path_is_like_any_other(tmp_path):
    """A path of five hundred nested folders is applied, compared, printed and written."""
    path = "a/" * 500 + "f"
    base = Snapshot.from_files({})
    result = apply_patch(base, Patch.parse(add(path.encode())))
    tree = base.overlay(result.changes)

    tree.write_to(tmp_path / "tree")

    assert tree.paths() == (path,)
    assert Snapshot.from_dir(tmp_path / "tree").tree_id == tree.tree_id
    assert dict(Changes.between(tree, base)) == {path: None}
    assert apply_patch(base, Patch.parse(result.changes.diff(base))) == result

"""Read-only trees, overlays, and paths that a tree must not contain."""

import hashlib
import os
import pickle
import stat
from pathlib import Path

import pygit2
import pytest
from generators import forks
from hypothesis import given

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.git.trees.entries import Entry, FileMode, path_problem
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

LINK = Entry(b"there", FileMode.SYMLINK)
MODULE = Entry(b"1" * 40, FileMode.SUBMODULE)
SCRIPT = Entry(b"#!/bin/sh\n", FileMode.EXECUTABLE)
TEXT = Entry(b"one\n")

FILES = {
    "a.txt": TEXT,
    "bin/run": SCRIPT,
    "bin/link": LINK,
    "caf\xe9": Entry(b"\xe9"),
    "caf\udce9": Entry(b"\r\n"),
    "deep/er/empty": Entry(b""),
    "vendor": MODULE,
}


@pytest.fixture
def repository(tmp_path):
    """Return a working tree with one tagged commit of `FILES`, and an uncommitted change."""
    folder = tmp_path / "work"
    made = pygit2.init_repository(str(folder))
    index = pygit2.Index()
    for path, entry in FILES.items():
        is_module = entry.mode is FileMode.SUBMODULE
        object_id = pygit2.Oid(hex=entry.id) if is_module else made.create_blob(entry.data)
        index.add(pygit2.IndexEntry(path, object_id, pygit2.enums.FileMode(int(entry.mode))))
    ann = pygit2.Signature("Ann", "ann@example.org", 1700000000, 0)
    tree = index.write_tree(made)
    commit = made.create_commit("HEAD", ann, ann, "first", tree, [])
    made.create_tag("v1", commit, pygit2.enums.ObjectType.COMMIT, ann, "the first")
    (folder / "a.txt").write_bytes(b"not committed\n")
    return made


def entries(snapshot):
    """Return every entry by path."""
    return {path: snapshot.get(path) for path in snapshot.paths()}


def state_of(folder):
    """Return every file below a folder with its contents, mode and time."""
    return {
        str(path): (path.lstat().st_mode, path.lstat().st_mtime_ns, _digest(path))
        for path in Path(folder).rglob("*")
    }


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


# --- a commit ---


@pytest.mark.parametrize("form", ["HEAD", "id", "short id", "tag", "branch", "HEAD^{tree}", "tree"])
def test_a_revision_may_have_any_form(repository, form):
    """A commit is found by name, id, short id, tag, or by its tree."""
    commit = repository.revparse_single("HEAD")
    revision = {
        "id": str(commit.id),
        "short id": str(commit.id)[:7],
        "tag": "v1",
        "branch": repository.head.shorthand,
        "tree": str(commit.tree_id),
    }.get(form, form)

    base = Snapshot.from_repo(repository.workdir, revision)

    assert entries(base) == FILES
    assert base.tree_id == str(commit.tree_id)
    assert base.commit_id == (None if "tree" in form else str(commit.id))


def test_a_bare_repository_serves_as_well(repository, tmp_path):
    """A working tree is not needed."""
    bare = pygit2.clone_repository(repository.workdir, str(tmp_path / "bare.git"), bare=True)

    assert entries(Snapshot.from_repo(bare.path, "HEAD")) == FILES


def test_the_working_tree_is_ignored(repository):
    """Files that are not committed are not seen."""
    base = Snapshot.from_repo(repository.workdir, "HEAD")

    assert base.read("a.txt") == b"one\n"


@pytest.mark.parametrize("revision", ["nope", "0" * 40, "HEAD~1", "HEAD:a.txt", "", "a..b", "\0"])
def test_a_revision_without_a_tree_is_missing(repository, revision):
    """The error names the repository and the revision."""
    with pytest.raises(RepositoryError, match="has no commit") as caught:
        Snapshot.from_repo(repository.workdir, revision)

    assert caught.value.location == str(Path(repository.workdir))


def test_a_folder_without_a_repository_is_rejected(tmp_path):
    """A plain folder, a missing one and a path with a NUL are all refused."""
    for folder in (tmp_path, tmp_path / "missing", "a\0b"):
        with pytest.raises(RepositoryError, match="git repository"):
            Snapshot.from_repo(folder, "HEAD")


def test_an_absent_object_is_one_of_our_errors(repository):
    """If a repository lost an object, the error names the path that it was at."""
    base = Snapshot.from_repo(repository.workdir, "HEAD")
    lost = TEXT.id
    Path(repository.path, "objects", lost[:2], lost[2:]).unlink()

    with pytest.raises(RepositoryError, match=r"the contents of a\.txt are absent"):
        base.read("a.txt")


def test_an_absent_folder_is_one_of_our_errors(repository):
    """The same holds for a lost folder."""
    base = Snapshot.from_repo(repository.workdir, "HEAD")
    lost = str(repository.revparse_single("HEAD:deep").id)
    Path(repository.path, "objects", lost[:2], lost[2:]).unlink()

    with pytest.raises(RepositoryError, match="entries of the folder deep are absent"):
        base.get("deep/er/empty")
    with pytest.raises(RepositoryError, match=f"object {lost}"):
        base.paths()


def test_the_repository_is_not_touched(repository, tmp_path):
    """Reading, overlaying, diffing and writing a tree change no file of the repository."""
    before = state_of(repository.workdir)
    base = Snapshot.from_repo(repository.workdir, "HEAD")
    changes = Changes({"a.txt": Entry(b"two\n"), "deep/er/empty": None, "new": SCRIPT})

    changes.tree_id(base)
    changes.diff(base)
    base.overlay(changes).write_to(tmp_path / "out")
    Changes.between(base, base.overlay(changes))

    assert state_of(repository.workdir) == before


def test_group_writable_files_of_old_histories_are_plain(repository):
    """Git once stored mode 100664, and now reads it as 100644."""
    blob = repository.create_blob(b"old\n")
    tree = repository.TreeBuilder()
    tree.insert("old", blob, pygit2.enums.FileMode.BLOB)
    raw = repository[tree.write()].read_raw().replace(b"100644", b"100664")
    tree_id = repository.write(pygit2.enums.ObjectType.TREE, raw)

    assert Snapshot.from_repo(repository.workdir, str(tree_id)).get("old") == Entry(b"old\n")


# --- a directory ---


def test_a_directory_is_read_with_links_and_modes(tmp_path):
    """Links stay links, even broken ones, and executable files stay executable."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_bytes(b"one\n")
    (tmp_path / "sub" / "run").write_bytes(b"#!/bin/sh\n")
    (tmp_path / "sub" / "run").chmod(0o700)
    (tmp_path / "bin").symlink_to("sub")
    (tmp_path / "broken").symlink_to("nowhere")

    base = Snapshot.from_dir(tmp_path)

    assert entries(base) == {
        "a.txt": TEXT,
        "sub/run": SCRIPT,
        "bin": Entry(b"sub", FileMode.SYMLINK),
        "broken": Entry(b"nowhere", FileMode.SYMLINK),
    }
    assert (base.location, base.commit_id) == (str(tmp_path), None)


def test_things_that_git_cannot_store_are_left_out(tmp_path):
    """`.git`, as a folder or a file, empty folders and pipes are left out."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_bytes(b"")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".git").write_bytes(b"gitdir: elsewhere\n")
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / ".gitignore").write_bytes(b"x\n")

    assert Snapshot.from_dir(tmp_path).paths() == (".gitignore",)


def test_a_directory_is_read_at_once(tmp_path):
    """Later changes to the directory are not seen."""
    (tmp_path / "a.txt").write_bytes(b"one\n")
    base = Snapshot.from_dir(tmp_path)

    (tmp_path / "a.txt").write_bytes(b"two\n")

    assert base.read("a.txt") == b"one\n"


def test_a_missing_directory_is_an_error(tmp_path):
    """So is a file in its place."""
    (tmp_path / "file").write_bytes(b"")

    for path in (tmp_path / "missing", tmp_path / "file"):
        with pytest.raises(RepositoryError, match="is not a directory"):
            Snapshot.from_dir(path)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path, monkeypatch):
    """The message contains the system's reason."""
    (tmp_path / "a.txt").write_bytes(b"")

    def refuse(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)

    with pytest.raises(RepositoryError, match=r"cannot be read \(.*Permission denied"):
        Snapshot.from_dir(tmp_path)


# --- questions ---


def test_files_in_memory_may_be_bytes_or_entries():
    """Bytes are plain files."""
    base = Snapshot.from_files({"b": SCRIPT, "a": b"one\n"})

    assert entries(base) == {"a": TEXT, "b": SCRIPT}


@pytest.mark.parametrize("files", [{"../a": b""}, {"a": b"", "a/b": b""}, {".git/config": b""}])
def test_files_that_cannot_form_a_tree_are_rejected(files):
    """Paths that leave the tree, and files below files, are rejected."""
    with pytest.raises(ValueError, match=r"path|folder"):
        Snapshot.from_files(files)


@pytest.mark.parametrize("where", ["memory", "repository", "overlay"])
def test_every_source_of_a_tree_gives_the_same_answers(repository, where):
    """Entries, contents, folders and listings are the same from every source."""
    base = {
        "memory": Snapshot.from_files(FILES),
        "repository": Snapshot.from_repo(repository.workdir, "HEAD"),
        "overlay": Snapshot.from_files({}).overlay(Changes(FILES)),
    }[where]

    assert base.paths() == tuple(sorted(FILES))
    assert base.paths("bin") == ("bin/link", "bin/run")
    assert base.paths("deep") == ("deep/er/empty",)
    assert base.paths("a.txt") == base.paths("none") == ()
    assert (base.get("bin"), base.get("none"), base.get("a.txt/b")) == (None, None, None)
    assert base.get("vendor") == MODULE
    assert base.read("vendor") == b"1" * 40
    assert [base.is_directory(p) for p in ("bin", "deep/er", "a.txt", "none")] == [1, 1, 0, 0]
    assert base.tree_id == Snapshot.from_repo(repository.workdir, "HEAD").tree_id


@pytest.mark.parametrize("path", ["none", "bin", "a.txt/b"])
def test_reading_something_that_is_not_a_file_is_an_error(path):
    """`read` raises where `get` returns `None`."""
    with pytest.raises(RepositoryError, match=f"snapshot: has no file {path}"):
        Snapshot.from_files(FILES).read(path)


def test_an_empty_tree_has_gits_empty_id():
    """The empty tree has the id that git gives it."""
    base = Snapshot.from_files({})

    assert base.tree_id == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    assert (base.paths(), base.is_directory(""), base.get("")) == ((), False, None)


def test_the_repr_says_where_it_is_from(repository):
    """It shows the path and the commit, or the id of a tree in memory."""
    commit = str(repository.revparse_single("HEAD").id)
    location = str(Path(repository.workdir))

    assert repr(Snapshot.from_repo(location, "HEAD")) == f"<Snapshot of {location} at {commit}>"
    assert "memory at 4b825dc" in repr(Snapshot.from_files({}))


# --- overlays ---


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"a": Entry(b"2")}, {"a": b"2", "d/x": b"1", "d/y": b"1"}),
        ({"d": Entry(b"2")}, {"a": b"1", "d": b"2"}),
        ({"d": Entry(b"2"), "d/x": None}, {"a": b"1", "d": b"2"}),
        ({"a/b/c": Entry(b"2")}, {"a/b/c": b"2", "d/x": b"1", "d/y": b"1"}),
        ({"a/b": Entry(b"2"), "a": None}, {"a/b": b"2", "d/x": b"1", "d/y": b"1"}),
        ({"d/x": None}, {"a": b"1", "d/y": b"1"}),
        ({"d/x": None, "d/y": None}, {"a": b"1"}),
        ({"d": None}, {"a": b"1", "d/x": b"1", "d/y": b"1"}),
        ({"d/none": None, "none/at/all": None, "a/b": None}, {"a": b"1", "d/x": b"1", "d/y": b"1"}),
        ({"n/e/w": Entry(b"2")}, {"a": b"1", "d/x": b"1", "d/y": b"1", "n/e/w": b"2"}),
    ],
    ids=[
        "file replaced",
        "file displaces folder",
        "file displaces folder that is deleted too",
        "folder displaces file",
        "folder displaces file that is deleted too",
        "file deleted",
        "empty folder vanishes",
        "folders cannot be deleted as such",
        "deleting nothing",
        "folders come into being",
    ],
)
def test_an_overlay_is_a_tree_again(changes, expected):
    """Changes replace and delete entries; folders exist if an entry is in them."""
    base = Snapshot.from_files({"a": b"1", "d/x": b"1", "d/y": b"1"})

    laid = base.overlay(Changes(changes))

    assert {path: laid.read(path) for path in laid.paths()} == expected
    assert laid.tree_id == Snapshot.from_files(expected).tree_id
    assert all(laid.is_directory(p.rpartition("/")[0]) for p in expected if "/" in p)
    assert not laid.is_directory("d") or "d" not in expected
    assert base.read("a") == b"1"


def test_overlays_stack():
    """With changes over changes, the last one counts everywhere."""
    base = Snapshot.from_files({"a": b"1", "d/x": b"1"})

    top = base.overlay(Changes({"a": None, "d/y": TEXT})).overlay(Changes({"a": TEXT, "d/x": None}))

    assert entries(top) == {"a": TEXT, "d/y": TEXT}
    assert top.paths("d") == ("d/y",)


def test_an_overlay_shows_what_it_does_not_touch(repository):
    """Folders of the base that no change touches are read as before."""
    base = Snapshot.from_repo(repository.workdir, "HEAD").overlay(Changes({"new/x": TEXT}))

    assert base.paths("deep") == ("deep/er/empty",)
    assert base.read("bin/run") == b"#!/bin/sh\n"
    assert base.commit_id is None


# --- changes ---


def test_changes_are_a_mapping_in_path_order():
    """They are immutable, hashable and compared by value."""
    changes = Changes({"b": None, "a": TEXT})

    assert (list(changes), changes["a"], len(changes), "c" in changes) == (
        ["a", "b"],
        TEXT,
        2,
        False,
    )
    assert {changes: 1}[Changes({"a": TEXT, "b": None})] == 1
    assert changes != Changes({"a": TEXT})
    assert repr(changes) == "Changes(+a, -b)"
    with pytest.raises(AttributeError):
        changes._entries = {}


def test_changes_with_a_file_below_a_file_are_rejected():
    """A tree cannot hold both; a deletion below a file is allowed."""
    with pytest.raises(ValueError, match="'a' is a file and the folder of 'a/b/c'"):
        Changes({"a": TEXT, "a/b/c": TEXT})

    assert Changes({"a": TEXT, "a/b/c": None})


@given(forks())
def test_changes_between_two_trees_lead_from_one_to_the_other(fork):
    """They contain no path that is the same in both trees."""
    old, new = Snapshot.from_files(fork[0]), Snapshot.from_files(fork[1])

    changes = Changes.between(old, new)

    assert entries(old.overlay(changes)) == fork[1]
    assert all(old.get(path) != entry for path, entry in changes.items())
    assert not Changes.between(new, new)


def test_equal_folders_are_not_opened(repository, monkeypatch):
    """Only folders with different ids are opened, so the cost follows the difference."""
    base = Snapshot.from_repo(repository.workdir, "HEAD")
    other = base.overlay(Changes({"bin/new": TEXT}))
    opened = []
    rows = type(base._store).rows
    monkeypatch.setattr(
        type(base._store), "rows", lambda self, path: opened.append(path) or rows(self, path)
    )

    Changes.between(base, other)

    assert "deep" not in opened
    assert "bin" in opened


@pytest.mark.parametrize("path", ["\ud800", "\ud800/a", "bin/\ud800"])
def test_no_tree_has_a_name_that_cannot_be_encoded(repository, path):
    """Such a path is looked up like any other one."""
    base = Snapshot.from_repo(repository.workdir, "HEAD")

    assert base.get(path) is None
    assert base.overlay(Changes({"bin/new": TEXT})).get(path) is None


def test_equal_overlays_are_one():
    """So what was computed for a merged tree is available later."""
    base = Snapshot.from_files(FILES)

    first, again, other = (base.overlay(Changes({"new": e})) for e in (TEXT, TEXT, SCRIPT))

    assert first is again
    assert first is not other
    assert first.tree_id == again.tree_id != other.tree_id


def test_a_folder_of_a_commit_is_read_once(repository, monkeypatch):
    """Overlays of one base share the folders that were read."""
    base = Snapshot.from_repo(repository.workdir, "HEAD")
    read = []
    listing = type(base._store)._parsed
    monkeypatch.setattr(
        type(base._store),
        "_parsed",
        lambda self, tree, path: read.append(path) or listing(self, tree, path),
    )

    ids = [base.overlay(Changes({"bin/new": entry})).tree_id for entry in (TEXT, SCRIPT)]

    assert len(set(ids)) == 2
    assert read == ["bin"]


# --- pickling ---


@pytest.mark.parametrize("where", ["memory", "repository", "overlay"])
def test_snapshots_and_changes_survive_pickling(repository, where):
    """They can be sent to other processes; a commit is sent as its path and tree id."""
    stored = Snapshot.from_repo(repository.workdir, "HEAD")
    changes = Changes({"a.txt": None, "new": SCRIPT})
    base = {
        "memory": Snapshot.from_files(FILES),
        "repository": stored,
        "overlay": stored.overlay(changes),
    }[where]

    back, same = pickle.loads(pickle.dumps((base, changes)))  # noqa: S301 - our own

    assert (back.tree_id, back.location, back.commit_id) == (
        base.tree_id,
        base.location,
        base.commit_id,
    )
    assert entries(back) == entries(base)
    assert same == changes
    if where == "repository":
        assert len(pickle.dumps(base)) < 400


# --- writing out ---


def test_a_written_tree_reads_back_the_same(tmp_path):
    """Names, contents, modes and links survive."""
    files = {path: entry for path, entry in FILES.items() if entry is not MODULE}
    base = Snapshot.from_files(files)

    base.write_to(tmp_path / "not" / "there" / "yet")

    written = tmp_path / "not" / "there" / "yet"
    assert Snapshot.from_dir(written).tree_id == base.tree_id
    assert (written / "bin" / "run").stat().st_mode & stat.S_IXUSR
    assert not (written / "a.txt").stat().st_mode & stat.S_IXUSR


def test_submodules_become_empty_folders(tmp_path):
    """As in a fresh clone."""
    Snapshot.from_files({"vendor/lib": MODULE}).write_to(tmp_path)

    assert list((tmp_path / "vendor" / "lib").iterdir()) == []


def test_a_directory_with_something_in_it_is_not_written_to(tmp_path):
    """So no file is overwritten, and no link in the directory is followed."""
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (inside / "d").symlink_to(outside)

    with pytest.raises(RepositoryError, match="is not empty"):
        Snapshot.from_files({"d/x": b"1"}).write_to(inside)

    assert list(outside.iterdir()) == []


def test_links_are_made_last(tmp_path, monkeypatch):
    """No file can be written through a link of the same tree."""
    out = tmp_path / "out"
    seen = []
    symlink = os.symlink

    def note(*arguments):
        seen.append({path.name for path in out.rglob("*") if path.is_file()})
        symlink(*arguments)

    monkeypatch.setattr(os, "symlink", note)

    Snapshot.from_files({"a": LINK, "b": b"", "c/d": LINK, "z": b""}).write_to(out)

    assert seen == [{"b", "z"}, {"b", "z"}]


@pytest.mark.parametrize("path", ["../out", ".git/hooks/x", "a\\..\\..\\x"])
def test_a_path_that_escapes_is_not_written(repository, tmp_path, path):
    """A hostile tree in a repository cannot write outside the directory."""
    blob = repository.create_blob(b"evil\n")
    tree_id = blob
    for name in reversed(path.split("/")):
        mode = b"100644" if tree_id == blob else b"40000"
        raw = b"%s %s\0%s" % (mode, name.encode(), bytes(tree_id.raw))
        tree_id = _write_raw_tree(repository, raw)
    base = Snapshot.from_repo(repository.workdir, str(tree_id))

    with pytest.raises(RepositoryError, match=r"leaves the tree|own files"):
        base.write_to(tmp_path / "out" / "inner")

    assert not [p for p in (tmp_path / "out").rglob("*") if p.is_file()]


def _write_raw_tree(repository, raw):
    repository.config["core.protectNTFS"] = "false"
    pygit2.option(pygit2.enums.Option.ENABLE_STRICT_OBJECT_CREATION, False)
    return repository.write(pygit2.enums.ObjectType.TREE, raw)


@pytest.mark.parametrize(
    "files",
    [{"a": Entry(b"nul\0", FileMode.SYMLINK)}, {"a": Entry(b"", FileMode.SYMLINK)}],
    ids=["link to a NUL", "link to nothing"],
)
def test_a_file_system_error_becomes_one_of_our_errors(tmp_path, files):
    """The cause is chained."""
    with pytest.raises(RepositoryError, match="cannot be written") as caught:
        Snapshot.from_files(files).write_to(tmp_path / "out")

    assert caught.value.__cause__ is not None


# --- paths ---


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("", "empty"),
        ("a\0b", "NUL"),
        ("/etc/passwd", "absolute"),
        ("C:/x", "absolute"),
        ("c:\\x", "absolute"),
        ("..", "leaves"),
        ("../x", "leaves"),
        ("a/../b", "leaves"),
        ("a/..", "leaves"),
        (".", "normal"),
        ("./a", "normal"),
        ("a/./b", "normal"),
        ("a//b", "normal"),
        ("a/", "normal"),
        ("a\\..\\b", "leaves"),
        ("..\\b", "leaves"),
        (".git", "own files"),
        (".git/hooks/pre-commit", "own files"),
        ("sub/.git/config", "own files"),
        (".GIT/config", "own files"),
        (".gIt", "own files"),
        (".git ", "own files"),
        (".git.", "own files"),
        (".git. . .", "own files"),
        ("git~1", "own files"),
        ("GIT~1/config", "own files"),
        ("git~1 ", "own files"),
        (".g\u200cit", "own files"),
        ("\ufeff.git", "own files"),
        (".git\u206f/x", "own files"),
        (".git::$INDEX_ALLOCATION", "own files"),
        (".git:x\ny", "own files"),
        (".git\\config", "own files"),
        ("a\\.git\\config", "own files"),
        ("a\\git~1", "own files"),
        ("x" * 256, "too long"),
        ("é" * 128, "too long"),
        ("x/" * 512 + "x", "too long"),
        ("\ud800", "cannot be encoded"),
    ],
)
def test_bad_paths_are_rejected(path, words):
    """No path leaves the tree or reaches a repository's own files, on any system."""
    problem = path_problem(path)

    assert problem
    assert words in problem


@pytest.mark.parametrize(
    "path",
    [
        "a",
        "a/b/c.py",
        ".gitignore",
        ".gitattributes",
        ".gitmodules",
        ".github/workflows/x.yml",
        ".git-blame-ignore-revs",
        ".gitx/config",
        "a.git",
        "x.git/config",
        "git",
        "git~2",
        "git~10",
        "git~1a",
        "...",
        "..a",
        "a..",
        "a..b",
        "a:b",
        "back\\slash",
        "with space ",
        "caf\xe9",
        "caf\udce9",
        "tab\tnew\nline",
        "-rf",
        "C",
        "~",
        "x" * 255,
        "x/" * 511 + "x",
    ],
)
def test_good_paths_are_accepted(path):
    """Strange names that do no harm are accepted."""
    assert path_problem(path) is None


# --- entries ---


def test_an_entry_is_named_as_git_names_it():
    """Blobs by their hash, submodules by their commit."""
    assert Entry(b"").id == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert Entry(b"", FileMode.SYMLINK).id == Entry(b"").id
    assert MODULE.id == "1" * 40
    assert [mode.is_regular for mode in FileMode] == [True, True, False, False]

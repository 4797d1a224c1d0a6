"""Contents of a repository are read when they are used, and comparisons read none."""

import copy
import pickle
from pathlib import Path

import attrs
import pygit2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cooperbench_eval import Changes, Entry, Snapshot, merge
from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.git.trees.entries import FileMode, stored_entry
from cooperbench_eval.git.trees.objects import Node
from cooperbench_eval.git.trees.repository import CommitStore
from cooperbench_eval.testing.generators import three_way_trees

AUTHOR = pygit2.Signature("a", "a@example.org", 0, 0)


def commit(repository, files, parents=()):
    """Write a commit whose tree has *files*, which are contents or entries by path."""
    index = pygit2.Index()
    for path, given_ in files.items():
        entry = given_ if isinstance(given_, Entry) else Entry(given_)
        is_module = entry.mode is FileMode.SUBMODULE
        blob = pygit2.Oid(hex=entry.id) if is_module else repository.create_blob(entry.data)
        index.add(pygit2.IndexEntry(path, blob, pygit2.enums.FileMode(int(entry.mode))))
    tree = index.write_tree(repository)
    return str(repository.create_commit(None, AUTHOR, AUTHOR, "", tree, list(parents)))


@pytest.fixture
def repository(tmp_path):
    """An empty bare repository."""
    return pygit2.init_repository(str(tmp_path / "repo"), bare=True)


@pytest.fixture
def read(monkeypatch):
    """The paths whose contents were read from a repository, in order."""
    paths = []
    original = CommitStore.read

    def recorded(self, path, node):
        paths.append(path)
        return original(self, path, node)

    monkeypatch.setattr(CommitStore, "read", recorded)
    return paths


def snapshots(repository, *versions):
    """Return one snapshot for each version of the files."""
    return [Snapshot.from_repo(repository.path, commit(repository, files)) for files in versions]


OLD = {f"f{i}.txt": b"%d\n" % i * 20 for i in range(6)}


def test_changes_between_commits_read_no_contents(repository, read):
    """Comparisons, hashes, tree ids and copies of the changes read none either."""
    old, new = snapshots(repository, OLD, OLD | {"f1.txt": b"new\n", "d/f9.txt": b"9\n"})

    changes = Changes.between(old, new)

    assert list(changes) == ["d/f9.txt", "f1.txt"]
    assert changes == Changes({"f1.txt": Entry(b"new\n"), "d/f9.txt": Entry(b"9\n")})
    assert hash(changes) == hash(Changes(dict(changes)))
    assert changes["f1.txt"] != old.get("f1.txt")
    assert changes.tree_id(old) == new.tree_id
    assert read == []
    assert changes["f1.txt"].data == b"new\n"
    assert read == ["f1.txt"]


def test_a_merge_reads_only_what_both_sides_changed(repository, read):
    """For the other files their ids suffice, also in the merged tree."""
    ours = OLD | {"f1.txt": OLD["f1.txt"] + b"ours\n", "f2.txt": b"2 ours\n"}
    theirs = OLD | {"f1.txt": b"theirs\n" + OLD["f1.txt"], "f3.txt": b"3 theirs\n"}
    base, left, right = snapshots(repository, OLD, ours, theirs)

    outcome = merge(base, Changes.between(base, left), Changes.between(base, right))
    tree = outcome.tree_id(base)

    assert set(read) == {"f1.txt"}
    both = {"f1.txt": b"theirs\n" + OLD["f1.txt"] + b"ours\n"}
    changed = {"f2.txt": b"2 ours\n", "f3.txt": b"3 theirs\n"}
    assert tree == Snapshot.from_files(OLD | both | changed).tree_id


def test_a_diff_reads_only_what_changed(repository, read):
    """A file whose mode changed is not read, since a diff does not show its contents."""
    base, new = snapshots(
        repository, OLD, OLD | {"f1.txt": Entry(OLD["f1.txt"], FileMode.EXECUTABLE), "f2.txt": b""}
    )

    assert Changes.between(base, new).diff(base).count(b"diff --git") == 2
    assert set(read) == {"f2.txt"}


@settings(max_examples=25)
@given(three_way_trees())
def test_changes_of_commits_are_those_of_the_same_files(tmp_path_factory, versions):
    """Modes, links, submodules and odd names are the same in a commit and in memory."""
    repository = pygit2.init_repository(str(tmp_path_factory.mktemp("r")), bare=True)
    base, *sides = versions
    held = [base, *(base.overlay(side) for side in sides)]
    stored = [
        Snapshot.from_repo(
            repository.path, commit(repository, {path: each.get(path) for path in each.paths()})
        )
        for each in held
    ]

    for old, new, old_held, new_held in zip(stored, stored[1:], held, held[1:], strict=False):
        changes, wanted = Changes.between(old, new), Changes.between(old_held, new_held)

        assert changes == wanted
        assert changes.diff(old) == wanted.diff(old_held)
        assert changes.tree_id(old) == new_held.tree_id


KINDS = st.sampled_from([FileMode.FILE, FileMode.EXECUTABLE, FileMode.SYMLINK])


@given(st.binary(max_size=3), KINDS, st.binary(max_size=3), KINDS)
def test_entries_are_equal_by_value_wherever_they_come_from(data, mode, other_data, other_mode):
    """An entry of a repository equals one made by hand, and both hash alike."""

    def unread():
        raise AssertionError("read")

    held, other = Entry(data, mode), Entry(other_data, other_mode)
    stored = stored_entry(held.id, mode, unread)

    assert (stored == other) == (other == stored) == (held == other)
    assert hash(stored) == hash(held)
    assert (stored == stored_entry(other.id, other_mode, unread)) == (held == other)


def test_copies_of_a_stored_entry_hold_its_data(repository, read):
    """A pickled or changed entry does not need the repository."""
    (base,) = snapshots(repository, {"a": b"text\n"})
    entry = base.get("a")

    copies = [
        pickle.loads(pickle.dumps(entry)),  # noqa: S301 - made here
        copy.deepcopy(entry),
        attrs.evolve(entry, mode=FileMode.EXECUTABLE),
    ]

    del read[:]
    assert [each.data for each in copies] == [b"text\n"] * 3
    assert copies[0] == entry != copies[2]
    assert attrs.asdict(copies[2]) == {"data": b"text\n", "mode": FileMode.EXECUTABLE}
    assert read == []
    assert repr(entry) == repr(Entry(b"text\n"))
    with pytest.raises(AttributeError):
        _ = entry.nothing


def test_a_snapshot_keeps_what_it_read_up_to_a_limit(repository, read, monkeypatch):
    """A file is read once while it is kept; what was read first is dropped first."""
    monkeypatch.setattr("cooperbench_eval.git.trees.repository._KEPT_CONTENTS", 1_500)
    big = {f"{i}": b"%d" % i * 1_000 for i in range(3)}
    (base,) = snapshots(repository, big)

    for path in ("0", "0", "1", "0", "0"):
        assert base.read(path) == big[path]

    assert read == ["0", "1", "0"]


def test_a_snapshot_keeps_folders_up_to_a_limit(repository, monkeypatch):
    """A walk over many folders leaves a bounded number of rows in memory."""
    monkeypatch.setattr("cooperbench_eval.git.trees.repository._KEPT_FOLDERS", 10_000)
    files = {f"d{i}/f{j}": b"%d" % (i * j) for i in range(30) for j in range(5)}
    (base,) = snapshots(repository, files)

    assert sorted(base.paths()) == sorted(files)
    assert 0 < len(base._store._folders) <= 6


@pytest.mark.parametrize("mode", [b"100664", b"100600", b"100775", b"40000", b"160000", b"120777"])
def test_modes_of_old_trees_are_read_as_git_reads_them(repository, mode):
    """Git knows only two modes of regular files; other permissions count as one of them."""
    blob = repository.create_blob(b"x")
    empty = repository.write(pygit2.enums.ObjectType.TREE, b"")
    at = empty if mode == b"40000" else blob
    raw = mode + b" a\0" + bytes.fromhex(str(at))
    tree = str(repository.write(pygit2.enums.ObjectType.TREE, raw))
    wanted = {"100664": 0o100644, "100600": 0o100644, "100775": 0o100755, "120777": 0o120000}

    node = CommitStore(str(Path(repository.path)), tree).node("a")

    assert node == Node(wanted.get(mode.decode(), int(mode, 8)), str(at))


@pytest.mark.parametrize("mode", [b"100664", b"100644", b"0100644"])
def test_a_folder_that_is_written_anew_has_the_modes_of_today(repository, mode):
    """Rows that an edit leaves alone are copied, except for modes that git no longer writes."""
    raw = mode + b" a\0" + bytes.fromhex(str(repository.create_blob(b"x")))
    base = Snapshot.from_repo(
        repository.path, str(repository.write(pygit2.enums.ObjectType.TREE, raw))
    )

    changed = base.overlay(Changes({"b": Entry(b"y")}))

    assert changed.tree_id == Snapshot.from_files({"a": b"x", "b": b"y"}).tree_id


def test_a_tree_that_is_listed_as_a_file_is_refused(repository):
    """A hostile tree cannot make a folder's rows the contents of a file."""
    inner = repository.write(pygit2.enums.ObjectType.TREE, b"")
    at = bytes.fromhex(str(inner))
    raw = b"40000 d\0" + at + b"100644 f\0" + at
    tree = str(repository.write(pygit2.enums.ObjectType.TREE, raw))
    base = Snapshot.from_repo(repository.path, tree)
    assert base.paths() == ("f",)

    with pytest.raises(RepositoryError, match="contents of f are not a blob"):
        base.read("f")


@pytest.mark.parametrize("raw", [b"100644 f\0short", b"rubbish", b"100644 \0" + b"x" * 20])
def test_a_folder_that_is_not_a_list_of_entries_is_refused(repository, raw):
    """Nothing is guessed from damaged bytes."""
    damaged = bytes.fromhex(str(repository.write(pygit2.enums.ObjectType.TREE, raw)))
    tree = repository.write(pygit2.enums.ObjectType.TREE, b"40000 d\0" + damaged)
    base = Snapshot.from_repo(repository.path, str(tree))

    with pytest.raises(RepositoryError, match="entries of the folder d cannot be read"):
        base.get("d/f")
    with pytest.raises(RepositoryError, match="entries of the folder d cannot be read"):
        Changes.between(Snapshot.from_repo(repository.path, commit(repository, {})), base)


def test_modes_that_git_reads_alike_are_no_change(repository):
    """A tree with the mode 100664 has the same files as one with 100644."""
    at = bytes.fromhex(str(repository.create_blob(b"x")))
    old, new = (
        Snapshot.from_repo(
            repository.path,
            str(repository.write(pygit2.enums.ObjectType.TREE, mode + b" f\0" + at)),
        )
        for mode in (b"100664", b"100644")
    )

    assert Changes.between(old, new) == Changes()


@pytest.mark.parametrize("second", [b"100644 x\0" + b"b" * 20, b"40000 x\0" + b"b" * 20])
def test_a_folder_that_lists_a_name_twice_is_refused(repository, second):
    """Git's own check refuses it too; whichever entry counted, the other would be lost."""
    first, other = b"100644 x\0" + b"a" * 20, b"100644 a x\0" + b"a" * 20
    trees = [
        repository.write(pygit2.enums.ObjectType.TREE, raw)
        for raw in (first, second, first + second, other + first, other)
    ]
    roots = [
        str(repository.write(pygit2.enums.ObjectType.TREE, b"40000 d\0" + bytes.fromhex(str(tree))))
        for tree in trees
    ]
    one, two, both, more, third = (Snapshot.from_repo(repository.path, root) for root in roots)

    refused = [(one, both), (both, one), (two, both), (both, two), (both, more)]
    refused += [(both, third), (third, both)]
    for old, new in refused:
        with pytest.raises(RepositoryError, match="the folder d lists a name twice"):
            Changes.between(old, new)
    with pytest.raises(RepositoryError, match="the folder d lists a name twice"):
        both.get("d/x")
    assert list(Changes.between(one, more)) == ["d/a x"]
    assert list(Changes.between(third, more)) == ["d/x"]

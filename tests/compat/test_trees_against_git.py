"""Tree ids and diffs through the git binary: the same trees, byte for byte."""

import shutil
import tempfile

import pytest
from generators import forks, path_trees, trees
from hypothesis import example, given, settings

from cooperbench_eval.git.patching.apply import apply_patch
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

fewer = settings(max_examples=settings().max_examples // 2)  # of what is dear

LINK = Entry(b"target", FileMode.SYMLINK)
MODULE = Entry(b"1" * 40, FileMode.SUBMODULE)


@fewer
@given(trees())
def test_tree_ids_are_those_of_git_write_tree(git, files):
    """Any names, any modes: a tree made in memory has the id git gives it."""
    assert Snapshot.from_files(files).tree_id == git.write_tree(files)


@given(path_trees())
def test_folders_are_sorted_as_in_git(git, files):
    """A folder sorts as if its name ended in a slash, so `a.` comes before `a/`."""
    assert Snapshot.from_files(files).tree_id == git.write_tree(files)


@fewer
@given(forks())
def test_changes_give_the_tree_of_git(git, fork):
    """Changes over a commit give the id of the resulting tree."""
    before, after, _ = fork
    base = Snapshot.from_repo(git.path, git.tree(before))

    changes = Changes.between(base, Snapshot.from_files(after))

    assert changes.tree_id(base) == git.write_tree(after)


@given(trees())
def test_a_tree_read_from_git_is_the_tree_that_was_stored(git, files):
    """Every entry comes back from a repository with its name, contents and mode."""
    stored = Snapshot.from_repo(git.path, git.tree(files))

    assert {path: stored.get(path) for path in stored.paths()} == files


@settings(max_examples=60)
@given(forks())
@example(({"d/x": Entry(b"1\n"), "d/y/z": Entry(b"2\n")}, {"d": Entry(b"3\n")}, {}))
@example(({"d": Entry(b"3\n")}, {"d/x": Entry(b"1\n")}, {}))
@example(({"x": Entry(b"#!/bin/sh\n")}, {"x": Entry(b"#!/bin/sh\n", FileMode.EXECUTABLE)}, {}))
@example(({"x": Entry(b"target")}, {"x": LINK}, {}))
@example(({"x": LINK}, {"x/y": Entry(b"")}, {}))
@example(({"x": Entry(b"")}, {"x": MODULE}, {}))
@example(({"x": Entry(b"a\r\nb")}, {"x": Entry(b"a\nb\n")}, {}))
@example(({"x": Entry(b"")}, {}, {}))
@example(({"x": Entry(b"a\0b")}, {"x": Entry(b"text\n")}, {}))
@example(({'"a b\t\\\xe9\udce9': Entry(b"1\n")}, {'"a b\t\\\xe9\udce9': Entry(b"2\n")}, {}))
def test_git_accepts_a_rendered_diff(git, fork):
    """`git apply --index` accepts the diff of any changes, and makes the same tree."""
    before, after, _ = fork
    base = Snapshot.from_files(before)
    changes = Changes.between(base, Snapshot.from_files(after))
    folder = tempfile.mkdtemp()

    try:
        applied = git.apply_in_work_tree(before, changes.diff(base), folder)
    finally:
        shutil.rmtree(folder)

    assert applied == changes.tree_id(base)


@pytest.mark.parametrize(
    "changes",
    [
        Changes({"d": Entry(b"a file now\n")}),
        Changes({"f/x": Entry(b"a folder now\n")}),
        Changes({"f": Entry(b"1\n"), "none": None}),
    ],
    ids=["file displaces folder", "folder displaces file", "nothing changes"],
)
def test_a_diff_shows_what_an_entry_displaces(git, changes, tmp_path):
    """Changes need not list what they displace; their diff does, and git accepts it."""
    files = {"d/x": Entry(b"1\n"), "d/y/z": Entry(b"2\n"), "f": Entry(b"1\n")}
    base = Snapshot.from_files(files)

    applied = git.apply_in_work_tree(files, changes.diff(base), tmp_path)

    assert applied == changes.tree_id(base)


@given(forks())
def test_our_own_diff_applies_to_its_base(fork):
    """Rendering, reading and applying changes gives the same changes."""
    before, after, _ = fork
    base = Snapshot.from_files(before)
    changes = Changes.between(base, Snapshot.from_files(after))

    applied = apply_patch(base, Patch.parse(changes.diff(base))).changes

    assert applied == changes


@given(forks())
def test_differences_are_found_by_content_not_by_source(git, fork):
    """A stored tree and the same tree in memory have no differences."""
    before, _, _ = fork
    stored = Snapshot.from_repo(git.path, git.tree(before))

    assert not Changes.between(stored, Snapshot.from_files(before))

"""Patches for an older version of a file: merged with that version, as `--3way` does."""

import itertools
import re

import pytest
from patch_texts import LINES, add, apply

from cooperbench_eval.git.patching.apply import apply_patch
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.patching.patch_parts import ApplyPolicy, PatchStatus, Rung
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

WANTED = LINES.replace(b"line 10\n", b"LINE 10\n")
MOVED_ON = LINES.replace(b"line 7\n", b"line seven\n")  # within the context of the change
MERGED = MOVED_ON.replace(b"line 10\n", b"LINE 10\n")
CLASHING = LINES.replace(b"line 10\n", b"line ten\n")
DIRECT = ["offset", "whitespace"]
THREE_WAY = [*DIRECT, "three_way"]


def made(old, new, *, abbreviated=False):
    """Return the diff between two sets of files, with full or short blob ids."""
    base = Snapshot.from_files(old)
    data = Changes.between(base, Snapshot.from_files(new)).diff(base)
    return re.sub(rb"([0-9a-f]{7})[0-9a-f]{33}", rb"\1", data) if abbreviated else data


def rungs_of(result):
    """Return how each change was placed."""
    return [each.rung for each in result.hunks]


@pytest.mark.parametrize("abbreviated", [False, True])
def test_the_old_version_is_found_in_the_snapshot(abbreviated):
    """Its blob is found by the full id and by the start of it."""
    patch = made({"x": LINES}, {"x": WANTED}, abbreviated=abbreviated)

    result, after = apply({"x": MOVED_ON, "copy": LINES}, patch)

    assert (result.status, rungs_of(result)) == (PatchStatus.APPLIED, [Rung.THREE_WAY])
    assert after["x"] == MERGED


@pytest.mark.parametrize("abbreviated", [False, True])
def test_the_old_version_is_found_in_the_repository(git, abbreviated):
    """Its blob is found even if no file of the commit has these contents any more."""
    git.tree({"x": Entry(LINES)})
    base = Snapshot.from_repo(git.path, git.tree({"x": Entry(MOVED_ON)}))
    patch = Patch.parse(made({"x": LINES}, {"x": WANTED}, abbreviated=abbreviated))

    result = apply_patch(base, patch)

    assert (result.status, rungs_of(result)) == (PatchStatus.APPLIED, [Rung.THREE_WAY])
    assert result.changes["x"].data == MERGED


def test_the_repository_is_searched_through_an_overlay_too(git):
    """A snapshot with changes can use the contents of its base."""
    base = Snapshot.from_repo(git.path, git.tree({"x": Entry(LINES)}))
    drifted = base.overlay(Changes({"x": Entry(MOVED_ON)}))

    result = apply_patch(drifted, Patch.parse(made({"x": LINES}, {"x": WANTED})))

    assert result.changes["x"].data == MERGED


def test_a_hunk_without_its_old_version_has_no_place():
    """There is no version to merge with."""
    result, _ = apply({"x": MOVED_ON}, made({"x": LINES}, {"x": WANTED}))

    assert result.reason == "x hunk 1: its lines are not there"


def test_an_ambiguous_short_id_finds_no_blob():
    """Git treats it in the same way."""
    seen = {}
    for number in itertools.count():
        data = LINES + b"%d\n" % number
        start = Entry(data).id[:4]
        if start in seen:
            break
        seen[start] = data
    base = Snapshot.from_files({"a": seen[start], "b": data})

    assert base.find_blob(start) is None
    assert base.find_blob(Entry(data).id) == data


def test_a_policy_without_merging_refuses_what_only_merging_places():
    """The blob exists but is not used."""
    patch = made({"x": LINES}, {"x": WANTED})

    result, _ = apply({"x": MOVED_ON, "copy": LINES}, patch, DIRECT)

    assert result.reason == "x hunk 1: its lines are not there"


def test_merging_is_not_tried_if_the_hunks_fit():
    """The whole patch is tried strictly first."""
    patch = made({"x": LINES}, {"x": WANTED})

    result, _ = apply({"x": b"0\n" + LINES, "copy": LINES}, patch)

    assert rungs_of(result) == [Rung.OFFSET]


def test_a_conflict_is_refused_with_its_reason():
    """The tree stays unchanged and contains no markers."""
    patch = made({"x": LINES}, {"x": WANTED})

    result, after = apply({"x": CLASHING, "copy": LINES}, patch)

    assert result.status is PatchStatus.FAILED
    assert result.reason == "x: it conflicts with changes made after the patch"
    assert after["x"] == CLASHING


def test_a_change_that_was_already_made_changes_nothing():
    """Both sides made it, so the merge equals the file."""
    patch = made({"x": LINES, "b": b"\0one"}, {"x": WANTED, "b": b"\0two"})

    result, after = apply({"x": WANTED, "b": b"\0two", "c": LINES, "d": b"\0one"}, patch)

    assert (result.status, result.reason) == (PatchStatus.EMPTY, "")
    assert (after["x"], after["b"]) == (WANTED, b"\0two")


def test_binary_files_are_never_merged_line_by_line():
    """A binary patch needs exactly its old version."""
    patch = made({"b": b"\0one\n\n\nend\n"}, {"b": b"\0one\n\n\nEND\n"})

    result, _ = apply({"b": b"\0ONE\n\n\nend\n", "c": b"\0one\n\n\nend\n"}, patch)

    assert result.status is PatchStatus.FAILED


def test_a_renamed_file_that_changed_is_merged_at_its_new_path():
    """Contents are merged; the name comes from the patch."""
    hunks = made({"x": LINES}, {"x": WANTED})
    head = b"diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n"
    patch = head + hunks[hunks.index(b"index ") :].replace(b"+++ b/x", b"+++ b/y")

    result, after = apply({"x": MOVED_ON, "copy": LINES}, patch)

    assert rungs_of(result) == [Rung.THREE_WAY]
    assert after == {"y": MERGED, "copy": LINES}


def test_the_mode_that_a_patch_gives_a_merged_file_is_kept():
    """Contents are merged, but permissions come from the patch."""
    new = {"x": Entry(WANTED, FileMode.EXECUTABLE)}
    base = Snapshot.from_files({"x": MOVED_ON, "copy": LINES})

    result = apply_patch(base, Patch.parse(made({"x": LINES}, new)))

    assert result.changes["x"] == Entry(MERGED, FileMode.EXECUTABLE)


def test_a_file_deleted_by_the_patch_must_be_as_it_was():
    """Later changes are not lost."""
    result, after = apply({"x": MOVED_ON, "copy": LINES}, made({"x": LINES}, {}))

    assert result.status is PatchStatus.FAILED
    assert after["x"] == MOVED_ON


def test_one_conflict_refuses_the_whole_patch():
    """Files that merge are not changed either."""
    patch = made({"x": LINES, "y": LINES}, {"x": WANTED, "y": WANTED})

    result, after = apply({"x": MOVED_ON, "y": CLASHING, "copy": LINES}, patch)

    assert result.reason == "y: it conflicts with changes made after the patch"
    assert after == {"x": MOVED_ON, "y": CLASHING, "copy": LINES}


def test_an_added_file_that_already_exists_is_accepted():
    """`git apply --3way` accepts it too; without that rung the file is an obstacle."""
    default, _ = apply({"x": b"new\n"}, add(b"x"))
    strict, _ = apply({"x": b"new\n"}, add(b"x"), DIRECT)

    assert (default.status, rungs_of(default)) == (PatchStatus.EMPTY, [Rung.THREE_WAY])
    assert strict.reason == "x: the file already exists"


def test_an_added_file_replaces_an_empty_one():
    """The empty file counts as the base of both sides."""
    result, after = apply({"x": b""}, add(b"x"))

    assert (rungs_of(result), after) == ([Rung.THREE_WAY], {"x": b"new\n"})


def test_an_added_binary_file_that_already_exists_is_accepted():
    """Its bytes are compared, and its mode is set."""
    patch = Patch.parse(made({}, {"b": Entry(b"\0", FileMode.EXECUTABLE)}))

    result = apply_patch(Snapshot.from_files({"b": b"\0"}), patch)

    assert dict(result.changes) == {"b": Entry(b"\0", FileMode.EXECUTABLE)}


def test_the_default_policy_merges():
    """It does what `git apply --ignore-whitespace` and then `--3way` do."""
    assert ApplyPolicy() == ApplyPolicy(rungs=THREE_WAY)

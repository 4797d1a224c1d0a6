"""Where the merge core is known to differ from git: what it gives, held in place."""

from pathlib import Path

import pytest

from cooperbench_eval.git.merging.tree_merge import merge_changes
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

GAPS = Path(__file__).parents[2] / "scenarios" / "known_gaps"


def merge_scenario(name):
    """Merge the trees of a scenario folder."""
    base, ours, theirs = (
        Snapshot.from_dir(GAPS / name / side) for side in ("base", "ours", "theirs")
    )
    sides = Changes.between(base, ours), Changes.between(base, theirs)
    return base, merge_changes(base, *sides)


def unmerged(merge):
    """Return the unmerged paths with their stage numbers."""
    return [(stage.path, stage.number) for stage in merge.stages]


@pytest.mark.parametrize("folder", sorted(GAPS.iterdir()), ids=lambda folder: folder.name)
def test_every_gap_is_documented(folder):
    """A scenario says in its README what git gives and what we give."""
    assert {child.name for child in folder.iterdir()} == {"README.md", "base", "ours", "theirs"}
    assert "git" in (folder / "README.md").read_text()


def test_a_file_below_another_ones_old_name_is_kept():
    """Git lists `b/a` as unmerged and leaves it out of the tree."""
    base, merge = merge_scenario("folder_renamed_onto_a_file")

    assert ("b/a", 2) in unmerged(merge)
    assert "b/a" in base.overlay(merge.changes).paths()


def test_an_edit_beside_an_equal_new_file_is_carried_there():
    """Git settles the new file before, and the edit is lost."""
    base, merge = merge_scenario("edit_beside_an_equal_new_file")

    assert not merge.conflicts
    assert base.overlay(merge.changes).read("b").endswith(b"added by ours\n")


def test_a_file_keeps_its_contents_beside_a_moved_folder():
    """Git lists `c~ours` with an id of zeros."""
    base, merge = merge_scenario("file_listed_without_an_id")

    assert ("c~ours", 2) in unmerged(merge)
    assert base.overlay(merge.changes).read("c~ours") == (
        Snapshot.from_dir(GAPS / "file_listed_without_an_id" / "ours").read("b/c")
    )


def test_a_file_where_a_renamed_folder_goes_is_kept():
    """Git forgets the file `b/d`."""
    base, merge = merge_scenario("file_under_a_renamed_folder")

    assert ("b/d~ours", 2) in unmerged(merge)
    assert {"b/d/a/a", "b/d~ours"} <= set(base.overlay(merge.changes).paths())


def test_a_folder_into_which_a_file_is_moved_keeps_its_files():
    """Git forgets `c/d/d`."""
    base, merge = merge_scenario("file_moved_into_a_settled_folder")

    assert {"c/a", "c/d/d"} <= set(base.overlay(merge.changes).paths())


def test_a_file_that_nobody_touched_is_not_replaced_by_a_moved_one():
    """Git puts `a/d/x` there, and forgets `b/d/y`, too."""
    base, merge = merge_scenario("file_moved_onto_a_settled_file")

    assert ("a/d/x", "directory rename") in [(c.path, c.kind.value) for c in merge.conflicts]
    assert {"a/d/x", "b/d/x", "b/d/y"} <= set(base.overlay(merge.changes).paths())
    assert base.overlay(merge.changes).read("b/d/x") == base.read("b/d/x")


def test_a_deleted_file_that_a_folder_rename_moves_back_is_a_conflict():
    """Git 2.39 crashes here."""
    base = Snapshot.from_files({"b": b"1\n2\n", "c/c": b"3\n4\n"})
    ours = Changes({"b": None, "c/b": Entry(b"1\n2\n")})
    theirs = Changes({"b": None, "c/c": None, "c": Entry(b"3\n4\n")})

    merge = merge_changes(base, ours, theirs)

    assert [(each.path, each.kind.value) for each in merge.conflicts] == [("b", "directory rename")]
    assert base.overlay(merge.changes).paths() == ("b", "c")


def test_a_file_that_a_folder_rename_moves_to_the_old_name_of_another_is_kept():
    """Git 2.39 crashes here, because the other side deleted the file of the old name."""
    base = Snapshot.from_files({"a": b"1\n2\n", "d/x": b"3\n4\n"})
    ours = Changes({"a": None, "b": Entry(b"1\n2\n"), "d/a": Entry(b"5\n6\n")})
    theirs = Changes({"a": None, "d/x": None, "x": Entry(b"3\n4\n")})

    merge = merge_changes(base, ours, theirs)

    assert [(each.path, each.kind.value) for each in merge.conflicts] == [
        ("a", "directory rename"),
        ("b", "rename/delete"),
    ]
    assert base.overlay(merge.changes).read("a") == b"5\n6\n"


def test_a_renamed_file_that_a_folder_rename_moves_to_an_old_name_is_a_conflict():
    """Git 2.39 crashes here, because the other side renamed that file, too."""
    base = Snapshot.from_files({"a": b"1\n2\n", "d/x": b"3\n4\n", "d/z": b"5\n6\n"})
    ours = Changes(
        {"a": None, "b": Entry(b"1\n2\n"), "d/a": Entry(b"5\n6\n"), "d/z": None},
    )
    theirs = Changes(
        {"a": Entry(b"1\n2\n3\n"), "d/x": None, "x": Entry(b"3\n4\n")}
        | {"d/z": None, "q": Entry(b"5\n6\n7\n")},
    )

    merge = merge_changes(base, ours, theirs)

    assert [(each.path, each.kind.value) for each in merge.conflicts] == [("d/z", "rename/rename")]
    assert base.overlay(merge.changes).read("q") == b"5\n6\n7\n"

"""Where the merge core is known to differ from git: what it gives, held in place."""

from pathlib import Path

import pytest

from cooperbench_eval.merging.tree import merge_changes
from cooperbench_eval.snapshot import Changes, Snapshot

GAPS = Path(__file__).parents[1] / "scenarios" / "known_gaps"


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

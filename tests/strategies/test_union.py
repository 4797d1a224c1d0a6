"""Union keeps the lines of both sides in each conflict."""

import pytest
from generators import three_way_edits, three_way_trees
from hypothesis import given, settings

import cooperbench_eval as ce

fewer = settings(max_examples=settings().max_examples // 2)  # slow cases

LINK = ce.models.FileMode.SYMLINK


def union(base, ours, theirs):
    """Merge one file's three texts or entries by union; `None` means that there is no file."""
    tree = ce.Snapshot.from_files({} if base is None else {"f": base})
    sides = [
        ce.Changes({"f": ce.Entry(each) if isinstance(each, bytes) else each})
        for each in (ours, theirs)
    ]
    return ce.merge(tree, *sides, strategy="union")


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        (b"1\n", b"2\n", b"3\n", b"2\n3\n"),
        (b"1\n", b"2", b"3", b"2\n3"),
        (b"1\n", b"2", b"3\n", b"2\n3\n"),
        (b"a\n1", b"a\n2", b"a\n3\n4", b"a\n2\n3\n4"),
        (b"a\r\n1\r\n", b"a\r\n2\r\n", b"a\r\n3\r\n", b"a\r\n2\r\n3\r\n"),
        (b"a\r\n1\r\n", b"a\r\n2", b"a\r\n3\r\n", b"a\r\n2\r\n3\r\n"),
        (b"a\n1\nb\n", b"a\nb\n", b"a\n2\nb\n", b"a\n2\nb\n"),
        (b"\xe9\n", b"\xe8\n", b"\xea\n", b"\xe8\n\xea\n"),
        (None, b"1\nend\n", b"2\nend\n", b"1\n2\nend\n"),
        (b"1\n", b"<<<<<<< x\n", b"=======\n", b"<<<<<<< x\n=======\n"),
    ],
)
def test_union_keeps_our_lines_then_theirs(base, ours, theirs, merged):
    """Texts may lack the last newline, or have CR LF, Latin-1 or lines like markers."""
    outcome = union(base, ours, theirs)

    assert outcome.status == "resolved"
    assert outcome.conflicts == ()
    assert outcome.conflicts_met == 1
    assert outcome.changes["f"].data == merged


def test_union_of_a_clean_merge_is_clean():
    """Without conflicts it equals the naive merge."""
    outcome = union(b"1\n2\n3\n4\n5\n", b"0\n2\n3\n4\n5\n", b"1\n2\n3\n4\n6\n")

    assert (outcome.status, outcome.conflicts_met) == ("clean", 0)
    assert outcome.changes["f"].data == b"0\n2\n3\n4\n6\n"


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "kind"),
    [
        (b"1\n", b"2\n", None, "modify/delete"),
        (b"1\n", None, b"2\n", "modify/delete"),
        (b"a\0", b"b\0", b"c\0", "binary"),
        (None, ce.Entry(b"b", LINK), ce.Entry(b"c", LINK), "symlink"),
        (None, b"b\n", ce.Entry(b"c", LINK), "type"),
        (None, b"b\n", ce.Entry(b"b\n", ce.models.FileMode.EXECUTABLE), "mode"),
    ],
)
def test_a_conflict_without_lines_stays_open(base, ours, theirs, kind):
    """There is nothing to concatenate."""
    outcome = union(base, ours, theirs)

    assert outcome.status == "conflicts"
    assert [conflict.kind for conflict in outcome.conflicts] == [kind]


def test_union_resolves_other_conflicts_if_one_stays_open():
    """Lines of one file are joined even if another file's conflict stays open."""
    base = ce.Snapshot.from_files({"f": b"1\n", "g": b"1\n"})
    ours = ce.Changes({"f": ce.Entry(b"2\n"), "g": ce.Entry(b"2\n")})
    theirs = ce.Changes({"f": ce.Entry(b"3\n"), "g": None})

    outcome = ce.merge(base, ours, theirs, strategy="union")

    assert (outcome.status, outcome.conflicts_met) == ("conflicts", 2)
    assert [conflict.path for conflict in outcome.conflicts] == ["g"]
    assert outcome.changes["f"].data == b"2\n3\n"


@fewer
@given(three_way_trees())
def test_union_leaves_no_lines_in_dispute(trees):
    """Only conflicts without lines stay open."""
    outcome = ce.merge(*trees, strategy="union")

    assert not any(conflict.has_lines for conflict in outcome.conflicts)


@fewer
@given(three_way_edits())
def test_swapping_the_sides_leaves_the_same_conflicts_open(trees):
    """The order of the sides affects the lines but not which conflicts are resolved."""
    base, ours, theirs = trees

    outcome = ce.merge(base, ours, theirs, strategy="union")
    swapped = ce.merge(base, theirs, ours, strategy="union")

    assert outcome.status == swapped.status
    assert len(outcome.conflicts) == len(swapped.conflicts)
    assert outcome.conflicts_met == swapped.conflicts_met

"""The three-way merge of trees, path by path."""

import pytest
from generators import three_way_edits, three_way_trees
from hypothesis import given

from cooperbench_eval.git.merging.conflicts import ConflictKind
from cooperbench_eval.git.merging.three_way_merge import Gone, Labels
from cooperbench_eval.git.merging.tree_merge import merge_changes
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

LABELS = Labels(ours="OURS", theirs="THEIRS")
LINK = FileMode.SYMLINK
MODULE = FileMode.SUBMODULE
RUN = FileMode.EXECUTABLE


def merge_trees(base, ours, theirs, labels=LABELS):
    """Merge two trees over a third, each given as its files; return base and merge."""
    trees = [Snapshot.from_files(files) for files in (base, ours, theirs)]
    sides = [Changes.between(trees[0], tree) for tree in trees[1:]]
    return trees[0], merge_changes(trees[0], *sides, labels)


def merged_files(base, merge):
    """Return the merged tree as its files, contents alone where the mode is plain."""
    tree = base.overlay(merge.changes)
    entries = {path: tree.get(path) for path in tree.paths()}
    return {p: e.data if e.mode is FileMode.FILE else e for p, e in entries.items()}


def kinds(merge):
    """Return the path and kind of each open conflict."""
    return [(conflict.path, conflict.kind.value) for conflict in merge.conflicts]


# --- what merges --------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "side"),
    [
        ({"f": b"1\n"}, {"f": b"2\n"}),
        ({"f": b"1\n"}, {}),
        ({}, {"f": b"1\n"}),
        ({"f": b"1\n"}, {"f": Entry(b"1\n", RUN)}),
        ({"f": b"1\n"}, {"f": Entry(b"target", LINK)}),
        ({"f": Entry(b"1" * 40, MODULE)}, {"f": Entry(b"2" * 40, MODULE)}),
        ({"f": b"a\0"}, {"f": b"b\0"}),
        ({"f": b"\xe9\n"}, {"f": b"\xe8\n"}),
        ({"f": b"1\n"}, {"f": b""}),
        ({"f": b""}, {"f": b"1\n"}),
        ({"f": b"1\n"}, {"f/g": b"1\n"}),
        ({"f/g": b"1\n"}, {"f": b"1\n"}),
    ],
)
def test_a_change_of_one_side_is_taken(base, side):
    """Whatever the change is, and whichever side made it, also if both made it."""
    expected = Snapshot.from_files(side).tree_id

    for ours, theirs in ((side, base), (base, side), (side, side)):
        tree, merge = merge_trees(base, ours, theirs)

        assert merge.conflicts == ()
        assert merge.changes.tree_id(tree) == expected


def test_edits_of_different_lines_of_a_file_merge():
    """Both sides' lines stand in the file."""
    lines = [b"%d\n" % number for number in range(9)]
    base = {"f": b"".join(lines)}
    ours = {"f": b"".join([b"ours\n", *lines])}
    theirs = {"f": b"".join([*lines, b"theirs\n"])}

    tree, merge = merge_trees(base, ours, theirs)

    assert merge.conflicts == ()
    assert merged_files(tree, merge) == {"f": b"".join([b"ours\n", *lines, b"theirs\n"])}


def test_text_of_one_side_and_mode_of_the_other_merge():
    """Contents and the executable bit are merged each for itself."""
    tree, merge = merge_trees({"f": b"1\n"}, {"f": b"2\n"}, {"f": Entry(b"1\n", RUN)})

    assert merge.conflicts == ()
    assert merged_files(tree, merge) == {"f": Entry(b"2\n", RUN)}


def test_a_folder_may_take_the_place_of_a_file_that_the_other_side_left_alone():
    """The file is gone then, and nothing is set aside."""
    tree, merge = merge_trees({"f": b"1\n"}, {"f/g": b"2\n"}, {"f": b"1\n", "h": b"3\n"})

    assert merge.conflicts == ()
    assert merged_files(tree, merge) == {"f/g": b"2\n", "h": b"3\n"}


@pytest.mark.parametrize(
    ("base", "change", "other", "expected"),
    [
        (
            {"f/g": b"1\n", "f/h": b"1\n"},
            {"f": Entry(b"new\n")},
            {"f/g": b"2\n", "f/h": b"1\n"},
            {"f~OURS": b"new\n", "f/g": b"2\n"},
        ),
        (
            {"f": b"1\n"},
            {"f/g": Entry(b"new\n")},
            {"f": b"2\n"},
            {"f/g": b"new\n", "f~THEIRS": b"2\n"},
        ),
    ],
)
def test_an_entry_replaces_what_was_at_its_path(base, change, other, expected):
    """Changes need not spell it out; the other side's edit of it is not lost in silence."""
    tree, ours = Snapshot.from_files(base), Changes(change)
    theirs = Changes.between(tree, Snapshot.from_files(other))

    alone = merge_changes(tree, ours, Changes(), LABELS)
    merge = merge_changes(tree, ours, theirs, LABELS)

    assert alone.conflicts == ()
    assert alone.changes.tree_id(tree) == ours.tree_id(tree)
    assert merge.conflicts
    assert merged_files(tree, merge) == expected


def test_the_merged_overlay_has_only_touched_paths():
    """A file that neither side touched is not even looked at."""
    _, merge = merge_trees(
        {"f": b"1\n", "rest": b"r\n"}, {"f": b"2\n", "rest": b"r\n"}, {"f": b"1\n", "rest": b"r\n"}
    )

    assert list(merge.changes) == ["f"]


@pytest.mark.parametrize("marker", [b"<<<<<<< OURS\n", b"=======\n", b">>>>>>> THEIRS\n"])
def test_markers_in_the_contents_are_lines_like_any_other(marker):
    """A file that held them before merges clean, and they stay."""
    lines = [b"%d\n" % number for number in range(9)]
    base = {"f": b"".join([*lines[:4], marker, *lines[4:]])}
    ours = {"f": b"ours\n" + base["f"]}
    theirs = {"f": base["f"] + b"theirs\n"}

    tree, merge = merge_trees(base, ours, theirs)

    assert merge.conflicts == ()
    assert merged_files(tree, merge) == {"f": b"ours\n" + base["f"] + b"theirs\n"}


def test_markers_in_a_disputed_text_count_for_nothing():
    """One conflict is one conflict, also where its lines look like three."""
    clash = b"<<<<<<< x\n1\n=======\n2\n>>>>>>> y\n"

    _, merge = merge_trees({"f": b"0\n"}, {"f": clash}, {"f": b"3\n"})

    (conflict,) = merge.conflicts
    assert (conflict.ours, conflict.theirs) == (clash, b"3\n")


# --- what conflicts -------------------------------------------------------------


def test_edits_of_one_line_are_a_content_conflict():
    """It holds the three texts and the line of its marker; the file shows git's markers."""
    tree, merge = merge_trees(
        {"f": b"a\nb\nc\n"}, {"f": b"a\nB\nc\n"}, {"f": Entry(b"a\nbb\nc\n", RUN)}
    )

    (conflict,) = merge.conflicts
    assert (conflict.path, conflict.kind, conflict.line) == ("f", ConflictKind.CONTENT, 2)
    assert (conflict.base, conflict.ours, conflict.theirs) == (b"b\n", b"B\n", b"bb\n")
    assert conflict.has_lines
    text = b"a\n<<<<<<< OURS\nB\n=======\nbb\n>>>>>>> THEIRS\nc\n"
    assert merged_files(tree, merge) == {"f": Entry(text, RUN)}


def test_latin_1_lines_conflict_byte_for_byte():
    """Text need not be UTF-8 to have lines."""
    tree, merge = merge_trees({"f": b"\xe9\n"}, {"f": b"\xe8\n"}, {"f": b"\xea\n"})

    assert [(each.ours, each.theirs) for each in merge.conflicts] == [(b"\xe8\n", b"\xea\n")]
    text = b"<<<<<<< OURS\n\xe8\n=======\n\xea\n>>>>>>> THEIRS\n"
    assert merged_files(tree, merge) == {"f": text}


def test_two_new_files_of_one_name_conflict():
    """Their lines are compared with nothing; equal ends are no conflict."""
    tree, merge = merge_trees({}, {"f": b"1\nend\n"}, {"f": b"2\nend\n"})

    (conflict,) = merge.conflicts
    assert kinds(merge) == [("f", "add/add")]
    assert (conflict.base, conflict.ours, conflict.theirs) == (b"", b"1\n", b"2\n")
    text = b"<<<<<<< OURS\n1\n=======\n2\n>>>>>>> THEIRS\nend\n"
    assert merged_files(tree, merge) == {"f": text}


def test_a_new_empty_file_takes_the_lines_of_the_other_side():
    """As git does, nothing against something is no conflict."""
    tree, merge = merge_trees({}, {"f": b""}, {"f": b"2\n"})

    assert merge.conflicts == ()
    assert merged_files(tree, merge) == {"f": b"2\n"}


@pytest.mark.parametrize("deleting", ["ours", "theirs"])
def test_a_change_against_a_deletion_conflicts(deleting):
    """The changed file stays; the side that deleted has no text."""
    sides = ({}, {"f": b"2\n"}) if deleting == "ours" else ({"f": b"2\n"}, {})

    tree, merge = merge_trees({"f": b"1\n"}, *sides)

    (conflict,) = merge.conflicts
    assert kinds(merge) == [("f", "modify/delete")]
    assert getattr(conflict, deleting) is None
    assert conflict.base == b"1\n"
    assert not conflict.has_lines
    assert merged_files(tree, merge) == {"f": b"2\n"}


def test_a_change_of_mode_against_a_deletion_conflicts():
    """A file is changed also where its bytes are the same."""
    _, merge = merge_trees({"f": b"1\n"}, {"f": Entry(b"1\n", RUN)}, {})

    assert kinds(merge) == [("f", "modify/delete")]


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "kind"),
    [
        ({"f": b"a\0"}, b"b\0", b"c\0", "binary"),
        ({"f": b"a\n"}, b"b\0", b"c\n", "binary"),
        ({"f": b"a\0"}, b"b\n", b"c\n", "binary"),
        ({}, b"b\0", b"c\0", "binary"),
        ({"f": Entry(b"a", LINK)}, Entry(b"b", LINK), Entry(b"c", LINK), "symlink"),
        ({}, Entry(b"b", LINK), Entry(b"c", LINK), "symlink"),
        (
            {"f": Entry(b"1" * 40, MODULE)},
            Entry(b"2" * 40, MODULE),
            Entry(b"3" * 40, MODULE),
            "submodule",
        ),
        ({}, b"b\n", Entry(b"b\n", RUN), "mode"),
    ],
)
def test_what_has_no_lines_keeps_our_side(base, ours, theirs, kind):
    """Contents that cannot be merged are one conflict; ours stands in the tree."""
    tree, merge = merge_trees(base, {"f": ours}, {"f": theirs})

    (conflict,) = merge.conflicts
    assert kinds(merge) == [("f", kind)]
    assert not conflict.has_lines
    entry = ours if isinstance(ours, Entry) else Entry(ours)
    assert (conflict.ours, tree.overlay(merge.changes).get("f")) == (entry.data, entry)


def test_a_nul_after_the_first_8000_bytes_is_text_to_git():
    """Only so many bytes decide what is binary."""
    late, early = b"x" * 8000 + b"\0\n", b"x" * 7999 + b"\0\n"

    (text,) = merge_trees({"f": b"1\n"}, {"f": late}, {"f": b"2\n"})[1].conflicts
    (binary,) = merge_trees({"f": b"1\n"}, {"f": early}, {"f": b"2\n"})[1].conflicts

    assert (text.kind, binary.kind) == (ConflictKind.CONTENT, ConflictKind.BINARY)


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (b"2\n", Entry(b"x", LINK), {"f~OURS": b"2\n", "f": Entry(b"x", LINK)}),
        (Entry(b"x", LINK), b"2\n", {"f": Entry(b"x", LINK), "f~THEIRS": b"2\n"}),
        (
            Entry(b"x", LINK),
            Entry(b"1" * 40, MODULE),
            {"f~OURS": Entry(b"x", LINK), "f~THEIRS": Entry(b"1" * 40, MODULE)},
        ),
    ],
)
def test_two_kinds_of_entry_get_a_name_each(ours, theirs, expected):
    """Git sets the regular file aside, whoever's it is, and both where none is regular."""
    tree, merge = merge_trees({"f": b"1\n"}, {"f": ours}, {"f": theirs})

    assert kinds(merge) == [("f", "type")]
    assert merged_files(tree, merge) == expected


@pytest.mark.parametrize("side", ["OURS", "THEIRS"])
def test_a_file_in_the_way_of_a_folder_is_set_aside(side):
    """The folder keeps its name; the file gets that of its side."""
    sides = [{"f": b"1\n"}, {"f/g": b"2\n"}]

    tree, merge = merge_trees({}, *(sides if side == "OURS" else reversed(sides)))

    assert kinds(merge) == [(f"f~{side}", "file/directory")]
    assert merged_files(tree, merge) == {"f/g": b"2\n", f"f~{side}": b"1\n"}


def test_a_file_set_aside_is_one_conflict_that_stays_open():
    """Ours changed a file that theirs deleted for a folder: no text could answer that."""
    tree, merge = merge_trees({"f": b"1\n"}, {"f": b"2\n"}, {"f/g": b"3\n"})

    answered = merge.resolve(lambda conflict: conflict.ours + b"!\n")

    assert kinds(merge) == kinds(answered) == [("f~OURS", "file/directory")]
    assert merged_files(tree, answered) == {"f/g": b"3\n", "f~OURS": b"2\n"}


@pytest.mark.parametrize(
    "there", [{"f~OURS": b"mine\n"}, {"f~OURS/x": b"mine\n"}, {"f~OURS": Entry(b"mine", LINK)}]
)
@pytest.mark.parametrize("holder", ["base", "ours", "theirs"])
def test_a_name_set_aside_is_a_free_one(there, holder):
    """A file that has the name already keeps it, and the new one is numbered."""
    trees = {"base": {}, "ours": {"f": b"1\n"}, "theirs": {"f": Entry(b"x", LINK)}}
    holders = trees if holder == "base" else [holder]
    trees |= {name: trees[name] | there for name in holders}

    tree, merge = merge_trees(*trees.values())

    expected = {"f": Entry(b"x", LINK), "f~OURS_0": b"1\n"} | there
    assert merged_files(tree, merge) == expected


def test_a_slash_in_a_label_makes_no_folder():
    """Branches may be called `origin/main`; names set aside are beside the file."""
    labels = Labels(ours="origin/main", theirs="b")

    tree, merge = merge_trees({}, {"d/f": b"1\n"}, {"d/f/g": b"2\n"}, labels)

    assert set(merged_files(tree, merge)) == {"d/f/g", "d/f~origin_main"}


def test_conflicts_come_by_path_and_line():
    """Several of a file stand in the file's order."""
    lines = [b"%d\n" % number for number in range(20)]
    sides = [
        {"b": b"".join([s, *lines[:10], s, *lines[10:]]), "a": s} for s in (b"ours\n", b"theirs\n")
    ]

    _, merge = merge_trees({"b": b"".join(lines), "a": b"0\n"}, *sides)

    assert [(each.path, each.line) for each in merge.conflicts] == [("a", 1), ("b", 1), ("b", 16)]


def test_neither_the_base_nor_the_sides_change():
    """A merge is a new value."""
    base = Snapshot.from_files({"f": b"1\n", "g": b"1\n"})
    ours, theirs = Changes({"f": Entry(b"2\n"), "g": None}), Changes({"f": Entry(b"3\n")})
    before = base.tree_id, dict(ours), dict(theirs)

    merge = merge_changes(base, ours, theirs)
    merge.resolve(lambda _: b"9\n")

    assert (base.tree_id, dict(ours), dict(theirs)) == before
    assert len(merge.conflicts) == 1


# --- answers ------------------------------------------------------------------


def test_answers_may_come_one_by_one():
    """What is answered stays so; the next conflict's line is counted anew."""
    lines = [b"%d\n" % number for number in range(9)]
    sides = [{"f": b"".join([s, *lines, s])} for s in (b"ours\n", b"theirs\n")]
    tree, merge = merge_trees({"f": b"".join(lines)}, *sides)

    first = merge.resolve(lambda conflict: b"A\n" if conflict.line == 1 else None)
    second = first.resolve(lambda _: b"B\n")

    assert [conflict.line for conflict in merge.conflicts] == [1, 15]
    assert [conflict.line for conflict in first.conflicts] == [11]
    assert second.conflicts == ()
    assert merged_files(tree, second) == {"f": b"".join([b"A\n", *lines, b"B\n"])}


def test_lines_before_are_those_of_the_same_merge():
    """Of conflicts that are open in both; another merge of the path tells nothing of them."""
    lines = [b"%d\n" % number for number in range(9)]
    sides = [{"f": b"".join([s, *lines, s])} for s in (b"ours\n", b"theirs\n")]
    _, merge = merge_trees({"f": b"".join(lines)}, *sides)
    _, other = merge_trees({"f": b"".join(lines)}, sides[1], sides[0])
    later = merge.resolve(lambda conflict: b"A\n" if conflict.line == 1 else None)

    assert merge.lines_before(merge) == {("f", 1): 1, ("f", 15): 15}
    assert later.lines_before(merge) == {("f", 11): 15}
    assert merge.lines_before(later) == {("f", 15): 11}
    assert later.lines_before(other) == {}


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        (({"f": Entry(b"b\0", RUN)}, {"f": b"c\0"}), {"f": Entry(b"new", RUN)}),
        (({}, {"f": b"c\0"}), {"f": b"new"}),
    ],
)
def test_whole_contents_can_answer_binary_and_modify_delete(sides, expected):
    """The entry keeps its mode."""
    tree, merge = merge_trees({"f": b"a\0"}, *sides)

    answered = merge.resolve(lambda _: b"new")

    assert answered.conflicts == ()
    assert merged_files(tree, answered) == expected


@pytest.mark.parametrize("mode", [LINK, FileMode.SUBMODULE])
@pytest.mark.parametrize("deleted", [None, 1, 2])
def test_no_text_is_requested_for_links_and_submodules(mode, deleted):
    """No text can be the answer to two targets or commits, or to one and a deletion."""
    entries = [{"f": Entry(character * 40, mode)} for character in (b"a", b"b", b"c")]
    if deleted:
        entries[deleted] = {}
    _, merge = merge_trees(*entries)

    kept = ["modify/delete"] if deleted else [str(mode.name).lower()]
    assert [each.kind for each in merge.conflicts] == kept
    assert not merge.takes_text(merge.conflicts[0])
    assert merge.resolve(lambda _: pytest.fail("was asked")) == merge


# --- laws ---------------------------------------------------------------------


@given(three_way_trees())
def test_an_unchanged_side_gives_the_other_side(trees):
    """For any tree, from either side, and clean."""
    base, ours, _ = trees

    for sides in ((ours, Changes()), (Changes(), ours), (ours, ours)):
        merge = merge_changes(base, *sides)

        assert merge.conflicts == ()
        assert merge.changes.tree_id(base) == ours.tree_id(base)


@given(three_way_trees())
def test_changes_below_different_folders_merge_in_any_order(trees):
    """Disjoint files are clean, and it makes no difference whose they are."""
    part, *sides = trees
    folders = ("left", "right")
    base = Snapshot.from_files({f"{f}/{p}": part.get(p) for f in folders for p in part.paths()})
    left, right = (
        Changes({f"{folder}/{path}": entry for path, entry in side.items()})
        for folder, side in zip(folders, sides, strict=True)
    )

    merge = merge_changes(base, left, right)
    swapped = merge_changes(base, right, left)

    assert merge.conflicts == swapped.conflicts == ()
    assert merge.changes == swapped.changes
    assert merge.changes.tree_id(base) == base.overlay(left).overlay(right).tree_id


@given(three_way_edits())
def test_swapping_the_sides_of_edits_swaps_the_conflicts(trees):
    """Their number, their kinds and their texts, with ours for theirs.

    Only for edits: where files are moved, git itself asks ours first.
    """
    base, ours, theirs = trees

    merge = merge_changes(base, ours, theirs, Labels(ours="A", theirs="B"))
    swapped = merge_changes(base, theirs, ours, Labels(ours="B", theirs="A"))

    def listed(conflicts, first, second):
        return sorted(
            (c.path, c.kind.value, *(str(getattr(c, side)) for side in (first, second)))
            for c in conflicts
        )

    assert listed(merge.conflicts, "ours", "theirs") == listed(swapped.conflicts, "theirs", "ours")


@given(three_way_trees())
def test_a_merge_is_the_same_twice(trees):
    """Equal input, equal merge."""
    base, ours, theirs = trees

    assert merge_changes(base, ours, theirs) == merge_changes(base, ours, theirs)


# --- what a model is asked about, and may answer ------------------------------------


def test_a_file_with_conflicts_can_be_taken_apart():
    """Its versions whole, and what is settled before, between and behind its open conflicts."""
    gap = b"1\n2\n3\n4\n"
    base, ours, theirs = (each + gap + each for each in (b"a\n", b"b\n", b"c\n"))
    _, merge = merge_trees({"f": base}, {"f": ours}, {"f": theirs})

    assert merge.versions_of("f") == (base, ours, theirs)
    assert merge.settled_in("f") == (b"", gap, b"")

    left = merge.resolve(lambda conflict: b"x\n" if conflict.line == 1 else None)
    assert left.settled_in("f") == (b"x\n" + gap, b"")


def test_a_deletion_answers_where_a_side_deleted_and_nowhere_else():
    """Lines cannot be gone as a file can."""
    _, merge = merge_trees(
        {"f": b"1\n", "g": b"1\n"}, {"f": b"2\n", "g": b"2\n"}, {"f": b"3\n"}, LABELS
    )

    answered = merge.resolve(lambda _: Gone.GONE)

    assert answered.changes["g"] is None
    assert kinds(answered) == [("f", "content")]

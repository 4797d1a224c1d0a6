"""Which added file is taken for a renamed one."""

import pytest

from cooperbench_eval.git.merging.renames import find_renames
from cooperbench_eval.git.trees.entries import Entry, FileMode


def text(*words):
    """Make a file of ten equally long lines for each word and a count."""
    return Entry(b"".join(b"%-8s %02d\n" % (word.encode(), n) for word, n in words))


def lines(word, count, start=0):
    """Name *count* lines of a word."""
    return [(word, number) for number in range(start, start + count)]


def renames(deleted, added, relevant=None):
    """Look for renames; all deleted files are relevant unless said."""
    return find_renames(deleted, added, frozenset(deleted if relevant is None else relevant))


OLD = text(*lines("old", 10))


@pytest.mark.parametrize(("kept", "found"), [(10, True), (6, True), (5, True), (4, False)])
def test_half_of_the_larger_file_must_be_the_same(kept, found):
    """Five lines of ten are enough, four are not."""
    new = text(*lines("old", kept), *lines("new", 10 - kept))

    assert renames({"a": OLD}, {"b": new}) == ({"a": "b"} if found else {})


def test_equal_contents_come_before_similar_ones():
    """The equal file is the renamed one, though another kept the name."""
    similar = text(*lines("old", 8), *lines("new", 2))

    assert renames({"x/a": OLD}, {"y/a": similar, "z": OLD}) == {"x/a": "z"}


def test_the_most_similar_file_is_the_renamed_one():
    """Nine lines of ten beat seven."""
    seven, nine = (text(*lines("old", n), *lines("new", 10 - n)) for n in (7, 9))

    assert renames({"a": OLD}, {"b": seven, "c": nine}) == {"a": "c"}


def test_a_file_that_kept_its_name_wins_at_three_quarters():
    """Eight lines and the same name beat nine under another."""
    eight, nine = (text(*lines("old", n), *lines("new", 10 - n)) for n in (8, 9))

    assert renames({"x/a": OLD}, {"y/a": eight, "z": nine}) == {"x/a": "y/a"}


def test_the_name_of_another_deleted_file_is_ignored():
    """Even if that file does not matter for the merge."""
    eight, nine = (text(*lines("old", n), *lines("new", 10 - n)) for n in (8, 9))
    deleted = {"x/a": OLD, "q/a": text(*lines("else", 10))}

    found = renames(deleted, {"y/a": eight, "z": nine}, relevant={"x/a"})

    assert found == {"x/a": "z"}


def test_files_of_one_name_follow_their_folder():
    """Equal files tell where the folder went; its other files are looked for there."""
    eight, nine = (text(*lines("old", n), *lines("new", 10 - n)) for n in (8, 9))
    equal = text(*lines("else", 10))
    deleted = {"x/a": OLD, "x/k": equal, "q/a": text(*lines("third", 10))}
    added = {"y/a": eight, "y/k": equal, "z": nine}

    def guess(renames):
        assert renames == {"x/k": "y/k"}
        return {"x": "y"}

    assert find_renames(deleted, added, frozenset(deleted), guess) == {"x/k": "y/k", "x/a": "y/a"}


def test_below_three_quarters_the_name_only_breaks_ties():
    """Seven lines and the same name lose against nine."""
    seven, nine = (text(*lines("old", n), *lines("new", 10 - n)) for n in (7, 9))

    assert renames({"x/a": OLD}, {"y/a": seven, "z": nine}) == {"x/a": "z"}


def test_a_file_is_renamed_once():
    """Two files of equal contents are two renames, not one twice."""
    found = renames({"a": OLD, "b": OLD}, {"c": OLD, "d": OLD})

    assert found == {"a": "c", "b": "d"}


@pytest.mark.parametrize("entry", [Entry(b""), Entry(b"", FileMode.EXECUTABLE)])
def test_empty_files_are_never_renamed(entry):
    """Nothing could tell one from another."""
    assert renames({"a": entry}, {"b": entry}) == {}


def test_a_link_is_renamed_only_if_its_target_is_the_same():
    """Links and files are not compared by similarity, nor with each other."""
    link = Entry(OLD.data, FileMode.SYMLINK)
    longer = Entry(OLD.data + b"x", FileMode.SYMLINK)

    assert renames({"a": link}, {"b": link}) == {"a": "b"}
    assert renames({"a": link}, {"b": longer}) == {}
    assert renames({"a": link}, {"b": OLD}) == {}


def test_without_a_relevant_file_nothing_is_looked_for():
    """A rename that cannot change the merge is none."""
    assert renames({"a": OLD}, {"b": OLD}, relevant=()) == {}


def test_an_irrelevant_file_is_found_by_equal_contents_alone():
    """Beside a relevant one it can still claim its equal."""
    near = text(*lines("new", 9), *lines("old", 1))
    new = text(*lines("new", 10))

    found = renames({"a": OLD, "b": new}, {"c": OLD, "d": near}, relevant={"b"})

    assert found == {"a": "c", "b": "d"}
    assert renames({"a": OLD, "b": new}, {"c": near}, relevant={"a"}) == {}


def test_line_ends_of_a_text_do_not_count():
    """A file that turned to CRLF is the same file still."""
    turned = Entry(OLD.data.replace(b"\n", b"\r\n"))

    assert renames({"a": OLD}, {"b": turned}) == {"a": "b"}


def test_a_last_line_without_a_newline_does_not_count():
    """Git ignores it: two equal short lines of three are then less than half."""
    tail = b"a tail that is longer than all the rest"

    assert renames({"a": Entry(b"x\ny\n" + tail)}, {"b": Entry(b"x\nz\n" + tail)}) == {}
    assert renames({"a": Entry(b"x\ny\n")}, {"b": Entry(b"x\nz\n")}) == {"a": "b"}


def test_different_lines_can_count_as_equal():
    """Git compares numbers that it makes of the lines; those of these two are equal."""
    old, new = (Entry(sign * 64 + b"\n") for sign in (b"=", b"-"))

    assert renames({"a": old}, {"b": new}) == {"a": "b"}
    assert renames({"a": old}, {"b": Entry(b"+" + b"-" * 63 + b"\n")}) == {}


def test_a_decided_file_is_paired_by_its_name_but_not_by_similarity():
    """Where its folder went is already known, so git saves the search."""
    near = text(*lines("old", 8), *lines("new", 2))
    asked = []

    def find_decided(found, pending):
        asked.append((dict(found), tuple(pending)))
        return pending

    found = find_renames(
        {"d/a": OLD, "d/b": text(*lines("b", 10))},
        {"e/b": text(*lines("b", 9)), "z": near},
        frozenset({"d/a", "d/b"}),
        find_decided=find_decided,
    )

    assert found == {"d/b": "e/b"}
    assert asked == [({"d/b": "e/b"}, ("d/a",))]

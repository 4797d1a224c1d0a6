"""Splitting a side into hunks, and putting some of them together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cooperbench_eval as ce
from cooperbench_eval.evaluation.explaining.splitting import split_side

OLD = b"".join(b"line %d\n" % number for number in range(1, 31))


def split(old, new, **renames):
    """Split the change from one tree to another; both are contents or entries by path."""
    base, side = ce.Snapshot.from_files(old), ce.Snapshot.from_files(new)
    moved = {path.replace("_", "."): source for path, source in renames.items()}
    return base, split_side(base, ce.Changes.between(base, side), moved)


def with_lines(text, **changes):
    """Replace lines of a text by their number: `l3=b"…"`."""
    lines = text.splitlines(keepends=True)
    for name, new in changes.items():
        lines[int(name[1:]) - 1] = new
    return b"".join(lines)


EDITED = with_lines(
    OLD, l1=b"one\nand a half\n", l5=b"", l6=b"six\nsix and a half\n", l20=b"line 20\nnew\n"
)


def test_each_group_of_changed_lines_is_a_hunk():
    """It has its first line in the new file, and the lines with their signs."""
    _, side = split({"f": OLD}, {"f": EDITED})

    assert [(hunk.path, hunk.line, hunk.text) for hunk in side.hunks] == [
        ("f", 1, b"-line 1\n+one\n+and a half\n"),
        ("f", 6, b"-line 5\n-line 6\n+six\n+six and a half\n"),
        ("f", 22, b"+new\n"),
    ]


@pytest.mark.parametrize("kept", [(), (0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2)])
def test_some_hunks_leave_the_other_lines_as_they_were(kept):
    """Each is placed where it belongs, although others before it are missing."""
    base, side = split({"f": OLD}, {"f": EDITED})
    lines = [
        {"l1": b"one\nand a half\n"},
        {"l5": b"", "l6": b"six\nsix and a half\n"},
        {"l20": b"line 20\nnew\n"},
    ]
    expected = with_lines(OLD, **{k: v for number in kept for k, v in lines[number].items()})

    changes = side.with_only([side.hunks[number] for number in kept])

    assert base.overlay(changes).read("f") == expected


texts = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"d\r\n"]), max_size=25).flatmap(
    lambda lines: st.sampled_from([b"".join(lines), b"".join(lines) + b"end"])
)


@given(texts, texts, st.randoms())
def test_any_hunks_of_any_text_are_placed_where_they_were(old, new, rng):
    """Repeated lines, empty files and missing last newlines included."""
    base, side = split({"f": old, "g": b""}, {"f": new, "g": b""})
    kept = [hunk for hunk in side.hunks if rng.random() < 0.5]
    expected, at = [], 0
    olds, news = old.splitlines(keepends=True), new.splitlines(keepends=True)
    for hunk in kept:
        change = hunk.change
        expected += olds[at : change.a_start] + news[change.b_start : change.b_end]
        at = change.a_end
    expected += olds[at:]
    # A line without a newline can only be the last one.
    ended = [line if line.endswith(b"\n") else line + b"\n" for line in expected[:-1]]

    placed = side.with_only(kept)

    assert base.overlay(placed).read("f") == b"".join(ended + expected[-1:])


@given(texts, texts)
def test_all_hunks_give_the_side(old, new):
    """And no hunk gives the base."""
    base, side = split({"f": old, "g": b""}, {"f": new, "g": b""})

    assert base.overlay(side.with_only(side.hunks)).read("f") == new
    assert side.with_only([]) == ce.Changes()


def test_a_new_a_deleted_and_a_binary_file_are_one_hunk_each():
    """So are a link and a submodule."""
    link = ce.Entry(b"f", ce.models.FileMode.SYMLINK)
    module = ce.Entry(b"1" * 40, ce.models.FileMode.SUBMODULE)
    _, side = split(
        {"b": b"\0" + OLD, "gone": b"1\n2\n", "link": b"text\n", "sub": module},
        {
            "b": b"\0" + EDITED,
            "link": link,
            "new": b"1\n\n3\n",
            "sub": ce.Entry(b"2" * 40, ce.models.FileMode.SUBMODULE),
        },
    )

    assert [hunk.path for hunk in side.hunks] == ["b", "gone", "link", "new", "sub"]
    assert side.hunks[3].text == b"+1\n+\n+3\n"
    for hunk in side.hunks:
        assert list(side.with_only([hunk])) == [hunk.path]


def test_a_new_mode_and_new_lines_are_separate_hunks():
    """Either can be left out."""
    _, side = split({"f": OLD}, {"f": ce.Entry(EDITED, ce.models.FileMode.EXECUTABLE)})

    mode, *edits = side.hunks

    assert mode.text.startswith(b"diff --git a/f b/f\nold mode 100644\nnew mode 100755\n")
    assert side.with_only([mode])["f"] == ce.Entry(OLD, ce.models.FileMode.EXECUTABLE)
    assert side.with_only(edits)["f"] == ce.Entry(EDITED)
    assert side.with_only(side.hunks)["f"] == ce.Entry(EDITED, ce.models.FileMode.EXECUTABLE)


def test_a_renamed_file_is_one_hunk():
    """Its old name does not come back while the new one stays."""
    _, side = split({"a.py": OLD, "z": b"1\n"}, {"b.py": EDITED, "z": b"2\n"}, b_py="a.py")

    moved, edit = side.hunks

    assert (moved.path, edit.path) == ("b.py", "z")
    assert sorted(side.with_only([moved])) == ["a.py", "b.py"]
    assert list(side.with_only([edit])) == ["z"]


def test_hunks_that_need_another_one_have_no_place_without_it():
    """A file cannot be in a folder while another file has the folder's name."""
    _, side = split({"a": b"1\n"}, {"a/b": b"2\n"})

    deletion, addition = side.hunks

    assert side.with_only([addition]) is None
    assert side.with_only([deletion]) == ce.Changes({"a": None})
    assert sorted(side.with_only(side.hunks)) == ["a", "a/b"]

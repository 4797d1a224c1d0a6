"""Where hunks are placed in a file."""

import pytest
from patch_texts import AT_10, AT_20, LINES, NAMES, apply

from cooperbench_eval.git.patching.patch_parts import PatchStatus, Rung


@pytest.mark.parametrize(
    ("before", "hunks", "expected"),
    [
        (LINES, AT_10, [(Rung.EXACT, 0)]),
        (LINES, AT_10 + AT_20, [(Rung.EXACT, 0), (Rung.EXACT, 0)]),
        (b"new\n" * 4 + LINES, AT_10, [(Rung.OFFSET, 4)]),
        (LINES[14:], AT_10, [(Rung.OFFSET, -2)]),
        (b"new\n" + LINES, AT_10 + AT_20, [(Rung.OFFSET, 1), (Rung.OFFSET, 1)]),
        (LINES, AT_10.replace(b"-9,3 +9,3", b"-9999,3 +9999,3"), [(Rung.OFFSET, -9990)]),
        (LINES, AT_10.replace(b"line 9", b"line \t 9"), [(Rung.WHITESPACE, 0)]),
        (b"1\n" + LINES, AT_10.replace(b"line 9", b"line\t9"), [(Rung.WHITESPACE, 1)]),
        (LINES.replace(b"\n", b"\r\n"), AT_10, [(Rung.WHITESPACE, 0)]),
        (LINES, AT_10.replace(b"line 9", b"line  9") + AT_20, [(Rung.WHITESPACE, 0), ("exact", 0)]),
    ],
    ids=[
        "stated lines",
        "two hunks",
        "later",
        "earlier",
        "both later",
        "stated far beyond the end",
        "runs of white space",
        "white space, later",
        "line endings",
        "only one in white space",
    ],
)
def test_hunks_are_placed_rung_by_rung(before, hunks, expected):
    """Each placement says how strict it was and how far from the stated line."""
    result, after = apply({"x": before}, NAMES + hunks)

    assert result.status is PatchStatus.APPLIED
    assert result.reason == ""
    assert [(each.rung, each.offset) for each in result.hunks] == expected
    assert [(each.path, each.hunk) for each in result.hunks] == [
        ("x", number) for number in range(1, len(expected) + 1)
    ]
    assert after["x"].replace(b"\r", b"") == before.replace(b"\r", b"").replace(
        b"line 10\n", b"LINE 10\n"
    ).replace(b"line 20\n", b"LINE 20\n" if AT_20 in hunks else b"line 20\n")


def test_the_nearest_place_is_taken_and_the_later_of_two():
    """The same lines may occur at several places."""
    hunk = NAMES + b"@@ -%d,3 +%d,3 @@\n a\n-b\n+B\n c\n"
    block = b"a\nb\nc\n"
    before = b"0\n" + block + b"-\n" * 4 + block + b"end\n"

    for stated, offset in [(2, 0), (4, -2), (5, -3), (6, 3), (7, 2), (9, 0), (12, -3)]:
        result, _ = apply({"x": before}, hunk % (stated, stated))

        assert result.hunks[0].offset == offset, stated
    middle = b"0\n" + block + b"-\n" * 3 + block + b"end\n"
    assert apply({"x": middle}, hunk % (5, 5))[0].hunks[0].offset == 3


def test_the_stated_line_is_the_new_one():
    """It counts what the hunks before it add, so that no hunk is off by their length."""
    hunk = NAMES + b"@@ -2,3 +10,3 @@\n a\n-b\n+B\n c\n"
    block = b"a\nb\nc\n"

    result, after = apply({"x": b"0\n" + block + b"-\n" * 5 + block + b"end\n"}, hunk)

    assert (result.hunks[0].rung, result.hunks[0].offset) == (Rung.EXACT, 0)
    assert after["x"].endswith(b"a\nB\nc\nend\n")


def test_an_exact_place_far_away_beats_a_near_one_in_white_space():
    """The whole patch is first tried strictly."""
    before = b"0\n a\nb\nc\n" + b"-\n" * 9 + b"a\nb\nc\nend\n"

    result, after = apply({"x": before}, NAMES + b"@@ -2,3 +2,3 @@\n a\n-b\n+B\n c\n")

    assert (result.hunks[0].rung, result.hunks[0].offset) == (Rung.OFFSET, 12)
    assert after["x"].startswith(b"0\n a\nb\n")


def test_context_keeps_the_white_space_of_the_file():
    """Only added lines come from the patch."""
    before = b"\tfirst\r\n\told\r\n\tlast\r\nend\r\n"

    _, after = apply(
        {"x": before}, NAMES + b"@@ -1,3 +1,3 @@\n     first\n-    old\n+    new\n     last\n"
    )

    assert after["x"] == b"\tfirst\r\n    new\n\tlast\r\nend\r\n"


@pytest.mark.parametrize(
    ("line", "context"),
    [
        (b"a  b\n", b"a\tb\n"),
        (b"  a\n", b"\ta\n"),
        (b"a \n", b"a\t \n"),
        (b"a\r\n", b"a\n"),
        (b"a \r\n", b"a \n"),
    ],
)
def test_runs_of_white_space_are_equal_at_any_length(line, context):
    """Line endings are equal too."""
    result, _ = apply(
        {"x": b"1\n" + line + b"old\n2\n3\n"},
        NAMES + b"@@ -2,3 +2,3 @@\n " + context + b"-old\n+new\n 2\n",
    )

    assert result.hunks[0].rung is Rung.WHITESPACE


@pytest.mark.parametrize(
    ("line", "context"),
    [
        (b"ab\n", b"a b\n"),
        (b"a\n", b" a\n"),
        (b"a\n", b"a \n"),
        (b"\n", b" \n"),
        (b"a b\n", b"a\x0cb\n"),
    ],
)
def test_missing_white_space_differs_from_some(line, context):
    """As in git, white space may grow but not appear, not even at a line's end."""
    result, _ = apply(
        {"x": b"1\n" + line + b"old\n2\n3\n"},
        NAMES + b"@@ -2,3 +2,3 @@\n " + context + b"-old\n+new\n 2\n",
    )

    assert result.reason == "x hunk 1: its lines are not there"


@pytest.mark.parametrize(
    ("before", "hunk", "rung"),
    [
        (LINES, b"@@ -1,2 +1 @@\n-line 1\n line 2\n", Rung.EXACT),
        (b"0\n" + LINES, b"@@ -1,2 +1 @@\n-line 1\n line 2\n", None),
        (LINES, b"@@ -29,2 +29 @@\n line 29\n-line 30\n", Rung.EXACT),
        (LINES + b"31\n", b"@@ -29,2 +29 @@\n line 29\n-line 30\n", None),
        (LINES[7:], b"@@ -29,2 +29 @@\n line 29\n-line 30\n", Rung.OFFSET),
        (LINES, b"@@ -10 +10 @@\n-line 10\n+LINE 10\n", None),
        (LINES, b"@@ -30 +30 @@\n-line 30\n+LINE 30\n", Rung.EXACT),
        (LINES, b"@@ -10,0 +11 @@\n+line 10.5\n", Rung.OFFSET),
        (b"old\n", b"@@ -1 +1 @@\n-old\n+new\n", Rung.EXACT),
        (b"old\nmore\n", b"@@ -1 +1 @@\n-old\n+new\n", None),
    ],
    ids=[
        "first lines",
        "no more first",
        "last lines",
        "no more last",
        "last lines of fewer",
        "-U0 amid a file",
        "-U0 at the end",
        "-U0 insertion goes to the end",
        "whole file",
        "no more the whole file",
    ],
)
def test_hunks_without_context_must_match_at_the_edge(before, hunk, rung):
    """As in git, a hunk without lines before or after it is at the file's start or end.

    Diffs made with `-U0` therefore mostly fail, and their insertions go to the end.
    """
    result, _ = apply({"x": before}, NAMES + hunk)

    assert result.hunks[0].rung is rung


def test_a_line_is_claimed_once():
    """A hunk cannot match lines that another hunk changed or kept."""
    first = b"@@ -9,3 +9,4 @@\n line 9\n line 10\n+new\n line 11\n"
    second = b"@@ -11,3 +12,4 @@\n line 11\n+newer\n line 12\n line 13\n"

    result, _ = apply({"x": LINES}, NAMES + first + second)

    assert [each.reason for each in result.hunks] == ["", "its lines are not there"]


def test_the_newline_at_the_end_is_kept_as_the_file_has_it():
    """A context line without newline does not remove the file's newline."""
    hunk = b"@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n"

    for before, expected in [(b"a\nb", b"A\nb"), (b"a\nb\n", b"A\nb\n"), (b"a\nb\nc", b"A\nb\nc")]:
        assert apply({"x": before}, NAMES + hunk)[1]["x"] == expected

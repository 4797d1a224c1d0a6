"""Finds in a merged file what replaced each conflict."""

import pytest

from cooperbench_eval.git.merging.locating_resolutions import find_between, locate_conflicts


@pytest.mark.parametrize(
    ("merged", "expected"),
    [
        (b"a\nx\nb\n", [(range(2), b"x\n")]),
        (b"a\nb\n", [(range(1), b""), (range(1, 2), b"")]),
    ],
)
def test_conflicts_with_nothing_between_them_share_their_text(merged, expected):
    """Only an empty text cannot be divided in several ways."""
    found = locate_conflicts([b"a\n", b"", b"b\n"], [b"<\n=\n>\n"] * 2, merged)

    assert [(each.conflicts, each.text) for each in found] == expected


def test_a_large_file_that_repeats_itself_takes_no_time():
    """Both searches are linear, so an answer of many equal lines does no harm."""
    run = b"a\n" * 50_000

    found = locate_conflicts([b"", run, b""], [b"<\n=\n>\n"] * 2, run * 4)

    assert [each.conflicts for each in found] == [range(2)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"a\nx\nb\n", [b"x\n", b""]),
        (b"a\nx\n  b\nb\n", [b"x\n  b\n", b""]),
        (b"a\nx\n  b\n", None),
        (b"x\nb\n", None),
        (b"a\n", None),
    ],
)
def test_runs_are_found_as_whole_lines(text, expected):
    """All of them in order, or nothing."""
    assert find_between(text, [b"a\n", b"b\n", b""]) == expected


def test_runs_may_be_searched_for_within_lines():
    """That is for callers that only ask whether the text holds them."""
    assert find_between(b"a\nxb\n", [b"a\n", b"b\n", b""]) is None
    assert find_between(b"a\nxb\n", [b"a\n", b"b\n", b""], anywhere=True) == [b"x", b""]

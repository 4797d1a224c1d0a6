"""Hunks with wrong line counts in their headers, and lines that no header counts."""

import pytest
from patch_texts import AT_10, AT_20, LINES, NAMES, apply

from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.patching.patch_parts import PatchStatus, Rung

BODY = b" line 9\n-line 10\n+LINE 10\n+more\n line 11\n"  # 3 old and 4 new lines
CHANGED = LINES.replace(b"line 10\n", b"LINE 10\n")
GROWN = LINES.replace(b"line 10\n", b"LINE 10\nmore\n")
DOUBLY_CHANGED = CHANGED.replace(b"line 20\n", b"LINE 20\n")
BULLETS = b"- like this\n- and that\n"
TAIL = b"+line 11.5\n line 12\n"
WITH_TAIL = CHANGED.replace(b"line 12\n", b"line 11.5\nline 12\n")
RECOUNT = ["recount"]


@pytest.mark.parametrize(
    "counts",
    [b"-9,5 +9,6", b"-9,9 +9,1", b"-9,1 +9,9", b"-9 +9,0", b"-9,999999999 +9,1"],
    ids=["too many", "new too few", "old too few", "both too few", "a billion"],
)
def test_a_header_that_miscounts_is_refused_unless_recounting_is_allowed(counts):
    """The reason contains the claimed and the actual counts."""
    data = NAMES + b"@@ " + counts + b" @@\n" + BODY

    refused, unchanged = apply({"x": LINES}, data)
    taken, changed = apply({"x": LINES}, data, RECOUNT)

    old, new = Patch.parse(data).files[0].hunks[0].stated
    assert refused.status is PatchStatus.FAILED
    assert refused.reason == (
        f"x hunk 1: its header counts {old} old and {new} new lines, and it has 3 and 4"
    )
    assert unchanged == {"x": LINES}
    assert [(each.rung, each.offset) for each in taken.hunks] == [(Rung.RECOUNT, 0)]
    assert changed == {"x": GROWN}


@pytest.mark.parametrize("counts", [b"-9,2 +9,2", b"-9,2 +9,3"])
def test_a_header_that_counts_only_the_first_lines_is_refused_or_recounted(counts):
    """Without the context after the change, the hunk would have to end the file."""
    data = NAMES + b"@@ " + counts + b" @@\n" + BODY

    refused, _ = apply({"x": LINES}, data)
    taken, changed = apply({"x": LINES}, data, RECOUNT)

    assert refused.status is PatchStatus.FAILED
    assert (taken.hunks[0].rung, changed) == (Rung.RECOUNT, {"x": GROWN})


@pytest.mark.parametrize("counts", [b"-9,0 +9,0", b"-9 +9", b"-0,0 +0,0"])
def test_a_header_that_counts_none_of_the_changed_lines_miscounts(counts):
    """The patch is not malformed, because all changes come after the counted lines."""
    data = NAMES + b"@@ " + counts + b" @@\n" + BODY

    refused, _ = apply({"x": LINES}, data)
    taken, changed = apply({"x": LINES}, data, ["recount", "offset"])

    assert "its header counts" in refused.reason
    assert (taken.hunks[0].rung, changed) == (Rung.RECOUNT, {"x": GROWN})


def test_a_recounted_hunk_may_move_only_if_that_is_allowed():
    """Recounting does not affect the place."""
    data = NAMES + b"@@ -6,9 +6,9 @@\n" + BODY

    near, _ = apply({"x": LINES}, data, RECOUNT)
    elsewhere, _ = apply({"x": LINES}, data, ["recount", "offset"])

    assert near.reason == "x hunk 1: its lines are not there"
    assert [(each.rung, each.offset) for each in elsewhere.hunks] == [(Rung.RECOUNT, 3)]


def test_blank_context_stripped_at_the_end_of_a_patch_miscounts():
    """Stripping a patch removes the blank lines at the end of its last hunk."""
    before = LINES.replace(b"line 12\nline 13\n", b"\n\n")
    data = NAMES + AT_10.replace(b"-9,3 +9,3", b"-9,5 +9,5") + b" \n \n"

    whole, _ = apply({"x": before}, data)
    refused, _ = apply({"x": before}, data.strip())
    recounted, after = apply({"x": before}, data.strip(), RECOUNT)

    assert whole.hunks[0].rung is Rung.EXACT
    assert "its header counts 5 old and 5 new lines, and it has 3 and 3" in refused.reason
    assert recounted.hunks[0].rung is Rung.RECOUNT
    assert after["x"] == before.replace(b"line 10", b"LINE 10")


def test_recounting_skips_blank_lines_between_hunks():
    """For `git apply` they end the file's part of the patch."""
    data = NAMES + AT_10 + b"\n\n" + AT_20

    refused, _ = apply({"x": LINES}, data)
    taken, after = apply({"x": LINES}, data, RECOUNT)

    assert refused.status is PatchStatus.FAILED
    assert [each.rung for each in taken.hunks] == [Rung.RECOUNT, Rung.EXACT]
    assert after == {"x": DOUBLY_CHANGED}


def test_a_correctly_counted_hunk_is_not_reported_as_miscounted():
    """Blank lines after it do not make its counts wrong."""
    refused, _ = apply({"x": LINES}, NAMES + AT_10 + b"\n" + AT_20)

    assert refused.reason != (
        "x hunk 1: its header counts 3 old and 3 new lines, and it has 3 and 3"
    )


def test_a_hunk_that_runs_into_the_next_is_recounted_with_all_its_lines():
    """It has more lines between its claimed end and the next hunk."""
    data = NAMES + AT_10 + TAIL + AT_20.replace(b"+19,3", b"+20,3")

    refused, _ = apply({"x": LINES}, data)
    taken, after = apply({"x": LINES}, data, RECOUNT)

    assert "its header counts 3 old and 3 new lines, and it has 4 and 5" in refused.reason
    assert [each.rung for each in taken.hunks] == [Rung.RECOUNT, Rung.EXACT]
    assert after["x"] == WITH_TAIL.replace(b"line 20", b"LINE 20")


def test_changed_lines_after_a_whole_hunk_are_dropped_and_counted():
    """Git drops them too, but without a message."""
    result, after = apply({"x": LINES}, NAMES + AT_10 + TAIL)

    (placement,) = result.hunks
    assert (placement.rung, placement.uncounted_lines) == (Rung.EXACT, 1)
    assert (result.status, after) == (PatchStatus.APPLIED, {"x": CHANGED})


def test_a_hunk_that_fits_is_not_recounted_with_others():
    """The text after it may be prose, even if another hunk needs recounting."""
    wrong = b"@@ -19,9 +19,9 @@\n line 19\n-line 20\n+LINE 20\n line 21\n"
    other = b"--- a/y\n+++ b/y\n" + wrong

    result, after = apply({"x": LINES, "y": LINES}, NAMES + AT_10 + TAIL + other, RECOUNT)

    assert [each.rung for each in result.hunks] == [Rung.EXACT, Rung.RECOUNT]
    assert after["x"] == CHANGED


def test_changed_lines_after_a_hunk_that_fits_are_dropped_even_with_recounting():
    """They may be prose, and a patch that fits strictly is never placed leniently."""
    result, after = apply({"x": LINES}, NAMES + AT_10 + TAIL, RECOUNT)

    (placement,) = result.hunks
    assert (placement.rung, placement.uncounted_lines) == (Rung.EXACT, 1)
    assert after == {"x": CHANGED}


@pytest.mark.parametrize("rungs", [[], RECOUNT, ["recount", "offset", "whitespace", "fuzzy"]])
@pytest.mark.parametrize("prose", [BULLETS, b"\n" + BULLETS, b"\nNotes:\n\n" + BULLETS])
def test_bullets_after_a_patch_are_not_applied(prose, rungs):
    """They look like removed lines, but the file contains none of them."""
    result, after = apply({"x": LINES}, NAMES + AT_10 + prose, rungs)

    (placement,) = result.hunks
    assert (placement.rung, after) == (Rung.EXACT, {"x": CHANGED})
    assert placement.uncounted_lines == (0 if b"Notes" in prose else 2)


def test_a_miscounted_hunk_that_runs_into_bullets_is_refused():
    """Its end cannot be determined."""
    data = NAMES + AT_10.replace(b"-9,3 +9,3", b"-9,9 +9,9") + BULLETS

    result, _ = apply({"x": LINES}, data, RECOUNT)

    assert result.reason == "x hunk 1: its lines are not there"


@pytest.mark.parametrize(
    ("hunk", "rung"), [(AT_10, Rung.EXACT), (AT_10.replace(b",3", b",9"), Rung.RECOUNT)]
)
def test_the_signature_of_a_mail_is_not_a_removed_line(hunk, rung):
    """A line of two dashes and a space ends a mail and the hunk before it."""
    result, after = apply({"x": LINES}, NAMES + hunk + b"-- \n2.39.5\n\n", RECOUNT)

    assert [(each.rung, each.uncounted_lines) for each in result.hunks] == [(rung, 0)]
    assert after == {"x": CHANGED}


def test_a_line_of_dashes_within_the_count_is_a_removed_line():
    """Only lines that no header counts can be a signature."""
    _, after = apply({"x": b"- \nend\n"}, NAMES + b"@@ -1,2 +1 @@\n-- \n end\n")

    assert after == {"x": b"end\n"}

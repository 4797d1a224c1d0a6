"""Policies: which rungs are allowed, and what happens to hunks without a place."""

import pytest
from patch_texts import AT_10, AT_20, CHANGE, LINES, NAMES, add, apply, delete, move

from cooperbench_eval.git.patching.patch_parts import ApplyPolicy, PatchStatus, Rung

NOWHERE = AT_10.replace(b"line 9", b"line nine")
MISCOUNTED_ADDITION = add(b"n").replace(b"+1 @@", b"+1,9 @@")

ADDITION_WITH_CONTEXT = add(b"n").replace(b"-0,0 +1 @@\n", b"-1 +1,2 @@\n a\n")


@pytest.mark.parametrize("rungs", [[], [Rung.OFFSET], ["offset"], frozenset({"exact"}), iter(())])
def test_the_exact_place_is_always_allowed(rungs):
    """It does not depend on the other rungs."""
    assert ApplyPolicy(rungs=rungs).allows(Rung.EXACT)


def test_rungs_may_be_given_as_words():
    """A policy read from a file equals one written in code."""
    words = ApplyPolicy(rungs=["offset", "three_way", "fuzzy"])

    assert words == ApplyPolicy(rungs=[Rung.FUZZY, Rung.THREE_WAY, Rung.OFFSET, Rung.EXACT])
    assert not words.allows(Rung.RECOUNT)
    assert hash(words) == hash(ApplyPolicy(rungs=["fuzzy", "three_way", "offset"]))


@pytest.mark.parametrize("rungs", [["exactly"], ["offset", None], "off"])
def test_a_word_that_is_not_a_rung_is_refused(rungs):
    """A typing error does not select the strict policy."""
    with pytest.raises(ValueError, match=r"rungs must be .*'offset'"):
        ApplyPolicy(rungs=rungs)


def test_a_single_rung_may_be_given():
    """It may be a word or a member of the enum."""
    assert (
        ApplyPolicy(rungs="offset")
        == ApplyPolicy(rungs=Rung.OFFSET)
        == ApplyPolicy(rungs=["offset"])
    )


@pytest.mark.parametrize("share", [0.5, 0, -1, 1.01, float("nan")])
def test_a_similarity_outside_of_half_to_all_is_rejected(share):
    """With half or less, two places could each have half of a hunk's lines."""
    with pytest.raises(ValueError, match="least_similarity"):
        ApplyPolicy(least_similarity=share)


@pytest.mark.parametrize("share", [0.51, 0.75, 1, 1.0])
def test_a_similarity_above_half_is_allowed(share):
    """It may be up to 1, all of the lines."""
    assert ApplyPolicy(least_similarity=share).least_similarity == share


@pytest.mark.parametrize(
    ("before", "hunk", "rungs"),
    [
        (b"0\n" + LINES, AT_10, ["offset"]),
        (LINES, AT_10.replace(b"line 9", b"line  9"), ["whitespace"]),
        (b"0\n" + LINES, AT_10.replace(b"line 9", b"line  9"), ["offset", "whitespace"]),
        (LINES, AT_10.replace(b"-9,3", b"-9,4"), ["recount"]),
    ],
)
def test_each_rung_must_be_allowed_separately(before, hunk, rungs):
    """One lenient rung does not imply another."""
    every = [rung for rung in Rung if rung not in {Rung.EXACT, Rung.FUZZY}]

    assert apply({"x": before}, NAMES + hunk, rungs)[0].status is PatchStatus.APPLIED
    for missing in rungs:
        others = [rung for rung in every if rung != missing]
        assert apply({"x": before}, NAMES + hunk, others)[0].status is PatchStatus.FAILED


def test_a_partial_policy_keeps_placed_hunks_and_names_the_rest():
    """This holds for hunks of a file and for whole files."""
    data = add(b"y") + NAMES + NOWHERE + AT_20 + delete(b"none") + move(b"x", b"z", b"copy")

    result, after = apply({"x": LINES}, data, partial=True)

    assert result.status is PatchStatus.PARTIAL
    assert [(each.path, each.hunk, each.reason) for each in result.hunks if each.reason] == [
        ("x", 1, "its lines are not there"),
        ("none", None, "there is no such file"),
    ]
    assert result.reason == "x hunk 1: its lines are not there"
    assert after == {
        "x": LINES.replace(b"line 20\n", b"LINE 20\n"),
        "y": b"new\n",
        "z": LINES,
    }


def test_a_patch_without_any_placed_hunk_fails():
    """A partial policy makes no difference then."""
    result, after = apply({"x": LINES}, NAMES + NOWHERE + delete(b"none"), partial=True)

    assert (result.status, after) == (PatchStatus.FAILED, {"x": LINES})


def test_a_patch_that_is_placed_in_full_is_not_partial():
    """It is placed as strictly as without a partial policy."""
    result, _ = apply({"x": b"0\n" + LINES}, NAMES + AT_10 + AT_20, partial=True)

    assert result.status is PatchStatus.APPLIED
    assert [each.rung for each in result.hunks] == [Rung.OFFSET, Rung.OFFSET]


def test_all_rungs_are_tried_before_a_hunk_is_left_out():
    """A hunk that differs in white space is placed though another has no place."""
    data = add(b"y") + NAMES + NOWHERE + AT_20.replace(b"line 19", b"line  19")

    result, after = apply({"x": LINES}, data, partial=True)

    assert [each.rung for each in result.hunks] == [Rung.EXACT, None, Rung.WHITESPACE]
    assert b"LINE 20" in after["x"]


@pytest.mark.parametrize(
    "data", [MISCOUNTED_ADDITION, add(b"n").replace(b"+1 @@\n", b"+1 @@\n a\n")]
)
def test_a_refused_addition_leaves_no_empty_file(data):
    """A file is not created if none of its hunks was placed."""
    result, after = apply({"x": b"old\n"}, data + NAMES + CHANGE, partial=True)

    assert result.status is PatchStatus.PARTIAL
    assert after == {"x": b"new\n"}


def test_a_file_whose_deletion_is_refused_stays():
    """It keeps all its lines."""
    data = delete(b"y") + NAMES + CHANGE

    result, after = apply({"x": b"old\n", "y": b"old\nmore\n"}, data, partial=True)

    assert result.status is PatchStatus.PARTIAL
    assert after == {"x": b"new\n", "y": b"old\nmore\n"}

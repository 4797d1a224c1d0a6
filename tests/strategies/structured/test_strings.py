"""Strings of several lines are merged by their lines."""

import pytest
from generators import three_way_texts
from hypothesis import given, settings
from hypothesis import strategies as st

from cooperbench_eval.strategies.structured.strings import merge_literals, merge_strings

fewer = settings(max_examples=settings().max_examples // 2)  # of what is dear

Q = b'"""'


def text(*lines):
    """Write a string."""
    return Q + b"\n".join(lines) + Q


MERGED = {
    "different lines": (
        text(b"a", b"b", b"c"),
        text(b"x", b"b", b"c"),
        text(b"a", b"b", b"y"),
        text(b"x", b"b", b"y"),
    ),
    "lines at one place": (
        text(b"a", b""),
        text(b"a", b"b", b""),
        text(b"a", b"c", b""),
        text(b"a", b"b", b"c", b""),
    ),
    "different words of a line": (
        text(b"a b c d", b""),
        text(b"x b c d", b""),
        text(b"a b c y", b""),
        text(b"x b c y", b""),
    ),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "expected"), MERGED.values(), ids=MERGED)
def test_what_the_sides_changed_for_themselves_is_combined(base, ours, theirs, expected):
    """Line by line, and within a line word by word."""
    assert merge_strings(base, ours, theirs) == expected


REFUSED = {
    "one line": (b'"a"', b'"b"', b'"c"'),
    "one line in long quotes": (text(b"a"), text(b"b"), text(b"c")),
    "one side with one line": (text(b"a", b"b"), text(b"a"), text(b"c", b"b")),
    "the same words": (text(b"a", b"b"), text(b"x", b"b"), text(b"y", b"b")),
    "no strings": (b"a\n", b"b\n", b"c\n"),
}


@pytest.mark.parametrize(("base", "ours", "theirs"), REFUSED.values(), ids=REFUSED)
def test_what_both_changed_and_short_strings_are_refused(base, ours, theirs):
    """Part of a short string is not worth guessing at."""
    assert merge_strings(base, ours, theirs) is None


@fewer
@given(three_way_texts())
def test_where_one_side_did_nothing_the_other_is_the_result(texts):
    """As it is where both did the same."""
    base, ours = (Q + each.replace(Q, b"") + b"\n" + Q for each in texts[:2])

    assert merge_strings(base, base, ours) == ours
    assert merge_strings(base, ours, base) == ours
    assert merge_strings(base, ours, ours) == ours


LITERALS = {
    "different holes": (b"`a ${x} b ${y}`", b"`a ${x.n} b ${y}`", b"`a ${x} b ${y.n}`"),
    "a hole and a word": (b'f"is {x} big"', b'f"is {x!r} big"', b'f"is {x} small"'),
    "a word and a line": (b"`use: a\n  -b\n`", b"`use: a [c]\n  -b\n`", b"`use: a\n  -b\n  -d\n`"),
    "tags of a field": (b'`json:"a"`', b'`json:"a,omitempty"`', b'`json:"a" xml:"b"`'),
}
EXPECTED = [
    b"`a ${x.n} b ${y.n}`",
    b'f"is {x!r} small"',
    b"`use: a [c]\n  -b\n  -d\n`",
    b'`json:"a,omitempty" xml:"b"`',
]


@pytest.mark.parametrize(
    ("versions", "expected"), list(zip(LITERALS.values(), EXPECTED, strict=True)), ids=LITERALS
)
def test_a_literal_is_merged_where_the_edits_are_apart(versions, expected):
    """In either order of the sides."""
    base, ours, theirs = versions
    assert merge_literals(base, ours, theirs) == expected
    assert merge_literals(base, theirs, ours) == expected


UNCLEAR = {
    "both append": (b'f"a {x}"', b'f"a {x} {b}"', b'f"a {x} {c}"'),
    "one word": (b"'a b c'", b"'a x c'", b"'a y c'"),
    "one hole": (b"`a ${f(x, y)}`", b"`a ${f(z, y)}`", b"`a ${f(x, z)}`"),
    "nothing between": (b"'a-b'", b"'x-b'", b"'a-y'"),
    "values for both": (b"'%s of it'", b"'%s %d of it'", b"'%s of it %s'"),
    "holes in holes": (b"`a ${b({c: {d: {}}})} e`", b"`f ${b({c: {d: {}}})} e`", b"`a ${0} g`"),
    "a format of dates": (b"'%Y-%m-%d of it'", b"'%Y-%m of it'", b"'%y-%m-%d of it'"),
    "one value": (b"'{0}/a/{1}/b'", b"'{0}/x/{1}/b'", b"'{0}/a/{1}/y'"),
    "other quotes": (b"'a b c'", b"'x b c'", b'"a b d"'),
    "no literal": (b"a b c", b"x b c", b"a b y"),
}


@pytest.mark.parametrize("versions", UNCLEAR.values(), ids=UNCLEAR)
def test_a_literal_is_refused_where_it_is_not_clear_what_is_meant(versions):
    """A program may depend on every character."""
    base, ours, theirs = versions
    assert merge_literals(base, ours, theirs) is None
    assert merge_literals(base, theirs, ours) is None


WORDS = st.lists(st.sampled_from([b"a", b"b", b"{x}", b"%s", b"c-d"]), max_size=6)


@given(WORDS, WORDS)
def test_a_literal_with_one_edit_is_that_edit(before, after):
    """Whatever it inserts."""
    base, side = (b'"' + b" ".join(words) + b'"' for words in (before, after))
    assert merge_literals(base, side, base) == side
    assert merge_literals(base, base, side) == side

"""Strings of several lines are merged by their lines."""

import pytest
from generators import three_way_texts
from hypothesis import given, settings

from cooperbench_eval.strategies.structured.strings import merge_formatted, merge_strings

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


FORMATTED = {
    "different placeholders": (b"f'{a} {b}'", b"f'{x} {b}'", b"f'{a} {y}'", b"f'{x} {y}'"),
    "other quotes on one side": (
        b"f'{a} \"{b}\"'",
        b"f'{x} \"{b}\"'",
        b'f"{a} {y}"',
        b'f"{x} {y}"',
    ),
    "text that two placeholders divide": (
        b"f'one {a} {b} two'",
        b"f'three {x} {b} two'",
        b"f'one {a} {b} four'",
        b"f'three {x} {b} four'",
    ),
    "a template": (b"`${a}-${b}`", b"`${x}-${b}`", b"`${a}-${b.c}`", b"`${x}-${b.c}`"),
    "braces that are text": (
        b"f'{{{a}}} {b}'",
        b"f'{{{x}}} {b}'",
        b"f'{{{a}}} {y}'",
        b"f'{{{x}}} {y}'",
    ),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "expected"), FORMATTED.values(), ids=FORMATTED)
def test_strings_with_placeholders_are_merged_by_them(base, ours, theirs, expected):
    """Each placeholder is one value."""
    assert merge_formatted(base, ours, theirs) == expected
    assert merge_formatted(base, theirs, ours) == expected


BLENDED = {
    "one placeholder": (b"f'{a.b} {c}'", b"f'{a.x} {c}'", b"f'{y.b} {c}'"),
    "text around one placeholder": (b"f'a {b} c'", b"f'x {b} c'", b"f'a {b} z'"),
    "a unit": (b"f'{a} m'", b"f'{a * 100} m'", b"f'{a} cm'"),
    "a prefix": (b"f'{a} {b}'", b"rf'{a} {b}'", b"f'{a} {x}'"),
    "one phrase": (b"f'hello world {a}'", b"f'goodbye world {a}'", b"f'hello moon {a}'"),
    "touching placeholders": (b"f'{a}{b}'", b"f'{x}{b}'", b"f'{a}{y}'"),
    "no placeholder": (b"'one two'", b"'three two'", b"'one four'"),
    "a side without one": (b"f'{a} {b}'", b"f'{x} {b}'", b"'two'"),
    "the quotes of the result": (b"f'{a} {b}'", b"f'{a} \"{b}\"'", b'f"{x} {b}"'),
}


@pytest.mark.parametrize(("base", "ours", "theirs"), BLENDED.values(), ids=BLENDED)
def test_text_that_no_placeholder_divides_is_not_blended(base, ours, theirs):
    """Neither side meant what a blend would say."""
    assert merge_formatted(base, ours, theirs) is None

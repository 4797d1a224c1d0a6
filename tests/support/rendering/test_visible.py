"""Texts from outside, made safe to show."""

import re

import pytest
from generators import odd_texts
from hypothesis import given

from cooperbench_eval.support.rendering.visible import LONGEST, cut_list, visible, width_of


@given(odd_texts())
def test_a_shown_text_is_one_line_of_visible_characters(text):
    """Whatever the text, the result is printable and has a bounded length."""
    shown = visible(text)

    assert shown.isprintable()
    assert len(shown) <= LONGEST + len("… (1,000,000 more characters)")


@given(odd_texts())
def test_visible_characters_are_not_changed(text):
    """A short text of visible characters stays as it is, markup and quotes included."""
    is_drawn = re.compile(r"[^\u034f\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u2800\u3164\uffa0]")
    printable = "".join(each for each in filter(str.isprintable, text) if is_drawn.match(each))
    printable = re.sub("[\ufe00-\ufe0f\U000e0100-\U000e01ef]", "", printable)

    assert visible(printable) == printable


@given(odd_texts())
def test_showing_a_text_twice_changes_nothing(text):
    """Escapes are printable themselves, so nothing is escaped twice."""
    assert visible(visible(text)) == visible(text)


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("a\r\nb", r"a\r\nb"),
        ("user\u202etxt.exe", r"user\u202etxt.exe"),
        ("\udcff", r"\udcff"),
        ("\0", r"\x00"),
        ("\U000e0041", r"\U000e0041"),
        ("\u3164\uffa0\u115f\u1160\u2800", r"\u3164\uffa0\u115f\u1160\u2800"),
        ("a\u034fb\u180f", r"a\u034fb\u180f"),
        ("\ufe00\ufe0f\U000e01ef", r"\ufe00\ufe0f\U000e01ef"),
    ],
)
def test_hidden_characters_become_escapes(hidden, shown):
    """Escape sequences, direction marks, lone surrogates and tags appear as their codes."""
    assert visible(hidden) == shown


@pytest.mark.parametrize("size", [11, 1_234, 1_000_000])
def test_a_cut_text_says_how_much_is_left_out(size):
    """The characters shown and those counted add up to the whole text."""
    shown, _, note = visible("x" * size, 10).partition("… (")

    assert shown == "x" * 10
    assert note == f"{size - 10:,} more characters)"


def test_no_escape_is_cut_in_two():
    """A character whose escape does not fit is left out as a whole."""
    assert visible("ab\x1b", 4) == "ab… (1 more characters)"
    assert visible("\x1b", 4) == r"\x1b"


def test_columns_are_counted_as_terminals_do():
    """A wide character takes two columns, and a combining mark none."""
    assert [width_of(text) for text in ("ab", "漢a", "e\u0301")] == [2, 3, 1]


def test_a_list_says_how_many_names_are_left_out():
    """It names a few, cuts long names, and counts the others."""
    names = ("a", "\n" * 99, *map(str, range(10_000)))

    assert cut_list(names, 2, 4) == r"a, \n\n… (97 more characters) and 10,000 more"
    assert cut_list(names[:1], 2, 4) == "a"
    assert cut_list((), 2, 4) == ""

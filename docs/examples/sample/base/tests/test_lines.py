"""Books are read from text and written back."""

from datetime import date

import pytest

from pennybook import BookFormatError, Entry, dumps, loads, parse_line

TEXT = """\
2024-03-01 | Corner bakery | food:bread | -4.50
2024-03-02 | Employer | income | 2100.00
"""


def test_parse_line():
    entry = parse_line("2024-03-01 | Corner bakery | food:bread | -4.50")

    assert entry == Entry(date(2024, 3, 1), "Corner bakery", "food:bread", -450)


def test_text_round_trips():
    assert dumps(loads(TEXT)) == TEXT


def test_blank_lines_are_skipped():
    assert len(loads("\n" + TEXT + "   \n\n")) == 2


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("2024-03-01 | Bakery | food", "expected 4 fields, found 3"),
        ("yesterday | Bakery | food | 1.00", "isoformat"),
        ("2024-03-01 | Bakery | food | much", "not an amount"),
    ],
)
def test_bad_line_is_named(line, reason):
    with pytest.raises(BookFormatError, match=reason) as caught:
        loads(TEXT + line)

    assert caught.value.number == 3

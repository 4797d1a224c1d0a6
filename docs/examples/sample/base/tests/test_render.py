"""Reports are chosen by name."""

import pytest

from pennybook import UnknownStyleError, loads, render

BOOK = loads("2024-03-02 | Employer | income | 2100.00")


def test_text_is_the_default_style():
    assert render(BOOK) == render(BOOK, "text")


def test_unknown_style_is_named():
    with pytest.raises(UnknownStyleError, match="no report style 'pdf'") as caught:
        render(BOOK, "pdf")

    assert "text" in caught.value.known

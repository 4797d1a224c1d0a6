"""What merging by tokens combines, what it refuses, and the laws it keeps."""

import pytest
from generators import three_way_texts, three_way_tokens
from hypothesis import assume, given

from cooperbench_eval.languages import token_merge
from cooperbench_eval.languages.token_merge import (
    Order,
    TokenMergeError,
    merge_tokens,
)
from cooperbench_eval.languages.tree import Token
from cooperbench_eval.languages.words import SCRIPT, TEXT

OVERLAP = "both sides changed '"
UNSEPARATED = "without a separator"


def merge(base, ours, theirs, *, order=Order.OURS_FIRST, max_tokens=4000, words=SCRIPT):
    """Merge with a bound that no small text meets."""
    return merge_tokens(base, ours, theirs, words=words, max_tokens=max_tokens, order=order)


def merged_or_none(base, ours, theirs, order=Order.OURS_FIRST):
    """Merge; `None` where that is refused."""
    try:
        return merge(base, ours, theirs, order=order)
    except TokenMergeError:
        return None


# --- edits of different tokens ----------------------------------------------------------

COMBINED = {
    "two names of one line": (
        b"x = f(a, b) + g(c)\n",
        b"x = f(aa, b) + g(c)\n",
        b"x = f(a, b) + h(c)\n",
        b"x = f(aa, b) + h(c)\n",
    ),
    "an edit and a deletion": (
        b"def f(a, b=1, c=2):\n",
        b"def f(a, b=9, c=2):\n",
        b"def f(a, b=1):\n",
        b"def f(a, b=9):\n",
    ),
    "an edit and an insertion": (
        b"return f(a)\n",
        b"return g(a)\n",
        b"return f(a, b)\n",
        b"return g(a, b)\n",
    ),
    "a name that both changed alike": (
        b"old(a) + c\n",
        b"new(a) + c\n",
        b"new(a) + d\n",
        b"new(a) + d\n",
    ),
    "two lines of which each side changed one": (
        b"a = 1\nb = 2\n",
        b"a = 3\nb = 2\n",
        b"a = 1\nb = 4\n",
        b"a = 3\nb = 4\n",
    ),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "expected"), COMBINED.values(), ids=COMBINED)
def test_edits_of_different_tokens_are_combined(base, ours, theirs, expected):
    """Even on one line, and whichever side is ours."""
    assert merge(base, ours, theirs) == expected
    assert merge(base, theirs, ours) == expected


def test_a_value_that_has_the_other_sides_change_is_taken_whole():
    """A third value is never made, even if the edits of the parts would fit together."""
    base, both, one, other = (
        b"x%b\n" % v for v in (b">=1.2,<2", b">=1.3,<3", b">=1.3,<2", b">1.2,<2")
    )

    assert merge(base, both, one, words=TEXT) == both
    assert merge(base, one, both, words=TEXT) == both
    with pytest.raises(TokenMergeError, match=OVERLAP):
        merge(base, one, other, words=TEXT)


def test_one_side_may_reformat_what_the_other_extends():
    """White space is merged separately: the new argument gets the new layout."""
    merged = merge(
        b"f(first, second)\n",
        b"f(\n    first,\n    second,\n)\n",
        b"f(first, more, second)\n",
    )

    assert merged == b"f(\n    first, more,\n    second,\n)\n"


# --- both sides insert at one point --------------------------------------------------------

INSERTED = {
    "arguments": (b"f(a)\n", b"f(a, b)\n", b"f(a, c)\n", b"f(a, b, c)\n"),
    "parameters": (
        b"def f(self):\n",
        b"def f(self, a=1):\n",
        b"def f(self, b: int = 2):\n",
        b"def f(self, a=1, b: int = 2):\n",
    ),
    "before a trailing comma": (
        b"f(\n    a,\n)\n",
        b"f(\n    a,\n    b,\n)\n",
        b"f(\n    a,\n    c,\n)\n",
        b"f(\n    a,\n    b,\n    c,\n)\n",
    ),
    "with a trailing comma each": (b"f(a)\n", b"f(a, b,)\n", b"f(a, c,)\n", b"f(a, b, c,)\n"),
    "one name that both import": (
        b"from m import a\n",
        b"from m import a, b, d\n",
        b"from m import a, c, b\n",
        b"from m import a, c, b, d\n",
    ),
    "an argument with commas of its own": (
        b"f(a)\n",
        b"f(a, b=g(1, 2))\n",
        b"f(a, c, d, b=g(1, 2), e)\n",
        b"f(a, c, d, b=g(1, 2), e)\n",
    ),
    "the end of the other one": (
        b"f(a)\n",
        b"f(a, b=g(1, 2))\n",
        b"f(a, c, b=g(1, 2))\n",
        b"f(a, c, b=g(1, 2))\n",
    ),
    "the start of the other one": (b"a\n", b"a\nb\n", b"a\nb\nc\n", b"a\nb\nc\n"),
    "the same": (b"f(a)\n", b"f(a, b)\n", b"f(a, b)\n", b"f(a, b)\n"),
    "lines": (b"a\n", b"a\nb\n", b"a\nc\n", b"a\nb\nc\n"),
    "a line between those of both": (b"a\n", b"a\nb\nc\n", b"a\nd\nb\n", b"a\nd\nb\nc\n"),
    "a statement of several lines": (
        b"a\n",
        b"a\nif b:\n    x\nelse:\n    y\nc\n",
        b"a\nif d:\n    x\nelse:\n    y\nc\n",
        b"a\nif b:\n    x\nelse:\n    y\nif d:\n    x\nelse:\n    y\nc\n",
    ),
    "one line twice by one side": (b"a\n", b"a\nb\n", b"a\nb\nb\n", b"a\nb\nb\n"),
    "the same line": (b"a\n", b"a\nb = 1\n", b"a\nb = 1\n", b"a\nb = 1\n"),
    "what precedes the other one's edit": (
        b"- uses: a # 1\n- uses: b # 2\n",
        b"with:\n  c: d\n- uses: e # 3\n- uses: f # 4\n",
        b"with:\n  c: d\n- uses: a # 1\n- uses: b # 2\n",
        b"with:\n  c: d\n- uses: e # 3\n- uses: f # 4\n",
    ),
    "into nothing": (b"", b"b\n", b"c\n", b"b\nc\n"),
    "the same into nothing": (b"", b"b\n", b"b\n", b"b\n"),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "expected"), INSERTED.values(), ids=INSERTED)
def test_both_insertions_at_one_point_are_kept(base, ours, theirs, expected):
    """Ours first, with one separator between them, and what both insert only once."""
    assert merge(base, ours, theirs) == expected


@pytest.mark.parametrize(
    ("ours", "theirs"), [(b"f(a, b, c)\n", b"f(a, c, b)\n"), (b"f(a)\nb\nc\n", b"f(a)\nc\nb\n")]
)
def test_what_both_insert_in_another_order_is_refused(ours, theirs):
    """The order may matter."""
    with pytest.raises(TokenMergeError, match="different orders"):
        merge(b"f(a)\n", ours, theirs)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (Order.OURS_FIRST, b"f(a, z, b)\n"),
        (Order.THEIRS_FIRST, b"f(a, b, z)\n"),
        (Order.CONTENT, b"f(a, b, z)\n"),
    ],
)
def test_the_order_of_two_insertions_is_chosen(order, expected):
    """Ours first, theirs first, or the lesser first."""
    assert merge(b"f(a)\n", b"f(a, z)\n", b"f(a, b)\n", order=order) == expected


def test_the_order_by_content_ignores_which_side_is_which():
    """The lesser insertion comes first on either side."""
    sides = b"a\nz\n", b"a\nb\n"

    assert merge(b"a\n", *sides, order=Order.CONTENT) == b"a\nb\nz\n"
    assert merge(b"a\n", *reversed(sides), order=Order.CONTENT) == b"a\nb\nz\n"


# --- what is refused -----------------------------------------------------------------------

REFUSED = {
    "two values of one name": (b"a = 1\n", b"a = 2\n", b"a = 3\n", OVERLAP),
    "an edit of what is deleted": (b"a b c d\n", b"a d\n", b"a x c d\n", OVERLAP),
    "two arguments for none": (b"f()\n", b"f(b)\n", b"f(c)\n", UNSEPARATED),
    "two calls of a chain": (b"x.m(a)\n", b"x.m(a).f(b)\n", b"x.m(a).g(0, 5)\n", UNSEPARATED),
    "two words at one point": (b"a\n", b"a b\n", b"a c\n", UNSEPARATED),
    "no newline at the end of base": (b"a", b"a\nb\n", b"a\nc\n", "no newline"),
    "no newline at the end of ours": (b"a\n", b"a\nb", b"a\nc\n", "no newline"),
    "no newline at the end of theirs": (b"a\n", b"a\nb\n", b"a\nc", "no newline"),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_merged_is_refused_with_a_reason(base, ours, theirs, reason):
    """Nothing is guessed; the error's message says why."""
    with pytest.raises(TokenMergeError, match=reason):
        merge(base, ours, theirs)
    with pytest.raises(TokenMergeError, match=reason):
        merge(base, theirs, ours, order=Order.CONTENT)


def test_texts_of_too_many_tokens_are_refused():
    """A version may have as many tokens as the bound says; its end is one of them."""
    texts = b"a b\n", b"b\n", b"a c\n"

    assert merge(b"a b\n", b"b\n", b"a b c\n", max_tokens=4) == b"b c\n"
    with pytest.raises(TokenMergeError, match="more than 2 tokens"):
        merge(*texts, max_tokens=2)


# --- bytes -----------------------------------------------------------------------------------

ODD_BYTES = {
    "CR LF": (
        b"f(a)\r\ng\r\n",
        b"f(a, b)\r\ng\r\n",
        b"f(a)\r\nh\r\n",
        b"f(a, b)\r\nh\r\n",
    ),
    "Latin-1": (
        b"\xe9 = \xff + 1\n",
        b"\xe8 = \xff + 1\n",
        b"\xe9 = \xff + 2\n",
        b"\xe8 = \xff + 2\n",
    ),
    "a NUL byte": (b"a\0b c\n", b"x\0b c\n", b"a\0b d\n", b"x\0b d\n"),
    "spaces at the end": (b"a  \n", b"a  \nb\n", b"aa  \n", b"aa  \nb\n"),
    "tabs": (b"\tf(a)\n", b"\tg(a)\n", b"\tf(b)\n", b"\tg(b)\n"),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "expected"), ODD_BYTES.values(), ids=ODD_BYTES)
def test_bytes_that_are_not_text_are_merged_as_bytes(base, ours, theirs, expected):
    """They come out as they went in."""
    assert merge(base, ours, theirs) == expected


def test_changes_of_white_space_do_not_conflict():
    """A side that only reformats changes no token."""
    assert merge(b"f(a, b)\n", b"f(\n    a,\n    b\n)\n", b"f(a, b, c)\n") == (
        b"f(\n    a,\n    b, c\n)\n"
    )


def test_words_are_not_glued():
    """If a change of white space would join two words, the merge is refused."""
    with pytest.raises(TokenMergeError, match="one word"):
        merge(b"( b\n", b"(b\n", b"a b\n")


@pytest.mark.parametrize("base", [b"", b"a\r\n"])
def test_lines_that_end_in_crlf_end_so_where_both_insert(base):
    """At the start of a block, too."""
    merged = merge(base, b"b\r\n" + base, b"c\r\n" + base)

    assert merged == b"b\r\nc\r\n" + base


# --- laws --------------------------------------------------------------------------------------


@given(three_way_tokens() | three_way_texts())
def test_if_one_side_changed_nothing_the_other_side_is_the_result(texts):
    """Byte for byte, white space and all."""
    base, ours, _ = texts
    assume(all(text.endswith(b"\n") for text in (base, ours) if text))

    assert merge(base, ours, base) == ours
    assert merge(base, base, ours) == ours


@given(three_way_tokens() | three_way_texts())
def test_if_both_sides_are_the_same_that_is_the_result(texts):
    """Byte for byte, and whatever the base was."""
    base, ours, _ = texts
    assume(all(text.endswith(b"\n") for text in (base, ours) if text))

    assert merge(base, ours, ours) == ours


@given(three_way_tokens())
def test_swapping_the_sides_changes_nothing_by_content(texts):
    """The same bytes, or both refused."""
    base, ours, theirs = texts

    merged = merged_or_none(base, ours, theirs, Order.CONTENT)

    assert merged_or_none(base, theirs, ours, Order.CONTENT) == merged


@given(three_way_tokens())
def test_no_token_is_made_up(texts):
    """The result has no token that neither side has, but for a comma."""
    base, ours, theirs = texts

    merged = merged_or_none(base, ours, theirs)

    known = SCRIPT.count(ours).keys() | SCRIPT.count(theirs).keys()
    assert SCRIPT.count(merged or b"").keys() <= known | {b","}


def test_reading_stops_after_too_many_tokens(monkeypatch):
    made = []

    def make(space, word):
        made.append(word)
        return Token(space, word)

    monkeypatch.setattr(token_merge, "Token", make)
    versions = [word * 10_000 for word in (b"a ", b"b ", b"c ")]
    with pytest.raises(TokenMergeError, match="more than 20 tokens"):
        merge(*(version + b"\n" for version in versions), max_tokens=20)
    assert len(made) < 100

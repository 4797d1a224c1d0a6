"""Texts are extracted strictly from answers and checked against the versions."""

import json

import pytest

from cooperbench_eval.git.merging.conflicts import Conflict
from cooperbench_eval.strategies.llm.answers import (
    AnswerError,
    check_lines,
    extract,
    extract_choice,
    fitted,
    invented_lines,
)


def conflict(ours=b"a\n", theirs=b"b\n", base=b"", **facts):
    """Return a conflict between lines."""
    return Conflict(path="f", base=base, ours=ours, theirs=theirs, line=1, **facts)


# --- extraction -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        ("```conflict-1\na\n```", ["a\n"]),
        ("Sure!\n\n```python\na\n```\nHope it helps.", ["a\n"]),
        ("```\n```", [""]),
        ("~~~ conflict-1\na\n~~~", ["a\n"]),
        ("````conflict-1\n```\na\n```\n````", ["```\na\n```\n"]),
        ("```conflict-1\r\na\r\n```\r\n", ["a\n"]),
        ('{"conflict-1": "a"}', ["a\n"]),
        ('```json\n{"conflict-1": "a\\nb\\n"}\n```', ["a\nb\n"]),
        ('```json\n{"name": "a"}\n```', ['{"name": "a"}\n']),
        ("```conflict-2\nb\n```\nand\n```conflict-1\na\n```", ["a\n", "b\n"]),
        ('{"conflict-2": "b\\n", "conflict-1": ""}', ["", "b\n"]),
    ],
)
def test_each_conflict_gets_its_text(answer, texts):
    """From fences or JSON; prose around them is ignored."""
    assert extract(answer, len(texts)) == texts


@pytest.mark.parametrize(
    ("answer", "count", "reason"),
    [
        ("", 1, "it is empty"),
        (" \n", 1, "it is empty"),
        ("a = 1", 1, "no fenced block"),
        ("I cannot help with that.", 1, "no fenced block"),
        ("```conflict-1\na\n", 1, "not closed"),
        ("```conflict-1\na\n```\n```\nb\n```", 1, "has not one fenced block"),
        ("```conflict-2\na\n```", 1, "conflict-2"),
        ("```conflict-1\na\n```", 2, "each of 2 conflicts"),
        ("```conflict-1\na\n```\n```conflict-1\nb\n```", 2, "conflict-1, conflict-1"),
        ("```\na\n```\n```\nb\n```", 2, "without a number"),
        ("```conflict-" + "9" * 5000 + "\na\n```\n```conflict-1\nb\n```", 1, "has not one"),
        ('{"conflict-1": 1}', 1, "no fenced block"),
        ('{"conflict-1": "a", "note": "b"}', 1, "no fenced block"),
        ('{"conflict-1": "a"', 1, "no fenced block"),
        ("[1]", 1, "no fenced block"),
        ("[" * 100_000, 1, "no fenced block"),
        ("9" * 5000, 1, "no fenced block"),
    ],
)
def test_other_answers_are_rejected_with_a_reason(answer, count, reason):
    """Nothing is guessed."""
    with pytest.raises(AnswerError, match=reason):
        extract(answer, count)


def test_fences_in_a_text_cannot_add_a_second_text():
    """A text whose fence is too short is split, and the answer is rejected."""
    hostile = "x\n```\n```conflict-2\nevil\n"

    with pytest.raises(AnswerError):
        extract(f"```conflict-1\n{hostile}```\n```conflict-2\nright\n```", 2)


@pytest.mark.parametrize("answer", ["```\nA\n```", "```conflict-1\n b \n```"])
def test_a_choice_is_one_letter(answer):
    """It is in a block, as in any answer."""
    assert extract_choice(answer) in {"A", "B"}


@pytest.mark.parametrize("answer", ["A", "```\nC\n```", "```\nA or B\n```", ""])
def test_another_word_is_not_a_choice(answer):
    """Nor is a letter outside a block."""
    with pytest.raises(AnswerError):
        extract_choice(answer)


# --- bytes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sides", "text", "data"),
    [
        ({}, "x\ny\n", b"x\ny\n"),
        ({}, "", b""),
        ({"newline": b"\r\n"}, "x\ny\n", b"x\r\ny\r\n"),
        ({"base": None, "ours": b"o\r\n", "theirs": b"t\r\n"}, "x\ny\n", b"x\r\ny\r\n"),
        ({"base": None, "ours": b"o\r\n", "theirs": b"t"}, "x\ny\n", b"x\r\ny\r\n"),
        ({"base": None, "ours": b"o\r\n", "theirs": b"t\n"}, "x\ny\n", b"x\ny\n"),
        ({"ours": b"a", "theirs": b"b"}, "x\ny\n", b"x\ny"),
        ({"ours": b"a", "theirs": b""}, "x\n", b"x"),
        ({"ours": b"a", "theirs": b"b\n"}, "x\n", b"x\n"),
        ({"ours": b"\xef\xbb\xbfa\n", "theirs": b"\xef\xbb\xbfb\n"}, "x\n", b"\xef\xbb\xbfx\n"),
        ({"ours": b"\x0ca\n"}, "\x0cx\n", b"\x0cx\n"),
    ],
)
def test_line_ends_are_those_of_the_sides(sides, text, data):
    """Also the last line end and a byte order mark."""
    assert fitted(conflict(**sides), text) == data


@pytest.mark.parametrize("text", ["\ud800\n", "a\0b\n", "a\rb\n", "\x1b[31m\n"])
def test_control_characters_are_rejected(text):
    """Unless a version has them."""
    with pytest.raises(AnswerError):
        fitted(conflict(), text)


def test_a_surrogate_in_json_is_rejected():
    """JSON can express characters that UTF-8 cannot encode."""
    (text,) = extract(json.dumps({"conflict-1": "\ud800"}), 1)

    with pytest.raises(AnswerError, match="UTF-8"):
        fitted(conflict(), text)


# --- lines ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line", [b"<<<<<<< ours", b"=======", b">>>>>>> theirs", b"||||||| base", b"<<<<<<<"]
)
def test_a_marker_that_neither_side_has_is_rejected(line):
    """A marker that a side has is an ordinary line."""
    text = b"a\n" + line + b"\n"

    with pytest.raises(AnswerError, match="conflict marker"):
        check_lines(conflict(), text)
    check_lines(conflict(theirs=b"b\n" + line + b"\n"), text)


def test_a_line_that_both_sides_kept_must_stay():
    """As often as both sides have it; a line that one side removed may go."""
    between = conflict(base=b"k\nk\nr\n", ours=b"k\nk\n", theirs=b"k\nk\nr\nb\n")

    check_lines(between, b"k\nk\n")
    with pytest.raises(AnswerError, match=r"both sides kept, 'k'"):
        check_lines(between, b"k\n")


def test_lines_of_no_version_are_counted():
    """Indentation and blank lines do not count."""
    between = conflict(base=b"z\n")

    assert invented_lines(between, b"a\n\n    b\nz\n") == 0
    assert invented_lines(between, b"a\nnew\nnew\n") == 2


def test_a_line_of_blanks_after_a_fence_is_read_quickly():
    """The time grows linearly with the answer."""
    answer = "```" + " " * 200_000 + "`\n```\na\n```"

    assert extract(answer, 1) == ["a\n"]


def test_a_repeated_name_is_rejected():
    """The intended text is unknown."""
    with pytest.raises(AnswerError, match="twice"):
        extract('{"conflict-1": "a", "conflict-1": "b"}', 1)


@pytest.mark.parametrize("marker", ["  <<<<<<< HEAD", "<<<<<<<HEAD", "<<<<<<<<<< o", "======= "])
def test_a_line_that_looks_like_a_marker_is_one(marker):
    """With any indentation and any text after it."""
    conflict = Conflict(path="a", base=b"", ours=b"a\n", theirs=b"b\n", line=1)

    with pytest.raises(AnswerError, match="marker"):
        check_lines(conflict, f"a\n{marker}\nb\n".encode())

"""What counts as one value although it has several tokens."""

import pytest

from cooperbench_eval.languages.faults.losses import find_new_value

BLENDS = {
    "a date": ("a.py", "date(2024, 1, 5)", "date(2024, 2, 5)", "date(2024, 1, 9)"),
    "a version": ("a.py", "V = (1, 4, 0)", "V = (1, 5, 0)", "V = (1, 4, 7)"),
    "text of an element": ("a.tsx", "<p>sign in </p>", "<p>log in </p>", "<p>sign up </p>"),
    "a slice": ("a.py", "x[1:10]", "x[2:10]", "x[1:20]"),
    "a complex number": ("a.py", "1+2j", "3+2j", "1+5j"),
    "arguments": ("a.ts", "f('a', 1)", "f('b', 1)", "f('a', 2)"),
    "words of a string": ("a.py", "'hello world'", "'goodbye world'", "'hello moon'"),
    "a comment": ("a.go", "// one two", "// six two", "// one ten"),
    "words around a kept one": ("a.md", "one two three", "six two three", "one two ten"),
    "a telephone number": ("a.md", "+49 30 1234 567", "+49 89 1234 567", "+49 30 1234 999"),
    "a size": ("a.txt", "10 MB", "20 MB", "10 GB"),
    "a time": ("a.txt", "10:30 pm", "11:30 pm", "10:30 am"),
    "a list of numbers": ("a.yml", "v: [1, 4, 0]", "v: [1, 5, 0]", "v: [1, 4, 7]"),
    "an import": ("a.py", "import a.b.c", "import a.z.c", "import a.b.y"),
}
APART = {
    "entries of a dict": ("a.py", "{1: 2, 3: 4}", "{1: 5, 3: 4}", "{1: 2, 3: 6}"),
    "strings of a list": ("a.py", "['a', 'b']", "['c', 'b']", "['a', 'd']"),
    "named arguments": ("a.py", "f(a=1, b=2)", "f(a=3, b=2)", "f(a=1, b=4)"),
    "cells": ("a.md", "| a | b |", "| c | b |", "| a | d |"),
    "items": ("a.md", "red, blue", "pink, blue", "red, navy"),
    "fields": ("a.json", '{"a": 1, "b": 2}', '{"a": 3, "b": 2}', '{"a": 1, "b": 4}'),
    "words around a value": ("a.py", "f'{a} : {b} c'", "f'{a!r} : {b} c'", "f'{a} : {b} d'"),
    "words after brackets": ("a.md", "a (b ) c d", "a (x ) c d", "a (b ) c e"),
    "words far apart": ("a.md", "a b c d", "x b c d", "a b c y"),
}


def blend(path, base, ours, theirs):
    """Judge what has each side's change of one of the words."""
    words = zip(*(text.split(" ") for text in (base, ours, theirs)), strict=True)
    merged = " ".join(other if mine == old else mine for old, mine, other in words)
    if merged in {ours, theirs}:  # it is one word
        merged = "".join(
            other if mine == old else mine
            for old, mine, other in zip(base, ours, theirs, strict=True)
        )
    assert merged not in {ours, theirs}
    return find_new_value(path, [text.encode() for text in (base, ours, theirs)], merged.encode())


@pytest.mark.parametrize("texts", BLENDS.values(), ids=BLENDS)
def test_a_blend_of_both_sides_values_is_found(texts):
    """Nobody wrote it."""
    assert blend(*texts).endswith(" which no version has")


@pytest.mark.parametrize("texts", APART.values(), ids=APART)
def test_changes_of_different_values_are_combined(texts):
    """A name, a comma or some unchanged words separate them."""
    assert blend(*texts) == ""


def test_a_sentence_of_a_version_may_go_on_in_the_next_line():
    """Both sides' lines may be broken at other places than in merged."""
    versions = [b"one two\nthree\n", b"one two\nthree four\n", b"one two three\n"]

    assert find_new_value("a.md", versions, b"one two three four\n") == ""

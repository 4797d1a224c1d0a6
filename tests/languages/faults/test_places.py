"""Values that are known by their places."""

import pytest

from cooperbench_eval.languages.faults.places import find_misplaced_value


def fault(*texts):
    """Judge a line of Python, given in base, ours, theirs and merged."""
    base, ours, theirs, merged = (each.encode() + b"\n" for each in texts)
    return find_misplaced_value("a.py", (base, ours, theirs), merged)


@pytest.mark.parametrize("merged", ["V = (1, 2, 1, 2)", "V = (1, 2, 2, 1)"])
def test_numbers_of_a_tuple_that_no_version_has_are_a_fault(merged):
    """The arguments of a call are not a tuple."""
    versions = "V = (1, 2)", "V = (1, 2, 1)", "V = (1, 2, 2)"

    assert "no version has the numbers" in fault(*versions, merged)
    assert fault(*versions, "V = (1, 2, 2)") == ""
    called = [each.replace("(", "f(") for each in (*versions, merged)]
    assert fault(*called) == ""


QUERY = "run('insert ({}) values ({})', [{}])"
PLACEHOLDERS = {
    "of a query": (
        QUERY.format("a", "?", "a"),
        QUERY.format("a, b", "?, ?", "a, b"),
        QUERY.format("a, c", "?, ?", "a, c"),
        QUERY.format("a, b, c", "?, ?", "a, b, c"),
        QUERY.format("a, b, c", "?, ?, ?", "a, b, c"),
    ),
    "with numbers": (
        QUERY.format("a", "$1", "a"),
        QUERY.format("a, b", "$1, $2", "a, b"),
        QUERY.format("a, c", "$1, $2", "a, c"),
        QUERY.format("a, b, c", "$1, $2", "a, b, c"),
        QUERY.format("a, b, c", "$1, $2, $1, $3", "a, b, c"),
    ),
    "of a format": (
        "x = '%s' % (a,)",
        "x = '%s %d' % (a, b)",
        "x = '%s %r' % (a, c)",
        "x = '%s %d %r' % (a, b)",
        "x = '%s %d %r' % (a, b, c)",
    ),
    "of a method": (
        "x = '{}'.format(a)",
        "x = '{} {:d}'.format(a, b)",
        "x = '{} {:e}'.format(a, c)",
        "x = '{} {:d}'.format(a, b, c)",
        "x = '{} {:d} {:e}'.format(a, b, c)",
    ),
    "of a log": (
        "log('%s', a)",
        "log('%s %d', a, f(b, 1))",
        "log('%s %r', a, c)",
        "log('%s %d %r', a, c)",
        "log('%s %d %r', a, f(b, 1), c)",
    ),
}


@pytest.mark.parametrize("texts", PLACEHOLDERS.values(), ids=PLACEHOLDERS)
def test_placeholders_without_values_are_a_fault(texts):
    """If they matched in all versions."""
    *versions, wrong, right = texts

    assert "placeholders" in fault(*versions, wrong)
    assert fault(*versions, right) == ""


def test_question_marks_in_sentences_are_no_placeholders():
    """The versions show that their number means nothing."""
    assert (
        fault("ask('a?', b, c)", "ask('a?', b, c, d)", "ask('a b?', b, c)", "ask('a b?', b, c, d)")
        == ""
    )

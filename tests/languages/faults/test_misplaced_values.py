"""Values that are known by their places."""

import pytest

from cooperbench_eval.languages.faults.misplaced_values import find_misplaced_value


def fault(*texts):
    """Judge a line of Python, given in base, ours, theirs and merged."""
    base, ours, theirs, merged = (each.encode() + b"\n" for each in texts)
    return find_misplaced_value("a.py", (base, ours, theirs), merged)


QUERY = "run('insert ({}) values ({})', [{}])"
PLACEHOLDERS = {
    "of a query": (
        QUERY.format("a", "?", "a"),
        QUERY.format("a, b", "?, ?", "a, b"),
        QUERY.format("a, c", "?, ?", "a, c"),
        QUERY.format("a, b, c", "?, ?, ?", "a, b, c"),
    ),
    "with numbers": (
        "run('a = $1', [a])",
        "run('a = $1 or b = $2', [a, b])",
        "run('a = $1 or c = $2', [a, c])",
        "run('a = $1 or b = $2 or c = $2', [a, b, c])",
    ),
    "of a format": (
        "x = '%s' % (a,)",
        "x = '%s %d' % (a, b)",
        "x = '%s %r' % (a, c)",
        "x = '%s %d %r' % (a, b, c)",
    ),
    "of a method": (
        "x = '{}'.format(a)",
        "x = '{} {:d}'.format(a, b)",
        "x = '{} {:e}'.format(a, c)",
        "x = '{} {:d} {:e}'.format(a, b, c)",
    ),
    "with names": (
        "run('a = :a', v)",
        "run('a = :a or b = :b', v)",
        "run('a = :a or c = :c', v)",
        "run('a = :a or b = :b or c = :c', v)",
    ),
}


@pytest.mark.parametrize("texts", PLACEHOLDERS.values(), ids=PLACEHOLDERS)
def test_placeholders_that_both_sides_add_are_a_fault(texts):
    """One side alone may add them."""
    base, ours, theirs, both = texts

    assert "placeholders" in fault(base, ours, theirs, both)
    assert fault(base, ours, base, ours) == ""


def test_numbers_below_each_other_are_one_value():
    """Each side changed one of two."""
    lines = "V = [\n    1,\n    4,\n    0,\n]"

    versions = lines, lines.replace("4", "5"), lines.replace("0", "7")

    assert "the numbers '5, 7'" in fault(*versions, versions[1].replace("0", "7"))
    assert fault(*versions, versions[2]) == ""


COUNTED = {
    "a.py": ("class A(Enum):\n    X = 1\n", "    Y = 2\n", "    Z = 2\n"),
    "a.proto": ("string w = 5;\nstring x = 6;\n", "int32 y = 7;\n", "repeated string z = 7;\n"),
    "a.sh": ("E_A=64\nE_B=65\n", "E_C=66\n", "E_D=66\n"),
}


@pytest.mark.parametrize("path", COUNTED)
def test_a_number_for_two_new_names_is_a_fault(path):
    """If the lines before them count up to it."""
    base, mine, other = COUNTED[path]
    other_base = base.replace("1", "4").replace("6", "9")

    def found(before):
        texts = (before, before + mine, before + other, before + mine + other)
        *versions, merged = (each.encode() for each in texts)
        return find_misplaced_value(path, (versions[0], versions[1], versions[2]), merged)

    assert found(base).startswith("both sides use ")
    assert found(other_base) == ""


def test_question_marks_in_sentences_are_no_placeholders():
    """The versions show that their number means nothing."""
    assert (
        fault("ask('a?', b, c)", "ask('a?', b, c, d)", "ask('a b?', b, c)", "ask('a b?', b, c, d)")
        == ""
    )


def test_a_single_number_before_two_settings_does_not_count():
    """Two lines that count up do."""
    for base, is_fault in ((b"tries: 1\n", False), (b"a: 0\nb: 1\n", True)):
        ours, theirs = base + b"workers: 2\n", base + b"threads: 2\n"
        merged = ours + b"threads: 2\n"

        assert bool(find_misplaced_value("a.yml", (base, ours, theirs), merged)) is is_fault

"""The lines of both sides that a reason quotes."""

import pytest

from cooperbench_eval import Changes, Snapshot, merge
from cooperbench_eval.strategies.structured.places import with_edits

FAR = b"".join(b"x%d = %d\n" % (i, i) for i in range(30))

TWICE = b"def f():\n    a = 1\n\n\ndef g():\n    a = 1\n    b()\n    a = 1\n"
MOVED = (
    "both sides changed 'let x = a > b;' "
    "(ours, line 1: `let x = a >= b;`; theirs, line 1: `let x = b > a;`)"
)
REASONS = {
    "a value": (
        "a.py",
        (b"x = f(1)\n", b"x = f(2)\n", b"x = f(3)\n"),
        "both sides changed 'x = f(1)' (ours, line 1: `x = f(2)`; theirs, line 1: `x = f(3)`)",
    ),
    "words that a side moved": (
        "a.js",
        (b"let x = a > b;\n", b"let x = a >= b;\n", b"let x = b > a;\n"),
        MOVED,
    ),
    "a name that both add": (
        "a.py",
        (b"f(1)\n", b"f(1, k=2)\n", b"# more\nf(1, k=3)\n"),
        "both sides add 'k' (ours, line 1: `f(1, k=2)`; theirs, line 2: `f(1, k=3)`)",
    ),
    "the same words elsewhere": (
        "a.py",
        (TWICE, TWICE[:-2] + b"2\n", TWICE[:-2] + b"3\n"),
        "both sides changed 'a = 1' (ours, line 8: `a = 2`; theirs, line 8: `a = 3`)",
    ),
    "another language": (
        "a.css",
        (b"a {\n  b: c;\n}\n", b"a {\n  b: d;\n}\n", b"a {\n}\n"),
        "both sides changed 'b: c;' (ours: `b: d;`; theirs removes it)",
    ),
}


@pytest.mark.parametrize(("path", "versions", "reason"), REASONS.values(), ids=REASONS)
def test_a_reason_quotes_a_line_of_each_side(path, versions, reason):
    """With its number in that side's file."""
    strategy = "tokens" if path.endswith(".css") else "cascade"

    assert [row.reason for row in refused(path, *versions, strategy=strategy)] == [reason]


def refused(path, base, ours, theirs, strategy="cascade"):
    """Return the rows of what a strategy leaves open."""
    before = Snapshot.from_files({path: base})
    sides = (Changes.between(before, Snapshot.from_files({path: each})) for each in (ours, theirs))
    return [row for row in merge(before, *sides, strategy=strategy).ledger if row.is_open]


def test_lines_are_those_of_the_sides_if_blocks_are_merged_one_by_one():
    """Lines that the other side inserts above do not count."""
    base = b"a = 1\n" + FAR + b"b = 1\n"
    ours = b"a = 2\n" + FAR + b"b = 2\n"
    theirs = b"a = 3\n" + FAR.replace(b"x9 ", b"new = 1\nx9 ") + b"b = 3\n"

    first, last = refused("a.py", base, ours, theirs)

    assert first.reason.endswith("(ours, line 1: `a = 2`; theirs, line 1: `a = 3`)")
    assert last.reason.endswith("(ours, line 32: `b = 2`; theirs, line 33: `b = 3`)")
    assert "elsewhere" not in first.reason + last.reason


def test_a_reason_that_concerns_another_conflict_says_so():
    """Interference in one function keeps all conflicts of the file open."""
    function = b"def f(x):\n    y = x\n    return y\n"
    versions = (
        b"import a\n" + FAR + function,
        b"import b\nimport a\n" + FAR + function.replace(b"y = x", b"y = x + 1"),
        b"import c\nimport a\n" + FAR + function.replace(b"return y", b"return y * 2"),
    )

    reasons = [row.reason for row in refused("a.py", *versions)]

    assert len(reasons) == 2
    assert reasons[0] == f"elsewhere in the file, {reasons[1]}"
    assert "theirs, line 35: `return y * 2`" in reasons[1]


def test_a_fault_is_shown_with_the_edits_of_what_it_quotes():
    """Of several edits, those next to each other; new lines before removed ones."""
    files = b"f(n)\n" + FAR, b"f(m)\n" + FAR + b"n\n", b"n = 2\nf(n)\n" + FAR

    assert with_edits("'n' is lost", files) == (
        "'n' is lost (ours, line 32: `n`; theirs, line 1: `n = 2`)"
    )
    assert with_edits("'m' is lost", files).endswith(
        "(ours, line 1: `f(m)`; theirs, line 1: `n = 2`)"
    )
    assert with_edits("'z' is lost", (FAR, FAR, FAR)) == "'z' is lost"

"""What the static judge finds wrong with a merged file, and what it leaves alone."""

import pytest

import cooperbench_eval as ce
from cooperbench_eval.strategies.judge import find_fault

ONE, TWO = b"def one():\n    return 1\n", b"def two():\n    return 2\n"

FAULTS = {
    "brackets out of order": (b"a()\n", b"a(b)\n", b"a(c)\n", b"a)b c(\n", "not parse"),
    "an indent that fits nothing": (
        b"a = 1\n",
        b"a = 1\nif a:\n    b = 2\n",
        b"a = 1\n",
        b"a = 1\nif a:\nb = 2\n",
        "not parse",
    ),
    "a parameter given twice": (
        b"def f(): 0\n",
        b"def f(a): 0\n",
        b"def f(a): 0\n",
        b"def f(a, a): 0\n",
        "duplicate argument",
    ),
    "a function defined twice": (b"", ONE, ONE, ONE + ONE, "one would be defined 2 times"),
    "a method defined twice": (
        b"class A:\n    x = 1\n",
        b"class A:\n    x = 1\n    def f(self): 1\n",
        b"class A:\n    x = 1\n    def f(self): 2\n",
        b"class A:\n    x = 1\n    def f(self): 1\n    def f(self): 2\n",
        "A.f would be defined 2 times",
    ),
    "a name that lost its import": (
        b"import os\n",
        b"import os\nx = os.name\n",
        b"",
        b"x = os.name\n",
        "os would not be bound",
    ),
    "a name that lost its function": (
        ONE,
        ONE + b"\n\ndef more():\n    return one()\n",
        TWO,
        TWO + b"\n\ndef more():\n    return one()\n",
        "one would not be bound",
    ),
    "a token that one side added": (b"a\n", b"a + b\n", b"a\n", b"a\n+\n", "'b' is lost"),
    "a token that both sides kept": (b"a + b\n", b"a + b + c\n", b"a + b\n", b"b + c\n+\n", "'a'"),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "merged", "words"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_found_and_said(base, ours, theirs, merged, words):
    """Whoever is ours; the words are those of the ledger."""
    assert words in find_fault("a.py", (base, ours, theirs), merged)
    assert words in find_fault("a.py", (base, theirs, ours), merged)


SOUND = {
    "what both added, once": (b"a\n", b"a\nb\n", b"a\nb\n", b"a\nb\n"),
    "what either removed": (b"a\nb\nc\n", b"b\nc\n", b"a\nb\n", b"b\n"),
    "a name that was never bound": (b"f(a)\n", b"f(a, b)\n", b"f(a, c)\n", b"f(a, b, c)\n"),
    "a name of the builtins": (b"", b"print(len([]))\n", b"", b"print(len([]))\n"),
    "a name that a star import may bind": (
        b"import os\n",
        b"import os\nx = os.name\n",
        b"from m import *\n",
        b"from m import *\nx = os.name\n",
    ),
    "a name that only a function uses": (
        b"",
        b"def f(x): return x\n",
        b"",
        b"def f(x): return x\n",
    ),
    "a function that a side defined twice": (b"", ONE + ONE, b"", ONE + ONE),
    "methods of one name in two classes": (
        b"class A:\n    def f(self): 1\n",
        b"class A:\n    def f(self): 1\nclass B:\n    def f(self): 1\n",
        b"class A:\n    def f(self): 1\n",
        b"class A:\n    def f(self): 1\nclass B:\n    def f(self): 1\n",
    ),
    "two lambdas": (b"", b"f = lambda: 1\ng = lambda: 2\n", b"", b"f = lambda: 1\ng = lambda: 2\n"),
    "one comma for two": (b"f(a)\n", b"f(a, b,)\n", b"f(a, c,)\n", b"f(a, b, c)\n"),
    "a file that never parsed": (b"a(\n", b"a(b\n", b"a(c\n", b"a(b c\n"),
    "a file that did not parse on one side": (b"a\n", b"a(b\n", b"a\n", b"a(b\n"),
    "a file that is no UTF-8": (b"\xe9 = 1\n", b"\xe9 = 1\nb\n", b"\xe9 = 1\n", b"\xe9 = 1\n(b\n"),
    "a file with a NUL byte": (b"a\0\n", b"a\0b\n", b"a\0\n", b"a\0(b\n"),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "merged"), SOUND.values(), ids=SOUND)
def test_no_fault_is_found_in_a_sound_file(base, ours, theirs, merged):
    """Nor in one of which nothing can be asked."""
    assert find_fault("a.py", (base, ours, theirs), merged) == ""
    assert find_fault("a.py", (base, theirs, ours), merged) == ""


@pytest.mark.parametrize(
    ("path", "words"),
    [("a.py", "not parse"), ("a.pyi", "not parse"), ("a.js", ""), ("a.python", ""), ("py", "")],
)
def test_only_python_files_are_parsed(path, words):
    """Their ending says what they are."""
    fault = find_fault(path, (b"a\n", b"a\nb()\n", b"a\n"), b"a\nb()(\n")

    assert words in fault
    assert bool(fault) == bool(words)


def test_of_any_other_file_no_token_may_be_lost():
    """That question needs no language."""
    assert find_fault("a.txt", (b"a\n", b"a b\n", b"a\n"), b"a\n") == "'b' is lost"


def test_a_lost_token_that_is_no_text_is_shown_all_the_same():
    """The sentence is text, whatever the bytes are."""
    assert find_fault("a", (b"", b"\xff\n", b""), b"") == "'\N{REPLACEMENT CHARACTER}' is lost"


def test_of_an_unfinished_file_nothing_is_missed():
    """Where conflicts are still open, what is not there yet is no fault; a double is."""
    versions = b"import os\n", b"import os\nos.x\n", b"\n"

    assert find_fault("a.py", versions, b"os.x\n") == "os would not be bound"
    assert find_fault("a.py", versions, b"os.x\n", is_whole=False) == ""
    assert "not parse" in find_fault("a.py", versions, b"os.(\n", is_whole=False)
    assert "2 times" in find_fault("a.py", (b"", ONE, ONE), ONE + ONE, is_whole=False)


def test_a_warning_of_the_compiler_is_no_fault():
    """Nor does it get out: an odd escape stays a matter of whoever wrote it."""
    ours = b'a = "\\d"\nassert (a, 1)\nb = 1 is 1\n'

    assert find_fault("a.py", (b"", ours, b""), ours) == ""


# --- the judge decides ---------------------------------------------------------------------


def merge_one(base, ours, theirs, path="a.py"):
    """Merge one file by tokens."""
    tree = ce.Snapshot.from_files({path: base})
    sides = (ce.Changes({path: ce.Entry(text)}) for text in (ours, theirs))
    return ce.merge(tree, *sides, strategy="tokens")


CLASS = b"class A:\n    def f(self):\n        return 1\n"
METHOD = b"\n    def g(self):\n        return 2\n"
STATEMENT = b"\nx = A()\n"


def test_theirs_comes_first_where_only_that_passes():
    """A method that theirs adds cannot stand behind a statement that ours adds."""
    outcome = merge_one(CLASS, CLASS + STATEMENT, CLASS + METHOD)

    assert outcome.changes["a.py"].data == CLASS + METHOD + STATEMENT
    assert [row.rule for row in outcome.ledger] == ["tokens, theirs first"]


def test_ours_comes_first_where_that_passes():
    """The other order is not asked for."""
    outcome = merge_one(CLASS, CLASS + METHOD, CLASS + STATEMENT)

    assert outcome.changes["a.py"].data == CLASS + METHOD + STATEMENT
    assert [row.rule for row in outcome.ledger] == ["tokens"]


def test_where_no_language_is_known_ours_comes_first():
    """The same texts in a file that is no Python."""
    outcome = merge_one(CLASS, CLASS + STATEMENT, CLASS + METHOD, path="a.txt")

    assert outcome.changes["a.txt"].data == CLASS + STATEMENT + METHOD


def test_what_fails_the_judge_stays_open_with_its_reason():
    """Two functions of one name are no merge in either order."""
    outcome = merge_one(ONE, ONE + b"\n\ndef f(a):\n    return a\n", ONE + b"\n\ndef f():\n    0\n")

    assert outcome.status == "conflicts"
    assert [row.reason for row in outcome.ledger] == ["f would be defined 2 times"]
    assert outcome.ledger[0].is_open


def test_a_faulty_block_does_not_keep_a_sound_one_open():
    """Each is judged for itself where the file as a whole fails."""
    middle = b"".join(b"a%d = %d\n" % (i, i) for i in range(9))
    base = b"x = f(1, 2)\n" + middle
    ours = b"x = g(1, 2)\n" + middle + b"\n\ndef f(a):\n    return a\n"
    theirs = b"x = f(1, 3)\n" + middle + b"\n\ndef f():\n    return 0\n"

    outcome = merge_one(base, ours, theirs)

    assert [row.rule for row in outcome.ledger] == ["tokens", ""]
    assert outcome.changes["a.py"].data.startswith(b"x = g(1, 3)\n" + middle)
    assert len(outcome.conflicts) == 1

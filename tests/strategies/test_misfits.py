"""A merge is judged with all files that the sides touch, not file by file."""

import pytest

import cooperbench_eval as ce

LIB = b"""\
def load(path):
    '''Read a file.'''
    return open(path).read()


def other():
    return 1
"""
USE = b"""\
from lib import load


def main():
    return load("a")
"""
MODE, ENCODING = (LIB.replace(b"path)", b"path, %s)" % new, 1) for new in (b"m=0", b"n=0"))
STRATEGIES = ("structured", "tokens", "cascade")


def merge(ours, theirs, strategy, **more):
    """Merge two sides, each a dictionary of files."""
    base = ce.Snapshot.from_files({"lib.py": LIB, "use.py": USE, **more})
    sides = (
        ce.Changes({path: ce.Entry(text) for path, text in files.items()})
        for files in (ours, theirs)
    )
    return ce.merge(base, *sides, strategy=strategy)


def call(*arguments):
    """Return the file that calls `load` with other arguments."""
    return USE.replace(b'"a"', b", ".join((b'"a"', *arguments)))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_call_by_position_in_another_file_keeps_its_parameter(strategy):
    """Ours' parameter would come first, and get the value that theirs passes by position."""
    outcome = merge({"lib.py": MODE}, {"lib.py": ENCODING, "use.py": call(b"5")}, strategy)
    assert [conflict.path for conflict in outcome.conflicts] == ["lib.py"]
    assert outcome.changes["use.py"].data == call(b"5")
    (row,) = outcome.ledger
    assert row.is_open
    assert row.reason == (
        "ours changes the parameters of `load` in lib.py, and the call by theirs in use.py, "
        "line 5, does not fit: `load` has `n` at another position"
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("arguments", [b"n=5", b""])
def test_a_call_that_still_fits_leaves_the_merge_as_it_is(strategy, arguments):
    """A call by name works with both parameters, and so does one that the base had."""
    use = call(*filter(None, [arguments]))
    outcome = merge({"lib.py": MODE}, {"lib.py": ENCODING, "use.py": use + b"# end\n"}, strategy)
    assert outcome.status is ce.MergeStatus.RESOLVED
    assert b"load(path, m=0, n=0)" in outcome.changes["lib.py"].data


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_new_file_must_not_use_what_the_other_side_renamed(strategy):
    """The new file has no conflict, so those of the other files are opened again."""
    ours = {"lib.py": MODE.replace(b"other", b"another")}
    outcome = merge(ours, {"lib.py": ENCODING, "new.py": NEW}, strategy)
    assert {conflict.path for conflict in outcome.conflicts} == {"lib.py"}
    assert [row.reason for row in outcome.ledger] == [
        "ours renames `other` in lib.py to `another`, and theirs uses it in new.py, line 1"
    ]


NEW = b"from lib import other\n\nprint(other())\n"


def test_the_conflicts_of_other_files_stay_resolved():
    """The call is in a file that has a conflict of its own."""
    ours = {"lib.py": MODE.replace(b"other", b"another"), "use.py": call() + b"a = 1, 2\n"}
    theirs = {"lib.py": ENCODING, "use.py": NEW + call() + b"b = 3\n"}
    outcome = merge(ours, theirs, "structured")
    assert {conflict.path for conflict in outcome.conflicts} == {"use.py"}
    assert b"load(path, m=0, n=0)" in outcome.changes["lib.py"].data


def test_a_conflict_left_open_keeps_its_own_reason():
    """While a file has open conflicts, nothing is known about its definitions."""
    ours = {"lib.py": MODE.replace(b"1", b"2"), "use.py": call()}
    theirs = {"lib.py": ENCODING.replace(b"1", b"3"), "use.py": call(b"5")}
    outcome = merge(ours, theirs, "structured")
    assert [row.is_open for row in outcome.ledger] == [False, True]


def test_two_files_of_a_go_package_declare_a_name_once():
    """Ours adds the function to one file, theirs to the other, beside a conflict."""
    base = b"package p\n\nvar a = f(1)\n"
    both = [base.replace(b"f(1)", text) for text in (b"f(1, 2)", b"g(1)")]
    new = b"\nfunc made() int {\n\treturn %d\n}\n"
    other = b"package p\n\nfunc b() {\n}\n"
    outcome = merge(
        {"p/a.go": both[0] + new % 1},
        {"p/a.go": both[1], "p/b.go": other + new % 2},
        "structured",
        **{"p/a.go": base, "p/b.go": other},
    )
    assert {conflict.path for conflict in outcome.conflicts} == {"p/a.go"}
    assert "`made` is declared 2 times" in outcome.ledger[0].reason

"""One side moved statements into a new suite, and the other side edited them."""

import pytest

import cooperbench_eval as ce
from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import DisagreementError, render
from cooperbench_eval.strategies.structured.merge import TreeMerge


def merge(base, ours, theirs, *, path="a.py", theirs_first=False):
    """Merge the lines of three versions of a file."""
    trees = read_versions(
        path, ["".join(f"{s}\n" for s in v).encode() for v in (base, ours, theirs)]
    )
    return render(TreeMerge(theirs_first=theirs_first).merge(*trees))[1:].decode().split("\n")


def assert_merged(base, ours, theirs, expected, path="a.py"):
    """Merge in both directions."""
    assert merge(base, ours, theirs, path=path) == expected
    assert merge(base, theirs, ours, path=path) == expected


def is_open(base, ours, theirs):
    """Whether a conflict is left if three versions of a function are merged by structure."""
    files = [
        "".join(f"{line}\n" for line in ("def f():", *(f"    {each}" for each in version)))
        for version in (base, ours, theirs)
    ]
    tree, *sides = (ce.Snapshot.from_files({"a.py": each.encode()}) for each in files)
    changes = (ce.Changes.between(tree, side) for side in sides)
    return bool(ce.merge(tree, *changes, strategy="structured").conflicts)


BASE = ["v = make(a, b)", "use(v)", "end()"]
WRAPPED = ["with make(a, b) as v:", "    use(v)", "end()"]
RENAMED = ["with make(a, b) as w:", "    use(w)", "end()"]
CLASH = ["put(k=1)"], ["put(k=1, m=2)"], ["put(k=1, n=3)"]
REFUSED = {
    "both changed the value": (
        BASE,
        ["with make(a, d) as v:", "    use(v)", "end()"],
        ["v = make(a, c)", "use(v)", "end()"],
    ),
    "a name that is gone": (
        BASE,
        ["with make(a, b):", "    use()", "end()"],
        ["v = make(a, b)", "log(v)", "use(v)", "end()"],
    ),
    "the old name in a string that is evaluated": (
        BASE,
        RENAMED,
        ["v = make(a, b)", 'eval("log(v)")', "use(v)", "end()"],
    ),
    "two assignments": (
        ["a = open(p)", "b = open(q)", "copy(a, b)"],
        ["with open(p) as a, open(q) as b:", "    copy(a, b)"],
        ["a = open(p, 1)", "b = open(q, 2)", "copy(a, b)"],
    ),
}


@pytest.mark.parametrize(("base", "ours", "theirs"), REFUSED.values(), ids=REFUSED)
def test_if_it_is_not_certain_what_a_name_means_the_merge_is_refused(base, ours, theirs):
    """In either direction, also in a function."""
    for sides in ((ours, theirs), (theirs, ours)):
        assert is_open(base, *sides)


@pytest.mark.parametrize(
    ("later", "is_right"),
    [(["end(v)"], False), (["end()", "log(v)"], False), (["end()", "log()"], True)],
)
def test_a_later_statement_must_not_begin_to_use_what_the_suite_closes(later, is_right):
    """It was edited or added behind the suite; another line makes the conflict."""
    base, wrapped = ([*each[:-1], "a()", "b()", "end()"] for each in (BASE, WRAPPED))
    versions = zip((base, wrapped, [*base[:-1], *later]), CLASH, strict=True)
    before, ours, theirs = ([*each, "c()", "d()", *more] for each, more in versions)

    assert is_open(before, ours, theirs) is not is_right
    assert is_open(before, theirs, ours) is not is_right


WRAPS = {
    "an insertion behind the other's suite": (
        ["if c:", "    a(1)", "end()"],
        ["for i in n:", "    a(1)", "new(i)", "end()"],
        ["if c:", "    for i in n:", "        a(1)", "new(i)", "end()"],
    ),
    "an insertion before the other's suite": (
        ["if c():", "    a(1)", "end()"],
        ["new()", "if n:", "    a(1)", "end()"],
        ["new()", "if c():", "    if n:", "        a(1)", "end()"],
    ),
}


@pytest.mark.parametrize(("ours", "theirs", "expected"), WRAPS.values(), ids=WRAPS)
def test_what_is_inserted_beside_a_suite_stays_out_of_the_others(ours, theirs, expected):
    """It would depend on a condition that its side does not know."""
    assert merge(["a(1)", "end()"], ours, theirs) == expected


def test_of_two_suites_the_one_around_fewer_statements_is_within_the_other():
    """The other order would take the second statement out of its suite."""
    expected = ["if d:", "    if c:", "        a(1)", "    b(2)", "end()"]
    ours = ["if c:", "    a(1)", "b(2)", "end()"]
    theirs = ["if d:", "    a(1)", "    b(2)", "end()"]

    assert_merged(["a(1)", "b(2)", "end()"], ours, theirs, expected)


def test_a_deletion_does_not_empty_the_suite_that_the_other_side_made():
    """Whether the suite is still wanted, nobody knows."""
    base, wrapped = ["if a:", "    b(1)"], ["if a:", "    for i in n:", "        b(1)"]

    with pytest.raises(DisagreementError):
        merge(base, wrapped, ["if a:", "    pass"])

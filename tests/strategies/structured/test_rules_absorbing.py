"""One side moved a statement into the header of a new suite, and the other side edited it."""

import contextlib
from itertools import product

import pytest

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


BASE = ["v = make(a, b)", "use(v)", "end()"]
WRAPPED = ["with make(a, b) as v:", "    use(v)", "end()"]
RENAMED = ["with make(a, b) as w:", "    use(w)", "end()"]
CASES = {
    "an argument": (
        WRAPPED,
        ["v = make(a, b, c=1)", "use(v)", "end()"],
        ["with make(a, b, c=1) as v:", "    use(v)", "end()"],
    ),
    "an argument, under another name": (
        RENAMED,
        ["v = make(a, b, c=1)", "use(v)", "end()"],
        ["with make(a, b, c=1) as w:", "    use(w)", "end()"],
    ),
    "statements before and between": (
        WRAPPED,
        ["one()", "v = make(a, b)", "two()", "use(v, 2)", "end()"],
        ["one()", "with make(a, b) as v:", "    two()", "    use(v, 2)", "end()"],
    ),
    "inside of a try": (
        ["try:", "    with make(a, b) as v:", "        use(v)", "except E:", "    raise", "end()"],
        ["v = make(a, b, c=1)", "use(v, 2)", "end()"],
        [
            *("try:", "    with make(a, b, c=1) as v:", "        use(v, 2)", "except E:"),
            *("    raise", "end()"),
        ],
    ),
}


@pytest.mark.parametrize(("ours", "theirs", "expected"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("is_async", [False, True])
def test_an_assignment_became_a_with(ours, theirs, expected, is_async):
    """The value is merged in the header, and what follows in the suite."""
    if is_async:
        ours, expected = ([s.replace("with", "async with") for s in v] for v in (ours, expected))

    assert_merged(BASE, ours, theirs, expected)


def test_a_call_became_a_with():
    """It has no name."""
    assert_merged(
        ["lock(a)", "use()"],
        ["with lock(a):", "    use()"],
        ["lock(a, b)", "use(1)"],
        ["with lock(a, b):", "    use(1)"],
    )


REFUSED = {
    "both changed the value": (
        BASE,
        ["with make(a, d) as v:", "    use(v)", "end()"],
        ["v = make(a, c)", "use(v)", "end()"],
    ),
    "another target": (BASE, WRAPPED, ["w = make(a, b)", "use(w)", "end()"]),
    "a name that is gone": (
        BASE,
        ["with make(a, b):", "    use()", "end()"],
        ["v = make(a, b)", "log(v)", "use(v)", "end()"],
    ),
    "the old name": (BASE, RENAMED, ["v = make(a, b)", "log(v)", "use(v)", "end()"]),
    "the old name in a string": (
        BASE,
        RENAMED,
        ["v = make(a, b)", 'log(f"{v}")', "use(v)", "end()"],
    ),
    "two assignments": (
        ["a = open(p)", "b = open(q)", "copy(a, b)"],
        ["with open(p) as a, open(q) as b:", "    copy(a, b)"],
        ["a = open(p, 1)", "b = open(q, 2)", "copy(a, b)"],
    ),
}


@pytest.mark.parametrize(("base", "ours", "theirs"), REFUSED.values(), ids=REFUSED)
def test_if_it_is_not_certain_what_a_name_means_the_merge_is_refused(base, ours, theirs):
    """In either direction."""
    for sides in ((ours, theirs), (theirs, ours)):
        with pytest.raises(DisagreementError):
            merge(base, *sides)


def run(lines):
    """Run a program; return what it did, in order."""
    done = []

    @contextlib.contextmanager
    def managed(*args):
        done.append(("open", args))
        yield args
        done.append(("close", args))

    names = {"do": lambda *args: done.append(("do", args)), "make": managed}
    exec("\n".join(lines), {**names, "bare": lambda *args: args})  # noqa: S102
    return done


PIECES = list(product([0, 1], repeat=3))


@pytest.mark.parametrize("pieces", PIECES)
def test_a_merged_program_does_what_both_do(pieces):
    """What theirs does more is done in the same order, and inside of ours' suite."""
    before, between, last = pieces
    edits = [
        *["do(1)"] * before,
        "v = bare(7, 8)",
        *["do(2, v)"] * between,
        "do(3, v)",
        "do(5)",
        *["do(6)"] * last,
    ]
    base = ["v = bare(7)", "do(3, v)", "do(5)"]
    wrapped = ["with bare(7) as v:", "    do(3, v)", "do(5)"]

    merged = merge(base, wrapped, edits)
    expected = run(edits)
    actual = run([line.replace("bare", "make") for line in merged])

    inside = [each for each in actual if each[0] == "do"]
    assert inside == expected
    opened, closed = actual.index(("open", (7, 8))), actual.index(("close", (7, 8)))
    uses = [i for i, (_, args) in enumerate(actual) if (7, 8) in args]
    assert opened < min(uses)
    assert max(uses) < closed


@pytest.mark.parametrize("later", [["end(v)"], ["end()", "log(v)"]])
def test_a_later_statement_must_not_begin_to_use_what_the_suite_closes(later):
    """It was edited or added behind the suite, and the other side did nothing before it."""
    wrapped = [*WRAPPED[:-1], "end()"]
    edited = [*BASE[:-1], *later]

    for ours, theirs in ((wrapped, edited), (edited, wrapped)):
        with pytest.raises(DisagreementError):
            merge(BASE, ours, theirs)


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

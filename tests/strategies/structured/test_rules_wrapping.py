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


def is_open(*versions):
    """Whether a conflict is left if three versions of a function are merged by structure."""
    return merged_body(*versions) is None


def merged_body(*versions, path="a.py"):
    """Merge three versions of a function's body; return `None` if a conflict is left."""
    head, *end = ["def f():"] if path == "a.py" else ["function f() {", "}"]
    files = [
        "".join(f"{line}\n" for line in (head, *(f"    {each}" for each in version), *end))
        for version in versions
    ]
    tree, *sides = (ce.Snapshot.from_files({path: each.encode()}) for each in files)
    changes = (ce.Changes.between(tree, side) for side in sides)
    outcome = ce.merge(tree, *changes, strategy="structured")
    if outcome.conflicts:
        return None
    lines = outcome.changes[path].data.decode().splitlines()
    return [line[4:] for line in lines[1 : len(lines) - len(end)]]


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


CALL = ["a(1);", "end();"]
GUARDED = ["if (c.x || !n) {", "    a(1);", "}", "end();"]


def test_conditions_of_both_sides_nest_if_one_of_them_calls_nothing():
    """Brackets are not calls, and two short conditions are not one because they are similar."""
    for condition in ("n", "p(n)"):
        other = [f"if ({condition}) {{", *GUARDED[1:]]
        inside = ["    " + line for line in other[:3]]
        expected = [GUARDED[0], *inside, *GUARDED[2:]]
        assert merged_body(CALL, GUARDED, other, path="a.ts") == expected
    assert merged_body(["a(1)"], ["if c:", "    a(1)"], ["if (n and m[0]):", "    a(1)"])


@pytest.mark.parametrize("condition", ["p()", "new P", "(n = 1)", "n++", "a && p(n)", "await n"])
def test_conditions_that_both_act_do_not_nest(condition):
    """One would no longer be asked if the other is false."""
    ours = ["if (q()) {", *GUARDED[1:]]
    theirs = [f"if ({condition}) {{", *GUARDED[1:]]
    assert merged_body(CALL, ours, theirs, path="a.ts") is None
    assert merged_body(CALL, theirs, ours, path="a.ts") is None


@pytest.mark.parametrize("change", ["c.x = 1", "n = 1"])
def test_a_condition_is_not_nested_where_what_it_reads_is_changed(change):
    """It is not clear which value it should see."""
    other = ["if (m) {", f"    {change};", *GUARDED[1:]]
    assert merged_body(CALL, GUARDED, other, path="a.ts") is None
    assert merged_body(CALL, other, GUARDED, path="a.ts") is None


def later(first):
    """A side that calls the statement from a function, after another statement."""
    return ["const run = () => {", f"    {first}", "    a(1);", "};", "later(run);", "end();"]


def test_a_condition_follows_the_statements_into_a_new_function():
    """It is asked when they are executed, and does not keep back the other side's new work."""
    other = later("const d = 2;")
    inside = ["    " + line for line in GUARDED[:3]]
    expected = [*other[:2], *inside, *other[3:]]
    assert merged_body(CALL, GUARDED, other, path="a.ts") == expected
    assert merged_body(CALL, other, GUARDED, path="a.ts") == expected


def test_a_condition_does_not_follow_into_a_function_where_its_names_mean_something_else():
    """Nor does one that calls a function, whose time would change."""
    for first in ("const n = 2;", "const { c } = d;"):
        assert merged_body(CALL, GUARDED, later(first), path="a.ts") is None
        assert merged_body(CALL, later(first), GUARDED, path="a.ts") is None
    for condition in ("p()", "this.x"):
        guarded = [f"if ({condition}) {{", *GUARDED[1:]]
        assert merged_body(CALL, guarded, later("d();"), path="a.ts") is None


def test_a_condition_does_not_keep_back_new_work_of_the_other_side():
    """So it is inside; if both sides add work to their suites, none may contain the other."""
    ours = ["if c:", "    log()", "    a(1)", "end()"]
    theirs = ["if n:", "    a(1)", "else:", "    fail()", "end()"]
    expected = ["if c:", "    log()", "    if n:", "        a(1)", "end()"]
    simple = [*theirs[:2], theirs[-1]]
    assert merged_body(["a(1)", "end()"], simple, ours) == expected
    assert merged_body(["a(1)", "end()"], ours, simple) == expected
    assert is_open(["a(1)", "end()"], ours, theirs)
    assert is_open(["a(1)", "end()"], theirs, ours)


ASKED = ["if ready(a):", "    start(a, b)", "    stop(a)", "end()"]
LEFT = ["if not ready(a):", "    return", "start(a, b)", "stop(a)", "end()"]


@pytest.mark.parametrize("added", ["    check(b)", "    if b:", "    log(a)"])
def test_a_block_that_became_its_opposite_gets_no_statements_of_the_other_side(added):
    """What one side adds to `if a` does not belong into `if not a`."""
    new = [added, "        return"] if added.endswith(":") else [added]
    assert is_open(ASKED, LEFT, [*ASKED[:1], *new, *ASKED[1:]])
    assert is_open(ASKED, [*ASKED[:1], *new, *ASKED[1:]], LEFT)


def test_a_block_with_another_condition_and_an_edited_statement_is_the_same_block():
    """The other side's statement is added to it."""
    ours = ["if ready(a) and b:", "    start(a, b, 1)", "    stop(a)", "end()"]
    assert not is_open(ASKED, ours, [*ASKED[:3], "    log(a)", "end()"])

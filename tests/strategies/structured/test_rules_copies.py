"""One side repeated a statement in several suites, and the other side edited it."""

import pytest

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import DisagreementError, render
from cooperbench_eval.strategies.structured.merge import TreeMerge


def merge(base, ours, theirs, *, path="a.py"):
    """Merge the lines of three versions of a file."""
    texts = ["".join(f"{line}\n" for line in lines).encode() for lines in (base, ours, theirs)]
    return render(TreeMerge().merge(*read_versions(path, texts)))[1:].decode().split("\n")


BASE = "value = make(name, parent)"
EDITED = "value = make(name, parent, check=False)"
COPIED = {
    "both branches": ["if x:", f"    {BASE}", "else:", "    y()", f"    {BASE}"],
    "try and except": ["try:", f"    {BASE}", "except E:", "    y()", f"    {BASE}"],
    "nested suites": ["if x:", "    for y in z:", f"        {BASE}", "else:", f"    {BASE}"],
    "before a loop and in it": [BASE, "while x:", "    y()", f"    {BASE}"],
}


@pytest.mark.parametrize("copied", COPIED.values(), ids=COPIED)
def test_each_copy_takes_the_edit(copied):
    """Wherever it is."""
    expected = [line.replace(BASE, EDITED) for line in copied]

    assert merge([BASE], copied, [EDITED]) == expected
    assert merge([BASE], [EDITED], copied) == expected


def test_a_copy_that_was_changed_keeps_its_change():
    """If it is elsewhere in the statement."""
    copied = ["if x:", f"    {BASE}", "else:", f"    {BASE.replace('name', 'other')}"]

    assert merge([BASE], copied, [EDITED]) == [
        *("if x:", f"    {EDITED}", "else:", f"    {EDITED.replace('name', 'other')}"),
    ]


def test_several_statements_may_be_copied():
    """Only one of them is edited."""
    copied = ["if x:", f"    {BASE}", "    use(value)", "else:", f"    {BASE}", "    use(value)"]

    assert merge([BASE, "use(value)"], copied, [EDITED, "use(value)"]) == [
        line.replace(BASE, EDITED) for line in copied
    ]


OTHERS = {
    "a.ts": (["a(b, c);"], ["if (x) {", "  a(b, c);", "} else {", "  d();", "  a(b, c);", "}"]),
    "a.rs": (
        ["fn f() {", "    a(b, c);", "    end();", "}"],
        [
            *("fn f() {", "    if x {", "        a(b, c);", "    } else {", "        a(b, c);"),
            *("    }", "    end();", "}"),
        ],
    ),
}


@pytest.mark.parametrize("path", OTHERS)
def test_it_is_so_in_other_languages(path):
    """In both branches."""
    pytest.importorskip("tree_sitter")
    base, copied = OTHERS[path]
    theirs, expected = ([s.replace("c)", "c, e)") for s in lines] for lines in (base, copied))

    assert merge(base, copied, theirs, path=path) == expected


def test_a_copy_that_cannot_take_the_edit_is_refused():
    """Both changed the same argument."""
    copied = ["if x:", f"    {BASE}", "else:", f"    {BASE.replace('name', 'other')}"]
    theirs = [BASE.replace("name", "third")]

    for sides in ((copied, theirs), (theirs, copied)):
        with pytest.raises(DisagreementError):
            merge([BASE], *sides)


CHANCE = {
    "a short statement": ("a()", ["a()", "while x:", "    a()"], "a(1)"),
    "a statement of its own": (BASE, [BASE, "x()", BASE], EDITED),
    "another variable": (BASE, [BASE, "while x:", f"    other_{BASE}"], EDITED),
    "a new function": (BASE, [BASE, "", "", "def f():", f"    {BASE}"], EDITED),
}


@pytest.mark.parametrize(("base", "ours", "theirs"), CHANCE.values(), ids=CHANCE)
def test_what_is_repeated_by_chance_is_not_edited(base, ours, theirs):
    """Only the statement itself is."""
    assert merge([base], ours, [theirs]) == [theirs, *ours[1:]]

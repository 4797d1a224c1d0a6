"""Conditions and unions to which both sides add operands."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import DisagreementError, render
from cooperbench_eval.strategies.structured.merge import TreeMerge


def merge(template, base, ours, theirs, *, path="a.py"):
    """Merge three versions of an expression in a statement."""
    texts = [template.replace("@", each).encode() + b"\n" for each in (base, ours, theirs)]
    return render(TreeMerge().merge(*read_versions(path, texts)))[1:].decode()


def merged(base, ours, theirs, template="if @:\n    pass"):
    """Return the merged expression."""
    before, after = template.split("@")
    return merge(template, base, ours, theirs).removeprefix(before).removesuffix(after)


KEPT = {
    "both extend it": ("a", "a or b", "a or c is not None", "a or b or c is not None"),
    "with and": ("a", "a and b", "a and c", "a and b and c"),
    "the longer one": ("a", "a or b", "a or b or c", "a or b or c"),
    "at different places": ("a or b", "x or a or b", "a or b or y", "x or a or b or y"),
    "an operand of a longer chain": ("a or b", "a or b or c", "a and z or b", "a and z or b or c"),
    "inside of an operand": (
        "f(a) and b",
        "f(a, 1) and b",
        "f(a) and b and c",
        "f(a, 1) and b and c",
    ),
    "in brackets": (
        "not (a or b)",
        "not (a or b or c)",
        "not (a or b or d)",
        "not (a or b or c or d)",
    ),
    "one removes an operand": ("a or b", "a", "a or b or c", "a or c"),
}


@pytest.mark.parametrize("template", ["if @:\n    pass", "while @:\n    pass", "return_ = @"])
@pytest.mark.parametrize(("base", "ours", "theirs", "expected"), KEPT.values(), ids=KEPT)
def test_operands_that_both_sides_add_are_kept(template, base, ours, theirs, expected):
    """Ours first, in each statement that has a condition."""
    assert merged(base, ours, theirs, template) == expected


PLACES = {
    "a conditional expression": "x = y if @ else z",
    "a comprehension": "x = [y for y in z if @]",
    "an argument": "f(x=@, y=z)",
    "a return": "def f():\n    return @",
    "an assertion": "assert @, x",
}


@pytest.mark.parametrize("template", PLACES.values(), ids=PLACES)
def test_only_the_expression_itself_is_a_chain(template):
    """What is around it stays where it is."""
    assert merged("a", "a or b", "a or c", template) == "a or b or c"


UNIONS = {
    "an annotation": ("a.py", "def f(x: @ = None): 0", "A | None", "A | B | None", "A | C | None"),
    "what a function returns": ("a.py", "def f() -> @: 0", "A", "A | B", "A | C"),
    "flags": ("a.py", "x = @", "A | D", "A | B | D", "A | C | D"),
    "a type": ("a.ts", "type T = @;", "A", "A | B", "A | C"),
    "parameters": ("a.ts", "function f(x: @) {}", "A", "A | B", "A | C"),
    "flags of Go": ("a.go", "package a\n\nconst x = @", "A", "A | B", "A | C"),
    "patterns": (
        "a.rs",
        "fn f() {\n    match x {\n        @ => 1,\n    }\n}",
        "A",
        "A | B",
        "A | C",
    ),
}


@pytest.mark.parametrize(
    ("path", "template", "base", "ours", "theirs"), UNIONS.values(), ids=UNIONS
)
def test_unions_are_chains_as_well(path, template, base, ours, theirs):
    """Of types, of flags, and of patterns."""
    pytest.importorskip("tree_sitter")
    expected = ours.replace("B", "B | C")

    assert merge(template, base, ours, theirs, path=path) == template.replace("@", expected)


C_LIKE = {
    "TypeScript": ("a.ts", "if (@) {\n  f();\n}"),
    "brackets": ("a.ts", "if (!(@)) {\n  f();\n}"),
    "a conditional expression": ("a.ts", "const x = @ ? y : z;"),
    "JSX": ("a.tsx", "const x = <A>{(@) && <B />}</A>;"),
    "Go": ("a.go", "package a\n\nfunc f() {\n\tif @ {\n\t\tg()\n\t}\n}"),
    "Rust": ("a.rs", "fn f() {\n    if @ {\n        g();\n    }\n}"),
}


@pytest.mark.parametrize(("path", "template"), C_LIKE.values(), ids=C_LIKE)
@pytest.mark.parametrize("sign", ["&&", "||"])
def test_conditions_of_the_other_languages_are_chains(path, template, sign):
    """With their own operators."""
    pytest.importorskip("tree_sitter")
    sides = (f"a {sign} b()", f"a {sign} c != d")
    expected = f"a {sign} b() {sign} c != d"

    assert merge(template, "a", *sides, path=path) == template.replace("@", expected)


REFUSED = {
    "and against or": ("a", "a and b", "a or c"),
    "a negation against or": ("a", "not a", "a or c"),
    "the whole in brackets against or": ("a or b", "(a or b) and c", "a or b or d"),
    "tighter against looser": ("a and b", "a and b and c", "a and b or d"),
    "another operand, and one more": ("a", "x or y", "a or c"),
    "two values of an operand": ("f(a) or b", "f(c) or b", "f(d) or b"),
    "brackets of both": ("a", "(a or b)", "(a or c)"),
    "two constants to fall back on": ("a", "a or 1", "a or 2"),
    "two literals to fall back on": ("a", "a or []", "a or {}"),
}


@pytest.mark.parametrize(("base", "ours", "theirs"), REFUSED.values(), ids=REFUSED)
def test_if_the_brackets_are_unclear_the_merge_is_refused(base, ours, theirs):
    """In either direction."""
    for sides in ((ours, theirs), (theirs, ours)):
        with pytest.raises(DisagreementError):
            merged(base, *sides)


NAMES = ("a", "b", "c", "d")
OPERANDS = st.sampled_from([*NAMES, "not b", "(c and d)", "(a or d)"])
EXTRA = st.lists(OPERANDS, max_size=2, unique=True)


def truth(expression):
    """Return the value of an expression for all values of its names."""
    code = compile(expression, "<expression>", "eval")
    values = product([False, True], repeat=len(NAMES))
    return [bool(eval(code, dict(zip(NAMES, each, strict=True)))) for each in values]  # noqa: S307


@pytest.mark.parametrize("sign", ["or", "and"])
@given(base=st.lists(OPERANDS, min_size=1, max_size=3, unique=True), ends=st.tuples(EXTRA, EXTRA))
def test_what_both_add_means_both(sign, base, ends):
    """It holds where either condition holds, or where both hold; in both directions alike."""
    joined = f" {sign} ".join
    ours, theirs = (joined([*base, *(each for each in end if each not in base)]) for end in ends)

    results = [merged(joined(base), *sides) for sides in ((ours, theirs), (theirs, ours))]

    pairs = zip(truth(ours), truth(theirs), strict=True)
    expected = [any(pair) if sign == "or" else all(pair) for pair in pairs]
    assert [truth(result) for result in results] == [expected, expected]
    assert merged(joined(base), ours, ours) == ours

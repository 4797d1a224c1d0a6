"""Operators that one side puts before an operand and the other side after it."""

import pytest
from needs import need_package

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import DisagreementError, render
from cooperbench_eval.strategies.structured.merge import TreeMerge

FILES = {
    ".py": "async def f():\n    r = @\n",
    ".ts": "r = @;\n",
    ".go": "package p\nfunc f() {\n\tr := @\n}\n",
    ".rs": "fn f() {\n    let r = @;\n}\n",
    ".java": "class A {\n    void f() {\n        Object r = @;\n    }\n}\n",
}


def merge(suffix, base, ours, theirs):
    """Return the merged value of a variable in the language of a suffix."""
    if suffix != ".py":
        need_package("tree_sitter")
    before, after = FILES[suffix].split("@")
    texts = [f"{before}{each}{after}".encode() for each in (base, ours, theirs)]
    text = render(TreeMerge().merge(*read_versions("a" + suffix, texts)))[1:].decode()
    return (text.rstrip("\n") + "\n").removeprefix(before).removesuffix(after)


REFUSED = [
    (".py", "g(x)", "await g(x)", "g(x).strip()"),
    (".py", "h(g(x))", "h(await g(x))", "h(g(x).strip())"),
    (".py", "g(x)", "await g(x)", "g(x) if c else d"),
    (".py", "g(x)", "y if c else g(x)", "g(x).strip()"),
    (".py", "a", "not a", "a + 1"),
    (".py", "a", "not a", "a or b"),
    (".py", "x", "-x", "x ** 2"),
    (".py", "x + 1", "-x + 1", "x ** 2 + 1"),
    (".py", "g(a)", "2 * g(a)", "g(a) + 1"),
    (".py", "a - b", "a * b", "a - b + c"),
    (".py", "g(x)", "await g(x)", "h(g(x))"),
    (".py", "g(x)", "g(x).y", "h(g(x))"),
    (".py", "g(x)", "g(x, 1)", "h(g(x))"),
    (".ts", "a", "!a", "a === 1"),
    (".ts", "g(x)", "await g(x)", "g(x).y"),
    (".ts", "g(x)", "await g(x)", "g(x) ?? 1"),
    (".ts", "a", "b ? c : a", "a.d"),
    (".java", "x", "(T) x", "x.y()"),
    (".go", "g()", "*g()", "g().x"),
    (".rs", "g()", "&g()", "g().x"),
    (".rs", "g(x)", "g(x)?", "g(x).trim()"),
    (".rs", "a", "!a", "a == 1"),
]


@pytest.mark.parametrize(("suffix", "base", "ours", "theirs"), REFUSED)
def test_a_prefix_and_a_suffix_of_one_operand_are_refused(suffix, base, ours, theirs):
    """The ranks of the operators would decide, whichever side has the prefix."""
    for sides in ((ours, theirs), (theirs, ours)):
        with pytest.raises(DisagreementError):
            merge(suffix, base, *sides)


KEPT = [
    (".py", "a + b", "await a + b", "a + b.c", "await a + b.c"),
    (".py", "a == b", "not a == b", "a == b.c", "not a == b.c"),
    (".py", "a == b", "a != b", "a == b.c", "a != b.c"),
    (".py", "a + 1", "2 * a + 1", "a + 1 + c", "2 * a + 1 + c"),
    (".py", "x", "'a' + x", "x + 'b'", "'a' + x + 'b'"),
    (".py", "a.b.c", "self.a.b.c", "a.b.c.d", "self.a.b.c.d"),
    (".py", "g(a, b)", "await g(a, b)", "g(a, b, c)", "await g(a, b, c)"),
    (".py", "g(a)", "y = g(a)", "g(a).strip()", "y = g(a).strip()"),
    (".ts", "g(a)", "await g(a)", "g(a, b)", "await g(a, b)"),
    (".go", "g(a)", "*g(a)", "g(a, b)", "*g(a, b)"),
    (".rs", "g(a)", "&g(a)", "g(a, b)", "&g(a, b)"),
]


@pytest.mark.parametrize(("suffix", "base", "ours", "theirs", "expected"), KEPT)
def test_operators_of_different_operands_are_kept(suffix, base, ours, theirs, expected):
    """Also where something that separates expressions is between them."""
    assert merge(suffix, base, ours, theirs) == expected
    assert merge(suffix, base, theirs, ours) == expected

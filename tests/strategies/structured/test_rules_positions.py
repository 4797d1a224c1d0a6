"""Items that mean something by their places, to which both sides add."""

import pytest
from needs import need_package

from cooperbench_eval.languages.faults.positions import find_repositioned
from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import DisagreementError, render
from cooperbench_eval.strategies.structured.merge import TreeMerge

FILES = {
    ".py": "def f():\n    @\n",
    ".ts": "function f() {\n    @;\n}\n",
    ".go": "package p\n\nfunc f() {\n\t@\n}\n",
    ".rs": "fn f() {\n    @\n}\n",
}


def versions_of(base, ours, theirs):
    """Return the bytes of three versions."""
    return base.encode(), ours.encode(), theirs.encode()


def merge(suffix, base, new):
    """Merge a statement in which each side puts an item of its own at one place."""
    if suffix != ".py":
        need_package("tree_sitter")
    before, after = FILES[suffix].split("@")
    texts = [before + base.replace("@", each) + after for each in ("", *new)]
    versions = read_versions("a" + suffix, [each.encode() for each in texts])
    text = render(TreeMerge().merge(*versions))[1:].decode()
    return (text.rstrip("\n") + "\n").removeprefix(before).removesuffix(after)


@pytest.mark.parametrize(
    ("suffix", "base"),
    [
        (".py", "(a, b@) = f()"),
        (".py", "return (a, b@)"),
        (".py", "return [a@]"),
        (".py", "x: tuple[a@] = y"),
        (".py", "return a, b@"),
        (".ts", "const [a@] = f()"),
        (".ts", "[a@] = f()"),
        (".ts", "return [a@]"),
        (".ts", "let x: [a@] = y"),
        (".ts", "f(([a@]) => a)"),
        (".ts", "for (const [a@] of b) {}"),
        (".go", "x := T{1@}"),
        (".go", "x := &p.T{1@}"),
        (".rs", "struct P(A@);"),
        (".rs", "let (a, b@) = f();"),
        (".rs", "let P(a@) = f();"),
        (".rs", "return (a, b@);"),
        (".rs", "fn g() -> (A, B@) {}"),
        (".rs", "enum E { A(u8@) }"),
        (".py", "f(a@)"),
        (".ts", "a.f(b@)"),
        (".go", "x := f(a)[0](b@)"),
    ],
)
def test_items_known_by_their_places_are_refused(suffix, base):
    """The item that comes second is not where its side expects it."""
    if suffix != ".py":
        need_package("tree_sitter")
    new = ("", ", c", ", d", ", c, d")
    *versions, merged = (FILES[suffix].replace("@", base.replace("@", each)) for each in new)

    fault = find_repositioned("a" + suffix, versions_of(*versions), merged.encode())

    assert fault.startswith("both sides change the number of items, to ")


def test_a_longer_list_that_moves_the_other_sides_item_is_refused():
    """Either side's list may be taken, but not as if it had the other's item in its place."""
    texts = [f"def f():\n    g({items})\n" for items in ("a", "a, c", "a, b, c", "a, c, d")]
    base, less, moved, more = (each.encode() for each in texts)

    assert find_repositioned("a.py", (base, less, moved), moved)
    assert not find_repositioned("a.py", (base, less, more), more)
    assert not find_repositioned("a.py", (base, more, moved), moved)


@pytest.mark.parametrize(
    ("suffix", "base", "new"),
    [
        (".py", "names = ['a'@]", (", 'b'", ", 'c'")),
        (".py", "return ['a'@]", (", 'b'", ", 'c'")),
        (".py", "return [f(a)@]", (", f(b)", ", f(c)")),
        (".py", "x: Union[a@] = y", (", c", ", d")),
        (".py", "if isinstance(x, (a, b@)): y", (", c", ", d")),
        (".ts", "names = ['a'@]", (", 'b'", ", 'c'")),
        (".ts", "const {a@} = f()", (", b", ", c")),
        (".go", "x := []T{1@}", (", 2", ", 3")),
        (".go", "x := T{A: 1@}", (", B: 2", ", C: 3")),
        (".rs", "let x = [1@];", (", 2", ", 3")),
        (".rs", "let x = P { a@ };", (", b", ", c")),
        (".rs", "use a::{b@};", (", c", ", d")),
        (".rs", "#[derive(A@)]\n    struct P;", (", B", ", C")),
        (".rs", "#[allow(a@)]\n    struct P;", (", b", ", c")),
        (".rs", "#[cfg(any(a@))]\n    struct P;", (", b", ", c")),
    ],
)
def test_items_that_are_data_are_kept(suffix, base, new):
    """Lists, and items with names, take both insertions."""
    merged = merge(suffix, base, new)
    assert merged.rstrip(";") == base.replace("@", "".join(new)).rstrip(";")
    texts = (FILES[suffix].replace("@", base.replace("@", each)) for each in ("", *new))
    result = FILES[suffix].replace("@", merged).encode()
    assert find_repositioned("a" + suffix, versions_of(*texts), result) == ""


@pytest.mark.parametrize(
    ("path", "template", "items"),
    [
        ("a.go", "package p\n\nvar x = []string{0, @, @}\n", ('"b"', '"c"', '"x"', '"y"')),
        ("a.go", "package p\n\nvar x = [3]int{1, @, @}\n", ("8", "9", "7", "5")),
        ("A.java", "class A {\n    String[] x = {a, @, @};\n}\n", ('"b"', '"c"', '"x"', '"y"')),
    ],
)
def test_neighbours_of_which_each_side_replaced_one_conflict(path, template, items):
    """A string or a number is not a name by which the other side's place could be found."""
    need_package("tree_sitter")
    one, two, mine, theirs = items
    texts = [
        template.replace("@", first, 1).replace("@", second).encode()
        for first, second in ((one, two), (mine, two), (one, theirs))
    ]

    with pytest.raises(DisagreementError):
        TreeMerge().merge(*read_versions(path, texts))

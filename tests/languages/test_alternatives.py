"""Which alternatives must come before others."""

import pytest
from needs import need_package

from cooperbench_eval.languages.alternatives import Alternative, read_classes
from cooperbench_eval.languages.files import read_versions

FRAMES = {
    "a.rs": ("fn f() {\n    match x {\n", "    }\n}\n", "        {} => 1,\n"),
    "a.go": ("package p\n\nfunc f() {\n\tswitch {\n", "\t}\n}\n", "\tcase {}:\n\t\tg()\n"),
    "d.go": (
        "package p\n\nfunc f() {\n\tswitch x.(type) {\n",
        "\t}\n}\n",
        "\tcase {}:\n\t\tg()\n",
    ),
    "a.py": ("if a:\n    g()\n", "", "elif {}:\n    g()\n"),
    "b.py": ("match x:\n", "", "    case {}:\n        g()\n"),
    "c.py": ("try:\n    g()\n", "", "except {}:\n    g()\n"),
    "A.java": (
        "class A {\n  void f() {\n    try { g(); }\n",
        "  }\n}\n",
        "    catch ({} e) { h(); }\n",
    ),
    "a.ts": ("if (a) {\n  g();\n}", "\n", " else if ({}) {\n  g();\n}"),
}


def read(path, *patterns):
    """Read alternatives in a frame of a language."""
    if not path.endswith(".py"):
        need_package("tree_sitter")
    head, tail, line = FRAMES[path]
    text = head + "".join(line.replace("{}", each) for each in patterns) + tail
    parts = read_versions(path, [text.encode(), b"package q\n" if path.endswith(".go") else b"\n"])[
        0
    ]
    found = [
        each
        for part in parts.walk()
        for child in part.children
        if (each := Alternative.of(child)) is not None
    ]
    unique = list({each.head: each for each in found}.values())
    assert len(unique) == len(patterns)
    return unique


@pytest.mark.parametrize(
    ("path", "special", "general"),
    [
        ("a.rs", "E::A", "_"),
        ("a.rs", "E::A", "other"),
        ("b.py", "3 | 4", "_"),
        ("b.py", "3 if y", "3"),
        ("c.py", "ValueError", "Exception"),
        ("c.py", "lib.Error", "Exception"),
        ("c.py", "lib.Error", "ValueError"),
        ("c.py", "(LookupError, OSError)", "Exception"),
        ("a.py", "isinstance(x, bool)", "isinstance(x, (int, str))"),
        ("a.py", "s in ('a', 'b')", "s in ('a', 'b', 'c')"),
        ("A.java", "IOException", "Exception"),
        ("A.java", "IOException | E", "Throwable"),
    ],
)
def test_the_special_comes_before_the_general(path, special, general):
    """The general one would take what the special one is for."""
    one, other = read(path, special, general)

    assert one.must_precede(other)
    assert not other.must_precede(one)
    assert not one.clashes(other)


@pytest.mark.parametrize(
    ("path", "one", "other"),
    [
        ("a.go", "x > 5", "y > 3"),
        ("a.py", "verbose", "quiet"),
        ("a.py", "'a' in s", "'ab' in s"),
        ("a.py", "isinstance(x, lib.A)", "isinstance(x, lib.B)"),
        ("c.py", "lib.A", "lib.B"),
        ("d.go", "Stringer", "error"),
        ("A.java", "A", "B"),
        ("a.rs", "1..=5", "3..=9"),
        ("a.rs", "Some(x) if x > 3", "Some(y) if y < 9"),
        ("a.py", "x > 3", "x < 9"),
        ("b.py", "3 if y", "3 if z"),
        ("a.rs", "3", "2..=9"),
        ("a.rs", "2..4", "..=9"),
        ("a.rs", "1 | 4", "0.."),
        ("a.rs", "'b'", "'a'..='z'"),
        ("a.rs", "Some(3)", "Some(_)"),
        ("a.rs", "Some(x) if x > 3", "Some(y)"),
        ("a.go", "x > 5", "x > 3"),
        ("a.go", "x == 5", "x >= 3"),
        ("a.py", "x > 5", "x > 3"),
        ("a.py", "x.n <= 3", "x.n < 4"),
        ("a.ts", "x === 5", "x > 3"),
        ("c.py", "(OSError, KeyError)", "LookupError"),
        ("a.py", "x == 1 and y", "x > 0 and y"),
        ("a.py", "s.startswith('ab')", "s.startswith('a')"),
        ("a.py", "s == 'abc'", "s.endswith(('bc', 'x'))"),
        ("a.py", "x is None", "not x.y or x is None"),
        ("a.ts", "s.startsWith('//') && y", "s.startsWith('/')"),
        ("a.go", 'strings.HasPrefix(s, "ab")', 'strings.HasPrefix(s, "a")'),
        ("b.py", "[0, 1]", "[a, *r]"),
        ("b.py", "bool()", "int()"),
        ("b.py", "2", "int()"),
        ("b.py", "n if n > 5", "n if n > 1"),
        ("d.go", "*MyErr", "error"),
        ("a.rs", "Some(3)", "Some(4)"),
        ("a.rs", "1..=5", "6..=9"),
        ("a.rs", "(A, _)", "(B, _)"),
        ("a.py", "s.startswith('ab')", "s.startswith('ac')"),
        ("b.py", "A(1)", "A(2)"),
        ("c.py", "(A, B)", "B"),
        ("b.py", "[a, b]", "[a]"),
    ],
)
def test_alternatives_that_meet_have_no_right_order(path, one, other):
    """Both may be taken, as far as is known: of tests, only those of constants are understood."""
    first, second = read(path, one, other)

    assert first.clashes(second)
    assert second.clashes(first)


@pytest.mark.parametrize(
    ("path", "one", "other"),
    [
        ("a.rs", "E::A", "E::B"),
        ("a.py", "x == 1", "x == 2"),
        ("a.py", "x == K.A", "x == K.B"),
        ("a.py", "x in (1, 2)", "x == 3"),
        ("a.py", "x and y", "not x"),
        ("a.py", "isinstance(x, str)", "isinstance(x, (int, list))"),
        ("a.ts", "x instanceof A && y", "!(x instanceof A)"),
        ("b.py", "Color.RED", "Color.BLUE"),
        ("c.py", "ValueError", "KeyError"),
        ("d.go", "*A", "[]string"),
    ],
)
def test_alternatives_that_exclude_each_other_may_stand_in_any_order(path, one, other):
    """Nothing is caught by both."""
    first, second = read(path, one, other)

    assert not first.clashes(second)
    assert not first.must_precede(second)
    assert not second.must_precede(first)


def test_classes_of_the_file_are_known_by_their_bases():
    """A subclass comes first, siblings stand in any order, and a subclass of a subclass counts."""
    classes = read_classes(b"class E(Exception): pass\nclass F(E): pass\nclass G(E, X): pass\n")
    sub, base, sibling, library = read("c.py", "F", "E", "G", "lib.Y")

    assert sub.must_precede(base, classes)
    assert not base.must_precede(sub, classes)
    assert not sub.clashes(sibling, classes)
    assert not sibling.must_precede(sub, classes)
    assert sibling.must_precede(library, classes)

"""Which alternatives must come before others."""

import pytest
from needs import need_package

from cooperbench_eval.languages.alternatives import Alternative
from cooperbench_eval.languages.files import read_versions

FRAMES = {
    "a.rs": ("fn f() {\n    match x {\n", "    }\n}\n", "        {} => 1,\n"),
    "a.go": ("package p\n\nfunc f() {\n\tswitch {\n", "\t}\n}\n", "\tcase {}:\n\t\tg()\n"),
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
    parts = read_versions(path, [text.encode(), b"package q\n" if path == "a.go" else b"\n"])[0]
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
        ("a.rs", "3", "2..=9"),
        ("a.rs", "2..4", "..=9"),
        ("a.rs", "1 | 4", "0.."),
        ("a.rs", "'b'", "'a'..='z'"),
        ("a.rs", "Some(3)", "Some(_)"),
        ("a.rs", "Some(x) if x > 3", "Some(y)"),
        ("a.rs", "E::A", "_"),
        ("a.rs", "E::A", "other"),
        ("a.go", "x > 5", "x > 3"),
        ("a.go", "x == 5", "x >= 3"),
        ("a.py", "x > 5", "x > 3"),
        ("a.py", "x.n <= 3", "x.n < 4"),
        ("a.ts", "x === 5", "x > 3"),
        ("b.py", "3 | 4", "_"),
        ("b.py", "3 if y", "3"),
        ("c.py", "ValueError", "Exception"),
        ("c.py", "(OSError, KeyError)", "LookupError"),
        ("c.py", "lib.Error", "Exception"),
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
        ("a.rs", "1..=5", "3..=9"),
        ("a.rs", "Some(x) if x > 3", "Some(y) if y < 9"),
        ("a.py", "x > 3", "x < 9"),
        ("b.py", "3 if y", "3 if z"),
        ("c.py", "(A, B)", "B"),
    ],
)
def test_alternatives_that_meet_have_no_right_order(path, one, other):
    """Both may be taken."""
    first, second = read(path, one, other)

    assert first.clashes(second)
    assert second.clashes(first)


@pytest.mark.parametrize(
    ("path", "one", "other"),
    [
        ("a.rs", "E::A", "E::B"),
        ("a.rs", "Some(3)", "Some(4)"),
        ("a.rs", "1..=5", "6..=9"),
        ("a.go", "x > 5", "y > 3"),
        ("a.py", "x == 1", "x == 2"),
        ("a.py", "x == 1 and y", "x > 0 and y"),
        ("b.py", "A(1)", "A(2)"),
        ("c.py", "ValueError", "KeyError"),
        ("c.py", "A", "B"),
        ("A.java", "A", "B"),
    ],
)
def test_others_may_stand_in_any_order(path, one, other):
    """They exclude each other, or it is not known."""
    first, second = read(path, one, other)

    assert not first.clashes(second)
    assert not first.must_precede(second)
    assert not second.must_precede(first)

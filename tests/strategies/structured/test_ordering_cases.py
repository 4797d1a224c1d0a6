"""The order of the cases that both sides insert into a `switch` or `match`."""

import pytest
from needs import need_package

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import DisagreementError, render
from cooperbench_eval.strategies.structured.merge import TreeMerge

FILES = {
    "a.ts": "switch (x) {\n  case 1:\n    a();\n    break;\n@}\n",
    "a.java": "class A {\n  void f() {\n    switch (x) {\n  case 1: a(); break;\n@}\n  }\n}\n",
    "a.go": "package p\n\nfunc f() {\n\tswitch x {\n  case 1:\n    a()\n@\t}\n}\n",
    "a.rs": "fn f(x: E) -> u8 {\n    match x {\n        E::A => 1,\n@    }\n}\n",
    "a.py": "match x:\n    case 1:\n        a()\n@",
}
FALLING = "  case 2:\n    b();\n"
LEAVING = "  case 3:\n    c();\n    break;\n"
DEFAULT = "  default:\n    d();\n"


def merge(path, ours, theirs):
    """Return the merged cases after the first."""
    if path != "a.py":
        need_package("tree_sitter")
    before, after = FILES[path].split("@")
    texts = [f"{before}{each}{after}".encode() for each in ("", ours, theirs)]
    text = render(TreeMerge().merge(*read_versions(path, texts)))[1:].decode()
    return (text.rstrip("\n") + "\n").removeprefix(before).removesuffix(after)


@pytest.mark.parametrize(
    ("path", "last", "other"),
    [
        ("a.ts", DEFAULT, LEAVING),
        ("a.java", DEFAULT, LEAVING),
        ("a.go", DEFAULT.replace(";", ""), FALLING.replace(";", "")),
        ("a.ts", FALLING, LEAVING),
        ("a.java", FALLING, LEAVING),
        ("a.ts", "  case 2:\n" + DEFAULT, LEAVING),
        ("a.ts", "  case 2:\n", "  case 3: {\n    c();\n    break;\n  }\n"),
    ],
)
def test_a_case_that_must_come_last_does(path, last, other):
    """It catches what is left, or falls through into what follows it."""
    assert merge(path, last, other) == other + last
    assert merge(path, other, last) == other + last


@pytest.mark.parametrize(
    ("path", "ours", "theirs"),
    [
        ("a.ts", FALLING, FALLING.replace("2", "4")),
        ("a.java", FALLING, FALLING.replace("2", "4")),
        ("a.java", FALLING, DEFAULT),
    ],
)
def test_two_cases_that_must_come_last_are_refused(path, ours, theirs):
    """One of them would fall through into the other, or never be reached."""
    with pytest.raises(DisagreementError):
        merge(path, ours, theirs)


@pytest.mark.parametrize(
    ("path", "ours", "theirs"),
    [
        ("a.ts", LEAVING, LEAVING.replace("3", "4").replace("break", "return")),
        ("a.go", FALLING.replace(";", ""), LEAVING.replace(";", "").replace("    break\n", "")),
        ("a.rs", "        E::B => 2,\n", "        E::C => 3,\n"),
        ("a.py", "    case 2:\n        b()\n", "    case 3:\n        c()\n"),
    ],
)
def test_other_cases_are_kept_in_order(path, ours, theirs):
    """In Go and Python, none falls through."""
    assert merge(path, ours, theirs) == ours + theirs

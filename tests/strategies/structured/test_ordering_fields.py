"""Fields and imports that both sides insert at one place."""

import pytest
from needs import need_package

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import DisagreementError, render
from cooperbench_eval.strategies.structured.merge import TreeMerge

CLASS = "@dataclass\nclass A:\n    a: int\n%    def f(self): pass\n"
IMPORTS = "import a.X;\n%class A {}\n"


def merge(path, template, ours, theirs):
    """Return the merged insertions."""
    before, after = template.split("%")
    texts = [f"{before}{each}{after}".encode() for each in ("", ours, theirs)]
    text = render(TreeMerge().merge(*read_versions(path, texts)))[1:].decode()
    return (text.rstrip("\n") + "\n").removeprefix(before).removesuffix(after)


def test_a_field_without_a_default_comes_first():
    """A dataclass requires it."""
    sides = "    b: int = 0\n", "    c: int\n"
    for ours, theirs in (sides, sides[::-1]):
        assert merge("a.py", CLASS, ours, theirs) == "    c: int\n    b: int = 0\n"


def test_other_fields_are_kept_in_order():
    """Ours first."""
    for value in ("", " = 0"):
        ours, theirs = (f"    {name}: int{value}\n" for name in "bc")
        assert merge("a.py", CLASS, ours, theirs) == ours + theirs


def test_fields_of_both_sorts_on_both_sides_are_refused():
    """Neither side's can come first as a whole."""
    ours, theirs = (f"    {name}: int\n    {name * 2}: int = 0\n" for name in "bc")
    with pytest.raises(DisagreementError):
        merge("a.py", CLASS, ours, theirs)


def test_classes_of_one_name_are_not_both_imported():
    """Java does not compile that; other names are fine."""
    need_package("tree_sitter")
    with pytest.raises(DisagreementError, match="as 'List'"):
        merge("a.java", IMPORTS, "import b.List;\n", "import c.List;\n")
    merged = merge("a.java", IMPORTS, "import b.List;\n", "import c.Set;\n")
    assert merged.split()[:4] == ["import", "b.List;", "import", "c.Set;"]

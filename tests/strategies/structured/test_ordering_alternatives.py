"""Alternatives of both sides: the special one comes before the general one."""

import pytest
from needs import need_package

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import DisagreementError, render
from cooperbench_eval.strategies.structured.merge import TreeMerge

FRAMES = {
    "a.rs": (
        "fn f(x: u8) -> u8 {\n    match x {\n        1 => 1,\n",
        "        _ => 0,\n    }\n}\n",
        "        {} => g(),\n",
    ),
    "a.py": ("if x == 0:\n    a()\n", "else:\n    d()\n", "elif {}:\n    g()\n"),
}


def merge(path, *versions):
    """Merge alternatives of a construct, written one after another with slashes between."""
    if path == "a.rs":
        need_package("tree_sitter")
    head, tail, line = FRAMES[path]
    texts = [
        head + "".join(line.replace("{}", each) for each in text.split("/") if each) + tail
        for text in versions
    ]
    trees = read_versions(path, [text.encode() for text in texts])
    text = render(TreeMerge().merge(*trees))[1:].decode() + "\n"
    before, after = line.split("{}")
    inner = text.removeprefix(head).removesuffix(tail)
    return "/".join(part.removesuffix(after) for part in inner.split(before)[1:])


@pytest.mark.parametrize(
    ("path", "ours", "theirs", "expected"),
    [
        ("a.rs", "2..=9", "3", "3/2..=9"),
        ("a.rs", "3", "2..=9", "3/2..=9"),
        ("a.rs", "2..=9/20", "3/15..=30", "3/2..=9/20/15..=30"),
        ("a.rs", "2..=9", "2..=9/20", "2..=9/20"),
        ("a.rs", "5 if y", "5", "5 if y/5"),
        ("a.py", "x > 3", "x > 5", "x > 5/x > 3"),
        ("a.py", "x == 3", "x == 5", "x == 3/x == 5"),
    ],
)
def test_the_special_alternative_is_put_before_the_general_one(path, ours, theirs, expected):
    """Others stay in the order of the sides."""
    assert merge(path, "", ours, theirs) == expected


@pytest.mark.parametrize(
    ("path", "ours", "theirs"),
    [
        ("a.rs", "2..=9", "5..=12"),
        ("a.rs", "5 if y", "5 if z"),
        ("a.py", "x > 3", "y > 5"),
        ("a.rs", "2..=9/3 if y", "3/5..=20"),
    ],
)
def test_alternatives_without_a_right_order_are_refused(path, ours, theirs):
    """Either order would change what one side's is taken for."""
    for sides in ((ours, theirs), (theirs, ours)):
        with pytest.raises(DisagreementError):
            merge(path, "", *sides)

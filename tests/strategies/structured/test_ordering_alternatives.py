"""Alternatives of both sides: the special one comes before the general one."""

import pytest
from needs import need_package

from cooperbench_eval import Changes, Snapshot, merge

FRAMES = {
    "a.rs": (
        "fn f(x: u8) -> u8 {\n    match x {\n        1 => 1,\n",
        "        _ => 0,\n    }\n}\n",
        "        {} => g(),\n",
    ),
    "a.py": ("if x == 0:\n    a()\n", "else:\n    d()\n", "elif {}:\n    g()\n"),
}


def merged(path, *versions):
    """Merge alternatives of a construct, written one after another with slashes between.

    Returns:
        The merged ones; the reason in a list if they stay open.
    """
    if path == "a.rs":
        need_package("tree_sitter")
    head, tail, line = FRAMES[path]
    texts = (
        head + "".join(line.replace("{}", each) for each in text.split("/") if each) + tail
        for text in versions
    )
    base, *sides = (Snapshot.from_files({path: text.encode()}) for text in texts)
    outcome = merge(base, *(Changes.between(base, side) for side in sides), strategy="structured")
    if outcome.conflicts:
        return [row.reason for row in outcome.ledger]
    text = base.overlay(outcome.changes).get(path).data.decode()
    before, after = line.split("{}")
    inner = text.removeprefix(head).removesuffix(tail)
    return "/".join(part.removesuffix(after) for part in inner.split(before)[1:])


@pytest.mark.parametrize(
    ("path", "ours", "theirs", "expected"),
    [
        ("a.rs", "2..=9", "2..=9/20", "2..=9/20"),
        ("a.rs", "5 if y", "5", "5 if y/5"),
        ("a.py", "x == 3", "x == 5", "x == 3/x == 5"),
    ],
)
def test_the_special_alternative_is_put_before_the_general_one(path, ours, theirs, expected):
    """Others stay in the order of the sides."""
    assert merged(path, "", ours, theirs) == expected


@pytest.mark.parametrize(
    ("path", "ours", "theirs"),
    [
        ("a.rs", "2..=9", "5..=12"),
        ("a.rs", "2..=9", "3"),
        ("a.py", "x > 3", "x > 5"),
        ("a.rs", "5 if y", "5 if z"),
        ("a.py", "x > 3", "y > 5"),
        ("a.rs", "2..=9/20", "3/15..=30"),
    ],
)
def test_alternatives_without_a_right_order_are_refused(path, ours, theirs):
    """Either order would change what one side's is taken for."""
    for sides in ((ours, theirs), (theirs, ours)):
        (reason,) = merged(path, "", *sides)
        assert "order matters" in reason or "never be reached" in reason

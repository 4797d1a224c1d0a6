"""Data that is unusual, and edits that a merge by key refuses."""

import pytest
from needs import need_package

import cooperbench_eval as ce

for each in ("json", "toml", "yaml"):
    need_package(f"tree_sitter_{each}")


def merge(path, base, ours, theirs, strategy="structured"):
    """Merge three versions of a file."""
    tree = ce.Snapshot.from_files({path: base.encode()})
    sides = (ce.Changes({path: ce.Entry(text.encode())}) for text in (ours, theirs))
    return ce.merge(tree, *sides, strategy=strategy)


DOCUMENT = "kind: A\nmetadata: {name: a}\n"
CLOSED = {
    "commas after the last item": (
        "tsconfig.json",
        '{\n  "a": 1, // a\n}\n',
        '{\n  "a": 1, // a\n  "b": 2, // b\n}\n',
        '{\n  "a": 1, // a\n  "c": [3,], // c\n}\n',
        '{\n  "a": 1, // a\n  "b": 2, // b\n  "c": [3,], // c\n}\n',
    ),
    "numbers that JSON lacks": (
        "a.json",
        '{\n  "a": "NaN,}"\n}\n',
        '{\n  "a": "NaN,}",\n  "b": NaN\n}\n',
        '{\n  "a": "NaN,}",\n  "c": -Infinity\n}\n',
        '{\n  "a": "NaN,}",\n  "b": NaN,\n  "c": -Infinity\n}\n',
    ),
    "a byte order mark": (
        "a.json",
        '\ufeff{\n  "a": 1\n}\n',
        '\ufeff{\n  "a": 1,\n  "b": 2\n}\n',
        '\ufeff{\n  "a": 1,\n  "c": 3\n}\n',
        '\ufeff{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n',
    ),
    "an empty value": ("a.yml", "a:\n", "a:\n  x: 1\n", "a:\n  y: 1\n", "a:\n  x: 1\n  y: 1\n"),
    "new documents": (
        "a.yml",
        DOCUMENT,
        DOCUMENT + "---\nkind: B\n",
        DOCUMENT + "---\nkind: C\n",
        DOCUMENT + "---\nkind: B\n---\nkind: C\n",
    ),
    "a mapping that both sides replace alike": (
        "a.json",
        '{\n  "a": {\n    "x": 1\n  }\n}\n',
        '{\n  "a": {\n    "y": 2\n  }\n}\n',
        '{\n  "a": {\n    "y": 2,\n    "z": 3\n  }\n}\n',
        '{\n  "a": {\n    "y": 2,\n    "z": 3\n  }\n}\n',
    ),
    "checksums that both sides replace": (
        "go.sum",
        "a v1 h1:x=\n",
        "b v1 h1:y=\n",
        "c v1 h1:z=\n",
        "b v1 h1:y=\nc v1 h1:z=\n",
    ),
    "a changed line ending": (
        "a.yml",
        "a: 1\n",
        "a: 1\r\nb: 2\r\n",
        "a: 1\nc: 3\n",
        "a: 1\r\nb: 2\r\nc: 3\r\n",
    ),
}


@pytest.mark.parametrize("texts", CLOSED.values(), ids=CLOSED)
@pytest.mark.parametrize("strategy", ["structured", "cascade"])
def test_what_many_programs_read_is_merged(texts, strategy):
    """It is merged like any other data, and written as it was."""
    path, *versions, right = texts

    outcome = merge(path, *versions, strategy)

    assert outcome.status == "resolved"
    assert outcome.changes[path].data.decode() == right


REFUSED = {
    "two new keys for one value": (
        "a.json",
        '{\n  "x": 1,\n  "q": 2\n}\n',
        '{\n  "y": 1,\n  "q": 2\n}\n',
        '{\n  "z": 1,\n  "q": 2\n}\n',
    ),
    "a tag and its value": ("a.yml", "a: !b c\n", "a: !x c\n", "a: !b y\n"),
    "a word that is true": ("a.yml", "a: 1\n", "a: 1\non: 2\n", "a: 1\ntrue: 3\n"),
    "a mapping of one key": (
        "a.yml",
        "n:\n- a: 1\n",
        "n:\n- a: 1\n- b: 1\n",
        "n:\n- a: 1\n- b: 2\n",
    ),
    "an item at two places": (
        "a.yml",
        "x:\n- a\n- m\n",
        "x:\n- a\n- b\n- m\n- p\n",
        "x:\n- a\n- m\n- b\n- q\n",
    ),
    "values of an option": ("a.yml", "x: [a]\n", "x: [a, --p, 8]\n", "x: [a, --p, 9]\n"),
    "an option with two values": (
        "a.yml",
        "x:\n- a\n",
        "x:\n- a\n- --p=8\n",
        "x:\n- a\n- --p=9\n",
    ),
    "arguments": (
        "a.json",
        '{"a": ["--p", "8"]}\n',
        '{"a": ["--v", "--p", "8"]}\n',
        '{"a": ["8"]}\n',
    ),
    "spellings of a package": (
        "a.toml",
        'd = ["x>=1"]\n',
        'd = ["x>=1", "a-b>=1"]\n',
        'd = ["x>=1", "A_b>=2"]\n',
    ),
    "a package without a version": (
        "a.toml",
        'd = ["x"]\n',
        'd = ["x", "b"]\n',
        'd = ["x", "b>=1"]\n',
    ),
    "the index": ("requirements.txt", "a==1\n", "a==1\n-i x\n", "a==1\n-i y\n"),
    "the marker of a requirement": (
        "requirements.txt",
        "a==1; python_version < '3.11'\n",
        "a==1; python_version < '3.12'\n",
        "a==1; python_version < '3.10'\n",
    ),
    "a key of a table": ("a.toml", "x = 1\n", "x = 1\na.b = 1\n", "x = 1\n[a]\nc = 2\n"),
    "documents of one name": (
        "a.yml",
        "a: 1\n",
        "a: 1\n---\n" + DOCUMENT + "x: 1\n",
        "a: 1\n---\n" + DOCUMENT + "x: 2\n",
    ),
    "a value and a mapping": ("a.yml", "a: 1\nb: 2\n", "a:\n  x: 1\nb: 2\n", "a: 3\nb: 2\n"),
    "a mapping that both sides replace": (
        "a.json",
        '{"a": {"x": 1, "y": 1}}\n',
        '{"a": {"one": [{"x": 1}]}}\n',
        '{"a": {"any": [{"y": 1}]}}\n',
    ),
    "an item between items that the other side replaces": (
        "a.yml",
        "x:\n- a\n- b\n- c\n- d\n",
        "x:\n- a\n- n\n- d\n",
        "x:\n- a\n- b\n- m\n- c\n- d\n",
    ),
    "one notebook cell": ("a.ipynb", '{"cells": 1}\n', '{"cells": 2}\n', '{"cells": 3}\n'),
}


@pytest.mark.parametrize("texts", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("strategy", ["structured", "tokens", "cascade"])
def test_no_strategy_combines_what_a_merge_by_key_refuses(texts, strategy):
    """Two versions of one entry, or edits that mean something together."""
    assert merge(*texts, strategy).status == "conflicts"


def test_many_conflicts_are_not_merged_one_by_one():
    """Each would read the file again."""
    base, ours, theirs = (
        "".join(f"k{i}: {new if i % 9 == 0 else i}\n" for i in range(6000)) for new in (1, 2, 3)
    )

    outcome = merge("a.yml", base, ours, theirs)

    assert outcome.status == "conflicts"
    reasons = [row.reason for row in outcome.ledger]
    assert 1 < reasons.index("the file has too many conflicts to merge them one at a time") < 20


def test_documents_of_one_name_are_named_in_the_reason():
    """They are two versions of one."""
    (row,) = merge(*REFUSED["documents of one name"]).ledger

    problem = "both sides insert their own version of '--- …'"
    assert row.reason.startswith(f"{problem} (ours, line 5: `x: 1`")

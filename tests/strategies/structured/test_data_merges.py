"""Data files are merged key by key and item by item."""

import json
import re
import time
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from needs import need_package

import cooperbench_eval as ce

for each in ("json", "toml", "yaml"):
    need_package(f"tree_sitter_{each}")


def merge(path, base, ours, theirs, strategy="structured"):
    """Merge three versions of a file; `None` is one that does not exist."""
    texts = [
        each if each is None or isinstance(each, bytes) else each.encode()
        for each in (base, ours, theirs)
    ]
    tree = ce.Snapshot.from_files({} if texts[0] is None else {path: texts[0]})
    sides = (ce.Changes({path: ce.Entry(text)}) for text in texts[1:])
    return ce.merge(tree, *sides, strategy=strategy)


def merged(path, *texts):
    """Return the merged file, or the reason why it is open."""
    outcome = merge(path, *texts)
    assert outcome.status != "clean"  # otherwise the strategy was not asked
    if outcome.conflicts:
        return outcome.ledger[0].reason
    return outcome.changes[path].data.decode()


def edited(text, *edits):
    """Return a text with some words replaced by others, given in turn."""
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    return text


STEPS = """\
on: push
jobs:
  test:
    # the steps
    steps:
      - uses: actions/checkout@v3 # pinned
      - name: Test
        run: |
          make
          make lint

          make test
    env: {A: 1}
"""
PACKAGE = '{\n  "name": "a",\n  "dependencies": {\n    "m": "1",\n    "n": "2"\n  }\n}\n'
PROJECT = '[project]\nname = "a"\ndependencies = [\n  "m>=1", # why\n  "n",\n]\n\n[tool.x]\na = 1\n'

COMMENTED = "# the file\n\n# about a\na: 1\n\n# about b\nb: 2\n\n# about c\nc: 3\n"

MERGES = {
    "the first entries are removed with their comments": (
        "a.yml",
        COMMENTED,
        ("# about a\na: 1\n\n", ""),
        ("# about b\nb: 2\n\n", ""),
        "# the file\n\n# about c\nc: 3\n",
    ),
    "no empty line begins the file after its first entries are removed": (
        "a.yml",
        COMMENTED.removeprefix("# the file\n\n"),
        ("# about a\na: 1\n\n", ""),
        ("# about b\nb: 2\n\n", ""),
        "# about c\nc: 3\n",
    ),
    "a new entry before the first one has that one's comment after it": (
        "a.yml",
        COMMENTED,
        ("# about a", "# about x\nx: 0\n\n# about a"),
        ("# about a\na: 1\n\n", ""),
        COMMENTED.replace("# about a\na: 1", "# about x\nx: 0"),
    ),
    "a comment of what both sides put below it": (
        "a.toml",
        "[t]\n# sorted\nm = 1\n",
        ("m =", "k = 1\nm ="),
        ("m =", "l = 1\nm ="),
        "[t]\n# sorted\nk = 1\nl = 1\nm = 1\n",
    ),
    "adjacent keys of YAML": (
        "a.yml",
        "a: 1\nb: 2\n",
        ("a: 1", "a: 3"),
        ("b: 2", "b: 4 # four"),
        "a: 3\nb: 4 # four\n",
    ),
    "two new keys of YAML": (
        "a.yml",
        "a:\n  b: 1\n",
        ("1\n", "1\n  c: 2\n"),
        ("1\n", "1\n  d: 3\n"),
        "a:\n  b: 1\n  c: 2\n  d: 3\n",
    ),
    "a key in a step and the step's version": (
        "a.yml",
        STEPS,
        ("@v3 # pinned\n", "@v4 # pinned\n"),
        ("# pinned\n", "# pinned\n        with:\n          fetch-depth: 0\n"),
        STEPS.replace("@v3 # pinned\n", "@v4 # pinned\n        with:\n          fetch-depth: 0\n"),
    ),
    "a key before the first one of a step": (
        "a.yml",
        "- a: 1\n",
        ("- a", "- b: 2\n  a"),
        ("- a", "- c: 3\n  a"),
        "- b: 2\n  c: 3\n  a: 1\n",
    ),
    "lines of a script": (
        "a.yml",
        STEPS,
        ("  make\n", "  make all\n", "name: Test", "name: Check"),
        ("make test", "make check", "@v3", "@v4"),
        STEPS.replace("  make\n", "  make all\n")
        .replace("name: Test", "name: Check")
        .replace("make test", "make check")
        .replace("@v3", "@v4"),
    ),
    "an edit in a mapping that the other side indents": (
        "a.yml",
        "a:\n    b:\n        c: 1\n    d: 2\n",
        ("    ", "  "),
        ("1", "3"),
        "a:\n  b:\n    c: 3\n  d: 2\n",
    ),
    "a moved key": (
        "a.yml",
        "a: 1\nb: 2\nc: 3\n",
        ("a: 1\nb: 2\nc: 3\n", "b: 2\nc: 3\na: 1\n"),
        ("a: 1", "a: 4"),
        "b: 2\nc: 3\na: 4\n",
    ),
    "items of a YAML list": (
        "a.yml",
        "x: [1, 2]\n",
        ("[1", "[0, 1"),
        ("2]", "2, 3]"),
        "x: [0, 1, 2, 3]\n",
    ),
    "the second document": (
        "a.yml",
        "a: 1\n---\nb: 2\nc: 1\n",
        ("a: 1", "a: 3", "c: 1", "c: 3"),
        ("b: 2", "b: 4"),
        "a: 3\n---\nb: 4\nc: 3\n",
    ),
    "dependencies of JSON": (
        "package.json",
        PACKAGE,
        ('"2"\n', '"2",\n    "z": "9"\n'),
        ('"1",\n', '"5",\n'),
        PACKAGE.replace('"1"', '"5"').replace('"2"\n', '"2",\n    "z": "9"\n'),
    ),
    "two last keys of JSON in alphabetical order": (
        "package.json",
        PACKAGE,
        ('"2"\n', '"2",\n    "z": "9"\n'),
        ('"2"\n', '"2",\n    "o": "8"\n'),
        PACKAGE.replace('"2"\n', '"2",\n    "o": "8",\n    "z": "9"\n'),
    ),
    "JSON on one line": ("a.json", '{"a": 1, "b": 2}', ("1", "3"), (', "b": 2', ""), '{"a": 3}'),
    "JSON with comments": (
        "tsconfig.json",
        '{\n  // c\n  "a": 1, // d\n  "b": 2\n}\n',
        ("1,", "3,"),
        ("2", "4"),
        '{\n  // c\n  "a": 3, // d\n  "b": 4\n}\n',
    ),
    "dependencies of TOML": (
        "pyproject.toml",
        PROJECT,
        ('"n",\n', '"n>2",\n  "p>=2",\n'),
        ('m>=1", # why', 'm>=3", # new'),
        PROJECT.replace('m>=1", # why', 'm>=3", # new').replace('"n",\n', '"n>2",\n  "p>=2",\n'),
    ),
    "a key and a table": (
        "pyproject.toml",
        "[a]\nx = 1\n[b]\n",
        ("1\n", "1\ny = 2\n"),
        ("1\n", "1\n[c]\n"),
        "[a]\nx = 1\ny = 2\n[c]\n[b]\n",
    ),
    "a key of the file and its first table": (
        "a.toml",
        "a = 1\n[n]\nx = 1\n",
        ("a = 1\n", "a = 1\nz = 2\n"),
        ("a = 1\n", "a = 1\n[m]\ny = 3\n"),
        "a = 1\nz = 2\n[m]\ny = 3\n[n]\nx = 1\n",
    ),
    "an entry whose neighbours are gone": (
        "a.yml",
        "a: 1\nb: 2\nc: 3\n",
        ("b: 2\n", "b: 2\nn: 4\n"),
        ("a: 1\nb: 2\n", "y: 5\n"),
        "n: 4\ny: 5\nc: 3\n",
    ),
    "a table that moved": (
        "a.toml",
        "[a]\nx = 1\n\n[b]\ny = 1\n",
        ("[a]\nx = 1\n\n[b]\ny = 1\n", "[b]\ny = 1\n\n[a]\nx = 1\n"),
        ("x = 1", "x = 2"),
        "[b]\ny = 1\n\n[a]\nx = 2\n",
    ),
    "requirements": (
        "requirements.txt",
        "a==1\nc==1\n",
        ("a==1\n", "a==2\nb\n"),
        ("c==1", "c==2"),
        "a==2\nb\nc==2\n",
    ),
    "checksums": (
        "go.sum",
        "a v1 h1:x=\nc v1 h1:x=\n",
        ("c v1", "b v1 h1:y=\nc v1"),
        ("a v1 h1:x=\nc v1", "b v2 h1:z=\nc v1"),  # the removed one is kept
        "a v1 h1:x=\nb v1 h1:y=\nb v2 h1:z=\nc v1 h1:x=\n",
    ),
}


@pytest.mark.parametrize(
    ("path", "base", "ours", "theirs", "expected"), MERGES.values(), ids=MERGES
)
def test_different_edits_of_data_are_combined(path, base, ours, theirs, expected):
    """Both orders of the sides give valid data; comments and layout stay."""
    sides = [edited(base, *each) for each in (ours, theirs)]

    assert merged(path, base, *sides) == expected
    closed = merge(path, base, *sides, strategy="cascade")
    assert closed.changes[path].data.decode() == expected
    swapped = merged(path, base, *sides[::-1])
    assert sorted(re.findall(r"\w+", swapped)) == sorted(re.findall(r"\w+", expected))
    assert not path.endswith("toml") or tomllib.loads(swapped) == tomllib.loads(expected)


CONFLICTS = {
    "one scalar": (
        "a.yml",
        "a: {b: x}\n",
        "a: {b: y}\n",
        "a: {b: z}\n",
        "at 'a.b', both sides changed 'a: {b: x}'",
    ),
    "one new key with two values": ("a.json", "{}", '{"a": 1}', '{"a": 2}', "both sides add 'a'"),
    "a key that one side removed": (
        "a.toml",
        "a = 1\nb = 1\n",
        "b = 1\n",
        "a = 2\nb = 1\n",
        "at 'a', ours removes or moves 'a = 1', which theirs changes",
    ),
    "one item": ("a.yml", "- x\n", "- y\n", "- z\n", "both sides changed '- x'"),
    "one new item with two comments": (
        "a.yml",
        "a:\n- x\nb: 1\n",
        "a:\n- x\n- y # 1\nb: 1\n",
        "a:\n- x\n- y # 2\nb: 1\n",
        "both sides insert their own version of '- y'",
    ),
    "one new item in two versions": (
        "a.toml",
        "a = []\n",
        'a = ["m>=1"]\n',
        'a = ["m>=2"]\n',
        "m>=2",
    ),
    "neighbouring numbers": ("a.json", "[1, 2]", "[3, 2]", "[1, 4]", "both sides changed"),
    "two orders": (
        "a.yml",
        "a: 1\nb: 1\nc: 1\n",
        "b: 1\na: 1\nc: 1\n",
        "a: 1\nc: 1\nb: 1\n",
        "orders",
    ),
    "a key twice in the base": (
        "a.yml",
        "a: 1\na: 1\nb: 1\n",
        "a: 1\na: 1\nb: 2\n",
        "a: 1\na: 1\nb: 3\n",
        "two entries with",
    ),
    "one requirement": (
        "requirements.txt",
        "a==1\n",
        "a==2\n",
        "a==3\n",
        "both sides changed 'a==1'",
    ),
    "one checksum": ("go.sum", "", "a v1 h1:x=\n", "a v1 h1:y=\n", "both sides add 'a v1'"),
}


@pytest.mark.parametrize("case", CONFLICTS.values(), ids=CONFLICTS)
@pytest.mark.parametrize("strategy", ["structured", "cascade"])
def test_edits_of_one_value_stay_open(case, strategy):
    *texts, words = case

    outcome = merge(*texts, strategy)

    assert outcome.status == "conflicts"
    assert strategy == "cascade" or words in outcome.ledger[0].reason


def test_neighbouring_lines_of_a_script_are_not_combined():
    reason = merged("a.yml", "a: |\n  b\n  c\n", "a: |\n  d\n  c\n", "a: |\n  b\n  e\n")

    problem = "at 'a', both sides changed the part that begins with 'b …'"
    assert reason == f"{problem} (ours, line 2: `d`; theirs, line 3: `e`)"
    reason = merged("a.yml", "a: |\n  b\n", "a: |\n  b\n  c\n", "a: |\n  b\n  d\n")
    assert (
        reason == "at 'a', both sides insert at one place (ours, line 3: `c`; theirs, line 3: `d`)"
    )


def test_json_that_both_sides_add_is_merged_by_key():
    assert merged(
        "a.json", None, '{\n  "a": 1,\n  "b": {}\n}\n', '{\n  "a": 1,\n  "c": 2\n}\n'
    ) == ('{\n  "a": 1,\n  "b": {},\n  "c": 2\n}\n')


ALIASED = "x: &x {a: 1}\ny: 1\nz: 1\n"


def test_an_alias_does_not_get_what_the_other_side_changes():
    """No later strategy gets the conflict: any text would have the same problem."""
    sides = "x: &x {a: 2}\ny: 2\nz: 1\n", "x: &x {a: 1}\ny: 3\nz: *x\n"

    outcome = merge("a.yml", ALIASED, *sides, "cascade")

    reason = "one side changes the value of '&x', the other adds an alias of it"
    assert outcome.ledger[0].reason == reason
    assert outcome.ledger[0].is_binding


LOCK = '[[package]]\nname = "a"\nversion = "%s"\n'


@pytest.mark.parametrize("strategy", ["tokens", "structured", "cascade"])
@pytest.mark.parametrize("padding", [0, 5_000_000])
def test_a_lock_file_is_not_merged(strategy, padding):
    """It is generated from its manifest, however large it is."""
    texts = [LOCK % version + "#" * padding + "\n" for version in ("1.0", "1.1", "2.0")]

    outcome = merge("a/uv.lock", *texts, strategy)

    reason = "uv.lock is generated from pyproject.toml: regenerate it instead"
    assert reason in outcome.ledger[0].reason or strategy == "tokens"
    assert outcome.conflicts[0].ours


def test_a_comment_that_both_sides_add_to_their_own_entries_is_not_dropped():
    sides = ("# new\nk: 1\nm: 1\n", "# new\nl: 1\nm: 1\n")

    assert "both sides insert '# new'" in merged("a.yml", "m: 1\n", *sides)


CELL = {"id": "a", "cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": ["1"]}


def notebook(source, **changes):
    """Return a notebook with one cell."""
    cell = CELL | {"source": source} | changes
    return json.dumps({"cells": [cell], "nbformat": 4}, indent=1) + "\n"


SOURCE = ["a = 1\n", "b = 1\n", "c = 1\n"]


NOT_RUN = {"execution_count": None, "outputs": []}


def test_lines_of_a_cell_that_was_not_run_are_merged():
    """One side may have cleared what the cell printed."""
    ours = notebook(["a = 2\n", *SOURCE[1:]], metadata={"x": 1}, cell_type="raw")
    theirs = notebook([*SOURCE[:2], "c = 2\n"], **NOT_RUN)

    expected = notebook(
        ["a = 2\n", "b = 1\n", "c = 2\n"], metadata={"x": 1}, cell_type="raw", **NOT_RUN
    )
    assert merged("a.ipynb", notebook(SOURCE), ours, theirs) == expected


@pytest.mark.parametrize("strategy", ["tokens", "structured", "cascade"])
@pytest.mark.parametrize("run", [{}, {"execution_count": 2, "outputs": ["2"]}])
def test_outputs_do_not_stand_below_a_source_that_did_not_print_them(strategy, run):
    """Neither with the lines of both sides nor below the other side's lines."""
    ours = notebook(["a = 2\n", *SOURCE[1:]], metadata={"x": 1}, cell_type="raw")
    theirs = notebook(SOURCE if run else [SOURCE[0], "b = 2\n", SOURCE[2]], **run)

    outcome = merge("a.ipynb", notebook(SOURCE), ours, theirs, strategy)

    assert outcome.status == "conflicts"
    assert strategy != "tokens" or "outputs of another source" in outcome.ledger[0].reason


def test_a_source_stays_with_its_outputs():
    """The side that ran a cell changed its source, the other only its metadata."""
    run = {"execution_count": 2, "outputs": ["2"]}
    ours = notebook(["a = 2\n", *SOURCE[1:]], **run)
    theirs = notebook(SOURCE, metadata={"x": 1})

    expected = notebook(["a = 2\n", *SOURCE[1:]], metadata={"x": 1}, **run)
    assert merged("a.ipynb", notebook(SOURCE), ours, theirs) == expected


@pytest.mark.parametrize("strategy", ["tokens", "structured", "cascade"])
def test_outputs_of_two_runs_are_not_combined(strategy):
    """Neither is the number of a run combined with what another run printed."""
    ours = notebook(SOURCE, execution_count=2, outputs=["1", "2"])
    theirs = notebook(SOURCE, execution_count=3, outputs=["0", "1"])

    assert merge("a.ipynb", notebook(SOURCE), ours, theirs, strategy).status == "conflicts"


LAUGHS = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 40))
BAD = {
    "NaN": ("a.json", '{"a": NaN, "b": %s}\n', "at 'b', both sides changed"),
    "comments in JSON": ("a.json", '// c\n{"b": %s}\n', "does not parse"),
    "a byte order mark": ("a.json", '\ufeff{"b": %s}\n', "at 'b', both sides changed"),
    "an old notebook": (
        "a.ipynb",
        '{"nbformat": 3, "worksheets": [{"cells": [{"input": ["%s"]}]}]}',
        "both",
    ),
    "a worksheet that is not a list": ("a.ipynb", '{"worksheets": 1, "cells": "%s"}', "both"),
    "billion laughs": ("a.yml", "a0: &a0 [x]\n" + LAUGHS + "b: %s\n", "both sides changed 'b: 1'"),
    "deep nesting": ("a.json", "[" * 5000 + "%s" + "]" * 5000, ""),
    "deep mappings": (
        "a.yml",
        "".join(" " * i + "a:\n" for i in range(400)) + " " * 400 + "%s\n",
        "deep",
    ),
    "many keys": (
        "a.json",
        "{" + "".join(f'"k{i}": {i},\n' for i in range(20_000)) + '"b": %s}\n',
        "",
    ),
    "5 MB": ("a.yml", "x: 1\n" * 1_000_000 + "b: %s\n", "bytes"),
    "Latin-1": ("a.toml", b'a = "\xe9"\nb = %s\n', "does not parse"),
}


@pytest.mark.parametrize(("path", "form", "words"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("strategy", ["structured", "cascade"])
def test_bad_data_stays_open_in_bounded_time(path, form, words, strategy):
    """Nothing of either side is lost."""
    texts = [
        form % number if isinstance(form, str) else form % b"%d" % number for number in (1, 2, 3)
    ]
    start = time.process_time()

    outcome = merge(path, *texts, strategy)

    assert time.process_time() - start < 20
    assert outcome.status == "conflicts"
    assert strategy == "cascade" or words in outcome.ledger[0].reason
    (conflict,) = outcome.conflicts
    assert b"2" in conflict.ours
    assert b"3" in conflict.theirs


@pytest.mark.parametrize("path", ["a.json", "a.yml", "a.toml"])
def test_crlf_stays(path):
    form = {
        "a.json": '{\n "a": %s,\n "b": %s\n}\n',
        "a.yml": "a: %s\nb: %s\n",
        "a.toml": "a = %s\nb = %s\n",
    }
    texts = [(form[path] % each).replace("\n", "\r\n") for each in ((1, 1), (2, 1), (1, 2), (2, 2))]

    assert merged(path, *texts[:3]) == texts[3]


KEYS = st.sampled_from("abcdef")
TREES = st.recursive(
    st.integers(0, 3), lambda inner: st.dictionaries(KEYS, inner, max_size=4), max_leaves=8
).filter(lambda tree: isinstance(tree, dict))


def expected(base, ours, theirs):
    """Merge values by key; raise `ValueError` if both sides changed one differently."""
    if ours in (base, theirs):
        return theirs
    if base == theirs:
        return ours
    if (
        not isinstance(ours, dict)
        or not isinstance(theirs, dict)
        or not isinstance(base, dict | None)
    ):
        raise ValueError  # noqa: TRY004 - the text is invalid, not its type
    found = {}
    for key in {**ours, **theirs}:
        value = expected(*(side.get(key) for side in (base or {}, ours, theirs)))
        if value is not None:
            found[key] = value
    return found


@given(st.tuples(TREES, TREES, TREES), st.sampled_from([None, 1]))
def test_a_merge_of_json_is_the_merge_of_its_values(versions, indent):
    texts = [json.dumps(version, indent=indent) for version in versions]
    outcome = merge("a.json", *texts)
    try:
        value = expected(*versions)
    except ValueError:
        assert outcome.status == "conflicts"
        return

    if outcome.status != "conflicts":
        text = outcome.changes["a.json"].data if "a.json" in outcome.changes else texts[0]
        assert json.loads(text) == value

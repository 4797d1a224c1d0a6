"""The strategy that merges conflicts by their tokens."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from generators import three_way_tokens
from hypothesis import assume, given, settings

import cooperbench_eval as ce
from cooperbench_eval.languages.words import count_parts
from cooperbench_eval.strategies.tokens import TokensStrategy

fewer = settings(max_examples=settings().max_examples // 2)  # slow cases


def merge_file(base, ours, theirs, *, strategy="tokens", path="f"):
    """Merge one file."""
    tree = ce.Snapshot.from_files({path: base})
    sides = (ce.Changes({path: ce.Entry(text)}) for text in (ours, theirs))
    return ce.merge(tree, *sides, strategy=strategy)


def text_of(outcome):
    """Return the merged contents of the file."""
    return outcome.changes["f"].data


# --- what it makes of a file -----------------------------------------------------------------


def test_edits_of_one_line_are_combined():
    """The row names the rule, and says that nothing of either side is lost."""
    outcome = merge_file(b"f(a, b)\n", b"g(a, b)\n", b"f(a, c)\n")

    assert (outcome.status, text_of(outcome)) == ("resolved", b"g(a, c)\n")
    (row,) = outcome.ledger
    assert (row.path, row.line, row.conflicts, row.shape) == ("f", 1, 1, "edit/edit")
    assert (row.rule, row.reason, row.strategy) == ("tokens", "", "")
    assert (row.ours_kept, row.theirs_kept) == (1.0, 1.0)


def test_a_true_overlap_stays_open_with_its_reason():
    """Git's markers stay, and no share is measured."""
    outcome = merge_file(b"a = 1\n", b"a = 2\n", b"a = 3\n")

    assert outcome.status == "conflicts"
    assert text_of(outcome) == text_of(
        merge_file(b"a = 1\n", b"a = 2\n", b"a = 3\n", strategy="naive")
    )
    (row,) = outcome.ledger
    assert (row.is_open, row.rule) == (True, "")
    assert row.reason == "both sides changed '1' (ours: `2`; theirs: `3`)"
    assert (row.ours_kept, row.theirs_kept) == (None, None)


@pytest.mark.parametrize(
    ("sides", "shape"),
    [
        ((b"a\n", b"", b"b\n"), "delete/edit"),
        ((b"a\n", b"b\n", b""), "edit/delete"),
        ((b"", b"a\n", b"b\n"), "insert/insert"),
    ],
)
def test_the_row_says_what_each_side_did(sides, shape):
    """The actions are insert, edit and delete."""
    gap = b"".join(b"%d\n" % i for i in range(9))

    outcome = merge_file(*(gap + text + gap for text in sides))

    assert [row.shape for row in outcome.ledger] == [shape]


def test_a_last_line_without_newline_stays_open():
    """It is unknown whether the next text belongs to that line."""
    outcome = merge_file(b"f(a)", b"f(a, b)", b"f(a, c)")

    assert [row.reason for row in outcome.ledger] == ["the last line of a version has no newline"]


def test_a_block_of_too_many_tokens_stays_open():
    """The bound is an option of the strategy."""
    texts = b"f(a, b)\n", b"g(a, b)\n", b"f(a, c)\n"

    assert merge_file(*texts, strategy=TokensStrategy(max_tokens=7)).status == "resolved"
    outcome = merge_file(*texts, strategy=TokensStrategy(max_tokens=3))

    assert [row.reason for row in outcome.ledger] == ["there are more than 3 tokens"]


def test_the_bound_must_be_positive():
    """A bound below one token is rejected."""
    with pytest.raises(ValueError, match="max_tokens"):
        TokensStrategy(max_tokens=0)


def test_by_content_the_sides_may_be_swapped():
    """The insertion that sorts first comes first."""
    sides = b"f(a, z=1)\n", b"f(a, b=2)\n"
    strategy = TokensStrategy(by_content=True)

    one = merge_file(b"f(a)\n", *sides, strategy=strategy)
    other = merge_file(b"f(a)\n", *reversed(sides), strategy=strategy)

    assert text_of(one) == text_of(other) == b"f(a, b=2, z=1)\n"


# --- laws ----------------------------------------------------------------------------------------


@fewer
@given(three_way_tokens())
def test_no_token_that_one_side_added_is_lost_silently(texts):
    """Except in open conflicts, all of them are kept, apart from separators."""
    base, ours, theirs = map(count_parts, texts)
    assume(base not in (ours, theirs))

    outcome = merge_file(*texts)

    if outcome.status != "resolved":
        assert outcome.status == "clean" or any(row.is_open for row in outcome.ledger)
        return
    there = count_parts(text_of(outcome))
    for one, other in ((ours, theirs), (theirs, ours)):
        for token in (one - base).keys() - {b",", b";"}:
            if other[token] == base[token]:
                assert there[token] >= one[token]


@fewer
@given(three_way_tokens())
def test_the_ledger_counts_every_conflict(texts):
    """The open rows match the open conflicts."""
    base, ours, theirs = map(count_parts, texts)
    assume(base not in (ours, theirs))

    outcome = merge_file(*texts)

    assert sum(row.conflicts for row in outcome.ledger) == outcome.conflicts_met
    left = sum(row.conflicts for row in outcome.ledger if row.is_open)
    assert left == len(outcome.conflicts)


PROGRAM = """
import sys
import cooperbench_eval as ce
sides = [
    (b"f(a, b)\\n", b"g(a, b, c=1)\\n", b"f(a, b, d=2, e=3)\\n"),
    (b"from m import a\\n", b"from m import a, z, y, x\\n", b"from m import a, x, w\\n"),
    (b"a = 1\\n", b"a = 2\\nb\\n", b"a = 3\\nc\\n"),
    (b"import os, re\\n", b"import os\\nos.x\\n", b"import re\\nre.x\\n"),
]
for strategy in ("tokens", "cascade"):
    for base, ours, theirs in sides:
        tree = ce.Snapshot.from_files({"f.py": base, "g": base})
        both = (ce.Changes({p: ce.Entry(t) for p in ("f.py", "g")}) for t in (ours, theirs))
        outcome = ce.merge(tree, *both, strategy=strategy)
        print([(p, e.data) for p, e in outcome.changes.items()], outcome.ledger)
"""


def test_the_result_does_not_depend_on_the_process():
    """The same input gives the same bytes and rows for any hash seed."""
    folder = Path(ce.__file__).parent.parent

    printed = {
        subprocess.run(
            (sys.executable, "-c", PROGRAM),
            check=True,
            capture_output=True,
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    }

    assert len(printed) == 1
    assert b"g(a, b, c=1, d=2, e=3)" in printed.pop()


def test_the_number_of_checks_of_a_file_is_limited(monkeypatch):
    """Thousands of faulty blocks do not cause thousands of checks."""
    judged = []
    monkeypatch.setattr(
        "cooperbench_eval.strategies.judge.find_fault",
        lambda *_, **__: judged.append(1) or "a fault",
    )
    text = b"".join(b"a = %d\nk%d\nl\nm\nn\no\n" % (i, i) for i in range(300))
    base = ce.Snapshot.from_files({"f.txt": text})
    sides = [
        ce.Changes({"f.txt": ce.Entry(text.replace(b"a = ", new))}) for new in (b"b = ", b"a = 1")
    ]

    outcome = ce.merge(base, *sides, strategy="tokens")

    assert len(outcome.conflicts) == 300
    assert 1 <= len(judged) <= 101

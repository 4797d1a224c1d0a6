"""The strategy that merges conflicts by the structure of the source."""

import ast
import os
import pickle
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from generators import three_way_programs, three_way_texts
from hypothesis import event, given, settings

import cooperbench_eval as ce
from cooperbench_eval.languages.words import count_parts
from cooperbench_eval.strategies.blocks import Proposal, Resolution, resolve_files
from cooperbench_eval.strategies.structured.strategy import StructuredStrategy
from cooperbench_eval.testing import STRATEGY_LAWS
from cooperbench_eval.testing.cases import MergeCase, StrategyTrial
from cooperbench_eval.testing.laws import BrokenError

fewer = settings(max_examples=settings().max_examples // 2)  # slow cases

BY_CONTENT = StructuredStrategy(by_content=True)
SETTLED = StructuredStrategy(resettles=False)


def merge_file(base, ours, theirs, *, strategy="structured", path="f.py"):
    """Merge one file."""
    tree = ce.Snapshot.from_files({path: base})
    sides = (ce.Changes({path: ce.Entry(text)}) for text in (ours, theirs))
    return ce.merge(tree, *sides, strategy=strategy)


def text_of(outcome, path="f.py"):
    """Return the merged contents of the file."""
    return outcome.changes[path].data


# --- what it makes of a file -----------------------------------------------------------------


@pytest.mark.parametrize("ends", ["", "\n"])
def test_a_last_newline_is_merged_as_well(ends):
    """It is in the merged file if a side added it."""
    texts = (b"f(a)", b"f(a, b=1)" + ends.encode(), b"f(a, c=2)")

    assert text_of(merge_file(*texts)) == b"f(a, b=1, c=2)" + ends.encode()


def test_constructs_are_combined_and_the_ledger_says_so():
    """The row names the rule, and says that nothing of either side is lost."""
    outcome = merge_file(b"f(a)\n", b"f(a, b=1)\n", b"f(a, c=2)\n")

    assert (outcome.status, text_of(outcome)) == ("resolved", b"f(a, b=1, c=2)\n")
    (row,) = outcome.ledger
    assert (row.path, row.line, row.conflicts, row.shape) == ("f.py", 1, 1, "edit/edit")
    assert (row.rule, row.reason, row.ours_kept, row.theirs_kept) == ("structure", "", 1.0, 1.0)


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        (None, b"import a\n", b"import b\n"),
        (None, b"def a():\n    return 1\n", b"def b():\n    return 2\n"),
        (b"x = 1\n", b"import a\nx = 1\n", b"import b\nx = 1\n"),
        (b"f(a)\n", b"f(\n    a,\n    b=1,\n)\n", b"f(a, c=2)\n"),
    ],
    ids=["imports", "functions", "in front", "spread"],
)
def test_cr_lf_line_ends_are_kept(base, ours, theirs):
    """This also holds if text moves away from the first line of the file."""

    def merged(newline):
        versions = [text and text.replace(b"\n", newline) for text in (base, ours, theirs)]
        old = {} if base is None else {"f.py": versions[0]}
        sides = [ce.Changes({"f.py": ce.Entry(text)}) for text in versions[1:]]
        return ce.merge(ce.Snapshot.from_files(old), *sides, strategy="structured")

    assert merged(b"\n").status == "resolved"
    assert text_of(merged(b"\r\n")) == text_of(merged(b"\n")).replace(b"\n", b"\r\n")


def test_the_other_order_is_tried_if_one_is_wrong():
    """Parameters and the calls that pass them on keep the same order."""
    outcome = merge_file(
        b"def f(a):\n    return g(a)\n",
        b"def f(a, b=None):\n    return g(a, b)\n",
        b"def f(a, c):\n    return g(a, c)\n",
    )

    assert text_of(outcome) == b"def f(a, c, b=None):\n    return g(a, c, b)\n"
    assert [row.rule for row in outcome.ledger] == ["structure, theirs first"]


def test_both_may_add_the_same_file():
    """Its functions are separated as in any file."""
    one, two = b"def f():\n    return 1\n", b"def g():\n    return 2\n"
    sides = (ce.Changes({"n.py": ce.Entry(text)}) for text in (one, two))

    outcome = ce.merge(ce.Snapshot.from_files({}), *sides, strategy="structured")

    assert text_of(outcome, "n.py") == one + b"\n\n" + two


REFUSED = {
    "both changed it": ("f.py", (b"a = 1\n", b"a = 2\n", b"a = 3\n"), "both sides changed 'a = 1'"),
    "another language": ("f.lua", (b"f(a)\n", b"f(a, b)\n", b"f(a, c)\n"), ".lua files"),
    "no name": ("f", (b"f(a)\n", b"f(a, b)\n", b"f(a, c)\n"), "such files"),
    "no Python": (
        "f.py",
        (b"it's a\n", b"it's b\n", b"it's c\n"),
        "a version has a syntax error (line 1)",
    ),
    "control characters": ("f.py", (b"f(a)\x1f\n", b"f(a, b)\n", b"f(a, c)\n"), "control"),
    "interference": (
        "f.py",
        (
            b"def f(x):\n    y = x\n    return y\n",
            b"def f(x):\n    y = x + 1\n    return y\n",
            b"def f(x):\n    y = x\n    return y * 2\n",
        ),
        "in 'f', ours changes 'y'",
    ),
    "would not parse": (
        "f.py",
        (b"from m import a\n", b"from m import *\n", b"from m import a, b\n"),
        "",
    ),
}


@pytest.mark.parametrize(("path", "texts", "reason"), REFUSED.values(), ids=REFUSED)
def test_an_unmergeable_conflict_stays_open_with_its_reason(path, texts, reason):
    """It keeps git's markers from the line merge."""
    outcome = merge_file(*texts, path=path)

    assert outcome.status == "conflicts"
    assert text_of(outcome, path) == text_of(merge_file(*texts, path=path, strategy="naive"), path)
    assert all(row.is_open and row.reason and reason in row.reason for row in outcome.ledger)


def test_a_file_that_is_too_large_stays_open():
    """The bound is an option of the strategy."""
    texts = b"f(a)\n", b"f(a, b=1)\n", b"f(a, c=2)\n"

    outcome = merge_file(*texts, strategy=StructuredStrategy(max_bytes=9))

    assert [row.reason for row in outcome.ledger] == ["a version has more than 9 bytes"]
    with pytest.raises(ValueError, match="max_bytes"):
        StructuredStrategy(max_bytes=0)


GAP = b"".join(b"l%d\n" % i for i in range(9))


def test_one_block_may_be_resolved_and_another_not():
    """Each block has its own row."""
    base, ours, theirs = (
        b"f(a%b)\n" % new + GAP + b"v = %d\n" % i + GAP
        for i, new in enumerate((b"", b", b=1", b", c=2"))
    )

    outcome = merge_file(base, ours, theirs)

    assert text_of(outcome).startswith(b"f(a, b=1, c=2)\n" + GAP + b"<<<<<<<")
    assert [row.is_open for row in outcome.ledger] == [False, True]


def test_each_member_of_a_cascade_resolves_its_part():
    """Structure takes arguments, tokens a text file, union what is too large for tokens."""
    large = b"".join(b"y%d\n" % i for i in range(4001))
    base = {"a.py": b"f(a)\n", "b.txt": b"f(a)\n", "c": b"0\n"}
    ours = {"a.py": b"f(a, b=1)\n", "b.txt": b"f(a, b=1)\n", "c": b"0\nx\n"}
    theirs = {"a.py": b"f(a, c=2)\n", "b.txt": b"f(a, c=2)\n", "c": b"0\n" + large}
    sides = (ce.Changes({p: ce.Entry(t) for p, t in side.items()}) for side in (ours, theirs))

    outcome = ce.merge(ce.Snapshot.from_files(base), *sides, strategy="cascade")

    assert sorted((row.path, row.strategy) for row in outcome.ledger) == [
        *(("a.py", "structured"), ("b.txt", "tokens"), ("c", "union")),
    ]
    assert outcome.changes["c"].data == b"0\nx\n" + large


def test_a_part_that_cannot_be_read_is_not_the_reason():
    """With the bracket that ours closes elsewhere, the block does not parse; the versions do."""
    base, ours, theirs = (
        b"v = %s\n" % first + b"# nothing\n" * 9 + last
        for first, last in ((b"1", b"w = 1\n"), (b"[", b"]\n"), (b"2", b"w = 2\n"))
    )

    reasons = {row.reason for row in merge_file(base, ours, theirs).ledger}

    assert reasons == {
        "both sides changed 'v = 1' (ours, line 1: `v = [`; theirs, line 1: `v = 2`)"
    }


def test_a_fault_of_the_merged_file_is_the_reason():
    """It could be merged, but not accepted; that a part could not be merged is less."""

    class Whole:
        name = "whole"

        def merge(self, given, /):
            whole = Resolution(text=b"f(1, 2, 3))\n", rule="whole")
            part = Resolution(reason="of a part")
            return resolve_files(given, lambda _: Proposal(whole=[whole], each=lambda _: [part]))

    outcome = merge_file(b"f(1)\n", b"f(1, 2)\n", b"f(1, 3)\n", strategy=Whole())

    (row,) = outcome.ledger
    problem = "both sides' changes together would not parse"
    assert row.reason == f"{problem} (ours, line 1: `f(1, 2)`; theirs, line 1: `f(1, 3)`)"


def test_the_strategy_pickles():
    """Pairs can therefore be evaluated in other processes."""
    assert pickle.loads(pickle.dumps(SETTLED)) == SETTLED  # noqa: S301 - our own


# --- lines that the line merge settled ---------------------------------------------------------

TWO = b"def two(x):\n    a(x)\n    b(x)\n\n\n"
MISALIGNED = (
    b"def one(x):\n    a(x)\n    b(x)\n    b(x)\n    y = x\n",
    TWO
    + b"def one(x):\n    for i in x:\n        a(x)\n        b(x)\n        b(x)\n        y = x\n",
    b"def one(x):\n    a(x)\n    a(x)\n    b(x)\n    b(x)\n    other(x)\n",
)
"""One side indents a function deeper, after a new one that looks like the old one."""
REALIGNED = TWO + (
    b"def one(x):\n    for i in x:\n        a(x)\n        a(x)\n"
    b"        b(x)\n        b(x)\n        other(x)\n"
)


def test_lines_that_the_line_merge_misaligned_are_merged_again():
    """The ledger says that more than the conflict was changed."""
    outcome = merge_file(*MISALIGNED)

    assert text_of(outcome) == REALIGNED
    assert [row.rule for row in outcome.ledger] == ["structure, around it as well"]


def test_lines_that_the_line_merge_settled_stay_if_requested():
    """Then the conflict stays open."""
    outcome = merge_file(*MISALIGNED, strategy=SETTLED)

    assert text_of(outcome) == text_of(merge_file(*MISALIGNED, strategy="naive"))
    assert [row.reason for row in outcome.ledger] == ["lines outside of the conflict would change"]


@pytest.mark.parametrize("name", ["structured", "cascade"])
def test_merging_settled_lines_again_breaks_one_law_of_strategies(name):
    """Both strategies opt out of it for this reason. With the option off the law is kept."""
    base, ours, theirs = (ce.Snapshot.from_files({"f.py": ce.Entry(text)}) for text in MISALIGNED)
    sides = (ce.Changes.between(base, side) for side in (ours, theirs))
    case = MergeCase(base=base, ours=next(sides), theirs=next(sides))
    (law,) = [law for law in STRATEGY_LAWS if law.name == "untouched_bytes"]

    with pytest.raises(BrokenError) as caught:
        law.check(StrategyTrial(ce.get_strategy(name)), case)

    assert "outside of what both sides changed" in caught.value.counterexample.wanted
    law.check(StrategyTrial(SETTLED), case)


def test_lines_outside_of_conflicting_constructs_are_unchanged():
    """They stay the same byte for byte."""
    before, after = b"import a  \n\n\n", b"\n\ndef z( x ):\n  return  x\n"

    outcome = merge_file(*(before + text + after for text in MISALIGNED))

    assert text_of(outcome) == before + REALIGNED + after


# --- laws ----------------------------------------------------------------------------------------


@fewer
@given(three_way_programs())
def test_python_stays_valid_and_keeps_the_additions_of_both_sides(texts):
    """Except in open conflicts, each token occurs at least as often as on one side."""
    outcome = merge_file(*texts)
    event(str(outcome.status))

    assert outcome.status != "failed"
    if outcome.status == "conflicts":
        assert any(row.is_open and row.reason for row in outcome.ledger)
        return
    merged = text_of(outcome)
    ast.parse(merged)
    base, ours, theirs = map(count_parts, texts)
    there = count_parts(merged)
    for one, other in ((ours, theirs), (theirs, ours)):
        for token in (one - base).keys() - {b","}:
            if other[token] == base[token]:
                assert there[token] >= one[token]


@fewer
@given(three_way_programs())
def test_no_line_is_dropped_that_one_side_added(texts):
    """Each such line occurs at least once, at any indentation."""
    outcome = merge_file(*texts)

    base, ours, theirs = (Counter(map(bytes.strip, text.splitlines())) for text in texts)
    lines = Counter(map(bytes.strip, text_of(outcome).splitlines()))
    if outcome.conflicts:
        return
    for one, other in ((ours, theirs), (theirs, ours)):
        for line in (one - base).keys() - other.keys():
            if line.startswith(b"step("):
                assert lines[line] >= one[line]


@fewer
@given(three_way_programs())
def test_settled_lines_stay_as_they_are(texts):
    """With `resettles` off this always holds; otherwise the ledger lists each exception."""
    naive = merge_file(*texts, strategy="naive")
    settled, free = merge_file(*texts, strategy=SETTLED), merge_file(*texts)

    assert not any("around it" in row.rule for row in settled.ledger)
    if not any("around it" in row.rule for row in free.ledger):
        assert text_of(free) == text_of(settled)
    if naive.status == "clean":
        assert text_of(free) == text_of(naive)
    blocks = naive.merge.blocks if naive.merge else ()
    gap = b"<gap>\n"
    if blocks and not settled.conflicts:
        runs = naive.merge.resolve_blocks(lambda _: gap).changes["f.py"].data.split(gap)
        at = 0
        for run in runs:
            at = text_of(settled).index(run, at) + len(run)


def test_generated_programs_conflict_often_and_most_can_be_merged():
    """Otherwise the laws above would mean little."""
    seen = Counter()

    @settings(max_examples=60, database=None, derandomize=True)
    @given(three_way_programs())
    def look(texts):
        seen[str(merge_file(*texts).status)] += 1

    look()

    assert seen["resolved"] > 0.2 * seen.total()
    assert seen["conflicts"] < 0.2 * seen.total()


@given(three_way_texts())
@settings(max_examples=50)
def test_text_that_is_not_python_never_makes_it_fail(texts):
    """It stays open or is merged as plain text."""
    outcome = merge_file(*texts)

    assert outcome.failure == ""
    assert all(row.reason or row.rule for row in outcome.ledger)


PROGRAM = """
import sys
import cooperbench_eval as ce
from cooperbench_eval.strategies.structured.strategy import StructuredStrategy
base = b"from m import a\\n\\n\\ndef f(a):\\n    return g(a)\\n"
ours = b"from m import a, z\\n\\n\\n@d(1)\\ndef f(a, b=1, *, c):\\n    v = g(a)\\n    return v\\n"
theirs = b"from m import a, x\\n\\n\\n@d(2)\\ndef f(a, k, *, l):\\n    w = g(a)\\n    return w\\n"
tree = ce.Snapshot.from_files({"f.py": base})
for by_content in (False, True):
    sides = (ce.Changes({"f.py": ce.Entry(t)}) for t in (ours, theirs))
    outcome = ce.merge(tree, *sides, strategy=StructuredStrategy(by_content=by_content))
    print(outcome.changes["f.py"].data.decode(), outcome.ledger)
"""


def test_the_result_does_not_depend_on_the_process():
    """The same input gives the same bytes and rows for any hash seed."""
    printed = {
        subprocess.run(
            (sys.executable, "-c", PROGRAM),
            check=True,
            capture_output=True,
            cwd=Path(ce.__file__).parent.parent,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    }

    assert len(printed) == 1
    assert b"@d(1)\n@d(2)" in printed.pop()


# --- hostile input --------------------------------------------------------------------------------


def nested(depth, leaf, opener=b"f(", closer=b")"):
    """Return nested brackets."""
    return opener * depth + leaf + closer * depth + b"\n"


def suites(depth, leaf):
    """Return nested suites."""
    return b"".join(b" " * i + b"if a:\n" for i in range(depth)) + b" " * depth + leaf + b"\n"


SIDES = (b"1", b"2", b"3")
HOSTILE = {
    "brackets at the bound": [nested(39, each) for each in SIDES],
    "brackets": [nested(90, each) for each in SIDES],
    "very many brackets": [nested(20_000, each) for each in SIDES],
    "open brackets": [b"(" * 20_000 + each + b"\n" for each in SIDES],
    "suites at the bound": [suites(40, each) for each in SIDES],
    "suites": [suites(90, each) for each in SIDES],
    "brackets in suites": [suites(20, nested(19, each).strip()) for each in SIDES],
    "one huge line": [b"x = [" + b"1," * 15_000 + each + b"]\n" for each in SIDES],
    "one long word": [b"x" * 100_000 + each + b"\n" for each in SIDES],
    "blank lines": [b"x\n" + b"\n" * 50_000 + each + b"\n" for each in SIDES],
    "blank lines before an indentation": [
        b"if x:\n" + b"\n" * 50_000 + b"    y" + each + b"\n" for each in SIDES
    ],
    "clauses": [b"if a:\n    b\n" + b"elif c:\n    d\n" * 2_000 + each + b"\n" for each in SIDES],
    "all different": [b"".join(b"x%b%d\n" % (each, i) for i in range(999)) for each in SIDES],
    "NUL bytes": [b"x = '\0" + each + b"'\n" for each in SIDES],
    "control characters": [b"x = '\x1d" + each + b"'\n" for each in SIDES],
    "markers": [b"<<<<<<< ours\nx = " + each + b"\n=======\ny\n>>>>>>> theirs\n" for each in SIDES],
}


@pytest.mark.parametrize("texts", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("strategy", ["structured", BY_CONTENT], ids=["", "by content"])
def test_hostile_files_are_refused_in_time(texts, strategy):
    """There is a reason and no exception."""
    start = time.process_time()

    outcome = merge_file(*texts, strategy=strategy)

    assert (outcome.status, outcome.failure) == ("conflicts", "")
    assert all(row.is_open and row.reason for row in outcome.ledger)
    assert time.process_time() - start < 5


ODD = {
    "CR LF": (b"f(a)\r\n", b"f(a, b=1)\r\n", b"f(a, c=2)\r\n", b"f(a, b=1, c=2)\r\n"),
    "tabs": (
        b"if a:\n\tf()\n",
        b"if a:\n\tf(b=1)\n",
        b"if a:\n\tf(c=2)\n",
        b"if a:\n\tf(b=1, c=2)\n",
    ),
    "Latin-1": (
        b"# coding: latin-1\nf('\xe9')\n",
        b"# coding: latin-1\nf('\xe9', b=1)\n",
        b"# coding: latin-1\nf('\xe9', c='\xff')\n",
        b"# coding: latin-1\nf('\xe9', b=1, c='\xff')\n",
    ),
    "a byte order mark": (
        b"\xef\xbb\xbff(a)\n",
        b"\xef\xbb\xbff(a, b=1)\n",
        b"\xef\xbb\xbff(a, c=2)\n",
        b"\xef\xbb\xbff(a, b=1, c=2)\n",
    ),
    "markers in a string": (
        b"x = '''\n<<<<<<< a\n=======\n'''\nf(a)\n",
        b"x = '''\n<<<<<<< a\n=======\n'''\nf(a, b=1)\n",
        b"x = '''\n<<<<<<< a\n=======\n'''\nf(a, c=2)\n",
        b"x = '''\n<<<<<<< a\n=======\n'''\nf(a, b=1, c=2)\n",
    ),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "expected"), ODD.values(), ids=ODD)
def test_odd_files_are_merged_as_bytes(base, ours, theirs, expected):
    """Their bytes are unchanged."""
    assert text_of(merge_file(base, ours, theirs)) == expected

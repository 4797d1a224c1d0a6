"""The origins of the lines of clean merges are those that `git blame` finds."""

import importlib
from pathlib import Path

import pygit2
import pytest

from cooperbench_eval.reporting import Origin, OriginKind

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
RANDOM_MERGES = 150


@pytest.fixture
def benchmark(monkeypatch):
    """Return the benchmark, which knows how to ask git."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("provenance")


def test_lines_of_random_merges_have_the_origins_of_git_blame(benchmark, tmp_path):
    """Nearly all agree. Git diffs the merge again, and may then place equal lines elsewhere."""
    source = tmp_path / "source"
    pygit2.init_repository(source, bare=True)
    scratch = benchmark.Scratch(str(tmp_path / "scratch"), source)
    tally = benchmark.Tally()

    for case in benchmark.random_merges(RANDOM_MERGES, source):
        benchmark.compare(scratch, case, tally, verbose=False)

    assert tally.merges > RANDOM_MERGES // 2
    assert tally.lines > 5_000
    assert tally.agreeing >= 0.999 * tally.lines
    assert tally.added_agreeing >= 0.99 * tally.added
    assert not any("merge in git" in kind or "unknown" in kind for kind in tally.kinds)


@pytest.mark.parametrize(
    ("kind", "features", "commit", "agrees"),
    [
        (OriginKind.BASE, (), 0, True),
        (OriginKind.SEVERAL, (1, 2), 2, True),
        (OriginKind.FEATURE, (1,), 2, False),
        (OriginKind.FEATURE, (1,), 0, False),
        (OriginKind.UNKNOWN, (), 3, True),
    ],
)
def test_a_line_of_several_agrees_if_git_names_one_of_them(
    benchmark, kind, features, commit, agrees
):
    """Git names only one commit for each line."""
    tally = benchmark.Tally()

    assert tally.count(Origin(kind=kind, features=features), commit) is agrees
    assert tally.agreeing == agrees

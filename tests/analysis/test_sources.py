"""Reports come from many places; what is none of them is refused with a hint."""

from pathlib import Path

import pytest
from made_pairs import a_report, pair
from needs import need_installed

import cooperbench_eval as ce

TAKERS = {
    "summarize": ce.summarize,
    "gold": lambda wrong: ce.summarize([], gold=wrong),
    "to_records": ce.to_records,
    "tests": lambda wrong: ce.to_records(wrong, "tests"),
    "to_pandas": ce.to_pandas,
    "to_polars": ce.analysis.to_polars,
    "compare": lambda wrong: ce.compare(wrong, [], "strict"),
    "with": lambda wrong: ce.compare([], wrong, "strict"),
    "with_cooperbench": lambda wrong: ce.analysis.compare_with_cooperbench([], wrong),
}


@pytest.mark.parametrize("take", TAKERS.values(), ids=TAKERS)
@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        (
            "results/",
            r"a collection of reports, not 'results/'; .*, pass ReportStore\(path\)",
        ),
        (b"results/", r"pass ReportStore\(path\)"),
        (Path("results"), r"pass ReportStore\(path\)"),
        (pair(), r"a PairFacts is about one pair: pass \[report\]"),
        (a_report(), r"a MergeReport is about one pair: pass \[report\]"),
        (7, "must be reports or their facts, not 7"),
        ([{"repo_name": "click"}], "must hold reports or the facts of reports, not {"),
    ],
    ids=["text", "bytes", "path", "facts", "report", "number", "json"],
)
def test_an_object_that_is_not_a_report_is_refused(take, wrong, hint):
    """A path and a single report are refused, and the error says what to pass."""
    if take in {ce.to_pandas, ce.analysis.to_polars}:
        need_installed(take.__name__.removeprefix("to_"))
    with pytest.raises(TypeError, match=hint):
        take(wrong)

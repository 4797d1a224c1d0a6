"""The words that views and the page share."""

import pytest
from generators import lists_of, pair_facts
from hypothesis import given

import cooperbench_eval as ce
from cooperbench_eval.analysis.summarizing import summarize
from cooperbench_eval.presentation.views import wording


@given(lists_of(pair_facts()))
def test_every_pair_is_counted_under_one_answer(facts):
    """The counts of a strategy add up to all pairs."""
    for strategy in summarize(facts, policies=()).strategies.values():
        assert sum(wording.answer_counts(strategy.verdicts).values()) == len(facts)


@pytest.mark.parametrize("kind", ce.reporting.BlameKind)
def test_each_kind_of_blame_has_a_text(kind):
    """No kind is shown as its bare value."""
    assert "_" not in wording.blame_text(ce.Blame(kind=kind, features=[1]))


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 tries"), (1, "1 try"), (2, "2 tries"), (1_000, "1,000 tries")]
)
def test_nouns_agree_with_their_number(number, text):
    """Large numbers have separators."""
    assert wording.counted(number, "try", "tries") == text


def test_no_text_is_shown_if_nothing_is_left_out():
    """The text is given in a list, so that callers can add it as it is."""
    assert wording.and_more(0, "file") == []
    assert wording.and_more(1, "file") == ["and 1 more file"]
    assert wording.and_more(2) == ["and 2 more"]


def test_a_run_in_full_counts_every_case():
    """The short text has only the cases that count."""
    ends = ("passed", "failed", "error", "skipped", "xfailed", "xfailed")
    cases = [ce.models.TestCase(id=str(n), status=end) for n, end in enumerate(ends)]
    run = ce.TestResult(status="failed", cases=cases)

    assert wording.run_text(run) == "failed 1/3"
    assert wording.run_text(run, in_full=True) == (
        "failed 1/3, 1 could not run, 1 skipped, 2 failed as expected"
    )

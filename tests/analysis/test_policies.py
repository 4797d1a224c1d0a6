"""A policy judges a finished report, says who decided, and never guesses."""

import pytest
from generators import reports
from hypothesis import given
from made_pairs import attempt, pair

from cooperbench_eval.analysis.policies import POLICIES, Policy, find_policies
from cooperbench_eval.analysis.sources import facts_of
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.reporting import Verdict


def judged(policy, facts):
    """The verdict and who decided, as one word."""
    found = POLICIES[policy].judge(facts)
    missing = " missing" if found.is_missing_input else ""
    return f"{found.verdict.value} {found.by}".strip() + missing


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ({"naive": "clean ++"}, "correct naive"),
        ({"naive": "clean +-"}, "incorrect naive"),
        ({"naive": "conflicts", "union": "resolved ++"}, "correct union"),
        ({"naive": "conflicts", "union": "resolved -+", "llm": "resolved ++"}, "correct llm"),
        ({"naive": "conflicts", "union": "resolved -+", "llm": "resolved +-"}, "incorrect union"),
        ({"naive": "conflicts", "union": "resolved -+", "llm": "conflicts"}, "incorrect union"),
        ({"naive": "conflicts", "union": "conflicts", "llm": "failed"}, "unhandled"),
        ({"naive": "not_tried", "union": "not_tried"}, "not_run missing"),
    ],
)
def test_the_papers_policy_takes_any_that_passes(rows, verdict):
    """Naive, else union, else the model; a clean merge needs no other."""
    assert judged("paper", pair(**rows)) == verdict


@pytest.mark.parametrize(
    "rows",
    [
        {"naive": "conflicts", "union": "resolved +-"},
        {"naive": "conflicts", "llm": "resolved +-"},
        {"naive": "conflicts", "union": "resolved +-", "llm": "resolved +!"},
        {"naive": "clean .."},
        {"naive": "clean +!", "union": "clean +-", "llm": "clean +-"},
    ],
)
def test_a_policy_that_lacks_what_decides_is_not_run(rows):
    """A row or a run that is missing and matters makes no verdict, never a guess."""
    assert judged("paper", pair(**rows)) == "not_run"


def test_a_missing_row_that_does_not_matter_is_not_missed():
    """A pass counts even if other strategies were not tried."""
    assert judged("paper", pair(union="resolved ++")) == "correct union"


@pytest.mark.parametrize(
    ("facts", "verdict"),
    [
        (pair(naive="clean ++"), "correct naive"),
        (pair(naive="clean +-", lead="applied +.+"), "incorrect naive"),
        (pair(naive="conflicts", lead="applied +.+"), "correct lead"),
        (pair(naive="conflicts", lead="applied +.-"), "incorrect lead"),
        (pair(naive="conflicts", lead="applied -.."), "incorrect lead"),
        (pair(naive="conflicts", lead="applied +.."), "not_run"),
        (pair(naive="conflicts", lead="applied +.!"), "not_run"),
        (pair(naive="conflicts", lead="applied -.-", member="applied +.+"), "incorrect lead"),
        (pair(naive="not_tried", lead="applied +.+", member="failed ..."), "correct lead"),
        (pair(naive="not_tried", lead="failed ...", member="applied +.+"), "not_run missing"),
        (pair(naive="not_tried", lead="empty ...", member="applied +.+"), "correct alone"),
        (pair(naive="not_tried", lead="applied +.-", member="empty ..."), "incorrect alone"),
        (pair(naive="not_tried", lead="empty ...", member="empty ..."), "not_run missing"),
    ],
)
def test_the_published_package_falls_back_on_the_lead(facts, verdict):
    """Feature 1's patch alone counts on a conflict; an empty patch is passed over."""
    assert judged("cooperbench-0.0.29", facts) == verdict


@pytest.mark.parametrize(
    ("facts", "verdict"),
    [
        (pair(naive="clean ++"), "correct naive"),
        (pair(naive="clean ++", union="clean +-"), "correct naive"),
        (pair(naive="conflicts", union="resolved ++", lead="applied +.+"), "unhandled"),
        (pair(naive="not_tried"), "not_run missing"),
        (pair(union="resolved ++"), "not_run"),
        (pair(union="resolved ++", facts={"merge_status": "conflicts"}), "unhandled"),
    ],
)
def test_the_strict_policy_takes_a_clean_merge_alone(facts, verdict):
    """No strategy but git's own merge, and no lead."""
    assert judged("strict", facts) == verdict


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "rows",
    [
        {},
        {"union": "resolved ++"},
        {"union": "resolved +-"},
        {"union": "resolved +-", "llm": "resolved +!"},
        {"union": "conflicts", "llm": "conflicts"},
    ],
)
def test_a_conflict_is_known_without_a_row_of_naive(policy, rows):
    """The pair's own status says that git leaves it, so the row would say nothing new."""
    facts = {"merge_status": "conflicts", "conflict_sections": 1}

    without = judged(policy, pair(**rows, lead="applied +.+", facts=facts))

    assert without == judged(policy, pair(naive="conflicts", **rows, lead="applied +.+"))


def test_another_strategy_without_a_row_is_not_known_to_conflict():
    """Only the built-in name stands for what git does."""
    mine = Policy(name="mine", strategies=["tokens"])

    assert mine.judge(pair(naive="conflicts")).verdict is Verdict.NOT_RUN


def test_a_policy_takes_one_strategy_by_its_name_alone():
    """A text is a name, and no list of letters."""
    assert Policy(name="mine", strategies="naive") == Policy(name="mine", strategies=["naive"])


def test_feature_1_alone_may_be_a_policy():
    """Without any strategy its patch alone counts for every pair."""
    solo = Policy(name="solo", strategies=[], lead_alone=True)

    assert solo.judge(pair(naive="clean +-", lead="applied +.+")).by == "lead"


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "", "strategies": ["naive"]},
        {"name": "mine", "strategies": []},
        {"name": "mine", "strategies": ""},
        {"name": "mine", "strategies": ["naive", ""]},
    ],
)
def test_a_policy_that_says_nothing_is_refused(wrong):
    """It has a name, and strategies with names or else the lead."""
    with pytest.raises(ValueError, match=r"name|strategies"):
        Policy(**wrong)


def test_a_custom_policy_takes_the_first_that_merges():
    """The rule decides what a merge that fails its tests means."""
    facts = pair(naive="conflicts", tokens="resolved +-", union="resolved ++")
    names = ("naive", "tokens", "union")

    first = Policy(name="first", strategies=names, rule="first_merges").judge(facts)
    any_of_them = Policy(name="any", strategies=names).judge(facts)

    assert (first.verdict.value, first.by) == ("incorrect", "tokens")
    assert (any_of_them.verdict.value, any_of_them.by) == ("correct", "union")


def test_a_pair_that_was_not_evaluated_is_not_run():
    """An infrastructure error is neither a verdict nor a missing input."""
    broken = pair(naive="conflicts", facts={"merge_status": "not_evaluated"}, lead="applied +.+")

    assert {judged(name, broken) for name in POLICIES} == {"not_run"}


def test_a_model_that_did_not_answer_decides_nothing():
    """A failure of the provider says nothing about the model."""
    rows = [attempt("naive", "conflicts"), attempt("union", "resolved +-")]
    rows.append(attempt("llm", "conflicts", service_failed=True))

    assert judged("paper", pair(naive="conflicts", facts={"attempts": rows})) == "not_run"


@given(reports())
def test_a_report_and_its_facts_are_judged_alike(report):
    """A policy takes either, and needs no texts."""
    for policy in POLICIES.values():
        assert policy.judge(report) == policy.judge(facts_of(report))


def test_the_presets_cannot_be_changed():
    """A policy's name means the same in every script."""
    with pytest.raises(TypeError):
        POLICIES["paper"] = POLICIES["strict"]


def test_an_unknown_or_doubled_policy_is_an_error():
    """The error names the presets there are."""
    with pytest.raises(AnalysisError, match="'lax'; available: paper, cooperbench"):
        find_policies(["lax"])
    with pytest.raises(AnalysisError, match="'lax'"):
        find_policies("lax")
    with pytest.raises(AnalysisError, match="two policies are called 'strict'"):
        find_policies(["strict", Policy(name="strict", strategies=["union"])])

"""Defects of CooperBench 0.0.29's own sums, by their numbers, which ours have not."""

from made_pairs import attempt, feature, pair

from cooperbench_eval.analysis.facts import RunFacts
from cooperbench_eval.analysis.policies import POLICIES, Policy
from cooperbench_eval.analysis.rates import Rate
from cooperbench_eval.analysis.summarizing import summarize
from cooperbench_eval.reporting import FailureKind, Verdict
from cooperbench_eval.running.results import TestStatus

BOTH, NEITHER = "applied +.+", "applied +.-"
UNREACHABLE = {"merge_status": "not_evaluated", "failure": FailureKind.REPOSITORY}


def test_8_a_conflict_is_judged_alike_whichever_feature_is_first():
    """Swapping the features changes no verdict of `strict` and `paper`."""
    rows = {"naive": "conflicts", "union": "resolved +-", "llm": "conflicts"}
    one = pair(lead=BOTH, member=NEITHER, **rows)
    swapped = pair(lead=NEITHER, member=BOTH, features=(2, 1), **rows)

    for name in ("strict", "paper"):
        verdicts = [summarize([each]).policies[name].verdicts for each in (one, swapped)]
        assert verdicts[0] == verdicts[1]


def test_8_that_the_lead_counts_is_a_policy_and_named():
    """The verdict that depends on the order is there for who asks for it, and says so."""
    one = pair(naive="conflicts", lead=BOTH, member=NEITHER)
    swapped = pair(naive="conflicts", lead=NEITHER, member=BOTH, features=(2, 1))

    judged = [POLICIES["cooperbench-0.0.29"].judge(each) for each in (one, swapped)]

    assert [each.verdict for each in judged] == [Verdict.CORRECT, Verdict.INCORRECT]
    assert {each.by for each in judged} == {"lead"}
    leading = {name for name, policy in POLICIES.items() if policy.lead_alone}
    assert leading == {"cooperbench-0.0.29"}
    assert not Policy(name="mine", strategies=["naive"]).lead_alone


def test_9_a_conflict_says_nothing_of_the_features_tests():
    """Nothing is run on a conflict, so no feature fails there; each alone is still told."""
    summary = summarize([pair(naive="conflicts", lead=BOTH, member="applied -..")])

    assert summary.strategies["naive"].features == Rate(0, 0)
    assert summary.strategies["naive"].verdicts.unhandled == 1
    assert summary.features_alone == Rate(1, 2)


def test_9_a_missing_run_is_not_a_failed_run():
    """A sandbox that failed makes NOT_RUN, which is in no denominator."""
    summary = summarize([pair(naive="clean +!"), pair(naive="clean +-"), pair(naive="clean ++")])

    naive = summary.strategies["naive"]
    assert (naive.correct, naive.verdicts.unanswered) == (Rate(1, 2), 1)
    assert naive.features == Rate(4, 5)


def test_9_a_failed_provider_is_not_an_open_conflict():
    """It is counted beside the rate, as a sandbox that failed is."""
    rows = [attempt("llm", "conflicts", service_failed=True)]

    summary = summarize([pair(facts={"attempts": rows}), pair(llm="resolved ++")])

    llm = summary.strategies["llm"]
    assert (llm.correct, llm.verdicts.unanswered) == (Rate(1, 1), 1)


def test_33_a_summary_is_of_all_reports_and_not_of_the_last_session():
    """Three pairs and one more are four, whatever was summed up before."""
    before = [pair(naive=word) for word in ("clean ++", "clean ++", "clean +-")]
    later = pair(naive="clean ++", facts={"task_id": 2})
    summarize(before)

    summary = summarize([*before, later])

    assert (summary.pairs, summary.strategies["naive"].correct) == (4, Rate(3, 4))


def test_34_there_is_one_pass_rate_with_errors_beside_it():
    """One pass and three errors are 1 of 1, with three pairs not evaluated."""
    summary = summarize([pair(naive="clean ++"), *[pair(facts=UNREACHABLE)] * 3])

    strict = summary.policies["strict"]
    assert strict.correct == summary.strategies["naive"].correct == Rate(1, 1)
    assert strict.verdicts.unanswered == summary.not_evaluated == 3
    assert summary.failures == {FailureKind.REPOSITORY: 3}
    assert "not evaluated 3 (repository 3)" in str(summary)
    assert summary.to_dict()["policies"][-1]["rate"]["total"] == 1


def test_35_task_0_is_a_task_like_any_other():
    """Zero is a number to group and to match by."""
    summary = summarize(
        [pair(naive="clean ++", facts={"repo_name": "tiktoken", "task_id": 0})], by="task"
    )

    assert list(summary.groups) == ["tiktoken/0"]


def test_36_a_pair_is_the_same_in_either_order_of_its_features():
    """Gold of features 2 and 1 is gold of features 1 and 2."""
    gold = [pair(naive="clean ++", features=(2, 1))]

    summary = summarize([pair(naive="clean ++")], gold=gold)

    assert summary.strategies["naive"].gold.ceiling == Rate(1, 1)


def test_38_a_team_is_counted_under_its_own_setting():
    """Settings are kept apart, and one that is not named is not made up."""
    pairs = [pair(naive="clean ++", facts={"setting": name}) for name in ("team", "coop", None)]

    assert list(summarize(pairs, by="setting").groups) == ["coop", "team", None]


def test_a_case_that_errored_counts_against_the_cases():
    """The share of passed cases is of passed, failed and errored ones, as in one report."""
    run = RunFacts(status=TestStatus.FAILED, passed_tests=1, error_tests=3, skipped_tests=5)
    broken = feature(1).__class__(number=1, patch_status="applied", tests=run)

    summary = summarize([pair(naive="conflicts", facts={"feature1": broken})])

    assert summary.cases_alone == Rate(1, 4)

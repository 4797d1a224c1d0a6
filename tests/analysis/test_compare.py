"""Two teams are compared on the pairs that both have."""

import pytest
from generators import lists_of, pair_facts
from hypothesis import given, settings
from made_pairs import pair

from cooperbench_eval.analysis.comparing import compare
from cooperbench_eval.analysis.policies import POLICIES, Policy
from cooperbench_eval.analysis.rates import Rate
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.reporting import Verdict


def team(*words, features=(1, 2), **facts):
    """A team's pairs, one task each, by how naive ended."""
    return [
        pair(naive=word, features=features, facts={"task_id": number, **facts})
        for number, word in enumerate(words)
    ]


def test_pairs_are_matched_in_either_order_of_their_features():
    """By repository, task and features; each cell is counted."""
    first = team("clean ++", "clean ++", "clean +-", "conflicts")
    second = team("clean ++", "clean +-", "clean ++", "conflicts", features=(2, 1))

    found = compare(first, reversed(second), "naive", first="a", second="b")

    cells = (found.both, found.only_first, found.only_second, found.neither)
    assert cells == (1, 1, 1, 1)
    assert (found.first, found.second, found.pairs) == ("a", "b", 4)


def test_a_missing_side_is_a_failure_and_a_run_never_made_is_none():
    """What has an answer is compared, the others are counted beside it."""
    first = team("clean ++", "clean ++", "clean ++", "clean ++")
    second = team("not_tried", "clean ..", "clean !!")

    found = compare(first, second, "naive")

    assert (found.only_first, found.pairs, found.unanswered) == (1, 1, 2)
    assert (found.unmatched_first, found.unmatched_second) == (1, 0)


def test_a_pair_that_one_team_has_twice_is_an_error():
    """Which of the tries counts is for the caller to say."""
    with pytest.raises(AnalysisError, match=r"second has features 1 and 2 of click/0 twice"):
        compare(team("clean ++"), [*team("clean ++"), *team("clean ++", k=2)], "naive")


def test_a_policy_decides_by_its_name_or_itself():
    """A preset is found by name; any other name is a strategy's."""
    first = [pair(naive="conflicts", union="resolved ++")]
    second = [pair(naive="conflicts", union="resolved +-", llm="conflicts")]
    mine = Policy(name="mine", strategies=["union"])

    assert compare(first, second, "paper").only_first == 1
    assert compare(first, second, mine).only_first == 1
    assert compare(first, second, "strict").neither == 1
    assert compare(first, second, "union").only_first == 1


def test_a_strategy_without_any_row_is_an_error():
    """A misspelled name is refused; it does not give an empty comparison."""
    with pytest.raises(AnalysisError, match="'niave'"):
        compare(team("clean ++"), team("clean ++"), "niave")


def test_a_strategy_whose_pairs_all_failed_is_known():
    """Its rows are there, and have no answer."""
    failed = [pair(union="not_tried", facts={"merge_status": "not_evaluated"})]

    found = compare(failed, failed, "union")

    assert (found.pairs, found.unanswered, found.p_value) == (0, 1, None)
    with pytest.raises(AnalysisError, match="'onion'"):
        compare(failed, failed, "onion")


def test_teams_without_a_common_pair_show_nothing():
    """Zero pairs, and no error."""
    found = compare(team("clean ++"), team("clean ++", repo_name="jinja"), "naive")

    assert (found.pairs, found.unmatched_first, found.unmatched_second) == (0, 1, 1)
    assert found.difference is None
    assert compare([], [], "naive").pairs == 0


# Each example is of up to twelve pairs.
@settings(max_examples=settings().max_examples // 2)
@given(lists_of(pair_facts()), lists_of(pair_facts()))
def test_cells_and_p_value_are_those_of_a_count_by_hand(statsmodels, first, second):
    """Under a policy, over random teams, and as statsmodels tests it."""
    policy = POLICIES["paper"]
    ones, others = ({key(one): one for one in side} for side in (first, second))

    found = compare(ones.values(), others.values(), policy)

    table = [[0, 0], [0, 0]]
    for each in ones.keys() & others.keys():
        judged = [policy.judge(side[each]) for side in (ones, others)]
        if all(one.verdict is not Verdict.NOT_RUN or one.is_missing_input for one in judged):
            wrong, wrong_too = (one.verdict is not Verdict.CORRECT for one in judged)
            table[wrong][wrong_too] += 1
    assert [[found.both, found.only_first], [found.only_second, found.neither]] == table
    if found.only_first + found.only_second:
        assert found.p_value == pytest.approx(statsmodels.mcnemar(table, exact=True).pvalue)
    assert found.first_rate == Rate(sum(table[0]), found.pairs)


def key(facts):
    """What makes two pairs the same."""
    return facts.repo_name, facts.task_id, frozenset(facts.features)

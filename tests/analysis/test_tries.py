"""Several tries at the same pairs."""

import itertools

import pytest
from made_pairs import pair

from cooperbench_eval.analysis.comparing import solved_within
from cooperbench_eval.analysis.policies import Policy
from cooperbench_eval.analysis.rates import Rate
from cooperbench_eval.errors import AnalysisError

WORDS = {"+": "clean ++", "-": "clean +-", "c": "conflicts", "m": "not_tried", "?": "clean .."}


def tries_at(*rows, **facts):
    """A pair for each row, a try for each of its signs: `"-+"` is solved by the second."""
    return [
        pair(naive=WORDS[sign], facts={"task_id": task, "k": k, **facts})
        for task, signs in enumerate(rows)
        for k, sign in enumerate(signs, start=1)
        if sign != " "
    ]


def counts(found):
    """How many pairs are solved within one try, two, and so on."""
    return [rate.count for rate in found.within]


def test_a_pair_is_solved_by_the_first_try_that_does():
    """Later tries do not undo it, and what never succeeds is in every total."""
    found = solved_within(tries_at("+--", "c+-", "--+", "-c-"), "naive")

    assert found.within == (Rate(1, 4), Rate(2, 4), Rate(3, 4))
    assert (found.decider, found.left_out) == ("naive", 0)


def test_a_missing_side_is_a_failed_try():
    """Who hands in nothing has failed, as in every other rate."""
    assert counts(solved_within(tries_at("m+", "mm"), "naive")) == [0, 1]


@pytest.mark.parametrize("row", ["+", "+ -", "+?-", " +-"])
def test_a_pair_without_an_answer_to_a_try_is_left_out(row):
    """All shares are of the same pairs, so that they never fall."""
    found = solved_within(tries_at("-+-", row), "naive")

    assert found.within == (Rate(0, 1), Rate(1, 1), Rate(1, 1))
    assert found.left_out == 1


def test_fewer_tries_than_there_are():
    """Then the later ones are not asked for, and what is after them is not needed."""
    found = solved_within(tries_at("-+-", "+-"), "naive", tries=2, confidence=0.5)

    assert found.within == (Rate(1, 2, confidence=0.5), Rate(2, 2, confidence=0.5))


def test_pairs_of_different_teams_are_kept_apart():
    """Each model and setting has its own tries. The order of the features does not matter."""
    one = tries_at("-+", model="gpt")
    other = tries_at("--", model="gpt", setting="solo")
    turned = [
        pair(naive="clean ++", features=(2, 1), facts={"task_id": 0, "k": 3, "model": "gpt"}),
        *tries_at("---", model="gpt", setting="solo")[2:],
    ]

    assert counts(solved_within([*one, *other, *turned], "naive")) == [0, 1, 1]


def test_policies_decide_as_elsewhere():
    """A preset by its name, a policy of one's own, and else a strategy."""
    reports = [pair(naive="conflicts", union="resolved ++")]
    own = Policy(name="mine", strategies=["naive", "union"])

    found = [solved_within(reports, decider) for decider in ("strict", own, "union")]

    assert [(each.decider, counts(each)) for each in found] == [
        ("strict", [0]),
        ("mine", [1]),
        ("union", [1]),
    ]


def test_with_every_try_it_is_pass_at_k():
    """At the last try it is what the estimator of Chen et al. gives, and on the way its mean.

    Over all orders of the tries, the plain share of each number of them averages to it.
    """
    row = "-+--+"
    solved = row.count("+")
    orders = set(itertools.permutations(row))

    shares = [solved_within(tries_at("".join(order)), "naive").within for order in orders]

    for k in range(1, len(row) + 1):
        failing = list(itertools.combinations(range(len(row) - solved), k))
        drawn = list(itertools.combinations(range(len(row)), k))
        pass_at_k = 1 - len(failing) / len(drawn)
        mean = sum(share[k - 1].count for share in shares) / len(orders)
        assert mean == pytest.approx(pass_at_k)


@pytest.mark.parametrize(
    ("rows", "options", "problem"),
    [
        ([], {}, "no reports"),
        (["+"], {"decider": "nonesuch"}, "no report has a row of 'nonesuch'"),
        (["+"], {"tries": 0}, "the number of tries is 0"),
        (["+ "], {"tries": 2}, "for 'naive', no pair has an answer in all 2 tries"),
    ],
)
def test_what_cannot_be_counted_is_an_error(rows, options, problem):
    """Nothing at all, an unknown strategy, no tries, and tries that no pair has."""
    options = {"decider": "naive"} | options

    with pytest.raises(AnalysisError, match=problem):
        solved_within(tries_at(*rows), options.pop("decider"), **options)


def test_the_same_try_twice_is_an_error():
    """As where the stores of two evaluators are given together."""
    with pytest.raises(
        AnalysisError, match=r"there are two reports for try 1 of features 1 and 2 of click/0"
    ):
        solved_within(tries_at("+") * 2, "naive")


def test_an_odd_number_of_a_try_takes_no_time():
    """A report may say that it is of the billionth try; no pair has all before."""
    with pytest.raises(AnalysisError, match="in all 1000000000 tries"):
        solved_within([pair(naive="clean ++", facts={"k": 10**9})], "naive")

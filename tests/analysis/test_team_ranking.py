"""Teams are ranked by task, against SciPy and by hand."""

import json
import random
from itertools import combinations, product

import pytest
from generators import lists_of
from hypothesis import assume, example, given
from hypothesis import strategies as st
from made_pairs import pair
from made_teams import team as made_team
from needs import need_package

from cooperbench_eval.analysis.comparing import compare
from cooperbench_eval.analysis.policies import Policy
from cooperbench_eval.analysis.ranking import groups_of, letter, rank
from cooperbench_eval.analysis.rates import Rate
from cooperbench_eval.analysis.signflips import Teams, adjusted_p_values, flip_test, is_exact
from cooperbench_eval.analysis.summarizing import summarize
from cooperbench_eval.analysis.tables import to_pandas, to_records
from cooperbench_eval.errors import AnalysisError, ArgumentError

WORDS = {"+": "clean ++", "-": "clean +-", "?": "clean .."}


def team(*tasks, model=None, first=0):
    """A team's pairs by task, such as `"++-?"`: right, right, wrong, not run."""
    return [
        pair(
            naive=WORDS[sign],
            features=(1, 2 + number),
            facts={"task_id": task, "model": model},
        )
        for task, signs in enumerate(tasks, start=first)
        for number, sign in enumerate(signs)
    ]


GOOD = team(*["+++"] * 9, "++-")
MIDDLE = team(*["++-"] * 5, *["+--"] * 5)
BAD = team(*["---"] * 9, "+--")
TEAMS = {"bad": BAD, "good": GOOD, "middle": MIDDLE}


def pairs_below(size):
    """Two different places below *size*, in their order; none below 2."""
    pairs = list(combinations(range(size), 2))
    return st.sampled_from(pairs) if pairs else st.nothing()


@st.composite
def some_reports(draw):
    """A team's pairs in up to three tasks, some of which have no answer."""
    signs = [draw(st.text("+-? ", max_size=4)) for _ in range(3)]
    every = team(*(each.replace(" ", "+") for each in signs))
    kept = [sign != " " for each in signs for sign in each]
    return [report for report, is_kept in zip(every, kept, strict=True) if is_kept]


@st.composite
def some_teams(draw):
    """Two to four teams' counts and totals in two to seven tasks."""
    size, tasks = draw(st.integers(2, 4)), draw(st.integers(2, 7))
    totals = [[draw(st.integers(1, 4)) for _ in range(tasks)] for _ in range(size)]
    if draw(st.booleans()):
        totals = [totals[0]] * size
    counts = [[draw(st.integers(0, total)) for total in each] for each in totals]
    return Teams(tuple(map(tuple, counts)), tuple(map(tuple, totals)))


def task_differences(teams, each):
    """Return, by task, how far the first of a difference is above the second."""
    sides = []
    for place in (each.first, each.second):
        whole = sum(teams.totals[place])
        both = zip(teams.counts[place], teams.totals[place], strict=True)
        sides.append([(count - each.centre * total) / whole for count, total in both])
    return [one - other for one, other in zip(*sides, strict=True)]


def stages(teams, differences):
    """Yield each difference, the most significant first, and the statistic of its stage.

    The statistic takes the sign of each task.
    """
    order = sorted(range(len(differences)), key=lambda at: -differences[at].statistic)
    parts = [task_differences(teams, differences[at]) for at in order]
    spreads = [sum(each**2 for each in part) ** 0.5 or 1.0 for part in parts]

    def statistic(signs, stage):
        values = [
            sum(sign * each for sign, each in zip(signs, part, strict=True)) / spread
            for part, spread in zip(parts, spreads, strict=True)
        ]
        return max([*(-each for each in values[:stage]), *map(abs, values[stage:])])

    for stage, at in enumerate(order):
        yield at, lambda signs, stage=stage: statistic(signs, stage)


@given(some_teams())
def test_adjusted_p_values_are_counted_over_all_flips(teams):
    """In each stage, of the differences that are left; a later one is never less."""
    differences = teams.differences()
    found = adjusted_p_values(teams, differences, draws=128, seed=0)

    least = 0.0
    for at, statistic in stages(teams, differences):
        values = [statistic(signs) for signs in product((1, -1), repeat=teams.tasks)]
        observed = differences[at].statistic
        least = max(least, sum(each >= observed - 1e-9 for each in values) / len(values))
        assert found[at] == pytest.approx(least)


def test_adjusted_p_values_are_scipys():
    """SciPy flips the signs of the tasks' numbers, from which each stage's statistic is made."""
    np, stats = need_package("numpy"), need_package("scipy.stats")
    random_ = random.Random(4)  # noqa: S311 - not for secrets
    totals = tuple(random_.choice([1, 3, 6, 10]) for _ in range(9))
    counts = [tuple(random_.randint(0, total) for total in totals) for _ in range(3)]
    teams = Teams((*counts, totals), (totals,) * 4)
    differences = teams.differences()

    found = adjusted_p_values(teams, differences, draws=2**9, seed=0)

    least = 0.0
    for at, statistic in stages(teams, differences):

        def flipped(numbers, statistic=statistic):
            signs = np.sign(numbers)
            return statistic(signs)

        tested = stats.permutation_test(
            (np.arange(1, 10),),
            flipped,
            permutation_type="samples",
            alternative="greater",
            n_resamples=np.inf,
            vectorized=False,
        )
        least = max(least, tested.pvalue)
        assert found[at] == pytest.approx(least)
    assert len(set(found)) > 2


@given(some_teams().filter(lambda teams: len(teams.counts) == 2))
def test_two_teams_have_the_p_value_of_a_comparison(teams):
    """With the same totals, it is that of exchanging whole tasks."""
    counts, totals = teams.counts, (teams.totals[0],) * 2
    counts = tuple(tuple(map(min, each, totals[0])) for each in counts)
    same = Teams(counts, totals)

    (found,) = adjusted_p_values(same, same.differences(), draws=128, seed=0)
    assert found == pytest.approx(flip_test([a - b for a, b in zip(*counts, strict=True)]))


def test_random_flips_are_close_to_all_flips():
    """The same seed gives the same numbers, and another seed others."""
    random_ = random.Random(1)  # noqa: S311 - not for secrets
    counts = tuple(tuple(random_.randint(0, 5) for _ in range(12)) for _ in range(3))
    teams = Teams(counts, ((5,) * 12,) * 3)
    differences = teams.differences()

    exact = adjusted_p_values(teams, differences, draws=2**12, seed=0)
    found = [adjusted_p_values(teams, differences, draws=4000, seed=seed) for seed in (0, 0, 1)]

    assert (is_exact(12, 2**12), is_exact(12, 4000)) == (True, False)
    assert found[0] == found[1] != found[2]
    assert found[0] == pytest.approx(exact, abs=0.04)


def test_teams_are_ordered_grouped_and_given_intervals():
    """The best first; all three can be told apart."""
    found = rank(TEAMS)

    assert [each.name for each in found.teams] == ["good", "middle", "bad"]
    assert [(each.rank, each.best_rank, each.worst_rank) for each in found.teams] == [
        (1, 1, 1),
        (2, 2, 2),
        (3, 3, 3),
    ]
    assert found.groups == {"a": ("good",), "b": ("middle",), "c": ("bad",)}
    assert found.teams[0].correct == Rate(29, 30, clusters=[(3, 3)] * 9 + [(2, 3)])
    assert (found.flips, found.is_exact, len(found.tasks)) == (2**10, True, 10)


def test_a_team_in_the_middle_is_in_two_groups():
    """It cannot be told apart from either, though they can be told apart."""
    middle = team(*["+++"] * 5, *["---"] * 5)
    found = rank({"good": team(*["+++"] * 10), "middle": middle, "bad": team(*["---"] * 10)})

    assert [each.groups for each in found.teams] == [("a",), ("a", "b"), ("b",)]
    assert [(each.best_rank, each.worst_rank) for each in found.teams] == [(1, 2), (1, 3), (2, 3)]
    p_values = {(each.first, each.second): each.p_value for each in found.differences}
    assert p_values["good", "bad"] == 2 / 2**10
    assert p_values["good", "middle"] == p_values["middle", "bad"] > 0.05


def test_equal_teams_share_a_rank():
    """They are in the order of their names, and nothing tells them apart."""
    found = rank({"b": GOOD, "a": GOOD, "c": BAD})

    assert [(each.name, each.rank) for each in found.teams] == [("a", 1), ("b", 1), ("c", 3)]
    assert found.differences[0].p_value == 1
    assert found.groups == {"a": ("a", "b"), "b": ("c",)}


def test_summaries_reports_and_groups_give_the_same_ranking():
    """Whatever is passed, the numbers are those of the reports."""
    expected = rank(TEAMS)
    summaries = {name: summarize(reports) for name, reports in TEAMS.items()}
    together = [
        each.__class__.from_dict(each.to_dict() | {"model": name})
        for name, reports in TEAMS.items()
        for each in reports
    ]

    assert rank(summaries) == expected
    assert rank(summarize(together, by="model").groups) == expected
    two = rank(summarize(together, by=["model", "setting"]).groups)
    assert [each.name for each in two.teams] == ["good -", "middle -", "bad -"]


def test_only_common_tasks_are_counted():
    """A task in which a team has no answer is left out for all, and named."""
    found = rank({"a": team("++", "+-", "??"), "b": team("+-", "--", "++", first=1)})

    assert found.tasks == ("click/1",)
    assert found.left_out == {"a": ("click/0", "click/2"), "b": ("click/2", "click/3")}
    assert [(each.name, each.correct.total) for each in found.teams] == [("a", 2), ("b", 2)]
    assert "tasks left out, because the teams share no answered pair: a 2, b 2" in str(found)


def test_only_pairs_to_which_every_team_has_an_answer_are_counted():
    """A team does not get better because the tests of its wrong pairs could not run."""
    found = rank({"a": team("++??", "+-"), "b": team("++--", "--")})

    assert {each.name: (each.correct.count, each.correct.total) for each in found.teams} == {
        "a": (3, 4),
        "b": (2, 4),
    }
    assert (found.unmatched, found.teams[0].unanswered) == ({"b": 2}, 2)
    assert "answers left out, because another team has none: b 2" in str(found)


def test_teams_without_a_common_pair_are_an_error():
    """There is nothing to rank them by, even if they have the same task."""
    words = "share no pair to which all of them have an answer"
    with pytest.raises(AnalysisError, match=words):
        rank({"a": team("++"), "b": team("++", first=1)})
    with pytest.raises(AnalysisError, match=words):
        rank({"a": team("++??"), "b": team("??--")})


def test_a_pair_that_a_team_has_twice_is_an_error():
    """As in a comparison: several tries of a pair are not independent."""
    with pytest.raises(AnalysisError, match=r"team 'a' has features 1, 2 of click/0 twice: keep"):
        rank({"a": [*team("++"), *team("+-")], "b": team("++")})


@given(some_reports(), some_reports())
def test_two_teams_have_the_counts_of_a_comparison(one, other):
    """Whatever pairs they have, and whatever has no answer."""
    compared = compare(one, other, "strict")
    assume(compared.pairs)

    found = rank({"one": one, "other": other})

    counts = {each.name: (each.correct.count, each.correct.total) for each in found.teams}
    assert counts == {
        "one": (compared.first_rate.count, compared.pairs),
        "other": (compared.second_rate.count, compared.pairs),
    }


def test_teams_can_be_ranked_by_a_strategy_or_a_policy_of_ones_own():
    """A summary must have been made with the policy."""
    mine = Policy(name="mine", strategies=["naive"])
    summaries = {name: summarize(reports, policies=[mine]) for name, reports in TEAMS.items()}

    assert rank(TEAMS, "naive").teams == rank(TEAMS).teams == rank(TEAMS, mine).teams
    assert rank(summaries, mine) == rank(summaries, "mine") == rank(TEAMS, mine)
    with pytest.raises(AnalysisError, match=r"of team 'bad' .* policy 'strict'; available: mine"):
        rank(summaries)


def test_reports_of_teams_are_ranked_by_their_size():
    """By a strategy, because policies are about pairs."""
    kinds = {
        name: [made_team(3, naive=word, facts={"task_id": task}) for task in range(8)]
        for name, word in (("x", "clean correct"), ("y", "conflicts unhandled 2:conflict"))
    }

    found = rank(kinds, "naive", size=3)

    assert [(each.name, each.correct.count, each.groups) for each in found.teams] == [
        ("x", 8, ("a",)),
        ("y", 0, ("b",)),
    ]
    assert str(found).startswith("2 teams by naive in 8 tasks, with 3 features each")
    with pytest.raises(AnalysisError, match="'strict' is a policy"):
        rank(kinds, size=3)
    with pytest.raises(AnalysisError, match="team 'x' has no report of a team of 4 features"):
        rank(kinds, "naive", size=4)


@pytest.mark.parametrize(
    ("teams", "options", "error", "words"),
    [
        ({"a": GOOD}, {}, ArgumentError, "summaries must have at least two teams, not 1"),
        ({}, {}, ArgumentError, "at least two teams, not 0"),
        ([GOOD, BAD], {}, ArgumentError, "summaries must be Mapping"),
        ({"a": GOOD, "b": []}, {}, AnalysisError, "team 'b' has no report"),
        ({"a": GOOD, "b": "runs"}, {}, ArgumentError, "of 'b' must be a collection of reports"),
        ({"a": GOOD, "b": 3}, {}, ArgumentError, "of 'b' must be reports or their facts"),
        ({None: GOOD, "-": BAD}, {}, ArgumentError, "two teams called '-'"),
        (TEAMS, {"decider": "niave"}, AnalysisError, "strategy 'niave'; available: naive"),
        (TEAMS, {"confidence": float("nan")}, ArgumentError, "confidence must be greater"),
        (TEAMS, {"confidence": 1}, ArgumentError, "confidence must be greater"),
        (TEAMS, {"draws": 0}, ArgumentError, "draws must be at least 1"),
        (TEAMS, {"size": "3"}, ArgumentError, "size must be an integer or None"),
    ],
)
def test_bad_input_is_named(teams, options, error, words):
    """The error says which team or option is wrong."""
    with pytest.raises(error, match=words):
        rank(teams, **options)


def test_five_tasks_are_too_few():
    """Even if one team is right in all pairs and another in none; six are enough."""
    five, six = (rank({"a": team(*["+"] * n), "b": team(*["-"] * n)}) for n in (5, 6))

    assert list(five.groups) == ["a"]
    assert "with 5 tasks, no teams can be told apart" in str(five)
    assert list(six.groups) == ["a", "b"]
    assert "no teams can be" not in str(six)
    assert list(rank({"a": team(*["+"] * 5), "b": team(*["-"] * 5)}, confidence=0.9).groups) == [
        "a",
        "b",
    ]


def test_a_ranking_is_json_and_a_table():
    """The same columns in records and in a frame."""
    found = rank(TEAMS | {"alone": team(*["+?"] * 10)})
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    records = to_records(found)

    assert plain["teams"][0]["groups"] == ["a"]
    assert len(plain["differences"]) == 6
    assert records == found.to_records()
    assert records[0] | {"low": None, "high": None} == {
        "team": "alone",
        "rank": 1,
        "best_rank": 1,
        "worst_rank": 3,
        "groups": "a",
        "correct": 10,
        "answered": 10,
        "unanswered": 10,
        "rate": 1.0,
        "low": None,
        "high": None,
    }
    need_package("pandas")
    assert to_pandas(found).to_dict("records") == records


# Without the removal of groups, this one would have a group too many.
@example((6, {(0, 1), (0, 3), (0, 4), (0, 5), (1, 2), (1, 3), (1, 5), (2, 3), (3, 4)}))
@given(st.integers(1, 7).flatmap(lambda size: st.tuples(st.just(size), st.sets(pairs_below(size)))))
def test_teams_have_a_letter_in_common_if_and_only_if_they_are_alike(given_graph):
    """For any relation, and with no group that could be left out."""
    size, alike = given_graph

    groups = groups_of(size, lambda *two: two in alike)

    together = {two for group in groups for two in combinations(group, 2)}
    assert together == alike
    assert {each for group in groups for each in group} == set(range(size))
    for group in groups:
        rest = {two for other in groups if other is not group for two in combinations(other, 2)}
        assert len(group) == 1 or not set(combinations(group, 2)) <= rest


@given(lists_of(st.integers(0, 6)))
def test_neighbours_that_are_alike_have_the_fewest_groups(reach):
    """If each team is like those up to some place, groups are the longest runs."""
    ends = [
        max([place, *(min(far, len(reach) - 1) for far in reach[: place + 1])])
        for place in range(len(reach))
    ]

    groups = groups_of(len(reach), lambda one, other: other <= ends[one])

    runs = [
        tuple(range(place, end + 1))
        for place, end in enumerate(ends)
        if not place or end > ends[place - 1]
    ]
    assert groups == runs


def test_letters_go_on_after_z():
    """As the columns of a spreadsheet do."""
    assert [letter(place) for place in (0, 25, 26, 27, 701, 702)] == [
        "a",
        "z",
        "aa",
        "ab",
        "zz",
        "aaa",
    ]

"""Summaries of teams by size: counted by hand, beside pairs and by group."""

import json
import math

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_pairs import pair
from made_teams import row, team
from needs import need_package

import cooperbench_eval as ce
from cooperbench_eval.analysis.measures import Mean

PAIRS = [
    pair(naive="clean ++", facts={"task_id": 1}),
    pair(naive="conflicts", facts={"task_id": 2, "model": "m"}),
]
THREES = [
    team(3, naive="clean correct", union="clean correct"),
    team(3, naive="conflicts unhandled 2:conflict", union="resolved incorrect 3:breaks"),
    team(3, naive="not_tried not_run 2:missing_input 3:conflict", union="not_tried not_run"),
    team(3, naive="clean not_run", union="clean not_run", facts={"model": "m"}),
]
FOURS = [
    team(4, naive="conflicts unhandled 1:conflict 2:conflict 4:fails_own_tests"),
    team(4, facts={"merge_status": "not_evaluated", "failure": "dataset"}, naive="clean not_run"),
]


def numbered(teams):
    """Give each team a task of its own."""
    return [attrs.evolve(each, task_id=number) for number, each in enumerate(teams)]


TEAMS = numbered([*THREES, *FOURS])


def test_teams_are_counted_by_size():
    """The numbers are those that a person counts."""
    summary = ce.summarize([*PAIRS, *TEAMS])

    three, four = summary.teams.values()
    assert list(summary.teams) == [three.size, four.size] == [3, 4]
    assert (three.teams, four.teams) == (4, 2)
    assert {k.value: n for k, n in three.statuses.items()} == {
        "clean": 2,
        "conflicts": 1,
        "missing_input": 1,
    }
    assert (three.not_evaluated, four.not_evaluated) == (0, 1)
    assert {k.value: n for k, n in four.failures.items()} == {"dataset": 1}
    naive, union = three.strategies.values()
    assert (naive.name, union.name) == ("naive", "union")
    assert (naive.correct.count, naive.correct.total) == (1, 3)
    assert (naive.correct.low, naive.correct.high) == (
        ce.analysis.Rate(1, 3).low,
        ce.analysis.Rate(1, 3).high,
    )
    assert naive.verdicts == ce.analysis.Verdicts(
        correct=1, unhandled=1, not_run=2, missing_input=1
    )
    assert union.verdicts == ce.analysis.Verdicts(
        correct=1, incorrect=1, not_run=2, missing_input=1
    )
    assert naive.landed.count == union.landed.count == 4
    assert naive.landed.mean == pytest.approx((1 + 2 / 3 + 1 / 3 + 1) / 4)
    assert union.landed.mean == pytest.approx((1 + 2 / 3 + 1 + 1) / 4)
    assert {k.value: n for k, n in naive.left_out.items()} == {"missing_input": 1, "conflict": 2}
    assert {k.value: n for k, n in union.left_out.items()} == {"breaks": 1}
    assert naive.seconds.count == 3
    (only,) = four.strategies.values()
    assert only.verdicts == ce.analysis.Verdicts(unhandled=1, not_run=1)
    assert only.landed == Mean(count=1, mean=1 / 4)
    assert {k.value: n for k, n in only.left_out.items()} == {"fails_own_tests": 1, "conflict": 2}


def test_teams_do_not_change_the_numbers_of_pairs():
    """Nor do pairs change those of teams."""
    both = ce.summarize([*TEAMS, *PAIRS])

    assert attrs.evolve(both, teams={}) == ce.summarize(PAIRS)
    assert both.teams == ce.summarize(TEAMS).teams
    assert ce.summarize(TEAMS).pairs == 0
    assert ce.compare([*PAIRS, *TEAMS], PAIRS, "naive") == ce.compare(PAIRS, PAIRS, "naive")
    tries = ce.analysis.solved_within([*TEAMS, PAIRS[0]], "naive")
    assert tries == ce.analysis.solved_within([PAIRS[0]], "naive")
    assert ce.to_records([*PAIRS, *TEAMS]) == ce.to_records(PAIRS)
    gold = ce.summarize([*PAIRS, *TEAMS], gold=[*TEAMS, *PAIRS]).strategies["naive"].gold
    assert gold == ce.summarize(PAIRS, gold=PAIRS).strategies["naive"].gold


@given(st.permutations([*PAIRS, *TEAMS]))
def test_the_order_of_the_reports_does_not_matter(shuffled):
    """Every number is the same to the last bit."""
    assert ce.summarize(shuffled).to_dict() == ce.summarize([*PAIRS, *TEAMS]).to_dict()


def test_a_group_has_its_teams():
    """A team has no severity; a function gets the facts of teams too."""
    summary = ce.summarize([*PAIRS, *TEAMS], by="model")

    assert {key: group.pairs for key, group in summary.groups.items()} == {"m": 1, None: 1}
    assert summary.groups["m"].teams == ce.summarize(TEAMS[3:4]).teams
    assert list(summary.groups["m"].teams) == [3]
    assert sum(group.teams[3].teams for group in summary.groups.values()) == 4
    assert ce.summarize(TEAMS, by="severity").groups.keys() == {None}
    assert ce.summarize(TEAMS, by=["severity", "k"]).groups.keys() == {(None, 1)}
    sizes = ce.summarize([*PAIRS, *TEAMS], by=lambda facts: len(facts.numbers)).groups
    assert {key: (each.pairs, list(each.teams)) for key, each in sizes.items()} == {
        2: (2, []),
        3: (0, [3]),
        4: (0, [4]),
    }


def test_a_team_whose_suites_have_no_answer_is_outside_the_share_of_what_landed():
    """Without suites, the merges decide what lands; suites that cannot start decide nothing."""
    base = ce.Snapshot.from_files({"a": b"a\n"})

    def evaluated(program, runner):
        suite = ce.TestSuite(command=(program,), framework="exit")
        features = [
            ce.Feature(
                number=number,
                patch=ce.Changes({f"f{number}": ce.Entry(b"x\n")}).diff(base),
                tests=suite,
            )
            for number in (1, 2)
        ]
        evaluator = ce.Evaluator(strategies=["naive"], runner=runner)
        return evaluator.evaluate_team(
            ce.FeatureTeam(repo_name="r", task_id=1, base=base, features=features)
        )

    runner = ce.TestRunner(sandbox="local")
    passing, failing = evaluated("true", runner), evaluated("false", runner)
    open_, merged = evaluated("/absent", runner), evaluated("/absent", None)

    def landed(*reports):
        return ce.summarize(reports).teams[2].strategies["naive"].landed

    assert open_.attempt("naive").verdict == merged.attempt("naive").verdict == "not_run"
    assert (landed(passing).count, landed(open_).count, landed(merged).count) == (1, 0, 1)
    assert landed(failing, open_) == landed(failing)


def test_a_failed_service_says_nothing_about_a_strategy():
    """Its team is neither unhandled nor in the share of landed features."""
    word = "conflicts unhandled 2:conflict"
    failed = team(3, row("llm", word, service_failed=True, requests=3, cost_usd=0.5))
    answered = team(3, row("llm", word, requests=2, cost_usd=0.25), facts={"k": 2})

    llm = ce.summarize([failed, answered]).teams[3].strategies["llm"]

    assert llm.verdicts == ce.analysis.Verdicts(unhandled=1, not_run=1)
    assert llm.landed == Mean(count=1, mean=2 / 3)
    assert sum(llm.left_out.values()) == 1
    assert (llm.requests, llm.cost_usd) == (5, 0.75)


def test_a_team_counts_as_repeated_only_in_the_same_order():
    """Another order is another team."""
    one, other = THREES[0], THREES[0]
    turned = attrs.evolve(one, features=one.features[::-1])

    assert ce.summarize([one, turned]).teams[3].repeated == 0
    assert ce.summarize([one, other, turned]).teams[3].repeated == 1


def test_a_strategy_without_a_row_is_not_run():
    """Teams of one size may have been evaluated with several evaluators."""
    teams = numbered([team(3, naive="clean correct"), team(3, union="clean correct")])

    strategies = ce.summarize(teams).teams[3].strategies

    assert strategies["naive"].verdicts == ce.analysis.Verdicts(correct=1, not_run=1)
    assert strategies["union"].verdicts == ce.analysis.Verdicts(correct=1, not_run=1)


@given(st.lists(st.sampled_from([0, 0.25, 1 / 3, 0.5, 2 / 3, 1]), min_size=2, max_size=12))
def test_the_interval_of_a_mean_is_students(shares):
    """It is cut off at 0 and 1."""
    stats = need_package("scipy.stats")
    found = Mean.of(shares, confidence=0.9)

    assert found.count == len(shares)
    assert found.mean == pytest.approx(sum(shares) / len(shares))
    if len(set(shares)) == 1:
        assert found.low is found.high is None
        return
    low, high = stats.ttest_1samp(shares, 0).confidence_interval(0.9)
    assert found.low == pytest.approx(max(low, 0), abs=1e-12)
    assert found.high == pytest.approx(min(high, 1), abs=1e-12)


def test_a_mean_of_nothing_is_unknown():
    """One share has no interval."""
    assert Mean.of([]).to_dict() == {"count": 0, "mean": None, "low": None, "high": None}
    assert Mean.of([0.5]) == Mean(count=1, mean=0.5)
    assert not any(math.isnan(each) for each in Mean.of([0.1, 0.1, 0.1]).to_dict().values() if each)


def test_the_summary_is_plain_json():
    """Teams are listed by size, in groups too."""
    plain = ce.summarize([*PAIRS, *TEAMS], by="k").to_dict()

    assert json.loads(json.dumps(plain)) == plain
    assert [each["size"] for each in plain["teams"]] == [3, 4]
    assert plain["groups"][0]["teams"] == plain["teams"]
    (naive, _) = plain["teams"][0]["strategies"]
    assert naive["left_out"] == {"missing_input": 1, "conflict": 2}
    assert naive["landed"]["mean"] == pytest.approx(0.75)


def test_a_summary_shows_teams_below_pairs():
    """By size, with what landed and why the rest was left out."""
    lines = str(ce.summarize([*PAIRS, *TEAMS], policies=[])).splitlines()

    assert lines[0] == "2 pairs: clean 1, conflicts 1, missing input 0"
    assert lines[1] == "6 teams: 4 of 3 features, 2 of 4 features, not evaluated 1"
    header = "correct rate interval unanswered incorrect unhandled missing input landed interval"
    # The interval of 75.0%: the standard error is 0.160, and t is 3.182 with 3 degrees of freedom.
    assert [" ".join(line.split()) for line in lines[4:]] == [
        header,
        "teams of 3 (4)",
        "naive 1/3 33.3% 6.1%-79.2% 1 (25%) 0 1 1 75.0% 24.2%-100.0%",
        "union 1/3 33.3% 6.1%-79.2% 1 (25%) 1 0 1 91.7% 65.1%-100.0%",
        "teams of 4 (2)",
        "naive 0/1 - - 1 (50%) 0 1 0 25.0% -",
        "features left out missing input fails own tests conflict breaks",
        "naive, teams of 3 1 0 2 0",
        "union, teams of 3 0 0 0 1",
        "naive, teams of 4 0 1 2 0",
    ]


def test_a_summary_of_teams_only_shows_no_table_of_pairs():
    """Nor does a group without pairs have rows there; parts of a summary show themselves."""
    summary = ce.summarize(TEAMS, by="model")

    text = str(summary)

    assert text.startswith("6 teams: ")
    assert "[strict]" not in text
    assert "m, teams of 3 (1)" in text
    assert "all teams of 3 (4)" in text
    assert "\nm (0)" not in str(ce.summarize([PAIRS[0], *TEAMS], by="model"))
    assert str(summary.teams[4]).startswith("2 teams: 2 of 4 features, not evaluated 1\n")
    naive = summary.teams[3].strategies["naive"]
    assert str(naive).startswith("naive: 4 teams\n")
    assert "75.0%" in naive._repr_html_()
    landed = ce.summarize([*TEAMS, team(5, naive="clean correct")])
    assert "teams of 5 (1)" in str(landed)
    assert "naive, teams of 5" not in str(landed), "no feature was left out"

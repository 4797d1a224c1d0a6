"""The results of CooperBench's evaluator beside ours."""

from pathlib import Path

import pytest
from made_pairs import NOON, pair

import cooperbench_eval as ce
from cooperbench_eval.analysis import compare_with_cooperbench
from cooperbench_eval.cooperbench.runlogs import Setting


def of_cooperbench(both_passed=True, *, features=(1, 2), setting=Setting.COOP, **facts):
    """A result as CooperBench's evaluator has it."""
    plain = {
        "repo_name": "click",
        "task_id": 1,
        "merge_status": "clean",
        "merge_strategy": "naive",
        "apply_status": {},
        "passed": dict.fromkeys(features, both_passed),
        "passed_tests": {},
        "failed_tests": {},
        "error": "",
        "evaluated_at": "",
        "path": Path("eval.json"),
    }
    given = {"both_passed": both_passed, "features": features, "setting": setting}
    return ce.runlogs.CooperBenchResult(**plain | given | facts)


def ours(word="clean ++", *, features=(1, 2), setting="coop", **facts):
    """Our facts of the same pair."""
    return pair(naive=word, features=features, facts={"setting": setting} | facts)


def counts(found):
    """The four counts of a comparison."""
    each = found.comparison
    return each.both, each.only_first, each.only_second, each.neither


def test_two_evaluations_of_a_pair_are_counted_together():
    """What both pass, one, or neither; the disagreements are there to be looked at."""
    evals = [
        of_cooperbench(features=(1, 2)),
        of_cooperbench(features=(1, 3)),
        of_cooperbench(False, features=(1, 4)),
    ]
    evals.append(of_cooperbench(False, features=(1, 5)))
    reports = [ours(features=(1, n)) for n in (2, 4)]
    reports += [ours("clean +-", features=(1, n)) for n in (3, 5)]

    found = compare_with_cooperbench(evals, reports)

    assert counts(found) == (1, 1, 1, 1)
    assert found.agreeing == 2
    assert [each.cooperbench.features for each in found.disagreements] == [(1, 3), (1, 4)]
    assert [each.judged.verdict.value for each in found.disagreements] == ["incorrect", "correct"]
    assert (found.comparison.first, found.comparison.second) == (
        "cooperbench",
        "cooperbench-0.0.29",
    )


def test_a_pair_is_the_same_in_any_order():
    """The first feature is merged into the second, but the question is the same."""
    found = compare_with_cooperbench([of_cooperbench(features=(2, 1))], [ours(features=(1, 2))])

    assert counts(found) == (1, 0, 0, 0)


def test_a_team_of_more_than_two_is_not_a_pair():
    """CooperBench's evaluator left agents out, and their folder may be beside that of the pair."""
    teams = [
        of_cooperbench(features=(1, 2, 3)),
        of_cooperbench(features=(1, 2, 4)),
        of_cooperbench(features=(1, 2, 4)),
    ]

    found = compare_with_cooperbench(
        [*teams, of_cooperbench(False)], [ours(), ours(features=(1, 3))]
    )

    assert counts(found) == (0, 0, 1, 0)
    assert (found.comparison.unmatched_first, found.comparison.unmatched_second) == (3, 1)


@pytest.mark.parametrize("numbers", [(2, 1), (3, 2, 1)])
def test_our_report_of_a_team_is_not_compared(numbers):
    """Its verdict is not the one that a policy gives, even if the team is a pair."""
    features = [
        ce.reporting.FeatureReport(number=n, patch=ce.reporting.PatchReport(status="empty"))
        for n in numbers
    ]
    team = ce.TeamReport(
        repo_name="click", task_id=1, timestamp=NOON, features=features, setting="coop"
    )

    found = compare_with_cooperbench([of_cooperbench(), of_cooperbench(features=(1, 2, 3))], [team])

    assert sum(counts(found)) == 0
    assert (found.comparison.unmatched_first, found.comparison.unmatched_second) == (2, 0)


def test_the_policy_says_what_counts():
    """By default that of CooperBench's evaluator, with its lead; `strict` knows none."""
    reports = [pair(naive="conflicts", lead="applied +.+", facts={"setting": "coop"})]

    assert counts(compare_with_cooperbench([of_cooperbench()], reports)) == (1, 0, 0, 0)
    assert counts(compare_with_cooperbench([of_cooperbench()], reports, policy="strict")) == (
        0,
        1,
        0,
        0,
    )


def test_errors_are_not_answers():
    """Neither CooperBench's nor ours."""
    broken = of_cooperbench(False, features=(1, 3), error="daemon down")
    unknown = ours("clean +!", features=(1, 2))

    found = compare_with_cooperbench([of_cooperbench(), broken], [unknown, ours(features=(1, 3))])

    assert counts(found) == (0, 0, 0, 0)
    assert found.comparison.unanswered == 2
    assert found.disagreements == ()


def test_what_only_one_has_is_counted():
    """It is compared with nothing."""
    found = compare_with_cooperbench(
        [of_cooperbench(), of_cooperbench(features=(1, 3)), of_cooperbench(repo_name="jinja")],
        [ours(), ours(features=(4, 5))],
    )

    assert counts(found) == (1, 0, 0, 0)
    assert (found.comparison.unmatched_first, found.comparison.unmatched_second) == (2, 1)


@pytest.mark.parametrize(
    ("theirs", "setting", "matches"),
    [
        (Setting.COOP, "coop", True),
        (Setting.COOP, "team", False),
        (None, "team", True),
        (Setting.TEAM, None, True),
        (None, None, True),
    ],
)
def test_settings_have_to_agree_where_both_are_known(theirs, setting, matches):
    """A team's result is not held against another setting's."""
    found = compare_with_cooperbench([of_cooperbench(setting=theirs)], [ours(setting=setting)])

    assert sum(counts(found)) == matches


def test_a_setting_that_could_be_either_matches_none():
    """Nobody guesses."""
    reports = [ours(setting="coop"), ours(setting="team")]

    found = compare_with_cooperbench([of_cooperbench(setting=None)], reports)

    assert sum(counts(found)) == 0
    assert (found.comparison.unmatched_first, found.comparison.unmatched_second) == (1, 2)


def test_a_pair_that_occurs_twice_is_an_error():
    """The error names the side that has the pair twice, because neither can be preferred."""
    again = of_cooperbench(False, path=Path("again/eval.json"))
    twice = r"have features 1 and 2 of click/1 \(coop\) twice"

    with pytest.raises(
        ce.errors.AnalysisError, match=rf"evaluator {twice}: eval.json, again/eval.json"
    ):
        compare_with_cooperbench([of_cooperbench(), again], [ours()])
    with pytest.raises(ce.errors.AnalysisError, match=f"our reports {twice}$"):
        compare_with_cooperbench([of_cooperbench()], [ours(), ours("conflicts")])


def test_a_setting_that_is_not_known_is_not_named():
    """The error does not make one up."""
    with pytest.raises(ce.errors.AnalysisError, match="of click/1 twice"):
        compare_with_cooperbench([], [ours(setting=None), ours(setting=None)])


def test_an_unknown_policy_is_an_error():
    """It names those that are known."""
    with pytest.raises(ce.errors.AnalysisError, match="strict"):
        compare_with_cooperbench([], [], policy="stricter")

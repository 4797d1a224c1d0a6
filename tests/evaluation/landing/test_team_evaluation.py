"""Teams: what lands in which order, why the rest does not, and how that agrees with pairs."""

import hashlib

import attrs
import pytest
from generators import diverging_trees
from hypothesis import given
from hypothesis import strategies as st

import cooperbench_eval as ce

LINES = [b"line %d\n" % number for number in range(20)]
BASE = ce.Snapshot.from_files({"f": b"".join(LINES), "g": b"".join(LINES)})


class Checks:
    """A sandbox whose commands are functions of the tree; nothing is started."""

    name = identity = "checks"

    def __init__(self, checks=()):
        """Keep functions from a folder to an exit status, by name."""
        self.checks = dict(checks)
        self.commands = []

    def run(self, command, *, tree, **_):
        """Call the function that the command names."""
        self.commands.append(command)
        return ce.running.Execution(exit_code=self.checks[command[-1]](tree))


def by_contents(seed):
    """Return a check that fails on every third tree, as if by chance, but always the same."""

    def check(tree):
        digest = hashlib.sha256(seed.encode())
        for file in sorted(each for each in tree.rglob("*") if each.is_file()):
            digest.update(file.relative_to(tree).as_posix().encode("utf-8", "surrogateescape"))
            digest.update(file.read_bytes())
        return int(digest.digest()[0] % 3 == 0)

    return check


def absent(*words):
    """Return a check that fails if file `f` has all the words."""
    return lambda tree: int(all(word in (tree / "f").read_text() for word in words))


def suite(name):
    """Return a suite that is one check."""
    return ce.TestSuite(command=("check", name), framework="exit")


def edit(number, text, file="f", **others):
    """Return the patch that replaces a line."""
    lines = list(LINES)
    lines[number] = text
    return ce.Changes({file: ce.Entry(b"".join(lines)), **others}).diff(BASE)


def team(*features, **options):
    """Return a team of features, given as numbers with patches and perhaps suites."""
    made = [
        ce.Feature(number=number, patch=patch, tests=suite(*tests) if tests else None)
        for number, patch, *tests in features
    ]
    return ce.FeatureTeam(repo_name="r", task_id=0, base=BASE, features=made, **options)


def evaluator(sandbox=None, strategies=("naive",), **options):
    """Return an evaluator with a runner for the sandbox."""
    runner = ce.TestRunner(sandbox=sandbox) if sandbox else None
    return ce.Evaluator(strategies=strategies, runner=runner, **options)


ONE, TWO, THREE = edit(2, b"red\n"), edit(8, b"green\n"), edit(14, b"blue\n")
RIVAL = edit(2, b"grey\n")


# --- the same as a pair ------------------------------------------------------


@given(
    diverging_trees(2, 2),
    st.sampled_from(["", "a", "b"]),
    st.sampled_from(["", "c", "d"]),
    st.sampled_from([("", ""), ("e", ""), ("", "f"), ("e", "f")]),
    st.sampled_from(["delta", "absolute"]),
)
def test_a_team_of_two_is_evaluated_as_a_pair(trees, check1, check2, both, judge):
    """Merges, scores, verdicts and blame are those of `evaluate`, whatever the tests say."""
    base = ce.Snapshot.from_files(trees[0])
    one, two = (
        ce.Feature(
            number=number,
            patch=ce.Changes.between(base, ce.Snapshot.from_files(tree)).diff(base),
            tests=suite(check) if check else None,
        )
        for number, tree, check in ((1, trees[1], check1), (2, trees[2], check2))
    )
    joint, regression = (suite(check) if check else None for check in both)
    common = {"repo_name": "r", "task_id": 0, "base": base}
    common |= {"joint": joint, "regression": regression}
    sandbox = Checks({name: by_contents(name) for name in "abcdef"})
    both_ways = evaluator(sandbox, ["naive", "union", "structured"], judge=judge)

    pair = both_ways.evaluate(ce.FeaturePair(feature1=one, feature2=two, **common))
    found = both_ways.evaluate_team(ce.FeatureTeam(features=[two, one], **common))

    assert found.merge_status is pair.merge_status
    assert found.conflict_score == pair.conflict_score
    assert found.is_final == pair.is_final
    assert found.preexisting_failures == pair.preexisting_failures
    assert len(found.warnings) == len(pair.warnings)
    for attempt in pair.attempts:
        name = attempt.strategy
        row, blame = found.attempt(name), found.blame(name)
        assert (row.status, row.verdict) == (attempt.status, attempt.verdict)
        assert row.absolute_verdict == attempt.absolute_verdict
        expected = pair.blame(name)
        assert (blame.kind, blame.features) == (expected.kind, expected.features)
        lost = {(each.suite, each.feature): each.tests for each in blame.lost}
        assert lost.get((ce.reporting.TeamSuite.FEATURE, 1), ()) == expected.lost_tests1
        assert lost.get((ce.reporting.TeamSuite.FEATURE, 2), ()) == expected.lost_tests2
        for step in row.steps:
            assert (step.into, step.feature) == ((2,), 1)
            assert step.conflict_details == attempt.conflict_details
            assert (step.tree_id, step.diff) == (attempt.tree_id, attempt.diff)
            assert step.replacements == attempt.replacements
            assert step.conflicts_met == attempt.conflicts_met
            assert step.ledger == attempt.ledger
            assert all(each.features == (2, 1) for each in step.ledger)
        if row.verdict is ce.Verdict.CORRECT:
            assert row.landed == (2, 1)
        assert sorted([*row.landed, *(each.number for each in row.left_out)]) == [1, 2]
    assert ce.TeamReport.from_json(found.to_json()) == found


# --- a queue -----------------------------------------------------------------


def test_features_land_in_their_order():
    """The landed tree is the merge of those that land, and the score is their share."""
    report = evaluator().evaluate_team(team((1, ONE), (2, RIVAL), (3, TWO)))

    attempt = report.attempt("naive")
    assert attempt.landed == (1, 3)
    assert attempt.score == pytest.approx(2 / 3)
    assert attempt.verdict is ce.Verdict.UNHANDLED
    (left_out,) = attempt.left_out
    assert (left_out.number, left_out.reason) == (2, ce.reporting.LeftOutReason.CONFLICT)
    assert (left_out.features, left_out.files) == ((1,), ("f",))
    both = ce.apply_patch(BASE, ce.Patch.parse(attempt.diff)).changes
    assert both.tree_id(BASE) == attempt.tree_id
    assert both["f"].data.count(b"red") == both["f"].data.count(b"green") == 1
    assert [(each.into, each.feature) for each in attempt.steps] == [((1,), 2), ((1,), 3)]


def test_the_order_decides_who_lands():
    """A queue has no second chance."""
    report = evaluator().evaluate_team(team((2, RIVAL), (3, TWO), (1, ONE)))

    attempt = report.attempt("naive")
    assert attempt.landed == (2, 3)
    assert attempt.left_out[0].features == (2,)
    markers = attempt.steps[1].diff
    assert b"+<<<<<<< feature2+feature3" in markers
    assert b"+>>>>>>> feature1" in markers


def test_a_ledger_names_the_features_that_a_conflict_is_between():
    """In each file, these are the ones that touch it."""
    other = edit(2, b"other\n", file="g")
    rival = edit(2, b"grey\n", g=ce.Entry(b"".join([*LINES[:2], b"rival\n", *LINES[3:]])))

    report = evaluator(strategies=["structured"]).evaluate_team(
        team((1, ONE), (2, other), (3, TWO), (4, rival))
    )

    (*_, step) = report.attempt("structured").steps
    assert {(each.path, each.features) for each in step.ledger} == {
        ("f", (1, 3, 4)),
        ("g", (2, 4)),
    }


def test_all_features_are_tested_together_first():
    """If every suite passes there, each one runs once on a merged tree."""
    sandbox = Checks({name: absent("nothing") for name in "abc"})
    numbered = team((1, ONE, "a"), (2, TWO, "b"), (3, THREE, "c"))

    report = evaluator(sandbox, test_base=False).evaluate_team(numbered)

    attempt = report.attempt("naive")
    assert attempt.verdict is ce.Verdict.CORRECT
    assert attempt.landed == (1, 2, 3)
    assert len(sandbox.commands) == 2 * 3
    assert report.blame("naive").kind is ce.reporting.BlameKind.NOBODY


def test_a_feature_that_breaks_another_ones_tests_is_left_out():
    """The report says whose tests, and the verdict counts all features together."""
    sandbox = Checks({"a": absent("red", "green"), "b": absent("nothing")})
    numbered = team((1, ONE, "a"), (2, TWO, "b"), (3, THREE, "b"))

    report = evaluator(sandbox).evaluate_team(numbered)

    attempt = report.attempt("naive")
    assert attempt.landed == (1, 3)
    assert attempt.verdict is ce.Verdict.INCORRECT
    (left_out,) = attempt.left_out
    assert (left_out.number, left_out.reason) == (2, ce.reporting.LeftOutReason.BREAKS)
    assert left_out.features == (1,)
    assert [each.feature for each in left_out.tests] == [1]
    assert [run.outcome for run in attempt.landed_tests] == [True, True]
    blame = report.blame("naive")
    assert blame.kind is ce.reporting.BlameKind.MERGE_BROKE_FEATURES
    assert blame.features == (1,)
    steps = [(each.into, each.feature) for each in attempt.steps]
    assert steps == [((1,), 2), ((1, 2), 3), ((1,), 3)]


def test_a_feature_that_fails_alone_keeps_nobody_out():
    """It is left out, and the others land without it."""
    sandbox = Checks({"a": absent("red"), "b": absent("nothing")})

    report = evaluator(sandbox).evaluate_team(team((1, ONE, "a"), (2, TWO, "b"), (3, THREE, "b")))

    attempt = report.attempt("naive")
    assert attempt.landed == (2, 3)
    assert attempt.left_out[0].reason is ce.reporting.LeftOutReason.FAILS_OWN_TESTS
    assert report.blame("naive").kind is ce.reporting.BlameKind.BROKEN_ALONE
    assert report.blame("naive").features == (1,)


def test_a_failure_is_confirmed_by_a_second_run():
    """A test that fails once and then passes leaves nobody out, and decides nothing."""
    seen = []

    def flaky(tree):
        merged = absent("red", "green")(tree)
        seen.append(merged)
        return int(merged and seen.count(1) == 1)

    sandbox = Checks({"a": flaky, "b": absent("nothing")})

    report = evaluator(sandbox).evaluate_team(team((1, ONE, "a"), (2, TWO, "b")))

    attempt = report.attempt("naive")
    assert attempt.landed == (1, 2)
    assert seen.count(1) == 2
    assert attempt.tests[0].judgement.flaky == ("check a",)
    assert attempt.verdict is ce.Verdict.NOT_RUN
    assert report.warnings[0] == (
        "Under the absolute rule, naive would be correct: check a failed and passed on the same "
        "tree."
    )


def test_the_joint_tests_need_all_features():
    """On a tree without one of them, they would only show that it is missing."""
    seen = []

    def joint(tree):
        text = (tree / "f").read_text()
        seen.append([word for word in ("red", "green", "blue") if word in text])
        return int(len(seen[-1]) == 3)

    sandbox = Checks({"a": absent("nothing"), "joint": joint})
    numbered = team((1, ONE, "a"), (2, TWO, "a"), (3, THREE, "a"), joint=suite("joint"))

    report = evaluator(sandbox).evaluate_team(numbered)

    attempt = report.attempt("naive")
    assert attempt.verdict is ce.Verdict.INCORRECT
    assert attempt.landed == (1, 2)
    assert attempt.left_out[0].tests[0].suite is ce.reporting.TeamSuite.JOINT
    assert ["red", "green"] not in seen
    assert "prove nothing about the merge" in report.warnings[0]
    assert report.blame("naive").kind is ce.reporting.BlameKind.MERGE_BROKE_JOINT


def test_a_feature_may_not_break_the_repositorys_own_tests():
    """They are run with the suites of the features."""
    sandbox = Checks({"own": absent("red", "blue")})
    numbered = team((1, ONE), (2, TWO), (3, THREE), regression=suite("own"))

    report = evaluator(sandbox).evaluate_team(numbered)

    attempt = report.attempt("naive")
    assert attempt.landed == (1, 2)
    assert attempt.left_out[0].tests[0].suite is ce.reporting.TeamSuite.REGRESSION
    assert report.blame("naive").kind is ce.reporting.BlameKind.MERGE_BROKE_REGRESSION


# --- input that is not as it should be ---------------------------------------


@pytest.mark.parametrize("patch", [b"", b"no diff", edit(2, b"x\n").replace(b"line", b"lime")])
def test_a_missing_patch_is_left_out(patch):
    """The others land; the verdict is that of a pair with a missing patch."""
    sandbox = Checks({"a": absent("nothing")})

    report = evaluator(sandbox).evaluate_team(team((1, ONE, "a"), (2, patch, "a"), (3, TWO, "a")))

    attempt = report.attempt("naive")
    assert attempt.landed == (1, 3)
    assert attempt.left_out[0].reason is ce.reporting.LeftOutReason.MISSING_INPUT
    assert attempt.left_out[0].problem
    assert attempt.status is ce.MergeStatus.NOT_TRIED
    assert attempt.verdict is ce.Verdict.NOT_RUN
    assert report.merge_status is ce.reporting.PairStatus.MISSING_INPUT
    assert report.conflict_score is None
    assert report.blame("naive").kind is ce.reporting.BlameKind.MISSING_SIDE
    assert report.blame("naive").features == (2,)


def test_nothing_lands_if_every_patch_is_missing():
    """The tree of no feature is the base."""
    attempt = evaluator().evaluate_team(team((1, b""), (2, b""))).attempt("naive")

    assert attempt.landed == ()
    assert (attempt.score, attempt.tree_id, attempt.diff) == (0, BASE.tree_id, b"")


def test_a_strategy_that_raises_costs_only_the_feature_that_it_was_merging():
    """The next features are merged into the result so far."""

    class Shy:
        name = "shy"

        def merge(self, merge_input):
            if merge_input.conflicts:
                raise RuntimeError("no")
            return ce.get_strategy("naive").merge(merge_input)

    report = evaluator(strategies=[Shy()]).evaluate_team(team((1, ONE), (2, RIVAL), (3, TWO)))

    attempt = report.attempt("shy")
    assert attempt.landed == (1, 3)
    assert attempt.left_out[0].reason is ce.reporting.LeftOutReason.STRATEGY_FAILED
    assert "no" in attempt.left_out[0].problem
    assert attempt.status is ce.MergeStatus.FAILED
    assert attempt.verdict is ce.Verdict.UNHANDLED


def test_a_strategy_knows_the_features_that_were_merged_before():
    """Several features on our side have no single context, but all are listed."""
    seen = []

    class Listening:
        name = "listening"

        def merge(self, merge_input):
            seen.append([each.number for each in merge_input.ours_features])
            assert (merge_input.ours_feature is None) == (len(seen[-1]) > 1)
            return ce.get_strategy("naive").merge(merge_input)

    evaluator(strategies=[Listening()]).evaluate_team(team((5, ONE), (7, TWO), (6, THREE)))

    assert seen == [[5], [5, 7]]


@pytest.mark.parametrize(
    ("features", "problem"),
    [
        ([], "two or more for a team, not 0"),
        ([(1, ONE)], "two or more for a team, not 1"),
        ([(1, ONE), (2, TWO), (1, THREE)], "have the number 1"),
    ],
)
def test_a_team_has_two_or_more_different_features(features, problem):
    """A wrong team cannot be made."""
    with pytest.raises(ValueError, match=problem):
        team(*features)


def test_a_team_is_made_of_features():
    """A patch alone has no number."""
    with pytest.raises(TypeError, match=r"features must be .*, but item 0 is bytes"):
        ce.FeatureTeam(repo_name="r", task_id=0, base=BASE, features=[ONE, TWO])


def test_a_report_has_a_row_for_each_strategy():
    """Others are not found, and rows are compared like values."""
    report = evaluator(strategies=["naive", "union"]).evaluate_team(team((1, ONE), (2, RIVAL)))

    assert report.attempt("union").landed == (1, 2)
    assert report.size == 2
    with pytest.raises(KeyError):
        report.attempt("llm")
    with pytest.raises(ValueError, match="two rows"):
        attrs.evolve(report, attempts=[report.attempts[0]] * 2)


def test_nobody_is_blamed_for_a_tests_patch_that_does_not_apply_to_the_merged_tree():
    """Nothing is known about the tree, and the report says why."""
    tests = ce.Changes({"checks/a": ce.Entry(b"a\n")}).diff(BASE)
    own = ce.TestSuite(command=("check", "a"), framework="exit", patch=tests)
    blocking = edit(8, b"green\n", checks=ce.Entry(b"a file\n"))
    features = [
        ce.Feature(number=1, patch=ONE, tests=own),
        ce.Feature(number=2, patch=blocking, tests=suite("a")),
    ]
    numbered = ce.FeatureTeam(repo_name="r", task_id=0, base=BASE, features=features)

    report = evaluator(Checks({"a": absent("nothing")})).evaluate_team(numbered)

    attempt = report.attempt("naive")
    assert attempt.verdict is ce.Verdict.NOT_RUN
    assert attempt.landed == (1, 2)
    assert "the tests patch does not apply" in report.problem

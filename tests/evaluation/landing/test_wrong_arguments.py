"""Arguments of the wrong type are refused by name, before anything runs."""

import re

import pytest

import cooperbench_eval as ce

BASE = ce.Snapshot.from_files({"f": b"1\n", "g": b"1\n"})
DIFF = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-1\n+2\n"
PATCHES = [DIFF.format("f"), DIFF.format("g")]
SUITE = ce.TestSuite(command=("true",), framework="exit")
FEATURES = [ce.Feature(number=n, patch=patch) for n, patch in enumerate(PATCHES, 1)]
ORDER = "order must be 'search', 'given' or Sequence[int], "

SUITES = "suites must be Mapping[int, TestSuite] or None, "


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"base": "tree"}, "base must be Snapshot, not str: 'tree'"),
        ({"base": None}, "base must be Snapshot, not NoneType: None"),
        ({"joint": "x"}, "joint must be TestSuite or None, not str: 'x'"),
        ({"regression": ("true",)}, "regression must be TestSuite or None, not tuple"),
        ({"runner": 5}, "runner must be an object with a run method or None, not int: 5"),
        ({"runner": ce.TestRunner}, "run method or None, not the class TestRunner"),
        ({"order": {1, 2}}, ORDER + "not set: {1, 2}"),
        ({"order": b"\1\2"}, ORDER + "not bytes"),
        ({"order": None}, ORDER + "not NoneType: None"),
        ({"order": [True, 2]}, ORDER + "but item 0 is bool: True"),
        ({"order": [1, 2.0]}, ORDER + "but item 1 is float: 2.0"),
        ({"budget": True}, "budget must be an integer, not bool: True"),
        ({"budget": "9"}, "budget must be an integer, not str: '9'"),
        ({"apply_policy": "strict"}, "apply_policy must be ApplyPolicy or None, not str"),
        ({"test_filter": True}, "test_filter must be TestFileFilter or None, not bool: True"),
        ({"suites": [SUITE]}, SUITES + "not list: [TestSuite("),
        ({"suites": []}, SUITES + "not list: []"),
        ({"suites": {"1": SUITE}}, SUITES + "but a key is str: '1'"),
        ({"suites": {True: SUITE}}, SUITES + "but a key is bool: True"),
        ({"suites": {2: None}}, SUITES + "but the value of 2 is NoneType: None"),
    ],
)
def test_land_refuses_a_wrong_type_by_name(arguments, problem):
    """The message has the argument, what it must be, and what it is."""
    with pytest.raises(TypeError, match=re.escape(problem)):
        ce.land(**{"base": BASE, "patches": PATCHES, "strategy": "naive"} | arguments)


class Passes:
    """A runner of another kind: all that it has is the method."""

    def run(self, *_, **__):
        """Run nothing, and say that it passed."""
        case = ce.models.TestCase(id="t", status="passed")
        return ce.TestResult(status="passed", duration_seconds=0, cases=[case])


def test_land_takes_whatever_works():
    """A third-party runner, a range as the order and a budget that is like an integer."""
    plan = ce.land(
        BASE,
        PATCHES,
        suites={1: SUITE, 2: SUITE},
        runner=Passes(),
        order=range(2, 0, -1),
        budget=Nine(),
    )

    assert (plan.order, plan.budget, plan.is_tested) == ((2, 1), 9, True)


class Nine:
    """An integer of another library."""

    def __index__(self):
        """Return it as an integer of Python."""
        return 9


def group(**options):
    """Return what a pair and a team have in common, with changes."""
    return {"repo_name": "r", "task_id": 0, "base": BASE} | options


def pair(**options):
    """Return a pair with some other attributes."""
    return ce.FeaturePair(
        **{"feature1": FEATURES[0], "feature2": FEATURES[1]} | group(**options),
    )


def team(**options):
    """Return a team with some other attributes."""
    return ce.FeatureTeam(**{"features": FEATURES} | group(**options))


@pytest.mark.parametrize("make", [pair, team])
@pytest.mark.parametrize("name", ["base", "joint", "regression"])
def test_a_pair_and_a_team_are_made_of_trees_and_suites(make, name):
    """The error comes when they are made, not in the middle of an evaluation."""
    with pytest.raises(TypeError, match=f"^{name} must be .*, not str: 'x'"):
        make(**{name: "x"})

    assert getattr(make(joint=SUITE, regression=SUITE), name) in {SUITE, BASE}


@pytest.mark.parametrize("name", ["feature1", "feature2"])
def test_a_pair_is_made_of_features(name):
    """A patch alone has no number."""
    with pytest.raises(TypeError, match=f"^{name} must be Feature, not str"):
        pair(**{name: PATCHES[0]})


def test_the_tests_of_a_feature_are_a_suite():
    """A command is not enough."""
    with pytest.raises(TypeError, match=r"^tests must be TestSuite or None, not str"):
        ce.Feature(number=1, patch=b"", tests="pytest")


@pytest.mark.parametrize(
    ("method", "given", "problem"),
    [
        ("evaluate", 5, "pair must be a FeaturePair, not int; evaluate_team() takes a FeatureTeam"),
        ("evaluate", team(), "pair must be a FeaturePair, not FeatureTeam"),
        ("evaluate_team", 5, "team must be a FeatureTeam, not int; evaluate() takes a FeaturePair"),
        ("evaluate_team", pair(), "team must be a FeatureTeam, not FeaturePair"),
    ],
)
def test_an_evaluator_says_which_method_takes_what(method, given, problem):
    """A pair and a team have different reports, so neither is taken for the other."""
    with pytest.raises(TypeError, match=re.escape(problem)):
        getattr(ce.Evaluator(strategies=["naive"]), method)(given)


def test_the_same_patch_lands_twice_in_a_team_only():
    """The merge of equal changes is clean, and `land` needs only one of them."""
    features = [ce.Feature(number=n, patch=PATCHES[0]) for n in (1, 2)]

    report = ce.Evaluator(strategies=["naive"]).evaluate_team(team(features=features))
    plan = ce.land(BASE, features, strategy="naive")

    assert report.attempt("naive").landed == (1, 2)
    assert plan.landed == (1,)
    assert [each.reason for each in plan.left_out] == [ce.reporting.LeftOutReason.DUPLICATE]

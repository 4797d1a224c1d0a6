"""Landing plans with tests, compared with testing every set in every order."""

import random
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from landing_material import BASE, PATCHES, FakeRunner, brute_force, suite, usable

import cooperbench_eval as ce
from cooperbench_eval.running.results import TestResult


def overlay(**files):
    return ce.Changes({name: ce.Entry(data) for name, data in files.items()})


def by_chance(seed, share):
    """Return a function that decides at random, but equally for the same tree and suite."""
    return lambda tree, name: random.Random(f"{seed} {tree} {name}").random() < share  # noqa: S311


def landable(orders, patches, with_suites, passes):
    """Whether some order gives a tree on which the suites of all its patches pass."""
    return any(
        tree is not None
        and all(passes(tree, str(number)) for number in patches if number in with_suites)
        for tree in orders.values()
    )


@pytest.mark.parametrize("strategy", ["naive", "union"])
@settings(max_examples=15)
@given(
    patches=PATCHES,
    seed=st.integers(0, 10**6),
    share=st.sampled_from([0.5, 0.8, 0.95]),
    with_suites=st.sets(st.integers(1, 4)),
)
def test_a_plan_is_what_testing_everything_finds(strategy, patches, seed, share, with_suites):
    """Whatever the tests say: more patches may break a set, and may repair it again."""
    changes, passes = usable(patches, with_suites), by_chance(seed, share)
    truth = brute_force(changes, strategy)
    can = {each for each, orders in truth.items() if landable(orders, each, with_suites, passes)}
    suites = {n: suite(str(n)) for n in with_suites if n <= len(patches)}
    runner = FakeRunner(passes)

    plan = ce.land(
        BASE,
        patches,
        suites=suites,
        strategy=strategy,
        budget=10**6,
        runner=runner,
        judge="absolute",
    )

    assert plan.is_exact
    assert len(plan.landed) == max(map(len, can), default=0)
    assert plan.landed == () or frozenset(plan.landed) in can
    assert plan.runs_used == len(runner.asked) == len(set(runner.asked))
    for each in plan.minimal_conflicts:
        assert frozenset(each) not in can
        assert {part for part in truth if part < frozenset(each)} <= can
    if plan.left_out:
        reasons = {each.number: each.reason for each in plan.left_out}
        assert "not_examined" not in {reasons[number] for number in changes if number in reasons}


@pytest.mark.parametrize("strategy", ["naive", "union"])
@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), budget=st.integers(0, 12))
def test_a_budget_is_kept_and_nothing_false_is_claimed(strategy, seed, budget):
    """Whether a set passed is known, and exactness is claimed only if it is true."""
    patches = [overlay(**{name: b"%d\n" % number}) for number, name in enumerate("aabx")]
    changes, passes = usable(patches), by_chance(seed, 0.8)
    truth = brute_force(changes, strategy)
    can = {each for each, orders in truth.items() if landable(orders, each, changes, passes)}
    suites = {number: suite(str(number)) for number in changes}

    plan = ce.land(
        BASE,
        patches,
        suites=suites,
        strategy=strategy,
        budget=budget,
        runner=FakeRunner(passes),
        judge="absolute",
    )

    assert plan.runs_used <= budget
    assert plan.budget == budget
    if plan.is_tested:
        assert frozenset(plan.landed) in can
    if plan.is_exact:
        assert len(plan.landed) == max(map(len, can), default=0)
    for each in plan.minimal_conflicts:
        assert frozenset(each) not in can


# --- planted failures ---


class Planted:
    """Suites that fail if all files of a set are in the tree: `{suite: (file, ...)}`."""

    def __init__(self, **broken_by):
        self.broken_by = broken_by
        self.asked = []
        self.flaky = set()

    def run(self, base, changes, suite, *, number=1):
        name = suite.command[0]
        self.asked.append((changes.tree_id(base), name, number))
        fails = name in self.broken_by and set(self.broken_by[name]) <= set(changes)
        fails = fails or (name in self.flaky and number == 1)
        return FakeRunner(lambda *_: not fails).run(base, changes, suite)


FILES = "pqrstuvw"


def planted(runner, *, suites="12345678", budget=50, **options):
    """Land one patch for each of eight files; no two of them conflict."""
    patches = [overlay(**{name: b"new\n"}) for name in FILES]
    return ce.land(
        BASE,
        patches,
        suites={int(name): suite(name) for name in suites},
        strategy="naive",
        budget=budget,
        runner=runner,
        judge="absolute",
        **options,
    )


def test_two_patches_that_break_only_with_a_third_are_named():
    """The tests of 2 fail if 5 and 7 are there too; each two of them can land."""
    plan = planted(Planted(**{"2": "qtv"}), suites="2")

    assert plan.is_exact
    assert len(plan.landed) == 7
    assert plan.minimal_conflicts == ((2, 5, 7),)
    (left_out,) = plan.left_out
    assert (left_out.number in {2, 5, 7}, left_out.reason) == (True, "breaks")
    assert left_out.tests[0].feature == 2
    assert left_out.tests[0].tests == ("test_2",)
    assert "together with" in left_out.problem


def test_a_pair_that_breaks_tests_is_shown_in_the_matrix():
    """In both orders, because they give the same tree."""
    plan = planted(Planted(**{"3": "pr"}), suites="3")

    assert plan.minimal_conflicts == ((1, 3),)
    assert plan.pairs[1, 3] == plan.pairs[3, 1] == "breaks_tests"
    assert plan.pairs[1, 2] == "clean"
    assert len(plan.landed) == 7


def test_a_patch_that_fails_its_own_tests_is_blamed_alone():
    """It is a minimal conflict by itself, and the others land."""
    plan = planted(Planted(**{"4": "s"}))

    assert plan.landed == (1, 2, 3, 5, 6, 7, 8)
    assert plan.minimal_conflicts == ((4,),)
    assert set(plan.pairs.values()) == {"clean"}
    assert "cannot land: 4\n" in str(plan)
    assert "the tests of what lands pass" in str(plan)
    assert [(each.number, each.reason) for each in plan.left_out] == [(4, "fails_own_tests")]


def test_a_flaky_suite_ejects_nobody():
    """It fails on every tree at first and passes when it runs again, so it decides nothing."""
    runner = Planted()
    runner.flaky = {"1", "6"}

    plan = planted(runner)

    assert (len(plan.landed), plan.is_exact, plan.is_tested) == (8, False, False)
    assert "its cases are flaky" in plan.problem
    assert sum(number == 2 for _, _, number in runner.asked) == 2


def test_a_patch_may_repair_what_another_one_breaks():
    """Eight patches pass although no seven with the first one do."""

    class Repaired(Planted):
        def run(self, base, changes, suite, **_):
            passes = len(changes) == 8 or "p" not in changes
            return FakeRunner(lambda *_: passes).run(base, changes, suite)

    plan = planted(Repaired(), suites="18", budget=500)

    assert len(plan.landed) == 8
    assert plan.is_exact


def test_joint_tests_run_only_on_a_tree_with_all_patches():
    """If they fail, no single patch is to blame, but not all can land."""
    runner = Planted(joint=FILES)

    plan = planted(runner, joint=suite("joint"))

    assert len(plan.landed) == 7
    assert plan.is_exact
    assert len({tree for tree, name, _ in runner.asked if name == "joint"}) == 1
    (left_out,) = plan.left_out
    assert (left_out.reason, left_out.tests[0].suite) == ("breaks", "joint")


def test_regression_tests_run_on_every_tree():
    """What breaks them is left out, whoever's tests these are."""
    plan = planted(Planted(all="pw"), suites="", regression=suite("all"))

    assert plan.minimal_conflicts == ((1, 8),)
    assert plan.left_out[0].tests[0].suite == "regression"
    assert plan.left_out[0].features == ()


def test_all_patches_in_one_run_each_if_nothing_fails():
    """Eight suites on the tree of all, and nothing else."""
    plan = planted(Planted())

    assert (plan.runs_used, plan.is_exact, plan.is_tested) == (8, True, True)


def test_a_culprit_pair_is_found_with_few_runs():
    """Far fewer runs than testing each of 28 pairs."""
    plan = planted(Planted(**{"6": "qu"}), suites="6", budget=100)

    assert plan.minimal_conflicts == ((2, 6),)
    assert plan.is_exact
    assert plan.runs_used <= 14


def test_an_unfinished_search_returns_the_largest_set_that_may_land():
    """With one run, the failing set is known; with none, the merges decide."""
    runner = Planted(**{"1": "p"})

    plans = [planted(runner, suites="1", budget=budget) for budget in (0, 2, 3)]

    assert [plan.is_exact for plan in plans] == [False] * 3
    assert [len(plan.landed) for plan in plans] == [8, 7, 7]
    assert [plan.is_tested for plan in plans] == [False] * 3
    assert (plans[1].left_out[0].reason, plans[1].left_out[0].tests[0].feature) == ("breaks", 1)


def test_a_dense_tangle_is_landed_one_by_one():
    """Nearly every two patches break each other, so bisecting would take the whole budget."""

    class Tangle(Planted):
        def run(self, base, changes, suite, *, number=1):
            self.asked.append((changes.tree_id(base), suite.command[0], number))
            passes = len(changes) < 2 or set(changes) <= {"p", "r", "v"}
            return FakeRunner(lambda *_: passes).run(base, changes, suite)

    plan = planted(Tangle(), suites="", regression=suite("all"), budget=60)

    assert plan.is_tested
    assert plan.landed == (1, 3, 7)


def test_a_command_that_cannot_be_started_leaves_nobody_out():
    """The plan says that nothing was tested, and why."""

    class Broken:
        def run(self, *_, **__):
            raise ce.errors.TestRunError("no such command")

    plan = planted(Broken())

    assert (len(plan.landed), plan.is_tested) == (8, False)
    assert "no such command" in plan.problem


def test_a_base_that_disappears_while_tests_run_loses_no_merges():
    """The plan has what merges, and says what happened."""

    class Gone(Planted):
        def run(self, base, changes, suite, *, number=1):
            if len(self.asked) == 3:
                raise ce.errors.RepositoryError("repo", "has disappeared")
            return super().run(base, changes, suite, number=number)

    plan = planted(Gone())

    assert len(plan.landed) == 8
    assert (plan.is_exact, plan.is_tested) == (False, False)
    assert "has disappeared" in plan.problem


def test_suites_without_a_result_make_no_plan_exact():
    """The sandbox failed, so nothing is known about the tree."""

    class Infrastructure(Planted):
        def run(self, *_, **__):
            return ce.TestResult(status="infrastructure_error", reason="no space")

    plan = planted(Infrastructure())

    assert not plan.is_exact


def test_the_order_of_a_plan_may_decide_its_tests():
    """Of two trees of one set, the one that passes is found, whichever comes first."""
    patches = [overlay(a=b"2\n"), overlay(a=b"3\n")]
    trees = [
        ce.merge(BASE, *pair, strategy="union").changes.tree_id(BASE)
        for pair in permutations(patches)
    ]
    for good, order in zip(trees, ((1, 2), (2, 1)), strict=True):
        plan = ce.land(
            BASE,
            patches,
            suites={1: suite("x")},
            strategy="union",
            runner=FakeRunner(lambda tree, _, good=good: tree == good),
            judge="absolute",
        )

        assert (plan.order, plan.is_exact) == (order, True)
        assert plan.minimal_conflicts in {(), ((1,),)}


def test_a_real_runner_decides():
    """The patch that passes lands, and the other one fails alone too."""
    base = ce.Snapshot.from_files({"value": b"0\n"})
    script = "import sys; sys.exit(open('value').read() != '1\\n')"
    suites = {
        number: ce.TestSuite(command=("python3", "-c", script), framework="exit")
        for number in (1, 2)
    }
    patches = [overlay(value=b"1\n"), overlay(value=b"2\n")]
    runner = ce.TestRunner(sandbox=ce.LocalSandbox())

    plan = ce.land(base, patches, suites=suites, strategy="naive", runner=runner)

    assert (plan.landed, plan.is_tested, plan.is_exact) == ((1,), True, True)
    assert plan.left_out[0].reason == "fails_own_tests"
    assert plan.minimal_conflicts == ((2,),)


# --- judging ---

OLD = b"def test_old():\n    assert False\n\n\ndef test_shared():\n    assert True\n"
JUDGED = ce.Snapshot.from_files({"code": b"1\n\n2\n", "test_old.py": OLD})


class Cases:
    """A runner whose cases are given by the files of the tree with the suite's patch."""

    def __init__(self, cases):
        self.cases = cases

    def run(self, base, changes, suite, **_):
        passed = self.cases(base.overlay(changes), suite)
        cases = [
            ce.models.TestCase(id=id_, status="passed" if holds else "failed")
            for id_, holds in passed.items()
        ]
        failed = not all(passed.values())
        return ce.TestResult(
            status="failed" if failed else "passed", cases=cases, exit_code=int(failed)
        )


def judged(cases, texts, tests, **options):
    """Land patches of one file, each with the suite whose patch writes a test file."""
    suites = {
        number: ce.TestSuite(
            command=("python", "-m", "pytest"),
            patch=ce.Changes({path: ce.Entry(text)}).diff(JUDGED),
        )
        for number, (path, text) in enumerate(tests, 1)
    }
    patches = [ce.Changes({"code": ce.Entry(text)}) for text in texts]
    runner = Cases(cases)
    return ce.land(
        JUDGED, patches, suites=suites, strategy="naive", runner=runner, budget=99, **options
    )


def test_a_case_that_fails_on_the_base_already_is_held_against_nobody():
    """By the rule delta, which is the default; by the rule absolute, nothing lands."""

    def cases(tree, _):
        done = tree.read("code").startswith(b"new")
        return {"test_new.py::test_new": done, "test_old.py::test_old": False}

    new = ("test_new.py", b"def test_new():\n    assert True\n")

    by_delta = judged(cases, [b"new 1\n\n2\n"], [new])
    by_all = judged(cases, [b"new 1\n\n2\n"], [new], judge="absolute")

    assert (by_delta.landed, by_delta.is_exact) == ((1,), True)
    assert (by_all.landed, by_all.is_exact) == ((), True)
    assert by_all.left_out[0].reason == "fails_own_tests"


def test_a_test_that_another_patch_rewrites_is_judged_by_its_suite_only():
    """Although the suite of the first patch fails it where both are merged."""

    def cases(tree, suite):
        rewritten = b"\n2 new" in tree.read("code")
        if "test_old.py" in suite.patch.paths:
            return {"test_old.py::test_shared": rewritten}
        return {
            "test_new.py::test_new": tree.read("code").startswith(b"new"),
            "test_old.py::test_shared": not rewritten,
        }

    new = ("test_new.py", b"def test_new():\n    assert True\n")
    shared = ("test_old.py", OLD.replace(b"assert True", b"assert 2"))

    plan = judged(cases, [b"new 1\n\n2\n", b"1\n\n2 new\n"], [new, shared])

    assert plan.pairs[1, 2] == "clean"
    assert (plan.landed, plan.is_exact) == ((1, 2), True)


def test_joint_tests_do_not_run_if_a_patch_is_missing():
    """No tree has all patches then; a duplicate is not missing."""
    asked = []

    def cases(_, suite):
        asked.append(suite.command)
        return {"t": True}

    a, b = overlay(a=b"2\n"), overlay(b=b"2\n")
    runner = Cases(cases)

    for patches, has_run in (([a, b, b"not a patch"], False), ([a, b, a], True)):
        asked.clear()
        plan = ce.land(BASE, patches, joint=suite("joint"), strategy="naive", runner=runner)

        assert plan.landed == (1, 2)
        assert bool(asked) is has_run


@pytest.mark.parametrize(("budget", "landed"), [(6, (2,)), (99, (3, 2))])
def test_what_merges_in_another_order_is_no_conflict(budget, landed):
    """If the budget ends before that order is tested, the patch was not examined."""

    class Descending:
        name = "descending"

        def merge(self, merge_input):
            if merge_input.theirs_feature.number > merge_input.ours_features[-1].number:
                return ce.get_strategy("naive").merge(merge_input)
            return ce.resolve_conflicts(merge_input, lambda conflict: conflict.ours)

    plan = ce.land(
        BASE,
        [overlay(a=b"%d\n" % number) for number in (7, 8, 9)],
        suites={number: suite(str(number)) for number in (1, 2, 3)},
        strategy=Descending(),
        budget=budget,
        runner=FakeRunner(lambda _, name: name != "1"),
        judge="absolute",
    )

    assert plan.order == landed
    assert (3, 2) in [each.lands for each in plan.order_dependent]
    reasons = {each.number: each.reason.value for each in plan.left_out}
    expected = {1: "fails_own_tests", 3: "not_examined"}
    assert reasons == {number: why for number, why in expected.items() if number not in landed}


def test_a_patch_that_makes_a_tests_patch_useless_leaves_the_plan_untested():
    """Nobody is blamed, in a plan as in a team, and both say why."""
    files = {"a.py": b"a = 1\n", "test_a.py": b"def test_a(): pass\n"}
    base = ce.Snapshot.from_files(files)
    test = overlay(**{"test_a.py": b"def test_a(): assert True\n"}).diff(base)
    own = ce.TestSuite(command=("true",), framework="exit", patch=test)
    patches = [overlay(**{"a.py": b"a = 2\n"}), overlay(**{"test_a.py": b"other = 1\n" * 3})]
    runner = ce.TestRunner(sandbox="local")

    keep = ce.patching.TestFileFilter(conventions=False, touched=False)
    plan = ce.land(
        base, patches, suites={1: own}, strategy="naive", runner=runner, test_filter=keep
    )
    team = ce.FeatureTeam(
        repo_name="r",
        task_id=0,
        base=base,
        features=[
            ce.Feature(number=number, patch=each.diff(base), tests=suites)
            for number, (each, suites) in enumerate(zip(patches, (own, None), strict=True), 1)
        ],
    )
    evaluator = ce.Evaluator(strategies=["naive"], runner=runner, test_filter=keep)
    report = evaluator.evaluate_team(team)

    assert (plan.landed, plan.is_tested, plan.is_exact) == ((1, 2), False, False)
    assert "feature 1's tests have no answer" in plan.problem
    assert report.attempt("naive").landed == (1, 2)
    assert report.attempt("naive").verdict is ce.Verdict.NOT_RUN
    assert report.problem in plan.problem


@pytest.mark.parametrize(
    ("verdicts", "landed"),
    [({"1": False, "2": True}, (2,)), ({"1": True, "2": False}, (1,)), ({}, (1, 2))],
)
def test_equal_patches_with_different_suites_are_different_features(verdicts, landed):
    """One of them may land although the tests of the other one fail."""
    runner = FakeRunner(lambda _, name: verdicts.get(name, True))
    changes = overlay(new=b"1\n")

    plan = ce.land(
        BASE,
        [changes, changes],
        suites={1: suite("1"), 2: suite("2")},
        strategy="naive",
        runner=runner,
    )

    assert (plan.landed, plan.is_exact, plan.is_tested) == (landed, True, True)


def test_of_equal_patches_the_one_with_tests_lands():
    """Its tests are not passed over."""
    runner = FakeRunner(lambda *_: True)
    changes = overlay(new=b"1\n")

    plan = ce.land(
        BASE, [changes, changes], suites={2: suite("2")}, strategy="naive", runner=runner
    )

    assert plan.landed == (2,)
    assert plan.is_tested
    assert (plan.left_out[0].reason, plan.left_out[0].features) == ("duplicate", (2,))


def test_a_plan_without_suites_of_features_names_the_tests_that_pass():
    """They say nothing about what the features do, so an evaluation and an audit have no answer."""
    one, two = overlay(one=b"1\n"), overlay(two=b"2\n")
    runner = FakeRunner(lambda *_: True)
    pair = ce.FeaturePair(
        repo_name="r",
        task_id=0,
        base=BASE,
        feature1=ce.Feature(number=1, patch=one.diff(BASE)),
        feature2=ce.Feature(number=2, patch=two.diff(BASE)),
        regression=suite("all"),
    )

    plan = ce.land(BASE, [one, two], regression=suite("all"), strategy="naive", runner=runner)
    report = ce.Evaluator(strategies=["naive"], runner=runner).evaluate(pair)
    audit = ce.audit(
        BASE, pair.features, ce.Changes({**one, **two}), regression=suite("all"), runner=runner
    )

    assert (plan.landed, plan.is_tested, plan.suites) == ((1, 2), True, ("regression",))
    assert "the regression tests pass" in str(plan)
    assert "larger set" in str(plan)
    assert report.problem == audit.problem == "feature 1 has no suite"


def test_a_plan_says_what_timed_out():
    """The suite ends on the base, so the patch is to blame."""

    class Hanging:
        def run(self, base, changes, suite, **_):
            if "one" in changes:
                return TestResult(status="timed_out", reason="it did not end within 1 seconds")
            return FakeRunner(lambda *_: True).run(base, changes, suite)

    plan = ce.land(
        BASE, [overlay(one=b"1\n")], suites={1: suite("1")}, strategy="naive", runner=Hanging()
    )

    assert plan.left_out[0].tests[0].reason == "timed out: it did not end within 1 seconds"
    assert "(timed out: it did not end within 1 seconds)" in str(plan)


def test_a_plan_is_tested_only_if_a_suite_passed():
    """A sandbox that fails proves nothing, and neither does a suite that does not apply."""

    class Failing:
        def run(self, *_, **__):
            return TestResult(status="infrastructure_error")

    one, two = overlay(one=b"1\n"), overlay(two=b"2\n")

    failed = ce.land(BASE, [one, two], suites={1: suite("1")}, strategy="naive", runner=Failing())
    unfit = ce.land(
        BASE,
        [overlay(n=b"1\n"), overlay(**{"n/y": b"2\n"})],
        joint=suite("1"),
        strategy="naive",
        runner=FakeRunner(lambda *_: True),
    )

    assert (failed.landed, failed.is_tested, failed.is_exact) == ((1, 2), False, False)
    assert "no set has passed the tests" in str(failed)
    assert "larger set" not in str(failed)  # all of them land
    assert (len(unfit.landed), unfit.is_tested, unfit.runs_used) == (1, False, 0)


def test_a_given_order_is_landed_one_by_one_too_if_most_sets_fail():
    """Pairs of neighbours break each other: half of the patches land within the budget."""
    patches = [overlay(**{f"new{number}": b"1\n"}) for number in range(10)]

    def passes(tree, name):
        return not any({f"new{n}", f"new{n + 1}"} <= known[tree] for n in range(0, 10, 2))

    known = Names(patches)
    suites = {number: suite(str(number)) for number in range(1, 11)}

    plan = ce.land(
        BASE,
        patches,
        suites=suites,
        strategy="naive",
        order="given",
        budget=100,
        runner=FakeRunner(passes),
    )

    assert plan.is_tested
    assert plan.order == tuple(sorted(plan.order))
    assert len(plan.landed) >= 4


class Names(dict):
    """The names of the new files of a tree, by its id."""

    def __init__(self, patches):
        """Know the trees of all sets of patches."""
        super().__init__()
        for size in range(len(patches) + 1):
            for some in combinations(patches, size):
                files = {name: entry for each in some for name, entry in each.items()}
                self[ce.Changes(files).tree_id(BASE)] = set(files)

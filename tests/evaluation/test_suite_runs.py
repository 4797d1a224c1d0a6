"""When a run counts: a failing suite runs twice, and one without a result says nothing."""

import pytest
from telling import Runner

import cooperbench_eval as ce

BASE = ce.Snapshot.from_files({"a.txt": b"".join(b"line %d\n" % n for n in range(20))})


def patch(place, word):
    """Return a patch that replaces a line by a word."""
    text = BASE.read("a.txt").replace(b"line %d\n" % place, word.encode() + b"\n")
    return ce.Changes({"a.txt": ce.Entry(text)}).diff(BASE)


def evaluated(one, two=("has line", "has e"), **options):
    """Evaluate a pair whose suites have these cases; return the report and the number of runs."""
    runner = Runner()
    features = [
        ce.Feature(
            number=number,
            patch=patch(5 * number, f"word{number}"),
            tests=ce.TestSuite(command=cases, framework="pytest"),
        )
        for number, cases in enumerate((one, two), 1)
    ]
    pair = ce.FeaturePair(
        repo_name="r", task_id=1, base=BASE, feature1=features[0], feature2=features[1]
    )
    report = ce.Evaluator(strategies=["naive"], runner=runner, **options).evaluate(pair)
    return report, runner.runs


def facts(report):
    """Return the verdict and the kind of blame."""
    return report.attempt("naive").verdict.value, report.blame("naive").kind.value


@pytest.mark.parametrize("base", [True, False])
@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ("silent", "no result was written"),
        ("raises", "there is no interpreter"),
        ("hangs", "timed out here and on the base: it did not end within 1 seconds"),
    ],
)
def test_a_suite_without_a_result_anywhere_is_nobodys_fault(case, reason, base):
    """This also holds if suites are not asked to run on the base."""
    report, _ = evaluated(("has line", case), test_base=base)

    assert facts(report) == ("not_run", "unknown")
    assert reason in report.problem
    assert report.feature1.is_right is None
    assert not report.is_final


@pytest.mark.parametrize("case", ["silent word1", "hangs word1"])
def test_a_patch_that_keeps_its_own_tests_from_running_is_broken(case):
    """The suite gives a result on the base."""
    report, _ = evaluated(("has line", case))

    assert facts(report) == ("incorrect", "broken_alone")
    assert report.blame("naive").features == (1,)


def test_a_merge_that_keeps_tests_from_running_broke_them():
    """They give a result on the base and without the other feature."""
    report, _ = evaluated(("has line", "silent word1 word2"))

    assert facts(report) == ("incorrect", "merge_broke_feature1")
    assert report.blame("naive").lost_tests1 == ("tests/t.py::has line",)


def test_a_host_that_fails_in_the_middle_is_nobodys_fault():
    """The suite gave a result on the base at first, and later gives none there."""
    report, _ = evaluated(("has line", "full"))

    assert facts(report) == ("not_run", "unknown")
    assert report.attempt("naive").feature1_tests.reason == "no space left"


def test_a_run_that_has_a_result_the_second_time_counts():
    """The first run without a result is ignored."""
    report, _ = evaluated(("has line", "stutters"))

    assert facts(report) == ("correct", "nobody")


def test_a_suite_that_times_out_once_decides_nothing():
    """Any of its cases may be the reason, so all of them are flaky."""
    report, _ = evaluated(("has line", "dawdles"))

    assert facts(report) == ("not_run", "unknown")
    assert report.attempt("naive").feature1_judgement.flaky == ("tests/t.py::has line",)
    assert "both failed and passed on the same tree" in " ".join(report.warnings)


def test_the_reason_for_no_reward_is_that_the_cases_are_flaky():
    """They were run, so it must not say that they were not."""
    report, _ = evaluated(("flaky",))

    assert report.problem == "its cases are flaky"
    with pytest.raises(ce.errors.ReportError, match="its cases are flaky"):
        report.reward()


def test_the_name_of_a_case_that_is_a_whole_command_is_shortened_in_warnings():
    """Its start and its end are shown."""
    report, _ = evaluated(("has line", f"flaky {'x' * 600}"))

    (warning,) = [each for each in report.warnings if "both failed and passed" in each]
    assert len(warning) < 250
    assert "tests/t.py::flaky xxx" in warning


def test_a_flaky_case_decides_nothing_and_is_listed():
    """It fails once on every tree, alone and merged."""
    report, _ = evaluated(("has line", "flaky"))

    assert facts(report) == ("correct", "nobody")
    assert report.feature1.judgement.flaky == ("tests/t.py::flaky",)
    assert "both failed and passed on the same tree" in " ".join(report.warnings)


def test_only_what_fails_is_run_again():
    """Two suites on the base, alone and merged are six runs."""
    assert evaluated(("has line",))[1] == 6
    assert evaluated(("has line", "without word1 word2"))[1] == 7
    assert evaluated(("has line", "without word1"))[1] == 8


def test_a_failure_that_the_host_cannot_confirm_is_nobodys_fault():
    """The third run fails, and by then there is no space for a second one on that tree."""
    report, _ = evaluated(("has line", "sinks"))

    assert facts(report) == ("not_run", "unknown")
    assert report.problem == "no space left"


def test_a_case_that_was_flaky_alone_decides_nothing_on_the_merged_tree():
    """This holds although it fails there each time."""
    report, _ = evaluated(("has line", "wavers"))

    assert facts(report) == ("correct", "nobody")
    assert report.attempt("naive").feature1_judgement.flaky == ("tests/t.py::wavers",)


def test_a_suite_that_collects_nothing_anywhere_says_nothing():
    """Its command may name a file that does not exist."""
    report, _ = evaluated(("none",))

    assert facts(report) == ("not_run", "unknown")
    assert report.problem == "no test was collected"


def group(one, two):
    """Return two features with these suites, which touch different lines."""
    return [
        ce.Feature(number=number, patch=patch(5 * number, f"word{number}"), tests=suite)
        for number, suite in enumerate((one, two), 1)
    ]


def test_a_tests_patch_that_applies_nowhere_is_nobodys_fault():
    """Neither a pair nor a team nor a plan nor an audit blames the feature."""
    nowhere = b"--- a/no.py\n+++ b/no.py\n@@ -1 +1 @@\n-q\n+r\n"
    suites = [
        ce.TestSuite(command=("true",), framework="exit", patch=each) for each in (nowhere, b"")
    ]
    features, runner = group(*suites), ce.TestRunner(sandbox="local")
    one, two = features
    evaluator = ce.Evaluator(strategies=["naive"], runner=runner)
    pair = ce.FeaturePair(repo_name="r", task_id=1, base=BASE, feature1=one, feature2=two)
    team = ce.FeatureTeam(repo_name="r", task_id=1, base=BASE, features=features)

    plan = ce.land(BASE, features, strategy="naive", runner=runner)

    assert evaluator.evaluate(pair).attempt("naive").verdict == "not_run"
    landed = evaluator.evaluate_team(team).attempt("naive")
    assert all(each.number != 1 for each in (*landed.left_out, *plan.left_out))
    assert "the tests patch does not apply" in plan.problem


def test_a_program_that_is_missing_everywhere_is_nobodys_fault():
    """Also if only the exit status counts; a program that a patch removes counts against it."""
    base = ce.Snapshot.from_files({"check": b"exit 0\n", "a": b"1\n"})
    removed = ce.Changes({"check": None})
    suites = [
        ce.TestSuite(command=("sh", "-c", script), framework="exit")
        for script in ("no-such-program", "test -e check || exit 127")
    ]
    runner = ce.TestRunner(sandbox="local")

    plans = [
        ce.land(base, [removed], suites={1: each}, strategy="naive", runner=runner)
        for each in suites
    ]

    assert [plan.landed for plan in plans] == [(1,), ()]
    assert "exit status 127" in plans[0].problem
    assert plans[1].left_out[0].reason == "fails_own_tests"


def test_an_agents_conftest_that_is_reset_is_mentioned_where_its_own_tests_judge():
    """By a report, a plan, a team and an audit, and in their prints."""
    base = ce.Snapshot.from_files({"m.py": b"x = 1\n"})
    test = b"def test_it():\n    import m\n"
    changes = {"test_m.py": ce.Entry(test), "conftest.py": ce.Entry(b"import m\n")}
    suite = ce.TestSuite(command=("python", "-m", "pytest", "-q"), env={"PYTHONPATH": "."})
    one = ce.Feature(number=1, patch=ce.Changes(changes), tests=suite)
    two = ce.Feature(number=2, patch=ce.Changes({"b.py": ce.Entry(b"")}), tests=suite)
    runner = ce.TestRunner(sandbox="local")
    evaluator = ce.Evaluator(strategies=["naive"], runner=runner)
    pair = ce.FeaturePair(repo_name="r", task_id=1, base=base, feature1=one, feature2=two)
    team = ce.FeatureTeam(repo_name="r", task_id=1, base=base, features=[one, two])

    found = [
        evaluator.evaluate(pair),
        evaluator.evaluate_team(team),
        ce.land(base, [one, two], strategy="naive", runner=runner),
        ce.audit(base, [one, two], ce.Changes({**changes, "b.py": ce.Entry(b"")}), runner=runner),
    ]

    expected = "1 changed file that can control test runs was as in the base when suites ran"
    for each in found:
        assert f"{expected}: conftest.py." in each.warnings
        assert "conftest.py" in str(each)


def test_an_empty_patch_gets_no_reward_although_its_suite_passes():
    """An agent without a usable patch has failed, and an audit says the same as a pair."""
    suite = ce.TestSuite(command=("has line",), framework="pytest")
    one = group(suite, suite)[0]
    empty = ce.Feature(number=2, patch=b"", tests=suite)
    pair = ce.FeaturePair(repo_name="r", task_id=1, base=BASE, feature1=one, feature2=empty)
    merged = ce.apply_patch(BASE, one.patch).changes

    report = ce.Evaluator(strategies=["naive"], runner=Runner()).evaluate(pair)
    audit = ce.audit(BASE, [one, empty], merged, runner=Runner())

    assert report.reward()["reward"] == audit.reward()["reward"] == 0.0
    assert (audit.score, audit.missing, audit.problem) == (1.0, (2,), "")
    assert "The patch of feature 2 changes nothing." in audit.warnings


def test_a_feature_without_a_suite_beside_one_with_a_suite_has_no_reward():
    """A pair has no verdict either, and a plan is not tested; nobody is left out."""
    features = group(None, ce.TestSuite(command=("has line",), framework="pytest"))
    merged = ce.merge(BASE, *(ce.apply_patch(BASE, each.patch).changes for each in features))

    audit = ce.audit(BASE, features, merged, runner=Runner())

    assert {"reward", "score"}.isdisjoint(audit.reward())
    plan = ce.land(BASE, features, strategy="naive", runner=Runner())
    one, two = features
    pair = ce.FeaturePair(repo_name="r", task_id=1, base=BASE, feature1=one, feature2=two)
    report = ce.Evaluator(strategies=["naive"], runner=Runner()).evaluate(pair)
    assert (plan.landed, plan.is_tested) == ((1, 2), False)
    for each in (audit, plan, report):
        assert each.problem == "feature 1 has no suite"


def test_a_test_file_that_no_agent_touched_stays_in_an_audited_tree():
    """A later base may have changed it together with the code."""
    base = ce.Snapshot.from_files({"a.txt": BASE.read("a.txt"), "tests/test_old.txt": b"old\n"})
    new = ce.Changes({"tests/test_new.txt": ce.Entry(b"new\n")}).diff(base)
    suite = ce.TestSuite(command=("has changed", "has new"), framework="pytest", patch=new)
    text = base.read("a.txt").replace(b"line 3\n", b"word\n")
    one = ce.Feature(number=1, patch=ce.Changes({"a.txt": ce.Entry(text)}), tests=suite)
    merged = {"a.txt": ce.Entry(text), "tests/test_old.txt": ce.Entry(b"changed\n")}

    audit = ce.audit(base, [one], ce.Changes(merged), runner=Runner())

    assert audit.dropped_files == ()
    assert audit.suites[0].tests.cases[0].status == "passed"


def test_an_audit_names_flaky_cases():
    """A report does the same."""
    features = group(ce.TestSuite(command=("has line", "flaky"), framework="pytest"), None)[:1]
    merged = ce.apply_patch(BASE, features[0].patch).changes

    audit = ce.audit(BASE, features, merged, runner=Runner())

    assert audit.reward()["reward"] == 1.0
    assert "tests/t.py::flaky" in " ".join(audit.warnings)

"""The whole pipeline on pairs in memory: patches, merge, strategies, tests, report."""

import json
import pickle
import re
from concurrent.futures import ThreadPoolExecutor

import pygit2
import pytest
from quick import QUICK

import cooperbench_eval as ce
from cooperbench_eval.evaluation import evaluator as evaluator_module
from cooperbench_eval.git.patching import apply
from cooperbench_eval.languages.hazards.finding import find_hazards

TEXT = b"1\n2\n3\n4\n5\n"
BASE = ce.Snapshot.from_files({"f": TEXT, "g": b"1\n"})


class CountingSandbox:
    """A sandbox that remembers what was run in it, and on which files."""

    name = identity = "counting"

    def __init__(self):
        """Start with nothing run."""
        self.runs = []

    def run(self, command, *, tree, **options):
        """Note the command and the tree, then run it."""
        files = sorted(p.relative_to(tree).as_posix() for p in tree.rglob("*") if p.is_file())
        self.runs.append((command[-1], files))
        return QUICK.run(command, tree=tree, **options)


def edit(**files):
    """Return the patch that writes text into files, or removes them, on the base."""
    changes = {path: text if text is None else ce.Entry(text) for path, text in files.items()}
    return ce.Changes(changes).diff(BASE)


def suite(script, patch=b""):
    """Return a suite that passes if a shell script does."""
    return ce.TestSuite(
        command=("sh", "-c", script), framework="exit", patch=patch, timeout_seconds=20
    )


def pair_of(first, second, scripts=("true # 1", "true # 2"), **facts):
    """Return a pair of two patches, each tested by a shell script or not at all."""
    features = [
        ce.Feature(
            number=number,
            patch=patch,
            tests=suite(script) if isinstance(script, str) else script,
            description=f"Do {number}.",
        )
        for number, patch, script in zip((1, 2), (first, second), scripts, strict=True)
    ]
    facts = {"repo_name": "r", "task_id": 0, "base": BASE} | facts
    return ce.FeaturePair(feature1=features[0], feature2=features[1], **facts)


def evaluate(pair, strategies=("naive", "union"), sandbox=None, **options):
    """Evaluate a pair, tests included."""
    runner = ce.TestRunner(sandbox=sandbox or QUICK)
    return ce.Evaluator(strategies=strategies, runner=runner, **options).evaluate(pair)


def verdicts(report):
    """Return the status and the verdict of each strategy."""
    return {a.strategy: (a.status.value, a.verdict.value) for a in report.attempts}


DISJOINT = edit(f=b"0\n2\n3\n4\n5\n"), edit(f=b"1\n2\n3\n4\n6\n")
OWN = suite("true", edit(check=b""))
CLASHING = edit(f=b"1\n2\none\n4\n5\n"), edit(f=b"1\n2\ntwo\n4\n5\n")


# --- alone and merged -----------------------------------------------------------------


def test_a_pair_that_merges_and_passes_is_correct():
    """Both features pass alone and on the merged tree."""
    report = evaluate(pair_of(*DISJOINT, scripts=("grep 0 f", "grep 6 f")))

    assert (report.merge_status, report.conflict_score) == ("clean", 0)
    assert report.feature1.tests_passed is report.feature2.tests_passed is True
    assert verdicts(report) == {"naive": ("clean", "correct"), "union": ("clean", "correct")}


def test_a_feature_broken_alone_differs_from_one_broken_by_the_merge():
    """Feature 1 fails by itself; feature 2 fails only when merged with feature 1."""
    report = evaluate(pair_of(*DISJOINT, scripts=("grep missing f", "grep 1 f")))

    row = report.attempt("naive")
    assert (report.feature1.tests_passed, report.feature2.tests_passed) == (False, True)
    assert (row.feature1_tests.passed, row.feature2_tests.passed) == (False, False)
    assert row.verdict is ce.Verdict.INCORRECT


def test_each_feature_is_tested_with_its_own_tests():
    """The suite's patch is applied to the feature's own tree and to the merged tree."""
    sandbox = CountingSandbox()
    new = ce.Changes({"t1": ce.Entry(b"")}).diff(BASE), ce.Changes({"t2": ce.Entry(b"")}).diff(BASE)

    evaluate(
        pair_of(*DISJOINT, scripts=(suite("echo 1", new[0]), suite("echo 2", new[1]))),
        sandbox=sandbox,
    )

    one, two = ("echo 1", ["f", "g", "t1"]), ("echo 2", ["f", "g", "t2"])
    assert sandbox.runs == [one, one, two, two, one, two]  # alone, on the base, merged


def test_equal_trees_are_tested_once():
    """Naive and union agree on a clean pair; two equal patches agree on everything."""
    clean, equal, differing = CountingSandbox(), CountingSandbox(), CountingSandbox()

    evaluate(pair_of(*DISJOINT), sandbox=clean)
    evaluate(pair_of(DISJOINT[0], DISJOINT[0]), sandbox=equal)
    evaluate(pair_of(*CLASHING), strategies=["union", Mine()], sandbox=differing)

    # Two runs each: on the base, on the feature's own tree, and on every other tree.
    assert [len(each.runs) for each in (clean, equal, differing)] == [6, 4, 8]


def test_hazards_of_equal_trees_are_found_once(monkeypatch):
    """Every strategy that returns the tree has them in its row."""
    found = []

    def find(base, sides, merged):
        found.append(merged)
        return find_hazards(base, sides, merged)

    monkeypatch.setattr(evaluator_module, "find_hazards", find)
    gap = b"".join(b"gap%d = 0\n" % n for n in range(9))
    base = ce.Snapshot.from_files({"f.py": gap})
    one, other = b"def f():\n    return 1\n" + gap, gap + b"def f():\n    return 2\n"
    twice = [ce.Changes({"f.py": ce.Entry(text)}).diff(base) for text in (one, other)]
    clean = ce.Evaluator().evaluate(pair_of(*twice, scripts=(None, None), base=base))
    differing = ce.Evaluator(strategies=["union", Mine()]).evaluate(
        pair_of(*CLASHING, scripts=(None, None))
    )

    assert len(found) == 1 + 2
    assert clean.attempt("naive").hazards == clean.attempt("union").hazards != ()
    assert differing.attempt("union").hazards == ()


def test_trees_of_other_pairs_are_tested_once_too():
    """A task's features occur in many pairs; each is tested alone only once."""
    sandbox = CountingSandbox()
    evaluator = ce.Evaluator(strategies=["naive"], runner=ce.TestRunner(sandbox=sandbox))

    evaluator.evaluate(pair_of(*DISJOINT))
    evaluator.evaluate(pair_of(DISJOINT[0], edit(g=b"new\n")))

    assert len(sandbox.runs) == 6 + 3  # the second feature alone, and the merged tree twice


def test_the_report_says_which_tests_pass_on_the_base():
    """Such tests show nothing about the feature; these runs can be turned off."""
    pair = pair_of(*DISJOINT, scripts=("true", "grep 6 f"))
    runner = ce.TestRunner(sandbox=QUICK)

    report, without = evaluate(pair), ce.Evaluator(runner=runner, test_base=False).evaluate(pair)

    assert (report.feature1.passes_on_base, report.feature2.passes_on_base) == (True, False)
    assert report.feature2.tests_passed is True
    assert without.feature1.base_tests is without.feature1.passes_on_base is None


def test_each_features_tests_can_be_run_on_the_other_patch():
    """Here feature 2 contains feature 1, not vice versa; by default these runs are off."""
    both = edit(f=b"0\n2\n3\n4\n6\n")
    pair = pair_of(DISJOINT[0], both, scripts=("grep 0 f", "grep 6 f"))

    report, unasked = evaluate(pair, test_other=True), evaluate(pair)

    assert (report.feature1.other_tests.passed, report.feature2.other_tests.passed) == (False, True)
    assert unasked.feature1.other_tests is unasked.feature2.other_tests is None


@pytest.mark.parametrize("side", [0, 1])
def test_the_other_features_tests_are_not_run_on_a_missing_patch(side):
    """There is no tree to run them on; the missing feature's tests run on the other tree."""
    patches = [DISJOINT[0], DISJOINT[0]]
    patches[side] = b""

    report = evaluate(pair_of(*patches), test_other=True)

    missing, there = (report.feature1, report.feature2)[:: -1 if side else 1]
    assert missing.other_tests is None
    assert there.other_tests.passed is True


def test_rows_with_the_same_tree_share_one_result():
    """The tests are run once, and each row has the result."""
    report = evaluate(pair_of(*DISJOINT))

    naive, union = report.attempts
    assert naive.feature1_tests == union.feature1_tests
    assert naive.feature1_tests is not None


class Mine:
    """A strategy that gives a fixed answer and records its input."""

    name = "mine"

    def __init__(self):
        """Start with nothing seen."""
        self.seen = []

    def merge(self, merge_input, /):
        """Answer every conflict."""
        self.seen.append(merge_input)
        return ce.resolve_conflicts(merge_input, lambda _: b"mine\n")


# --- verdicts ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patches", "scripts", "expected"),
    [
        (DISJOINT, ("true", "true"), {"naive": ("clean", "correct")}),
        (DISJOINT, ("true", "false"), {"naive": ("clean", "incorrect")}),
        (DISJOINT, ("false", "true"), {"naive": ("clean", "incorrect")}),
        (DISJOINT, ("true", None), {"naive": ("clean", "not_run")}),
        (DISJOINT, (None, None), {"naive": ("clean", "not_run")}),
        (
            CLASHING,
            ("grep one f", "grep two f"),
            {"naive": ("conflicts", "unhandled"), "union": ("resolved", "correct")},
        ),
        (
            CLASHING,
            ("grep one f", "! grep one f"),
            {"naive": ("conflicts", "unhandled"), "union": ("resolved", "incorrect")},
        ),
        (
            (edit(g=b"2\n"), edit(g=None)),
            ("true", "true"),
            {"naive": ("conflicts", "unhandled"), "union": ("conflicts", "unhandled")},
        ),
    ],
)
def test_each_strategy_gets_its_verdict(patches, scripts, expected):
    """Correct, incorrect, unhandled or not run, from real merges and real runs."""
    report = evaluate(pair_of(*patches, scripts=scripts), strategies=list(expected))

    assert verdicts(report) == expected


def test_a_tree_with_open_conflicts_is_not_tested():
    """Conflict markers are not code; each feature alone is still tested."""
    sandbox = CountingSandbox()

    report = evaluate(pair_of(*CLASHING), strategies=["naive"], sandbox=sandbox)

    (row,) = report.attempts
    assert row.feature1_tests is row.feature2_tests is None
    assert len(sandbox.runs) == 4  # each on the base, and alone


def test_without_a_runner_the_pair_is_merged_and_scored():
    """The report has no test results."""
    report = ce.Evaluator().evaluate(pair_of(*CLASHING, scripts=("false", "false")))

    assert report.feature1.tests_passed is report.feature2.tests_passed is None
    assert (report.merge_status, report.conflict_score) == ("conflicts", 24)
    assert verdicts(report) == {
        "naive": ("conflicts", "unhandled"),
        "union": ("resolved", "not_run"),
    }


def test_a_timeout_is_a_result():
    """The report says that the deadline passed; nothing is raised."""
    hang = "! grep -q 6 f || sleep 9"
    slow = ce.TestSuite(command=("sh", "-c", hang), framework="exit", timeout_seconds=0.5)

    report = evaluate(pair_of(*DISJOINT, scripts=("true", slow)), strategies=["naive"])

    assert report.feature2.tests.status is ce.TestStatus.TIMED_OUT
    assert report.feature2.tests_passed is False
    assert report.attempt("naive").verdict is ce.Verdict.INCORRECT


def test_a_command_that_cannot_be_started_has_no_answer():
    """It says nothing about the code."""
    nothing = ce.TestSuite(command=("no-such-command",), framework="exit")

    report = evaluate(pair_of(*DISJOINT, scripts=("true", nothing)))

    assert report.attempt("naive").verdict is ce.Verdict.NOT_RUN
    assert report.blame("naive").kind is ce.reporting.BlameKind.UNKNOWN
    assert "'no-such-command'" in report.problem
    assert not report.is_final


# --- patches ------------------------------------------------------------------------------

UNFIT = b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-not there\n+new\n"


@pytest.mark.parametrize(
    ("patch", "status"),
    [
        (UNFIT, "failed"),
        (b"", "empty"),
        (edit(test_f=b"1\n").replace(b"test_f", b"test_f.py"), "empty"),
    ],
    ids=["unfit", "empty", "tests alone"],
)
@pytest.mark.parametrize("side", [0, 1])
def test_a_missing_patch_is_missing_input_and_never_clean(patch, status, side):
    """There is no merge, score or attempt; only the other feature is tested."""
    patches = [DISJOINT[0], DISJOINT[0]]
    patches[side] = patch
    sandbox = CountingSandbox()

    report = evaluate(pair_of(*patches, scripts=(OWN, "true # 2")), sandbox=sandbox)

    bad, good = (report.feature1, report.feature2)[:: -1 if side else 1]
    assert (report.merge_status, report.conflict_score) == ("missing_input", None)
    assert (report.conflict_details, report.diff) == (None, None)
    assert report.conflicts == ()
    assert verdicts(report) == dict.fromkeys(("naive", "union"), ("not_tried", "not_run"))
    assert (bad.patch.status, bad.tests_passed) == (status, None)
    assert (good.patch.status, good.tests_passed) == ("applied", True)
    assert len(sandbox.runs) == 3  # the one that is there, and both on the base


def test_the_report_says_why_a_patch_does_not_apply():
    """It also says what happened to each hunk."""
    report = evaluate(pair_of(UNFIT, DISJOINT[1]))

    patch = report.feature1.patch
    assert patch.reason == "f hunk 1: its lines are not there"
    assert [(each.path, each.hunk, each.rung) for each in patch.hunks] == [("f", 1, None)]
    assert [each.rung for each in report.feature2.patch.hunks] == ["exact"]


def test_a_patch_of_only_test_files_is_empty_with_a_reason():
    """The report says that they were dropped, not that the agent did nothing."""
    tests = ce.Changes({"test_f.py": ce.Entry(b"1\n")}).diff(BASE)

    report = evaluate(pair_of(tests, DISJOINT[1], scripts=("true", OWN)))

    assert report.feature1.patch.status is ce.PatchStatus.EMPTY
    assert report.feature1.patch.dropped_files == ("test_f.py",)
    assert "only test files" in report.feature1.patch.reason


def test_files_that_control_the_test_runner_are_named():
    """An agent that writes those files can forge the verdict."""
    control = ce.Changes({n: ce.Entry(b"\n") for n in ("pytest.ini", "Makefile", "new.py")})

    report = evaluate(pair_of(control.diff(BASE), DISJOINT[1]))

    assert report.feature1.patch.touched_runner_control == ("Makefile", "pytest.ini")
    assert report.feature2.patch.touched_runner_control == ()


def test_an_agents_own_tests_are_dropped_and_named():
    """So are files that only the benchmark's patches mark as tests; the rest is merged."""
    agent = ce.Changes({n: ce.Entry(b"1\n") for n in ("new", "tests/test_n.py", "check.sh")})
    theirs = suite("test ! -e tests/test_n.py", edit(check=b"#").replace(b"check", b"check.sh"))

    report = evaluate(pair_of(agent.diff(BASE), DISJOINT[1], scripts=("test -e new", theirs)))

    assert report.feature1.patch.dropped_files == ("check.sh", "tests/test_n.py")
    assert report.feature2.patch.dropped_files == ()
    assert verdicts(report)["naive"] == ("clean", "correct")
    assert b"new" in report.diff
    assert b"test_n" not in report.diff


def test_every_print_says_how_many_of_the_agents_test_files_were_dropped():
    """So do the prints of teams, plans and audits, and the warnings of all of them."""
    agent = ce.Changes({n: ce.Entry(b"1\n") for n in ("new", "tests/test_n.py", "test_m.py")})
    pair = pair_of(
        agent.diff(BASE), DISJOINT[1], scripts=("test -e new", suite("true", edit(check=b"#")))
    )
    features, runner = pair.features, ce.TestRunner(sandbox=ce.LocalSandbox())
    team = ce.FeatureTeam(repo_name="r", task_id=1, base=BASE, features=features)

    results = [
        evaluate(pair),
        ce.Evaluator(strategies=["naive"], runner=runner).evaluate_team(team),
        ce.land(BASE, features, runner=runner),
        ce.audit(BASE, features, BASE.overlay(agent), runner=runner),
    ]

    said = "2 test files of the agents were dropped: test_m.py, tests/test_n.py."
    for result in results:
        assert result.warnings[0].startswith(said)
        assert said in str(result)
    assert "applied, 2 test files dropped" in str(results[0])


def test_dropping_tests_can_be_turned_off():
    """Then the patch is merged as it is."""
    agent = ce.Changes({"tests/test_n.py": ce.Entry(b"1\n")}).diff(BASE)
    keep = ce.patching.TestFileFilter(conventions=False, touched=False)

    report = evaluate(pair_of(agent, DISJOINT[1]), test_filter=keep)

    assert report.feature1.patch.dropped_files == ()
    assert report.merge_status is ce.reporting.PairStatus.CLEAN


def test_bytes_that_are_not_a_patch_are_missing_input():
    """Bad agent output is a result, and the pair's report says what is wrong with it."""
    report = evaluate(pair_of(b"Sorry, I cannot do that.", DISJOINT[1]))

    assert report.merge_status is ce.reporting.PairStatus.MISSING_INPUT
    assert report.feature1.patch.status is ce.PatchStatus.FAILED
    assert report.feature1.patch.reason == "patch: holds no diff"


def test_the_policy_decides_how_patches_are_placed():
    """It applies to both sides; of a partial patch, the hunks that were placed are merged."""
    rotten = DISJOINT[0] + b"--- a/none\n+++ b/none\n@@ -1 +1 @@\n-1\n+2\n"
    partial = ce.ApplyPolicy(partial=True)

    strict, lenient = (
        evaluate(pair_of(rotten, DISJOINT[1]), apply_policy=policy)
        for policy in (ce.ApplyPolicy(), partial)
    )

    assert strict.merge_status is ce.reporting.PairStatus.MISSING_INPUT
    assert lenient.merge_status is ce.reporting.PairStatus.CLEAN
    assert lenient.feature1.patch.status is ce.PatchStatus.PARTIAL
    assert lenient.feature1.patch.reason == "none: there is no such file"


# --- sides --------------------------------------------------------------------------------


def test_feature_1_is_merged_into_feature_2():
    """Ours is feature 2: its lines come first in a union and after the opening marker."""
    report = evaluate(pair_of(*CLASHING))

    (conflict,) = report.conflicts
    assert (conflict.ours, conflict.theirs) == (b"two\n", b"one\n")
    assert b"+<<<<<<< feature2\n+two\n+=======\n+one\n+>>>>>>> feature1\n" in report.diff
    assert report.attempt("naive").diff == report.diff
    assert b"+two\n+one\n" in report.attempt("union").diff


def test_swapping_the_features_keeps_status_and_score():
    """The direction of the merge does not change how bad the conflicts are."""
    report, swapped = (evaluate(pair_of(*p)) for p in (CLASHING, CLASHING[::-1]))

    assert report.merge_status is swapped.merge_status
    assert report.conflict_details == swapped.conflict_details


def test_the_report_describes_the_naive_merge_even_if_naive_was_not_requested():
    """The report's own status, score, conflicts and diff do not depend on the strategies."""
    asked, not_asked = (
        evaluate(pair_of(*CLASHING), strategies=each) for each in (["naive"], ["union"])
    )

    assert [each.strategy for each in not_asked.attempts] == ["union"]
    for name in ("merge_status", "conflict_details", "conflicts", "diff"):
        assert getattr(asked, name) == getattr(not_asked, name)


def test_strategies_see_the_features_but_not_their_tests():
    """Every strategy gets the same input: number and description of each side."""
    first, second = Mine(), Mine()
    second.name = "mine too"

    evaluate(pair_of(*CLASHING, scripts=("true", "SECRET=1")), strategies=[first, second])

    assert first.seen == second.seen
    (seen,) = first.seen
    assert seen.ours_feature == ce.strategies.FeatureContext(number=2, description="Do 2.")
    assert seen.theirs_feature == ce.strategies.FeatureContext(number=1, description="Do 1.")
    assert not hasattr(seen, "tests")
    assert b"SECRET" not in pickle.dumps(seen)


# --- the report ------------------------------------------------------------------------------


def test_a_report_records_what_was_evaluated_and_how():
    """It has the base, model, setting, try, strategies and versions."""
    base = ce.Snapshot.from_files({"f": TEXT, "g": b"1\n"})

    report = evaluate(
        pair_of(*DISJOINT, base=base, model="gpt-5", setting="coop", k=3), ["naive", Mine()]
    )

    assert (report.repo_name, report.task_id) == ("r", 0)
    assert (report.model, report.setting, report.k) == ("gpt-5", "coop", 3)
    assert (report.base_tree_id, report.base_commit) == (base.tree_id, None)
    assert [each.implementation for each in report.attempts] == [
        "cooperbench_eval.strategies.naive:NaiveStrategy",
        f"{__name__}:Mine",
    ]
    assert set(report.versions) == {"cooperbench_eval", "python", "pygit2"}
    assert report.timestamp.utcoffset() is not None


def test_a_row_measures_what_its_strategy_left():
    """The tree it made, the conflicts it met, and those still open."""
    both = edit(f=b"1\n2\none\n4\n5\n", g=b"2\n"), edit(f=b"1\n2\ntwo\n4\n5\n", g=None)

    report = evaluate(pair_of(*both))

    naive, union = report.attempts
    assert (naive.conflicts_met, union.conflicts_met) == (2, 2)
    assert naive.conflict_details == report.conflict_details
    assert (naive.conflict_details.conflict_score, union.conflict_details.conflict_score) == (
        44,
        20,
    )
    assert [file.path for file in union.conflict_details.files] == ["g"]
    applied = ce.apply_patch(BASE, ce.Patch.parse(union.diff))
    assert applied.changes.tree_id(BASE) == union.tree_id


def test_a_given_scorer_is_used():
    """Its weights apply to the report and to each row."""
    report = evaluate(pair_of(*CLASHING), scorer=ce.ConflictScorer(per_section=1, per_line=10))

    assert report.conflict_score == 21
    assert report.attempt("naive").conflict_details.conflict_score == 21


def test_two_strategies_with_the_same_name_are_rejected():
    """Their rows could not be distinguished."""
    with pytest.raises(ValueError, match="different names, not naive, mine, mine"):
        ce.Evaluator(strategies=["naive", Mine(), Mine()])


def test_two_features_with_the_same_number_are_rejected():
    """Their results could not be distinguished."""
    feature = ce.Feature(number=1, patch=DISJOINT[0])

    with pytest.raises(ValueError, match="feature2 has the same number as feature1, 1"):
        ce.FeaturePair(repo_name="r", task_id=0, base=BASE, feature1=feature, feature2=feature)


def test_a_string_is_one_strategy():
    """The name is not split into letters."""
    assert [each.name for each in ce.Evaluator(strategies="union").strategies] == ["union"]


def test_without_strategies_the_pair_is_merged_and_scored():
    """The report's own fields need no strategy."""
    report = evaluate(pair_of(*CLASHING), strategies=[])

    assert (report.attempts, report.conflict_score) == ((), 24)


def without_times(report):
    """Return a report's JSON values without measured times."""

    def strip(value):
        if isinstance(value, dict):
            clocks = {"timestamp", "duration_seconds"}
            return {key: strip(each) for key, each in value.items() if key not in clocks}
        if isinstance(value, list):
            return [strip(each) for each in value]
        return re.sub(r"in \d+\.\d+s", "", value) if isinstance(value, str) else value

    return strip(json.loads(report.to_json()))


def test_evaluating_twice_gives_the_same_report_except_for_times():
    """The same holds in another thread and after the pair was pickled."""
    tests = b"from f import x\n\ndef test_x():\n    print(set('abc'))\n    assert x\n"
    code = ce.Snapshot.from_files({"f.py": b"x = 0\ny = 0\n", "test_f.py": tests})
    run = ce.TestSuite(
        command=("python", "-m", "pytest", "-q", "-rA"),
        env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    patches = [
        ce.Changes({"f.py": ce.Entry(text)}).diff(code) for text in (b"x = 1\n", b"x = 0\ny = 1\n")
    ]
    pair = pair_of(*patches, scripts=(run, None), base=code)
    evaluator = ce.Evaluator(runner=ce.TestRunner())

    with ThreadPoolExecutor(2) as pool:
        there = pool.submit(evaluator.evaluate, pickle.loads(pickle.dumps(pair)))  # noqa: S301
        here = evaluator.evaluate(pair)

    assert without_times(here) == without_times(there.result())
    assert here.feature1.tests.total_tests == 1


def test_a_patch_is_placed_once_for_all_its_pairs(monkeypatch):
    """The other feature does not matter; on another base the patch is placed again."""
    placed = []
    place = apply._apply
    monkeypatch.setattr(apply, "_apply", lambda *args: placed.append(args[1]) or place(*args))
    base = ce.Snapshot.from_files({"f": TEXT})
    other = ce.Snapshot.from_files({"f": TEXT, "g": b"2\n"})

    for partner in (DISJOINT[1], CLASHING[0]):
        ce.Evaluator().evaluate(pair_of(DISJOINT[0], partner, base=base))
    ce.Evaluator().evaluate(pair_of(*DISJOINT, base=other))

    assert [patch.data for patch in placed] == [*DISJOINT, CLASHING[0], *DISJOINT]


def test_sharing_an_evaluator_does_not_change_reports():
    """Each pair's report equals that of a new evaluator."""
    agent = DISJOINT[0] + ce.Changes({"check.sh": ce.Entry(b"1\n")}).diff(BASE)
    theirs = suite("true", edit(check=b"#").replace(b"check", b"check.sh"))
    only_tests = ce.Changes({"check.sh": ce.Entry(b"1\n")}).diff(BASE)
    pairs = [
        pair_of(first, second, scripts=(None, script))
        for first in (agent, only_tests, b"", UNFIT)
        for second in (DISJOINT[1], CLASHING[1])
        for script in (None, theirs)
    ]
    evaluator = ce.Evaluator()

    shared = [without_times(evaluator.evaluate(pair)) for pair in pairs]

    assert shared == [without_times(ce.Evaluator().evaluate(pair)) for pair in pairs]


def test_an_evaluators_cache_is_private():
    """It is neither pickled nor compared."""
    evaluator, fresh = ce.Evaluator(), ce.Evaluator()
    report = evaluator.evaluate(pair_of(*DISJOINT))

    copy = pickle.loads(pickle.dumps(evaluator))  # noqa: S301 - made just above

    assert evaluator == fresh == copy
    assert len(pickle.dumps(evaluator)) == len(pickle.dumps(fresh))
    assert without_times(copy.evaluate(pair_of(*DISJOINT))) == without_times(report)


def test_the_users_repository_is_not_touched(tmp_path):
    """No file, reference or index changes, whatever the working tree contains."""
    repository = pygit2.init_repository(tmp_path, initial_head="main")
    for path in ("f", "g"):
        (tmp_path / path).write_bytes(BASE.read(path))
        repository.index.add(path)
    repository.index.write()
    who = pygit2.Signature("a", "a@example.org", 1, 0)
    tree = repository.index.write_tree()
    commit = repository.create_commit("refs/heads/main", who, who, "base", tree, [])
    (tmp_path / "f").write_text("unsaved work")
    (tmp_path / "stray").write_text("mine")
    before = {p: (p.stat().st_mtime_ns, p.is_dir() or p.read_bytes()) for p in tmp_path.rglob("*")}
    base = ce.Snapshot.from_repo(tmp_path, "main")

    report = evaluate(pair_of(*CLASHING, base=base, scripts=("grep one f", "test ! -e stray")))

    after = {p: (p.stat().st_mtime_ns, p.is_dir() or p.read_bytes()) for p in tmp_path.rglob("*")}
    assert after == before
    assert report.base_commit == str(commit)
    assert verdicts(report)["union"] == ("resolved", "correct")
    assert report.conflict_details == evaluate(pair_of(*CLASHING)).conflict_details

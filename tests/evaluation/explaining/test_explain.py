"""`explain` on pairs whose tests are shell scripts."""

import json
import shlex
import sys
from pathlib import Path

import attrs
import pytest
from quick import QUICK

import cooperbench_eval as ce

TEXT = "".join(f"line {number}\n" for number in range(1, 41))
FILES = {"a": TEXT, "b": TEXT}
PLACES = (3, 10, 17, 24, 31, 38)


class CountingSandbox:
    """A sandbox that counts its runs."""

    name = identity = "counting"

    def __init__(self):
        """Start with nothing run."""
        self.count = 0

    def run(self, command, *, tree, **options):
        """Count the run, then do it."""
        self.count += 1
        return QUICK.run(command, tree=tree, **options)


def edit(base, **files):
    """Return the patch that replaces lines by their numbers: `a={3: "new"}`."""
    entries = {}
    for path, changes in files.items():
        lines = base.read(path).decode().splitlines()
        for number, text in changes.items():
            lines[number - 1] = text
        entries[path] = ce.Entry("".join(f"{line}\n" for line in lines).encode())
    return ce.Changes(entries).diff(base)


def suite(script):
    """Return a suite with one test, which passes if a shell script does."""
    return ce.TestSuite(command=("sh", "-c", script), framework="exit", timeout_seconds=20)


def pair_of(first, second, script1="true", script2="true", *, files=FILES, numbers=(1, 2)):
    """Return a pair; a side is a patch, or the new lines of files."""
    base = ce.Snapshot.from_files({path: text.encode() for path, text in files.items()})
    one, two = (
        ce.Feature(
            number=number,
            patch=side if isinstance(side, bytes) else edit(base, **side),
            tests=suite(script) if isinstance(script, str) else script,
        )
        for number, side, script in zip(numbers, (first, second), (script1, script2), strict=True)
    )
    return ce.FeaturePair(repo_name="r", task_id=0, base=base, feature1=one, feature2=two)


def explained(pair, *, sandbox=None, strategy="naive", **options):
    """Evaluate a pair and explain what a strategy's merge of it lost."""
    runner = ce.TestRunner(sandbox=sandbox or QUICK)
    report = ce.Evaluator(strategies=[strategy], runner=runner).evaluate(pair)
    return ce.explain(report, pair, strategy=strategy, runner=runner, **options)


def ids_of(own):
    """Return the ids of the one test of a suite."""
    return [shlex.join(own.command)]


def places(hunks):
    """Return where hunks are and their role."""
    return [(hunk.path, hunk.line, hunk.role.value) for hunk in hunks]


def innocent(path, *but):
    """Return changes of a file at every place but some."""
    return {path: {place: "innocent" for place in PLACES if place not in but}}


def broken(script1="! grep bad b && grep wanted a"):
    """A pair in which line 17 of `b` breaks the test of line 10 of `a`, among others."""
    first, second = innocent("a", 10), innocent("b", 17)
    first["a"][10] = "wanted"
    second["b"][17] = "bad"
    return pair_of(first, second, script1)


# --- what is found --------------------------------------------------------------------


def test_the_lines_of_both_sides_are_found_among_innocent_ones():
    """One hunk breaks the test, and one is needed by it; each has path, line and text."""
    explanation = explained(broken())

    assert explanation.status == "explained"
    assert places(explanation.feature1_hunks) == [("a", 10, "needed")]
    assert places(explanation.feature2_hunks) == [("b", 17, "breaks")]
    (hunk,) = explanation.feature2_hunks
    assert (hunk.feature, hunk.text) == (2, "-line 17\n+bad\n")
    assert explanation.tests == ("sh -c '! grep bad b && grep wanted a'",)
    assert (explanation.is_minimal, explanation.reason) == (True, "")


def test_the_tests_of_feature_2_can_be_the_lost_ones():
    """Then the hunk of feature 1 breaks them; the features keep their own numbers."""
    pair = broken()
    mirrored = pair_of(
        bytes(pair.feature2.patch),
        bytes(pair.feature1.patch),
        script2="! grep bad b && grep wanted a",
        numbers=(7, 4),
    )

    explanation = explained(mirrored)

    assert places(explanation.feature1_hunks) == [("b", 17, "breaks")]
    assert places(explanation.feature2_hunks) == [("a", 10, "needed")]
    assert [hunk.feature for hunk in explanation.feature1_hunks] == [7]


def test_two_hunks_that_each_break_a_test_are_both_found():
    """Leaving out one of them is not enough."""
    second = {"b": {3: "bad", 10: "fine", 38: "bad"}}
    pair = pair_of({"a": {10: "wanted"}}, second, "! grep bad b && grep wanted a")

    explanation = explained(pair)

    assert places(explanation.feature2_hunks) == [("b", 3, "breaks"), ("b", 38, "breaks")]
    assert explanation.is_minimal


def test_of_two_hunks_that_break_a_test_together_one_is_found():
    """Leaving out either of them is enough."""
    second = {"b": {3: "bad", 10: "fine", 38: "worse"}}
    pair = pair_of({"a": {10: "wanted"}}, second, "! (grep bad b && grep worse b) && grep wanted a")

    explanation = explained(pair)

    assert len(explanation.feature2_hunks) == 1
    assert explanation.feature2_hunks[0].line in {3, 38}


def test_a_hunk_of_the_same_side_can_break_a_test_together_with_the_other_side():
    """The test does not need it, and passes without it."""
    first = {"a": {3: "wanted", 17: "risky", 31: "innocent"}}
    second = {"b": {3: "bad", 17: "innocent"}}
    pair = pair_of(first, second, "grep wanted a && ! (grep risky a && grep bad b)")

    explanation = explained(pair)

    assert places(explanation.feature1_hunks) == [("a", 3, "needed"), ("a", 17, "breaks")]
    assert places(explanation.feature2_hunks) == [("b", 3, "breaks")]


def test_a_test_that_passes_on_the_base_is_broken_by_both_sides():
    """It needs no hunk, and passes again without either side's hunk."""
    first, second = innocent("a", 3), innocent("b", 3)
    first["a"][3], second["b"][3] = "half", "other half"
    pair = pair_of(first, second, "! (grep half a && grep other b)")

    explanation = explained(pair)

    assert places(explanation.feature1_hunks) == [("a", 3, "breaks")]
    assert places(explanation.feature2_hunks) == [("b", 3, "breaks")]


def test_each_feature_can_lose_tests():
    """There is a finding for each suite; a hunk with both roles is one that breaks."""
    first = {"a": {3: "one", 17: "innocent"}}
    second = {"b": {3: "two", 17: "innocent"}}
    pair = pair_of(first, second, "grep one a && ! grep two b", "grep two b && ! grep one a")

    explanation = explained(pair)

    assert [finding.suite.value for finding in explanation.findings] == ["feature1", "feature2"]
    assert places(explanation.feature1_hunks) == [("a", 3, "breaks")]
    assert places(explanation.feature2_hunks) == [("b", 3, "breaks")]
    assert len(explanation.tests) == 2
    assert [len(finding.hunks) for finding in explanation.findings] == [2, 2]


def test_a_new_file_is_one_hunk():
    """Its text is all its lines."""
    base = ce.Snapshot.from_files({path: text.encode() for path, text in FILES.items()})
    added = ce.Changes({"bad": ce.Entry(b"1\n2\n"), "other": ce.Entry(b"3\n")}).diff(base)
    pair = pair_of({"a": {10: "wanted"}}, added, "! test -e bad && grep wanted a")

    (hunk,) = explained(pair).feature2_hunks

    assert (hunk.path, hunk.line, hunk.text) == ("bad", 1, "+1\n+2\n")


def test_a_strategy_that_resolves_conflicts_is_used_for_every_merge():
    """Union keeps both lines, and the test that forbids one of them is lost."""
    pair = pair_of(
        {"a": {10: "wanted", 3: "x"}}, {"a": {10: "bad", 38: "y"}}, "! grep bad a && grep wanted a"
    )

    explanation = explained(pair, strategy="union")

    assert places(explanation.feature1_hunks) == [("a", 10, "needed")]
    assert places(explanation.feature2_hunks) == [("a", 10, "breaks")]
    assert explanation.strategy == "union"


# --- runs and budget ------------------------------------------------------------------


def test_only_the_suite_that_lost_tests_is_run_and_every_run_is_counted():
    """Trees that the report has results for cost no run."""
    sandbox = CountingSandbox()
    pair = broken()
    runner = ce.TestRunner(sandbox=sandbox)
    report = ce.Evaluator(strategies=["naive"], runner=runner).evaluate(pair)
    before = sandbox.count

    explanation = ce.explain(report, pair, runner=runner)

    assert explanation.runs_used == sandbox.count - before
    assert explanation.runs_used <= 20


@pytest.mark.parametrize("budget", range(1, 12))
def test_a_small_budget_is_kept_and_never_leads_to_a_wrong_answer(budget):
    """The hunks that are responsible are always among the reported ones."""
    sandbox = CountingSandbox()
    pair = broken()
    runner = ce.TestRunner(sandbox=sandbox)
    report = ce.Evaluator(strategies=["naive"], runner=runner).evaluate(pair)
    before = sandbox.count

    explanation = ce.explain(report, pair, runner=runner, budget=budget)

    assert sandbox.count - before == explanation.runs_used <= budget
    assert ("a", 10, "needed") in places(explanation.feature1_hunks)
    assert ("b", 17, "breaks") in places(explanation.feature2_hunks)
    few = len(explanation.feature1_hunks) == len(explanation.feature2_hunks) == 1
    assert few or not explanation.is_minimal
    assert explanation.is_minimal or explanation.reason == (
        "the budget was spent before the search ended"
    )


def test_a_budget_of_one_reports_all_hunks_of_both_sides():
    """They are known to suffice, because each feature was tested alone."""
    explanation = explained(broken(), budget=1)

    assert (explanation.status, explanation.is_minimal) == ("explained", False)
    assert len(explanation.feature1_hunks) == len(explanation.feature2_hunks) == len(PLACES)


@pytest.mark.parametrize("budget", [0, -1])
def test_a_budget_must_allow_a_run(budget):
    """Anything else is a mistake of the caller."""
    with pytest.raises(ValueError, match=f"budget must be at least 1 run, not {budget}"):
        explained(broken(), budget=budget)


def test_the_number_of_trees_is_limited_too(monkeypatch):
    """Trees that cannot be merged cost no run, but each of them takes time."""
    monkeypatch.setattr("cooperbench_eval.evaluation.explaining.finding._MOST_TREES_PER_RUN", 0.1)

    explanation = explained(broken(), budget=30)

    assert (explanation.runs_used <= 4, explanation.is_minimal) == (True, False)


# --- trees that give no verdict -------------------------------------------------------


def test_a_removal_that_conflicts_does_not_count_as_one_that_helps():
    """Both sides make one change; without it on one side, the other one's lines conflict."""
    same = {3: "same", 4: "same"}
    first = {"a": {**same, 10: "wanted", 5: "first"}}
    second = {"a": {**same, 5: "first"}, "b": {3: "bad", 31: "innocent"}}
    pair = pair_of(first, second, "! grep bad b && grep wanted a")

    explanation = explained(pair)

    assert places(explanation.feature2_hunks) == [("b", 3, "breaks")]


def test_a_file_in_the_place_of_a_folder_cannot_be_left_out_of_it():
    """The deletion and the new file below are tried apart, and only fit together."""
    base = ce.Snapshot.from_files({"a": TEXT.encode(), "b": TEXT.encode(), "d": b"1\n"})
    changes = ce.Changes({"d": None, "d/bad": ce.Entry(b"2\n")}).diff(base)
    pair = pair_of(
        {"a": {10: "wanted"}},
        changes,
        "! test -e d/bad && grep wanted a",
        files={**FILES, "d": "1\n"},
    )

    explanation = explained(pair)

    assert places(explanation.feature2_hunks) == [("d/bad", 1, "breaks")]
    assert explanation.is_minimal


# --- nothing to explain ---------------------------------------------------------------


def test_a_correct_merge_has_nothing_to_explain():
    """No suite is run."""
    explanation = explained(pair_of({"a": {3: "x"}}, {"b": {3: "y"}}))

    assert (explanation.status, explanation.runs_used) == ("nothing_lost", 0)
    assert (explanation.findings, explanation.is_minimal) == ((), False)


def test_a_conflict_has_no_tree_to_explain():
    """The reason says how the merge ended."""
    explanation = explained(pair_of({"a": {3: "x"}}, {"a": {3: "y"}}))

    assert explanation.status == "not_merged"
    assert explanation.reason == "the merge is not complete; its status is conflicts"


def test_a_side_that_is_missing_has_no_merge():
    """Its patch is empty."""
    assert explained(pair_of(b"", {"a": {3: "y"}})).status == "not_merged"


def test_a_pair_without_tests_has_no_result():
    """Nothing is known about the merged tree."""
    pair = pair_of({"a": {3: "x"}}, {"b": {3: "y"}}, script1=None, script2=None)

    assert explained(pair).status == "not_run"


def test_nothing_is_claimed_about_a_merged_tree_without_a_result():
    """A feature fails alone, and its tests cannot run on the merged tree."""

    class FailingOnTheMerge(CountingSandbox):
        def run(self, command, *, tree, **options):
            if all("new" in (Path(tree) / name).read_text() for name in FILES):
                raise ce.errors.SandboxError("no space")
            return super().run(command, tree=tree, **options)

    pair = pair_of({"a": {3: "new"}}, {"b": {3: "new"}}, script1="false")
    runner = ce.TestRunner(sandbox=FailingOnTheMerge(), retries=0)
    report = ce.Evaluator(strategies=["naive"], runner=runner).evaluate(pair)

    explanation = ce.explain(report, pair, strategy="naive", runner=runner)

    assert report.blame("naive").kind == "broken_alone"
    assert report.attempt("naive").verdict == "not_run"
    assert explanation.status == "not_run"
    assert "its tests have no result" in explanation.reason


def test_a_test_that_passes_when_it_is_run_again_is_not_explained(tmp_path):
    """It fails the first two times on the merged tree, so the evaluation reports it as lost."""
    marks = tmp_path / "marks"
    twice = f'echo run >>{marks}; test "$(wc -l <{marks})" -gt 2'
    flaky = f"! (grep x a && grep y b) || {{ {twice}; }}"
    pair = pair_of({"a": {3: "x"}}, {"b": {3: "y"}}, flaky)

    explanation = explained(pair)

    assert explanation.status == "not_reproduced"
    assert (explanation.runs_used, explanation.is_minimal) == (1, False)
    assert explanation.feature1_hunks == explanation.feature2_hunks == ()


def test_another_pair_than_the_reports_is_refused():
    """Its patches or its base differ, so the report's tests say nothing about it."""
    runner = ce.TestRunner(sandbox=QUICK)
    report = ce.Evaluator(strategies=["naive"], runner=runner).evaluate(broken())
    other = pair_of({"a": {3: "x"}}, {"b": {3: "y"}}, "! grep bad b && grep wanted a")

    explanation = ce.explain(report, other, runner=runner)

    assert (explanation.status, explanation.runs_used) == ("other_tree", 0)
    assert "merging the pair gives the tree" in explanation.reason


def test_another_pair_without_tests_is_refused():
    """It would seem that the merge lost no test."""
    runner = ce.TestRunner(sandbox=QUICK)
    report = ce.Evaluator(strategies=["naive"], runner=runner).evaluate(broken())
    features = [ce.Feature(number=n, patch=broken().feature1.patch) for n in (1, 2)]
    other = attrs.evolve(broken(), task_id=9, feature1=features[0], feature2=features[1])

    explanation = ce.explain(report, other, runner=runner)

    assert (explanation.status, explanation.runs_used) == ("other_tree", 0)
    assert "the report is about" in explanation.reason


def test_a_strategy_that_was_not_tried_is_an_error():
    """As in `report.attempt`."""
    runner = ce.TestRunner(sandbox=QUICK)
    report = ce.Evaluator(strategies=["naive"], runner=runner).evaluate(broken())

    with pytest.raises(KeyError, match="union"):
        ce.explain(report, broken(), strategy="union", runner=runner)


def test_a_sandbox_that_fails_makes_the_result_unsure():
    """A run without a verdict does not show that a hunk cannot be left out."""

    class Failing(CountingSandbox):
        def run(self, command, **options):
            if self.count == 8:
                self.count += 1
                raise ce.errors.SandboxError("no space")
            return super().run(command, **options)

    pair = broken()
    runner = ce.TestRunner(sandbox=Failing(), retries=0)
    report = ce.Evaluator(strategies=["naive"], runner=runner).evaluate(pair)

    explanation = ce.explain(report, pair, runner=runner)

    assert not explanation.is_minimal
    assert "the sandbox failed in a run" in explanation.reason
    assert ("b", 17, "breaks") in places(explanation.feature2_hunks)


# --- as data --------------------------------------------------------------------------


def test_an_explanation_can_be_written_as_json():
    """Every value is plain, and derived facts are included."""
    explanation = explained(broken())

    data = json.loads(json.dumps(explanation.to_dict()))

    assert data == explanation.to_dict()
    assert data["feature2_hunks"] == [
        {"feature": 2, "path": "b", "line": 17, "text": "-line 17\n+bad\n", "role": "breaks"}
    ]
    assert (data["status"], data["is_minimal"]) == ("explained", True)
    assert data["findings"][0]["suite"] == "feature1"


# --- joint tests and the repository's own ---------------------------------------------


def test_the_repositorys_tests_pass_again_without_either_side():
    """Each side has hunks that break them, and leaving out those of one side is enough."""
    first, second = innocent("a", 10), innocent("b", 17)
    first["a"][10], second["b"][17] = "half", "other half"
    own = suite("! (grep half a && grep other b)")
    pair = attrs.evolve(pair_of(first, second), regression=own)

    explanation = explained(pair)

    assert [each.suite.value for each in explanation.findings] == ["regression"]
    assert places(explanation.feature1_hunks) == [("a", 10, "breaks")]
    assert places(explanation.feature2_hunks) == [("b", 17, "breaks")]
    assert (explanation.is_minimal, explanation.tests) == (True, tuple(ids_of(own)))


def test_a_hunk_that_joint_tests_do_not_need_can_break_them():
    """They need a hunk of each side, and a further hunk of either side breaks them."""
    first, second = innocent("a", 3, 10), innocent("b", 17, 24)
    first["a"] |= {3: "one", 10: "bad"}
    second["b"] |= {17: "two", 24: "worse"}
    joint = suite("grep one a && grep two b && ! (grep bad a && grep worse b)")
    pair = attrs.evolve(pair_of(first, second, "grep one a", "grep two b"), joint=joint)

    explanation = explained(pair)

    assert [each.suite.value for each in explanation.findings] == ["joint"]
    assert places(explanation.feature1_hunks) == [("a", 10, "breaks")]
    assert places(explanation.feature2_hunks) == [("b", 24, "breaks")]
    assert explanation.is_minimal


def test_several_hunks_of_a_file_can_break_joint_tests():
    """No single one of them is enough, so the file is left out, and then as little of it."""
    first = {"a": {3: "one"}, "b": {24: "bad", 31: "bad", 38: "fine"}}
    joint = suite("grep one a && grep two b && ! grep bad b")
    pair = attrs.evolve(pair_of(first, {"b": {3: "two"}}, "grep one a", "grep two b"), joint=joint)

    explanation = explained(pair)

    assert places(explanation.feature1_hunks) == [("b", 24, "breaks"), ("b", 31, "breaks")]
    assert explanation.feature2_hunks == ()


def test_joint_tests_that_need_every_hunk_are_not_explained():
    """The features are right alone, and nobody made them fit together."""
    pair = pair_of({"a": {3: "one"}}, {"b": {3: "two"}}, "grep one a", "grep two b")
    pair = attrs.evolve(pair, joint=suite("grep one a && grep two b && grep three b"))

    explanation = explained(pair)

    assert (explanation.status, explanation.is_minimal) == ("unexplained", False)
    assert explanation.feature1_hunks == explanation.feature2_hunks == ()
    assert "the joint tests need both features" in explanation.reason


def test_joint_tests_leave_no_doubt_about_a_spent_budget():
    """The search did not end, so it is not claimed that nothing helps."""
    pair = pair_of({"a": {3: "one", 9: "x"}}, {"b": {3: "two", 9: "x"}}, "grep one a", "grep two b")
    pair = attrs.evolve(pair, joint=suite("grep one a && grep two b && grep three b"))

    explanation = explained(pair, budget=2)

    assert explanation.status == "unexplained"
    assert explanation.reason == "the budget was spent before the search ended"


HANGS_ON_BOTH = "grep one a && grep two b && exec sleep 20"


def timed(script):
    """Return a suite like `suite`, which times out soon."""
    return attrs.evolve(suite(script), timeout_seconds=1)


def test_joint_tests_that_time_out_on_the_merge_are_searched_as_a_whole():
    """It is not known which of them are lost; without a further hunk, all pass."""
    joint = timed("grep one a && grep two b && ! { grep bad a && sleep 20; }")
    pair = pair_of({"a": {3: "one", 20: "bad"}}, {"b": {3: "two"}}, "grep one a", "grep two b")

    explanation = explained(attrs.evolve(pair, joint=joint))

    assert (explanation.status, explanation.tests) == ("explained", ())
    assert places(explanation.feature1_hunks) == [("a", 20, "breaks")]
    assert "the tests of both features together, explained by the hunks below\n" in str(explanation)


def test_joint_tests_that_time_out_without_a_known_reason_are_unexplained():
    """The blame says that the merge broke them, so the merge did lose something."""
    joint = timed(f"{HANGS_ON_BOTH} || false")
    pair = pair_of({"a": {3: "one"}}, {"b": {3: "two"}}, "grep one a", "grep two b")

    assert explained(attrs.evolve(pair, joint=joint)).status == "unexplained"


def test_the_repositorys_tests_that_time_out_on_the_merge_are_lost():
    """They pass on each side."""
    pair = pair_of({"a": {3: "one"}}, {"b": {3: "two"}}, "grep one a", "grep two b")
    pair = attrs.evolve(pair, regression=timed(f"{HANGS_ON_BOTH}; true"))

    explanation = explained(pair)

    assert (explanation.status, len(explanation.tests)) == ("explained", 1)
    assert places(explanation.feature1_hunks) == [("a", 3, "breaks")]
    assert places(explanation.feature2_hunks) == [("b", 3, "breaks")]


def test_a_repositorys_test_that_fails_on_the_base_can_be_lost():
    """It passes with either feature, and fails with both each time it is run."""
    pair = pair_of({"a": {3: "one"}}, {"b": {3: "two"}}, "grep one a", "grep two b")
    pair = attrs.evolve(pair, regression=suite('test "$(cat a b | grep -c -e one -e two)" = 1'))

    explanation = explained(pair)

    assert (explanation.status, len(explanation.tests)) == ("explained", 1)
    assert places(explanation.feature1_hunks) == [("a", 3, "breaks")]


def test_a_repositorys_test_of_one_feature_is_broken_by_the_other():
    """Feature 1 adds its file, so leaving this out does not make the test pass again."""
    old = b"def test_old():\n    pass\n"
    base = ce.Snapshot.from_files({"m.py": b"A = 1\n\n\n\nB = 1\n", "test_old.py": old})
    mine = ce.Entry(b"import m\n\n\ndef test_mine():\n    assert m.B == 1\n")
    first = ce.Changes({"test_mine.py": mine, "m.py": ce.Entry(b"A = 2\n\n\n\nB = 1\n")})
    own = ce.TestSuite(
        command=(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
        env={"PYTHONPATH": "."},
    )
    pair = ce.FeaturePair(
        repo_name="r",
        task_id=0,
        base=base,
        feature1=ce.Feature(number=1, patch=first.diff(base)),
        feature2=ce.Feature(number=2, patch=edit(base, **{"m.py": {5: "B = 2"}})),
        regression=own,
    )

    explanation = explained(pair)

    assert explanation.tests == ("test_mine.py::test_mine",)
    assert places(explanation.feature1_hunks) == []
    assert places(explanation.feature2_hunks) == [("m.py", 5, "breaks")]


# --- odd cases ------------------------------------------------------------------------


def test_a_case_with_random_parameters_is_recognised():
    """Its id differs in each run, so the test is what counts."""
    test = "import random, pytest\n\n@pytest.mark.parametrize('x', [random.random()])\n"
    test += "def test_it(x):\n    import b\n    assert b.VALUE == 1\n"
    base = ce.Snapshot.from_files({"b.py": b"VALUE = 1\n", "a.py": b"1\n2\n3\n4\n5\n6\n"})
    added = ce.Changes({"test_it.py": ce.Entry(test.encode())}).diff(base)
    python = ce.TestSuite(
        command=(sys.executable, "-m", "pytest", "-q"), patch=added, env={"PYTHONPATH": "."}
    )
    features = [
        ce.Feature(number=1, patch=edit(base, **{"a.py": {1: "0"}}), tests=python),
        ce.Feature(number=2, patch=edit(base, **{"a.py": {6: "7"}, "b.py": {1: "VALUE = 2"}})),
    ]
    pair = ce.FeaturePair(
        repo_name="r", task_id=0, base=base, feature1=features[0], feature2=features[1]
    )

    explanation = explained(pair)

    assert places(explanation.feature2_hunks) == [("b.py", 1, "breaks")]


def test_names_that_are_not_text_do_no_harm():
    """A path or a message may have bytes that are not UTF-8."""
    odd = "a\udce9"
    pair = pair_of(
        {odd: {10: "wanted"}},
        {"b": {3: "bad", 17: "innocent"}},
        "! grep bad b && grep wanted a?",
        files={odd: TEXT, "b": TEXT},
    )

    explanation = explained(pair)

    assert places(explanation.feature1_hunks) == [(odd, 10, "needed")]
    assert places(explanation.feature2_hunks) == [("b", 3, "breaks")]

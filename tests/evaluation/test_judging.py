"""How runs are judged: by what fails on the base, by joint tests, by the repository's own."""

import copy
import json
import sys

import attrs
import pytest
from quick import QUICK

import cooperbench_eval as ce

CODE = b"def add(a, b):\n    return a + b\n\n\ndef scale(a):\n    return a * RATE\n\n\nRATE = 1\n"
OLD_TEST = b"""\
import calc


def test_add():
    assert calc.add(1, 2) == 3


def test_always_broken():
    assert calc.add(1, 1) == 3
"""
BASE = ce.Snapshot.from_files({"calc.py": CODE, "tests/test_calc.py": OLD_TEST})
GOOD = ce.Snapshot.from_files(
    {"calc.py": CODE, "tests/test_calc.py": OLD_TEST.replace(b"1) == 3", b"1) == 2")}
)
ENV = {"PYTHONPATH": ".", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
# Many tests need the same runs.
RUNNER = ce.TestRunner(sandbox=QUICK)
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")


class CountingSandbox:
    """A sandbox that counts the runs in it."""

    name = identity = "counting"

    def __init__(self):
        """Start with no run."""
        self.runs = 0

    def run(self, command, **options):
        """Count the run."""
        self.runs += 1
        return QUICK.run(command, **options)


def edit(base, **files):
    """Return the patch that writes files; two underscores stand for a slash."""
    contents = {name.replace("__", "/") + ".py": text for name, text in files.items()}
    return ce.Changes({path: ce.Entry(text) for path, text in contents.items()}).diff(base)


def suite(patch=b"", command=PYTEST, **options):
    """Return a suite of pytest."""
    return ce.TestSuite(command=command, patch=patch, env=ENV, timeout_seconds=60, **options)


def mul(base=BASE):
    """Return a patch that adds a function at the top."""
    return edit(base, calc=b"def mul(a, b):\n    return a * b\n\n\n" + CODE)


def sub(base=BASE):
    """Return a patch that adds a function at the end."""
    return edit(base, calc=CODE + b"\n\ndef sub(a, b):\n    return a - b\n")


def test_file(name, call, value):
    """Return a test file that imports a function and calls it."""
    return (
        f"from calc import {name}\n\n\ndef test_{name}():\n    assert {call} == {value}\n".encode()
    )


test_file.__test__ = False
MUL_TESTS = edit(BASE, tests__test_mul=test_file("mul", "mul(2, 3)", 6))
SUB_TESTS = edit(BASE, tests__test_sub=test_file("sub", "sub(2, 3)", -1))


def pair_of(one=None, two=None, *, base=BASE, tests=(MUL_TESTS, SUB_TESTS), **options):
    """Return a pair of patches with their tests."""
    patches = (mul(base) if one is None else one, sub(base) if two is None else two)
    features = [
        ce.Feature(
            number=number,
            patch=patch,
            tests=each if isinstance(each, ce.TestSuite) else suite(each),
        )
        for number, patch, each in zip((1, 2), patches, tests, strict=True)
    ]
    return ce.FeaturePair(
        repo_name="calc",
        task_id=1,
        base=base,
        feature1=features[0],
        feature2=features[1],
        **options,
    )


def evaluate(pair, sandbox=None, **options):
    """Evaluate with naive only, unless told otherwise."""
    runner = ce.TestRunner(sandbox=sandbox) if sandbox else RUNNER
    return ce.Evaluator(**{"strategies": ["naive"], "runner": runner} | options).evaluate(pair)


def kind(report, strategy="naive"):
    """Return the verdict and the blame of a strategy, as text."""
    return report.attempt(strategy).verdict.value, report.blame(strategy).kind.value


OLD = "tests/test_calc.py::test_always_broken"


# --- delta: what fails on the base ----------------------------------------------------


def test_a_case_that_fails_on_the_base_counts_against_nobody():
    """It is listed, the verdict is correct, and no further command was run for it."""
    delta, absolute = CountingSandbox(), CountingSandbox()

    report = evaluate(pair_of(), delta)
    strict = evaluate(pair_of(), absolute, judge="absolute")

    assert kind(report) == ("correct", "nobody")
    assert kind(strict) == ("incorrect", "broken_alone")
    assert report.preexisting_failures == (OLD,)
    assert strict.preexisting_failures == ()
    assert (report.judge, strict.judge) == ("delta", "absolute")


def test_the_old_names_stay_absolute():
    """`tests_passed`, `pass_rate` and the policies of the benchmark count every case."""
    report = evaluate(pair_of())

    assert report.feature1.tests_passed is False
    assert report.feature1.is_right is True
    assert report.feature1.tests.pass_rate == pytest.approx(2 / 3)
    for name in ("paper", "cooperbench-0.0.29"):
        assert ce.analysis.POLICIES[name].judge(report).verdict is ce.Verdict.INCORRECT
    assert ce.analysis.POLICIES["strict"].judge(report).verdict is ce.Verdict.CORRECT


def test_a_disagreement_of_the_rules_is_said_in_one_sentence():
    """For each feature alone, and for the merged tree."""
    why = f"{OLD} already fails on the base."
    assert evaluate(pair_of()).warnings == (
        f"Feature 1 alone fails under the absolute rule, but not here: {why}",
        f"Feature 2 alone fails under the absolute rule, but not here: {why}",
        f"Under the absolute rule, naive would be incorrect: {why}",
    )
    tests = (edit(GOOD, tests__test_mul=test_file("mul", "mul(2, 3)", 6)), b"")
    assert evaluate(pair_of(base=GOOD, tests=tests)).warnings == ()


def test_only_new_test_files_need_no_further_run():
    """The suite's own run on the base shows what fails there."""
    test = b"def test_mul():\n    import calc\n    assert calc.mul(2, 3) == 6\n"
    tests = edit(BASE, tests__test_mul=test), edit(BASE, tests__test_sub=b"def test_sub(): pass\n")
    sandbox, absolute = CountingSandbox(), CountingSandbox()

    report = evaluate(pair_of(tests=tests), sandbox)
    evaluate(pair_of(tests=tests), absolute, judge="absolute")

    assert kind(report) == ("correct", "nobody")
    assert sandbox.runs == 6
    assert absolute.runs == 6 + 4  # the old failure is held against both, alone and merged


def test_a_file_that_cannot_be_loaded_on_the_base_is_run_there_without_the_patch():
    """Its old failure is recognised although its new import fails on the base."""
    new = b"from calc import mul\n" + OLD_TEST + b"\n\ndef test_mul():\n    assert mul(2, 3) == 6\n"
    tests = edit(BASE, tests__test_calc=new), SUB_TESTS

    report = evaluate(pair_of(tests=tests))

    assert report.feature1.base_tests.cases[0].status == "error"
    assert kind(report) == ("correct", "nobody")
    assert report.preexisting_failures == (OLD,)


def test_a_test_that_the_suite_changes_is_required_although_it_fails_on_the_base():
    """It fails with the feature too, so the feature is broken."""
    tests = edit(BASE, tests__test_calc=OLD_TEST.replace(b"1) == 3", b"1) == 4")), SUB_TESTS

    report = evaluate(pair_of(tests=tests))

    assert kind(report) == ("incorrect", "broken_alone")
    assert report.blame("naive").features == (1,)
    assert report.feature1.judgement.broken == (OLD,)


def test_an_old_test_with_new_data_is_required():
    """The suite's patch changes only the file from which the test reads what it expects."""
    test = b"import calc\nfrom tests.data import WANTED\n\n\n"
    test += b"def test_rate():\n    assert calc.RATE == WANTED\n"
    base = ce.Snapshot.from_files(
        {"calc.py": CODE, "tests/test_rate.py": test, "tests/data.py": b"WANTED = 1\n"}
    )
    tests = edit(base, tests__data=b"WANTED = 2\n"), b""

    report = evaluate(pair_of(base=base, tests=tests))  # feature 1 does not change the rate

    assert report.feature1.judgement.broken == ("tests/test_rate.py::test_rate",)
    assert kind(report) == ("incorrect", "broken_alone")


def test_a_case_that_passes_on_the_base_is_required():
    """A feature breaks an old test that its suite does not touch."""
    one = edit(BASE, calc=b"def mul(a, b):\n    return a * b\n" + CODE.replace(b"a + b", b"a - b"))

    report = evaluate(pair_of(one))

    assert kind(report) == ("incorrect", "broken_alone")
    assert report.feature1.judgement.broken == ("tests/test_calc.py::test_add",)
    assert report.preexisting_failures == (OLD,)


def test_a_case_of_the_base_that_disappears_is_required():
    """A parametrised test loses one of its cases because of the code under test."""
    test = (
        b"import calc, pytest\n\n\n@pytest.mark.parametrize('n', calc.KINDS)\ndef test(n): pass\n"
    )
    code = b"KINDS = ['a', 'b']\nEND = 1\n"
    base = ce.Snapshot.from_files({"calc.py": code, "tests/test_kinds.py": test})
    one = edit(base, calc=b"KINDS = ['a']\nEND = 1\n")
    two = edit(base, calc=code + b"MORE = 1\n")

    report = evaluate(pair_of(one, two, base=base, tests=(b"", b"")))

    assert report.feature1.tests.passed
    assert report.feature1.judgement.broken == ("tests/test_kinds.py::test[b]",)
    assert kind(report) == ("incorrect", "broken_alone")
    assert "would be correct" in report.warnings[-1]


def test_a_test_that_the_other_suite_changes_is_judged_by_that_suite():
    """Feature 2 changes what an old test expects; feature 1's suite still has the old one."""
    code = CODE.replace(b"RATE = 1", b"RATE = 2")
    old = b"import calc\n\n\ndef test_rate():\n    assert calc.RATE == 1\n"
    base = ce.Snapshot.from_files({"calc.py": CODE, "tests/test_rate.py": old})
    tests = (
        edit(base, tests__test_mul=test_file("mul", "mul(2, 3)", 6)),
        edit(base, tests__test_rate=old.replace(b"== 1", b"== 2")),
    )

    report = evaluate(pair_of(None, edit(base, calc=code), base=base, tests=tests))

    assert kind(report) == ("correct", "nobody")
    assert report.attempt("naive").feature1_judgement.foreign == ("tests/test_rate.py::test_rate",)
    assert "belongs to another suite" in report.warnings[-1]


def test_an_exit_status_that_no_excused_case_explains_is_not_a_pass():
    """Every case passes, and the command fails."""
    command = ("sh", "-c", f"{sys.executable} -m pytest -q tests; exit 3")

    report = evaluate(pair_of(base=GOOD, tests=(suite(command=command), suite())))

    assert kind(report)[0] == "incorrect"


def test_a_suite_in_which_only_excused_cases_run_decides_nothing():
    """There is no verdict, and no feature is to blame."""
    command = (*PYTEST, "-k", "always_broken")

    report = evaluate(pair_of(tests=(suite(command=command), suite(command=command))))

    assert kind(report) == ("not_run", "unknown")
    assert ce.analysis.facts_of(report).attempts[0].verdict is ce.Verdict.NOT_RUN


def test_without_a_run_on_the_base_every_case_must_pass():
    """None was asked for, or nothing runs on the base."""
    assert kind(evaluate(pair_of(), test_base=False)) == ("incorrect", "broken_alone")

    base = ce.Snapshot.from_files({"calc.py": b"import time\ntime.sleep(60)\n" + CODE})
    fast = edit(base, calc=CODE.replace(b"RATE = 1", b"RATE = 2"))
    slow = suite(edit(base, tests__test_rate=b"import calc\ndef test(): assert calc.RATE == 2\n"))
    slow = ce.TestSuite(
        command=slow.command, patch=slow.patch, env=dict(slow.env), timeout_seconds=3
    )
    report = evaluate(pair_of(fast, fast, base=base, tests=(slow, slow)))
    assert kind(report) == ("correct", "nobody")
    assert report.warnings[0] == (
        "The tests of feature 1 gave no result on the base (timed out), so all of their cases "
        "must pass."
    )


def sharing_pair(test, *, files=None, command=PYTEST, **options):
    """Return a pair whose features set `a` and `b`, with a test that both features concern."""
    old = {"n.py": b"a = 1\n\n\n\nb = 1\n", "tests/test_shared.py": test, **(files or {})}
    base = ce.Snapshot.from_files(old)
    suites = [
        suite(
            edit(
                base,
                **{
                    f"tests__test_{name}": f"from n import {name}, new_{name}\n\n\n"
                    f"def test_{name}():\n    assert {name} == 2\n".encode()
                },
            ),
            command=command,
        )
        for name in "ab"
    ]
    one = edit(base, n=b"a = 2\nnew_a = 1\n\n\n\nb = 1\n")
    two = edit(base, n=b"a = 1\n\n\n\nb = 2\nnew_b = 1\n")
    return pair_of(one, two, base=base, tests=suites, **options)


@pytest.mark.parametrize(
    "test",
    [
        b"import n, pytest\n\n\ndef test():\n    if n.a * n.b == 4:\n        pytest.skip()\n",
        b"import n\n\n\nif n.a * n.b < 4:\n    def test():\n        pass\n",
    ],
    ids=["skipped", "missing"],
)
def test_a_case_that_passes_alone_may_not_vanish_in_the_merge(test):
    """The new tests cannot be loaded on the base, so only the side shows the old case."""
    report = evaluate(sharing_pair(test))

    assert [case.status for case in report.feature1.base_tests.cases] == ["error"]
    assert kind(report) == ("incorrect", "merge_broke_both")
    assert report.blame("naive").lost_tests1 == ("tests/test_shared.py::test",)


def test_an_exit_status_that_failing_tests_do_not_have_is_not_excused():
    """A check after the tests fails only in the merge, beside a case that fails on the base."""
    check = "import n, sys; sys.exit(7 * (n.a * n.b == 4))"
    script = "{0} -m pytest -q tests; a=$?; {0} -c '{1}' || exit 7; exit $a"
    script = script.format(sys.executable, check)
    old = b"def test_old():\n    assert False\n\n\ndef test():\n    pass\n"

    report = evaluate(sharing_pair(old, command=("sh", "-c", script)))

    assert report.feature1.is_right
    assert report.feature2.is_right
    assert kind(report)[0] == "incorrect"


@pytest.mark.long
def test_a_command_that_stops_at_a_failure_is_judged_by_all_its_cases():
    """What would have come after the failure was never seen."""
    old = b"def test_a():\n    assert False\n\n\ndef test_b():\n    pass\n"

    assert kind(evaluate(sharing_pair(old)))[0] == "correct"
    assert kind(evaluate(sharing_pair(old, command=(*PYTEST, "-x"))))[0] == "incorrect"


def test_a_test_that_its_own_suite_does_not_run_is_left_to_nobody():
    """Feature 2's patch edits an old test, and its command runs another file."""
    test = b"import n\n\n\ndef test(): assert n.a < 3\n"
    old = {"tests/test_old.py": test, "tests/test_more.py": b"def test(): pass\n"}
    base = ce.Snapshot.from_files({"n.py": b"a = 1\n\n\n\nb = 1\n"} | old)
    one, two = edit(base, n=b"a = 2\n\n\n\nb = 1\n"), edit(base, n=b"a = 1\n\n\n\nb = 1\na += b\n")
    changed = b"import n\n\n\ndef test(): assert n.a < 3\n\n\ndef test_new(): pass\n".replace(
        b"3", b"9"
    )
    both = edit(base, tests__test_old=changed, tests__test_two=b"def test(): pass\n")
    only = (*PYTEST[:-1], "tests/test_two.py")

    judged = evaluate(pair_of(one, two, base=base, tests=(b"", suite(both))))
    unjudged = evaluate(pair_of(one, two, base=base, tests=(b"", suite(both, command=only))))

    assert kind(judged) == ("correct", "nobody")
    assert kind(unjudged) == ("incorrect", "merge_broke_feature1")


# --- joint tests -----------------------------------------------------------------------

JOINT = edit(
    BASE,
    tests__test_both=b"import calc\n\n\ndef test_both():\n"
    b"    assert calc.sub(calc.scale(3), calc.offset()) == 3\n",
)
SCALES = edit(
    GOOD, calc=CODE.replace(b"RATE = 1", b"RATE = 1\n\n\ndef offset():\n    return 3 * (RATE > 1)")
)
DOUBLES = edit(
    GOOD,
    calc=b"def sub(a, b):\n    return a - b\n\n\n" + CODE.replace(b"a * RATE", b"a * RATE * 2"),
)


def joint_pair(joint, **options):
    """Return a pair whose features pass alone and merge cleanly, and fail together."""
    tests = (
        edit(
            GOOD,
            tests__test_offset=b"import calc\n\n\ndef test():\n    assert calc.offset() == 0\n",
        ),
        edit(GOOD, tests__test_sub=test_file("sub", "sub(2, 3)", -1)),
    )
    return pair_of(SCALES, DOUBLES, base=GOOD, tests=tests, joint=joint, **options)


def test_a_merge_that_breaks_only_the_joint_tests_is_incorrect():
    """Each side is right alone, and together they are not."""
    report = evaluate(joint_pair(suite(JOINT)))

    assert kind(evaluate(joint_pair(None))) == ("correct", "nobody")
    assert kind(report) == ("incorrect", "merge_broke_joint")
    assert report.blame("naive").features == (1, 2)
    assert report.blame("naive").lost_joint_tests == ("tests/test_both.py::test_both",)
    assert report.base_joint_tests.status == "failed"
    assert [each.joint_tests.status for each in (report.feature1, report.feature2)] == [
        "failed"
    ] * 2
    assert not report.warnings


def test_joint_tests_that_pass_without_the_merge_prove_nothing():
    """The report says on which trees they pass."""
    passing = edit(GOOD, tests__test_both=test_file("sub", "sub(2, 3)", -1))

    report = evaluate(joint_pair(suite(passing)))
    everywhere = evaluate(joint_pair(suite()))

    said = "The joint tests pass on {}, so they prove nothing about the merge."
    assert report.warnings == (said.format("feature 2 without the other"),)
    all_places = "the base, feature 1 without the other and feature 2 without the other"
    assert everywhere.warnings == (said.format(all_places),)


def test_joint_tests_that_cannot_be_run_give_no_verdict():
    """Their patch does not apply."""
    unfit = b"--- a/tests/none.py\n+++ b/tests/none.py\n@@ -1 +1 @@\n-x\n+y\n"

    assert kind(evaluate(joint_pair(suite(unfit)))) == ("not_run", "unknown")


def test_a_pair_with_only_joint_tests_can_fail_them():
    """The features have no tests of their own that could fail alone."""
    pair = joint_pair(suite(JOINT))
    features = [attrs.evolve(each, tests=None) for each in (pair.feature1, pair.feature2)]

    report = evaluate(attrs.evolve(pair, feature1=features[0], feature2=features[1]))

    assert kind(report) == ("incorrect", "merge_broke_joint")


def test_joint_tests_do_not_change_what_a_feature_is_blamed_for():
    """A feature that is broken alone stays the reason."""
    tests = (edit(GOOD, tests__test_offset=b"def test():\n    assert False\n"), b"")

    report = evaluate(pair_of(SCALES, DOUBLES, base=GOOD, tests=tests, joint=suite(JOINT)))

    assert kind(report) == ("incorrect", "broken_alone")


def test_joint_tests_that_the_repository_already_has_must_pass():
    """They fail everywhere, and no patch names them, so nothing excuses them."""
    test = (
        b"import n\n\n\ndef test():\n    assert n.a * n.b == 5\n\n\ndef test_other():\n    pass\n"
    )
    joint = suite(command=(*PYTEST[:-1], "more"))
    pair = sharing_pair(b"def test():\n    pass\n", files={"more/test_joint.py": test}, joint=joint)

    report = evaluate(pair)

    assert kind(report) == ("incorrect", "merge_broke_joint")
    assert report.blame("naive").lost_joint_tests == ("more/test_joint.py::test",)


def test_joint_tests_that_run_nowhere_blame_nobody():
    """Their command selects nothing, on the sides as in the merge."""
    report = evaluate(joint_pair(suite(command=(*PYTEST, "-k", "nothing"))))

    assert kind(report) == ("not_run", "unknown")


def test_the_reason_why_joint_tests_did_not_run_is_a_warning():
    """It names the file that their patch needs."""
    unfit = b"--- a/tests/none.py\n+++ b/tests/none.py\n@@ -1 +1 @@\n-x\n+y\n"

    assert "tests/none.py" in evaluate(joint_pair(suite(unfit))).warnings[-1]


# --- the repository's own suite --------------------------------------------------------


def test_a_case_that_only_the_merge_breaks_is_the_merges_fault():
    """It passes on the base and on both sides."""
    test = b"import calc\n\n\ndef test_rate():\n    assert calc.scale(1) < 3\n"
    base = ce.Snapshot.from_files({"calc.py": CODE, "tests/test_rate.py": test})
    one = edit(base, calc=CODE.replace(b"RATE = 1", b"RATE = 2"))
    two = edit(base, calc=CODE.replace(b"a * RATE", b"a * RATE * 2"))
    own = (sys.executable, "-m", "pytest", "-q", "tests/test_own.py")
    nothing = suite(edit(base, tests__test_own=b"def test(): pass\n"), command=own)

    report = evaluate(pair_of(one, two, base=base, tests=(nothing, nothing), regression=suite()))

    assert kind(report) == ("incorrect", "merge_broke_regression")
    assert report.blame("naive").lost_regression_tests == ("tests/test_rate.py::test_rate",)


def regressing_pair(**options):
    """Return a pair whose feature 2 breaks an old test that no suite of a feature runs."""
    two = edit(
        BASE, calc=CODE.replace(b"a + b", b"a - b") + b"\n\ndef sub(a, b):\n    return a - b\n"
    )
    commands = [(*PYTEST[:-1], f"tests/test_{name}.py") for name in ("mul", "sub")]
    tests = [
        suite(patch, command=command)
        for patch, command in zip((MUL_TESTS, SUB_TESTS), commands, strict=True)
    ]
    return pair_of(None, two, tests=tests, regression=suite(), **options)


def test_a_case_that_a_side_breaks_is_that_sides_regression():
    """A case that already fails on the base is not."""
    report = evaluate(regressing_pair())

    assert kind(report) == ("incorrect", "regressed_alone")
    assert report.blame("naive").features == (2,)
    assert report.blame("naive").lost_regression_tests == ()
    assert report.feature2.regression_judgement.broken == ("tests/test_calc.py::test_add",)
    assert report.preexisting_failures == (OLD,)


@pytest.mark.long
def test_the_repositorys_suite_runs_once_for_each_tree():
    """On the base, both sides and each distinct merged tree; naive and union agree here."""
    with_suite, without = CountingSandbox(), CountingSandbox()

    pairs = [pair_of(base=GOOD, regression=each) for each in (suite(), None)]

    evaluate(pairs[0], with_suite, strategies=["naive", "union"])
    evaluate(pairs[1], without, strategies=["naive", "union"])

    assert with_suite.runs - without.runs == 4


FLAKY = b"""\
import os, pathlib
import calc


def test_flaky():
    seen = pathlib.Path("%s")
    first = not seen.exists()
    if hasattr(calc, "mul") and hasattr(calc, "sub"):
        seen.touch()
        assert not first


def test_steady(): pass
"""


def test_a_case_with_two_results_on_one_tree_decides_nothing(tmp_path):
    """It fails on the merged tree and then passes; the second run happens only for it."""
    flaky = FLAKY % str(tmp_path / "seen").encode()
    base = ce.Snapshot.from_files({"calc.py": CODE, "tests/test_flaky.py": flaky})
    commands = [(*PYTEST[:-1], f"tests/test_{name}.py") for name in ("mul", "sub")]
    tests = [suite(p, command=c) for p, c in zip((MUL_TESTS, SUB_TESTS), commands, strict=True)]
    sandbox = CountingSandbox()

    report = evaluate(pair_of(base=base, tests=tests, regression=suite()), sandbox)

    assert kind(report) == ("correct", "nobody")
    judgement = report.attempt("naive").regression_judgement
    assert judgement.flaky == ("tests/test_flaky.py::test_flaky",)
    assert sandbox.runs == 6 + 4 + 1
    assert report.warnings[-1].startswith("These cases both failed and passed on the same tree")


@pytest.mark.long
def test_a_repositorys_suite_that_takes_too_long_is_never_a_pass():
    """On the base, every case must pass then; on the merged tree, the merge is wrong."""
    code = CODE + b"\n\ndef wait():\n    import time\n    time.sleep(DELAY)\n\n\nDELAY = 0\n"
    test = b"import calc\n\n\ndef test_wait():\n    calc.wait()\n"
    base = ce.Snapshot.from_files({"calc.py": code, "tests/test_wait.py": test})
    one = edit(base, calc=code.replace(b"time.sleep(DELAY)", b"time.sleep(DELAY * 1000)"))
    two = edit(base, calc=code.replace(b"DELAY = 0\n", b"DELAY = 0.05\n"))
    quick = ce.TestSuite(command=PYTEST, env=ENV, timeout_seconds=10)
    command = (*PYTEST[:-1], "tests/test_own.py")
    own = suite(edit(base, tests__test_own=b"def test(): pass\n"), command=command)

    report = evaluate(pair_of(one, two, base=base, tests=(own, own), regression=quick))

    assert report.attempt("naive").regression_tests.status == "timed_out"
    assert kind(report) == ("incorrect", "merge_broke_regression")


@pytest.mark.long
def test_a_repositorys_suite_that_gives_no_result_anywhere_blames_nobody():
    """It takes too long on the base too."""
    base = ce.Snapshot.from_files(
        {"calc.py": CODE, "own/test_slow.py": b"import time\ntime.sleep(60)\n"}
    )
    slow = ce.TestSuite(command=(*PYTEST[:-1], "own"), timeout_seconds=2)

    report = evaluate(pair_of(base=base, regression=slow))

    assert kind(report) == ("not_run", "unknown")
    assert "the repository's own tests did not run: timed out here and on the" in report.warnings[0]


@pytest.mark.long
def test_a_second_run_without_a_result_excuses_nothing(tmp_path):
    """A case that fails first passes in a run that rewrites its tests."""
    flaky = (
        FLAKY % str(tmp_path / "seen").encode()
        + b"\n\nif pathlib.Path('%s').exists():\n" % str(tmp_path / "seen").encode()
        + b"    pathlib.Path(__file__).touch()\n"
    )
    base = ce.Snapshot.from_files({"calc.py": CODE, "tests/test_flaky.py": flaky})
    commands = [(*PYTEST[:-1], f"tests/test_{name}.py") for name in ("mul", "sub")]
    tests = [suite(p, command=c) for p, c in zip((MUL_TESTS, SUB_TESTS), commands, strict=True)]

    report = evaluate(pair_of(base=base, tests=tests, regression=suite()))

    assert kind(report) == ("incorrect", "merge_broke_regression")


# --- reports ---------------------------------------------------------------------------


def test_a_report_with_judgements_survives_json_and_pickling():
    """And its derived facts are in the JSON."""
    report = evaluate(regressing_pair(joint=suite(MUL_TESTS)))
    data = json.loads(report.to_json())

    assert ce.MergeReport.from_json(report.to_json()) == report
    assert copy.deepcopy(report) == report
    assert data["preexisting_failures"] == [OLD]
    assert data["warnings"] == list(report.warnings)
    assert ce.analysis.PairFacts.from_dict(
        ce.analysis.facts_of(report).to_dict()
    ) == ce.analysis.facts_of(report)
    assert ce.analysis.facts_of(report).attempts[0].verdict is report.attempt("naive").verdict


def test_an_old_test_that_a_suite_deletes_is_judged_by_the_suite_that_runs_it():
    """Feature 1 breaks what the test checks, and its suite's patch removes the test."""
    removed = b"import calc\n\n\ndef test_always_broken():\n    assert calc.add(1, 1) == 3\n"
    tests = edit(BASE, tests__test_calc=removed), SUB_TESTS
    subtracts = edit(BASE, calc=CODE.replace(b"return a + b", b"return a - b"))

    report = evaluate(pair_of(subtracts, tests=tests))

    assert kind(report) == ("incorrect", "merge_broke_feature2")
    assert report.attempt("naive").feature2_judgement.broken == ("tests/test_calc.py::test_add",)

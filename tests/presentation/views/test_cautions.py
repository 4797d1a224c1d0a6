"""Every kind of result shows hazards, dropped test files and runs without an answer."""

import subprocess
import sys

import pytest
from fragments import by_rich, read_fragment

import cooperbench_eval as ce

BASE = {"lib.py": b"def close(x):\n    return x\n"}
TREES = {
    1: {"lib.py": b"def close(x, how):\n    return x, how\n", "tests/test_how.py": b"1\n"},
    2: {**BASE, "more.py": b"from lib import close\n\n\ndef b():\n    return close(3)\n"},
}
HAZARD = "hazard in more.py, line 5: "
DROPPED = "1 test file of the agents was dropped: tests/test_how.py."
REASON = "bin/python has no module pytest"
NAMES = ("pair", "attempt", "team", "team attempt", "plan", "probe", "audit")


class NoPytest:
    """Runs nothing, because the host cannot."""

    def run(self, *_, **__):
        """Return a run without an answer."""
        return ce.TestResult(status="infrastructure_error", reason=REASON)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The result of each entry point for the same two features, by its name."""
    base = ce.Snapshot.from_files(BASE)
    brought = ce.Changes({"tests/own.py": ce.Entry(b"1\n")}).diff(base)
    suite = ce.TestSuite(command=("pytest",), patch=brought)
    features = [
        ce.Feature(
            number=number,
            patch=ce.Changes.between(base, ce.Snapshot.from_files(tree)).diff(base),
            tests=suite,
        )
        for number, tree in TREES.items()
    ]
    runner = NoPytest()
    evaluator = ce.Evaluator(strategies=["naive"], runner=runner)
    report = evaluator.evaluate(
        ce.FeaturePair(
            repo_name="r", task_id=1, base=base, feature1=features[0], feature2=features[1]
        )
    )
    team = evaluator.evaluate_team(
        ce.FeatureTeam(repo_name="r", task_id=1, base=base, features=features[::-1])
    )
    merged = ce.merge(base, *(ce.apply_patch(base, each.patch).changes for each in features))
    repo = committed(tmp_path_factory.mktemp("repo"))
    found = (
        report,
        report.attempt("naive"),
        team,
        team.attempt("naive"),
        ce.land(base, features, runner=runner),
        ce.probe(repo, ["f1", "f2"], suites={"f1": suite, "f2": suite}, runner=runner),
        ce.audit(base, features, merged, runner=runner),
    )
    return dict(zip(NAMES, found, strict=True))


def committed(folder):
    """Return a repository with the base on `main` and each feature on its branch."""

    def git(*words):
        author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", "-C", folder, *author, *words], check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    for name, tree in {"main": BASE, "f1": TREES[1], "f2": TREES[2]}.items():
        if name != "main":
            git("checkout", "-q", "-b", name, "main")
        for path, text in tree.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes(text)
        git("add", ".")
        git("commit", "-qm", name)
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_every_result_shows_its_hazards(name, results):
    """The print, notebook and rich views name the file and the line."""
    result = results[name]

    assert HAZARD in str(result)
    assert HAZARD in " ".join(read_fragment(result._repr_html_()).texts)
    assert HAZARD in by_rich(result, 300)


@pytest.mark.parametrize("name", ["pair", "team", "plan", "probe", "audit"])
def test_every_result_says_which_test_files_were_dropped(name, results):
    """Agents' test files are dropped because the suites bring tests of their own."""
    assert DROPPED in str(results[name])


@pytest.mark.parametrize("name", ["pair", "attempt", "team", "team attempt", "audit"])
def test_a_run_without_an_answer_is_shown_as_not_run(name, results):
    """The reason is shown; the run is not shown as a failure."""
    shown = str(results[name])

    assert f"not run: {REASON}" in shown
    assert "infrastructure" not in shown
    assert "fail" not in shown


def test_an_inconclusive_run_of_a_merged_tree_has_its_reason():
    """In the prints of a report, its row, a team and an audit; not for runs on the base."""
    base = ce.Snapshot.from_files(
        {"a.py": b"", "b.py": b"", "test_c.py": b"def test():\n    pass\n"}
    )
    entries = {f"{name}.py": ce.Entry(b"X = 1\n") for name in "ab"}
    lines = ("import os, a, b", "if hasattr(a, 'X') and hasattr(b, 'X'):", "    os._exit(0)")
    test = "".join(f"{line}\n" for line in ("def test_it():", *(f"    {each}" for each in lines)))
    patch = ce.Changes({"test_it.py": ce.Entry(test.encode())}).diff(base)
    suite = ce.TestSuite(
        command=(sys.executable, "-m", "pytest", "-q"), patch=patch, env={"PYTHONPATH": "."}
    )
    features = [
        ce.Feature(number=number, patch=ce.Changes({path: entry}).diff(base), tests=suite)
        for number, (path, entry) in enumerate(entries.items(), 1)
    ]
    runner = ce.TestRunner(sandbox="local")
    evaluator = ce.Evaluator(strategies=["naive"], runner=runner)
    report = evaluator.evaluate(
        ce.FeaturePair(
            repo_name="r", task_id=1, base=base, feature1=features[0], feature2=features[1]
        )
    )
    team = evaluator.evaluate_team(
        ce.FeatureTeam(repo_name="r", task_id=1, base=base, features=features)
    )
    audit = ce.audit(base, features, ce.Changes(entries), runner=runner)

    assert report.attempt("naive").feature1_tests.status == "inconclusive"
    reason = report.attempt("naive").feature1_tests.reason[:60]
    assert reason
    for each in (report, report.attempt("naive"), team, team.attempt("naive"), audit):
        assert f"inconclusive: {reason}" in str(each)


@pytest.mark.parametrize(("name", "owner"), [("plan", "feature 1"), ("probe", "f1")])
def test_a_plan_says_why_its_tests_have_no_answer(name, owner, results):
    """Nothing is left out because of them."""
    shown = str(results[name])

    assert f"not everything is known: {owner}'s tests have no answer: {REASON}" in shown
    assert "fail" not in shown


def test_a_reason_stands_once_in_a_report(results):
    """It is the reason of each run, alone and merged, but is not repeated."""
    assert str(results["pair"]).count(REASON) == 1
    assert str(results["team"]).count(REASON) == 1


def test_the_result_of_a_run_says_why_it_has_no_answer():
    """The reason is in the title, once."""
    run = ce.TestResult(status="infrastructure_error", reason=REASON)

    assert str(run).splitlines()[0] == f"not run: {REASON}"
    assert str(run).count(REASON) == 1


@pytest.mark.parametrize("name", ["pair", "team", "plan", "probe", "audit"])
def test_every_result_has_its_options(name, results):
    """They contain the rule for test files that applied."""
    options = results[name].options

    assert options.strategies[0] in {"naive", "structured"}
    assert options.test_filter == ce.patching.TestFileFilter()

"""Teams in batches and stores, alone and beside pairs."""

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attrs
import pygit2
import pytest
from batchparts import BASE, Ours, pair, patch_at, plain, team

import cooperbench_eval as ce
from cooperbench_eval.evaluation.batch.keys import PairKeys
from cooperbench_eval.evaluation.batch.packing import facts_in, pack
from cooperbench_eval.evaluation.batch.workers import WorkerPool

EVALUATOR = ce.Evaluator(strategies=["naive", "union"])
SUITE = ce.TestSuite(command=("pytest", "-q"), patch=b"")


@pytest.fixture
def threads():
    """An executor in this process."""
    with ThreadPoolExecutor(2) as executor:
        yield executor


@pytest.fixture(scope="module")
def worker():
    """A process for all tests."""
    with WorkerPool(1) as executor:
        yield executor


def evaluate(given):
    """Evaluate a pair or team in this process."""
    is_team = isinstance(given, ce.FeatureTeam)
    return (EVALUATOR.evaluate_team if is_team else EVALUATOR.evaluate)(given)


def sorted_plain(reports):
    """Return reports without times, pairs first, by task."""
    return sorted(map(plain, reports), key=lambda data: ("features" in data, data["task_id"]))


def mixed():
    """Return pairs and teams, with and without conflicts."""
    teams = [team(3, clash=False), team(4), team(5, size=2, clash=False)]
    return [pair(1), teams[0], pair(2, clash=False), *teams[1:]]


INTERRUPTED = """
import os, sys
sys.path[:0] = [{tests!r}]
import cooperbench_eval as ce
from batchparts import Ours, pair, team
from cooperbench_eval.evaluation.batch.workers import WorkerPool

if __name__ == "__main__":
    evaluator = ce.Evaluator(strategies=["naive", Ours(log={log!r})])
    given = [pair(1), team(2), team(3), pair(4)]
    reports = ce.evaluate_many(
        given, evaluator=evaluator, store={store!r}, executor=WorkerPool(1)
    )
    next(reports), next(reports)
    os._exit(9)
"""


def test_an_interrupted_batch_of_pairs_and_teams_is_resumed_in_processes(tmp_path, worker):
    """Reports that were stored are equal to those of a batch without a store."""
    log, store = tmp_path / "log", tmp_path / "store"
    script = INTERRUPTED.format(tests=str(Path(__file__).parent), log=str(log), store=str(store))
    (tmp_path / "script.py").write_text(script)
    stopped = subprocess.run([sys.executable, tmp_path / "script.py"], check=False)
    kept = ce.ReportStore(store).keys()
    evaluator = ce.Evaluator(strategies=["naive", Ours(log=str(log))])
    given = [pair(1), team(2), team(3), pair(4)]
    events = []

    resumed = list(
        ce.evaluate_many(
            given, evaluator=evaluator, store=store, executor=worker, progress=events.append
        )
    )

    assert stopped.returncode == 9
    assert len(kept) >= 2
    assert sum(each.kind is ce.batch.EventKind.STORED for each in events) == len(kept)
    assert len(ce.ReportStore(store)) == 4
    without = [evaluator.evaluate(given[0]), evaluator.evaluate_team(given[1])]
    without += [evaluator.evaluate_team(given[2]), evaluator.evaluate(given[3])]
    assert sorted_plain(resumed) == sorted_plain(ce.ReportStore(store)) == sorted_plain(without)


def test_stored_teams_are_yielded_with_their_class_and_not_evaluated_again(threads, tmp_path):
    """So are the pairs beside them."""
    events = []
    options = {"evaluator": EVALUATOR, "executor": threads, "store": tmp_path}
    first = list(ce.evaluate_many(mixed(), **options))

    again = list(ce.evaluate_many(mixed(), progress=events.append, **options))

    assert {event.kind for event in events} == {ce.batch.EventKind.STORED}
    assert sorted_plain(first) == sorted_plain(again) == sorted_plain(map(evaluate, mixed()))
    assert sorted(type(each).__name__ for each in again) == 2 * ["MergeReport"] + 3 * ["TeamReport"]
    assert {each.task_id: each for each in first} == {each.task_id: each for each in again}
    assert all(map(ce.ReportStore(tmp_path).check, ce.ReportStore(tmp_path).keys()))


def test_a_damaged_team_is_evaluated_again(threads, tmp_path):
    """A part of its report that changed is noticed."""
    options = {"evaluator": EVALUATOR, "executor": threads, "store": tmp_path}
    given = team(1, setting="a long text is stored beside the report " * 50)
    [report] = ce.evaluate_many([given], **options)
    part = next(tmp_path.rglob("parts/*/*"))
    part.write_bytes(part.read_bytes()[:-1] + b"x")

    [again] = ce.evaluate_many([given], **options)

    assert plain(again) == plain(report)
    assert ce.ReportStore(tmp_path).check(PairKeys(EVALUATOR).key(given))
    assert len(list(tmp_path.rglob("*.damaged"))) == 2


def test_a_packed_team_has_the_same_facts_and_gives_the_same_report():
    """Statistics read only its head."""
    report = evaluate(team(4))
    packed = pack(report)

    facts = facts_in(packed.head)

    assert packed.unpack() == report
    assert facts == ce.analysis.facts_of(report) == ce.analysis.TeamFacts.from_dict(facts.to_dict())
    assert (facts.numbers, facts.size, facts.task) == ((0, 1, 2), 3, "lines/4")
    naive, union = facts.attempts
    assert (naive.landed, naive.score, naive.verdict.value) == ((0, 2), 2 / 3, "unhandled")
    [left_out] = naive.left_out
    assert (left_out.number, left_out.reason.value, left_out.features) == (1, "conflict", (0,))
    assert (union.landed, union.score, union.counted_verdict.value) == ((0, 1, 2), 1, "not_run")
    assert facts.merge_status is report.merge_status is ce.reporting.PairStatus.CONFLICTS
    assert facts.conflict_score == report.conflict_score > 0


def test_a_team_has_a_key_of_its_own():
    """It covers the features in their order and the suites, and differs from a pair's."""
    key = PairKeys(EVALUATOR).key
    given = team(1)
    two = team(1, size=2)
    as_pair = ce.FeaturePair(
        repo_name="lines", task_id=1, base=BASE, feature1=two.features[0], feature2=two.features[1]
    )
    changed = attrs.evolve(given.features[2], patch=patch_at(2, b"other"))
    others = [
        attrs.evolve(given, features=given.features[::-1]),
        attrs.evolve(given, features=given.features[:2]),
        attrs.evolve(given, features=[*given.features[:2], changed]),
        attrs.evolve(given, joint=SUITE),
        attrs.evolve(given, regression=SUITE),
        attrs.evolve(given, model="m"),
        attrs.evolve(given, k=2),
    ]

    keys = {key(each) for each in [given, as_pair, *others]}

    assert key(team(1)) == key(given)
    assert key(others[1]) == key(two)
    assert len(keys) == 2 + len(others)


def test_a_team_that_cannot_be_evaluated_is_a_team_report_with_a_failure(tmp_path, worker):
    """A base that vanished and a team that was given before stop no other."""
    repo = pygit2.init_repository(tmp_path / "repo")
    who = pygit2.Signature("a", "a@b", 0, 0)
    commit = repo.create_commit("HEAD", who, who, "empty", repo.TreeBuilder().write(), [])
    base = ce.Snapshot.from_repo(tmp_path / "repo", str(commit))
    lost = team(1, model="m", k=3, base=base)
    shutil.rmtree(tmp_path / "repo")
    events = []
    given = [lost, team(2, clash=False), team(2, clash=False), pair(2), pair(2)]

    reports = list(
        ce.evaluate_many(given, evaluator=EVALUATOR, executor=worker, progress=events.append)
    )

    failures = {(type(each), each.failure and each.failure.kind.value) for each in reports}
    assert failures == {
        (ce.TeamReport, "repository"),
        (ce.TeamReport, "duplicate"),
        (ce.TeamReport, None),
        (ce.MergeReport, "duplicate"),
        (ce.MergeReport, None),
    }
    broken = next(each for each in reports if each.task_id == 1)
    assert (broken.numbers, broken.model, broken.k) == ((0, 1, 2), "m", 3)
    assert broken.merge_status is ce.reporting.PairStatus.NOT_EVALUATED
    assert [each.strategy for each in broken.attempts] == ["naive", "union"]
    assert {each.status.value for each in broken.attempts} == {"not_tried"}
    assert ce.TeamReport.from_json(broken.to_json()) == broken
    problems = {
        each.pair: each.problem for each in events if each.kind is ce.batch.EventKind.FAILED
    }
    assert problems["lines, task 2, features 0, 1 and 2"] == "the same team was given before"
    assert problems["lines, task 2, features 0 and 1"] == "the same pair was given before"


def test_a_failure_stops_the_batch_if_asked(threads):
    """The error names the team."""
    with pytest.raises(
        ce.errors.BatchError, match="features 0, 1 and 2: the same team was given before"
    ):
        list(
            ce.evaluate_many(
                [team(2), team(2)], evaluator=EVALUATOR, executor=threads, on_error="raise"
            )
        )


def test_a_worker_that_dies_costs_only_its_own_team(worker):
    """The team is sent once more, and then reported as lost."""
    events = []
    evaluator = ce.Evaluator(strategies=["naive", Ours(deadly={2})])

    reports = list(
        ce.evaluate_many(
            [team(1), team(2), pair(3)],
            evaluator=evaluator,
            executor=worker,
            progress=events.append,
        )
    )

    lost = {each.task_id: each.failure.kind for each in reports if each.failure}
    assert lost == {2: ce.reporting.FailureKind.WORKER_LOST}
    assert all(isinstance(each, ce.TeamReport) for each in reports if each.task_id < 3)
    assert sum(each.kind is ce.batch.EventKind.RETRIED for each in events) == 1


def test_reports_of_teams_that_could_not_be_built_are_passed_on(threads):
    """They are announced and yielded."""
    failed = attrs.evolve(
        evaluate(team(1)),
        attempts=(),
        failure=ce.reporting.Failure(kind="dataset", problem="no patch"),
    )

    assert list(ce.evaluate_many([failed], evaluator=EVALUATOR, executor=threads)) == [failed]


@pytest.mark.parametrize("make", [pair, team])
def test_tests_made_from_changes_may_be_in_a_batch(make, worker, tmp_path):
    """They are sent to a process and stored like others, in every place for a suite."""
    changes = ce.Changes({"t.sh": ce.Entry(b"exit 0\n")})
    suite = ce.TestSuite(command=("sh", "t.sh"), framework="exit", patch=ce.Patch.of(changes))
    tested = make(1, clash=False, joint=suite, regression=suite)
    if isinstance(tested, ce.FeatureTeam):
        features = [attrs.evolve(each, tests=suite) for each in tested.features]
        tested = attrs.evolve(tested, features=features)
    else:
        first, second = (attrs.evolve(each, tests=suite) for each in tested.features)
        tested = attrs.evolve(tested, feature1=first, feature2=second)
    evaluator = ce.Evaluator(strategies=["naive"], runner=ce.TestRunner(sandbox="local"))

    for _ in range(2):
        (report,) = ce.evaluate_many([tested], evaluator=evaluator, executor=worker, store=tmp_path)
        assert report.failure is None
        assert report.attempt("naive").verdict == "correct"

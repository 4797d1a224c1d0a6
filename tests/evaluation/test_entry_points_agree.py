"""The same question, asked through every entry point, has the same answer."""

import random
from collections import Counter

import pygit2
import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st
from telling import Runner

import cooperbench_eval as ce

LINES = tuple(f"line {n}" for n in range(30))
FILES = ("a.txt", "b.txt")
TREE = dict.fromkeys(FILES, LINES)


@frozen
class Plan:
    """What a feature does, and how its suite behaves.

    Attributes:
        word: The word that it writes.
        edits: The lines at which it writes it, by file and number; none for an empty patch.
        cases: The cases of its suite; `None` if it has no suite.
        brings: Whether the suite brings a test file.
        writes: Whether the agent wrote a test file too.
        steers: Whether the agent wrote a file that controls test runs.
    """

    word: str
    edits: tuple[tuple[str, int], ...]
    cases: tuple[str, ...] | None
    brings: bool = False
    writes: bool = False
    steers: bool = False


def draw(seed):
    """Return the plans of two features."""
    rng = random.Random(seed)  # noqa: S311 - plain random numbers
    same = rng.random() < 0.25
    plans = []
    for number in (1, 2):
        file, line = (FILES[0], 9) if same else (rng.choice(FILES), 5 * number + rng.randint(0, 1))
        own, other = f"word{number}", f"word{3 - number}"
        cases = ["has line"]
        for chance, case in (
            (0.7, f"has {own}"),
            (0.1, f"has nothing{number}"),
            (0.2, f"without {own} {other}"),
            (0.1, f"without {own}"),
            (0.15, "flaky"),
            (0.1, "has mark"),
            (0.1, "without mark"),
            (0.08, "silent"),
            (0.08, f"silent {own}"),
            (0.08, f"silent {own} {other}"),
            (0.06, "raises"),
            (0.05, "hangs"),
            (0.05, f"hangs {own}"),
            (0.05, f"hangs {own} {other}"),
            (0.05, "dawdles"),
        ):
            if rng.random() < chance:
                cases.append(case)
        is_empty = rng.random() < 0.05
        plans.append(
            Plan(
                word=own,
                edits=() if is_empty else ((file, line),),
                cases=tuple(cases) if rng.random() < 0.93 else None,
                brings=rng.random() < 0.3,
                writes=not is_empty and rng.random() < 0.3,
                steers=not is_empty and rng.random() < 0.15,
            )
        )
    return plans


def tree_of(plan=None):
    """Return the files of the base, or of a feature."""
    files = {path: list(lines) for path, lines in TREE.items()}
    for path, line in plan.edits if plan else ():
        files[path][line] = plan.word
    texts = {path: "\n".join(lines).encode() + b"\n" for path, lines in files.items()}
    own = {}
    if plan and plan.writes:
        own[f"tests/test_{plan.word}.txt"] = f"mark of {plan.word}\n".encode()
    if plan and plan.steers:
        own[f"{plan.word}/conftest.py"] = b"x = 1\n"
    return texts | own


BASE_FILES = tree_of()


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A bare repository with a commit of the base."""
    repo = pygit2.init_repository(tmp_path_factory.mktemp("repo"), bare=True)
    commit(repo, "refs/heads/main", BASE_FILES, [])
    return repo


def commit(repo, name, files, parents):
    """Commit files to a branch."""
    index = pygit2.Index()
    for path, text in files.items():
        index.add(pygit2.IndexEntry(path, repo.create_blob(text), pygit2.enums.FileMode.BLOB))
    me = pygit2.Signature("a", "a@example.org", 1, 0)
    if repo.references.get(name):
        repo.references.delete(name)
    return repo.create_commit(name, me, me, "c", index.write_tree(repo), parents)


def answers(plans, repo):
    """Ask every entry point; return whether all is right: `True`, `False` or `None` if unknown."""
    main = repo.references["refs/heads/main"].target
    base = ce.Snapshot.from_repo(repo.path, "main")
    features = []
    for number, plan in enumerate(plans, 1):
        tree = tree_of(plan)
        commit(repo, f"refs/heads/f{number}", tree, [main])
        changes = ce.Changes.between(base, ce.Snapshot.from_files(tree))
        brought = ce.Changes({"tests/t.py": ce.Entry(b"t\n")}).diff(base) if plan.brings else b""
        suite = plan.cases and ce.TestSuite(command=plan.cases, framework="pytest", patch=brought)
        features.append(ce.Feature(number=number, patch=changes.diff(base), tests=suite))
    runner = Runner()
    evaluator = ce.Evaluator(strategies=["naive"], runner=runner)
    pair = ce.FeaturePair(
        repo_name="r", task_id=1, base=base, feature1=features[0], feature2=features[1]
    )
    report = evaluator.evaluate(pair)
    teams = [
        evaluator.evaluate_team(ce.FeatureTeam(repo_name="r", task_id=1, base=base, features=order))
        for order in (features[::-1], features)
    ]
    options = {"strategy": "naive", "runner": runner}
    plan = ce.land(base, features, **options)
    suites = {f"f{each.number}": each.tests for each in features if each.tests}
    probe = ce.probe(repo.path, ["f1", "f2"], "main", suites, **options)
    return report, teams, plan, probe, pair, runner


def contradictions(plans, repo):
    """Yield what two entry points answer differently about a pair."""
    report, teams, plan, probe, pair, runner = answers(plans, repo)
    yield from _contradicts_team(report, teams[0])
    for name, each in (("plan", plan), ("probe", probe.plan)):
        yield from _contradicts_plan(name, each, report)
        yield from _contradicts_queues(name, each, teams)
        if plan.has_tests:
            yield from _contradicts_runs(name, each, report)
    if plan.dropped_files != probe.plan.dropped_files:
        yield f"a plan drops {plan.dropped_files}, a probe {probe.plan.dropped_files}"
    if [each.number for each in plan.left_out] != [each.number for each in probe.plan.left_out]:
        yield f"a plan leaves out {plan.left_out}, a probe {probe.plan.left_out}"
    yield from _contradicts_audit(report, pair, runner)
    if report.attempt("naive").verdict == "incorrect":
        explanation, lost = ce.explain(report, pair, runner=runner), report.blame("naive")
        is_lost = bool(lost.lost_tests1 or lost.lost_tests2)
        unlost = {"nothing_lost"} if is_lost else {"nothing_lost", "not_run"}
        if is_lost == (explanation.status in unlost):
            yield f"lost {lost}, explained as {explanation.status}"


def _contradicts_team(report, team):
    verdict = report.attempt("naive").verdict
    if team.attempt("naive").verdict != verdict:
        yield f"a pair is {verdict}, a team {team.attempt('naive').verdict}"
    if team.blame("naive").kind != report.blame("naive").kind:
        yield f"blame {report.blame('naive').kind}, of the team {team.blame('naive').kind}"
    if report.options != team.options:
        yield f"options {report.options}, of the team {team.options}"
    if team.hazards != report.hazards:
        yield f"hazards {report.hazards}, of the team {team.hazards}"


def _contradicts_audit(report, pair, runner):
    attempt = report.attempt("naive")
    if attempt.status == "conflicts" or not any(each.tests for each in pair.features):
        return
    sides = [ce.apply_patch(pair.base, each.patch).changes for each in pair.features[::-1]]
    merged = ce.merge(pair.base, *sides).changes
    audit = ce.audit(pair.base, pair.features, merged, runner=runner)
    found = audit.reward().get("reward")
    if found != reward_of(report):
        yield f"a pair gets {reward_of(report)}, an audit {found}"
    if found is None and not (audit.problem and report.problem):
        yield f"no reward because of {report.problem!r}, for an audit {audit.problem!r}"
    if audit.score is None and not audit.problem:
        yield "an audit does not say why it has no score"
    if attempt.status == "clean" and about_reset(audit) != about_reset(report):
        yield f"a pair says {about_reset(report)}, an audit {about_reset(audit)}"


def reward_of(report):
    """Return the reward of a pair; `None` if there is none."""
    try:
        return report.reward()["reward"]
    except ce.errors.ReportError:
        return None


def about_reset(found):
    """Return the sentences about files that were as in the base."""
    return [each for each in found.warnings if "as in the base" in each]


def _contradicts_queues(name, plan, teams):
    """Say where a plan and a queue leave out one feature for different reasons."""
    queued = [each for team in teams for each in team.attempt("naive").left_out]
    for left in plan.left_out:
        for other in (each for each in queued if each.number == left.number):
            if _why(left) != _why(other):
                yield f"{left} in a {name}, {other} in a queue"
        if left.number in left.features:
            yield f"{left} names itself"


def _why(left):
    return left.reason, set(left.features), set(left.tests), left.files


def _contradicts_runs(name, plan, report):
    """Say where a plan does not say of its runs what a report says."""
    attempt = report.attempt("naive")
    if plan.is_exact and "have no answer" in plan.problem:
        yield f"a {name} is exact, but {plan.problem}"
    if attempt.verdict == "not_run" and len(plan.landed) == 2:
        if plan.is_tested or not plan.problem:
            yield f"a pair is not run, a {name} is {plan.is_tested}, {plan.problem!r}"
        expected = report.problem.replace("feature ", "f") if name == "probe" else report.problem
        if "has no suite" in report.problem and plan.problem != expected:
            yield f"{report.problem}, {plan.problem} in a {name}"
    judgements = (attempt.feature1_judgement, attempt.feature2_judgement)
    flaky = {case for each in judgements if each for case in each.flaky}
    if not flaky <= {*plan.flaky} or (flaky and "both failed and passed" not in str(plan)):
        yield f"a {name} names {plan.flaky} as flaky, a pair {flaky}"
    if len(plan.landed) == 2 and about_reset(plan) != about_reset(report):
        yield f"a pair says {about_reset(report)}, a {name} {about_reset(plan)}"


def _contradicts_plan(name, plan, report):
    attempt = report.attempt("naive")
    lands = len(plan.landed) == 2
    if attempt.status == "conflicts" and lands:
        yield f"a pair conflicts, a {name} lands both"
    if attempt.verdict == "correct" and not (lands and plan.is_tested):
        yield f"a pair is correct, a {name} leaves out {plan.left_out} ({plan.problem})"
    if attempt.verdict == "incorrect" and lands:
        yield f"a pair is incorrect, a {name} lands both"
    for left in plan.left_out:
        feature = report.features[left.number - 1]
        if left.reason == "fails_own_tests" and feature.is_right is not False:
            yield f"a {name} says that {left.number} fails its own tests; alone: {feature.is_right}"


@given(seed=st.integers(0, 1 << 30))
def test_no_entry_point_contradicts_another(seed, repository):
    """Clean and conflicting pairs, broken alone and together, flaky, without an answer."""
    plans = draw(seed)

    assert list(contradictions(plans, repository)) == []


@pytest.mark.long
def test_two_thousand_pairs_have_one_answer_each(repository):
    """The kinds of pairs are counted, so that none is missing by accident."""
    verdicts = Counter()
    for seed in range(2_000):
        plans = draw(seed)
        assert list(contradictions(plans, repository)) == [], seed
        report = answers(plans, repository)[0]
        verdicts[report.attempt("naive").verdict.value, report.blame("naive").kind.value] += 1

    assert len(verdicts) >= 8, verdicts

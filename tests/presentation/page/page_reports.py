"""Reports for the page, written in a few words."""

import datetime as dt

from attrs import evolve

import cooperbench_eval as ce

NOON = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
BASE = b"".join(b"%d\n" % n for n in range(12))


def edited(line, new, text=BASE):
    """Return *text* with one line changed; by default the numbers from 0 to 11."""
    lines = text.splitlines(keepends=True)
    lines[line] = new
    return b"".join(lines)


def run(passed=(), failed=(), *, status=None, **facts):
    """A test run with these passed and failed cases."""
    cases = [ce.models.TestCase(id=name, status="passed") for name in passed]
    cases += [ce.models.TestCase(id=name, status="failed", message="broke") for name in failed]
    return ce.TestResult(status=status or ("failed" if failed else "passed"), cases=cases, **facts)


def made(ours, theirs, *, base=BASE, path="f.py", strategies=("naive", "union"), numbers=(1, 2)):
    """Evaluate a pair that changes one file, without tests."""
    tree = ce.Snapshot.from_files({path: base})
    first, second = (
        ce.Changes({path: None if side is None else ce.Entry(side)}).diff(tree)
        for side in (theirs, ours)
    )
    pair = ce.FeaturePair(
        repo_name="click",
        task_id=7,
        base=tree,
        feature1=ce.Feature(number=numbers[0], patch=first),
        feature2=ce.Feature(number=numbers[1], patch=second),
    )
    report = ce.Evaluator(strategies=strategies).evaluate(pair)
    return evolve(report, timestamp=NOON)


CONFLICT = made(edited(5, b"ours\n"), edited(5, b"theirs\n"))
CLEAN = made(edited(0, b"ours\n"), edited(11, b"theirs\n"))
MISSING = made(BASE, edited(5, b"theirs\n"))


def pair(task=7, *, of=CONFLICT, lost=None, alone=None, **facts):
    """A report with test runs.

    Args:
        task: Its task.
        of: The report to start from.
        lost: The tests that each feature loses, by strategy; other strategies lose none.
        alone: The tests of both features, which pass alone.
        facts: Other attributes to change.
    """
    own = alone or (("t::one", "t::two"), ("t::three",))
    features = [
        evolve(feature, tests=run(own[i]), base_tests=run((), own[i]))
        for i, feature in enumerate((of.feature1, of.feature2))
    ]
    attempts = []
    for attempt in of.attempts:
        if attempt.status not in {"clean", "resolved"}:
            attempts.append(attempt)
            continue
        gone = (lost or {}).get(attempt.strategy, ((), ()))
        runs = [run([t for t in own[i] if t not in gone[i]], gone[i]) for i in range(2)]
        attempts.append(evolve(attempt, feature1_tests=runs[0], feature2_tests=runs[1]))
    changes = {"task_id": task, "attempts": attempts, **facts}
    return evolve(of, feature1=features[0], feature2=features[1], **changes)


def broken(task=7, names=("t::one",), **facts):
    """A pair in which union loses tests of the first feature."""
    return pair(task, lost={"union": (names, ())}, **facts)


def made_team(*sides, numbers=None, strategies=("naive", "union"), base=None):
    """Evaluate a team of features, each given as files with their new contents."""
    base = base or {"f.py": BASE, "g.py": BASE}
    tree = ce.Snapshot.from_files(base)
    features = [
        ce.Feature(
            number=number,
            patch=ce.Changes({path: ce.Entry(text) for path, text in side.items()}).diff(tree),
        )
        for number, side in zip(numbers or range(1, len(sides) + 1), sides, strict=True)
    ]
    team = ce.FeatureTeam(repo_name="click", task_id=7, base=tree, features=features)
    report = ce.Evaluator(strategies=strategies).evaluate_team(team)
    return evolve(report, timestamp=NOON)


TEAM = made_team(
    {"f.py": edited(5, b"three\n")},
    {"f.py": edited(5, b"one\n")},
    {"g.py": edited(2, b"four\n")},
    numbers=(3, 1, 4),
)


def broken_team(of=TEAM, names=("t::one", "t::two")):
    """A team of which feature 4 breaks tests of feature 3 under the last strategy."""
    lost = ce.reporting.BrokenTests(suite="feature", feature=3, tests=names)
    left_out = ce.reporting.LeftOut(number=4, reason="breaks", features=[3], tests=[lost])
    runs = [
        ce.reporting.SuiteRun(suite="feature", feature=number, tests=result)
        for number, result in ((3, run((), names)), (1, run(("t::x",))), (4, run(("t::y",))))
    ]
    row = evolve(of.attempts[-1], landed=(3, 1), left_out=(left_out,), tests=runs)
    first = evolve(of.features[0], tests=run(names))
    others = [evolve(each, tests=run(("t::x",))) for each in of.features[1:]]
    return evolve(of, features=[first, *others], attempts=[*of.attempts[:-1], row])

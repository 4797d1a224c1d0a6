"""Generators of test data; the only test file that imports Hypothesis strategies."""

import copy
import datetime as dt
import operator
import re
from collections.abc import Callable, Iterator

from attrs import evolve
from hypothesis import strategies as st

from cooperbench_eval.analysis.facts import AttemptFacts, FeatureFacts, PairFacts, RunFacts
from cooperbench_eval.git.merging.conflicts import (
    Conflict,
    ConflictKind,
    ConflictScorer,
    FileConflicts,
    LedgerRow,
    MergeStatus,
    ModelUsage,
    Replacement,
    ResolutionKind,
    Severity,
    summed,
)
from cooperbench_eval.git.patching.patch_parts import ApplyPolicy, HunkPlacement, PatchStatus, Rung
from cooperbench_eval.git.patching.path_kinds import TestFileFilter
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.reporting import (
    Attempt,
    BlameKind,
    Failure,
    FailureKind,
    FeatureReport,
    MergeReport,
    PairStatus,
    PatchReport,
)
from cooperbench_eval.reporting.agent_costs import AgentRun, AgentUsage
from cooperbench_eval.reporting.landings import (
    BrokenTests,
    LeftOut,
    LeftOutReason,
    SuiteRun,
    TeamSuite,
)
from cooperbench_eval.reporting.rows import FailureTrace, TracedFunction, TraceKind, UsedOptions
from cooperbench_eval.reporting.teams import TeamAttempt, TeamReport, TeamStep
from cooperbench_eval.running.results import (
    JudgeRule,
    RepeatPolicy,
    TestCase,
    TestCaseStatus,
    TestResult,
    TestStatus,
)
from cooperbench_eval.testing.generators import SYMBOLS, TextTriples, three_way_trees
from cooperbench_eval.testing.generators import three_way_texts as edited_texts

__all__ = [
    "answers",
    "conflicts",
    "count_pairs",
    "damages",
    "documents",
    "drifted_hunks",
    "evaluation_documents",
    "forks",
    "git_diff_options",
    "histories",
    "indices",
    "json_values",
    "lists_of",
    "moved_trees",
    "odd_texts",
    "pair_facts",
    "path_trees",
    "programs",
    "quantities",
    "random_bytes",
    "reports",
    "run_results",
    "shuffled",
    "similar_files",
    "splices",
    "successors",
    "three_way_edits",
    "three_way_programs",
    "three_way_texts",
    "three_way_tokens",
    "three_way_trees",
    "trees",
]


def three_way_texts() -> TextTriples:
    """Base, ours and theirs: a text, with up to four edits on each side."""
    return edited_texts(max_lines=30, min_edits=0, max_edits=4)


@st.composite
def three_way_edits(draw: st.DrawFn) -> tuple[Snapshot, Changes, Changes]:
    """A base tree and two sides that edit its entries but add, move or delete none."""
    base, *sides = draw(three_way_trees())
    ours, theirs = (
        Changes({path: entry for path, entry in side.items() if entry and base.get(path)})
        for side in sides
    )
    return base, ours, theirs


_FOLDERS = st.sampled_from("abcd")
_PLACES = st.lists(_FOLDERS, min_size=1, max_size=3).map("/".join)
_WORDS_OF_FILES = ("alpha", "beta", "gamma", "delta")


def moved_trees() -> st.SearchStrategy[tuple[dict[str, Entry], ...]]:
    """A base tree and two sides that edit, move, replace and delete its entries.

    For example `{"a": one}`, `{"b/a": edited}`, `{}`. Some files start equal, most
    have a unique line.
    """
    return diverging_trees(2, 2)


@st.composite
def diverging_trees(
    draw: st.DrawFn, min_sides: int, max_sides: int, max_changes: int = 4
) -> tuple[dict[str, Entry], ...]:
    """A base tree and several sides of it, as in `moved_trees`."""
    made = iter(range(1000))
    base: dict[str, Entry] = {}
    for place in draw(st.lists(_PLACES, min_size=1, max_size=5)):
        if not _clashes(base, place):
            base[place] = draw(_moving_entries(next(made)))
    sides = []
    for _ in range(draw(st.integers(min_sides, max_sides))):
        side = dict(base)
        for _ in range(draw(st.integers(1, max_changes))):
            side = _moved(draw, side, next(made))
        sides.append(side)
    return base, *sides


CrissCross = list[tuple[dict[str, Entry], tuple[int, ...], int]]


@st.composite
def criss_cross_histories(draw: st.DrawFn) -> CrissCross:
    """Commits of two branches that merge each other: trees, parents (as indexes) and times.

    The last two commits are the branches' heads. For example a root, a child of it on each
    branch, a merge of both on each branch, and a child of each merge.
    """
    made = iter(range(1000))
    commits: CrissCross = []

    def commit(tree: dict[str, Entry], *parents: int) -> int:
        commits.append((tree, parents, draw(st.integers(1000, 1003))))
        return len(commits) - 1

    def child(parent: int) -> int:
        tree = commits[parent][0]
        for _ in range(draw(st.integers(1, 3))):
            tree = _moved(draw, tree, next(made))
        return commit(tree, parent)

    def merge(into: int, other: int) -> int:
        tree: dict[str, Entry] = {}
        sides = commits[into][0], commits[other][0]
        for path in sorted({*sides[0], *sides[1]}):
            side = draw(st.sampled_from(sides))
            if path in side and not _clashes(tree, path):
                tree[path] = side[path]
        return commit(tree, into, other)

    (base,) = draw(diverging_trees(0, 0))
    root = commit(base)
    one, other = child(root), child(root)
    for _ in range(draw(st.integers(1, 3))):
        merged = merge(one, other), merge(other, one)
        one, other = (child(head) if draw(st.booleans()) else head for head in merged)
    child(one)
    child(other)
    return commits


@st.composite
def commit_graphs(draw: st.DrawFn) -> list[tuple[tuple[int, ...], int]]:
    """The parents (as indexes of earlier commits) and the time of each commit of a history."""
    graph: list[tuple[tuple[int, ...], int]] = [((), draw(st.integers(0, 3)))]
    for number in range(1, draw(st.integers(2, 12))):
        parents = draw(st.lists(st.integers(0, number - 1), max_size=3, unique=True))
        graph.append((tuple(parents), draw(st.integers(0, 5))))
    return graph


@st.composite
def branching_graphs(draw: st.DrawFn) -> list[tuple[tuple[int, ...], int]]:
    """A history as in `commit_graphs` with one root, and with a child of each of three commits."""
    graph: list[tuple[tuple[int, ...], int]] = [((), 0)]
    for number in range(1, draw(st.integers(2, 8))):
        earlier = st.integers(max(0, number - 4), number - 1)
        parents = draw(st.lists(earlier, min_size=1, max_size=2, unique=True))
        graph.append((tuple(parents), draw(st.integers(0, 5))))
    starts = draw(st.lists(st.integers(0, len(graph) - 1), min_size=3, max_size=3))
    return [*graph, *(((start,), draw(st.integers(0, 5))) for start in starts)]


@st.composite
def _moving_entries(draw: st.DrawFn, number: int) -> Entry:
    """A file of a dozen lines, one of them unique; sometimes a link or a submodule."""
    kind = draw(st.integers(0, 19))
    if kind == 0:
        return Entry(b"target %d" % number, FileMode.SYMLINK)
    if kind == 1:
        return Entry(b"%040x" % (number + 1), FileMode.SUBMODULE)
    if kind == 2:
        return Entry(b"binary\0%d" % number)
    word = draw(st.sampled_from(_WORDS_OF_FILES))
    lines = [b"%s %d\n" % (word.encode(), line) for line in range(10)]
    if kind != 4:
        lines.insert(draw(st.integers(0, 10)), b"only here %d\n" % number)
    return Entry(b"".join(lines), FileMode.EXECUTABLE if kind == 3 else FileMode.FILE)


def _clashes(tree: dict[str, Entry], place: str) -> bool:
    return any(
        path == place or path.startswith(place + "/") or place.startswith(path + "/")
        for path in tree
    )


def _moved(  # noqa: PLR0911 - one return for each kind of change
    draw: st.DrawFn, tree: dict[str, Entry], number: int
) -> dict[str, Entry]:
    """Make one change to *tree*."""
    place, kind = draw(_PLACES), draw(st.integers(0, 9))
    if kind <= 1 or not tree:
        new = draw(_moving_entries(number))
        return tree if _clashes(tree, place) else tree | {place: new}
    path = draw(st.sampled_from(sorted(tree)))
    entry = tree[path]
    rest = {p: e for p, e in tree.items() if p != path}
    if kind == 2:
        return rest
    if kind == 3:
        return rest | {path: draw(_moving_entries(number))}
    if kind == 4:
        return rest | {f"{path}/{draw(_FOLDERS)}": entry}
    if kind <= 6 and entry.mode.is_regular and b"\0" not in entry.data:
        return rest | {path: Entry(_touched(draw, entry.data), entry.mode)}
    if kind == 7 and "/" in path:
        folder = path.rpartition("/")[0]
        inside = {p: e for p, e in tree.items() if p.startswith(folder + "/")}
        outside = {p: e for p, e in tree.items() if p not in inside}
        moved = {place + p[len(folder) :]: e for p, e in inside.items()}
        return tree if any(_clashes(outside, p) for p in moved) else outside | moved
    return tree if _clashes(rest, place) else rest | {place: entry}


def _touched(draw: st.DrawFn, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    for _ in range(draw(st.integers(1, 3))):
        at, new = draw(st.integers(0, len(lines))), b"new %d\n" % draw(st.integers(0, 3))
        lines[at : at + draw(st.integers(0, 1))] = draw(st.sampled_from([[new], []]))
    return b"".join(lines)


# Lines about as long as a chunk of git's similarity, some of which git takes for equal.
_CHUNK_LINES = st.one_of(
    st.sampled_from([b"x", b"y", b"", b"a\rb", b"\r", b"one more word", b"z" * 12]),
    st.builds(lambda sign, count: sign * count, st.sampled_from([b"=", b"-", b"~"]), st.just(64)),
    st.builds(
        lambda start, count: (start * count)[:count],
        st.sampled_from([b"ab", b"abc", b"\xe9b"]),
        st.sampled_from([62, 63, 64, 65, 127, 128, 129, 200]),
    ),
    st.binary(max_size=80),
)


@st.composite
def similar_files(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A file and an edited copy: long lines, either line end, NULs, no last newline."""
    lines = draw(st.lists(_CHUNK_LINES, min_size=1, max_size=9))
    edited = list(lines)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(edited)))
        edited[at : at + draw(st.integers(0, 1))] = draw(st.lists(_CHUNK_LINES, max_size=1))
    one, other = (
        end.join(part) + draw(st.sampled_from([b"\n", b"", b"\r\n", b"\r", b"\0"]))
        for part in (lines, edited)
        for end in [draw(st.sampled_from([b"\n", b"\n", b"\r\n"]))]
    )
    return one, other


_COUNTS = st.integers(0, 9)
_FROM_ONE = st.integers(1, 9)
_SECONDS = st.floats(0, 1e6)
_WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
_PATH_NAMES = st.binary(min_size=1, max_size=6).map(
    lambda raw: raw.decode(errors="surrogateescape")
)
_CONTENTS = st.binary(max_size=9) | _WORDS.map(str.encode)
# A report refuses a time that UTC cannot express.
_TIMES = st.datetimes(
    min_value=dt.datetime(1, 1, 2),  # noqa: DTZ001 - the zone is the next argument
    max_value=dt.datetime(9999, 12, 30),  # noqa: DTZ001
    timezones=st.integers(-86399, 86399).map(lambda s: dt.timezone(dt.timedelta(seconds=s))),
)

_PLACEMENTS = st.builds(
    HunkPlacement,
    path=_PATH_NAMES,
    hunk=st.none() | _FROM_ONE,
    rung=st.none() | st.sampled_from(Rung),
    offset=st.integers(-9, 9),
    reason=_WORDS,
    uncounted_lines=_COUNTS,
)
_PATCH_REPORTS = st.builds(
    PatchReport,
    status=st.sampled_from(PatchStatus),
    reason=_WORDS,
    dropped_files=st.lists(_PATH_NAMES, max_size=2),
    touched_runner_control=st.lists(_PATH_NAMES, max_size=2),
    names_test_framework=st.lists(_PATH_NAMES, max_size=2),
    hunks=st.lists(_PLACEMENTS, max_size=2),
    diff=st.none() | _CONTENTS,
)
_CASES = st.builds(
    TestCase,
    id=_WORDS,
    status=st.sampled_from(TestCaseStatus),
    duration_seconds=_SECONDS,
    message=_WORDS,
)


def _judged(result: TestResult) -> TestResult:
    """Give a run whose cases or exit status contradict its status another one."""
    is_bad = bool(result.failed_tests or result.error_tests)
    contradicts = {
        TestStatus.PASSED: is_bad,
        TestStatus.FAILED: not is_bad,
        TestStatus.NO_TESTS: bool(result.total_tests),
    }
    has_passed = result.status is TestStatus.PASSED
    if (result.cases and contradicts.get(result.status)) or (has_passed and result.exit_code):
        return evolve(result, status=TestStatus.INCONCLUSIVE)
    return result


_TEST_RESULTS = st.builds(
    TestResult,
    status=st.sampled_from(TestStatus),
    cases=st.lists(_CASES, max_size=3),
    exit_code=st.none() | st.integers(-9, 255),
    duration_seconds=_SECONDS,
    output=_WORDS,
    reason=_WORDS,
    command=st.lists(_WORDS, max_size=2),
    sandbox=_WORDS,
    sandbox_identity=_WORDS,
    restored_files=st.lists(_PATH_NAMES, max_size=2),
    missing_tests=st.lists(_WORDS, max_size=2),
    repeats=st.lists(st.sampled_from(TestStatus), max_size=2),
    repeat_policy=st.none() | st.sampled_from(RepeatPolicy),
).map(_judged)
_AMOUNTS = st.none() | st.integers(0, 10**15)
_AGENTS = st.builds(
    AgentRun,
    features=st.lists(_COUNTS, min_size=1, max_size=2),
    status=st.none() | _WORDS,
    usage=st.builds(
        AgentUsage,
        cost_usd=st.none() | st.floats(0, 1e15),
        steps=_AMOUNTS,
        input_tokens=_AMOUNTS,
        output_tokens=_AMOUNTS,
        cache_read_tokens=_AMOUNTS,
        cache_write_tokens=_AMOUNTS,
        messages_sent=_AMOUNTS,
    ),
    messages_together=_AMOUNTS,
    problem=_WORDS,
)
_FEATURES = st.builds(
    FeatureReport,
    number=_COUNTS,
    patch=_PATCH_REPORTS,
    tests=st.none() | _TEST_RESULTS,
    base_tests=st.none() | _TEST_RESULTS,
    other_tests=st.none() | _TEST_RESULTS,
    agent=st.none() | _AGENTS,
)
_FILE_CONFLICTS = st.builds(
    FileConflicts, path=_PATH_NAMES, sections=_COUNTS, lines=_COUNTS, score=_COUNTS
)
_DETAILS = st.lists(_FILE_CONFLICTS, max_size=2).map(summed)
_CONFLICTS = st.builds(
    Conflict,
    path=_PATH_NAMES,
    kind=st.sampled_from(ConflictKind),
    base=st.none() | _CONTENTS,
    ours=st.none() | _CONTENTS,
    theirs=st.none() | _CONTENTS,
    line=st.none() | _FROM_ONE,
    newline=st.sampled_from([b"\n", b"\r\n"]),
)
_LEDGER_ROWS = st.builds(
    LedgerRow,
    path=_PATH_NAMES,
    line=st.none() | _FROM_ONE,
    conflicts=_COUNTS,
    shape=_WORDS,
    strategy=_WORDS,
    rule=_WORDS,
    reason=_WORDS,
    is_binding=st.booleans(),
    ours_kept=st.none() | st.floats(0, 1),
    theirs_kept=st.none() | st.floats(0, 1),
    attempts=st.none() | _COUNTS,
    invented_lines=st.none() | _COUNTS,
    features=st.lists(_COUNTS, max_size=2),
)
_USAGES = st.builds(
    ModelUsage,
    model=_WORDS,
    prompt_version=_WORDS,
    requests=_COUNTS,
    prompt_tokens=_COUNTS,
    completion_tokens=_COUNTS,
    cached_tokens=_COUNTS,
    cost_usd=st.none() | _SECONDS,
    latency_seconds=_SECONDS,
)
_REPLACEMENTS = st.builds(
    Replacement,
    kind=st.sampled_from(ResolutionKind),
    together=st.lists(_COUNTS, max_size=2),
    text=st.none() | _CONTENTS,
    lines_before=_COUNTS,
    lines_after=_COUNTS,
    is_exact=st.booleans(),
    reason=_WORDS,
)
_TRACES = st.builds(
    FailureTrace,
    functions=st.lists(
        st.builds(
            TracedFunction,
            path=_PATH_NAMES,
            name=_WORDS,
            line=st.none() | _FROM_ONE,
            kind=st.sampled_from(TraceKind),
            tests=st.lists(_WORDS, max_size=2),
            base=st.none() | _CONTENTS,
            feature1=st.none() | _CONTENTS,
            feature2=st.none() | _CONTENTS,
            merged=st.none() | _CONTENTS,
        ),
        max_size=2,
    ),
    left_out=_COUNTS,
)
_ATTEMPTS = st.builds(
    Attempt,
    strategy=_WORDS,
    implementation=_WORDS,
    status=st.sampled_from(MergeStatus),
    conflicts_met=_COUNTS,
    conflict_details=st.none() | _DETAILS,
    tree_id=st.none() | _WORDS,
    diff=st.none() | _CONTENTS,
    failure=_WORDS,
    feature1_tests=st.none() | _TEST_RESULTS,
    feature2_tests=st.none() | _TEST_RESULTS,
    duration_seconds=_SECONDS,
    ledger=st.lists(_LEDGER_ROWS, max_size=1),
    usage=st.lists(_USAGES, max_size=1),
    service_failed=st.booleans(),
    replacements=st.lists(_REPLACEMENTS, max_size=2),
    trace=st.none() | _TRACES,
)


def run_results() -> st.SearchStrategy[TestResult]:
    """Any result of a run, plausible or not."""
    return _TEST_RESULTS


_FAILURES = st.builds(
    Failure,
    kind=st.sampled_from(FailureKind),
    problem=_WORDS,
    error=_WORDS,
    tries=_COUNTS,
)


_OPTIONS = st.builds(
    UsedOptions,
    strategies=st.lists(_WORDS, max_size=2),
    judge=st.sampled_from(JudgeRule),
    apply_policy=st.builds(
        ApplyPolicy, rungs=st.sets(st.sampled_from(Rung)), partial=st.booleans()
    ),
    test_filter=st.none() | st.builds(TestFileFilter, keep=st.sets(_WORDS, max_size=2)),
    sandbox=st.none() | _WORDS,
    repeats=_FROM_ONE,
)


def _ended(row: Attempt | TeamStep, met: int | None = None) -> Attempt | TeamStep:
    """Let a row end as its conflicts say, of which the merge may have met another number."""
    if row.status is MergeStatus.NOT_TRIED or (row.conflict_details is None and not row.failure):
        return row
    row = evolve(row, conflicts_met=row.conflicts_met if met is None else met)
    left = row.conflict_details is not None and row.conflict_details.conflict_sections
    complete = MergeStatus.RESOLVED if row.conflicts_met else MergeStatus.CLEAN
    status = MergeStatus.FAILED if row.failure else MergeStatus.CONFLICTED if left else complete
    return evolve(row, status=status)


def _measured(report: MergeReport) -> MergeReport:
    """Make what follows from the conflicts and the patches follow."""
    if report.failure is None and not all(each.patch.is_usable for each in report.features):
        rows = [evolve(each, status="not_tried") for each in report.attempts]
        return evolve(report, conflicts=(), conflict_details=None, attempts=rows)
    details = ConflictScorer().score(report.conflicts)
    rows = [_ended(each, len(report.conflicts)) for each in report.attempts]
    return evolve(report, conflict_details=details, attempts=rows)


def reports() -> st.SearchStrategy[MergeReport]:
    """Any report, plausible or not: odd paths, bytes that are not text, any time zone."""
    built = st.builds(
        MergeReport,
        repo_name=_WORDS,
        task_id=_COUNTS,
        timestamp=_TIMES,
        feature1=_FEATURES,
        feature2=_FEATURES,
        conflict_details=st.none() | _DETAILS,
        conflicts=st.lists(_CONFLICTS, max_size=2),
        diff=st.none() | _CONTENTS,
        attempts=st.lists(_ATTEMPTS, max_size=2, unique_by=lambda each: each.strategy),
        base_tree_id=_WORDS,
        base_commit=st.none() | _WORDS,
        model=st.none() | _WORDS,
        setting=st.none() | _WORDS,
        k=_FROM_ONE,
        versions=st.dictionaries(_WORDS, _WORDS, max_size=2),
        failure=st.none() | _FAILURES,
        options=st.none() | _OPTIONS,
    )
    return built.map(_measured).map(_named)


def _named(report: MergeReport) -> MergeReport:
    """Give the features different numbers, and name the strategies of the rows as used."""
    other, options = report.feature2, report.options
    if other.number == report.feature1.number:
        other = evolve(other, number=other.number + 1)
    if options is not None:
        options = evolve(options, strategies=[each.strategy for each in report.attempts])
    return evolve(report, feature2=other, options=options)


_SUITE_RUNS = st.builds(
    SuiteRun,
    suite=st.sampled_from(TeamSuite),
    feature=st.none() | _COUNTS,
    tests=st.none() | _TEST_RESULTS,
)
_BROKEN_TESTS = st.builds(
    BrokenTests,
    suite=st.sampled_from(TeamSuite),
    feature=st.none() | _COUNTS,
    tests=st.lists(_WORDS, max_size=2),
)
_TEAM_STEPS = st.builds(
    TeamStep,
    feature=_COUNTS,
    into=st.lists(_COUNTS, max_size=2),
    status=st.sampled_from(MergeStatus),
    conflicts_met=_COUNTS,
    conflict_details=st.none() | _DETAILS,
    tree_id=st.none() | _WORDS,
    diff=st.none() | _CONTENTS,
    failure=_WORDS,
    duration_seconds=_SECONDS,
    ledger=st.lists(_LEDGER_ROWS, max_size=1),
    usage=st.lists(_USAGES, max_size=1),
    service_failed=st.booleans(),
    replacements=st.lists(_REPLACEMENTS, max_size=1),
    conflicts=st.lists(_CONFLICTS, max_size=1),
).map(lambda step: _ended(evolve(step, conflict_details=ConflictScorer().score(step.conflicts))))


@st.composite
def _team_attempts(draw: st.DrawFn, numbers: list[int]) -> TeamAttempt:
    """A row for a team with these features, of which some land in any order."""
    mixed = draw(st.permutations(numbers))
    count = draw(st.integers(0, len(numbers)))
    gone = [
        LeftOut(
            number=number,
            reason=draw(st.sampled_from(LeftOutReason)),
            features=draw(st.lists(_COUNTS, max_size=2)),
            files=draw(st.lists(_PATH_NAMES, max_size=2)),
            tests=draw(st.lists(_BROKEN_TESTS, max_size=1)),
            problem=draw(_WORDS),
        )
        for number in mixed[count:]
    ]
    return TeamAttempt(
        strategy=draw(_WORDS),
        implementation=draw(_WORDS),
        status=draw(st.sampled_from(MergeStatus)),
        landed=mixed[:count],
        left_out=gone,
        steps=draw(st.lists(_TEAM_STEPS, max_size=2)),
        tree_id=draw(st.none() | _WORDS),
        diff=draw(st.none() | _CONTENTS),
        tests=draw(st.lists(_SUITE_RUNS, max_size=2)),
        landed_tests=draw(st.lists(_SUITE_RUNS, max_size=1)),
    )


@st.composite
def team_reports(draw: st.DrawFn) -> TeamReport:
    """Any report of a team, plausible or not; only its rows have the features of the team."""
    features = draw(st.lists(_FEATURES, min_size=2, max_size=3, unique_by=lambda each: each.number))
    rows = _team_attempts([each.number for each in features])
    attempts = draw(st.lists(rows, max_size=2, unique_by=lambda each: each.strategy))
    merges = st.lists(_TEAM_STEPS, max_size=1)
    failure = draw(st.none() | _FAILURES)
    if failure is None and not all(each.patch.is_usable for each in features):
        attempts = [evolve(each, status="not_tried") for each in attempts]
    return TeamReport(
        repo_name=draw(_WORDS),
        task_id=draw(_COUNTS),
        timestamp=draw(_TIMES),
        features=features,
        merges=[_ended(each, len(each.conflicts)) for each in draw(merges)],
        attempts=attempts,
        base_tree_id=draw(_WORDS),
        base_commit=draw(st.none() | _WORDS),
        model=draw(st.none() | _WORDS),
        setting=draw(st.none() | _WORDS),
        k=draw(_FROM_ONE),
        versions=draw(st.dictionaries(_WORDS, _WORDS, max_size=2)),
        failure=failure,
        judge=draw(st.sampled_from(JudgeRule)),
        base_joint_tests=draw(st.none() | _TEST_RESULTS),
    )


def json_values() -> st.SearchStrategy[object]:
    """Any JSON value: ``{"a": [1, None]}``."""
    leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _WORDS
    return st.recursive(
        leaves,
        lambda each: st.lists(each, max_size=3) | st.dictionaries(_WORDS, each, max_size=3),
        max_leaves=5,
    )


def documents(schema: dict[str, object]) -> st.SearchStrategy[object]:
    """Any value that a JSON Schema allows; built when a test runs, because that is slow."""

    def make() -> st.SearchStrategy[object]:
        from hypothesis_jsonschema import from_schema  # noqa: PLC0415 - few need it

        return from_schema(copy.deepcopy(schema))  # it modifies its argument

    return st.deferred(make)


def indices() -> st.SearchStrategy[int]:
    """A number that picks one of many items."""
    return st.integers(0, 10**6)


# --- trees and patches ---

Files = dict[str, Entry]

_PARTS = [
    *("a", "b", "x.py", "A", "a-b", "a.b", "a0", "two words", "\u00e9", "caf\udce9"),
    *('q"q', "t\tt", "new\nline", "back\\slash", " lead", "end ", "-dash", "b c b"),
]
_CODE = [
    *(b"def one(x):\n", b"    return x + 1\n", b"\treturn  x\n", b"if x == 1:\n", b"\n"),
    *(b"}\n", b"  }\n", b"y = 2\n", b"y = 3\n", b"z = x\r\n", b"\xe9 = \xff\n", b"-- \n"),
    *(b"+++ b\n", b"@@ -1 +1 @@\n", b"pass \n", b"   \n"),
]
# Git cannot read back its own diff of an empty file in a folder whose name ends in a space.
_ODD_PATHS = (
    st.lists(st.sampled_from(_PARTS), min_size=1, max_size=3)
    .map("/".join)
    .filter(lambda path: " /" not in path)
)


@st.composite
def _code(draw: st.DrawFn) -> bytes:
    """A file's text, sometimes without its last newline."""
    data = b"".join(draw(st.lists(st.sampled_from(_CODE), max_size=20)))
    return data.removesuffix(b"\n") if draw(st.integers(0, 4)) == 0 else data


_FILE_MODES = st.sampled_from([FileMode.FILE, FileMode.FILE, FileMode.FILE, FileMode.EXECUTABLE])
_BINARIES = st.binary(max_size=60).map(lambda data: b"\0" + data * 5)
_TEXT_FILES = st.builds(Entry, _code(), _FILE_MODES)
_TREE_ENTRIES = st.one_of(
    _TEXT_FILES,
    _TEXT_FILES,
    _TEXT_FILES,
    st.builds(Entry, _BINARIES, _FILE_MODES),
    st.sampled_from([b"target", b"a/b", b"caf\xe9"]).map(lambda to: Entry(to, FileMode.SYMLINK)),
    st.sampled_from([b"1" * 40, b"f" * 40]).map(lambda to: Entry(to, FileMode.SUBMODULE)),
)


def _without_clashes(files: Files) -> Files:
    """Drop paths that lie below another entry."""
    return {
        path: entry
        for path, entry in files.items()
        if not any(path.startswith(f"{other}/") for other in files)
    }


def trees(max_size: int = 6) -> st.SearchStrategy[Files]:
    r"""Entries of all kinds by path, including odd names: ``{"a/x.py": Entry(b"y = 2\n")}``."""
    return st.dictionaries(_ODD_PATHS, _TREE_ENTRIES, max_size=max_size).map(_without_clashes)


def path_trees() -> st.SearchStrategy[Files]:
    """Trees of one small file each, with names that git sorts in its own way."""
    names = st.lists(st.sampled_from(["a", "a-", "a.", "a0", "b"]), min_size=1, max_size=3)
    entries = st.sampled_from([Entry(b""), Entry(b"1\n")])
    return st.dictionaries(names.map("/".join), entries, max_size=8).map(_without_clashes)


@st.composite
def _edited(draw: st.DrawFn, entry: Entry) -> Entry:
    """The same file with changed lines, white space or last newline."""
    lines = entry.data.splitlines(keepends=True)
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(lines)))
        end = min(len(lines), at + draw(st.integers(0, 2)))
        lines[at:end] = draw(st.lists(st.sampled_from(_CODE), max_size=2))
    data = b"".join(lines)
    match draw(st.integers(0, 9)):
        case 0:
            data = data.removesuffix(b"\n")
        case 1:
            data = data.replace(b" ", b"  ")
        case 2:
            data = data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        case 3:
            data = data.replace(b"    ", b"\t")
    return Entry(data, entry.mode)


@st.composite
def successors(draw: st.DrawFn, files: Files) -> Files:
    """The tree after some edits, renames, copies, deletions, additions or type changes."""
    after: Files = {}
    for path, entry in files.items():
        action = draw(st.sampled_from(["keep", "edit", "edit", "edit", "move", "copy", "other"]))
        is_text = entry.mode.is_regular and b"\0" not in entry.data
        changed = draw(_edited(entry)) if is_text and action != "keep" else entry
        match action:
            case "move":
                after[draw(_ODD_PATHS)] = changed
            case "copy":
                after[path] = entry
                after[draw(_ODD_PATHS)] = changed
            case "other":
                replacement = draw(st.none() | _TREE_ENTRIES | st.just(_flipped(entry)))
                if replacement is not None:
                    after[path] = replacement
            case _:
                after[path] = changed
    return _without_clashes(draw(trees(max_size=1)) | after)


def _flipped(entry: Entry) -> Entry:
    """The same file with its executable bit flipped."""
    if not entry.mode.is_regular:
        return entry
    is_plain = entry.mode is FileMode.FILE
    return Entry(entry.data, FileMode.EXECUTABLE if is_plain else FileMode.FILE)


def git_diff_options() -> st.SearchStrategy[list[str]]:
    """Options for `git diff`: ``["-U1", "-M", "--histogram"]``."""
    choices = [
        st.sampled_from(["-U3", "-U3", "-U0", "-U1", "-U2", "-U5", "-U10"]),
        st.sampled_from(["--no-renames", "-M", "-C", "--find-copies-harder"]),
        st.sampled_from(["--minimal", "--histogram", "--patience"]),
        st.sampled_from(["--full-index", "--abbrev=7"]),
    ]
    return st.tuples(*choices).map(list)


@st.composite
def forks(draw: st.DrawFn, max_size: int = 3) -> tuple[Files, Files, Files]:
    """A tree and two successors of it, made independently."""
    base = draw(trees(max_size))
    return base, draw(successors(base)), draw(successors(base))


@st.composite
def histories(draw: st.DrawFn, max_size: int = 3) -> tuple[Files, Files, Files]:
    """A tree, its successor, and the successor of that."""
    first = draw(trees(max_size))
    second = draw(successors(first))
    return first, second, draw(successors(second))


@st.composite
def splices(draw: st.DrawFn) -> Callable[[bytes], bytes]:
    """A function that replaces some bytes with others, or with a piece of the input."""
    fractions = st.floats(0, 1)
    pieces = st.sampled_from(
        [b"", b"{", b"]", b'"', b"\\", b"null", b"1e999", b"NaN", b"-1", b"[[]]", b"\n", b"\xff"]
    )
    steps = draw(
        st.lists(
            st.tuples(fractions, st.integers(0, 40), pieces | st.binary(max_size=8) | fractions),
            min_size=1,
            max_size=4,
        )
    )

    def splice(data: bytes) -> bytes:
        for fraction, length, new in steps:
            at = int(fraction * len(data))
            if isinstance(new, float):
                new = data[int(new * len(data)) :][: 2 * length]  # noqa: PLW2901 - a piece
            data = data[:at] + new + data[at + length :]
        return data

    return splice


@st.composite
def damages(draw: st.DrawFn, *, headers: bool = True) -> Callable[[bytes], bytes]:
    """A function that drops, doubles, swaps or alters a few lines of a patch.

    With *headers* it also invents headers; without, it changes only hunks.
    """
    kinds = ["drop", "double", "swap", "byte", *["make up"] * headers]
    places = st.integers(0, 60)
    new_bytes = st.sampled_from([b"", b'"', b"\\", b"9", b"\xff", b" ", b"-"])
    steps = draw(
        st.lists(
            st.tuples(
                st.sampled_from(kinds), places, places, new_bytes, st.sampled_from(_HEADER_LINES)
            ),
            min_size=1,
            max_size=4,
        )
    )

    def damage(patch: bytes) -> bytes:
        lines = patch.splitlines(keepends=True)
        for kind, place, column, new, header in steps:
            places = [at for at, line in enumerate(lines) if headers or _is_of_hunk(line)]
            if not places:
                break
            at = places[place % len(places)]
            match kind:
                case "drop":
                    del lines[at : at + 1]
                case "double":
                    lines[at:at] = lines[at : at + 1]
                case "swap":
                    lines[at : at + 2] = lines[at : at + 2][::-1]
                case "byte":
                    lines[at] = lines[at][:column] + new + lines[at][column + 1 :] or b"\n"
                case _:
                    lines.insert(at, header)
        return b"".join(lines)

    return damage


@st.composite
def mangles(draw: st.DrawFn) -> Callable[[bytes], bytes]:
    """A function that damages a patch the way agents and mailers do."""
    steps = draw(st.lists(st.sampled_from(sorted(_MANGLES)), min_size=1, max_size=3, unique=True))
    size = draw(st.integers(-2, 3))

    def mangle(patch: bytes) -> bytes:
        for step in steps:
            patch = _MANGLES[step](patch, size)
        return patch

    return mangle


def _shift(patch: bytes, size: int) -> bytes:
    def moved(found: re.Match[bytes]) -> bytes:
        old, new = (max(int(found.group(i)) + size, 1) for i in (1, 3))
        return b"@@ -%d%b +%d%b @@" % (old, found.group(2) or b"", new, found.group(4) or b"")

    return re.sub(rb"@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@", moved, patch)


def _miscount(patch: bytes, size: int) -> bytes:
    def counted(found: re.Match[bytes]) -> bytes:
        return b"@@ -%b,%d" % (found.group(1), max(int(found.group(2)) + size, 0))

    return re.sub(rb"@@ -(\d+),(\d+)", counted, patch)


_MANGLES: dict[str, Callable[[bytes, int], bytes]] = {
    "shift": _shift,
    "miscount": _miscount,
    "strip blank context": lambda patch, _: re.sub(rb"(?m)^ $", b"", patch),
    "strip the end": lambda patch, _: patch.rstrip(b"\n") + b"\n",
    "fence": lambda patch, _: b"Here it is:\n```diff\n" + patch + b"```\n- that is all\n",
    "sign": lambda patch, _: patch + b"-- \n2.39.5\n\n",
    "forget the ids": lambda patch, _: re.sub(rb"(?m)^index .*\n", b"", patch),
    "forget git": lambda patch, _: re.sub(rb"(?m)^diff --git .*\nindex .*\n", b"", patch),
    "trailing space": lambda patch, _: re.sub(rb"(?m)^( .*\S)$", rb"\1 ", patch),
    "tabs": lambda patch, _: re.sub(rb"(?m)^( +)    ", rb"\1\t", patch),
    "blank between hunks": lambda patch, _: re.sub(rb"(?m)^@@ -[2-9]", b"\n\\g<0>", patch),
}


def _is_of_hunk(line: bytes) -> bool:
    return line[:1] in {b" ", b"+", b"-", b"@"} and line[:4] not in {b"--- ", b"+++ "}


_HEADER_LINES = [
    *(b"diff --git a/x b/x\n", b"--- a/x\n", b"+++ b/x\n", b"--- /dev/null\n", b"+++ /dev/null\n"),
    *(b"@@ -1 +1 @@\n", b"@@ -0,0 +0,0 @@\n", b"@@ -1,9999999999 +1 @@\n", b"@@ nonsense @@\n"),
    *(b"GIT binary patch\n", b"literal 5\n", b"delta 5\n", b"zcmZ\n", b"\n", b"-\n", b"+\n"),
    *(b"\\ No newline at end of file\n", b"new file mode 100644\n", b"deleted file mode 160000\n"),
    *(b"rename from x\n", b"rename to ../x\n", b"copy from y\n", b"index 0000000..1111111 9\n"),
    *(b'--- "a/\\303\\8\n', b'+++ "b/\\9"\n', b"Binary files a/x and b/x differ\n"),
]


def lists_of(items: st.SearchStrategy) -> st.SearchStrategy[list]:
    """A short list of *items*, possibly empty."""
    return st.lists(items, max_size=6)


def conflicts() -> st.SearchStrategy[Conflict]:
    """One conflict in one of a few files, with or without lines."""
    texts_or_none = st.none() | st.sampled_from([b"", b"1\n", b"1\n2\n", b"1\n2"])
    return st.builds(
        Conflict,
        path=st.sampled_from(["a", "b", "c/d"]),
        base=texts_or_none,
        ours=texts_or_none,
        theirs=texts_or_none,
        line=st.none() | st.integers(1, 9),
    )


def random_bytes() -> st.SearchStrategy[bytes]:
    r"""Any bytes, and pieces of diffs in any order: ``b"--- a/x\n@@ -1 +1 @@\n"``."""
    return st.binary() | st.lists(st.sampled_from(_HEADER_LINES + _CODE), max_size=8).map(b"".join)


# --- hunks and files that drifted from them ---

_DRIFTING = [b"a\n", b"b\n", b"cc = dd\n", b"def e(f):\n", b"    return g\n", b"\n"]
_DRIFTED_LINES = st.lists(st.sampled_from(_DRIFTING), max_size=14)


@st.composite
def drifted_hunks(draw: st.DrawFn) -> tuple[list[bytes], list[bytes]]:
    r"""Lines of a file, and signed lines of a hunk made from a similar file.

    For example `[b"a\n", b"b\n"]` and `[b" a\n", b"-c\n", b"+d\n"]`.
    """
    old = draw(st.lists(st.sampled_from(_DRIFTING), min_size=3, max_size=9))
    first = draw(st.integers(0, len(old) - 1))
    last = draw(st.integers(first, min(len(old), first + 2)))
    added = st.sampled_from([*_DRIFTING, b"new\n"])
    new = draw(st.lists(added, min_size=int(first == last), max_size=2))
    hunk = [b" " + line for line in old[:first]]
    hunk += [b"-" + line for line in old[first:last]] + [b"+" + line for line in new]
    hunk += [b" " + line for line in old[last:]]
    there = list(old)
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(there)))
        there[at : at + draw(st.integers(0, 1))] = draw(
            st.lists(st.sampled_from(_DRIFTING), max_size=2)
        )
    return draw(_DRIFTED_LINES) + there + draw(_DRIFTED_LINES), hunk


# --- tokens ---

_TOKENS = [b"a", b"b", b"c", b"d", b"\xe9", b"f", b"(", b")", b",", b"=", b"1", b"\0"]
_SPACES = [b"", b" ", b" ", b" ", b"\n", b"\n", b"\n    ", b"\r\n"]


@st.composite
def three_way_tokens(draw: st.DrawFn) -> tuple[bytes, bytes, bytes]:
    r"""Base, ours and theirs: a few lines, and edits within them.

    For example ``b"a, b\n"``, ``b"a, c, b\n"``, ``b"a,\n    d\n"``.
    """
    tokens = st.builds(operator.add, st.sampled_from(_SPACES), st.sampled_from(_TOKENS))
    base = draw(st.lists(tokens, max_size=12))
    sides = [base]
    for _ in range(2):
        side = list(base)
        for _ in range(draw(st.integers(0, 3))):
            at = draw(st.integers(0, len(side)))
            end = min(len(side), at + draw(st.integers(0, 2)))
            side[at:end] = draw(st.lists(tokens, max_size=3))
        sides.append(side)
    base_data, ours, theirs = (b"".join(side) + b"\n" if side else b"" for side in sides)
    return base_data, ours, theirs


# --- programs ---


class _Program:
    """A small Python file that can be edited and written out."""

    def __init__(self) -> None:
        self.imports: dict[str, list[str]] = {"m0": ["a0"]}
        self.items: list[str] = ["k0"]
        self.functions: list[_Function] = []
        self.methods: list[_Function] = []

    @property
    def suites(self) -> list[list[object]]:
        """The suites into which statements can be put, outer ones first."""
        found = [function.body for function in (*self.functions, *self.methods)]
        for suite in found:
            found += [stmt[1] for stmt in suite if isinstance(stmt, tuple)]
        return found

    def lines(self) -> Iterator[str]:
        """Yield its lines."""
        for module, names in self.imports.items():
            yield f"from {module} import {', '.join(names)}"
        yield from ("", "TABLE = {", *(f'    "{key}": {key!r},' for key in self.items), "}")
        for function in self.functions:
            yield from ("", "", *function.lines())
        if self.methods:
            yield from ("", "", "class Thing:")
            for i, method in enumerate(self.methods):
                yield from [""] if i else []
                yield from ("    " + line if line else line for line in method.lines())

    @property
    def source(self) -> bytes:
        """All of it."""
        return "".join(line + "\n" for line in self.lines()).encode()


class _Function:
    """A function of a program; statements are lines, or pairs of a header and a suite."""

    def __init__(self, name: str, body: list[object]) -> None:
        self.name = name
        self.parameters = ["x"]
        self.decorators: list[str] = []
        self.doc: list[str] = []
        self.body = body

    def lines(self) -> Iterator[str]:
        """Yield its lines."""
        yield from (f"@{decorator}" for decorator in self.decorators)
        yield f"def {self.name}({', '.join(self.parameters)}):"
        yield from (f'    """Do {self.name}.', "", *(f"    {d}" for d in self.doc), '    """')
        yield from _written(self.body, "    ")


def _written(suite: list[object], indent: str) -> Iterator[str]:
    for stmt in suite:
        if isinstance(stmt, tuple):
            header, inner = stmt
            yield f"{indent}{header}:"
            yield from _written(inner, indent + "    ")
        else:
            yield f"{indent}{stmt}"


_HEADERS = ["if x", "while x", "for i in x", "with x"]


@st.composite
def _programs(draw: st.DrawFn) -> _Program:
    program = _Program()
    for i in range(draw(st.integers(1, 2))):
        body: list[object] = [f"step('f{i}', {j})" for j in range(draw(st.integers(1, 4)))]
        program.functions.append(_Function(f"f{i}", body))
    for i in range(draw(st.integers(1, 2))):
        program.methods.append(_Function(f"g{i}", [f"step('g{i}', {j})" for j in range(2)]))
    if draw(st.booleans()):
        program.functions[0].body.append(("if x", ["step('inner', 0)", "step('inner', 1)"]))
    return program


def programs() -> st.SearchStrategy[bytes]:
    """A small Python file: imports, a dict, functions, sometimes a class with methods."""
    return _programs().map(lambda program: program.source)


def _edit_program(draw: st.DrawFn, program: _Program, name: str) -> None:
    """Make one edit of *program*, under a new *name*."""
    suites = program.suites
    suite = suites[draw(st.integers(0, len(suites) - 1))]
    owners = [*program.functions, *program.methods]
    function = owners[draw(st.integers(0, len(owners) - 1))]
    at = draw(st.integers(0, len(suite)))
    match draw(st.integers(0, 9)):
        case 0:
            module = draw(st.sampled_from(["m0", "m1", f"m_{name}"]))
            program.imports.setdefault(module, []).append(name)
        case 1:
            program.items.append(name)
        case 2:
            new = _Function(f"f_{name}", [f"step({name!r})"])
            program.functions.insert(draw(st.integers(0, len(program.functions))), new)
        case 3:
            program.methods.append(_Function(f"g_{name}", [f"step({name!r})"]))
        case 4:
            default = draw(st.sampled_from(["", "=None"]))
            is_required = not default and not any("=" in p for p in function.parameters)
            function.parameters.append(name + ("" if is_required else "=None"))
        case 5:
            function.doc.append(f"Also {name}.")
        case 6:
            function.decorators.append(name)
        case 7 | 8:
            suite.insert(at, f"step({name!r})")
        case _:
            inner = suite[at : at + 2] or [f"step({name!r})"]
            suite[at : at + 2] = [(draw(st.sampled_from(_HEADERS)), inner)]


@st.composite
def three_way_programs(draw: st.DrawFn) -> tuple[bytes, bytes, bytes]:
    """Base, ours and theirs: a Python file, and edits that often conflict.

    Either side adds names to imports, items, functions, methods, parameters, lines of
    docstrings, decorators and statements, or puts statements into a suite of a new one.
    """
    base = draw(_programs())
    sides = []
    for side in ("o", "t"):
        program = copy.deepcopy(base)
        for number in range(draw(st.integers(1, 4))):
            _edit_program(draw, program, f"{side}{number}")
        sides.append(program.source)
    return base.source, sides[0], sides[1]


@st.composite
def evaluation_documents(draw: st.DrawFn) -> dict[str, object]:
    """A result that CooperBench's evaluator wrote: ``{"repo": "a", "both_passed": null, …}``.

    It has one of the known shapes; up to two values are missing or have another type.
    """
    counts = st.none() | st.integers(0, 9)
    words = st.sampled_from(["clean", "null", "error", "naive"]) | st.none()
    numbers = draw(st.lists(st.integers(0, 4), min_size=2, max_size=3, unique=True))
    sides = {}
    for place, number in enumerate(numbers[:2], start=1):
        keys = draw(st.sets(st.sampled_from(["exit_code", "tests_passed", "tests_failed"])))
        passed = dict.fromkeys(["passed", "naive_merge_test_passed"], draw(st.booleans()))
        side = {"feature_id": number, "number": number, **passed}
        sides[f"feature{place}"] = side | {key: draw(counts) for key in keys}
    merge = draw(st.none() | st.fixed_dictionaries({"status": words, "strategy": words}))
    plain = {"repo": "r", "task_id": draw(st.integers(0, 9)), "both_passed": draw(st.booleans())}
    shapes: list[dict[str, object]] = [
        {**plain, "features": numbers, "setting": "coop", "error": draw(words), "merge": merge}
        | sides,
        {"metadata": {"repo_name": "r", "task_id": 1}, "features": sides, "merge_analysis": merge},
    ]
    document = draw(st.sampled_from(shapes))
    for _ in range(draw(st.integers(0, 2))):
        places = [document, *(value for value in document.values() if isinstance(value, dict))]
        place = draw(st.sampled_from(places))
        if place and draw(st.booleans()):
            place[draw(st.sampled_from(sorted(place)))] = draw(json_values())
        elif place:
            del place[draw(st.sampled_from(sorted(place)))]
    return document


def count_pairs() -> st.SearchStrategy[tuple[int, int]]:
    """A count and its total: ``(3, 10)``."""
    return st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def quantities(min_size: int = 0) -> st.SearchStrategy[list[float]]:
    """Seconds, scores: ``[0.0, 17.5]``."""
    return st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=min_size, max_size=40)


# One of each kind, distinguished by its numbers: drawing each field is slow.
_RUN_FACTS = [
    RunFacts(
        status=status,
        passed_tests=number,
        failed_tests=number % 3,
        error_tests=number % 2,
        duration_seconds=number / 7,
    )
    for number, status in enumerate(TestStatus, start=1)
]
_RUN_CHOICES = st.sampled_from([None, *_RUN_FACTS, *_RUN_FACTS[:1] * 6])
_FEATURE_FACTS = st.builds(
    FeatureFacts,
    number=st.integers(1, 3),
    patch_status=st.sampled_from(PatchStatus),
    tests=_RUN_CHOICES,
    base_tests=_RUN_CHOICES,
    other_tests=_RUN_CHOICES,
)
_ATTEMPT_FACTS = st.builds(
    AttemptFacts,
    strategy=st.sampled_from(["naive", "union", "llm", "tokens"]),
    status=st.sampled_from(MergeStatus),
    blame=st.sampled_from(BlameKind),
    feature1_tests=_RUN_CHOICES,
    feature2_tests=_RUN_CHOICES,
    duration_seconds=_SECONDS,
    requests=_COUNTS,
    unpriced_requests=_COUNTS,
    prompt_tokens=_COUNTS,
    completion_tokens=_COUNTS,
    cost_usd=st.none() | _SECONDS,
    service_failed=st.booleans(),
)


def pair_facts() -> st.SearchStrategy[PairFacts]:
    """Facts of a pair, plausible or not, of one of few repositories and strategies."""
    return st.builds(
        PairFacts,
        repo_name=st.sampled_from(["click", "jinja"]),
        task_id=st.integers(0, 2),
        timestamp=st.just(dt.datetime(2026, 1, 31, tzinfo=dt.UTC)),
        feature1=_FEATURE_FACTS,
        feature2=_FEATURE_FACTS,
        merge_status=st.sampled_from(PairStatus),
        conflict_score=st.none() | _COUNTS,
        severity=st.none() | st.sampled_from(Severity),
        failure=st.none() | st.sampled_from(FailureKind),
        attempts=st.lists(_ATTEMPT_FACTS, max_size=3, unique_by=lambda each: each.strategy),
        model=st.sampled_from([None, "gpt", "claude"]),
        k=st.integers(1, 12),
        language=st.sampled_from(["", "Go", "Python"]),
    )


def shuffled(items: list) -> st.SearchStrategy[tuple[list, list]]:
    """The items in their order and in another: ``([1, 2], [2, 1])``."""
    return st.permutations(items).map(lambda other: (items, other))


_SOME_LINES = st.lists(st.sampled_from(SYMBOLS), max_size=4).map(b"".join)


def answers() -> st.SearchStrategy[list[bytes | None]]:
    r"""Replacements for conflicts, in turn: ``[b"a\n", None, b""]``.

    `None` leaves one open. The texts are whole lines, some like markers.
    """
    return st.lists(st.none() | _SOME_LINES, min_size=1, max_size=5)


_ODD_CHARACTERS = (
    "\x00\x07\x1b\x85\n\r\t\u00a0\u00ad\u200b\u202e\u2028\ufeff\udc80\ue000<>&\"'[]$\\é漢"
)


def odd_texts() -> st.SearchStrategy[str]:
    r"""Texts with characters that are invisible or special: `"a\x1b[31m<b>\u202e"`."""
    return st.text(st.sampled_from(_ODD_CHARACTERS) | st.characters(), max_size=60)


def odd_file_strategies() -> dict[str, st.SearchStrategy[object]]:
    """Return, by name, what a caller may give as files to the kit's check of strategies."""

    def fail(_: None) -> None:
        raise ZeroDivisionError("in the file strategy")

    return {
        "nothing": st.nothing(),
        "numbers": st.integers(),
        "raises": st.none().map(fail),
        "one conflict": st.just((b"a\n", b"b\n", b"c\n")),
    }

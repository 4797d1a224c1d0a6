"""Views of the report of a pair or team and of its parts: short, however much they hold.

As HTML, a report takes two or three kilobytes, and at most 20.
"""

from collections.abc import Iterator, Sequence

from cooperbench_eval.git.merging.conflicts import ConflictDetails, FileConflicts, MergeStatus
from cooperbench_eval.presentation.views import wording
from cooperbench_eval.presentation.views.plans import broken_text, left_out_text, owner_text
from cooperbench_eval.reporting import (
    Attempt,
    Blame,
    FeatureReport,
    MergeReport,
    PairStatus,
    PatchReport,
    Verdict,
)
from cooperbench_eval.reporting.rows import Tried
from cooperbench_eval.reporting.teams import (
    GroupReport,
    TeamAttempt,
    TeamBlame,
    TeamReport,
    TeamStep,
)
from cooperbench_eval.running.results import (
    Judgement,
    TestCase,
    TestCaseStatus,
    TestResult,
    TestStatus,
    outcome_of,
)
from cooperbench_eval.support.rendering.view import Cell, Table, Tone, View, rows_table
from cooperbench_eval.support.rendering.visible import cut_list, visible

_MOST_STRATEGIES = 8
_MOST_NOTES = 8
_MOST_FILES = 20
_MOST_CASES = 10
_MOST_LOST = 20
_MOST_ROWS = 20
_FEW_FILES = 4
_FEW_LOST = 3
# Lengths in characters.
_ID = 12
_NAME = 40
_TEST = 150  # of a test, whose name ends with what distinguishes it
_MESSAGE = 80
_REASON = 100
_NOTE = 250
_TEAM_NOTE = 500

_VERDICTS = {Verdict.CORRECT: Tone.GOOD, Verdict.NOT_RUN: Tone.PLAIN}
_SAID_ELSEWHERE = frozenset({TestStatus.PASSED, TestStatus.FAILED, TestStatus.INFRASTRUCTURE_ERROR})
_BROKEN = frozenset({TestCaseStatus.FAILED, TestCaseStatus.ERROR})


# --- a report ----------------------------------------------------------------


def report_view(report: MergeReport) -> View:
    """Describe how a pair merges, each feature alone, and each strategy."""
    shown = report.attempts[:_MOST_STRATEGIES]
    notes = [*_reasons(report), *(note for each in shown for note in _notes(report, each))]
    notes += wording.cautions(report.warnings, report.hazards)
    return View(
        title=wording.title_text(visible(report.repo_name, _NAME), report),
        lines=[_origin(report), _merge(report), *wording.agents_texts(report.agent_usage)],
        tables=[_features_table(report.features), _strategies_table(report, shown)],
        notes=[
            *wording.first(notes, _MOST_NOTES, "such note", _note),
            *wording.and_more(len(report.attempts) - _MOST_STRATEGIES, "strategy row"),
        ],
    )


def _note(text: str) -> str:
    return visible(text, _NOTE)


def _origin(report: GroupReport) -> str:
    parts = [visible(each, _NAME) for each in (report.model, report.setting) if each]
    parts += [f"try {report.k}", f"evaluated {report.timestamp.isoformat(' ', 'minutes')}"]
    if report.base_commit or report.base_tree_id:
        kind = "commit" if report.base_commit else "tree"
        parts.append(f"base {kind} {visible((report.base_commit or report.base_tree_id)[:_ID])}")
    return ", ".join(parts)


def _merge(report: MergeReport) -> str:
    if report.failure is not None:
        return visible(f"not evaluated, {wording.failure_text(report.failure)}", _NOTE)
    details = report.conflict_details
    if details is None:
        return "missing input: a patch is empty or does not apply, so there was nothing to merge"
    if report.merge_status is PairStatus.CLEAN:
        return "git merges the two without a conflict, score 0"
    worst = [f"{visible(each.path, _NAME)} ({each.score:,})" for each in _worst_first(details)]
    files = f" in {cut_list(worst, _FEW_FILES, 2 * _NAME)}" if worst else ""
    return f"git leaves {wording.conflicts_text(details)}{files}"


def _features_table(features: Sequence[FeatureReport]) -> Table:
    header = ["feature", "patch", "its tests alone", "its tests on the base"]
    if any(each.other_tests is not None for each in features):
        header.append("the other's tests alone")
    return rows_table(header, [_feature_row(each)[: len(header)] for each in features])


def _feature_row(feature: FeatureReport) -> tuple[Cell, ...]:
    return (
        Cell(str(feature.number)),
        _patch_cell(feature.patch),
        _run_cell(feature.tests, feature.judgement),
        # Tests are expected to fail on the base, so this is neither good nor bad.
        Cell(_run_cell(feature.base_tests).text),
        _run_cell(feature.other_tests),
    )


def _patch_cell(patch: PatchReport) -> Cell:
    return Cell(
        visible(wording.patch_text(patch), _REASON), Tone.PLAIN if patch.is_usable else Tone.BAD
    )


def _run_cell(run: TestResult | None, judgement: Judgement | None = None) -> Cell:
    """Return a cell with the result of a run, coloured by how it counts."""
    if run is None:
        return Cell("")
    tone = _TONES[outcome_of(run, judgement)]
    return Cell(wording.judged_text(run, judgement), tone)


_TONES = {True: Tone.GOOD, False: Tone.BAD, None: Tone.PLAIN}


def _strategies_table(report: MergeReport, shown: Sequence[Attempt]) -> Table:
    tests = [title.replace("of feature", "of") for title in wording.suite_titles(report)]
    rows: list[tuple[Cell | str, ...]] = [
        (
            visible(attempt.strategy, _NAME),
            wording.spoken(attempt.status),
            _verdict_cell(attempt),
            wording.blame_text(report.blame(attempt.strategy), attempt),
            *(_run_cell(*run) for run in wording.merged_runs(report, attempt)),
        )
        for attempt in shown
    ]
    return rows_table(("strategy", "merge", "verdict", "to blame", *tests), rows)


def _verdict_cell(attempt: Tried) -> Cell:
    return Cell(wording.spoken(attempt.verdict), _VERDICTS.get(attempt.verdict, Tone.BAD))


def _reasons(report: MergeReport) -> Iterator[str]:
    """Yield why tests have no answer, and why features' own tests gave no result."""
    yield from wording.not_run_in(report)
    by_reason: dict[tuple[TestStatus, str], list[int]] = {}
    for feature in report.features:
        run = feature.tests
        if run and run.reason and run.status not in _SAID_ELSEWHERE:
            by_reason.setdefault((run.status, run.reason), []).append(feature.number)
    for (status, reason), numbers in by_reason.items():
        ended = f"{wording.features_text(numbers)} alone, {wording.spoken(status)}"
        yield f"the tests of {ended}: {reason}"


def _notes(report: MergeReport, attempt: Attempt) -> Iterator[str]:
    name = visible(attempt.strategy, _NAME)
    if attempt.failure:
        yield f"{name} failed: {visible(attempt.failure, _REASON)}"
    for lost in wording.lost_tests(report, report.blame(attempt.strategy)):
        tests = f"{name} lost {wording.counted(len(lost.names), 'test')} of {lost.owner}"
        yield f"{tests}: {cut_list(lost.names, _FEW_LOST, _TEST)}"


# --- a strategy's row, and what is to blame for it ---------------------------


def attempt_view(attempt: Attempt) -> View:
    """Describe what a strategy did, and both features' tests on it."""
    asked = attempt.usage[:_MOST_STRATEGIES]
    lines = [
        _work(attempt),
        *(wording.usage_text(each, visible(each.model, _NAME)) for each in asked),
    ]
    if attempt.failure:
        lines.append(f"it failed: {visible(attempt.failure, _REASON)}")
    runs = (
        ("of the first feature", *attempt.own_runs[0]),
        ("of the second feature", *attempt.own_runs[1]),
        ("of both together", *attempt.joint_run),
        ("of the repository", *attempt.regression_run),
    )
    rows = [
        (owner, _run_cell(run, judgement), f"{run.duration_seconds:.1f}")
        for owner, run, judgement in runs
        if run is not None
    ]
    header = ("tests, in the order of the report", "result", "seconds")
    return View(
        title=f"{visible(attempt.strategy, _NAME)}: {wording.spoken(attempt.status)}, "
        f"{wording.spoken(attempt.verdict)}",
        lines=lines,
        tables=[rows_table(header, rows, numbers=1)],
        notes=wording.first(
            [
                *wording.uncounted_texts(run for _, run, _ in runs),
                *wording.cautions((), attempt.hazards),
            ],
            _MOST_NOTES,
            "such note",
            _note,
        ),
    )


def _work(attempt: Attempt) -> str:
    left = attempt.conflict_details
    is_open = left is not None and left.conflict_sections > 0
    rest = f", left {wording.conflicts_text(left)}" if left is not None and is_open else ""
    met = wording.counted(attempt.conflicts_met, "conflict")
    return f"met {met}{rest}, took {attempt.duration_seconds:.3g} seconds"


def blame_view(blame: Blame) -> View:
    """Describe what is to blame, and the tests that the merge lost."""
    lost = (
        ("of the first feature", blame.lost_tests1),
        ("of the second feature", blame.lost_tests2),
        ("of both features together", blame.lost_joint_tests),
        ("of the repository", blame.lost_regression_tests),
    )
    return View(
        title=f"to blame: {wording.blame_text(blame)}",
        tables=[
            _names_table(f"{wording.counted(len(names), 'test')} {owner} lost", names)
            for owner, names in lost
            if names
        ],
    )


def _names_table(title: str, names: Sequence[str]) -> Table:
    return rows_table([title], [[name] for name in wording.first(names, _MOST_LOST)])


# --- a test run --------------------------------------------------------------


def run_view(run: TestResult) -> View:
    """Describe how a run ended, why, and which cases did not pass."""
    where = f" in the sandbox {visible(run.sandbox, _NAME)}" if run.sandbox else ""
    return View(
        title=wording.run_text(run, in_full=True),
        lines=[f"{run.duration_seconds:.1f} seconds{where}", *wording.run_notes(run, _listed)],
        tables=[_broken_table([case for case in run.cases if case.status in _BROKEN])],
    )


def _listed(names: Sequence[str]) -> str:
    return cut_list(names, _MOST_CASES, _TEST)


def _broken_table(broken: Sequence[TestCase]) -> Table:
    rows: list[tuple[Cell | str, ...]] = [
        (case.id, Cell(case.status.value, Tone.BAD), _first_line(case.message))
        for case in broken[:_MOST_CASES]
    ]
    rows += [(rest, "", "") for rest in wording.and_more(len(broken) - _MOST_CASES)]
    return rows_table(("test", "status", "message"), rows)


def _first_line(message: str) -> str:
    return visible(message[: 10 * _MESSAGE].partition("\n")[0], _MESSAGE)


# --- measured conflicts ------------------------------------------------------


def details_view(details: ConflictDetails) -> View:
    """Describe measured conflicts file by file, the worst file first."""
    rows = [
        (each.path, f"{each.sections:,}", f"{each.lines:,}", f"{each.score:,}")
        for each in _worst_first(details)[:_MOST_FILES]
    ]
    header = ("file", "sections", "lines", "score")
    return View(
        title=wording.conflicts_text(details),
        tables=[rows_table(header, rows, numbers=3)],
        notes=wording.and_more(len(details.files) - _MOST_FILES, "file"),
    )


def _worst_first(details: ConflictDetails) -> list[FileConflicts]:
    return sorted(details.files, key=lambda file: (-file.score, file.path))


# --- a team ------------------------------------------------------------------


def team_report_view(report: TeamReport) -> View:
    """Describe each feature alone, and what lands under each strategy."""
    features = wording.listed(map(str, report.numbers))
    left_out = [(a.strategy, each) for a in report.attempts for each in a.left_out]
    notes = [f"{strategy}: {left_out_text(each)}" for strategy, each in left_out]
    notes += [*wording.not_run_in(report), *wording.cautions(report.warnings, report.hazards)]
    return View(
        title=f"{visible(report.repo_name, _NAME)}, task {report.task_id}, features {features}",
        lines=[_origin(report), _merges(report), *wording.agents_texts(report.agent_usage)],
        tables=[_features_table(report.features[:_MOST_ROWS]), _teams_strategies_table(report)],
        notes=wording.first(notes, _MOST_ROWS, "such note", _team_note),
    )


def _team_note(text: str) -> str:
    return visible(text, _TEAM_NOTE)


def team_attempt_view(attempt: TeamAttempt) -> View:
    """Describe each merge, each run, and why features were left out."""
    steps = [_step(each) for each in attempt.steps[:_MOST_ROWS]]
    tested = attempt.tests or attempt.landed_tests
    runs = [
        (owner_text(each), _run_cell(each.tests, each.judgement)) for each in tested[:_MOST_ROWS]
    ]
    notes = [left_out_text(each) for each in attempt.left_out]
    notes += wording.uncounted_texts(each.tests for each in tested)
    notes += wording.cautions((), attempt.hazards)
    return View(
        title=f"{visible(attempt.strategy, _NAME)}: {landed_text(attempt)}",
        lines=[f"verdict {wording.spoken(attempt.verdict)}"],
        tables=[
            rows_table(("merge", "into", "status", "conflicts"), steps),
            rows_table(("suite", "result"), runs),
        ],
        notes=wording.first(notes, _MOST_ROWS, "such note", _team_note),
    )


def team_blame_view(blame: TeamBlame) -> View:
    """Describe what is to blame, and the tests that the merge lost."""
    return View(
        title=wording.blame_text(blame),
        notes=wording.first(blame.lost, _MOST_ROWS, "suite", broken_text),
    )


def step_view(step: TeamStep) -> View:
    """Describe one merge, and the files in which it left conflicts."""
    feature, into, status, conflicts = _step(step)
    paths = tuple(dict.fromkeys(conflict.path for conflict in step.conflicts))
    notes = [f"left open in {cut_list(paths, _FEW_LOST, _NAME)}"] if paths else []
    if step.failure:
        notes.append(visible(step.failure, _REASON))
    return View(title=f"{feature} into {into}: {status} ({conflicts})", notes=notes)


def _merges(report: TeamReport) -> str:
    if report.failure is not None:
        return visible(f"not evaluated, {wording.failure_text(report.failure)}", _TEAM_NOTE)
    if report.conflict_score is None:
        return "missing input: a patch is empty or does not apply"
    status = wording.spoken(report.merge_status)
    return f"git merges the features in this order: {status}, score {report.conflict_score:,}"


def _teams_strategies_table(report: TeamReport) -> Table:
    rows: list[tuple[Cell | str, ...]] = [
        (
            visible(attempt.strategy, _NAME),
            landed_text(attempt),
            _verdict_cell(attempt),
            wording.blame_text(report.blame(attempt.strategy), attempt),
        )
        for attempt in report.attempts[:_MOST_ROWS]
    ]
    return rows_table(("strategy", "landed", "verdict", "to blame"), rows)


def landed_text(attempt: TeamAttempt) -> str:
    """Return how many features landed, and which."""
    count = len(attempt.landed) + len(attempt.left_out)
    if attempt.status is MergeStatus.NOT_TRIED and not attempt.landed:
        return f"0 of {count} landed"
    numbers = f" ({', '.join(map(str, attempt.landed))})" if attempt.landed else ""
    return f"{len(attempt.landed)} of {count} landed{numbers}"


def _step(step: TeamStep) -> tuple[str, ...]:
    left = step.conflict_details.conflict_sections if step.conflict_details else 0
    return (
        f"feature {step.feature}",
        wording.features_text(step.into),
        wording.spoken(step.status),
        f"{step.conflicts_met} met, {left} left",
    )

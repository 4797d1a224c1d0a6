"""Views of a team's report and its parts."""

from cooperbench_eval.display.records import Cell, Table, Tone, View, rows_table
from cooperbench_eval.display.visible import cut_list, visible
from cooperbench_eval.models import MergeStatus
from cooperbench_eval.reporting import Verdict
from cooperbench_eval.reporting.teams import (
    BrokenTests,
    LeftOut,
    LeftOutReason,
    SuiteRun,
    TeamAttempt,
    TeamBlame,
    TeamReport,
    TeamStep,
    TeamSuite,
)
from cooperbench_eval.views import wording
from cooperbench_eval.views.pairs import feature_row, origin_text, run_cell

__all__ = ["attempt_view", "blame_view", "report_view"]

_MOST_ROWS = 20
_FEW_TESTS = 3
_NAME = 40
_NOTE = 200
_TONES = {Verdict.CORRECT: Tone.GOOD, Verdict.NOT_RUN: Tone.PLAIN}


def report_view(report: TeamReport) -> View:
    """Describe each feature alone, and what lands under each strategy."""
    features = wording.listed(map(str, report.numbers))
    left_out = [(a.strategy, each) for a in report.attempts for each in a.left_out]
    notes = [f"{strategy}: {left_out_text(each)}" for strategy, each in left_out]
    notes += report.warnings
    header = ("feature", "patch", "its tests alone", "its tests on the base")
    return View(
        title=f"{visible(report.repo_name, _NAME)}, task {report.task_id}, features {features}",
        lines=[origin_text(report), _merge(report)],
        tables=[
            rows_table(header, [feature_row(each)[:4] for each in report.features[:_MOST_ROWS]]),
            *_strategies(report),
        ],
        notes=[
            *(visible(note, _NOTE) for note in notes[:_MOST_ROWS]),
            *wording.and_more(len(notes) - _MOST_ROWS, "such note"),
        ],
    )


def attempt_view(attempt: TeamAttempt) -> View:
    """Describe each merge, each run, and why features were left out."""
    steps = [_step(each) for each in attempt.steps[:_MOST_ROWS]]
    runs = [
        (_owner(each), run_cell(each.tests, each.judgement))
        for each in (attempt.tests or attempt.landed_tests)[:_MOST_ROWS]
    ]
    return View(
        title=f"{visible(attempt.strategy, _NAME)}: {_landed(attempt)}",
        lines=[f"verdict {wording.spoken(attempt.verdict)}"],
        tables=[
            *([rows_table(("merge", "into", "status", "conflicts"), steps)] if steps else []),
            *([rows_table(("suite", "result"), runs)] if runs else []),
        ],
        notes=[
            *(visible(left_out_text(each), _NOTE) for each in attempt.left_out[:_MOST_ROWS]),
            *wording.and_more(len(attempt.left_out) - _MOST_ROWS, "left-out feature"),
        ],
    )


def blame_view(blame: TeamBlame) -> View:
    """Describe what is to blame, and the tests that the merge lost."""
    return View(
        title=wording.blame_text(blame),
        notes=[visible(_broken_text(each), _NOTE) for each in blame.lost[:_MOST_ROWS]],
    )


def left_out_text(left_out: LeftOut) -> str:
    """Return why a feature was left out, as a clause."""
    features = wording.features_text(left_out.features)
    files = cut_list(left_out.files, _FEW_TESTS, _NAME)
    tests = "; ".join(_broken_text(each) for each in left_out.tests)
    problem = f" ({visible(left_out.problem)})" if left_out.problem else ""
    texts = {
        LeftOutReason.MISSING_INPUT: "has no usable patch",
        LeftOutReason.DUPLICATE: f"makes the same changes as {features}",
        LeftOutReason.FAILS_OWN_TESTS: "fails its own tests without the others",
        LeftOutReason.CONFLICT: f"conflicts with {features} in {files}",
        LeftOutReason.STRATEGY_FAILED: "could not be merged because the strategy failed",
        LeftOutReason.BREAKS: f"breaks {tests}",
        LeftOutReason.NOT_EXAMINED: "was not examined",
    }
    return f"feature {left_out.number} {texts[left_out.reason]}{problem}"


def _merge(report: TeamReport) -> str:
    if report.failure is not None:
        return visible(f"not evaluated, {wording.failure_text(report.failure)}", _NOTE)
    if report.conflict_score is None:
        return "missing input: a patch is empty or does not apply"
    status = wording.spoken(report.merge_status)
    return f"git merges the features in this order: {status}, score {report.conflict_score:,}"


def _strategies(report: TeamReport) -> list[Table]:
    rows: list[tuple[Cell | str, ...]] = [
        (
            visible(attempt.strategy, _NAME),
            _landed(attempt),
            Cell(wording.spoken(attempt.verdict), _TONES.get(attempt.verdict, Tone.BAD)),
            wording.blame_text(report.blame(attempt.strategy)),
        )
        for attempt in report.attempts[:_MOST_ROWS]
    ]
    return [rows_table(("strategy", "landed", "verdict", "to blame"), rows)] if rows else []


def _landed(attempt: TeamAttempt) -> str:
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


def _owner(run: SuiteRun | BrokenTests) -> str:
    owners = {
        TeamSuite.FEATURE: f"feature {run.feature}",
        TeamSuite.JOINT: "all features together",
        TeamSuite.REGRESSION: "the repository",
    }
    return owners[run.suite]


def _broken_text(broken: BrokenTests) -> str:
    if not broken.tests:
        return f"the tests of {_owner(broken)}"
    tests = wording.counted(len(broken.tests), "test")
    return f"{tests} of {_owner(broken)}: {cut_list(broken.tests, _FEW_TESTS, _NAME)}"

"""Views of a team's report and its parts."""

from cooperbench_eval.git.merging.conflicts import MergeStatus
from cooperbench_eval.presentation.views import wording
from cooperbench_eval.presentation.views.pairs import feature_row, origin_text, run_cell
from cooperbench_eval.reporting import Verdict
from cooperbench_eval.reporting.landings import (
    BrokenTests,
    LeftOut,
    LeftOutReason,
    SuiteRun,
    TeamSuite,
)
from cooperbench_eval.reporting.teams import TeamAttempt, TeamBlame, TeamReport, TeamStep
from cooperbench_eval.support.rendering.view import Cell, Table, Tone, View, rows_table
from cooperbench_eval.support.rendering.visible import cut_list, visible

__all__ = [
    "attempt_view",
    "blame_view",
    "landed_text",
    "left_out_text",
    "left_out_view",
    "owner_text",
    "report_view",
    "step_view",
]

_MOST_ROWS = 20
_FEW_TESTS = 3
_FEW_SUITES = 2
_PROBLEM = 100
_NAME = 40
_NOTE = 500
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
        lines=[origin_text(report), _merge(report), *wording.agents_texts(report.agent_usage)],
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
        (owner_text(each), run_cell(each.tests, each.judgement))
        for each in (attempt.tests or attempt.landed_tests)[:_MOST_ROWS]
    ]
    return View(
        title=f"{visible(attempt.strategy, _NAME)}: {landed_text(attempt)}",
        lines=[f"verdict {wording.spoken(attempt.verdict)}"],
        tables=[
            *([rows_table(("merge", "into", "status", "conflicts"), steps)] if steps else []),
            *([rows_table(("suite", "result"), runs)] if runs else []),
        ],
        notes=[
            *map(left_out_text, attempt.left_out[:_MOST_ROWS]),
            *wording.and_more(len(attempt.left_out) - _MOST_ROWS, "left-out feature"),
        ],
    )


def blame_view(blame: TeamBlame) -> View:
    """Describe what is to blame, and the tests that the merge lost."""
    return View(
        title=wording.blame_text(blame),
        notes=[
            *map(_broken_text, blame.lost[:_MOST_ROWS]),
            *wording.and_more(len(blame.lost) - _MOST_ROWS, "suite"),
        ],
    )


def left_out_view(left_out: LeftOut) -> View:
    """Describe why a feature was left out."""
    return View(title=left_out_text(left_out))


def step_view(step: TeamStep) -> View:
    """Describe one merge, and the files in which it left conflicts."""
    feature, into, status, conflicts = _step(step)
    paths = tuple(dict.fromkeys(conflict.path for conflict in step.conflicts))
    notes = [f"left open in {cut_list(paths, _FEW_TESTS, _NAME)}"] if paths else []
    if step.failure:
        notes.append(visible(step.failure, _PROBLEM))
    return View(title=f"{feature} into {into}: {status} ({conflicts})", notes=notes)


def left_out_text(left_out: LeftOut, *, named: bool = True) -> str:
    """Return why a feature was left out, as a clause; *named* adds some names of tests."""
    features = wording.features_text(left_out.features) if left_out.features else "the base"
    files = cut_list(left_out.files, _FEW_TESTS, _NAME)
    broken = [_broken_text(each, named=named) for each in left_out.tests[:_FEW_SUITES]]
    broken += wording.and_more(len(left_out.tests) - _FEW_SUITES, "suite")
    tests = "; ".join(broken) or "tests"
    problem = f" ({visible(left_out.problem, _PROBLEM)})" if left_out.problem else ""
    texts = {
        LeftOutReason.MISSING_INPUT: "has no usable patch",
        LeftOutReason.DUPLICATE: f"makes the same changes as {features}",
        LeftOutReason.FAILS_OWN_TESTS: "fails its own tests without the others",
        LeftOutReason.CONFLICT: f"conflicts with {features} in {files}",
        LeftOutReason.STRATEGY_FAILED: "could not be merged because the strategy failed",
        LeftOutReason.BREAKS: f"breaks {tests}",
        LeftOutReason.NOT_EXAMINED: "was not examined",
    }
    # Only a list of very many features is cut here.
    return visible(f"feature {left_out.number} {texts[left_out.reason]}{problem}", _NOTE)


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
            landed_text(attempt),
            Cell(wording.spoken(attempt.verdict), _TONES.get(attempt.verdict, Tone.BAD)),
            wording.blame_text(report.blame(attempt.strategy)),
        )
        for attempt in report.attempts[:_MOST_ROWS]
    ]
    return [rows_table(("strategy", "landed", "verdict", "to blame"), rows)] if rows else []


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


def owner_text(run: SuiteRun | BrokenTests) -> str:
    """Return whose tests a suite of a team has."""
    owners = {
        TeamSuite.FEATURE: f"feature {run.feature}",
        TeamSuite.JOINT: "all features together",
        TeamSuite.REGRESSION: "the repository",
    }
    return owners[run.suite]


def _broken_text(broken: BrokenTests, *, named: bool = True) -> str:
    if not broken.tests:
        return f"the tests of {owner_text(broken)}"
    tests = f"{wording.counted(len(broken.tests), 'test')} of {owner_text(broken)}"
    return f"{tests}: {_test_names(broken.tests)}" if named else tests


def _test_names(names: tuple[str, ...]) -> str:
    """Return the first names; of a long one the end, in which tests differ."""
    shown = [name if len(name) <= _NAME else f"…{name[1 - _NAME :]}" for name in names[:_FEW_TESTS]]
    # An escape takes more room than its character.
    text = ", ".join(visible(name, 2 * _NAME) for name in shown)
    return " ".join([text, *wording.and_more(len(names) - _FEW_TESTS)])

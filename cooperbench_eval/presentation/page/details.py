"""The data that the page shows when a pair or a team is opened."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cooperbench_eval.git.merging.conflicts import Conflict, ConflictDetails, LedgerRow
from cooperbench_eval.presentation.page.diffs import diff_files
from cooperbench_eval.presentation.page.embedding import Texts, cut
from cooperbench_eval.presentation.page.index import JudgedAttempt, JudgedTeam
from cooperbench_eval.presentation.page.losses import losses_of
from cooperbench_eval.presentation.page.margins import Margins
from cooperbench_eval.presentation.views import wording
from cooperbench_eval.presentation.views.plans import left_out_text, owner_text
from cooperbench_eval.presentation.views.reports import landed_text
from cooperbench_eval.reporting import Attempt, FeatureReport, MergeReport
from cooperbench_eval.reporting.explanation import Explanation
from cooperbench_eval.reporting.landings import BrokenTests, LeftOutReason
from cooperbench_eval.reporting.resolutions import ConflictResolution
from cooperbench_eval.reporting.rows import MergeRow
from cooperbench_eval.reporting.teams import GroupReport, TeamAttempt, TeamReport, TeamStep
from cooperbench_eval.running.results import (
    Judgement,
    TestCase,
    TestCaseStatus,
    TestResult,
    outcome_of,
)

_MOST_NAMES = 200  # conflicts, tests or files in a list
_MOST_MESSAGES = 10
_MOST_MESSAGE = 300
_Json = dict[str, Any]
_Judged = JudgedAttempt | JudgedTeam

_FINE = frozenset({TestCaseStatus.PASSED, TestCaseStatus.SKIPPED, TestCaseStatus.XFAILED})
_APART = {
    LeftOutReason.CONFLICT: ("unhandled", "conflict"),
    LeftOutReason.BREAKS: ("incorrect", "breaks tests"),
    LeftOutReason.STRATEGY_FAILED: ("unhandled", "strategy failed"),
    LeftOutReason.DUPLICATE: ("not_run", "same changes"),
}
_TOGETHER = ("correct", "land together")
_NOT_KNOWN = ("not_run", "not known")
_NO_ORIGINS = "Against the base, so it has the changes of the features merged before, too."


def details_of(
    report: GroupReport,
    judged: Sequence[_Judged],
    text_limit: int,
    explanations: Iterable[Explanation] = (),
) -> _Json:
    """Return everything that the page shows about a pair or team; *text_limit* is in bytes."""
    texts = Texts(text_limit)
    pairs = [each for each in judged if isinstance(each, JudgedAttempt)]
    diffs = [each.patch.diff for each in report.features]
    return {
        "kind": "team" if isinstance(report, TeamReport) else "pair",
        "title": wording.title_text(cut(report.repo_name), report),
        "facts": {name: cut(value) for name, value in _facts(report).items() if value},
        "features": [_feature(each) for each in report.features],
        "warnings": _some(report.warnings),
        "suites": wording.suite_titles(report),
        "attempts": [_attempt(report, each) for each in judged],
        "together": _together(report) if isinstance(report, TeamReport) else [],
        "losses": losses_of(report, pairs, texts) if isinstance(report, MergeReport) else [],
        "sides": [sides for *sides, _ in _merges_of(report)],
        "conflicts": list(_conflicts(report, texts)),
        "more_conflicts": sum(max(len(each) - _MOST_NAMES, 0) for *_, each in _merges_of(report)),
        "explanations": [_explanation(each, texts) for each in explanations],
        "patches": [None if each is None else diff_files(each, texts) for each in diffs],
        "merges": list(_merges(report, texts)),
        "texts": texts.kept,
    }


def _facts(report: GroupReport) -> dict[str, str | None]:
    failure, status = report.failure, wording.spoken(report.merge_status)
    status = f"{status}, {wording.failure_text(failure)}" if failure else status
    if isinstance(report, TeamReport):
        score = report.conflict_score
        own = {
            "git's merges in this order": status,
            "conflicts": None if score is None else f"score {score:,}",
        }
    else:
        details = report.conflict_details
        own = {"merge": status, "conflicts": None if details is None else _measured(details)}
    return {
        **own,
        "without a result": None if failure else report.problem,
        "model": report.model,
        "setting": report.setting,
        "try": str(report.k),
        "evaluated": report.timestamp.isoformat(" ", "seconds"),
        "base commit": report.base_commit,
        "base tree": report.base_tree_id,
        "versions": ", ".join(f"{name} {value}" for name, value in report.versions.items()),
    }


def _measured(details: ConflictDetails) -> str:
    return wording.conflicts_text(details) if details.conflict_sections else "none"


# --- features and strategies -------------------------------------------------


def _feature(feature: FeatureReport) -> _Json:
    patch = feature.patch
    return {
        "number": feature.number,
        "patch": cut(wording.patch_text(patch)),
        "usable": patch.is_usable,
        "files": {
            words: _some(names)
            for words, names in (
                ("test files taken out of it", patch.dropped_files),
                ("files that steer test runs", patch.touched_runner_control),
                ("files that name a test framework", patch.names_test_framework),
            )
            if names
        },
        "alone": _run(feature.tests, feature.judgement),
        "base": _run(feature.base_tests),
        "further": [
            [title, _run(*run)]
            for title, *run in (
                ("The other's tests alone", feature.other_tests),
                ("The joint tests alone", feature.joint_tests),
                (
                    "The repository's tests alone",
                    feature.regression_tests,
                    feature.regression_judgement,
                ),
            )
        ],
    }


def _run(run: TestResult | None, judgement: Judgement | None = None) -> _Json:
    if run is None:
        return {"text": "not run", "passed": None}
    failed = [case for case in run.cases if case.status not in _FINE]
    notes = list(wording.run_notes(run, _listed))
    if judgement is not None:
        notes += wording.judgement_notes(judgement, _listed)
    return {
        "text": cut(wording.judged_text(run, judgement, in_full=True)),
        "passed": outcome_of(run, judgement),
        "beside": [cut(note) for note in notes],
        "failed": [_case(case, i) for i, case in enumerate(failed[:_MOST_NAMES])],
        "more": max(len(failed) - _MOST_NAMES, 0),
    }


def _listed(names: Sequence[str]) -> str:
    return ", ".join(_some(names)["names"])


def _case(case: TestCase, place: int) -> list[str]:
    """Return how a case ended, with its message if it is one of the first few; many fail alike."""
    message = cut(case.message, _MOST_MESSAGE) if place < _MOST_MESSAGES else ""
    return [cut(case.id), wording.spoken(case.status), message]


def _attempt(report: GroupReport, judged: _Judged) -> _Json:
    attempt = judged.attempt
    merges = attempt.steps if isinstance(attempt, TeamAttempt) else (attempt,)
    ledger = [row for each in merges for row in each.ledger if _said(row)]
    return {
        "strategy": cut(attempt.strategy),
        "implementation": cut(attempt.implementation),
        "status": wording.spoken(attempt.status),
        "answer": judged.answer,
        "blame": wording.blame_text(judged.blame, attempt),
        "service_failed": attempt.service_failed,
        "seconds": round(sum(each.duration_seconds for each in merges), 3),
        "runs": [_run(*run) for run in wording.merged_runs(report, attempt)],
        **(_landing(judged) if isinstance(judged, JudgedTeam) else _merging(judged)),
        "hazards": [
            [cut(wording.place_text(each)), cut(each.message)]
            for each in attempt.hazards[:_MOST_NAMES]
        ],
        "ledger": [_row(row) for row in ledger[:_MOST_NAMES]],
        "more_ledger": max(len(ledger) - _MOST_NAMES, 0),
    }


def _merging(judged: JudgedAttempt) -> _Json:
    attempt = judged.attempt
    left = attempt.conflict_details
    return {
        "lost": [{"owner": each.owner, **_some(each.names)} for each in judged.lost],
        "failure": cut(attempt.failure),
        "met": attempt.conflicts_met,
        "left": None if left is None else left.conflict_sections,
        "usage": _usage(attempt),
    }


def _usage(merge: MergeRow) -> list[str]:
    return [wording.usage_text(usage, cut(usage.model)) for usage in merge.usage]


def _landing(judged: JudgedTeam) -> _Json:
    attempt = judged.attempt
    return {
        "lost": _broken(judged.blame.lost),
        "landed": landed_text(attempt),
        "left_out": [
            [left_out_text(each, named=False), _broken(each.tests)] for each in attempt.left_out
        ],
        "landed_runs": [
            [owner_text(each), _run(each.tests, each.judgement)] for each in attempt.landed_tests
        ],
        "steps": [_step(each) for each in attempt.steps],
    }


def _broken(suites: Iterable[BrokenTests]) -> list[_Json]:
    return [{"owner": owner_text(each), **_some(each.tests)} for each in suites if each.tests]


def _step(step: TeamStep) -> list[Any]:
    """Return a merge's name, how it ended, what is to say about it, and its conflicts."""
    left = 0 if step.conflict_details is None else step.conflict_details.conflict_sections
    return [
        _step_text(step),
        wording.spoken(step.status),
        [*filter(None, [cut(step.failure)]), *_usage(step)],
        f"{step.conflicts_met:,} met, {left:,} left",
    ]


def _step_text(step: TeamStep) -> str:
    return f"feature {step.feature} into {wording.features_text(step.into)}"


def _together(report: TeamReport) -> list[list[_Json]]:
    """Return for each feature but the first how it lands with each of those before it."""
    numbers = report.numbers
    return [
        [_cell(report.attempts, {earlier, later}) for earlier in numbers[:place]]
        for place, later in enumerate(numbers)
        if place
    ]


def _cell(attempts: Sequence[TeamAttempt], both: set[int]) -> _Json:
    """Return each way in which two features end, with its strategies, and the reasons.

    A reason is given by its places: the strategy's row, and its feature that was left out.
    """
    ways: dict[tuple[str, str], list[str]] = {}
    why: list[tuple[int, int]] = []
    for row, attempt in enumerate(attempts):
        way = _TOGETHER if both <= {*attempt.landed} else _NOT_KNOWN
        for place, each in enumerate(attempt.left_out):
            if each.number in both and both - {each.number} <= {*each.features}:
                way = _APART.get(each.reason, ("not_run", wording.spoken(each.reason)))
                why.append((row, place))
                break
        ways.setdefault(way, []).append(cut(attempt.strategy))
    return {"ways": [[*way, ", ".join(names)] for way, names in ways.items()], "why": why}


def _row(row: LedgerRow) -> list[str]:
    """Return a conflict's path and line, what either side did, and what the strategy did."""
    line = "" if row.line is None else str(row.line)
    return [cut(row.path), line, cut(row.shape), cut(_said(row))]


def _said(row: LedgerRow) -> str:
    """Return what the strategy reported about a conflict.

    The rule `answer` is left out: `resolve_conflicts` writes it for any function, so it
    says nothing about this conflict.
    """
    if row.rule == "answer" and not row.strategy:
        return ""
    who = f"{row.strategy}: " if row.strategy else ""
    words = [f"{who}{row.rule}" if row.rule else f"left open: {row.reason}"]
    sides = (("ours", row.ours_kept), ("theirs", row.theirs_kept))
    kept = [f"{share:.0%} of what {side} added" for side, share in sides if share is not None]
    if kept:
        words.append(f"keeps {' and '.join(kept)}")
    if row.attempts is not None:
        words.append(f"asked {wording.counted(row.attempts, 'time')}")
    if row.invented_lines:
        words.append(f"{wording.counted(row.invented_lines, 'line')} in no version")
    if row.conflicts > 1:
        words.append(f"{row.conflicts} conflicts together")
    return ", ".join(words)


# --- conflicts ---------------------------------------------------------------


_Merge = tuple[str, str, str, Sequence[Conflict]]
"""A merge's name, which is empty for a pair, ours, theirs, and the conflicts."""


def _merges_of(report: GroupReport) -> list[_Merge]:
    """Return git's merge of a pair, or each strategy's merges of a team."""
    if isinstance(report, MergeReport):
        theirs, ours = (f"feature {number}" for number in report.numbers)
        return [("", ours, theirs, report.conflicts)]
    return [
        (name, wording.features_text(step.into), f"feature {step.feature}", step.conflicts)
        for name, step in _rows(report)
        if isinstance(step, TeamStep)
    ]


def _rows(report: GroupReport) -> Iterator[tuple[str, Attempt | TeamStep]]:
    for attempt in report.attempts:
        if isinstance(attempt, Attempt):
            yield cut(attempt.strategy), attempt
        else:
            for step in attempt.steps:
                yield f"{cut(attempt.strategy)}, {_step_text(step)}", step


def _conflicts(report: GroupReport, texts: Texts) -> Iterator[_Json]:
    resolutions: list[Sequence[ConflictResolution]] = []
    if isinstance(report, MergeReport):
        resolutions = [report.resolutions(attempt.strategy) for attempt in report.attempts]
    for number, (*_, conflicts) in enumerate(_merges_of(report)):
        for i, conflict in enumerate(conflicts[:_MOST_NAMES]):
            yield {
                "of": number,
                "path": cut(conflict.path),
                "line": conflict.line,
                "kind": conflict.kind.value,
                "base": texts.add(conflict.base),
                "ours": texts.add(conflict.ours),
                "theirs": texts.add(conflict.theirs),
                "answers": [_resolution(each[i], texts) for each in resolutions],
            }


def _resolution(found: ConflictResolution, texts: Texts) -> _Json:
    return {
        "kind": found.kind.value,
        "text": texts.add(found.text),
        "together": [place + 1 for place in found.together] if len(found.together) > 1 else [],
        "before": found.lines_before,
        "after": found.lines_after,
        "exact": found.is_exact,
        "reason": found.reason,
        "said": "" if found.ledger is None else cut(_said(found.ledger)),
    }


# --- diffs ------------------------------------------------------------------


def _merges(report: GroupReport, texts: Texts) -> Iterator[_Json]:
    """Yield the merged trees as diffs, each with the strategies or their merges that gave it.

    Each hunk of a pair's has the origins of its changed lines, if they are known; those of the
    hunk before it are not repeated.
    """
    found: dict[bytes, list[tuple[str, MergeRow]]] = {}
    for name, row in _rows(report):
        if row.diff is not None:
            found.setdefault(row.diff, []).append((name, row))
    margins = Margins(report) if isinstance(report, MergeReport) else None
    for diff, rows in found.items():
        shown = diff_files(diff, texts)
        origins = margins.of(diff, [row for _, row in rows]) if margins else None
        margin, problem = origins or ((), _NO_ORIGINS)
        for file, runs_of in zip(shown["files"], margin, strict=False):
            before = None
            for hunk, runs in zip(file["hunks"], runs_of, strict=False):
                if runs != before:
                    hunk.append(runs)
                before = runs
        yield {"strategies": [name for name, _ in rows], "problem": problem, **shown}


# --- explanations ------------------------------------------------------------


def _explanation(explanation: Explanation, texts: Texts) -> _Json:
    hunks = (*explanation.feature1_hunks, *explanation.feature2_hunks)
    return {
        "title": wording.explanation_text(cut(explanation.strategy), explanation),
        "about": [
            *(wording.finding_text(finding) for finding in explanation.findings),
            *filter(None, [cut(explanation.reason)]),
        ],
        "hunks": [
            [
                hunk.feature,
                wording.hunk_text(hunk, cut(hunk.path), is_sure=explanation.is_minimal),
                texts.add(hunk.text.encode("utf-8", "surrogateescape")),
            ]
            for hunk in hunks[:_MOST_NAMES]
        ],
        "more": max(len(hunks) - _MOST_NAMES, 0),
    }


# --- short texts -------------------------------------------------------------


def _some(names: Sequence[str]) -> _Json:
    shown = [cut(name) for name in names[:_MOST_NAMES]]
    return {"names": shown, "more": len(names) - len(shown)}

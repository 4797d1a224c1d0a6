"""The data that the page shows when a pair is opened."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cooperbench_eval.git.merging.conflicts import ConflictDetails, LedgerRow
from cooperbench_eval.presentation.page.diffs import diff_files
from cooperbench_eval.presentation.page.embedding import Texts, cut
from cooperbench_eval.presentation.page.index import JudgedAttempt
from cooperbench_eval.presentation.page.losses import losses_of
from cooperbench_eval.presentation.page.margins import Margins
from cooperbench_eval.presentation.views import wording
from cooperbench_eval.reporting import Attempt, FeatureReport, MergeReport, PatchReport
from cooperbench_eval.reporting.explanation import Explanation
from cooperbench_eval.reporting.resolutions import ConflictResolution
from cooperbench_eval.running.results import (
    Judgement,
    TestCase,
    TestCaseStatus,
    TestResult,
    outcome_of,
)

MOST_NAMES = 200
"""How many conflicts, tests or files a list has at most."""
_MOST_MESSAGES = 10
_MOST_MESSAGE = 300
_Json = dict[str, Any]

_FINE = frozenset({TestCaseStatus.PASSED, TestCaseStatus.SKIPPED, TestCaseStatus.XFAILED})


def details_of(
    report: MergeReport,
    judged: Sequence[JudgedAttempt],
    text_limit: int,
    explanations: Iterable[Explanation] = (),
) -> _Json:
    """Return everything that the page shows about a pair; *text_limit* is in bytes."""
    texts = Texts(text_limit)
    return {
        "title": wording.title_text(cut(report.repo_name), report),
        "facts": {name: cut(value) for name, value in _facts(report).items() if value},
        "features": [_feature(each) for each in report.features],
        "warnings": _some(report.warnings),
        "suites": wording.suite_titles(report),
        "attempts": [_attempt(report, each) for each in judged],
        "losses": losses_of(report, judged, texts),
        "conflicts": list(_conflicts(report, texts)),
        "more_conflicts": max(len(report.conflicts) - MOST_NAMES, 0),
        "explanations": [_explanation(each, texts) for each in explanations],
        "patches": [_patch(each.patch, texts) for each in report.features],
        "merges": list(_merges(report, texts)),
        "texts": texts.kept,
    }


def _facts(report: MergeReport) -> dict[str, str | None]:
    failure, details = report.failure, report.conflict_details
    status = wording.spoken(report.merge_status)
    return {
        "merge": f"{status}, {wording.failure_text(failure)}" if failure else status,
        "conflicts": None if details is None else _measured(details),
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
        "text": wording.judged_text(run, judgement, in_full=True),
        "passed": outcome_of(run, judgement),
        "beside": [cut(note) for note in notes],
        "failed": [_case(case, i) for i, case in enumerate(failed[:MOST_NAMES])],
        "more": max(len(failed) - MOST_NAMES, 0),
    }


def _listed(names: Sequence[str]) -> str:
    return ", ".join(_some(names)["names"])


def _case(case: TestCase, place: int) -> list[str]:
    """Return how a case ended, with its message if it is one of the first few.

    Many cases often fail for the same reason.
    """
    message = cut(case.message, _MOST_MESSAGE) if place < _MOST_MESSAGES else ""
    return [cut(case.id), wording.spoken(case.status), message]


def _attempt(report: MergeReport, judged: JudgedAttempt) -> _Json:
    attempt, answer, blame = judged
    left = attempt.conflict_details
    ledger = [row for row in attempt.ledger if _said(row)]
    return {
        "strategy": cut(attempt.strategy),
        "implementation": cut(attempt.implementation),
        "status": wording.spoken(attempt.status),
        "answer": answer,
        "blame": wording.blame_text(blame, attempt),
        "failure": cut(attempt.failure),
        "service_failed": attempt.service_failed,
        "met": attempt.conflicts_met,
        "left": None if left is None else left.conflict_sections,
        "seconds": round(attempt.duration_seconds, 3),
        "usage": [wording.usage_text(usage, cut(usage.model)) for usage in attempt.usage],
        "lost": [
            {"owner": lost.owner, **_some(lost.names)} for lost in wording.lost_tests(report, blame)
        ],
        "runs": [_run(*run) for run in wording.merged_runs(report, attempt)],
        "hazards": [
            [cut(wording.place_text(each)), cut(each.message)]
            for each in attempt.hazards[:MOST_NAMES]
        ],
        "ledger": [_row(row) for row in ledger[:MOST_NAMES]],
        "more_ledger": max(len(ledger) - MOST_NAMES, 0),
    }


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


def _conflicts(report: MergeReport, texts: Texts) -> Iterator[_Json]:
    resolutions = [report.resolutions(attempt.strategy) for attempt in report.attempts]
    for i, conflict in enumerate(report.conflicts[:MOST_NAMES]):
        yield {
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


def _patch(patch: PatchReport, texts: Texts) -> _Json | None:
    """Return a patch as it was applied; `None` if the report does not have it."""
    return None if patch.diff is None else diff_files(patch.diff, texts)


def _merges(report: MergeReport, texts: Texts) -> Iterator[_Json]:
    """Yield the merged trees as diffs, each with the strategies that returned it.

    Each hunk has the origins of its changed lines, if they are known; those of the hunk before it
    are not repeated.
    """
    found: dict[bytes, list[Attempt]] = {}
    for attempt in report.attempts:
        if attempt.diff is not None:
            found.setdefault(attempt.diff, []).append(attempt)
    margins = Margins(report)
    for diff, attempts in found.items():
        shown = diff_files(diff, texts)
        margin, problem = margins.of(diff, attempts)
        for file, origins in zip(shown["files"], margin, strict=False):
            before = None
            for hunk, runs in zip(file["hunks"], origins, strict=False):
                if runs != before:
                    hunk.append(runs)
                before = runs
        strategies = [cut(each.strategy) for each in attempts]
        yield {"strategies": strategies, "problem": problem, **shown}


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
            for hunk in hunks[:MOST_NAMES]
        ],
        "more": max(len(hunks) - MOST_NAMES, 0),
    }


# --- short texts -------------------------------------------------------------


def _some(names: Sequence[str]) -> _Json:
    shown = [cut(name) for name in names[:MOST_NAMES]]
    return {"names": shown, "more": len(names) - len(shown)}

"""Rewards: what a pair, a team or a merged tree achieved, as plain numbers."""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import fmean

from cooperbench_eval.analysis.policies import Policy, find_policies
from cooperbench_eval.errors import ReportError
from cooperbench_eval.git.merging.conflicts import MergeStatus
from cooperbench_eval.reporting.agent_costs import AGENT_USAGE
from cooperbench_eval.reporting.audits import Audit, Fate
from cooperbench_eval.reporting.identity import PairId
from cooperbench_eval.reporting.landings import TeamSuite
from cooperbench_eval.reporting.rows import Attempt, Verdict, was_run
from cooperbench_eval.reporting.teams import GroupReport, TeamAttempt, TeamReport
from cooperbench_eval.running.results import TestResult, count_cases
from cooperbench_eval.support.arguments import checked
from cooperbench_eval.support.staging import staged

_FILE = "reward.json"
_COMPLETE = frozenset({MergeStatus.CLEAN, MergeStatus.RESOLVED})
_Row = Attempt | TeamAttempt
_Graded = Iterator[tuple[str, float | None]]


@checked
def write_reward(
    report: GroupReport | Audit, path: str | os.PathLike[str], *, policy: str | Policy = "strict"
) -> Path:
    """Write the reward of a report as JSON: one object, whose values are numbers.

    Harbor reads such a file from `/logs/verifier/reward.json`. The file appears complete or not
    at all. If the report has no answer, nothing is written: Harbor then records an error for the
    trial, and no reward. A file that is already there stays in that case, so remove it first if
    an agent could have written it. Harbor does so.

    Args:
        report: The report, or an audit.
        path: The file, or a directory, in which the file is called `reward.json`. A path that
            does not exist is a file if its name has a suffix, and a directory otherwise.
            Directories are created if they are missing. A file `.txt` gets only the reward itself,
            because Harbor reads one number from `reward.txt`.
        policy: As in `MergeReport.reward`. An audit has no use for it.

    Returns:
        The file.

    Raises:
        AnalysisError: No policy has this name.
        ReportError: The report has no answer, or the file cannot be written.
    """
    reward = reward_of_audit(report) if isinstance(report, Audit) else reward_of(report, policy)
    if isinstance(report, Audit) and "reward" not in reward:
        raise ReportError(f"has no answer: {report.problem}", report.tree_id)
    target = Path(path)
    if target.is_dir() or not target.suffix:
        target /= _FILE
    text = json.dumps(reward, allow_nan=False, indent=2) + "\n"
    if target.suffix == ".txt":  # Harbor reads a single number from it
        text = f"{reward['reward']}\n"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with staged(target) as part:
            part.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else exc
        raise ReportError(f"cannot be written ({reason})", str(target)) from exc
    return target


@checked
def reward_of(report: GroupReport, policy: str | Policy = "strict") -> dict[str, float]:
    """Return what a report achieved under a policy, as in `MergeReport.reward`."""
    (judge,) = find_policies(policy)
    found = judge.judge(report)
    if found.verdict is Verdict.NOT_RUN and not found.is_missing_input:
        problem = f"has no answer under the policy {judge.name!r}: {_why_unanswered(report, judge)}"
        raise ReportError(problem, str(PairId.of(report)))
    rows = {each.strategy: each for each in report.attempts}
    deciding = (found.by,) if found.by else judge.strategies
    row = next((rows[name] for name in deciding if name in rows), None)
    reward = float(found.verdict is Verdict.CORRECT)
    usage = report.agent_usage
    costs = ((f"agent_{name}", getattr(usage, name)) for name in AGENT_USAGE)
    graded = (*_graded(report, row), *costs)
    return {"reward": reward} | {name: value for name, value in graded if value is not None}


def reward_of_audit(audit: Audit) -> dict[str, float]:
    """Return how good a merged tree is, as in `Audit.reward`."""
    outcomes = [run.outcome for run in audit.suites]
    if not outcomes:
        raise ReportError("has no answer: no suites were given", audit.tree_id)
    has_failed = bool(audit.missing or audit.rejected) or False in outcomes
    reward = float(not has_failed) if has_failed or None not in outcomes else None
    graded = (
        *(("reward", reward), ("score", audit.score)),
        *_of_suites(audit),
        *_of_lines(audit),
    )
    return {name: value for name, value in graded if value is not None}


def _of_suites(audit: Audit) -> _Graded:
    names = (
        (TeamSuite.FEATURE, "features_passed"),
        (TeamSuite.JOINT, "joint_passed"),
        (TeamSuite.REGRESSION, "regression_passed"),
    )
    for kind, name in names:
        yield name, _share(run.outcome for run in audit.suites if run.suite is kind)
    yield "pass_rate", _pass_rate(*(run.tests for run in audit.suites))


def _of_lines(audit: Audit) -> _Graded:
    if audit.rejected:  # what became of their work is not known
        return
    total = sum(file.added_lines() for file in audit.files)
    fates = Fate.KEPT, Fate.MOVED
    kept = sum(file.added_lines(fate) for file in audit.files for fate in fates)
    yield "complete", float(audit.is_complete)
    yield "kept_lines", kept / total if total else None
    yield "lost_lines", sum(file.added_lines(Fate.LOST) for file in audit.files)
    yield "undone_lines", sum(file.removed_lines(Fate.LOST) for file in audit.files)
    yield "foreign_lines", sum(lines.count for lines in audit.foreign)


def _why_unanswered(report: GroupReport, policy: Policy) -> str:
    if report.failure is not None:
        return report.problem
    rows = {each.strategy: each for each in report.attempts}
    for name in policy.strategies:
        if name not in rows:
            return f"the report has no row of the strategy {name!r}"
        row = rows[name]
        if row.service_failed:
            return f"a service that the strategy {name!r} needs failed"
    return report.problem or "the tests that would decide were not run"


def _graded(report: GroupReport, row: _Row | None) -> _Graded:
    """Yield numbers beside the reward; `None` for what is not known."""
    yield "conflict_score", report.conflict_score
    alone = [each.is_right for each in report.features]
    if isinstance(report, TeamReport):
        yield "features_alone", _share(alone)
    else:
        if report.conflict_details is not None:
            yield "conflict_sections", report.conflict_details.conflict_sections
            yield "conflict_lines", report.conflict_details.conflict_lines
        yield from _numbered("alone", alone)
    if row is not None:
        yield "merged", float(row.status in _COMPLETE)
        yield from _of_row(row)


def _of_row(row: _Row) -> _Graded:
    own = [each.outcome for each in row.own_runs]
    runs = [run for run, _ in row.own_runs if was_run(run)]
    if isinstance(row, TeamAttempt):
        yield "landed", row.score
        yield "features_passed", _share(own)
    else:
        yield from _numbered("passed", own)
        yield from _numbered("pass_rate", (_pass_rate(run) for run, _ in row.own_runs))
    yield "pass_rate", _pass_rate(*runs)
    yield "joint_passed", _flag(row.joint_run.outcome)
    yield "regression_passed", _flag(row.regression_run.outcome)


def _numbered(name: str, values: Iterable[float | None]) -> _Graded:
    for place, value in enumerate(values, start=1):
        yield f"feature{place}_{name}", _flag(value)


def _share(outcomes: Iterable[bool | None]) -> float | None:
    """Return the share that is true; `None` if one is not known."""
    found = list(outcomes)
    return fmean(map(bool, found)) if found and None not in found else None


def _pass_rate(*runs: TestResult | None) -> float | None:
    """Return the share of passed cases in all *runs*; `None` if one of them has no cases.

    It may have timed out, and the cases of the others would say too much.
    """
    counts = [count_cases(run.cases) for run in runs if was_run(run)]
    if not all(each.total_tests for each in counts):
        return None
    total = sum(each.total_tests for each in counts)
    return sum(each.passed_tests for each in counts) / total if total else None


def _flag(value: float | None) -> float | None:
    return None if value is None else float(value)

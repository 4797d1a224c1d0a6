"""Checks that the derived facts in a report's JSON agree with the rest of it.

This library derives these facts again when it reads a report. Other programs read them
from the file. If the file contradicted itself, they would see other facts than this
library.
"""

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NoReturn

from cooperbench_eval.errors import ReportError
from cooperbench_eval.git.merging.conflicts import Conflict, ConflictDetails, MergeStatus
from cooperbench_eval.reporting.agent_costs import AGENT_USAGE
from cooperbench_eval.reporting.blame import MERGE_BROKE, BlameKind
from cooperbench_eval.reporting.options import UsedOptions
from cooperbench_eval.reporting.rows import RUNS, FeatureReport, Verdict
from cooperbench_eval.reporting.scoring import ConflictScorer
from cooperbench_eval.running.results import COUNTS, TestResult, count_cases

_Json = Mapping[str, Any]

_RELATIVE: Final = 1e-8
_ABSOLUTE: Final = 1e-9
"""Tolerances for fractions: other writers may print fewer digits, but need nine."""

_KINDS: Final = frozenset(BlameKind)
_BLAMED: Final = {
    Verdict.CORRECT: {BlameKind.BROKEN_ALONE, BlameKind.NOBODY},
    Verdict.INCORRECT: {
        *(BlameKind.BROKEN_ALONE, BlameKind.REGRESSED_ALONE, BlameKind.UNKNOWN),
        *(BlameKind.MERGE_BROKE_JOINT, BlameKind.MERGE_BROKE_REGRESSION),
        *(BlameKind.MERGE_BROKE_FEATURES, *MERGE_BROKE.values()),
    },
    Verdict.UNHANDLED: {BlameKind.BROKEN_ALONE, BlameKind.CONFLICT},
    Verdict.NOT_RUN: {BlameKind.BROKEN_ALONE, BlameKind.UNKNOWN},
}
"""The kinds of blame that are possible with each verdict on a merge."""


def check_derived(report: Any, data: _Json) -> None:
    """Check the derived facts in *data* against the `MergeReport` that was read from it.

    A missing fact is not a contradiction. For blame, only the kind is checked, and only
    whether it is possible with the verdict: the rules of blame are refined from time to
    time, and older reports must stay readable. For the same reason, only the type of the
    warnings and the pre-existing failures is checked.

    Raises:
        ReportError: A fact contradicts the rest of the report.
    """
    _check_facts(report, data)
    _check_feature("feature1.", report.feature1, data["feature1"])
    _check_feature("feature2.", report.feature2, data["feature2"])
    _check_details("", report.conflict_details, data)
    _check_conflicts("", report.conflict_details, report.conflicts, report.options)
    _check_sides(report)
    for index, attempt in enumerate(report.attempts):
        place, row = f"attempts[{index}].", data["attempts"][index]
        _check_verdict(place, report, attempt, row)
        _check_details(place, attempt.conflict_details, row)
        _check_runs(place, attempt, row)


def check_team(report: Any, data: _Json) -> None:
    """Check the derived facts in *data* against the `TeamReport` that was read from it.

    The rules are those of `check_derived`.

    Raises:
        ReportError: A fact contradicts the rest of the report.
    """
    _check_facts(report, data)
    _check_sides(report)
    for index, feature in enumerate(report.features):
        _check_feature(f"features[{index}].", feature, data["features"][index])
    _check_steps("merges", report.merges, data, report.options)
    for index, attempt in enumerate(report.attempts):
        place, row = f"attempts[{index}].", data["attempts"][index]
        _compare(place, row, {"score": attempt.score})
        _check_verdict(place, report, attempt, row)
        _check_steps(f"{place}steps", attempt.steps, row, report.options)
        for name in ("tests", "landed_tests"):
            for number, run in enumerate(getattr(attempt, name)):
                _check_runs(f"{place}{name}[{number}].", run, row[name][number])


def check_plan(plan: Any, data: _Json) -> None:
    """Check the derived facts in *data* against the `LandingPlan` that was read from it.

    Raises:
        ReportError: A fact contradicts the rest of the plan.
    """
    _compare("", data, {"landed": list(plan.landed)})


def check_probe(probe: Any, data: _Json) -> None:
    """Check the derived facts in *data* against the `Probe` that was read from it.

    Raises:
        ReportError: A fact contradicts the rest of the probe.
    """
    collisions = [[each.one, each.other] for each in probe.collisions]
    _compare("", data, {"landing": list(probe.landing), "collisions": collisions})
    _compare("plan.", data["plan"], {"landed": list(probe.plan.landed)})


def check_audit(audit: Any, data: _Json) -> None:
    """Check the derived facts in *data* against the `Audit` that was read from it.

    Raises:
        ReportError: A fact contradicts the rest of the audit.
    """
    _compare("", data, {"is_complete": audit.is_complete, "score": audit.score})
    for index, file in enumerate(audit.files):
        _compare(f"files[{index}].", data["files"][index], {"fate": file.fate})
    for index, each in enumerate(audit.comparisons):
        row = data["comparisons"][index]
        _compare(f"comparisons[{index}].", row, {"is_equal": each.is_equal})
    for index, run in enumerate(audit.suites):
        _compare(f"suites[{index}].", data["suites"][index], {"passed": run.outcome})


def _check_facts(report: Any, data: _Json) -> None:
    score = {"merge_status": report.merge_status, "conflict_score": report.conflict_score}
    _compare("", data, score)
    for name in ("preexisting_failures", "warnings"):
        found = data.get(name, [])
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise ReportError(f"is {shown(found)}, but must be a list of strings", name)
    usage = data.get("agent_usage", {})
    if not isinstance(usage, dict):
        raise ReportError(f"is {shown(usage)}, but must be an object", "agent_usage")
    _compare("agent_usage.", usage, {n: getattr(report.agent_usage, n) for n in AGENT_USAGE})
    _check_runs("", report, data)


def _check_steps(place: str, steps: Any, data: _Json, options: UsedOptions | None) -> None:
    name = place.rpartition(".")[2]
    for index, step in enumerate(steps):
        _check_details(f"{place}[{index}].", step.conflict_details, data[name][index])
        if step.conflict_details is not None:
            _check_conflicts(f"{place}[{index}].", step.conflict_details, step.conflicts, options)


def _check_sides(report: Any) -> None:
    """Check that nothing was merged if a patch is missing, and something if none is."""
    if report.failure is not None:
        return
    missing = [each for each in report.features if not each.patch.is_usable]
    for index, attempt in enumerate(report.attempts):
        is_tried = attempt.status is not MergeStatus.NOT_TRIED
        if is_tried and missing:
            _refuse(f"attempts[{index}].status", attempt.status.value, "'not_tried'")
    details = getattr(report, "conflict_details", None)
    if details is not None and missing:
        what = f"the patch of feature {missing[0].number}, which gives no side to merge,"
        raise ReportError(f"measures a merge, but {what} contradicts that", "conflict_details")


def _check_conflicts(
    place: str,
    details: ConflictDetails | None,
    conflicts: Sequence[Conflict],
    options: UsedOptions | None,
) -> None:
    """Check measured conflicts against the conflicts themselves.

    Without the scorer's weights, only sections and lines follow from these.
    """
    scorer = options.scorer if options else None
    expected = (scorer or ConflictScorer()).score(conflicts)
    if details is None:
        if conflicts:
            _refuse(f"{place}conflict_details", None, "a measure of the conflicts")
        return
    names = ["conflict_sections", "conflict_lines"]
    in_file = ["path", "sections", "lines"]
    if scorer is not None:
        names += ["conflict_score", "severity"]
        in_file.append("score")
    for name in names:
        _compare_attribute(f"{place}conflict_details.", name, details, expected)
    if len(details.files) != len(expected.files):
        count = f"a list of {len(expected.files)} files"
        _refuse(f"{place}conflict_details.files", len(details.files), count)
    for index, (file, other) in enumerate(zip(details.files, expected.files, strict=True)):
        for name in in_file:
            _compare_attribute(f"{place}conflict_details.files[{index}].", name, file, other)


def _compare_attribute(place: str, name: str, found: object, expected: object) -> None:
    _compare(place, {name: getattr(found, name)}, {name: getattr(expected, name)})


def _check_verdict(place: str, report: Any, attempt: Any, row: _Json) -> None:
    verdict = attempt.verdict
    _compare(place, row, {"verdict": verdict})
    if report.failure is not None:
        kinds = {BlameKind.UNKNOWN}
    elif attempt.status is MergeStatus.NOT_TRIED:
        kinds = {BlameKind.MISSING_SIDE}
    else:
        kinds = _BLAMED[verdict]
    _check_blame(place, kinds, row.get("blame"))


def _check_feature(place: str, feature: FeatureReport, data: _Json) -> None:
    alone = {"tests_passed": feature.tests_passed, "test_output": feature.test_output}
    _compare(place, data, alone)
    _check_runs(place, feature, data)


def _check_blame(place: str, kinds: set[BlameKind], blame: object) -> None:
    kind = blame.get("kind") if isinstance(blame, dict) else None
    # A later version may have more kinds.
    if isinstance(kind, str) and kind in _KINDS and kind not in kinds:
        follows = " or ".join(repr(each.value) for each in BlameKind if each in kinds)
        _refuse(f"{place}blame.kind", kind, follows)


def _check_details(place: str, details: ConflictDetails | None, data: _Json) -> None:
    if details is not None:
        average = {"avg_lines_per_conflict": details.avg_lines_per_conflict}
        _compare(f"{place}conflict_details.", data["conflict_details"], average)


def _check_runs(place: str, row: object, data: _Json) -> None:
    for name in RUNS:
        tests: TestResult | None = getattr(row, name, None)
        if tests is not None:
            counts = count_cases(tests.cases)
            derived = {key: getattr(counts, key) for key in COUNTS}
            _compare(f"{place}{name}.", data[name], derived)


def _compare(place: str, data: _Json, derived: _Json) -> None:
    for key, value in derived.items():
        found = data.get(key, value)
        if found != value and not _is_close(found, value):
            follows = shown(value.value if isinstance(value, StrEnum) else value)
            _refuse(f"{place}{key}", found, follows)


def _is_close(found: object, derived: object) -> bool:
    if isinstance(found, float) and isinstance(derived, float):
        return math.isclose(found, derived, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
    return False


def _refuse(place: str, found: object, follows: str) -> NoReturn:
    raise ReportError(f"is {shown(found)}, but {follows} follows from the rest", place)


def shown(value: object) -> str:
    """Return a JSON value for an error message: on one line, and shortened."""
    try:
        return f"{value!r:.100}"
    except (
        ValueError,
        RecursionError,
    ):  # a huge integer or an endless list
        return f"a large {type(value).__name__}"

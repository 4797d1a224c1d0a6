"""Checks that the derived facts in a report's JSON agree with the rest of it.

This library derives these facts again when it reads a report. Other programs read them
from the file. If the file contradicted itself, they would see other facts than this
library.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NoReturn

from cooperbench_eval.errors import ReportError
from cooperbench_eval.git.merging.conflicts import (
    Conflict,
    ConflictDetails,
    ConflictScorer,
    MergeStatus,
    summed,
    weighed,
    worst_end,
)
from cooperbench_eval.reporting.agent_costs import AGENT_USAGE
from cooperbench_eval.reporting.blame import MERGE_BROKE, BlameKind
from cooperbench_eval.reporting.rows import UsedOptions, Verdict
from cooperbench_eval.running.results import COUNTS, TestResult, TestStatus, count_cases

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


_NAIVE = ".naive:NaiveStrategy"
"""The end of the name of the class that merges as git does."""
_ALONE = ("tests", "base_tests", "other_tests", "joint_tests", "regression_tests")
_ON_BASE = ("base_joint_tests", "base_regression_tests")
_FACTS: Final[Mapping[str, tuple[str, ...]]] = {
    "MergeReport": ("merge_status", "conflict_score"),
    "TeamReport": ("merge_status", "conflict_score"),
    "AgentUsage": AGENT_USAGE,
    "FeatureReport": ("tests_passed", "test_output"),
    "ConflictDetails": ("avg_lines_per_conflict",),
    "Attempt": ("verdict",),
    "TeamAttempt": ("score", "verdict"),
    "LandingPlan": ("landed",),
    "Probe": ("landing",),
    "Audit": ("is_complete", "score"),
    "AuditedFile": ("fate",),
    "StrategyComparison": ("is_equal",),
    "TestResult": COUNTS,
}
"""The attributes that follow from the others of a record, by its class."""
_PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "MergeReport": (*_ON_BASE, "feature1", "feature2", "conflict_details", "attempts"),
    "TeamReport": (*_ON_BASE, "features", "merges", "attempts"),
    "FeatureReport": _ALONE,
    "Attempt": ("conflict_details", "feature1_tests", "feature2_tests", *_ALONE[-2:]),
    "TeamAttempt": ("steps", "tests", "landed_tests"),
    "TeamStep": ("conflict_details",),
    "SuiteRun": ("tests",),
    "Probe": ("plan",),
    "Audit": ("files", "comparisons", "suites"),
}
"""The parts of a record that have such attributes, too."""


def facts_of(record: Any) -> dict[str, Any]:
    """Return the facts that are written with a record, because they follow from it."""
    kind = type(record).__name__
    source = count_cases(record.cases) if kind == "TestResult" else record
    facts = {name: _plain(getattr(source, name)) for name in _FACTS.get(kind, ())}
    if kind == "SuiteRun":
        facts["passed"] = record.outcome
    if kind == "Probe":
        facts["collisions"] = [[each.one, each.other] for each in record.collisions]
    return facts


def _plain(fact: Any) -> Any:
    if isinstance(fact, tuple):
        return list(fact)
    return fact.value if isinstance(fact, StrEnum) else fact


def check_derived(record: Any, data: _Json, place: str = "") -> None:
    """Check the derived facts in *data* against the record that was read from it.

    A missing fact is not a contradiction. For blame, only the kind is checked, and only
    whether it is possible with the verdict: the rules of blame are refined from time to
    time, and older reports must stay readable. For the same reason, only the type of the
    warnings and the pre-existing failures is checked. Messages begin with the *place* in the whole.
    """
    _compare(place, data, facts_of(record))
    if check := _CHECKS.get(type(record).__name__):
        check(place, record)
    for name in _PARTS.get(type(record).__name__, ()):
        part = getattr(record, name)
        if isinstance(part, tuple):
            for index, each in enumerate(part):
                check_derived(each, data[name][index], f"{place}{name}[{index}].")
        elif part is not None:
            check_derived(part, data[name], f"{place}{name}.")


def check_report(report: Any, data: _Json) -> None:
    """Check the derived facts of a pair or team as `check_derived` does, and the report itself."""
    for name in ("preexisting_failures", "warnings"):
        found = data.get(name, [])
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise ReportError(f"is {shown(found)}, but must be a list of strings", name)
    usage = data.get("agent_usage", {})
    if not isinstance(usage, dict):
        raise ReportError(f"is {shown(usage)}, but must be an object", "agent_usage")
    check_derived(report.agent_usage, usage, "agent_usage.")
    check_derived(report, data)
    _check_rows(report)
    _check_sides(report)
    if type(report).__name__ == "TeamReport":
        _check_team_measures(report)
    else:
        _check_pair_measures(report)
    for index, attempt in enumerate(report.attempts):
        if report.failure is not None:
            kinds = {BlameKind.UNKNOWN}
        elif attempt.status is MergeStatus.NOT_TRIED:
            kinds = {BlameKind.MISSING_SIDE}
        else:
            kinds = _BLAMED[attempt.verdict]
        _check_blame(f"attempts[{index}].", kinds, data["attempts"][index].get("blame"))


def _check_rows(report: Any) -> None:
    """Check that the rows are those of different features, and of the strategies that were used."""
    numbers = [each.number for each in report.features]
    if len(set(numbers)) < len(numbers):
        raise ReportError(f"is {numbers[1]} for both features", "feature2.number")
    known = report.options.strategies if report.options is not None else None
    for index, attempt in enumerate(report.attempts):
        if known is not None and attempt.strategy not in known:
            _refuse(f"attempts[{index}].strategy", attempt.strategy, f"one of {list(known)}")


def _check_pair_measures(report: Any) -> None:
    """Check the measures and the ends of all merges against the conflicts of the report."""
    options, details = report.options, report.conflict_details
    if details is not None:
        _check_details("", details, report.conflicts, options)
    elif report.conflicts:
        _refuse("conflict_details", None, "a measure of the conflicts")
    for index, attempt in enumerate(report.attempts):
        place = f"attempts[{index}]."
        _check_end(place, attempt, len(report.conflicts))
        if attempt.conflict_details is not None:
            _check_details(place, attempt.conflict_details, None, options)
            if attempt.implementation.endswith(_NAIVE) and attempt.conflict_details != details:
                _refuse(f"{place}conflict_details", "other than the report's", "the same")


def _check_team_measures(report: Any) -> None:
    options = report.options
    steps: list[tuple[str, Any, int | None]] = [
        (f"merges[{at}].", step, len(step.conflicts)) for at, step in enumerate(report.merges)
    ]
    for index, attempt in enumerate(report.attempts):
        place = f"attempts[{index}].steps"
        steps += [(f"{place}[{at}].", step, None) for at, step in enumerate(attempt.steps)]
    for place, step, met in steps:
        if step.conflict_details is not None:
            _check_details(place, step.conflict_details, step.conflicts, options)
        _check_end(place, step, met)
    for index, attempt in enumerate(report.attempts):
        _check_whole(f"attempts[{index}].", attempt, [each.number for each in report.features])


def _check_end(place: str, row: Any, met: int | None) -> None:
    """Check how a merge ended, and how many conflicts it met, if that is known from elsewhere."""
    if row.status is MergeStatus.NOT_TRIED or (row.conflict_details is None and not row.failure):
        return
    if met is not None and row.conflicts_met != met:
        _refuse(f"{place}conflicts_met", row.conflicts_met, str(met))
    if row.failure:
        ended = MergeStatus.FAILED
    elif row.conflict_details.conflict_sections:
        ended = MergeStatus.CONFLICTED
    else:
        ended = MergeStatus.RESOLVED if row.conflicts_met else MergeStatus.CLEAN
    _compare(place, {"status": row.status.value}, {"status": ended.value})


def _check_whole(place: str, attempt: Any, order: Sequence[int]) -> None:
    """Check how the merge of a whole team ended, if every step of it is known."""
    steps = [
        each
        for each in attempt.steps
        if [*each.into, each.feature] == list(order[: len(each.into) + 1])
    ]
    if attempt.status is not MergeStatus.NOT_TRIED and len(steps) == len(order) - 1:
        ended = worst_end(each.status for each in steps)
        _compare(place, {"status": attempt.status.value}, {"status": ended.value})


def _check_sides(report: Any) -> None:
    """Check that nothing was merged if a patch is empty or does not apply."""
    if report.failure is not None:
        return
    missing = [each for each in report.features if not each.patch.is_usable]
    for index, attempt in enumerate(report.attempts):
        is_tried = attempt.status is not MergeStatus.NOT_TRIED
        if is_tried and missing:
            _refuse(f"attempts[{index}].status", attempt.status.value, "'not_tried'")
    details = getattr(report, "conflict_details", None)
    if details is not None and missing:
        problem = f"the patch of feature {missing[0].number} is empty or does not apply"
        raise ReportError(f"measures a merge, but {problem}", "conflict_details")


def _check_details(
    place: str,
    details: ConflictDetails,
    conflicts: Sequence[Conflict] | None,
    options: UsedOptions | None,
) -> None:
    """Check measured conflicts against these, or, if they are not known, against their files.

    Without the scorer's weights, only sections and lines can be checked.
    """
    known = options.scorer if options else None
    scorer = known or ConflictScorer()
    if conflicts is None:
        expected = summed(weighed(scorer, f.path, f.sections, f.lines) for f in details.files)
    else:
        expected = scorer.score(conflicts)
    names = ["conflict_sections", "conflict_lines"]
    in_file = ["path", "sections", "lines"]
    if known is not None:
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


def _check_cases(place: str, run: TestResult) -> None:
    if run.status is TestStatus.PASSED and run.exit_code:
        _refuse(f"{place}exit_code", run.exit_code, "0")
    counts = count_cases(run.cases)
    bad = counts.failed_tests + counts.error_tests
    follows = {
        TestStatus.PASSED: not bad,
        TestStatus.FAILED: bool(bad),
        TestStatus.NO_TESTS: not counts.total_tests,
    }
    if run.cases and not follows.get(run.status, True):
        _refuse(f"{place}status", run.status.value, "another status")


def _check_plan(place: str, plan: Any) -> None:
    """Check that the parts of a landing plan are about its patches, and agree with each other."""
    known = set(plan.numbers)
    for index, merge in enumerate(plan.merges):
        _check_known(f"{place}merges[{index}]", (merge.into, merge.number), known)
    for name, sets in (
        ("minimal_conflicts", plan.minimal_conflicts),
        ("order_dependent", [each.patches for each in plan.order_dependent]),
        ("left_out", [each.features for each in plan.left_out]),
    ):
        for index, numbers in enumerate(sets):
            _check_known(f"{place}{name}[{index}]", numbers, known)
    conflicts = {(each.into, each.number) for each in plan.merges if each.outcome == "conflict"}
    for into, number in sorted(conflicts):
        is_listed = any({into, number}.issuperset(each) for each in plan.minimal_conflicts)
        if (number, into) in conflicts and not is_listed:
            follows = f"a set of {into} and {number}"
            _refuse(f"{place}minimal_conflicts", list(plan.minimal_conflicts), follows)
    if plan.is_tested and not plan.has_tests:
        _refuse(f"{place}is_tested", plan.is_tested, "False")
    for name in ("runs_used", "budget"):
        if getattr(plan, name) < 0:
            raise ReportError(f"is {getattr(plan, name)}, but must not be negative", place + name)


def _check_audit(place: str, audit: Any) -> None:
    """Check that the parts of an audit are about its features, one suite of each."""
    known = set(audit.features)
    _check_known(f"{place}features", audit.features, known)
    _check_known(f"{place}missing", audit.missing, known)
    for index, file in enumerate(audit.files):
        _check_known(f"{place}files[{index}].feature", [file.feature], known)
    seen = set()
    for index, run in enumerate(audit.suites):
        if run.feature is not None:
            _check_known(f"{place}suites[{index}].feature", [run.feature], known)
        if (run.suite, run.feature) in seen:
            raise ReportError("is another run of the same suite", f"{place}suites[{index}]")
        seen.add((run.suite, run.feature))


def _check_known(place: str, numbers: Sequence[int], known: set[int]) -> None:
    if len(set(numbers)) < len(numbers):
        raise ReportError(f"is {list(numbers)}, but the numbers must differ", place)
    for number in numbers:
        if number not in known:
            raise ReportError(f"is {list(numbers)}, but no patch has the number {number}", place)


_CHECKS: Final[Mapping[str, Callable[[str, Any], None]]] = {
    "TestResult": _check_cases,
    "LandingPlan": _check_plan,
    "Audit": _check_audit,
}
"""Checks of how the attributes of a record agree with each other, by its class."""


def _compare_attribute(place: str, name: str, found: object, expected: object) -> None:
    _compare(place, {name: _plain(getattr(found, name))}, {name: _plain(getattr(expected, name))})


def _check_blame(place: str, kinds: set[BlameKind], blame: object) -> None:
    kind = blame.get("kind") if isinstance(blame, dict) else None
    # A later version may have more kinds.
    if isinstance(kind, str) and kind in _KINDS and kind not in kinds:
        follows = " or ".join(repr(each.value) for each in BlameKind if each in kinds)
        _refuse(f"{place}blame.kind", kind, follows)


def _compare(place: str, data: _Json, derived: _Json) -> None:
    for key, value in derived.items():
        found = data.get(key, value)
        if found != value and not _is_close(found, value):
            _refuse(f"{place}{key}", found, shown(value))


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

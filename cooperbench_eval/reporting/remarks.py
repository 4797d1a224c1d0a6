"""What a reader of a report should know about its verdicts, as sentences."""

from collections.abc import Iterable, Iterator
from typing import Any

from cooperbench_eval.reporting.options import about_dropped
from cooperbench_eval.reporting.rows import FeatureReport, Tried
from cooperbench_eval.running.results import (
    Judgement,
    JudgeRule,
    TestResult,
    TestStatus,
    outcome_of,
)

_FEW = 3


def find_preexisting(report: Any) -> tuple[str, ...]:
    """Return the cases of any suite of a report that already fail on the base, sorted."""
    return tuple(sorted({id_ for each in _judgements(report) for id_ in each.preexisting}))


def find_problem(report: Any) -> str:
    """Return why a report says nothing about some feature; empty if it does about all."""
    if report.failure is not None:
        return str(report.failure.problem)
    features: tuple[FeatureReport, ...] = report.features
    unanswered = TestStatus.INFRASTRUCTURE_ERROR
    runs = (each.tests for each in features)
    return next((run.reason for run in runs if run and run.status is unanswered), "")


def find_warnings(report: Any) -> tuple[str, ...]:
    """Return the warnings of a report, each a sentence."""
    return tuple(dict.fromkeys(_warnings(report)))


def _warnings(report: Any) -> Iterator[str]:
    features: tuple[FeatureReport, ...] = report.features
    yield from about_dropped(
        sorted({path for each in features for path in each.patch.dropped_files})
    )
    yield from _joint_warnings(report.base_joint_tests, features)
    if report.judge is JudgeRule.DELTA:
        yield from _without_base(features, report)
        yield from filter(None, map(_alone_differs, features))
        yield from filter(None, map(_merged_differs, report.attempts))
    yield from _without_result(report.attempts)
    for problem in (each.agent.problem for each in features if each.agent is not None):
        if problem:
            yield f"What the agents' work cost is not fully known: {problem}."
    flaky = sorted({id_ for each in _judgements(report) for id_ in each.flaky})
    if flaky:
        yield (
            f"These cases both failed and passed on the same tree, so they decide nothing: "
            f"{_some(flaky)}."
        )


def _joint_warnings(on_base: TestResult | None, features: Iterable[FeatureReport]) -> Iterator[str]:
    places = [
        ("the base", on_base),
        *((f"feature {each.number} without the other", each.joint_tests) for each in features),
    ]
    passing = [place for place, run in places if run is not None and run.passed]
    if passing:
        yield f"The joint tests pass on {_listed(passing)}, so they prove nothing about the merge."


def _without_base(features: Iterable[FeatureReport], report: Any) -> Iterator[str]:
    """Say which suites are judged by all their cases, because they gave no result on the base."""
    suites = [
        (f"tests of feature {each.number}", each.base_tests, [(each.tests, each.judgement)])
        for each in features
    ]
    joint = [each.joint_run for each in report.attempts]
    own = [each.regression_run for each in report.attempts]
    suites += [
        ("joint tests", report.base_joint_tests, joint),
        ("repository's own tests", report.base_regression_tests, own),
    ]
    for name, on_base, runs in suites:
        by_all_cases = any(run is not None and judgement is None for run, judgement in runs)
        if by_all_cases and on_base is not None and not on_base.cases:
            yield (
                f"The {name} gave no result on the base "
                f"({on_base.status.value.replace('_', ' ')}), so all of their cases must pass."
            )


def _without_result(attempts: Iterable[Tried]) -> Iterator[str]:
    """Say why a suite of the pair gave no result on a merged tree."""
    for attempt in attempts:
        runs = (("joint", attempt.joint_run), ("repository's own", attempt.regression_run))
        for name, (run, _) in runs:
            if run is not None and not run.was_run:
                where = f"On the merge of {attempt.strategy}"
                yield f"{where}, the {name} tests did not run: {run.reason}."


def _alone_differs(feature: FeatureReport) -> str:
    if feature.judgement is None or feature.is_right is feature.tests_passed:
        return ""
    rule = "fails" if feature.is_right else "passes"
    why = _reason(feature.judgement)
    return f"Feature {feature.number} alone {rule} under the absolute rule, but not here: {why}."


def _merged_differs(attempt: Tried) -> str:
    differing = [
        judgement
        for run, judgement in attempt.own_runs
        if judgement is not None and outcome_of(run) is not outcome_of(run, judgement)
    ]
    if not differing or attempt.verdict is attempt.absolute_verdict:
        return ""
    why = "; ".join(dict.fromkeys(map(_reason, differing)))
    return (
        f"Under the absolute rule, {attempt.strategy} would be "
        f"{attempt.absolute_verdict.value.replace('_', ' ')}: {why}."
    )


def _reason(judgement: Judgement) -> str:
    twice = "failed and passed on the same tree"
    parts = (
        (judgement.preexisting, "already fails on the base", "already fail on the base"),
        (judgement.foreign, "belongs to another suite", "belong to another suite"),
        (judgement.broken, "passes on the base but not here", "pass on the base but not here"),
        (judgement.flaky, twice, twice),
    )
    return ", and ".join(
        f"{_some(ids)} {one if len(ids) == 1 else many}" for ids, one, many in parts if ids
    )


def _judgements(report: Any) -> Iterator[Judgement]:
    for each in report.features:
        yield from filter(None, (each.judgement, each.regression_judgement))
    for attempt in report.attempts:
        runs = (*attempt.own_runs, attempt.joint_run, attempt.regression_run)
        yield from (judgement for _, judgement in runs if judgement is not None)


def _some(ids: Iterable[str]) -> str:
    names = list(ids)
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(names[:_FEW]) + more


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))

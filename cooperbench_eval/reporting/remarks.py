"""Sentences about what a reader of a report should know beside its verdicts."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from cooperbench_eval.reporting.rows import FeatureReport, Tried
from cooperbench_eval.running.results import Judgement, JudgeRule, TestResult, outcome_of
from cooperbench_eval.support.error_texts import listed

_FEW = 3
_LONGEST_ID = 120
_HEAD = 55


def about_dropped(paths: Collection[str]) -> tuple[str, ...]:
    """Return sentences about the dropped test files of agents, if there are any."""
    if not paths:
        return ()
    files, were = ("test file", "was") if len(paths) == 1 else ("test files", "were")
    what = f"{len(paths)} {files} of the agents {were} dropped: {listed(paths)}."
    return (f"{what} The suites' own tests are used.",)


def about_reset(paths: Collection[str]) -> tuple[str, ...]:
    """Return a sentence about files that were reset before suites ran, if there are any."""
    if not paths:
        return ()
    files, were = ("file", "was") if len(paths) == 1 else ("files", "were")
    what = f"{len(paths)} changed {files} that can control test runs {were}"
    return (f"{what} as in the base when suites ran: {listed(sorted(paths))}.",)


def about_flaky(ids: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence about the flaky cases, if there are any."""
    found = sorted(set(ids))
    if not found:
        return ()
    what = "These cases both failed and passed on the same tree, so they do not count"
    return (f"{what}: {some(found)}.",)


def without_answer(run: TestResult, judgement: Judgement | None) -> str:
    """Return why a run has no answer, as a clause."""
    is_flaky = run.was_run and judgement is not None and bool(judgement.flaky)
    decided = "its cases are flaky" if is_flaky else "no case that counts passed"
    return run.reason or decided


def some(ids: Iterable[str]) -> str:
    """Return a text with the first few ids, shortened, and the number of the others."""
    # The id of a suite with the framework `exit` is its whole command.
    names = [id_ if len(id_) <= _LONGEST_ID else f"{id_[:_HEAD]}…{id_[-_HEAD:]}" for id_ in ids]
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(names[:_FEW]) + more


def warnings_of(report: Any) -> Iterator[str]:
    """Yield what a reader of a report should know beside its verdicts."""
    features: tuple[FeatureReport, ...] = report.features
    dropped = {path for each in features for path in each.patch.dropped_files}
    yield from about_dropped(sorted(dropped))
    yield from _joint_warnings(report.base_joint_tests, features)
    if report.judge is JudgeRule.DELTA:
        yield from _without_base(features, report)
        yield from filter(None, map(_alone_differs, features))
        yield from filter(None, map(_merged_differs, report.attempts))
    yield from _without_result(report.attempts)
    for problem in (each.agent.problem for each in features if each.agent is not None):
        if problem:
            yield f"What the agents' work cost is not fully known: {problem}."
    yield from about_flaky(id_ for each in judgements_of(report) for id_ in each.flaky)


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
        by_all_cases = any(run and run.was_run and judgement is None for run, judgement in runs)
        if by_all_cases and on_base is not None and not on_base.cases:
            yield (
                f"The {name} gave no result on the base "
                f"({on_base.status.value.replace('_', ' ')}), so all of their cases must pass."
            )


def _without_result(attempts: Iterable[Tried]) -> Iterator[str]:
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
        f"{some(ids)} {one if len(ids) == 1 else many}" for ids, one, many in parts if ids
    )


def judgements_of(report: Any) -> Iterator[Judgement]:
    """Yield how the runs of a report were judged."""
    for each in report.features:
        yield from filter(None, (each.judgement, each.regression_judgement))
    for attempt in report.attempts:
        runs = (*attempt.own_runs, attempt.joint_run, attempt.regression_run)
        yield from (judgement for _, judgement in runs if judgement is not None)


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))

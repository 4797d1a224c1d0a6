"""The words for facts that both the views and the page show.

Texts from outside, such as names and reasons, are returned as they are: each caller
cuts them to the length that it has room for.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from cooperbench_eval.analysis.measures import CostPerCorrect
from cooperbench_eval.analysis.rates import Rate
from cooperbench_eval.analysis.verdicts import JudgedSummary, Verdicts
from cooperbench_eval.git.merging.conflicts import ConflictDetails, MergeStatus, ModelUsage
from cooperbench_eval.languages.hazards.kinds import Hazard
from cooperbench_eval.reporting import Attempt, Blame, BlameKind, Failure, MergeReport, PatchReport
from cooperbench_eval.reporting.agent_costs import AgentUsage
from cooperbench_eval.reporting.explanation import (
    ExplainedHunk,
    Explanation,
    ExplanationStatus,
    Finding,
    HunkRole,
    SuiteKind,
)
from cooperbench_eval.reporting.landings import TeamSuite
from cooperbench_eval.reporting.rows import Judged, Tried, runs_in
from cooperbench_eval.reporting.teams import GroupReport, TeamAttempt, TeamBlame, TeamReport
from cooperbench_eval.running.results import (
    Judgement,
    TestResult,
    TestStatus,
    count_cases,
    outcome_of,
)

_Item = TypeVar("_Item")

ANSWERS = {
    "correct": "correct",
    "incorrect": "incorrect",
    "unhandled": "unhandled",
    "missing_input": "missing input",
    "not_run": "unanswered",
}
"""The five ways in which a pair can end under a strategy, as a summary counts them."""

_BLAME = {
    BlameKind.MISSING_SIDE: "no usable patch of {features}",
    BlameKind.BROKEN_ALONE: "{features} broken alone",
    BlameKind.CONFLICT: "the conflict, or the strategy's failure",
    BlameKind.MERGE_BROKE_FEATURE1: "the merge broke {features}",
    BlameKind.MERGE_BROKE_FEATURE2: "the merge broke {features}",
    BlameKind.MERGE_BROKE_BOTH: "the merge broke {features}",
    BlameKind.MERGE_BROKE_FEATURES: "the merge broke {features}",
    BlameKind.MERGE_BROKE_JOINT: "the merge broke the joint tests",
    BlameKind.MERGE_BROKE_REGRESSION: "the merge broke the repository's own tests",
    BlameKind.REGRESSED_ALONE: "{features} alone broke the repository's own tests",
    BlameKind.UNKNOWN: "not known",
    BlameKind.NOBODY: "nobody",
}


def spoken(value: str) -> str:
    """Return an enum's value as words."""
    return str(value).replace("_", " ")


def counted(number: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun: `1 line`, `2 lines`, `3 tries`."""
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"


def and_more(left_out: int, noun: str = "") -> list[str]:
    """Return `and 3 more files` in a list, which is empty if nothing is left out."""
    if left_out <= 0:
        return []
    return [f"and {counted(left_out, f'more {noun}')}" if noun else f"and {left_out:,} more"]


def first(
    items: Sequence[_Item], most: int, noun: str = "", text: Callable[[_Item], str] = str
) -> list[str]:
    """Return the texts of the first items, then how many more there are if any are left out."""
    return [*map(text, items[:most]), *and_more(len(items) - most, noun)]


def rate_texts(rate: Rate) -> tuple[str, str]:
    """Return a rate and its interval in percent; dashes for what is not known."""
    if not rate.total:
        return "-", "-"
    interval = "-" if rate.low is None else f"{rate.low:.1%}-{rate.high:.1%}"
    return f"{rate.rate:.1%}", interval


def cost_texts(costs: CostPerCorrect) -> tuple[str, str, str, str]:
    """Return the cost of a correct pair, its interval, the pairs, and those without a cost."""
    value = "-" if costs.value is None else f"{costs.value:,.2f}"
    interval = "-"
    if costs.low is not None:
        upper = " or more" if costs.high is None else f"-{costs.high:,.2f}"
        interval = f"{costs.low:,.2f}{upper}"
    return value, interval, f"{costs.pairs:,}", f"{costs.unknown:,}"


def agents_texts(usage: AgentUsage) -> list[str]:
    """Return a line about what the agents' work cost; none if nothing is known of it."""
    words = {
        "steps": ("step", "steps"),
        "messages_sent": ("message", "messages"),
        "input_tokens": ("token read", "tokens read"),
        "cache_read_tokens": ("token read from a cache", "tokens read from a cache"),
        "output_tokens": ("token written", "tokens written"),
    }
    parts = [] if usage.cost_usd is None else [f"{usage.cost_usd:,.2f} USD"]
    parts += [
        counted(amount, *nouns)
        for name, nouns in words.items()
        if (amount := getattr(usage, name)) is not None
    ]
    return [f"the agents' work: {', '.join(parts)}"] if parts else []


def correct_texts(one: JudgedSummary) -> tuple[str, str]:
    """Return the rate of correct pairs and its interval; dashes if nothing was tested."""
    return ("-", "-") if one.verdicts.is_untested else rate_texts(one.correct)


def bounds_text(verdicts: Verdicts) -> str:
    """Return the bounds of the share of correct pairs; empty if every pair has an answer."""
    return f"{verdicts.at_least:.1%}-{verdicts.at_most:.1%}" if verdicts.unanswered else ""


def answer_counts(verdicts: Verdicts) -> dict[str, int]:
    """Return how many pairs ended in each of the ways of `ANSWERS`."""
    counts = (
        verdicts.correct,
        verdicts.incorrect,
        verdicts.unhandled,
        verdicts.missing_input,
        verdicts.unanswered,
    )
    return dict(zip(ANSWERS, counts, strict=True))


# --- a pair ------------------------------------------------------------------


def title_text(repo_name: str, report: GroupReport) -> str:
    """Return the name of a report's pair or team; *repo_name* is its repository, cut to fit."""
    if isinstance(report, TeamReport):
        return f"{repo_name}/{report.task_id}: features {', '.join(map(str, report.numbers))}"
    one, two = report.numbers
    return f"{repo_name}/{report.task_id}: feature {one} merged into feature {two}"


def failure_text(failure: Failure) -> str:
    """Return why a pair could not be evaluated."""
    tries = f", tried {failure.tries} times" if failure.tries > 1 else ""
    error = f" ({failure.error})" if failure.error else ""
    return f"{spoken(failure.kind)}: {failure.problem}{error}{tries}"


def patch_text(patch: PatchReport) -> str:
    """Return how a patch was placed, why it was not, and how many test files were dropped."""
    parts = [f"{spoken(patch.status)}: {patch.reason}" if patch.reason else spoken(patch.status)]
    if patch.dropped_files:
        parts.append(f"{counted(len(patch.dropped_files), 'test file')} dropped")
    return ", ".join(parts)


def blame_text(blame: Blame | TeamBlame, attempt: Tried | None = None) -> str:
    """Return what is to blame for how a strategy's row ended.

    Only the row itself says whether its strategy failed or left a conflict.
    """
    if blame.kind is BlameKind.CONFLICT and attempt is not None:
        is_failure = attempt.status is MergeStatus.FAILED
        return "the strategy failed" if is_failure else "the conflict"
    return _BLAME[blame.kind].format(features=features_text(blame.features))


def features_text(numbers: Iterable[int]) -> str:
    """Return the features as words: `feature 1`, `features 1, 2 and 3`."""
    words = [str(number) for number in numbers]
    return f"feature {listed(words)}" if len(words) == 1 else f"features {listed(words)}"


def listed(words: Iterable[str]) -> str:
    """Return words with commas, and `and` before the last one."""
    *first, last = list(words) or [""]
    return " and ".join(filter(None, (", ".join(first), last)))


class Lost(NamedTuple):
    """The tests of an owner that a merge lost, and how many passed before the merge."""

    owner: str
    names: tuple[str, ...]
    passed: int


def lost_tests(report: MergeReport, blame: Blame) -> list[Lost]:
    """Return the tests that the merge lost, by the suites' owners."""
    found = [
        (f"feature {feature.number}", names, feature.tests)
        for feature, names in zip(
            report.features, (blame.lost_tests1, blame.lost_tests2), strict=True
        )
    ]
    found += [
        ("both features together", blame.lost_joint_tests, None),
        ("the repository", blame.lost_regression_tests, report.base_regression_tests),
    ]
    return [
        Lost(owner, names, len(names) if run is None else run.passed_tests)
        for owner, names, run in found
        if names
    ]


def suite_titles(report: GroupReport) -> list[str]:
    """Return the titles of the suites that ran on merged trees, in the order of `merged_runs`."""
    titles = [f"tests of feature {each.number}" for each in report.features]
    has_joint = any(each.joint_run.tests for each in report.attempts)
    has_own = any(each.regression_run.tests for each in report.attempts)
    return titles + ["joint tests"] * has_joint + ["the repository's tests"] * has_own


def merged_runs(report: GroupReport, attempt: Attempt | TeamAttempt) -> list[Judged]:
    """Return an attempt's runs and their judgements, one for each of `suite_titles`."""
    found = (
        [*attempt.own_runs]
        if isinstance(attempt, Attempt)
        else [attempt.run_of(TeamSuite.FEATURE, number) for number in report.numbers]
    )
    if any(each.joint_run.tests for each in report.attempts):
        found.append(attempt.joint_run)
    if any(each.regression_run.tests for each in report.attempts):
        found.append(attempt.regression_run)
    return found


def conflicts_text(details: ConflictDetails) -> str:
    """Return how many conflicts there are, and how bad they are."""
    sections = counted(details.conflict_sections, "conflict section")
    lines = counted(details.conflict_lines, "line")
    return f"{sections} with {lines}, score {details.conflict_score:,} ({details.severity.value})"


def usage_text(usage: ModelUsage, model: str) -> str:
    """Return what asking a model took; *model* is its name, cut to fit."""
    cost = "price unknown" if usage.cost_usd is None else f"{usage.cost_usd:.4f} USD"
    cached = f" ({usage.cached_tokens:,} from a cache)" if usage.cached_tokens else ""
    return (
        f"asked {model or 'a model'} {counted(usage.requests, 'time')}: "
        f"{usage.prompt_tokens:,} tokens read{cached}, {usage.completion_tokens:,} written, {cost}"
    )


# --- why a merge lost tests ---------------------------------------------------

_EXPLANATION = {
    ExplanationStatus.EXPLAINED: "found why the merge lost tests",
    ExplanationStatus.UNEXPLAINED: "did not find why the merge lost tests",
    ExplanationStatus.NOT_REPRODUCED: "the lost tests pass when they are run again",
    ExplanationStatus.NOTHING_LOST: "the merge lost no tests",
    ExplanationStatus.NOT_MERGED: "the merge is not complete",
    ExplanationStatus.NOT_RUN: "the tests have no result",
    ExplanationStatus.OTHER_TREE: "the pair is not the one that the report is about",
}
_SUITE = {
    SuiteKind.FEATURE1: "the first feature",
    SuiteKind.FEATURE2: "the second feature",
    SuiteKind.JOINT: "both features together",
    SuiteKind.REGRESSION: "the repository",
}
_ROLE = {
    HunkRole.BREAKS: ("breaks the lost tests", "may break the lost tests"),
    HunkRole.NEEDED: ("is needed by the lost tests", "may be needed by the lost tests"),
}


def explanation_text(strategy: str, explanation: Explanation) -> str:
    """Return whether it was found why a merge lost tests; *strategy* is its name, cut to fit."""
    return f"{strategy}: {_EXPLANATION[explanation.status]}"


def finding_text(finding: Finding) -> str:
    """Return how many tests of a suite were lost, and what is known about the reason."""
    lost = counted(len(finding.tests), "lost test") if finding.tests else "the tests"
    tests = f"{lost} of {_SUITE[finding.suite]}"
    if finding.status is not ExplanationStatus.EXPLAINED:
        return f"{tests}, {spoken(finding.status)}"
    those = "" if finding.is_minimal else "some of "
    return f"{tests}, explained by {those}the hunks below"


def hunk_text(hunk: ExplainedHunk, path: str, *, is_sure: bool) -> str:
    """Return where a hunk is and how it takes part; *path* is its file, cut to fit."""
    sure, unsure = _ROLE[hunk.role]
    return f"{path}:{hunk.line} {sure if is_sure else unsure}"


# --- what a reader should know about any result ------------------------------


def place_text(hazard: Hazard) -> str:
    """Return the file and the line in which a hazard shows."""
    return hazard.path if hazard.line is None else f"{hazard.path}, line {hazard.line}"


def cautions(warnings: Iterable[str], hazards: Iterable[Hazard]) -> list[str]:
    """Return a result's warnings, then its hazards."""
    return [*warnings, *(f"hazard in {place_text(each)}: {each.message}" for each in hazards)]


def uncounted_texts(runs: Iterable[TestResult | None], *, open_only: bool = False) -> list[str]:
    """Return why runs have no answer or, unless *open_only*, are inconclusive; each reason once."""
    uncounted = {TestStatus.INFRASTRUCTURE_ERROR}
    if not open_only:
        uncounted.add(TestStatus.INCONCLUSIVE)
    found = (run for run in runs if run and run.status in uncounted)
    return list(dict.fromkeys(reasoned(run, run_text(run)) for run in found))


def reasoned(run: TestResult, text: str) -> str:
    """Return *text* with the reason of *run*, if it has one."""
    return f"{text}: {run.reason}" if run.reason else text


def not_run_in(report: GroupReport) -> list[str]:
    """Return why suites of a pair or team have no answer, alone and merged."""
    merged = [run.tests for each in report.attempts for run in merged_runs(report, each)]
    alone = uncounted_texts(runs_in((*report.features, report)), open_only=True)
    return list(dict.fromkeys([*alone, *uncounted_texts(merged)]))


# --- a test run --------------------------------------------------------------


def run_text(run: TestResult, *, in_full: bool = False) -> str:
    """Return how a run ended, and how many of the cases that count passed.

    *in_full* adds how many cases could not run, were skipped or failed as expected, and why a
    run has no answer.
    """
    if _is_open(run):
        return f"not run: {run.reason}" if in_full and run.reason else "not run"
    status = spoken(run.status)
    if not run.cases:
        return status
    counts = count_cases(run.cases)
    parts = [f"{status} {counts.passed_tests:,}/{counts.total_tests:,}"]
    others = (
        (counts.error_tests, "could not run"),
        (counts.skipped_tests, "skipped"),
        (counts.xfailed_tests, "failed as expected"),
    )
    if in_full:
        parts += [f"{number:,} {words}" for number, words in others if number]
    return ", ".join(parts)


def _is_open(run: TestResult) -> bool:
    return run.status is TestStatus.INFRASTRUCTURE_ERROR


def judged_text(run: TestResult, judgement: Judgement | None, *, in_full: bool = False) -> str:
    """Return how a run ended, and how it counts if that differs."""
    text = run_text(run, in_full=in_full)
    counts = outcome_of(run, judgement)
    if judgement is None or counts is run.passed:
        return text
    return f"{text}, {_COUNTS[counts]}"


_COUNTS = {True: "counts as passed", False: "counts as failed", None: "decides nothing"}


def judgement_notes(judgement: Judgement, listed: Callable[[Sequence[str]], str]) -> Iterator[str]:
    """Yield which cases do not count, and why; *listed* makes one text of names."""
    reasons = (
        ("fails on the base too", judgement.preexisting),
        ("another suite judges it", judgement.foreign),
        ("has two results on this tree", judgement.flaky),
    )
    for reason, names in reasons:
        if names:
            yield f"{reason}: {listed(names)}"


def run_notes(run: TestResult, listed: Callable[[Sequence[str]], str]) -> Iterator[str]:
    """Yield further notes on a run; *listed* makes one text of names."""
    if run.reason and not _is_open(run):
        yield run.reason
    if run.repeats:
        rule = f", {run.repeat_policy} had to pass" if run.repeat_policy else ""
        ends = listed([spoken(each) for each in run.repeats])
        yield f"run {len(run.repeats)} times: {ends}{rule}"
    if run.restored_files:
        yield f"restored before the run: {listed(run.restored_files)}"
    if run.missing_tests:
        yield f"did not run: {listed(run.missing_tests)}"

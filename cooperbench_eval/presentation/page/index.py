"""The data of the tables of pairs and teams: a small row for each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from cooperbench_eval.analysis.facts import PairFacts
from cooperbench_eval.analysis.summary import Summary
from cooperbench_eval.git.merging.conflicts import MergeStatus
from cooperbench_eval.presentation.page.embedding import Addresses, embed, shortened
from cooperbench_eval.presentation.views import wording
from cooperbench_eval.presentation.views.reports import landed_text
from cooperbench_eval.reporting import Attempt, Blame, MergeReport, Verdict
from cooperbench_eval.reporting.identity import PairId
from cooperbench_eval.reporting.teams import TeamAttempt, TeamBlame, TeamReport
from cooperbench_eval.running.results import outcome_of

MOST_LISTED = 100
"""How many lost tests of a feature, and how many files, a row of the table lists."""
_MOST_NOTE = 200
_UNTESTED = "untested"
_NOT_TRIED = "not_tried"
_UNANSWERED = Verdict.NOT_RUN.value
_Json = dict[str, Any]


class _Sign(NamedTuple):
    """A sign, its words, and its meaning as a sentence without a full stop."""

    symbol: str
    words: str
    meaning: str


SIGNS: Mapping[str, _Sign] = MappingProxyType(
    {
        "correct": _Sign("✓", wording.ANSWERS["correct"], "merged, and the tests of both pass"),
        "incorrect": _Sign(
            "✗", wording.ANSWERS["incorrect"], "merged, and tests of a feature do not pass"
        ),
        "unhandled": _Sign(
            "≠", wording.ANSWERS["unhandled"], "a conflict is left, or the strategy failed"
        ),
        "missing_input": _Sign(
            "∅", wording.ANSWERS["missing_input"], "a patch is empty or does not apply"
        ),
        _UNANSWERED: _Sign("?", wording.ANSWERS[_UNANSWERED], "nothing is known about the result"),
        _UNTESTED: _Sign("○", "merged, not tested", "no tests were run; counts as unanswered"),
        _NOT_TRIED: _Sign("·", "not tried", "the strategy was not asked; counts as unanswered"),
    }
)
"""The answers that a summary counts, and two kinds of being unanswered."""


class JudgedAttempt(NamedTuple):
    """A strategy's row, its answer as a summary counts it, what is to blame, and lost tests."""

    attempt: Attempt
    answer: str
    blame: Blame
    lost: Sequence[wording.Lost]


class JudgedTeam(NamedTuple):
    """The same for a team's row, whose lost tests the blame has."""

    attempt: TeamAttempt
    answer: str
    blame: TeamBlame


class Index:
    """Collects the rows as text; nothing else of a pair is kept."""

    def __init__(self) -> None:
        self._rows: list[str] = []
        self._teams: list[_Json] = []
        self._names: dict[str, int] = {}
        self._addresses = Addresses()

    def add(
        self,
        report: MergeReport,
        facts: PairFacts,
        judged: Iterable[JudgedAttempt],
        policies: Iterable[tuple[str, str]] = (),
    ) -> str:
        """Add a pair's row with the answers of policies, and return the name of its data."""
        paths = list(dict.fromkeys(conflict.path for conflict in report.conflicts))
        failure = report.failure
        problem = wording.failure_text(failure) if failure else report.problem
        row = {
            "id": self._addresses.add(PairId.of(report)),
            "repo": self._name(report.repo_name),
            "task": report.task_id,
            "features": [report.feature1.number, report.feature2.number],
            "model": self._name(report.model or ""),
            "setting": self._name(report.setting or ""),
            "k": report.k,
            "status": self._name(wording.spoken(report.merge_status)),
            "severity": self._name(facts.severity.value.lower() if facts.severity else ""),
            "language": self._name(facts.language),
            "score": report.conflict_score,
            "paths": [self._name(_short(path)) for path in paths[:MOST_LISTED]],
            "note": self._name(_short(problem)),
            "rows": {self._name(each.attempt.strategy): self._row(report, each) for each in judged},
            "policies": {self._name(name): self._name(answer) for name, answer in policies},
        }
        self._rows.append(embed(row))
        return f"pair-{len(self._rows)}"

    def add_team(self, report: TeamReport) -> str:
        """Add a team's row, and return the name of its data."""
        row = {
            "id": self._addresses.add(PairId.of(report)),
            "title": wording.title_text(_short(report.repo_name), report),
            "model": _short(report.model or ""),
            "landed": " · ".join(
                f"{_short(each.strategy)} {landed_text(each).split(' landed')[0]}"
                for each in report.attempts
            ),
        }
        self._teams.append(row)
        return f"team-{len(self._teams)}"

    def _row(self, report: MergeReport, judged: JudgedAttempt) -> list[Any]:
        """Return a strategy's sign and answer, what is to blame, the lost tests, and the reason."""
        attempt, answer, blame, lost = judged
        return [
            self._name("not_run" if report.failure is not None else _sign_of(attempt, answer)),
            self._name(answer),
            self._name("" if report.failure is not None else wording.blame_text(blame, attempt)),
            [self._lost(each) for each in lost],
            self._name(_why(report, attempt)),
        ]

    def _lost(self, lost: wording.Lost) -> list[Any]:
        """Return a suite's owner, its number of lost tests, of all tests, and the lost names."""
        listed = [self._name(_short(name)) for name in lost.names[:MOST_LISTED]]
        return [self._name(lost.owner), len(lost.names), lost.passed, listed]

    def _name(self, text: str) -> int:
        return self._names.setdefault(text, len(self._names))

    def pieces(self, summary: Summary, policies: Iterable[str] = ()) -> Iterator[str]:
        """Yield the tables of strategies and *policies* as JSON for a script element."""
        head = {
            "answers": wording.ANSWERS,
            "signs": dict(SIGNS),
            "strategies": self._numbers(summary.strategies),
            "policies": self._numbers(policies),
            "names": list(self._names),
        }
        if self._teams:
            head |= {"teams": self._teams, "sizes": list(_sizes(summary))}
        yield f'{embed(head).removesuffix("}")},"rows":['
        for i, row in enumerate(self._rows):
            yield f",{row}" if i else row
        yield "]}"

    def _numbers(self, names: Iterable[str]) -> Sequence[int]:
        return [self._name(name) for name in names]


def _sizes(summary: Summary) -> Iterator[list[str]]:
    for size, teams in summary.teams.items():
        for each in teams.strategies.values():
            share = "-" if each.landed.mean is None else f"{each.landed.mean:.1%}"
            counts = f"{each.verdicts.pairs:,}", share, f"{each.verdicts.correct:,}"
            yield [str(size), _short(each.name), *counts]


def _why(report: MergeReport, attempt: Attempt) -> str:
    """Return how a strategy or its tests failed; empty if the pair's problem says it already."""
    if attempt.failure:
        return _short(attempt.failure)
    if report.problem:
        return ""
    runs = zip(wording.suite_titles(report), wording.merged_runs(report, attempt), strict=True)
    return "; ".join(
        f"{title}: {wording.judged_text(run, judgement, in_full=True)}"
        for title, (run, judgement) in runs
        if run is not None and outcome_of(run, judgement) is not True
    )


def _short(text: str) -> str:
    return shortened(text, _MOST_NOTE)


def _sign_of(attempt: Attempt, answer: str) -> str:
    """Return the key of an attempt's sign; *answer* is its answer as a summary counts it."""
    merged = attempt.status in {MergeStatus.CLEAN, MergeStatus.RESOLVED}
    tests = (attempt.feature1_tests, attempt.feature2_tests)
    if answer == _UNANSWERED and merged and tests == (None, None):
        return _UNTESTED
    return answer

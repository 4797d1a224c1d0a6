"""The part of the page about teams: HTML that needs no script, with folded details."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Final

from cooperbench_eval.analysis.summary import TeamSummary
from cooperbench_eval.git.merging.conflicts import Conflict
from cooperbench_eval.presentation.page.details import MOST_NAMES
from cooperbench_eval.presentation.page.embedding import whole_characters
from cooperbench_eval.presentation.views import wording
from cooperbench_eval.presentation.views.plans import left_out_text, owner_text
from cooperbench_eval.presentation.views.reports import landed_text
from cooperbench_eval.reporting import FeatureReport, Verdict
from cooperbench_eval.reporting.landings import BrokenTests, LeftOut, LeftOutReason
from cooperbench_eval.reporting.teams import TeamAttempt, TeamReport, TeamStep
from cooperbench_eval.running.results import Judgement, TestResult, outcome_of
from cooperbench_eval.support.rendering.visible import visible

_LONGEST: Final = 2_000
_MOST_TEXTS: Final = 50
_CLASSES: Final = {
    Verdict.CORRECT: "correct",
    Verdict.INCORRECT: "incorrect",
    Verdict.UNHANDLED: "unhandled",
    Verdict.NOT_RUN: "not_run",
}
_RELATIONS: Final = {
    LeftOutReason.CONFLICT: ("unhandled", "conflict"),
    LeftOutReason.BREAKS: ("incorrect", "breaks tests"),
    LeftOutReason.STRATEGY_FAILED: ("unhandled", "strategy failed"),
    LeftOutReason.DUPLICATE: ("not_run", "same changes"),
}
_TOGETHER: Final = ("correct", "land together")


def sizes_html(teams: Mapping[int, TeamSummary]) -> str:
    """Return how many features land, by the size of the team and the strategy."""
    rows = [
        [
            _text(text)
            for text in (
                str(size),
                strategy.name,
                f"{strategy.verdicts.pairs:,}",
                _mean(strategy.landed.mean),
                f"{strategy.verdicts.correct:,}",
            )
        ]
        for size, summary in teams.items()
        for strategy in summary.strategies.values()
    ]
    header = ("features", "strategy", "teams", "share landed", "correct")
    return _table("What landed, by the size of the team", header, rows)


def _mean(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


class TeamHtml:
    """The HTML of one team; all its texts have at most fifty times *text_limit* bytes.

    A diff that the team has several times is shown once.
    """

    def __init__(self, report: TeamReport, number: int, text_limit: int) -> None:
        self._report = report
        self._number = number
        self._limit = text_limit
        self._room = text_limit * _MOST_TEXTS
        self._shown: dict[bytes, str] = {}

    def pieces(self) -> Iterator[str]:
        """Yield the HTML, piece by piece."""
        report = self._report
        yield f'<details class="team" id="team-{self._number}"><summary>{self._title()}</summary>'
        yield _facts(report)
        if report.warnings:
            yield _list(report.warnings, "warnings")
        yield "<h3>Features</h3>"
        header = ("feature", "patch", "its tests alone", "its tests on the base")
        yield _table("Each feature by itself", header, map(_feature, report.features))
        if report.attempts:
            yield "<h3>Which features land together</h3>"
            yield from self._matrix()
        for attempt in report.attempts:
            yield from self._attempt(attempt)
        if not report.attempts:
            yield "<p>No strategy was tried.</p>"
        yield "</details>\n"

    def _title(self) -> str:
        report = self._report
        numbers = ", ".join(map(str, report.numbers))
        landed = " · ".join(
            f"{_text(each.strategy)} {landed_text(each).split(' landed')[0]}"
            for each in report.attempts
        )
        model = f" by {_text(report.model)}" if report.model else ""
        task = f"{_text(report.repo_name)}/{report.task_id}"
        return f'<b>{task}: features {numbers}</b>{model} <span class="beside">{landed}</span>'

    # --- which features land together ---

    def _matrix(self) -> Iterator[str]:
        numbers = self._report.numbers
        rows = [
            [f"feature {later}", *(self._pair(earlier, later) for earlier in numbers[:place])]
            + [""] * (len(numbers) - 1 - place)
            for place, later in enumerate(numbers)
            if place
        ]
        header = ("merged into", *(f"feature {number}" for number in numbers[:-1]))
        yield _table("Which features land together", header, rows, kind="matrix")

    def _pair(self, earlier: int, later: int) -> str:
        """Return whether two features land together under each strategy, with folded details."""
        found: dict[tuple[str, str], list[str]] = {}
        details: list[str] = []
        for attempt in self._report.attempts:
            relation, reason = _relation(attempt, earlier, later)
            found.setdefault(relation, []).append(_text(attempt.strategy))
            if reason is not None:
                why = _text(left_out_text(reason, named=False))
                details.append(f"<b>{_text(attempt.strategy)}</b>: {why}{_tests(reason.tests)}")
        short = "<br>".join(
            f'<span class="result {kind}">{words}</span> <span class="beside">'
            f"{', '.join(strategies)}</span>"
            for (kind, words), strategies in found.items()
        )
        if not details:
            return short
        items = "".join(f"<li>{each}</li>" for each in details)
        return f"<details><summary>{short}</summary><ul>{items}</ul></details>"

    # --- a strategy ---

    def _attempt(self, attempt: TeamAttempt) -> Iterator[str]:
        name = _text(attempt.strategy)
        verdict = (
            f'<span class="result {_CLASSES[attempt.verdict]}">{_spoken(attempt.verdict)}</span>'
        )
        blame = wording.blame_text(self._report.blame(attempt.strategy))
        yield f"<h3>{name}: {landed_text(attempt)}</h3>"
        yield f"<p>Verdict on all features together: {verdict}. To blame: {_text(blame)}.</p>"
        if attempt.left_out:
            yield "<ul>"
            for each in attempt.left_out:
                why = _text(left_out_text(each, named=False))
                yield f"<li>{why}{_tests(each.tests)}</li>"
            yield "</ul>"
        if attempt.steps:
            rows = [self._step(attempt.strategy, each) for each in attempt.steps]
            header = ("merge", "status", "conflicts", "result")
            yield _table(f"The merges of {attempt.strategy}", header, rows)
        runs = [*attempt.tests, *attempt.landed_tests]
        if runs:
            trees = ["all features"] * len(attempt.tests)
            trees += ["the landed features"] * len(attempt.landed_tests)
            rows = [
                [_text(owner_text(run)), tree, _run(run.tests, run.judgement)]
                for tree, run in zip(trees, runs, strict=True)
            ]
            yield _table(f"Tests under {attempt.strategy}", ("suite", "tree of", "result"), rows)

    def _step(self, strategy: str, step: TeamStep) -> list[str]:
        where = f"feature {step.feature} into {wording.features_text(step.into)}"
        left = 0 if step.conflict_details is None else step.conflict_details.conflict_sections
        conflicts = f"{step.conflicts_met:,} met, {left:,} left"
        if step.conflicts:
            shown = [self._conflict(each, step) for each in step.conflicts[:MOST_NAMES]]
            more = wording.and_more(len(step.conflicts) - MOST_NAMES, "conflict")
            details = "".join((*shown, *more))
            conflicts = f"<details><summary>{conflicts}</summary>{details}</details>"
        failure = f'<div class="beside">{_text(step.failure)}</div>' if step.failure else ""
        place = f"{strategy}, {where}"
        return [
            _text(where),
            f"{_spoken(step.status)}{failure}",
            conflicts,
            self._diff(step, place),
        ]

    def _diff(self, step: TeamStep, place: str) -> str:
        if step.diff is None:
            return "none"
        if step.diff in self._shown:
            return f'<span class="beside">as after {_text(self._shown[step.diff])}</span>'
        self._shown[step.diff] = place
        code = self._code(step.diff, f"diff after {place}")
        return f"<details><summary>diff</summary>{code}</details>"

    def _conflict(self, conflict: Conflict, step: TeamStep) -> str:
        line = "" if conflict.line is None else f", line {conflict.line}"
        title = f"<code>{_text(conflict.path)}</code>{line}: {_text(conflict.kind)}"
        ours, theirs = wording.features_text(step.into), f"feature {step.feature}"
        sides = (
            ("base", "base", conflict.base),
            (f"ours: {ours}", "ours", conflict.ours),
            (f"theirs: {theirs}", "theirs", conflict.theirs),
        )
        figures = "".join(
            f'<figure class="version {kind}"><figcaption>{words}</figcaption>'
            f"{self._version(text, f'{conflict.path} {words}')}</figure>"
            for words, kind, text in sides
        )
        return f'<p>{title}</p><div class="side-by-side">{figures}</div>'

    def _version(self, text: bytes | None, label: str) -> str:
        if text is None:
            return '<p class="beside">no such file</p>'
        return self._code(text, label) if text else '<p class="beside">no lines</p>'

    def _code(self, text: bytes, label: str) -> str:
        """Return lines as they are; what does not fit is left out, with a note."""
        size = whole_characters(text, min(self._limit, self._room))
        self._room -= size
        lines = text[:size].decode("utf-8", "surrogateescape").split("\n")
        if len(lines) > 1 and not lines[-1]:
            lines.pop()
        shown = "".join(f'<span class="line">{_line(each)}</span>' for each in lines)
        left = len(text) - size
        more = f'<span class="beside">… {left:,} more bytes are left out</span>' if left else ""
        return f'<pre tabindex="0" role="group" aria-label="{_text(label)}">{shown}{more}</pre>'


def _relation(
    attempt: TeamAttempt, earlier: int, later: int
) -> tuple[tuple[str, str], LeftOut | None]:
    """Return whether two features land together under a strategy, and if not, why."""
    landed = set(attempt.landed)
    if {earlier, later} <= landed:
        return _TOGETHER, None
    for each in attempt.left_out:
        other = later if each.number == earlier else earlier
        if each.number in {earlier, later} and other in each.features:
            return _RELATIONS.get(each.reason, ("not_run", _spoken(each.reason))), each
    return ("not_run", "not known"), None


def _facts(report: TeamReport) -> str:
    status = wording.spoken(report.merge_status)
    failure = f", {wording.failure_text(report.failure)}" if report.failure else ""
    score = "" if report.conflict_score is None else f", score {report.conflict_score:,}"
    facts = {
        "git's merges in this order": f"{status}{score}{failure}",
        "model": report.model,
        "setting": report.setting,
        "try": str(report.k),
        "evaluated": report.timestamp.isoformat(" ", "seconds"),
        "base commit": report.base_commit,
    }
    rows = (
        f"<div><dt>{name}</dt><dd>{_text(value)}</dd></div>"
        for name, value in facts.items()
        if value
    )
    return f'<dl class="facts">{"".join(rows)}</dl>'


def _feature(feature: FeatureReport) -> list[str]:
    kind = "" if feature.patch.is_usable else ' class="bad"'
    patch = f"<span{kind}>{_text(wording.patch_text(feature.patch))}</span>"
    return [
        f"feature {feature.number}",
        patch,
        _run(feature.tests, feature.judgement),
        "not run" if feature.base_tests is None else _text(wording.run_text(feature.base_tests)),
    ]


def _run(run: TestResult | None, judgement: Judgement | None) -> str:
    if run is None:
        return "not run"
    kind = {True: "good", False: "bad", None: ""}[outcome_of(run, judgement)]
    return f'<span class="{kind}">{_text(wording.judged_text(run, judgement))}</span>'


def _tests(broken: Iterable[BrokenTests]) -> str:
    """Return the names of tests, folded, by the suites' owners."""
    return "".join(
        f"<details><summary>{_text(wording.counted(len(each.tests), 'test'))} of "
        f"{_text(owner_text(each))}</summary>{_list(each.tests, 'names')}</details>"
        for each in broken
        if each.tests
    )


def _list(texts: Sequence[str], kind: str) -> str:
    items = [f"<li>{_text(each)}</li>" for each in texts[:MOST_NAMES]]
    items += [f"<li>{each}</li>" for each in wording.and_more(len(texts) - MOST_NAMES)]
    return f'<ul class="{kind}">{"".join(items)}</ul>'


def _table(label: str, header: Iterable[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """Return a table of cells that are HTML already; the first one of a row is its head."""
    heads = "".join(f'<th scope="col">{_text(each)}</th>' for each in header)
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for first, *cells in rows
    )
    return (
        f'<div class="wide {kind}" role="group" aria-label="{_text(label)}" tabindex="0">'
        f'<table aria-label="{_text(label)}"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _spoken(value: str) -> str:
    return escape(wording.spoken(value))


def _text(text: str) -> str:
    return escape(visible(text, _LONGEST))


def _line(text: str) -> str:
    return "\t".join(escape(visible(part, len(part) * 10)) for part in text.split("\t"))

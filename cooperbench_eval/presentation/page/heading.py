"""The part of the page that needs no script: what was run, and the strategies' results."""

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from html import escape
from importlib.metadata import version

from cooperbench_eval.analysis.policies import Policy, PolicyRule
from cooperbench_eval.analysis.summary import Summary
from cooperbench_eval.analysis.verdicts import JudgedSummary
from cooperbench_eval.presentation.page.embedding import in_address
from cooperbench_eval.presentation.page.index import SIGNS
from cooperbench_eval.presentation.views import wording
from cooperbench_eval.presentation.views.summaries import problem_texts, unanswerable_texts
from cooperbench_eval.reporting.teams import GroupReport
from cooperbench_eval.support.rendering.visible import visible

_MOST_VERSIONS = 10
_BAR_WIDTH = 240
_WRAPS = re.compile(r"(?<=[^\W_])[_/.:]+(?=[^\W\d_])")  # as in shared.js


class Origins:
    """When the first and the last evaluation began, and each combination of versions."""

    def __init__(self) -> None:
        self.first: dt.datetime | None = None
        self.last: dt.datetime | None = None
        self.versions: dict[str, None] = {}

    def add(self, report: GroupReport) -> None:
        """Add a report."""
        time = report.timestamp
        self.first = time if self.first is None else min(self.first, time)
        self.last = time if self.last is None else max(self.last, time)
        if len(self.versions) <= _MOST_VERSIONS:
            named = ", ".join(f"{name} {value}" for name, value in report.versions.items())
            self.versions[named] = None


def heading_html(title: str, summary: Summary, policies: Sequence[Policy]) -> str:
    """Return title, origins and summary as HTML that needs no script; it shows *policies*."""
    return "\n".join(
        [
            f"<h1>{_text(title)}</h1>",
            *(f"<p>{line}</p>" for line in _about(summary)),
            *(_strategies(summary, policies) if _has_pairs(summary) else ()),
        ]
    )


def footer_html(origins: Origins, text_limit: int) -> str:
    """Return when the pairs were evaluated, with what, and what the page leaves out."""
    return "\n".join(f"<p>{line}</p>" for line in (*_origin(origins), _left_out(text_limit)))


def _text(text: str) -> str:
    return escape(visible(text))


def _has_pairs(summary: Summary) -> bool:
    """Whether the page is about pairs; one without any reports is, too."""
    return bool(summary.pairs or not summary.teams)


def _about(summary: Summary) -> Iterator[str]:
    if _has_pairs(summary):
        yield from _about_pairs(summary)
        yield from map(_problem, problem_texts(summary, "pair"))
    teams = sum(each.teams for each in summary.teams.values())
    if teams:
        yield f"<strong>{wording.counted(teams, 'team')}</strong>, listed below"
        for size in summary.teams.values():
            yield from map(_problem, problem_texts(size, "team"))


def _problem(text: str) -> str:
    return f'<strong class="bad">{escape(text)}</strong>'


def _about_pairs(summary: Summary) -> Iterator[str]:
    statuses = [
        f"{count:,} {_link(wording.spoken(status), {'status': wording.spoken(status)})}"
        for status, count in summary.statuses.items()
    ]
    pairs = f"<strong>{wording.counted(summary.pairs, 'pair')}</strong>"
    yield f"{pairs}: {', '.join(statuses)}" if statuses else pairs
    if summary.failures:
        reasons = [f"{count:,} {wording.spoken(kind)}" for kind, count in summary.failures.items()]
        yield f"Not evaluated: {_text(', '.join(reasons))}"
    if summary.repeated:
        yield f"{summary.repeated:,} of them are duplicates of another report (same pair and try)"


def _origin(origins: Origins) -> Iterator[str]:
    if origins.first and origins.last:
        times = [each.isoformat(" ", "minutes") for each in (origins.first, origins.last)]
        when = times[0] if times[0] == times[1] else f"from {times[0]} to {times[1]}"
        versions = list(origins.versions)
        if len(versions) > _MOST_VERSIONS:
            versions[_MOST_VERSIONS:] = ["and others"]
        yield _text(f"Evaluated {when}") + "".join(
            f"<br>with {_text(each)}" for each in versions if each
        )


def _left_out(text_limit: int) -> str:
    return (
        f"Written by cooperbench_eval {version('cooperbench-eval')}. The output of test runs is "
        f"left out. At most {text_limit:,} bytes of each hunk, and of each version of a "
        "conflict or function, are shown."
    )


# --- strategies and policies -------------------------------------------------


def _strategies(summary: Summary, policies: Sequence[Policy]) -> Iterator[str]:
    if not summary.strategies:
        yield "<p>No strategy was tried.</p>"
        return
    yield '<div class="wide" role="region" aria-label="Strategies" tabindex="0">'
    yield '<table aria-label="How the pairs ended under each strategy">'
    has_gaps = any(each.verdicts.unanswered for each in summary.strategies.values())
    heads = ["strategy", "", "rate", "interval", *["of all"] * has_gaps]
    heads += [f"{_mark(key)} {words}" for key, words in wording.ANSWERS.items()]
    cells = (f'<th scope="col">{each}</th>' if each else "<td></td>" for each in heads)
    yield f"<thead><tr>{''.join(cells)}</tr></thead><tbody>"
    for strategy in summary.strategies.values():
        yield _row(strategy, strategy.name, {"strategy": strategy.name}, has_gaps=has_gaps)
    for policy in policies:
        judged, filters = summary.policies[policy.name], {"policy": policy.name}
        yield _row(judged, f"[{policy.name}]", filters, has_gaps=has_gaps)
    yield "</tbody></table></div>"
    yield from _legend(summary, policies)


def _legend(summary: Summary, policies: Sequence[Policy]) -> Iterator[str]:
    """Yield what the table's words and signs mean, folded."""
    yield "<details><summary>What the names, signs and numbers mean</summary><dl>"
    for key, sign in SIGNS.items():
        yield f"<div><dt>{_mark(key)} {sign.words}</dt><dd>{sign.meaning}</dd></div>"
    yield (
        "<div><dt>rate</dt><dd>the share of correct pairs among those with an answer (correct, "
        "incorrect, unhandled, missing input); unanswered pairs are seldom "
        "like the others, so the rate of all pairs may differ</dd></div>"
        f"<div><dt>interval</dt><dd>the rate's {summary.confidence:.0%} interval</dd></div>"
        "<div><dt>of all</dt><dd>the least and the greatest share of all pairs that can be "
        "correct, whatever the result of the unanswered pairs</dd></div>"
    )
    for policy in policies:
        yield f"<div><dt>[{_text(policy.name)}]</dt><dd>{_text(_rule(policy))}</dd></div>"
    for text in unanswerable_texts(summary):
        yield f"<div><dt>not shown</dt><dd>{_text(text)}</dd></div>"
    yield "</dl></details>"


def _rule(policy: Policy) -> str:
    end = "passes" if policy.rule is PolicyRule.ANY_PASSES else "merges"
    names = policy.strategies
    first = f"the first of {', '.join(names)} that {end}" if len(names) > 1 else " ".join(names)
    words = [first] * bool(names)
    words += ["feature 1 alone"] * policy.lead_alone
    return f"a policy: {', else '.join(words)}"


def _mark(key: str) -> str:
    return f'<span class="result {key}" aria-hidden="true">{SIGNS[key].symbol}</span>'


def _row(judged: JudgedSummary, name: str, filters: dict[str, str], *, has_gaps: bool) -> str:
    counts = wording.answer_counts(judged.verdicts)
    cells = [_text(text) for text in wording.correct_texts(judged)]
    cells += [_text(wording.bounds_text(judged.verdicts))] * has_gaps
    cells += [_count(count, name, answer, filters) for answer, count in counts.items()]
    numbers = "".join(f'<td class="number">{cell}</td>' for cell in cells)
    wrapped = _WRAPS.sub(r"\g<0><wbr>", _text(name))
    return f'<tr><th scope="row">{wrapped}</th><td class="bar">{_bar(counts)}</td>{numbers}</tr>'


def _count(count: int, name: str, answer: str, filters: dict[str, str]) -> str:
    if not count:
        return "0"
    label = f"{wording.counted(count, 'pair')} {wording.ANSWERS[answer]} under {name}"
    return _link(f"{count:,}", {**filters, "verdict": answer}, label)


def _link(text: str, filters: dict[str, str], label: str = "") -> str:
    target = "&".join(f"{name}={in_address(value)}" for name, value in filters.items())
    said = f' aria-label="{_text(label)}"' if label else ""
    return f'<a href="#{target}"{said}>{_text(text)}</a>'


def _bar(counts: dict[str, int]) -> str:
    total = sum(counts.values())
    drawn = [f'<svg viewBox="0 0 {_BAR_WIDTH} 12" preserveAspectRatio="none" aria-hidden="true">']
    before = 0
    for answer, count in counts.items():
        if count:
            start, width = (_BAR_WIDTH * n / total for n in (before, count))
            drawn.append(
                f'<rect class="{answer}" x="{start:.1f}" width="{width:.1f}" height="12"/>'
            )
            before += count
    return "".join([*drawn, "</svg>"])

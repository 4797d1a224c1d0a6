"""The part of the page that needs no script: what was run, and the strategies' results."""

import datetime as dt
from collections.abc import Iterator
from html import escape
from importlib.metadata import version
from urllib.parse import urlencode

from cooperbench_eval.analysis.summary import Summary
from cooperbench_eval.analysis.verdicts import StrategySummary
from cooperbench_eval.display.visible import visible
from cooperbench_eval.reporting.teams import GroupReport
from cooperbench_eval.views import wording

__all__ = ["Origins", "heading_html"]

_MOST_VERSIONS = 10
_BAR_WIDTH = 240


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


def heading_html(title: str, summary: Summary, origins: Origins, text_limit: int) -> str:
    """Return title, origins and summary as HTML that needs no script."""
    return "\n".join(
        [
            f"<h1>{_text(title)}</h1>",
            *(f"<p>{line}</p>" for line in _about(summary, origins)),
            *(_strategies(summary) if _has_pairs(summary) else ()),
            f'<p class="beside">{_text(_left_out(text_limit))}</p>',
        ]
    )


def _text(text: str) -> str:
    return escape(visible(text))


def _has_pairs(summary: Summary) -> bool:
    """Whether the page is about pairs; one without any reports is, too."""
    return bool(summary.pairs or not summary.teams)


def _about(summary: Summary, origins: Origins) -> Iterator[str]:
    if _has_pairs(summary):
        yield from _about_pairs(summary)
    teams = sum(each.teams for each in summary.teams.values())
    if teams:
        yield f"<strong>{wording.counted(teams, 'team')}</strong>, listed below"
    if origins.first and origins.last:
        times = [each.isoformat(" ", "minutes") for each in (origins.first, origins.last)]
        when = times[0] if times[0] == times[1] else f"from {times[0]} to {times[1]}"
        versions = list(origins.versions)
        if len(versions) > _MOST_VERSIONS:
            versions[_MOST_VERSIONS:] = ["and others"]
        yield _text(f"Evaluated {when}") + "".join(
            f"<br>with {_text(each)}" for each in versions if each
        )


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


def _left_out(text_limit: int) -> str:
    return (
        f"Written by cooperbench_eval {version('cooperbench-eval')}. The output of test runs is "
        f"left out. At most {text_limit:,} bytes of each hunk, and of each version of a "
        "conflict or function, are shown."
    )


# --- strategies --------------------------------------------------------------


def _strategies(summary: Summary) -> Iterator[str]:
    if not summary.strategies:
        yield "<p>No strategy was tried.</p>"
        return
    yield (
        '<p class="beside">How the pairs ended under each strategy. The rate is the share of '
        "correct pairs among those with an answer (correct, incorrect, unhandled, missing input), "
        f"with its {summary.confidence:.0%} interval.</p>"
    )
    yield '<div class="wide" role="region" aria-label="Strategies" tabindex="0">'
    yield '<table aria-label="How the pairs ended under each strategy">'
    names = ["strategy", "rate", "interval", *wording.ANSWERS.values()]
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    yield f'<thead><tr>{heads}<td class="bar"></td></tr></thead><tbody>'
    for strategy in summary.strategies.values():
        yield _row(strategy)
    yield "</tbody></table></div>"


def _row(strategy: StrategySummary) -> str:
    counts = wording.answer_counts(strategy.verdicts)
    cells = [_text(text) for text in wording.correct_texts(strategy)]
    cells += [_count(count, strategy.name, answer) for answer, count in counts.items()]
    numbers = "".join(f'<td class="number">{cell}</td>' for cell in cells)
    return (
        f'<tr><th scope="row">{_text(strategy.name)}</th>{numbers}'
        f'<td class="bar">{_bar(counts)}</td></tr>'
    )


def _count(count: int, strategy: str, answer: str) -> str:
    if not count:
        return "0"
    label = f"{wording.counted(count, 'pair')} {wording.ANSWERS[answer]} under {strategy}"
    return _link(f"{count:,}", {"strategy": strategy, "verdict": answer}, label)


def _link(text: str, filters: dict[str, str], label: str = "") -> str:
    # An address cannot hold a lone surrogate. As in the page's script, it is escaped.
    values = {name: value.replace("\\", "\\\\") for name, value in filters.items()}
    target = urlencode(values, errors="backslashreplace")
    said = f' aria-label="{_text(label)}"' if label else ""
    return f'<a href="#{escape(target)}"{said}>{_text(text)}</a>'


def _bar(counts: dict[str, int]) -> str:
    """Draw the counts as one bar. The numbers in the row say the same."""
    total = sum(counts.values())
    drawn = [f'<svg viewBox="0 0 {_BAR_WIDTH} 12" aria-hidden="true">']
    before = 0
    for answer, count in counts.items():
        if count:
            start, width = (_BAR_WIDTH * n / total for n in (before, count))
            drawn.append(
                f'<rect class="{answer}" x="{start:.1f}" width="{width:.1f}" height="12"/>'
            )
            before += count
    return "".join([*drawn, "</svg>"])

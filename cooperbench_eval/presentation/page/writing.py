"""`write_page` writes reports as one HTML file, pair by pair, with its style and its script."""

import base64
import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import IO

from attrs import define, field

from cooperbench_eval.analysis.facts import GroupFacts
from cooperbench_eval.analysis.policies import POLICIES, Policy, answers_of, find_policies
from cooperbench_eval.analysis.sources import facts_of, iterate_all_reports
from cooperbench_eval.analysis.summarizing import summarize
from cooperbench_eval.errors import ArgumentError, ReportError
from cooperbench_eval.presentation.page.details import details_of
from cooperbench_eval.presentation.page.embedding import embed
from cooperbench_eval.presentation.page.heading import Origins, footer_html, heading_html
from cooperbench_eval.presentation.page.index import Index, JudgedAttempt, JudgedTeam
from cooperbench_eval.presentation.views.wording import lost_tests
from cooperbench_eval.reporting.explanation import Explanation
from cooperbench_eval.reporting.identity import PairId
from cooperbench_eval.reporting.teams import GroupReport, TeamReport
from cooperbench_eval.support.arguments import checked
from cooperbench_eval.support.rendering.visible import visible
from cooperbench_eval.support.staging import staged


@checked(reports=None)
def write_page(
    reports: Iterable[GroupReport],
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    text_limit: int = 20_000,
    explanations: Iterable[Explanation] = (),
    policies: str | Policy | Iterable[str | Policy] | None = None,
) -> Path:
    """Write a run as one HTML file that a browser can open offline.

    The page shows how the pairs ended under each strategy, and a table of all pairs that
    can be filtered and sorted. Each pair can be opened to see the tests that a merge lost
    with the code that their failures lead to, its features and strategies, every conflict
    with base, both sides and each strategy's resolution, both patches, and each merge. The
    output of test runs is left out.

    Below the pairs is a table of the teams. A team is opened like a pair; it also shows which
    of its features land together, why the others do not, and every merge with its conflicts
    and its diff.

    Each report is read once and not kept. Its details are written at once, and only a
    small row stays in memory until the end. The file appears whole or not at all.

    Args:
        reports: The reports of pairs and teams, such as a list or a store of them.
        path: The file to write. An existing file is replaced, and a missing folder is
            created.
        title: The title of the page; by default "Merged pairs" or "Merged teams".
        text_limit: How many bytes of one hunk, or of one version of a conflict or function,
            are shown. All texts of a pair together may take fifty times as many.
        explanations: Explanations of merges that lost tests; each is shown with its pair.
        policies: The policies to judge by, as in `summarize`; by default those of `POLICIES`
            that the reports can answer.

    Returns:
        The path of the file.

    Raises:
        ReportError: The file cannot be written, or a store's report cannot be read.
        AnalysisError: *reports* holds facts, but the page needs whole reports; or a policy is
            unknown or given twice.
        ArgumentError: *reports* holds something other than reports, or *text_limit* is
            negative.

    Example:
        >>> from tempfile import mkdtemp
        >>> write_page([], f"{mkdtemp()}/run.html").name
        'run.html'
    """
    if text_limit < 0:
        raise ArgumentError("text_limit", f"must be 0 or more, not {text_limit}")
    target = _named(path)
    given = None if policies is None else find_policies(policies)
    judges = find_policies(tuple(POLICIES)) if given is None else given
    source = iterate_all_reports(reports, "a page")
    with _errors_of(target):
        target.absolute().parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if target.exists() and not target.is_file():
            raise OSError(errno.EEXIST, "a pipe, socket or device is not replaced")
        folder = target.absolute().parent
        spool = tempfile.TemporaryFile("w+", encoding="ascii", newline="\n", dir=folder)  # noqa: SIM115 - below
    with spool:
        written = _Reports(spool, target, text_limit, _by_pair(explanations), judges)
        summary = summarize(written.facts_of(source), policies=given)
        shown = [each for each in judges if each.name not in summary.unanswerable]
        about_teams = bool(summary.teams and not summary.pairs)
        title = title if title is not None else ("Merged teams" if about_teams else "Merged pairs")
        heading = heading_html(title, summary, shown)
        footer = footer_html(written.origins, text_limit)
        with (
            _errors_of(target),
            staged(target) as part,
            part.open("x", encoding="utf-8", newline="\n") as file,
        ):
            has_teams, has_pairs = bool(summary.teams), not about_teams
            before, after = _frame(title, heading, footer, has_teams=has_teams, has_pairs=has_pairs)
            file.write(before)
            spool.seek(0)
            shutil.copyfileobj(spool, file, 1 << 16)
            file.writelines(written.index.pieces(summary, [each.name for each in shown]))
            file.write(after)
    return target


def _named(path: str | os.PathLike[str]) -> Path:
    try:
        is_name = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        is_name = False
    if not is_name:
        raise ReportError("cannot be written (no file can have this name)", visible(str(path)))
    return Path(path)


def _by_pair(explanations: Iterable[Explanation]) -> dict[PairId, list[Explanation]]:
    found: dict[PairId, list[Explanation]] = {}
    for explanation in explanations:
        found.setdefault(explanation.pair, []).append(explanation)
    return found


@define
class _Reports:
    """Writes the details of pairs and teams, and collects what the rest of the page needs."""

    spool: IO[str]
    target: Path
    text_limit: int
    explanations: Mapping[PairId, Sequence[Explanation]]
    policies: Sequence[Policy]
    index: Index = field(factory=Index)
    origins: Origins = field(factory=Origins)

    def facts_of(self, reports: Iterator[GroupReport]) -> Iterator[GroupFacts]:
        for report in reports:
            self.origins.add(report)
            yield self._written(report)
        with _errors_of(self.target):
            self.spool.write('<script type="application/json" id="index">')

    def _written(self, report: GroupReport) -> GroupFacts:
        judged: list[JudgedAttempt] | list[JudgedTeam]
        facts: GroupFacts
        if isinstance(report, TeamReport):
            facts = facts_of(report)
            answers = dict(answers_of(facts, ()).strategies)
            judged = [
                JudgedTeam(row, answers[row.strategy], report.blame(row.strategy))
                for row in report.attempts
            ]
            name = self.index.add_team(report)
        else:
            facts = facts_of(report)
            found = answers_of(facts, self.policies)
            answers = dict(found.strategies)
            judged = [
                JudgedAttempt(row, answers[row.strategy], blame, lost_tests(report, blame))
                for row in report.attempts
                for blame in [report.blame(row.strategy)]
            ]
            name = self.index.add(report, facts, judged, found.policies)
        explanations = self.explanations.get(PairId.of(report), ())
        details = embed(details_of(report, judged, self.text_limit, explanations))
        with _errors_of(self.target):
            self.spool.write(f'<script type="application/json" id="{name}">{details}</script>\n')
        return facts


@contextmanager
def _errors_of(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise ReportError(f"cannot be written ({exc.strerror})", str(target)) from exc


# --- the page around the data ---


_PAIRS = "<!-- pairs -->"
_STYLES = ("shared.css", "overview.css", "pair.css", "diffs.css")
_SCRIPTS = (
    *("shared.js", "pairs.js", "filters.js", "groups.js", "overview.js"),
    *("syntax.js", "diffs.js", "losses.js", "pair.js"),
)


def _frame(
    title: str, heading: str, footer: str, *, has_teams: bool, has_pairs: bool
) -> tuple[str, str]:
    """Return the page before the data of its entries, and after it.

    The end begins with that of the index's script element. Only a page with teams has their
    section, its style and its script.
    """
    style, script = "".join(map(_part, _STYLES)), _script(has_teams=has_teams)
    if has_teams:
        style += _part("teams.css")
    page = Template(_part("page.html")).substitute(
        policy=_policy(style, script),
        title=escape(visible(title)),
        style=style,
        script=script,
        heading=heading,
        footer=footer,
        pairs=_PAIRS,
        kind="" if has_pairs else ' class="only-teams"',
        teams='<section id="teams"></section>\n' if has_teams else "",
    )
    before, _, after = page.partition(_PAIRS)
    return before, after


@cache
def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def _script(*, has_teams: bool) -> str:
    """Return the parts of the script as one function, so that none of their names is global."""
    names = (*_SCRIPTS, *(["teams.js"] if has_teams else []), "start.js")
    return '"use strict";\n(() => {\n' + "\n".join(map(_part, names)) + "})();\n"


def _policy(style: str, script: str) -> str:
    """Return the policy: the browser may use this style and this script and load nothing.

    `trusted-types` keeps the page's own script from turning text into markup.
    """
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"

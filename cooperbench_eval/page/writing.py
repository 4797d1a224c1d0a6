"""`write_page` writes reports as one HTML file, pair by pair."""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from attrs import field, frozen

from cooperbench_eval.analysis.facts import PairFacts
from cooperbench_eval.analysis.sources import facts_of, iterate_reports
from cooperbench_eval.analysis.summarizing import summarize
from cooperbench_eval.analysis.tally import answers_of
from cooperbench_eval.display.visible import visible
from cooperbench_eval.errors import ReportError
from cooperbench_eval.models import PairId
from cooperbench_eval.page.details import details_of
from cooperbench_eval.page.embedding import embed
from cooperbench_eval.page.frame import Frame
from cooperbench_eval.page.heading import Origins, heading_html
from cooperbench_eval.page.index import Index
from cooperbench_eval.reporting import MergeReport
from cooperbench_eval.reporting.explanation import Explanation
from cooperbench_eval.staging import staged

__all__ = ["write_page"]


def write_page(
    reports: Iterable[MergeReport],
    path: str | os.PathLike[str],
    *,
    title: str = "Merged pairs",
    text_limit: int = 20_000,
    explanations: Iterable[Explanation] = (),
) -> Path:
    """Write a run as one HTML file that a browser can open offline.

    The page shows how the pairs ended under each strategy, and a table of all pairs that
    can be filtered and sorted. Each pair can be opened to see its features, its strategies,
    the names of lost tests, and every conflict with base, both sides and each strategy's
    resolution. The output of test runs is left out.

    Each report is read once and not kept. Its details are written at once, and only a
    small row stays in memory until the end. The file appears whole or not at all.

    Args:
        reports: The reports, such as a list or a store of them.
        path: The file to write. An existing file is replaced, and a missing folder is
            created.
        title: The title of the page.
        text_limit: How many bytes of one version of a conflict, or of one explained hunk,
            are shown. All texts of a pair together may take fifty times as many.
        explanations: Explanations of merges that lost tests; each is shown with its pair.

    Returns:
        The path of the file.

    Raises:
        ReportError: The file cannot be written, or a store's report cannot be read.
        AnalysisError: *reports* holds facts; the page needs whole reports.
        TypeError: *reports* holds something other than reports.
        ValueError: *text_limit* is negative.

    Example:
        >>> from tempfile import mkdtemp
        >>> write_page([], f"{mkdtemp()}/run.html").name
        'run.html'
    """
    if text_limit < 0:
        raise ValueError(f"{text_limit} bytes cannot be shown")
    target = _named(path)
    source = iterate_reports(reports, "a page")
    with _errors_of(target):
        target.absolute().parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if target.exists() and not target.is_file():
            raise OSError(errno.EEXIST, "a pipe, socket or device is not replaced")
        folder = target.absolute().parent
        spool = tempfile.TemporaryFile("w+", encoding="ascii", dir=folder)  # noqa: SIM115 - below
    with spool:
        pairs = _Pairs(spool, target, text_limit, _by_pair(explanations))
        summary = summarize(pairs.written(source), policies=())
        heading = heading_html(title, summary, pairs.origins, text_limit)
        with (
            _errors_of(target),
            staged(target) as part,
            part.open("x", encoding="utf-8", newline="\n") as file,
        ):
            frame = Frame(title, heading)
            file.write(frame.before)
            spool.seek(0)
            shutil.copyfileobj(spool, file, 1 << 16)
            file.writelines(pairs.index.pieces(summary.strategies))
            file.write(frame.after)
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


@frozen
class _Pairs:
    """Writes the details of pairs to *spool*, and collects what the rest of the page needs."""

    spool: IO[str]
    target: Path
    text_limit: int
    explanations: Mapping[PairId, Sequence[Explanation]]
    index: Index = field(factory=Index)
    origins: Origins = field(factory=Origins)

    def written(self, reports: Iterator[MergeReport]) -> Iterator[PairFacts]:
        """Write each report and yield its facts."""
        for report in reports:
            facts = facts_of(report)
            answers = dict(answers_of(facts, ()).strategies)
            explanations = self.explanations.get(PairId.of(report), ())
            details = embed(details_of(report, answers, self.text_limit, explanations))
            self.index.add(report, answers)
            self.origins.add(report)
            with _errors_of(self.target):
                number = len(self.index)
                self.spool.write(f'<script type="application/json" id="pair-{number}">')
                self.spool.write(f"{details}</script>\n")
            yield facts
        with _errors_of(self.target):
            self.spool.write('<script type="application/json" id="index">')


@contextmanager
def _errors_of(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise ReportError(f"cannot be written ({exc.strerror})", str(target)) from exc

"""Views of an audit, of the origins of lines, and of an explanation of lost tests."""

from collections import Counter
from collections.abc import Iterator

from cooperbench_eval.presentation.views import wording
from cooperbench_eval.presentation.views.plans import left_out_text
from cooperbench_eval.reporting.audits import Audit, AuditedFile, Fate, StrategyComparison
from cooperbench_eval.reporting.explanation import ExplainedHunk, Explanation, Finding, HunkRole
from cooperbench_eval.reporting.landings import SuiteRun, TeamSuite
from cooperbench_eval.reporting.provenance import FileKind, FileProvenance, OriginKind, Provenance
from cooperbench_eval.running.results import TestStatus
from cooperbench_eval.support.rendering.view import Cell, Section, Table, Tone, View, rows_table
from cooperbench_eval.support.rendering.visible import cut_list, visible

_MOST_ROWS = 20
_MOST_COLUMNS = 8
_FEW_FILES = 4
_FEW_NAMES = 4
_NAME = 60
_NOTE = 300
_TONES = {Fate.KEPT: Tone.GOOD, Fate.MOVED: Tone.GOOD, Fate.LOST: Tone.BAD, Fate.CHANGED: Tone.BAD}


def audit_view(audit: Audit) -> View:
    """Describe what became of each feature's work."""
    return View(
        title=_title(audit),
        lines=[
            *map(left_out_text, audit.rejected),
            *_foreign(audit),
            *map(_comparison, audit.comparisons),
            *_suites(audit),
        ],
        tables=[_table(audit)],
        notes=[
            *list(_lost_definitions(audit))[:_MOST_ROWS],
            *wording.and_more(len(audit.files) - _MOST_ROWS, "file"),
            *wording.first(
                wording.cautions(audit.warnings, audit.hazards),
                _MOST_ROWS,
                "such note",
                lambda each: visible(each, _NOTE),
            ),
        ],
    )


def _title(audit: Audit) -> str:
    if audit.is_complete:
        return "no work is lost"
    lost = sum(file.added_lines(Fate.LOST) for file in audit.files)
    restored = sum(file.removed_lines(Fate.LOST) for file in audit.files)
    parts = [
        f"{wording.counted(lost, 'added line')} lost" if lost else "",
        f"{wording.counted(restored, 'removed line')} back" if restored else "",
    ]
    parts += wording.first(audit.lost_files, _FEW_FILES, "file", _lost_text)
    unknown = "not everything is known" if audit.rejected else "work is lost"
    return "; ".join(filter(None, parts)) or unknown


def _lost_text(file: AuditedFile) -> str:
    return f"feature {file.feature}: everything lost in {visible(file.path, _NAME)}"


def _foreign(audit: Audit) -> Iterator[str]:
    added = sum(each.count for each in audit.foreign if not each.is_removed)
    removed = sum(each.count for each in audit.foreign if each.is_removed)
    if added or removed:
        places = sorted({each.path for each in audit.foreign})
        yield (
            f"{wording.counted(added, 'line')} added and {removed:,} removed without a feature, in "
            f"{cut_list(places, _FEW_FILES, _NAME)}"
        )


def _comparison(found: StrategyComparison) -> str:
    name = visible(found.strategy, _NAME)
    if found.failure:
        return f"{name} failed: {found.failure}"
    if found.is_equal:
        return f"{name} gives the same tree"
    differ = wording.counted(len(found.files), "file")
    status = wording.spoken(found.status)
    return f"{name} ({status}) differs in {differ}: {cut_list(found.files, _FEW_FILES, _NAME)}"


def _suites(audit: Audit) -> Iterator[str]:
    if not audit.suites:
        return
    yield f"{audit.passed_suites} of {wording.counted(len(audit.suites), 'suite')} pass"
    for run in audit.suites:
        yield visible(f"{_suite(run)}: {_ended(run)}", _NOTE)


def _ended(run: SuiteRun) -> str:
    if run.tests is None:
        return "not run"
    text = wording.judged_text(run.tests, run.judgement, in_full=True)
    is_open = run.tests.status is TestStatus.INCONCLUSIVE
    return wording.reasoned(run.tests, text) if is_open else text


def _suite(run: SuiteRun) -> str:
    if run.suite is TeamSuite.FEATURE:
        return f"feature {run.feature}'s tests"
    return "the joint tests" if run.suite is TeamSuite.JOINT else "the repository's tests"


def _table(audit: Audit) -> Table:
    header = ("feature", "file", "work", *("added", "kept", "changed", "lost"), "removed", "back")
    rows = [_row(file) for file in audit.files[:_MOST_ROWS]]
    return rows_table(header, rows, numbers=6)


def _row(file: AuditedFile) -> list[Cell | str]:
    kept = file.added_lines(Fate.KEPT) + file.added_lines(Fate.MOVED)
    changed = file.added_lines(Fate.CHANGED) + file.added_lines(Fate.SUPERSEDED)
    numbers = (
        file.added_lines(),
        kept,
        changed,
        file.added_lines(Fate.LOST),
        file.removed_lines(),
        file.removed_lines(Fate.LOST),
    )
    fate = Cell(file.fate.value, _TONES.get(file.fate, Tone.PLAIN))
    return [str(file.feature), visible(file.path, _NAME), fate, *(f"{n:,}" for n in numbers)]


def _lost_definitions(audit: Audit) -> Iterator[str]:
    for file in audit.files:
        for fate in (Fate.LOST, Fate.CHANGED):
            names = [
                visible(each.name, _NAME)
                for each in file.definitions
                if each.fate is fate and not each.is_removed
            ]
            if names:
                shown = cut_list(names, _FEW_NAMES, _NAME)
                yield f"feature {file.feature}, {visible(file.path, _NAME)}: {fate.value} {shown}"


# --- the origins of lines ---


def provenance_view(found: Provenance) -> View:
    """Describe how many lines of each touched file have each origin."""
    counts = found.counts()
    total = ", ".join(f"{count:,} from {name}" for name, count in _sorted(counts)[:_MOST_COLUMNS])
    names = [name for name, _ in _sorted(counts)][:_MOST_COLUMNS]
    files = wording.counted(len(found.files), "file")
    return View(
        title=f"{files} touched: {total or 'no lines'}",
        tables=[rows_table(("file", "is", *names), _origin_rows(found, names), numbers=len(names))],
        notes=wording.and_more(len(found.files) - _MOST_ROWS, "file"),
    )


def _sorted(counts: dict[str, int]) -> list[tuple[str, int]]:
    order = {kind.value: place for place, kind in enumerate(OriginKind)}
    return sorted(counts.items(), key=lambda each: (order.get(each[0], 1), each[0]))


def _origin_rows(found: Provenance, names: list[str]) -> Iterator[list[Cell | str]]:
    for file in found.files[:_MOST_ROWS]:
        counts: Counter[str] = Counter()
        for run in file.runs:
            counts[str(run.origin)] += run.count
        cells = (Cell(f"{counts[name]:,}" if counts[name] else "", _tone(name)) for name in names)
        yield [visible(file.path, _NAME), _kind(file), *cells]


def _kind(file: FileProvenance) -> str:
    words = file.kind.value
    if file.kind is not FileKind.TEXT or file.origin.kind is not OriginKind.BASE:
        words += f" ({file.origin})"
    return words


def _tone(name: str) -> Tone:
    return Tone.BAD if name == OriginKind.UNKNOWN.value else Tone.PLAIN


# --- explanations ---


_MOST_HUNKS = 10
_MOST_LINES = 8
_SHOWN_TESTS = 5
_LONG_NAME = 60
_TEST = 150


def explanation_view(explanation: Explanation) -> View:
    """Describe which hunks break which tests, and the lines of each."""
    runs = wording.counted(explanation.runs_used, "run")
    return View(
        title=wording.explanation_text(visible(explanation.strategy, _LONG_NAME), explanation),
        lines=[
            *filter(None, [explanation.problem]),
            *(line for each in explanation.findings for line in _finding_lines(each)),
            f"{runs} of at most {explanation.budget:,}",
        ],
        tables=[
            table
            for number, hunks in zip(
                explanation.pair.features,
                (explanation.feature1_hunks, explanation.feature2_hunks),
                strict=True,
            )
            for table in _hunks_table(number, hunks, is_sure=explanation.is_minimal)
        ],
    )


def _finding_lines(finding: Finding) -> Iterator[str]:
    tests = cut_list(finding.tests, _SHOWN_TESTS, _TEST)
    yield ": ".join(filter(None, (wording.finding_text(finding), tests)))
    if finding.reason:
        yield finding.reason


def _hunks_table(number: int, hunks: tuple[ExplainedHunk, ...], *, is_sure: bool) -> list[Table]:
    if not hunks:
        return []
    first = sorted(hunks, key=lambda hunk: hunk.role is HunkRole.NEEDED)
    sections = [
        Section(
            title=wording.hunk_text(hunk, visible(hunk.path, _LONG_NAME), is_sure=is_sure),
            rows=_hunk_lines(hunk),
        )
        for hunk in first[:_MOST_HUNKS]
    ]
    rest = wording.and_more(len(hunks) - _MOST_HUNKS, "hunk")
    sections += [Section(title=text, rows=[]) for text in rest]
    return [Table(header=[f"feature {number}"], sections=sections)]


def _hunk_lines(hunk: ExplainedHunk) -> list[list[str]]:
    lines = hunk.text.rstrip("\n").split("\n")
    return [[line] for line in wording.first(lines, _MOST_LINES, "line")]

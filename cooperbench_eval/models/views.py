"""What is shown of a test run and of measured conflicts."""

from cooperbench_eval.display.records import Cell, Column, Section, Table, Tone, View
from cooperbench_eval.display.visible import visible
from cooperbench_eval.models.merges import ConflictDetails
from cooperbench_eval.models.runs import TestCase, TestCaseStatus, TestResult

__all__ = ["conflicts_text", "counted", "details_view", "run_cell", "run_view"]

_SHOWN_FILES = 20
_SHOWN_CASES = 10
_SHOWN_MESSAGE = 80
_BROKEN = frozenset({TestCaseStatus.FAILED, TestCaseStatus.ERROR})


def counted(number: int, noun: str) -> str:
    """Return the number with its noun: `1 line`, `2 lines`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


# --- conflicts ---------------------------------------------------------------


def conflicts_text(details: ConflictDetails) -> str:
    """Return what conflicts come to: their sections, lines, score and severity."""
    sections = counted(details.conflict_sections, "conflict section")
    lines = counted(details.conflict_lines, "line")
    return f"{sections} with {lines}, score {details.conflict_score:,} ({details.severity.value})"


def details_view(details: ConflictDetails) -> View:
    """Describe measured conflicts, file by file; the worst first."""
    files = sorted(details.files, key=lambda file: (-file.score, file.path))
    rows = [
        (file.path, f"{file.sections:,}", f"{file.lines:,}", f"{file.score:,}")
        for file in files[:_SHOWN_FILES]
    ]
    columns = [Column("file"), *(Column(name, True) for name in ("sections", "lines", "score"))]
    table = Table(columns=columns, sections=[Section(rows=rows)])
    more = len(files) - _SHOWN_FILES
    return View(
        title=conflicts_text(details),
        tables=[table] if rows else [],
        notes=[f"and {counted(more, 'more file')}"] if more > 0 else [],
    )


# --- test runs ---------------------------------------------------------------


def run_cell(tests: TestResult | None) -> Cell:
    """Return how a run ended, and how many of its cases passed; empty for none."""
    if tests is None:
        return Cell("")
    tone = Tone.GOOD if tests.passed else Tone.BAD if tests.was_run else Tone.PLAIN
    return Cell(_run_text(tests), tone)


def _run_text(tests: TestResult) -> str:
    status = tests.status.value.replace("_", " ")
    return f"{status} {tests.passed_tests:,}/{tests.total_tests:,}" if tests.cases else status


def run_view(tests: TestResult) -> View:
    """Describe a run: how it ended, why, and which cases did not pass."""
    beside = [
        f"{number:,} {word}"
        for number, word in (
            (tests.skipped_tests, "skipped"),
            (tests.xfailed_tests, "failed as expected"),
        )
        if number
    ]
    where = f" in the sandbox {visible(tests.sandbox, 40)}" if tests.sandbox else ""
    lines = [f"{tests.duration_seconds:.1f} seconds{where}"]
    if tests.reason:
        lines.append(tests.reason)
    if tests.repeats:
        ends = ", ".join(status.value.replace("_", " ") for status in tests.repeats[:_SHOWN_CASES])
        rule = f", {tests.repeat_policy} had to pass" if tests.repeat_policy else ""
        lines.append(f"run {len(tests.repeats)} times: {ends}{rule}")
    missing = tests.missing_tests
    return View(
        title=", ".join([_run_text(tests), *beside]),
        lines=lines,
        tables=_broken_table(tests),
        notes=[f"did not run: {visible(name)}" for name in missing[:_SHOWN_CASES]]
        + _more(len(missing), "did not run"),
    )


def _broken_table(tests: TestResult) -> list[Table]:
    broken = [case for case in tests.cases if case.status in _BROKEN]
    if not broken:
        return []
    rows = [(visible(case.id), _status(case), _first_line(case)) for case in broken[:_SHOWN_CASES]]
    more = len(broken) - _SHOWN_CASES
    if more > 0:
        rows.append((f"and {more:,} more", Cell(""), ""))
    columns = [Column("test"), Column("status"), Column("message")]
    return [Table(columns=columns, sections=[Section(rows=rows)])]


def _status(case: TestCase) -> Cell:
    return Cell(case.status.value, Tone.BAD)


def _first_line(case: TestCase) -> str:
    return visible(case.message[: 10 * _SHOWN_MESSAGE].partition("\n")[0], _SHOWN_MESSAGE)


def _more(number: int, what: str) -> list[str]:
    more = number - _SHOWN_CASES
    return [f"{what}: {more:,} more"] if more > 0 else []

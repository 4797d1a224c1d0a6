"""How an explanation of lost tests is shown."""

from collections.abc import Iterator

from cooperbench_eval.presentation.views import wording
from cooperbench_eval.reporting.explanation import ExplainedHunk, Explanation, Finding, HunkRole
from cooperbench_eval.support.rendering.view import Section, Table, View
from cooperbench_eval.support.rendering.visible import cut_list, visible

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

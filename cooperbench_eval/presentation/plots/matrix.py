"""A task's pairs as a matrix, by conflict score or by a strategy's verdicts."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cooperbench_eval.analysis.facts import PairFacts
from cooperbench_eval.analysis.policies import MISSING, answer_of
from cooperbench_eval.analysis.sources import FactsSource, iterate_facts
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.presentation.plots.looks import INK, Look, is_dark, name_of
from cooperbench_eval.presentation.views import wording
from cooperbench_eval.reporting.report import PairStatus
from cooperbench_eval.reporting.rows import Verdict
from cooperbench_eval.support.arguments import able_to, checked

if TYPE_CHECKING:
    from cooperbench_eval.presentation.plots.canvas import Axes, Canvas, Figure


_MOST_FEATURES = 60
_NUMBERED = 30  # features up to which a cell has room for its number
_SHORT = 3
_INCHES = 0.46
_UNANSWERED = Verdict.NOT_RUN.value

_Place = tuple[int, int]
_Cells = Mapping[_Place, int | str]
"""For each two features of a task, the lower one first, a score, a verdict's value or `MISSING`.

A pair without an answer has `not_run`.
"""


@checked(ax=able_to("get_figure"))
def plot_matrix(
    reports: FactsSource,
    *,
    task: str | None = None,
    strategy: str | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Draw a task's features against each other: a cell is a pair.

    Without *strategy*, a cell holds the conflict score of git's merge, which is 0 if the
    merge is clean. With *strategy*, it holds the verdict as a letter, which the
    legend explains and counts. Pairs with a missing side and unanswered pairs are marked,
    and a cell without a report is blank. Each pair is shown once, below the diagonal,
    whichever feature its report names first.

    Args:
        reports: The reports of a task, or anything that `summarize` takes.
        task: The task, such as `"click/2068"`; needed if there are reports of several.
        strategy: The strategy whose verdicts to show.
        ax: Where to draw; by default in a new figure of a fitting size.

    Returns:
        The figure, which is not kept elsewhere: `figure.savefig("matrix.svg")`.

    Raises:
        AnalysisError: There is no report of the task; the reports are of several tasks
            and *task* is not given; a pair occurs twice, as with several models or tries,
            or has the same feature on both sides; no report has a row of the strategy; or
            the task has more than 60 features.
        ImportError: matplotlib is not installed.
    """
    pairs = _of_one_task(reports, task)
    cells = _cells(pairs, strategy)
    features = sorted({number for place in cells for number in place})
    if len(features) > _MOST_FEATURES:
        raise AnalysisError(f"{len(features)} features are more than can be read")
    from cooperbench_eval.presentation.plots.canvas import Canvas  # noqa: PLC0415

    size = max(2.6, _INCHES * (len(features) - 1))
    canvas = Canvas(ax, size + 1.5, size + 1.3)
    beside = "" if strategy is None else f": {name_of(strategy)}"
    title = f"{name_of(pairs[0].task)}, {wording.counted(len(cells), 'pair')}{beside}"
    _draw_frame(canvas, features, title)
    _draw_cells(canvas, features, cells)
    return canvas.figure


# --- what is drawn -----------------------------------------------------------


def _of_one_task(reports: FactsSource, task: str | None) -> list[PairFacts]:
    by_task: dict[str, list[PairFacts]] = {}
    for facts in iterate_facts(reports):
        by_task.setdefault(facts.task, []).append(facts)
    if not by_task:
        raise AnalysisError("there is no pair to draw")
    if task is None and len(by_task) > 1:
        raise AnalysisError("the pairs are of several tasks; name one of them", tuple(by_task))
    if task is not None and task not in by_task:
        raise AnalysisError(f"there is no pair of {task!r}", tuple(by_task))
    return by_task[task] if task is not None else next(iter(by_task.values()))


def _cells(pairs: list[PairFacts], strategy: str | None) -> _Cells:
    cells: dict[_Place, int | str] = {}
    found = False
    for facts in pairs:
        low, high = sorted(facts.features)
        if low == high:
            raise AnalysisError(f"a pair of {facts.task} has feature {low} on both sides")
        if (low, high) in cells:
            raise AnalysisError(f"features {low} and {high} of {facts.task} occur twice")
        cell = _score(facts) if strategy is None else _verdict(facts, strategy)
        found = found or cell is not None
        cells[low, high] = _UNANSWERED if cell is None else cell
    if strategy is not None and not found:
        names = sorted({attempt.strategy for facts in pairs for attempt in facts.attempts})
        raise AnalysisError(f"no report has a row of {strategy!r}", tuple(names))
    return cells


def _score(facts: PairFacts) -> int | str:
    if facts.merge_status is PairStatus.MISSING_INPUT:
        return MISSING
    if facts.merge_status is PairStatus.NOT_EVALUATED or facts.conflict_score is None:
        return _UNANSWERED
    return facts.conflict_score


def _verdict(facts: PairFacts, strategy: str) -> str | None:
    """Return how a pair ended under *strategy*; `None` if the strategy has no row."""
    for attempt in facts.attempts:
        if attempt.strategy == strategy:
            is_known = facts.merge_status is not PairStatus.NOT_EVALUATED
            return answer_of(attempt) if is_known else _UNANSWERED
    return None


# --- drawing -----------------------------------------------------------------

_LETTERS = {
    Verdict.CORRECT.value: "C",
    Verdict.INCORRECT.value: "I",
    Verdict.UNHANDLED.value: "U",
    MISSING: "M",
    _UNANSWERED: "?",
}


_LOOKS = {
    Verdict.CORRECT.value: Look("#0072B2"),
    Verdict.INCORRECT.value: Look("#D55E00"),
    Verdict.UNHANDLED.value: Look("#F0C870"),
    MISSING: Look("#CC79A7"),
    _UNANSWERED: Look("#DDDDDD", hatch="////"),
}


def _draw_frame(canvas: "Canvas", features: list[int], title: str) -> None:
    """Draw the axes, without the first feature's row and the last one's column: both are empty."""
    ax, last = canvas.ax, len(features) - 1
    ax.set_xlim(-0.5, last - 0.5)
    ax.set_ylim(last + 0.5, 0.5)
    ax.set_aspect("equal", anchor="NW")
    numbers = [str(number) for number in features]
    ax.set_xticks(range(last), numbers[:-1], fontsize="small")
    ax.set_yticks(range(1, last + 1), numbers[1:], fontsize="small")
    ax.tick_params(length=0)
    canvas.add_labels("feature", "feature")
    canvas.add_title(title, "medium")


def _draw_cells(canvas: "Canvas", features: list[int], cells: _Cells) -> None:
    scores = [cell for cell in cells.values() if isinstance(cell, int)]
    shades = canvas.add_shades(scores, "conflict score of git merge") if scores else {}
    for place, cell in cells.items():
        low, high = map(features.index, place)
        look = shades[cell] if isinstance(cell, int) else _LOOKS[cell]
        canvas.add_box(low, high, look)
        if len(features) <= _NUMBERED:
            text = str(cell) if isinstance(cell, int) else _LETTERS[cell]
            colour = "white" if is_dark(look.colour) else INK
            size = "small" if len(text) <= _SHORT else "x-small"
            canvas.ax.text(low, high, text, ha="center", va="center", color=colour, fontsize=size)
    counts = Counter(cells.values())
    shown = [kind for kind in _LETTERS if counts[kind]]
    labels = [f"{_LETTERS[kind]}: {wording.ANSWERS[kind]} ({counts[kind]})" for kind in shown]
    if shown:
        canvas.add_legend([_LOOKS[kind] for kind in shown], labels, columns=min(3, len(shown)))

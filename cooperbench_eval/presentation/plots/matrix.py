"""A task's pairs as a matrix, by conflict score or by a strategy's verdicts."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from attrs import field, frozen

from cooperbench_eval.analysis.answers import MISSING, answer_of
from cooperbench_eval.analysis.facts import PairFacts
from cooperbench_eval.analysis.sources import FactsSource, iterate_facts
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.presentation.views import wording
from cooperbench_eval.reporting.report import PairStatus
from cooperbench_eval.reporting.rows import Verdict
from cooperbench_eval.support.arguments import able_to, checked

if TYPE_CHECKING:
    from cooperbench_eval.presentation.plots.canvas import Axes, Figure, Look

__all__ = ["plot_matrix"]

_MOST_FEATURES = 60
_NUMBERED = 30  # features up to which a cell has room for its number
_SHORT = 3
_INCHES = 0.46
_UNANSWERED = Verdict.NOT_RUN.value

_Place = tuple[int, int]


@frozen(kw_only=True)
class _Matrix:
    """The contents of the figure: a score or an answer for each two features of a task.

    *cells* are by the two features' numbers, the lower one first. A cell is a score, a
    verdict's value or `MISSING`; a pair without an answer has `not_run`.
    """

    task: str
    features: tuple[int, ...]
    cells: Mapping[_Place, int | str] = field(hash=False)


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
    matrix = _matrix(_of_one_task(reports, task), strategy)
    if len(matrix.features) > _MOST_FEATURES:
        raise AnalysisError(f"{len(matrix.features)} features are more than can be read")
    from cooperbench_eval.presentation.plots import canvas  # noqa: PLC0415

    size = max(2.6, _INCHES * (len(matrix.features) - 1))
    ax = canvas.axes_for(ax, size + 1.5, size + 1.3)
    if strategy is None:
        _draw_frame(ax, matrix, "")
        _draw_scores(ax, matrix)
    else:
        _draw_frame(ax, matrix, f": {canvas.name_of(strategy)}")
        _draw_verdicts(ax, matrix)
    return canvas.figure_of(ax)


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


def _matrix(pairs: list[PairFacts], strategy: str | None) -> _Matrix:
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
    features = sorted({number for place in cells for number in place})
    return _Matrix(task=pairs[0].task, features=tuple(features), cells=cells)


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


def _looks() -> dict[str, "Look"]:
    from cooperbench_eval.presentation.plots.canvas import Look  # noqa: PLC0415

    return {
        Verdict.CORRECT.value: Look("#0072B2"),
        Verdict.INCORRECT.value: Look("#D55E00"),
        Verdict.UNHANDLED.value: Look("#F0C870"),
        MISSING: Look("#CC79A7"),
        _UNANSWERED: Look("#DDDDDD", hatch="////"),
    }


def _draw_frame(ax: "Axes", matrix: _Matrix, beside: str) -> None:
    """Draw the axes, without the first feature's row and the last one's column.

    Both would be empty, as each pair is shown once.
    """
    from cooperbench_eval.presentation.plots import canvas  # noqa: PLC0415

    last = len(matrix.features) - 1
    ax.set_xlim(-0.5, last - 0.5)
    ax.set_ylim(last + 0.5, 0.5)
    ax.set_aspect("equal", anchor="NW")
    numbers = [str(number) for number in matrix.features]
    ax.set_xticks(range(last), numbers[:-1], fontsize="small")
    ax.set_yticks(range(1, last + 1), numbers[1:], fontsize="small")
    ax.tick_params(length=0)
    canvas.add_labels(ax, "feature", "feature")
    ax.spines[:].set_visible(False)
    pairs = wording.counted(len(matrix.cells), "pair")
    title = f"{canvas.name_of(matrix.task)}, {pairs}{beside}"
    canvas.plain(ax.set_title(title, loc="left", fontsize="medium"))


def _draw_scores(ax: "Axes", matrix: _Matrix) -> None:
    from cooperbench_eval.presentation.plots import canvas  # noqa: PLC0415

    scores = [cell for cell in matrix.cells.values() if isinstance(cell, int)]
    shades = canvas.Shades(max(scores, default=0))
    for place, cell in matrix.cells.items():
        if isinstance(cell, int):
            _draw_cell(ax, matrix, place, canvas.Look(shades.colour(cell)), str(cell))
        else:
            _draw_cell(ax, matrix, place, _looks()[cell], _LETTERS[cell])
    if scores:
        shades.add_bar(ax, "conflict score of git merge")
    _add_legend(ax, matrix, [MISSING, _UNANSWERED])


def _draw_verdicts(ax: "Axes", matrix: _Matrix) -> None:
    for place, cell in matrix.cells.items():
        _draw_cell(ax, matrix, place, _looks()[str(cell)], _LETTERS[str(cell)])
    _add_legend(ax, matrix, list(_LETTERS))


def _draw_cell(ax: "Axes", matrix: _Matrix, place: _Place, look: "Look", text: str) -> None:
    from cooperbench_eval.presentation.plots import canvas  # noqa: PLC0415

    low, high = map(matrix.features.index, place)
    box = canvas.Rectangle((low - 0.5, high - 0.5), 1, 1)
    box.set(facecolor=look.colour, hatch=look.hatch, edgecolor=canvas.GREY, linewidth=0.4)
    ax.add_patch(box)
    if len(matrix.features) <= _NUMBERED:
        colour = "white" if canvas.is_dark(look.colour) else canvas.INK
        size = "small" if len(text) <= _SHORT else "x-small"
        ax.text(low, high, text, ha="center", va="center", color=colour, fontsize=size)


def _add_legend(ax: "Axes", matrix: _Matrix, kinds: list[str]) -> None:
    from cooperbench_eval.presentation.plots import canvas  # noqa: PLC0415

    counts = Counter(matrix.cells.values())
    shown = [kind for kind in kinds if counts[kind]]
    handles = [
        canvas.Patch(facecolor=look.colour, hatch=look.hatch, edgecolor=canvas.GREY)
        for look in (_looks()[kind] for kind in shown)
    ]
    labels = [f"{_LETTERS[kind]}: {wording.ANSWERS[kind]} ({counts[kind]})" for kind in shown]
    if shown:
        canvas.add_legend(ax, handles, labels, columns=min(3, len(shown)))

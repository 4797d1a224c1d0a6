"""View of a landing plan: what lands, every pair, and why the other patches do not land."""

from collections.abc import Iterator

from cooperbench_eval.presentation.views import wording
from cooperbench_eval.presentation.views.reports import left_out_text
from cooperbench_eval.reporting.plans import LandingPlan, PairOutcome
from cooperbench_eval.support.rendering.records import Cell, Table, Tone, View, rows_table
from cooperbench_eval.support.rendering.visible import visible

__all__ = ["plan_lines", "plan_view"]

_MOST_ROWS = 20
_MOST_COLUMNS = 12
_NAME = 40
_NOTE = 200
_TONES = {
    PairOutcome.CLEAN: Tone.GOOD,
    PairOutcome.RESOLVED: Tone.GOOD,
    PairOutcome.NOT_EXAMINED: Tone.PLAIN,
}


def plan_view(plan: LandingPlan) -> View:
    """Describe what lands, how sure that is, each pair, and the patches that are left out."""
    order = f": {', '.join(map(str, plan.order))}" if plan.order else ""
    return View(
        title=(
            f"{visible(plan.strategy, _NAME)}: {len(plan.landed)} of "
            f"{wording.counted(len(plan.numbers), 'patch', 'patches')} can land{order}"
        ),
        lines=plan_lines(plan),
        tables=_pairs(plan),
        notes=[
            *map(left_out_text, plan.left_out[:_MOST_ROWS]),
            *wording.and_more(len(plan.left_out) - _MOST_ROWS, "such note"),
        ],
    )


def plan_lines(plan: LandingPlan) -> Iterator[str]:
    """Yield how sure the plan is, and which sets cannot land."""
    if plan.problem:
        yield visible(f"the search ended early: {plan.problem}", _NOTE)
    yield (
        "no larger set can land"
        if plan.is_exact
        else "the search was cut short: a larger set may be able to land"
    )
    if plan.has_tests:
        runs = wording.counted(plan.runs_used, "test run")
        state = "the tests pass" if plan.is_tested else "no set has passed the tests"
        yield f"{state}; {runs} of at most {plan.budget:,}"
    if plan.minimal_conflicts:
        yield _listed("cannot land together", plan.minimal_conflicts)
    if plan.order_dependent:
        yield _listed("depend on the order", tuple(each.patches for each in plan.order_dependent))


def _listed(title: str, sets: tuple[tuple[int, ...], ...]) -> str:
    shown = ["+".join(map(str, each)) for each in sets[:_MOST_ROWS]]
    return f"{title}: {', '.join([*shown, *wording.and_more(len(sets) - _MOST_ROWS, 'set')])}"


def _pairs(plan: LandingPlan) -> list[Table]:
    """Return the matrix of pairs; a larger one would not be readable."""
    outcomes = plan.pairs
    numbers = sorted({number for pair in outcomes for number in pair})
    if not numbers or len(numbers) > _MOST_COLUMNS:
        return []
    rows: list[tuple[Cell | str, ...]] = [
        (f"into {one}", *(_cell(outcomes.get((one, other))) for other in numbers))
        for one in numbers
    ]
    return [rows_table(("merged", *map(str, numbers)), rows)]


def _cell(outcome: PairOutcome | None) -> Cell:
    if outcome is None:
        return Cell("")
    return Cell(wording.spoken(outcome), _TONES.get(outcome, Tone.BAD))

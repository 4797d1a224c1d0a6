"""Views of a landing plan and of a probe: what lands, every pair, and what does not land."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from cooperbench_eval.presentation.views import wording
from cooperbench_eval.reporting.landings import (
    BrokenTests,
    LandingPlan,
    LeftOut,
    LeftOutReason,
    PairOutcome,
    SuiteRun,
    TeamSuite,
)
from cooperbench_eval.reporting.probes import (
    ConflictedFile,
    Probe,
    ProbedBranch,
    ProbedPair,
    ProbeState,
)
from cooperbench_eval.support.rendering.view import Cell, Table, Tone, View, rows_table
from cooperbench_eval.support.rendering.visible import cut_list, visible

_MOST_ROWS = 20
_MOST_COLUMNS = 12
_NAME = 40
_LONGEST = 500
_PROBLEM = 100
_FEW_TESTS = 3
_FEW_SUITES = 2
_FEW_FILES = 4
_FEW_NAMES = 4
_LONG_NOTE = 300
_UNKNOWN = {ProbeState.UNREADABLE, ProbeState.NOT_EXAMINED}
"""The states of a pair that say nothing about its merge."""
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
            *wording.first(plan.left_out, _MOST_ROWS, "such note", left_out_text),
            *_cautions(plan),
        ],
    )


def _cautions(found: LandingPlan | Probe) -> list[str]:
    texts = wording.cautions(found.warnings, found.hazards)
    return wording.first(texts, _MOST_ROWS, "such note", lambda each: visible(each, _LONG_NOTE))


def plan_lines(plan: LandingPlan) -> Iterator[str]:
    """Yield how sure the plan is, and which sets cannot land."""
    if plan.problem:
        yield visible(f"not everything is known: {plan.problem}", _LONGEST)
    if plan.is_exact:
        yield "no larger set can land"
    elif plan.left_out:
        yield "not certain: a larger set may be able to land"
    if plan.has_tests:
        runs = wording.counted(plan.runs_used, "test run")
        state = f"{_tests(plan)} pass" if plan.is_tested else "no set has passed the tests"
        yield f"{state}; {runs} of at most {plan.budget:,}"
    for title, is_one in (("cannot land", True), ("cannot land together", False)):
        if found := tuple(each for each in plan.minimal_conflicts if (len(each) == 1) is is_one):
            yield _listed(title, found)
    if plan.order_dependent:
        yield _listed("depend on the order", tuple(each.patches for each in plan.order_dependent))


def _tests(plan: LandingPlan) -> str:
    if plan.suites and TeamSuite.FEATURE not in plan.suites:
        return f"the {wording.listed(each.value for each in plan.suites)} tests"
    return "the tests of what lands" if plan.left_out else "the tests"


def _listed(title: str, sets: tuple[tuple[int, ...], ...]) -> str:
    shown = wording.first(sets, _MOST_ROWS, "set", lambda each: "+".join(map(str, each)))
    return f"{title}: {', '.join(shown)}"


def _pairs(plan: LandingPlan) -> list[Table]:
    """Return the matrix of pairs; a larger one would not be readable."""
    cells = {pair: _cell(outcome) for pair, outcome in plan.pairs.items()}
    numbers = sorted({number for pair in cells for number in pair})
    if not numbers or len(numbers) > _MOST_COLUMNS:
        return []
    rows: list[tuple[Cell | str, ...]] = [
        (f"into {one}", *(cells.get((one, other), "") for other in numbers)) for one in numbers
    ]
    return [rows_table(("merged", *map(str, numbers)), rows)]


def _cell(outcome: PairOutcome) -> Cell:
    return Cell(wording.spoken(outcome), _TONES.get(outcome, Tone.BAD))


# --- why a feature is left out -----------------------------------------------


def left_out_view(left_out: LeftOut) -> View:
    """Describe why a feature was left out."""
    return View(title=left_out_text(left_out))


Spoken = Callable[[Sequence[int]], str]
"""Returns words for features: their numbers, or the names of branches."""


def left_out_text(
    left_out: LeftOut, *, named: bool = True, spoken: Spoken = wording.features_text
) -> str:
    """Return why a feature was left out, as a clause; *named* adds some names of tests."""
    features = spoken(left_out.features) if left_out.features else "the base"
    files = cut_list(left_out.files, _FEW_TESTS, _NAME)
    ended = "".join(_reason(each) for each in left_out.tests[:1])
    problem = f" ({visible(left_out.problem, _PROBLEM)})" if left_out.problem else ""
    texts = {
        LeftOutReason.MISSING_INPUT: "has no usable patch",
        LeftOutReason.DUPLICATE: f"makes the same changes as {features}",
        LeftOutReason.FAILS_OWN_TESTS: f"fails its own tests without the others{ended}",
        LeftOutReason.CONFLICT: f"conflicts with {features} in {files}",
        LeftOutReason.STRATEGY_FAILED: "could not be merged because the strategy failed",
        LeftOutReason.BREAKS: _breaks_text(left_out, spoken, named=named),
        LeftOutReason.NOT_EXAMINED: "was not examined",
    }
    # Only a list of very many features is cut here.
    who = spoken([left_out.number])
    return visible(f"{who} {texts[left_out.reason]}{problem}", _LONGEST)


def _breaks_text(left_out: LeftOut, spoken: Spoken, *, named: bool) -> str:
    """Return which tests of others a feature breaks, and which of its own fail beside others."""
    own = [each for each in left_out.tests if each.feature == left_out.number]
    others = [each for each in left_out.tests if each not in own]
    text = partial(broken_text, named=named, spoken=spoken)
    broken = "; ".join(wording.first(others, _FEW_SUITES, "suite", text))
    parts = [f"breaks {broken or 'tests'}"] if others or not own else []
    parts += [f"fails {broken_text(each, named=named, whose='its own')}" for each in own]
    return " and ".join(parts)


def owner_text(run: SuiteRun | BrokenTests, spoken: Spoken = wording.features_text) -> str:
    """Return whose tests a suite of a team has."""
    owners = {
        TeamSuite.FEATURE: "" if run.feature is None else spoken([run.feature]),
        TeamSuite.JOINT: "all features together",
        TeamSuite.REGRESSION: "the repository",
    }
    return owners[run.suite]


def broken_text(
    broken: BrokenTests,
    *,
    named: bool = True,
    spoken: Spoken = wording.features_text,
    whose: str = "",
) -> str:
    """Return how many tests of whom are broken; *named* adds some of their names.

    *whose* takes the place of their owner, as in `its own`.
    """
    of_owner = "" if whose else f" of {owner_text(broken, spoken)}"
    if not broken.tests:
        return f"{whose or 'the'} tests{of_owner}{_reason(broken)}"
    count = wording.counted(len(broken.tests), "test")
    tests = f"{count} of {whose}" if whose else f"{count}{of_owner}"
    return f"{tests}: {_test_names(broken.tests)}" if named else tests


def _reason(broken: BrokenTests) -> str:
    """Return how a run that shows no cases ended, in parentheses; empty if it shows some."""
    return f" ({visible(broken.reason, _PROBLEM)})" if broken.reason else ""


def _test_names(names: tuple[str, ...]) -> str:
    """Return the first names; of a long one the end, in which tests differ."""
    shown = [name if len(name) <= _NAME else f"…{name[1 - _NAME :]}" for name in names[:_FEW_TESTS]]
    # An escape takes more room than its character.
    text = ", ".join(visible(name, 2 * _NAME) for name in shown)
    return " ".join([text, *wording.and_more(len(names) - _FEW_TESTS)])


# --- a probe ---


def probe_view(probe: Probe) -> View:
    """Describe how each branch merges, which ones collide, and what could land."""
    total = wording.counted(len(probe.branches), "branch", "branches")
    contained = sum(each.state is ProbeState.CONTAINED for each in probe.branches)
    already = f", {contained:,} already contained" if contained else ""
    collisions = wording.counted(len(probe.collisions), "collision")
    return View(
        title=(
            f"{visible(probe.strategy, _NAME)}: {len(probe.plan.order)} of {total} can land on "
            f"{visible(probe.onto, _NAME)}{already}, {collisions}"
        ),
        lines=_probe_lines(probe),
        tables=[_branches(probe), *_probed_pairs(probe)],
        notes=_probe_notes(probe),
    )


def branch_view(branch: ProbedBranch) -> View:
    """Describe how one branch merges."""
    return View(
        title=f"{visible(branch.name, _NAME)}: {wording.spoken(branch.state)}",
        lines=[
            *_details(branch),
            *(visible(each, _LONGEST) for each in branch.warnings),
            *map(_file_text, branch.files),
        ],
    )


def pair_view(pair: ProbedPair) -> View:
    """Describe how two branches merge."""
    return View(
        title=f"{_names(pair)}: {_pair_cell(pair.state).text}",
        lines=filter(None, [visible(pair.problem, _LONG_NOTE), *map(_file_text, pair.files)]),
    )


def _probe_lines(probe: Probe) -> Iterator[str]:
    if probe.landing:
        yield f"can land: {cut_list(probe.landing, _MOST_ROWS, _NAME)}"
    yield from plan_lines(probe.plan)


def _branches(probe: Probe) -> Table:
    rows: list[tuple[Cell | str, ...]] = [
        (
            str(branch.number),
            visible(branch.name, _NAME),
            _state_cell(branch.state),
            "; ".join([*_details(branch), *map(_file_text, branch.files[:_FEW_FILES])]),
        )
        for branch in probe.branches[:_MOST_ROWS]
    ]
    return rows_table(("", "branch", f"onto {visible(probe.onto, _NAME)}", "details"), rows)


def _probed_pairs(probe: Probe) -> list[Table]:
    """Return the matrix of pairs; a larger one would not be readable."""
    cells = {(each.one, each.other): _pair_cell(each.state) for each in probe.pairs}
    names = [each.name for each in probe.branches]
    if not cells or len(names) > _MOST_COLUMNS:
        return []
    rows: list[tuple[Cell | str, ...]] = [
        (visible(one, _NAME), *(cells.get((one, other), "") for other in names[1:]))
        for one in names[:-1]
    ]
    numbers = [str(each.number) for each in probe.branches[1:]]
    return [rows_table(("merged with", *numbers), rows)]


def _probe_notes(probe: Probe) -> list[str]:
    left_out = [
        each for each in probe.plan.left_out if each.tests or each.reason is LeftOutReason.DUPLICATE
    ]
    names = {each.number: visible(each.name, _NAME) for each in probe.branches}
    text = partial(
        left_out_text, spoken=lambda numbers: wording.listed(names[each] for each in numbers)
    )
    return [
        *wording.first(probe.collisions, _MOST_ROWS, "collision", _collision),
        *wording.first(left_out, _MOST_ROWS, "such note", text),
        *_cautions(probe),
    ]


def _collision(pair: ProbedPair) -> str:
    files = "; ".join(wording.first(pair.files, _FEW_FILES, "file", _file_text))
    return f"{_names(pair)}: {files or visible(pair.problem, _LONG_NOTE)}"


def _file_text(file: ConflictedFile) -> str:
    path = visible(file.path, 2 * _NAME)
    inside = f" in {cut_list(file.definitions, _FEW_NAMES, _NAME)}" if file.definitions else ""
    return f"{path} ({wording.listed(each.value for each in file.kinds)}{inside})"


def _details(branch: ProbedBranch) -> Iterator[str]:
    if branch.problem:
        yield visible(branch.problem, _LONG_NOTE)
    if branch.is_dirty:
        yield "with uncommitted changes"
    if branch.unfiltered:
        yield f"not converted: {cut_list(branch.unfiltered, _FEW_NAMES, _NAME)}"
    if branch.unsettled:
        yield f"changed while it was read: {cut_list(branch.unsettled, _FEW_NAMES, _NAME)}"


def _names(pair: ProbedPair) -> str:
    return f"{visible(pair.one, _NAME)} and {visible(pair.other, _NAME)}"


def _state_cell(state: ProbeState) -> Cell:
    return Cell(wording.spoken(state), Tone.GOOD if state.is_complete else Tone.BAD)


def _pair_cell(state: ProbeState) -> Cell:
    return Cell("unknown", Tone.PLAIN) if state in _UNKNOWN else _state_cell(state)

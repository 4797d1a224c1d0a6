"""Views of a probe: how each branch merges, every pair, and what could land."""

from collections.abc import Iterator

from cooperbench_eval.presentation.views import wording
from cooperbench_eval.presentation.views.plans import left_out_text, plan_lines
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
_MOST_FILES = 4
_MOST_NAMES = 4
_NAME = 40
_NOTE = 300


def probe_view(probe: Probe) -> View:
    """Describe how each branch merges, which ones collide, and what could land."""
    total = wording.counted(len(probe.branches), "branch", "branches")
    collisions = wording.counted(len(probe.collisions), "collision")
    return View(
        title=(
            f"{visible(probe.strategy, _NAME)}: {len(probe.plan.order)} of {total} can land on "
            f"{visible(probe.onto, _NAME)}, {collisions}"
        ),
        lines=_lines(probe),
        tables=[_branches(probe), *_pairs(probe)],
        notes=_notes(probe),
    )


def branch_view(branch: ProbedBranch) -> View:
    """Describe how one branch merges."""
    return View(
        title=f"{visible(branch.name, _NAME)}: {_state(branch.state)}",
        lines=[*_details(branch), *map(_file_text, branch.files)],
    )


def pair_view(pair: ProbedPair) -> View:
    """Describe how two branches merge."""
    return View(
        title=f"{_names(pair)}: {_state(pair.state)}",
        lines=filter(None, [visible(pair.problem, _NOTE), *map(_file_text, pair.files)]),
    )


def _lines(probe: Probe) -> Iterator[str]:
    if probe.landing:
        yield f"can land: {cut_list(probe.landing, _MOST_ROWS, _NAME)}"
    yield from plan_lines(probe.plan)


def _branches(probe: Probe) -> Table:
    rows: list[tuple[Cell | str, ...]] = [
        (
            str(branch.number),
            visible(branch.name, _NAME),
            _cell(branch.state),
            "; ".join([*_details(branch), *map(_file_text, branch.files[:_MOST_FILES])]),
        )
        for branch in probe.branches[:_MOST_ROWS]
    ]
    return rows_table(("", "branch", f"onto {visible(probe.onto, _NAME)}", "details"), rows)


def _pairs(probe: Probe) -> list[Table]:
    """Return the matrix of pairs; a larger one would not be readable."""
    states = {(each.one, each.other): each.state for each in probe.pairs}
    names = [each.name for each in probe.branches]
    if not states or len(names) > _MOST_COLUMNS:
        return []
    rows: list[tuple[Cell | str, ...]] = [
        (visible(one, _NAME), *(_cell(states.get((one, other))) for other in names[1:]))
        for one in names[:-1]
    ]
    numbers = [str(each.number) for each in probe.branches[1:]]
    return [rows_table(("merged with", *numbers), rows)]


def _notes(probe: Probe) -> list[str]:
    breaks = [each for each in probe.plan.left_out if each.tests]
    return [
        *wording.first(probe.collisions, _MOST_ROWS, "collision", _collision),
        *wording.first(breaks, _MOST_ROWS, "such note", left_out_text),
    ]


def _collision(pair: ProbedPair) -> str:
    return f"{_names(pair)}: {_files(pair.files) or visible(pair.problem, _NOTE)}"


def _files(files: tuple[ConflictedFile, ...]) -> str:
    return "; ".join(wording.first(files, _MOST_FILES, "file", _file_text))


def _file_text(file: ConflictedFile) -> str:
    path = visible(file.path, 2 * _NAME)
    inside = f" in {cut_list(file.definitions, _MOST_NAMES, _NAME)}" if file.definitions else ""
    return f"{path} ({wording.listed(each.value for each in file.kinds)}{inside})"


def _details(branch: ProbedBranch) -> Iterator[str]:
    if branch.problem:
        yield visible(branch.problem, _NOTE)
    if branch.is_dirty:
        yield "with uncommitted changes"
    if branch.unfiltered:
        yield f"not converted: {cut_list(branch.unfiltered, _MOST_NAMES, _NAME)}"
    if branch.unsettled:
        yield f"changed while it was read: {cut_list(branch.unsettled, _MOST_NAMES, _NAME)}"


def _names(pair: ProbedPair) -> str:
    return f"{visible(pair.one, _NAME)} and {visible(pair.other, _NAME)}"


def _state(state: ProbeState) -> str:
    return wording.spoken(state)


def _cell(state: ProbeState | None) -> Cell:
    if state is None:
        return Cell("")
    tone = Tone.GOOD if state.is_complete else Tone.BAD
    return Cell(_state(state), Tone.PLAIN if state is ProbeState.NOT_EXAMINED else tone)

"""What is shown of a report and of its rows: a dozen lines, whatever they hold.

As HTML a report takes two or three kilobytes, and 20 at most.
"""

from cooperbench_eval.display.records import Cell, Column, Section, Table, Tone, View
from cooperbench_eval.display.visible import cut_list, visible
from cooperbench_eval.models import ConflictDetails, MergeStatus, ModelUsage
from cooperbench_eval.models.views import conflicts_text, counted, run_cell
from cooperbench_eval.reporting.blame import Blame, BlameKind
from cooperbench_eval.reporting.report import MergeReport, PairStatus
from cooperbench_eval.reporting.rows import Attempt, FeatureReport, PatchReport, Verdict

__all__ = ["attempt_view", "blame_view", "report_view"]

_SHOWN_STRATEGIES = 8
_SHOWN_NOTES = 8
_SHOWN_FILES = 4
_SHOWN_LOST = 3
_SHOWN_LOST_ALONE = 20
_SHOWN_ID = 12
_NAME = 40
_REASON = 100
_NOTE = 200

_VERDICTS = {Verdict.CORRECT: Tone.GOOD, Verdict.NOT_RUN: Tone.PLAIN}


def report_view(report: MergeReport) -> View:
    """Describe a pair: how it merges, each feature alone, each strategy, what was lost."""
    one, two = report.feature1.number, report.feature2.number
    shown = report.attempts[:_SHOWN_STRATEGIES]
    notes = [note for attempt in shown for note in _notes(report, attempt)]
    return View(
        title=f"{visible(report.repo_name, _NAME)}/{report.task_id}: "
        f"feature {one} merged into feature {two}",
        lines=[_whose(report), _standing(report)],
        tables=[_features_table(report), *_strategies_table(report, shown)],
        notes=[
            *(visible(note, _NOTE) for note in notes[:_SHOWN_NOTES]),
            *_rest(len(notes) - _SHOWN_NOTES, "more such note"),
            *_rest(len(report.attempts) - _SHOWN_STRATEGIES, "more strategy row"),
        ],
    )


def attempt_view(attempt: Attempt) -> View:
    """Describe what a strategy did, and both features' tests on it."""
    lines = [_work(attempt), *map(_usage, attempt.usage[:_SHOWN_STRATEGIES])]
    if attempt.failure:
        lines.append(f"it failed: {visible(attempt.failure, _REASON)}")
    runs = (attempt.feature1_tests, attempt.feature2_tests)
    rows = [
        (f"of feature {place}", run_cell(run), f"{run.duration_seconds:.1f}")
        for place, run in enumerate(runs, start=1)
        if run is not None
    ]
    columns = [Column("tests, in the order of the report"), Column("result")]
    columns.append(Column("seconds", is_number=True))
    return View(
        title=f"{visible(attempt.strategy, _NAME)}: {_spoken(attempt.status)}, "
        f"{_spoken(attempt.verdict)}",
        lines=lines,
        tables=[Table(columns=columns, sections=[Section(rows=rows)])] if rows else [],
    )


def blame_view(blame: Blame) -> View:
    """Describe what is to blame, and the tests that the merge lost."""
    lost = (("first", blame.lost_tests1), ("second", blame.lost_tests2))
    return View(
        title=f"to blame: {_blame_text(blame)}",
        tables=[
            _lost_table(f"{counted(len(names), 'test')} of the {place} feature lost", names)
            for place, names in lost
            if names
        ],
    )


def _lost_table(title: str, names: tuple[str, ...]) -> Table:
    rows = [(visible(name),) for name in names[:_SHOWN_LOST_ALONE]]
    more = len(names) - _SHOWN_LOST_ALONE
    if more > 0:
        rows.append((f"and {more:,} more",))
    return Table(columns=[Column(title)], sections=[Section(rows=rows)])


def _rest(more: int, noun: str) -> list[str]:
    return [f"and {counted(more, noun)}"] if more > 0 else []


# --- the pair ----------------------------------------------------------------


def _whose(report: MergeReport) -> str:
    named = [visible(each, _NAME) for each in (report.model, report.setting) if each]
    when = f"evaluated {report.timestamp.isoformat(' ', 'minutes')}"
    base = visible((report.base_commit or report.base_tree_id)[:_SHOWN_ID])
    kind = "commit" if report.base_commit else "tree"
    return ", ".join([*named, f"try {report.k}", when] + [f"base {kind} {base}"] * bool(base))


def _standing(report: MergeReport) -> str:
    if report.failure is not None:
        kind = _spoken(report.failure.kind)
        return f"not evaluated ({kind}): {visible(report.failure.problem, _REASON)}"
    details = report.conflict_details
    if details is None:
        return "missing input: a patch is empty or does not apply, so there was nothing to merge"
    if report.merge_status is PairStatus.CLEAN:
        return "git merges the two without a conflict, score 0"
    return f"git leaves {conflicts_text(details)}{_places(details)}"


def _places(details: ConflictDetails) -> str:
    worst = sorted(details.files, key=lambda file: (-file.score, file.path))
    names = tuple(f"{visible(each.path, _NAME)} ({each.score:,})" for each in worst)
    return f" in {cut_list(names, _SHOWN_FILES, 2 * _NAME)}" if names else ""


# --- features ----------------------------------------------------------------


def _features_table(report: MergeReport) -> Table:
    features = (report.feature1, report.feature2)
    names = ["feature", "patch", "its tests alone", "its tests on the base"]
    has_other = any(each.other_tests is not None for each in features)
    if has_other:
        names.append("the other's tests alone")
    rows = [_feature_row(each)[: len(names)] for each in features]
    return Table(columns=map(Column, names), sections=[Section(rows=rows)])


def _feature_row(feature: FeatureReport) -> tuple[Cell, ...]:
    on_base = run_cell(feature.base_tests)
    return (
        Cell(str(feature.number)),
        _patch_cell(feature.patch),
        run_cell(feature.tests),
        Cell(on_base.text),  # tests ought to fail there, so that is neither good nor bad
        run_cell(feature.other_tests),
    )


def _patch_cell(patch: PatchReport) -> Cell:
    reason = f": {visible(patch.reason, _REASON)}" if patch.reason else ""
    tone = Tone.PLAIN if patch.is_usable else Tone.BAD
    return Cell(f"{_spoken(patch.status)}{reason}", tone)


# --- strategies --------------------------------------------------------------


def _strategies_table(report: MergeReport, shown: tuple[Attempt, ...]) -> list[Table]:
    if not shown:
        return []
    one, two = report.feature1.number, report.feature2.number
    names = ("strategy", "merge", "verdict", "to blame", f"tests of {one}", f"tests of {two}")
    rows = [_strategy_row(report, attempt) for attempt in shown]
    return [Table(columns=map(Column, names), sections=[Section(rows=rows)])]


def _strategy_row(report: MergeReport, attempt: Attempt) -> tuple[Cell, ...]:
    return (
        Cell(visible(attempt.strategy, _NAME)),
        Cell(_spoken(attempt.status)),
        Cell(_spoken(attempt.verdict), _VERDICTS.get(attempt.verdict, Tone.BAD)),
        Cell(_row_blame(report, attempt)),
        run_cell(attempt.feature1_tests),
        run_cell(attempt.feature2_tests),
    )


def _row_blame(report: MergeReport, attempt: Attempt) -> str:
    blame = report.blame(attempt.strategy)
    if blame.kind is BlameKind.CONFLICT:
        return "its failure" if attempt.status is MergeStatus.FAILED else "the conflict"
    return _blame_text(blame)


def _blame_text(blame: Blame) -> str:
    numbers = " and ".join(map(str, blame.features))
    features = f"feature {numbers}" if len(blame.features) == 1 else f"features {numbers}"
    return _BLAME[blame.kind].format(features=features)


_BLAME = {
    BlameKind.MISSING_SIDE: "no usable patch of {features}",
    BlameKind.BROKEN_ALONE: "{features} broken alone",
    BlameKind.CONFLICT: "the conflict, or the strategy's failure",
    BlameKind.MERGE_BROKE_FEATURE1: "the merge, which broke {features}",
    BlameKind.MERGE_BROKE_FEATURE2: "the merge, which broke {features}",
    BlameKind.MERGE_BROKE_BOTH: "the merge, which broke {features}",
    BlameKind.UNKNOWN: "not known",
    BlameKind.NOBODY: "nobody",
}


def _notes(report: MergeReport, attempt: Attempt) -> list[str]:
    """Say why a strategy failed, and which tests are lost under it."""
    name = visible(attempt.strategy, _NAME)
    notes = [f"{name} failed: {visible(attempt.failure, _REASON)}"] if attempt.failure else []
    blame = report.blame(attempt.strategy)
    lost = (
        (report.feature1.number, blame.lost_tests1),
        (report.feature2.number, blame.lost_tests2),
    )
    return notes + [
        f"{name} lost {counted(len(tests), 'test')} of feature {number}: "
        f"{cut_list(tests, _SHOWN_LOST, _NAME)}"
        for number, tests in lost
        if tests
    ]


def _work(attempt: Attempt) -> str:
    left = attempt.conflict_details
    is_open = left is not None and left.conflict_sections > 0
    rest = f", left {conflicts_text(left)}" if left is not None and is_open else ""
    met = counted(attempt.conflicts_met, "conflict")
    return f"met {met}{rest}, took {attempt.duration_seconds:.3g} seconds"


def _usage(usage: ModelUsage) -> str:
    cost = "price unknown" if usage.cost_usd is None else f"{usage.cost_usd:.4f} USD"
    return (
        f"asked {visible(usage.model, _NAME) or 'a model'} {counted(usage.requests, 'time')}: "
        f"{usage.prompt_tokens:,} tokens read, {usage.completion_tokens:,} written, {cost}"
    )


def _spoken(status: str) -> str:
    """Return an enum's value as words."""
    return str(status).replace("_", " ")

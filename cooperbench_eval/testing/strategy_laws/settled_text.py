"""The law of what stands outside of the regions that both sides changed."""

from typing import Final

from cooperbench_eval.merging.result import ThreeWayMerge
from cooperbench_eval.models import ConflictKind, Entry
from cooperbench_eval.snapshot import Changes
from cooperbench_eval.strategies.protocol import MergeInput
from cooperbench_eval.testing.cases import MergeCase, has_line_conflicts, shown_bytes, shown_changes
from cooperbench_eval.testing.outcomes import broken
from cooperbench_eval.testing.strategy_laws.law import StrategyLaw
from cooperbench_eval.testing.strategy_trial import StrategyTrial

__all__ = ["LAWS"]


def _leaves_settled_bytes(trial: StrategyTrial, case: MergeCase) -> None:
    if case.ours == case.theirs or case.ours.keys().isdisjoint(case.theirs):
        return  # for the laws of identity, of the same change and of disjoint files
    given = case.fresh_input()
    outcome = trial.merge(case, given)
    before, after = (case.base.overlay(c) for c in (given.merge.changes, outcome.changes))
    disputed = {c.path for c in given.conflicts if not c.has_lines}
    stages = {stage.path for stage in given.merge.stages}
    disputed |= {path for path in stages if not has_line_conflicts(given, path)}
    for path, entry in Changes.between(before, after).items():
        if path not in disputed and (wanted := _unkept(case, given, path, entry)):
            raise broken(case, came=outcome, wanted=wanted)


def _unkept(case: MergeCase, given: MergeInput, path: str, entry: Entry | None) -> str:
    """Say what should stand at *path* and does not; nothing if all is right."""
    if not has_line_conflicts(given, path):
        there = shown_changes(given.merge.changes, case.base)
        return f"{path!r} as the three-way merge has it, for nothing conflicts there:\n{there}"
    runs = _settled_runs(given.merge, path)
    if entry is None or not _occur_in_order(runs, entry.data):
        shown = " … ".join(map(shown_bytes, runs))
        return f"in {path!r}, outside of what both sides changed: {shown}"
    if not _may_have_mode(entry, path, given):
        return f"{path!r} with the mode that the three-way merge gives it"
    return ""


def _settled_runs(merge: ThreeWayMerge, path: str) -> list[bytes]:
    """Return what stands around the regions that both sides changed."""
    gap = b"\n<gap of the check>\n"
    while any(gap in version for version in merge.versions_of(path)):
        gap = b"\n<" + gap  # whoever writes this very line is no strategy's fault
    entry = merge.resolve_blocks(lambda _: gap).changes[path]
    return entry.data.split(gap) if entry else []


def _occur_in_order(runs: list[bytes], data: bytes) -> bool:
    first, *between = runs
    if not data.startswith(first):
        return False
    at = len(first)
    for run in between[:-1]:
        at = data.find(run, at)
        if at < 0:
            return False
        at += len(run)
    last = between[-1] if between else b""
    return len(data) - at >= len(last) and data.endswith(last)


def _may_have_mode(entry: Entry, path: str, given: MergeInput) -> bool:
    there = given.merge.changes.get(path)
    allowed = [there]
    if any(c.kind is ConflictKind.ADD_ADD for c in given.conflicts if c.path == path):
        allowed += [given.ours.get(path), given.theirs.get(path)]
    return entry.mode in {version.mode for version in allowed if version is not None}


LAWS: Final[tuple[StrategyLaw, ...]] = (
    StrategyLaw(
        name="untouched_bytes",
        asks="What stands outside of the regions that both sides changed stays as it is.",
        check=_leaves_settled_bytes,
    ),
)

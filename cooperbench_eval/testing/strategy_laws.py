"""The laws of merge strategies, each with its check in one case."""

import logging
import os
import random
import re
import signal
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from attrs import astuple, evolve, field, frozen

from cooperbench_eval.git.merging.conflicts import Conflict, ConflictKind, MergeStatus
from cooperbench_eval.git.merging.locating_resolutions import find_between
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes
from cooperbench_eval.languages.faults.losses import find_new_value
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome
from cooperbench_eval.testing.cases import (
    MergeCase,
    StrategyTrial,
    broken,
    difference,
    fingerprint,
    has_line_conflicts,
    shown_bytes,
    shown_changes,
    shown_outcome,
)
from cooperbench_eval.testing.laws import Law, law_maker

_SECONDS_TO_END = 0.5


def _portrait(given: MergeInput) -> tuple[str, ...]:
    """Return everything that is visible of an input, part by part."""
    paths = given.base.paths()
    base = [(path, given.base.get(path), given.base.read(path)) for path in paths]
    return (
        f"the base\n{base}",
        f"ours\n{_contents(given.ours)}",
        f"theirs\n{_contents(given.theirs)}",
        f"the three-way merge\n{_contents(given.merge.changes)}",
        f"the conflicts\n{[astuple(conflict) for conflict in given.conflicts]}",
        f"the blocks\n{[astuple(block) for block in given.merge.blocks]}",
        f"the features\n{given.ours_feature}\n{given.theirs_feature}",
    )


def _contents(changes: Changes) -> str:
    rows = ((path, entry and (int(entry.mode), entry.data)) for path, entry in changes.items())
    return "\n".join(f"{path!r}: {row}" for path, row in rows)


def _change_of_process(before: dict[str, object], running: Collection[threading.Thread]) -> str:
    """Return what was wanted but not kept, such as `no change of …`; empty if nothing."""
    now = _parts_of_process()
    # Only the names, because the values of variables may be secrets.
    changed = sorted(name for name in before | now if before.get(name) != now.get(name))
    if changed:
        return f"no change of {' and '.join(changed)}"
    # New threads may be about to end.
    new = set(threading.enumerate()).difference(running)
    deadline = time.monotonic() + _SECONDS_TO_END
    for thread in new:
        thread.join(max(0.0, deadline - time.monotonic()))
    left = sorted(thread.name for thread in new if thread.is_alive())
    return f"no thread left running, such as {', '.join(left)}" if left else ""


def _parts_of_process() -> dict[str, object]:
    """Return the state of the process that code often changes, and other code relies on."""
    root = logging.getLogger()
    variables = {f"the environment variable {name}": os.environ[name] for name in os.environ}
    return variables | {
        "the working directory": Path.cwd(),
        "the state of the module `random`": random.getstate(),
        "the handler of SIGINT": signal.getsignal(signal.SIGINT),
        "the handler of SIGTERM": signal.getsignal(signal.SIGTERM),
        "the handlers and level of the root logger": (list(root.handlers), root.level),
    }


@frozen(kw_only=True)
class StrategyLaw(Law):
    """A law of strategies.

    Attributes:
        cases: The function of `generators` that makes its cases.
        has_conflicts: Whether any of its cases has a conflict.
    """

    cases: str = "merge_cases"
    has_conflicts: bool = True
    check: Callable[[StrategyTrial, MergeCase], None] = field(repr=False, eq=False)

    def __reduce__(self) -> str:
        return f"_{self.name}"  # pickled as the object of that name in this module


_LAWS: list[StrategyLaw] = []
_law = law_maker(StrategyLaw, _LAWS)


# A helper of a law returns what was wanted and is missing, or an empty text.

# --- clean merges -----------------------------------------------------------------------


@_law(
    "If one side changed nothing, the merged tree is the other side's, without a conflict.",
    has_conflicts=False,
)
def _identity(trial: StrategyTrial, case: MergeCase) -> None:
    nothing = Changes()
    for ours, theirs in ((case.ours, nothing), (nothing, case.theirs), (nothing, nothing)):
        _expect_clean(trial, evolve(case, ours=ours, theirs=theirs), ours or theirs)


@_law(
    "If both sides made the same change, the merged tree has it once, without a conflict.",
    has_conflicts=False,
)
def _same_change(trial: StrategyTrial, case: MergeCase) -> None:
    for side in (case.ours, case.theirs):
        _expect_clean(trial, evolve(case, ours=side, theirs=side), side)


@_law(
    "If the sides changed different files, the merged tree has both changes, in either order.",
    cases="disjoint_cases",
    has_conflicts=False,
)
def _disjoint_files(trial: StrategyTrial, case: MergeCase) -> None:
    if not case.ours or not case.theirs:
        return  # the law of identity
    for each in (case, case.swapped):
        _expect_clean(trial, each, Changes({**case.ours, **case.theirs}))


def _expect_clean(trial: StrategyTrial, case: MergeCase, wanted: Changes) -> None:
    outcome = trial.merge(case)
    is_right = outcome.tree_id(case.base) == wanted.tree_id(case.base)
    if not is_right or outcome.status is not MergeStatus.CLEAN:
        shown = f"no open conflict, and\n{shown_changes(wanted, case.base)}"
        raise broken(case, came=outcome, wanted=shown)


# --- text that did not conflict ---------------------------------------------------------


@_law("Text outside the regions that both sides changed stays as it is.")
def _untouched_bytes(trial: StrategyTrial, case: MergeCase) -> None:
    if case.ours == case.theirs or case.ours.keys().isdisjoint(case.theirs):
        return  # the laws of clean merges
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
    if not has_line_conflicts(given, path):
        there = shown_changes(given.merge.changes, case.base)
        return f"{path!r} as the three-way merge has it, because it has no conflict:\n{there}"
    runs = given.merge.settled_around_blocks(path)
    if entry is None or find_between(entry.data, runs, anywhere=True) is None:
        shown = " … ".join(map(shown_bytes, runs))
        return f"in {path!r}, outside of what both sides changed: {shown}"
    if not _may_have_mode(entry, path, given):
        return f"{path!r} with the mode that the three-way merge gives it"
    return ""


def _may_have_mode(entry: Entry, path: str, given: MergeInput) -> bool:
    allowed = [given.merge.changes.get(path)]
    if any(c.kind is ConflictKind.ADD_ADD for c in given.conflicts if c.path == path):
        allowed += [given.ours.get(path), given.theirs.get(path)]
    return entry.mode in {version.mode for version in allowed if version is not None}


# --- side effects -----------------------------------------------------------------------


@_law("The strategy changes neither its input, nor its earlier outcomes, nor the process.")
def _no_mutation(trial: StrategyTrial, case: MergeCase) -> None:
    given = case.fresh_input()
    before, process, threads = _portrait(given), _parts_of_process(), threading.enumerate()
    outcome = trial.merge(case, given)
    for was, now in zip(before, _portrait(given), strict=True):
        if was != now:
            raise broken(case, came=now, wanted=was)
    if wanted := _change_of_process(process, threads):
        raise broken(case, came=outcome, wanted=wanted)
    shown = shown_outcome(outcome, case.base)
    trial.merge(case.swapped)
    if (now := shown_outcome(outcome, case.base)) != shown:
        came = f"the first outcome changed during the second merge:\n{now}"
        raise broken(case, came=came, wanted=shown)


# --- determinism ------------------------------------------------------------------------


@_law("The same input gives the same outcome, later and in another process.")
def _determinism(trial: StrategyTrial, case: MergeCase) -> None:
    outcome = trial.merge(case)
    first = fingerprint(outcome, case.base)
    trial.merge(case.swapped)
    again = fingerprint(trial.merge(case), case.base)
    if differs := difference(first, again):
        came = "first\n{}\nand then\n{}".format(*differs)
        raise broken(case, came=came, wanted="the same outcome")
    if outcome.conflicts_met:
        trial.remembered = (case, first)


# --- conflict markers -------------------------------------------------------------------

_MARKER_LINE = re.compile(rb"^(?:<{7}|>{7})(?: |\r?$)", re.MULTILINE)


@_law("Conflict markers surround the conflicts that are left open, and occur nowhere else.")
def _markers(trial: StrategyTrial, case: MergeCase) -> None:
    given = case.fresh_input()
    outcome = trial.merge(case, given)
    if wanted := _unmarked(given, outcome) or _marked_without_conflict(case, given, outcome):
        raise broken(case, came=outcome, wanted=wanted)


def _unmarked(given: MergeInput, outcome: MergeOutcome) -> str:
    known = [_facts(conflict) for conflict in given.conflicts if not conflict.has_lines]
    for conflict in outcome.conflicts:
        path, entry = conflict.path, outcome.changes.get(conflict.path)
        if not conflict.has_lines:
            if _facts(conflict) not in known:
                wanted = f"no conflict of kind {conflict.kind.value} at {path!r}, "
                return wanted + "because the three-way merge has none"
        elif entry is None or not _stands_in(entry.data, conflict):
            wanted = f"{path!r} with markers around both sides in line {conflict.line}"
            return f"{wanted}, because that conflict is open"
    return ""


def _marked_without_conflict(case: MergeCase, given: MergeInput, outcome: MergeOutcome) -> str:
    stages = {stage.path for stage in given.merge.stages}
    for path, entry in outcome.changes.items():
        texts = [version.get(path) for version in (case.base, case.ours, case.theirs)]
        if any(text and _MARKER_LINE.search(text.data) for text in texts):
            continue  # the versions contain markers of their own
        left = [c for c in outcome.conflicts if c.path == path and c.has_lines]
        marks = len(_MARKER_LINE.findall(entry.data)) if entry and entry.mode.is_regular else 0
        is_renamed = path in stages and not has_line_conflicts(given, path)
        if marks != 2 * len(left) and not is_renamed:
            return f"{path!r} with markers for only {len(left)} open conflicts"
    return ""


def _facts(conflict: Conflict) -> tuple[object, ...]:
    return conflict.path, conflict.kind, conflict.base, conflict.ours, conflict.theirs


def _stands_in(data: bytes, conflict: Conflict) -> bool:
    """Whether *data* has git's rendering of *conflict* at the conflict's line."""
    before = (conflict.line or 0) - 1
    ours, theirs = (re.escape(_with_lf(side or b"")) for side in (conflict.ours, conflict.theirs))
    hunk = rb"(?:.*\n){%d}<{7}.*\n%b={7}.*\n%b>{7}" % (before, ours, theirs)
    return before >= 0 and re.match(hunk, _with_lf(data)) is not None


def _with_lf(text: bytes) -> bytes:
    ended = text if text.endswith(b"\n") or not text else text + b"\n"
    return ended.replace(b"\r\n", b"\n")


# --- swapped sides ----------------------------------------------------------------------


@_law(
    "With `is_symmetric`, swapped sides leave the same files open and make all others equal.",
    cases="edited_cases",
)
def _symmetry(trial: StrategyTrial, case: MergeCase) -> None:
    one, other = trial.merge(case), trial.merge(case.swapped)
    left, left_there = ({c.path for c in outcome.conflicts} for outcome in (one, other))
    trees = (case.base.overlay(outcome.changes) for outcome in (one, other))
    if left != left_there or Changes.between(*trees).keys() - left:
        shown = shown_outcome(other, case.base)
        raise broken(case, came=one, wanted=f"the outcome with the sides swapped:\n{shown}")


# --- names and values -------------------------------------------------------------------


@_law(
    "Without `may_invent`, a resolved file has only names and values that a version has.",
    cases="edited_cases",
)
def _no_invention(trial: StrategyTrial, case: MergeCase) -> None:
    given = case.fresh_input()
    outcome = trial.merge(case, given)
    resolved = {c.path for c in given.conflicts} - {c.path for c in outcome.conflicts}
    for path in sorted(resolved):
        entry = outcome.changes.get(path)
        if entry is None or _MARKER_LINE.search(entry.data):
            continue  # the law of markers
        versions = [version.data for version in _versions(case, path) if version]
        if found := find_new_value(path, versions, entry.data):
            raise broken(case, came=outcome, wanted=f"no new text in {path!r}, but {found}")


# --- unusual files ----------------------------------------------------------------------

_ASCII_END = 127


@_law(
    "Binary, CR LF, Latin-1 and empty files, unusual names and links are merged undamaged.",
    cases="odd_cases",
)
def _survival(trial: StrategyTrial, case: MergeCase) -> None:
    given = case.fresh_input()
    outcome = trial.merge(case, given)
    left = {conflict.path for conflict in outcome.conflicts}
    asked_for_lf = {conflict.path for conflict in given.conflicts if conflict.newline == b"\n"}
    for path, entry in outcome.changes.items():
        versions = [v.data for v in _versions(case, path) if v and v.mode.is_regular]
        if not entry or not entry.mode.is_regular or path in left or not versions:
            continue
        strange = {byte for byte in entry.data if byte > _ASCII_END} - set(b"".join(versions))
        if strange:
            wanted = f"{path!r} without {bytes(sorted(strange))!r}, which no version has"
            raise broken(case, came=outcome, wanted=wanted)
        wants_crlf = path not in asked_for_lf and all(map(_is_crlf, versions))
        if wants_crlf and not _is_crlf(entry.data):
            wanted = f"{path!r} with \\r\\n at the end of lines, as in all versions"
            raise broken(case, came=outcome, wanted=wanted)


def _versions(case: MergeCase, path: str) -> list[Entry | None]:
    """Return a path's entries before and after; if files may have moved, all entries."""
    old = case.base.get(path)
    found = [old, case.ours.get(path, old), case.theirs.get(path, old)]
    if None in (*case.ours.values(), *case.theirs.values()):
        found += [case.base.get(other) for other in case.base.paths()]
        found += [*case.ours.values(), *case.theirs.values()]
    return found


def _is_crlf(data: bytes) -> bool:
    return b"\n" not in data.replace(b"\r\n", b"")


STRATEGY_LAWS: Final[tuple[StrategyLaw, ...]] = tuple(_LAWS)

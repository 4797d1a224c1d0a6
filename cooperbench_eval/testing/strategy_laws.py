"""The laws of merge strategies, and how each is checked in one case."""

import logging
import os
import random
import re
import signal
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from attrs import astuple, field, frozen

from cooperbench_eval.errors import StrategyFailedError
from cooperbench_eval.merging.tree import ThreeWayMerge
from cooperbench_eval.models import Conflict, ConflictKind, Entry, MergeStatus
from cooperbench_eval.snapshot import Changes, Snapshot
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome, MergeStrategy
from cooperbench_eval.strategies.run import run_strategy
from cooperbench_eval.testing.cases import MergeCase, shown_bytes, shown_changes
from cooperbench_eval.testing.records import (
    BrokenError,
    Counterexample,
    Law,
    UncheckedError,
)

__all__ = ["STRATEGY_LAWS", "Answer", "StrategyLaw", "StrategyTrial", "answer_of"]

_LATE_CASES = 12
_SECONDS_TO_END = 0.5
_MARKER_LINE = re.compile(rb"^(?:<{7}|>{7})(?: |\r?$)", re.MULTILINE)


class StrategyTrial:
    """One strategy under one law, and what was seen of it.

    Attributes:
        cases: How often it was asked about a case.
        answered: In how many of these a conflict was resolved.
        remembered: Some cases with what it made of them, for asking again elsewhere.
    """

    def __init__(
        self, strategy: MergeStrategy, tell: Callable[[MergeCase], None] = lambda _: None
    ) -> None:
        """Take the strategy, and whom to tell before it is asked."""
        self.strategy = strategy
        self.cases = 0
        self.answered = 0
        self.remembered: list[tuple[MergeCase, Answer]] = []
        self._tell = tell
        self._is_asked = self._is_answered = False

    def begin(self) -> None:
        """Begin another case; it counts if the strategy is asked."""
        self._is_asked = self._is_answered = False

    def merge(self, case: MergeCase, given: MergeInput | None = None) -> MergeOutcome:
        """Ask the strategy, and hold it to the protocol.

        Raises:
            BrokenError: It raised, broke the protocol, or said that it failed.
            UncheckedError: A service that it needs failed it.
        """
        self._tell(case)
        self.cases += not self._is_asked
        self._is_asked = True
        wanted = "an outcome"
        try:
            outcome = run_strategy(self.strategy, given or case.fresh_input())
        except StrategyFailedError as exc:
            came = f"it failed: {exc.problem}{_place_of(exc.__cause__)}"
            raise BrokenError(Counterexample(given=str(case), came=came, wanted=wanted)) from exc
        except KeyboardInterrupt:
            raise
        # Nothing that a strategy raises ends the check: SystemExit is none of its business.
        except BaseException as exc:
            came = f"it raised {type(exc).__qualname__}{_place_of(exc)}"
            raise BrokenError(Counterexample(given=str(case), came=came, wanted=wanted)) from exc
        if outcome.service_failed:
            raise UncheckedError(outcome.failure or "a service that the strategy needs failed it")
        if outcome.failure:
            came = f"it said that it failed: {outcome.failure}"
            raise BrokenError(Counterexample(given=str(case), came=came, wanted=wanted))
        if len(outcome.conflicts) < outcome.conflicts_met and not self._is_answered:
            self._is_answered = True
            self.answered += 1
        return outcome


Check = Callable[[StrategyTrial, MergeCase], None]


@frozen(kw_only=True)
class StrategyLaw(Law):
    """A law of strategies.

    Attributes:
        name: What it is called in results and where somebody opts out.
        asks: What it asks, as a sentence.
        cases: The generator of `generators` that makes its cases.
        has_conflicts: Whether any of its cases has a conflict.
        check: Raises `BrokenError` if a case breaks it.
    """

    cases: str = "merge_cases"
    has_conflicts: bool = True
    check: Check = field(repr=False, eq=False)


# --- the laws ---


def _keeps_a_single_side(trial: StrategyTrial, case: MergeCase) -> None:
    nothing = Changes()
    for ours, theirs in ((case.ours, nothing), (nothing, case.theirs), (nothing, nothing)):
        asked = MergeCase(base=case.base, ours=ours, theirs=theirs, is_described=case.is_described)
        _expect_clean(trial, asked, ours or theirs)


def _takes_the_same_change_once(trial: StrategyTrial, case: MergeCase) -> None:
    for side in (case.ours, case.theirs):
        asked = MergeCase(base=case.base, ours=side, theirs=side, is_described=case.is_described)
        _expect_clean(trial, asked, side)


def _joins_disjoint_files(trial: StrategyTrial, case: MergeCase) -> None:
    if not case.ours or not case.theirs:
        return  # for the law of identity
    for asked in (case, case.swapped):
        _expect_clean(trial, asked, Changes({**case.ours, **case.theirs}))


def _expect_clean(trial: StrategyTrial, case: MergeCase, wanted: Changes) -> None:
    outcome = trial.merge(case)
    is_right = outcome.tree_id(case.base) == wanted.tree_id(case.base)
    if not is_right or outcome.status is not MergeStatus.CLEAN:
        _fail(case, outcome, f"no open conflict, and\n{shown_changes(wanted, case.base)}")


def _leaves_settled_bytes(trial: StrategyTrial, case: MergeCase) -> None:
    if case.ours == case.theirs or case.ours.keys().isdisjoint(case.theirs):
        return  # for the laws of identity, of the same change and of disjoint files
    given = case.fresh_input()
    outcome = trial.merge(case, given)
    before, after = (case.base.overlay(c) for c in (given.merge.changes, outcome.changes))
    disputed = {c.path for c in given.conflicts if not c.has_lines}
    disputed |= {stage.path for stage in given.merge.stages if not _has_lines(given, stage.path)}
    for path, entry in Changes.between(before, after).items():
        if path in disputed:
            continue
        if not _has_lines(given, path):
            wanted = f"{path!r} as the three-way merge has it, for nothing conflicts there:\n"
            _fail(case, outcome, wanted + shown_changes(given.merge.changes, case.base))
        runs = _settled_runs(given.merge, path)
        if entry is None or not _occur_in_order(runs, entry.data):
            shown = " … ".join(map(shown_bytes, runs))
            _fail(case, outcome, f"in {path!r}, outside of what both sides changed: {shown}")
        elif not _may_have_mode(entry, path, given):
            _fail(case, outcome, f"{path!r} with the mode that the three-way merge gives it")


def _has_lines(given: MergeInput, path: str) -> bool:
    return any(conflict.has_lines for conflict in given.conflicts if conflict.path == path)


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


def _changes_nothing_it_was_given(trial: StrategyTrial, case: MergeCase) -> None:
    given = case.fresh_input()
    before, folder, variables = _portrait(given), Path.cwd(), dict(os.environ)
    process, threads = _of_the_process(), set(threading.enumerate())
    outcome = trial.merge(case, given)
    for was, now in zip(before, _portrait(given), strict=True):
        if was != now:
            raise BrokenError(Counterexample(given=str(case), came=now, wanted=was))
    if changed := _changed_variables(variables):
        _fail(case, outcome, f"the environment as it was: {', '.join(changed)} differ")
    if Path.cwd() != folder:
        _fail(case, outcome, f"to stay in the folder {folder}")
    after = _of_the_process()
    if changed := [name for name in after if after[name] != process[name]]:
        _fail(case, outcome, f"to leave alone {' and '.join(changed)}")
    if running := _threads_beside(threads):
        _fail(case, outcome, f"no thread left running, as {', '.join(running)}")
    told = _told(outcome, case.base)
    trial.merge(case.swapped)
    if _told(outcome, case.base) != told:
        came = f"the first outcome changed when it was asked again:\n{_told(outcome, case.base)}"
        raise BrokenError(Counterexample(given=str(case), came=came, wanted=told))


def _of_the_process() -> dict[str, object]:
    """Return what anybody may change in a process and others rely on."""
    root = logging.getLogger()
    return {
        "the state of the module `random`": random.getstate(),
        "the handler of SIGINT": signal.getsignal(signal.SIGINT),
        "the handler of SIGTERM": signal.getsignal(signal.SIGTERM),
        "the handlers and level of the root logger": (list(root.handlers), root.level),
    }


def _threads_beside(known: set[threading.Thread]) -> list[str]:
    """Name the threads beside *known* that do not end soon."""
    new = set(threading.enumerate()) - known
    deadline = time.monotonic() + _SECONDS_TO_END
    for thread in new:
        thread.join(max(0.0, deadline - time.monotonic()))
    return sorted(thread.name for thread in new if thread.is_alive())


def _portrait(given: MergeInput) -> tuple[str, ...]:
    """Tell all that can be seen of an input, part by part."""
    base = "\n".join(f"{path!r}: {given.base.get(path)!r}" for path in given.base.paths())
    contents = [(path, given.base.read(path)) for path in given.base.paths()]
    return (
        f"the base\n{base}\n{contents}",
        *(
            f"{name}\n{_contents(changes)}"
            for name, changes in (
                ("ours", given.ours),
                ("theirs", given.theirs),
                ("the three-way merge", given.merge.changes),
            )
        ),
        f"the conflicts\n{[astuple(conflict) for conflict in given.conflicts]}",
        f"the blocks\n{[astuple(block) for block in given.merge.blocks]}",
        f"the features\n{given.ours_feature}\n{given.theirs_feature}",
    )


def _contents(changes: Changes) -> str:
    rows = ((path, entry and (int(entry.mode), entry.data)) for path, entry in changes.items())
    return "\n".join(f"{path!r}: {row}" for path, row in rows)


def _changed_variables(before: dict[str, str]) -> list[str]:
    """Name the variables that differ; their values may be secrets."""
    now = dict(os.environ)
    return sorted(name for name in before | now if before.get(name) != now.get(name))


def _answers_the_same_again(trial: StrategyTrial, case: MergeCase) -> None:
    first = trial.merge(case)
    told = answer_of(first, case.base)
    trial.merge(case.swapped)
    again = answer_of(trial.merge(case), case.base)
    if told != again:
        came = f"first\n{told.beside(again)}\nand then\n{again.beside(told)}"
        raise BrokenError(Counterexample(given=str(case), came=came, wanted="the same outcome"))
    if first.conflicts_met and len(trial.remembered) < _LATE_CASES:
        trial.remembered.append((case, told))


@frozen
class Answer:
    """What of an outcome must not differ from one time to the next.

    Attributes:
        told: The tree and the open conflicts, for a person.
        details: What that does not say: the tree's id, and the ledger.
    """

    told: str
    details: str

    def beside(self, other: "Answer") -> str:
        """Tell that part of it which differs from *other*."""
        return self.told if self.told != other.told else self.details


def answer_of(outcome: MergeOutcome, base: Snapshot) -> Answer:
    """Return what is to be compared of *outcome*."""
    details = [outcome.tree_id(base), *map(str, outcome.ledger)]
    return Answer(_told(outcome, base), "\n".join(details))


def _marks_open_conflicts_alone(trial: StrategyTrial, case: MergeCase) -> None:
    given = case.fresh_input()
    outcome = trial.merge(case, given)
    known = [_identity(conflict) for conflict in given.conflicts if not conflict.has_lines]
    for conflict in outcome.conflicts:
        entry = outcome.changes.get(conflict.path)
        if not conflict.has_lines:
            if _identity(conflict) not in known:
                wanted = f"no conflict of kind {conflict.kind.value} at {conflict.path!r}: "
                _fail(case, outcome, wanted + "the three-way merge has none")
        elif entry is None or not _stands_in(entry.data, conflict):
            wanted = f"{conflict.path!r} with markers around both sides in line {conflict.line}"
            _fail(case, outcome, f"{wanted}, for that conflict is open")
    for path, entry in outcome.changes.items():
        texts = [version.get(path) for version in (case.base, case.ours, case.theirs)]
        if any(text and _MARKER_LINE.search(text.data) for text in texts):
            continue  # markers of its own
        left = [c for c in outcome.conflicts if c.path == path and c.has_lines]
        marks = len(_MARKER_LINE.findall(entry.data)) if entry and entry.mode.is_regular else 0
        renamed = any(s.path == path and not _has_lines(given, path) for s in given.merge.stages)
        if marks != 2 * len(left) and not renamed:
            _fail(case, outcome, f"{path!r} with markers for {len(left)} open conflicts alone")


def _identity(conflict: Conflict) -> tuple[object, ...]:
    return conflict.path, conflict.kind, conflict.base, conflict.ours, conflict.theirs


def _stands_in(data: bytes, conflict: Conflict) -> bool:
    """Whether git's rendering of *conflict* stands in the line that it names."""
    lines = data.split(b"\n")[(conflict.line or 1) - 1 :]
    ours, theirs = (_lines(side or b"") for side in (conflict.ours, conflict.theirs))
    middle, end = 1 + len(ours), 2 + len(ours) + len(theirs)
    if len(lines) <= end or (conflict.line or 0) < 1:
        return False
    marks = zip((b"<", b"=", b">"), (lines[0], lines[middle], lines[end]), strict=True)
    if not all(line.startswith(7 * mark) for mark, line in marks):
        return False
    shown = [*lines[1:middle], *lines[middle + 1 : end]]
    return [line.removesuffix(b"\r") for line in shown] == [
        line.removesuffix(b"\r") for line in (*ours, *theirs)
    ]


def _lines(text: bytes) -> list[bytes]:
    return text.removesuffix(b"\n").split(b"\n") if text else []


def _does_not_mind_sides(trial: StrategyTrial, case: MergeCase) -> None:
    one, other = trial.merge(case), trial.merge(case.swapped)
    left, left_there = ({c.path for c in outcome.conflicts} for outcome in (one, other))
    trees = (case.base.overlay(outcome.changes) for outcome in (one, other))
    if left != left_there or Changes.between(*trees).keys() - left:
        told = _told(other, case.base)
        _fail(case, one, f"what comes with the sides swapped:\n{told}")


def _survives_odd_files(trial: StrategyTrial, case: MergeCase) -> None:
    given = case.fresh_input()
    outcome = trial.merge(case, given)
    left = {conflict.path for conflict in outcome.conflicts}
    told_lf = {conflict.path for conflict in given.conflicts if conflict.newline == b"\n"}
    for path, entry in outcome.changes.items():
        versions = [v.data for v in _versions(case, path) if v and v.mode.is_regular]
        if not entry or not entry.mode.is_regular or path in left or not versions:
            continue
        strange = {byte for byte in entry.data if byte > 127} - set(b"".join(versions))  # noqa: PLR2004 - ASCII ends
        if strange:
            wanted = f"no bytes in {path!r} that no version has, as {bytes(sorted(strange))!r} are"
            _fail(case, outcome, wanted)
        wants_crlf = path not in told_lf and all(map(_is_crlf, versions))
        if wants_crlf and not _is_crlf(entry.data):
            _fail(case, outcome, f"{path!r} with \\r\\n at the end of lines, as in all versions")


def _versions(case: MergeCase, path: str) -> list[Entry | None]:
    """Return a path's entries before and after; of a file that is moved, all there are."""
    old = case.base.get(path)
    found = [old, case.ours.get(path, old), case.theirs.get(path, old)]
    if None in (*case.ours.values(), *case.theirs.values()):
        found += [case.base.get(other) for other in case.base.paths()]
        found += [*case.ours.values(), *case.theirs.values()]
    return found


def _is_crlf(data: bytes) -> bool:
    return b"\n" not in data.replace(b"\r\n", b"")


# --- telling ---


def _fail(case: MergeCase, outcome: MergeOutcome, wanted: str) -> None:
    came = _told(outcome, case.base)
    raise BrokenError(Counterexample(given=str(case), came=came, wanted=wanted))


def _told(outcome: MergeOutcome, base: Snapshot) -> str:
    lines = [shown_changes(outcome.changes, base)]
    for conflict in outcome.conflicts:
        place = f"{conflict.path!r}" + (f", line {conflict.line}" if conflict.has_lines else "")
        lines.append(f"an open conflict ({conflict.kind.value}) in {place}")
    if outcome.conflicts_met and not outcome.conflicts:
        lines.append("no open conflict")
    return "\n".join(lines)


def _place_of(exc: BaseException | None) -> str:
    """Say where in its own code a strategy raised."""
    frames: list[Any] = traceback.extract_tb(exc.__traceback__) if exc else []
    own = Path(__file__).parent.parent
    frames = [frame for frame in frames if own not in Path(frame.filename).parents] or frames
    if not frames:
        return ""
    last = frames[-1]
    return f" ({Path(last.filename).name}, line {last.lineno}, in {last.name})"


STRATEGY_LAWS: Final[tuple[StrategyLaw, ...]] = (
    StrategyLaw(
        name="identity",
        asks="If one side changed nothing, the merged tree is the other side's, without conflict.",
        has_conflicts=False,
        check=_keeps_a_single_side,
    ),
    StrategyLaw(
        name="same_change",
        asks="If both sides made the same change, the merged tree has it once, without conflict.",
        has_conflicts=False,
        check=_takes_the_same_change_once,
    ),
    StrategyLaw(
        name="disjoint_files",
        asks="If the sides changed different files, the merged tree has both, in either order.",
        cases="disjoint_cases",
        has_conflicts=False,
        check=_joins_disjoint_files,
    ),
    StrategyLaw(
        name="untouched_bytes",
        asks="What stands outside of the regions that both sides changed stays as it is.",
        check=_leaves_settled_bytes,
    ),
    StrategyLaw(
        name="no_mutation",
        asks="Neither what it was given nor what it answered before changes, nor the process.",
        check=_changes_nothing_it_was_given,
    ),
    StrategyLaw(
        name="determinism",
        asks="The same input gives the same outcome: later, and in another process.",
        check=_answers_the_same_again,
    ),
    StrategyLaw(
        name="markers",
        asks="Conflict markers stand around what it left open, and nowhere else.",
        check=_marks_open_conflicts_alone,
    ),
    StrategyLaw(
        name="symmetry",
        asks="If it says `is_symmetric`, swapped sides leave the same files open, others alike.",
        cases="edited_cases",
        check=_does_not_mind_sides,
    ),
    StrategyLaw(
        name="survival",
        asks="Binary, CR LF, Latin-1 and empty files, odd names and links come through.",
        cases="odd_cases",
        check=_survives_odd_files,
    ),
)

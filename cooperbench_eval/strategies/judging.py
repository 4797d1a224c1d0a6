"""Opens conflicts again that a strategy resolved, where the judge finds a fault."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import evolve, frozen

from cooperbench_eval.git.merging.conflicts import Conflict, ConflictKind, LedgerRow
from cooperbench_eval.git.merging.locating_resolutions import locate_conflicts
from cooperbench_eval.git.merging.text_merge import Answer
from cooperbench_eval.git.merging.three_way_merge import ThreeWayMerge
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.languages.files import is_code
from cooperbench_eval.languages.hazards.finding import find_misfits
from cooperbench_eval.languages.hazards.project import Project
from cooperbench_eval.languages.hazards.versions import Merged
from cooperbench_eval.strategies.judge import ConflictFile, Fault
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome

_MARKER = re.compile(rb"^(?:<{7,}|>{7,})(?: .*)?\r?$", re.MULTILINE)


def judge_outcome(
    given: MergeInput,
    outcome: MergeOutcome,
    *,
    takes_sides: bool = False,
    may_invent: bool = False,
) -> MergeOutcome:
    """Accept the resolutions in which the judge finds no fault.

    Every file with a resolved conflict is judged; conflicts that are still open contain
    ours. If it has a fault, the conflicts that are faulty on their own are opened again.
    If that does not help, all of the file's conflicts are. Conflicts that one row of the
    ledger or one text resolves together stay together.

    Args:
        given: What the strategy got.
        outcome: What it returned. If that shows no merge, it left no conflict open.
        takes_sides: Whether it may take a function from one side that contains what the
            other one adds, although the rest of the other's function is lost.
        may_invent: Whether its texts may have names and values that no version has.

    Returns:
        The outcome with the resolutions that were accepted; the rows of rejected ones are
        open, with the reason.
    """
    outcome = reopen_marked(given, outcome)
    before = given.merge
    after = outcome.merge or before.concluded(outcome.changes)
    tree = given.base.overlay(after.changes)
    kept: dict[str, list[Answer]] = {}
    rows = list(outcome.ledger)
    for file in _resolved_files(before, after, takes_sides=takes_sides, may_invent=may_invent):
        of_file = [row for row in rows if row.path == file.path]
        units, faults = file.judge(tree.get(file.path), of_file)
        if faults:
            kept[file.path] = [a for i, unit in enumerate(units) if i not in faults for a in unit]
            rows = [row for row in rows if row.path != file.path]
            rows += file.rows(of_file, outcome.strategy, units, faults)
    return _reopened(outcome, before, after, kept, rows) if kept else reopen_misfits(given, outcome)


def reopen_marked(given: MergeInput, outcome: MergeOutcome) -> MergeOutcome:
    """Open the conflicts of files again that are resolved to conflict markers.

    A side may have left some in the file. And if a file is renamed to a name that another file
    has, git first merges the renamed file's own changes. Conflicts of that merge are text of
    ours or theirs, between longer markers.
    """
    before, after = given.merge, outcome.merge or given.merge.concluded(outcome.changes)
    if outcome.merge is None and outcome.conflicts:
        return outcome  # it is not known which conflicts are open
    left = {conflict.path for conflict in after.conflicts}
    resolved = {conflict.path for conflict in before.conflicts} - left
    marked = {
        c.path
        for c in before.conflicts
        if c.path in resolved
        and (found := _markers(after.changes.get(c.path)))
        and {each[:1] for each in found} == {b"<", b">"}
        and not found <= set(_MARKER.findall(_base_of(before, c)))
    }
    if not marked:
        return outcome
    reason = "the file would have conflict markers that the base does not have"
    rows = [row for row in outcome.ledger if row.path not in marked]
    rows += (LedgerRow.left_open(c, reason) for c in before.conflicts if c.path in marked)
    return _reopened(outcome, before, after, dict.fromkeys(marked, ()), rows)


def reopen_misfits(given: MergeInput, outcome: MergeOutcome) -> MergeOutcome:
    """Open conflicts again if the files of the merged tree do not fit together.

    One file may call a function that another file no longer has, or to which it gave other
    parameters. Neither file shows this on its own. So all resolved conflicts of the file with the
    hazard are opened, or those of all source files if that file has none.
    """
    before, after = given.merge, outcome.merge or given.merge.concluded(outcome.changes)
    touched = {path for path in {*given.ours, *given.theirs} if is_code(path)}
    resolved = {c.path for c in before.conflicts if c.has_lines and c.path in touched}
    if outcome.conflicts or not resolved or len(touched) == 1:
        return outcome
    sides = {1: given.ours, 2: given.theirs}
    tree = Merged.of(given.base, sides, after.changes, {1: "ours", 2: "theirs"})
    found = next(find_misfits(Project.of(tree)), None)
    if found is None:
        return outcome
    opened = {found.path} & resolved or resolved
    rows = [row for row in outcome.ledger if row.path not in opened]
    rows += (LedgerRow.left_open(c, found.message) for c in before.conflicts if c.path in opened)
    return _reopened(outcome, before, after, dict.fromkeys(opened, ()), rows)


def _markers(entry: Entry | None) -> set[bytes]:
    return set(_MARKER.findall(entry.data)) if entry else set()


def _base_of(merge: ThreeWayMerge, conflict: Conflict) -> bytes:
    """Return the base of a file that has a conflict."""
    return merge.versions_of(conflict.path)[0] if conflict.has_lines else conflict.base or b""


def _reopened(
    outcome: MergeOutcome,
    before: ThreeWayMerge,
    after: ThreeWayMerge,
    kept: Mapping[str, Iterable[Answer]],
    rows: Iterable[LedgerRow],
) -> MergeOutcome:
    merge = after.reopened(before, kept)
    return evolve(
        outcome,
        changes=merge.changes,
        conflicts=merge.conflicts,
        ledger=tuple(rows),
        merge=merge,
    )


def _resolved_files(
    before: ThreeWayMerge, after: ThreeWayMerge, *, takes_sides: bool, may_invent: bool
) -> Iterator["_ResolvedFile"]:
    """Yield the files in which conflicts were resolved."""
    still_open = {(each.path, None) for each in after.conflicts if not each.has_lines} | {
        (path, line) for (path, _), line in after.lines_before(before).items()
    }
    by_path: dict[str, list[Conflict]] = {}
    for conflict in before.conflicts:
        if conflict.has_lines or conflict.kind is ConflictKind.MODIFY_DELETE:
            by_path.setdefault(conflict.path, []).append(conflict)
    for path, conflicts in by_path.items():
        resolved = {i for i, c in enumerate(conflicts) if (path, c.line) not in still_open}
        if not resolved:
            continue
        has_lines = conflicts[0].has_lines
        left = [c for c in after.conflicts if c.path == path and c.has_lines]
        judged = ConflictFile(
            path=path,
            versions=before.versions_of(path) if has_lines else _whole(conflicts[0]),
            places=conflicts,
            settled=before.settled_in(path) if has_lines else (b"", b""),
            takes_sides=takes_sides,
            may_invent=may_invent,
        )
        yield _ResolvedFile(
            judged=judged,
            rest=evolve(judged, places=left, settled=after.settled_in(path)) if left else None,
            resolved=frozenset(resolved),
        )


def _whole(conflict: Conflict) -> tuple[bytes, bytes, bytes]:
    """Return the versions of a file that one side deleted, with the base's text for that side."""
    base, ours, theirs = conflict.base or b"", conflict.ours, conflict.theirs
    return base, base if ours is None else ours, base if theirs is None else theirs


_Unit = tuple[Answer, ...]
"""Answers that are accepted or rejected together."""


@frozen(kw_only=True)
class _ResolvedFile:
    """A file in which a strategy resolved conflicts.

    Attributes:
        judged: The file, with the conflicts that were open before.
        rest: The file with those that are still open; `None` if there are none.
        resolved: The indexes of those that were resolved.
    """

    judged: ConflictFile[Conflict]
    rest: ConflictFile[Conflict] | None
    resolved: frozenset[int]

    @property
    def path(self) -> str:
        return self.judged.path

    @property
    def _places(self) -> Sequence[Conflict]:
        return self.judged.places

    def judge(
        self, entry: Entry | None, rows: Iterable[LedgerRow]
    ) -> tuple[Sequence[_Unit], Mapping[int, Fault]]:
        """Return the answers that are accepted or rejected together, and the faulty ones.

        If it is not known which text is whose, there is one unit without answers.
        """
        if entry is None or not entry.mode.is_regular:
            # An answer to a conflict about the whole file may delete it.
            fault = Fault("the file would be missing" if self._places[0].has_lines else "")
            return [()], {0: fault} if fault else {}
        answers = self._answers(entry.data)
        if answers is not None:
            units = self._units(answers, rows)
            return units, self.judged.faults_of(units)
        fault = self.rest.fault(()) if self.rest else self.judged.fault_of_file(entry.data)
        return [()], {0: fault} if fault else {}

    def _answers(self, text: bytes) -> list[Answer] | None:
        """Return the answers to the conflicts; `None` if they are not known exactly."""
        found = []
        shown = [b""] * len(self._places)
        for each in locate_conflicts(self.judged.settled, shown, text):
            is_answer = self.resolved.issuperset(each.conflicts)
            if not each.is_exact or not (is_answer or self.resolved.isdisjoint(each.conflicts)):
                return None
            if is_answer:
                found.append(Answer(each.conflicts, each.text))
        return found

    def _units(self, answers: Iterable[Answer], rows: Iterable[LedgerRow]) -> list[_Unit]:
        """Group answers that belong to one row."""
        spans = [self._span(row) for row in rows]
        units: list[_Unit] = []
        for answer in answers:
            last = units[-1][-1].conflicts if units else range(0)
            if any(last.stop - 1 in span and answer.conflicts.start in span for span in spans):
                units[-1] += (answer,)
            else:
                units.append((answer,))
        return units

    def _span(self, row: LedgerRow) -> range:
        """Return the indexes of the conflicts that a row covers."""
        lines = [conflict.line for conflict in self._places]
        if row.line not in lines:
            return range(0)
        start = lines.index(row.line)
        return range(start, min(start + row.conflicts, len(lines)))

    def rows(
        self,
        rows: Iterable[LedgerRow],
        member: str,
        units: Sequence[_Unit],
        faults: Mapping[int, Fault],
    ) -> Iterator[LedgerRow]:
        """Yield the strategy's rows, open where conflicts were opened again."""
        unit_of = {i: n for n, unit in enumerate(units) for each in unit for i in each.conflicts}
        reasons = {
            i: f"{member}'s text was rejected: {faults[unit_of.get(i, 0)].problem}"
            for i in sorted(self.resolved)
            if unit_of.get(i, 0) in faults
        }
        covered: set[int] = set()
        for row in rows:
            span = self._span(row) if row.line is not None else range(len(self._places))
            reason = next((reasons[i] for i in span if i in reasons), "")
            covered.update(span)
            yield _opened(row, reason) if reason and not row.is_open else row
        for i, reason in reasons.items():
            if i not in covered:
                yield _opened(LedgerRow.left_open(self._places[i], ""), reason)


def _opened(row: LedgerRow, reason: str) -> LedgerRow:
    row = evolve(row, rule="", reason=reason, is_binding=False, is_provisional=True)
    return evolve(row, ours_kept=None, theirs_kept=None)

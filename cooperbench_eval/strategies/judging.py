"""Judges what a member of a cascade resolved, and takes back what has a fault."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from attrs import evolve, frozen

from cooperbench_eval.git.merging.conflicts import Conflict, LedgerRow, Replacement, ResolutionKind
from cooperbench_eval.git.merging.text_merge import Answer, TextConflict
from cooperbench_eval.git.merging.three_way_merge import ThreeWayMerge
from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.languages.alignment import similarity
from cooperbench_eval.languages.faults.faults import find_fault
from cooperbench_eval.languages.faults.losses import find_lost_token
from cooperbench_eval.languages.files import find_syntax_fault, is_code
from cooperbench_eval.languages.words import WORD
from cooperbench_eval.strategies.blocks import alternate
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome
from cooperbench_eval.strategies.structured.taking import take_functions

_LEAST_ALIKE = 0.5
"""The share of words from which a line counts as a version of another one."""
_MOST_TRIES = 100
"""The most resolutions of a file that are checked one by one."""


def judge_outcome(
    given: MergeInput,
    outcome: MergeOutcome,
    *,
    takes_sides: bool = False,
    may_invent: bool = False,
) -> tuple[ThreeWayMerge, tuple[LedgerRow, ...]]:
    """Accept the resolutions in which the static judge finds no fault.

    Every file with a resolved conflict between lines is judged; conflicts that are still
    open contain ours. If it has a fault, the conflicts that are faulty on their own are
    opened again. If that does not help, all of the file's conflicts are. Conflicts that
    one row of the ledger or one text resolves together stay together.

    Args:
        given: What the member got.
        outcome: What it returned. If that shows no merge, it left no conflict open.
        takes_sides: Whether it may take a function from one side that contains what the
            other one adds, although the rest of the other's function is lost.
        may_invent: Whether its texts may have names and values that no version has.

    Returns:
        The merge with the resolutions that were accepted, and the member's rows; those of
        rejected resolutions are open, with the reason.
    """
    before = given.merge
    after = outcome.merge or before.concluded(outcome.changes)
    tree = given.base.overlay(after.changes)
    files = list(_files(before, after, may_invent=may_invent))
    answers = _answers(before, before.replacements(tree, after.conflicts)) if files else {}
    faulty = [
        (file, fault)
        for file in files
        if (fault := file.fault_in(tree) or file.repeated(answers.get(file.path, ())))
        and not (takes_sides and file.takes_sides(tree))
    ]
    if not faulty:
        return after, outcome.ledger
    reopened: dict[str, list[Answer]] = {}
    rows = [row for row in outcome.ledger if row.path not in {file.path for file, _ in faulty}]
    for file, fault in faulty:
        of_file = [row for row in outcome.ledger if row.path == file.path]
        units = file.units(answers.get(file.path, ()), of_file)
        faults = file.faults_of(units)
        kept = [each for unit in units if faults and unit not in faults for each in unit]
        alone = {i: faults[unit] for unit in faults for each in unit for i in each.conflicts}
        closed = {i for each in kept for i in each.conflicts}
        reasons = {i: alone.get(i, fault) for i in sorted(file.resolved - closed)}
        rows += file.rows(of_file, outcome.strategy, reasons)
        reopened[file.path] = kept
    return after.reopened(before, reopened), tuple(rows)


def _files(
    before: ThreeWayMerge, after: ThreeWayMerge, *, may_invent: bool
) -> Iterator["_JudgedFile"]:
    """Yield the files in which conflicts between lines were resolved."""
    open_lines = {(path, line) for (path, _), line in after.lines_before(before).items()}
    by_path: dict[str, list[Conflict]] = {}
    for conflict in before.conflicts:
        if conflict.has_lines:
            by_path.setdefault(conflict.path, []).append(conflict)
    for path, conflicts in by_path.items():
        left = [each for each in after.conflicts if each.path == path and each.has_lines]
        resolved = {i for i, c in enumerate(conflicts) if (path, c.line) not in open_lines}
        if not resolved:
            continue
        yield _JudgedFile(
            path=path,
            versions=before.versions_of(path),
            conflicts=tuple(conflicts),
            resolved=frozenset(resolved),
            settled=before.settled_in(path),
            left=tuple(left),
            settled_after=after.settled_in(path) if left else (),
            may_invent=may_invent,
        )


_Unit = tuple[Answer, ...]
"""Answers that are accepted or rejected together."""


@frozen(kw_only=True)
class _JudgedFile:
    """A file in which a member resolved conflicts.

    Attributes:
        path: Its path.
        versions: Base, ours and theirs.
        conflicts: The conflicts that were open before, in order.
        resolved: The indexes of those that were resolved.
        settled: The text around them.
        left: The conflicts that are still open.
        settled_after: The text around those; empty if there are none.
        may_invent: Whether the texts may have names and values that no version has.
    """

    path: str
    versions: tuple[bytes, bytes, bytes]
    conflicts: tuple[Conflict, ...]
    resolved: frozenset[int]
    settled: tuple[bytes, ...]
    left: tuple[Conflict, ...]
    settled_after: tuple[bytes, ...]
    may_invent: bool

    def fault_in(self, tree: Snapshot) -> str:
        """Return what is wrong with the file as the member left it."""
        entry = tree.get(self.path)
        if entry is None or not entry.mode.is_regular:
            return "the file would be missing"
        if not self.left:
            return self._find_fault(entry.data)
        return self._fault_of_part(
            alternate(self.settled_after, list(map(_ours, self.left))),
            alternate(self.settled_after, list(map(_both, self.left))),
        )

    def repeated(self, answers: Iterable[Answer]) -> str:
        """Return why an answer must not join the lines of both sides; empty if it may.

        A line of the base that both sides kept or edited would be in the file twice, and if
        each side removed a line that the other kept, both would be back.
        """
        if not is_code(self.path) or any(find_syntax_fault(self.path, v) for v in self.versions):
            return ""
        for answer in answers:
            first, *others = (self.conflicts[i] for i in answer.conflicts)
            if others or answer.text != _both(first):
                continue
            before, mine, other = map(_lines, (first.base, first.ours, first.theirs))
            kept = [(_has_alike(mine, words), _has_alike(other, words)) for words in before]
            if (True, True) in kept or {(True, False), (False, True)} <= set(kept):
                at = next(i for i, sides in enumerate(kept) if any(sides))
                shown = b" ".join(before[at][:5]).decode("utf-8", "replace")
                return f"joining both sides' lines would repeat or restore {shown!r}"
        return ""

    def takes_sides(self, tree: Snapshot) -> bool:
        """Whether the file has no fault except that it takes functions whole from one side."""
        entry = tree.get(self.path)
        if self.left or entry is None or not entry.mode.is_regular:
            return False
        return any(
            not find_fault(self.path, taken.versions, entry.data)
            for taken in take_functions(self.path, self.versions)
        )

    def units(self, answers: Iterable[Answer], rows: Iterable[LedgerRow]) -> list[_Unit]:
        """Group answers that belong to one row."""
        spans = [self._span(row) for row in rows]
        units: list[list[Answer]] = []
        for answer in answers:
            last = units[-1][-1].conflicts if units else range(0)
            if any(last.stop - 1 in span and answer.conflicts.start in span for span in spans):
                units[-1].append(answer)
            else:
                units.append([answer])
        return [tuple(unit) for unit in units]

    def _span(self, row: LedgerRow) -> range:
        """Return the indexes of the conflicts that a row covers."""
        lines = [conflict.line for conflict in self.conflicts]
        if row.line not in lines:
            return range(0)
        start = lines.index(row.line)
        return range(start, min(start + row.conflicts, len(lines)))

    def faults_of(self, units: Sequence[_Unit]) -> dict[_Unit, str]:
        """Return the units that are faulty on their own.

        Returns:
            Their faults; empty if the file without them still has a fault.
        """
        if not 1 < len(units) <= _MOST_TRIES:
            return {}
        faults = {unit: fault for unit in units if (fault := self._fault(unit))}
        kept = [each for unit in units if unit not in faults for each in unit]
        return faults if faults and kept and not self._fault(kept) else {}

    def _fault(self, answers: Iterable[Answer]) -> str:
        """Return what is wrong with the file if only *answers* are given."""
        answers = tuple(answers)
        if fault := self.repeated(answers):
            return fault
        given = {answer.conflicts.start: answer for answer in answers}
        return self._fault_of_part(self._filled(given, _ours), self._filled(given, _both))

    def _filled(
        self, given: Mapping[int, Answer], unanswered: Callable[[Conflict], bytes]
    ) -> bytes:
        parts = [self.settled[0]]
        at = 0
        while at < len(self.conflicts):
            answer = given.get(at)
            parts.append(answer.text if answer else unanswered(self.conflicts[at]))
            at = answer.conflicts.stop if answer else at + 1
            parts.append(self.settled[at])
        return b"".join(parts)

    def _fault_of_part(self, with_ours: bytes, with_both: bytes) -> str:
        """Return what is wrong with a file of which conflicts are open.

        Args:
            with_ours: The file with ours in their places.
            with_both: The file with the lines of both sides there, so that nothing of
                theirs is missing.
        """
        fault = self._find_fault(with_ours, is_whole=False)
        return fault or find_lost_token(self.versions, with_both)

    def _find_fault(self, merged: bytes, *, is_whole: bool = True) -> str:
        return find_fault(
            self.path, self.versions, merged, is_whole=is_whole, may_invent=self.may_invent
        )

    def rows(
        self, rows: Iterable[LedgerRow], member: str, reasons: Mapping[int, str]
    ) -> Iterator[LedgerRow]:
        """Yield the member's rows, open where conflicts were opened again.

        Args:
            rows: The member's rows for the file.
            member: The member's name.
            reasons: Why, by the index of each conflict that was opened again.
        """
        covered: set[int] = set()
        for row in rows:
            span = self._span(row) if row.line is not None else range(len(self.conflicts))
            reason = next((reasons[i] for i in span if i in reasons), "")
            covered.update(span)
            yield _rejected(row, member, reason) if reason and not row.is_open else row
        for i, reason in reasons.items():
            if i not in covered:
                yield _rejected(LedgerRow.left_open(self.conflicts[i], ""), member, reason)


def _rejected(row: LedgerRow, member: str, fault: str) -> LedgerRow:
    reason = f"{member}'s text was rejected: {fault}"
    return evolve(row, rule="", reason=reason, is_binding=False, ours_kept=None, theirs_kept=None)


def _answers(before: ThreeWayMerge, replacements: Iterable[Replacement]) -> dict[str, list[Answer]]:
    """Return the answers to each file's conflicts; none if they are not known exactly."""
    first: dict[str, int] = {}
    for i, conflict in enumerate(before.conflicts):
        if conflict.has_lines:
            first.setdefault(conflict.path, i)
    found: dict[str, list[Answer]] = {path: [] for path in first}
    inexact = set()
    for each in replacements:
        start, stop = each.together[0], each.together[-1] + 1
        conflict = before.conflicts[start]
        if not conflict.has_lines or each.kind is ResolutionKind.OPEN:
            continue
        if each.text is None or not each.is_exact or each.lines_before or each.lines_after:
            inexact.add(conflict.path)
        else:
            at = first[conflict.path]
            found[conflict.path].append(Answer(range(start - at, stop - at), each.text))
    return {path: answers for path, answers in found.items() if path not in inexact}


def _lines(text: bytes | None) -> list[list[bytes]]:
    """Return the words of each line that has any."""
    return [words for line in (text or b"").split(b"\n") if (words := WORD.findall(line))]


def _has_alike(lines: Sequence[Sequence[bytes]], words: Sequence[bytes]) -> bool:
    return any(similarity(words, each) >= _LEAST_ALIKE for each in lines)


def _ours(conflict: Conflict) -> bytes:
    return conflict.ours or b""


def _both(conflict: Conflict) -> bytes:
    ours, theirs = conflict.ours or b"", conflict.theirs or b""
    return TextConflict(base=b"", ours=ours, theirs=theirs, newline=conflict.newline).union()

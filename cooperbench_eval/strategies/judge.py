"""The judge: what is wrong with a merged file, and which of its parts are to blame.

Strategies that work on blocks ask it before they offer a text, and a cascade asks it about
what each member returns. So neither accepts a text that it refuses.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from itertools import chain, zip_longest
from typing import Generic, TypeVar

from attrs import field, frozen

from cooperbench_eval.git.merging.conflicts import Conflict, ConflictBlock
from cooperbench_eval.git.merging.text_merge import Answer, TextConflict
from cooperbench_eval.languages.data import find_format
from cooperbench_eval.languages.faults.faults import find_fault, why_unchecked
from cooperbench_eval.languages.faults.losses import find_lost_token
from cooperbench_eval.languages.faults.names import find_missing_name
from cooperbench_eval.languages.files import code_in, is_code
from cooperbench_eval.languages.reading import read_trees
from cooperbench_eval.languages.tree import StructureError, one_line
from cooperbench_eval.languages.words import WORD
from cooperbench_eval.strategies.structured.data import is_merge_by_key, why_unread
from cooperbench_eval.strategies.structured.edit_lines import EditPlaces, with_edits
from cooperbench_eval.strategies.structured.flow.interference import find_interference
from cooperbench_eval.strategies.structured.misplaced import find_misplaced
from cooperbench_eval.strategies.structured.ordered import Versions, why_not_merged
from cooperbench_eval.strategies.structured.refactorings.replaying import replay
from cooperbench_eval.strategies.structured.taking import take_functions
from cooperbench_eval.support.memo import WeighedMemo

MOST_TRIES = 100
"""If a file has more resolutions, they are not checked one by one."""

_Place = TypeVar("_Place", bound=Conflict | ConflictBlock)


class FaultKind(Enum):
    """What a fault is about."""

    UNREADABLE = auto()
    """A version cannot be read, so no merge of it can be checked."""
    TEXT = auto()
    """The merged text is wrong."""
    INTERFERENCE = auto()
    """The sides' changes work against each other, so any text would be wrong."""


@frozen
class Fault:
    """What is wrong with a merged file; false if nothing is.

    Attributes:
        problem: The reason that a ledger gives.
        kind: What it is about.
    """

    problem: str = ""
    kind: FaultKind = FaultKind.TEXT

    def __bool__(self) -> bool:
        return bool(self.problem)


@frozen(kw_only=True)
class ConflictFile(Generic[_Place]):
    """A file with open conflicts, and what a text for it may contain.

    Attributes:
        path: Its path.
        versions: Base, ours and theirs.
        places: The places in dispute: its open conflicts, or blocks of them, in order.
        settled: The text before, between and after them, from the merge by lines.
        takes_sides: Whether a function may be taken from a side that contains what the other
            side adds, although the other side's remaining edits are lost.
        may_invent: Whether texts may have names and values that no version has.
    """

    path: str
    versions: Versions = field(repr=False)
    places: Sequence[_Place]
    settled: Sequence[bytes] = field(repr=False)
    takes_sides: bool = False
    may_invent: bool = False
    _faults: dict[tuple[Answer, ...], Fault] = field(factory=dict, init=False, repr=False, eq=False)

    def filled(self, answers: Iterable[Answer], other: Callable[[_Place], bytes]) -> bytes:
        """Return the file with *answers*, and with the *other* text of each other place."""
        given = {answer.conflicts.start: answer for answer in answers}
        parts, at = [self.settled[0]], 0
        while at < len(self.places):
            answer = given.get(at)
            parts.append(answer.text if answer else other(self.places[at]))
            at = answer.conflicts.stop if answer else at + 1
            parts.append(self.settled[at])
        return b"".join(parts)

    def around(self, at: int) -> tuple[bytes, bytes]:
        """Return the text before and after a place, with ours for the other places."""
        ours = [ours_of(each) for each in self.places]
        before = alternate(self.settled[: at + 1], ours[:at])
        return before, alternate(self.settled[at + 1 :], ours[at + 1 :])

    def fault(self, answers: Iterable[Answer]) -> Fault:
        """Return what is wrong with the file if *answers* fill its places, and ours the others.

        To find missing text, the other places are filled with the lines of both sides.
        """
        answers = tuple(answers)
        found = self._faults.get(answers)
        if found is None:
            found = self._faults[answers] = self._fault_with(answers)
        return found

    def _fault_with(self, answers: Sequence[Answer]) -> Fault:
        answered = {i for answer in answers for i in answer.conflicts}
        merged = self.filled(answers, ours_of)
        if len(answered) == len(self.places):
            fault = self.fault_of(merged)
        else:
            fault = self._fault_of_part(merged, answered, self.filled(answers, both_of))
        return fault or Fault(self._uncombined(answers))

    def _fault_of_part(self, merged: bytes, answered: Collection[int], with_both: bytes) -> Fault:
        fault = _text_fault(self.path, self.versions, merged, self.may_invent, is_whole=False)
        if fault:
            return fault
        is_data = find_format(self.path, self.versions[1]) is not None and not self.may_invent
        if not is_data and (problem := find_lost_token(self.versions, with_both)):
            return Fault(with_edits(problem, self.versions))
        return _interference(self.path, self._versions_of(answered), merged, self.versions)

    def fault_of_file(self, text: bytes) -> Fault:
        """Return what is wrong with a file if its text is not split into answers."""
        fault = self.fault_of(text)
        if fault or self.may_invent or not is_code(self.path):
            return fault
        return Fault(self._why_other_text(text))

    def fault_of(self, text: bytes) -> Fault:
        """Return what is wrong with a text, without regard to how it combines the sides."""
        fault = _fault(self.path, self.versions, text, self.may_invent)
        readings = tuple(self._readings()) if fault else ()
        if not readings or find_missing_name(self.path, self.versions, text):
            return fault
        # Other versions count only for a text that is a merge of them.
        for each in readings:
            is_merge = not why_not_merged(self.path, each, text, self.versions)
            if is_merge and not _fault(self.path, each, text, self.may_invent):
                return Fault()
        return fault

    def _readings(self) -> Iterator[Versions]:
        """Yield other versions to judge a text by: refactored, or with functions of one side."""
        if replayed := replay(self.path, self.versions):
            yield replayed
        for taken in take_functions(self.path, self.versions) if self.takes_sides else ():
            yield taken.versions

    def faults_of(self, units: Sequence[Sequence[Answer]]) -> Mapping[int, Fault]:
        """Return the units of answers that must be withdrawn, each with its fault.

        These are the units that are faulty on their own; all units, if the file still has a
        fault without those.
        """
        fault = self.fault(chain.from_iterable(units))
        if not fault:
            return {}
        alone: dict[int, Fault] = {}
        if 1 < len(units) <= MOST_TRIES:
            alone = {i: found for i, unit in enumerate(units) if (found := self.fault(unit))}
            kept = [answer for i, unit in enumerate(units) if i not in alone for answer in unit]
            if alone and kept and not self.fault(kept):
                return alone
        return {i: alone.get(i, fault) for i in range(len(units))}

    def _uncombined(self, answers: Iterable[Answer]) -> str:
        """Return why answers must not combine the sides' lines; empty if they may.

        Unless a model wrote them, data and source must be merges by key or by structure. In other
        text, lines are joined only where both sides insert. If the base has a line there, a side
        changed or removed it, and joining would repeat or restore it.
        """
        answers = tuple(answers)
        combined = [each for each in answers if self._is_combined(each)]
        if find_format(self.path, self.versions[1]) is not None:
            return self._why_not_by_key(combined)
        if is_code(self.path) and not self.may_invent:
            # With an answer left out, the text would have ours where a merge may have theirs.
            is_whole = not combined or not self._why_not_structural(answers)
            return "" if is_whole else self._why_not_by_structure(combined)
        for answer in combined:
            place = self.places[answer.conflicts.start]
            is_joined = len(answer.conflicts) == 1 and answer.text in _both_orders(place)
            lines = self._changed_by_both(answer.conflicts.start) if is_joined else ()
            if lines:
                return f"joining both sides' lines would repeat or restore {one_line(lines[0])!r}"
        return ""

    def _is_combined(self, answer: Answer) -> bool:
        """Whether an answer is more than the lines of one side."""
        first, *others = (self.places[i] for i in answer.conflicts)
        if None in {first.ours, first.theirs}:
            return False  # one side deleted the file
        is_one = not others and answer.text in {first.ours, first.theirs}
        is_data = find_format(self.path, self.versions[1]) is not None
        is_chosen = is_data or answer.text in _both_orders(first)
        return not is_one or (is_chosen and not self.may_invent)

    def _why_not_by_key(self, answers: Sequence[Answer]) -> str:
        if not answers or self.may_invent:
            return ""
        merged = self.filled(answers, ours_of)
        versions = self._versions_of({i for answer in answers for i in answer.conflicts})
        if any(is_merge_by_key(self.path, each, merged) for each in (versions, self.versions)):
            return ""
        problem = why_unread(self.path, self.versions)
        return problem or "no merge by key of both sides' changes gives this text"

    def _why_not_by_structure(self, answers: Sequence[Answer]) -> str:
        """Return why merges by structure do not give these answers, together or one by one."""
        reason = self._why_not_structural(answers)
        if not reason or not 1 < len(answers) <= MOST_TRIES:
            return reason
        left = [each for each in answers if self._why_not_structural([each])]
        return reason if len(left) == len(answers) else self._why_not_structural(left)

    def _why_not_structural(self, answers: Sequence[Answer]) -> str:
        if not answers:
            return ""
        at = {i for answer in answers for i in answer.conflicts}
        versions = () if self._is_inserted_twice() else (self._versions_of(at),)
        return self._why_other_text(self.filled(answers, ours_of), *versions)

    def _is_inserted_twice(self) -> bool:
        """Whether both sides insert equal lines, which a merge by lines takes for the same."""
        base, ours, theirs = (
            Counter(map(bytes.strip, each.split(b"\n"))) for each in self.versions
        )
        return any(map(WORD.search, (ours & theirs) - base))

    def _why_other_text(self, text: bytes, *versions: Versions) -> str:
        """Return why a text is not a merge by structure of *versions*, nor of other ones."""
        reasons = []
        for each in chain((*versions, self.versions), self._readings()):
            reasons.append(why_not_merged(self.path, each, text, self.versions))
            if not reasons[-1]:
                return ""
        return reasons[0]

    def _changed_by_both(self, at: int) -> Sequence[bytes]:
        """Return lines at a place that both sides' lines would repeat or restore.

        These are the base's lines that a side changed or removed, but did not move. If git
        split a region at lines that both sides have, it is unknown which lines of the base
        belong to which part. Then they are the lines of ours, if the sides' lines are indented
        or begin with the same word, as versions of one insertion do.
        """
        place = self.places[at]
        base, *others = (Counter(version.splitlines()) for version in self.versions)
        keyed = ((line, line.rstrip(b"\r")) for line in _filled_lines(place.base))
        lines = [line for line, key in keyed if any(side[key] < base[key] for side in others)]
        before, after = self.settled[at : at + 2]
        near = (before.splitlines(keepends=True)[-1:], after.splitlines(keepends=True)[:1])
        if b"".join((*near[0], place.base or b"", *near[1])) in self.versions[0] and base:
            return lines
        mine, other = map(_filled_lines, (place.ours, place.theirs))
        if not (base or before.strip() or after.strip()):
            return ()
        is_inside = any(line[:1] in b" \t" for line in (*mine, *other))
        words = [{WORD.findall(line)[0] for line in side} for side in (mine, other)]
        return mine if other and (is_inside or words[0] & words[1]) else ()

    def _versions_of(self, at: Collection[int]) -> Versions:
        """Return the versions of the file with ours in all places except those *at*."""
        sides = [[ours_of(each)] * 3 for each in self.places]
        for i in at:
            sides[i] = [self.places[i].base or b"", sides[i][1], self.places[i].theirs or b""]
        base, ours, theirs = (alternate(self.settled, texts) for texts in zip(*sides, strict=True))
        return base, ours, theirs


def _fault(path: str, versions: Versions, merged: bytes, may_invent: bool) -> Fault:
    key = path, versions, merged, may_invent
    found = _known.get(key)
    if found is None:
        found = _text_fault(path, versions, merged, may_invent, is_whole=True)
        found = found or _interference(path, versions, merged, versions)
        found = _known.keep(key, found, size=len(merged) + sum(map(len, versions)))
    return found


# A cascade asks about the same texts as its members.
_known = WeighedMemo[tuple[str, Versions, bytes, bool], Fault](max_bytes=1 << 22)


def _text_fault(
    path: str, versions: Versions, merged: bytes, may_invent: bool, *, is_whole: bool
) -> Fault:
    """Return what is wrong with a text, and which edits of both sides are there."""
    if problem := why_unchecked(path, versions):
        return Fault(problem, FaultKind.UNREADABLE)
    problem = find_fault(path, versions, merged, is_whole=is_whole, may_invent=may_invent)
    if problem:
        return Fault(with_edits(problem, versions))
    parts = (
        _text_fault(name, each, code, may_invent, is_whole=is_whole)
        for name, each, code in _code_in(path, versions, merged)
    )
    return next(filter(None, parts), Fault())


def _code_in(path: str, versions: Versions, merged: bytes) -> Iterator[tuple[str, Versions, bytes]]:
    """Yield the code in a document that can be checked, as versions of a file and merged."""
    for name, (base, ours, theirs, code) in code_in(path, [*versions, merged]):
        if not why_unchecked(name, (base, ours, theirs)):
            yield name, (base, ours, theirs), code


def _interference(path: str, versions: Versions, merged: bytes, files: Versions) -> Fault:
    """Find a misplaced statement, or how the sides' changes work against each other.

    The reason quotes lines of *files*.
    """
    if not is_code(path):
        parts = (
            _interference(name, each, code, each)
            for name, each, code in _code_in(path, versions, merged)
        )
        return next(filter(None, parts), Fault())
    try:
        trees = read_trees(path, [*versions, merged])
    except StructureError:
        return Fault()
    places = EditPlaces(trees[:3], versions, files)
    base, ours, theirs, after = trees
    if problem := find_misplaced(trees[:3], after):
        return Fault(with_edits(problem, versions))
    problem = find_interference(base, ours, theirs, after, places)
    return Fault(problem, FaultKind.INTERFERENCE)


def alternate(settled: Sequence[bytes], texts: Sequence[bytes]) -> bytes:
    """Join *settled* texts, with one of *texts* after each but the last."""
    return b"".join(chain.from_iterable(zip_longest(settled, texts, fillvalue=b"")))


def ours_of(place: Conflict | ConflictBlock) -> bytes:
    """Return the lines of ours."""
    return place.ours or b""


def both_of(place: Conflict | ConflictBlock) -> bytes:
    """Return the lines of ours, then those of theirs."""
    return _joined(place.ours, place.theirs, place.newline)


def _both_orders(place: Conflict | ConflictBlock) -> tuple[bytes, bytes]:
    """Return the lines of both sides, with ours and with theirs first."""
    return both_of(place), _joined(place.theirs, place.ours, place.newline)


def _joined(first: bytes | None, second: bytes | None, newline: bytes) -> bytes:
    return TextConflict(base=b"", ours=first or b"", theirs=second or b"", newline=newline).union()


def _filled_lines(text: bytes | None) -> list[bytes]:
    return [line for line in (text or b"").split(b"\n") if WORD.search(line)]

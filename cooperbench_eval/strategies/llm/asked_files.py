"""The files that a model is asked about, and what is wrong with its texts for them."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from attrs import evolve, field, frozen

from cooperbench_eval.git.merging.conflicts import Conflict
from cooperbench_eval.git.merging.text_merge import Answer
from cooperbench_eval.git.merging.three_way_merge import ThreeWayMerge
from cooperbench_eval.languages.faults.faults import find_parse_fault
from cooperbench_eval.strategies.judge import ConflictFile, Fault, FaultKind, alternate
from cooperbench_eval.strategies.llm.answers import texts_of
from cooperbench_eval.strategies.llm.questions import Place, lines_of

Texts = Mapping[Conflict, bytes]
"""Texts for conflicts of a file."""


@frozen(kw_only=True)
class AskedFile:
    """A file with conflicts between lines.

    Attributes:
        settled: The lines before, between and after them.
        versions: The whole file in base, ours and theirs.
    """

    path: str
    conflicts: tuple[Conflict, ...]
    settled: tuple[bytes, ...] = field(repr=False)
    versions: tuple[bytes, bytes, bytes] = field(repr=False)
    _judged: ConflictFile[Conflict] = field(init=False, repr=False, eq=False)

    @_judged.default
    def _to_judge(self) -> ConflictFile[Conflict]:
        return ConflictFile(
            path=self.path,
            versions=self.versions,
            places=self.conflicts,
            settled=self.settled,
            may_invent=True,
        )

    def places(self, refusals: Mapping[tuple[str, int | None], str]) -> list[Place]:
        """Return the conflicts with their places; empty if the file is not UTF-8.

        Args:
            refusals: Why a merge by structure leaves conflicts open, by path and line.
        """
        if not self._is_utf8():
            return []
        lines: list[str] = []
        ends = []
        for settled, conflict in zip(self.settled, self.conflicts, strict=False):
            lines += lines_of(settled)
            start = len(lines)
            lines += lines_of(conflict.ours)
            ends.append((conflict, start, len(lines)))
        lines += lines_of(self.settled[-1])
        return [
            Place(
                conflict=conflict,
                lines=lines,
                start=start,
                end=end,
                refusal=refusals.get((self.path, conflict.line), ""),
            )
            for conflict, start, end in ends
        ]

    def _is_utf8(self) -> bool:
        texts = [text for conflict in self.conflicts for text in texts_of(conflict)]
        try:
            b"\n".join([*self.settled, *texts]).decode("utf-8")
        except UnicodeDecodeError:
            return False
        return True

    def fault(self, texts: Texts) -> str:
        """Return why the file does not parse with *texts*; empty if it does.

        The other conflicts are filled with ours first. If the file does not parse, they are
        filled with theirs.
        """
        fault = ""
        for side in ("ours", "theirs"):
            filled = [texts.get(c, getattr(c, side) or b"") for c in self.conflicts]
            found = find_parse_fault(self.path, self.versions, alternate(self.settled, filled))
            if not found:
                return ""
            fault = fault or found
        return fault

    def objection(self, texts: Texts) -> str:
        """Return what the static judge finds wrong with the file with *texts*; empty if nothing.

        The other conflicts are filled with ours first. If the file then has a fault, they are
        filled with theirs. The judge does not object to a file that it cannot read.
        """
        answers = self._answers(texts)
        problem = _problem(self._judged.fault(answers))
        if not problem or len(texts) == len(self.conflicts):
            return problem
        swapped = evolve(self._judged, places=[_swapped(c, texts) for c in self.conflicts])
        return problem if _problem(swapped.fault(answers)) else ""

    def objections(self, groups: Sequence[Texts]) -> Mapping[int, str]:
        """Return the groups of texts that the judge refuses, each with what is wrong with it.

        If the file has no fault with all groups together, none is refused. Otherwise, each group
        that is faulty on its own is refused; all are, if the file has a fault without those too.
        """
        faults = self._judged.faults_of([self._answers(each) for each in groups])
        return {i: problem for i, fault in faults.items() if (problem := _problem(fault))}

    def _answers(self, texts: Texts) -> tuple[Answer, ...]:
        found = ((i, texts.get(conflict)) for i, conflict in enumerate(self.conflicts))
        return tuple(Answer(range(i, i + 1), text) for i, text in found if text is not None)


def _problem(fault: Fault) -> str:
    return "" if fault.kind is FaultKind.UNREADABLE else fault.problem


def _swapped(conflict: Conflict, apart_from: Collection[Conflict]) -> Conflict:
    """Return a conflict with the sides exchanged, unless it is in *apart_from*."""
    if conflict in apart_from:
        return conflict
    return evolve(conflict, ours=conflict.theirs, theirs=conflict.ours)


def asked_files(merge: ThreeWayMerge) -> Iterator[AskedFile]:
    """Yield the files with open conflicts between lines."""
    by_path: dict[str, list[Conflict]] = {}
    for conflict in merge.conflicts:
        if conflict.has_lines:
            by_path.setdefault(conflict.path, []).append(conflict)
    for path, conflicts in by_path.items():
        yield AskedFile(
            path=path,
            conflicts=tuple(conflicts),
            settled=merge.settled_in(path),
            versions=merge.versions_of(path),
        )

"""A file with conflicts between its lines."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Self

from attrs import evolve, frozen

from cooperbench_eval.git.merging.conflicts import (
    Conflict,
    ConflictKind,
    Replacement,
    ResolutionKind,
)
from cooperbench_eval.git.merging.entry_merge import ContentMerge, render_text
from cooperbench_eval.git.merging.locating_resolutions import locate_conflicts
from cooperbench_eval.git.merging.text_merge import TextBlock, TextMerge
from cooperbench_eval.git.trees.entries import Entry


class Answer(NamedTuple):
    """A text for some conflicts of a file that follow one another.

    Attributes:
        conflicts: Their indexes among the open conflicts of the file.
        text: What replaces them and the settled lines between them.
    """

    conflicts: range
    text: bytes


@frozen(kw_only=True)
class OpenFile:
    """A file with conflicts between its lines.

    Attributes:
        path: Its path.
        merge: The merge of its contents, before any answer.
        text: The same merge with the answers given so far.
        kind: The kind of its conflicts.
        numbers: The indexes, among all its conflicts, of those that are still open.
    """

    path: str
    merge: ContentMerge
    text: TextMerge
    kind: ConflictKind
    numbers: tuple[int, ...]

    @property
    def lines(self) -> Mapping[int, int]:
        """The line of each open conflict's marker, by the conflict's number."""
        return dict(zip(self.numbers, self.text.marker_lines(), strict=True))

    @property
    def conflicts(self) -> list[Conflict]:
        """Its open conflicts, in order."""
        return [
            Conflict(
                path=self.path,
                kind=self.kind,
                base=conflict.base,
                ours=conflict.ours,
                theirs=conflict.theirs,
                line=line,
                newline=conflict.newline,
            )
            for conflict, line in zip(self.text.conflicts, self.text.marker_lines(), strict=True)
        ]

    @property
    def entry(self) -> Entry:
        """The file with its open conflicts as markers."""
        return Entry(self.render(self.text), self.merge.entry.mode)

    def render(self, text: TextMerge) -> bytes:
        """Return a part of the file as bytes, with its open conflicts as markers."""
        return render_text(text, self.merge.labels, self.merge.marker_size)

    def replacements(
        self, entry: Entry | None, numbers: Sequence[int], *, may_be_open: bool
    ) -> Iterator[Replacement]:
        """Yield the replacements of the open conflicts.

        Args:
            entry: The file in the tree that a strategy made.
            numbers: The indexes of the conflicts among those of the whole merge.
            may_be_open: Whether the strategy left conflicts of the file open. The text
                cannot show this, because an answer may look like a conflict between
                markers.
        """
        if entry is None:
            yield Replacement(kind=ResolutionKind.DELETED, together=numbers)
            return
        if not entry.mode.is_regular:
            reason = f"the merged tree has a {entry.mode.name.lower()} there instead of a file"
            yield Replacement(kind=ResolutionKind.UNKNOWN, together=numbers, reason=reason)
            return
        shown = [self.render(TextMerge(chunks=[each])) for each in self.text.conflicts]
        for found in locate_conflicts(self.text.settled, shown, entry.data):
            first, *others = found.conflicts
            is_whole = not (others or found.lines_before or found.lines_after)
            is_open = may_be_open and is_whole and found.text == shown[first]
            yield Replacement(
                kind=ResolutionKind.OPEN if is_open else ResolutionKind.TEXT,
                together=[numbers[i] for i in found.conflicts],
                text=None if is_open else found.text,
                lines_before=found.lines_before,
                lines_after=found.lines_after,
                is_exact=found.is_exact,
            )

    def answered(self, answers: Iterable[Answer]) -> Self:
        """Return the file with some of its open conflicts replaced, in order."""
        answers = tuple(answers)
        closed = {i for answer in answers for i in answer.conflicts}
        places = (
            TextBlock(
                base=b"", ours=b"", theirs=b"", newline=b"", lead=b"", tail=b"", conflicts=each
            )
            for each, _ in answers
        )
        text = self.text.replace(zip(places, (text for _, text in answers), strict=True))
        numbers = tuple(n for i, n in enumerate(self.numbers) if i not in closed)
        return evolve(self, text=text, numbers=numbers)

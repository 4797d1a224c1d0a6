"""Finds the definitions that contain conflicts."""

from collections import (
    Counter,
)
from collections.abc import (
    Collection,
    Iterator,
    Mapping,
)
from itertools import (
    groupby,
)
from pathlib import (
    PurePosixPath,
)

from cooperbench_eval.evaluation.sides import (
    Merged,
)
from cooperbench_eval.git.merging.conflicts import (
    Conflict,
)
from cooperbench_eval.languages.outline import (
    UnreadableError,
    functions,
    is_known,
)
from cooperbench_eval.reporting.probes import (
    ConflictedFile,
)
from cooperbench_eval.support.memo import (
    WeighedMemo,
)

__all__ = ["conflicted_files"]

_Spans = tuple[tuple[str, int, int], ...]
_SPANS = WeighedMemo[tuple[str, bytes], _Spans](16 << 20)
"""The definitions of a text with their first and last lines: an agent's file is in many pairs."""
_LONGEST = 2_000_000
"""In a text of more bytes, definitions are not looked for."""
_Place = tuple[tuple[range, bytes], ...]
"""The lines of a conflict in each side's version of the file, and the versions."""


def conflicted_files(merged: Merged) -> Iterator[ConflictedFile]:
    """Yield the files in which conflicts are left open, by path."""
    places = _places(merged)
    conflicts = sorted(merged.outcome.conflicts, key=lambda each: each.path)
    for path, group in groupby(conflicts, key=lambda each: merged.name_on_a_side(each.path)):
        found = list(group)
        names: dict[str, None] = {}
        for conflict in found:
            for lines, text in places.get(_key(conflict), ()):
                names |= dict.fromkeys(_definitions(path, text, lines))
        yield ConflictedFile(
            path=path,
            kinds=dict.fromkeys(each.kind for each in found),
            conflicts=len(found),
            definitions=names,
        )


def _key(conflict: Conflict) -> tuple[object, ...]:
    texts = (conflict.ours, conflict.theirs) if conflict.has_lines else ()
    return conflict.path, conflict.kind, *texts


def _places(merged: Merged) -> Mapping[tuple[object, ...], _Place]:
    """Return where the conflicts of the three-way merge are.

    A strategy may open conflicts of its own, which are nowhere in the sides' files.
    """
    merge = merged.given.merge
    found: dict[tuple[object, ...], _Place] = {}
    seen: Counter[str] = Counter()
    for conflict in merge.conflicts:
        if conflict.has_lines:
            path = conflict.path
            _, ours, theirs = merge.lines_in(path)[seen[path]]
            _, our_text, their_text = merge.versions_of(path)
            seen[path] += 1
            key = _key(conflict)
            found[key] = (*found.get(key, ()), (ours, our_text), (theirs, their_text))
    return found


def _definitions(path: str, text: bytes, lines: range) -> Collection[str]:
    """Return the definitions that some lines of a text, counted from 0, are in."""
    if not is_known(path) or len(text) > _LONGEST:
        return ()
    first, last = lines.start + 1, lines.stop
    if lines:
        return [name for name, top, end in _spans(path, text) if top <= last and first <= end]
    # The side has nothing left between two lines: a definition counts if it has both of them.
    return [name for name, top, end in _spans(path, text) if top < first <= end]


def _spans(path: str, text: bytes) -> _Spans:
    key = PurePosixPath(path).suffix, text
    spans = _SPANS.get(key)
    if spans is None:
        try:
            found = functions(path, text)
        except UnreadableError:
            found = {}
        spans = tuple((name, each.first, each.last) for name, each in found.items())
        spans = _SPANS.keep(key, spans, size=2 * len(text) + 200)
    return spans

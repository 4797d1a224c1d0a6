"""View of the provenance of a merged tree: how many lines of each file have each origin."""

from collections import Counter
from collections.abc import Iterator

from cooperbench_eval.presentation.views import wording
from cooperbench_eval.reporting.provenance import FileKind, FileProvenance, OriginKind, Provenance
from cooperbench_eval.support.rendering.view import Cell, Table, Tone, View, rows_table
from cooperbench_eval.support.rendering.visible import visible

_MOST_FILES = 20
_MOST_COLUMNS = 8
_NAME = 60


def provenance_view(found: Provenance) -> View:
    """Describe how many lines of each touched file have each origin."""
    counts = found.counts()
    total = ", ".join(f"{count:,} from {name}" for name, count in _sorted(counts)[:_MOST_COLUMNS])
    files = wording.counted(len(found.files), "file")
    return View(
        title=f"{files} touched: {total or 'no lines'}",
        tables=[_table(found, [name for name, _ in _sorted(counts)][:_MOST_COLUMNS])],
        notes=wording.and_more(len(found.files) - _MOST_FILES, "file"),
    )


def _sorted(counts: dict[str, int]) -> list[tuple[str, int]]:
    """Sort by the order of the kinds, then by name."""
    order = {kind.value: place for place, kind in enumerate(OriginKind)}
    return sorted(counts.items(), key=lambda each: (order.get(each[0], 1), each[0]))


def _table(found: Provenance, names: list[str]) -> Table:
    return rows_table(("file", "is", *names), _rows(found, names), numbers=len(names))


def _rows(found: Provenance, names: list[str]) -> Iterator[list[Cell | str]]:
    for file in found.files[:_MOST_FILES]:
        counts: Counter[str] = Counter()
        for run in file.runs:
            counts[str(run.origin)] += run.count
        cells = (Cell(f"{counts[name]:,}" if counts[name] else "", _tone(name)) for name in names)
        yield [visible(file.path, _NAME), _kind(file), *cells]


def _kind(file: FileProvenance) -> str:
    words = file.kind.value
    if file.kind is not FileKind.TEXT or file.origin.kind is not OriginKind.BASE:
        words += f" ({file.origin})"
    return words


def _tone(name: str) -> Tone:
    return Tone.BAD if name == OriginKind.UNKNOWN.value else Tone.PLAIN

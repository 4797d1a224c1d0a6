"""Three-way merge of the contents and the mode of one entry."""

from attrs import frozen

from cooperbench_eval.merging.linediff import DiffCache
from cooperbench_eval.merging.text import TextMerge, merge_text
from cooperbench_eval.models import Entry, FileMode
from cooperbench_eval.models.trees import have_same_contents, with_mode

__all__ = ["ContentMerge", "is_binary", "merge_entries", "render_text", "same_kind"]

_BINARY_PROBE = 8000


@frozen(kw_only=True)
class ContentMerge:
    """The result of merging one entry.

    Attributes:
        entry: The merged entry; ours if the contents cannot be merged.
        text: The text merge, if it has conflicts.
        labels: The names of ours and theirs in the text's markers.
        marker_size: The number of characters of each marker.
        modes_differ: The sides set different modes.
        unmergeable: The contents differ and have no lines to merge.
        sources: The texts of base, ours and theirs that were merged into *text*.
    """

    entry: Entry
    text: TextMerge | None = None
    labels: tuple[str, str] = ("ours", "theirs")
    marker_size: int = 7
    modes_differ: bool = False
    unmergeable: bool = False
    sources: tuple[bytes, bytes, bytes] = (b"", b"", b"")

    @property
    def is_clean(self) -> bool:
        """Whether the merge has no conflict."""
        return not (self.text or self.modes_differ or self.unmergeable)


def merge_entries(
    base: Entry | None,
    ours: Entry,
    theirs: Entry,
    *,
    labels: tuple[str, str],
    marker_size: int = 7,
    cache: DiffCache | None = None,
) -> ContentMerge:
    """Merge two entries of the same kind; a base of another kind is ignored."""
    old = base if base and same_kind(base, ours) else None
    mode, modes_differ = _merge_mode(base, ours, theirs)
    if have_same_contents(ours, theirs) or (old and have_same_contents(theirs, old)):
        return ContentMerge(entry=with_mode(ours, mode), modes_differ=modes_differ)
    if old and have_same_contents(ours, old):
        return ContentMerge(entry=with_mode(theirs, mode), modes_differ=modes_differ)
    texts = [entry for entry in (old, ours, theirs) if entry]
    if not ours.mode.is_regular or any(is_binary(entry.data) for entry in texts):
        return ContentMerge(
            entry=with_mode(ours, mode), modes_differ=modes_differ, unmergeable=True
        )
    sources = old.data if old else b"", ours.data, theirs.data
    text = merge_text(*sources, cache=cache)
    return ContentMerge(
        entry=Entry(render_text(text, labels, marker_size), mode),
        text=text if text.conflicts else None,
        labels=labels,
        marker_size=marker_size,
        modes_differ=modes_differ,
        sources=sources,
    )


def render_text(text: TextMerge, labels: tuple[str, str], marker_size: int) -> bytes:
    """Return the text of a merge, with open conflicts between markers."""
    return text.render(ours=labels[0], theirs=labels[1], marker_size=marker_size)


def _merge_mode(base: Entry | None, ours: Entry, theirs: Entry) -> tuple[FileMode, bool]:
    if ours.mode is theirs.mode or (base and ours.mode is base.mode):
        return theirs.mode, False
    return ours.mode, not (base and theirs.mode is base.mode)


def same_kind(one: Entry, other: Entry) -> bool:
    """Whether both are files, both links or both submodules."""
    return one.mode is other.mode or (one.mode.is_regular and other.mode.is_regular)


def is_binary(data: bytes) -> bool:
    """Whether git treats *data* as binary: one of its first 8,000 bytes is NUL."""
    return data.find(b"\0", 0, _BINARY_PROBE) >= 0

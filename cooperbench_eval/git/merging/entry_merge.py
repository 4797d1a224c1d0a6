"""Three-way merge of the contents and the mode of one entry."""

from attrs import field, frozen

from cooperbench_eval.git.merging.line_diff import DiffCache
from cooperbench_eval.git.merging.text_merge import TextMerge, merge_text
from cooperbench_eval.git.trees.entries import Entry, FileMode, have_same_contents, with_mode
from cooperbench_eval.support.memo import WeighedMemo

_BINARY_PROBE = 8000
_KEPT_MERGES = 8_000_000  # bytes
_MERGE_BYTES = 1_000  # a merge needs about this more than its texts
_CONFLICT_BYTES = 500  # and this for each conflict


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


_Key = tuple[tuple[bytes, bytes, bytes], FileMode, bool, tuple[str, str], int]


@frozen
class MergeCache:
    """What merges over one base share; it is bounded, and threads may use one together.

    Attributes:
        diffs: The lines of files, and the diffs between them.
        merges: The merges of files that both sides changed, by all that they depend on.
    """

    diffs: DiffCache = field(factory=DiffCache)
    merges: WeighedMemo[_Key, ContentMerge] = field(factory=lambda: WeighedMemo(_KEPT_MERGES))


def merge_entries(
    base: Entry | None,
    ours: Entry,
    theirs: Entry,
    *,
    labels: tuple[str, str],
    marker_size: int = 7,
    cache: MergeCache,
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
    key = sources, mode, modes_differ, labels, marker_size
    if kept := cache.merges.get(key):
        return kept
    text = merge_text(*sources, cache=cache.diffs)
    merged = render_text(text, labels, marker_size)
    conflicts = len(text.conflicts)
    result = ContentMerge(
        entry=Entry(merged, mode),
        text=text if conflicts else None,
        labels=labels,
        marker_size=marker_size,
        modes_differ=modes_differ,
        sources=sources,
    )
    # A conflict's lines are in the merge twice: alone, and between markers.
    size = _MERGE_BYTES + conflicts * _CONFLICT_BYTES + sum(map(len, sources)) + 2 * len(merged)
    return cache.merges.keep(key, result, size=size) if size <= _KEPT_MERGES else result


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

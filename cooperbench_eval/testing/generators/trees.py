"""Generators of the three versions of a tree, with every kind of entry."""

from cooperbench_eval.models import Entry, FileMode
from cooperbench_eval.snapshot import Changes, Snapshot
from cooperbench_eval.testing.generators.hypothesis_strategies import st

__all__ = ["entries", "three_way_edits", "three_way_trees"]

_PATHS = ("a", "b", "d", "d/x", "d/x/z", "d/y", "b~A")


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    r"""A small file, link or submodule: ``Entry(b"one\ntwo\n")``."""
    mode = draw(st.sampled_from([*FileMode, FileMode.FILE, FileMode.FILE]))
    if mode is FileMode.SUBMODULE:
        return Entry(draw(st.sampled_from([b"1", b"2", b"3"])) * 40, mode)
    if mode is FileMode.SYMLINK:
        return Entry(draw(st.sampled_from([b"a", b"b", b"../c"])), mode)
    lines = draw(st.lists(st.sampled_from([b"one\n", b"two\n", b"\xe9\n", b"four"]), unique=True))
    nul = draw(st.sampled_from([b"", b"", b"", b"\0"]))
    return Entry(b"".join(lines) + nul, mode)


@st.composite
def _trees(draw: st.DrawFn, base: Snapshot | None = None) -> Snapshot:
    files: dict[str, Entry] = {}
    for path in draw(st.permutations(_PATHS)):
        old = base.get(path) if base else None
        entry = draw(st.sampled_from([old, old, None])) if old else None
        if entry is None and draw(st.booleans()):
            entry = draw(entries())
        is_clash = any(p.startswith(f"{path}/") or path.startswith(f"{p}/") for p in files)
        if entry is not None and not is_clash:
            files[path] = entry
    return Snapshot.from_files(files)


@st.composite
def three_way_trees(draw: st.DrawFn) -> tuple[Snapshot, Changes, Changes]:
    """A base tree and two sides, with every kind of entry; files may become folders."""
    base = draw(_trees())
    ours, theirs = draw(_trees(base)), draw(_trees(base))
    return base, Changes.between(base, ours), Changes.between(base, theirs)


@st.composite
def three_way_edits(draw: st.DrawFn) -> tuple[Snapshot, Changes, Changes]:
    """A base tree and two sides that edit its entries: nothing is made, moved or deleted."""
    base, *sides = draw(three_way_trees())
    ours, theirs = (
        Changes({path: entry for path, entry in side.items() if entry and base.get(path)})
        for side in sides
    )
    return base, ours, theirs

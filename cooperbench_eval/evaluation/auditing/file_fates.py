"""Says what became of everything that one side did, file by file, and of its definitions.

Whether the last line of a file ends in a newline is set aside: a line that is added after a last
line without a newline changes that one too, but is not about it. So all files get the newline
before their lines are followed, and a feature that changes nothing else in a file is told apart.
"""

from collections.abc import Iterator, Mapping, Sequence

from cooperbench_eval.evaluation.auditing.expected import SideTree
from cooperbench_eval.evaluation.auditing.line_fates import Fates, LineFate, as_lines
from cooperbench_eval.evaluation.auditing.lines import ABSENT, closed_entry, inverse, lines_of
from cooperbench_eval.evaluation.auditing.tracking import TrackedFile, Tracking
from cooperbench_eval.git.trees.entries import Entry, FileMode, have_same_contents
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot, cache_of
from cooperbench_eval.languages.outline import Function, UnreadableError, functions, is_known
from cooperbench_eval.reporting.audits import (
    AuditedDefinition,
    AuditedEntry,
    AuditedFile,
    EntryAspect,
    Fate,
)
from cooperbench_eval.support.memo import Memo

_MODES = {FileMode.FILE, FileMode.EXECUTABLE}
_Functions = Mapping[str, Function]
_MOST_VERSIONS = 64
_MOST_BYTES = 500_000
"""Larger files are generated, and would take seconds."""


def audited_files(fates: Fates, side: SideTree) -> Iterator[AuditedFile]:
    """Yield what became of a side's work on each file."""
    renamed = set(side.renames.values())
    for path, entry in side.changes.items():
        old = fates.tracking.base.get(path)
        if entry == old:
            continue
        if entry is not None:
            yield _file(fates, side, path, entry)
        elif path not in renamed or _is_back(fates, side, path):
            yield _deleted(fates, side, path)


def _is_back(fates: Fates, side: SideTree, path: str) -> bool:
    """Whether the merged tree has a renamed file at its old path too."""
    if fates.tracking.merged.get(path) is None:
        return False
    new = next(new for new, old in side.renames.items() if old == path)
    file = fates.file_of(side, new)
    return file is not None and file.path != path


def _file(fates: Fates, side: SideTree, path: str, entry: Entry) -> AuditedFile:
    file = fates.file_of(side, path)
    old = fates.tracking.base.get(side.base_path(path))
    merged = file.entry if file else None
    is_text = lines_of(entry) is not None
    added = fates.added(side, path) if is_text else {}
    known = cache_of(fates.tracking.base, _known_definitions)
    before, after, now, *theirs = (
        _functions(known, path, each) for each in (old, entry, merged, *_others(fates, side, file))
    )
    removed = fates.removed(side, path) if is_text and lines_of(old) is not None else {}
    return AuditedFile(
        feature=side.number,
        path=path,
        merged_path=file.path if file and merged else None,
        added=as_lines(added, side.lines(path)),
        removed=as_lines(removed, lines_of(old) or ()),
        definitions=_definitions(
            added, before, after, now or {}, theirs=[each or {} for each in theirs]
        ),
        entries=_entries(fates, side, path, entry, file),
    )


def _others(fates: Fates, side: SideTree, file: TrackedFile | None) -> Iterator[Entry | None]:
    """Yield the versions of a file in the trees of the other sides."""
    for number, path in file.paths.items() if file else ():
        if number != side.number:
            yield fates.tracking.sides[number].get(path)


def _entries(
    fates: Fates, side: SideTree, path: str, entry: Entry, file: TrackedFile | None
) -> Iterator[AuditedEntry]:
    old = fates.tracking.base.get(side.base_path(path))
    merged = file.entry if file else None
    if old is None:
        is_kept = merged is not None
        yield _entry(EntryAspect.FILE, Fate.KEPT if is_kept else Fate.LOST)
    if path in side.renames:
        yield _entry(EntryAspect.NAME, _fate_of_name(side, path, file))
    if lines_of(entry) is None and not (old and have_same_contents(old, entry)):
        known = [old, *_others(fates, side, file)]
        yield _entry(EntryAspect.CONTENTS, _fate_of_contents(entry, merged, known))
    if old is not None and {old.mode, entry.mode} == _MODES:
        is_kept = merged is not None and merged.mode is entry.mode
        yield _entry(EntryAspect.MODE, Fate.KEPT if is_kept else Fate.LOST)


def _fate_of_name(side: SideTree, path: str, file: TrackedFile | None) -> Fate:
    if file is None or file.entry is None or file.path == side.base_path(path):
        return Fate.LOST
    return Fate.KEPT if file.path == path else Fate.CHANGED


def _deleted(fates: Fates, side: SideTree, path: str) -> AuditedFile:
    old = lines_of(fates.tracking.base.get(path)) or []
    file = next((each for each in fates.tracking.files if each.path == path), None)
    merged = file.entry if file else None
    fate, removed = Fate.KEPT, dict.fromkeys(range(len(old)), LineFate(Fate.KEPT))
    if file is not None and merged is not None:
        # If another side has the file, it had work in it.
        is_wanted = bool(file.paths) and merged != fates.tracking.base.get(path)
        fate = Fate.SUPERSEDED if is_wanted else Fate.LOST
        for line, place in _found(file, len(old)):
            removed[line] = LineFate(fate, is_wanted, (file, place))
    return AuditedFile(
        feature=side.number,
        path=path,
        merged_path=path if merged else None,
        removed=as_lines(removed, old),
        entries=[_entry(EntryAspect.DELETION, fate)],
    )


def _found(file: TrackedFile, count: int) -> Iterator[tuple[int, int]]:
    """Yield the lines of the base's file that the merged file has, and where."""
    merged = file.merged_places
    places = inverse(file.base_places, count)
    for line, place in enumerate(places):
        if place != ABSENT and merged[place] != ABSENT:
            yield line, merged[place]


def _entry(aspect: EntryAspect, fate: Fate) -> AuditedEntry:
    return AuditedEntry(aspect=aspect, fate=fate)


def _fate_of_contents(entry: Entry, merged: Entry | None, known: list[Entry | None]) -> Fate:
    if merged is None:
        return Fate.LOST
    if merged.mode.is_regular == entry.mode.is_regular and have_same_contents(merged, entry):
        return Fate.KEPT
    return Fate.LOST if merged in known else Fate.CHANGED


# --- definitions ---


def _known_definitions() -> Memo[tuple[str, bytes], _Functions]:
    return Memo(_MOST_VERSIONS)


def _definitions(
    added: Mapping[int, LineFate],
    before: _Functions | None,
    after: _Functions | None,
    now: _Functions,
    *,
    theirs: Sequence[_Functions],
) -> Iterator[AuditedDefinition]:
    """Yield the definitions of one file that a side adds, changes or removes.

    *before*, *after*, *now* and *theirs* are those in the base, in the trees of the side, of the
    merge and of the other sides.
    """
    if before is None or after is None:
        return
    for name, function in after.items():
        fates = [added[n] for n in range(function.first - 1, function.last) if n in added]
        is_new = name not in before
        if not fates:
            old = before.get(name)
            if old is None or old.text == function.text:
                continue
            # Lines were only removed from it.
            fate = _fate_of_text(name, function, old, now)
        else:
            fate = _fate_of_lines(fates)
        if is_new and fate is Fate.LOST and _is_rewritten(name, now, theirs):
            fate = Fate.CHANGED
        yield AuditedDefinition(name=name, line=function.first, fate=fate, is_new=is_new)
    for name, function in before.items():
        if name not in after:
            wanted = any(name in each and each[name].text != function.text for each in theirs)
            back = Fate.SUPERSEDED if wanted else Fate.LOST
            fate = back if name in now else Fate.KEPT
            yield AuditedDefinition(name=name, line=function.first, fate=fate, is_removed=True)


def _functions(
    known: Memo[tuple[str, bytes], _Functions], path: str, entry: Entry | None
) -> _Functions | None:
    """Return the definitions of a version by name; `None` if it cannot be read.

    A version that is absent, or not a file, has no definitions.
    """
    if entry is None or not entry.mode.is_regular:
        return {}
    if len(entry.data) > _MOST_BYTES or not is_known(path):
        return None
    try:
        return known.recall((path, entry.data), lambda: functions(path, entry.data))
    except UnreadableError:
        return None


def _fate_of_lines(fates: Sequence[LineFate]) -> Fate:
    found = {each.fate for each in fates}
    if found <= {Fate.KEPT, Fate.MOVED}:
        return Fate.KEPT if Fate.KEPT in found else Fate.MOVED
    return found.pop() if len(found) == 1 else Fate.CHANGED


def _fate_of_text(name: str, function: Function, old: Function, now: _Functions) -> Fate:
    found = now.get(name)
    if found is None or found.text == function.text:
        return Fate.KEPT
    return Fate.LOST if found.text == old.text else Fate.CHANGED


def _is_rewritten(name: str, now: _Functions, others: Sequence[_Functions]) -> bool:
    """Whether the merged tree has a definition of this name that no other side wrote."""
    return name in now and all(
        name not in each or each[name].text != now[name].text for each in others
    )


# --- newlines at the end ---


def with_ends(
    base: Snapshot, sides: Mapping[int, Changes], merged: Changes
) -> tuple[Snapshot, dict[int, Changes], Changes]:
    """Return the base, the sides and the merged tree with a newline at the end of each text.

    Only files that a side or the merged tree changes get it.
    """
    every = {path for changes in (*sides.values(), merged) for path in changes}
    before = {path: entry for path in every if (entry := base.get(path))}
    after = {path: closed_entry(entry) for path, entry in before.items()}
    if ended := {path: entry for path, entry in after.items() if entry is not before[path]}:
        base = base.overlay(Changes(ended))

    def closed(changes: Changes) -> Changes:
        found = {path: entry and closed_entry(entry) for path, entry in changes.items()}
        return Changes({p: e for p, e in found.items() if e != after.get(p)})

    return base, {number: closed(each) for number, each in sides.items()}, closed(merged)


def audited_ends(
    base: Snapshot, number: int, side: Changes, tracking: Tracking, tree: Snapshot
) -> Iterator[AuditedFile]:
    """Yield the files in which a side changes only the newline at the end.

    *tracking* is without such changes; *base*, *side* and the merged *tree* have them.
    """
    for path, entry in side.items():
        old = base.get(path)
        if entry is None or old is None or entry == old:
            continue
        if closed_entry(old) != closed_entry(entry):  # it is about more than the end
            continue
        places = (file.path for file in tracking.files if file.base_path == path)
        place = path if tree.get(path) else next((p for p in places if tree.get(p)), None)
        merged = tree.get(place) if place else None
        is_kept = merged is not None and _is_ended(merged) is _is_ended(entry)
        fate = Fate.KEPT if is_kept else Fate.LOST
        yield AuditedFile(
            feature=number,
            path=path,
            merged_path=place,
            entries=[_entry(EntryAspect.END, fate)],
        )


def _is_ended(entry: Entry) -> bool:
    return closed_entry(entry) is entry

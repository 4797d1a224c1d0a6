"""What a strategy answered a conflict of a file as a whole with: the file.

A diff shows no file as a whole, but it names the blob that it starts from, and the
versions of the conflict are whole contents: where git's id of one is the blob's, the
diff's edits of it are the file.
"""

import re
from collections.abc import Iterable, Sequence
from io import BytesIO

from cooperbench_eval.errors import PatchError
from cooperbench_eval.models import Conflict, ConflictKind, Entry, FileMode
from cooperbench_eval.patching import FileChange, FilePatch
from cooperbench_eval.patching.binary import apply_change
from cooperbench_eval.reporting.resolutions.partial import PartialBase
from cooperbench_eval.reporting.resolutions.records import UndeterminedError

__all__ = ["contents_after"]

_NOT_SHOWN = "the file is as the base has it, which the report does not show"
# Their base may have stood elsewhere.
_MOVED = frozenset(
    {
        ConflictKind.RENAME_RENAME,
        ConflictKind.RENAME_ADD,
        ConflictKind.RENAME_DELETE,
        ConflictKind.DIRECTORY_RENAME,
    }
)


def contents_after(
    conflict: Conflict, before: Sequence[FilePatch], after: Sequence[FilePatch]
) -> bytes | None:
    """Return the contents of the conflict's file as the strategy has it, `None` if gone.

    Args:
        conflict: The conflict.
        before: What the naive merge's diff says of the file.
        after: What the strategy's says of it.

    Raises:
        UndeterminedError: The diffs do not say it.
    """
    if not after:
        return _contents_in_base(conflict, before)
    last = after[-1]
    if last.change is FileChange.DELETE:
        return None
    if last.old_id is None and conflict.kind not in _MOVED:  # another mode, the same contents
        return _apply(last, conflict.base)
    versions = conflict.ours, conflict.theirs, conflict.base
    by_id = {_blob_id(text): text for text in versions if text is not None}
    return _apply(last, by_id.get(last.old_id or ""))


def _contents_in_base(conflict: Conflict, before: Sequence[FilePatch]) -> bytes | None:
    if before and before[0].change is FileChange.DELETE:
        return _deleted_contents(before[0])
    if any(file.change is FileChange.ADD for file in before):
        return None
    ids = {file.old_id for file in before} - {None}
    if conflict.base is not None and ids <= {_blob_id(conflict.base)}:
        return conflict.base
    raise UndeterminedError(_NOT_SHOWN)


def _blob_id(text: bytes) -> str:
    return Entry(text, FileMode.FILE).id


def _deleted_contents(file: FilePatch) -> bytes:
    if file.binary or file.lacks_contents:
        raise UndeterminedError(_NOT_SHOWN)
    old = _joined(_lines_in(file))
    return _commit_in(old) if file.old_mode is FileMode.SUBMODULE else old


def _apply(file: FilePatch, old: bytes | None) -> bytes:
    """Return what a file holds after an addition or a modification of *old*, if known."""
    if FileMode.SUBMODULE in {file.old_mode, file.new_mode}:
        return _commit_in(_joined(line for line in _lines_in(file) if line[:1] == b"+"))
    if file.binary:
        try:
            return apply_change(file.binary, old or b"")
        except PatchError as exc:
            problem = f"a diff in the report cannot be read ({exc.reason})"
            raise UndeterminedError(problem) from exc
    is_new = file.change is FileChange.ADD
    lines = [] if is_new else BytesIO(old or b"").readlines()
    out = []
    done = 0
    for edit in PartialBase(lines).read_edits(file):
        out += [*lines[done : edit.start], *edit.lines]
        done = edit.end
    if not is_new and old is None:
        raise UndeterminedError("a diff shows the file in parts")
    return b"".join([*out, *lines[done:]])


def _lines_in(file: FilePatch) -> list[bytes]:
    return [line for hunk in file.hunks for line in hunk.lines]


def _joined(lines: Iterable[bytes]) -> bytes:
    return b"".join(line[1:] for line in lines)


def _commit_in(shown: bytes) -> bytes:
    """Return a submodule's commit: its entry is no text, but a diff shows one."""
    if found := re.fullmatch(rb"Subproject commit ([0-9a-f]{40})\n?", shown):
        return found[1]
    raise UndeterminedError("a diff shows a submodule without its commit")

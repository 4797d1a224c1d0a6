"""What a patch makes of one file's contents."""

from attrs import evolve, frozen

from cooperbench_eval.errors import PatchError
from cooperbench_eval.merging.text import DiffAlgorithm, merge_text
from cooperbench_eval.models import Entry, HunkPlacement, Rung
from cooperbench_eval.patching.binary import apply_change
from cooperbench_eval.patching.fuzzy import Effort
from cooperbench_eval.patching.image import Image, Refused, laxer
from cooperbench_eval.patching.policy import ApplyPolicy
from cooperbench_eval.patching.records import FileChange, FilePatch

__all__ = ["MergeConflictError", "Patched", "RefusedError", "merge_contents", "patch_contents"]

_ID_LENGTH = 40  # hex digits of an object id
_BINARY_PROBE = 8000  # bytes that git looks at to tell text from binary


class RefusedError(Exception):
    """A change of a file finds no place; the message is the reason."""


class MergeConflictError(RefusedError):
    """What the patch changes was changed since, differently."""


@frozen
class Patched:
    """Contents after a patch, and how its changes were placed."""

    data: bytes
    placements: tuple[HunkPlacement, ...]

    @property
    def is_whole(self) -> bool:
        """Whether nothing was refused."""
        return not any(placement.reason for placement in self.placements)

    @property
    def is_void(self) -> bool:
        """Whether everything was refused."""
        return all(placement.reason for placement in self.placements)


def patch_contents(file: FilePatch, before: bytes, policy: ApplyPolicy, effort: Effort) -> Patched:
    """Lay a file's change on its contents; hunks without a place are left out.

    Args:
        file: The change.
        before: The contents.
        policy: How hunks may be placed.
        effort: What searching for similar places may cost.

    Raises:
        RefusedError: A binary change does not fit.
    """
    if file.hunks:
        return _patch_text(file, before, policy, effort)
    is_binary = file.binary is not None or file.lacks_contents
    after = _patch_binary(file, before) if is_binary else before
    if file.change is FileChange.DELETE:
        return Patched(after, ())
    return Patched(after, (HunkPlacement(path=file.path, rung=Rung.EXACT),))


def merge_contents(file: FilePatch, old: bytes, before: bytes, policy: ApplyPolicy) -> Patched:
    """Lay a file's change on *old*, which it was made from, and merge that into *before*.

    As `git apply --3way` does, which diffs by Myers.

    Raises:
        MergeConflictError: *before* has changes that conflict.
        RefusedError: The change does not fit *old*.
    """
    strict = evolve(policy, rungs=policy.rungs - {Rung.FUZZY})
    patched = patch_contents(file, old, strict, Effort())
    if not patched.is_whole:
        raise RefusedError("its lines are not in the file it was made from")
    merged = _merge(old, before, patched.data, is_text=bool(file.hunks))
    placements = (
        evolve(placement, rung=laxer(placement.rung or Rung.EXACT, Rung.THREE_WAY), offset=0)
        for placement in patched.placements
    )
    return Patched(merged, tuple(placements))


def _merge(old: bytes, before: bytes, after: bytes, *, is_text: bool) -> bytes:
    if before in {old, after}:
        return after
    if after == old:
        return before
    if is_text and not any(b"\0" in data[:_BINARY_PROBE] for data in (old, before, after)):
        merge = merge_text(old, before, after, algorithm=DiffAlgorithm.MYERS)
        if not merge.conflicts:
            return merge.render()
    raise MergeConflictError("it conflicts with changes made since the patch was")


def _patch_text(file: FilePatch, before: bytes, policy: ApplyPolicy, effort: Effort) -> Patched:
    image = Image(before, policy, effort)
    placements = []
    for number, hunk in enumerate(file.hunks, start=1):
        found = image.place(hunk)
        if isinstance(found, Refused):
            placement = HunkPlacement(path=file.path, hunk=number, reason=found.reason)
        else:
            placement = HunkPlacement(
                path=file.path,
                hunk=number,
                rung=found.rung,
                offset=found.offset,
                uncounted_lines=found.uncounted_lines,
            )
        placements.append(placement)
    return Patched(image.data(), tuple(placements))


def _patch_binary(file: FilePatch, before: bytes) -> bytes:
    """Make the new contents; the patch's ids say whether it fits."""
    if file.binary is None and file.change is not FileChange.DELETE:
        raise RefusedError("the patch does not hold the binary contents")
    if min(len(file.old_id or ""), len(file.new_id or "")) < _ID_LENGTH:
        raise RefusedError("the patch does not name the binary contents by their full ids")
    if file.old_path and Entry(before).id != file.old_id:
        raise RefusedError("the binary file is not the one the patch was made from")
    if file.binary is None:
        return b""  # the id says that it is the file to delete
    try:
        after = apply_change(file.binary, before)
    except PatchError as exc:
        raise RefusedError(exc.reason) from exc
    if file.new_path and Entry(after).id != file.new_id:
        raise RefusedError("the binary contents are not those the patch names")
    return after

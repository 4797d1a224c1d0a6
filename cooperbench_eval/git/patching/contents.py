"""Applies one file's part of a patch to the file's contents."""

from attrs import evolve, frozen

from cooperbench_eval.errors import PatchError
from cooperbench_eval.git.merging.contents import is_binary
from cooperbench_eval.git.merging.linediff import DiffAlgorithm
from cooperbench_eval.git.merging.text import merge_text
from cooperbench_eval.git.patching.binary import apply_change
from cooperbench_eval.git.patching.fuzzy import SearchBudget
from cooperbench_eval.git.patching.image import FileImage, laxer
from cooperbench_eval.git.patching.placements import HunkPlacement, Rung
from cooperbench_eval.git.patching.policy import ApplyPolicy
from cooperbench_eval.git.patching.records import FileChange, FilePatch
from cooperbench_eval.git.trees.entries import Entry

__all__ = ["FileRefusedError", "MergeConflictError", "Patched", "patch_contents", "patch_three_way"]

_ID_LENGTH = 40  # hex digits of an object id


class FileRefusedError(Exception):
    """A file's change cannot be applied; the message is the reason."""


class MergeConflictError(FileRefusedError):
    """The patch changes lines that were changed differently since it was made."""


@frozen
class Patched:
    """Contents after a patch, and how its changes were placed."""

    data: bytes
    placements: tuple[HunkPlacement, ...]

    @property
    def is_whole(self) -> bool:
        """Whether no hunk was refused."""
        return not any(placement.reason for placement in self.placements)

    @property
    def is_void(self) -> bool:
        """Whether every hunk was refused."""
        return all(placement.reason for placement in self.placements)


def patch_contents(
    file: FilePatch, before: bytes, policy: ApplyPolicy, budget: SearchBudget
) -> Patched:
    """Apply a file's change to its contents; hunks without a place are left out.

    Args:
        file: The change.
        before: The contents.
        policy: How hunks may be placed.
        budget: How much searching for similar places may cost.

    Raises:
        FileRefusedError: A binary change does not fit.
    """
    if file.hunks:
        image = FileImage(file.path, before, policy, budget)
        placements = tuple(image.place(number, hunk) for number, hunk in enumerate(file.hunks, 1))
        return Patched(image.data(), placements)
    is_binary = file.binary is not None or file.lacks_contents
    after = _patch_binary(file, before) if is_binary else before
    if file.change is FileChange.DELETE:
        return Patched(after, ())
    return Patched(after, (HunkPlacement(path=file.path, rung=Rung.EXACT),))


def patch_three_way(file: FilePatch, old: bytes, before: bytes, policy: ApplyPolicy) -> Patched:
    """Apply a file's change to *old*, which it was made from, and merge that into *before*.

    The merge uses the Myers diff, as `git apply --3way` does.

    Raises:
        MergeConflictError: *before* has changes that conflict.
        FileRefusedError: The change does not fit *old*.
    """
    strict = evolve(policy, rungs=policy.rungs - {Rung.FUZZY})
    patched = patch_contents(file, old, strict, SearchBudget())
    if not patched.is_whole:
        raise FileRefusedError("its lines are not in the file it was made from")
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
    if is_text and not any(map(is_binary, (old, before, after))):
        merge = merge_text(old, before, after, algorithm=DiffAlgorithm.MYERS)
        if not merge.conflicts:
            return merge.render()
    raise MergeConflictError("it conflicts with changes made after the patch")


def _patch_binary(file: FilePatch, before: bytes) -> bytes:
    """Return the new contents; the patch's ids must match the old and the new contents."""
    if file.binary is None and file.change is not FileChange.DELETE:
        raise FileRefusedError("the patch does not contain the binary contents")
    if min(len(file.old_id or ""), len(file.new_id or "")) < _ID_LENGTH:
        raise FileRefusedError("the patch does not name the binary contents by their full ids")
    if file.old_path and Entry(before).id != file.old_id:
        raise FileRefusedError("the binary file is not the one the patch was made from")
    if file.binary is None:
        return b""  # the id says that it is the file to delete
    try:
        after = apply_change(file.binary, before)
    except PatchError as exc:
        raise FileRefusedError(exc.reason) from exc
    if file.new_path and Entry(after).id != file.new_id:
        raise FileRefusedError("the binary contents are not those the patch names")
    return after

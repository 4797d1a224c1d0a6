"""Finds a task's repository: a given clone, or one in a folder that holds clones."""

import os
from collections.abc import Iterator
from pathlib import Path

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.support.error_texts import listed
from cooperbench_eval.support.memo import Memo

Folder = str | os.PathLike[str]

# One base only: it keeps what was read of its repository. Pairs of one task follow each other.
_LAST: Memo[tuple[str | None, str | None], Snapshot] = Memo(1)
_CLONES: Memo[tuple[Path, str], Path] = Memo(256)
"""In which clone of a folder a commit was found."""


def base_tree(place: Folder, commit: str, *, owner: str) -> Snapshot:
    """Return the tree of a commit in a clone; if *place* holds clones, in the one that has it.

    Calls for the same commit, one after another, return one snapshot, which keeps what it has read.
    The commit is the base of *owner*. `RepositoryError` is raised if no clone has it.
    """
    folder = Path(place).absolute()
    clone: Folder = place
    if not _is_clone(folder) and next(_clones_in(folder), None) is not None:
        clone = _CLONES.recall((folder, commit), lambda: _clone_in(folder, commit, owner))
    found = Snapshot.from_repo(clone, commit)
    return _LAST.recall((found.location, found.commit_id), lambda: found)


def _clone_in(folder: Path, commit: str, owner: str) -> Path:
    names = []
    for clone in _clones_in(folder):
        try:
            Snapshot.from_repo(clone, commit)
        except RepositoryError:
            names.append(str(clone.relative_to(folder)))
        else:
            return clone
    problem = f"has no clone with the base of {owner}, commit {commit}; its clones: {listed(names)}"
    raise RepositoryError(str(folder), problem)


def _clones_in(folder: Path) -> Iterator[Path]:
    """Yield the clones in a folder, such as `click` or, one level deeper, `pallets/click`."""
    for child in _folders_in(folder):
        if _is_clone(child):
            yield child
        else:
            yield from filter(_is_clone, _folders_in(child))


def _folders_in(folder: Path) -> list[Path]:
    try:
        return sorted(child for child in folder.iterdir() if child.is_dir())
    except OSError:
        return []  # unreadable, or gone by now


def _is_clone(folder: Path) -> bool:
    """Whether a folder is a working tree with its `.git`, or a bare repository."""
    bare = (folder / "HEAD").is_file() and (folder / "objects").is_dir()
    return bare or (folder / ".git").exists()

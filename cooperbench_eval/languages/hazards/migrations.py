"""Finds two new migrations of a database that follow the same one.

The tool that runs them cannot tell which comes first, and refuses both.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath

from attrs import frozen

from cooperbench_eval.git.trees.snapshot import names_in
from cooperbench_eval.languages.hazards.claims import Claim, disputed, hazard_of, new_files
from cooperbench_eval.languages.hazards.kinds import Hazard, HazardKind
from cooperbench_eval.languages.hazards.versions import FileVersions, Merged, Side

_ALEMBIC = re.compile(rb"(?m)^(down_revision|revision)\b[^=\n]*=\s*(\([^)]*\)|[^\n]*)")
_DJANGO = re.compile(rb"(?ms)^[ \t]+dependencies\s*=\s*\[(.*?)\]\s*$")
_QUOTED = re.compile(rb"[\"']([^\"'\n]+)[\"']")
_PAIR = re.compile(rb"\(\s*[\"']\w+[\"']\s*,\s*[\"'](\w+)[\"']")
_COMMENT = re.compile(rb"#[^\n]*")


@frozen
class _Migration:
    """A change of a database, with the names of the migrations that it follows."""

    name: str
    parents: frozenset[str]


def is_migration(path: str, text: bytes | None) -> bool:
    """Whether a file is probably a migration of Alembic or Django."""
    return path.endswith(".py") and text is not None and any(mark in text for mark in _MARKS)


_MARKS = (b"down_revision", b"migrations.Migration")


def migrations_split(merged: Merged) -> Iterator[Hazard]:
    """Yield a hazard for two new migrations after the same one that no other one joins."""
    folders: dict[str, list[tuple[FileVersions, frozenset[Side]]]] = {}
    for file, sides in new_files(merged):
        if is_migration(file.path, file.merged):
            folders.setdefault(file.path.rpartition("/")[0], []).append((file, sides))
    for folder, files in folders.items():
        if len({sides for _, sides in files}) > 1:
            yield from _split(folder, files, merged)


def _split(
    folder: str, files: Collection[tuple[FileVersions, frozenset[Side]]], merged: Merged
) -> Iterator[Hazard]:
    names = names_in(merged.tree, folder)
    parents: dict[str, frozenset[str]] = {}
    claims: list[Claim] = []
    for file, sides in files:
        if found := _read(file.path, file.merged or b"", names):
            parents[found.name] = found.parents
            claims += (
                Claim(
                    value=parent,
                    name=found.name,
                    does=f"adds the migration {file.path} after `{parent}`",
                    path=file.path,
                    sides=sides,
                )
                for parent in found.parents
            )
    for pair in disputed(claims):
        parent = str(pair[0].value)
        if not _are_joined({each.name for each in pair}, parents) and not _branches(
            parent, folder, merged
        ):
            yield hazard_of(HazardKind.SAME_PARENT, pair)


def _read(path: str, text: bytes, names: Collection[str]) -> _Migration | None:
    """Read a migration in a folder that has files of these names; `None` if it is not one."""
    if b"down_revision" in text:
        found = {name: _QUOTED.findall(value) for name, value in _ALEMBIC.findall(text)}
        if revision := found.get(b"revision"):
            parents = map(_text, found.get(b"down_revision", ()))
            return _Migration(_text(revision[0]), frozenset(parents))
    elif listed := _DJANGO.search(text):
        parents = map(_text, _PAIR.findall(_COMMENT.sub(b"", listed[1])))
        known = frozenset(each for each in parents if f"{each}.py" in names)
        return _Migration(PurePosixPath(path).stem, known)
    return None


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _are_joined(pair: set[str], parents: Mapping[str, frozenset[str]]) -> bool:
    """Whether a new migration follows both, directly or through others."""
    for name in parents:
        before, waiting = {name}, [name]
        while waiting:
            new = parents.get(waiting.pop(), frozenset()) - before
            before |= new
            waiting += new
        if pair <= before:
            return True
    return False


def _branches(parent: str, folder: str, merged: Merged) -> bool:
    """Whether a migration of the base follows *parent*, so branches seem intended."""
    names = names_in(merged.base, folder)
    for name in names:
        path = f"{folder}/{name}".lstrip("/")
        entry = merged.base.get(path) if name.endswith(".py") else None
        if entry and parent.encode() in entry.data:
            found = _read(path, entry.data, names)
            if found and parent in found.parents:
                return True
    return False

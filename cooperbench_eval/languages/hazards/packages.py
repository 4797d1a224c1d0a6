"""Finds versions that two sides give to different contents of one package."""

import re
from collections.abc import Iterator

from cooperbench_eval.languages.hazards.claims import Claim, disputed, hazard_of
from cooperbench_eval.languages.hazards.kinds import Hazard, HazardKind
from cooperbench_eval.languages.hazards.versions import BASE, MERGED, Merged

_PACKAGES = re.compile(
    r"(?:pyproject|Cargo)\.toml|(?:package|composer)\.json|setup\.(?:py|cfg)|gradle\.properties"
    r"|(?:Chart|pubspec|galaxy)\.ya?ml|(?:__init__|__about__|_?version)\.(?:py|rb)|.*\.gemspec"
)
"""Matches the names of files that give a package its version."""
_VERSION = re.compile(
    rb"""
    ^(?P<indent>[ \t]*)["']?(?:\w+\.)?_*version_*["']?[ \t]*[:=]
    [ \t]*["']?(?P<version>v?\d+\.[\w.+-]*?\w)["']?(?:\.freeze)?,?[ \t]*\r?$
    """,
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
_UNFINISHED = re.compile(r"dev|snapshot", re.IGNORECASE)
"""Matches versions of work in progress, which many changes share."""


def versions_shared(merged: Merged) -> Iterator[Hazard]:
    """Yield a hazard for each version that two sides give to different contents of a package."""
    for pair in disputed(_claims(merged)):
        yield hazard_of(HazardKind.SAME_VERSION, pair)


def _claims(merged: Merged) -> Iterator[Claim]:
    """Yield the new versions that several sides take for changes of their own."""
    for file in merged.files.values():
        folder, _, name = file.path.rpartition("/")
        sides = [each for each in merged.sides if file.is_changed_by(each)]
        if len(sides) == 1 or not _PACKAGES.fullmatch(name):
            continue
        versions = [text and _version(text) for text in file.contents]
        new = versions[MERGED]
        if not new or new == versions[BASE] or _UNFINISHED.search(new):
            continue
        changes = {
            side: {
                (path, each.entries[side.version])
                for path, each in merged.files.items()
                if path.startswith(f"{folder}/" if folder else "") and each.is_changed_by(side)
            }
            for side in sides
            if versions[side.version] == new
        }
        for side, own in changes.items():
            if any(own - other for other in changes.values()):
                yield Claim(
                    value=new,
                    name=str(side),
                    does=f"gives its changes{folder and ' in '}{folder} the version {new}",
                    path=file.path,
                    line=_line(file.merged or b"", new),
                    sides=frozenset({side}),
                )


def _version(text: bytes) -> str:
    """Return the version that a file gives to its package; empty if there is none."""
    found = min(_VERSION.finditer(text), key=lambda each: len(each["indent"]), default=None)
    return found["version"].decode("utf-8", "replace") if found else ""


def _line(text: bytes, version: str) -> int:
    return text[: text.find(version.encode())].count(b"\n") + 1

"""Finds names of Python files that nothing binds any more, parameters and variables included."""

from collections.abc import Iterator

from cooperbench_eval.languages.hazards.kinds import Hazard, HazardKind
from cooperbench_eval.languages.hazards.project import File, Project
from cooperbench_eval.languages.hazards.versions import Version
from cooperbench_eval.languages.model import Source
from cooperbench_eval.languages.python.facts import Facts

__all__ = ["names_unbound"]


def names_unbound(project: Project) -> Iterator[Hazard]:
    """Yield a hazard for each name that only the merged file uses without binding it."""
    first, second = project.merged.numbers
    for file in project.files.values():
        for name in _unbound(file):
            merged = file.sources[Version.MERGED]
            if merged and (line := _line(name, merged)):
                yield Hazard(
                    kind=HazardKind.NAME_REMOVED,
                    path=file.path,
                    line=line,
                    name=name,
                    message=f"with both features, nothing defines `{name}`, which is used in "
                    f"{file.path}, line {line}; feature {first} alone and feature {second} alone "
                    "define it or do not use it",
                    features=(first, second),
                )


def _unbound(file: File) -> list[str]:
    merged = file.sources[Version.MERGED]
    if file.language.grammar is not None or merged is None:
        return []
    texts = file.versions.contents
    if texts[Version.MERGED] in texts[: Version.MERGED]:
        return []
    names = _unbound_names(merged)
    for source in file.sources[: Version.MERGED] if names else ():
        names -= _unbound_names(source) if source else set()
    return sorted(names)


def _unbound_names(source: Source) -> set[str]:
    return Facts.of(chunk for _, chunk in source.parts if isinstance(chunk, str)).unbound


def _line(name: str, source: Source) -> int:
    """Return the first line that uses a global name; 0 if there is none."""
    lines = (
        use.line + before
        for before, chunk in source.parts
        for use in source.uses_of(chunk)
        if use.chain[0] == name and not use.via and not use.owner
    )
    return min(lines, default=0)

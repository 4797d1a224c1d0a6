"""Finds names that a merge declares twice."""

from collections.abc import Iterator

from cooperbench_eval.languages.hazards.kinds import Hazard, HazardKind
from cooperbench_eval.languages.hazards.project import Project, TouchedFile
from cooperbench_eval.languages.hazards.versions import Version
from cooperbench_eval.languages.scopes.reading import read_names

__all__ = ["declared_twice"]

_Lines = dict[str, list[tuple[str, int]]]
"""The places at which each name is declared: files and lines."""
_MOST_SHOWN = 4


def declared_twice(project: Project) -> Iterator[Hazard]:
    """Yield a hazard for each name that occurs more often than in base, ours and theirs."""
    for files in project.units.values():
        found: dict[str, Hazard] = {}
        for file in files:
            versions = [_in_file(file, version) for version in Version]
            found |= _more_often(versions, project.merged.numbers)
        if len(files) > 1:
            versions = [_in_unit(files, version) for version in Version]
            found = _more_often(versions, project.merged.numbers) | found
        shown = {(each.path, each.line) for each in found.values()}
        for file in files:
            scopes = _in_scopes(file, project.merged.numbers)
            yield from (each for each in scopes if (each.path, each.line) not in shown)
        yield from found.values()


def _in_scopes(file: TouchedFile, features: tuple[int, int]) -> Iterator[Hazard]:
    """Yield what any scope of a file declares twice, such as the body of a callback."""
    grammar, merged, before = file.grammar, file.versions.merged, file.versions.before
    if grammar is None or merged is None or merged in before:
        return
    now = read_names(grammar, merged)
    if not now.clashes:
        return
    versions = [read_names(grammar, source).excess for source in before]
    for clash in now.clashes:
        most = max((each[clash.name] for each in versions), default=0)
        if now.excess[clash.name] > most:
            places = [(file.path, line) for line in clash.lines]
            yield _hazard(clash.qualified, places, most + 1, features)


def _in_file(file: TouchedFile, version: Version) -> _Lines:
    """Return what a file declares and imports and must not declare or import again."""
    found = _in_unit([file], version)
    source = file.sources[version]
    seen = set()
    for taken in source.imports if source else ():
        key = taken.name, taken.module, taken.attribute
        if taken.is_sole and not (file.grammar is None and key in seen):
            found.setdefault(taken.name, []).append((file.path, taken.line))
        seen.add(key)
    return found


def _in_unit(files: list[TouchedFile], version: Version) -> _Lines:
    """Return what several files together declare; each has imports of its own."""
    found: _Lines = {}
    for file in files:
        source = file.sources[version]
        for each in source.definitions if source else ():
            if each.is_sole:
                found.setdefault(each.name, []).append((file.path, each.line))
    return found


def _more_often(versions: list[_Lines], features: tuple[int, int]) -> dict[str, Hazard]:
    *before, merged = versions
    found = {}
    for name, places in merged.items():
        most = max(len(each.get(name, ())) for each in before)
        if len(places) > max(1, most):
            found[name] = _hazard(name, places, most, features)
    return found


def _hazard(
    name: str, places: list[tuple[str, int]], before: int, features: tuple[int, int]
) -> Hazard:
    places = sorted(places)
    path, line = places[-1]
    first, second = features
    alone = "at most once" if before <= 1 else f"at most {before} times"
    shown = " and ".join(f"{file}, line {number}" for file, number in places[:_MOST_SHOWN])
    return Hazard(
        kind=HazardKind.DECLARED_TWICE,
        path=path,
        line=line,
        name=name,
        message=f"with both features, `{name}` is declared {len(places)} times ({shown}); "
        f"feature {first} alone and feature {second} alone declare it {alone}",
        features=features,
    )

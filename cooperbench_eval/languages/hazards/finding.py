"""Finds the hazards of a merged tree: files that do not parse, double names, broken uses."""

from collections.abc import Iterator
from functools import lru_cache

from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.languages.files import SyntaxFault, find_syntax_fault
from cooperbench_eval.languages.hazards.broken_uses import (
    names_removed,
    names_unbound,
    signatures_changed,
)
from cooperbench_eval.languages.hazards.kinds import Hazard, HazardKind
from cooperbench_eval.languages.hazards.project import (
    FileVersions,
    Merged,
    Project,
    TouchedFile,
    Version,
)
from cooperbench_eval.languages.scopes.reading import read_names

_MOST = 100


def find_hazards(
    base: Snapshot,
    ours: Changes,
    theirs: Changes,
    merged: Changes,
    *,
    ours_feature: int,
    theirs_feature: int,
) -> tuple[Hazard, ...]:
    """Find what looks wrong in a merged tree that has no open conflict.

    Only the files that one of the three changes touches are read. The result depends only on
    their contents, and it never raises because of them.

    Args:
        base: The tree from which both sides start.
        ours: The changes of the side that theirs was merged into.
        theirs: The changes of the other side.
        merged: The changes of the merge.
        ours_feature: The number of ours' feature, for the messages.
        theirs_feature: The number of theirs' feature.

    Returns:
        The hazards by path and line, without duplicates, at most 100.

    Raises:
        RepositoryError: The base lists a file, but its contents are absent.
    """
    tree = Merged.of(base, (ours, theirs), merged, (ours_feature, theirs_feature))
    found = set(parse_errors(tree))
    project = Project.of(tree)
    for find in (declared_twice, names_removed, signatures_changed):
        found.update(find(project))
    known = {(each.path, each.name) for each in found}
    found.update(each for each in names_unbound(project) if (each.path, each.name) not in known)
    in_order = sorted(
        found, key=lambda each: (each.path, each.line or 0, each.kind, each.name, each.message)
    )
    return tuple(in_order[:_MOST])


def parse_errors(merged: Merged) -> Iterator[Hazard]:
    """Yield a hazard for each file that parses in every version but the merged one."""
    first, second = merged.numbers
    for file in merged.files.values():
        if fault := _new_fault(file):
            yield Hazard(
                kind=HazardKind.PARSE_ERROR,
                path=file.path,
                line=fault.line,
                message=f"{file.path} parses with feature {first} alone and with feature "
                f"{second} alone, but not with both: {_problem(fault)}",
                features=(first, second),
            )


def _problem(fault: SyntaxFault) -> str:
    """Return the problem with its line, but without the name that the compiler was given."""
    problem = fault.problem.removesuffix(f" (<merged>, line {fault.line})")
    return problem if fault.line is None or "line" in problem else f"{problem}, line {fault.line}"


def _new_fault(file: FileVersions) -> SyntaxFault | None:
    if file.merged is None or file.merged in file.before:
        return None
    fault = _fault(file.path, file.merged)
    return None if fault and any(_fault(file.path, each) for each in file.before) else fault


_fault = lru_cache(maxsize=256)(find_syntax_fault)


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

"""Finds names that one side removes, renames or gives new parameters, and the other uses."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from cooperbench_eval.languages.hazards.kinds import Hazard, HazardKind
from cooperbench_eval.languages.hazards.project import Place, Project, TouchedFile
from cooperbench_eval.languages.hazards.targets import Target, targets
from cooperbench_eval.languages.hazards.versions import BASE, MERGED, Side
from cooperbench_eval.languages.model import CONSTRUCTORS, Arguments, Signature, Source, Use
from cooperbench_eval.languages.scopes.reading import WALKS

_COMMON = frozenset[str]().union(*(walk.common for walk in WALKS.values()))
"""The names of the attributes of built-in types, in any language."""


def names_removed(project: Project) -> Iterator[Hazard]:
    """Yield a hazard for each name that a side starts to use and the merged tree lacks."""
    words = frozenset(_lost_words(project))
    for file in project.files.values() if words else ():
        for side, others in project.merged.each_side:
            seen: set[tuple[str, str]] = set()
            for use in file.new_uses(side, words):
                target = _lost_target(use, file, side, project)
                if target and (key := (target.unit, target.name)) not in seen:
                    seen.add(key)
                    yield _use_hazard(target, use, file, (side, *others), project)


def _lost_words(project: Project) -> Iterator[str]:
    """Yield the last part of each name that only the merged tree lacks."""
    for unit in project.units:
        *before, merged = (project.names(unit, version) for version in project.versions)
        if not project.has(unit, "", MERGED):
            yield from PurePosixPath(unit).with_suffix("").parts
        for name in set().union(*before) - merged:
            yield name.rpartition(".")[2]


def _lost_target(use: Use, file: TouchedFile, side: Side, project: Project) -> Target | None:
    for target in targets(use, file, project):
        is_lost = _is_lost if target.unit else _is_lost_method
        if is_lost(target, side.version, project):
            return target
    return None


def _is_lost(target: Target, version: int, project: Project) -> bool:
    unit, name = target.unit, target.name
    if project.has(unit, name, MERGED) or not project.has(unit, name, version):
        return False
    owner, _, last = name.rpartition(".")
    if not owner:
        found = project.sources(unit, MERGED)
        return not (
            project.is_submodule(unit, name) or any(name in each.bound for _, each in found)
        )
    classes = project.places(unit, owner, MERGED)
    if (
        len(classes) != 1
        or last.startswith("__")
        or f"{owner}.__getattr__" in project.names(unit, MERGED)
    ):
        return False
    if any(last in source.members for _, source in project.sources(unit, MERGED)):
        return False
    # A class may inherit what it no longer defines, unless the merge renamed it.
    return not classes[0].definition.bases or bool(_new_name(target, project, MERGED))


def _is_lost_method(target: Target, version: int, project: Project) -> bool:
    """Whether the only method of this name is gone, so that any object may lack it."""
    name = target.name
    if name in project.attributes(MERGED) or name in _COMMON:
        return False
    return len(project.methods(name, BASE)) == len(project.methods(name, version)) == 1


def _new_name(target: Target, project: Project, version: int) -> str:
    """Return the name to which a version renames a definition of the base; empty if none."""
    unit = target.unit
    known = project.names(unit, BASE)
    before = project.places(unit, target.name, BASE)
    bodies = {place.definition.body for place in before if place.definition.body}
    scope = target.name.rpartition(".")[0]
    for _, source in project.sources(unit, version):
        for each in source.definitions:
            if each.body in bodies and each.name not in known and each.scope == scope:
                return each.last_name
    return ""


def _use_hazard(
    target: Target, use: Use, file: TouchedFile, sides: tuple[Side, ...], project: Project
) -> Hazard:
    side, *others = sides
    if not target.unit:
        place = project.methods(target.name, BASE)[0]
        target = Target(unit=project.files[place.path].unit, name=place.definition.name)
    removing = (each for each in others if not project.has(target.unit, target.name, each.version))
    other = next(removing, None)
    new = _new_name(target, project, other.version) if other and target.name else ""
    places = [*project.places(target.unit, target.name, BASE)]
    places += project.places(target.unit, target.name, side.version)
    path = places[0].path if places else target.unit.partition(":")[0]
    shown = f"`{target.name}` in {path}" if target.name else path
    did = f"renames {shown} to `{new}`" if new else f"removes {shown}"
    verb = "calls" if use.call else "uses"
    return Hazard(
        kind=HazardKind.NAME_REMOVED,
        path=file.path,
        line=use.line,
        name=target.name.rpartition(".")[2],
        message=f"{other or 'the merge'} {did}, and {side} {verb} it "
        f"in {file.path}, line {use.line}",
        features=_between(side, other, project),
    )


def _between(side: Side, other: Side | None, project: Project) -> tuple[int, ...]:
    """Return the features that a hazard involves: all of them if no single one caused it."""
    found = (side, other) if other else project.merged.sides
    return tuple(sorted(each.feature for each in found))


def names_unbound(project: Project) -> Iterator[Hazard]:
    """Yield a hazard for each name that only the merged file uses without binding it."""
    tree = project.merged
    for file in project.files.values():
        for name in _unbound(file):
            merged = file.sources[MERGED]
            if merged and (line := _line(name, merged)):
                yield Hazard(
                    kind=HazardKind.NAME_REMOVED,
                    path=file.path,
                    line=line,
                    name=name,
                    message=f"{tree.with_all} features, nothing defines `{name}`, which is used in "
                    f"{file.path}, line {line}; "
                    f"{tree.alone('define it or do not', 'defines it or does not')} use it",
                    features=tree.features_in([file.path]),
                )


def _unbound(file: TouchedFile) -> list[str]:
    merged = file.sources[MERGED]
    before = [source for source in file.sources[:MERGED] if source]
    if merged is None or merged in before:
        return []
    return sorted(merged.unbound.difference(*(each.unbound for each in before)))


def _line(name: str, source: Source) -> int:
    """Return the first line that uses a global name; 0 if there is none."""
    return min((use.line for use in source.uses if use.is_free and use.chain[0] == name), default=0)


def signatures_changed(project: Project) -> Iterator[Hazard]:
    """Yield a hazard for each new call that fits its side but not the merged tree."""
    words = frozenset(_changed_words(project))
    for file in project.files.values() if words else ():
        for side, others in project.merged.each_side:
            for use in file.new_uses(side, words):
                if use.call is None:
                    continue
                for target in targets(use, file, project):
                    if target.is_whole and (found := _misfit(target, use.call, side, project)):
                        yield _call_hazard(found, use, file, (side, *others), project)
                        break


def _changed_words(project: Project) -> Iterator[str]:
    """Yield the names of functions whose parameters differ between versions, and of classes."""
    for unit in project.units:
        # Equal versions of a file share one source.
        sources = {
            each for version in project.versions for _, each in project.sources(unit, version)
        }
        for name in project.names(unit, MERGED):
            found = [each.signature for source in sources for each in source.by_name.get(name, ())]
            if len({each and each.shape for each in found}) > 1:
                scope, _, last = name.rpartition(".")
                yield scope.rpartition(".")[2] if last in CONSTRUCTORS else last


def _misfit(
    target: Target, call: Arguments, side: Side, project: Project
) -> tuple[Place, str] | None:
    """Return the definition that a call no longer fits, and why; `None` if it fits."""
    written_for = _callee(target, side.version, project)
    found = _callee(target, MERGED, project)
    if written_for is None or found is None:
        return None
    before, (place, after) = written_for[1], found
    if before == after or before.misfit(call):
        return None
    problem = after.misfit(call)
    if not problem and (moved := before.moved(call, after)):
        problem = f"has `{moved}` at another position"
    return (place, problem) if problem else None


def _callee(target: Target, version: int, project: Project) -> tuple[Place, Signature] | None:
    """Return the only function that a call can mean, with the parameters that callers give."""
    places = (
        project.places(target.unit, target.name, version)
        if target.unit
        else project.methods(target.name, version)
    )
    if len(places) != 1:
        return None
    place, has_instance = places[0], target.has_instance
    unit = project.files[place.path].unit
    if place.definition.is_class:
        name = place.definition.name
        made = [
            place
            for each in CONSTRUCTORS
            for place in project.places(unit, f"{name}.{each}", version)
        ]
        if len(made) != 1 or project.places(unit, f"{name}.__new__", version):
            return None
        place, has_instance = made[0], True
    signature = place.definition.signature
    if signature is None or (place.definition.takes_instance and not has_instance):
        return None
    return place, signature.bound() if place.definition.takes_instance else signature


def _call_hazard(
    found: tuple[Place, str],
    use: Use,
    file: TouchedFile,
    sides: tuple[Side, ...],
    project: Project,
) -> Hazard:
    (place, problem), (side, *others) = found, sides
    name = place.definition.name
    unit = project.files[place.path].unit

    def signatures(version: int) -> list[Signature | None]:
        return [each.definition.signature for each in project.places(unit, name, version)]

    changing = (each for each in others if signatures(each.version) != signatures(BASE))
    other = next(changing, None)
    return Hazard(
        kind=HazardKind.SIGNATURE_CHANGED,
        path=file.path,
        line=use.line,
        name=place.definition.last_name,
        message=f"{other or 'the merge'} changes the parameters of `{name}` in {place.path}, "
        f"and the call by {side} in {file.path}, line {use.line}, does not fit: `{name}` {problem}",
        features=_between(side, other, project),
    )

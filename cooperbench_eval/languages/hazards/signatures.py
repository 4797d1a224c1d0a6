"""Finds calls that no longer fit the function that they call."""

from collections.abc import Iterator

from cooperbench_eval.languages.hazards.kinds import Hazard, HazardKind
from cooperbench_eval.languages.hazards.project import Place, Project, TouchedFile
from cooperbench_eval.languages.hazards.targets import Target, targets
from cooperbench_eval.languages.hazards.versions import Side, Version
from cooperbench_eval.languages.model import Arguments, Signature, Use

__all__ = ["signatures_changed"]

_CONSTRUCTORS = ("__init__", "constructor")


def signatures_changed(project: Project) -> Iterator[Hazard]:
    """Yield a hazard for each new call that fits its side and not the merged tree."""
    words = frozenset(_changed_words(project))
    for file in project.files.values() if words else ():
        for side, other in project.merged.each_side:
            for use in file.new_uses(side, words):
                if use.call is None:
                    continue
                for target in targets(use, file, project):
                    if target.is_whole and (found := _misfit(target, use.call, side, project)):
                        yield _hazard(found, use, file, (side, other), project)
                        break


def _changed_words(project: Project) -> Iterator[str]:
    """Yield the names of functions whose parameters differ between versions, and of classes."""
    for unit in project.units:
        # Versions in which a file is equal share one source.
        sources = {each for version in Version for _, each in project.sources(unit, version)}
        for name in project.names(unit, Version.MERGED):
            found = [each.signature for source in sources for each in source.by_name.get(name, ())]
            if len({each and each.shape for each in found}) > 1:
                scope, _, last = name.rpartition(".")
                yield scope.rpartition(".")[2] if last in _CONSTRUCTORS else last


def _misfit(
    target: Target, call: Arguments, side: Side, project: Project
) -> tuple[Place, str] | None:
    """Return the definition that a call no longer fits, and why; `None` if it fits."""
    written_for = _callee(target, side.version, project)
    found = _callee(target, Version.MERGED, project)
    if written_for is None or found is None:
        return None
    before, (place, after) = written_for[1], found
    if before == after or before.misfit(call):
        return None
    problem = after.misfit(call)
    if not problem and (moved := before.moved(call, after)):
        problem = f"has `{moved}` at another position"
    return (place, problem) if problem else None


def _callee(target: Target, version: Version, project: Project) -> tuple[Place, Signature] | None:
    """Return the only function that a call can mean, with the parameters that the call gives."""
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
            for each in _CONSTRUCTORS
            for place in project.places(unit, f"{name}.{each}", version)
        ]
        if len(made) != 1 or project.places(unit, f"{name}.__new__", version):
            return None
        place, has_instance = made[0], True
    signature = place.definition.signature
    if signature is None or (place.definition.takes_instance and not has_instance):
        return None
    return place, signature.bound() if place.definition.takes_instance else signature


def _hazard(
    found: tuple[Place, str],
    use: Use,
    file: TouchedFile,
    sides: tuple[Side, Side],
    project: Project,
) -> Hazard:
    (place, problem), (side, other) = found, sides
    name = place.definition.name
    unit = project.files[place.path].unit
    there, base = (
        [each.definition.signature for each in project.places(unit, name, version)]
        for version in (other.version, Version.BASE)
    )
    who = "the merge" if there == base else str(other)
    return Hazard(
        kind=HazardKind.SIGNATURE_CHANGED,
        path=file.path,
        line=use.line,
        name=place.definition.last,
        message=f"{who} changes the parameters of `{name}` in {place.path}, and the call by {side} "
        f"in {file.path}, line {use.line}, does not fit: `{name}` {problem}",
        features=project.merged.numbers,
    )

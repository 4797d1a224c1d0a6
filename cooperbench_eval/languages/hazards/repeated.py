"""Finds names and keys that a merged tree has more often than each version before the merge."""

from collections.abc import Iterator

from cooperbench_eval.languages.data import find_format, read_data_versions
from cooperbench_eval.languages.hazards.kinds import Hazard, HazardKind
from cooperbench_eval.languages.hazards.project import Project, TouchedFile
from cooperbench_eval.languages.hazards.versions import MERGED, FileVersions, Merged
from cooperbench_eval.languages.model import Declaration
from cooperbench_eval.languages.readers.data import CHECKSUMS, ENTRY, MAPPING, TABLE
from cooperbench_eval.languages.readers.grammars import Grammar
from cooperbench_eval.languages.scopes.reading import WALKS
from cooperbench_eval.languages.scopes.walk import Walk
from cooperbench_eval.languages.tree import Construct, StructureError, Token

_MOST_SHOWN = 4


def declared_twice(project: Project) -> Iterator[Hazard]:
    """Yield a hazard for each name that occurs more often than in base, ours and theirs."""
    for files in project.units.values():
        for file in files:
            yield from _in_file(file, project.merged)
        # Java projects may have several modules with the same packages and classes.
        if len(files) > 1 and files[0].grammar is not Grammar.JAVA:
            yield from _in_unit(files, project)


def _in_file(file: TouchedFile, tree: Merged) -> Iterator[Hazard]:
    """Yield a hazard for each name that a scope of a file declares twice."""
    merged = file.sources[MERGED]
    before = [source for source in file.sources[:MERGED] if source]
    if merged is None or merged in before:
        return
    for clash in merged.clashes:
        name = clash.qualified if clash.is_certain else ""
        most = max((each.excess[name] for each in before), default=0)
        if merged.excess[name] > most:
            places = [(file.path, line) for line in clash.lines]
            yield _hazard(HazardKind.DECLARED_TWICE, name, places, most + 1, tree)


def _in_unit(files: list[TouchedFile], project: Project) -> Iterator[Hazard]:
    """Yield a hazard for each name that several files declare together, except imports."""
    walk = WALKS[files[0].grammar]
    versions = [_declared(files, version) for version in project.versions]
    for name, found in versions[MERGED].items():
        number = len(_clashing(walk, name, found))
        most = max(len(_clashing(walk, name, each.get(name, []))) for each in versions[:MERGED])
        if number > most and len({path for path, _ in found}) > 1:
            places = [(path, each.line) for path, each in found]
            yield _hazard(HazardKind.DECLARED_TWICE, name, places, max(most, 1), project.merged)


_Declared = list[tuple[str, Declaration]]
"""Where a name is declared: files and declarations."""


def _declared(files: list[TouchedFile], version: int) -> dict[str, _Declared]:
    found: dict[str, _Declared] = {}
    for file in files:
        source = file.sources[version]
        for name, each in source.declared.items() if source else ():
            places = [(file.path, one) for one in each if one.kind != "import"]
            found.setdefault(name, []).extend(places)
    return found


def _clashing(walk: type[Walk], name: str, found: _Declared) -> tuple[int, ...]:
    clash = walk.sharing.clash(name, "", [each for _, each in found]) if len(found) > 1 else None
    return clash.lines if clash else ()


def _hazard(
    kind: HazardKind, name: str, places: list[tuple[str, int]], before: int, tree: Merged
) -> Hazard:
    places = sorted(places)
    path, line = places[-1]
    now, many, one = _WORDS[kind]
    often = "at most once" if before <= 1 else f"at most {before} times"
    shown = " and ".join(f"{file}, line {number}" for file, number in places[:_MOST_SHOWN])
    return Hazard(
        kind=kind,
        path=path,
        line=line,
        name=name,
        message=f"{tree.with_all} features, {now.format(name)} {len(places)} times ({shown}); "
        f"{tree.alone(many, one)} it {often}",
        features=tree.features_in({file for file, _ in places}),
    )


_WORDS = {
    HazardKind.DECLARED_TWICE: ("`{}` is declared", "declare", "declares"),
    HazardKind.KEY_REPEATED: ("the key `{}` occurs", "have", "has"),
}


# --- keys of data files ---

_TABLES = b"[["
"""How the key of a TOML list of tables starts, which may continue later in the file."""


def keys_repeated(file: FileVersions, tree: Merged) -> Iterator[Hazard]:
    """Yield a hazard for each key that a mapping has more often than in base, ours and theirs."""
    found = find_format(file.path, file.merged or b"")
    if found is None:
        return
    # The merged version comes last, and is equal to no other.
    texts = dict.fromkeys(each for each in file.contents if each is not None)
    try:
        read = read_data_versions(
            found, [each if each.endswith(b"\n") else each + b"\n" for each in texts]
        )
    except StructureError:
        return
    *before, now = (_repeated_keys(each, file.path) for each in read)
    for name, places in now.items():
        most = max((len(each.get(name, ())) for each in before), default=0)
        if len(places) > max(1, most):
            yield _hazard(HazardKind.KEY_REPEATED, name, places, most, tree)


def _repeated_keys(tree: Construct, path: str) -> dict[str, list[tuple[str, int]]]:
    """Return where a file repeats the keys of a mapping."""
    found: dict[str, list[tuple[str, int]]] = {}
    stack: list[tuple[Construct, str, int]] = [(tree, "", 0)]
    while stack:
        parent, around, line = stack.pop()
        keys: dict[str, dict[object, int]] = {}
        for child in parent.children:
            key, name = child.key, around
            if isinstance(child, Construct):
                if key:
                    name = f"{around}.{key.decode('utf-8', 'replace')}".lstrip(".")
                stack.append((child, name, line))
                is_key = parent.kind in _MAPPINGS and child.kind in _NAMED
                if is_key and not key.startswith(_TABLES):
                    places = keys.setdefault(name, {})
                    places.setdefault(_text(child) or len(places), line + _lines_to_key(child))
            line += child.source.count(b"\n")
        for name, lines in keys.items():
            if len(lines) > 1:
                found.setdefault(name, []).extend((path, each) for each in lines.values())
    return found


_MAPPINGS, _NAMED = frozenset({CHECKSUMS, MAPPING}), frozenset({ENTRY, TABLE})


def _text(entry: Construct) -> bytes:
    """Return the text of an entry that may repeat unchanged: a line of requirements."""
    last = entry.children[-1]
    return last.plain if isinstance(last, Token) and last.kind == "token" else b""


def _lines_to_key(entry: Construct) -> int:
    """Return how many lines of comments precede the key of an entry."""
    lines = 0
    for child in entry.children:
        if child.kind != "comment":
            return lines + child.space.count(b"\n")
        lines += child.source.count(b"\n")
    return lines

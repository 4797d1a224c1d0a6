"""Finds two new files, constants or flags that take the next number of the same list."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from cooperbench_eval.git.trees.snapshot import names_in
from cooperbench_eval.languages.data import find_format
from cooperbench_eval.languages.files import is_prose
from cooperbench_eval.languages.hazards.claims import Claim, disputed, hazard_of, new_files
from cooperbench_eval.languages.hazards.kinds import Hazard, HazardKind
from cooperbench_eval.languages.hazards.migrations import is_migration
from cooperbench_eval.languages.hazards.versions import FileVersions, Merged

_LEAST_LISTED = 3
"""A list that counts up has at least this many numbers."""

_NUMBERED = re.compile(r"(\D*)(\d{1,5})[-_ ]+[^\d\W]")
"""Matches the start of a name up to its number, which has fewer digits than a date."""


def numbers_shared(merged: Merged) -> Iterator[Hazard]:
    """Yield a hazard for each next number that two new files, constants or flags take."""
    yield from _in_names(merged)
    for file in merged.files.values():
        if file.is_mixed:
            yield from _in_lines(file, merged)


def _in_names(merged: Merged) -> Iterator[Hazard]:
    folders: dict[tuple[str, str], list[Claim]] = {}
    for file, sides in new_files(merged):
        folder, _, name = file.path.rpartition("/")
        found = _NUMBERED.match(name)
        if found and not is_migration(file.path, file.merged):
            number = int(found[2])
            claim = Claim(
                value=number,
                name=_stem(name),
                does=f"takes the number {number} for {file.path}",
                path=file.path,
                sides=sides,
            )
            folders.setdefault((folder, found[1]), []).append(claim)
    for (folder, prefix), claims in folders.items():
        if len({each.sides for each in claims}) < 2:  # noqa: PLR2004
            continue
        matches = ((_NUMBERED.match(each), _stem(each)) for each in names_in(merged.base, folder))
        taken = {(int(found[2]), stem) for found, stem in matches if found and found[1] == prefix}
        following = _next([each for each, _ in taken])
        for pair in disputed(each for each in claims if each.value in following):
            yield hazard_of(HazardKind.SAME_NUMBER, pair)


def _stem(name: str) -> str:
    return name.partition(".")[0]


def _next(numbers: Sequence[int]) -> set[int]:
    """Return the numbers that may come next in a list; none if it does not count up."""
    if len(numbers) < _LEAST_LISTED or len(set(numbers)) < len(numbers):
        return set()
    most = max(numbers)
    are_flags = most > _LEAST_LISTED and all(each & (each - 1) == 0 for each in numbers)
    return {most + 1, 2 * most} if are_flags else {most + 1}


_ENTRY = re.compile(
    rb"""
    ^[ \t]*+(?:\#[ \t]*+define[ \t]++)?(?:[\w.<>,?]++[ \t]++){0,4}?   # modifiers and types
    (?P<quote>["']?)(?P<name>[A-Za-z_][\w.-]*+)(?P=quote)
    (?:[ \t]*+(?::[ \t]*+[\w:.<>]++[ \t]*+=|[=:(])[ \t]*+|[ \t]++)(?:\([ \t]*+)?
    (?P<shift>1[uUlL]*+[ \t]*+<<[ \t]*+)?
    (?P<number>0[xX][0-9a-fA-F][0-9a-fA-F_]{0,20}|0[bB][01][01_]{0,80}|[0-9][0-9_]{0,20})[uUlL]*+
    [ \t]*+\)*+[ \t]*+(?:\[[^\]\n]*+\])?[ \t]*+[,;]?[ \t]*+(?:(?://|\#|/\*)[^\n]*)?\r?$
    """,
    re.VERBOSE | re.MULTILINE,
)
"""Matches a line that gives a name a number: of a constant, a member of an enum, a field."""
_REMARKS = (b"#", b"//", b"/*", b"*", b"@", b'"""')

_Entry = tuple[bool, int, str]
"""Whether a line shifts a bit, its number, and the name that gets the number."""


def _entry(found: re.Match[bytes]) -> _Entry:
    number = found["number"].replace(b"_", b"")
    base = {b"0x": 16, b"0b": 2}.get(number[:2].lower(), 10)
    return bool(found["shift"]), int(number, base), found["name"].decode("utf-8", "replace")


def _in_lines(file: FileVersions, merged: Merged) -> Iterator[Hazard]:
    text = file.merged or b""
    if is_prose(file.path) or find_format(file.path, text):
        return
    added = {
        side: set(map(_entry, _ENTRY.finditer(b"\n".join(file.new_lines(side.version)))))
        for side in merged.sides
    }
    taken = [{entry[:2] for entry in found} for found in added.values()]
    if not any(one & other for one, other in combinations(taken, 2)):
        return
    new = set().union(*added.values())
    for listed in _lists(text):
        following = _next([entry[1] for _, entry in listed if entry not in new])
        claims = (
            Claim(
                value=entry[1],
                name=entry[2],
                does=f"gives `{entry[2]}` the number {entry[1]} ({file.path}, line {line})",
                path=file.path,
                line=line,
                sides=frozenset(side for side, found in added.items() if entry in found),
            )
            for line, entry in listed
            if entry in new and entry[1] in following
        )
        for pair in disputed(claims):
            yield hazard_of(HazardKind.SAME_NUMBER, pair)


def _lists(source: bytes) -> Iterator[list[tuple[int, _Entry]]]:
    """Yield the entries, with their lines, that have the same depth in one block.

    At the top level of a file, any other line ends a list.
    """
    open_lists: dict[tuple[int, bool], list[tuple[int, _Entry]]] = {}
    for number, line in enumerate(source.split(b"\n"), 1):
        text = line.strip()
        found = _ENTRY.match(line)
        entry = _entry(found) if found else None
        if not text or (entry is None and text.startswith(_REMARKS)):
            continue
        depth = len(line) - len(line.lstrip())
        closed = depth if entry or depth else -1
        yield from (open_lists.pop(each) for each in [*open_lists] if each[0] > closed)
        if entry:
            open_lists.setdefault((depth, entry[0]), []).append((number, entry))
    yield from open_lists.values()

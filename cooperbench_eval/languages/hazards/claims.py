"""What two sides take although only one can have it: a number, a place in an order, a version.

Each side takes it in a file or a line of its own, so git sees no conflict.
"""

from collections.abc import Hashable, Iterable, Iterator

from attrs import frozen

from cooperbench_eval.languages.hazards.kinds import Hazard, HazardKind
from cooperbench_eval.languages.hazards.versions import BASE, MERGED, FileVersions, Merged, Side


@frozen(kw_only=True)
class Claim:
    """Something that a side takes.

    Attributes:
        value: What it takes.
        name: The thing that gets it, such as a file.
        does: What the side does, as a predicate.
        path: The file in which the side takes it.
        line: The line there; `None` if the file itself gets it.
        sides: The sides that take it for this thing.
    """

    value: Hashable
    name: str
    does: str
    path: str
    line: int | None = None
    sides: frozenset[Side]

    def __str__(self) -> str:
        sides = sorted(self.sides, key=lambda side: side.feature)
        return f"{' and '.join(map(str, sides))} {self.does}"


def disputed(claims: Iterable[Claim]) -> Iterator[tuple[Claim, Claim]]:
    """Yield two claims of each value that sides take for different things, each side once."""
    by_value: dict[Hashable, dict[str, Claim]] = {}
    for claim in claims:
        by_value.setdefault(claim.value, {}).setdefault(claim.name, claim)
    for found in by_value.values():
        first, *others = sorted(found.values(), key=lambda e: (e.path, e.line or 0, e.name))
        sides = [side for claim in found.values() for side in claim.sides]
        if others and all(each.sides for each in found.values()) and len(set(sides)) == len(sides):
            yield first, others[0]


def hazard_of(kind: HazardKind, claims: tuple[Claim, Claim]) -> Hazard:
    """Return the hazard of two claims of one value."""
    first, last = claims
    return Hazard(
        kind=kind,
        path=last.path,
        line=last.line,
        name=str(last.value),
        message=f"{first}, and {last}",
        features=sorted(side.feature for side in first.sides | last.sides),
    )


def new_files(merged: Merged) -> Iterator[tuple[FileVersions, frozenset[Side]]]:
    """Yield the files that the merge adds to the base, with the sides that add them."""
    for file in merged.files.values():
        if file.entries[BASE] is None and file.entries[MERGED] is not None:
            yield file, frozenset(each for each in merged.sides if file.is_changed_by(each))

"""Finds insertions of both sides at one place in an order that may be wrong.

The order of these matters: alternatives, because the first that matches is taken; statements
that act on one object; routes that match one path; and values beside a spread.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import product, starmap

from attrs import frozen

from cooperbench_eval.languages.alignment import similarity
from cooperbench_eval.languages.alternatives import Alternative, Classes, read_classes
from cooperbench_eval.languages.effects import (
    Effect,
    effects_of,
    is_positional,
    may_match,
    modules_of,
    route_of,
)
from cooperbench_eval.languages.faults.gaps import (
    Alignments,
    Gap,
    Versions,
    changed_by_both,
    gaps_of_both,
)
from cooperbench_eval.languages.faults.line_order import find_misordered_lines
from cooperbench_eval.languages.faults.losses import differing_lines
from cooperbench_eval.languages.files import is_code
from cooperbench_eval.languages.sequences import CLASHING, Run, clashing_options, weave
from cooperbench_eval.languages.tree import Element, Elements, Mode, excerpt, one_line

_ONE_SIDE = "one side inserts %r, the other %r; their order may matter"
_LEAST_ALIKE = 0.4
_SPREADING = (b"...", b"..", b"**", b"*")


def find_misordered(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Return which insertions of both sides are in an order that may be wrong.

    Returns:
        What is wrong; empty if nothing is, or if a version cannot be read.
    """
    if not _may_matter(versions, merged):
        return ""
    if not is_code(path):
        return find_misordered_lines(path, versions, merged)
    order = _Order(merged)
    return next(order.misplaced(changed_by_both(path, versions, merged)), "")


def _may_matter(versions: tuple[bytes, bytes, bytes], merged: bytes) -> bool:
    """Whether both sides have new lines."""
    base, *sides, _ = differing_lines(versions, merged)
    return all(
        any(count > base.get(line, 0) for line, count in side.items() if line.strip())
        for side in sides
    )


@frozen(eq=False)
class _Order:
    """Checks the order of insertions in a merged file."""

    merged: bytes

    @cached_property
    def classes(self) -> Classes:
        """The classes of the file, each with its bases."""
        return read_classes(self.merged)

    @cached_property
    def modules(self) -> frozenset[bytes]:
        """The names that stand for modules."""
        return frozenset(modules_of(self.merged))

    def misplaced(self, changed: Sequence[tuple[Versions, Alignments]]) -> Iterator[str]:
        """Yield what is wrong with the order of what both sides insert."""
        for parts, places in changed:
            if parts[0].mode is Mode.SEQUENCE:
                continue
            yield from self._unreachable([each.children for each in parts], Alternative.of)
            for gap in gaps_of_both(parts, places):
                yield from _options(gap)
                runs = weave(gap.mine, gap.other, lambda each: each.plain)
                for run in [Run(gap.mine, gap.other, None)] if runs is None else runs:
                    if run.first and run.second:
                        yield from self._of_run(parts[0].kind, gap, run)

    def _of_run(self, kind: str, gap: Gap, run: Run[Element]) -> Iterator[str]:
        """Yield what is wrong with a run in which the sides' insertions differ."""
        mine, other = run.first, run.second
        there = {each.plain for each in (*mine, *other)}
        now = [each for each in gap.now if each.plain in there]
        yield from self._unreachable([(), mine, other, now], Alternative.leaving)
        yield from _spread(kind, mine, other)
        yield from _routes(mine, other)
        yield from _decorated(mine, other)
        if kind in {"suite", "file"}:
            yield from self._disturbed(mine, other, gap.gone)

    def _unreachable(
        self,
        versions: Sequence[Sequence[Element]],
        read: Callable[[Element], Alternative | None],
    ) -> Iterator[str]:
        """Yield alternatives after one that catches the same, unless a version has that order."""
        *before, merged = ([e for e in map(read, each) if e is not None] for each in versions)
        heads = [[each.head for each in side] for side in before]
        for one, later in _new_pairs(heads, merged):
            first, shown = one_line(one.head), one_line(later.head)
            if later.must_precede(one, self.classes):
                yield f"{shown!r} would never be reached, because {first!r} comes before it"
            elif one.clashes(later, self.classes):
                yield f"{first!r} and {shown!r} may both match, so their order matters"

    def _disturbed(
        self, mine: Sequence[Element], other: Sequence[Element], gone: Elements
    ) -> Iterator[str]:
        """Yield a statement of each side if one changes what the other needs."""
        known: dict[bytes, list[tuple[Effect, Element]]] = {}
        for each in other:
            for effect in effects_of(each, self.modules):
                known.setdefault(effect.path[0], []).append((effect, each))
        for one in mine:
            for effect in effects_of(one, self.modules):
                for against, each in known.get(effect.path[0], ()):
                    if effect.disturbs(against) and not _replaces((one, each), gone):
                        shown = excerpt(one), excerpt(each)
                        yield f"{_ONE_SIDE % shown} for {b'.'.join(effect.path).decode()!r}"


def _new_pairs(
    versions: Sequence[Sequence[bytes]], merged: Sequence[Alternative]
) -> Iterator[tuple[Alternative, Alternative]]:
    """Yield each two alternatives that no version has in this order."""
    firsts = [{head: -i for i, head in enumerate(reversed(heads))} for heads in versions]
    lasts = [{head: i for i, head in enumerate(heads, 1 - len(heads))} for heads in versions]
    kept = set(versions[0]).intersection(*versions[1:])
    orders = {tuple(filter(kept.__contains__, heads)) for heads in versions}
    is_kept = orders == {tuple(each.head for each in merged if each.head in kept)}
    for i, one in enumerate(merged):
        is_old = is_kept and one.head in kept
        for later in merged[i + 1 :]:
            if is_old and later.head in kept:
                continue
            places = zip(firsts, lasts, strict=True)
            if not any(a.get(one.head, 1) < b.get(later.head, -len(b)) for a, b in places):
                yield one, later


def _replaces(new: Iterable[Element], gone: Elements) -> bool:
    """Whether a new statement is a version of one of the base, so that its place is known."""
    return any(
        part.plain in each.plain or similarity(part.words(), each.words()) >= _LEAST_ALIKE
        for part, each in product(gone, new)
    )


def _options(gap: Gap) -> Iterator[str]:
    """Yield an option that both sides add to a command's arguments, with different values."""
    mine, other = ([each.plain for each in part] for part in (gap.mine, gap.other))
    for clash in clashing_options(mine, other):
        yield CLASHING % tuple(map(one_line, clash))


def _routes(mine: Sequence[Element], other: Sequence[Element]) -> Iterator[str]:
    """Yield two routes that match one path, of which the first is taken."""
    sides = (
        [(*route, _decorators(each)) for each in side if (route := route_of(each))[0]]
        for side in (mine, other)
    )
    for (function, path, first), (called, also, second) in product(*sides):
        is_same = b"/" in path and not first.isdisjoint(second)
        if function == called and (is_same or may_match(path, also)):
            shown = one_line(path), one_line(also)
            yield f"the routes {shown[0]} and {shown[1]} may both match, so their order matters"


def _decorators(element: Element) -> set[bytes]:
    return {part.plain for part in element.children if part.kind == "decorator"}


def _decorated(mine: Sequence[Element], other: Sequence[Element]) -> Iterator[str]:
    """Yield decorators of both sides, which are applied in turn, if they are not options."""
    for one, each in product(mine, other):
        if one.kind == each.kind == "decorator" and one.plain[:1] == each.plain[:1] == b"@":
            routes = route_of(one), route_of(each)
            is_alike = bool(routes[0][0]) and routes[0][0] == routes[1][0]
            if not is_alike or all(starmap(is_positional, routes)):
                shown = excerpt(one), excerpt(each)
                yield _ONE_SIDE % shown


def _spread(kind: str, mine: Sequence[Element], other: Sequence[Element]) -> Iterator[str]:
    """Yield a spread of one side that may replace the other's value, or be replaced by it."""
    if kind not in {"items", "arguments", "attributes"}:
        return
    signs = _SPREADING if kind != "attributes" else (b"{",)
    for one, others in ((mine, other), (other, mine)):
        spreads = [e for e in one if e.children and e.children[0].plain.startswith(signs)]
        for spread, each in product(spreads, others):
            sign = b"".join(part.plain for part in spread.children[:1])
            has_key = any(part.plain == b":" for part in each.children)
            is_positional = not has_key and all(part.plain != b"=" for part in each.children)
            if kind != "arguments" or is_positional or (has_key and sign != b"*"):
                yield _ONE_SIDE % (excerpt(spread), excerpt(each))

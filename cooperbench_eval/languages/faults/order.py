"""Finds insertions of both sides at one place in an order that may be wrong.

The order of these matters: alternatives, because the first that matches is taken; calls on one
object of which one removes what the other adds; and values beside a spread.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from cooperbench_eval.languages.alternatives import alternatives_in
from cooperbench_eval.languages.faults.gaps import Places, Versions, changed_by_both, gaps
from cooperbench_eval.languages.faults.losses import differing_lines
from cooperbench_eval.languages.files import is_code
from cooperbench_eval.languages.tree import ASSIGNING, Element, Mode, excerpt, one_line

_EMPTYING = frozenset(
    b"""clear pop popleft popitem popall truncate remove removeAll reset reverse sort shuffle
    drain splice shift close stop shutdown Close Stop Reset Truncate Clear""".split()
)
"""Methods that remove or replace what other calls put into an object or need there."""
_CHOSEN = re.compile(rb"\b(?:except|catch|elif|else if|case)\b")
_ARM = re.compile(rb"=>")  # elsewhere than in Rust, it is in most functions
_MATTERING = re.compile(
    rb"\.(?:" + b"|".join(sorted(_EMPTYING)) + rb")\(|(?m:^|[{,])\s*(?:\.\.\.?|\*\*)\w"
)
"""What a line contains if its order among others may matter: such a call, or a spread."""
_SPREADING = (b"...", b"..", b"**")


def find_misordered(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Return which insertions of both sides are in an order that may be wrong.

    Returns:
        What is wrong; empty if nothing is, or if a version cannot be read.
    """
    if not is_code(path) or not _may_matter(path, versions, merged):
        return ""
    return next(_misordered(changed_by_both(path, versions, merged)), "")


def _may_matter(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> bool:
    """Whether both sides have new lines whose order may matter."""
    base, *sides, _ = differing_lines(versions, merged)
    new = [
        b"\n".join(line for line, count in side.items() if count > base.get(line, 0))
        for side in sides
    ]
    chosen = _ARM if path.endswith(".rs") else _CHOSEN
    is_chosen = all(map(chosen.search, new))
    return all(new) and (is_chosen or any(map(_MATTERING.search, new)))


def _misordered(changed: Iterable[tuple[Versions, Places]]) -> Iterator[str]:
    for parts, places in changed:
        if parts[0].mode is Mode.SEQUENCE:
            continue
        yield from _unreachable([each.children for each in parts])
        for mine, other, _ in gaps(parts, places):
            both = {each.plain for each in mine} & {each.plain for each in other}
            new = [[each for each in side if each.plain not in both] for side in (mine, other)]
            yield from _spread(parts[0].kind, *new)
            yield from _emptied(*new)


def _unreachable(versions: Sequence[Sequence[Element]]) -> Iterator[str]:
    """Yield alternatives after one that catches the same, unless a version has them so."""
    *before, merged = (list(alternatives_in(each)) for each in versions)
    known = {(one.head, each.head) for side in before for one, each in combinations(side, 2)}
    for one, later in combinations(merged, 2):
        if (one.head, later.head) in known:
            continue
        first, shown = one_line(one.head), one_line(later.head)
        if later.must_precede(one):
            yield f"{shown!r} would never be reached, because {first!r} comes before it"
        elif one.clashes(later):
            yield f"{first!r} and {shown!r} may both match, so their order matters"


def _spread(kind: str, mine: Sequence[Element], other: Sequence[Element]) -> Iterator[str]:
    """Yield a spread of one side that may replace the other's value, or be replaced by it."""
    if kind not in {"items", "arguments"}:
        return
    for one, others in ((mine, other), (other, mine)):
        spreads = [e for e in one if e.children and e.children[0].plain.startswith(_SPREADING)]
        named = [e for e in others if any(part.plain == b":" for part in e.children)]
        if spreads and named:
            pair = _text(spreads[0]), _text(named[0])
            yield f"one side inserts {pair[0]}, the other {pair[1]}, and the order matters"


def _emptied(mine: Sequence[Element], other: Sequence[Element]) -> Iterator[str]:
    """Yield calls on one object of which one removes what the other needs."""
    for one, others in ((mine, other), (other, mine)):
        for each in one:
            receiver, method = _call(each)
            if method not in _EMPTYING:
                continue
            for call in others:
                if _call(call)[0] == receiver and not _is_about_another(each, call):
                    pair = _text(each), _text(call)
                    yield f"one side inserts {pair[0]}, the other {pair[1]}, and the order matters"


def _call(statement: Element) -> tuple[bytes, bytes]:
    """Return the object and the method of a statement that is a call; empty for others."""
    parts = statement.children
    at = next((i for i, each in enumerate(parts) if each.kind == "group"), 0)
    words = [each.plain for each in parts[:at]]
    if statement.kind not in {"expression", "assignment"} or words[-2:-1] != [b"."]:
        return b"", b""
    start = max((i for i, word in enumerate(words) if word in ASSIGNING), default=-1) + 1
    return b"".join(words[start:-2]), words[-1]


def _is_about_another(one: Element, other: Element) -> bool:
    """Whether a call is about a key, given as a string, that another call does not name."""
    keys = {word for word in one.words() if word.startswith((b'"', b"'"))}
    return bool(keys) and keys.isdisjoint(other.words())


def _text(element: Element) -> str:
    return repr(excerpt(element))

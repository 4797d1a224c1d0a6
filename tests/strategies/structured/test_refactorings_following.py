"""A side's additions to calls and loops are made where the other side moved or copied these."""

import pytest

import cooperbench_eval as ce
from cooperbench_eval.strategies.structured.refactorings.replaying import replay


def both_ways(base, ours, theirs, strategy="structured"):
    """Merge in both directions; return the one merged text, or `None` if a conflict is left."""
    found = set()
    for sides in ((ours, theirs), (theirs, ours)):
        tree, *others = (ce.Snapshot.from_files({"a.py": each.encode()}) for each in (base, *sides))
        changes = (ce.Changes.between(tree, side) for side in others)
        outcome = ce.merge(tree, *changes, strategy=strategy)
        found.add(None if outcome.conflicts else outcome.changes["a.py"].data.decode())
    assert len(found) == 1
    return found.pop()


BASE = '''
def report(store, key, size, limit):
    """Report."""
    rows = store.fetch(key, limit=limit, order="up")
    for row in store.rows:
        path = join(row, key)
        if exists(path):
            return path, rows
    return None, rows
'''
LATER = BASE.replace("limit):", "limit, deep=False):").replace('"up")', '"up", deep=deep)')
NAMED = BASE.replace("rows = store.fetch", "found = store.fetch").replace(
    "    for", "    rows = found if limit else list(map(clean, found))\n    for"
)
NESTED = BASE.replace(
    'rows = store.fetch(key, limit=limit, order="up")',
    'rows = [clean(row) for row in reversed(store.fetch(key, limit=limit, order="up"))]',
)
COPIED = BASE.replace(
    "    for", '    most = len(store.fetch(key, limit=limit, order="up"))\n    for'
).replace("None, rows", "most, rows")
GATHERED = BASE.replace(
    "    for row in store.rows:\n        path = join(row, key)\n",
    "    paths = [join(row, key) for row in store.rows]\n    for path in paths:\n",
)
MORE = BASE.replace("in store.rows", "in store.rows + store.others")


@pytest.mark.parametrize("moved", [NAMED, NESTED, COPIED], ids=["named", "nested", "copied"])
def test_an_argument_is_added_where_the_other_side_has_the_call(moved):
    """Also in a copy, since the side that adds it changes each call."""
    merged = both_ways(BASE, LATER, moved)
    assert merged == moved.replace("limit):", "limit, deep=False):").replace(
        '"up")', '"up", deep=deep)'
    )


def test_the_items_of_a_loop_are_changed_where_it_became_a_comprehension():
    """Otherwise they would be added to those of the new loop."""
    merged = both_ways(BASE, MORE, GATHERED)
    assert merged == GATHERED.replace("in store.rows", "in store.rows + store.others")


SUSPENDED = BASE.replace("def", "async def").replace("limit=limit", "limit=await limit")
NOT_FOLLOWING = {
    "uses a variable that its side sets": (
        BASE.replace('"up")', '"up", deep=deep)').replace(
            "    rows =", "    deep = key[0]\n    rows ="
        ),
        NAMED,
    ),
    "uses a variable that the other side has as well": (
        LATER,
        NAMED.replace("list(map(clean, found))", "[deep for deep in found]"),
    ),
    "uses a parameter that the other side sets": (
        BASE.replace('"up")', '"up", most=size)'),
        NAMED.replace("    found", "    size = size or 1\n    found"),
    ),
    "uses a parameter that the other side removes": (
        BASE.replace('"up")', '"up", most=size)'),
        NAMED.replace("size, ", ""),
    ),
    "uses what the other side may no longer import": (
        BASE.replace('"up")', '"up", most=config.most)'),
        NAMED,
    ),
    "is not in each call": (
        LATER.replace("    for", '    other = store.fetch(key, limit=limit, order="up")\n    for'),
        NAMED,
    ),
    "calls a function": (
        LATER.replace("deep=deep", "deep=deep()"),
        COPIED,
    ),
    "waits": (
        SUSPENDED.replace("limit=await limit", "limit=limit, most=await store"),
        NESTED.replace("def", "async def"),
    ),
    "replaces an argument": (BASE.replace('"up"', '"down"'), NAMED),
    "adds an element to a short call": (
        BASE.replace("join(row, key)", "join(row, key, limit)"),
        BASE.replace("join(row, key)", "clean(join(row, key))"),
    ),
}


@pytest.mark.parametrize(("side", "other"), NOT_FOLLOWING.values(), ids=NOT_FOLLOWING)
def test_an_addition_to_a_call_does_not_follow_if_it(side, other):
    """It could mean something else there, or would be a guess."""
    base = BASE.replace("def", "async def") if "await" in side else BASE
    for sides in ((side, other), (other, side)):
        assert replay("a.py", tuple(map(str.encode, (base, *sides)))) is None


NO_LOOP = {
    "the other side uses the items otherwise": (
        MORE,
        GATHERED.replace("    for path", "    assert len(paths) == len(store.rows)\n    for path"),
    ),
    "its side makes other values of the items": (
        MORE.replace("        path", "        row = clean(row)\n        path"),
        GATHERED,
    ),
    "the loop has other variables": (MORE.replace("for row in", "for row, _ in"), GATHERED),
    "the other side has the loop twice": (
        MORE,
        GATHERED.replace("    for path", "    names = [row for row in store.rows]\n    for path"),
    ),
}


@pytest.mark.parametrize(("side", "other"), NO_LOOP.values(), ids=NO_LOOP)
def test_the_items_of_a_loop_do_not_follow_if(side, other):
    """The comprehension is no longer the same loop."""
    for sides in ((side, other), (other, side)):
        assert replay("a.py", tuple(map(str.encode, (BASE, *sides)))) is None


def test_a_merge_of_the_versions_as_they_are_is_not_judged_by_refactored_ones():
    """There, the side that changed the items seems to have left them."""
    wrong = "for path in paths + store.others:"
    assert wrong not in (both_ways(BASE, MORE, GATHERED) or "")

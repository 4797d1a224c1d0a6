"""Patches, brute force and a runner for the tests of landing plans."""

from itertools import combinations, permutations

from hypothesis import strategies as st

import cooperbench_eval as ce
from cooperbench_eval.running.results import TestCase, TestResult

LINES = [b"one\n", b"two\n", b"three\n", b"four\n", b"five\n", b"six\n", b"seven\n", b"eight\n"]
BASE = ce.Snapshot.from_files(
    {"a": b"".join(LINES), "b": b"".join(reversed(LINES)), "d/c": b"x = 1\n" * 5}
)


@st.composite
def overlays(draw, most_files=2):
    """Changes of a few lines of one or two files; some add, remove or rename a file."""
    entries = {}
    for path in draw(st.sets(st.sampled_from(["a", "b", "d/c"]), max_size=most_files)):
        lines = BASE.read(path).splitlines(keepends=True)
        at = draw(st.integers(0, len(lines) - 1))
        new = draw(st.sampled_from([[], [b"new\n"], [b"new\n", lines[at]], [b"other\n"]]))
        lines[at : at + draw(st.integers(0, 2))] = new
        entries[path] = ce.Entry(b"".join(lines))
    kind = draw(st.sampled_from(["", "", "", "add", "remove", "rename", "folder"]))
    if kind == "add":
        entries["e"] = ce.Entry(draw(st.sampled_from([b"e\n", b"f\n"])))
    elif kind == "remove":
        entries["b"] = None
    elif kind == "rename":
        entries |= {"a": None, "moved": ce.Entry(BASE.read("a"))}
    elif kind == "folder":
        entries |= {"d": ce.Entry(b"a file\n"), "d/c": None}
    return ce.Changes(entries)


STRATEGIES = {name: ce.get_strategy(name) for name in ("naive", "tokens", "union")}
PATCHES = st.lists(overlays(), min_size=1, max_size=4)


def usable(patches, with_suites=()):
    """Return the patches that change something, without duplicates, by number.

    Of equal patches, all that have a suite count, or else the first one.
    """
    alike = {}
    for number, changes in enumerate(patches, 1):
        alike.setdefault(changes.tree_id(BASE), []).append(number)
    alike.pop(BASE.tree_id, None)
    kept = {n for each in alike.values() for n in set(each) & set(with_suites) or each[:1]}
    return {number: patches[number - 1] for number in sorted(kept)}


def fold(changes, order, strategy, known=None):
    """Return the tree of an order; `None` if a merge is not complete."""
    result = folded(changes, tuple(order), strategy, {} if known is None else known)
    return None if result is None else result.tree_id(BASE)


def folded(changes, order, strategy, known):
    if len(order) == 1:
        return changes[order[0]]
    if order not in known:
        so_far = folded(changes, order[:-1], strategy, known)
        known[order] = None
        if so_far is not None:
            outcome = ce.merge(BASE, so_far, changes[order[-1]], strategy=STRATEGIES[strategy])
            if outcome.status in {ce.MergeStatus.CLEAN, ce.MergeStatus.RESOLVED}:
                known[order] = outcome.changes
    return known[order]


def brute_force(changes, strategy, orders_of=permutations):
    """Return for each set the tree of each of its orders."""
    known = {}
    return {
        frozenset(patches): {
            order: fold(changes, order, strategy, known) for order in orders_of(patches)
        }
        for size in range(1, len(changes) + 1)
        for patches in combinations(changes, size)
    }


def trees(orders):
    return set(orders.values()) - {None}


def minimal(sets):
    return sorted(tuple(sorted(each)) for each in sets if not any(part < each for part in sets))


class FakeRunner:
    """Decides each suite by the tree alone, and as it likes."""

    def __init__(self, decide, flaky=()):
        self.decide, self.flaky, self.asked = decide, flaky, []

    def run(self, base, changes, suite, *, number=1):
        tree = changes.tree_id(base)
        self.asked.append((tree, suite, number))
        passed = self.decide(tree, suite.command[0])
        if suite.command[0] in self.flaky and number == 1:
            passed = False
        status = "passed" if passed else "failed"
        case = TestCase(id=f"test_{suite.command[0]}", status=status)
        return TestResult(status=status, cases=[case], exit_code=0 if passed else 1)


def suite(name):
    return ce.TestSuite(command=(name,), framework="exit")

"""Compares merges of random criss-cross histories with `git merge-tree`.

    python benchmarks/random_histories.py [--count N] [--seed N] [--first N]

Each history has two or three branches that merge each other again and again. So their heads
have several merge bases, and these may themselves have several. Times of commits are often
equal, and a parent is sometimes later than its child. The trees are those of
`random_trees.py`. The merge of the first two heads must have git's verdict, tree and unmerged
stages, and the merge bases must be those of `git merge-base --all`. Differences that
`docs/explanation/parity.md` explains are counted by their scenario. All others are printed
with their number, so that `--first NUMBER --count 1` repeats one; the exit status is then 1.
"""

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from attrs import evolve, frozen
from merged_trees import Case, Merged, Tree, difference, explain
from random_trees import Git, TreeMaker, imported_files

from cooperbench_eval import Changes, Snapshot
from cooperbench_eval.git.merging.merge_base import History, merge_bases
from cooperbench_eval.git.merging.three_way_merge import Labels
from cooperbench_eval.git.merging.tree_merge import merge_changes

_BATCH = 250


@frozen
class Commit:
    """A commit of a random history; its parents are numbers of earlier commits."""

    tree: Tree
    parents: tuple[int, ...]
    time: int


@frozen
class RandomHistory:
    """Commits, of which the last two are to be merged."""

    number: int
    commits: tuple[Commit, ...]

    def name(self, commit: int) -> str:
        """Return the branch on which git has a commit."""
        return f"h{self.number}c{commit}"

    @property
    def sides(self) -> tuple[str, str]:
        """The branches to merge."""
        last = len(self.commits) - 1
        return self.name(last - 1), self.name(last)


class HistoryMaker:
    """Makes one history from a seed."""

    def __init__(self, seed: str) -> None:
        """Draw what the history consists of."""
        self._random = random.Random(seed)  # noqa: S311 - reproducible data, not a secret
        self._trees = TreeMaker(seed)
        self._commits: list[Commit] = []
        self._skew = self._random.choice([0, 0, 0, 5])
        self._step = self._random.choice([0, 1, 1])

    def make(self, number: int) -> RandomHistory:
        """Make branches that merge each other, and return them with two final commits."""
        roots = 1 if self._random.random() < 0.95 else 2  # noqa: PLR2004
        starts = [self._commit(self._trees.make_tree(), ()) for _ in range(roots)]
        count = self._random.choice([2, 2, 2, 3])
        heads = [self._child(starts[n % roots]) for n in range(count)]
        for _ in range(self._random.choice([1, 1, 2, 2, 3, 4])):
            self._cross(heads)
        for n in (0, 1):
            self._child(heads[n])
        return RandomHistory(number, tuple(self._commits))

    def _cross(self, heads: list[int]) -> None:
        """Let two branches merge each other's heads, or only one of them."""
        one, other = self._random.sample(range(len(heads)), 2)
        before = list(heads)
        heads[one] = self._merge(before[one], before[other])
        if self._random.random() < 0.8:  # noqa: PLR2004
            heads[other] = self._merge(before[other], before[one])
        for n in (one, other):
            if self._random.random() < 0.7:  # noqa: PLR2004
                heads[n] = self._child(heads[n])

    def _merge(self, into: int, other: int) -> int:
        """Add a merge of two commits, whose tree takes paths of both at random."""
        mine, yours = self._commits[into].tree, self._commits[other].tree
        tree: Tree = {}
        for path in sorted({**mine, **yours}, key=lambda _: self._random.random()):
            source = self._random.choice([mine, mine, yours])
            if path in source and not _clashes(tree, path):
                tree[path] = source[path]
        if self._random.random() < 0.3:  # noqa: PLR2004
            tree = self._trees.make_side(tree)
        return self._commit(tree, (into, other))

    def _child(self, parent: int) -> int:
        return self._commit(self._trees.make_side(self._commits[parent].tree), (parent,))

    def _commit(self, tree: Tree, parents: tuple[int, ...]) -> int:
        time = 1000 + self._step * len(self._commits) - self._random.randint(0, self._skew)
        self._commits.append(Commit(tree, parents, time))
        return len(self._commits) - 1


def _clashes(tree: Tree, place: str) -> bool:
    return any(p.startswith(place + "/") or place.startswith(p + "/") for p in tree)


def imported(histories: Iterable[RandomHistory]) -> Iterator[bytes]:
    """Yield the input of `git fast-import` that makes the commits of each history."""
    for history in histories:
        for number, commit in enumerate(history.commits):
            yield b"commit refs/heads/%b\n" % history.name(number).encode()
            yield b"committer Ann <ann@example.org> %d +0000\n" % commit.time
            # Without different messages, equal commits would be one commit.
            message = history.name(number).encode()
            yield b"data %d\n%b\n" % (len(message), message)
            for word, parent in zip(("from", "merge"), commit.parents, strict=False):
                yield b"%b refs/heads/%b\n" % (word.encode(), history.name(parent).encode())
            if commit.parents:
                yield b"deleteall\n"
            yield from imported_files(commit.tree)


def merge_with_us(history: History, sides: tuple[str, str]) -> tuple[Case, Merged] | None:
    """Merge two branches with the library; `None` if they have no common ancestor."""
    one, other = map(history.find, sides)
    base = history.merge_base([one], [other])
    if base is None:
        return None
    ours, theirs = history.snapshot(one), history.snapshot(other)
    merge = merge_changes(
        base,
        Changes.between(base, ours),
        Changes.between(base, theirs),
        Labels(ours=sides[0], theirs=sides[1]),
    )
    merged = base.overlay(merge.changes)
    stages = sorted((s.path, s.number, int(s.entry.mode), s.entry.id) for s in merge.stages)
    case = Case(number=0, base=_files(base), ours=_files(ours), theirs=_files(theirs))
    return case, Merged(
        tree=merged.tree_id,
        clean=not merge.conflicts,
        stages=tuple(stages),
        files={path: each.id for path, each in _files(merged).items()},
    )


def _files(tree: Snapshot) -> Tree:
    return {path: each for path in tree.paths() if (each := tree.get(path))}


def compare(histories: Sequence[RandomHistory], counts: Counter[str]) -> None:
    """Merge the heads of each history with git and the library, and count how they compare."""
    with tempfile.TemporaryDirectory() as folder:
        git = Git(Path(folder))
        git.load(b"".join(imported(histories)))
        found = git.merge_pairs([each.sides for each in histories])
        reader = History(folder)
        for history, theirs in zip(histories, found, strict=True):
            counts["histories"] += 1
            compare_one(git, reader, history, theirs, counts)


def compare_one(
    git: Git, reader: History, history: RandomHistory, theirs: Merged | None, counts: Counter[str]
) -> None:
    """Compare one history."""
    wanted = git.merge_bases(*history.sides)
    one, other = map(reader.find, history.sides)
    bases = merge_bases(reader.commit, one, [other])
    counts[f"with {min(len(wanted), 3)}{'+' * (len(wanted) >= 3)} merge bases"] += 1  # noqa: PLR2004
    if bases != wanted:
        counts["unexplained merge bases"] += 1
        print(f"  merge bases: --first {history.number} --count 1", flush=True)
    mine = merge_with_us(reader, history.sides)
    if theirs is None or mine is None:
        counts["git crashed" if mine else "unrelated"] += 1
        return
    case, ours = mine
    counts["clean" if theirs.clean else "conflicting"] += 1
    wrong = difference(ours, theirs)
    if not wrong:
        counts["equal"] += 1
    elif gap := explain(case, ours, evolve(theirs, files=git.files_of(theirs.tree))):
        counts[f"explained by {gap}"] += 1
    else:
        counts[f"unexplained {wrong}"] += 1
        print(f"  {wrong}: --first {history.number} --count 1", flush=True)


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000, help="number of histories")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first history")
    options = parser.parse_args()
    counts = Counter[str]()
    numbers = range(options.first, options.first + options.count)
    for start in range(0, len(numbers), _BATCH):
        part = numbers[start : start + _BATCH]
        compare([HistoryMaker(f"{options.seed}-{n}").make(n) for n in part], counts)
    for name, count in sorted(counts.items()):
        print(f"{name:<50}{count:>8}")
    sys.exit(any(name.startswith("unexplained") for name in counts))


if __name__ == "__main__":
    main()

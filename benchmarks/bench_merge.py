"""Times the merge core against `git merge-tree` and libgit2, and its worst cases.

    python benchmarks/bench_merge.py --dataset DIR --repos DIR [--task NAME/ID ...] [--rounds N]

Each gold pair, patches already applied, is merged and scored by the library, and
its trees are merged by one `git merge-tree --write-tree` process and by pygit2's
`merge_trees`. Each engine goes over all pairs of a task by itself, as in an
evaluation, the engines in turn; ratios are of medians in this one run. *first* is the
first merge of a pair with nothing cached, *again* one whose line diffs are known
from other pairs, as in an evaluation of a task. Then: repositories of 100 and of
100,000 untouched files, and files made to be slow.
"""

import argparse
import pickle
import random
import statistics
import subprocess
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pygit2
from attrs import astuple, frozen
from repositories import Scratch, add_dataset_options, tasks_with_bases

from cooperbench_eval import Changes, ConflictScorer, Entry, Snapshot, Task, apply_patch
from cooperbench_eval.merging.tree import merge_changes


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds that *work* takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def merge_and_score(base: Snapshot, ours: Changes, theirs: Changes) -> int:
    """Merge naively and score: the work that is timed."""
    merge = merge_changes(base, ours, theirs)
    return ConflictScorer().score(merge.conflicts).conflict_score


def merge_cold(base: Snapshot, ours: Changes, theirs: Changes) -> int:
    """Do the same with nothing cached."""
    return merge_and_score(pickle.loads(pickle.dumps(base)), ours, theirs)  # noqa: S301 - ours


@frozen
class Times:
    """One pair's times in seconds."""

    first: float
    again: float
    git: float
    libgit2: float


def time_task(task: Task, base: Snapshot, source: Path, rounds: int) -> list[Times]:
    """Time every pair of a task; each engine goes over all pairs in its own passes."""
    sides = {n: apply_patch(base, task.gold_patch(n)).changes for n in task.features}
    with tempfile.TemporaryDirectory() as folder:
        scratch = Scratch(folder, source)
        root = scratch.commit(base, Changes(), [])
        commits = {n: scratch.commit(base, side, [root]) for n, side in sides.items()}
        trees = {n: scratch.repository[c].peel(pygit2.Tree) for n, c in commits.items()}
        ancestor = scratch.repository[root].peel(pygit2.Tree)
        git = ["git", "-C", folder, "merge-tree", "--write-tree"]
        quiet = {"capture_output": True, "check": False}
        pairs = [(second, first) for first, second in task.pairs]
        merges = scratch.repository.merge_trees
        passes: list[list[Callable[[], object]]] = [
            [partial(merge_cold, base, sides[o], sides[t]) for o, t in pairs],
            [partial(merge_and_score, base, sides[o], sides[t]) for o, t in pairs],
            [partial(subprocess.run, [*git, commits[o], commits[t]], **quiet) for o, t in pairs],
            [partial(merges, ancestor, trees[o], trees[t]) for o, t in pairs],
        ]
        for work in passes[1]:
            work()
        runs = [[[seconds(work) for work in works] for works in passes] for _ in range(rounds)]
    return [
        median_of([Times(*(engine[place] for engine in run)) for run in runs])
        for place in range(len(pairs))
    ]


def median_of(runs: list[Times]) -> Times:
    """Return the median of each column."""
    return Times(*map(statistics.median, zip(*map(astuple, runs), strict=True)))


def show(name: str, times: list[Times]) -> None:
    """Print one line: medians in milliseconds, and ratios."""
    middle = median_of(times)
    columns = (middle.first, middle.again, middle.git, middle.libgit2)
    milliseconds = "".join(f"{1000 * value:9.3f}" for value in columns)
    ratios = (
        statistics.median(t.git / t.first for t in times),
        statistics.median(t.git / t.again for t in times),
        statistics.median(t.libgit2 / t.first for t in times),
        statistics.median(t.libgit2 / t.again for t in times),
    )
    print(f"{name:<38}{len(times):>5}{milliseconds}" + "".join(f"{r:9.1f}" for r in ratios))


def growth(files: int) -> tuple[float, int]:
    """Merge one small pair over a base of *files*; return median seconds and peak bytes."""
    text = b"".join(b"line %d\n" % number for number in range(300))
    tree = {f"d{n // 1000}/f{n}.txt": b"%d\n" % n for n in range(files)} | {"d0/touched.py": text}
    with tempfile.TemporaryDirectory() as folder:
        repository = pygit2.init_repository(folder, bare=True)
        index = pygit2.Index()
        for path, data in tree.items():
            blob = repository.create_blob(data)
            index.add(pygit2.IndexEntry(path, blob, pygit2.enums.FileMode.BLOB))
        base = Snapshot.from_repo(folder, str(index.write_tree(repository)))
        ours = Changes({"d0/touched.py": Entry(text.replace(b"line 7\n", b"ours\n"))})
        theirs = Changes({"d0/touched.py": Entry(text.replace(b"line 7\n", b"theirs\n"))})
        times = [seconds(lambda: merge_and_score(base, ours, theirs)) for _ in range(50)]
        tracemalloc.start()
        merge_and_score(base, ours, theirs)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return statistics.median(times), peak


def worst_cases() -> dict[str, tuple[bytes, bytes, bytes]]:
    """Return base, ours and theirs of files made to be slow."""
    random_lines = random.Random(0)  # noqa: S311 - reproducible data, not a secret
    lines = [b"%d\n" % random_lines.randrange(10**9) for _ in range(50_000)]

    def rewrite(word: bytes) -> bytes:
        return b"".join(word + line for line in lines)

    def shuffle() -> bytes:
        return b"".join(random_lines.sample(lines, len(lines)))

    same = b"the same line\n"
    return {
        "50,000 lines, both rewrite all": (b"".join(lines), rewrite(b"o"), rewrite(b"t")),
        "50,000 lines, both shuffle all": (b"".join(lines), shuffle(), shuffle()),
        "one line 100,000 times, both cut": (same * 100_000, same * 60_000, same * 70_000),
        "one line 100,000 times, both mix": (
            same * 100_000,
            b"".join(same + b"%d\n" % n for n in range(50_000)),
            b"".join(b"%d\n" % n + same for n in range(50_000)),
        ),
    }


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_dataset_options(parser, required=False)
    parser.add_argument("--task", action="append", help="such as pallets_click_task/2068")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.dataset and options.repos:
        print(
            f"{'milliseconds, then times faster':<38}{'pairs':>5}{'first':>9}{'again':>9}{'git':>9}"
            f"{'libgit2':>9}{'git/1st':>9}{'git/ag':>9}{'lg2/1st':>9}{'lg2/ag':>9}"
        )
        everything: list[Times] = []
        for name, task, base in tasks_with_bases(options, options.task):
            times = time_task(task, base, Path(str(base.location)), options.rounds)
            show(name, times)
            everything += times
        show("all", everything)
    for files in (100, 100_000):
        middle, peak = growth(files)
        print(f"{files:>7} untouched files: {1000 * middle:7.3f} ms, peak {peak / 1024:7.0f} KiB")
    for name, (old, ours, theirs) in worst_cases().items():
        base = Snapshot.from_files({"f": old})
        sides = Changes({"f": Entry(ours)}), Changes({"f": Entry(theirs)})
        took = seconds(partial(merge_and_score, base, *sides))
        print(f"{name:<38}{took:7.2f} s")


if __name__ == "__main__":
    main()

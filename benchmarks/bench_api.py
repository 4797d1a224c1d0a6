"""Times the calls that a script makes, next to a git process and libgit2.

    python benchmarks/bench_api.py --dataset DIR --repos DIR [--task NAME/ID ...] [--rounds N]
    python benchmarks/bench_api.py --calls N

Each call is timed on all pairs (or patches) of a task. The calls take turns, and the medians are
of this run only. *first* is a call on a base whose caches are empty: it reads the base's files
from the repository, as git and libgit2 do. *again* is one whose base, patches and sides were
used before, also by other pairs. *git* is a `git merge-tree --write-tree` process, for patches
`git read-tree` and `git apply --cached`; *libgit2* is pygit2's `merge_trees`.

Then it times repositories of 100 and of 100,000 untouched files, and files that are slow to
merge. With `--calls`, it prints the memory after 1000 different calls, and after N, instead.
"""

import argparse
import os
import random
import statistics
import subprocess
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pygit2
from attrs import frozen
from repositories import Scratch, add_dataset_options, tasks_with_bases, untested_gold_pairs

import cooperbench_eval as ce

Work = Callable[[], object]


def seconds(work: Work) -> float:
    """Return the seconds that *work* takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def new(base: ce.Snapshot) -> ce.Snapshot:
    """Return an equal base with empty caches."""
    return ce.Snapshot.from_repo(str(base.location), base.commit_id or base.tree_id)


@frozen
class Row:
    """One kind of call.

    Attributes:
        name: What is called.
        makers: Each prepares a call and returns it; only the returned call is timed.
        is_again: Whether to make every call once before it is timed. Other rows use so many
            bases that this base may have lost its caches.
    """

    name: str
    makers: Sequence[Callable[[], Work]]
    is_again: bool = False

    def times(self) -> list[float]:
        """Time every call once."""
        if self.is_again:
            for maker in self.makers:
                maker()()
        return [seconds(maker()) for maker in self.makers]


def again(name: str, works: Sequence[Work], *, is_again: bool = True) -> Row:
    """Return a row of calls that need no preparation."""
    return Row(name, [partial(lambda work: work, work) for work in works], is_again)


def rows_of(task: ce.Task, base: ce.Snapshot, folder: str) -> list[Row]:
    """Return the calls for a task."""
    patches = [task.gold_patch(number) for number in task.features]
    sides = {n: ce.apply_patch(base, task.gold_patch(n)).changes for n in task.features}
    pairs = [(sides[second], sides[first]) for first, second in task.pairs]
    groups = untested_gold_pairs(task, base)
    naive, evaluator = ce.get_strategy("naive"), ce.Evaluator(strategies=["naive", "union"])

    def first(strategy: str | ce.MergeStrategy) -> list[Callable[[], Work]]:
        def maker(ours: ce.Changes, theirs: ce.Changes) -> Work:
            return partial(ce.merge, new(base), ours, theirs, strategy=strategy)

        return [partial(maker, *pair) for pair in pairs]

    def repeated(strategy: str | ce.MergeStrategy) -> list[Work]:
        return [partial(ce.merge, base, *pair, strategy=strategy) for pair in pairs]

    def parsed(patch: ce.Patch) -> ce.ApplyResult:
        return ce.apply_patch(base, ce.Patch.parse(patch.data))

    def placed_first(patch: ce.Patch) -> Work:
        return partial(ce.apply_patch, new(base), patch)

    return [
        Row("merge by name, first", first("naive")),
        again("merge by name, again", repeated("naive")),
        Row("merge by object, first", first(naive)),
        again("merge by object, again", repeated(naive)),
        again("merge, union, again", repeated("union")),
        again("merge, structured, again", repeated("structured")),
        *merges_of_others(task, base, sides, folder),
        again("Evaluator of two names", [partial(ce.Evaluator, strategies=["naive", "union"])]),
        again("cascade of three names", [partial(ce.cascade, "structured", "tokens", "union")]),
        again("evaluate, again", [partial(evaluator.evaluate, each) for each in groups]),
        Row("apply_patch, first", [partial(placed_first, each) for each in patches]),
        again("apply_patch, again", [partial(ce.apply_patch, base, each) for each in patches]),
        again("apply_patch from bytes, again", [partial(parsed, each) for each in patches]),
        again(
            "git read-tree, apply",
            [git_apply(folder, base, each) for each in patches],
            is_again=False,
        ),
    ]


def merges_of_others(
    task: ce.Task, base: ce.Snapshot, sides: dict[int, ce.Changes], folder: str
) -> list[Row]:
    """Return the merges by git and by libgit2; the commits are written to a scratch repository."""
    scratch = Scratch(folder, Path(str(base.location)))
    root = scratch.commit(base, ce.Changes(), [])
    commits = {n: scratch.commit(base, side, [root]) for n, side in sides.items()}
    trees = {n: scratch.repository[c].peel(pygit2.Tree) for n, c in commits.items()}
    ancestor = scratch.repository[root].peel(pygit2.Tree)
    merges = scratch.repository.merge_trees
    git = ["git", "-C", folder, "merge-tree", "--write-tree"]
    works = [partial(run, [*git, commits[ours], commits[theirs]]) for theirs, ours in task.pairs]
    calls = [partial(merges, ancestor, trees[ours], trees[theirs]) for theirs, ours in task.pairs]
    return [
        again("git merge-tree", works, is_again=False),
        again("libgit2 merge_trees", calls),
    ]


def run(command: Sequence[str], **options: Any) -> None:
    """Run git; a merge with conflicts is not an error."""
    subprocess.run(command, capture_output=True, check=False, **options)


def git_apply(folder: str, base: ce.Snapshot, patch: ce.Patch) -> Work:
    """Return a call that applies a patch to the base in an index."""
    environment = os.environ | {"GIT_INDEX_FILE": f"{folder}/index"}

    def work() -> None:
        run(["git", "-C", folder, "read-tree", base.tree_id], env=environment)
        run(["git", "-C", folder, "apply", "--cached"], env=environment, input=patch.data)

    return work


def measure_task(
    name: str, task: ce.Task, base: ce.Snapshot, rounds: int
) -> dict[str, list[float]]:
    """Print the medians of one task; return all times."""
    with tempfile.TemporaryDirectory() as folder:
        rows = rows_of(task, base, folder)
        for row in rows:
            row.times()  # fills the caches
        found: dict[str, list[float]] = {row.name: [] for row in rows}
        for _ in range(rounds):
            for row in rows:
                found[row.name] += row.times()
    show(name, found)
    return found


def show(name: str, times: dict[str, list[float]]) -> None:
    """Print one line for each call."""
    middle = {call: statistics.median(each) for call, each in times.items()}
    print(f"{name:<38}{'ms':>9}{'x libgit2':>11}{'x git':>9}")
    for call, each in middle.items():
        git = middle["git read-tree, apply" if "apply" in call else "git merge-tree"]
        library = "" if "apply" in call else f"{middle['libgit2 merge_trees'] / each:11.1f}"
        print(f"  {call:<36}{1000 * each:9.3f}{library:>11}{git / each:9.1f}")


# --- memory ---------------------------------------------------------------------------


def megabytes() -> float:
    """Return the memory that this process has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def use(start: int, calls: int) -> None:
    """Make different calls: new bases, patches and sides."""
    text = b"".join(b"line %d\n" % number for number in range(200))
    base = ce.Snapshot.from_files({"f": text})
    for number in range(start, start + calls):
        if number % 50 == 0:
            base = ce.Snapshot.from_files({"f": text + b"%d\n" % number})
        old = base.read("f")
        ours = ce.Changes({"f": ce.Entry(old.replace(b"line 1\n", b"ours %d\n" % number))})
        patch = "--- a/f\n+++ b/f\n@@ -100,3 +100,3 @@\n line 99\n-line 100\n"
        patch += f"+theirs {number}\n line 101\n"
        theirs = ce.apply_patch(base, ce.Patch.parse(patch)).changes
        ce.merge(base, ours, theirs, strategy="naive").tree_id(base)


def measure_memory(calls: int) -> None:
    """Print the memory after a thousand calls, and after as many as asked for."""
    done = 0
    for goal in (1000, calls):
        began = time.perf_counter()
        use(done, goal - done)
        took = (time.perf_counter() - began) / max(goal - done, 1)
        print(f"{goal:>10,} calls: {megabytes():7.1f} MB, {1000 * took:.3f} ms each")
        done = goal


# --- size and shape -------------------------------------------------------------------


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
        base = ce.Snapshot.from_repo(folder, str(index.write_tree(repository)))
        ours = ce.Changes({"d0/touched.py": ce.Entry(text.replace(b"line 7\n", b"ours\n"))})
        theirs = ce.Changes({"d0/touched.py": ce.Entry(text.replace(b"line 7\n", b"theirs\n"))})
        times = [seconds(partial(ce.merge, new(base), ours, theirs)) for _ in range(50)]
        tracemalloc.start()
        ce.merge(new(base), ours, theirs)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return statistics.median(times), peak


def worst_cases() -> dict[str, tuple[bytes, bytes, bytes]]:
    """Return base, ours and theirs of files that are slow to merge."""
    random_lines = random.Random(0)  # noqa: S311 - reproducible data, not a secret
    lines = [b"%d\n" % random_lines.randrange(10**9) for _ in range(50_000)]

    def rewrite(word: bytes) -> bytes:
        return b"".join(word + line for line in lines)

    def shuffle() -> bytes:
        return b"".join(random_lines.sample(lines, len(lines)))

    same = b"the same line\n"
    often = b"".join(b"line %d\n" % (n % 1000) for n in range(20_000))
    return {
        "50,000 lines, both rewrite all": (b"".join(lines), rewrite(b"o"), rewrite(b"t")),
        "50,000 lines, both shuffle all": (b"".join(lines), shuffle(), shuffle()),
        "one line 100,000 times, both cut": (same * 100_000, same * 60_000, same * 70_000),
        "one line 100,000 times, both mix": (
            same * 100_000,
            b"".join(same + b"%d\n" % n for n in range(50_000)),
            b"".join(b"%d\n" % n + same for n in range(50_000)),
        ),
        "each line 20 times, one change each": (often, b"ours\n" + often, often + b"theirs\n"),
    }


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_dataset_options(parser, required=False)
    parser.add_argument("--task", action="append", help="such as pallets_click_task/2068")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, help="measure the memory of that many calls instead")
    options = parser.parse_args()
    if options.calls:
        measure_memory(options.calls)
        return
    if options.dataset and options.repos:
        everything: dict[str, list[float]] = {}
        for name, task, base in tasks_with_bases(options, options.task):
            for call, times in measure_task(name, task, base, options.rounds).items():
                everything.setdefault(call, []).extend(times)
        show("all", everything)
    for files in (100, 100_000):
        middle, peak = growth(files)
        print(f"{files:>7} untouched files: {1000 * middle:7.3f} ms, peak {peak / 1024:7.0f} KiB")
    for name, (old, ours, theirs) in worst_cases().items():
        sides = ce.Changes({"f": ce.Entry(ours)}), ce.Changes({"f": ce.Entry(theirs)})
        took = seconds(partial(ce.merge, ce.Snapshot.from_files({"f": old}), *sides))
        print(f"{name:<38}{took:7.2f} s")


if __name__ == "__main__":
    main()

"""Times reading and applying patches against `git apply`, and their worst cases.

    python benchmarks/bench_patches.py --dataset DIR --repos DIR [--task NAME/ID ...] [--rounds N]

Each gold feature patch is parsed and applied by the library, the base's files read
before, and applied by one `git apply --cached --ignore-whitespace` process on an index
of the same base, which is not timed. Each engine goes over all patches of a task by
itself, the engines in turn; a ratio is of one patch's medians in this one run, and the
table shows the middle and the worst of the ratios. Every tree is compared with git's.
The targets are a ratio of 5, a millisecond per patch, and equal trees. Then: a patch of
10 MB over 1,000 files, with a target of two seconds, and slow synthetic patches, each once.
"""

import argparse
import os
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import pygit2
from attrs import field, frozen
from repositories import Scratch, add_dataset_options, tasks_with_bases

from cooperbench_eval import Entry, Patch, Snapshot, Task, apply_patch
from cooperbench_eval.git.patching.patch_parts import ApplyPolicy, Rung

DEFAULT = ApplyPolicy()
FUZZY = ApplyPolicy(rungs=Rung)


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds that *work* takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


class Git:
    """The git program on an index of one tree, without the user's configuration."""

    def __init__(self, repository: Path, tree: str) -> None:
        """Read *tree* into an index in the bare *repository*."""
        self._folder = repository
        self._index = repository / "index"
        self._environment = os.environ | {
            "GIT_DIR": str(repository),
            "GIT_INDEX_FILE": str(self._index),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self._run("read-tree", tree)
        self._fresh = self._index.read_bytes()

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["git", *arguments],
            capture_output=True,
            check=False,
            cwd=self._folder,
            env=self._environment,
        )

    def apply(self, patch: Patch) -> tuple[float, str | None]:
        """Apply *patch*; return the seconds and the id of the tree, if it applied."""
        file = self._folder / "patch"
        file.write_bytes(patch.data)
        self._index.write_bytes(self._fresh)
        began = time.perf_counter()
        done = self._run("apply", "--cached", "--ignore-whitespace", str(file))
        took = time.perf_counter() - began
        if done.returncode:
            return took, None
        # The repository may be a partial clone, without files that the patch does not change.
        return took, self._run("write-tree", "--missing-ok").stdout.decode().strip()


# --- gold patches ---


@frozen
class Times:
    """One patch's times in seconds, and whether git leaves the same tree."""

    parse: float
    apply: float
    git: float
    is_same: bool = field(kw_only=True)


def time_task(task: Task, base: Snapshot, source: Path, rounds: int) -> list[Times]:
    """Time the gold patches of a task; each engine goes over all of them in its own passes."""
    patches = [task.gold_patch(number) for number in task.features]
    with tempfile.TemporaryDirectory() as folder:
        git = Git(Scratch(folder, source).path, base.tree_id)
        trees = [apply_patch(base, patch).changes.tree_id(base) for patch in patches]
        same = [git.apply(patch)[1] == tree for patch, tree in zip(patches, trees, strict=True)]
        runs: list[tuple[list[float], ...]] = [
            (
                [seconds(partial(Patch.parse, patch.data)) for patch in patches],
                [seconds(partial(apply_patch, base, patch)) for patch in patches],
                [git.apply(patch)[0] for patch in patches],
            )
            for _ in range(rounds)
        ]
    return [
        Times(
            *(statistics.median(run[engine][place] for run in runs) for engine in range(3)),
            is_same=is_same,
        )
        for place, is_same in enumerate(same)
    ]


HEADER = (
    f"{'milliseconds, then times faster':<38}{'patches':>8}{'parse':>9}{'apply':>9}{'slowest':>9}"
    f"{'git':>9}{'git/apply':>11}{'worst':>9}{'git/both':>10}{'same trees':>12}"
)


def show(name: str, times: list[Times]) -> None:
    """Print one line: medians and the slowest apply in milliseconds, ratios, trees."""
    columns = (
        statistics.median(t.parse for t in times),
        statistics.median(t.apply for t in times),
        max(t.apply for t in times),
        statistics.median(t.git for t in times),
    )
    ratios = [t.git / t.apply for t in times]
    both = statistics.median(t.git / (t.parse + t.apply) for t in times)
    print(
        f"{name:<38}{len(times):>8}"
        + "".join(f"{1000 * value:9.3f}" for value in columns)
        + f"{statistics.median(ratios):>11.1f}{min(ratios):>9.1f}{both:>10.1f}"
        + f"{sum(t.is_same for t in times):>7} of {len(times)}"
    )


# --- patches made up ---


@frozen(kw_only=True)
class Case:
    """A synthetic patch and the files to which it applies."""

    name: str
    files: dict[str, bytes]
    patch: bytes
    policy: ApplyPolicy = DEFAULT


def hunk(start: int, lines: Iterable[bytes]) -> bytes:
    """Write a hunk that starts at line *start* of both files."""
    body = list(lines)
    old, new = (sum(line[:1] != sign for line in body) for sign in (b"+", b"-"))
    return b"@@ -%d,%d +%d,%d @@\n" % (start, old, start, new) + b"".join(body)


def diff(path: str, hunks: Iterable[bytes]) -> bytes:
    """Write one file's part of a diff."""
    name = path.encode()
    header = b"diff --git a/%b b/%b\n--- a/%b\n+++ b/%b\n" % (name, name, name, name)
    return header + b"".join(hunks)


def numbered(count: int) -> list[bytes]:
    """Return distinct lines."""
    return [b"line %d of the file\n" % number for number in range(1, count + 1)]


def changed(lines: list[bytes], every: int, shift: int = 0) -> list[bytes]:
    """Return hunks that change one of *every* lines, stated *shift* lines away."""
    hunks = []
    for at in range(1, len(lines) - 1, every):
        before, line, behind = lines[at - 1 : at + 2]
        body = [b" " + before, b"-" + line, b"+new " + line, b" " + behind]
        hunks.append(hunk(at + shift, body))
    return hunks


def large_patch() -> Case:
    """Make a synthetic patch of 10 MB over 1,000 files."""
    chance = random.Random(0)  # noqa: S311 - reproducible data, not a secret
    files, parts = {}, []
    for number in range(1000):
        lines = [b"%056x\n" % chance.getrandbits(224) for _ in range(300)]
        hunks = []
        for at in range(1, 300, 30):
            before, old, behind = (
                lines[at : at + 3],
                lines[at + 3 : at + 9],
                lines[at + 9 : at + 12],
            )
            body = [b" " + line for line in before] + [b"-" + line for line in old]
            body += [b"+" + line[::-1].strip() + b"\n" for line in old]
            hunks.append(hunk(at + 1, body + [b" " + line for line in behind]))
        path = f"folder{number // 50}/file{number}.txt"
        files[path] = b"".join(lines)
        parts.append(diff(path, hunks))
    patch = b"".join(parts)
    return Case(name=f"{len(patch) / 1e6:.1f} MB over 1,000 files", files=files, patch=patch)


def worst_cases() -> Iterable[Case]:
    """Make synthetic patches that are slow to place."""
    file = numbered(100_000)
    whole = {"f": b"".join(file)}
    third = file[:33_334]
    mixed = [part for n in third for part in (b" " + n, b"-old " + n, b"+new " + n)]
    yield Case(
        name="one hunk of 100,000 lines",
        files={"f": b"".join(n + b"old " + n for n in third)},
        patch=diff("f", [hunk(1, mixed)]),
    )
    yield Case(
        name="10,000 hunks in one file",
        files=whole,
        patch=diff("f", changed(file, 10)),
    )
    yield Case(
        name="10,000 hunks, each 3 lines off",
        files=whole,
        patch=diff("f", changed(file, 10, 3)),
    )
    equal = b"the same line\n"
    nowhere = {"f": equal * 100_000}
    for length in (3, 1000):
        body = [b" " + equal] * length + [b"-another line\n", b"+new\n"] + [b" " + equal] * length
        yield Case(
            name=f"{length}+1+{length} lines that stand nowhere in 100,000",
            files=nowhere,
            patch=diff("f", [hunk(50_000, body)]),
        )
    body = [b" " + equal, b"-another line\n", b" " + equal]
    yield Case(
        name="100 hunks that stand nowhere in 100,000",
        files=nowhere,
        patch=diff("f", [hunk(900 * n, body) for n in range(1, 101)]),
    )
    shorter = file[:20_000]
    for length in (3, 99, 100):
        at = 10_000
        before, behind = shorter[at - length : at], shorter[at + 1 : at + 1 + length]
        body = [b" " + line for line in before] + [b"-" + shorter[at], b"+new\n"]
        body += [b" " + line for line in behind]
        body[length // 2] = b" not so in the file\n"
        yield Case(
            name=f"fuzzy, {length}+1+{length} lines in 20,000",
            files={"f": b"".join(shorter)},
            patch=diff("f", [hunk(at + 1 - length, body)]),
            policy=FUZZY,
        )


def measure(case: Case) -> None:
    """Print one line: seconds to parse, to apply, and git's."""
    base = Snapshot.from_files(case.files)
    parsing = seconds(partial(Patch.parse, case.patch))
    patch = Patch.parse(case.patch)
    for path in patch.paths:
        base.get(path)
    began = time.perf_counter()
    result = apply_patch(base, patch, case.policy)
    applying = time.perf_counter() - began
    with tempfile.TemporaryDirectory() as folder:
        repository = pygit2.init_repository(folder, bare=True)
        index = pygit2.Index()
        for path, data in case.files.items():
            mode = pygit2.enums.FileMode(int(Entry(data).mode))
            index.add(pygit2.IndexEntry(path, repository.create_blob(data), mode))
        git, tree = Git(Path(folder), str(index.write_tree(repository))).apply(patch)
    mine = result.changes.tree_id(base) if result.changes else None
    beside = "as" if mine == tree else "unlike"
    beside += " git" if case.policy == DEFAULT else " git, which is never fuzzy"
    print(
        f"{case.name:<46}{parsing:8.2f}{applying:8.2f}{parsing + applying:8.2f}{git:8.2f}"
        f"  {result.status}, {beside}",
        flush=True,
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_dataset_options(parser, required=False)
    parser.add_argument("--task", action="append", help="such as pallets_click_task/2068")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.dataset and options.repos:
        print(HEADER)
        everything: list[Times] = []
        for name, task, base in tasks_with_bases(options, options.task):
            times = time_task(task, base, Path(str(base.location)), options.rounds)
            show(name, times)
            everything += times
        show("all", everything)
    print(f"{'seconds':<46}{'parse':>8}{'apply':>8}{'both':>8}{'git':>8}")
    measure(large_patch())
    for case in worst_cases():
        measure(case)


if __name__ == "__main__":
    main()

"""Probes branches and worktrees of a large repository, and compares that with git.

    python benchmarks/bench_probe.py [--files N] [--rounds N] [--folder DIR] [--worktrees]

Makes a repository of 100,000 Python files in 5,000 folders, with packed objects, and eight branches
that each change 20 files, some of them the same ones. Prints the milliseconds of the first probe
in a fresh process, with and without the import of the library; of a probe after one branch moved;
and of `git merge-tree` for the same 36 merges, one process each. With --worktrees, it also prints
those of a probe of eight linked worktrees with uncommitted changes, and of `git status` in each of
them. Every number is the median of the rounds. The second column is the CPU time, child processes
included, which depends less on what else the machine does.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

BRANCHES = tuple(f"agent-{number}" for number in range(1, 9))
_TOUCHED = 17
_SHARED = 3
_HOT = 30
_FUNCTIONS = 8
_ROW = "{:56}{:>10}{:>10}"
_Times = tuple[float, float]
"""The milliseconds of wall time, and those of CPU time."""
_FIRST = """
import sys, time
begin = time.perf_counter()
import cooperbench_eval as ce
ce.probe
from cooperbench_eval.evaluation.probing.one_probe import Probing  # loaded by the first call
imported, used = time.perf_counter(), time.process_time()
ce.probe(sys.argv[1], sys.argv[2:])
done = time.perf_counter()
cpu = time.process_time() - used
print((imported - begin) * 1000, used * 1000, (done - imported) * 1000, cpu * 1000)
"""


def module(number: int, edit: str = "") -> bytes:
    """Return a module of eight functions; *edit* changes one of them."""
    functions = (
        f"\ndef f{number}_{k}(x):\n    y = x + {k}\n    return y * {number}"
        f"{edit if k == _FUNCTIONS // 2 else ''}\n\n"
        for k in range(_FUNCTIONS)
    )
    return f'"""Module {number}."""\n\n{"".join(functions)}'.encode()


def path(number: int) -> str:
    """Return where a module is: 20 in each folder, 100 folders in each package."""
    return f"src/package{number // 2000:03}/part{number // 20 % 100:02}/module{number:06}.py"


class Repository:
    """A large repository, made by `git fast-import`."""

    def __init__(self, folder: Path, files: int) -> None:
        """Make it; *folder* must not exist."""
        self.folder = folder
        self.files = files
        self._source = random.Random(1)  # noqa: S311 - not for secrets
        subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
        hot = self._source.sample(range(files), _HOT)
        with subprocess.Popen(
            ["git", "-C", folder, "fast-import", "--quiet"], stdin=subprocess.PIPE
        ) as importer:
            assert importer.stdin is not None  # noqa: S101 - a pipe
            commits = [self._commit("main", 1, range(files), "")]
            for mark, name in enumerate(BRANCHES, 2):
                commits.append(self._commit(name, mark, self._some(hot), f" + {mark}", parent=1))
            commits.append(self._commit("main", 99, self._some([]), " + 99", parent=1))
            for commit in commits:
                importer.stdin.writelines(commit)

    def _some(self, hot: list[int]) -> list[int]:
        found = self._source.sample(range(self.files), _TOUCHED)
        return found + self._source.sample(hot, _SHARED) if hot else found

    def _commit(
        self, name: str, mark: int, numbers: range | list[int], edit: str, parent: int = 0
    ) -> Iterator[bytes]:
        head = f"commit refs/heads/{name}\nmark :{mark}\ncommitter A <a@b> {mark} +0000\ndata 0\n"
        yield head.encode()
        if parent:
            yield f"from :{parent}\n".encode()
        for number in numbers:
            data = module(number, edit)
            yield f"M 100644 inline {path(number)}\ndata {len(data)}\n".encode() + data + b"\n"

    def git(self, *words: str, folder: Path | None = None) -> str:
        """Run git, and return what it prints; a merge with conflicts is not an error."""
        author = ("-c", "user.name=A", "-c", "user.email=a@b")
        done = subprocess.run(
            ["git", "-C", folder or self.folder, *author, *words],
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode > 1:
            raise ValueError(done.stderr)
        return done.stdout.strip()

    def move(self, name: str, round_: int) -> None:
        """Add a commit to a branch that changes one more file."""
        number = self._source.randrange(self.files)
        file = f"{name}\n{round_}\n"
        with tempfile.TemporaryDirectory() as folder:
            index = {**os.environ, "GIT_INDEX_FILE": f"{folder}/index"}
            for words in (
                ["read-tree", name],
                [
                    "update-index",
                    "--add",
                    "--cacheinfo",
                    f"100644,{self._blob(file)},{path(number)}",
                ],
            ):
                subprocess.run(["git", "-C", self.folder, *words], check=True, env=index)
            done = subprocess.run(
                ["git", "-C", self.folder, "write-tree"],
                check=True, env=index, capture_output=True, text=True,
            )  # fmt: skip
        commit = self.git("commit-tree", done.stdout.strip(), "-p", name, "-m", "more")
        self.git("update-ref", f"refs/heads/{name}", commit)

    def _blob(self, text: str) -> str:
        done = subprocess.run(
            ["git", "-C", self.folder, "hash-object", "-w", "--stdin"],
            check=True, input=text, capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout.strip()


def milliseconds(call: Callable[[], object]) -> _Times:
    """Return how long a call takes."""
    began, used = time.perf_counter(), sum(os.times()[:4])
    call()
    return (time.perf_counter() - began) * 1000, (sum(os.times()[:4]) - used) * 1000


def show(name: str, values: list[_Times]) -> _Times:
    """Print the medians of some milliseconds, and return them."""
    medians = tuple(map(statistics.median, zip(*values, strict=True)))
    print(_ROW.format(name, *(f"{each:.1f}" for each in medians)), flush=True)
    return medians[0], medians[1]


def show_ratio(name: str, one: _Times, other: _Times) -> None:
    """Print how many times as long something takes."""
    ratios = (f"{mine / its:.3f}" for mine, its in zip(one, other, strict=True))
    print(_ROW.format(name, *ratios), flush=True)


def merges(repository: Repository) -> None:
    """Do the merges of a probe with git."""
    for one, other in (*combinations(BRANCHES, 2), *(("main", each) for each in BRANCHES)):
        repository.git("merge-tree", "--write-tree", one, other)


def bench_branches(repository: Repository, rounds: int) -> None:
    """Print the times of probes of branches, and of git's merges."""
    import cooperbench_eval as ce  # noqa: PLC0415 - its import is measured in other processes

    words = [sys.executable, "-c", _FIRST, str(repository.folder), *BRANCHES]
    fresh = [
        [float(each) for each in subprocess.check_output(words, text=True).split()]
        for _ in range(rounds)
    ]
    show("import of the library", [(wall, cpu) for wall, cpu, *_ in fresh])
    first = show("first probe of 8 branches, fresh process", [(w, cpu) for *_, w, cpu in fresh])
    show("both", [(each[0] + each[2], each[1] + each[3]) for each in fresh])
    found = ce.probe(repository.folder, BRANCHES)
    same = [milliseconds(lambda: ce.probe(repository.folder, BRANCHES)) for _ in range(rounds)]
    show("probe again, nothing moved", same)
    moved = []
    for number in range(rounds):
        repository.move(BRANCHES[number % 8], number)
        moved.append(milliseconds(lambda: ce.probe(repository.folder, BRANCHES)))
    again = show("probe after one branch moved", moved)
    by_git = show("git merge-tree, 36 merges", [milliseconds(lambda: merges(repository))])
    show_ratio("first probe / git merge-tree", first, by_git)
    show_ratio("probe after one branch moved / git merge-tree", again, by_git)
    print(f"{len(found.collisions)} collisions, {len(found.landing)} branches can land")


def bench_worktrees(repository: Repository, rounds: int, parent: Path) -> None:
    """Print the times of probes of worktrees, and of `git status` in them."""
    import cooperbench_eval as ce  # noqa: PLC0415

    source = random.Random(2)  # noqa: S311 - not for secrets
    folders = [parent / name for name in BRANCHES]
    for name, folder in zip(BRANCHES, folders, strict=True):
        repository.git("worktree", "add", "-q", str(folder), name)
        for number in source.sample(range(min(10_000, repository.files)), 10):
            (folder / path(number)).write_bytes(module(number, " + uncommitted"))
        (folder / "src/untracked.py").write_bytes(module(0, name))

    def status() -> None:
        for folder in folders:
            repository.git("--no-optional-locks", "status", "--short", folder=folder)

    status()  # the file system's caches
    first = milliseconds(lambda: ce.probe(repository.folder, folders))
    show("first probe of 8 worktrees with uncommitted changes", [first])
    again = [milliseconds(lambda: ce.probe(repository.folder, folders)) for _ in range(rounds)]
    probed = show("probe of 8 worktrees again", again)
    one = [milliseconds(lambda: ce.probe(repository.folder, folders[:1])) for _ in range(rounds)]
    show("probe of one worktree again", one)
    by_git = show("git status in 8 worktrees", [milliseconds(status) for _ in range(rounds)])
    show_ratio("probe of 8 worktrees again / git status", probed, by_git)


def main() -> None:
    """Make the repository, and print a row for each number."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where to make the repository")
    parser.add_argument("--worktrees", action="store_true", help="measure worktrees too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as parent:
        repository = Repository(Path(parent, "repository"), options.files)
        print(_ROW.format(f"{options.files:,} files", "ms", "CPU ms"))
        bench_branches(repository, options.rounds)
        if options.worktrees:
            bench_worktrees(repository, options.rounds, Path(parent))


if __name__ == "__main__":
    main()

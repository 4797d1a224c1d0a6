"""Compares the origin of each line of clean merges with `git blame`.

    python benchmarks/provenance.py [--random N] [--dataset DIR --repos DIR] [--repo PATH ...]
        [--limit N] [--verbose]

Takes random texts with edits on two sides, every pair of a dataset's gold patches, and
the two-parent merge commits of real repositories, as far as they merge without a
conflict. Each merge is committed to a scratch repository on top of three commits: base,
ours and theirs. `git blame` then names one of the four commits for each line of every file that
the merge changes. A line agrees if git names the base for a line of the base, or one of the
features that added it. Prints how many lines agree, of all lines and of those that a feature
added according to git or the library. With --verbose, it prints each line that differs.
"""

import argparse
import random
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pygit2
from attrs import define, field, frozen
from parity import Git, cases
from repositories import Scratch, add_dataset_options, tasks_with_bases

from cooperbench_eval import Changes, Entry, MergeStatus, Snapshot, apply_patch, merge, provenance
from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.reporting import FileKind, Origin, OriginKind, Provenance

BASE, OURS, THEIRS, MERGE = range(4)
_NAMES = ("base", "ours", "theirs", "merge")


@frozen
class Merge:
    """A clean merge of two sides."""

    name: str
    base: Snapshot
    ours: Changes
    theirs: Changes
    merged: Changes


@define
class Tally:
    """How many lines agree with git, and what the others are."""

    merges: int = 0
    files: int = 0
    lines: int = 0
    agreeing: int = 0
    added: int = 0
    added_agreeing: int = 0
    kinds: Counter[str] = field(factory=Counter)

    def count(self, origin: Origin, commit: int) -> bool:
        """Count a line; return whether git agrees."""
        agrees = _agrees(origin, commit)
        is_added = commit != BASE or origin.kind is not OriginKind.BASE
        self.lines += 1
        self.agreeing += agrees
        self.added += is_added
        self.added_agreeing += is_added and agrees
        if not agrees:
            self.kinds[f"{origin} here, {_NAMES[commit]} in git"] += 1
        return agrees

    def __str__(self) -> str:
        """Show the counts as a line."""
        shares = [
            f"{part:,} of {whole:,} ({100 * part / max(whole, 1):.4f} %)"
            for part, whole in ((self.agreeing, self.lines), (self.added_agreeing, self.added))
        ]
        return f"{self.merges:,} merges, {self.files:,} files, lines {shares[0]}, added {shares[1]}"


def _agrees(origin: Origin, commit: int) -> bool:
    if commit == BASE:
        return origin.kind is OriginKind.BASE
    if commit == MERGE:
        return origin.kind in {OriginKind.RESOLVER, OriginKind.UNKNOWN}
    return commit in origin.features


def blamed(repo: Path, commits: Sequence[str], path: str) -> list[int]:
    """Return for each line of a file which of *commits* git blames."""
    command = ["git", "-C", str(repo), "blame", "--porcelain", commits[MERGE], "--", path]
    done = subprocess.run(command, capture_output=True, check=True)
    found = []
    for line in done.stdout.split(b"\n"):
        head = line.split(b" ")
        if head[0].decode("ascii", "replace") in commits and not line.startswith(b"\t"):
            found.append(commits.index(head[0].decode()))
    return found


def compare(scratch: Scratch, case: Merge, tally: Tally, *, verbose: bool) -> None:
    """Commit a merge, and compare each of its lines."""
    base = scratch.commit(case.base, Changes(), [])
    ours, theirs = (scratch.commit(case.base, each, [base]) for each in (case.ours, case.theirs))
    if ours == theirs:
        return
    commits = (base, ours, theirs, scratch.commit(case.base, case.merged, [ours, theirs]))
    found = provenance(case.base, [case.ours, case.theirs], case.merged)
    tally.merges += 1
    for path, origins in _texts(case, found):
        tally.files += 1
        git = blamed(scratch.path, commits, path)
        if len(git) != len(origins):
            raise SystemExit(f"{case.name}: {path} has {len(git)} lines in git")
        for number, (origin, commit) in enumerate(zip(origins, git, strict=True), 1):
            if not tally.count(origin, commit) and verbose:
                print(f"  {case.name} {path}:{number}: {origin}, git: {_NAMES[commit]}")


def _texts(case: Merge, found: Provenance) -> Iterator[tuple[str, list[Origin]]]:
    for file in found.files:
        if file.kind is FileKind.TEXT and found.tree.get(file.path) != case.base.get(file.path):
            yield file.path, list(file.origins)


def merged_cleanly(name: str, base: Snapshot, ours: Changes, theirs: Changes) -> Merge | None:
    """Merge two sides; return `None` if they conflict."""
    outcome = merge(base, ours, theirs)
    if outcome.status is not MergeStatus.CLEAN:
        return None
    return Merge(name, base, ours, theirs, outcome.changes)


def random_merges(count: int, repo: Path) -> Iterator[Merge]:
    """Yield clean merges of random texts; their bases are put into *repo*."""
    repository = pygit2.Repository(str(repo))
    generator = random.Random(1)  # noqa: S311
    number = 0
    while number < count:
        base = _random_lines(generator, generator.randrange(5, 120))
        files = [Entry(b"".join(_edited(generator, base))) for _ in range(2)]
        builder = repository.TreeBuilder()
        builder.insert("a", repository.create_blob(b"".join(base)), pygit2.enums.FileMode.BLOB)
        tree = Snapshot.from_repo(repo, str(builder.write()))
        ours, theirs = (Changes({"a": each}) for each in files)
        found = merged_cleanly(f"random {number}", tree, ours, theirs)
        if found:
            number += 1
            yield found


def _random_lines(generator: random.Random, count: int) -> list[bytes]:
    words = [b"", b"}", b"return", b"pass", b"else:", *(b"word%d" % n for n in range(40))]
    return [
        b" " * 4 * generator.randrange(3) + generator.choice(words) + b"\n" for _ in range(count)
    ]


def _edited(generator: random.Random, base: list[bytes]) -> list[bytes]:
    lines = list(base)
    for _ in range(generator.randrange(1, 5)):
        start = generator.randint(0, len(lines))
        end = start + generator.choice([0, 0, 1, 2, 5])
        block = lines[start:end]
        new = _random_lines(generator, generator.randrange(6))
        if not generator.randrange(5):
            new = lines[max(start - 4, 0) : start]  # a copy of what is before
        lines[start:end] = new
        if block and not generator.randrange(3):
            place = generator.randint(0, len(lines))
            lines[place:place] = block
    return lines


def gold_merges(options: argparse.Namespace) -> Iterator[Merge]:
    """Yield the gold pairs that merge cleanly; ours is the second feature, as in a pair."""
    for name, task, base in tasks_with_bases(options):
        sides = {n: apply_patch(base, task.gold_patch(n)).changes for n in task.features}
        for first, second in task.pairs:
            label = f"{name} f{first}+f{second}"
            found = merged_cleanly(label, base, sides[second], sides[first])
            if found:
                yield found


def real_merges(repo: Path, limit: int) -> Iterator[Merge]:
    """Yield the newest merges of a history with one base, whose tree is that of a clean merge."""
    for case in cases(Git(repo), Counter(), criss_cross=False):
        if limit <= 0:
            return
        if len(case.bases) > 1:
            continue
        try:
            base, ours, theirs = (
                Snapshot.from_repo(repo, each) for each in (*case.bases, case.ours, case.theirs)
            )
            sides = Changes.between(base, ours), Changes.between(base, theirs)
            found = merged_cleanly(case.ours[:10], base, *sides)
        except RepositoryError:
            continue
        if found:
            limit -= 1
            yield found


def measure(name: str, source: Path, merges: Iterator[Merge], *, verbose: bool) -> Tally:
    """Compare merges over one repository, and print the sum."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Scratch(folder, source)
        for case in merges:
            compare(scratch, case, tally, verbose=verbose)
    print(f"{name}: {tally}")
    for kind, count in tally.kinds.most_common():
        print(f"    {count:,} {kind}")
    return tally


def main() -> None:
    """Print the agreement."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_dataset_options(parser, required=False)
    parser.add_argument("--random", type=int, default=0, help="how many random merges")
    parser.add_argument("--repo", type=Path, action="append", default=[], help="a real history")
    parser.add_argument("--limit", type=int, default=200, help="merges of each real history")
    parser.add_argument("--verbose", action="store_true", help="print every line that differs")
    options = parser.parse_args()
    if options.random:
        with tempfile.TemporaryDirectory() as empty:
            subprocess.run(["git", "init", "--quiet", "--bare", empty], check=True)
            merges = random_merges(options.random, Path(empty))
            measure("random texts", Path(empty), merges, verbose=options.verbose)
    for repo in options.repo:
        merges = real_merges(repo, options.limit)
        measure(repo.parent.name, repo, merges, verbose=options.verbose)
    if options.dataset:
        measure_gold(options)


def measure_gold(options: argparse.Namespace) -> None:
    """Compare the gold pairs of each repository."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        scratches: dict[str, Scratch] = {}
        for case in gold_merges(options):
            source = case.base.location or ""
            if source not in scratches:
                place = Path(folder) / str(len(scratches))
                scratches[source] = Scratch(str(place), Path(source))
            compare(scratches[source], case, tally, verbose=options.verbose)
    print(f"gold pairs: {tally}")
    for kind, count in tally.kinds.most_common():
        print(f"    {count:,} {kind}")


if __name__ == "__main__":
    main()

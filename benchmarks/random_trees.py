"""Compares the merge core with `git merge-tree` on random trees.

    python benchmarks/random_trees.py [--count N] [--seed N] [--first N]

The trees are tiny, and their names and contents are few. So renames, directory renames,
links, submodules and new files often meet at one name. Each merge must have git's
verdict, tree and unmerged stages. Differences that `docs/explanation/parity.md` explains
are counted by their scenario. All others are printed with their number, so that
`--first NUMBER --count 1` repeats one. The exit status is 1 if there are any. Each
batch of merges takes one `git fast-import` and one `git merge-tree --stdin`.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from attrs import evolve
from merged_trees import Case, Merged, Tree, difference, explain

from cooperbench_eval import Changes, Entry, Snapshot
from cooperbench_eval.git.merging.three_way_merge import Labels
from cooperbench_eval.git.merging.tree_merge import merge_changes
from cooperbench_eval.git.trees.entries import FileMode

_BATCH = 500
# Git sorts the names of the second row by surprising rules: files before folders or after
# them, and folders by hashes, which are equal for the names of two letters.
_NAMES = ("abcdef", ("a", "a.b", "ba", "eh", "id", "a-"))


# --- cases ------------------------------------------------------------------------------


class TreeMaker:
    """Makes the trees of one case from a seed."""

    def __init__(self, seed: str) -> None:
        """Draw what all trees of the case have in common."""
        self._random = random.Random(seed)  # noqa: S311 - reproducible data, not a secret
        self._names = self._random.choice(_NAMES)[: self._random.randint(2, 6)]
        self._depth = self._random.choice([1, 2, 2, 3, 3, 4])
        self._words = self._random.randint(1, 4)
        self._special = self._random.choice([0, 0.1, 0.5, 0.9])  # the share of links and the like
        self._equal = self._random.choice([0, 0.3, 0.9])  # the share of files with few contents

    def make_case(self, number: int) -> Case:
        """Make a base and two sides that change it."""
        base = self.make_tree()
        ours, theirs = self.make_side(base), self.make_side(base)
        return Case(number=number, base=base, ours=ours, theirs=theirs)

    def make_tree(self) -> Tree:
        """Make a tree."""
        tree: Tree = {}
        for _ in range(self._random.randint(1, 8)):
            place = self._place()
            if not _clashes(tree, place):
                tree[place] = self._entry()
        return tree

    def make_side(self, tree: Tree) -> Tree:
        """Change a tree a few times."""
        for _ in range(self._random.choice([0, 1, 1, 2, 2, 3, 4, 5])):
            tree = self._changed(tree)
        return tree

    def _place(self) -> str:
        return "/".join(self._random.choices(self._names, k=self._random.randint(1, self._depth)))

    def _entry(self) -> Entry:
        random_ = self._random
        if random_.random() >= self._special:
            return self._text()
        mode = random_.choice([*FileMode, FileMode.SYMLINK])
        if mode is FileMode.SUBMODULE:
            return Entry(random_.choice([b"1", b"2"]) * 40, mode)
        if mode is FileMode.SYMLINK:
            return Entry(random_.choice([b"one", b"two"]), mode)
        odd = Entry(random_.choice([b"", b"binary\0", b"short\n"]))
        return evolve(random_.choice([odd, self._text()]), mode=mode)

    def _text(self) -> Entry:
        random_ = self._random
        word = random_.choice([b"alpha", b"beta", b"=" * 64, b"-" * 64][: self._words])
        lines = [b"%b %d\n" % (word, line) for line in range(random_.choice([3, 8]))]
        if random_.random() >= self._equal:
            lines.insert(random_.randint(0, 8), b"only here %d\n" % random_.randrange(1000))
        if random_.random() < 0.1:  # noqa: PLR2004
            lines.append(b"a tail without a newline %d" % random_.randrange(3))
        return Entry(b"".join(lines))

    def _edited(self, entry: Entry) -> Entry:
        if not entry.mode.is_regular or self._random.random() < 0.1:  # noqa: PLR2004
            return self._entry()
        lines = entry.data.splitlines(keepends=True)
        for _ in range(self._random.randint(1, 4)):
            at = self._random.randint(0, len(lines))
            new = [b"new %d\n" % self._random.randrange(4)] * self._random.randint(0, 1)
            lines[at : at + self._random.randint(0, 1)] = new
        return Entry(b"".join(lines), entry.mode)

    def _changed(self, tree: Tree) -> Tree:
        place, kind = self._place(), self._random.choice(_CHANGES)
        path = self._random.choice(sorted(tree) or [""])
        if kind in {"add", "copy"} or not tree:
            return _with(tree, place, tree.get(path) if kind == "copy" else self._entry())
        if kind == "edit":
            return tree | {path: self._edited(tree[path])}
        if kind == "move folder" and "/" in path:
            return self._with_moved_folder(tree, path, place)
        rest = {p: e for p, e in tree.items() if p != path}
        if kind == "delete":
            return rest
        if kind == "replace":
            return _with(rest, f"{path}/{place}", self._entry())
        entry = self._edited(tree[path]) if kind == "move and edit" else tree[path]
        above, _, inside = path.partition("/")
        names = {"up": inside or above, "keep name": f"{place}/{path.rpartition('/')[2]}"}
        return _with(rest, names.get(kind, place), entry, otherwise=tree)

    def _with_moved_folder(self, tree: Tree, path: str, place: str) -> Tree:
        parts = path.split("/")
        folder = "/".join(parts[: self._random.randint(1, len(parts) - 1)]) + "/"
        target = self._random.choice([place + "/", place + "/", ""])
        outside = {p: e for p, e in tree.items() if not p.startswith(folder)}
        for inside in tree.keys() - outside.keys():
            moved = target + inside.removeprefix(folder)
            if _clashes(outside, moved):
                return tree
            outside[moved] = tree[inside]
        return dict(sorted(outside.items()))


_CHANGES = (
    *("add", "delete", "edit", "edit", "copy", "replace", "up", "keep name"),
    *("move", "move and edit", "move and edit", *["move folder"] * 3),
)


def _clashes(tree: Tree, place: str) -> bool:
    return any(
        path == place or path.startswith(place + "/") or place.startswith(path + "/")
        for path in tree
    )


def _with(tree: Tree, place: str, entry: Entry | None, otherwise: Tree | None = None) -> Tree:
    if entry is None or _clashes(tree, place):
        return tree if otherwise is None else otherwise
    return tree | {place: entry}


# --- merges -----------------------------------------------------------------------------


def merge_with_us(case: Case) -> Merged:
    """Merge the sides of a case with the library."""
    base = Snapshot.from_files(case.base)
    ours, theirs = (
        Changes.between(base, Snapshot.from_files(side)) for side in (case.ours, case.theirs)
    )
    labels = Labels(ours=f"ours{case.number}", theirs=f"theirs{case.number}")
    merge = merge_changes(base, ours, theirs, labels)
    stages = sorted((s.path, s.number, int(s.entry.mode), s.entry.id) for s in merge.stages)
    merged = base.overlay(merge.changes)
    return Merged(
        tree=merged.tree_id,
        clean=not merge.conflicts,
        stages=tuple(stages),
        files={path: each.id for path in merged.paths() if (each := merged.get(path))},
    )


class Git:
    """A bare repository and the git program, without any user's configuration."""

    def __init__(self, folder: Path) -> None:
        """Make the repository."""
        self._folder = folder
        self._run("init", "-q", "--bare", folder)

    def _run(self, *arguments: object, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["git", *map(str, arguments)],
            input=data,
            capture_output=True,
            check=False,
            cwd=self._folder,
            env={"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C"},
        )

    def merge(self, cases: Sequence[Case]) -> list[Merged | None]:
        """Merge all cases; `None` stands for those where git crashes."""
        self.load(b"".join(_imported(cases)))
        return self.merge_pairs([(f"ours{c.number}", f"theirs{c.number}") for c in cases])

    def load(self, stream: bytes) -> None:
        """Make commits from the input of `git fast-import`."""
        self._run("fast-import", "--quiet", "--force", data=stream)

    def merge_bases(self, one: str, other: str) -> list[str]:
        """Return the ids of the merge bases of two branches."""
        return self._run("merge-base", "--all", one, other).stdout.decode().split()

    def merge_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Merged | None]:
        """Merge all pairs of branches; `None` stands for those where git crashes or refuses."""
        merged: list[Merged | None] = []
        size = len(pairs)
        while len(merged) < len(pairs):
            rest = pairs[len(merged) :][:size]
            found = list(self._merge_some(rest))
            merged += found
            if len(found) == len(rest):
                size = len(pairs)
            elif size > 1:
                size = max(1, size // 8)  # after a crash, the last results may be absent
            elif not found:
                merged.append(None)
        return merged

    def files_of(self, tree: str) -> dict[str, str]:
        """Return the object ids of a tree by path."""
        rows = self._run("ls-tree", "-r", "-z", tree).stdout.decode().split("\0")
        return {row.partition("\t")[2]: row.split()[2] for row in rows if row}

    def _merge_some(self, pairs: Iterable[tuple[str, str]]) -> list[Merged]:
        """Return the results up to a crash."""
        rows = "".join(f"{ours} {theirs}\n" for ours, theirs in pairs)
        done = self._run(
            "merge-tree", "--write-tree", "--stdin", "--no-messages", data=rows.encode()
        )
        found = list(_results(iter(done.stdout.decode().split("\0"))))
        return found[:-1] if done.returncode else found  # the last one may be cut off


def _results(words: Iterator[str]) -> Iterator[Merged]:
    for status in filter(None, words):
        tree, stages = next(words, ""), []
        while word := next(words, ""):
            facts, _, path = word.partition("\t")
            mode, object_id, number = (facts.split() + ["0"] * 3)[:3]
            stages.append((path, int(number), int(mode, 8), object_id))
        yield Merged(tree=tree, clean=status == "1", stages=tuple(sorted(stages)))


def _imported(cases: Iterable[Case]) -> Iterator[bytes]:
    """Yield the input of `git fast-import` that makes the branches of each case."""
    for case in cases:
        for name in ("base", "ours", "theirs"):
            yield b"commit refs/heads/%s%d\n" % (name.encode(), case.number)
            yield b"committer Ann <ann@example.org> 0 +0000\ndata 0\n"
            if name != "base":
                yield b"from refs/heads/base%d\ndeleteall\n" % case.number
            yield from imported_files(getattr(case, name))


def imported_files(tree: Tree) -> Iterator[bytes]:
    """Yield the input of `git fast-import` for the files of a commit."""
    for path, entry in tree.items():
        if entry.mode is FileMode.SUBMODULE:
            yield b"M 160000 %b %b\n" % (entry.data, path.encode())
        else:
            yield b"M %o inline %b\ndata %d\n%b\n" % (
                int(entry.mode), path.encode(), len(entry.data), entry.data,
            )  # fmt: skip


# --- comparison -------------------------------------------------------------------------


def compare(cases: Sequence[Case], counts: Counter[str]) -> None:
    """Merge the cases with git and the library, and count how they compare."""
    with tempfile.TemporaryDirectory() as folder:
        git = Git(Path(folder))
        for case, theirs in zip(cases, git.merge(cases), strict=True):
            counts["trees"] += 1
            if theirs is None:
                counts["git crashed"] += 1
                continue
            counts["clean" if theirs.clean else "conflicting"] += 1
            ours = merge_with_us(case)
            wrong = difference(ours, theirs)
            if not wrong:
                counts["equal"] += 1
            elif gap := explain(case, ours, evolve(theirs, files=git.files_of(theirs.tree))):
                counts[f"explained by {gap}"] += 1
            else:
                counts["unexplained"] += 1
                counts[f"unexplained {wrong}"] += 1
                print(f"  {wrong}: --first {case.number} --count 1", flush=True)


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000, help="number of merges")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first merge")
    options = parser.parse_args()
    counts = Counter[str]()
    numbers = range(options.first, options.first + options.count)
    for start in range(0, len(numbers), _BATCH):
        part = numbers[start : start + _BATCH]
        compare([TreeMaker(f"{options.seed}-{n}").make_case(n) for n in part], counts)
    for name, count in sorted(counts.items()):
        print(f"{name:<50}{count:>8}")
    sys.exit(bool(counts["unexplained"]))


if __name__ == "__main__":
    main()

"""Compares the merge core with `git merge-tree` on the merges of real histories.

    python benchmarks/parity.py --repo PATH [--repo PATH ...] [--limit N] [--criss-cross]
    python benchmarks/parity.py --dataset DIR --repos DIR

Takes the two-parent merge commits whose sides touch a common file, newest first,
merges their parents over their merge base with both, and prints how many
verdicts, clean trees, conflict bytes and scores are equal. Each divergence is
named with its class. Merges whose contents a partial clone lacks are counted separately.
With --criss-cross, only merges with several merge bases are compared. The sides' names in
markers are the parents' ids, so that git's markers can be distinguished from contents. With
--dataset the merges are those of every pair of gold patches, feature 1 into feature 2.
"""

import argparse
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen
from repositories import Scratch, add_dataset_options, tasks_with_bases

from cooperbench_eval import Changes, ConflictScorer, Snapshot, Task, apply_patch
from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.git.merging.merge_base import History, merge_bases
from cooperbench_eval.git.merging.three_way_merge import Labels, ThreeWayMerge
from cooperbench_eval.git.merging.tree_merge import merge_changes


@frozen(kw_only=True)
class GitMerge:
    """The result of `git merge-tree`."""

    tree: str
    conflicts: bool
    stages: tuple[tuple[str, int, int, str], ...]


class Git:
    """The git program on one repository, without the user's configuration."""

    def __init__(self, repo: Path) -> None:
        """Use the repository at *repo*."""
        self._repo = repo

    def run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        """Run a git command; the caller checks for failure."""
        command = ["git", "-C", str(self._repo), "-c", "core.quotepath=off", *arguments]
        return subprocess.run(command, capture_output=True, check=False)

    def lines(self, *arguments: str) -> list[str]:
        """Return a command's output lines."""
        return self.run(*arguments).stdout.decode("utf-8", "surrogateescape").splitlines()

    def merge(self, ours: str, theirs: str) -> GitMerge | None:
        """Merge two commits; return `None` if git cannot."""
        done = self.run("merge-tree", "--write-tree", "-z", "--no-messages", ours, theirs)
        if done.returncode not in {0, 1}:
            return None
        tree, *rest = done.stdout.decode("utf-8", "surrogateescape").split("\0")
        stages = []
        for row in rest:
            if "\t" not in row:
                continue
            facts, path = row.split("\t", 1)
            mode, object_id, stage = facts.split()
            stages.append((path, int(stage), int(mode, 8), object_id))
        return GitMerge(tree=tree, conflicts=done.returncode == 1, stages=tuple(sorted(stages)))

    def score(self, merge: GitMerge, ours: str, theirs: str) -> int:
        """Score git's own conflict regions by the formula, from its markers.

        Conflicts without markers are not included; the stages show those. If
        both sides renamed a file, differently, git's markers have eight characters.
        """
        labels = ours.encode(), theirs.encode()
        shapes = (
            rb"^<{%d} %b[^\n]*\n(.*?)^={%d}\r?\n(.*?)^>{%d} %b[^\n]*$"
            % (size, labels[0], size, size, labels[1])
            for size in (7, 8)
        )
        region = re.compile(b"|".join(shapes), re.DOTALL | re.MULTILINE)
        score = 0
        for path in {row[0] for row in merge.stages}:
            data = self.run("cat-file", "blob", f"{merge.tree}:{path}")
            regions = region.findall(data.stdout) if data.returncode == 0 else []
            lines = sum(side.count(b"\n") for sides in regions for side in sides)
            score += 20 * len(regions) + 2 * lines
        return score


@frozen(kw_only=True)
class Case:
    """One merge commit's parents and their merge bases."""

    bases: tuple[str, ...]
    ours: str
    theirs: str

    @property
    def base(self) -> str:
        """The newest merge base."""
        return self.bases[0]


def cases(git: Git, counts: Counter[str], *, criss_cross: bool) -> Iterator[Case]:
    """Yield the merges of a history that git does not fast-forward."""
    for row in git.lines("rev-list", "--all", "--min-parents=2", "--max-parents=2", "--parents"):
        _, ours, theirs = row.split()
        bases = git.lines("merge-base", "--all", ours, theirs)
        counts["several merge bases"] += len(bases) > 1
        if not bases:
            counts["no merge base"] += 1
        elif bases[0] not in {ours, theirs} and (len(bases) > 1 or not criss_cross):
            yield Case(bases=tuple(bases), ours=ours, theirs=theirs)


def merge(history: History, case: Case) -> tuple[Snapshot, ThreeWayMerge] | None:
    """Merge a case with the library; return `None` if the sides share no file."""
    found = merge_bases(history.commit, case.ours, [case.theirs])
    if tuple(found) != case.bases:
        raise SystemExit(f"other merge bases than git's: {case}")
    base = history.merge_base([case.ours], [case.theirs])
    assert base is not None  # noqa: S101 - for mypy
    ours, theirs = history.snapshot(case.ours), history.snapshot(case.theirs)
    our_changes, their_changes = Changes.between(base, ours), Changes.between(base, theirs)
    if not our_changes.keys() & their_changes.keys():
        return None
    labels = Labels(ours=case.ours, theirs=case.theirs)
    return base, merge_changes(base, our_changes, their_changes, labels)


def compare(git: Git, case: Case, base: Snapshot, mine: ThreeWayMerge, counts: Counter[str]) -> str:
    """Count one merge; return its class of divergence, empty for none."""
    theirs = git.merge(case.ours, case.theirs)
    if theirs is None:
        counts["git failed"] += 1
        return ""
    counts["merges"] += 1
    same_verdict = bool(mine.conflicts) == theirs.conflicts
    same_tree = mine.changes.tree_id(base) == theirs.tree
    counts["verdicts equal"] += same_verdict
    if not theirs.conflicts:
        counts["clean"] += 1
        counts["clean trees equal"] += same_tree
        return "" if same_tree and same_verdict else "verdict" if not same_verdict else "clean tree"
    stages = sorted((s.path, s.number, int(s.entry.mode), s.entry.id) for s in mine.stages)
    same_stages = tuple(stages) == theirs.stages
    score = ConflictScorer().score(c for c in mine.conflicts if c.has_lines).conflict_score
    same_score = score == git.score(theirs, case.ours, case.theirs)
    counts["conflicting"] += 1
    counts["conflict bytes equal"] += same_tree
    counts["stages equal"] += same_stages
    counts["scores equal"] += same_score
    wrong = {
        "verdict": same_verdict,
        "bytes": same_tree,
        "stages": same_stages,
        "score": same_score,
    }
    return "+".join(name for name, equal in wrong.items() if not equal)


def measure(repo: Path, limit: int, *, criss_cross: bool) -> Counter[str]:
    """Compare up to *limit* merges of a repository; name each divergence."""
    git, history, counts = Git(repo), History(str(repo)), Counter[str]()
    for case in cases(git, counts, criss_cross=criss_cross):
        if counts["merges"] >= limit:
            break
        measure_case(git, history, case, counts)
    return counts


def measure_case(git: Git, history: History, case: Case, counts: Counter[str]) -> None:
    """Compare one merge; name its divergence, if any."""
    try:
        merged = merge(history, case)
    except RepositoryError:
        counts["contents absent"] += 1
        return
    if merged is None:
        return
    wrong = compare(git, case, *merged, counts)
    if wrong:
        counts[f"divergence: {wrong}"] += 1
        bases = " ".join(case.bases)
        print(f"  {wrong}: base {bases} ours {case.ours} theirs {case.theirs}", flush=True)


def measure_gold(task: Task, base: Snapshot, source: Path) -> Counter[str]:
    """Compare the merges of every pair of a task's gold patches."""
    counts = Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Scratch(folder, source)
        root = scratch.commit(base, Changes(), [])
        sides = {
            n: scratch.commit(base, apply_patch(base, task.gold_patch(n)).changes, [root])
            for n in task.features
        }
        git, history = Git(scratch.path), History(str(scratch.path))
        for first, second in task.pairs:
            case = Case(bases=(root,), ours=sides[second], theirs=sides[first])
            measure_case(git, history, case, counts)
            counts["pairs"] += 1
    counts["no common file"] = counts["pairs"] - counts["merges"]
    return counts


def show(name: str, counts: Counter[str]) -> None:
    """Print the counts of one repository or of all."""
    print(f"{name}: {counts['merges']} merges")
    for part, whole in (
        ("verdicts equal", "merges"),
        ("clean trees equal", "clean"),
        ("conflict bytes equal", "conflicting"),
        ("stages equal", "conflicting"),
        ("scores equal", "conflicting"),
    ):
        share = 100 * counts[part] / counts[whole] if counts[whole] else 100.0
        print(f"    {part:<22}{counts[part]:>6} of {counts[whole]:<6}{share:8.2f} %")
    if counts["several merge bases"]:
        print(f"    with several merge bases {counts['several merge bases']}")
    for word in (
        "no merge base",
        "no common file",
        "contents absent",
        "git failed",
    ):
        if counts[word]:
            print(f"    passed over: {word:<22}{counts[word]:>6}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repo", type=Path, action="append", default=[])
    parser.add_argument("--limit", type=int, default=1000, help="merges a repository")
    parser.add_argument(
        "--criss-cross", action="store_true", help="only merges with several merge bases"
    )
    add_dataset_options(parser, required=False)
    options = parser.parse_args()
    total = Counter[str]()
    for repo in options.repo:
        counts = measure(repo, options.limit, criss_cross=options.criss_cross)
        show(str(repo), counts)
        total += counts
    if options.dataset and options.repos:
        for _, task, base in tasks_with_bases(options):
            total += measure_gold(task, base, Path(str(base.location)))
    show("all", total)


if __name__ == "__main__":
    main()

"""Times merges from real histories next to `git merge-tree`, and checks that they agree.

    python benchmarks/bench_histories.py --repo PATH [--repo PATH ...] [--limit N] [--rounds N]

Takes random two-parent merge commits with one merge base. Each is merged by the library,
from three commit ids to the id of the merged tree through the public API, and by one
`git merge-tree --write-tree` process. The library is given the merge base, and git has to
find it. So git is timed twice: with the two commits (*two commits*), and with copies of them
whose only parent is the merge base, which leaves nothing to search (*base given*). The
engines take turns. A merge counts with its median of the rounds.

Verdicts, trees and the scores of conflicts must agree, or the merge is printed. Merges
that need an object that a partial clone lacks are counted separately; git and the library
must agree on that too. Then each merge is made once in a fresh process, which gives the
peak memory and the time that a script takes from its start to the tree.
"""

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pygit2
from attrs import frozen
from parity import Case, Git, GitMerge
from repositories import Scratch

import cooperbench_eval as ce


@frozen(kw_only=True)
class Mine:
    """A merge by the library, with its seconds; `None` if it needs an absent object."""

    seconds: float
    tree: str | None
    conflicts: tuple[ce.Conflict, ...] = ()


@frozen(kw_only=True)
class Times:
    """Seconds of one merge: by git from two commits, by git with the base given, by the library."""

    whole_git: float
    git: float
    mine: float


def merge(repo: Path, case: Case, labels: ce.strategies.Labels) -> Mine:
    """Merge by the library, as a script does."""
    began = time.perf_counter()
    try:
        base, ours, theirs = (
            ce.Snapshot.from_repo(repo, commit) for commit in (case.base, case.ours, case.theirs)
        )
        outcome = ce.merge(
            base, ce.Changes.between(base, ours), ce.Changes.between(base, theirs), labels=labels
        )
        tree = outcome.tree_id(base)
    except ce.errors.RepositoryError:
        return Mine(seconds=time.perf_counter() - began, tree=None)
    return Mine(seconds=time.perf_counter() - began, tree=tree, conflicts=outcome.conflicts)


def sample(repo: Path, seed: int) -> Iterator[Case]:
    """Yield merges of a history that have one merge base, in random order."""
    git = Git(repo)
    rows = git.lines("rev-list", "--all", "--min-parents=2", "--max-parents=2", "--parents")
    rows.sort()
    random.Random(seed).shuffle(rows)  # noqa: S311 - a sample
    for row in rows:
        _, ours, theirs = row.split()
        bases = git.lines("merge-base", "--all", ours, theirs)
        if len(bases) == 1 and bases[0] not in {ours, theirs}:
            yield Case(bases=tuple(bases), ours=ours, theirs=theirs)


def for_git(scratch: Scratch, case: Case) -> Case:
    """Write the commits of a merge with the base as the only parent of both sides."""
    author = pygit2.Signature("a", "a@example.org", 0, 0)

    def commit(original: str, parents: list[str]) -> str:
        tree = scratch.repository[original].peel(pygit2.Tree).id
        return str(
            scratch.repository.create_commit(
                None, author, author, original, tree, [pygit2.Oid(hex=each) for each in parents]
            )
        )

    base = commit(case.base, [])
    return Case(bases=(base,), ours=commit(case.ours, [base]), theirs=commit(case.theirs, [base]))


def difference(git: Git, written: Case, theirs: GitMerge | None, mine: Mine) -> str:
    """Return what differs between the merges; empty if they agree."""
    if theirs is None or mine.tree is None:
        return "" if theirs is None and mine.tree is None else "absent object"
    if theirs.conflicts != bool(mine.conflicts):
        return "verdict"
    if theirs.tree != mine.tree:
        return "tree"
    score = ce.ConflictScorer().score(c for c in mine.conflicts if c.has_lines).conflict_score
    wanted = git.score(theirs, written.ours, written.theirs) if theirs.conflicts else 0
    return "" if score == wanted else "score"


def measure(repo: Path, limit: int, rounds: int, seed: int) -> tuple[list[Case], list[Times]]:
    """Repeat up to *limit* merges of a repository with both; print each difference."""
    cases: list[Case] = []
    times: list[Times] = []
    counts = Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Scratch(folder, repo)
        git = Git(Path(folder))
        for case in sample(repo, seed):
            if len(cases) == limit:
                break
            written = for_git(scratch, case)
            labels = ce.strategies.Labels(ours=written.ours, theirs=written.theirs)
            by_git: list[float] = []
            by_whole_git: list[float] = []
            by_us: list[float] = []
            for _ in range(rounds):
                began = time.perf_counter()
                git.merge(case.ours, case.theirs)
                by_whole_git.append(time.perf_counter() - began)
                began = time.perf_counter()
                theirs = git.merge(written.ours, written.theirs)
                by_git.append(time.perf_counter() - began)
                mine = merge(repo, case, labels)
                by_us.append(mine.seconds)
            if wrong := difference(git, written, theirs, mine):
                print(f"  {wrong} differs: {case.base} {case.ours} {case.theirs}", flush=True)
            counts["differences"] += bool(wrong)
            if mine.tree is None:
                counts["absent"] += 1
                continue
            counts["conflicting"] += bool(mine.conflicts)
            cases.append(case)
            middle = (statistics.median(each) for each in (by_whole_git, by_git, by_us))
            times.append(Times(**dict(zip(("whole_git", "git", "mine"), middle, strict=True))))
    print(
        f"{repo}: {len(cases)} merges, {counts['conflicting']} with conflicts; "
        f"{counts['absent']} more lack an object; {counts['differences']} differences from git"
    )
    return cases, times


def show_times(times: Sequence[Times]) -> None:
    """Print the medians and how the library compares with git."""
    mine = statistics.median(each.mine for each in times)
    print(f"    the library: median {mine * 1e3:.1f} ms, total {sum(t.mine for t in times):.2f} s")
    for name, by_git in (
        ("two commits", [each.whole_git for each in times]),
        ("base given", [each.git for each in times]),
    ):
        ratios = sorted(git / each.mine for git, each in zip(by_git, times, strict=True))
        print(
            f"    git, {name}: median {statistics.median(by_git) * 1e3:.1f} ms, total "
            f"{sum(by_git):.2f} s; the library is {statistics.median(by_git) / mine:.1f} times as "
            f"fast; for one merge {ratios[0]:.2f} to {ratios[-1]:.1f} times, median "
            f"{statistics.median(ratios):.1f}"
        )


def show_scripts(repo: Path, cases: Iterable[Case]) -> None:
    """Print the peak memory and the seconds of scripts that make one merge each."""
    peaks: list[float] = []
    seconds: list[float] = []
    for case in cases:
        began = time.perf_counter()
        command = [sys.executable, __file__, "--once", str(repo), case.base, case.ours, case.theirs]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        seconds.append(time.perf_counter() - began)
        peaks.append(float(done.stdout))
    print(
        f"    a script with one merge: median {statistics.median(seconds) * 1e3:.0f} ms; "
        f"peak memory median {statistics.median(peaks):.0f} MB, most {max(peaks):.0f} MB"
    )


def merge_once(repo: str, base: str, ours: str, theirs: str) -> None:
    """Make one merge, and print the peak memory of this process in megabytes."""
    merge(Path(repo), Case(bases=(base,), ours=ours, theirs=theirs), ce.strategies.Labels())
    # `ru_maxrss` would include the memory of the process that started this one.
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    print(int(peak.split()[1]) / 1024)


def main() -> None:
    """Measure every repository."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repo", type=Path, action="append", default=[], help="a git repository")
    parser.add_argument("--limit", type=int, default=40, help="merges for each repository")
    parser.add_argument("--rounds", type=int, default=3, help="times that each merge is made")
    parser.add_argument("--seed", type=int, default=1, help="which merges are taken")
    parser.add_argument("--once", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        merge_once(*options.once)
    for repo in options.repo:
        cases, times = measure(repo, options.limit, options.rounds, options.seed)
        if cases:
            show_times(times)
            show_scripts(repo, cases)


if __name__ == "__main__":
    main()

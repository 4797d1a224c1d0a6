"""Watches the worktrees of running agents, and prints a line as soon as two of them collide.

    python docs/examples/watch_agents.py REPOSITORY WORKTREE WORKTREE ... [--onto NAME]
        [--every SECONDS] [--rounds N]

A worktree counts with its uncommitted changes. A line is printed when a collision begins, when its
places change, and when it ends. The same holds for a worktree that cannot be merged, for example in
the middle of a rebase. A worktree that is removed is not watched any more. Nothing is written to
the repository. Ctrl-C ends the script.
"""

import argparse
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import cooperbench_eval as ce
from cooperbench_eval.errors import RepositoryError


def places(files: tuple[ce.reporting.ConflictedFile, ...]) -> str:
    """Return the files with conflicts, each with its definitions."""
    texts = []
    for file in files:
        inside = f" ({', '.join(file.definitions)})" if file.definitions else ""
        texts.append(f"{file.path}{inside}")
    return ", ".join(texts)


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return the shortest ends of paths that differ from each other, such as `1/agent`."""
    parts = {name: Path(name).parts for name in names}
    found = {}
    for name, own in parts.items():
        others = [each for each in parts.values() if each != own]
        lengths = range(1, len(own) + 1)
        is_own = (n for n in lengths if all(each[-n:] != own[-n:] for each in others))
        found[name] = str(Path(*own[-next(is_own, len(own)) :]))
    return found


def facts_of(probe: ce.reporting.Probe, short: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Return, for each subject, what to print now and what to print when it ends."""
    found = {}
    for branch in probe.branches:
        name = short[branch.name]
        about = f"{name} and {probe.onto}"
        if branch.state.is_collision:
            where = places(branch.files) or branch.problem
            found[about] = (f"collide in {where}", f"{about} no longer collide")
        elif not branch.state.is_complete:
            found[name] = (branch.problem, f"{name} can be merged again")
    for pair in probe.collisions:
        about = f"{short[pair.one]} and {short[pair.other]}"
        where = places(pair.files) or pair.problem
        found[about] = (f"collide in {where}", f"{about} no longer collide")
    return found


def changed_lines(before: dict[str, tuple[str, str]], now: dict[str, tuple[str, str]]) -> list[str]:
    """Return a line for everything that began, changed or ended."""
    lines = [f"{about}: {fact[0]}" for about, fact in now.items() if before.get(about) != fact]
    return lines + [fact[1] for about, fact in before.items() if about not in now]


def main() -> int:
    """Probe again and again; print what changed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("worktrees", type=Path, nargs="+")
    parser.add_argument("--onto", default="main")
    parser.add_argument("--every", type=float, default=1.0, help="seconds between two probes")
    parser.add_argument("--rounds", type=int, help="number of probes; unlimited by default")
    options = parser.parse_args()
    facts: dict[str, tuple[str, str]] = {}
    worktrees = list(options.worktrees)
    short = short_names(map(str, worktrees))
    rounds = 0
    while options.rounds is None or rounds < options.rounds:
        time.sleep(options.every if rounds else 0)
        rounds += 1
        if rounds > 1:  # a watched worktree that is gone was removed
            gone = [each for each in worktrees if not each.exists()]
            worktrees = [each for each in worktrees if each not in gone]
            for each in gone:
                print(f"{each} was removed, and is not watched any more", flush=True)
            if not worktrees:
                return 0
        try:
            probe = ce.probe(options.repository, worktrees, onto=options.onto)
        except RepositoryError as exc:
            if rounds > 1 and not all(each.exists() for each in worktrees):
                continue  # it was removed at this moment
            print(exc, file=sys.stderr)
            return 1
        now = facts_of(probe, short)
        for line in changed_lines(facts, now):
            print(line, flush=True)
        facts = now
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

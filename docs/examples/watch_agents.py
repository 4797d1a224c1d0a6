"""Watches the worktrees of running agents, and prints a line as soon as two of them collide.

    python docs/examples/watch_agents.py REPOSITORY WORKTREE WORKTREE ... [--onto NAME]
        [--every SECONDS] [--rounds N]

A worktree counts with its uncommitted changes. A line is printed when a collision begins, when its
places change, and when it ends. The same holds for a worktree that cannot be merged, for example in
the middle of a rebase. Nothing is written to the repository. Ctrl-C ends the script.
"""

import argparse
import sys
import time
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


def facts_of(probe: ce.reporting.Probe) -> dict[str, str]:
    """Return what to print, by the agents that it is about."""
    short = {each.name: Path(each.name).name for each in probe.branches}
    found = {}
    for branch in probe.branches:
        if branch.state.is_collision:
            about = f"{short[branch.name]} and {probe.onto}"
            found[about] = f"collide in {places(branch.files) or branch.problem}"
        elif not branch.state.is_complete:
            found[short[branch.name]] = branch.problem
    for pair in probe.collisions:
        about = f"{short[pair.one]} and {short[pair.other]}"
        found[about] = f"collide in {places(pair.files) or pair.problem}"
    return found


def changed_lines(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """Return a line for everything that began, changed or ended."""
    lines = [f"{about}: {fact}" for about, fact in now.items() if before.get(about) != fact]
    return lines + [f"{about}: no longer" for about in before if about not in now]


def main() -> int:
    """Probe again and again; print what changed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("worktrees", type=Path, nargs="+")
    parser.add_argument("--onto", default="main")
    parser.add_argument("--every", type=float, default=1.0, help="seconds between two probes")
    parser.add_argument("--rounds", type=int, help="number of probes; unlimited by default")
    options = parser.parse_args()
    facts: dict[str, str] = {}
    rounds = 0
    while options.rounds is None or rounds < options.rounds:
        time.sleep(options.every if rounds else 0)
        rounds += 1
        try:
            probe = ce.probe(options.repository, options.worktrees, onto=options.onto)
        except RepositoryError as exc:  # a wrong name, or a worktree that was removed
            print(exc, file=sys.stderr)
            return 1
        now = facts_of(probe)
        for line in changed_lines(facts, now):
            print(line, flush=True)
        facts = now
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

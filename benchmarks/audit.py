"""Removes hunks of one side from good merges, and checks what `audit` reports as lost.

    python benchmarks/audit.py --dataset DIR --repos DIR [--count 2000] [--seed 1] [--verbose]

Takes every pair of a dataset's gold patches that `naive`, `union` or `structured` merges
without an open conflict. From each of these trees, some hunks of one side are removed at
random, again and again until there are --count different trees: half of them by
merging without these hunks, the others by applying the hunks in reverse to the merged tree.
An audit is right if it reports as lost exactly the lines that these hunks add and the
tree now lacks, and as undone exactly the removals that they make and that are undone. If
both sides make a change and it is gone, the other side lost it too. What is reported for the
good merge itself does not count, because `structured` rewrites lines.

Prints how many good merges have lines reported as lost. Then it prints the share of right
audits by strategy and kind of removal, how many of them name the exact place of each line, and
the milliseconds per audit. With --verbose, it prints each wrong audit.
"""

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from attrs import define, evolve, field, frozen
from repositories import add_dataset_options, tasks_with_bases

from cooperbench_eval import Changes, MergeOutcome, MergeStatus, Patch, Snapshot, apply_patch, merge
from cooperbench_eval.errors import CooperBenchEvalError
from cooperbench_eval.evaluation.auditing.audit import audit_of
from cooperbench_eval.git.patching import FileChange, FilePatch
from cooperbench_eval.reporting import Audit, Fate

STRATEGIES = ("naive", "union", "structured")
_DONE = {MergeStatus.CLEAN, MergeStatus.RESOLVED}
_Lines = Counter[tuple[str, bytes]]
"""Lines of files, counted."""
_Chosen = list[tuple[int, int]]
"""Hunks of a patch: the numbers of the file and of the hunk in it."""


@frozen
class Good:
    """A complete merge of two sides, from their patches.

    The last field has the lines that an audit of it reports as lost and as back, by side.
    """

    name: str
    strategy: str
    base: Snapshot
    patches: tuple[Patch, Patch]
    sides: tuple[Changes, Changes]
    merged: Changes
    reported: "tuple[tuple[_Lines, _Lines], ...]" = ()

    def audited(self) -> "Good":
        """Return the merge with what an audit reports."""
        found = audit_of(self.base, dict(enumerate(self.sides)), self.merged)
        return evolve(self, reported=tuple(_reported(found, side) for side in range(2)))


@frozen
class Damaged:
    """A merge without some hunks of one side, and what is missing.

    Attributes:
        good: The whole merge.
        side: Whose hunks they are: 0 for ours, 1 for theirs.
        kind: How they were removed.
        merged: The tree.
        added: The lines that the hunks add.
        removed: The lines that they remove.
        places: The added lines by their numbers, counted from 1.
    """

    good: Good
    side: int
    kind: str
    merged: Changes
    added: _Lines
    removed: _Lines
    places: frozenset[tuple[str, int]]


@define
class Tally:
    """How many audits are right."""

    audits: int = 0
    right: int = 0
    exact: int = 0
    seconds: float = 0.0
    problems: Counter[str] = field(factory=Counter)

    def __str__(self) -> str:
        """Show the counts as a line."""
        share = 100 * self.right / max(self.audits, 1)
        return (
            f"{self.right:,} of {self.audits:,} right ({share:.2f} %), {self.exact:,} with every "
            f"place, {1000 * self.seconds / max(self.audits, 1):.1f} ms"
        )


def good_merges(options: argparse.Namespace) -> Iterator[Good]:
    """Yield the complete merges of all pairs; theirs is the first feature, as in a pair."""
    for name, task, base in tasks_with_bases(options):
        sides = {n: apply_patch(base, task.gold_patch(n)).changes for n in task.features}
        # A gold patch may be placed leniently; these have the lines that the base has.
        patches = {n: Patch.parse(changes.diff(base)) for n, changes in sides.items()}
        for first, second in task.pairs:
            seen = set()
            for strategy in STRATEGIES:
                outcome = merged_by(strategy, base, sides[second], sides[first])
                if outcome is not None and outcome.changes not in seen:
                    seen.add(outcome.changes)
                    yield Good(
                        f"{name} f{first}+f{second}",
                        strategy,
                        base,
                        (patches[second], patches[first]),
                        (sides[second], sides[first]),
                        outcome.changes,
                    ).audited()


def merged_by(strategy: str, base: Snapshot, ours: Changes, theirs: Changes) -> MergeOutcome | None:
    """Merge two sides; return `None` if a conflict is left."""
    try:
        outcome = merge(base, ours, theirs, strategy=strategy)
    except CooperBenchEvalError:
        return None
    return outcome if outcome.status in _DONE else None


def damaged(good: Good, generator: random.Random) -> Damaged | None:
    """Remove some hunks of one side; return `None` if that cannot be done."""
    side = generator.randrange(2)
    files = good.patches[side].files
    hunks = [(i, j) for i, file in enumerate(files) for j in range(len(file.hunks))]
    if not hunks:
        return None
    chosen = sorted(generator.sample(hunks, generator.randint(1, min(len(hunks), 4))))
    kind = generator.choice(["left out", "reverted"])
    remove = without if kind == "left out" else reverted
    merged = remove(good, side, chosen)
    if merged is None or merged.tree_id(good.base) == good.merged.tree_id(good.base):
        return None
    added: _Lines = Counter()
    removed: _Lines = Counter()
    places = set()
    for i, j in chosen:
        file, hunk = files[i], files[i].hunks[j]
        line = hunk.new_start
        for text in hunk.lines:
            if text[:1] == b"+":
                added[file.path, text[1:].rstrip(b"\r\n")] += 1
                places.add((file.path, line))
            elif text[:1] == b"-":
                removed[file.path, text[1:].rstrip(b"\r\n")] += 1
            line += text[:1] != b"-"
    return Damaged(good, side, kind, merged, added, removed, frozenset(places))


def without(good: Good, side: int, chosen: _Chosen) -> Changes | None:
    """Merge again, without the chosen hunks."""
    patch = good.patches[side]
    files = []
    for i, file in enumerate(patch.files):
        kept = [hunk for j, hunk in enumerate(file.hunks) if (i, j) not in chosen]
        if kept or not file.hunks:
            files.append(evolve(file, hunks=kept))
        elif file.change is FileChange.RENAME or file.new_mode not in {None, file.old_mode}:
            return None  # not only lines
    result = apply_patch(good.base, Patch(files=files))
    if not result.status.is_usable:
        return None
    sides = list(good.sides)
    sides[side] = result.changes
    outcome = merged_by(good.strategy, good.base, *sides)
    return None if outcome is None else outcome.changes


def reverted(good: Good, side: int, chosen: _Chosen) -> Changes | None:
    """Apply the chosen hunks in reverse to the merged tree."""
    tree = good.base.overlay(good.merged)
    patch = good.patches[side]
    files = []
    for i in dict.fromkeys(i for i, _ in chosen):
        file = patch.files[i]
        if file.change is not FileChange.MODIFY:
            return None
        hunks = [file.hunks[j].reversed for k, j in chosen if k == i]
        files.append(
            FilePatch(change=file.change, old_path=file.path, new_path=file.path, hunks=hunks)
        )
    result = apply_patch(tree, Patch(files=files))
    if not result.status.is_usable or any(
        hunk.rung not in {"exact", "offset"} for hunk in result.hunks
    ):
        return None
    return Changes.between(good.base, tree.overlay(result.changes))


def check(case: Damaged, tally: Tally, *, verbose: bool) -> None:
    """Audit a damaged merge, and count whether the audit is right."""
    began = time.perf_counter()
    found = audit_of(case.good.base, dict(enumerate(case.good.sides)), case.merged)
    tally.seconds += time.perf_counter() - began
    problems = list(_problems(case, found))
    tally.audits += 1
    tally.right += not problems
    tally.exact += not problems and _places(found, case.side) == case.places
    for kind, text in problems:
        tally.problems[kind] += 1
        if verbose:
            good = case.good
            print(f"  {good.name} {good.strategy} side {case.side} {case.kind}: {kind}: {text}")


def _problems(case: Damaged, found: Audit) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with an audit."""
    before, after = (_in_tree(case, each) for each in (case.good.merged, case.merged))
    lost, back = _reported(found, case.side)
    if missed := (case.added & (before - after)) - lost:
        yield "lost lines that are not named", _shown(missed)
    known = case.good.reported[case.side]
    if extra := lost - case.added - known[0]:
        yield "lines that are named but not lost", _shown(extra)
    if missed := (case.removed & (after - before)) - back:
        yield "undone removals that are not named", _shown(missed)
    if extra := back - case.removed - known[1]:
        yield "removals that are named but not undone", _shown(extra)
    shared = case.added & _lines(case.good, 1 - case.side), case.removed
    known = case.good.reported[1 - case.side]
    for reported, *allowed in zip(_reported(found, 1 - case.side), shared, known, strict=True):
        if extra := reported - allowed[0] - allowed[1]:
            yield "work of the other side that is named", _shown(extra)


def _in_tree(case: Damaged, merged: Changes) -> _Lines:
    """Count the lines of the files that the hunks touch in a merged tree."""
    found: _Lines = Counter()
    tree = case.good.base.overlay(merged)
    for path in {path for path, _ in (*case.added, *case.removed)}:
        entry = tree.get(path)
        found.update((path, text) for text in _split(entry.data if entry else b""))
    return found


def _shown(lines: _Lines) -> str:
    return ", ".join(f"{path}: {text!r} ({count})" for (path, text), count in lines.items())


def _reported(found: Audit, side: int) -> tuple[_Lines, _Lines]:
    """Return the lines of a side that are reported as lost, and as back."""
    lost: _Lines = Counter()
    back: _Lines = Counter()
    for file in found.of(side):
        for group, into in ((file.added, lost), (file.removed, back)):
            for each in group:
                if each.fate is Fate.LOST:
                    into.update((file.path, text) for text in _split(each.text))
    return lost, back


def _split(text: bytes) -> Sequence[bytes]:
    lines = text.split(b"\n")
    return [line.rstrip(b"\r") for line in (lines if lines[-1] else lines[:-1])]


def _places(found: Audit, side: int) -> frozenset[tuple[str, int]]:
    return frozenset(
        (file.path, line)
        for file in found.of(side)
        for each in file.lost
        for line in range(each.first, each.last + 1)
    )


def _lines(good: Good, side: int) -> _Lines:
    """Return the lines that a side adds."""
    return Counter(
        (file.path, text[1:].rstrip(b"\r\n"))
        for file in good.patches[side].files
        for hunk in file.hunks
        for text in hunk.lines
        if text[:1] == b"+"
    )


def main() -> None:
    """Print the share of right audits."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_dataset_options(parser, required=True)
    parser.add_argument("--count", type=int, default=2000, help="how many damaged merges")
    parser.add_argument("--seed", type=int, default=1, help="of the random choices")
    parser.add_argument("--verbose", action="store_true", help="print every wrong audit")
    options = parser.parse_args()
    generator = random.Random(options.seed)  # noqa: S311
    goods = list(good_merges(options))
    for strategy in STRATEGIES:
        found = [each for each in goods if each.strategy == strategy]
        noted = sum(any(map(any, each.reported)) for each in found)
        print(f"{len(found):,} good merges of {strategy}, {noted:,} with lines reported as lost")
    tallies: dict[tuple[str, str], Tally] = {}
    total, seen = Tally(), set()
    for _ in range(50 * options.count):
        if total.audits == options.count:
            break
        good = generator.choice(goods)
        case = damaged(good, generator)
        if case is None or (key := (good.name, case.side, case.merged)) in seen:
            continue
        seen.add(key)
        tally = Tally()
        check(case, tally, verbose=options.verbose)
        for each in (total, tallies.setdefault((good.strategy, case.kind), Tally())):
            each.audits += tally.audits
            each.right += tally.right
            each.exact += tally.exact
            each.seconds += tally.seconds
            each.problems += tally.problems
    for name, tally in sorted(tallies.items()):
        print(f"{' '.join(name):<22}{tally}")
    print(f"{'all':<22}{total}")
    for kind, count in total.problems.most_common():
        print(f"    {count:,} with {kind}")


if __name__ == "__main__":
    main()

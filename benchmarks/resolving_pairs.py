"""Gold or given patches in pairs, and how each strategy resolves them."""

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path

from attrs import field, frozen

from cooperbench_eval import (
    Changes,
    Entry,
    MergeStatus,
    MergeStrategy,
    Patch,
    PatchStatus,
    Snapshot,
    Task,
    apply_patch,
    cascade,
    get_strategy,
    merge,
)
from cooperbench_eval.errors import StrategyError, StrategyFailedError
from cooperbench_eval.git.patching import TestFileFilter

__all__ = [
    "LANGUAGES",
    "Pair",
    "Patches",
    "Resolution",
    "load_strategies",
    "main_language",
    "patches_of",
    "resolve_task",
]

LANGUAGES = {
    ".py": "Python",
    ".js": "JavaScript",
    ".jsx": "JavaScript",
    ".ts": "TypeScript",
    ".tsx": "TypeScript",
    ".go": "Go",
    ".rs": "Rust",
}
CASCADE = "structured+tokens+union"

# --- strategies -------------------------------------------------------------


def load_strategies(specs: Iterable[str]) -> dict[str, MergeStrategy]:
    """Build the strategies, with a line for each that cannot be built."""
    found: dict[str, MergeStrategy] = {}
    for spec in specs:
        try:
            found[spec] = build_strategy(spec)
        except StrategyError as exc:
            print(f"{spec}: passed over, {exc}")
        else:
            warm_up(found[spec])
    return found


def build_strategy(spec: str) -> MergeStrategy:
    """Build one strategy, a cascade of several, or a variant.

    Raises:
        StrategyError: The strategy cannot be built.
    """
    members = [build_member(name) for name in (CASCADE if spec == "cascade" else spec).split("+")]
    return members[0] if len(members) == 1 else cascade(*members)


def build_member(name: str) -> MergeStrategy:
    """Build one strategy; `structured-strict` changes only conflicts."""
    if name == "structured-strict":
        return get_strategy("structured", resettles=False)
    return get_strategy(name)


def warm_up(strategy: MergeStrategy) -> None:
    """Let the strategy import its dependencies, so that no pair pays for it."""
    base = Snapshot.from_files({"a.py": b"x = 1\n"})
    ours, theirs = (Changes({"a.py": Entry(text)}) for text in (b"x = 2\n", b"x = 3\n"))
    with contextlib.suppress(StrategyFailedError):
        merge(base, ours, theirs, strategy=strategy)


# --- resolving --------------------------------------------------------------


@frozen(kw_only=True)
class Resolution:
    """A strategy's resolution of a pair.

    Attributes:
        changes: The merged changes.
        tree_id: The merged tree; empty if a conflict is left.
        note: The open conflicts, or why the strategy failed; otherwise empty.
    """

    changes: Changes = field(factory=Changes, repr=False)
    tree_id: str = ""
    note: str = ""

    @property
    def accepted(self) -> bool:
        """Return whether no conflict is left."""
        return bool(self.tree_id)


@frozen(kw_only=True)
class Pair:
    """A conflicting pair, its sides, and each strategy's resolution.

    Attributes:
        task: The task.
        features: The numbers of its features.
        source: The folder of the patches; empty for the gold patches.
        sides: What the features change, each without test files.
        alone: The tree of each feature alone.
        resolutions: The resolution of each strategy.
    """

    task: str
    features: tuple[int, int]
    source: str = ""
    sides: tuple[Changes, Changes] = field(repr=False)
    alone: tuple[str, str] = field(repr=False)
    resolutions: dict[str, Resolution] = field(repr=False)

    def __str__(self) -> str:
        """Name the pair."""
        name = f"{self.task} f{self.features[0]}+f{self.features[1]}"
        return f"{name} of {self.source}" if self.source else name


@frozen(kw_only=True)
class Patches:
    """One patch for each of some features of a task."""

    source: str = ""
    of_feature: Mapping[int, Patch] = field(repr=False)


def patches_of(task: Task, folder: Path | None) -> Iterator[Patches]:
    """Yield the task's gold patches, or those in *folder*.

    In *folder*, the patches of a task are in the folders that end with its name, such as
    `pallets_click_task_2068` or `first_pallets_click_task_2068`, as `feature1.patch` and
    so on.
    """
    if folder is None:
        yield Patches(of_feature={n: task.gold_patch(n) for n in task.features})
        return
    name = f"{task.repo_name}_{task.task_id}"
    for child in sorted(folder.iterdir()):
        if child.name == name or child.name.endswith(f"_{name}"):
            files = {n: child / f"feature{n}.patch" for n in task.features}
            found = {n: Patch.read(file) for n, file in files.items() if file.is_file()}
            yield Patches(source=child.name, of_feature=found)


def resolve_task(
    task: Task, base: Snapshot, patches: Patches, strategies: dict[str, MergeStrategy]
) -> Iterator[Pair]:
    """Yield each pair of the task's patches that conflicts, resolved by each strategy."""
    name = f"{task.repo_name}/{task.task_id}"
    for features, sides in applied_pairs(task, base, patches):
        if sides is None:
            print(f"{name} f{features[0]}+f{features[1]}: passed over, a patch does not apply")
            continue
        theirs, ours = sides
        if merge(base, ours, theirs).status is MergeStatus.CLEAN:
            continue
        resolutions = {
            spec: resolve(strategy, base, ours, theirs) for spec, strategy in strategies.items()
        }
        yield Pair(
            task=name,
            features=features,
            source=patches.source,
            sides=sides,
            alone=(theirs.tree_id(base), ours.tree_id(base)),
            resolutions=resolutions,
        )


def applied_pairs(
    task: Task, base: Snapshot, patches: Patches
) -> Iterator[tuple[tuple[int, int], tuple[Changes, Changes] | None]]:
    """Apply both patches of each pair without their test files, as an evaluation does.

    Yields the features and the changes, or `None` if a patch does not apply.
    """
    for first, second in combinations(sorted(patches.of_feature), 2):
        tests = [task.tests_patch(number) for number in (first, second)]
        one, other = (
            apply_patch(base, TestFileFilter().split(patches.of_feature[number], tests)[0])
            for number in (first, second)
        )
        applied = {one.status, other.status} <= {PatchStatus.APPLIED, PatchStatus.PARTIAL}
        yield (first, second), (one.changes, other.changes) if applied else None


def resolve(strategy: MergeStrategy, base: Snapshot, ours: Changes, theirs: Changes) -> Resolution:
    """Merge with one strategy; a failure counts as an open conflict."""
    try:
        outcome = merge(base, ours, theirs, strategy=strategy)
    except StrategyFailedError as exc:
        return Resolution(note=f"failed: {exc.problem}")
    if outcome.status is MergeStatus.RESOLVED:
        return Resolution(changes=outcome.changes, tree_id=outcome.tree_id(base))
    reasons = dict.fromkeys(f"{row.path}: {row.reason}" for row in outcome.ledger if row.is_open)
    note = f"{len(outcome.conflicts)} of {outcome.conflicts_met} open: {', '.join(reasons)}"
    if outcome.failure:
        note = f"failed: {outcome.failure}"
    return Resolution(changes=outcome.changes, note=note)


def main_language(paths: Iterable[str]) -> str:
    """Return the language of most of the files that a pair changes."""
    counts = Counter(LANGUAGES.get(Path(path).suffix, "other") for path in paths)
    return counts.most_common(1)[0][0]

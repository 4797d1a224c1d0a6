"""How often hazards accompany broken merges, and how often good ones.

    python benchmarks/bench_hazards.py [--dataset DIR --repos DIR] [--store DIR]
        [--strategy NAME ...] [--task NAME/ID ...] [--generated N] [--show]

Three measurements:

- Generated merges: small programs that two sides change at random and that git merges
  without a conflict. A merge is broken if the merged program fails and both sides' do not.
- Gold pairs, with --dataset and --repos: the merges of each strategy that left no conflict,
  how many have hazards of each kind, and the milliseconds of processor time for a pair.
- With --store as well: the gold pairs that were evaluated with tests, for example by
  `gold_matrix(task, store=DIR, ...)`. A merge is broken if its verdict is incorrect
  although both features pass alone. Only merges with the same tree count.
"""

import argparse
import random
import statistics
import sys
import time
import types
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import field, frozen
from repositories import tasks_with_bases
from resolving_pairs import applied_pairs, patches_of

from cooperbench_eval import (
    Changes,
    Entry,
    MergeReport,
    MergeStatus,
    ReportStore,
    Snapshot,
    Verdict,
    merge,
)
from cooperbench_eval.errors import StrategyError
from cooperbench_eval.languages.hazards.finding import find_hazards
from cooperbench_eval.languages.hazards.kinds import Hazard

# --- tables


@frozen
class Table:
    """Merges by whether they are broken and whether they have hazards."""

    counts: Counter[tuple[bool, bool]] = field(factory=Counter)

    def add(self, *, is_broken: bool, has_hazards: bool) -> None:
        """Count a merge."""
        self.counts[is_broken, has_hazards] += 1

    def show(self, title: str) -> None:
        """Print the four counts with the shares of the rows."""
        print(f"{title:<44}{'hazards':>9}{'none':>9}{'share':>9}")
        for name, is_broken in (("broken", True), ("good", False)):
            some, none = self.counts[is_broken, True], self.counts[is_broken, False]
            share = f"{some / (some + none):.1%}" if some + none else "-"
            print(f"  {name:<42}{some:>9}{none:>9}{share:>9}")


# --- generated merges

FUNCTIONS, LINES_BETWEEN = 8, 6


@frozen
class Program:
    """A library of functions that return their name and arguments, and calls that check them.

    Attributes:
        functions: The parameters of each function, by its name.
        results: What each function returns in front of its arguments.
        calls: The functions that the program calls, in order, by place.
    """

    functions: dict[str, tuple[str, ...]]
    results: dict[str, str]
    calls: dict[int, str]

    def files(self) -> dict[str, bytes]:
        """Write the library and the program."""
        library = []
        for function, parameters in self.functions.items():
            shown, result = ", ".join(parameters), self.results[function]
            library.append(f"def {function}({shown}):\n    return {result!r}, {shown},\n")
        program = ["import library\n"]
        for place in range(FUNCTIONS * 2):
            program += [f"# step {place}.{line}\n" for line in range(LINES_BETWEEN)]
            name = self.calls.get(place, "")
            if name in self.functions:
                given = ", ".join(str(i) for i in range(len(self.functions[name])))
                program.append(
                    f"assert library.{name}({given}) == ({self.results[name]!r}, {given},)\n"
                )
        spaced = "".join(f"{text}\n" + f"# {text[4:6]}\n" * LINES_BETWEEN for text in library)
        return {"library.py": spaced.encode(), "program.py": "".join(program).encode()}


def make_program() -> Program:
    """Return the program that both sides start from; every second function is called."""
    names = [f"f{n}" for n in range(FUNCTIONS)]
    return Program(
        functions={name: ("a", "b")[: 1 + n % 2] for n, name in enumerate(names)},
        results={name: name for name in names},
        calls={4 * n: name for n, name in enumerate(names[::2])},
    )


def edit(program: Program, number: int, rng: random.Random) -> Program:
    """Change a function with all its calls, or add a function or a call."""
    functions, results, calls = dict(program.functions), dict(program.results), dict(program.calls)
    name = rng.choice(list(functions))
    match rng.randrange(6):
        case 0:
            new = f"{name}_new"
            functions = {new if n == name else n: p for n, p in functions.items()}
            results[new] = results.pop(name)
            calls = {place: new if n == name else n for place, n in calls.items()}
        case 1:
            del functions[name]
            calls = {place: n for place, n in calls.items() if n != name}
        case 2:
            functions[name] = (*functions[name], "c")
        case 3:
            functions[name] = functions[name][::-1]
        case 4:
            new = f"added{rng.randrange(3)}"
            at = rng.randrange(len(functions))
            listed = list(functions.items())
            functions = dict([*listed[:at], (new, ("a",)), *listed[at:]])
            results[new] = f"{new} of side {number}"
            calls[rng.choice([n for n in range(FUNCTIONS * 2) if n not in calls])] = new
        case _:
            calls[rng.choice([n for n in range(FUNCTIONS * 2) if n not in calls])] = name
    return Program(functions, results, calls)


def works(files: Mapping[str, bytes]) -> bool:
    """Run a program; return whether it ends without an exception."""
    library = types.ModuleType("library")
    sys.modules["library"] = library
    try:
        exec(files["library.py"], library.__dict__)  # noqa: S102 - written above
        exec(files["program.py"], {})  # noqa: S102
    except Exception:  # noqa: BLE001 - any exception means broken
        return False
    finally:
        del sys.modules["library"]
    return True


def measure_generated(number: int) -> None:
    """Print the table of merges of generated programs, and the kinds of hazards."""
    rng, table, kinds = random.Random(18), Table(), Counter[str]()  # noqa: S311 - reproducible
    while table.counts.total() < number:
        base = make_program()
        sides = []
        for side in (1, 2):
            program = base
            for _ in range(rng.randint(1, 2)):
                program = edit(program, side, rng)
            sides.append(program.files())
        tree = Snapshot.from_files(base.files())
        ours, theirs = (Changes({p: Entry(t) for p, t in files.items()}) for files in sides)
        outcome = merge(tree, ours, theirs)
        if outcome.status is not MergeStatus.CLEAN or not all(map(works, sides)):
            continue
        merged = tree.overlay(outcome.changes)
        found = find_hazards(tree, {2: ours, 1: theirs}, outcome.changes)
        is_good = works({path: merged.read(path) for path in merged.paths()})
        table.add(is_broken=not is_good, has_hazards=bool(found))
        kinds.update({hazard.kind.value for hazard in found})
    table.show("generated merges without conflict")
    print(f"  merges by kind of hazard: {dict(kinds)}")


# --- gold pairs


@frozen
class Merged:
    """A strategy's merge of a gold pair that left no conflict."""

    task: str
    features: tuple[int, int]
    strategy: str
    status: MergeStatus
    tree_id: str
    hazards: tuple[Hazard, ...]
    merge_seconds: float
    hazard_seconds: float


def gold_merges(options: argparse.Namespace) -> Iterator[Merged]:
    """Yield the merges of the gold pairs; a strategy that cannot run is passed over."""
    for name, task, base in tasks_with_bases(options, options.task):
        gold = next(patches_of(task, None))
        for pair, sides in applied_pairs(task, base, gold):
            for strategy in options.strategy if sides else ():
                theirs, ours = sides or (Changes(), Changes())
                began = time.process_time()
                try:
                    outcome = merge(base, ours, theirs, strategy=strategy)
                except StrategyError as exc:
                    print(f"{name}: {strategy} passed over, {exc}", file=sys.stderr)
                    continue
                done = time.process_time()
                if outcome.status not in {MergeStatus.CLEAN, MergeStatus.RESOLVED}:
                    continue
                first, second = pair
                found = find_hazards(base, {second: ours, first: theirs}, outcome.changes)
                seconds = time.process_time() - done
                tree_id = outcome.tree_id(base)
                yield Merged(
                    name, pair, strategy, outcome.status, tree_id, found, done - began, seconds
                )


_Key = tuple[str, tuple[int, int], str]


def read_verdicts(store: Path) -> dict[_Key, bool]:
    """Return whether each tested merge is broken; a pair whose features fail alone is left out."""
    verdicts: dict[_Key, bool] = {}
    for report in ReportStore(store):
        if not isinstance(report, MergeReport):
            continue
        if not all(each.tests_passed for each in (report.feature1, report.feature2)):
            continue
        pair = report.numbers
        for attempt in report.attempts:
            if attempt.tree_id and attempt.verdict in {Verdict.CORRECT, Verdict.INCORRECT}:
                key = f"{report.repo_name}/{report.task_id}", pair, attempt.tree_id
                verdicts[key] = attempt.verdict is Verdict.INCORRECT
    return verdicts


def measure_gold(options: argparse.Namespace) -> None:
    """Print the hazards of the gold merges, their cost, and the tables of the tested ones."""
    verdicts = read_verdicts(options.store) if options.store else {}
    merges = []
    for merged in gold_merges(options):
        merges.append(merged)
        for hazard in merged.hazards if options.show else ():
            print(f"{merged.task} {merged.features} {merged.strategy}: {hazard.message}")
    for strategy in options.strategy:
        for status in (MergeStatus.CLEAN, MergeStatus.RESOLVED):
            found = [m for m in merges if (m.strategy, m.status) == (strategy, status)]
            kinds = Counter(kind for m in found for kind in {h.kind.value for h in m.hazards})
            some = sum(bool(m.hazards) for m in found)
            print(
                f"{strategy:<12}{status:<10}{len(found):>5} merges, {some:>4} with hazards "
                f"{dict(kinds)}"
            )
            tested = Table()
            for m in found:
                if (key := (m.task, m.features, m.tree_id)) in verdicts:
                    tested.add(is_broken=verdicts[key], has_hazards=bool(m.hazards))
            if tested.counts:
                tested.show(f"  {strategy}, {status}, tested")
    for name, status in (("clean", MergeStatus.CLEAN), ("resolved", MergeStatus.RESOLVED)):
        times = [1000 * m.hazard_seconds for m in merges if m.status is status]
        others = [1000 * m.merge_seconds for m in merges if m.status is status]
        if times:
            print(
                f"{name}: median {statistics.median(times):.1f} ms for hazards and "
                f"{statistics.median(others):.1f} ms to merge; at most {max(times):.0f} ms"
            )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dataset", type=Path, help="folder in the dataset layout")
    parser.add_argument("--repos", type=Path, help="folder above the repositories")
    parser.add_argument("--store", type=Path, help="store of evaluated gold pairs")
    parser.add_argument("--task", action="append", help="default: all")
    parser.add_argument(
        "--strategy", action="append", help="default: naive, union, structured, cascade"
    )
    parser.add_argument("--generated", type=int, default=500, help="how many programs to merge")
    parser.add_argument("--show", action="store_true", help="print the hazards of gold pairs")
    options = parser.parse_args()
    options.strategy = options.strategy or ["naive", "union", "structured", "cascade"]
    if options.generated:
        measure_generated(options.generated)
    if options.dataset and options.repos:
        measure_gold(options)


if __name__ == "__main__":
    main()

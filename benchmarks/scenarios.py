"""Compares strategies with the expected results of another tool's merge scenarios.

    python benchmarks/scenarios.py --scenarios DIR [--language NAME ...]
        [--strategy NAME ...] [--show]

DIR holds LANGUAGE/working/CASE with the files Base, Left, Right and Expected, each with
the language's extension, as Mergiraf's `examples` do. Left is ours, Right is theirs.

A scenario whose expected file has no conflict markers is *exact* if the strategy leaves
no conflict and the merged bytes are equal; *layout* if only white space that means
nothing, or a comma before a closing bracket, differs; *words* if the same words and
symbols are differently ordered or indented; *other* if the text differs more; *declined*
if a conflict is left. A *words* or *other* result is not always wrong: --show prints what
differs. A scenario whose expected file has conflict markers should stay open: *kept* or
*resolved*.
"""

import argparse
import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path

from attrs import field, frozen
from resolving_pairs import load_strategies

from cooperbench_eval import Changes, Entry, MergeStrategy, Snapshot, merge
from cooperbench_eval.errors import StrategyFailedError

LANGUAGES = ("python", "javascript", "typescript", "go", "rust", "java", "c", "cpp")
STRATEGIES = ("structured", "cascade")


class Ending(StrEnum):
    """How a strategy's result compares with the expected one."""

    EXACT = "exact"
    LAYOUT = "layout"
    WORDS = "words"
    OTHER = "other"
    DECLINED = "declined"
    KEPT = "kept"
    RESOLVED = "resolved"


MISMATCHES = (Ending.WORDS, Ending.OTHER, Ending.DECLINED, Ending.RESOLVED)


@frozen(kw_only=True)
class Scenario:
    """Three versions of a file, and the expected result of their merge."""

    language: str
    name: str
    path: str
    base: bytes = field(repr=False)
    left: bytes = field(repr=False)
    right: bytes = field(repr=False)
    expected: bytes = field(repr=False)

    @property
    def should_stay_open(self) -> bool:
        """Whether the expected result has conflict markers."""
        return b"<<<<<<<" in self.expected


def scenarios_in(folder: Path, languages: Iterable[str]) -> Iterator[Scenario]:
    """Read the scenarios of the languages."""
    for language in languages:
        for case in sorted((folder / language / "working").glob("*/")):
            versions = {file.stem: file for file in sorted(case.iterdir())}
            if {"Base", "Left", "Right", "Expected"} <= versions.keys():
                yield Scenario(
                    language=language,
                    name=case.name,
                    path=f"file{versions['Base'].suffix}",
                    base=versions["Base"].read_bytes(),
                    left=versions["Left"].read_bytes(),
                    right=versions["Right"].read_bytes(),
                    expected=versions["Expected"].read_bytes(),
                )


@frozen(kw_only=True)
class Outcome:
    """A strategy's result of a scenario; its text is empty if a conflict is left."""

    ending: Ending
    text: bytes = field(default=b"", repr=False)
    reason: str = ""


def try_scenario(scenario: Scenario, strategy: MergeStrategy) -> Outcome:
    """Merge the scenario and compare."""
    base = Snapshot.from_files({scenario.path: scenario.base})
    ours = Changes({scenario.path: Entry(scenario.left)})
    theirs = Changes({scenario.path: Entry(scenario.right)})
    left_open = Ending.KEPT if scenario.should_stay_open else Ending.DECLINED
    try:
        merged = merge(base, ours, theirs, strategy=strategy)
    except StrategyFailedError as exc:
        return Outcome(ending=left_open, reason=exc.problem)
    if merged.conflicts:
        reasons = dict.fromkeys(row.reason for row in merged.ledger if row.is_open)
        return Outcome(ending=left_open, reason=", ".join(reasons))
    text = base.overlay(merged.changes).read(scenario.path)
    return Outcome(ending=comparison(scenario, text), text=text)


def comparison(scenario: Scenario, text: bytes) -> Ending:
    """Compare a text without conflicts with the expected one."""
    if scenario.should_stay_open:
        return Ending.RESOLVED
    if text == scenario.expected:
        return Ending.EXACT
    if essence(scenario.path, text) == essence(scenario.path, scenario.expected):
        return Ending.LAYOUT
    if words(text) == words(scenario.expected):
        return Ending.WORDS
    return Ending.OTHER


def essence(path: str, text: bytes) -> bytes:
    """Return the text without white space that means nothing, and without trailing commas."""
    text = re.sub(rb",(?=\s*[)\]}])", b"", text)
    if not path.endswith(".py"):
        return re.sub(rb"\s+", b"", text)
    lines = (re.sub(rb"(?<=\S)\s+", b"", line) for line in text.splitlines())
    return b"\n".join(line for line in lines if line.strip())


def words(text: bytes) -> Counter[bytes]:
    """Count the words and symbols of a text, without commas."""
    return Counter(re.findall(rb"\w+|[^\w\s,]", text))


def print_table(outcomes: dict[str, list[tuple[Scenario, Outcome]]]) -> None:
    """Print one row for each language and strategy, and their totals."""
    counted = [ending.value for ending in Ending]
    print(f"{'':<14}{'strategy':<24}{'cases':>6}" + "".join(f"{e:>10}" for e in counted))
    languages = dict.fromkeys(s.language for found in outcomes.values() for s, _ in found)
    for language in (*languages, "all"):
        for spec, found in outcomes.items():
            here = [o.ending for s, o in found if language in {s.language, "all"}]
            counts = Counter(here)
            cells = "".join(f"{counts[ending]:>10}" for ending in Ending)
            print(f"{language:<14}{spec:<24}{len(here):>6}{cells}")


def print_mismatches(outcomes: dict[str, list[tuple[Scenario, Outcome]]], *, show: bool) -> None:
    """List what is not as expected; with *show*, with the differences."""
    for spec, found in outcomes.items():
        for scenario, outcome in found:
            if outcome.ending in MISMATCHES:
                why = f" ({outcome.reason})" if outcome.reason else ""
                print(f"{spec}: {scenario.language}/{scenario.name} {outcome.ending}{why}")
            if show and outcome.ending in MISMATCHES and outcome.text:
                print(difference(scenario.expected, outcome.text))


def difference(expected: bytes, found: bytes) -> str:
    """Return a diff of two texts."""
    before, after = (text.decode(errors="replace").splitlines() for text in (expected, found))
    lines = difflib.unified_diff(before, after, "expected", "merged", lineterm="")
    return "\n".join(f"    {line}" for line in lines)


def main() -> None:
    """Print the table and the mismatches."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scenarios", type=Path, required=True, help="folder of the languages")
    parser.add_argument("--language", action="append", help=f"default: {', '.join(LANGUAGES)}")
    parser.add_argument("--strategy", action="append", help=f"default: {', '.join(STRATEGIES)}")
    parser.add_argument("--show", action="store_true", help="print how the texts differ")
    options = parser.parse_args()
    strategies = load_strategies(dict.fromkeys(options.strategy or STRATEGIES))
    scenarios = list(scenarios_in(options.scenarios, options.language or LANGUAGES))
    outcomes = {
        spec: [(scenario, try_scenario(scenario, strategy)) for scenario in scenarios]
        for spec, strategy in strategies.items()
    }
    print_table(outcomes)
    print_mismatches(outcomes, show=options.show)


if __name__ == "__main__":
    main()

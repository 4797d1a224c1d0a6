"""The tables of resolved pairs: by their suites, or by their text alone."""

import ast
import warnings
from collections.abc import Iterable

from attrs import frozen
from resolving_pairs import LANGUAGES, Pair
from resolving_suites import DEVELOPMENT, Results, language_of

from cooperbench_eval import Changes, TestStatus, Verdict
from cooperbench_eval.analysis.intervals import mcnemar, wilson
from cooperbench_eval.languages.files import find_syntax_fault

__all__ = ["Judge", "print_judged", "print_textual"]

# --- verdicts ---------------------------------------------------------------


@frozen(kw_only=True)
class Tally:
    """How many pairs a strategy got right, got wrong, and left."""

    pairs: int
    correct: int
    incorrect: int

    @property
    def accepted(self) -> int:
        """Pairs in which it left no conflict."""
        return self.correct + self.incorrect

    def __str__(self) -> str:
        """Show the counts and the two shares."""
        return (
            f"{self.pairs:>6}{self.correct:>9}{self.incorrect:>11}{self.pairs - self.accepted:>11}"
            f"   {share(self.correct, self.accepted):<24}{share(self.accepted, self.pairs):<24}"
        )


HEADER = (
    f"{'':<30}{'pairs':>6}{'correct':>9}{'incorrect':>11}{'unhandled':>11}"
    f"   {'precision':<24}{'accepted':<24}against union"
)


def share(count: int, total: int) -> str:
    """Show a percentage with its interval."""
    if not total:
        return "-"
    low, high = wilson(count, total, 0.95)
    return f"{100 * count / total:5.1f} [{100 * low:4.1f}, {100 * high:5.1f}]"


class Judge:
    """Knows the verdict on every resolution."""

    def __init__(self, results: Results) -> None:
        """Judge by *results*, which hold every run."""
        self._results = results

    def verdict(self, pair: Pair, spec: str) -> Verdict:
        """Return the verdict on the strategy."""
        if not pair.resolutions[spec].accepted:
            return Verdict.UNHANDLED
        return Verdict.INCORRECT if self.failing(pair, spec) else Verdict.CORRECT

    def failing(self, pair: Pair, spec: str) -> list[str]:
        """Name the features whose suites do not pass, and their statuses."""
        tree_id = pair.resolutions[spec].tree_id
        return self._not_passed(pair.task, dict.fromkeys(pair.features, tree_id))

    def failing_alone(self, pair: Pair) -> list[str]:
        """Name the features whose suites do not even pass without the other feature."""
        return self._not_passed(pair.task, dict(zip(pair.features, pair.alone, strict=True)))

    def _not_passed(self, task: str, trees: dict[int, str]) -> list[str]:
        ends = {n: self._results.status((task, n, tree)) for n, tree in trees.items()}
        return [f"f{n} {end}" for n, end in ends.items() if end is not TestStatus.PASSED]

    def tally(self, pairs: list[Pair], spec: str) -> Tally:
        """Count the verdicts."""
        verdicts = [self.verdict(pair, spec) for pair in pairs]
        return Tally(
            pairs=len(pairs),
            correct=verdicts.count(Verdict.CORRECT),
            incorrect=verdicts.count(Verdict.INCORRECT),
        )

    def against_union(self, pairs: list[Pair], spec: str) -> str:
        """Show the pairs that only one of the two gets right."""
        if spec == "union" or any("union" not in pair.resolutions for pair in pairs):
            return ""
        both = [(self._right(pair, spec), self._right(pair, "union")) for pair in pairs]
        more, less = both.count((True, False)), both.count((False, True))
        return f"+{more} -{less}  p = {mcnemar(min(more, less), more + less):.2g}"

    def _right(self, pair: Pair, spec: str) -> bool:
        return self.verdict(pair, spec) is Verdict.CORRECT

    def describe(self, pair: Pair, spec: str) -> str:
        """Show one verdict, and the reason if it is not correct."""
        note = pair.resolutions[spec].note or ", ".join(self.failing(pair, spec))
        return f"{spec} {self.verdict(pair, spec)}" + (f" ({note})" if note else "")


def print_verdicts(title: str, pairs: list[Pair], specs: Iterable[str], judge: Judge) -> None:
    """Print one row for each strategy."""
    if pairs:
        print(title)
    for spec in specs if pairs else ():
        row = f"  {spec:<28}{judge.tally(pairs, spec)}{judge.against_union(pairs, spec)}"
        print(row.rstrip())


def print_judged(pairs: list[Pair], specs: list[str], judge: Judge, *, show: bool) -> None:
    """Print the table of the tasks with suites: by task, language and group, and in total."""
    judged = [pair for pair in pairs if not judge.failing_alone(pair)]
    print_left_out(pairs, judge)
    for pair in judged if show else ():
        print(f"{pair}: " + "; ".join(judge.describe(pair, spec) for spec in specs))
    print(HEADER)
    for group in ("development", "held-out"):
        of_group = [pair for pair in judged if is_seen(pair) == (group == "development")]
        for task in dict.fromkeys(pair.task for pair in of_group):
            print_verdicts(task, [p for p in of_group if p.task == task], specs, judge)
        by_language(f"all {group}", of_group, specs, judge)
    by_language("all", judged, specs, judge)


def is_seen(pair: Pair) -> bool:
    """Whether the pair was looked at when the strategies were developed."""
    return pair.source.startswith("dev_") if pair.source else pair.task in DEVELOPMENT


def print_left_out(pairs: list[Pair], judge: Judge) -> None:
    """Count the pairs of which a side alone fails: no merge of them can be judged."""
    left_out = [pair for pair in pairs if judge.failing_alone(pair)]
    for task in dict.fromkeys(pair.task for pair in left_out):
        of_task = [pair for pair in left_out if pair.task == task]
        ends = dict.fromkeys(end for pair in of_task for end in judge.failing_alone(pair))
        print(f"{task}: {len(of_task)} pairs not judged; alone, {', '.join(ends)}")


def by_language(title: str, pairs: list[Pair], specs: list[str], judge: Judge) -> None:
    """Print the rows of each language, then those of all if there are several."""
    languages = {language_of(pair.task) for pair in pairs}
    for language in sorted(languages):
        of_language = [pair for pair in pairs if language_of(pair.task) == language]
        print_verdicts(f"{title}, {language}", of_language, specs, judge)
    if len(languages) > 1:
        print_verdicts(title, pairs, specs, judge)


# --- text alone -------------------------------------------------------------


def print_textual(pairs: list[Pair], specs: list[str], *, show: bool) -> None:
    """Print how the tasks without suites were resolved: by task, and in total."""
    for pair in pairs if show else ():
        print(f"{pair}: " + "; ".join(describe_text(pair, spec) for spec in specs))
    print(
        f"{'without tests':<30}{'pairs':>6}{'accepted':>10}{'left open':>11}   merged files parse"
    )
    for task in dict.fromkeys(pair.task for pair in pairs):
        print_accepted(task, [pair for pair in pairs if pair.task == task], specs)
    print_accepted("all without tests", pairs, specs)


def print_accepted(title: str, pairs: list[Pair], specs: Iterable[str]) -> None:
    """Print one row for each strategy."""
    print(title)
    for spec in specs:
        accepted = [r for pair in pairs if (r := pair.resolutions[spec]).accepted]
        parsed = [p for r in accepted if (p := parses(r.changes)) is not None]
        left = len(pairs) - len(accepted)
        shown = f"{sum(parsed)} of {len(parsed)}" if parsed else "-"
        print(f"  {spec:<28}{len(pairs):>6}{len(accepted):>10}{left:>11}   {shown}")


def describe_text(pair: Pair, spec: str) -> str:
    """Show how one pair was resolved."""
    resolution = pair.resolutions[spec]
    if not resolution.accepted:
        return f"{spec} left open ({resolution.note})"
    broken = " (does not parse)" if parses(resolution.changes) is False else ""
    return f"{spec} accepted{broken}"


def parses(changes: Changes) -> bool | None:
    """Return whether every changed file of a known language parses; `None` if there is none."""
    files = {path: e.data for path, e in changes.items() if e and path.endswith(tuple(LANGUAGES))}
    if not files:
        return None
    return all(file_parses(path, text) for path, text in files.items())


def file_parses(path: str, text: bytes) -> bool:
    """Return whether Python, or the language's grammar, parses the file."""
    if not path.endswith(".py"):
        return not find_syntax_fault(path, text)
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True

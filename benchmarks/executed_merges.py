"""Runs merged programs, and compares what they do with what both sides intend.

    python benchmarks/executed_merges.py [--count N] [--first N] [--seed N] [--language NAME ...]
        [--strategy NAME ...] [--jobs N] [--show] [--kinds]

Each case is a small program, which both sides edit at one place or next to each other: they
insert statements, change values, wrap statements, and add parameters, keys, cases, imports and
methods. The edits are made to a model of the program, and the model with the edits of both
sides says what is right. Case by case, the program is written in Python, JavaScript and Go.

Of the merges that conflict, those with no conflict left are run. A program is *right* if it has
the events and the results of both sides' edits; events of one side may be anywhere among those
of the other one, unless the sides see their order. It is *wrong* if it runs differently, or does
not run. If the edits contradict, or their order changes the result, the conflict must stay open;
a text instead is *guessed*, which is wrong as well. The row `naive` counts the merges that do not
conflict; they show how many are right without any strategy, and do not fail the run.

--show prints the wrong merges: the base, and how ours, theirs and the merge differ from it,
with as few edits as the same strategy needs to be wrong. --kinds counts them by their edits.
"""

import argparse
import difflib
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from enum import StrEnum
from functools import partial

from attrs import frozen
from executed_cases import ALL_INPUTS, Case, Order, difference, judged, make_case
from executed_rendering import PATHS
from executed_runs import Run, run_all

import cooperbench_eval as ce

LANGUAGES = tuple(PATHS)
CLEAN = "naive"
COMPARED = "union"
"""The strategy whose wrong merges are only counted, because it has so many."""
STRATEGIES = ("structured", "tokens", "cascade", COMPARED)
BATCH = 100


class Ending(StrEnum):
    """What became of a conflicting merge."""

    RIGHT = "right"
    WRONG = "wrong"
    GUESSED = "guessed"
    OPEN = "open"


BAD = (Ending.WRONG, Ending.GUESSED)


@frozen(kw_only=True)
class Merge:
    """A merge of a case in a language.

    Attributes:
        strategy: The strategy, or `naive` if the sides do not conflict.
        text: The merged file; empty if a conflict is left.
    """

    case: Case
    language: str
    strategy: str
    text: bytes = b""


@frozen(kw_only=True)
class Judgement:
    """A merge, how it ended, and what is wrong with it."""

    merge: Merge
    ending: Ending
    problem: str = ""


@frozen(kw_only=True)
class Row:
    """What is printed of a merge. Only of a wrong one it has the edits and the texts."""

    language: str
    strategy: str
    ending: Ending
    problem: str
    kinds: str
    shown: str


def merges_of(case: Case, language: str, strategies: Iterable[str]) -> Iterator[Merge]:
    """Merge a case with each strategy; without any if it does not conflict."""
    path = PATHS[language]
    base, *sides = case.texts(language)
    tree = ce.Snapshot.from_files({path: base})
    changes = [ce.Changes({path: ce.Entry(text)}) for text in sides]
    for strategy in strategies:
        outcome = ce.merge(tree, *changes, strategy=strategy)
        is_clean = not outcome.conflicts_met
        entry = outcome.changes[path]
        text = b"" if outcome.conflicts or entry is None else entry.data
        name = CLEAN if is_clean else strategy
        yield Merge(case=case, language=language, strategy=name, text=text)
        if is_clean:
            return


def judge_all(language: str, merges: Sequence[Merge]) -> list[Judgement]:
    """Run the merges that left no conflict, and judge them.

    A merge is left out if a side is not a valid program of this language: Go refuses an import
    whose only use a side deletes.
    """
    texts = []
    for each in merges:
        texts += [each.text, *each.case.references(language)] if each.text else []
    runs = iter(run_all(language, texts, ALL_INPUTS))
    found = []
    for each in merges:
        if each.text:
            got, *expected = (next(runs) for _ in range(1 + len(each.case.merged)))
            is_broken = any(isinstance(one, str) for one in expected)
            if not (is_broken and _has_broken_side(each.case, language)):
                found.append(_judged(each, got, expected))
        else:
            found.append(Judgement(merge=each, ending=Ending.OPEN))
    return found


def _has_broken_side(case: Case, language: str) -> bool:
    runs = run_all(language, case.texts(language), ALL_INPUTS)
    return any(isinstance(each, str) for each in runs)


def _judged(merge: Merge, got: Run | str, expected: Sequence[Run | str]) -> Judgement:
    broken = [each for each in expected if isinstance(each, str)]
    if broken:
        raise AssertionError(merge.case.number, merge.language, broken)
    order = merge.case.order
    if isinstance(got, str):
        return Judgement(merge=merge, ending=Ending.WRONG, problem=f"does not run ({got})")
    problems = [difference(got, each) for each in expected]
    if order is Order.FREE:
        ending = Ending.WRONG if problems[0] else Ending.RIGHT
        return Judgement(merge=merge, ending=ending, problem=problems[0])
    if problems and all(problems):
        return Judgement(merge=merge, ending=Ending.WRONG, problem=problems[0])
    return Judgement(merge=merge, ending=Ending.GUESSED, problem=f"the edits {_why(order)}")


def _why(order: Order) -> str:
    return "contradict" if order is Order.IMPOSSIBLE else "depend on their order"


def judge_batch(
    numbers: Sequence[int],
    *,
    seed: int,
    languages: Sequence[str],
    strategies: Sequence[str],
    show: bool = False,
) -> list[Row]:
    """Make, merge, run and judge some cases."""
    cases = [make_case(seed, number) for number in numbers]
    found = []
    for language in languages:
        merges = [one for case in cases for one in merges_of(case, language, strategies)]
        judgements = judge_all(language, merges)
        bad = [one for one in judgements if one.ending in BAD and one.merge.strategy != COMPARED]
        small = dict(zip(map(id, bad), smaller(language, bad), strict=True))
        found += [_row(one, small.get(id(one)), show=show) for one in judgements]
    return found


def _row(judgement: Judgement, small: Judgement | None, *, show: bool) -> Row:
    return Row(
        language=judgement.merge.language,
        strategy=judgement.merge.strategy,
        ending=judgement.ending,
        problem=small.problem if small else "",
        kinds=small.merge.case.kinds if small else "",
        shown=shown_merge(small) if small and show else "",
    )


def smaller(language: str, judgements: Sequence[Judgement]) -> list[Judgement]:
    """Leave out edits of wrong merges as long as the merges are wrong without them."""
    found = list(judgements)
    active = set(range(len(found)))
    while active:
        merges = [(at, merge) for at in active for merge in _with_fewer_edits(found[at].merge)]
        owners = {id(merge): at for at, merge in merges}
        active = set()
        for less in judge_all(language, [merge for _, merge in merges]):
            at = owners[id(less.merge)]
            if less.ending is found[at].ending and at not in active:
                found[at] = less
                active.add(at)
    return found


def _with_fewer_edits(merge: Merge) -> Iterator[Merge]:
    """Make the merge again without each one of the edits."""
    case = merge.case
    for edit in dict.fromkeys((*case.ours, *case.theirs)):
        ours, theirs = (
            tuple(each for each in side if each is not edit) for side in (case.ours, case.theirs)
        )
        less = judged(case.number, case.base, ours, theirs) if ours and theirs else None
        for found in merges_of(less, merge.language, [merge.strategy]) if less else ():
            if found.strategy == merge.strategy:
                yield found


def print_table(rows: Sequence[Row], strategies: Sequence[str]) -> None:
    """Print how the merges ended, by language and strategy."""
    print(f"{'':<24}{'conflicts':>10}{'closed':>8}" + "".join(f"{each:>9}" for each in Ending))
    counts = Counter((row.language, row.strategy, row.ending) for row in rows)
    for language in dict.fromkeys(row.language for row in rows):
        for strategy in (*strategies, CLEAN):
            numbers = [counts[language, strategy, ending] for ending in Ending]
            closed = sum(numbers) - counts[language, strategy, Ending.OPEN]
            shown = "".join(f"{number:>9}" for number in numbers)
            print(f"{language:<12}{strategy:<12}{sum(numbers):>10}{closed:>8}{shown}")


def print_kinds(rows: Iterable[Row]) -> None:
    """Count the wrong merges by what is wrong and by their edits."""
    counts = Counter(
        (row.language, row.strategy, row.ending, re.split(r" \(|, for", row.problem)[0], row.kinds)
        for row in rows
    )
    for kind, count in counts.most_common():
        print(f"{count:>5}  {'; '.join(kind)}")


def shown_merge(judgement: Judgement) -> str:
    """Return the base of a wrong merge, and how the other versions differ from it."""
    merge = judgement.merge
    case = merge.case
    base, ours, theirs = (text.decode() for text in case.texts(merge.language))
    head = f"=== case {case.number}, {merge.language}, {merge.strategy}: {judgement.ending}"
    parts = [f"{head}\n{judgement.problem}\n{case.kinds}", base]
    versions = {"ours": ours, "theirs": theirs, "merged": merge.text.decode()}
    if case.merged:
        versions["intended"] = case.references(merge.language)[0].decode()
    for name, text in versions.items():
        lines = (base.splitlines(), text.splitlines())
        parts.append("\n".join(difflib.unified_diff(*lines, "base", name, n=2, lineterm="")))
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Print the table, and the wrong merges if asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=200, help="number of cases")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--language", action="append", choices=LANGUAGES)
    parser.add_argument("--strategy", action="append", help=f"default: {', '.join(STRATEGIES)}")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print the wrong merges")
    parser.add_argument("--kinds", action="store_true", help="count the wrong merges by kind")
    options = parser.parse_args()
    strategies = options.strategy or STRATEGIES
    end = options.first + options.count
    batches = [range(at, min(at + BATCH, end)) for at in range(options.first, end, BATCH)]
    judge = partial(
        judge_batch,
        seed=options.seed,
        languages=options.language or LANGUAGES,
        strategies=strategies,
        show=options.show,
    )
    with ProcessPoolExecutor(options.jobs) as pool:
        rows = [row for found in pool.map(judge, batches) for row in found]
    print_table(rows, strategies)
    wrong = [row for row in rows if row.kinds]
    if options.kinds:
        print_kinds(wrong)
    for row in wrong:
        print(row.shown, end="")
    sys.exit(any(row.strategy != CLEAN for row in wrong))


if __name__ == "__main__":
    main()

"""What is shown of summaries, rates and comparisons."""

from collections.abc import Hashable, Iterator, Sequence

from attrs import evolve

from cooperbench_eval.analysis.agreement import PeerAgreement
from cooperbench_eval.analysis.rates import Comparison, Rate
from cooperbench_eval.analysis.summary import Summary
from cooperbench_eval.analysis.tries import Tries
from cooperbench_eval.analysis.verdicts import GoldSummary, PolicySummary, StrategySummary
from cooperbench_eval.display.records import Column, Section, Table, View

__all__ = [
    "agreement_view",
    "comparison_view",
    "judged_view",
    "key_text",
    "rate_view",
    "summary_view",
    "tries_view",
]

_HEAD = (
    "correct",
    "rate",
    "interval",
    "incorrect",
    "unhandled",
    "missing",
    "unanswered",
    "of all",
)
_SHOWN_DISAGREEMENTS = 20
_Row = tuple[str, ...]


# --- summaries ---------------------------------------------------------------


def summary_view(summary: Summary) -> View:
    """Describe a summary: the pairs, then a row a strategy and policy, by group.

    A rate and its interval are of the answered pairs; where nothing was tested and
    pairs are unanswered, they are left out. Of all pairs stands the share that is
    correct at least and at most, in the rows with something unanswered.
    """
    sections = list(_sections(summary))
    is_empty = not (summary.strategies or summary.policies)
    return View(
        title=_pairs_text(summary),
        tables=[] if is_empty else [_verdicts_table(sections)],
    )


def judged_view(one: StrategySummary | PolicySummary) -> View:
    """Describe what pairs come to under a strategy or policy, and what gold reaches."""
    return View(
        title=f"{one.name}: {_pairs(one.verdicts.pairs)}",
        tables=[_verdicts_table([Section(rows=[_row(one, one.name)])])],
        notes=[] if one.gold is None else _gold_texts(one.gold),
    )


def _sections(summary: Summary) -> Iterator[Section]:
    """Give the rows by group, then those of all pairs."""
    if not summary.by:
        yield Section(rows=_rows(summary))
        return
    for key, group in summary.groups.items():
        yield Section(title=f"{key_text(key)} ({group.pairs})", rows=_rows(group))
    yield Section(title=f"all ({summary.pairs})", rows=_rows(summary))


def _verdicts_table(sections: Sequence[Section]) -> Table:
    """Return the table without its last column where no row has anything in that."""
    columns = [Column(""), *(Column(name, is_number=True) for name in _HEAD)]
    if any(row[-1].text for section in sections for row in section.rows):
        return Table(columns=columns, sections=sections)
    cut = [Section(title=each.title, rows=[row[:-1] for row in each.rows]) for each in sections]
    return Table(columns=columns[:-1], sections=cut)


def _pairs_text(summary: Summary) -> str:
    counted = [
        f"clean {summary.clean.count}",
        f"conflicts {summary.conflicts.count}",
        f"missing input {summary.missing_input.count}",
    ]
    if summary.not_evaluated:
        reasons = ", ".join(f"{kind.value} {n}" for kind, n in summary.failures.items())
        counted.append(f"not evaluated {summary.not_evaluated}" + f" ({reasons})" * bool(reasons))
    if summary.repeated:
        counted.append(f"repeated {summary.repeated}")
    pairs = _pairs(summary.pairs)
    return f"{pairs}: {', '.join(counted)}" if summary.pairs else pairs


def _pairs(number: int) -> str:
    return "1 pair" if number == 1 else f"{number} pairs"


def key_text(key: Hashable) -> str:
    """Return a group's key as one text; what is not known is a dash."""
    parts = key if isinstance(key, tuple) else (key,)
    return " ".join("-" if part in (None, "") else str(part) for part in parts)


def _rows(summary: Summary) -> list[_Row]:
    strategies = [_row(one, name) for name, one in summary.strategies.items()]
    policies = [_row(one, f"[{name}]") for name, one in summary.policies.items()]
    return strategies + policies


def _row(one: StrategySummary | PolicySummary, name: str) -> _Row:
    counts = one.verdicts
    beside = (counts.incorrect, counts.unhandled, counts.missing_input, counts.unanswered)
    return (
        name,
        f"{one.correct.count}/{one.correct.total}",
        *_share(one),
        *[str(count) for count in beside],
        f"{counts.at_least:.1%}-{counts.at_most:.1%}" if counts.unanswered else "",
    )


def _share(one: StrategySummary | PolicySummary) -> tuple[str, str]:
    if one.verdicts.is_untested:
        return "-", "-"
    return _percent(one.correct), _interval(one.correct)


def _percent(rate: Rate) -> str:
    return f"{rate.rate:.1%}" if rate.total else "-"


def _interval(rate: Rate) -> str:
    return f"{rate.low:.1%}-{rate.high:.1%}" if rate.total else "-"


def _gold_texts(gold: GoldSummary) -> list[str]:
    return [
        f"gold gets right {gold.ceiling}",
        f"reached of those {gold.reached}",
        f"beyond those {gold.beyond}",
        f"pairs that gold has no answer for: {gold.unmatched}",
    ]


# --- rates and comparisons ---------------------------------------------------


def rate_view(rate: Rate) -> View:
    """Describe a rate: one line."""
    return View(title=str(rate))


def comparison_view(comparison: Comparison) -> View:
    """Describe two ways to get pairs right: their rates, and the pairs both ways."""
    first, second = comparison.first, comparison.second
    head = [Column(""), *(Column(name, is_number=True) for name in ("right", "rate", "interval"))]
    rates = [
        (name, f"{rate.count}/{rate.total}", _percent(rate), _interval(rate))
        for name, rate in ((first, comparison.first_rate), (second, comparison.second_rate))
    ]
    counts = (
        f"both right {comparison.both}, only {first} {comparison.only_first}, "
        f"only {second} {comparison.only_second}, neither {comparison.neither}"
    )
    return View(
        title=f"{first} and {second} on the same {_pairs(comparison.pairs)}",
        tables=[Table(columns=head, sections=[Section(rows=rates)])],
        notes=[counts, _test_text(comparison), _left_out_text(comparison)],
    )


def _test_text(comparison: Comparison) -> str:
    if comparison.p_value is None:
        return "no pair is compared, so there is no p-value"
    difference = f"{100 * (comparison.difference or 0):+.1f} percentage points"
    return f"difference {difference}, p = {comparison.p_value:.3g} (McNemar, exact, two-sided)"


def _left_out_text(comparison: Comparison) -> str:
    return (
        f"not compared: {comparison.unanswered} without an answer, "
        f"{comparison.unmatched_first} only in {comparison.first}, "
        f"{comparison.unmatched_second} only in {comparison.second}"
    )


def tries_view(tries: Tries) -> View:
    """Describe how many pairs are solved within one try, two, and so on."""
    rows = [
        (_tries(number), f"{rate.count}/{rate.total}", _percent(rate), _interval(rate))
        for number, rate in enumerate(tries.within, start=1)
    ]
    numbers = [Column(name, is_number=True) for name in ("solved", "rate", "interval")]
    beside = f", {tries.left_out} left out" if tries.left_out else ""
    return View(
        title=f"{tries.decider}: {_pairs(tries.within[0].total if rows else 0)}{beside}",
        tables=[Table(columns=[Column("within"), *numbers], sections=[Section(rows=rows)])],
    )


def _tries(number: int) -> str:
    return "1 try" if number == 1 else f"{number} tries"


def agreement_view(agreement: PeerAgreement) -> View:
    """Describe how far the benchmark's evaluations and ours agree, and where they do not."""
    view = comparison_view(agreement.comparison)
    rows = [
        (
            each.ours.task,
            " and ".join(map(str, each.ours.features)),
            "passes" if each.peer.both_passed else "fails",
            each.judged.verdict.value.replace("_", " "),
        )
        for each in agreement.disagreements[:_SHOWN_DISAGREEMENTS]
    ]
    second = agreement.comparison.second
    columns = map(Column, ("disagreement", "features", agreement.comparison.first, second))
    table = Table(columns=columns, sections=[Section(rows=rows)])
    more = len(agreement.disagreements) - _SHOWN_DISAGREEMENTS
    return evolve(
        view,
        lines=[f"{agreement.agreeing} of {agreement.comparison.pairs} agree"],
        tables=[*view.tables, *([table] if rows else [])],
        notes=[*view.notes, *([f"and {more} more disagreements"] if more > 0 else [])],
    )

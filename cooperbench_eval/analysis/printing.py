"""A summary as a table of plain text, narrow enough for a terminal."""

from collections.abc import Hashable, Sequence

from cooperbench_eval.analysis.summary import Summary
from cooperbench_eval.analysis.verdicts import PolicySummary, StrategySummary

__all__ = ["summary_text"]

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


def summary_text(summary: Summary) -> str:
    """Return *summary* as lines: the pairs, then a row a strategy and policy, by group.

    A rate and its interval are of the answered pairs; where nothing was tested and
    pairs are unanswered, they are left out. Of all pairs stands the share that is
    correct at least and at most, in the rows with something unanswered.
    """
    rows: list[tuple[str, ...]] = []
    if summary.strategies or summary.policies:
        rows.append(("", *_HEAD))
    if summary.by:
        for key, group in summary.groups.items():
            rows.append((f"{_key_text(key)} ({group.pairs})", *[""] * len(_HEAD)))
            rows += _rows(group, indent="  ")
        rows.append((f"all ({summary.pairs})", *[""] * len(_HEAD)))
    rows += _rows(summary, indent="  ")
    return "\n".join([_pairs_text(summary), *_aligned(_without_blank_bounds(rows))])


def _without_blank_bounds(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Leave the last column out where no row has anything in it."""
    return list(rows) if any(row[-1] for row in rows[1:]) else [row[:-1] for row in rows]


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
    pairs = "1 pair" if summary.pairs == 1 else f"{summary.pairs} pairs"
    return f"{pairs}: {', '.join(counted)}" if summary.pairs else pairs


def _key_text(key: Hashable) -> str:
    parts = key if isinstance(key, tuple) else (key,)
    return " ".join("-" if part in (None, "") else str(part) for part in parts)


def _rows(summary: Summary, indent: str) -> list[tuple[str, ...]]:
    strategies = [_row(one, f"{indent}{name}") for name, one in summary.strategies.items()]
    policies = [_row(one, f"{indent}[{name}]") for name, one in summary.policies.items()]
    return strategies + policies


def _row(one: StrategySummary | PolicySummary, name: str) -> tuple[str, ...]:
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
    rate = one.correct
    if not rate.total or one.verdicts.is_untested:
        return "-", "-"
    return f"{rate.rate:.1%}", f"{rate.low:.1%}-{rate.high:.1%}"


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Pad the columns: names to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for name, *cells in rows:
        padded = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        lines.append("  ".join([name.ljust(widths[0]), *padded]).rstrip())
    return lines

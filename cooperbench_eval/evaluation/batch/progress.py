"""The events of a batch, for a function of the caller or a progress bar."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from cooperbench_eval.reporting.teams import GroupReport
from cooperbench_eval.support.arguments import named_fields
from cooperbench_eval.support.rendering.visible import visible


class EventKind(StrEnum):
    """What happened to a pair or team."""

    SUBMITTED = "submitted"
    """The pair was sent to the executor."""
    WAITING = "waiting"
    """Another batch on the store works on the pair, or on one with the same lock file."""
    RETRIED = "retried"
    """The worker that evaluated the pair was lost; the pair is sent to the executor again."""
    STORED = "stored"
    """The pair's report was in the store and is yielded."""
    FINISHED = "finished"
    """The pair was evaluated and its report is yielded."""
    FAILED = "failed"
    """The pair could not be evaluated; a report with a failure is yielded."""


@frozen(kw_only=True, field_transformer=named_fields)
class BatchEvent:
    """One event in a batch.

    Attributes:
        kind: What happened.
        pair: The name of the pair or team, for people.
        report: The report that is about to be yielded, if any.
        problem: Why it is tried again or failed; otherwise empty.
    """

    kind: EventKind = field(converter=EventKind)
    pair: str = ""
    report: GroupReport | None = field(default=None, repr=False)
    problem: str = ""


_LONGEST = 500
_BESIDE_THE_BAR = 60

Progress = Callable[[BatchEvent], None]
"""Called with every event of a batch, in the thread that iterates over the batch."""


Aside = Callable[[], AbstractContextManager[object]]
"""Returns a context in which the bar is hidden, so that the caller can print."""


@contextmanager
def listener(
    progress: Progress | bool | None, total: int | None
) -> Iterator[tuple[Progress, Aside]]:
    """Yield the function to call with events, and a context to hold while the caller may print.

    The function is *progress*, one that updates a bar, or a no-op. A bar is shown only in
    terminals and notebooks.
    """
    if progress is not True:
        yield progress or ignore, nullcontext
        return
    from tqdm.auto import tqdm  # noqa: PLC0415 - inspects the terminal or notebook when imported

    counts: Counter[EventKind] = Counter()
    problems: Counter[str] = Counter()
    in_notebook = "ipykernel" in sys.modules
    unless = False if in_notebook else None  # None hides it unless in a terminal
    with tqdm(total=total, unit="report", dynamic_ncols=True, disable=unless) as bar:

        def show(event: BatchEvent) -> None:
            counts[event.kind] += 1
            if event.report is None:
                return
            shown: dict[str, Any] = {
                kind.value: counts[kind]
                for kind in (EventKind.STORED, EventKind.FAILED)
                if counts[kind]
            }
            if event.report.problem:
                problems[visible(event.report.problem, _LONGEST)] += 1
            for problem, count in problems.most_common(1):
                shown["without a result"] = f"{count:,}: {visible(problem, _BESIDE_THE_BAR)}"
            bar.set_postfix(shown, refresh=False)
            bar.update()

        @contextmanager
        def aside() -> Iterator[None]:
            bar.clear()
            try:
                yield
            finally:
                bar.refresh()

        yield show, nullcontext if in_notebook or bar.disable else aside
        if bar.disable:
            return
        for problem, count in problems.most_common(1):
            bar.write(f"{count:,} without a result: {problem}", file=sys.stderr)


def ignore(_: BatchEvent) -> None:
    """Do nothing."""
